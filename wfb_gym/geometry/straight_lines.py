"""Straight lines from the caster, which hit every model whose base they cross.

Plain NumPy: a line has no width, and a base is a rectangle.
"""

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from wfb_gym.geometry.formation import Bases, Floats
from wfb_gym.geometry.pieces import Piece

_EDGE = 1e-6
"""Margin by which bases are shrunk, in inches, so that a line along an edge does not cross them."""
_ON_CIRCLE = 1e-5
"""Tolerance for the absolute value of a root that is a direction; its exact value is 1."""
_EQUAL = 1e-6
"""Scores of two directions that differ by less than this are considered equal, in points."""


class Lines:
    """All lines of a given length that a caster can place.

    A line begins at the edge of the caster's base, on a ray from its centre (house rule C.54). The
    set of crossed bases changes only at directions where the line passes a corner, or where its end
    passes a side of a base. It is therefore enough to try one direction between each two of these,
    plus the direction in which the line just reaches the nearest base.

    Args:
        pieces: pieces by code.
        bases: bases by code.
        caster: the caster's code.
        length: length of the line in inches.
    """

    def __init__(
        self, pieces: Mapping[int, Piece], bases: Mapping[int, Bases], caster: int, length: float
    ) -> None:
        self._pieces = pieces
        self._bases = bases
        own = self._own = bases[caster]
        self._army = pieces[caster].army
        self._from = own.frame.world(own.centres[0])
        self._length = length
        reach = length + float(np.hypot(*own.half))
        near: dict[int, NDArray[np.bool_]] = {}
        for code, some in bases.items():
            if code == caster or pieces[code].is_focal:
                continue
            away = np.hypot(*(some.frame.local(self._from) - some.centres).T)
            close = away <= reach + float(np.hypot(*some.half))
            if close.any():
                near[code] = close
        self._directions = self._candidate_directions(near)
        with np.errstate(divide="ignore"):
            to_sides = own.half / np.abs(own.frame.local_directions(self._directions))
        start = to_sides.min(axis=1)  # the line leaves the base through the nearer side
        self._crossed: dict[int, NDArray[np.bool_]] = {}
        self._allowed = np.ones(len(self._directions), np.bool_)
        self._score = np.zeros(len(self._directions))
        for code, close in near.items():
            mask = np.zeros((len(self._directions), len(close)), np.bool_)
            mask[:, close] = self._crossing(bases[code], close, start, start + length)
            if mask.any():
                self._crossed[code] = mask
                piece = pieces[code]
                if piece.engaged:
                    self._allowed &= ~mask.any(axis=1)
                sign = -1.0 if piece.army == self._army else 1.0
                self._score += sign * piece.points * mask.sum(axis=1)

    def through(self, target: int) -> dict[int, NDArray[np.bool_]]:
        """Return the bases crossed by the best line through a target.

        The best line hits the most points, counting enemies minus friends (house rule C.55). Ties
        are broken in favour of the line nearest to the middle of the target.

        Returns:
            A mask over each crossed piece's bases, by code. Empty if no line reaches the target, or
            if every such line touches a unit in close combat.
        """
        if target not in self._crossed:
            return {}
        legal = np.flatnonzero(self._allowed & self._crossed[target].any(axis=1))
        if not len(legal):
            return {}
        score = self._score[legal]
        legal = legal[score >= score.max() - _EQUAL]
        bases = self._bases[target]
        towards = bases.frame.world(bases.centres.mean(axis=0)) - self._from
        best = legal[np.argmax(self._directions[legal] @ towards)]
        return {code: mask[best] for code, mask in self._crossed.items() if mask[best].any()}

    def _candidate_directions(self, near: Mapping[int, NDArray[np.bool_]]) -> Floats:
        """Return the directions to try, shape (k, 2)."""
        changes, towards = [np.empty(0)], [np.empty((0, 2))]
        for code, close in near.items():
            whole = self._bases[code]
            bases = whole._replace(centres=whole.centres[close], half=whole.half - _EDGE)
            changes += [_angles(bases.corners().reshape(-1, 2) - self._from)]
            changes += [self._ends_on_sides(bases)]
            if self._pieces[code].army != self._army:
                local = bases.frame.local(self._from)
                inside = bases.half * 0.999  # a line along the side does not cross the base
                at = np.clip(local, bases.centres - inside, bases.centres + inside)
                at = at[np.argmin(np.hypot(*(at - local).T))]
                middle = whole.centres.mean(axis=0)
                towards.append(bases.frame.world(np.stack([at, middle])) - self._from)
        angles = np.unique(np.concatenate(changes).round(9))
        between = (angles + np.roll(angles, -1)) / 2
        if len(angles):
            between[-1] += np.pi
        tried = np.concatenate([between, _angles(np.concatenate(towards))])
        return np.stack([np.cos(tried), np.sin(tried)], axis=1)

    def _ends_on_sides(self, bases: Bases) -> Floats:
        """Return the angles at which the line ends on a side of a base, or on its extension.

        A ray in direction u leaves the caster's base at distance h / (a.u), where h is half the
        base along its axis a. A line of length l ends on a side at distance d along the normal n
        if (h / (a.u) + l) (n.u) = d. With u, a and n as complex numbers, this is an equation of
        degree four in u. Only roots with absolute value 1 are directions.
        """
        own = self._own
        away = np.abs(bases.frame.local(self._from) - bases.centres)
        nearest = np.hypot(*np.maximum(away - bases.half, 0.0).T)
        farthest = np.hypot(*(away + bases.half).T)
        reached = nearest <= self._length + np.hypot(*own.half)
        reached &= farthest >= self._length + own.half.min()
        normals = np.concatenate([bases.frame.axes, -bases.frame.axes])
        axes = np.concatenate([own.frame.axes, -own.frame.axes])
        if not reached.any():
            return np.empty(0)
        middles = bases.frame.world(bases.centres[reached]) - self._from
        found = []
        for normal, deep in zip(normals, np.tile(bases.half, 2), strict=True):
            distances = np.unique((middles @ normal + deep).round(9))
            for axis, half in zip(axes, np.tile(own.half, 2), strict=True):
                found.append(
                    _roots(complex(*axis), complex(*normal), half, self._length, distances)
                )
        return np.concatenate(found)

    def _crossing(
        self, bases: Bases, close: NDArray[np.bool_], start: Floats, end: Floats
    ) -> NDArray[np.bool_]:
        """Return whether the line in each direction crosses each close base, shape (k, n)."""
        apart = bases.centres[close] - bases.frame.local(self._from)
        directions = bases.frame.local_directions(self._directions)[:, None, :]
        half = bases.half - _EDGE
        with np.errstate(divide="ignore", invalid="ignore"):
            one, other = (apart - half) / directions, (apart + half) / directions
        enters = np.maximum(np.minimum(one, other).max(axis=2), start[:, None])
        leaves = np.maximum(one, other).min(axis=2)
        crossing: NDArray[np.bool_] = (enters < leaves) & (enters <= end[:, None])
        return crossing


