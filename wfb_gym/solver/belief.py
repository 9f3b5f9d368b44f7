"""Exact value of a scenario as a function of the belief about one army's hidden items.

This requires that only one army has hidden items, and that they are one of two sets. The value of a
public position is then a function of the enemy's belief, the probability of the second set. If the
informed army minimises, the function is convex, and backward induction computes it without
iteration (Aumann and Maschler 1966):

- At a chance node, it is the average of the successors' functions.
- If the other army chooses, it is their maximum.
- If the informed army chooses, it is the greatest convex function below them, because the choice
  can split the belief.

All functions are piecewise linear and exact. Equal positions are merged.
"""

from collections import deque
from collections.abc import Iterator
from graphlib import TopologicalSorter
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from wfb_gym.scenario import Scenario, load_scenario
from wfb_gym.solver.game_graph import DEFAULT_BYTES, Progress
from wfb_gym.solver.graph_arrays import LEAF
from wfb_gym.solver.public_tree import PublicExpansion, position_chunks

_STRAIGHT = 1e-12  # tolerance in points: a corner closer than this to a straight line is dropped


class BeliefValue(NamedTuple):
    """A scenario's value as a piecewise linear function of a belief.

    Attributes:
        chances: probabilities of the informed army's second set, ascending from 0 to 1,
            float64 (k,).
        values: the first army's points at each probability, float64 (k,); linear in between.
    """

    chances: NDArray[np.float64]
    values: NDArray[np.float64]

    def at(self, chance: float) -> float:
        """Return the first army's points at a belief, a probability from 0 to 1."""
        return float(np.interp(chance, self.chances, self.values))


def value_by_belief(
    scenario: str | Scenario, max_bytes: int = DEFAULT_BYTES, progress: Progress | None = None
) -> BeliefValue:
    """Return a scenario's value as a function of the probability of a set of hidden items.

    Args:
        scenario: the name of a bundled scenario, a path or a `Scenario`. One army must have two
            sets of hidden items, the other none. The weights of the sets are ignored.
        max_bytes: maximum memory for the positions, in bytes.
        progress: called with the number of public positions found so far.

    Raises:
        ValueError: if the scenario's hidden items differ from this.
        TooLarge: if the positions do not fit in memory.
        ScenarioError: if the scenario does not exist or is invalid.
    """
    loaded = load_scenario(scenario)
    counts = [len(army.hidden) for army in loaded.armies]
    if sorted(counts) not in ([0, 2], [1, 2]):
        raise ValueError(
            f"{loaded.name}: expected two sets of hidden items in exactly one army, found "
            f"{counts[0]} in the caster's and {counts[1]} in the dispeller's"
        )
    informed = counts.index(2)
    graph = _PublicGraph(PublicExpansion(loaded, max_bytes), progress)
    sign = 1.0 if informed == 1 else -1.0  # so that the informed army minimises
    found: list[BeliefValue | None] = [None] * len(graph.mover)
    for node in graph.children_first():
        if graph.mover[node] == LEAF:
            found[node] = _constant(sign * graph.value[node])
            continue
        whole: list[BeliefValue] = []
        corners: list[tuple[float, float]] = []
        for legal, gain, children in graph.actions[node]:
            parts = [(found[child], probability) for child, probability in children]
            one = _average(sign * gain, parts)  # type: ignore[arg-type]
            if graph.mover[node] != informed or legal.all():
                whole.append(one)
            elif legal[0]:
                corners.append((0.0, one.values[0]))
            else:
                corners.append((1.0, one.values[-1]))
        if graph.mover[node] == informed:
            found[node] = _lower_hull(whole, corners)
        else:
            found[node] = _greatest(whole)
    root = found[0]
    assert root is not None
    return BeliefValue(root.chances, sign * root.values)


