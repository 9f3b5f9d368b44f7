"""Single environments of every id: contract, dice, state, rewards."""

from itertools import product
from typing import Any

import gymnasium as gym
import numpy as np
import pytest
from gymnasium.utils.env_checker import data_equivalence
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
    picks,
    raw,
    rest,
    same,
    table_of,
)
from wfb_gym.encoding.actions import action_codec
from wfb_gym.encoding.limits import fit
from wfb_gym.engine.battle import Battle
from wfb_gym.engine.chance import sample
from wfb_gym.envs.battles import BattleEnv, BattleVectorEnv

ARMIES = [name for name in wfb_gym.bundled_scenarios() if name not in PHASES]
CASTER, DISPELLER = IDS


CONTRACTS: list[tuple[str, dict[str, Any]]] = [
    *(
        (IDS[k % 2], {"scenario": scenario, "opponent": ("random", "veteran")[k // 2 % 2]})
        for k, scenario in enumerate((*PHASES, "border-skirmish"))
    ),
    (BATTLE, {"scenario": "redhorn-pass", "seat": 0, "opponent": "random"}),
    (BATTLE, {"scenario": "the-winds-unbound", "seat": 1, "opponent": "veteran"}),
]


@pytest.mark.parametrize(("name", "keys"), CONTRACTS)
def test_contract_on_every_step(name: str, keys: dict[str, Any]) -> None:
    env = raw(name, **keys)
    n = int(env.action_space.n)
    for seed in range(1 if name == BATTLE else 3):
        observation, info = env.reset(seed=seed)
        terminated = False
        while True:
            assert type(observation) is np.ndarray
            assert observation.dtype == np.float32
            assert env.observation_space.contains(observation)
            assert set(info) == {"action_mask", "illegal_action"}
            mask, masks = info["action_mask"], env.action_masks()
            assert (mask.dtype, mask.shape, mask.any()) == (np.int8, (n,), True)
            assert type(info["illegal_action"]) is bool
            assert masks.dtype == np.bool_
            assert np.array_equal(masks, mask)
            if terminated:
                assert np.flatnonzero(masks).tolist() == [0]
                break
            observation, reward, terminated, truncated, info = env.step(pick(observation, mask))
            assert (type(reward), type(terminated)) == (float, bool)
            assert np.isfinite(reward)
            assert truncated is info["illegal_action"] is False


def test_integers_of_any_kind_are_actions() -> None:
    one, other = raw(CASTER), raw(CASTER)
    for action in (np.int64(6), np.int32(6), np.uint8(6), np.array(6)):
        one.reset(seed=1)
        other.reset(seed=1)
        assert data_equivalence(one.step(6), other.step(action), exact=True)


@pytest.mark.parametrize(
    ("actions", "legal", "illegal", "instead"),
    [([], [0, 6, 7, 8, 9], 3, 0), ([9], [1, 2, 3, 4, 5], 9, 1)],
)
def test_an_illegal_action_becomes_pass_or_the_lowest_legal_one(
    actions: list[int], legal: list[int], illegal: int, instead: int
) -> None:
    env, twin = raw(CASTER), raw(CASTER)
    for each in (env, twin):
        each.reset(seed=5)
        for action in actions:
            each.step(action)
    assert np.flatnonzero(env.action_masks()).tolist() == legal
    *left, info = env.step(illegal)
    *right, other = twin.step(instead)
    assert data_equivalence(left, right, exact=True)
    assert (info["illegal_action"], other["illegal_action"]) == (True, False)
    assert env.get_state() == twin.get_state()


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
        for step in rest(env, observation, info["action_mask"]):
            keep(step.observation, {"action_mask": step.mask})
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


@pytest.mark.parametrize(("name", "seed"), [(CASTER, 0), (DISPELLER, 2**70)])
def test_same_seed_same_battle(name: str, seed: int) -> None:
    """Without a seed, the dice continue."""
    env, twin = (raw(name, opponent="random") for _ in range(2))
    first = episode(env, seed)
    assert env.np_random_seed == seed
    assert same(first, episode(env, seed))
    assert same(first, episode(twin, seed))
    later, again = ([episode(each, None) for _ in range(4)] for each in (env, twin))
    assert all(map(same, later, again))
    assert not all(same(first, each) for each in later)
    assert not all(same(first, episode(env, seed + k)) for k in range(1, 9))


def test_huge_seeds_are_not_cut_short() -> None:
    env, keys = raw(CASTER), set()
    for bits in (0, 32, 63, 64, 70):
        env.reset(seed=2**bits + 1)
        keys.add(int(env.batch.envs.rng["key"][0]))
    assert len(keys) == 5


def test_numpys_global_seed_has_no_effect() -> None:
    states = []
    for env in (raw(CASTER), raw(CASTER)):
        np.random.seed(0)  # noqa: NPY002 - a seed that must have no effect
        env.reset()
        states.append(env.get_state()["envs"])
    assert states[0] != states[1]


def test_an_unseeded_run_can_be_repeated_by_its_np_random() -> None:
    env, twin = raw(CASTER), raw(CASTER)
    first, second = episode(env, None), episode(env, None)
    assert same(first, episode(twin, env.np_random_seed))
    assert same(second, episode(twin, None))
    env, twin = raw(CASTER), raw(CASTER)
    env.np_random, twin.np_random = np.random.default_rng(3), np.random.default_rng(3)
    assert same(episode(env, None), episode(twin, None))


def test_a_restored_position_is_rendered() -> None:
    env = raw(CASTER, render_mode="ansi")
    env.reset(seed=0)
    state, text = env.get_state(), env.render()
    env.step(int(env.action_masks().nonzero()[0][-1]))
    assert env.render() != text
    env.set_state(state)
    assert env.render() == text


def test_options_are_ignored() -> None:
    env = raw(CASTER)
    plain = env.reset(seed=9)[0]
    for options in ({}, {"minari_autoseed": False}, {"whatever": 1}):
        assert np.array_equal(plain, env.reset(seed=9, options=options)[0])


@pytest.mark.parametrize(
    ("name", "scenario"),
    [(CASTER, "seventh-edition-duel"), (DISPELLER, "long-siege"),
     (BATTLE, "ford-of-the-green-lady")],
)  # fmt: skip
def test_a_saved_state_resumes_bit_for_bit(name: str, scenario: str) -> None:
    env, other = (raw(name, scenario=scenario, opponent=["random", "veteran"]) for _ in range(2))
    observation, info = env.reset(seed=21)
    mask, done, steps = info["action_mask"], False, 4
    while not done and steps:
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
        steps -= 1


def test_a_state_after_the_end_is_kept_too() -> None:
    env, other = raw(CASTER), raw(CASTER)
    last = episode(env, 1)[-1]
    seen, new_info = other.set_state(env.get_state())
    assert np.array_equal(seen, last.observation)
    assert np.array_equal(new_info["action_mask"], last.mask)
    assert other.step(0)[1:4] == (0.0, True, False)


@pytest.mark.parametrize("opponent", ["greedy", "random"])
def test_a_learner_without_decisions_gets_the_points_in_one_step(opponent: str) -> None:
    env = raw(DISPELLER, scenario=no_decision(), opponent=opponent)
    assert env.action_space.n > 1
    totals = []
    for seed in range(40):
        observation, info = env.reset(seed=seed)
        assert np.flatnonzero(info["action_mask"]).tolist() == [0]
        assert env.observation_space.contains(observation)
        last, reward, terminated, truncated, info = env.step(seed % 2)
        assert (terminated, truncated, info["illegal_action"]) == (True, False, seed % 2 == 1)
        assert np.array_equal(last, observation)
        assert np.flatnonzero(info["action_mask"]).tolist() == [0]
        totals.append(reward)
    assert min(totals) < 0.0
    assert {-0.8, -0.3, -0.5} & {round(total, 6) for total in totals}


def test_points_per_reward() -> None:
    envs = raw(CASTER), raw(CASTER, points_per_reward=25.0)
    played = ([step for seed in range(8) for step in episode(env, seed)] for env in envs)
    plain, scaled = (np.array([step.reward for step in steps]) for steps in played)
    assert scaled == pytest.approx(plain * 4.0)
    assert plain.any()


@pytest.mark.parametrize("scenario", ["archmage-duel", "long-siege", "border-skirmish"])
def test_rewards_of_both_seats_sum_to_zero(scenario: str) -> None:
    """Both sides choose by their observations, so the battle is the same from either seat."""
    totals, dice = [], []
    for name in IDS:
        env = raw(name, scenario=scenario, opponent=picks)
        totals.append([sum(step.reward for step in episode(env, seed)) for seed in range(6)])
        dice.append(env.batch.envs.rng["dice"].tolist())
    assert totals[0] == pytest.approx([-total for total in totals[1]])
    assert any(totals[0])
    assert dice[0] == dice[1]


SLOW = [pytest.param(BATTLE, *each, 3, marks=pytest.mark.slow) for each in product(ARMIES, (0, 1))]
POINTS = [
    (CASTER, "archmage-duel", 0, 5), (CASTER, "long-siege", 0, 5),
    (DISPELLER, "seventh-edition-duel", 1, 5), (BATTLE, "redhorn-pass", 1, 2), *SLOW,
]  # fmt: skip


@pytest.mark.parametrize(("name", "scenario", "seat", "seeds"), POINTS)
def test_rewards_are_the_engines_points(name: str, scenario: str, seat: int, seeds: int) -> None:
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
        answers, states, battle = iter(replies), iter(step_records), Battle(packed)
        rng = env.batch.envs.rng.copy().view(np.recarray)
        rng["dice"] = 0
        paid = 0.0
        while not battle.is_over:
            if not battle.is_decision():
                battle.resolve(int(sample(battle.packed, battle.state, rng[0], battle._work[0])))
            elif battle.mover == seat:
                record_of_step = next(states)
                paid += record_of_step.reward
                if record_of_step.action >= 0:  # with points from before the first decision
                    assert battle.points * sign == pytest.approx(paid * 100.0)
                battle.act(next(moves))
            else:
                battle.act(next(answers))
        total = sum(step.reward for step in step_records)
        assert total * 100.0 == pytest.approx(battle.points * sign)
        assert rng["dice"][0] == env.batch.envs.rng["dice"][0]


def test_the_first_seat_of_a_border_skirmish_unless_asked_otherwise() -> None:
    env: Any = raw(BATTLE)
    envs: Any = gym.make_vec(BATTLE, num_envs=2)
    for each, kind in ((env, BattleEnv), (envs, BattleVectorEnv)):
        assert type(each) is kind
        assert (each.seat, each.batch.scenarios[0].name) == (0, "border-skirmish")
        assert kind.seat == 0


@pytest.mark.parametrize("kind", [BattleEnv, BattleVectorEnv])
def test_an_unknown_seat_is_rejected(kind: Any) -> None:
    for seat in (2, -1, True, np.bool_(True), "0", None):
        with pytest.raises(ValueError, match="seat: expected 0 for the first army or 1"):
            kind(seat=seat)


@pytest.mark.parametrize("name", IDS)
def test_each_seat_equals_the_id_with_its_name(name: str) -> None:
    one = raw(BATTLE, seat=SEAT[name], opponent="random")
    other = raw(name, scenario="border-skirmish", opponent="random")
    assert one.observation_space == other.observation_space
    for seed in range(3):
        assert same(episode(one, seed), episode(other, seed))
