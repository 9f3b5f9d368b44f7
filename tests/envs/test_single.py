"""The single environment: contract, dice, state, rewards."""

import copy
import pickle
from typing import Any

import gymnasium as gym
import numpy as np
import pytest
from numpy.typing import NDArray

import wfb_gym
from tests.support.playing import (
    BATTLE,
    IDS,
    PHASES,
    SEAT,
    episode,
    no_decision,
    pick,
    raw,
    rest,
    same,
    table_of,
)
from wfb_gym.encoding.actions import action_codec
from wfb_gym.encoding.limits import fit
from wfb_gym.engine.battle import Battle
from wfb_gym.engine.chance import sample
from wfb_gym.scenario import load_scenario, scenario_from_dict

SCENARIOS = (*PHASES, "border-skirmish")
CASTER, DISPELLER = IDS


def outcome(step_records: list[Any]) -> float:
    return float(sum(record_of_step.reward for record_of_step in step_records))


@pytest.mark.parametrize("name", IDS)
@pytest.mark.parametrize("scenario", SCENARIOS)
@pytest.mark.parametrize("opponent", ["random", "veteran"])
def test_contract_on_every_step(name: str, scenario: str, opponent: str) -> None:
    env = raw(name, scenario=scenario, opponent=opponent)
    n = int(env.action_space.n)
    for seed in range(4):
        observation, info = env.reset(seed=seed)
        terminated = False
        while True:
            assert type(observation) is np.ndarray
            assert observation.dtype == np.float32
            assert observation.shape == env.observation_space.shape
            assert env.observation_space.contains(observation)
            assert set(info) == {"action_mask", "illegal_action"}
            assert info["action_mask"].dtype == np.int8
            assert info["action_mask"].shape == (n,)
            assert info["action_mask"].any()
            assert type(info["illegal_action"]) is bool
            masks = env.action_masks()
            assert masks.dtype == np.bool_
            assert np.array_equal(masks, info["action_mask"])
            if terminated:
                assert np.flatnonzero(masks).tolist() == [0]
                break
            step = env.step(pick(observation, info["action_mask"]))
            observation, reward, terminated, truncated, info = step
            assert type(reward) is float
            assert type(terminated) is bool
            assert truncated is False
            assert info["illegal_action"] is False


@pytest.mark.parametrize("call", ["step", "masks"])
def test_reset_comes_first(call: str) -> None:
    env = raw(CASTER)
    with pytest.raises(gym.error.ResetNeeded, match="reset"):
        env.step(0) if call == "step" else env.action_masks()


@pytest.mark.parametrize(
    "action",
    [None, "0", 1.0, np.float32(1), [0], np.array([0]), -1, 10, 2**70, np.int64(-1), (0,)],
)
def test_an_invalid_action_is_rejected_and_changes_nothing(action: Any) -> None:
    env = raw(CASTER)
    env.reset(seed=1)
    before = env.get_state()
    with pytest.raises(ValueError, match="expected a member of Discrete"):
        env.step(action)
    assert env.get_state() == before


@pytest.mark.parametrize("action", [6, np.int64(6), np.int32(6), np.uint8(6), np.array(6)])
def test_integers_of_any_kind_are_actions(action: Any) -> None:
    one, other = raw(CASTER), raw(CASTER)
    one.reset(seed=1)
    other.reset(seed=1)
    left, right = one.step(6), other.step(action)
    assert np.array_equal(left[0], right[0])
    assert left[1:4] == right[1:4]


def test_an_illegal_action_becomes_pass() -> None:
    env, twin = raw(CASTER), raw(CASTER)
    _, info = env.reset(seed=5)
    twin.reset(seed=5)
    assert info["action_mask"][0] == 1
    assert info["action_mask"][3] == 0
    left, right = env.step(3), twin.step(0)
    assert np.array_equal(left[0], right[0])
    assert left[1:4] == right[1:4]
    assert left[4]["illegal_action"] is True
    assert right[4]["illegal_action"] is False


