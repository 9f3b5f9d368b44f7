"""Distances, terrain and overlaps, computed with polygons.

Within `geometry`, only this module and `sight` import shapely, which is slow to import and has no
type stubs. Import these modules only if there is a battlefield.
"""

from collections.abc import Collection, Mapping, Sequence
from typing import Any, TypeAlias

import numpy as np
import shapely  # type: ignore[import-untyped]
from numpy.typing import NDArray

from wfb_gym.geometry import formation
from wfb_gym.geometry.formation import Bases, Floats, bases_of, blocks_of, frame_at, rectangles
from wfb_gym.geometry.pieces import Misplacement, Piece, TerrainPiece
from wfb_gym.seats import SEATS

Shape: TypeAlias = Any  # a shapely geometry
Shapes: TypeAlias = NDArray[np.object_]  # an array of shapely geometries


class Polygons:
    """The polygons of all pieces, by code, and of all terrain on a battlefield."""

    def __init__(self, pieces: Mapping[int, Piece], terrain: Sequence[TerrainPiece]) -> None:
        self.pieces = pieces  # absent pieces have no polygons
        self.features: list[tuple[TerrainPiece, Shape]] = []  # terrain with its polygon
        for feature in terrain:
            half = np.array(feature.size) / 2
            frame = frame_at(feature.position, feature.facing)
            (shape,) = shapely.polygons(rectangles(frame, np.array([[-half, half]])))
            self.features.append((feature, shape))
        self.bases: dict[int, Bases] = {}
        self.blocks: dict[int, Floats] = {}  # (n, 4, 2) corners of its rectangles
        for code, piece in pieces.items():
            if piece.absent:
                continue
            if piece.position is None:
                raise ValueError(f"{piece.key}: expected a position on the battlefield, found none")
            bases = self.bases[code] = bases_of(piece, pieces)
            if piece.host is None:
                self.blocks[code] = rectangles(bases.frame, blocks_of(piece))
            else:
                self.blocks[code] = bases.corners()
        shapes = shapely.polygons(np.concatenate([*self.blocks.values(), np.empty((0, 4, 2))]))
        ends = np.cumsum([len(blocks) for blocks in self.blocks.values()], dtype=np.int64)
        # The polygons of these rectangles, and one multipolygon for each piece.
        self.shapes: dict[int, Shapes] = dict(
            zip(self.blocks, np.split(shapes, ends), strict=False)
        )
        self.footprints: dict[int, Shape] = {
            code: shapely.multipolygons(parts) for code, parts in self.shapes.items()
        }
        self._distances: dict[tuple[int, int], float] = {}

    def distance(self, first: int, second: int) -> float:
        """Return the distance in inches between two pieces' bases; 0 if they touch or overlap."""
        if first == second:
            return 0.0
        pair = (min(first, second), max(first, second))
        if pair not in self._distances:
            shapes = (self.footprints[code] for code in pair)
            self._distances[pair] = float(shapely.distance(*shapes))
        return self._distances[pair]

    def distance_to_terrain(self, code: int, kinds: Collection[str]) -> float:
        """Return a piece's distance in inches to terrain of these kinds, or inf if none exists."""
        shapes = [shape for terrain, shape in self.features if terrain.kind in kinds]
        return float(shapely.distance(self.footprints[code], shapes).min()) if shapes else np.inf

    def ground_within(self, reach: float, code: int, kinds: Collection[str] = ()) -> Shape:
        """Return the area within `reach` inches of a piece, or of terrain of these kinds."""
        near = [shape for terrain, shape in self.features if terrain.kind in kinds]
        start = shapely.union_all(near) if kinds else self.footprints[code]
        return shapely.buffer(start, reach, quad_segs=32)

    def distances_from(self, places: Floats, code: int) -> Floats:
        """Return the distances in inches from places (..., 2) to a piece's bases, shape (...)."""
        distances: Floats = shapely.distance(shapely.points(places), self.footprints[code])
        return distances

    def middle(self, code: int) -> Floats:
        """Return the centre of a piece's oriented bounding rectangle, shape (2,)."""
        bases = self.bases[code]
        corners = bases.frame.local(self.blocks[code].reshape(-1, 2))
        return bases.frame.world((corners.min(axis=0) + corners.max(axis=0)) / 2)

    def shortest_line(self, one: int, other: int) -> Floats:
        """Return the endpoints of the shortest line between two pieces, shape (2, 2)."""
        line = shapely.shortest_line(self.footprints[one], self.footprints[other])
        ends: Floats = shapely.get_coordinates(line)
        return ends

    def piece_in_front(self, code: int, reach: float) -> int | None:
        """Return the code of a piece within `reach` inches of a unit's front rank, or None."""
        piece = self.pieces[code]
        wide = min(piece.frontage, piece.models + len(piece.joined)) * piece.base[0] / 2
        rank = np.array([[[-wide, -piece.base[1]], [wide, 0.0]]])
        (front,) = shapely.polygons(rectangles(self.bases[code].frame, rank))
        for other, shape in self.footprints.items():
            if other != code and self.pieces[other].is_targetable:
                if shapely.distance(front, shape) <= reach + formation.ROUNDING:
                    return other
        return None

    def misplacements(self, size: tuple[float, float]) -> list[Misplacement]:
        """Return the pieces that overlap or leave a battlefield of this width and depth.

        Pieces may touch, or overlap by less than 0.01 inches (house rule C.51). Characters in units
        are skipped.
        """
        pieces = [piece for piece in self.pieces.values() if piece.is_targetable]
        found, shapes = [], []
        for piece in pieces:
            x0, y0, x1, y1 = (float(edge) for edge in self.footprints[piece.code].bounds)
            beyond = max(-x0, -y0, x1 - size[0], y1 - size[1])
            if beyond > formation.TOLERANCE:
                found.append(Misplacement(piece, None, beyond))
            blocks = rectangles(
                self.bases[piece.code].frame, blocks_of(piece), formation.TOLERANCE / 2
            )
            shapes.append(shapely.multipolygons(shapely.polygons(blocks)))
        return found + [
            Misplacement(piece, other, 0.0)
            for i, piece in enumerate(pieces)
            for other, shape in zip(pieces[:i], shapes, strict=False)
            if shapely.intersects(shapes[i], shape)
        ]

    def outlines(self) -> dict[str, dict[str, Shape]]:
        """Return the polygons of each piece's bases, one per model, and of the terrain."""
        terrain = {terrain.name: shape for terrain, shape in self.features}
        named: dict[str, dict[str, Shape]] = {**{seat: {} for seat in SEATS}, "terrain": terrain}
        for code, bases in self.bases.items():
            piece = self.pieces[code]
            shapes = shapely.polygons(bases.corners())
            named[SEATS[piece.army]][piece.name] = shapely.multipolygons(shapes)
        return named
