"""Exact results of policies: what they win, what their best responses win, their score.

All in points. Values are the first army's unless a docstring says otherwise.
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

SAME = 1e-9
"""Points below which two values are equal."""

SeatLimits = Limits | tuple[Limits | None, Limits | None] | None
"""Sizes of the observations and actions of both seats, or of each; None: fitted to the scenario."""


@dataclass(frozen=True)
class Score:
    """How good a policy is, from its own seat.

    Attributes:
        optimum: points of optimal play.
        guaranteed: points that the policy wins against its best response.
        random: points that uniformly random play wins against its best response.
    """

    optimum: float
    guaranteed: float
    random: float

    @property
    def score(self) -> float | None:
        """100 (guaranteed - random) / (optimum - random): 100 is optimal, 0 as good as random.

        None where nothing is to be won.
        """
        stakes = self.optimum - self.random
        return 100.0 * (self.guaranteed - self.random) / stakes if stakes > SAME else None

    def __repr__(self) -> str:
        points = ", ".join(f"{name}={value}" for name, value in vars(self).items())
        return f"Score(score={self.score}, {points})"


class BestResponse:
    """The best response to a policy.

    Attributes:
        value: points of the first army when one army plays the policy and the other answers best.
    """

    def __init__(self, value: float, decisions: SeatDecisions, codes: NDArray[np.int64]) -> None:
        self.value = value
        self._decisions = decisions
        self._codes = codes

    @cached_property
    def policy(self) -> TablePolicy:
        """The response as a function of the other seat's observations."""
        return TablePolicy(self._decisions, self._codes)


class ExactGame:
    """A scenario whose every position is solved, in which policies are evaluated exactly.

    `probabilities` asks a policy once; the other methods take its answers as often as needed.

    Args:
        scenario: a bundled name, a path, a `Scenario`, or a `Solution`.
        max_bytes: memory that the positions may take, unless a `Solution` is given.
        progress: called with the number of positions solved so far. Unless it is given, here and in
            the methods, a bar shows on a terminal if the work takes long.

    Raises:
        TooLarge: The scenario has more positions than fit.
        ScenarioError: There is no such scenario, or it is refused.

    Attributes:
        solution: of the scenario.
        graph: every position that policies of observations tell apart.
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
            self.solution = Solution(loaded, merged, 0.0)  # solved only where it is asked for
        self.graph = self.solution.solve_full(progress)
        self._random: dict[int, float] = {}

    def decisions(self, seat: int | str) -> int:
        """Return the number of decisions of a seat."""
        return int((self.graph.kinds == seat_number(seat)).sum())

    def optimum(self, seat: int | str) -> float:
        """Return the points of optimal play, from a seat."""
        return _sign(seat_number(seat)) * self.solution.points_at_start(self.graph.values)

    def probabilities(
        self,
        policy: PolicyLike,
        seat: int | str,
        limits: Limits | None = None,
        *,
        reached: bool = False,
        progress: Progress | None = None,
    ) -> NDArray[np.float64]:
        """Return what a policy does at every decision of its seat.

        Args:
            policy: see `PolicyLike`.
            seat: 0 or "caster", 1 or "dispeller".
            limits: of its observations and actions; fitted to the scenario unless given.
            reached: whether it is asked only at what its own choices may lead to, which is all
                that its points from the start depend on; every action is as likely elsewhere.
            progress: called with the number of decisions at which it was asked.

        Returns:
            Probabilities of the legal actions of all nodes, in the order of `GameGraph.offsets`,
            float64 (sum of counts,); 0 at the other seat's decisions.

        Raises:
            ValueError: It is no policy, or one for other sizes than the limits; the scenario
                exceeds the limits; or it answers with something else than legal actions, or one
                observation in two ways.
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
        """Return the points of the first army on average when two policies play.

        They are given by their `probabilities`, as in all that follows.
        """
        return self._points([(SweepMode.GIVEN, SweepMode.GIVEN)], caster + dispeller, progress)[0]

    def guaranteed_points(
        self,
        probabilities: NDArray[np.float64],
        seats: Sequence[int],
        progress: Progress | None = None,
    ) -> list[float]:
        """Return the points that policies win against their best responses, each from its seat.

        The probabilities are the sum of those of the policies.
        """
        points = self._points([_answered_lane(seat) for seat in seats], probabilities, progress)
        return [_sign(seat) * each for seat, each in zip(seats, points, strict=True)]

    def score(
        self,
        probabilities: NDArray[np.float64],
        seat: int | str,
        progress: Progress | None = None,
    ) -> Score:
        """Return how good a policy of a seat is."""
        own = seat_number(seat)
        lanes = [_answered_lane(own), _answered_lane(own, SweepMode.UNIFORM)]
        points = self._points(lanes[: 1 if own in self._random else 2], probabilities, progress)
        if own not in self._random:
            self._random[own] = _sign(own) * points[1]
        return Score(self.optimum(own), _sign(own) * points[0], self._random[own])

    def best_response(
        self,
        probabilities: NDArray[np.float64],
        seat: int | str,
        progress: Progress | None = None,
    ) -> BestResponse:
        """Return the best response to a policy of a seat."""
        own = seat_number(seat)
        with self._shown_sweep(progress) as show:
            values, chosen = self.graph.sweep([_answered_lane(own)], probabilities, show)
        decisions = SeatDecisions(self.graph, 1 - own)
        codes = chosen[decisions.nodes, 0].astype(np.int64)
        return BestResponse(self.solution.points_at_start(values[:, 0]), decisions, codes)

    def _points(
        self,
        lanes: list[tuple[SweepMode, SweepMode]],
        weights: NDArray[np.float64],
        progress: Progress | None,
    ) -> list[float]:
        """Points of the first army in each lane."""
        with self._shown_sweep(progress) as show:
            values, _ = self.graph.sweep(lanes, weights, show)
        return [self.solution.points_at_start(values[:, lane]) for lane in range(len(lanes))]

    def _shown_sweep(self, progress: Progress | None) -> AbstractContextManager[Progress]:
        what = f"evaluating {self.solution.scenario.name}"
        return shown(what, progress, self.graph.size, bound="")


