"""The native vector environment: equal to single ones, in Gymnasium's three autoreset modes."""

import multiprocessing
from typing import Any

import gymnasium as gym
import numpy as np
import pytest
from gymnasium.utils.env_checker import data_equivalence
from gymnasium.vector import AutoresetMode, SyncVectorEnv
from numpy.typing import NDArray

from tests.support.batches import (
    MODES,
    VECTOR,
    assert_continue_alike,
    assert_same_runs,
    native,
    random_actions,
    run,
    sync,
)
from tests.support.playing import (
    BATTLE,
    IDS,
    SEAT,
    episode,
    highest,
    lowest,
    no_decision,
    pick,
    picks,
    raw,
    same,
    table_of,
)
from wfb_gym.encoding.limits import ArmyLimits, Limits, fit, union
from wfb_gym.envs import driver
from wfb_gym.envs.vector import CasterVectorEnv

CASTER, DISPELLER = IDS
SEVERAL = ["apprentice", "archmage-duel", "long-siege"]
MIXED = ["archmage-duel", "border-skirmish", "seventh-edition-duel", "long-siege"]
SMALL = Limits(ArmyLimits(1, 2, 0), ArmyLimits(1, 0, 0), dice=3)
Masks = NDArray[np.bool_]
POOL = ["random", "greedy", "veteran"]
SAME_STEP, NEXT_STEP, DISABLED = (
    AutoresetMode.SAME_STEP, AutoresetMode.NEXT_STEP, AutoresetMode.DISABLED
)  # fmt: skip
PLAYED: list[tuple[AutoresetMode, str, dict[str, Any]]] = [
    *((mode, CASTER, {"opponent": POOL}) for mode in MODES),
    *((mode, DISPELLER, {"scenario": "long-siege", "opponent": ["random", picks]})
      for mode in MODES),
    (SAME_STEP, CASTER, {"scenario": "seventh-edition-duel", "points_per_reward": 7.0}),
    (NEXT_STEP, DISPELLER, {"scenario": no_decision(), "opponent": "random"}),
    *((SAME_STEP, CASTER, {"scenario": "border-skirmish", "features": "raw", "opponent": each})
      for each in ("random", lowest)),
    (DISABLED, BATTLE, {"scenario": "border-skirmish", "seat": 1, "opponent": POOL}),
    (NEXT_STEP, BATTLE, {"scenario": "the-iron-tide", "seat": 0, "opponent": "random"}),
]  # fmt: skip


@pytest.mark.parametrize(("mode", "name", "keys"), PLAYED)
def test_equals_single_environments(mode: AutoresetMode, name: str, keys: dict[str, Any]) -> None:
    count, steps, least = (3, 90, 1) if name == BATTLE else (5, 120, 5)
    ours, theirs = native(name, count, autoreset_mode=mode, **keys), sync(name, count, mode, **keys)
    assert assert_same_runs(ours, theirs, steps, 40, mode) > least


@pytest.mark.slow
@pytest.mark.parametrize("context", multiprocessing.get_all_start_methods())
@pytest.mark.parametrize("mode", MODES)
def test_equals_environments_in_processes(context: str, mode: AutoresetMode) -> None:
    own = {"context": context, "autoreset_mode": mode}
    envs = gym.make_vec(CASTER, 2, vectorization_mode="async", vector_kwargs=own)
    try:
        assert assert_same_runs(native(CASTER, 2, autoreset_mode=mode), envs, 40, 4, mode)
    finally:
        envs.close()


@pytest.mark.parametrize(
    ("name", "keys", "scenarios"), [(CASTER, {}, SEVERAL), (BATTLE, {"seat": 1}, MIXED)]
)
def test_scenarios_share_spaces(name: str, keys: dict[str, Any], scenarios: list[str]) -> None:
    count = len(scenarios) + 1
    envs = native(name, count, scenario=scenarios, **keys)
    seat = keys["seat"] if keys else SEAT[name]
    assert envs.limits == union([fit(table_of(scenario), seat) for scenario in scenarios])
    chosen = [scenarios[i % len(scenarios)] for i in range(count)]
    singles = [raw(name, scenario=each, limits=envs.limits, **keys) for each in chosen]
    assert all(env.observation_space == envs.single_observation_space for env in singles)
    assert all(env.action_space == envs.single_action_space for env in singles)
    make: list[Any] = [lambda env=env: env for env in singles]
    together = SyncVectorEnv(make, autoreset_mode=SAME_STEP)
    assert assert_same_runs(envs, together, 90, 2)


