"""Gymnasium's wrappers of the registered ids.

The checkers are in `tests/envs/test_checkers.py`, the native vector environment's own contract in
`tests/envs/test_vector.py`, which also compares it with Gymnasium's.
"""

from collections.abc import Callable
from typing import Any

import gymnasium as gym
import numpy as np
import pytest
from gymnasium import wrappers
from gymnasium.vector import AutoresetMode, VectorEnv
from gymnasium.wrappers import vector as vector_wrappers

from tests.support.playing import registered


def made(name: str, **keys: Any) -> gym.Env[Any, Any]:
    return gym.make(name, opponent="random", **keys)


RANGE = np.float32(-1), np.float32(1)
SINGLE: dict[str, Callable[[gym.Env[Any, Any]], gym.Env[Any, Any]]] = {
    "RecordEpisodeStatistics": wrappers.RecordEpisodeStatistics,
    "TimeLimit": lambda env: wrappers.TimeLimit(env, 3),
    "Autoreset": wrappers.Autoreset,
    "NormalizeReward": lambda env: wrappers.NormalizeReward(env, gamma=1.0),
    "NormalizeObservation": wrappers.NormalizeObservation,
    "FlattenObservation": wrappers.FlattenObservation,
    "FrameStackObservation": lambda env: wrappers.FrameStackObservation(env, 3),
    "DtypeObservation": lambda env: wrappers.DtypeObservation(env, np.float64),
    "RescaleObservation": lambda env: wrappers.RescaleObservation(env, *RANGE),
    "StickyAction": lambda env: wrappers.StickyAction(env, 0.2),
}


# Gymnasium compares float32 bounds with float64's in float32.
@pytest.mark.filterwarnings("ignore:overflow encountered in cast:RuntimeWarning")
@pytest.mark.parametrize("wrapper", SINGLE)
def test_a_wrapper_plays_episodes(wrapper: str) -> None:
    env, rng = SINGLE[wrapper](made("wfb_gym/Dispeller-v0")), np.random.default_rng(0)
    for seed in range(3):
        observation, info = env.reset(seed=seed)
        assert observation in env.observation_space
        done, steps, total = False, 0, 0.0
        while not done:
            action = np.int64(rng.choice(np.flatnonzero(info["action_mask"])))
            observation, reward, over, cut, info = env.step(action)
            assert observation in env.observation_space
            assert np.isfinite(float(reward))
            steps, total = steps + 1, total + float(reward)
            # An environment that resets itself ends no loop of this kind.
            done = over or cut or (wrapper == "Autoreset" and steps > 30)
        assert wrapper != "TimeLimit" or steps <= 3
        if wrapper == "RecordEpisodeStatistics":
            assert info["episode"]["r"] == pytest.approx(total)
            assert info["episode"]["l"] == steps


@pytest.mark.parametrize("name", registered())
def test_masks_reach_through_wrappers(name: str) -> None:
    env = wrappers.NormalizeObservation(wrappers.TimeLimit(made(name), 9))
    _, info = env.reset(seed=0)
    np.testing.assert_array_equal(env.get_wrapper_attr("action_masks")(), info["action_mask"])
    assert env.action_space.sample(mask=info["action_mask"]) in env.action_space


VECTOR: dict[str, Callable[[VectorEnv[Any, Any, Any]], VectorEnv[Any, Any, Any]]] = {
    "RecordEpisodeStatistics": vector_wrappers.RecordEpisodeStatistics,
    "DictInfoToList": vector_wrappers.DictInfoToList,
    "NormalizeReward": lambda envs: vector_wrappers.NormalizeReward(envs, gamma=1.0),
    "FlattenObservation": vector_wrappers.FlattenObservation,
    "RescaleObservation": lambda envs: vector_wrappers.RescaleObservation(envs, *RANGE),
}


@pytest.mark.filterwarnings("ignore:overflow encountered in cast:RuntimeWarning")
@pytest.mark.parametrize("mode", list(AutoresetMode))
@pytest.mark.parametrize("wrapper", VECTOR)
def test_vector_wrappers(wrapper: str, mode: AutoresetMode) -> None:
    plain = gym.make_vec("wfb_gym/Caster-v0", 4, opponent="random", autoreset_mode=mode)
    if mode == AutoresetMode.SAME_STEP and wrapper.endswith("Observation"):
        with pytest.raises(ValueError, match=r"(?i)same.?step|autoreset"):
            VECTOR[wrapper](plain)  # it would miss the last observation of an episode
        return
    envs = VECTOR[wrapper](plain)
    envs.reset(seed=3)
    envs.action_space.seed(3)
    ends = 0
    for _ in range(30):
        observations, rewards, over, _, _ = envs.step(envs.action_space.sample())
        assert observations in envs.observation_space
        assert np.isfinite(rewards).all()
        ends += int(over.sum())
        if mode == AutoresetMode.DISABLED and over.any():
            envs.reset(options={"reset_mask": over})
    assert ends > 4
