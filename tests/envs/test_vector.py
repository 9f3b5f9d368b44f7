"""The native vector environment: equal to single ones, in Gymnasium's three autoreset modes."""

import copy
import multiprocessing
import pickle
from collections.abc import Iterator
from functools import partial
from typing import Any

import gymnasium as gym
import numpy as np
import pytest
from gymnasium.utils.env_checker import data_equivalence
from gymnasium.vector import AsyncVectorEnv, AutoresetMode, SyncVectorEnv
from gymnasium.wrappers.vector import DictInfoToList, RecordEpisodeStatistics
from numpy.typing import NDArray

from tests.support.playing import (
    BATTLE,
    IDS,
    PHASES,
    SEAT,
    episode,
    highest,
    lowest,
    no_decision,
    pick,
    picks,
    raw,
    same,
)
from wfb_gym.encoding.limits import ArmyLimits, Limits, fit, union
from wfb_gym.envs.battles import BattleVectorEnv
from wfb_gym.envs.vector import CasterVectorEnv, DispellerVectorEnv
from wfb_gym.packing import pack
from wfb_gym.scenario import load_scenario

CASTER, DISPELLER = IDS
VECTOR = {CASTER: CasterVectorEnv, DISPELLER: DispellerVectorEnv, BATTLE: BattleVectorEnv}
MODES = list(AutoresetMode)
Masks = NDArray[np.bool_]


def native(name: str, num_envs: int, **keys: Any) -> Any:
    return VECTOR[name](num_envs, **keys)


def sync(name: str, num_envs: int, mode: AutoresetMode, **keys: Any) -> SyncVectorEnv:
    return SyncVectorEnv([lambda: raw(name, **keys)] * num_envs, autoreset_mode=mode)


def run(envs: Any, steps: int, seed: int, mode: AutoresetMode) -> Iterator[tuple[Any, ...]]:
    """Return the results of resets and steps; actions follow from the observations."""
    observations, infos = envs.reset(seed=seed)
    yield observations, infos
    for _ in range(steps):
        actions = picks(observations, infos["action_mask"])
        observations, rewards, terminations, truncations, infos = envs.step(actions)
        yield observations, rewards, terminations, truncations, infos
        if mode == AutoresetMode.DISABLED and terminations.any():
            observations, infos = envs.reset(options={"reset_mask": terminations.copy()})
            # Gymnasium's implementation omits the other environments from `infos`.
            yield observations, infos["action_mask"][terminations]
            infos = {"action_mask": np.stack(masks_of(envs))}


def masks_of(envs: Any) -> list[Masks]:
    if isinstance(envs, SyncVectorEnv):
        return [env.action_masks() for env in envs.envs]  # type: ignore[attr-defined]
    return list(envs.action_masks())


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("name", IDS)
@pytest.mark.parametrize(
    "keys",
    [
        {},
        {"opponent": ["random", "greedy", "veteran"]},
        {"opponent": picks},
        {"scenario": "long-siege", "opponent": ["random", picks]},
        {"scenario": "seventh-edition-duel", "opponent": "greedy", "points_per_reward": 7.0},
        {"scenario": "storm-council", "opponent": "random"},
    ],
    ids=lambda keys: keys.get("scenario", "archmage-duel"),
)
def test_equals_single_environments(mode: AutoresetMode, name: str, keys: dict[str, Any]) -> None:
    ours = run(native(name, 5, autoreset_mode=mode, **keys), 120, 40, mode)
    theirs = run(sync(name, 5, mode, **keys), 120, 40, mode)
    ended = 0
    for mine, expected in zip(ours, theirs, strict=True):
        assert data_equivalence(list(mine), list(expected))
        if len(mine) == 5:
            ended += int(mine[2].sum())
            assert mine[1].dtype == np.float64
    assert ended > 5


@pytest.mark.parametrize("mode", MODES)
def test_a_learner_without_decisions_ends_at_every_step(mode: AutoresetMode) -> None:
    keys = {"scenario": no_decision(), "opponent": "random"}
    ours = run(native(DISPELLER, 3, autoreset_mode=mode, **keys), 30, 1, mode)
    theirs = run(sync(DISPELLER, 3, mode, **keys), 30, 1, mode)
    for mine, expected in zip(ours, theirs, strict=True):
        assert data_equivalence(list(mine), list(expected))