@pytest.mark.parametrize("mode", [*MODES, *(mode.value for mode in MODES)])
def test_a_mode_comes_as_a_member_or_by_name(mode: Any) -> None:
    metadata = native(CASTER, 1, autoreset_mode=mode).metadata
    assert metadata["autoreset_mode"] is AutoresetMode(mode)
    for kind in (CasterVectorEnv, native(CASTER, 1)):
        assert kind.metadata["autoreset_mode"] is AutoresetMode.SAME_STEP


@pytest.mark.parametrize(
    ("keys", "message"),
    [
        *(({"num_envs": num_envs}, "num_envs: expected 1 or more")
          for num_envs in (0, -1, None, "4", 2.5, True)),
        ({"autoreset_mode": "Sometimes"}, "autoreset_mode: .*, Disabled, found 'Sometimes'"),
        ({"scenario": []}, "scenario: expected at least one"),
        ({"scenario": SEVERAL}, "scenario: expected at most one for each environment"),
        ({"limits": SMALL}, r"limits: own\.spells: the scenario needs 4, found 2"),
        *(({"features": features}, "features: expected all or raw, found")
          for features in ("Raw", None, ["raw"])),
    ],
)  # fmt: skip
def test_wrong_arguments_are_rejected(keys: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        native(CASTER, **{"num_envs": 2, **keys})


def test_reset_mask_resets_what_it_names() -> None:
    envs = native(CASTER, 4, autoreset_mode="Disabled")
    observations, infos = envs.reset(seed=3)
    for _ in range(2):
        observations, *_, infos = envs.step(picks(observations, infos["action_mask"]))
    chosen = np.array([True, False, False, True])
    options = {"reset_mask": chosen, "other": 1}
    seen, _ = envs.reset(options=options)
    assert options == {"reset_mask": chosen, "other": 1}
    assert chosen.tolist() == [True, False, False, True]
    assert np.array_equal(seen[1:3], observations[1:3])
    start = raw(CASTER).reset(seed=0)[0]
    assert np.array_equal(seen[0], start)
    assert np.array_equal(seen[3], start)
    assert not np.array_equal(seen[1], start)
    for _ in range(2):  # the same options reset the same environments again
        envs.step(np.zeros(4, np.int64))
        last = envs.step(np.zeros(4, np.int64))[0].copy()
        seen, rewards, ended, *_ = envs.step(np.full(4, 6))
        assert ended.all()  # and they stay so until a reset
        assert not rewards.any()
        assert np.array_equal(seen, last)
        envs.reset(options=options)
        assert envs.step(np.full(4, 6))[2].tolist() == [False, True, True, False]


def test_reset_mask_with_seeds_does_not_change_the_other_dice() -> None:
    envs, twin = (native(CASTER, 3, autoreset_mode="Disabled") for _ in range(2))
    envs.reset(seed=3)
    twin.reset(seed=3)
    envs.reset(seed=50, options={"reset_mask": np.array([False, True, False])})
    keys, before = envs.batch.envs.rng["key"], twin.batch.envs.rng["key"]
    assert (keys == before).tolist() == [True, False, True]
    single = raw(CASTER)
    single.reset(seed=51)
    assert keys[1] == single.batch.envs.rng["key"][0]


def test_integers_of_any_kind_are_actions() -> None:
    envs, twin = native(CASTER, 3), native(CASTER, 3)
    numbers = [6, 7, 8]
    strided = np.array([6, 9, 7, 9, 8, 9])[::2]
    kinds = (np.array(numbers, dtype) for dtype in (np.int32, np.uint8))
    for actions in (numbers, tuple(numbers), strided, *kinds):
        envs.reset(seed=1)
        twin.reset(seed=1)
        assert np.array_equal(envs.step(actions)[0], twin.step(np.array(numbers))[0])


def test_strict_checks_no_actions_of_ended_environments() -> None:
    envs = native(CASTER, 2, strict=True, autoreset_mode="NextStep")
    envs.reset(seed=1)
    assert envs.step(np.array([0, 6]))[2].tolist() == [True, False]
    before = envs.get_state()
    with pytest.raises(ValueError, match="environment 1 is illegal"):
        envs.step(np.array([9, 9]))
    assert envs.get_state() == before
    envs.step(np.array([9, 1]))


@pytest.mark.parametrize(
    ("mode", "opponent"),
    [(SAME_STEP, "veteran"), (SAME_STEP, picks), (NEXT_STEP, picks), (DISABLED, "veteran")],
)
def test_returned_arrays_do_not_change_later(mode: AutoresetMode, opponent: Any) -> None:
    envs = native(CASTER, 3, autoreset_mode=mode, opponent=opponent)
    given: list[tuple[NDArray[Any], NDArray[Any]]] = []

    def leaves(value: Any) -> list[NDArray[Any]]:
        if isinstance(value, dict | tuple):
            parts = value.values() if isinstance(value, dict) else value
            return [leaf for part in parts for leaf in leaves(part)]
        return [value] if value.dtype != object else [each for each in value if each is not None]

    for result in run(envs, 25, 6, mode):
        news = [*leaves(result), envs.action_masks()]
        for k, array in enumerate(news):
            assert not any(np.shares_memory(array, old) for old, _ in given)
            assert not any(np.shares_memory(array, other) for other in news[:k])
        given.extend((array, array.copy()) for array in news)
    assert all(np.array_equal(array, old) for array, old in given)


def test_writing_into_returned_arrays_changes_nothing() -> None:
    envs = native(CASTER, 2)
    observations, infos = envs.reset(seed=2)
    observations[:] = 7
    infos["action_mask"][:] = 1
    envs.action_masks()[:] = True
    envs.call("action_masks")[0][:] = True
    _, _, terminations, _, infos = envs.step(np.array([3, 6]))
    terminations[:] = infos["illegal_action"][:] = True  # before the ends are read
    assert infos["_final_obs"].tolist() == infos["_final_info"].tolist() == [True, False]
    assert infos["final_info"]["illegal_action"].tolist() == [True, False]


@pytest.mark.parametrize(
    ("mode", "name", "keys"),
    [*((mode, CASTER, {"opponent": POOL}) for mode in MODES),
     (SAME_STEP, BATTLE, {"opponent": "random", "scenario": MIXED})],
)  # fmt: skip
def test_saved_states_resume_exactly(mode: AutoresetMode, name: str, keys: dict[str, Any]) -> None:
    envs, other = (native(name, 6, autoreset_mode=mode, **keys) for _ in range(2))
    list(run(envs, 9, 3, mode))
    state = envs.get_state()
    observations, infos = other.set_state(state)
    assert other.get_state() == state
    assert np.array_equal(other.action_masks(), envs.action_masks())
    assert_continue_alike(envs, other, picks(observations, infos["action_mask"]), 30)
    again, message = envs.set_state(state)
    assert np.array_equal(again, observations)
    assert data_equivalence(message, infos, exact=True)


def test_seeds_one_by_one() -> None:
    envs, single = native(CASTER, 3, autoreset_mode="Disabled"), raw(CASTER)
    envs.reset(seed=[5, 2**70, 5])
    keys = envs.batch.envs.rng["key"].tolist()
    single.reset(seed=2**70)
    assert keys == [keys[0], int(single.batch.envs.rng["key"][0]), keys[0]]
    some = {"options": {"reset_mask": np.array([True, False, False])}}
    for first in ({"seed": 1, **some}, {"seed": [1, None, None]}):
        envs = native(CASTER, 3, autoreset_mode="Disabled")
        envs.reset(**first)
        envs.reset()
        assert len(set(envs.batch.envs.rng["key"])) == 3


def test_unseeded_environments_differ_and_their_run_can_be_repeated_by_its_seed() -> None:
    envs, others = native(CASTER, 3), native(CASTER, 3)
    envs.reset()
    others.reset()
    keys = [*envs.batch.envs.rng["key"], *others.batch.envs.rng["key"]]
    assert len(set(keys)) == 6
    others.reset(seed=envs.np_random_seed)
    assert envs.get_state()["envs"] == others.get_state()["envs"]
    envs.reset()
    assert list(envs.batch.envs.rng["key"]) == keys[:3]


@pytest.mark.parametrize(
    ("name", "way"), [(CASTER, None), (DISPELLER, "vector_entry_point"), (CASTER, "sync")]
)
def test_make_vec(name: str, way: str | None) -> None:
    envs: Any = gym.make_vec(name, num_envs=3, vectorization_mode=way, scenario="apprentice")
    assert isinstance(envs, SyncVectorEnv if way == "sync" else VECTOR[name])
    assert envs.num_envs == 3
    assert envs.spec is not None
    assert envs.spec.id == name
    expected, _ = native(name, 3, scenario="apprentice").reset(seed=4)
    assert np.array_equal(envs.reset(seed=4)[0], expected)
    envs.close()


def test_wider_limits_do_not_change_the_battle() -> None:
    limits = Limits(
        ArmyLimits(3, 6, 2), ArmyLimits(2, 3, 4), dice=12, contacts=2, own_dice=True,
        rerolls=True, in_play=True, free_spells=True, battle=True,
    )  # fmt: skip
    wide, fitted = raw(CASTER, limits=limits), raw(CASTER)
    assert wide.observation_space.shape[0] > fitted.observation_space.shape[0]
    for seed in range(5):
        total = [0.0, 0.0]
        seen, info = wide.reset(seed=seed)
        fitted.reset(seed=seed)
        done = False
        while not done:
            assert wide.observation_space.contains(seen)
            index = pick(seen, info["action_mask"])
            code = wide.batch.codec.code_of[index]
            legal = wide.batch.codec.code_of[np.flatnonzero(info["action_mask"])]
            other = fitted.batch.codec.code_of[np.flatnonzero(fitted.action_masks())]
            assert legal.tolist() == other.tolist()
            seen, reward, done, _, info = wide.step(index)
            second = fitted.step(int(fitted.batch.codec.index_of[code]))
            total[0] += reward
            total[1] += second[1]
            assert second[2] == done
        assert total[0] == total[1]


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("least", [1000, 4])  # in one thread, in several if compiled
def test_raw_features_have_0_in_place_of_expected_values(
    mode: AutoresetMode, least: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(driver, "MIN_SHARED", least)
    keys = {"scenario": "storm-council", "opponent": ["random", lowest], "autoreset_mode": mode}
    full, bare = (native(DISPELLER, 5, features=each, **keys) for each in ("all", "raw"))
    expectations = [field.is_expectation for field in full.batch.layout.fields]
    rng, ended = np.random.default_rng(0), 0

    def compare(left: NDArray[np.float32], right: NDArray[np.float32]) -> None:
        assert left[:, expectations].any()
        assert not right[:, expectations].any()
        assert np.array_equal(np.where(expectations, 0.0, left), right)
        assert all(map(bare.single_observation_space.contains, right))

    (seen, infos), (other, _) = full.reset(seed=1), bare.reset(seed=1)
    for _ in range(20):
        compare(seen, other)
        actions = random_actions(infos["action_mask"], rng)
        seen, _, over, _, infos = full.step(actions)
        other, *_, others = bare.step(actions)
        ended += over.sum()
        if "final_obs" in infos:
            compare(*(np.stack(each["final_obs"][over]) for each in (infos, others)))
        if mode == DISABLED and over.any():
            options = {"reset_mask": over}
            (seen, infos), (other, _) = full.reset(options=options), bare.reset(options=options)
    assert ended > 2


@pytest.mark.parametrize("opponent", ["vetran", None, 3, [], ["random", "x"]])
def test_unknown_opponents_are_rejected(opponent: Any) -> None:
    message = "empty pool" if opponent == [] else "one of random, greedy, veteran"
    with pytest.raises(ValueError, match=f"opponent: expected.*{message}") as caught:
        native(CASTER, 2, opponent=opponent)
    assert ("did you mean veteran" in str(caught.value)) == (opponent == "vetran")


def test_opponents_see_their_own_side() -> None:
    asked = []

    def looking(observations: NDArray[np.float32], masks: Masks) -> NDArray[np.int64]:
        asked.append((observations.copy(), masks.copy()))
        return lowest(observations, masks)

    envs = native(DISPELLER, 4, opponent=looking)
    envs.reset(seed=1)
    observations, masks = asked[0]
    single = raw(CASTER)
    start, info = single.reset(seed=1)
    assert (observations.dtype, masks.dtype) == (np.float32, np.bool_)
    assert np.array_equal(observations, [start] * 4)
    assert np.array_equal(masks, [info["action_mask"]] * 4)


def test_opponents_cannot_change_the_environment() -> None:
    def meddling(observations: NDArray[np.float32], masks: Masks) -> NDArray[np.int64]:
        chosen = picks(observations, masks)
        observations[:] = 9.0
        masks[:] = True
        return chosen

    assert_same_runs(native(CASTER, 3, opponent=meddling), native(CASTER, 3, opponent=picks), 40, 1)


@pytest.mark.parametrize("pool", [["random", "greedy", "veteran"], ["greedy", lowest, highest]])
def test_every_member_of_a_pool_is_drawn(pool: list[Any]) -> None:
    envs = native(CASTER, 300, opponent=pool)
    envs.reset(seed=0)
    assert np.bincount(envs.batch.envs.opponent) == pytest.approx(np.full(3, 100), abs=39)
    drawn = set()
    for _ in range(60):
        assert envs.step(np.zeros(300, int))[2].all()
        drawn |= set(envs.batch.envs.opponent[:1].tolist())
    assert drawn == {0, 1, 2}


def test_a_pool_plays_its_members() -> None:
    """An episode against a pool equals the episode against the drawn member."""
    pool = [lowest, highest]
    env = raw(DISPELLER, opponent=pool)
    seen = set()
    for seed in range(12):
        record = episode(env, seed)
        member = int(env.batch.envs.opponent[0])
        seen.add(member)
        assert same(record, episode(raw(DISPELLER, opponent=pool[member]), seed))
    assert seen == {0, 1}
