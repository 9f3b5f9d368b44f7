"""Players read their arguments and do not change them."""

import gymnasium as gym
import numpy as np
import pytest

from wfb_gym.opponents.policy_spec import NAMES
from wfb_gym.players.interface import action_probabilities_of
from wfb_gym.players.registry import make_agent


@pytest.mark.parametrize("name", [*NAMES, "veteran:0.5"])
def test_a_player_does_not_change_its_arguments(name: str) -> None:
    agent = make_agent(name, seed=1, scenario="apprentice", seat=0)
    envs = gym.make_vec("wfb_gym/Caster-v0", num_envs=4, opponent="random", scenario="apprentice")
    observations, _ = envs.reset(seed=1)
    masks, positions = envs.action_masks(), envs.batch.positions()  # type: ignore[attr-defined]
    observations.flags.writeable = masks.flags.writeable = False
    arrays = positions.packed_scenarios, positions.scenario, positions.states
    before = [np.asarray(each).tobytes() for each in arrays]
    agent.act(observations, masks, positions)
    action_probabilities_of(agent, observations, masks, positions)
    assert [np.asarray(each).tobytes() for each in arrays] == before