@pytest.mark.parametrize("name", IDS)
def test_environment_i_plays_the_single_one_of_seed_plus_i(name: str) -> None:
    envs = native(name, 6)
    observations, infos = envs.reset(seed=100)
    masks = infos["action_mask"]
    records = [episode(raw(name), 100 + i) for i in range(6)]
    places = np.zeros(6, int)
    for _ in range(max(len(record) for record in records) - 1):
        actions = picks(observations, masks)
        for i, record in enumerate(records):
            if places[i] < len(record):
                record_of_step = record[places[i]]
                assert np.array_equal(observations[i], record_of_step.observation)
                assert np.array_equal(masks[i], record_of_step.mask)
        observations, rewards, terminations, _, infos = envs.step(actions)
        masks = infos["action_mask"]
        for i, record in enumerate(records):
            places[i] += 1
            if places[i] < len(record):
                assert rewards[i] == record[places[i]].reward
                assert terminations[i] == record[places[i]].terminated
                if terminations[i]:
                    assert np.array_equal(infos["final_obs"][i], record[-1].observation)
                    places[i] = len(record)
    assert (places >= [len(record) for record in records]).all()


@pytest.mark.parametrize("mode", MODES)
def test_the_batchs_size_does_not_matter(mode: AutoresetMode) -> None:
    large = run(native(CASTER, 9, autoreset_mode=mode, opponent="random"), 60, 5, mode)
    small = run(native(CASTER, 4, autoreset_mode=mode, opponent="random"), 60, 5, mode)
    compared = 0
    for mine, expected in zip(large, small, strict=False):
        if len(mine) == len(expected) == 5 or compared == 0:
            compared += 1
            assert np.array_equal(mine[0][:4], expected[0])
            if len(mine) == 5:
                assert np.array_equal(mine[1][:4], expected[1])
                assert np.array_equal(mine[2][:4], expected[2])
        if mode == AutoresetMode.DISABLED and len(mine) != len(expected):
            break
    assert compared > 5


def test_a_batch_with_threads_equals_small_batches() -> None:
    large, small = native(CASTER, 9001), native(CASTER, 40)
    seen, infos = large.reset(seed=5)
    few, message = small.reset(seed=5 + 8961)
    for _ in range(12):
        assert np.array_equal(seen[-40:], few)
        assert np.array_equal(infos["action_mask"][-40:], message["action_mask"])
        seen, rewards, *_, infos = large.step(lowest(seen, infos["action_mask"]))
        few, expected, *_, message = small.step(lowest(few, message["action_mask"]))
        assert np.array_equal(rewards[-40:], expected)


def test_the_mode_does_not_shift_the_dice() -> None:
    totals = []
    for mode in MODES:
        rewards = [0.0] * 3
        finished: list[list[float]] = [[], [], []]
        for result in run(native(CASTER, 3, autoreset_mode=mode), 150, 8, mode):
            if len(result) == 5:
                for i in range(3):
                    rewards[i] += float(result[1][i])
                    if result[2][i]:
                        finished[i].append(rewards[i])
                        rewards[i] = 0.0
        totals.append([scores[:8] for scores in finished])
    assert all(len(scores) == 8 for scores in totals[0])
    assert totals[0] == totals[1] == totals[2]


@pytest.mark.parametrize("mode", MODES)
def test_contract(mode: AutoresetMode) -> None:
    envs = native(CASTER, 4, autoreset_mode=mode, opponent="random")
    assert envs.metadata["autoreset_mode"] is mode
    assert envs.num_envs == 4
    assert envs.single_action_space.n == 10
    assert envs.observation_space.shape == (4, *envs.single_observation_space.shape)
    observations, infos = envs.reset(seed=1)
    for _ in range(40):
        assert observations.dtype == np.float32
        assert envs.observation_space.contains(observations)
        assert infos["action_mask"].dtype == np.int8
        assert infos["action_mask"].shape == (4, 10)
        assert infos["_action_mask"].all()
        assert infos["illegal_action"].dtype == np.bool_
        masks = envs.action_masks()
        assert masks.dtype == np.bool_
        assert masks.any(1).all()
        assert np.array_equal(masks, infos["action_mask"])
        actions = picks(observations, masks)
        assert envs.action_space.contains(actions)
        observations, rewards, terminations, truncations, infos = envs.step(actions)
        assert rewards.dtype == np.float64
        assert terminations.dtype == truncations.dtype == np.bool_
        assert not truncations.any()
        if mode == AutoresetMode.DISABLED and terminations.any():
            observations, infos = envs.reset(options={"reset_mask": terminations})


