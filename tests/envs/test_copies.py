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

OWN = Path("own.toml")
SCENARIOS = PACKAGE / "data" / "scenarios"


@pytest.fixture
def own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Write a scenario's file in the working folder."""
    monkeypatch.chdir(tmp_path)
    OWN.write_text((SCENARIOS / "long-siege.toml").read_text())
    return OWN


@pytest.fixture(params=["deleted", "edited", "elsewhere"])
def lose(
    request: pytest.FixtureRequest, own: Path, monkeypatch: pytest.MonkeyPatch
) -> Callable[[], None]:
    """Return a function that makes the file's path useless."""

    def change() -> None:
        if request.param == "deleted":
            OWN.unlink()
        elif request.param == "edited":
            OWN.write_text((SCENARIOS / "archmage-duel.toml").read_text())
        else:
            Path("elsewhere").mkdir()
            monkeypatch.chdir("elsewhere")

    return change


@COPIED
@pytest.mark.parametrize(("name", "scenario"), [(IDS[0], str(OWN)), (BATTLE, OWN)])
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
def test_a_vector_environment(opponent: Any, copied: Any, own: Path) -> None:
    envs = native(IDS[1], 4, scenario=[str(own), "long-siege"], opponent=opponent, features="raw")
    observations, infos = envs.reset(seed=5)
    own.unlink()
    twin = copied(envs)
    assert np.array_equal(envs.action_masks(), twin.action_masks())
    assert_continue_alike(envs, twin, picks(observations, infos["action_mask"]), 40)


@COPIED
def test_a_self_play_batch(copied: Any, own: Path) -> None:
    turns = SelfPlayBatch(3, own)
    own.unlink()
    fresh = copied(turns)
    shown = turns.play(*(lowest(*each[1:]) for each in turns.reset(5)))
    fresh.play(*(lowest(*each[1:]) for each in fresh.reset(5)))
    twin = copied(turns)
    for key in ("points", "opening_points", "ended"):
        assert np.array_equal(getattr(turns, key), getattr(twin, key))
    expected = record(turns, shown, 30)
    assert all_equal(expected, record(twin, shown, 30))
    assert all_equal(expected, record(fresh, shown, 30))


@COPIED
def test_copies_of_generated_scenarios_do_not_contain_the_pool(copied: Any) -> None:
    env = raw(BATTLE, scenario="generated-duel")
    observation, info = env.reset(seed=5)
    assert len(pickle.dumps(env)) < env.batch.packed_scenarios.nbytes
    twin = copied(env)
    left = list(rest(env, observation, info["action_mask"]))
    assert same(left, list(rest(twin, observation, info["action_mask"])))
