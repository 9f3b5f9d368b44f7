"""What needs polygons: distances, terrain, overlaps and lines of sight.

The one module that imports shapely, which has no types of its own and is costly to import: import
this module only where there is a battlefield.
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

Shape: TypeAlias = Any
"""A geometry of shapely."""
Shapes: TypeAlias = NDArray[np.object_]
"""An array of them."""

_SHADOW_LENGTH = 1e4
"""Times as far away a shadow ends as the corner that throws it."""
_MIN_SEEN = 1e-6
"""Square inches of a base that must be seen."""
_MIN_HIDDEN = 1e-9
"""Square inches; a shadow over less hides nothing."""


class Polygons:
    """The polygons of all pieces and terrain on a battlefield; pieces go by their codes."""

    def __init__(self, pieces: Mapping[int, Piece], terrain: Sequence[TerrainPiece]) -> None:
        self.pieces = pieces  # those that are absent have no polygons
        self.features: list[tuple[TerrainPiece, Shape]] = []  # terrain, each with its ground
        for feature in terrain:
            half = np.array(feature.size) / 2
            frame = frame_at(feature.position, feature.facing)
            (shape,) = shapely.polygons(rectangles(frame, np.array([[-half, half]])))
            self.features.append((feature, shape))
        self.bases: dict[int, Bases] = {}
        self.blocks: dict[int, Floats] = {}  # (n, 4, 2) corners of the rectangles that it covers
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
        # The polygons of these rectangles, and one multipolygon of them.
        self.shapes: dict[int, Shapes] = dict(
            zip(self.blocks, np.split(shapes, ends), strict=False)
        )
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

    def distance_to_terrain(self, code: int, kinds: Collection[str]) -> float:
        """Inches from a piece to the nearest terrain of these kinds; infinite without any."""
        shapes = [shape for terrain, shape in self.features if terrain.kind in kinds]
        return float(shapely.distance(self.footprints[code], shapes).min()) if shapes else np.inf

    def ground_within(self, reach: float, code: int, kinds: Collection[str] = ()) -> Shape:
        """Return the ground so many inches or less from a piece, or from terrain of these kinds."""
        near = [shape for terrain, shape in self.features if terrain.kind in kinds]
        start = shapely.union_all(near) if kinds else self.footprints[code]
        return shapely.buffer(start, reach, quad_segs=32)

    def distances_from(self, places: Floats, code: int) -> Floats:
        """(...,) inches from places (..., 2) to the nearest base of a piece; 0 on one."""
        distances: Floats = shapely.distance(shapely.points(places), self.footprints[code])
        return distances

    def middle(self, code: int) -> Floats:
        """(2,) middle of a piece's oriented bounding rectangle, on the battlefield."""
        bases = self.bases[code]
        corners = bases.frame.local(self.blocks[code].reshape(-1, 2))
        return bases.frame.world((corners.min(axis=0) + corners.max(axis=0)) / 2)

    def shortest_way(self, one: int, other: int) -> Floats:
        """(2, 2) where the shortest way between two pieces begins and ends."""
        way = shapely.shortest_line(self.footprints[one], self.footprints[other])
        ends: Floats = shapely.get_coordinates(way)
        return ends

    def piece_in_front(self, code: int, reach: float) -> int | None:
        """Another piece within `reach` inches of a unit's front rank; None where there is none."""
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
        """Return the pieces that overlap or leave a battlefield of that width and depth.

        Touching is no overlap, nor is less than 0.01 inches. A character in a unit stands where
        the unit does and is not looked at.
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
        """Return the polygons of each piece's bases, one a model, and of the terrain."""
        terrain = {terrain.name: shape for terrain, shape in self.features}
        named: dict[str, dict[str, Shape]] = {**{seat: {} for seat in SEATS}, "terrain": terrain}
        for code, bases in self.bases.items():
            piece = self.pieces[code]
            shapes = shapely.polygons(bases.corners())
            named[SEATS[piece.army]][piece.name] = shapely.multipolygons(shapes)
        return named


class LineOfSight:
    """What one character sees: its front arc, and what stands in the way.

    Exact on rectangles: whatever blocks sight throws a shadow away from the middle of the viewer's
    base, and a target is seen if a part of one of its bases lies in the arc and in no shadow.
    """

    def __init__(self, polygons: Polygons, viewer: Piece) -> None:
        self._polygons = polygons
        self._viewer = viewer
        bases = polygons.bases[viewer.code]
        self._eye = bases.frame.world(bases.centres[0])
        host = viewer.host
        all_round = viewer.all_round if host is None else polygons.pieces[host].all_round
        self.arc: Shape | None = None  # the ground that the viewer looks at; None for all of it
        if not all_round:  # a quarter of the plane, 45 degrees to each side (ours)
            right, forward = bases.frame.axes * _SHADOW_LENGTH
            edges = np.stack([np.zeros(2), forward + right, 2 * forward, forward - right])
            self.arc = shapely.polygons(self._eye + edges)
        # A piece's code, or -1 for terrain; its name; what lies in its shadow.
        self._shadows: list[tuple[int, str, Shape]] = []
        for code, corners in polygons.blocks.items():
            if polygons.pieces[code].is_unit and code != host:
                name = polygons.pieces[code].name
                self._shadows += [(code, name, shape) for shape in self._shadows_of(corners)]
        own = polygons.footprints[viewer.code]
        for terrain, shape in polygons.features:
            inside = shapely.area(shapely.intersection(shape, own)) > _MIN_SEEN
            if terrain.blocks_sight and not inside:
                corners = shapely.get_coordinates(shape)[:4]
                (shadow,) = self._shadows_of(corners[None])
                self._shadows.append((-1, terrain.name, shapely.difference(shadow, shape)))
        self._shapes = np.array([shadow for _, _, shadow in self._shadows], dtype=object)

    def reason_unseen(self, target: int, ignored: int | None) -> str:
        """Why the viewer does not see a target past all units but one; empty where it does."""
        if target in (self._viewer.code, self._viewer.host):
            return ""
        seen = self._polygons.shapes[target]
        if self.arc is not None:
            seen = shapely.intersection(seen, self.arc)
            if shapely.area(seen).sum() <= _MIN_SEEN:
                return "is outside the caster's front arc"
        if not self._shadows:
            return ""
        cut = shapely.area(shapely.intersection(self._shapes[:, None], seen[None])).max(axis=1)
        chosen = [
            i
            for i in np.flatnonzero(cut > _MIN_HIDDEN)
            if self._shadows[i][0] not in (target, ignored)
        ]
        if not chosen:
            return ""
        dark = shapely.union_all(self._shapes[chosen])
        if shapely.area(shapely.difference(seen, dark)).sum() > _MIN_SEEN:
            return ""
        names = list(dict.fromkeys(self._shadows[i][1] for i in chosen))
        return f"is out of sight behind {' and '.join(names)}"

    def _shadows_of(self, corners: Floats) -> list[Shape]:
        """Return what convex polygons (n, k, 2) hide from the viewer, themselves included."""
        behind = self._eye + _SHADOW_LENGTH * (corners - self._eye)
        points = shapely.multipoints(shapely.points(np.concatenate([corners, behind], axis=1)))
        return list(shapely.convex_hull(points))