def test_the_class_keeps_its_metadata() -> None:
    native(CASTER, 1, autoreset_mode=AutoresetMode.DISABLED)
    assert CasterVectorEnv.metadata["autoreset_mode"] is AutoresetMode.SAME_STEP
    assert native(CASTER, 1).metadata["autoreset_mode"] is AutoresetMode.SAME_STEP


@pytest.mark.parametrize("mode", ["NextStep", "SameStep", "Disabled"])
def test_modes_may_come_by_name(mode: str) -> None:
    assert native(CASTER, 1, autoreset_mode=mode).metadata["autoreset_mode"].value == mode


def test_an_unknown_mode_is_rejected() -> None:
    modes = "NextStep, SameStep, Disabled"
    with pytest.raises(ValueError, match=f"autoreset_mode: .* {modes}, found 'Sometimes'"):
        native(CASTER, 1, autoreset_mode="Sometimes")


def test_seeds_that_are_no_numbers_are_rejected() -> None:
    with pytest.raises(ValueError, match=r"seed: expected a whole number, .* found 1\.5"):
        native(CASTER, 2).reset(seed=1.5)


@pytest.mark.parametrize("num_envs", [0, -1, None, "4", 2.5, True])
def test_an_empty_batch_is_rejected(num_envs: Any) -> None:
    with pytest.raises(ValueError, match="num_envs: expected 1 or more"):
        native(CASTER, num_envs)


@pytest.mark.parametrize("call", ["step", "masks"])
def test_reset_comes_first(call: str) -> None:
    envs = native(CASTER, 2)
    with pytest.raises(gym.error.ResetNeeded, match="reset"):
        envs.step(np.zeros(2, int)) if call == "step" else envs.action_masks()


def test_reset_mask_resets_what_it_names() -> None:
    envs, twin = (native(CASTER, 4, autoreset_mode="Disabled") for _ in range(2))
    observations, infos = envs.reset(seed=3)
    twin.reset(seed=3)
    for _ in range(2):
        actions = picks(observations, infos["action_mask"])
        observations, *_, infos = envs.step(actions)
        twin.step(actions)
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


def test_the_same_options_reset_the_same_environments_again() -> None:
    envs = native(CASTER, 3, autoreset_mode="Disabled")
    envs.reset(seed=3)
    options = {"reset_mask": np.array([False, True, False])}
    for _ in range(2):
        envs.step(np.array([0, 0, 0]))
        _, _, before, _, _ = envs.step(np.array([0, 0, 0]))
        assert before.all()
        envs.reset(options=options)
        *_, after, _, _ = envs.step(np.array([6, 6, 6]))
        assert after.tolist() == [True, False, True]


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


@pytest.mark.parametrize(
    "mask",
    [
        [True, False, True],
        np.array([1, 0, 1]),
        np.array([True, False]),
        np.array([[True, False, True]]),
        np.zeros(3, bool),
        None,
        True,
    ],
    ids=repr,
)
def test_a_bad_reset_mask_is_rejected_and_changes_nothing(mask: Any) -> None:
    envs = native(CASTER, 3, autoreset_mode="Disabled")
    envs.reset(seed=1)
    envs.step(np.array([6, 7, 8]))
    before = envs.get_state()
    with pytest.raises(ValueError, match="reset_mask: expected"):
        envs.reset(options={"reset_mask": mask})
    assert envs.get_state() == before


def test_disabled_keeps_what_has_ended() -> None:
    envs = native(CASTER, 2, autoreset_mode="Disabled")
    envs.reset(seed=1)
    observations, _, terminations, _, infos = envs.step(np.array([0, 6]))
    assert terminations.tolist() == [True, False]
    last = observations[0].copy()
    observations, rewards, terminations, _, infos = envs.step(np.array([0, 1]))
    assert terminations[0]
    assert rewards[0] == 0.0
    assert np.array_equal(observations[0], last)
    assert np.flatnonzero(infos["action_mask"][0]).tolist() == [0]


