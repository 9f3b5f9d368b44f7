"""Players that look at a number of phases, and one whose decisions are timed."""

import time

import numpy as np

from wfb_gym.encoding.positions import PositionArrays
from wfb_gym.players.interface import Actions, PositionAgent
from wfb_gym.players.search.phase_search import PhaseSearchAgent
from wfb_gym.scenario import Scenario
from wfb_gym.solver import solve


class HorizonAgent(PositionAgent):
    """Plays a solved scenario as if it ended after so many phases, the present one included.

    Args:
        scenario: that it plays.
        phases: that are looked at, 1 or more.
    """

    _called = "horizon"

    def __init__(self, scenario: Scenario, phases: int) -> None:
        ends = (min(phase + phases, scenario.phases) for phase in range(scenario.phases))
        solved = {end: solve(scenario.first_phases(end)).graph for end in dict.fromkeys(ends)}
        last = scenario.phases
        self._of_phase = [solved[min(phase + phases, last)] for phase in range(last)]

    def _choose(self, asked: PositionArrays, actions: Actions) -> None:
        for i in np.flatnonzero(asked.decides()):
            state = asked.states[i]
            graph = self._of_phase[int(state.phase)]
            node = graph.explore(state)  # known but where the end of the battle shows
            actions[i] = asked.indices[graph.chosen[node]]


class TimedAgent(PositionAgent):
    """An agent that counts its decisions and their time."""

    _called = "phase-search"

    def __init__(self, agent: PhaseSearchAgent) -> None:
        self._agent, self.seconds, self.decisions = agent, 0.0, 0

    def _choose(self, asked: PositionArrays, actions: Actions) -> None:
        began = time.perf_counter()
        self._agent._choose(asked, actions)  # noqa: SLF001 (which is what an agent is asked)
        self.seconds += time.perf_counter() - began
        self.decisions += int(asked.decides().sum())
