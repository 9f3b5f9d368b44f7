"""The native vector environment has the interface of Gymnasium's `SyncVectorEnv`."""

import inspect
from typing import Any

import gymnasium as gym
import numpy as np
import pytest
from gymnasium.utils.env_checker import data_equivalence
from gymnasium.vector import AutoresetMode, SyncVectorEnv, VectorEnv

from tests.support.batches import COPIED, VECTOR, native, sync
from tests.support.playing import BATTLE, IDS, raw

CASTER = IDS[0]
NAMES = pytest.mark.parametrize("name", [*IDS, BATTLE])
NO_SUB_ENVIRONMENTS = {"env_fns", "envs", "observation_mode"}
"""Attributes that `SyncVectorEnv` has because it contains environments."""
NOT_OF_EACH = {"batch", "close", "get_state", "reset", "set_state", "step", "unwrapped"} | {
    "np_random", "np_random_seed", "set_np_random_through_seed", "set_wrapper_attr",
    "get_wrapper_attr", "has_wrapper_attr",
}  # fmt: skip
"""Attributes that exist only in a list of environments, not in a batch."""


def pair(name: str, mode: AutoresetMode = AutoresetMode.SAME_STEP, **keys: Any) -> list[Any]:
    both = [native(name, 3, autoreset_mode=mode, **keys), sync(name, 3, mode, **keys)]
    for envs in both:
        envs.reset(seed=4)
        envs.step(np.array([1, 0, 1]))
    return both


def public(thing: Any) -> set[str]:
    return {name for name in dir(thing) if not name.startswith("_")}


@pytest.mark.parametrize("mode", AutoresetMode)
def test_attributes_are_those_of_gymnasiums_own(mode: AutoresetMode) -> None:
    ours, theirs = pair(BATTLE, mode)
    assert public(theirs) - public(ours) <= NO_SUB_ENVIRONMENTS
    for each in (
        "action_space", "autoreset_mode", "closed", "copy", "metadata", "num_envs",
        "observation_space", "render_mode", "single_action_space", "single_observation_space",
        "spec",
    ):  # fmt: skip
        assert type(getattr(ours, each)) is type(getattr(theirs, each)), each
        assert getattr(ours, each) == getattr(theirs, each), each
    assert ours.unwrapped is ours


@pytest.mark.parametrize("name", VECTOR)
def test_methods_take_what_gymnasiums_own_take(name: str) -> None:
    for method, function in inspect.getmembers(SyncVectorEnv, inspect.isfunction):
        if method.startswith("_"):
            continue
        ours = inspect.signature(getattr(VECTOR[name], method)).parameters
        theirs = inspect.signature(function).parameters
        assert [*ours] == [*theirs], method
        for key, each in theirs.items():
            assert (ours[key].kind, ours[key].default) == (each.kind, each.default), (method, key)


def test_call_reaches_every_public_name_of_a_single_environment() -> None:
    ours, _ = pair(CASTER)
    for each in public(raw(CASTER)) - NOT_OF_EACH:
        arguments = [np.zeros(ours.single_observation_space.shape, np.float32)]
        assert len(ours.call(each, *arguments * (each == "named_fields"))) == 3
    for each in NOT_OF_EACH | {"nothing"}:
        with pytest.raises(AttributeError, match=f"name: expected one of .*, found '{each}'"):
            ours.call(each)


@NAMES
def test_call_returns_what_gymnasiums_own_returns(name: str) -> None:
    ours, theirs = pair(name)
    assert data_equivalence(ours.call("action_masks"), theirs.call("action_masks"))
    for each in (
        "action_meanings", "action_space", "limits", "metadata", "observation_space",
        "render_mode", "scenario", "seat", "strict",
    ):  # fmt: skip
        found = ours.call(each)
        assert type(found) is tuple
        assert found == theirs.call(each), each
        if each != "action_meanings":
            assert len(ours.get_attr(each)) == len(theirs.get_attr(each)) == 3
    keys: dict[str, Any] = {"scenario": "apprentice", "opponent": "greedy"}
    own: dict[str, Any] = {"copy": False, "final_infos": False, "autoreset_mode": "NextStep"}
    envs: Any = gym.make_vec(name, 2, **own, **keys)
    envs.reset(seed=1)
    infos = envs.step(np.zeros(2, np.int64))[4]
    assert set(infos) == {"action_mask", "_action_mask", "illegal_action", "_illegal_action"}
    sync_envs: Any = gym.make_vec(name, 2, vectorization_mode="sync", **keys)
    for found, expected in zip(envs.get_attr("spec"), sync_envs.get_attr("spec"), strict=True):
        assert (found.id, found.kwargs) == (expected.id, expected.kwargs)
        made: Any = gym.make(found)
        assert made.spec.kwargs == keys
    assert native(name, 1).get_attr("spec") == (None,)


