"""A failed call changes nothing: the following results are the same as without it."""

import contextlib
from collections.abc import Callable
from functools import partial
from typing import Any

import gymnasium as gym
import numpy as np
import pytest
from gymnasium.utils.env_checker import data_equivalence

from tests.support.batches import native
from tests.support.playing import BATTLE, IDS, no_decision, pick, raw
from wfb_gym.envs.driver import validated_points_per_reward
from wfb_gym.envs.self_play import SelfPlayBatch
from wfb_gym.players.baselines import RandomAgent

from ..players.misbehaving import Misbehaving, raising

CASTER, DISPELLER = IDS
MASK = np.array([True, False, True])
Call = Callable[[Any], Any]


def reset(**keys: Any) -> Call:
    return lambda envs: envs.reset(**keys)


def reset_masked(mask: Any, **keys: Any) -> Call:
    return reset(options={"reset_mask": mask}, **keys)


def change_state(**parts: Any) -> Call:
    return lambda envs: envs.set_state({**envs.get_state(), **parts})


def resume_another(name: str = CASTER, num_envs: int = 0, **keys: Any) -> Call:
    """Return a call that sets the state of another environment, single or of this many."""

    def call(envs: Any) -> None:
        other = native(name, num_envs, **keys) if num_envs else raw(name, **keys)
        other.reset(seed=1)
        envs.set_state(other.get_state())

    return call


VECTOR_CALLS = [
    (reset(seed=[1, 2, -2]), "seed of environment 2: expected a whole number from 0, found -2"),
    (reset(seed=[1, "2", 3]), "seed of environment 1: expected a whole number from 0, found '2'"),
    (reset(seed=-1), "seed: expected a whole number from 0, found -1"),
    (reset(seed=1.5), r"seed: expected a whole number, .* found 1\.5"),
    (reset(seed="one"), "seed of environment 0: expected a whole number from 0, found 'o'"),
    (reset(seed=[1, 2, 3, 4]), "seed: expected 3 seeds, found 4"),
    (reset_masked(MASK, seed=-3), "seed: expected a whole number from 0, found -3"),
    *((reset_masked(mask), f"reset_mask: expected .*, found {found}")
      for mask, found in (([True, False, True], "list"), (np.array([1, 0, 1]), "dtype int64"),
                          (np.array([True, False]), r"shape \(2,\)"), (None, "NoneType"),
                          (MASK[None], r"shape \(1, 3\)"), (np.zeros(3, bool), "none"))),
    (change_state(envs=b"short"), "state: expected .* bytes for 3 environments"),
    (lambda envs: envs.set_state({"envs": envs.get_state()["envs"]}), "state: expected a result"),
    (lambda envs: envs.set_state(None), "state: expected a result of get_state"),
    (change_state(seeded="yes"), "state: expected a result of get_state, with 'seeded' as bool"),
    (resume_another(num_envs=3, scenario="apprentice"), "state: expected one of the same scen"),
    (resume_another(num_envs=3, opponent=["random", "greedy"]), "state: .* same scenarios, seat,"),
]  # fmt: skip


@pytest.mark.parametrize("begun", [False, True])
@pytest.mark.parametrize(("call", "message"), VECTOR_CALLS)
def test_a_vector_environment(call: Call, message: str, begun: bool) -> None:
    envs, twin = native(CASTER, 3), native(CASTER, 3)
    for each in (envs, twin):
        if begun:
            each.reset(seed=5)
            each.step(each.action_masks().argmax(1))
    before = envs.get_state()
    with pytest.raises(ValueError, match=message):
        call(envs)
    assert envs.get_state() == before
    if begun:
        assert data_equivalence(envs.reset(), twin.reset(), exact=True)
    else:
        envs.reset()  # it has its own dice in each environment
        assert len(set(envs.batch.envs["rng"]["key"].tolist())) == 3


