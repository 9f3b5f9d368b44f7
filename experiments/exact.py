"""Exact results of several policies in one scenario, each of them asked once.

`wfb_gym.solver.evaluate` and `normalised_score` ask a policy about every decision each time. Here
its answers are kept, so that n policies in each seat cost 2 n questions, not n squared.
"""

from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from wfb_gym.encoding.limits import Limits
from wfb_gym.envs.scenario_set import resolve_scenarios
from wfb_gym.generating import Generated
from wfb_gym.opponents.scripted import find_scripted
from wfb_gym.packing import pack
from wfb_gym.players.registry import make_agent
from wfb_gym.scenario import load_scenario
from wfb_gym.seats import seat_number
from wfb_gym.solver import Score, Solution, graph
from wfb_gym.solver.game_graph import GameGraph
from wfb_gym.solver.policies import PolicyLike, SeatDecisions
from wfb_gym.solver.solution import DEFAULT_BYTES

Chances = NDArray[np.float64]
"""What a policy does at every decision of its seat; as long as all actions of all nodes."""


class ExactGame:
    """A scenario whose every position is worked out.

    Args:
        scenario: a bundled name, a path, or a `Scenario`.
        max_bytes: memory that the positions may take.

    Raises:
        TooLarge: there are more of them than fit.
        ScenarioError: there is no such scenario, or it is refused.
    """

    def __init__(self, scenario: Any, max_bytes: int = DEFAULT_BYTES) -> None:
        self.scenario = load_scenario(scenario)
        positions = GameGraph(pack(self.scenario), max_bytes, merging=True)
        self._solution = Solution(self.scenario, positions, 0.0)
        self._full = self._solution.full
        self._actions = int(self._full.offsets()[-1])

    def decisions(self, seat: int | str) -> int:
        """How many decisions a seat has."""
        return int((self._full.kinds[: self._full.size] == seat_number(seat)).sum())

    def chances(self, policy: PolicyLike, seat: int | str, limits: Limits | None = None) -> Chances:
        """What a policy does, asked once at each decision of its seat.

        Args:
            policy: what `wfb_gym.solver.evaluate` takes.
            seat: that it plays.
            limits: of its observations and actions; fitted to the scenario unless given.

        Raises:
            ValueError: it is no policy, or has memory; see `SeatDecisions.give`.
        """
        given = np.zeros(self._actions)
        SeatDecisions(self._full, seat_number(seat), limits).give(given, policy)
        return given

    def points(self, caster: Chances, dispeller: Chances) -> float:
        """Points that the first army wins on average when these two play."""
        values, _ = self._full.sweep([(graph.GIVEN, graph.GIVEN)], caster + dispeller)
        return self._solution.whole(values[:, 0])

    def score(self, chances: Chances, seat: int | str) -> Score:
        """How good a policy is, as `wfb_gym.solver.normalised_score` tells it."""
        own = seat_number(seat)
        sign = -1.0 if own else 1.0
        lanes = [(how, graph.OPTIMAL) for how in (graph.GIVEN, graph.UNIFORM)]
        if own:
            lanes = [(best, how) for how, best in lanes]
        values, _ = self._full.sweep(lanes, chances)
        guaranteed, random = (sign * self._solution.whole(values[:, k]) for k in range(2))
        return Score(sign * self._solution.whole(self._full.values), guaranteed, random)

    def score_of(self, name: str, seat: int | str) -> Score:
        """How good an agent is.

        Args:
            name: a registered agent or a saved model's path. A model's sizes may be those that
                fit the scenario, or those that all generated scenarios have.
            seat: that it plays.

        Raises:
            ValueError: it does not fit the scenario, or is no function of what it sees.
        """
        if find_scripted(name) is not None:
            return self.score(self.chances(name, seat), seat)
        agent = make_agent(name, scenario=self.scenario, seat=seat, seed=0)
        try:
            chances = self.chances(agent, seat)
        except ValueError as error:
            try:
                chances = self.chances(agent, seat, generated_limits())
            except ValueError:
                raise error from None
        return self.score(chances, seat)


@cache
def generated_limits() -> Limits:
    """Sizes of the observations and actions of all generated scenarios."""
    limits = resolve_scenarios(Generated("test", count=1)).limits
    assert limits is not None
    return limits
