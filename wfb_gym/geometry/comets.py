"""Points that a Comet may be aimed at.

A battlefield has too many points to list them all. What matters of one is which units it reaches
and from how far: so there is one for every set of enemies that a point can reach and that is part
of no larger one. What each is worth is `wfb_gym.packing`'s to say.
"""

from collections.abc import Mapping, Sequence
from itertools import combinations
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from wfb_gym.geometry.curves import Curves, meetings
from wfb_gym.geometry.formation import Floats
from wfb_gym.geometry.pieces import Piece

if TYPE_CHECKING:
    from wfb_gym.geometry.polygons import Polygons

RADII = (1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 8.0, 10.0, 12.0)
"""Inches that a Comet can reach which lands with one or two markers."""
_INSIDE = 1e-6
"""Inches by which a point lies within a radius of enemies, and outside that of friends."""
_ON = 1e-8
"""Inches by which a point may miss the boundary that it lies on."""
_DIGITS = 9
"""Decimals by which two values must differ to count as different."""
_CORNERS = np.array([[-1.0, -1.0], [-1.0, 1.0], [1.0, 1.0], [1.0, -1.0]])
_SIDES = np.array([[-1.0, 0.0], [1.0, 0.0], [0.0, -1.0], [0.0, 1.0]])


class _Grounds(NamedTuple):
    """Rectangles that pieces stand on; a short last rank is one of its own."""

    owners: NDArray[np.int64]  # (n,) whose each is, as a column of the distances
    centres: Floats  # (n, 2) on the battlefield
    axes: Floats  # (n, 2, 2) whose rows are the directions of the sides
    halves: Floats  # (n, 2)

    def distances(self, places: Floats, which: NDArray[np.int64]) -> Floats:
        """(k,) from each of k places to one of the rectangles; 0 on it."""
        local = np.einsum("ki,kji->kj", places - self.centres[which], self.axes[which])
        away = np.maximum(np.abs(local) - self.halves[which], 0.0)
        distances: Floats = np.hypot(away[:, 0], away[:, 1])
        return distances


class Comets:
    """The points that the Comets of one army may fall on.

    They are the middles of enemies, points on the shortest ways between two of them, and, for each
    of `RADII`, those where the boundaries of what lies within it of two pieces meet, or one meets
    the battlefield's edge. What lies within reach of several enemies is bounded by such points.

    Attributes:
        codes: of the units and lone characters, of both sides, that a Comet strikes.
        places: the points, shape (k, 2), in inches.
        distances: from each point to each of the pieces, shape (k, len(codes)), in inches.
    """

    def __init__(
        self,
        pieces: Mapping[int, Piece],
        polygons: "Polygons",
        army: int,
        size: tuple[float, float],
    ) -> None:
        self.codes = tuple(code for code, piece in pieces.items() if piece.is_targetable)
        self._friendly = np.array([pieces[code].army == army for code in self.codes], np.bool_)
        self._size = np.array(size)
        self._grounds = self._find_grounds(polygons)
        enemies = [code for code in self.codes if pieces[code].army != army]
        found = [np.empty((0, 2)), *(polygons.middle(code)[None] for code in enemies)]
        for one, other in combinations(enemies, 2):
            found.append(_points_between(*polygons.shortest_way(one, other)))
        for radius in RADII:
            found.append(self._meetings_at(radius))
        self.places = np.concatenate(found)
        self.distances = np.full((len(self.places), len(self.codes)), np.inf)
        for index, owner in enumerate(self._grounds.owners):
            column = self.distances[:, owner]
            which = np.full(len(column), index)
            np.minimum(column, self._grounds.distances(self.places, which), out=column)

    def choose(
        self, values: Floats, allowed: NDArray[np.bool_], targets: Sequence[int]
    ) -> NDArray[np.int64]:
        """Choose the points to offer, so that every set of targets within reach of one is reached.

        For each of `RADII` these are the sets that lie within it of one point and in no larger
        such set. The best point of each is offered, and the best of all.

        Args:
            values: what each point is worth, shape (k,).
            allowed: whether each point may be aimed at, shape (k,).
            targets: codes of enemies.

        Returns:
            The points by their numbers, shape (n,), the best first.
        """
        ranked: NDArray[np.int64] = np.argsort(-values.round(_DIGITS), kind="stable")
        ranked = ranked[allowed[ranked]]
        columns = [self.codes.index(code) for code in targets]
        distances = self.distances[ranked][:, columns]
        if not distances.size:
            return np.empty(0, np.int64)
        bits = 1 << np.arange(len(targets))
        chosen = {0}
        for radius in RADII:
            sets, best = np.unique((distances <= radius) @ bits, return_index=True)
            within = sets[:, None] & ~sets == 0  # [i, j]: set i has nothing that set j lacks
            chosen.update(best[(sets != 0) & (within.sum(axis=1) == 1)].tolist())
        return ranked[sorted(chosen)]

    def _find_grounds(self, polygons: "Polygons") -> _Grounds:
        owners, centres, axes, halves = [], [], [], []
        for owner, code in enumerate(self.codes):
            frame = polygons.bases[code].frame
            for corners in frame.local(polygons.blocks[code]):
                low, high = corners.min(axis=0), corners.max(axis=0)
                owners.append(owner)
                centres.append(frame.world((low + high) / 2))
                axes.append(frame.axes)
                halves.append((high - low) / 2)
        return _Grounds(np.array(owners), *(np.array(parts) for parts in (centres, axes, halves)))

    def _meetings_at(self, radius: float) -> Floats:
        """(k, 2) places on the battlefield where boundaries of what lies within a radius meet."""
        grounds, (width, depth) = self._grounds, self._size
        reach = radius + np.where(self._friendly[grounds.owners], _INSIDE, -_INSIDE)
        each = np.repeat(np.arange(len(reach)), 4)
        signs = np.tile(_CORNERS, (len(reach), 1))
        sides = np.tile(_SIDES, (len(reach), 1))
        halves, axes = grounds.halves[each], grounds.axes[each]
        outwards = np.einsum("ki,kij->kj", sides, axes)
        offset = np.abs(sides * halves).sum(axis=1) + reach[each]
        centres = grounds.centres[each]
        edges = np.array([[0.0, 0.0], [0.0, 0.0], [width, depth], [width, depth]])
        curves = Curves(
            centres + np.einsum("ki,kij->kj", signs * halves, axes),
            reach[each],
            np.concatenate([centres + offset[:, None] * outwards, edges]),
            np.concatenate([outwards[:, ::-1] * [-1.0, 1.0], np.tile(np.eye(2), (2, 1))]),
        )
        found = meetings(curves)
        whose = np.concatenate([each, each, np.full(4, -1)])
        places, pair = found.places, [whose[found.first], whose[found.second]]
        real = (pair[0] != pair[1]) & (places >= 0.0).all(axis=1)
        real &= (places <= self._size).all(axis=1)
        places, pair = places[real], [which[real] for which in pair]
        on_both = np.ones(len(places), np.bool_)
        for which in pair:
            away = grounds.distances(places, which) - reach[which]
            on_both &= (which < 0) | (np.abs(away) <= _ON)
        points: Floats = places[on_both]
        return points


def _points_between(start: Floats, end: Floats) -> Floats:
    """(k, 2) points between two, at each of the radii from either, and the two themselves."""
    gap = float(np.hypot(*(end - start)))
    steps = [0.0, *(radius - _INSIDE for radius in RADII if radius <= gap)]
    shares = np.unique([*steps, *(gap - step for step in steps)]) / (gap or 1.0)
    points: Floats = start + shares[:, None] * (end - start)
    return points
