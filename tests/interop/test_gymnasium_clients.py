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
from gymnasium.utils.env_match import check_environments_match
from gymnasium.vector import AutoresetMode, VectorEnv
from gymnasium.wrappers import vector as vector_wrappers

from tests.support.playing import registered

ALL = registered()
EACH = pytest.mark.parametrize("name", ALL)
MODES = pytest.mark.parametrize("mode", list(AutoresetMode))
CASTER = "wfb_gym/Caster-v0"


def made(name: str, **keys: Any) -> gym.Env[Any, Any]:
    return gym.make(name, opponent="random", **keys)


def masked(env: gym.Env[Any, Any], info: dict[str, Any], rng: np.random.Generator) -> np.int64:
    """Return a legal action; masks pass through every wrapper that keeps infos."""
    return np.int64(rng.choice(np.flatnonzero(info["action_mask"])))


Wrapping = Callable[[gym.Env[Any, Any]], gym.Env[Any, Any]]
SINGLE: dict[str, Wrapping] = {
    "RecordEpisodeStatistics": wrappers.RecordEpisodeStatistics,
    "TimeLimit": lambda env: wrappers.TimeLimit(env, 3),
    "Autoreset": wrappers.Autoreset,
    "TransformReward": lambda env: wrappers.TransformReward(env, lambda won: -float(won)),
    "ClipReward": lambda env: wrappers.ClipReward(env, -0.1, 0.1),
    "NormalizeReward": lambda env: wrappers.NormalizeReward(env, gamma=1.0),
    "NormalizeObservation": wrappers.NormalizeObservation,
    "FlattenObservation": wrappers.FlattenObservation,
    "FrameStackObservation": lambda env: wrappers.FrameStackObservation(env, 3),
    "DelayObservation": lambda env: wrappers.DelayObservation(env, 1),
    "DtypeObservation": lambda env: wrappers.DtypeObservation(env, np.float64),
    "TimeAwareObservation": lambda env: wrappers.TimeAwareObservation(wrappers.TimeLimit(env, 99)),
    "RescaleObservation": lambda env: wrappers.RescaleObservation(
        env, np.float32(-1), np.float32(1)
    ),
    "ReshapeObservation": lambda env: wrappers.ReshapeObservation(
        env, (1, *(env.observation_space.shape or ()))
    ),
    "TransformObservation": lambda env: wrappers.TransformObservation(
        env, lambda seen: seen, env.observation_space
    ),
    "TransformAction": lambda env: wrappers.TransformAction(
        env, lambda action: action, env.action_space
    ),
    "RepeatAction": lambda env: wrappers.RepeatAction(env, 2),
    "StickyAction": lambda env: wrappers.StickyAction(env, 0.2),
    "PassiveEnvChecker": wrappers.PassiveEnvChecker,
    "OrderEnforcing": wrappers.OrderEnforcing,
}


# Gymnasium compares float32 bounds with float64's in float32.
@pytest.mark.filterwarnings("ignore:overflow encountered in cast:RuntimeWarning")
@EACH
@pytest.mark.parametrize("wrapper", SINGLE)
def test_a_wrapper_plays_episodes(name: str, wrapper: str) -> None:
    env, rng = SINGLE[wrapper](made(name)), np.random.default_rng(0)
    for seed in range(3):
        observation, info = env.reset(seed=seed)
        assert observation in env.observation_space
        done, steps = False, 0
        while not done:
            observation, reward, over, cut, info = env.step(masked(env, info, rng))
            assert observation in env.observation_space
            assert np.isfinite(float(reward))
            steps += 1
            # An environment that resets itself ends no loop of this kind.
            done = over or cut or (wrapper == "Autoreset" and steps > 30)
        assert wrapper != "TimeLimit" or steps <= 3


@EACH
def test_statistics_are_the_sum_of_rewards(name: str) -> None:
    env, rng = wrappers.RecordEpisodeStatistics(made(name)), np.random.default_rng(1)
    sums = []
    for seed in range(5):
        _, info = env.reset(seed=seed)
        total, steps, over = 0.0, 0, False
        while not over:
            _, reward, over, _, info = env.step(masked(env, info, rng))
            total, steps = total + float(reward), steps + 1
        assert info["episode"]["r"] == pytest.approx(total)
        assert info["episode"]["l"] == steps
        sums.append(total)
    assert len(set(sums)) > 1