def test_an_illegal_action_becomes_the_lowest_legal_one() -> None:
    env, twin = raw(CASTER), raw(CASTER)
    for each in (env, twin):
        each.reset(seed=5)
        info = each.step(9)[4]
    legal = np.flatnonzero(info["action_mask"]).tolist()
    assert legal == [1, 2, 3, 4, 5]
    left, right = env.step(9), twin.step(1)
    assert np.array_equal(left[0], right[0])
    assert left[4]["illegal_action"] is True
    assert env.get_state() == twin.get_state()


def test_strict_rejects_an_illegal_action_and_changes_nothing() -> None:
    env = raw(CASTER, strict=True)
    env.reset(seed=5)
    before = env.get_state()
    with pytest.raises(ValueError, match=r"action 3 .*illegal: expected one of \[0, 6, 7, 8, 9\]"):
        env.step(3)
    assert env.get_state() == before
    assert env.step(6)[4]["illegal_action"] is False


def test_returned_arrays_do_not_change_later() -> None:
    env = raw(CASTER)
    given: list[tuple[NDArray[Any], NDArray[Any]]] = []

    def keep(observation: NDArray[Any], info: dict[str, Any]) -> None:
        for array in (observation, info["action_mask"], env.action_masks()):
            assert not any(np.shares_memory(array, old) for old, _ in given)
            given.append((array, array.copy()))

    for seed in range(3):
        observation, info = env.reset(seed=seed)
        keep(observation, info)
        done = False
        while not done:
            observation, _, done, _, info = env.step(pick(observation, info["action_mask"]))
            keep(observation, info)
    assert len(given) > 30
    assert all(np.array_equal(array, old) for array, old in given)


def test_writing_into_returned_arrays_changes_nothing() -> None:
    env, twin = raw(CASTER), raw(CASTER)
    observation, info = env.reset(seed=2)
    observation[:] = 7
    info["action_mask"][:] = 1
    env.action_masks()[:] = True
    twin.reset(seed=2)
    assert np.array_equal(env.action_masks(), twin.action_masks())
    assert env.step(3)[4]["illegal_action"] is True
    assert np.array_equal(env.step(0)[0], twin.step(3)[0])


@pytest.mark.parametrize("name", IDS)
def test_same_seed_same_battle(name: str) -> None:
    env = raw(name, opponent="random")
    first = episode(env, 11)
    assert same(first, episode(env, 11))
    assert same(first, episode(raw(name, opponent="random"), 11))
    assert not all(same(first, episode(env, seed)) for seed in range(12, 20))


def test_numpys_global_seed_has_no_effect() -> None:
    env = raw(CASTER, opponent="random")
    np.random.seed(0)  # noqa: NPY002 - a seed that must have no effect
    first = episode(env, 4)
    np.random.seed(1)  # noqa: NPY002
    assert same(first, episode(env, 4))
    fresh = []
    for _ in range(4):
        np.random.seed(0)  # noqa: NPY002
        env = raw(CASTER)
        env.reset()
        fresh.append(env.get_state()["envs"])
    assert len(set(fresh)) == 4


def test_reset_without_seed_continues_the_dice() -> None:
    env, twin = raw(CASTER), raw(CASTER)
    run = [episode(env, 3), *(episode(env, None) for _ in range(4))]
    again = [episode(twin, 3), *(episode(twin, None) for _ in range(4))]
    assert all(same(a, b) for a, b in zip(run, again, strict=True))
    assert not all(same(run[0], other) for other in run[1:])


def test_an_unseeded_run_can_be_repeated_by_its_np_random_seed() -> None:
    env, twin = raw(CASTER), raw(CASTER)
    first = episode(env, None)
    other = episode(twin, None)
    twin.reset(seed=env.np_random_seed)
    assert env.get_state()["envs"] != twin.get_state()["envs"]
    assert len(first) > 1
    assert len(other) > 1


@pytest.mark.parametrize("seed", [0, 2**32, 2**63, 2**64 + 1, 2**70])
def test_seeds_of_any_size(seed: int) -> None:
    env = raw(CASTER)
    first = episode(env, seed)
    assert same(first, episode(env, seed))
    assert env.np_random_seed == seed


