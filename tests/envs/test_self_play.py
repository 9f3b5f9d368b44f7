"""Battles with external players for both armies."""

import copy
from typing import Any

import gymnasium as gym
import numpy as np
import pytest

from tests.support.batches import all_equal, random_actions
from tests.support.playing import picks
from wfb_gym import solver
from wfb_gym._records import as_records
from wfb_gym.encoding.limits import ArmyLimits, Limits
from wfb_gym.engine.state import STATE, State
from wfb_gym.envs.self_play import Decisions, SelfPlayBatch
from wfb_gym.generating import KINDS, Generated

DUEL = "archmage-duel"


def play_randomly(
    turns: SelfPlayBatch, shown: tuple[Decisions, Decisions], rng: np.random.Generator
) -> tuple[Decisions, Decisions]:
    first, second = (random_actions(one.masks, rng) for one in shown)
    return turns.play(first, second)


def record(turns: SelfPlayBatch, shown: tuple[Decisions, Decisions], steps: int) -> list[Any]:
    """Return the results of steps whose actions follow from the observations."""
    seen = []
    for _ in range(steps):
        first, second = (picks(one.observations, one.masks) for one in shown)
        shown = turns.play(first, second)
        observed = [np.concatenate([one.members, one.observations.ravel()]) for one in shown]
        kept = turns.points.copy(), turns.opening_points.copy(), turns.ended.copy()
        seen.append([*kept, *observed])
    return seen


CASTER = "actions of the caster: expected"
MEMBER_3 = f"{CASTER} a legal action in battle 3, found"


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda masks: np.zeros(9, np.int64), rf"{CASTER} shape \(8,\), found \(9,\)"),
        (lambda masks: np.where(np.arange(8) == 3, masks[3].argmin(), masks.argmax(1)), MEMBER_3),
        (lambda masks: np.where(np.arange(8) == 3, masks.shape[1], masks.argmax(1)), MEMBER_3),
    ],
)
def test_wrong_actions_are_rejected_before_anything_changes(change: Any, message: str) -> None:
    battles = SelfPlayBatch(8, DUEL)
    with pytest.raises(gym.error.ResetNeeded, match="Cannot call play"):
        battles.play(np.zeros(8, np.int64), np.zeros(0, np.int64))
    caster, _ = battles.reset(seed=1)
    assert caster.members.tolist() == [*range(8)]
    before = battles.get_state()
    with pytest.raises(ValueError, match=message):
        battles.play(change(caster.masks), np.zeros(0, np.int64))
    with pytest.raises(ValueError, match=r"dispeller: expected shape \(0,\), found \(1,\)"):
        battles.play(caster.masks.argmax(1), np.zeros(1, np.int64))
    assert battles.get_state() == before


@pytest.mark.parametrize(
    "scenario", ["apprentice", DUEL, pytest.param("seventh-edition-duel", marks=pytest.mark.slow)]
)
def test_the_mean_of_random_play_is_its_value(scenario: str) -> None:
    turns, rng = SelfPlayBatch(512, scenario), np.random.default_rng(1)
    shown = turns.reset(11)
    battles: list[float] = []
    points = turns.opening_points.copy()
    for _ in range(150):
        shown = play_randomly(turns, shown, rng)
        points += turns.points
        battles += points[turns.ended].tolist()
        points = np.where(turns.ended, turns.opening_points, points)
    assert len(battles) > 3000
    # Only few battles, the longest ones, are missing at the end.
    error = np.std(battles) / len(battles) ** 0.5
    assert abs(np.mean(battles) - solver.evaluate(scenario, "random", "random")) < 5 * error


@pytest.mark.parametrize("scenario", ["border-skirmish", "seventh-edition-duel"])
def test_every_battle_waits_for_one_army_which_sees_its_own_side(scenario: str) -> None:
    turns, rng = SelfPlayBatch(64, scenario), np.random.default_rng(2)
    shown = turns.reset(5)
    movers = set()
    for _ in range(40):
        assert sorted(np.concatenate([one.members for one in shown])) == [*range(64)]
        for seat, (view, one) in enumerate(zip(turns.views, shown, strict=True)):
            states = as_records(State, turns.envs.state[one.members])
            assert (states.mover == seat).all()
            expected = view.show(turns.playing[one.members], states)
            assert all_equal(expected, (one.observations, one.masks))
            assert one.masks.any(axis=1).all()
            movers.update([seat] if len(one.members) else [])
        shown = play_randomly(turns, shown, rng)
    assert movers == {0, 1}


