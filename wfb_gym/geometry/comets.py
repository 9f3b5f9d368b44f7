"""Points at which a Comet may be aimed.

A point matters only through its distances to the units. The candidates are therefore one point for
each maximal set of enemies that lie within a given radius of a single point (house rule C.59). The
sets are found at intersections of boundaries with equal radius. The best point for a set is found
by branch and bound: squares are split until none of their points can be better. `wfb_gym.packing`
computes the expected points for a place.
"""

from collections.abc import Callable, Mapping, Sequence
from itertools import combinations
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from wfb_gym.geometry.curves import Curves, meetings
from wfb_gym.geometry.formation import CORNERS, ROUNDING, SIDES, Floats
from wfb_gym.geometry.pieces import Piece

if TYPE_CHECKING:
    from wfb_gym.geometry.polygons import Polygons

RADII = (1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 8.0, 10.0, 12.0)
"""Distances, in inches, that a Comet with one or two markers can reach when it lands."""
_INSIDE = 1e-6
"""Margin in inches: points are moved this far inside enemies' radii and outside friends' radii."""
_ON = 1e-8  # tolerance, in inches, for a point on a boundary
_DIGITS = 9  # number of decimals to which values are rounded before being compared
_COARSEST = 4.0  # half the side of the first squares in a search, in inches
_FINEST = 2.0**-10
"""Half the side of the last squares, in inches. The search can miss narrower regions."""
_GAIN = 1e-6  # amount in points by which a place must beat the best known place

Worth: TypeAlias = Callable[[Floats], Floats]
"""Maps the distances from k places to n pieces, shape (k, n), to expected points, shape (k,)."""
Beyond: TypeAlias = Callable[[Floats], Floats]
"""Maps places, shape (k, 2), to inches out of range, shape (k,); negative if in range."""


class _Grounds(NamedTuple):
    """Rectangles occupied by the pieces; an incomplete last rank is a separate rectangle."""

    owners: NDArray[np.int64]  # (n,) index of the piece, which is its column in the distances
    centres: Floats  # (n, 2) on the battlefield
    axes: Floats  # (n, 2, 2); the rows are unit vectors along the sides
    halves: Floats  # (n, 2) half of each side, in inches

    def distances(self, places: Floats, which: NDArray[np.int64]) -> Floats:
        """Return the distance from place k to rectangle `which[k]`, shape (k,); 0 inside it."""
        local = np.einsum("ki,kji->kj", places - self.centres[which], self.axes[which])
        away = np.maximum(np.abs(local) - self.halves[which], 0.0)
        distances: Floats = np.hypot(away[:, 0], away[:, 1])
        return distances


class _Goals(NamedTuple):
    """Maximal sets of enemies that lie within a given radius of a single point."""

    within: Floats  # (g, n) radius for each piece in the set, infinite for the others
    best: NDArray[np.int64]  # (g,) index of the best known place that reaches the set


class Comets:
    """The points on which an army's Comets may fall.

    The points are the centres of enemies and points on the shortest segments between two enemies.
    In addition, for each of `RADII`, they include the points where the boundaries of the areas
    within that radius of a piece meet each other or the edge of the battlefield. `choose` adds the
    best places that it finds.

    Attributes:
        codes: codes of the units and lone characters, on both sides, that a Comet can hit.
        places: the points, shape (k, 2), in inches.
        distances: distance from each point to each piece, shape (k, len(codes)), in inches.
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
            found.append(_points_between(*polygons.shortest_line(one, other)))
        for radius in RADII:
            found.append(self._meetings_at(radius))
        self.places = np.concatenate(found)
        self.distances = self._distances_from(self.places)

    def choose(self, worth: Worth, beyond: Beyond, targets: Sequence[int]) -> NDArray[np.int64]:
        """Choose the legal points: the best for each maximal set of targets, and the best overall.

        For each of `RADII`, a set consists of the targets within that radius of a point. It is
        maximal if it is not part of a larger such set.

        Args:
            worth: a place's expected points. Must not decrease if an enemy is nearer or a friend is
                farther away.
            beyond: number of inches by which a place is out of range.
            targets: codes of enemies.

        Returns:
            Indices of the points, shape (n,), best first.
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
        """Return the indices of the places in range, best first; ties keep their order."""
        ranked = np.argsort(-worth(self.distances).round(_DIGITS), kind="stable")
        in_range: NDArray[np.int64] = ranked[(beyond(self.places) <= ROUNDING)[ranked]]
        return in_range

    def _goals(self, ranked: NDArray[np.int64], targets: Sequence[int]) -> _Goals:
        """Return the sets of targets to reach; the first is empty, for the best point overall."""
        columns = np.array([self.codes.index(code) for code in targets])
        distances = self.distances[ranked][:, columns]
        bits = 1 << np.arange(len(targets))
        within = [np.full((1, len(self.codes)), np.inf)]
        best = [ranked[:1]]
        for radius in RADII:
            sets, first = np.unique((distances <= radius) @ bits, return_index=True)
            contained = sets[:, None] & ~sets == 0  # [i, j]: set i is a subset of set j
            largest = (sets != 0) & (contained.sum(axis=1) == 1)
            rows = np.full((int(largest.sum()), len(self.codes)), np.inf)
            rows[:, columns] = np.where(sets[largest][:, None] & bits, radius, np.inf)
            within.append(rows)
            best.append(ranked[first[largest]])
        return _Goals(np.concatenate(within), np.concatenate(best))

    def _better_places(self, worth: Worth, beyond: Beyond, goals: _Goals) -> Floats:
        """Return places that reach a set and beat its best known place, shape (k, 2).

        Squares of the battlefield are split into four as long as one of their points may be better.
        A point is at most half a diagonal from the centre of its square. Its distances therefore
        differ from the centre's by at most half a diagonal, which bounds its value.
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
            squares = (squares[split][:, None] + half * CORNERS).reshape(-1, 2)
            squares = squares[(squares - half <= self._size).all(axis=1)]
        return np.array([*found.values()]).reshape(-1, 2)

    def _distances_from(self, places: Floats) -> Floats:
        """Return the distance in inches from each place to each piece, shape (k, n)."""
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
        """Return the places where boundaries at a radius around pieces meet, shape (k, 2)."""
        grounds, (width, depth) = self._grounds, self._size
        reach = radius + np.where(self._friendly[grounds.owners], _INSIDE, -_INSIDE)
        each = np.repeat(np.arange(len(reach)), 4)
        signs = np.tile(CORNERS, (len(reach), 1))
        sides = np.tile(SIDES, (len(reach), 1))
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
    """Return the two points, and the points at each of `RADII` from either, shape (k, 2)."""
    gap = float(np.hypot(*(end - start)))
    steps = [0.0, *(radius - _INSIDE for radius in RADII if radius <= gap)]
    shares = np.unique([*steps, *(gap - step for step in steps)]) / (gap or 1.0)
    points: Floats = start + shares[:, None] * (end - start)
    return points