def test_huge_seeds_are_not_cut_short() -> None:
    env = raw(CASTER)
    keys = set()
    for seed in (1, 2**32 + 1, 2**64 + 1, 2**70 + 1):
        env.reset(seed=seed)
        keys.add(int(env.batch.envs.rng["key"][0]))
    assert len(keys) == 4


@pytest.mark.parametrize("seed", [-1, 1.5, "1"])
def test_an_invalid_seed_is_rejected(seed: Any) -> None:
    with pytest.raises((gym.error.Error, TypeError), match="Seed must be"):
        raw(CASTER).reset(seed=seed)


@pytest.mark.parametrize("options", [None, {}, {"minari_autoseed": False}, {"whatever": 1}])
def test_options_are_ignored(options: dict[str, Any] | None) -> None:
    env = raw(CASTER)
    plain = env.reset(seed=9)
    given = env.reset(seed=9, options=options)
    assert np.array_equal(plain[0], given[0])


@pytest.mark.parametrize("copied", [copy.deepcopy, lambda e: pickle.loads(pickle.dumps(e))])
@pytest.mark.parametrize("name", IDS)
def test_copies_continue_alike_and_independently(name: str, copied: Any) -> None:
    env = gym.make(name, scenario="long-siege", opponent="random")
    observation, info = env.reset(seed=7)
    for _ in range(3):
        observation, _, done, _, info = env.step(pick(observation, info["action_mask"]))
        assert not done
    twin = copied(env)
    seen = twin.unwrapped.action_masks()
    assert np.array_equal(seen, env.unwrapped.action_masks())  # type: ignore[attr-defined]
    left = list(rest(env, observation, info["action_mask"]))
    right = list(rest(twin, observation, info["action_mask"]))
    assert same(left, right)
    assert same(episode(env, None), episode(twin, None))


@pytest.mark.parametrize("name", IDS)
@pytest.mark.parametrize("scenario", ["archmage-duel", "long-siege", "seventh-edition-duel"])
def test_a_saved_state_resumes_bit_for_bit(name: str, scenario: str) -> None:
    env = raw(name, scenario=scenario, opponent=["random", "veteran"])
    other = raw(name, scenario=scenario, opponent=["random", "veteran"])
    observation, info = env.reset(seed=21)
    mask = info["action_mask"]
    done = False
    steps = 0
    while not done and steps < 12:
        state = env.get_state()
        seen, new_info = other.set_state(state)
        assert np.array_equal(seen, observation)
        assert np.array_equal(new_info["action_mask"], mask)
        assert np.array_equal(other.action_masks(), mask)
        expected = list(rest(env, observation, mask))
        assert same(expected, list(rest(other, observation, mask)))
        assert same(episode(env, None), episode(other, None))
        env.set_state(state)
        assert env.get_state() == state
        observation, _, done, _, info = env.step(pick(observation, mask))
        mask = info["action_mask"]
        steps += 1


def test_a_state_after_the_end_is_kept_too() -> None:
    env, other = raw(CASTER), raw(CASTER)
    last = episode(env, 1)[-1]
    seen, new_info = other.set_state(env.get_state())
    assert np.array_equal(seen, last.observation)
    assert np.array_equal(new_info["action_mask"], last.mask)
    assert other.step(0)[1:4] == (0.0, True, False)


def test_a_state_of_several_environments_is_rejected() -> None:
    envs = gym.make_vec(CASTER, num_envs=2)
    envs.reset(seed=1)
    env = raw(CASTER)
    env.reset(seed=1)
    before = env.get_state()
    with pytest.raises(ValueError, match="1 environments"):
        env.set_state(envs.get_state())  # type: ignore[attr-defined]
    assert env.get_state() == before


@pytest.mark.parametrize(
    ("keys", "other_keys"),
    [
        ({}, {"scenario": "apprentice"}),
        ({}, {"scenario": "long-siege"}),
        ({"scenario": "long-siege"}, {"scenario": "archmage-duel"}),
    ],
)
def test_a_state_of_another_scenario_is_rejected(
    keys: dict[str, Any], other_keys: dict[str, Any]
) -> None:
    other = raw(CASTER, **other_keys)
    other.reset(seed=1)
    env = raw(CASTER, **keys)
    env.reset(seed=1)
    with pytest.raises(ValueError, match="state"):
        env.set_state(other.get_state())