def test_same_step_reports_the_end() -> None:
    envs = native(CASTER, 3)
    start, _ = envs.reset(seed=1)
    observations, _, terminations, _, infos = envs.step(np.array([0, 6, 3]))
    assert terminations.tolist() == [True, False, True]
    assert infos["_final_obs"].tolist() == [True, False, True]
    assert infos["_final_info"].tolist() == [True, False, True]
    assert infos["final_obs"].dtype == object
    assert infos["final_obs"][1] is None
    assert infos["final_obs"][0].shape == envs.single_observation_space.shape
    assert not np.array_equal(infos["final_obs"][0], observations[0])
    assert np.array_equal(observations[0], start[0])
    assert infos["final_info"]["illegal_action"].tolist() == [False, False, True]
    assert infos["illegal_action"].tolist() == [False, False, False]
    assert infos["final_info"]["action_mask"][0].tolist() == [1] + [0] * 9
    assert infos["action_mask"][0].sum() == 5


def test_next_step_takes_a_step_to_reset() -> None:
    envs = native(CASTER, 2, autoreset_mode="NextStep")
    start, _ = envs.reset(seed=1)
    _, _, terminations, _, infos = envs.step(np.array([0, 6]))
    assert terminations.tolist() == [True, False]
    assert np.flatnonzero(infos["action_mask"][0]).tolist() == [0]
    observations, rewards, terminations, _, infos = envs.step(np.array([9, 1]))
    assert np.array_equal(observations[0], start[0])
    assert rewards[0] == 0.0
    assert not terminations[0]
    assert not infos["illegal_action"][0]


@pytest.mark.parametrize(
    "actions",
    [
        0,
        [0],
        [0, 0, 0],
        [[0, 0]],
        [0.0, 0.0],
        np.zeros(2, np.float32),
        np.zeros(2, bool),
        ["a", "b"],
        None,
    ],
    ids=repr,
)
def test_wrong_shapes_and_types_are_rejected_and_change_nothing(actions: Any) -> None:
    envs = native(CASTER, 2)
    envs.reset(seed=1)
    before = envs.get_state()
    with pytest.raises(ValueError, match=r"actions: expected integers of shape \(2,\)"):
        envs.step(actions)
    assert envs.get_state() == before


@pytest.mark.parametrize("action", [-1, 10, 2**62, -(2**62), 2**63, 2**64 - 1])
@pytest.mark.parametrize("mode", MODES)
def test_an_action_outside_the_space_is_rejected(action: int, mode: AutoresetMode) -> None:
    envs = native(CASTER, 3, autoreset_mode=mode)
    envs.reset(seed=1)
    before = envs.get_state()
    with pytest.raises(ValueError, match=rf"action {action} of environment 1: expected 0..9"):
        envs.step(np.array([6, action, 6], np.int64 if action < 2**63 else np.uint64))
    assert envs.get_state() == before


@pytest.mark.parametrize("dtype", [np.int64, np.int32, np.uint8, list, tuple])
def test_integers_of_any_kind_are_actions(dtype: Any) -> None:
    envs, twin = native(CASTER, 3), native(CASTER, 3)
    envs.reset(seed=1)
    twin.reset(seed=1)
    actions = dtype([6, 7, 8]) if dtype in (list, tuple) else np.array([6, 7, 8], dtype)
    assert np.array_equal(envs.step(actions)[0], twin.step(np.array([6, 7, 8]))[0])
    strided = np.array([1, 9, 2, 9, 3, 9])[::2]
    assert np.array_equal(envs.step(strided)[0], twin.step(np.array([1, 2, 3]))[0])


def test_illegal_actions_are_replaced_and_reported() -> None:
    envs, twin = (native(CASTER, 3, autoreset_mode="Disabled") for _ in range(2))
    envs.reset(seed=1)
    twin.reset(seed=1)
    *_, infos = envs.step(np.array([3, 6, 6]))
    assert infos["illegal_action"].tolist() == [True, False, False]
    twin.step(np.array([0, 6, 6]))
    *_, infos = envs.step(np.array([0, 9, 2]))
    assert infos["illegal_action"].tolist() == [False, True, False]
    twin.step(np.array([0, 1, 2]))
    assert envs.get_state() == twin.get_state()


@pytest.mark.parametrize("mode", MODES)
def test_strict_rejects_illegal_actions_and_changes_nothing(mode: AutoresetMode) -> None:
    envs = native(CASTER, 3, strict=True, autoreset_mode=mode)
    envs.reset(seed=1)
    before = envs.get_state()
    with pytest.raises(ValueError, match=r"action 3 of environment 2 .*\[0, 6, 7, 8, 9\]"):
        envs.step(np.array([6, 6, 3]))
    assert envs.get_state() == before
    envs.step(np.array([6, 6, 7]))


