"""Where the bases of a unit stand: ranks and files, in its own frame and on the battlefield.

Plain NumPy: templates and lines are exact on these bases, also without a battlefield. What needs
polygons (distances, sight, overlaps) is in `polygons`.
"""

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from wfb_gym.geometry.pieces import Piece

Floats = NDArray[np.float64]
TOLERANCE = 0.01
"""Pieces nearer than this touch, and overlap only by more, in inches."""
ROUNDING = 1e-9
"""Tolerance of distances that are compared with a range, in inches."""
_CORNERS = np.array([[-1.0, -1.0], [-1.0, 1.0], [1.0, 1.0], [1.0, -1.0]])


class _Frame(NamedTuple):
    """A frame on the battlefield: where its origin lies and which way it looks."""

    origin: Floats  # in inches
    axes: Floats  # rows: its rightward and its forward direction

    def world(self, local: Floats) -> Floats:
        """Places on the battlefield of points (..., 2) in the frame."""
        placed: Floats = local @ self.axes + self.origin
        return placed

    def local(self, world: Floats) -> Floats:
        """Points in the frame of places (..., 2) on the battlefield."""
        return self.local_directions(world - self.origin)

    def local_directions(self, directions: Floats) -> Floats:
        """Directions in the frame of directions (..., 2) on the battlefield."""
        seen: Floats = directions @ self.axes.T
        return seen


def frame_at(position: tuple[float, float] | None, facing: float) -> _Frame:
    """Return the frame of a piece at a place in inches; None is the origin.

    It looks `facing` degrees clockwise from growing y.
    """
    turn = np.deg2rad(facing)
    right, forward = (np.cos(turn), -np.sin(turn)), (np.sin(turn), np.cos(turn))
    return _Frame(np.array(position or (0.0, 0.0), np.float64), np.array([right, forward]))


class Bases(NamedTuple):
    """Like bases of one piece, those of the front rank first."""

    frame: _Frame  # at the middle of the piece's front edge, looking forward
    # (n, 2) in the frame. The first k are those of the last k models: the rear rank loses its
    # models first, and from its ends.
    centres: Floats
    half: Floats  # half the width and half the depth of one base

    def corners(self) -> Floats:
        """(n, 4, 2) corners on the battlefield."""
        return self.frame.world(self.centres[:, None, :] + _CORNERS * self.half)


def cells(frontage: int, count: int) -> Floats:
    """Return the first `count` places of a formation: steps right of the middle, and rank.

    Each rank is filled from its middle outwards, of two equally near places the left one first
    (ours): so the last rank, when it is short, stands in the middle.
    """
    middle = (frontage - 1) / 2
    columns = sorted(range(frontage), key=lambda column: (abs(column - middle), column))
    index = np.arange(count)
    steps = np.array(columns)[index % frontage] - middle
    return np.stack([steps, (index // frontage).astype(np.float64)], axis=1)


def bases_of(piece: Piece, pieces: Mapping[int, Piece]) -> Bases:
    """Return the bases of a unit's models, or the one base of a character.

    Characters in a unit have the first places of its formation, in the middle of the front rank,
    and its models the following ones (ours). The focal model of Daemons has the first place of a
    model.
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
    """Return the ground of a unit, the characters in it included, or of a character alone.

    Returns:
        (1 or 2, 2, 2) in its frame: left rear and right front corner of the full ranks, and of the
        last rank where it is short.
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
    """(n, 4, 2) corners on the battlefield of blocks (n, 2, 2), each side `margin` inches inwards.

    The blocks are as `blocks_of` gives them.
    """
    low, high = blocks[:, 0] + margin, blocks[:, 1] - margin
    centre, half = (low + high) / 2, (high - low) / 2
    return frame.world(centre[:, None, :] + _CORNERS * half[:, None, :])