def test_a_state_of_the_other_seat_is_rejected() -> None:
    other = raw(DISPELLER)
    other.reset(seed=1)
    env = raw(CASTER)
    with pytest.raises(ValueError, match="state"):
        env.set_state(other.get_state())


@pytest.mark.parametrize("name", IDS)
@pytest.mark.parametrize("scenario", SCENARIOS)
def test_meanings_name_every_action(name: str, scenario: str) -> None:
    env = raw(name, scenario=scenario)
    meanings = env.action_meanings()
    assert len(meanings) == env.action_space.n
    assert meanings[0] == "pass"
    assert all(type(meaning) is str and meaning for meaning in meanings)


def test_meanings_of_the_duel() -> None:
    assert raw(CASTER).action_meanings() == [
        "pass",
        "1 die",
        "2 dice",
        "3 dice",
        "4 dice",
        "5 dice",
        "cast Fire Ball",
        "cast Fiery Blast",
        "cast Burning Head",
        "cast Conflagration of Doom",
    ]
    assert raw(DISPELLER).action_meanings() == [
        "pass",
        "1 die",
        "2 dice",
        "3 dice",
        "4 dice",
        "use Dispel Scroll",
    ]


def test_meanings_name_spells_in_play_by_their_owner() -> None:
    meanings = raw(DISPELLER, scenario="long-siege").action_meanings()
    assert "cast Guardian Light" in meanings
    assert "in play: own Guardian Light" in meanings
    assert "in play: enemy Wall of Fire" in meanings


@pytest.mark.parametrize("name", IDS)
def test_named_names_the_numbers(name: str) -> None:
    env = raw(name)
    observation, _ = env.reset(seed=1)
    named = env.named_fields(observation)
    assert len(named) == len(observation)
    assert list(named.values()) == observation.tolist()
    assert named["own phase"] == 1 - SEAT[name]
    with pytest.raises(ValueError, match="shape"):
        env.named_fields(observation[1:])


@pytest.mark.parametrize("opponent", ["greedy", "veteran", "random"])
def test_a_learner_without_decisions_gets_the_points_in_one_step(opponent: str) -> None:
    env = raw(DISPELLER, scenario=no_decision(), opponent=opponent)
    totals = []
    for seed in range(40):
        observation, info = env.reset(seed=seed)
        assert np.flatnonzero(info["action_mask"]).tolist() == [0]
        assert env.observation_space.contains(observation)
        last, reward, terminated, truncated, info = env.step(0)
        assert terminated is True
        assert truncated is False
        assert np.array_equal(last, observation)
        assert np.flatnonzero(info["action_mask"]).tolist() == [0]
        totals.append(reward)
    assert min(totals) < 0.0
    assert {-0.8, -0.3, -0.5} & {round(total, 6) for total in totals}


def test_another_action_than_the_only_legal_pass_is_reported() -> None:
    env = raw(DISPELLER, scenario=no_decision(), opponent="greedy")
    _, info = env.reset(seed=1)
    assert env.action_space.n > 1
    assert np.flatnonzero(info["action_mask"]).tolist() == [0]
    *_, info = env.step(1)
    assert info["illegal_action"] is True


@pytest.mark.parametrize("points", [1.0, 25.0, 100.0])
def test_points_per_reward(points: float) -> None:
    rewards = []
    for seed in range(8):
        plain = episode(raw(CASTER), seed)
        scaled = episode(raw(CASTER, points_per_reward=points), seed)
        for left, right in zip(plain, scaled, strict=True):
            assert right.reward == pytest.approx(left.reward * 100.0 / points)
            rewards.append(left.reward)
    assert any(rewards)