def test_strict_ignores_actions_of_ended_environments() -> None:
    envs = native(CASTER, 2, strict=True, autoreset_mode="NextStep")
    envs.reset(seed=1)
    assert envs.step(np.array([0, 6]))[2].tolist() == [True, False]
    envs.step(np.array([9, 1]))


def test_strict_looks_past_ended_environments() -> None:
    envs = native(CASTER, 2, strict=True, autoreset_mode="NextStep")
    envs.reset(seed=1)
    assert envs.step(np.array([0, 6]))[2].tolist() == [True, False]
    before = envs.get_state()
    with pytest.raises(ValueError, match="environment 1 is illegal"):
        envs.step(np.array([9, 9]))
    assert envs.get_state() == before


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("opponent", ["veteran", picks], ids=["compiled", "callable"])
def test_returned_arrays_do_not_change_later(mode: AutoresetMode, opponent: Any) -> None:
    envs = native(CASTER, 3, autoreset_mode=mode, opponent=opponent)
    given: list[tuple[NDArray[Any], NDArray[Any]]] = []

    def leaves(value: Any) -> Iterator[NDArray[Any]]:
        if isinstance(value, dict):
            for each in value.values():
                yield from leaves(each)
        elif isinstance(value, tuple):
            for each in value:
                yield from leaves(each)
        elif value.dtype == object:
            yield from (each for each in value if each is not None)
        else:
            yield value

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
    _, _, terminations, _, infos = envs.step(np.array([3, 6]))
    terminations[:] = infos["illegal_action"][:] = True  # before the ends are read
    assert infos["_final_obs"].tolist() == infos["_final_info"].tolist() == [True, False]
    assert infos["final_info"]["illegal_action"].tolist() == [True, False]


@pytest.mark.skipif(
    tuple(map(int, gym.__version__.split(".")[:2])) < (1, 4),
    reason="Gymnasium before 1.4 takes the step after an end for a reset, in every autoreset mode",
)
@pytest.mark.parametrize("name", IDS)
def test_episode_statistics(name: str) -> None:
    envs = RecordEpisodeStatistics(native(name, 4))
    observations, infos = envs.reset(seed=1)
    totals = np.zeros(4)
    lengths = np.zeros(4, int)
    ended = 0
    for _ in range(80):
        actions = picks(observations, infos["action_mask"])
        observations, rewards, terminations, _, infos = envs.step(actions)
        totals += rewards
        lengths += 1
        for i in np.flatnonzero(terminations):
            assert infos["_episode"][i]
            assert infos["episode"]["r"][i] == pytest.approx(totals[i])
            assert infos["episode"]["l"][i] == lengths[i]
            totals[i] = lengths[i] = 0
            ended += 1
    assert ended > 4


@pytest.mark.parametrize("name", IDS)
def test_episode_statistics_after_partial_resets(name: str) -> None:
    envs = RecordEpisodeStatistics(native(name, 4, autoreset_mode="Disabled", opponent="random"))
    observations, infos = envs.reset(seed=1)
    totals, lengths, ended = np.zeros(4), np.zeros(4, int), 0
    for _ in range(120):
        actions = picks(observations, infos["action_mask"])
        observations, rewards, terminations, _, infos = envs.step(actions)
        totals += rewards
        lengths += 1
        if terminations.any():
            assert infos["episode"]["r"][terminations] == pytest.approx(totals[terminations])
            assert infos["episode"]["l"][terminations].tolist() == lengths[terminations].tolist()
            totals[terminations], lengths[terminations] = 0.0, 0
            ended += int(terminations.sum())
            observations, infos = envs.reset(options={"reset_mask": terminations})
    assert ended > 20


def test_infos_as_lists() -> None:
    envs = DictInfoToList(native(CASTER, 3))
    _, infos = envs.reset(seed=1)
    assert [info["action_mask"].shape for info in infos] == [(10,)] * 3
    *_, infos = envs.step(np.array([0, 6, 7]))
    assert "final_obs" in infos[0]
    assert "final_info" in infos[0]
    assert "final_obs" not in infos[1]
    assert not infos[1]["illegal_action"]