def test_the_same_seed_gives_the_same_battles_for_any_batch_size() -> None:
    many, few = SelfPlayBatch(8, DUEL), SelfPlayBatch(3, DUEL)
    for _ in range(2):  # independent of the battles before
        first, second = record(many, many.reset(40), 30), record(few, few.reset(40), 30)
        for one, other in zip(first, second, strict=True):
            assert all_equal([one[0][:3], one[2][:3]], [other[0], other[2]])
    assert not all_equal(first, record(many, many.reset(41), 30))


@pytest.mark.parametrize(
    "scenario", [DUEL, pytest.param("generated-phase", marks=pytest.mark.slow)]
)
def test_a_restored_state_continues_the_same(scenario: str) -> None:
    turns = SelfPlayBatch(16, scenario)
    record(turns, turns.reset(3), 7)
    kept = turns.get_state()
    expected = record(turns, turns.set_state(kept), 25)
    record(turns, turns.reset(99), 5)
    again = turns.set_state(kept)
    assert not any(part.any() for part in (turns.points, turns.opening_points, turns.ended))
    assert all_equal(record(turns, again, 25), expected)
    with pytest.raises(ValueError, match=r"expected .* bytes for 8 battles"):
        SelfPlayBatch(8, DUEL).set_state(kept)


def test_a_state_with_ended_battles_is_rejected_with_autoreset() -> None:
    turns = SelfPlayBatch(4, "apprentice")
    turns.reset(1)
    kept = turns.get_state()
    with pytest.raises(ValueError, match=r"^state: battle 0: node: expected a decision, found 0"):
        turns.set_state({"battles": bytes(len(kept["battles"]))})
    assert turns.get_state() == kept
    over = np.zeros(1, STATE)
    with pytest.raises(ValueError, match=r"^state: position 0: node: expected a decision, found 0"):
        turns.check_positions(np.zeros(1, np.int64), over)


@pytest.mark.parametrize("scenario", [[1], [-1], [0, 0]])
def test_each_position_has_one_of_the_scenarios(scenario: list[int]) -> None:
    turns = SelfPlayBatch(1, "apprentice")
    turns.reset(1)
    states: Any = turns.states(np.zeros(1, np.int64))
    turns.check_positions(np.zeros(1, np.int64), states)
    with pytest.raises(ValueError, match=r"^scenario: expected one of 0\.\.0 for each position"):
        turns.check_positions(np.array(scenario), states)


def test_without_autoreset_battles_that_are_over_wait_for_the_others() -> None:
    turns, rng = SelfPlayBatch(16, "apprentice", autoreset=False), np.random.default_rng(3)
    shown = turns.reset(1)
    points, ended = np.zeros(16), []
    while len(shown[0].members) + len(shown[1].members):
        before = turns.ended.copy()
        shown = play_randomly(turns, shown, rng)
        points += turns.points
        assert not turns.points[before].any()
        assert turns.ended[before].all()
        ended.append(int(turns.ended.sum()))
        shown = turns.set_state(turns.get_state())
        turns.ended[:] = turns.envs["state"]["node"] == 0
    assert 0 < ended[0] < 16 == ended[-1]
    assert points.any()


def test_generated_battles_are_drawn_in_each_episode() -> None:
    pool = Generated(count=8, options=KINDS["phase"])
    turns, rng = SelfPlayBatch(8, pool), np.random.default_rng(0)
    shown = turns.reset(1)
    met = set(turns.playing.tolist())
    for _ in range(60):
        shown = play_randomly(turns, shown, rng)
        met.update(turns.playing.tolist())
    assert met == set(range(8))
    assert all(scenario.phases == 1 for scenario in turns.scenarios)


def test_arguments() -> None:
    turns = SelfPlayBatch(5, ("apprentice", DUEL))
    turns.reset(0)
    assert turns.playing.tolist() == [0, 1, 0, 1, 0]
    with pytest.raises(ValueError, match="num_envs: expected 1 or more, found 0"):
        SelfPlayBatch(0, DUEL)
    small = Limits(ArmyLimits(), ArmyLimits(), 1)
    with pytest.raises(ValueError, match=r"own\.spells: the scenario needs 4"):
        SelfPlayBatch(1, DUEL, (small, small))


def test_a_copy_is_equal_to_its_original_and_shares_nothing() -> None:
    batch = SelfPlayBatch(8, "orc-shaman-hunt", autoreset=False)
    decisions, rng = batch.reset(1), np.random.default_rng(2)
    while not (batch.ended.any() and batch.points.any()):
        assert not batch.ended.all()
        decisions = play_randomly(batch, decisions, rng)
    twin = copy.copy(batch)
    for key in ("envs", "points", "opening_points", "ended"):
        ours, theirs = getattr(batch, key), getattr(twin, key)
        assert np.array_equal(ours, theirs)
        assert not np.shares_memory(ours, theirs)
    assert all_equal([decisions[0].observations], [twin._decisions()[0].observations])