@pytest.mark.parametrize("scenario", SCENARIOS)
def test_rewards_of_both_seats_sum_to_zero(scenario: str) -> None:
    """Play the same battle from both seats: each opponent repeats the other run's learner."""
    caster_codec = action_codec(fit(table_of(scenario), 0))
    dispeller_codec = action_codec(fit(table_of(scenario), 1))
    decided = 0
    for seed in range(6):
        answers: list[int] = []

        def recording(seen: NDArray[Any], masks: NDArray[Any]) -> NDArray[np.int64]:
            chosen = np.array([pick(seen[0], masks[0])])
            answers.append(int(dispeller_codec.code_of[chosen[0]]))  # noqa: B023 - one a seed
            return chosen

        first = raw(CASTER, scenario=scenario, opponent=recording)
        left = episode(first, seed)
        script = [int(caster_codec.code_of[m.action]) for m in left[1:]]
        replies, moves = iter(answers), iter(script)

        def repeating(seen: NDArray[Any], masks: NDArray[Any]) -> NDArray[np.int64]:
            return np.array([caster_codec.index_of[next(moves)]])  # noqa: B023 - one a seed

        def answering(seen: NDArray[Any], mask: NDArray[Any]) -> int:
            return int(dispeller_codec.index_of[next(replies)]) if answers else 0  # noqa: B023

        second = raw(DISPELLER, scenario=scenario, opponent=repeating)
        right = episode(second, seed, answering)
        decided += len(answers)
        assert outcome(left) == pytest.approx(-outcome(right))
        assert first.batch.envs.rng["dice"][0] == second.batch.envs.rng["dice"][0]
    assert decided


@pytest.mark.parametrize("name", IDS)
@pytest.mark.parametrize("scenario", SCENARIOS)
def test_rewards_are_the_engines_points(name: str, scenario: str) -> None:
    check_points(name, scenario, SEAT[name], 5)


def check_points(name: str, scenario: str, seat: int, seeds: int) -> None:
    """Replay both armies' actions of an environment on the engine with the same dice."""
    packed = table_of(scenario)
    own, other = action_codec(fit(packed, seat)), action_codec(fit(packed, 1 - seat))
    sign = 1 - 2 * seat
    for seed in range(seeds):
        replies: list[int] = []

        def recording(seen: NDArray[Any], masks: NDArray[Any]) -> NDArray[np.int64]:
            chosen = np.array([pick(seen[0], masks[0])])
            replies.append(int(other.code_of[chosen[0]]))  # noqa: B023 - one a seed
            return chosen

        keys = {"seat": seat} if name == BATTLE else {}
        env = raw(name, scenario=scenario, opponent=recording, **keys)
        step_records = episode(env, seed)
        moves = iter([int(own.code_of[m.action]) for m in step_records[1:]])
        answers = iter(replies)
        states = iter(step_records)
        battle = Battle(packed)
        rng = env.batch.envs.rng.copy().view(np.recarray)
        rng["dice"] = 0
        paid = 0.0
        while not battle.is_over:
            if not battle.is_decision():
                resolve_with(battle, rng)
            elif battle.mover == seat:
                record_of_step = next(states)
                paid += record_of_step.reward
                if record_of_step.action >= 0:  # with points from before the first decision
                    assert battle.points * sign == pytest.approx(paid * 100.0)
                battle.act(next(moves))
            else:
                battle.act(next(answers))
        assert outcome(step_records) * 100.0 == pytest.approx(battle.points * sign)
        assert rng["dice"][0] == env.batch.envs.rng["dice"][0]


def resolve_with(battle: Battle, rng: Any) -> None:
    """Resolve a chance node with the generator's dice, like the environments."""
    battle.resolve(int(sample(battle.packed, battle.state, rng[0], battle._work[0])))


def test_a_scenario_comes_by_name_path_or_object(tmp_path: Any) -> None:
    scenario = load_scenario("apprentice")
    expected = episode(raw(CASTER, scenario="apprentice"), 2)
    assert same(expected, episode(raw(CASTER, scenario=scenario), 2))
    with pytest.raises(wfb_gym.ScenarioError, match="archmage-duel"):
        raw(CASTER, scenario="no-such")
    path = tmp_path / "own.toml"
    path.write_text('name = "own"\n[caster]\npower_dice = 2\n[dispeller]\n')
    assert raw(CASTER, scenario=path).batch.scenarios[0].name == "own"
    document = {"name": "own", "caster": {"power_dice": 2}, "dispeller": {}}
    assert raw(CASTER, scenario=path).batch.scenarios[0] == scenario_from_dict(document)
