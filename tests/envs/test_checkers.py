"""Checkers of other libraries, with warnings as errors (set in pytest's configuration)."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import gymnasium as gym
import numpy as np
import pytest
from gymnasium.envs.registration import EnvSpec
from gymnasium.utils.env_checker import check_env
from gymnasium.utils.env_match import check_environments_match
from gymnasium.vector import AutoresetMode

from tests.support.pages import PACKAGE
from tests.support.playing import BATTLE, IDS, registered
from tests.support.scripts import run_python
from wfb_gym import ArmyLimits, Limits, load_scenario
from wfb_gym.generating import KINDS, Generated, Generation

ALL = registered()
CASTER = IDS[0]


def test_import_alone_registers_the_ids() -> None:
    assert {*IDS, BATTLE} == set(ALL)
    code = "import gymnasium, wfb_gym; print(*(i for i in gymnasium.registry if 'wfb' in i))"
    assert sorted(run_python("-c", code).out.split()) == ALL
    for name in ALL:
        env = gym.make(f"wfb_gym:{name}")
        assert env.spec is not None
        assert env.spec.id == name


SEATS = [(CASTER, {}), (IDS[1], {}), (BATTLE, {"seat": 0}), (BATTLE, {"seat": 1})]


@pytest.mark.parametrize(("name", "keys"), [*SEATS, (CASTER, {"features": "raw"})])
def test_gymnasium_check_env(name: str, keys: dict[str, Any]) -> None:
    check_env(gym.make(name, **keys).unwrapped)


@pytest.mark.parametrize("name", [CASTER, BATTLE])
def test_stable_baselines_check_env(name: str) -> None:
    checker = pytest.importorskip("stable_baselines3.common.env_checker")
    checker.check_env(gym.make(name).unwrapped, warn=True, skip_render_check=name == CASTER)


LIMITS = Limits(
    ArmyLimits(2, 8, 4), ArmyLimits(3, 8, 4), 12, own_dice=True, rerolls=True, in_play=True
)
SPEC_ARGUMENTS: list[Any] = [
    lambda: {"scenario": Path("own.toml")},
    lambda: {"scenario": load_scenario("border-skirmish")},
    lambda: {"scenario": load_scenario("apprentice").model_dump()},
    lambda: {"scenario": Generated("test", 2, options=Generation(duel=True, armies=("empire",)))},
    lambda: {"scenario": Generated(count=2, options=(KINDS["duel-500"], KINDS["phase-500"]))},
    lambda: {"scenario": "apprentice", "limits": LIMITS},
    lambda: {"points_per_reward": np.float32(50.0), "history": np.bool_(True)},
    lambda: {"features": "raw"},
    pytest.param(
        lambda: {"opponent": [Path("archmage-duel/dispeller"), "greedy"]},
        marks=pytest.mark.needs("torch"),
    ),
]


@pytest.fixture
def own_scenario(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    text = (PACKAGE / "data" / "scenarios" / "long-siege.toml").read_text()
    Path("own.toml").write_text(text)


def assert_made_again(name: str, **keys: Any) -> None:
    env: Any = gym.make(name, **keys)
    spec = EnvSpec.from_json(env.spec.to_json())
    assert spec == env.spec
    again: Any = spec.make()
    assert again.spec == env.spec
    assert again.unwrapped.batch.scenarios == env.unwrapped.batch.scenarios
    check_environments_match(env, again, num_steps=100, seed=3)


@pytest.mark.parametrize("name", ALL)
def test_a_made_environment_is_made_again_from_its_spec(name: str) -> None:
    assert_made_again(name)
    assert_made_again(name, scenario="apprentice", opponent="greedy", points_per_reward=10.0)


@pytest.mark.usefixtures("own_scenario")
@pytest.mark.parametrize("arguments", SPEC_ARGUMENTS)
def test_any_arguments_survive_a_spec(arguments: Callable[[], dict[str, Any]]) -> None:
    assert_made_again(CASTER, **arguments())


@pytest.mark.usefixtures("own_scenario")
def test_the_spec_of_a_vector_environment_survives_json() -> None:
    envs: Any = gym.make_vec(
        CASTER,
        num_envs=np.int64(3),  # type: ignore[arg-type]
        scenario=[Path("own.toml"), load_scenario("apprentice")],
        autoreset_mode=AutoresetMode.NEXT_STEP,
    )
    again: Any = gym.make_vec(EnvSpec.from_json(envs.spec.to_json()))
    assert again.spec == envs.spec
    assert (again.num_envs, again.metadata) == (3, envs.metadata)
    assert again.batch.scenarios == envs.batch.scenarios