def test_call_forwards_arguments() -> None:
    ours, theirs = pair(CASTER)
    seen = ours.single_observation_space.sample()
    found = ours.call("named_fields", seen), ours.call("named_fields", observation=seen)
    assert found == (theirs.call("named_fields", seen),) * 2
    with pytest.raises(TypeError):
        ours.call("action_masks", 1)


@pytest.mark.parametrize("mode", [None, "ansi"])
def test_call_renders(mode: str | None) -> None:
    ours = native(CASTER, 3, render_mode=mode)
    theirs = SyncVectorEnv([lambda: raw(CASTER, render_mode="ansi")] * 3)
    for envs in (ours, theirs):
        envs.reset(seed=4)
    assert ours.call("render") == (theirs.call("render") if mode else (None, None, None))


@pytest.mark.parametrize("values", [[1, 2, 3], "all", np.arange(3)])
def test_attributes_of_the_callers_own(values: Any) -> None:
    for envs in pair(CASTER):
        envs.set_attr("difficulty", values)
        expected = tuple(values) if isinstance(values, list) else (values,) * 3
        assert all(x is y for x, y in zip(envs.get_attr("difficulty"), expected, strict=True))
        envs.set_attr("double", [lambda x, k=k: 2 * x + k for k in range(3)])
        assert envs.call("double", 5) == (10, 11, 12)
        assert envs.call("double", x=1) == (2, 3, 4)
        for wrong in ([1], [1, 2, 3, 4], ()):
            with pytest.raises(ValueError, match=f"{len(wrong)}"):
                envs.set_attr("strict", wrong)
        envs.close(timeout=1)
        assert envs.closed


def test_strict_can_be_set() -> None:
    envs, _ = pair(CASTER)
    envs.set_attr("strict", True)
    assert envs.get_attr("strict") == (True, True, True)
    illegal = envs.action_masks().argmin(1)
    with pytest.raises(ValueError, match="is illegal"):
        envs.step(illegal)
    with pytest.raises(ValueError, match="strict: expected one value for all environments"):
        envs.set_attr("strict", [True, False, True])
    envs.set_attr("strict", [False] * 3)
    envs.step(illegal)


def test_fixed_attributes_of_the_batch_cannot_be_set() -> None:
    envs, _ = pair(CASTER)
    before = envs.get_state()
    for name in ("limits", "scenario", "named_fields", "batch", "step"):
        message = f"name: expected strict or a new name, .* '{name}'"
        with pytest.raises(AttributeError, match=message):
            envs.set_attr(name, 1)
    assert envs.get_state() == before


@COPIED
def test_copies_keep_modes_and_attributes(copied: Any) -> None:
    envs = native(CASTER, 2, autoreset_mode="NextStep", copy=False, final_infos=False)
    envs.set_attr("difficulty", [1, 2])
    twin = copied(envs)
    assert (twin.autoreset_mode, twin.copy) == (AutoresetMode.NEXT_STEP, False)
    twin.set_attr("difficulty", 3)
    assert envs.get_attr("difficulty") == (1, 2)


def test_a_limit_of_steps_raises_and_names_the_mode_that_truncates() -> None:
    for limit in (None, -1):
        assert gym.make_vec(CASTER, 2, max_episode_steps=limit).num_envs == 2
    found = 'found 50; vectorization_mode="sync" truncates episodes'
    for name in (*IDS, BATTLE):
        with pytest.raises(ValueError, match=f"max_episode_steps: expected None, .*, {found}"):
            gym.make_vec(name, 2, max_episode_steps=50)
    envs: VectorEnv[Any, Any, Any]
    envs = gym.make_vec(CASTER, 2, vectorization_mode="sync", max_episode_steps=1)
    envs.reset(seed=1)
    _, _, terminations, truncations, _ = envs.step(np.array([0, 6]))
    assert truncations.all()
    assert terminations.tolist() == [True, False]
