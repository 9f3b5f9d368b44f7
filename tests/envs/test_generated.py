"""Environments of generated battles: each episode draws a scenario from a pool."""

import copy
from itertools import product
from pathlib import Path
from typing import Any

import gymnasium as gym
import numpy as np
import pytest
from gymnasium.vector import AutoresetMode

from tests.support.batches import MODES, assert_same_runs, native, sync
from tests.support.playing import BATTLE, episode, lowest, picks, raw, same
from wfb_gym.encoding.limits import check_covers
from wfb_gym.envs import scenario_set
from wfb_gym.generating import KINDS, Generated, Generation
from wfb_gym.packing import pack
from wfb_gym.scenario import load_scenario

SMALL = Generation(points=500, phases=2, units=3, characters=2, wizards=1, spells=4, items=2)
POOL = Generated("train", 4, options=SMALL)
OTHER = Generated("test", 3, options=SMALL)
ALL, OTHER_ALL = (
    Generated(split, len(KINDS), options=tuple(KINDS.values())) for split in ("train", "test")
)


def drawn(envs: Any, steps: int, seed: int) -> list[list[int]]:
    """Return the scenarios of all environments, at first and after each end of an episode."""
    observations, infos = envs.reset(seed=seed)
    found = [[int(k)] for k in envs.batch.envs.scenario]
    for _ in range(steps):
        observations, _, ends, _, infos = envs.step(picks(observations, infos["action_mask"]))
        for i in np.flatnonzero(ends):
            found[i].append(int(envs.batch.envs.scenario[i]))
    return found


def test_every_scenario_of_the_pool_is_drawn() -> None:
    envs = native(BATTLE, 200, scenario=POOL)
    envs.reset(seed=0)
    counts = np.bincount(envs.batch.envs.scenario)
    assert counts == pytest.approx(np.full(4, 50), abs=29)
    found = drawn(native(BATTLE, 2, scenario=POOL), 150, 1)
    assert {*found[0], *found[1]} == {0, 1, 2, 3}


def test_a_seed_draws_the_same_scenarios_for_any_batch_size() -> None:
    large = drawn(native(BATTLE, 5, scenario=POOL), 100, 9)
    small = drawn(native(BATTLE, 2, scenario=POOL), 100, 9)
    assert large[:2] == small
    assert large != drawn(native(BATTLE, 5, scenario=POOL), 100, 10)
    env = raw(BATTLE, scenario=POOL)
    for k in range(4):
        episode(env, 9 if k == 0 else None)
        assert env.batch.envs.scenario[0] == large[0][k]


@pytest.mark.parametrize(("mode", "seat"), [*zip(MODES, (0, 1, 0), strict=True)])
def test_a_batch_equals_single_environments(mode: AutoresetMode, seat: int) -> None:
    keys = {"scenario": POOL, "seat": seat, "opponent": ["random", "veteran"]}
    ours, theirs = native(BATTLE, 3, autoreset_mode=mode, **keys), sync(BATTLE, 3, mode, **keys)
    assert_same_runs(ours, theirs, 60, 3, mode)


def test_spaces_are_one_for_training_and_tests() -> None:
    """A policy has the same spaces as learner and as opponent, for all seeds."""
    sizes: list[tuple[int, ...]] = []

    def looking(seen: Any, masks: Any) -> Any:
        sizes.append((seen.shape[1], masks.shape[1]))
        return lowest(seen, masks)

    train, test = (raw(BATTLE, scenario=each, opponent=looking) for each in (POOL, OTHER))
    assert train.observation_space == test.observation_space
    assert train.action_space == test.action_space
    for env, seed in product((train, test), range(3)):
        episode(env, seed)
    assert set(sizes) == {(train.observation_space.shape[0], int(train.action_space.n))}


@pytest.mark.parametrize("seat", [0, 1])
@pytest.mark.parametrize(("pool", "other"), [(POOL, OTHER), (ALL, OTHER_ALL)])
def test_spaces_hold_every_scenario_of_a_size(pool: Generated, other: Generated, seat: int) -> None:
    env = raw(BATTLE, scenario=pool, seat=seat, opponent="random")
    check_episodes(env, other, seat, 4)