def test_a_mask_stays_in_the_options_of_a_reset_that_fails() -> None:
    options = {"reset_mask": MASK}
    with pytest.raises(ValueError, match="seed"):
        native(CASTER, 3).reset(seed=-3, options=options)
    assert options == {"reset_mask": MASK}


ACTIONS: list[tuple[Any, str]] = [
    *((actions, r"actions: expected integers of shape \(3,\)")
      for actions in (0, [0, 0], [0, 0, 0, 0], [[0, 0, 0]], [0.0, 0.0, 0.0], np.zeros(3, bool),
                      ["a", "b", "c"], None)),
    *((np.array([1, action, 2], np.int64), f"action {action} of environment 1: expected 0..9")
      for action in (-1, 10, 2**62)),
    (np.array([1, 2**64 - 1, 2], np.uint64), f"action {2**64 - 1} of environment 1: expected 0..9"),
    ([1, 2, 6], r"action 6 of environment 2 is illegal: expected one of \[1, 2, 3, 4, 5\]"),
]  # fmt: skip


@pytest.mark.parametrize(("actions", "message"), ACTIONS)
def test_a_step_of_a_strict_vector_environment(actions: Any, message: str) -> None:
    envs, twin = (native(CASTER, 3, strict=True) for _ in range(2))
    with pytest.raises(gym.error.ResetNeeded):
        envs.step(actions)
    for each in (envs, twin):
        each.reset(seed=5)
        each.step([6, 7, 8])
    before = envs.get_state()
    with pytest.raises(ValueError, match=message):
        envs.step(actions)
    assert envs.get_state() == before
    assert data_equivalence(envs.step([1, 2, 3]), twin.step([1, 2, 3]), exact=True)


SINGLE_CALLS = [
    *((reset(seed=seed), "Seed must be") for seed in (-1, 1.5, "1")),
    *((lambda env, action=action: env.step(action), "action: expected a member of Discrete")
      for action in (None, "0", 1.0, np.float32(1), [0], np.array([0]), -1, 10, 2**70,
                     np.int64(-1))),
    (lambda env: env.step(3), r"action 3 .*illegal: expected one of \[0, 6, 7, 8, 9\]"),
    (change_state(envs=b"short"), "state: expected .* bytes for 1 environments"),
    (lambda env: env.set_state({"envs": env.get_state()["envs"]}), "state: expected a result"),
    (change_state(seeded=2), "state: expected a result of get_state, with 'seeded' as bool"),
    (resume_another(scenario="apprentice"), "state: expected one of the same scenarios"),
    (resume_another(DISPELLER), "state: expected one of the same scenarios, seat"),
]  # fmt: skip


@pytest.mark.parametrize(("call", "message"), SINGLE_CALLS)
def test_a_single_environment(call: Call, message: str) -> None:
    env, twin = (raw(CASTER, strict=True) for _ in range(2))
    for each in (env, twin):
        each.reset(seed=5)
    before, generator = env.get_state(), env.np_random.bit_generator.state
    with pytest.raises((ValueError, TypeError, gym.error.Error), match=message):
        call(env)
    assert env.get_state() == before
    assert env.np_random.bit_generator.state == generator
    assert env.step(6)[4]["illegal_action"] is False
    assert np.array_equal(env.reset()[0], twin.reset()[0])


def test_the_first_reset() -> None:
    env, other = raw(CASTER), raw(CASTER)
    with pytest.raises(gym.error.Error):
        env.reset(seed=-1)
    for each in (env, other):
        each.reset()
    assert env.batch.envs["rng"]["key"][0] != other.batch.envs["rng"]["key"][0]


def test_reset_comes_first() -> None:
    for env in (raw(CASTER), native(CASTER, 2)):
        for call in (partial(env.step, [0, 0]), env.action_masks):
            with pytest.raises(gym.error.ResetNeeded, match="reset"):
                call()