def _angles(directions: Floats) -> Floats:
    """Return the angles of directions (k, 2) in radians, shape (k,)."""
    angles: Floats = np.arctan2(directions[:, 1], directions[:, 0])
    return angles


def _roots(axis: complex, normal: complex, half: float, length: float, distances: Floats) -> Floats:
    """Return the angles of all unit u with (half / (axis.u) + length) (normal.u) = distance."""
    a, n = axis, normal
    ones = np.ones(len(distances))
    # Substitute a.u = (conj(a) u + a / u) / 2 and multiply by 4 u^2. Highest power first.
    powers = np.stack(
        [
            length * (a * n).conjugate() * ones,
            2 * (half * n.conjugate() - distances * a.conjugate()),
            2 * length * (a * n.conjugate()).real * ones,
            2 * (half * n - distances * a),
            length * a * n * ones,
        ],
        axis=1,
    )
    companion = np.zeros((len(distances), 4, 4), np.complex128)
    companion[:, [1, 2, 3], [0, 1, 2]] = 1.0
    companion[:, 0] = -powers[:, 1:] / powers[:, :1]
    roots = np.linalg.eigvals(companion).reshape(-1)
    angles: Floats = np.angle(roots[np.abs(np.abs(roots) - 1.0) < _ON_CIRCLE])
    return angles
