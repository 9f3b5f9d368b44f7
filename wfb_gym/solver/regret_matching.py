"""Counterfactual regret minimization on a public tree.

A sweep first computes reach probabilities from the root down, then values and regrets from the
leaves up. Strategies and values have one column per set of hidden items, so a single sweep handles
all sets. Values are counterfactual: they are weighted by the probability that chance and the other
army lead to the node, and summed over the other army's sets (Zinkevich et al. 2007). The update is
predictive CFR+ with quadratic averaging (Farina, Kroer and Sandholm 2021): regrets are clipped at
0, and the latest regrets serve as the prediction for the next ones.

A node depends only on its parent and its children, so threads can share a sweep. The tree is cut
below some depth, and each thread sweeps part of the lower nodes. The number of threads does not
affect the results.
"""

from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from wfb_gym._cpu_count import available_cores
from wfb_gym._jit import jit
from wfb_gym.solver.graph_arrays import CHANCE, LEAF
from wfb_gym.solver.public_tree import TreeArrays

Floats = NDArray[np.float64]
Spans = NDArray[np.int64]
"""Ranges of nodes, int64 (k, 2): first node and end (exclusive), with parents before children."""

_DOWN, _UP = 1, 2  # directions of a sweep, as bit flags
_SHARED = 20_000  # minimum size, in nodes, of a tree that threads share
_WIDE = 16  # minimum number of nodes per thread at the cut, so that the parts are of similar size


class Sweep(NamedTuple):
    """Arrays for one army's sweep over the tree; "kinds" are sets of hidden items."""

    # (nodes, kinds of the other army): reach probability from chance and the other army's choices
    other_reach: Floats
    own_reach: Floats  # (nodes, kinds): reach probability from the army's own choices
    action_values: Floats  # (actions, kinds): counterfactual value of each action, in points
    values: Floats  # (nodes, kinds): counterfactual value of each node, in points


class Learned(NamedTuple):
    """Regrets and average strategy, and the weight of the next sweep."""

    regrets: Floats  # (actions, kinds): cumulative regrets, not below 0
    sums: Floats  # (actions, kinds): sums of strategies, weighted by sweep and own reach
    weight: Floats  # (1,): weight of this sweep in the average; 0 turns learning off


class Sweeper:
    """Runs sweeps over a tree.

    Args:
        tree: tree of public histories.
        weights: probability of each army's sets of hidden items, float64 (2, kinds).

    Attributes:
        sweep: arrays from the latest sweep.
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
        """Within this context, sweep large trees with several threads; one per core if None."""
        threads = available_cores() if threads is None else threads
        if threads == 1 or len(self._tree.mover) < _SHARED:
            yield
            return
        unshared = self._spans, self._map
        with ThreadPoolExecutor(threads, "wfb_gym sweep") as pool:
            self._spans, self._map = cut(self._tree, threads), pool.map
            try:
                yield
            finally:
                self._spans, self._map = unshared

    def points(
        self, seat: int, answers_best: bool, strategy: Floats, learned: Learned | None = None
    ) -> float:
        """Sweep the tree and return a seat's expected points.

        Args:
            seat: seat whose values are computed.
            answers_best: whether the seat plays its best response instead of its strategy.
            strategy: both seats' action probabilities by the mover's set of hidden items,
                float64 (actions, kinds). If the seat learns, its part is updated in place.
            learned: the seat's regrets and sums, updated in place. If None, the seat does not
                learn.
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
    """Cut a tree below some depth.

    Nodes are ordered by depth, so the children of a range of nodes also form a range.

    Returns:
        The ranges above the cut, followed by `parts` lists of ranges below it, of similar size.
    """
    depths = [np.array([0, 1])]
    while np.diff(depths[-1])[0] < _WIDE * parts:
        below = _first_children(tree, depths[-1])
        if below[0] == below[1]:
            break
        depths.append(below)
    first, end = depths.pop()
    edges = [np.arange(first, end + 1)]  # by depth: first descendant of each node at the cut
    while edges[-1][0] < edges[-1][-1]:
        edges.append(_first_children(tree, edges[-1]))
    sizes = np.cumsum(np.diff(edges).sum(0))
    inner = np.searchsorted(sizes, sizes[-1] * np.arange(1, parts) / parts)
    ends = [0, *inner, len(sizes)]
    below_each = [np.array([[edge[a], edge[b]] for edge in edges]) for a, b in pairwise(ends)]
    return [np.array(depths, np.int64).reshape(-1, 2), *below_each]


def _first_children(tree: TreeArrays, nodes: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return each node's first child, or the end of the preceding children if it has none."""
    children: NDArray[np.int64] = 1 + tree.first_transition[tree.first_action[nodes]]
    return children


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
    """Sweep ranges of nodes down, up, or both; see `Sweeper.points`."""
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
    """Write the reach probabilities of the children of a range of nodes."""
    other_reach, own_reach = sweep.other_reach, sweep.own_reach
    kinds = strategy.shape[1]
    for node in range(first_node, end_node):
        mover = tree.mover[node]
        for action in range(tree.first_action[node], tree.first_action[node + 1]):
            for transition in range(
                tree.first_transition[action], tree.first_transition[action + 1]
            ):
                for kind in range(kinds):
                    other = tree.probability[transition] * other_reach[node, kind]
                    own = own_reach[node, kind]
                    if mover == seat:
                        own *= strategy[action, kind]
                    elif mover != CHANCE:
                        other *= strategy[action, kind]
                    other_reach[transition + 1, kind] = other
                    own_reach[transition + 1, kind] = own


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
    """Write the counterfactual values of nodes and actions, for each set of the army's items."""
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
            for transition in range(
                tree.first_transition[action], tree.first_transition[action + 1]
            ):
                for kind in range(kinds):
                    action_values[action, kind] += values[transition + 1, kind]
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
    """Update the army's regrets and sums, and write its next strategy."""
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
    """Normalize each node's sums to probabilities; uniform if a node's sums are all 0.

    Args:
        tree: tree of public histories.
        sums: float64 (actions, kinds), not negative.
        strategy: output, float64 (actions, kinds); 0 for illegal actions.
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
