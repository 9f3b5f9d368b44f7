"""Where everything stands: bases, footprints, terrain, and the distances between them.

What a model sees is in `sight`; whom a spell may be cast at in `legality`.
"""

from collections.abc import Collection, Mapping
from typing import NamedTuple

import numpy as np

from wfb_gym.geometry.formation import (
    ROUNDING,
    Bases,
    Floats,
    bases_of,
    blocks_of,
    frame_at,
    rectangles,
)
from wfb_gym.geometry.pieces import Piece
from wfb_gym.geometry.reading import Battlefield, Terrain
from wfb_gym.geometry.shapes import Shape, Shapes, shapely


class Feature(NamedTuple):
    """A piece of terrain.

    Attributes:
        name: for people.
        kind: wood, hill and so on.
        blocks: whether it blocks sight.
        shape: its ground.
    """

    name: str
    kind: str
    blocks: bool
    shape: Shape


def feature(terrain: Terrain) -> Feature:
    """A piece of terrain on the table."""
    half = np.array(terrain.size) / 2
    frame = frame_at(terrain.position, terrain.facing)
    shape = shapely.polygons(rectangles(frame, np.array([[-half, half]])))[0]
    return Feature(terrain.name, terrain.kind, terrain.blocks_sight, shape)


class Ground:
    """The table with all that stands on it."""

    def __init__(self, battlefield: Battlefield, pieces: Mapping[int, Piece]) -> None:
        """Measures nothing yet.

        Args:
            battlefield: the table.
            pieces: all pieces; those off the table have no place here.

        Raises:
            ValueError: a piece on the table has no position.
        """
        self.pieces = pieces
        self.features = tuple(feature(terrain) for terrain in battlefield.terrain)
        self.bases: dict[int, Bases] = {}
        self.blocks: dict[int, Floats] = {}
        for code, piece in pieces.items():
            if piece.absent:
                continue
            if piece.position is None:
                raise ValueError(f"{piece.key} has no position on the battlefield")
            bases = self.bases[code] = bases_of(piece, pieces)
            if piece.host is None:
                self.blocks[code] = rectangles(bases.frame, blocks_of(piece))
            else:
                self.blocks[code] = bases.corners()
        shapes = shapely.polygons(np.concatenate([*self.blocks.values(), np.empty((0, 4, 2))]))
        ends = np.cumsum([len(blocks) for blocks in self.blocks.values()])
        starts = [0, *ends[:-1]]
        self.shapes: dict[int, Shapes] = {
            code: shapes[start:end]
            for code, start, end in zip(self.blocks, starts, ends, strict=False)
        }
        self.footprints: dict[int, Shape] = {
            code: shapely.multipolygons(parts) for code, parts in self.shapes.items()
        }
        self._distances: dict[tuple[int, int], float] = {}

    def distance(self, first: int, second: int) -> float:
        """Inches between the nearest bases of two pieces; 0 where they touch or overlap."""
        if first == second:
            return 0.0
        pair = (min(first, second), max(first, second))
        if pair not in self._distances:
            shapes = (self.footprints[code] for code in pair)
            self._distances[pair] = float(shapely.distance(*shapes))
        return self._distances[pair]

    def to_terrain(self, code: int, kinds: Collection[str]) -> float | None:
        """Inches from a piece to the nearest terrain of these kinds; None where there is none."""
        shapes = [one.shape for one in self.features if one.kind in kinds]
        if not shapes:
            return None
        return float(shapely.distance(self.footprints[code], shapes).min())

    def in_front(self, code: int, reach: float) -> tuple[int, ...]:
        """Other pieces with a model within `reach` inches of a unit's front rank."""
        piece = self.pieces[code]
        wide = min(piece.frontage, piece.models + len(piece.joined)) * piece.base[0] / 2
        rank = np.array([[[-wide, -piece.base[1]], [wide, 0.0]]])
        front = shapely.polygons(rectangles(self.bases[code].frame, rank))[0]
        others = [
            other for other in self.footprints if other != code and self.pieces[other].targetable
        ]
        shapes = [self.footprints[other] for other in others]
        near = shapely.distance(front, shapes) <= reach + ROUNDING
        return tuple(other for other, close in zip(others, near, strict=True) if close)

    def middle(self, code: int) -> Floats:
        """The middle of a piece's footprint: of its oriented bounding rectangle, on the table."""
        bases = self.bases[code]
        corners = bases.frame.local(self.blocks[code].reshape(-1, 2))
        return bases.frame.world((corners.min(axis=0) + corners.max(axis=0)) / 2)

    def from_point(self, point: Floats, code: int) -> float:
        """Inches from a point to the nearest base of a piece; 0 where it lies on one."""
        return float(shapely.distance(shapely.points(point), self.footprints[code]))
