"""Exact evaluation of policies: values, best responses, exploitability and scores.

All results are in points, from the first army's perspective unless stated otherwise.
"""

from collections.abc import Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from wfb_gym._progress import shown
from wfb_gym.encoding.limits import Limits
from wfb_gym.packing import pack
from wfb_gym.scenario import load_scenario
from wfb_gym.seats import SEATS, seat_number
from wfb_gym.solver.estimation import refuse_hidden
from wfb_gym.solver.game_graph import DEFAULT_BYTES, GameGraph, Progress
from wfb_gym.solver.graph_arrays import SweepMode
from wfb_gym.solver.seat_decisions import PolicyLike, SeatDecisions, TablePolicy
from wfb_gym.solver.solution import Solution

SAME = 1e-9  # values that differ by less than this, in points, count as equal

SeatLimits = Limits | tuple[Limits | None, Limits | None] | None
"""Limits for both seats, or a pair with the limits for each. If None, limits are fitted to the
scenario."""


@dataclass(frozen=True)
class Score:
    """A policy's score, in points for its own seat.

    Attributes:
        optimum: value of optimal play.
        guaranteed: value of the policy against its best response.
        random: value of uniformly random play against its best response.
    """

    optimum: float
    guaranteed: float
    random: float

    @property
    def score(self) -> float | None:
        """The normalised score: 100 (guaranteed - random) / (optimum - random).

        100 is optimal, and 0 is no better than random play. None if both have the same value.
        """
        stakes = self.optimum - self.random
        return 100.0 * (self.guaranteed - self.random) / stakes if stakes > SAME else None

    def __repr__(self) -> str:
        points = ", ".join(f"{name}={value}" for name, value in vars(self).items())
        return f"Score(score={self.score}, {points})"


class BestResponse:
    """The best response to a policy.

    Attributes:
        value: the first army's points if one army plays the policy and the other its best response.
    """

    def __init__(self, value: float, decisions: SeatDecisions, codes: NDArray[np.int64]) -> None:
        self.value = value
        self._decisions = decisions
        self._codes = codes

    @cached_property
    def policy(self) -> TablePolicy:
        """The best response, as a function of the responding seat's observations."""
        return TablePolicy(self._decisions, self._codes)