def evaluate(
    scenario: Any,
    caster: PolicyLike,
    dispeller: PolicyLike,
    progress: Progress | None = None,
    *,
    limits: SeatLimits = None,
) -> float:
    """Return the points that the first army wins on average when two policies play.

    Args:
        scenario: what `solve` takes, or a `Solution`.
        caster: policy of the first army; see `PolicyLike`.
        dispeller: policy of the other.
        progress: called with the number of positions or decisions done, which begins again in
            each stage: solving, asking, evaluating. Unless it is given, a bar shows on a terminal
            if a stage takes long.
        limits: sizes of the observations and actions, of both seats or a pair; fitted to the
            scenario unless given.

    Raises:
        TooLarge: The scenario has more positions than fit.
        ValueError: One is no policy or one for other sizes, or answers with something else than
            legal actions, or one observation in two ways.
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
        scenario: what `solve` takes, or a `Solution`.
        policy: see `PolicyLike`.
        seat: that the policy plays: 0 or "caster", 1 or "dispeller".
        progress: called with the number of positions or decisions done, which begins again in
            each stage: solving, asking, evaluating. Unless it is given, a bar shows on a terminal
            if a stage takes long.
        limits: sizes of the observations and actions of the policy; fitted to the scenario unless
            given.

    Raises:
        TooLarge: The scenario has more positions than fit.
        ValueError: It is no policy or one for other sizes, or answers with something else than
            legal actions, or one observation in two ways.
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
    """Return the points that policies lose to their best responses.

    Of one policy it is the optimum less what the policy guarantees. Of both it is the mean of the
    two, half of NashConv.

    Args:
        scenario: what `solve` takes, or a `Solution`.
        caster: policy of the first army, if it is evaluated.
        dispeller: policy of the other, if it is evaluated.
        progress: called with the number of positions or decisions done, which begins again in
            each stage: solving, asking, evaluating. Unless it is given, a bar shows on a terminal
            if a stage takes long.
        limits: sizes of the observations and actions, of both seats or a pair; fitted to the
            scenario unless given.

    Raises:
        TooLarge: The scenario has more positions than fit.
        ValueError: There is no policy, or one answers with something else than legal actions, or
            one observation in two ways.
    """
    policies = {seat: each for seat, each in enumerate((caster, dispeller)) if each is not None}
    if not policies:
        raise ValueError("exploitability: expected a caster, a dispeller or both, found neither")
    game, sizes = ExactGame(scenario, progress=progress), _by_seat(limits)
    weights = sum(
        game.probabilities(policy, seat, sizes[seat], reached=True, progress=progress)
        for seat, policy in policies.items()
    )
    guaranteed = game.guaranteed_points(np.asarray(weights), list(policies), progress)
    lost = [game.optimum(seat) - each for seat, each in zip(policies, guaranteed, strict=True)]
    return sum(lost) / len(lost)


def normalised_score(
    scenario: Any,
    policy: PolicyLike,
    seat: int | str,
    progress: Progress | None = None,
    *,
    limits: Limits | None = None,
) -> Score:
    """Return how good a policy is between random play, 0, and the optimum, 100.

    Args:
        scenario: what `solve` takes, or a `Solution`.
        policy: see `PolicyLike`.
        seat: that it plays: 0 or "caster", 1 or "dispeller".
        progress: called with the number of positions or decisions done, which begins again in
            each stage: solving, asking, evaluating. Unless it is given, a bar shows on a terminal
            if a stage takes long.
        limits: sizes of the observations and actions of the policy; fitted to the scenario unless
            given.

    Raises:
        TooLarge: The scenario has more positions than fit.
        ValueError: It is no policy or one for other sizes, or answers with something else than
            legal actions, or one observation in two ways.
    """
    game = ExactGame(scenario, progress=progress)
    given = game.probabilities(policy, seat, limits, reached=True, progress=progress)
    return game.score(given, seat, progress)


def _by_seat(limits: SeatLimits) -> tuple[Limits | None, Limits | None]:
    return limits if isinstance(limits, tuple) else (limits, limits)


def _answered_lane(seat: int, play: SweepMode = SweepMode.GIVEN) -> tuple[SweepMode, SweepMode]:
    """Return a lane in which a seat plays so and the other answers best."""
    return (play, SweepMode.OPTIMAL) if seat == 0 else (SweepMode.OPTIMAL, play)


def _sign(seat: int) -> float:
    return 1.0 if seat == 0 else -1.0
