"""Samples of a scenario's game, and how much of it they leave unseen.

Positions are sampled in groups. A group's number (`wfb_gym.solver.potential`) falls with every
move and every roll, so that going through the groups from the highest down meets every position
after all that lead to it. Of those of a group that came up, the ones with the lowest hashes are
expanded: the choice is by position, whatever the ways to it. How many did not come up is inferred
from how often the others did: if every position was hit by two or three of the sampled ones that
come before, few were missed; if each was hit once, most were.

A sample's positions are related, so their successors coincide more often than those of unrelated
positions, and the count falls short. It does so less the larger the sample is: the growth from a
sample of a quarter of the size says how much is still missing (`estimate_count`).
"""

from functools import cache
from math import lgamma
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from wfb_gym._records import Records
from wfb_gym.engine.battle import Battle
from wfb_gym.engine.state import STATE, STATE_WORDS, Node
from wfb_gym.packing.records import PackedScenario
from wfb_gym.solver.game_graph import GameGraph
from wfb_gym.solver.potential import BELOW_PHASE, States, Whole, potentials

Floats = NDArray[np.float64]

_FIRST_WIDTH = 8
_MOST_WIDTH = 2048
"""Positions that are expanded in a group."""
_SPARE = 4
"""A group counts this many times the positions that it expands."""
_FIRST_EFFORT = 0.5
_EFFORT = 1.1
"""What the first and the last sample may take; about seconds."""
_GROUP_EFFORT, _STATE_EFFORT, _STEP_EFFORT = 1.2e-3, 1e-5, 1e-6
_STEPS_AT_ONCE = 20_000
_KEPT_FOR_CAUSES = 250


class Sample(NamedTuple):
    """What one sample says of the game."""

    width: int  # positions that were expanded in a group, at most
    number: float  # of positions, as far as the sample saw through
    exact: bool  # whether it saw all of them
    left: int  # phases to come where it gave up; 0 if it came to the end of the game
    effort: float  # that it took
    groups: int  # that it went through
    origin: NDArray[np.uint64]  # words of the first position
    moves: NDArray[np.uint64]  # bits in which others differ
    states: States  # some of the positions
    weights: Floats  # for how many each of these stands


def sample_once(battle: Battle) -> Sample:
    """Return a small sample of what can follow."""
    return _sample(battle, _FIRST_WIDTH, _FIRST_EFFORT)