class ExactGame:
    """A solved scenario in which policies are evaluated exactly.

    Call `probabilities` once per policy, and pass the result to the other methods.

    Args:
        scenario: the name of a bundled scenario, a path, a `Scenario`, or a `Solution`.
        max_bytes: maximum memory for the positions, in bytes; ignored for a `Solution`.
        progress: called with the number of positions solved so far. Defaults to a progress bar,
            shown on a terminal if solving takes long. The same applies to the methods.

    Raises:
        TooLarge: if the positions do not fit in memory.
        ScenarioError: if the scenario does not exist or is invalid.

    Attributes:
        solution: the scenario's solution.
        graph: graph of all positions, without merging equivalent ones.
    """

    def __init__(
        self, scenario: Any, max_bytes: int = DEFAULT_BYTES, progress: Progress | None = None
    ) -> None:
        if isinstance(scenario, Solution):
            self.solution = scenario
        else:
            loaded = load_scenario(scenario)
            refuse_hidden(loaded)
            merged = GameGraph(pack(loaded), max_bytes, merging=True)
            self.solution = Solution(loaded, merged, 0.0)  # solved on demand
        self.graph = self.solution.solve_full(progress)
        self._random: dict[int, float] = {}

    def decisions(self, seat: int | str) -> int:
        """Return the number of a seat's decisions."""
        return int((self.graph.kinds == seat_number(seat)).sum())

    def optimum(self, seat: int | str) -> float:
        """Return the value of optimal play, in the seat's points."""
        return _seat_points(self.solution.points_at_start(self.graph.values), seat_number(seat))

    def random(self, seat: int | str, progress: Progress | None = None) -> float:
        """Return the value of uniformly random play against its best response, as in `Score`."""
        own = seat_number(seat)
        if own not in self._random:
            (points,) = self._points([_answered_lane(own, SweepMode.UNIFORM)], (), progress)
            self._random[own] = _seat_points(points, own)
        return self._random[own]

    def probabilities(
        self,
        policy: PolicyLike,
        seat: int | str,
        limits: Limits | None = None,
        *,
        reached: bool = False,
        progress: Progress | None = None,
    ) -> NDArray[np.float64]:
        """Return a policy's action probabilities at every decision of its seat.

        Args:
            policy: see `PolicyLike`.
            seat: 0 or "caster", 1 or "dispeller".
            limits: limits for the policy's observations and actions. Defaults to limits fitted to
                the scenario.
            reached: whether to call the policy only at decisions that it can reach from the start.
                The value at the start depends only on these; elsewhere the result is uniform.
            progress: called with the number of decisions evaluated so far.

        Returns:
            Probabilities of the legal actions at all nodes, in the order of `GameGraph.offsets`,
            float64 (sum of counts,); 0 at the other seat's decisions.

        Raises:
            ValueError: if `policy` is not a policy, or its sizes differ from the limits; if the
                scenario exceeds the limits; if the policy returns anything but legal actions or
                probabilities, or different answers for the same observation.
        """
        own = seat_number(seat)
        given = np.zeros(int(self.graph.offsets()[-1]))
        start = self.solution.start_node if reached else None
        decisions = SeatDecisions(self.graph, own, limits)
        with shown(
            f"asking the {SEATS[own]}",
            progress,
            len(decisions.nodes),
            unit="decisions",
            bound="at most " if reached else "",
        ) as show:
            decisions.write_probabilities(given, policy, start, show)
        return given

    def value(
        self,
        caster: NDArray[np.float64],
        dispeller: NDArray[np.float64],
        progress: Progress | None = None,
    ) -> float:
        """Return the first army's expected points when policies with these `probabilities` play.

        `progress` is called with the number of positions evaluated so far.
        """
        given = [caster + dispeller]
        return self._points([(SweepMode.GIVEN, SweepMode.GIVEN)], given, progress)[0]

    def score(
        self, probabilities: NDArray[np.float64], seat: int | str, progress: Progress | None = None
    ) -> Score:
        """Return the score of a seat's policy, given its `probabilities`."""
        return self.scores([probabilities], [seat], progress)[0]

    def scores(
        self,
        probabilities: Sequence[NDArray[np.float64]],
        seats: Sequence[int | str],
        progress: Progress | None = None,
    ) -> list[Score]:
        """Return the scores of several policies, which takes little longer than the score of one.

        Arguments are as in `value`.
        """
        if not seats:
            return []
        own = [seat_number(seat) for seat in seats]
        unknown = [seat for seat in dict.fromkeys(own) if seat not in self._random]
        lanes = [_answered_lane(seat) for seat in own]
        lanes += [_answered_lane(seat, SweepMode.UNIFORM) for seat in unknown]
        points = self._points(lanes, probabilities, progress)
        for seat, value in zip(unknown, points[len(own) :], strict=True):
            self._random[seat] = _seat_points(value, seat)
        return [
            Score(self.optimum(seat), _seat_points(value, seat), self._random[seat])
            for seat, value in zip(own, points, strict=False)
        ]

    def best_response(
        self, probabilities: NDArray[np.float64], seat: int | str, progress: Progress | None = None
    ) -> BestResponse:
        """Return the best response to a seat's policy, given its `probabilities`."""
        own = seat_number(seat)
        with self._shown_sweep(progress) as show:
            values, chosen = self.graph.sweep([_answered_lane(own)], probabilities[None], show)
        decisions = SeatDecisions(self.graph, 1 - own)
        codes = chosen[decisions.nodes, 0].astype(np.int64)
        return BestResponse(self.solution.points_at_start(values[:, 0]), decisions, codes)

    def _points(
        self,
        lanes: list[tuple[SweepMode, SweepMode]],
        weights: Sequence[NDArray[np.float64]],
        progress: Progress | None,
    ) -> list[float]:
        """Return the first army's points in each lane."""
        with self._shown_sweep(progress) as show:
            given = np.stack(weights) if weights else None
            values, _ = self.graph.sweep(lanes, given, show)
        return [self.solution.points_at_start(values[:, lane]) for lane in range(len(lanes))]

    def _shown_sweep(self, progress: Progress | None) -> AbstractContextManager[Progress]:
        task = f"evaluating {self.solution.scenario.name}"
        return shown(task, progress, self.graph.size, bound="")


