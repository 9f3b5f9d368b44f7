"""Copies keep the loaded scenario, even if its file changes or is deleted."""

import pickle
from collections.abc import Callable
from pathlib import Path
from typing import Any

import gymnasium as gym
import numpy as np
import pytest

from tests.support.batches import COPIED, all_equal, assert_continue_alike, native
from tests.support.pages import PACKAGE
from tests.support.playing import BATTLE, IDS, episode, lowest, picks, raw, rest, same
from wfb_gym.envs.self_play import SelfPlayBatch
from wfb_gym.scenario import load_scenario

from .test_self_play import record

CASTER, DISPELLER = IDS
OWN = Path("own.toml")


def text_of(name: str) -> str:
    return (PACKAGE / "data" / "scenarios" / f"{name}.toml").read_text()


def _delete(_: pytest.MonkeyPatch) -> None:
    OWN.unlink()


def _edit(_: pytest.MonkeyPatch) -> None:
    OWN.write_text(text_of("archmage-duel"))


def _go_elsewhere(patch: pytest.MonkeyPatch) -> None:
    Path("elsewhere").mkdir()
    patch.chdir("elsewhere")


@pytest.fixture(params=[_delete, _edit, _go_elsewhere])
def lose(
    request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Callable[[], None]:
    """Write a file in the working folder; returns functions that make its path useless."""
    monkeypatch.chdir(tmp_path)
    OWN.write_text(text_of("long-siege"))
    return lambda: request.param(monkeypatch)


@COPIED
@pytest.mark.parametrize("scenario", [str(OWN), OWN])
@pytest.mark.parametrize("name", [*IDS, BATTLE])
def test_a_single_environment(
    name: str, scenario: str | Path, copied: Any, lose: Callable[[], None]
) -> None:
    env: Any = gym.make(name, scenario=scenario, opponent=["random", "veteran"])
    observation, info = env.reset(seed=5)
    for _ in range(2):
        observation, *_, info = env.step(int(info["action_mask"].argmax()))
    lose()
    twin = copied(env)
    assert twin.unwrapped.scenario == load_scenario("long-siege")
    assert np.array_equal(twin.unwrapped.action_masks(), env.unwrapped.action_masks())
    left = list(rest(env, observation, info["action_mask"]))
    assert same(left, list(rest(twin, observation, info["action_mask"])))
    assert same(episode(env, None), episode(twin, None))


@COPIED
@pytest.mark.parametrize("opponent", ["random", picks], ids=["compiled", "callable"])
def test_a_vector_environment(opponent: Any, copied: Any, lose: Callable[[], None]) -> None:
    envs = native(DISPELLER, 4, scenario=[str(OWN), "long-siege"], opponent=opponent)
    observations, infos = envs.reset(seed=5)
    lose()
    twin = copied(envs)
    assert np.array_equal(envs.action_masks(), twin.action_masks())
    assert_continue_alike(envs, twin, picks(observations, infos["action_mask"]), 40)


@COPIED
@pytest.mark.parametrize("begun", [False, True])
def test_a_self_play_batch(begun: bool, copied: Any, lose: Callable[[], None]) -> None:
    turns = SelfPlayBatch(3, OWN)
    if begun:
        shown = turns.play(*(lowest(*each[1:]) for each in turns.reset(5)))
    lose()
    twin = copied(turns)
    if not begun:
        shown = turns.reset(5)
        twin.reset(5)
    for key in ("points", "opening_points", "ended"):
        assert np.array_equal(getattr(turns, key), getattr(twin, key))
    assert all_equal(record(turns, shown, 30), record(twin, shown, 30))


@COPIED
def test_copies_of_generated_scenarios_do_not_contain_the_pool(copied: Any) -> None:
    env = raw(BATTLE, scenario="generated-duel")
    observation, info = env.reset(seed=5)
    assert len(pickle.dumps(env)) < env.batch.packed_scenarios.nbytes
    twin = copied(env)
    left = list(rest(env, observation, info["action_mask"]))
    assert same(left, list(rest(twin, observation, info["action_mask"])))