@pytest.mark.parametrize("copied", [copy.deepcopy, lambda e: pickle.loads(pickle.dumps(e))])
@pytest.mark.parametrize("opponent", ["random", picks], ids=["compiled", "callable"])
def test_copies_continue_alike_and_independently(copied: Any, opponent: Any) -> None:
    envs = native(DISPELLER, 4, scenario="long-siege", opponent=opponent)
    list(run(envs, 7, 3, AutoresetMode.SAME_STEP))
    twin = copied(envs)
    masks = envs.action_masks()
    assert np.array_equal(masks, twin.action_masks())
    left: list[Any] = []
    right: list[Any] = []
    for each, results in ((envs, left), (twin, right)):
        actions = masks.argmax(1)
        for _ in range(40):
            observations, rewards, terminations, _, infos = each.step(actions)
            results.append((observations, rewards, terminations, infos))
            actions = picks(observations, infos["action_mask"])
    assert data_equivalence(left, right)


@pytest.mark.parametrize("mode", MODES)
def test_a_saved_state_resumes_bit_for_bit(mode: AutoresetMode) -> None:
    envs, other = (
        native(CASTER, 4, autoreset_mode=mode, opponent=["random", "greedy"]) for _ in range(2)
    )
    list(run(envs, 9, 3, mode))
    state = envs.get_state()
    observations, infos = other.set_state(state)
    assert other.get_state() == state
    assert np.array_equal(other.action_masks(), envs.action_masks())
    actions = picks(observations, infos["action_mask"])
    for _ in range(30):
        left, right = envs.step(actions), other.step(actions)
        assert data_equivalence(list(left), list(right))
        actions = picks(left[0], left[4]["action_mask"])
    again, message = envs.set_state(state)
    assert np.array_equal(again, observations)
    assert data_equivalence(message, infos)


def test_a_state_of_another_number_of_environments_is_rejected() -> None:
    envs = native(CASTER, 2)
    envs.reset(seed=1)
    before = envs.get_state()
    with pytest.raises(ValueError, match="2 environments"):
        envs.set_state(native(CASTER, 3).get_state())
    assert envs.get_state() == before


@pytest.mark.parametrize(
    "other_keys", [{"scenario": "apprentice"}, {"opponent": ["random", "greedy"]}], ids=str
)
def test_a_state_of_another_scenario_is_rejected(other_keys: dict[str, Any]) -> None:
    envs, other = native(CASTER, 2), native(CASTER, 2, **other_keys)
    envs.reset(seed=1)
    other.reset(seed=1)
    before = envs.get_state()
    with pytest.raises(ValueError, match="state"):
        envs.set_state(other.get_state())
    assert envs.get_state() == before


@pytest.mark.parametrize("seeds", [[1], [1, 2, 3, 4], []])
def test_a_wrong_number_of_seeds_is_rejected(seeds: list[int]) -> None:
    with pytest.raises(ValueError, match=f"seed: expected 3 seeds, found {len(seeds)}"):
        native(CASTER, 3).reset(seed=seeds)


@pytest.mark.parametrize("seed", [-1, [1, -1, 2]])
def test_a_negative_seed_is_rejected(seed: Any) -> None:
    with pytest.raises((gym.error.Error, ValueError)):
        native(CASTER, 3).reset(seed=seed)


def test_seeds_one_by_one() -> None:
    envs = native(CASTER, 3)
    envs.reset(seed=[5, 2**70, 5])
    keys = envs.batch.envs.rng["key"]
    assert keys[0] == keys[2]
    single = raw(CASTER)
    single.reset(seed=2**70)
    assert keys[1] == single.batch.envs.rng["key"][0]


def test_unseeded_environments_differ() -> None:
    envs, others = native(CASTER, 3), native(CASTER, 3)
    envs.reset()
    others.reset()
    keys = [*envs.batch.envs.rng["key"], *others.batch.envs.rng["key"]]
    assert len(set(keys)) == 6
    envs.reset()
    assert list(envs.batch.envs.rng["key"]) == keys[:3]


@pytest.mark.parametrize("first", ["mask", "none"])
def test_environments_that_no_seed_reached_still_differ(first: str) -> None:
    envs = native(CASTER, 3, autoreset_mode="Disabled")
    if first == "mask":
        envs.reset(seed=1, options={"reset_mask": np.array([True, False, False])})
    else:
        envs.reset(seed=[1, None, None])
    envs.reset()
    assert len(set(envs.batch.envs.rng["key"])) == 3


