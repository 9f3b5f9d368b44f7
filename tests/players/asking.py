"""Positions for tests of agents, with the agents' observations and masks."""

from functools import cache
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from wfb_gym._records import as_records
from wfb_gym.encoding.positions import Positions
from wfb_gym.engine.state import State
from wfb_gym.envs.batch import Batch
from wfb_gym.envs.kernel import Autoreset
from wfb_gym.players.baselines import RandomAgent
from wfb_gym.players.interface import Agent, action_probabilities_of

SCENARIOS = ("archmage-duel", "orc-shaman-hunt")


class Asked(NamedTuple):
    """An agent's observations, masks and positions of k battles."""

    observations: NDArray[np.float32]
    masks: NDArray[np.bool_]
    positions: Positions

    def rows(self, chosen: NDArray[Any]) -> "Asked":
        return Asked(self.observations[chosen], self.masks[chosen], self.positions.rows(chosen))

    def actions_of(self, agent: Agent) -> NDArray[np.int64]:
        """Return actions; the agent must not change its arguments."""
        before = self._contents()
        actions = agent.act(*self)
        assert self._contents() == before
        return actions

    def chances_of(self, agent: Agent) -> NDArray[np.float64]:
        """Return probabilities; the agent must not change its arguments."""
        before = self._contents()
        chances = action_probabilities_of(agent, *self)
        assert self._contents() == before
        return chances

    def _contents(self) -> list[bytes]:
        at = self.positions
        arrays = self.observations, self.masks, at.packed_scenarios, at.scenario, at.states
        return [np.asarray(each).tobytes() for each in arrays]


@cache
def met(scenario: str, seat: int, steps: int = 6, num_envs: int = 32) -> Asked:
    """Return a seat's decisions after some steps of battles, and battles that are over."""
    batch = Batch(num_envs, scenario, seat, "random", None, Autoreset.DISABLED, 1.0)
    batch.seed(range(7, 7 + num_envs))
    out, learner = batch.reset(np.ones(num_envs, np.bool_)), RandomAgent(5)
    seen = [Asked(out.observations, out.masks.copy(), batch.positions())]
    for _ in range(steps):
        out = batch.step(learner.act(out.observations, out.masks))
        seen.append(Asked(out.observations, out.masks.copy(), batch.positions()))
    observations, masks, positions = zip(*seen, strict=True)
    states = as_records(State, np.concatenate([each.states for each in positions]))
    scenarios = np.concatenate([each.scenario for each in positions])
    packed, codec = positions[0].packed_scenarios, positions[0].codec
    every = Positions(packed, scenarios, states, seat, codec)
    return Asked(np.concatenate(observations), np.concatenate(masks), every)
