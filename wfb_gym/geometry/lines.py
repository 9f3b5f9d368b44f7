"""A straight line from the caster that strikes every model whose base it crosses.

Plain NumPy: a line has no width, and a base is a rectangle.
"""

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from wfb_gym.geometry.formation import Bases, Floats
from wfb_gym.geometry.pieces import Piece

_EDGE = 1e-6
"""A line that runs along a base's edge, or nearer to it than this, does not cross the base."""
_TRIED = 720
"""Number of directions all round that are tried beside those between corners."""
_EQUAL = 1e-6
"""Points by which the scores of two directions must differ to count as different."""


class Lines:
    """All lines of one length, in inches, that a caster can send.

    A line begins at the edge of the caster's base, on a ray from its middle (ours). Which bases a
    ray crosses changes only where it passes a corner: so one direction between each two corners is
    enough, and some more for what lies at the end of the line.
    """

    def __init__(
        self, pieces: Mapping[int, Piece], bases: Mapping[int, Bases], caster: int, length: float
    ) -> None:
        self._pieces = pieces
        self._bases = bases
        own = bases[caster]
        self._army = pieces[caster].army
        self._from = own.frame.world(own.centres[0])
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
            ahead = own.half / np.abs(own.frame.local_directions(self._directions))
        start = ahead.min(axis=1)
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
        """Return which bases the line crosses, by code, that strikes most points through a target.

        Points are those of enemies less those of friends; of equal lines it is the nearest to the
        middle of the target. Empty where no line reaches the target, or each touches a unit in
        close combat.
        """
        if target not in self._crossed:
            return {}
        able = np.flatnonzero(self._allowed & self._crossed[target].any(axis=1))
        if not len(able):
            return {}
        score = self._score[able]
        able = able[score >= score.max() - _EQUAL]
        bases = self._bases[target]
        towards = bases.frame.world(bases.centres.mean(axis=0)) - self._from
        best = able[np.argmax(self._directions[able] @ towards)]
        return {code: mask[best] for code, mask in self._crossed.items() if mask[best].any()}

    def _candidate_directions(self, near: Mapping[int, NDArray[np.bool_]]) -> Floats:
        """(k, 2) directions worth a try."""
        ends, nearest = [np.empty((0, 2))], [np.empty((0, 2))]
        for code, close in near.items():
            bases = self._bases[code]
            ends.append(bases.corners()[close].reshape(-1, 2) - self._from)
            if self._pieces[code].army != self._army:
                local = bases.frame.local(self._from)
                low, high = bases.centres - bases.half, bases.centres + bases.half
                inside = bases.half / 1000  # of the edge itself the line would only run along it
                at = np.clip(local, low + inside, high - inside)
                at = at[np.argmin(np.hypot(*(at - local).T))]
                nearest.append(bases.frame.world(at)[None] - self._from)
        points, straight = np.concatenate(ends), np.concatenate(nearest)
        angles = np.unique(np.arctan2(points[:, 1], points[:, 0]).round(9))
        between = (angles + np.roll(angles, -1)) / 2
        if len(angles):
            between[-1] += np.pi
        all_round = np.linspace(-np.pi, np.pi, _TRIED, endpoint=False)
        tried = np.concatenate([between, np.arctan2(straight[:, 1], straight[:, 0]), all_round])
        return np.stack([np.cos(tried), np.sin(tried)], axis=1)

    def _crossing(
        self, bases: Bases, close: NDArray[np.bool_], start: Floats, end: Floats
    ) -> NDArray[np.bool_]:
        """(k, n) whether the line in each direction crosses each of the bases that are close."""
        apart = bases.centres[close] - bases.frame.local(self._from)
        way = bases.frame.local_directions(self._directions)[:, None, :]
        half = bases.half - _EDGE
        with np.errstate(divide="ignore", invalid="ignore"):
            one, other = (apart - half) / way, (apart + half) / way
        enters = np.maximum(np.minimum(one, other).max(axis=2), start[:, None])
        leaves = np.maximum(one, other).min(axis=2)
        crossing: NDArray[np.bool_] = (enters < leaves) & (enters <= end[:, None])
        return crossing
