"""Casting: wizards, number of attempts, number of dice, and results of the roll."""

from typing import Any

import pytest

from tests.support.builders import PASS, Game, army, game, miscast, spell, wizard
from wfb_gym.engine.outcomes import (
    OUTCOME_CAST,
    OUTCOME_FAIL,
    OUTCOME_IRRESISTIBLE,
    OUTCOME_MISCAST,
)
from wfb_gym.engine.state import Node

from .facts import check

BOLT = spell("Bolt", 8)
SECOND = spell("Second", 8)


def duel(level: int = 4, casting_value: int = 8, **caster: Any) -> Game:
    """Return one wizard with two spells against the base dice."""
    mage = wizard(level, spell("Bolt", casting_value), SECOND)
    return game(army(mage, **caster), **miscast())


def with_rod(bonus: int, casting_value: int = 8) -> Game:
    """Return the same with an item that adds to casting rolls."""
    mage = wizard(4, spell("Bolt", casting_value), SECOND, items=["Rod"])
    return game(army(mage), items=[{"name": "Rod", "cast_bonus": bonus}], **miscast())


def test_each_spell_once_a_phase_cast_or_not() -> None:
    battle = duel()
    battle.cast_with("Bolt", 6)
    assert battle.node == Node.NOMINATE
    assert not battle.can_cast("Bolt")
    assert battle.can_cast("Second")
    battle = duel()
    battle.miscast("Bolt")
    assert battle.node == Node.NOMINATE
    assert not battle.can_cast("Bolt")


@pytest.mark.parametrize(("answer", "points"), [((), 10), ((4, 5), 0)])
def test_a_spell_that_was_cast_is_used_up(answer: tuple[int, ...], points: int) -> None:
    battle = duel()
    battle.cast_with("Bolt", 2, 3, 4)
    battle.dispel(*answer) if answer else battle.let_through()
    assert battle.points == points
    assert not battle.can_cast("Bolt")


def test_two_wizards_with_the_same_spell_may_each_try_it() -> None:
    battle = game(army(wizard(2, BOLT, name="A"), wizard(2, BOLT, name="B")))
    battle.cast_with("Bolt", 2, 3, 4, wizard=0)
    battle.let_through()
    assert not battle.can_cast("Bolt", 0)
    assert battle.can_cast("Bolt", 1)


def test_wizards_may_take_turns() -> None:
    battle = game(army(wizard(2, BOLT, SECOND, name="A"), wizard(2, spell("Other"), name="B")))
    battle.cast_with("Bolt", 2)
    battle.cast_with("Other", 2)
    assert battle.can_cast("Second")


@pytest.mark.parametrize(("level", "most"), [(1, 2), (2, 3), (3, 4), (4, 5)])
def test_most_dice_of_a_level(level: int, most: int) -> None:
    battle = duel(level, power_dice=9)
    battle.nominate("Bolt")
    assert battle.node == Node.POOL_DICE
    assert battle.legal_actions() == [1 + n for n in range(1, most + 1)]


def test_no_more_dice_than_there_are() -> None:
    battle = duel(4, power_dice=3)
    battle.nominate("Bolt")
    assert battle.most_dice() == 3


def test_a_cast_needs_a_die() -> None:
    battle = duel()
    battle.nominate("Bolt")
    assert min(battle.legal_actions()) == 2
    assert not duel(4, power_dice=0).is_decision()


def test_a_nomination_cannot_be_taken_back() -> None:
    battle = duel()
    battle.nominate("Bolt")
    assert not battle.can(PASS)


@pytest.mark.parametrize("faces", [(2, 2, 3), (2, 3, 4)])
def test_dice_are_spent_whether_the_spell_was_cast_or_not(faces: tuple[int, ...]) -> None:
    battle = duel()
    battle.cast_with("Bolt", *faces)
    assert battle.state.power == 3


def test_equal_to_the_casting_value_casts_and_the_total_is_to_match() -> None:
    battle = duel()
    assert battle.cast_with("Bolt", 4, 4) == 0
    check(battle, node=Node.DISPEL, mover=1, number=8)


