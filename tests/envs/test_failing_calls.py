"""A failed call changes nothing: the following results are the same as without it."""

import contextlib
from collections.abc import Callable
from functools import partial
from typing import Any

import gymnasium as gym
import numpy as np
import pytest
from gymnasium.utils.env_checker import data_equivalence

from tests.support.playing import IDS, no_decision, pick, raw
from wfb_gym.envs.driver import validated_points_per_reward
from wfb_gym.envs.self_play import SelfPlayBatch
from wfb_gym.players.baselines import RandomAgent
from wfb_gym.scenario import Scenario

from ..players.misbehaving import Misbehaving, raising
from .test_vector import native

CASTER, DISPELLER = IDS
MASK = np.array([True, False, True])
VECTOR_CALLS: dict[str, Callable[[Any], Any]] = {
    "a negative seed": lambda envs: envs.reset(seed=[1, 2, -2]),
    "a negative seed for all": lambda envs: envs.reset(seed=-1),
    "a seed that is no number": lambda envs: envs.reset(seed=[1, "2", 3]),
    "too few seeds": lambda envs: envs.reset(seed=[1, 2]),
    "a mask that is none": lambda envs: envs.reset(seed=7, options={"reset_mask": [1, 0, 1]}),
    "a bad seed and a mask": lambda envs: envs.reset(seed=-3, options={"reset_mask": MASK}),
    "an action outside": lambda envs: envs.step(np.array([0, 0, 10_000])),
    "too few actions": lambda envs: envs.step(np.array([0, 0])),
    "another state": lambda envs: envs.set_state({**envs.get_state(), "envs": b"short"}),
    "a state without its parts": lambda envs: envs.set_state({"envs": envs.get_state()["envs"]}),
    "a state that is none": lambda envs: envs.set_state(None),
    "whether it is seeded": lambda envs: envs.set_state({**envs.get_state(), "seeded": "yes"}),
}


def refused(call: Callable[[Any], Any], env: Any) -> None:
    with pytest.raises((ValueError, gym.error.Error)):
        call(env)


@pytest.mark.parametrize("begun", [False, True])
@pytest.mark.parametrize("name", VECTOR_CALLS)
def test_a_vector_environment(name: str, begun: bool) -> None:
    envs, twin = (native(CASTER, 3, autoreset_mode="Disabled") for _ in range(2))
    for each in (envs, twin):
        if begun:
            each.reset(seed=5)
            each.step(each.action_masks().argmax(1))
    before = envs.get_state()
    if not begun and "action" in name:
        with pytest.raises(gym.error.ResetNeeded):
            VECTOR_CALLS[name](envs)
    else:
        refused(VECTOR_CALLS[name], envs)
    assert envs.get_state() == before
    if begun:
        assert data_equivalence(list(envs.reset()), list(twin.reset()))
    else:
        envs.reset()  # it has its own dice in each environment
        assert len(set(envs.batch.envs["rng"]["key"].tolist())) == 3


def test_a_mask_stays_in_the_options_of_a_reset_that_fails() -> None:
    options = {"reset_mask": MASK}
    refused(lambda envs: envs.reset(seed=-3, options=options), native(CASTER, 3))
    assert options == {"reset_mask": MASK}


SINGLE_CALLS: dict[str, Callable[[Any], Any]] = {
    "a negative seed": lambda env: env.reset(seed=-1),
    "a seed that is no number": lambda env: env.reset(seed="1"),
    "an action outside": lambda env: env.step(10_000),
    "an action that is none": lambda env: env.step(None),
    "an illegal action": lambda env: env.step(int(env.action_masks().argmin())),
    "another state": lambda env: env.set_state({**env.get_state(), "envs": b"short"}),
    "a state without its parts": lambda env: env.set_state({"envs": env.get_state()["envs"]}),
    "whether it is seeded": lambda env: env.set_state({**env.get_state(), "seeded": 2}),
}


@pytest.mark.parametrize("name", SINGLE_CALLS)
def test_a_single_environment(name: str) -> None:
    env, twin = (raw(CASTER, strict=True) for _ in range(2))
    for each in (env, twin):
        each.reset(seed=5)
    before, generator = env.get_state(), env.np_random.bit_generator.state
    refused(SINGLE_CALLS[name], env)
    assert env.get_state() == before
    assert env.np_random.bit_generator.state == generator
    assert np.array_equal(env.reset()[0], twin.reset()[0])


def test_the_first_reset() -> None:
    env = raw(CASTER)
    refused(lambda env: env.reset(seed=-1), env)
    env.reset()
    keys = {int(env.batch.envs["rng"]["key"][0])}
    other = raw(CASTER)
    other.reset()
    assert int(other.batch.envs["rng"]["key"][0]) not in keys


@pytest.mark.parametrize("render_mode", [None, "ansi"])
def test_a_reset_whose_opponent_fails(render_mode: str | None) -> None:
    agent = Misbehaving(raising, after=10_000)
    env = raw(DISPELLER, opponent=agent, render_mode=render_mode)
    envs = native(DISPELLER, 3, opponent=agent)
    env.reset(seed=1)
    envs.reset(seed=1)
    before = env.get_state(), env.np_random.bit_generator.state, env.action_masks().tolist()
    of_all = envs.get_state(), envs.action_masks().tolist()
    agent.left = 0
    for _ in range(2):
        with pytest.raises(RuntimeError, match="lost its wits"):
            env.reset(seed=2)
        with pytest.raises(RuntimeError, match="lost its wits"):
            envs.reset(seed=2)
    after = env.get_state(), env.np_random.bit_generator.state, env.action_masks().tolist()
    assert after == before
    assert (envs.get_state(), envs.action_masks().tolist()) == of_all
    agent.left = 10_000
    env.step(pick(env.batch.observe().observations[0], env.action_masks()))


