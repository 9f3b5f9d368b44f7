"""A player that considers a given number of phases, and a player that times its decisions."""

import time

import numpy as np

from wfb_gym.encoding.positions import PositionArrays
from wfb_gym.players.interface import Actions, PositionAgent
from wfb_gym.players.search.phase_search import PhaseSearchAgent
from wfb_gym.scenario import Scenario
from wfb_gym.solver import solve


class HorizonAgent(PositionAgent):
    """Plays a solved scenario as if it ended after `phases` phases, including the current one.

    Args:
        scenario: scenario to play.
        phases: phases to consider, 1 or more.
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
            node = graph.explore(state)  # new positions occur only if the battle's end is visible
            actions[i] = asked.indices[graph.chosen[node]]


class TimedAgent(PositionAgent):
    """An agent that counts and times its decisions."""

    _called = "phase-search"

    def __init__(self, agent: PhaseSearchAgent) -> None:
        self._agent, self.seconds, self.decisions = agent, 0.0, 0

    def _choose(self, asked: PositionArrays, actions: Actions) -> None:
        began = time.perf_counter()
        self._agent._choose(asked, actions)  # noqa: SLF001 - the method behind `act`
        self.seconds += time.perf_counter() - began
        self.decisions += int(asked.decides().sum())
