"""Positions of a unit's bases in ranks and files, in its own frame and on the battlefield.

Plain NumPy: templates and lines are exact on these bases, even without a battlefield. Distances,
sight and overlaps require polygons and are in `polygons`.
"""

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from wfb_gym.geometry.pieces import Piece

Floats = NDArray[np.float64]
TOLERANCE = 0.01
"""Pieces this close count as touching, and only larger overlaps count as overlaps, in inches."""
ROUNDING = 1e-9  # tolerance for distances that are compared with a range, in inches
CORNERS = np.array([[-1.0, -1.0], [-1.0, 1.0], [1.0, 1.0], [1.0, -1.0]])
SIDES = np.array([[-1.0, 0.0], [1.0, 0.0], [0.0, -1.0], [0.0, 1.0]])
"""Directions from the centre of a rectangle to its corners and sides, in its frame."""


class _Frame(NamedTuple):
    """A coordinate frame on the battlefield."""

    origin: Floats  # in inches
    axes: Floats  # the rows are unit vectors to the right and forward

    def world(self, local: Floats) -> Floats:
        """Convert points (..., 2) from the frame to the battlefield."""
        placed: Floats = local @ self.axes + self.origin
        return placed

    def local(self, world: Floats) -> Floats:
        """Convert points (..., 2) from the battlefield to the frame."""
        return self.local_directions(world - self.origin)

    def local_directions(self, directions: Floats) -> Floats:
        """Convert directions (..., 2) from the battlefield to the frame."""
        converted: Floats = directions @ self.axes.T
        return converted


def frame_at(position: tuple[float, float] | None, facing: float) -> _Frame:
    """Return the frame of a piece at a position in inches, or at (0, 0) for None.

    `facing` is the forward direction, in degrees clockwise from the y axis.
    """
    turn = np.deg2rad(facing)
    right, forward = (np.cos(turn), -np.sin(turn)), (np.sin(turn), np.cos(turn))
    return _Frame(np.array(position or (0.0, 0.0), np.float64), np.array([right, forward]))


class Bases(NamedTuple):
    """A piece's identical bases, from the front rank to the rear."""

    frame: _Frame  # its origin is the middle of the piece's front edge
    # (n, 2) in the frame. If k models are left, they have the first k bases, since casualties are
    # removed from the rear rank, starting at its ends (house rule C.49).
    centres: Floats
    half: Floats  # half the width and half the depth of a base

    def corners(self) -> Floats:
        """Return the corners on the battlefield, shape (n, 4, 2)."""
        return self.frame.world(self.centres[:, None, :] + CORNERS * self.half)


def cells(frontage: int, count: int) -> Floats:
    """Return the first `count` places in a formation: steps to the right, and rank, (count, 2).

    Each rank is filled from its middle outwards. If two places are equally near, the left one comes
    first (house rule C.48). An incomplete last rank is therefore centred.
    """
    middle = (frontage - 1) / 2
    columns = sorted(range(frontage), key=lambda column: (abs(column - middle), column))
    index = np.arange(count)
    steps = np.array(columns)[index % frontage] - middle
    return np.stack([steps, (index // frontage).astype(np.float64)], axis=1)


def bases_of(piece: Piece, pieces: Mapping[int, Piece]) -> Bases:
    """Return the bases of a unit's models, or a character's single base.

    Characters in a unit take the first places in its formation, in the middle of the front rank,
    and its models take the following places (house rule C.48). The focal model of Daemons takes the
    first of the models' places.
    """
    width, depth = piece.base
    frame = frame_at(piece.position, piece.facing)
    half = np.array([width / 2, depth / 2])
    if piece.is_unit:
        first = len(piece.joined)
        places = cells(piece.frontage, first + piece.models)[first:]
        return Bases(frame, (places - [0, -0.5]) * [width, -depth], half)
    if piece.host is None:
        return Bases(frame, np.array([[0.0, -depth / 2]]), half)
    unit = pieces[piece.host]
    at = len(unit.joined) if piece.is_focal else unit.joined.index(piece.code)
    step, rank = cells(unit.frontage, at + 1)[at]
    centre = [step * unit.base[0], -rank * unit.base[1] - depth / 2]
    return Bases(frame, np.array([centre]), half)


def blocks_of(piece: Piece) -> Floats:
    """Return the area of a unit, including the characters in it, or of a lone character.

    Returns:
        Shape (1 or 2, 2, 2), in its frame: the rear left and front right corners of the full ranks
        and of an incomplete last rank.
    """
    width, depth = piece.base
    ranks, rest = divmod(piece.models + len(piece.joined), piece.frontage)
    blocks = []
    if ranks:
        reach = piece.frontage * width / 2
        blocks.append([[-reach, -ranks * depth], [reach, 0.0]])
    if rest:
        steps = cells(piece.frontage, rest)[:, 0]
        left, right = (steps.min() - 0.5) * width, (steps.max() + 0.5) * width
        blocks.append([[left, -(ranks + 1) * depth], [right, -ranks * depth]])
    return np.array(blocks)


def rectangles(frame: _Frame, blocks: Floats, margin: float = 0.0) -> Floats:
    """Return the battlefield corners of rectangles in a frame, shape (n, 4, 2).

    Args:
        frame: the rectangles' frame.
        blocks: rectangles in the format returned by `blocks_of`, shape (n, 2, 2).
        margin: number of inches by which each side is moved inwards.
    """
    low, high = blocks[:, 0] + margin, blocks[:, 1] - margin
    centre, half = (low + high) / 2, (high - low) / 2
    return frame.world(centre[:, None, :] + CORNERS * half[:, None, :])