class _PublicGraph:
    """All distinct public positions, with their actions and successors."""

    def __init__(self, expansion: PublicExpansion, progress: Progress | None) -> None:
        self.mover: list[int] = []
        self.value: list[float] = []
        self.actions: list[list[tuple[NDArray[np.bool_], float, list[tuple[int, float]]]]] = []
        root = expansion.root()
        numbers = {root.tobytes(): 0}
        waiting = deque([root])
        while waiting:
            nodes, steps = expansion.expand(waiting.popleft())
            self.mover += nodes.mover.tolist()
            self.value += nodes.value.tolist()
            new, children = [], []
            for k in range(len(steps.states)):
                key = steps.states[k].tobytes()
                if key not in numbers:
                    numbers[key] = len(numbers)
                    new.append(k)
                children.append(numbers[key])
            if new:
                waiting += position_chunks(steps.states[new])
            action = first = 0
            for count in steps.counts.tolist():
                found = []
                for _ in range(count):
                    own = range(first, first + int(steps.transitions[action]))
                    after = [(children[k], float(steps.probability[k])) for k in own]
                    found.append((steps.legal[action, :2], float(steps.gain[action]), after))
                    first += len(own)
                    action += 1
                self.actions.append(found)
            expansion.check_memory(len(numbers) * int(root.nbytes), len(numbers))
            if progress is not None:
                progress(len(numbers))

    def children_first(self) -> Iterator[int]:
        """Yield the nodes so that each node comes after its successors."""
        order: TopologicalSorter[int] = TopologicalSorter()
        for node, found in enumerate(self.actions):
            order.add(node, *(child for _, _, children in found for child, _ in children))
        return iter(order.static_order())


def _constant(value: float) -> BeliefValue:
    return BeliefValue(np.array([0.0, 1.0]), np.array([value, value]))


def _average(gain: float, parts: list[tuple[BeliefValue, float]]) -> BeliefValue:
    """Return the weighted sum of several functions, plus the constant `gain`."""
    if not parts:
        return _constant(gain)
    chances = np.unique(np.concatenate([each.chances for each, _ in parts]))
    values = np.full(len(chances), gain)
    for each, weight in parts:
        values += weight * np.interp(chances, each.chances, each.values)
    return _without_straight(chances, values)


def _greatest(functions: list[BeliefValue]) -> BeliefValue:
    """Return the pointwise maximum of several functions."""
    best = functions[0]
    for other in functions[1:]:
        chances = np.union1d(best.chances, other.chances)
        one = np.interp(chances, best.chances, best.values)
        two = np.interp(chances, other.chances, other.values)
        above = one - two
        crossing = np.flatnonzero(above[:-1] * above[1:] < 0.0)
        fraction = above[crossing] / (above[crossing] - above[crossing + 1])
        between = chances[crossing] + fraction * (chances[crossing + 1] - chances[crossing])
        met = one[crossing] + fraction * (one[crossing + 1] - one[crossing])
        values = np.maximum(one, two)
        order = np.argsort(np.concatenate([chances, between]), kind="stable")
        best = _without_straight(
            np.concatenate([chances, between])[order], np.concatenate([values, met])[order]
        )
    return best


def _lower_hull(functions: list[BeliefValue], corners: list[tuple[float, float]]) -> BeliefValue:
    """Return the greatest convex function below the given functions and points."""
    points = [*corners]
    for each in functions:
        points += zip(each.chances.tolist(), each.values.tolist(), strict=True)
    lowest: dict[float, float] = {}
    for chance, value in points:
        lowest[chance] = min(value, lowest.get(chance, np.inf))
    hull: list[tuple[float, float]] = []
    for chance, value in sorted(lowest.items()):
        while len(hull) > 1 and _is_above(hull[-2], hull[-1], (chance, value)):
            hull.pop()
        hull.append((chance, value))
    chances, values = np.array(hull).T
    return BeliefValue(chances, values)


def _is_above(
    one: tuple[float, float], middle: tuple[float, float], two: tuple[float, float]
) -> bool:
    """Whether the middle of three points is on or above the line through the other two."""
    fraction = (middle[0] - one[0]) / (two[0] - one[0])
    return middle[1] >= one[1] + fraction * (two[1] - one[1]) - _STRAIGHT


def _without_straight(chances: NDArray[np.float64], values: NDArray[np.float64]) -> BeliefValue:
    """Remove corners at which the slope does not change."""
    if len(chances) < 3:
        return BeliefValue(chances, values)
    fraction = (chances[1:-1] - chances[:-2]) / (chances[2:] - chances[:-2])
    line = values[:-2] + fraction * (values[2:] - values[:-2])
    kept = np.concatenate([[True], np.abs(values[1:-1] - line) > _STRAIGHT, [True]])
    return BeliefValue(chances[kept], values[kept])