@EACH
def test_wrappers_are_in_the_spec(name: str) -> None:
    env = wrappers.TimeLimit(made(name, scenario="apprentice"), 50)
    assert env.spec is not None
    again = gym.make(gym.envs.registration.EnvSpec.from_json(env.spec.to_json()))
    assert again.spec is not None
    assert again.spec.kwargs["scenario"] == "apprentice"
    check_environments_match(env, again, num_steps=50, seed=2)


@EACH
def test_masks_reach_through_wrappers(name: str) -> None:
    env = wrappers.NormalizeObservation(wrappers.TimeLimit(made(name), 9))
    _, info = env.reset(seed=0)
    np.testing.assert_array_equal(env.get_wrapper_attr("action_masks")(), info["action_mask"])
    assert env.action_space.sample(mask=info["action_mask"]) in env.action_space


VectorWrapping = Callable[[VectorEnv[Any, Any, Any]], VectorEnv[Any, Any, Any]]
ANY_MODE: dict[str, VectorWrapping] = {
    "RecordEpisodeStatistics": vector_wrappers.RecordEpisodeStatistics,
    "DictInfoToList": vector_wrappers.DictInfoToList,
    "TransformReward": lambda envs: vector_wrappers.TransformReward(envs, lambda won: 2 * won),
    "ClipReward": lambda envs: vector_wrappers.ClipReward(envs, -0.1, 0.1),
    "NormalizeReward": lambda envs: vector_wrappers.NormalizeReward(envs, gamma=1.0),
    "TransformAction": lambda envs: vector_wrappers.TransformAction(envs, lambda actions: actions),
}
"""Vector wrappers of rewards, actions and infos."""
SEEN: dict[str, VectorWrapping] = {
    "NormalizeObservation": vector_wrappers.NormalizeObservation,
    "FlattenObservation": vector_wrappers.FlattenObservation,
    "DtypeObservation": lambda envs: vector_wrappers.DtypeObservation(envs, np.float64),
    "RescaleObservation": lambda envs: vector_wrappers.RescaleObservation(
        envs, np.float32(-1), np.float32(1)
    ),
    "TransformObservation": lambda envs: vector_wrappers.TransformObservation(
        envs, lambda seen: seen
    ),
}
"""Wrappers of observations. Gymnasium rejects them in SAME_STEP, where they would miss the last
observation of an episode, and rejects the statistics wrapper in DISABLED too."""


def stepped(envs: VectorEnv[Any, Any, Any], mode: AutoresetMode, steps: int = 30) -> int:
    """Take random steps through a wrapper; returns the number of ended episodes."""
    observations, _ = envs.reset(seed=3)
    envs.action_space.seed(3)
    ends = 0
    for _ in range(steps):
        observations, rewards, over, _, _ = envs.step(envs.action_space.sample())
        assert observations in envs.observation_space
        assert np.isfinite(rewards).all()
        ends += int(over.sum())
        if mode == AutoresetMode.DISABLED and over.any():
            envs.reset(options={"reset_mask": over})
    return ends


@MODES
@pytest.mark.parametrize("wrapper", ANY_MODE)
def test_vector_wrappers_of_rewards_actions_and_infos(wrapper: str, mode: AutoresetMode) -> None:
    envs = ANY_MODE[wrapper](gym.make_vec(CASTER, 4, opponent="random", autoreset_mode=mode))
    assert stepped(envs, mode) > 4


@pytest.mark.filterwarnings("ignore:overflow encountered in cast:RuntimeWarning")
@MODES
@pytest.mark.parametrize("wrapper", SEEN)
def test_vector_wrappers_of_observations(wrapper: str, mode: AutoresetMode) -> None:
    envs = gym.make_vec(CASTER, 4, opponent="random", autoreset_mode=mode)
    statistics = wrapper == "NormalizeObservation" and mode != AutoresetMode.NEXT_STEP
    if statistics or mode == AutoresetMode.SAME_STEP:
        with pytest.raises(ValueError, match=r"(?i)same.?step|autoreset"):
            SEEN[wrapper](envs)
        return
    assert stepped(SEEN[wrapper](envs), mode) > 4