def test_below_the_casting_value_fails() -> None:
    battle = duel()
    battle.cast_with("Bolt", 4, 3)
    assert battle.node == Node.NOMINATE


def test_a_natural_one_or_two_always_fails() -> None:
    battle = with_rod(5, casting_value=3)
    battle.cast_with("Bolt", 2)
    assert battle.node == Node.NOMINATE
    battle = with_rod(5, casting_value=3)
    battle.cast_with("Bolt", 3)
    assert battle.state.number == 8


def test_two_ones_miscast_whatever_the_total() -> None:
    battle = duel()
    battle.cast_with("Bolt", 1, 5, 1, 6)
    assert battle.node == Node.ROLL_MISCAST


def test_two_ones_and_two_sixes_are_a_miscast() -> None:
    battle = duel()
    battle.cast_with("Bolt", 6, 1, 6, 1)
    assert battle.node == Node.ROLL_MISCAST


def test_two_sixes_are_irresistible_and_cannot_be_dispelled() -> None:
    battle = game(army(wizard(4, BOLT, SECOND)), army(wizard(4), items=["Dispel Scroll"]))
    assert battle.cast_with("Bolt", 6, 6) == 10
    check(battle, node=Node.NOMINATE, dispel=4)


def test_irresistible_below_the_casting_value() -> None:
    assert duel(casting_value=15).cast_with("Bolt", 6, 6) == 10


def test_a_bonus_never_changes_the_natural_dice() -> None:
    battle = with_rod(1)
    battle.cast_with("Bolt", 5, 5)
    assert battle.state.number == 11
    battle.let_through()
    battle.cast_with("Second", 1, 1, 6)
    assert battle.node == Node.ROLL_MISCAST


def test_one_six_and_a_bonus_are_not_irresistible() -> None:
    battle = with_rod(1)
    battle.cast_with("Bolt", 6, 5)
    assert battle.node == Node.DISPEL


def test_chances_of_a_casting_roll() -> None:
    battle = duel()
    battle.cast("Bolt", 2)
    chances = {outcome: chance * 36 for outcome, chance in battle.outcomes().items()}
    expected = {
        OUTCOME_FAIL: 20,
        OUTCOME_MISCAST: 1,
        OUTCOME_IRRESISTIBLE: 1,
        **{OUTCOME_CAST + total: rolls for total, rolls in [(8, 5), (9, 4), (10, 3), (11, 2)]},
    }
    assert chances == pytest.approx(expected)


def test_results_that_no_answer_can_match_are_one() -> None:
    battle = game(army(wizard(4, BOLT, SECOND)), army(dispel_dice=1))
    battle.cast("Bolt", 3)
    results = {OUTCOME_FAIL, OUTCOME_MISCAST, OUTCOME_IRRESISTIBLE, OUTCOME_CAST + 7}
    assert set(battle.outcomes()) == results


def test_a_spell_without_possible_answer_works_at_once() -> None:
    battle = game(army(wizard(4, BOLT, SECOND)), army(dispel_dice=0))
    assert battle.cast_with("Bolt", 4, 4) == 10
    assert battle.node == Node.NOMINATE


def test_the_spells_worth_is_paid_when_it_takes_effect() -> None:
    battle = duel()
    assert battle.cast_with("Bolt", 4, 4) == 0
    assert battle.act(PASS) == 10


def test_casting_on_ends_with_the_last_die() -> None:
    battle = duel(4, power_dice=2)
    battle.cast_with("Bolt", 2, 3)
    assert battle.is_over


@pytest.mark.parametrize("faces", [(1,), (1, 2, 3), (0, 3), (7, 3)])
def test_wrong_dice_are_rejected(faces: tuple[int, ...]) -> None:
    battle = duel()
    battle.cast("Bolt", 2)
    with pytest.raises(ValueError, match="expected 2 dice"):
        battle.roll(*faces)


def test_an_illegal_action_is_rejected() -> None:
    battle = duel()
    with pytest.raises(ValueError, match="expected one of"):
        battle.act(1)
    battle.nominate("Bolt")
    with pytest.raises(ValueError, match="POOL_DICE"):
        battle.act(1 + 6)