@pytest.mark.parametrize("name", IDS)
@pytest.mark.parametrize("way", [None, "vector_entry_point", "sync"])
def test_make_vec(name: str, way: str | None) -> None:
    envs: Any = gym.make_vec(name, num_envs=3, vectorization_mode=way, scenario="apprentice")
    assert isinstance(envs, SyncVectorEnv if way == "sync" else VECTOR[name])
    assert envs.num_envs == 3
    assert envs.spec is not None
    assert envs.spec.id == name
    expected, _ = native(name, 3, scenario="apprentice").reset(seed=4)
    assert np.array_equal(envs.reset(seed=4)[0], expected)
    envs.close()


@pytest.mark.slow
@pytest.mark.parametrize("context", multiprocessing.get_all_start_methods())
@pytest.mark.parametrize("mode", [AutoresetMode.NEXT_STEP, AutoresetMode.SAME_STEP])
def test_environments_in_processes(context: str, mode: AutoresetMode) -> None:
    envs: Any = gym.make_vec(
        CASTER,
        num_envs=2,
        vectorization_mode="async",
        vector_kwargs={"context": context, "autoreset_mode": mode},
    )
    try:
        assert isinstance(envs, AsyncVectorEnv)
        ours = run(native(CASTER, 2, autoreset_mode=mode), 40, 4, mode)
        for mine, theirs in zip(ours, run(envs, 40, 4, mode), strict=True):
            assert data_equivalence(list(mine), list(theirs))
    finally:
        envs.close()


@pytest.mark.parametrize("name", IDS)
def test_several_scenarios_share_spaces(name: str) -> None:
    scenarios = ["apprentice", "archmage-duel", "long-siege"]
    envs = native(name, 6, scenario=scenarios)
    packed_scenarios = [pack(load_scenario(scenario)) for scenario in scenarios]
    limits = union([fit(packed, SEAT[name]) for packed in packed_scenarios])
    assert envs.limits == limits
    singles = [raw(name, scenario=scenarios[i % 3], limits=limits) for i in range(6)]
    assert all(env.observation_space == envs.single_observation_space for env in singles)
    assert all(env.action_space == envs.single_action_space for env in singles)
    together = SyncVectorEnv(
        [lambda env=env: env for env in singles],  # type: ignore[misc]
        autoreset_mode=AutoresetMode.SAME_STEP,
    )
    mode = AutoresetMode.SAME_STEP
    for mine, theirs in zip(run(envs, 80, 2, mode), run(together, 80, 2, mode), strict=True):
        assert data_equivalence(list(mine), list(theirs))


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


@pytest.mark.parametrize("make", [lambda **keys: native(CASTER, 2, **keys), None])
def test_limits_that_are_too_small_are_rejected(make: Any) -> None:
    make = make or (lambda **keys: raw(CASTER, **keys))
    limits = Limits(ArmyLimits(1, 2, 0), ArmyLimits(1, 0, 0), dice=3)
    with pytest.raises(ValueError, match="limits") as caught:
        make(limits=limits)
    message = str(caught.value)
    assert "own.spells: the scenario needs 4, found 2" in message
    assert "opponent.items: the scenario needs 1, found 0" in message
    assert "dice: the scenario needs 5, found 3" in message
    assert "wizards" not in message


def test_unused_scenarios_are_rejected() -> None:
    scenarios = ["apprentice", "archmage-duel", "long-siege"]
    for make in (partial(raw, CASTER), partial(native, CASTER, 2)):
        with pytest.raises(ValueError, match="scenario: expected at most one for each environment"):
            make(scenario=scenarios)


def test_no_scenario_is_rejected() -> None:
    with pytest.raises(ValueError, match="scenario: expected at least one"):
        native(CASTER, 2, scenario=[])


