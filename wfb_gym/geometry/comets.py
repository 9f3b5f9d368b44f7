"""Points that a Comet may be aimed at.

A battlefield has too many points to list them all. What matters of one is which units it reaches
and from how far: so there is one for every set of enemies that a point can reach and that is part
of no larger one. Crossings of boundaries of equal radius show these sets. The best point of a set
depends on the boundaries of all radii around both sides: branch and bound finds it, on squares
that are split until no point of them can be better. `wfb_gym.packing` says what a point is worth.
"""

from collections.abc import Callable, Mapping, Sequence
from itertools import combinations
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from wfb_gym.geometry.curves import Curves, meetings
from wfb_gym.geometry.formation import ROUNDING, Floats
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
_COARSEST = 4.0
"""Inches from the middle of the first squares of a search to their sides."""
_FINEST = 2.0**-10
"""The same of the last squares: a place that is narrower may be missed."""
_GAIN = 1e-6
"""Points by which a place must be better than those known."""
_CORNERS = np.array([[-1.0, -1.0], [-1.0, 1.0], [1.0, 1.0], [1.0, -1.0]])
_SIDES = np.array([[-1.0, 0.0], [1.0, 0.0], [0.0, -1.0], [0.0, 1.0]])

Worth: TypeAlias = Callable[[Floats], Floats]
"""(k,) points that places win, by their distances from the pieces (k, n)."""
Beyond: TypeAlias = Callable[[Floats], Floats]
"""(k,) inches by which places (k, 2) lie out of range; negative in range."""


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


class _Goals(NamedTuple):
    """Sets of enemies that lie within a radius of one point and in no larger such set."""

    within: Floats  # (g, n) the radius for each piece of the set, infinite for the others
    best: NDArray[np.int64]  # (g,) the best known place that reaches the set, by its number


class Comets:
    """The points that the Comets of one army may fall on.

    They are the middles of enemies, points on the shortest ways between two of them, and, for each
    of `RADII`, those where the boundaries of what lies within it of two pieces meet, or one meets
    the battlefield's edge. What lies within reach of several enemies is bounded by such points.
    `choose` adds the best places that it finds.

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
        self.distances = self._distances_from(self.places)

    def choose(self, worth: Worth, beyond: Beyond, targets: Sequence[int]) -> NDArray[np.int64]:
        """Choose the points to offer, so that every set of targets within reach of one is reached.

        For each of `RADII` these are the sets that lie within it of one point and in no larger
        such set. The best point of each is offered, and the best of all.

        Args:
            worth: what places are worth; never less nearer to enemies or farther from friends.
            beyond: how far places lie out of range.
            targets: codes of enemies.

        Returns:
            The points by their numbers, shape (n,), the best first.
        """
        ranked = self._rank(worth, beyond)
        if not len(ranked) or not len(targets):
            return np.empty(0, np.int64)
        found = self._better_places(worth, beyond, self._goals(ranked, targets))
        if len(found):
            self.places = np.concatenate([self.places, found])
            self.distances = np.concatenate([self.distances, self._distances_from(found)])
            ranked = self._rank(worth, beyond)
        offered = np.isin(ranked, self._goals(ranked, targets).best)
        chosen: NDArray[np.int64] = ranked[offered]
        return chosen

    def _rank(self, worth: Worth, beyond: Beyond) -> NDArray[np.int64]:
        """Return the places in range by their numbers, the best first; of equal ones the first."""
        ranked = np.argsort(-worth(self.distances).round(_DIGITS), kind="stable")
        in_range: NDArray[np.int64] = ranked[(beyond(self.places) <= ROUNDING)[ranked]]
        return in_range

    def _goals(self, ranked: NDArray[np.int64], targets: Sequence[int]) -> _Goals:
        """Return the sets that are to be reached, after an empty one."""
        columns = np.array([self.codes.index(code) for code in targets])
        distances = self.distances[ranked][:, columns]
        bits = 1 << np.arange(len(targets))
        within = [np.full((1, len(self.codes)), np.inf)]
        best = [ranked[:1]]
        for radius in RADII:
            sets, first = np.unique((distances <= radius) @ bits, return_index=True)
            contained = sets[:, None] & ~sets == 0  # [i, j]: set i has nothing that set j lacks
            largest = (sets != 0) & (contained.sum(axis=1) == 1)
            rows = np.full((int(largest.sum()), len(self.codes)), np.inf)
            rows[:, columns] = np.where(sets[largest][:, None] & bits, radius, np.inf)
            within.append(rows)
            best.append(ranked[first[largest]])
        return _Goals(np.concatenate(within), np.concatenate(best))

    def _better_places(self, worth: Worth, beyond: Beyond, goals: _Goals) -> Floats:
        """(k, 2) places that reach the sets and are worth more than the best known ones.

        Squares of the battlefield are split into four as long as a point of them may be better.
        No point is farther from the middle of its square than half the diagonal, and distances
        change by no more: that bounds what it can be worth.
        """
        best = worth(self.distances[goals.best])
        found: dict[int, Floats] = {}
        nearer = np.where(self._friendly, 1.0, -1.0)
        half = _COARSEST
        rows = [np.arange(half, side + half, 2 * half) for side in self._size]
        squares = np.stack(np.meshgrid(*rows), axis=-1).reshape(-1, 2)
        while len(squares) and half >= _FINEST:
            places = squares.clip(0.0, self._size)
            away, distances = beyond(places), self._distances_from(places)
            values = np.where(away <= ROUNDING, worth(distances), -np.inf)
            diagonal = half * np.sqrt(2.0)
            bound = np.maximum(distances + diagonal * nearer, 0.0)
            most = np.where(away <= diagonal, worth(bound), -np.inf)
            split = np.zeros(len(squares), np.bool_)
            for goal, within in enumerate(goals.within):
                reached = np.where((distances <= within).all(axis=1), values, -np.inf)
                top = int(reached.argmax())
                if reached[top] > best[goal] + _GAIN:
                    best[goal], found[goal] = reached[top], places[top]
                split |= (most > best[goal] + _GAIN) & (distances <= within + diagonal).all(axis=1)
            half /= 2
            squares = (squares[split][:, None] + half * _CORNERS).reshape(-1, 2)
            squares = squares[(squares - half <= self._size).all(axis=1)]
        return np.array([*found.values()]).reshape(-1, 2)

    def _distances_from(self, places: Floats) -> Floats:
        """(k, n) inches from places to each of the pieces."""
        distances: Floats = np.full((len(places), len(self.codes)), np.inf)
        for index, owner in enumerate(self._grounds.owners):
            column = distances[:, owner]
            which = np.full(len(column), index)
            np.minimum(column, self._grounds.distances(places, which), out=column)
        return distances

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
