"""Sweeps over a public tree: reaches on the way down, values on the way up, and what is learned.

Strategies and values are held for each set of items that an army may have been dealt, so that one
sweep serves them all. A value is counterfactual: weighted by the chance that everything but the own
choices leads there, the other army's deals together (Zinkevich et al. 2007). What is learned is
predictive CFR+ with quadratic averages (Farina, Kroer and Sandholm 2021): regrets never fall below
0, and the regrets of the next sweep are taken to be those of the last.

A node needs nothing but what its parent and its children have. So threads may share a tree: it is
cut across, and each sweeps a part of what is below. Results are the same for any number of them.
"""

from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from wfb_gym._cores import available_cores
from wfb_gym._jit import jit
from wfb_gym.solver.graph_arrays import CHANCE, LEAF
from wfb_gym.solver.public_tree import TreeArrays

Floats = NDArray[np.float64]
Spans = NDArray[np.int64]
"""Shape (k, 2): nodes from each first one to before each end, parents before children."""

_DOWN, _UP = 1, 2
"""Directions of a sweep, as bits."""
_SHARED = 20_000
"""Nodes of a tree from which on threads share it."""
_WIDE = 16
"""Nodes just below the cut for each thread, so that their parts are of about the same size."""


class Sweep(NamedTuple):
    """Room for a sweep of one army over the tree."""

    # (nodes, kinds), by what the other army was dealt: chance to come here but for the own choices
    other_reach: Floats
    own_reach: Floats  # (nodes, kinds), by what the army was dealt: by its own choices alone
    action_values: Floats  # (actions, kinds): points of each action
    values: Floats  # (nodes, kinds): points from each node on


class Learned(NamedTuple):
    """What sweeps have taught, and how much the next one counts."""

    regrets: Floats  # (actions, kinds): sums above 0
    sums: Floats  # (actions, kinds): of strategies by weight and own reach
    weight: Floats  # (1,): of this sweep in the average; 0 where nothing is learned


class Sweeper:
    """Sweeps a tree.

    Args:
        tree: of public histories.
        weights: chances of the deals, (2, kinds).

    Attributes:
        sweep: what the last one left.
    """

    def __init__(self, tree: TreeArrays, weights: Floats) -> None:
        self._tree, self._weights = tree, weights
        nodes, actions = ((len(each), weights.shape[1]) for each in (tree.mover, tree.gain))
        self.sweep = Sweep(np.zeros(nodes), np.zeros(nodes), np.zeros(actions), np.zeros(nodes))
        self._nothing = Learned(np.zeros((0, 0)), np.zeros((0, 0)), np.zeros(1))
        self._spans = cut(tree, 1)
        self._map: Callable[..., Iterable[None]] = map

    @contextmanager
    def shared(self, threads: int | None) -> Iterator[None]:
        """Let threads share a large tree meanwhile, as many as there are cores unless told."""
        threads = available_cores() if threads is None else threads
        if threads == 1 or len(self._tree.mover) < _SHARED:
            yield
            return
        alone = self._spans, self._map
        with ThreadPoolExecutor(threads, "wfb_gym sweep") as pool:
            self._spans, self._map = cut(self._tree, threads), pool.map
            try:
                yield
            finally:
                self._spans, self._map = alone

    def points(
        self, seat: int, answers_best: bool, strategy: Floats, learned: Learned | None = None
    ) -> float:
        """Return the points of a seat.

        Args:
            seat: whose own choices are set apart.
            answers_best: whether it takes its best action everywhere; else it plays its strategy.
            strategy: of both, (actions, kinds): probabilities, by what the mover was dealt; changed
                to the seat's next one where it learns.
            learned: changed by what the sweep teaches the seat; nothing is unless given.
        """
        tree, sweep = self._tree, self.sweep
        learned = self._nothing if learned is None else learned
        top, *parts = self._spans
        sweep.other_reach[0], sweep.own_reach[0] = self._weights[1 - seat], 1.0

        def sweep_spans(spans: Spans, direction: int = _DOWN | _UP) -> None:
            _sweep(tree, seat, answers_best, strategy, sweep, learned, spans, direction)

        sweep_spans(top, _DOWN)
        for _ in self._map(sweep_spans, parts):
            pass
        sweep_spans(top, _UP)
        return float(self._weights[seat] @ sweep.values[0])


def cut(tree: TreeArrays, parts: int) -> list[Spans]:
    """Cut a tree across: what is above, then parts of what is below, of about the same size.

    What follows the nodes of a span is a span too, as nodes stand by depth.
    """
    depths = [np.array([0, 1])]
    while np.diff(depths[-1])[0] < _WIDE * parts:
        below = _behind(tree, depths[-1])
        if below[0] == below[1]:
            break
        depths.append(below)
    first, end = depths.pop()
    edges = [np.arange(first, end + 1)]  # by depth, where what follows each of these begins
    while edges[-1][0] < edges[-1][-1]:
        edges.append(_behind(tree, edges[-1]))
    sizes = np.cumsum(np.diff(edges).sum(0))
    inner = np.searchsorted(sizes, sizes[-1] * np.arange(1, parts) / parts)
    ends = [0, *inner, len(sizes)]
    below_each = [np.array([[edge[a], edge[b]] for edge in edges]) for a, b in pairwise(ends)]
    return [np.array(depths, np.int64).reshape(-1, 2), *below_each]


