"""What a caster sees: his front arc, and what stands in the way.

Exact on rectangles: whatever blocks throws a shadow away from the middle of the caster's base, and
a target is seen if a part of one of its bases lies in the arc and in no shadow.
"""

from collections.abc import Collection

import numpy as np

from wfb_gym.geometry.formation import Floats
from wfb_gym.geometry.ground import Ground
from wfb_gym.geometry.pieces import Piece
from wfb_gym.geometry.shapes import Shape, shapely

_FAR = 1e4
"""Times as far away a shadow ends as the corner that throws it."""
_LEAST = 1e-6
"""Square inches of a base that must be seen."""
_SLIVER = 1e-9
"""Square inches that hide nothing."""


class Sight:
    """What one model sees."""

    def __init__(self, ground: Ground, viewer: Piece) -> None:
        """Throws the shadows of all that blocks his sight.

        Args:
            ground: the table.
            viewer: a character on it.
        """
        self._ground = ground
        self._viewer = viewer
        bases = ground.bases[viewer.code]
        self._eye = bases.frame.world(bases.centres[0])
        host = viewer.host
        all_round = viewer.all_round if host is None else ground.pieces[host].all_round
        self._arc = None if all_round else self._front_arc(bases.frame.axes)
        # A piece's code, or None for terrain; its name; what lies in its shadow.
        self._shadows: list[tuple[int | None, str, Shape]] = []
        for code, corners in ground.blocks.items():
            if ground.pieces[code].unit and code != host:
                name = ground.pieces[code].name
                self._shadows += [(code, name, shape) for shape in self._shadow(corners)]
        own = ground.footprints[viewer.code]
        for name, _, blocks, shape in ground.features:
            if blocks and shapely.area(shapely.intersection(shape, own)) <= _LEAST:
                corners = shapely.get_coordinates(shape)[:4]
                (shadow,) = self._shadow(corners[None])
                self._shadows.append((None, name, shapely.difference(shadow, shape)))
        self._shapes = np.array([shadow for _, _, shadow in self._shadows], dtype=object)

    def objection(self, target: int, gone: Collection[int] = ()) -> str:
        """Why he does not see a target; empty where he does.

        Args:
            target: its code.
            gone: codes of units that are thought away.
        """
        if target in (self._viewer.code, self._viewer.host):
            return ""
        seen = self._ground.shapes[target]
        if self._arc is not None:
            seen = shapely.intersection(seen, self._arc)
            if shapely.area(seen).sum() <= _LEAST:
                return "is outside his front arc"
        if not self._shadows:
            return ""
        cut = shapely.area(shapely.intersection(self._shapes[:, None], seen[None])).max(axis=1)
        away = {target, *gone}
        chosen = [
            i
            for i in np.flatnonzero(cut > _SLIVER)
            if self._shadows[i][0] is None or self._shadows[i][0] not in away
        ]
        if not chosen:
            return ""
        dark = shapely.union_all(self._shapes[chosen])
        if shapely.area(shapely.difference(seen, dark)).sum() > _LEAST:
            return ""
        names = list(dict.fromkeys(self._shadows[i][1] for i in chosen))
        return f"is out of sight behind {' and '.join(names)}"

    def _front_arc(self, axes: Floats) -> Shape:
        """The quarter of the plane in front of him, 45 degrees to each side (ours)."""
        right, forward = axes * _FAR
        edges = np.stack([np.zeros(2), forward + right, 2 * forward, forward - right])
        return shapely.polygons(self._eye + edges)

    def _shadow(self, corners: Floats) -> list[Shape]:
        """What convex polygons hide from him, themselves included.

        Args:
            corners: (n, k, 2).
        """
        behind = self._eye + _FAR * (corners - self._eye)
        points = shapely.multipoints(shapely.points(np.concatenate([corners, behind], axis=1)))
        return list(shapely.convex_hull(points))
