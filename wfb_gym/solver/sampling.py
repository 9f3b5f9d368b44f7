"""Samples the positions of a scenario's game to estimate how many there are.

Positions are grouped by rank, which is their potential (`wfb_gym.solver.potential`). The rank
decreases with every move and every roll, so in descending order of rank every position comes after
all of its predecessors. In each group, the positions with the lowest hashes are expanded, so
whether a position is chosen does not depend on the path to it. The number of positions that the
sample missed is estimated from hits. A position's hits are the expanded positions that lead to it.
If most positions have two or three hits, few were missed; if most have one, many were missed.

Sampled positions are related, so their successors coincide more often than the successors of
independent positions, and the estimate is too low. The error decreases with the size of the sample.
`estimate_count` extrapolates from the growth between a sample and one a quarter of its size.
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
from wfb_gym.solver.game_graph import HASH_FACTORS, GameGraph
from wfb_gym.solver.potential import BELOW_PHASE, States, Whole, potentials

Floats = NDArray[np.float64]

_FIRST_WIDTH, _MOST_WIDTH = 8, 2048  # minimum and maximum number of positions expanded per group
_SPARE = 4  # a group stores this many times as many positions as it expands
_FIRST_EFFORT, _EFFORT = 0.5, 1.1  # effort of the first and the last sample, roughly in seconds
_GROUP_EFFORT, _STATE_EFFORT, _STEP_EFFORT = 1.2e-3, 1e-5, 1e-6
_STEPS_AT_ONCE = 20_000
_KEPT_FOR_CAUSES = 250


class Sample(NamedTuple):
    """Result of sampling the game once."""

    width: int  # maximum number of positions expanded per group
    number: float  # estimated number of positions in the processed groups
    exact: bool  # whether the sample contains all positions
    left: int  # phases left if the sample stopped early; 0 if it reached the end of the game
    effort: float  # effort spent, roughly in seconds
    groups: int  # number of processed groups
    origin: NDArray[np.uint64]  # words of the first position
    moves: NDArray[np.uint64]  # bits in which other positions differ from the first
    states: States  # some of the positions
    weights: Floats  # estimated number of positions that each of these represents


def sample_once(battle: Battle) -> Sample:
    """Return a small sample of the positions reachable from a battle's position."""
    return _sample(battle, _FIRST_WIDTH, _FIRST_EFFORT)


def sample_game(battle: Battle, first: Sample | None = None) -> list[Sample]:
    """Return samples of increasing size; the last one is the most reliable.

    `first` is the result of `sample_once` for this position, if known.
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
    """Estimate the number of positions: exact if the last sample is, otherwise extrapolated.

    If quadrupling the width multiplies the count by g, the true count is about g ** g times the
    last one. This rule was fitted to games that could be solved: the factor is below 2 for a growth
    close to 1, and 4 for a growth of 2. If the growth exceeds 3, the sample is too small, and a
    growth of 4 is used.
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
    """Sampled positions of one rank."""

    def __init__(self, capacity: int) -> None:
        self.limit = 1 << 64  # positions whose hash is not below this are dropped
        self._capacity = capacity
        self._parts: list[tuple[NDArray[np.uint64], Whole, Floats, States]] = []
        self._size = 0

    def add(
        self, hashes: NDArray[np.uint64], hits: Whole, represented: Floats, states: States
    ) -> None:
        """Add distinct positions, their hits, and the numbers of positions the hits represent."""
        if self.limit < 1 << 64:
            low = hashes < np.uint64(self.limit)
            hashes, hits = hashes[low], hits[low]
            represented, states = represented[low], states[low]
        self._parts.append((hashes, hits, represented, states))
        self._size += len(hashes)
        if self._size > 2 * self._capacity:
            self.merge()

    def merge(self) -> tuple[NDArray[np.uint64], Whole, Floats, States]:
        """Return the distinct positions in hash order, up to the group's capacity."""
        hashes, hits, represented, states = (
            np.concatenate(column) for column in zip(*self._parts, strict=True)
        )
        unique, first, which = np.unique(hashes, return_index=True, return_inverse=True)
        hits = np.bincount(which, hits).astype(np.int64)
        represented = np.bincount(which, represented).astype(np.float64)
        if len(unique) > self._capacity:
            self.limit = int(unique[self._capacity])
        lowest = slice(self._capacity)
        whole = (unique[lowest], hits[lowest], represented[lowest], states[first[lowest]])
        self._parts = [whole]
        self._size = len(whole[0])
        return whole