@pytest.mark.parametrize("render_mode", [None, "ansi"])
def test_a_reset_whose_opponent_fails(render_mode: str | None) -> None:
    agent = Misbehaving(raising, after=10_000)
    env = raw(DISPELLER, opponent=agent, render_mode=render_mode)
    envs = native(DISPELLER, 3, opponent=agent)
    env.reset(seed=1)
    envs.reset(seed=1)

    def state() -> list[Any]:
        both = [(each.get_state(), each.action_masks().tolist()) for each in (env, envs)]
        return [env.np_random.bit_generator.state, *both]

    before = state()
    agent.left = 0
    for each in (env, envs, env, envs):
        with pytest.raises(RuntimeError, match="lost its wits"):
            each.reset(seed=2)
    assert state() == before
    agent.left = 10_000
    env.step(pick(env.batch.observe().observations[0], env.action_masks()))


def contents(turns: SelfPlayBatch) -> list[Any]:
    return [turns.get_state(), turns.points.tolist(), turns.ended.tolist()]


def test_self_play() -> None:
    turns, twin = (SelfPlayBatch(3, "archmage-duel") for _ in range(2))
    for each in (turns, twin):
        agent = RandomAgent(1)
        each.play(*(agent.act(seen.observations, seen.masks) for seen in each.reset(4)))
    kept = contents(turns)
    for seed in (-1, "4"):
        with pytest.raises((ValueError, TypeError)):
            turns.reset(seed)  # type: ignore[arg-type]
    for state in ({"battles": b""}, {"battles": 5}, {}):
        with pytest.raises(ValueError, match="state: expected"):
            turns.set_state(state)
    assert contents(turns) == kept
    for left, right in zip(turns.reset(), twin.reset(), strict=True):
        assert np.array_equal(left.observations, right.observations)
    scenario = no_decision()
    caster = scenario.caster.model_copy(update={"power_dice": 0})
    idle = SelfPlayBatch(2, scenario.model_copy(update={"caster": caster}))
    kept = contents(idle)
    with pytest.raises(ValueError, match="expected a decision, found none"):
        idle.reset(3)
    assert contents(idle) == kept


def test_pettingzoo() -> None:
    interop = pytest.importorskip("wfb_gym.interop.pettingzoo")
    env, twin = (interop.raw_env() for _ in range(2))
    for each in (env, twin):
        each.reset(seed=2)
    before = env.__getstate__()
    with contextlib.suppress(ValueError):
        env.reset(seed=-1)
    assert data_equivalence(env.__getstate__(), before, exact=True)
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
    again.reset()
    assert np.array_equal(envs.batch.envs["rng"]["key"], again.batch.envs["rng"]["key"])
    assert seen.shape == (3, envs.batch.layout.size)


KINDS: dict[str, Callable[..., Any]] = {
    "single": partial(raw, CASTER),
    "vector": partial(native, CASTER, 2),
    "battle": partial(raw, BATTLE),
    "sb3": lambda **keys: pytest.importorskip("wfb_gym.interop.sb3").PhaseVecEnv(2, **keys),
    "pettingzoo": lambda **keys: pytest.importorskip("wfb_gym.interop.pettingzoo").raw_env(**keys),
}


@pytest.mark.parametrize("kind", KINDS)
def test_points_that_make_no_reward_are_rejected(kind: str) -> None:
    with pytest.raises(ValueError, match="points_per_reward: expected a number from 1e-09 to 1e"):
        KINDS[kind](points_per_reward=0.0)


def test_points_that_make_a_reward() -> None:
    for points in (1, 100.0, np.float32(0.5), np.int64(7), 1e-9, 1e9):
        assert validated_points_per_reward(points) == float(points)
    for wrong in (0, -100, float("nan"), float("inf"), 1e-320, 1e308, "100", None, True, [100.0],
                  10**400):  # fmt: skip
        with pytest.raises(ValueError, match="points_per_reward: expected a number from 1e-09"):
            validated_points_per_reward(wrong)