def sample_game(battle: Battle, first: Sample | None = None) -> list[Sample]:
    """Return samples of growing size of what can follow; the last is the most reliable.

    Args:
        battle: the position to begin with.
        first: what `sample_once` returned for it, if it is known.
    """
    first = first or sample_once(battle)
    samples = [first]
    if first.exact or first.left:
        return samples
    fixed = first.groups * _GROUP_EFFORT
    width = int(first.width * (_EFFORT - fixed) / (first.effort - fixed))
    width = min(_MOST_WIDTH, max(4 * _FIRST_WIDTH, width))
    for each in (width // 4, width):
        if each > first.width:
            samples.append(_sample(battle, each, 2 * _EFFORT))
            if samples[-1].exact or samples[-1].left:
                break
    return samples


def estimate_count(samples: list[Sample]) -> float:
    """Return the number of positions: the last sample's if exact, else extrapolated.

    If a count grows with the sample, by a factor g for four times the width, it has about g ** g
    to go: less than twice where the growth is ending, 4 at a growth of 2 (both found by counting
    games that could be solved). Beyond a growth of 3 the sample says only that it has seen next
    to nothing.
    """
    last = samples[-1]
    if last.exact:
        return last.number
    unknown = last.left or len(samples) == 1
    growth = 4.0 if unknown else max(1.0, last.number / samples[-2].number)
    if growth > 3.0:
        growth = 4.0
    return float(max(sample.number for sample in samples) * growth**growth * 2.0**last.left)


class _Group:
    """Positions of one rank that came up."""

    def __init__(self, room: int) -> None:
        self.limit = 1 << 64  # positions with this hash or a higher one are left out
        self._room = room
        self._parts: list[tuple[NDArray[np.uint64], Whole, Floats, States]] = []
        self._size = 0

    def add(self, hashes: NDArray[np.uint64], hits: Whole, shares: Floats, states: States) -> None:
        """Add positions, each once, with hits and how many positions these stand for."""
        if self.limit < 1 << 64:
            low = hashes < np.uint64(self.limit)
            hashes, hits, shares, states = hashes[low], hits[low], shares[low], states[low]
        self._parts.append((hashes, hits, shares, states))
        self._size += len(hashes)
        if self._size > 2 * self._room:
            self.merge()

    def merge(self) -> tuple[NDArray[np.uint64], Whole, Floats, States]:
        """Return every position once, in order of hashes, and no more than there is room for."""
        hashes, hits, shares, states = (
            np.concatenate(column) for column in zip(*self._parts, strict=True)
        )
        unique, first, which = np.unique(hashes, return_index=True, return_inverse=True)
        hits = np.bincount(which, hits).astype(np.int64)
        shares = np.bincount(which, shares).astype(np.float64)
        if len(unique) > self._room:
            self.limit = int(unique[self._room])
        lowest = slice(self._room)
        whole = (unique[lowest], hits[lowest], shares[lowest], states[first[lowest]])
        self._parts = [whole]
        self._size = len(whole[0])
        return whole


def _sample(battle: Battle, width: int, most: float) -> Sample:
    """Sample the game, `width` positions of a group at most; give up after the effort `most`."""
    packed = battle.packed_scenarios
    graph = GameGraph(packed, max_bytes=1 << 62, merging=True)  # which stores nothing
    start = np.zeros(1, STATE)
    start[0] = graph.canonical(battle.state)
    origin = _words(start)[0].copy()
    moves = np.zeros(STATE_WORDS, np.uint64)
    rank = int(potentials(packed, start)[0])
    groups = {rank: _Group(_SPARE * width)}
    groups[rank].add(_hashes(start), np.ones(1, np.int64), np.ones(1), start)
    kept: list[tuple[States, Floats]] = []
    count, effort, done, exact, at_once = 0.0, 0.0, 0, True, 16.0
    while groups and effort < most:
        rank = max(groups)
        group = groups.pop(rank)
        hashes, hits, shares, states = group.merge()
        sampled = group.limit / 2**64
        unseen = _represented_counts(hits, shares)
        here = float(unseen.sum()) / sampled
        exact &= sampled == 1 and bool((unseen == 1).all()) and len(hashes) <= width
        count += here
        done += 1
        expanded = min(width, len(hashes))
        weight = unseen[:expanded] * (here / unseen[:expanded].sum())
        moves |= np.bitwise_or.reduce(_words(states) ^ origin, axis=0)
        few = weight[:_KEPT_FOR_CAUSES]
        kept.append((states[: len(few)], few * (here / few.sum())))
        effort += _GROUP_EFFORT + _STATE_EFFORT * expanded
        k = 0
        while k < expanded and effort < most:
            end = min(expanded, k + max(1, int(at_once)))
            steps, counts = graph.successors(states[k:end])
            effort += _STEP_EFFORT * len(steps)
            at_once = min(512.0, 2 * at_once, _STEPS_AT_ONCE * (end - k) / len(steps))
            _spread(packed, steps, counts, weight[k:end], groups, _SPARE * width)
            k = end
    left = max(1, rank >> BELOW_PHASE) if groups else 0
    columns = (np.concatenate(column) for column in zip(*kept, strict=True))
    return Sample(width, count, exact and not groups, left, effort, done, origin, moves, *columns)


def _spread(
    packed: Records[PackedScenario],
    steps: Any,
    counts: Whole,
    weights: Floats,
    groups: dict[int, _Group],
    room: int,
) -> None:
    """Add what can follow some positions to its groups, by rank; a new group has that room.

    The steps are as `GameGraph.successors` returns them, `counts` of each position; the weights
    say for how many positions each of these stands.
    """
    states = np.asarray(steps)["state"]
    alive = states["node"] != Node.END
    states = np.ascontiguousarray(states[alive])
    if not len(states):
        return
    parents = np.repeat(np.arange(len(counts)), counts)[alive]
    hashes, first, which = np.unique(_hashes(states), return_index=True, return_inverse=True)
    pairs = np.unique(parents * len(hashes) + which)  # a position may lead to another in many ways
    child = pairs % len(hashes)
    hits = np.bincount(child, minlength=len(hashes))
    stand = weights[pairs // len(hashes)]
    shares = np.bincount(child, stand, minlength=len(hashes)).astype(np.float64)
    states = states[first]
    rank = potentials(packed, states)
    order = np.argsort(rank, kind="stable")
    for part in np.split(order, np.flatnonzero(np.diff(rank[order])) + 1):
        group = groups.setdefault(int(rank[part[0]]), _Group(room))
        group.add(hashes[part], hits[part], shares[part], states[part])


_SCRAMBLE: NDArray[np.uint64] = np.random.default_rng(6).integers(
    0, 2**63, STATE.itemsize, np.uint64
) * np.uint64(2) + np.uint64(1)


def _words(states: States) -> NDArray[np.uint64]:
    return np.ascontiguousarray(states).view(np.uint64).reshape(len(states), STATE_WORDS)


def _hashes(states: States) -> NDArray[np.uint64]:
    mixed: NDArray[np.uint64] = _words(states) @ _SCRAMBLE[:STATE_WORDS]
    for shift, factor in ((31, 0x9E3779B97F4A7C15), (29, 0xBF58476D1CE4E5B9)):
        mixed ^= mixed >> np.uint64(shift)
        mixed *= np.uint64(factor)
    return mixed ^ (mixed >> np.uint64(32))


_WAYS: Whole = np.unique(np.round(1.25 ** np.arange(60)).astype(np.int64))
"""Numbers of positions that may lead to one."""
_ROUNDS = 40


@cache
def _log_factorials() -> Floats:
    """Logarithms of the factorials up to that of the most ways, which few processes ask for."""
    return np.array([lgamma(k + 1.0) for k in range(int(_WAYS[-1]) + 1)])


def _represented_counts(hits: Whole, shares: Floats) -> Floats:
    """Return how many positions each one that was hit represents: itself and some that were not.

    Every position that comes before is among the expanded ones with the same chance: hits by
    shares. A position with `n` ways to it is missed with the chance that none of the `n` is. How
    many have `n` ways is fitted to the hits (expectation and maximisation).

    Args:
        hits: expanded positions that lead to each; 1 or more.
        shares: for how many positions those stand.
    """
    chance = float(hits.sum() / shares.sum())
    if chance > 1 - 1e-9:
        return np.ones(len(hits))
    values, which, numbers = np.unique(hits, return_inverse=True, return_counts=True)
    most = max(4, 2 * values[-1] / chance + 4)
    ways = _WAYS[most >= _WAYS]
    ways = np.union1d(ways, values)
    hit, way = values[:, None], np.maximum(ways[None, :], values[:, None])
    factorials = _log_factorials()
    logs = (
        factorials[way] - factorials[hit] - factorials[way - hit]
        + hit * np.log(chance) + (way - hit) * np.log1p(-chance)
    )  # fmt: skip
    seen = -np.expm1(ways * np.log1p(-chance))
    logs = np.where(ways >= hit, logs, -np.inf)
    logs -= logs.max(axis=1, keepdims=True)  # of many hits all chances would vanish
    likely = np.exp(logs) / seen
    share = np.full(len(ways), 1 / len(ways))
    for _ in range(_ROUNDS):
        given = likely * share
        given /= given.sum(axis=1, keepdims=True)
        share = numbers @ given / len(hits)
    each: Floats = (given / seen).sum(axis=1)[which]
    return each