def evaluate(
    scenario: Any,
    caster: PolicyLike,
    dispeller: PolicyLike,
    progress: Progress | None = None,
    *,
    limits: SeatLimits = None,
) -> float:
    """Return the first army's expected points when two policies play each other.

    Args:
        scenario: the name of a bundled scenario, a path, a `Scenario`, or a `Solution`.
        caster: the first army's policy; see `PolicyLike`.
        dispeller: the second army's policy.
        progress: called with the number of positions or decisions processed so far. The count
            restarts at each stage: solving, calling the policy, evaluating. Defaults to a progress
            bar, shown on a terminal if a stage takes long.
        limits: limits for both seats, or a pair. Defaults to limits fitted to the scenario.

    Raises:
        TooLarge: if the positions do not fit in memory.
        ValueError: if a policy is invalid; see `ExactGame.probabilities`.
    """
    game, sizes = ExactGame(scenario, progress=progress), _by_seat(limits)
    first, second = (
        game.probabilities(policy, seat, sizes[seat], reached=True, progress=progress)
        for seat, policy in enumerate((caster, dispeller))
    )
    return game.value(first, second, progress)


def best_response(
    scenario: Any,
    policy: PolicyLike,
    seat: int | str,
    progress: Progress | None = None,
    *,
    limits: Limits | None = None,
) -> BestResponse:
    """Return the best response to a policy.

    Args:
        scenario: the name of a bundled scenario, a path, a `Scenario`, or a `Solution`.
        policy: see `PolicyLike`.
        seat: the policy's seat: 0 or "caster", 1 or "dispeller".
        progress: see `evaluate`.
        limits: limits for the policy's observations and actions. Defaults to limits fitted to the
            scenario.

    Raises:
        TooLarge: if the positions do not fit in memory.
        ValueError: if the policy is invalid; see `ExactGame.probabilities`.
    """
    game = ExactGame(scenario, progress=progress)
    given = game.probabilities(policy, seat, limits, progress=progress)
    return game.best_response(given, seat, progress)


def exploitability(
    scenario: Any,
    caster: PolicyLike | None = None,
    dispeller: PolicyLike | None = None,
    progress: Progress | None = None,
    *,
    limits: SeatLimits = None,
) -> float:
    """Return the exploitability of a policy or of a pair of policies, in points.

    A policy's exploitability is the optimum minus the policy's value against its best response. For
    a pair, it is the mean of both, which is half of NashConv.

    Args:
        scenario: the name of a bundled scenario, a path, a `Scenario`, or a `Solution`.
        caster: the first army's policy; None to evaluate only the dispeller.
        dispeller: the second army's policy; None to evaluate only the caster.
        progress: see `evaluate`.
        limits: limits for both seats, or a pair. Defaults to limits fitted to the scenario.

    Raises:
        TooLarge: if the positions do not fit in memory.
        ValueError: if no policy is given, or a policy is invalid; see `ExactGame.probabilities`.
    """
    policies = {seat: each for seat, each in enumerate((caster, dispeller)) if each is not None}
    if not policies:
        raise ValueError("exploitability: expected a caster, a dispeller or both, found neither")
    game, sizes = ExactGame(scenario, progress=progress), _by_seat(limits)
    given = [
        game.probabilities(policy, seat, sizes[seat], reached=True, progress=progress)
        for seat, policy in policies.items()
    ]
    lost = [each.optimum - each.guaranteed for each in game.scores(given, list(policies), progress)]
    return sum(lost) / len(lost)


def normalised_score(
    scenario: Any,
    policy: PolicyLike,
    seat: int | str,
    progress: Progress | None = None,
    *,
    limits: Limits | None = None,
) -> Score:
    """Return a policy's score: 0 for random play, 100 for optimal play.

    Args:
        scenario: the name of a bundled scenario, a path, a `Scenario`, or a `Solution`.
        policy: see `PolicyLike`.
        seat: the policy's seat: 0 or "caster", 1 or "dispeller".
        progress: see `evaluate`.
        limits: limits for the policy's observations and actions. Defaults to limits fitted to the
            scenario.

    Raises:
        TooLarge: if the positions do not fit in memory.
        ValueError: if the policy is invalid; see `ExactGame.probabilities`.
    """
    game = ExactGame(scenario, progress=progress)
    given = game.probabilities(policy, seat, limits, reached=True, progress=progress)
    return game.score(given, seat, progress)


def _by_seat(limits: SeatLimits) -> tuple[Limits | None, Limits | None]:
    return limits if isinstance(limits, tuple) else (limits, limits)


def _answered_lane(seat: int, play: SweepMode = SweepMode.GIVEN) -> tuple[SweepMode, SweepMode]:
    """Return a lane in which `seat` plays `play` and the other seat plays its best response."""
    return (play, SweepMode.OPTIMAL) if seat == 0 else (SweepMode.OPTIMAL, play)


def _seat_points(points: float, seat: int) -> float:
    """Convert the first army's points to a seat's points, never -0.0."""
    return points if seat == 0 else 0.0 - points