def _sample(battle: Battle, width: int, most: float) -> Sample:
    """Sample the game with at most `width` positions per group; stop after an effort of `most`."""
    packed = battle.packed_scenarios
    graph = GameGraph(packed, max_bytes=1 << 62, merging=True)  # used only to expand positions
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
        hashes, hits, represented, states = group.merge()
        sampled = group.limit / 2**64
        multiplicity = _represented_counts(hits, represented)
        here = float(multiplicity.sum()) / sampled
        exact &= sampled == 1 and bool((multiplicity == 1).all()) and len(hashes) <= width
        count += here
        done += 1
        expanded = min(width, len(hashes))
        weight = multiplicity[:expanded] * (here / multiplicity[:expanded].sum())
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
    capacity: int,
) -> None:
    """Add the steps from the given positions, `counts` from each, to the groups of their ranks."""
    states = np.asarray(steps)["state"]
    alive = states["node"] != Node.END
    states = np.ascontiguousarray(states[alive])
    if not len(states):
        return
    parents = np.repeat(np.arange(len(counts)), counts)[alive]
    hashes, first, which = np.unique(_hashes(states), return_index=True, return_inverse=True)
    pairs = np.unique(parents * len(hashes) + which)  # several steps may lead to the same position
    child = pairs % len(hashes)
    hits = np.bincount(child, minlength=len(hashes))
    by_pair = weights[pairs // len(hashes)]
    represented = np.bincount(child, by_pair, minlength=len(hashes)).astype(np.float64)
    states = states[first]
    rank = potentials(packed, states)
    order = np.argsort(rank, kind="stable")
    for part in np.split(order, np.flatnonzero(np.diff(rank[order])) + 1):
        group = groups.setdefault(int(rank[part[0]]), _Group(capacity))
        group.add(hashes[part], hits[part], represented[part], states[part])


def _words(states: States) -> NDArray[np.uint64]:
    return np.ascontiguousarray(states).view(np.uint64).reshape(len(states), STATE_WORDS)


def _hashes(states: States) -> NDArray[np.uint64]:
    mixed: NDArray[np.uint64] = _words(states) @ HASH_FACTORS
    for shift, factor in ((31, 0x9E3779B97F4A7C15), (29, 0xBF58476D1CE4E5B9)):
        mixed ^= mixed >> np.uint64(shift)
        mixed *= np.uint64(factor)
    return mixed ^ (mixed >> np.uint64(32))


_PARENT_COUNTS: Whole = np.unique(np.round(1.25 ** np.arange(60)).astype(np.int64))
"""Candidates for a position's number of parents."""
_ROUNDS = 40


@cache
def _log_factorials() -> Floats:
    """Return log(k!) up to the largest number of parents; cached, because few processes use it."""
    return np.array([lgamma(k + 1.0) for k in range(int(_PARENT_COUNTS[-1]) + 1)])


def _represented_counts(hits: Whole, represented: Floats) -> Floats:
    """Return how many positions each hit position represents, including itself."""
    # Assume that each possible parent was expanded with the same probability `chance`. A position
    # with n parents then has a binomial number of hits, and is missed if there are none. The
    # distribution of n is fitted to the hits by expectation-maximization.
    chance = float(hits.sum() / represented.sum())
    if chance > 1 - 1e-9:
        return np.ones(len(hits))
    values, which, numbers = np.unique(hits, return_inverse=True, return_counts=True)
    most = max(4, 2 * values[-1] / chance + 4)
    parents = _PARENT_COUNTS[most >= _PARENT_COUNTS]
    parents = np.union1d(parents, values)
    hit, all_parents = values[:, None], np.maximum(parents[None, :], values[:, None])
    factorials = _log_factorials()
    logs = (
        factorials[all_parents] - factorials[hit] - factorials[all_parents - hit]
        + hit * np.log(chance) + (all_parents - hit) * np.log1p(-chance)
    )  # fmt: skip
    seen = -np.expm1(parents * np.log1p(-chance))
    logs = np.where(parents >= hit, logs, -np.inf)
    logs -= logs.max(axis=1, keepdims=True)  # avoids underflow for many hits
    likely = np.exp(logs) / seen
    mixture = np.full(len(parents), 1 / len(parents))
    for _ in range(_ROUNDS):
        given = likely * mixture
        given /= given.sum(axis=1, keepdims=True)
        mixture = numbers @ given / len(hits)
    each: Floats = (given / seen).sum(axis=1)[which]
    return each