def _behind(tree: TreeArrays, nodes: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return where what follows each of these nodes begins."""
    behind: NDArray[np.int64] = 1 + tree.first_way[tree.first_action[nodes]]
    return behind


@jit(nogil=True, forceinline=False)
def _sweep(
    tree: TreeArrays,
    seat: int,
    answers_best: bool,
    strategy: Floats,
    sweep: Sweep,
    learned: Learned,
    spans: Spans,
    direction: int,
) -> None:
    """Sweep some nodes down, up, or down and up again; see `Sweeper.points`."""
    if direction & _DOWN:
        for span in range(spans.shape[0]):
            _spread_reaches(tree, seat, strategy, sweep, spans[span, 0], spans[span, 1])
    if direction & _UP:
        for span in range(spans.shape[0] - 1, -1, -1):
            first, end = spans[span, 0], spans[span, 1]
            _sum_values(tree, seat, answers_best, strategy, sweep, first, end)
            if learned.weight[0] > 0.0:
                _learn(tree, seat, strategy, sweep, learned, first, end)


@jit(nogil=True, forceinline=False)
def _spread_reaches(
    tree: TreeArrays, seat: int, strategy: Floats, sweep: Sweep, first_node: int, end_node: int
) -> None:
    """Write how likely what follows the nodes is, by what each army was dealt."""
    other_reach, own_reach = sweep.other_reach, sweep.own_reach
    kinds = strategy.shape[1]
    for node in range(first_node, end_node):
        mover = tree.mover[node]
        for action in range(tree.first_action[node], tree.first_action[node + 1]):
            for way in range(tree.first_way[action], tree.first_way[action + 1]):
                for kind in range(kinds):
                    other = tree.probability[way] * other_reach[node, kind]
                    own = own_reach[node, kind]
                    if mover == seat:
                        own *= strategy[action, kind]
                    elif mover != CHANCE:
                        other *= strategy[action, kind]
                    other_reach[way + 1, kind] = other
                    own_reach[way + 1, kind] = own


@jit(nogil=True, forceinline=False)
def _sum_values(
    tree: TreeArrays,
    seat: int,
    answers_best: bool,
    strategy: Floats,
    sweep: Sweep,
    first_node: int,
    end_node: int,
) -> None:
    """Write what the army wins from each node on, by what it was dealt."""
    other_reach, values = sweep.other_reach, sweep.values
    action_values = sweep.action_values
    kinds = strategy.shape[1]
    sign = 1.0 if seat == 0 else -1.0
    for node in range(end_node - 1, first_node - 1, -1):
        mover = tree.mover[node]
        reach = 0.0
        for kind in range(kinds):
            reach += other_reach[node, kind]
            values[node, kind] = 0.0
        if mover == LEAF:
            for kind in range(kinds):
                values[node, kind] = sign * tree.value[node] * reach
            continue
        first, end = tree.first_action[node], tree.first_action[node + 1]
        for action in range(first, end):
            taken = reach
            if mover == 1 - seat:
                taken = 0.0
                for kind in range(kinds):
                    taken += other_reach[node, kind] * strategy[action, kind]
            for kind in range(kinds):
                action_values[action, kind] = sign * tree.gain[action] * taken
            for way in range(tree.first_way[action], tree.first_way[action + 1]):
                for kind in range(kinds):
                    action_values[action, kind] += values[way + 1, kind]
        for kind in range(kinds):
            if mover != seat:
                for action in range(first, end):
                    values[node, kind] += action_values[action, kind]
            elif answers_best:
                best = -np.inf
                for action in range(first, end):
                    if tree.legal[action, kind]:
                        best = max(best, action_values[action, kind])
                if best > -np.inf:
                    values[node, kind] = best
            else:
                for action in range(first, end):
                    values[node, kind] += strategy[action, kind] * action_values[action, kind]


@jit(nogil=True, forceinline=False)
def _learn(
    tree: TreeArrays,
    seat: int,
    strategy: Floats,
    sweep: Sweep,
    learned: Learned,
    first_node: int,
    end_node: int,
) -> None:
    """Add a sweep to the army's regrets and sums, and write its next strategy."""
    regrets, sums, weight = learned.regrets, learned.sums, learned.weight[0]
    own_reach, values = sweep.own_reach, sweep.values
    action_values = sweep.action_values
    for node in range(first_node, end_node):
        if tree.mover[node] != seat:
            continue
        first, end = tree.first_action[node], tree.first_action[node + 1]
        for kind in range(strategy.shape[1]):
            played = weight * own_reach[node, kind]
            total = 0.0
            count = 0
            for action in range(first, end):
                if not tree.legal[action, kind]:
                    continue
                count += 1
                sums[action, kind] += played * strategy[action, kind]
                regret = action_values[action, kind] - values[node, kind]
                regrets[action, kind] = max(0.0, regrets[action, kind] + regret)
                strategy[action, kind] = max(0.0, regrets[action, kind] + regret)
                total += strategy[action, kind]
            for action in range(first, end):
                if tree.legal[action, kind]:
                    if total > 0.0:
                        strategy[action, kind] /= total
                    else:
                        strategy[action, kind] = 1.0 / count


@jit(nogil=True, forceinline=False)
def to_probabilities(tree: TreeArrays, sums: Floats, strategy: Floats) -> None:
    """Write each node's sums as probabilities; of what was never reached all are alike.

    Args:
        tree: of public histories.
        sums: (actions, kinds), not negative.
        strategy: (actions, kinds): written, 0 where an action is not legal.
    """
    for node in range(tree.mover.shape[0]):
        if tree.mover[node] >= CHANCE:
            continue
        first, end = tree.first_action[node], tree.first_action[node + 1]
        for kind in range(sums.shape[1]):
            total = 0.0
            count = 0
            for action in range(first, end):
                if tree.legal[action, kind]:
                    total += sums[action, kind]
                    count += 1
            for action in range(first, end):
                strategy[action, kind] = 0.0
                if tree.legal[action, kind]:
                    if total > 0.0:
                        strategy[action, kind] = sums[action, kind] / total
                    else:
                        strategy[action, kind] = 1.0 / count
