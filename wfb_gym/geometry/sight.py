"""Lines of sight, computed with polygons."""

import numpy as np
import shapely  # type: ignore[import-untyped]

from wfb_gym.geometry.formation import Floats
from wfb_gym.geometry.pieces import Piece
from wfb_gym.geometry.polygons import Polygons, Shape

_SHADOW_LENGTH = 1e4
"""Length of a shadow, as a multiple of the distance to the corner that casts it."""
_MIN_SEEN = 1e-6  # minimum visible part of a base that counts as seen, in square inches
_MIN_HIDDEN = 1e-9  # shadows that cover less of a base than this are ignored, in square inches


class LineOfSight:
    """A character's line of sight: its front arc, and the shadows of sight blockers.

    Exact for rectangles. Each blocker casts a shadow away from the centre of the viewer's base. A
    target is seen if part of one of its bases lies in the arc and outside all shadows.
    """

    def __init__(self, polygons: Polygons, viewer: Piece) -> None:
        self._polygons = polygons
        self._viewer = viewer
        bases = polygons.bases[viewer.code]
        self._eye = bases.frame.world(bases.centres[0])
        host = viewer.host
        all_round = viewer.all_round if host is None else polygons.pieces[host].all_round
        self.arc: Shape | None = None  # visible area; None if the viewer sees all round
        if not all_round:  # 45 degrees to each side (house rule C.44)
            right, forward = bases.frame.axes * _SHADOW_LENGTH
            edges = np.stack([np.zeros(2), forward + right, 2 * forward, forward - right])
            self.arc = shapely.polygons(self._eye + edges)
        # (code of a piece, or -1 for terrain; its name; the area of its shadow)
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
        """Return why the viewer cannot see a target, ignoring one unit, or "" if it can."""
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
        hidden = shapely.union_all(self._shapes[chosen])
        if shapely.area(shapely.difference(seen, hidden)).sum() > _MIN_SEEN:
            return ""
        names = list(dict.fromkeys(self._shadows[i][1] for i in chosen))
        return f"is out of sight behind {' and '.join(names)}"

    def _shadows_of(self, corners: Floats) -> list[Shape]:
        """Return the areas hidden by convex polygons (n, k, 2), including the polygons."""
        behind = self._eye + _SHADOW_LENGTH * (corners - self._eye)
        points = shapely.multipoints(shapely.points(np.concatenate([corners, behind], axis=1)))
        return list(shapely.convex_hull(points))