def check_episodes(env: Any, pool: Generated, seat: int, seeds: int) -> None:
    """Assert that scenarios of a pool fit the spaces of an environment, and episodes of its own."""
    for scenario in pool.scenarios():
        check_covers(env.limits, pack(scenario), seat)
    for seed in range(seeds):
        for step in episode(env, seed):
            assert env.observation_space.contains(step.observation)
            assert step.mask.any()


def test_meanings_follow_the_current_scenario() -> None:
    env, seen = raw(BATTLE, scenario=POOL), set()
    for seed in range(12):
        env.reset(seed=seed)
        seen.add(number := int(env.batch.envs.scenario[0]))
        assert env.scenario == POOL.scenarios()[number]
        own = {f"at own {unit.name}" for unit in env.scenario.caster.units}
        assert own <= {*env.action_meanings()}
    assert seen == {0, 1, 2, 3}


def test_vector_environments_name_each_scenario() -> None:
    envs: Any = gym.make_vec(BATTLE, 3, scenario=["apprentice", "archmage-duel"])
    names = [each.name for each in envs.unwrapped.scenarios]
    assert names == ["apprentice", "archmage-duel", "apprentice"]
    single = raw(BATTLE, scenario="archmage-duel", limits=envs.unwrapped.limits)
    assert envs.unwrapped.action_meanings(1) == single.action_meanings()
    assert envs.unwrapped.action_meanings(0) != single.action_meanings()


@pytest.mark.parametrize(
    ("argument", "message"),
    [
        ({"scenario": 3}, "expected a bundled name, a path or a Scenario, found 3"),
        ({"scenario": "archmage-dual"}, "did you mean archmage-duel"),
        ({"limits": "x"}, "limits: expected wfb_gym's Limits, found 'x'"),
        ({"limits": {"dice": 3}}, "limits: expected the fields of Limits, found {'dice': 3}"),
        ({"opponent": Path}, r"opponent: .* found the class Path; Path\(\) makes one"),
    ],
)
def test_wrong_arguments_are_named(argument: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        raw(BATTLE, **argument)


def test_states_and_copies_keep_the_scenario() -> None:
    env, other = (raw(BATTLE, scenario=POOL) for _ in range(2))
    env.reset(seed=2)
    other.reset(seed=5)
    other.set_state(env.get_state())
    twin = copy.deepcopy(env)
    for _ in range(3):
        expected = episode(env, None)
        assert same(expected, episode(other, None))
        assert same(expected, episode(twin, None))
    of_others = raw(BATTLE, scenario=OTHER)
    of_others.reset(seed=1)
    with pytest.raises(ValueError, match="state"):
        env.set_state(of_others.get_state())


@pytest.mark.slow
def test_pools_by_name() -> None:
    train, test = (raw(BATTLE, scenario=text) for text in ("generated", "generated:test"))
    assert train.observation_space == test.observation_space
    assert train.action_space == test.action_space
    assert len(train.batch.scenarios) == len(test.batch.scenarios) == 256
    for env in (train, test):
        check_episodes(env, POOL, 0, 10)


@pytest.mark.slow
@pytest.mark.parametrize("options", [
    Generation(), Generation(opposition="dwarfs", phases=1),
    Generation(points=2000, units=10, characters=6, wizards=6, spells=12, items=8),
    Generation(points=2000, ruleset="7e", battlefield=False, units=8),
    Generation(opposition="daemons", phases=12),
])  # fmt: skip
@pytest.mark.parametrize("seat", [0, 1])
def test_sizes_are_enough_for_scenarios_of_any_kind(options: Generation, seat: int) -> None:
    pool = Generated("test", 20, options=options)
    check_episodes(raw(BATTLE, scenario=pool, seat=seat), pool, seat, 20)


def test_packing_reports_its_progress(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(scenario_set, "_QUIET", -1.0)
    scenario_set.pack_all([load_scenario("apprentice")] * 2)
    lines = [f"wfb_gym: {number} of 2 scenarios packed\n" for number in (1, 2)]
    assert capsys.readouterr().err == "".join(lines)
