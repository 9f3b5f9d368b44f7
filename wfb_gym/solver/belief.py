"""The value of a scenario with one secret of two kinds, for every belief about it at once.

Where one army alone has a secret, and that of two sets of items, nothing need be iterated. What a
public position is worth is a convex function of the chance that its enemy gives the second set, if
the army that has it minimises; it follows from those of the positions behind it: the greatest of
them where the other army chooses, their average over dice, and where the informed army chooses the
greatest convex function below them, as its choice may split the belief (Aumann and Maschler 1966).
All are piecewise linear, and exact. Positions are merged whatever led there.
"""

from collections import deque
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from wfb_gym.scenario import Scenario, load_scenario
from wfb_gym.solver.game_graph import DEFAULT_BYTES, Progress
from wfb_gym.solver.graph_arrays import LEAF
from wfb_gym.solver.public_tree import PublicExpansion, position_chunks

_STRAIGHT = 1e-12
"""Points by which a corner must leave the straight line to be one."""


class BeliefValue(NamedTuple):
    """A piecewise linear function of a belief.

    Attributes:
        chances: that the army was dealt its second set, ascending from 0 to 1, float64 (k,).
        values: points of the first army at each of them, float64 (k,); straight between them.
    """

    chances: NDArray[np.float64]
    values: NDArray[np.float64]

    def at(self, chance: float) -> float:
        """Return the points of the first army at a belief, 0 to 1."""
        return float(np.interp(chance, self.chances, self.values))


def value_by_belief(
    scenario: str | Scenario, max_bytes: int = DEFAULT_BYTES, progress: Progress | None = None
) -> BeliefValue:
    """Return what a scenario is worth by the chance of the one secret's second set.

    Args:
        scenario: a bundled name, a path or a `Scenario`: one army has two sets of hidden items,
            whose weights count for nothing here, the other none.
        max_bytes: memory that the positions may take.
        progress: called with the number of public positions found so far.

    Raises:
        ValueError: it has other secrets.
        TooLarge: it has more positions than fit.
        ScenarioError: there is no such scenario, or it is refused.
    """
    loaded = load_scenario(scenario)
    counts = [len(army.hidden) for army in loaded.armies]
    if sorted(counts) not in ([0, 2], [1, 2]):
        raise ValueError(
            f"{loaded.name}: expected two sets of hidden items on one side alone, found "
            f"{counts[0]} of the caster's and {counts[1]} of the dispeller's"
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
        for legal, gain, ways in graph.actions[node]:
            parts = [(found[child], probability) for child, probability in ways]
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
    """All public positions, each once, and what follows them."""

    def __init__(self, expansion: PublicExpansion, progress: Progress | None) -> None:
        self.mover: list[int] = []
        self.value: list[float] = []
        self.actions: list[list[tuple[NDArray[np.bool_], float, list[tuple[int, float]]]]] = []
        root = expansion.root()
        numbers = {root.tobytes(): 0}
        waiting = deque([root])
        while waiting:
            nodes, ways = expansion.expand(waiting.popleft())
            self.mover += nodes.mover.tolist()
            self.value += nodes.value.tolist()
            new, children = [], []
            for k in range(len(ways.states)):
                key = ways.states[k].tobytes()
                if key not in numbers:
                    numbers[key] = len(numbers)
                    new.append(k)
                children.append(numbers[key])
            if new:
                waiting += position_chunks(ways.states[new])
            action = way = 0
            for count in ways.counts.tolist():
                found = []
                for _ in range(count):
                    on = range(way, way + int(ways.ways[action]))
                    after = [(children[k], float(ways.probability[k])) for k in on]
                    found.append((ways.legal[action, :2], float(ways.gain[action]), after))
                    way += len(on)
                    action += 1
                self.actions.append(found)
            expansion.check_room(len(numbers) * int(root.nbytes), len(numbers))
            if progress is not None:
                progress(len(numbers))

    def children_first(self) -> list[int]:
        """Numbers of the nodes, each behind all that can follow it."""
        ways_in = np.zeros(len(self.mover), np.int64)
        for found in self.actions:
            for _, _, ways in found:
                for child, _ in ways:
                    ways_in[child] += 1
        order, ready = [], [0]
        while ready:
            node = ready.pop()
            order.append(node)
            for _, _, ways in self.actions[node]:
                for child, _ in ways:
                    ways_in[child] -= 1
                    if not ways_in[child]:
                        ready.append(child)
        return order[::-1]


def _constant(value: float) -> BeliefValue:
    return BeliefValue(np.array([0.0, 1.0]), np.array([value, value]))


def _average(gain: float, parts: list[tuple[BeliefValue, float]]) -> BeliefValue:
    """Add functions by their weights, and a constant."""
    if not parts:
        return _constant(gain)
    chances = np.unique(np.concatenate([each.chances for each, _ in parts]))
    values = np.full(len(chances), gain)
    for each, weight in parts:
        values += weight * np.interp(chances, each.chances, each.values)
    return _without_straight(chances, values)


def _greatest(functions: list[BeliefValue]) -> BeliefValue:
    """Return the greatest of some functions, everywhere."""
    best = functions[0]
    for other in functions[1:]:
        chances = np.union1d(best.chances, other.chances)
        one = np.interp(chances, best.chances, best.values)
        two = np.interp(chances, other.chances, other.values)
        above = one - two
        crossing = np.flatnonzero(above[:-1] * above[1:] < 0.0)
        share = above[crossing] / (above[crossing] - above[crossing + 1])
        between = chances[crossing] + share * (chances[crossing + 1] - chances[crossing])
        met = one[crossing] + share * (one[crossing + 1] - one[crossing])
        values = np.maximum(one, two)
        order = np.argsort(np.concatenate([chances, between]), kind="stable")
        best = _without_straight(
            np.concatenate([chances, between])[order], np.concatenate([values, met])[order]
        )
    return best


def _lower_hull(functions: list[BeliefValue], corners: list[tuple[float, float]]) -> BeliefValue:
    """Return the greatest convex function below some functions and single points."""
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
    """Whether the middle one of three points is not below the line through the others."""
    share = (middle[0] - one[0]) / (two[0] - one[0])
    return middle[1] >= one[1] + share * (two[1] - one[1]) - _STRAIGHT


def _without_straight(chances: NDArray[np.float64], values: NDArray[np.float64]) -> BeliefValue:
    """Leave out the corners at which a function goes straight on."""
    if len(chances) < 3:
        return BeliefValue(chances, values)
    share = (chances[1:-1] - chances[:-2]) / (chances[2:] - chances[:-2])
    line = values[:-2] + share * (values[2:] - values[:-2])
    kept = np.concatenate([[True], np.abs(values[1:-1] - line) > _STRAIGHT, [True]])
    return BeliefValue(chances[kept], values[kept])