def without_decisions() -> Scenario:
    scenario = no_decision()
    return scenario.model_copy(
        update={"caster": scenario.caster.model_copy(update={"power_dice": 0})}
    )


@pytest.mark.parametrize("seed", [-1, [-1, 0, 1], 1.5, "one"])
def test_every_bad_seed_of_a_vector_environment_is_a_value_error(seed: Any) -> None:
    with pytest.raises(ValueError, match=r"seed.*: expected"):
        native(CASTER, 3).reset(seed=seed)


def test_self_play() -> None:
    turns, twin = (SelfPlayBatch(3, "archmage-duel") for _ in range(2))
    for each in (turns, twin):
        first, second = each.reset(4)
        agent = RandomAgent(1)
        actions = [agent.act(each.observations, each.masks) for each in (first, second)]
        each.play(*actions)
    kept = turns.get_state(), turns.points.tolist(), turns.ended.tolist()
    for seed in (-1, -2, "4"):
        with pytest.raises((ValueError, TypeError)):
            turns.reset(seed)  # type: ignore[arg-type]
    for battles in (b"", None, 5):
        refused(turns.set_state, {"battles": battles})
    refused(turns.set_state, {})
    assert (turns.get_state(), turns.points.tolist(), turns.ended.tolist()) == kept
    for left, right in zip(turns.reset(), twin.reset(), strict=True):
        assert np.array_equal(left.observations, right.observations)
    idle = SelfPlayBatch(2, without_decisions())
    kept = idle.get_state(), idle.points.tolist(), idle.ended.tolist()
    with pytest.raises(ValueError, match="expected a decision, found none"):
        idle.reset(3)
    assert (idle.get_state(), idle.points.tolist(), idle.ended.tolist()) == kept


def test_pettingzoo() -> None:
    interop = pytest.importorskip("wfb_gym.interop.pettingzoo")
    env, twin = (interop.raw_env(strict=True) for _ in range(2))
    for each in (env, twin):
        each.reset(seed=2)
    agent = env.agent_selection
    illegal = int(env.infos[agent]["action_mask"].argmin())
    before = env.__getstate__()
    for action in (illegal, 10_000, None, -1):
        with pytest.raises(ValueError, match="action"):
            env.step(action)
        assert data_equivalence(env.__getstate__(), before)
    with contextlib.suppress(ValueError):
        env.reset(seed=-1)
    assert data_equivalence(env.__getstate__(), before)
    env.reset()
    twin.reset()
    assert np.array_equal(env.state(), twin.state())


def test_stable_baselines3() -> None:
    interop = pytest.importorskip("wfb_gym.interop.sb3")
    agent = Misbehaving(raising, after=10_000)
    envs = interop.PhaseVecEnv(3, "dispeller", opponent=agent)
    envs.seed(3)
    envs.reset()
    before = envs.batch.get_state()
    envs.seed(4)
    agent.left = 0
    with pytest.raises(RuntimeError, match="lost its wits"):
        envs.reset()
    assert envs.batch.get_state() == before
    agent.left = 10_000
    seen = envs.reset()
    again = interop.PhaseVecEnv(3, "dispeller", opponent=Misbehaving(raising, after=10_000))
    again.seed(4)
    assert np.array_equal(envs.batch.envs["rng"]["key"], _keys(again))
    assert seen.shape == (3, envs.batch.layout.size)


def _keys(envs: Any) -> Any:
    envs.reset()
    return envs.batch.envs["rng"]["key"]


WRONG_POINTS = [
    0, 0.0, -1.0, -100, float("nan"), float("inf"), float("-inf"), 1e-320, 1e-200, 1e308, "100",
    None, True, [100.0], 10**400,
]  # fmt: skip


@pytest.mark.parametrize("points", WRONG_POINTS, ids=lambda points: str(points)[:8])
@pytest.mark.parametrize("kind", ["single", "vector", "battle", "sb3", "pettingzoo"])
def test_points_that_make_no_reward_are_rejected(kind: str, points: Any) -> None:
    given = {"points_per_reward": points}
    make: Callable[..., Any] = partial(raw, "wfb_gym/Battle-v0" if kind == "battle" else CASTER)
    if kind == "vector":
        make = partial(native, CASTER, 2)
    elif kind == "pettingzoo":
        make = pytest.importorskip("wfb_gym.interop.pettingzoo").raw_env
    elif kind == "sb3":
        make = partial(pytest.importorskip("wfb_gym.interop.sb3").PhaseVecEnv, 2)
    with pytest.raises(ValueError, match="points_per_reward: expected a number from 1e-09 to 1e"):
        make(**given)


@pytest.mark.parametrize("points", [1, 100.0, np.float32(0.5), np.int64(7), 1e-9, 1e9])
def test_points_that_make_a_reward(points: Any) -> None:
    assert validated_points_per_reward(points) == float(points)
