"""`wfb_gym/Battle-v0`: whole battles of armies, from either seat, single and in batches."""

import copy
import pickle
from typing import Any

import gymnasium as gym
import numpy as np
import pytest
from gymnasium.utils.env_checker import data_equivalence
from gymnasium.vector import AutoresetMode, SyncVectorEnv

import wfb_gym
from tests.support.playing import (
    BATTLE,
    IDS,
    PHASES,
    SEAT,
    episode,
    pick,
    picks,
    raw,
    rest,
    same,
    table_of,
)
from wfb_gym.encoding.limits import fit, union
from wfb_gym.envs.battles import BattleEnv, BattleVectorEnv

from .test_single import check_points
from .test_vector import MODES, native, run, sync

ARMIES = [name for name in wfb_gym.bundled_scenarios() if name not in PHASES]
MIXED = ["archmage-duel", "border-skirmish", "seventh-edition-duel", "horrors-in-the-mist",
         "long-siege", "tower-of-the-nine-panes"]  # fmt: skip


@pytest.mark.parametrize("scenario", ARMIES)
@pytest.mark.parametrize(("seat", "opponent"), [(0, "random"), (1, "veteran")])
def test_contract_on_every_step(scenario: str, seat: int, opponent: str) -> None:
    env = raw(BATTLE, scenario=scenario, seat=seat, opponent=opponent)
    record = episode(env, 5)
    assert len(record) > 5
    for record_of_step in record:
        assert env.observation_space.contains(record_of_step.observation)
        assert np.isfinite(record_of_step.observation).all()
        assert record_of_step.mask.any()
        assert np.isfinite(record_of_step.reward)
    assert np.flatnonzero(record[-1].mask).tolist() == [0]
    assert [record_of_step.terminated for record_of_step in record].index(True) == len(record) - 1


def test_the_first_seat_of_a_border_skirmish_unless_asked_otherwise() -> None:
    env = raw(BATTLE)
    assert (env.seat, env.batch.scenarios[0].name) == (0, "border-skirmish")
    envs: Any = gym.make_vec(BATTLE, num_envs=2)
    assert isinstance(envs, BattleVectorEnv)
    assert (envs.seat, envs.batch.scenarios[0].name) == (0, "border-skirmish")
    assert raw(BATTLE, seat=1).seat == 1
    assert BattleEnv.seat == BattleVectorEnv.seat == 0


@pytest.mark.parametrize("seat", [2, -1, True, np.bool_(True), "0", None, 0.5])
@pytest.mark.parametrize("kind", [BattleEnv, BattleVectorEnv])
def test_an_unknown_seat_is_rejected(kind: Any, seat: Any) -> None:
    with pytest.raises(ValueError, match="seat: expected 0 for the first army or 1"):
        kind(seat=seat)


@pytest.mark.parametrize("name", IDS)
def test_each_seat_equals_the_id_with_its_name(name: str) -> None:
    one = raw(BATTLE, seat=SEAT[name], opponent="random")
    other = raw(name, scenario="border-skirmish", opponent="random")
    assert one.observation_space == other.observation_space
    for seed in range(3):
        assert same(episode(one, seed), episode(other, seed))


@pytest.mark.parametrize("scenario", ["border-skirmish", "horrors-in-the-mist", "redhorn-pass"])
@pytest.mark.parametrize("seat", [0, 1])
def test_rewards_are_the_difference_of_points(scenario: str, seat: int) -> None:
    check_points(BATTLE, scenario, seat, 2)


@pytest.mark.slow
@pytest.mark.parametrize("scenario", ARMIES)
@pytest.mark.parametrize("seat", [0, 1])
def test_rewards_are_the_difference_of_points_in_every_battle(scenario: str, seat: int) -> None:
    check_points(BATTLE, scenario, seat, 3)


@pytest.mark.parametrize("scenario", ["border-skirmish", "the-crooked-mile", "the-iron-tide"])
def test_rewards_of_both_seats_sum_to_zero(scenario: str) -> None:
    """Both sides choose by their observations, so the battle is the same from either seat."""
    totals = []
    for seat in (0, 1):
        env = raw(BATTLE, scenario=scenario, seat=seat, opponent=picks)
        totals.append([sum(m.reward for m in episode(env, seed)) for seed in range(3)])
    assert totals[0] == pytest.approx([-total for total in totals[1]])
    assert any(totals[0])


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("scenario", ["border-skirmish", "the-iron-tide"])
@pytest.mark.parametrize("seat", [0, 1])
def test_a_batch_equals_single_environments(mode: AutoresetMode, scenario: str, seat: int) -> None:
    keys = {"scenario": scenario, "seat": seat, "opponent": ["random", "veteran"]}
    ours = run(native(BATTLE, 3, autoreset_mode=mode, **keys), 90, 7, mode)
    theirs = run(sync(BATTLE, 3, mode, **keys), 90, 7, mode)
    ended = 0
    for mine, expected in zip(ours, theirs, strict=True):
        assert data_equivalence(list(mine), list(expected))
        ended += int(mine[2].sum()) if len(mine) == 5 else 0
    assert ended > 1


