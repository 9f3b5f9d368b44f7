"""Environments with hidden items: deals, decision nodes and Gymnasium's checks."""

from typing import Any

import gymnasium as gym
import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env

from wfb_gym.scenario import hidden_scenarios

COUNT = 4000


def columns(env: Any, name: str) -> list[int]:
    """Return the indices of the observation's numbers with this prefix."""
    fields = env.unwrapped.batch.layout.fields
    return [k for k, field in enumerate(fields) if field.name.startswith(name)]


@pytest.mark.parametrize("name", hidden_scenarios())
def test_gymnasium_finds_nothing_wrong(name: str) -> None:
    for seat, history in (("Caster", False), ("Dispeller", True)):
        env = gym.make(f"wfb_gym/{seat}-v0", scenario=name, history=history)
        check_env(env.unwrapped, skip_render_check=True)


def test_each_set_is_dealt_as_often_as_its_weight_says() -> None:
    env = gym.make_vec("wfb_gym/Dispeller-v0", num_envs=COUNT, scenario="hidden-scrolls")
    observations, _ = env.reset(seed=1)
    shares = observations[:, columns(env, "own hidden set ")][:, -4:].sum(0)
    # a battle without any decision of the dispeller ends before it is observed
    assert 0.7 * COUNT < shares.sum() < COUNT
    shares /= shares.sum()
    assert shares == pytest.approx([0.25, 0.5, 0.25, 0.0], abs=0.03)


def test_a_batch_deals_again_in_each_episode() -> None:
    env = gym.make_vec("wfb_gym/Dispeller-v0", num_envs=8, scenario="hidden-scroll")
    observations, _ = env.reset(seed=3)
    own = columns(env, "own hidden set ")[-4:]
    seen = set()
    for _ in range(40):
        seen |= {tuple(row) for row in observations[:, own].tolist()}
        observations, *_ = env.step(np.zeros(8, np.int64))
    assert {(1.0, 0.0, 0.0, 0.0), (0.0, 1.0, 0.0, 0.0)} <= seen