@pytest.mark.parametrize("opponent", ["vetran", "nobody", "", None, 3, [], ["random", "x"]])
def test_unknown_opponents_are_rejected(opponent: Any) -> None:
    with pytest.raises(ValueError, match="opponent: expected") as caught:
        native(CASTER, 2, opponent=opponent)
    if opponent != []:
        assert all(name in str(caught.value) for name in ("random", "greedy", "veteran"))
    assert ("did you mean veteran" in str(caught.value)) == (opponent == "vetran")


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        (lambda o, m: lowest(o, m)[:, None], "shape"),
        (lambda o, m: int(lowest(o, m)[0]), "shape"),
        (lambda o, m: np.append(lowest(o, m), 0), "shape"),
        (lambda o, m: lowest(o, m).astype(float), "float64"),
        (lambda o, m: m[:, 0], "bool"),
        (lambda o, m: None, "object"),
        (lambda o, m: np.full(len(o), -1), "action -1 is illegal"),
        (lambda o, m: np.full(len(o), 10**6), "action 1000000 is illegal"),
        (lambda o, m: m.argmin(1), "illegal, expected one of"),
    ],
    ids=["rank", "scalar", "length", "float", "bool", "none", "negative", "outside", "illegal"],
)
def test_an_opponent_with_invalid_answers_is_reported(wrong: Any, message: str) -> None:
    envs = native(DISPELLER, 3, opponent=wrong)
    with pytest.raises(ValueError, match="opponent") as caught:
        envs.reset(seed=1)
    assert message in str(caught.value)


def test_after_an_opponents_error_nothing_has_happened() -> None:
    """The step that failed can be taken again."""
    broken = [False]

    def failing(observations: NDArray[np.float32], masks: Masks) -> NDArray[np.int64]:
        if broken[0]:
            raise RuntimeError("out of ideas")
        return lowest(observations, masks)

    envs, fine = native(CASTER, 3, opponent=failing), native(CASTER, 3, opponent=lowest)
    for each in (envs, fine):
        each.reset(seed=1)
        each.step(np.array([6, 6, 6]))
    broken[0] = True
    with pytest.raises(RuntimeError, match="out of ideas"):
        envs.step(np.array([4, 4, 4]))
    broken[0] = False
    again, expected = envs.step(np.array([4, 4, 4])), fine.step(np.array([4, 4, 4]))
    assert data_equivalence(again, expected)
    assert envs.get_state() == fine.get_state()


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
    assert observations.dtype == np.float32
    assert masks.dtype == np.bool_
    assert observations.shape == (4, len(start))
    assert all(np.array_equal(row, start) for row in observations)
    assert all(np.array_equal(row, info["action_mask"]) for row in masks)


def test_opponents_cannot_change_the_environment() -> None:
    def meddling(observations: NDArray[np.float32], masks: Masks) -> NDArray[np.int64]:
        chosen = picks(observations, masks)
        observations[:] = 9.0
        masks[:] = True
        return chosen

    mode = AutoresetMode.SAME_STEP
    left = run(native(CASTER, 3, opponent=meddling), 40, 1, mode)
    right = run(native(CASTER, 3, opponent=picks), 40, 1, mode)
    for mine, expected in zip(left, right, strict=True):
        assert data_equivalence(list(mine), list(expected))


def test_opponents_are_asked_once_a_batch() -> None:
    sizes = []

    def counting(observations: NDArray[np.float32], masks: Masks) -> NDArray[np.int64]:
        sizes.append(len(observations))
        return lowest(observations, masks)

    native(DISPELLER, 50, opponent=counting).reset(seed=1)
    assert sizes[0] == 50


@pytest.mark.parametrize("choose", [lowest, highest])
@pytest.mark.parametrize("scenario", [*PHASES, "border-skirmish"])
def test_a_policy_plays_the_same_from_either_side(choose: Any, scenario: str) -> None:
    """Both sides play their lowest or highest action, so learner and opponent have one policy."""
    totals = []
    for name in IDS:
        envs = native(name, 6, scenario=scenario, opponent=choose, autoreset_mode="Disabled")
        observations, infos = envs.reset(seed=9)
        points = np.zeros(6)
        for _ in range(500):
            actions = choose(observations, infos["action_mask"].astype(bool))
            observations, rewards, terminations, _, infos = envs.step(actions)
            points += rewards
            if terminations.all():
                break
        assert terminations.all()
        totals.append(points)
    assert totals[0] == pytest.approx(-totals[1])


@pytest.mark.parametrize("pool", [["random", "greedy", "veteran"], ["greedy", lowest, highest]])
def test_every_member_of_a_pool_is_drawn(pool: list[Any]) -> None:
    envs = native(CASTER, 300, opponent=pool)
    envs.reset(seed=0)
    counts = np.bincount(envs.batch.envs.opponent, minlength=3)
    assert len(counts) == 3
    assert (abs(counts - 100) < 40).all()
    drawn = set()
    for _ in range(60):
        terminations = envs.step(np.zeros(300, int))[2]
        assert terminations.all()
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