@pytest.mark.parametrize("seat", [0, 1])
def test_battles_of_different_kinds_share_a_batch(seat: int) -> None:
    limits = union([fit(table_of(scenario), seat) for scenario in MIXED])
    count = len(MIXED)
    envs = native(BATTLE, count + 1, scenario=MIXED, seat=seat)
    assert envs.limits == limits
    singles = [
        raw(BATTLE, scenario=MIXED[i % count], seat=seat, limits=limits) for i in range(count + 1)
    ]
    together = SyncVectorEnv(
        [lambda env=env: env for env in singles],  # type: ignore[misc]
        autoreset_mode=AutoresetMode.SAME_STEP,
    )
    mode = AutoresetMode.SAME_STEP
    for mine, theirs in zip(run(envs, 90, 2, mode), run(together, 90, 2, mode), strict=True):
        assert data_equivalence(list(mine), list(theirs))
        assert envs.observation_space.contains(mine[0])


@pytest.mark.parametrize("copied", [copy.deepcopy, lambda env: pickle.loads(pickle.dumps(env))])
def test_copies_continue_alike_and_independently(copied: Any) -> None:
    env = raw(BATTLE, scenario="the-crooked-mile", seat=1, opponent="random")
    observation, info = env.reset(seed=7)
    for _ in range(4):
        observation, _, done, _, info = env.step(pick(observation, info["action_mask"]))
        assert not done
    twin = copied(env)
    left = list(rest(env, observation, info["action_mask"]))
    assert same(left, list(rest(twin, observation, info["action_mask"])))
    assert same(episode(env, None), episode(twin, None))


@pytest.mark.parametrize("scenario", ["ford-of-the-green-lady", "tower-of-the-nine-panes"])
def test_a_saved_state_resumes_bit_for_bit(scenario: str) -> None:
    env, other = (raw(BATTLE, scenario=scenario, opponent="random") for _ in range(2))
    observation, info = env.reset(seed=4)
    for _ in range(5):
        state = env.get_state()
        seen, new_info = other.set_state(state)
        assert np.array_equal(seen, observation)
        assert np.array_equal(new_info["action_mask"], info["action_mask"])
        expected = list(rest(env, observation, info["action_mask"]))
        assert same(expected, list(rest(other, observation, info["action_mask"])))
        env.set_state(state)
        observation, _, done, _, info = env.step(pick(observation, info["action_mask"]))
        assert not done


@pytest.mark.parametrize("mode", MODES)
def test_a_batchs_saved_state_resumes_bit_for_bit(mode: AutoresetMode) -> None:
    keys = {"scenario": MIXED, "opponent": "random", "autoreset_mode": mode}
    envs, other = (native(BATTLE, 6, **keys) for _ in range(2))
    list(run(envs, 9, 3, mode))
    observations, infos = other.set_state(envs.get_state())
    actions = picks(observations, infos["action_mask"])
    for _ in range(20):
        left, right = envs.step(actions), other.step(actions)
        assert data_equivalence(list(left), list(right))
        actions = picks(left[0], left[4]["action_mask"])


def test_meanings_name_units_and_characters() -> None:
    meanings = raw(BATTLE, seat=1).action_meanings()
    assert len(meanings) == len(set(meanings))
    assert {"cast Dark Hand of Death", "at own Marauders", "at enemy Halberdiers",
            "at enemy Captain", "at own Sorcerer", "no target"} <= set(meanings)  # fmt: skip


def test_points_are_only_those_of_lost_models() -> None:
    """The points of all visible units but one are at most the points won."""
    env = raw(BATTLE, opponent="random", points_per_reward=1.0)
    fallen = 0.0
    for seed in range(12):
        record = episode(env, seed)
        named = [env.named_fields(record_of_step.observation) for record_of_step in record[:-1]]
        start, last = named[0], named[-1]
        lost = 0.0
        for owner, sign in (("enemy", 1.0), ("own", -1.0)):
            for kind in range(1, 5):
                unit = f"{owner} unit {kind}"
                models = (start[f"{unit} wounds"] - last[f"{unit} wounds"]) * 20
                lost += sign * models * start[f"{unit} points"] * 100
        won = sum(record_of_step.reward for record_of_step in record[:-1])
        characters = any(
            start[f"{owner} wizard {k} wounds"] != last[f"{owner} wizard {k} wounds"]
            for owner in ("own", "enemy")
            for k in (1, 2)
        )
        tidied = last["phases left"] <= 1 / 12 + 1e-6  # afterwards unreachable wounds are cleared
        if not characters and not tidied:
            assert won == pytest.approx(lost, rel=1e-5)  # products of float32 numbers
            fallen += abs(lost)
    assert fallen > 0.0
