"""Bounds on the points that a best response wins from a fixed policy in a whole battle.

Within a phase, a best response is computed exactly. Later phases have estimated values, a
regression on exact values of single phases. Let V be this estimate at the start of each phase, and
TV(s) the value of a best response in the phase of s, given V at the positions after it.

**Lower bound.** A responder that maximises within each phase wins, on average, V at the start plus
the mean of TV - V over the starts of the phases that it reaches (the performance difference lemma).

**Upper bound.** Information relaxation with a martingale penalty, in its weak formulation (Rogers
2007, "Pathwise stochastic optimal control"; Brown and Haugh 2017, "Information relaxation bounds
for infinite horizon Markov decision processes"). A battle is sampled from start to start: from each
s, a position s' after the phase is drawn with a probability q(s') > 0. From the last phase back to
the first, J(s) is the value of a best response in the phase of s if the positions after it have the
values V, except that s' has V(s') + (J(s') - V(s')) / q(s'). A responder that reaches s' with
probability p gets p / q times the error of V, whose mean over s' is the mean error. So the mean of
J(s) is at least the value of the best non-anticipating response, for any V and q. If V is exact,
J is the exact value in every sample.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import islice, pairwise, product, repeat
from typing import NamedTuple

import numpy as np

from experiments.best_responses.phase_graph import FixedPolicy, Floats, PhaseGraph, States
from experiments.common import MeanPoints, mean_points
from wfb_gym.engine.state import STATE

_CANDIDATES = tuple(product((1, 2, 3), 10.0 ** np.arange(-5, 2)))
"""Degrees and penalties of the regression. The mean leave-one-out error chooses; squared errors
would depend on a few rare positions only."""
_BITS_FROM = 4
"""Minimum size in bytes of fields that hold bits."""
_CAUTION = 2.0
"""Standard deviations of the error of V that are added to V for the upper bound."""
_GREEDY = 1e-9
"""Temperature, in points, of a responder that takes a best action."""


@dataclass(frozen=True)
class Sampling:
    """How battles are sampled.

    Attributes:
        training: battles from which V is estimated.
        battles: battles for each bound.
        temperature: temperature of the sampled responder's softmax over its actions, in points.
        exploration: probability of its uniformly random actions.
    """

    training: int = 150
    battles: int = 100
    temperature: float = 1.0
    exploration: float = 0.1


class Regression:
    """Kernel ridge regression with a polynomial kernel, from positions to points.

    Args:
        states: positions at the start of a phase, (n,).
        values: their values, (n,).
    """

    def __init__(self, states: States, values: Floats) -> None:
        features = _features(states)
        self._mean, deviation = features.mean(axis=0), features.std(axis=0)
        self._used = deviation > 0.0
        self._deviation = deviation[self._used]
        self._rows = self._scale(features)
        self._average = float(values.mean())
        least, product_of_rows = np.inf, self._products(self._rows)
        for degree, ridge in _CANDIDATES:
            inverse = np.linalg.inv(product_of_rows**degree + ridge * np.eye(len(values)))
            weights = inverse @ (values - self._average)
            error = float(np.abs(weights / np.diag(inverse)).mean())  # leave-one-out
            if error < least:
                least, self._degree, self._weights = error, degree, weights

    def __call__(self, states: States) -> Floats:
        """Return the estimated values of positions, (k,)."""
        products = self._products(self._scale(_features(states)))
        estimated: Floats = products**self._degree @ self._weights
        return estimated + self._average

    def _scale(self, features: Floats) -> Floats:
        scaled: Floats = (features - self._mean)[:, self._used] / self._deviation
        return scaled

    def _products(self, rows: Floats) -> Floats:
        products: Floats = 1.0 + rows @ self._rows.T / max(1, self._rows.shape[1])
        return products


def _features(states: States) -> Floats:
    """Return all fields of positions as numbers, (k, features); fields of bits as bits."""
    columns = []
    for name in STATE.names or ():
        field = np.ascontiguousarray(states[name].reshape(len(states), -1))
        if field.itemsize >= _BITS_FROM:
            field = np.unpackbits(field.view(np.uint8), axis=1)
        columns.append(field.astype(np.float64))
    return np.concatenate(columns, axis=1)


class Sampled(NamedTuple):
    """A phase of a sampled battle, and the position after it."""

    start: States  # (1,)
    graph: PhaseGraph
    leaf_values: Floats  # V
    value: float  # TV
    drawn: int  # the leaf after the phase, or the number of leaves if the battle is over
    chance: float  # of drawing it


class BestResponseBounds:
    """Bounds on the responder's points against a fixed policy.

    Args:
        policy: the policy.
        sampling: how battles are sampled.
        seed: random seed of the samples.

    Attributes:
        lower: points of a responder that maximises within each phase.
        upper: an upper bound on the points of all responders.
    """

    def __init__(self, policy: FixedPolicy, sampling: Sampling, seed: int) -> None:
        self._policy, self._sampling = policy, sampling
        self._rng = np.random.default_rng(seed)
        self._regressions: dict[int, Regression] = {}
        self._start, points = policy.start()
        self._train()
        battles, number = (self._battle() for _ in repeat(None)), sampling.battles
        shifts = _cautious_shifts(list(islice(battles, number)))
        relaxed = [_relaxed(each, shifts) for each in islice(battles, number)]
        greedy = [_phase_by_phase(self._battle(greedy=True)) for _ in range(number)]
        self.lower: MeanPoints = mean_points(points + np.array(greedy))
        self.upper: MeanPoints = mean_points(points + np.array(relaxed))

    def estimate(self, states: States) -> Floats:
        """Return V, the estimated values of positions at the start of a phase, (k,)."""
        values = np.zeros(len(states))
        for phase, regression in self._regressions.items():
            rows = states["phase"] == phase
            if rows.any():
                values[rows] = regression(states[rows])
        return values

    def _train(self) -> None:
        """Estimate V backwards, from the last phase to the second."""
        battles = [self._battle(spread=0.5) for _ in range(self._sampling.training)]
        by_phase: dict[int, list[Sampled]] = {}
        for sampled in (each for battle in battles for each in battle[1:]):
            by_phase.setdefault(int(sampled.start["phase"][0]), []).append(sampled)
        for phase in sorted(by_phase, reverse=True):
            found = by_phase[phase]
            values = [each.graph.solve(self.estimate(each.graph.leaves))[0] for each in found]
            states = np.concatenate([each.start for each in found])
            self._regressions[phase] = Regression(states, np.array(values))

    def _battle(self, *, greedy: bool = False, spread: float = 1.0) -> list[Sampled]:
        """Sample a battle.

        Args:
            greedy: whether the responder plays a best response within each phase.
            spread: exponent of the probabilities; below 1, rare positions are drawn more often.
        """
        battle, start = [], self._start
        temperature = _GREEDY if greedy else self._sampling.temperature
        exploration = 0.0 if greedy else self._sampling.exploration
        while True:
            graph = self._policy.explore_phase(start)
            leaf_values = self.estimate(graph.leaves)
            value, action_values = graph.solve(leaf_values)
            chances = graph.reach(action_values, temperature, exploration) ** spread
            chances /= chances.sum()
            drawn = int(self._rng.choice(len(chances), p=chances))
            chance = float(chances[drawn])
            battle.append(Sampled(start, graph, leaf_values, value, drawn, chance))
            if drawn == len(graph.leaves):
                return battle
            start = graph.leaves[drawn : drawn + 1]


def _phase_by_phase(battle: list[Sampled]) -> float:
    """Return V at the start plus TV - V over the phases of a battle; V at the start is TV."""
    return battle[0].value + sum(
        after.value - float(before.leaf_values[before.drawn]) for before, after in pairwise(battle)
    )


def relax(phase: Sampled, after: float, shift: float) -> float:
    """Return J at the start of a phase, given J after it, with V shifted."""
    leaf_values = phase.leaf_values + shift
    leaf_values[phase.drawn] += (after - leaf_values[phase.drawn]) / phase.chance
    return phase.graph.solve(leaf_values)[0]


def _relaxed(battle: list[Sampled], shifts: Sequence[float]) -> float:
    """Return J at the start of a battle; `shifts` of V after each of its phases."""
    relaxed = battle[-1].value
    for phase, shift in reversed(list(zip(battle[:-1], shifts, strict=False))):
        relaxed = relax(phase, relaxed, shift)
    return relaxed


def _cautious_shifts(battles: Sequence[list[Sampled]]) -> list[float]:
    """Return shifts of V after each phase, by which most errors J - V become negative.

    A positive error attracts the relaxed responder, whose points then have a long tail.
    """
    shifts: list[float] = []
    relaxed = np.array([battle[-1].value for battle in battles])
    for place in range(max(map(len, battles)) - 2, -1, -1):
        going_on = [k for k, battle in enumerate(battles) if len(battle) > place + 1]
        phases = [battles[k][place] for k in going_on]
        errors = relaxed[going_on] - [each.leaf_values[each.drawn] for each in phases]
        shifts.insert(0, float(errors.mean() + _CAUTION * errors.std()))
        relaxed[going_on] = [
            relax(each, after, shifts[0])
            for each, after in zip(phases, relaxed[going_on], strict=True)
        ]
    return shifts
