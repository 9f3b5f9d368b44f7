"""Casting: wizards, number of attempts, number of dice, and results of the roll."""

from typing import Any

import pytest

from tests.support.builders import PASS, Game, army, game, miscast, spell, wizard
from wfb_gym.engine.outcomes import FIRST_TOTAL, OUTCOME_FAIL, OUTCOME_IRRESISTIBLE, OUTCOME_MISCAST
from wfb_gym.engine.state import Node

BOLT = spell("Bolt", 8)
SECOND = spell("Second", 8)


def duel(level: int = 4, casting_value: int = 8, **caster: Any) -> Game:
    """Return one wizard with two spells against the base dice."""
    mage = wizard(level, spell("Bolt", casting_value), SECOND)
    return game(army(mage, **caster), **miscast())


def test_each_spell_once_a_phase_cast_or_not() -> None:
    battle = duel()
    battle.cast("Bolt", 1)
    battle.roll(6)
    assert battle.node == Node.NOMINATE
    assert not battle.can_cast("Bolt")
    assert battle.can_cast("Second")


def test_a_spell_that_was_cast_is_used_up() -> None:
    battle = duel()
    battle.cast("Bolt", 3)
    battle.roll(2, 3, 4)
    battle.let_through()
    assert not battle.can_cast("Bolt")


def test_a_spell_that_was_dispelled_is_used_up() -> None:
    battle = duel()
    battle.cast("Bolt", 3)
    battle.roll(2, 3, 4)
    battle.dispel(4, 5)
    assert battle.points == 0
    assert not battle.can_cast("Bolt")


def test_a_spell_that_miscast_is_used_up() -> None:
    battle = duel()
    battle.cast("Bolt", 2)
    battle.roll(1, 1)
    battle.roll(3, 4)
    assert battle.node == Node.NOMINATE
    assert not battle.can_cast("Bolt")


def test_two_wizards_with_the_same_spell_may_each_try_it() -> None:
    battle = game(army(wizard(2, BOLT, name="A"), wizard(2, BOLT, name="B")))
    battle.cast("Bolt", 3, wizard=0)
    battle.roll(2, 3, 4)
    battle.let_through()
    assert not battle.can_cast("Bolt", 0)
    assert battle.can_cast("Bolt", 1)


def test_wizards_may_take_turns() -> None:
    battle = game(army(wizard(2, BOLT, SECOND, name="A"), wizard(2, spell("Other"), name="B")))
    battle.cast("Bolt", 1)
    battle.roll(2)
    battle.cast("Other", 1)
    battle.roll(2)
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
    battle.cast("Bolt", 3)
    battle.roll(*faces)
    assert battle.state.power == 3


def test_equal_to_the_casting_value_casts_and_the_total_is_to_match() -> None:
    battle = duel()
    battle.cast("Bolt", 2)
    assert battle.roll(4, 4) == 0
    assert battle.node == Node.DISPEL
    assert battle.mover == 1
    assert battle.state.number == 8


def test_below_the_casting_value_fails() -> None:
    battle = duel()
    battle.cast("Bolt", 2)
    battle.roll(4, 3)
    assert battle.node == Node.NOMINATE


def test_a_natural_one_or_two_always_fails() -> None:
    staff = {"name": "Rod", "cast_bonus": 5}
    battle = game(army(wizard(4, spell("Easy", 3), SECOND, items=["Rod"])), items=[staff])
    battle.cast("Easy", 1)
    battle.roll(2)
    assert battle.node == Node.NOMINATE
    battle = game(army(wizard(4, spell("Easy", 3), SECOND, items=["Rod"])), items=[staff])
    battle.cast("Easy", 1)
    battle.roll(3)
    assert battle.state.number == 8


def test_two_ones_miscast_whatever_the_total() -> None:
    battle = duel()
    battle.cast("Bolt", 4)
    battle.roll(1, 5, 1, 6)
    assert battle.node == Node.ROLL_MISCAST


def test_two_ones_and_two_sixes_are_a_miscast() -> None:
    battle = duel()
    battle.cast("Bolt", 4)
    battle.roll(6, 1, 6, 1)
    assert battle.node == Node.ROLL_MISCAST


def test_two_sixes_are_irresistible_and_cannot_be_dispelled() -> None:
    battle = game(army(wizard(4, BOLT, SECOND)), army(wizard(4), items=["Dispel Scroll"]))
    battle.cast("Bolt", 2)
    assert battle.roll(6, 6) == 10
    assert battle.node == Node.NOMINATE
    assert battle.state.dispel == 4


def test_irresistible_below_the_casting_value() -> None:
    battle = duel(casting_value=15)
    battle.cast("Bolt", 2)
    assert battle.roll(6, 6) == 10


def test_a_bonus_never_changes_the_natural_dice() -> None:
    staff = {"name": "Rod", "cast_bonus": 1}
    mage = wizard(4, spell("Bolt", 8), SECOND, items=["Rod"])
    battle = game(army(mage), items=[staff], **miscast())
    battle.cast("Bolt", 2)
    battle.roll(5, 5)
    assert battle.state.number == 11
    battle.let_through()
    battle.cast("Second", 3)
    battle.roll(1, 1, 6)
    assert battle.node == Node.ROLL_MISCAST


def test_one_six_and_a_bonus_are_not_irresistible() -> None:
    staff = {"name": "Rod", "cast_bonus": 1}
    battle = game(army(wizard(4, BOLT, SECOND, items=["Rod"])), items=[staff])
    battle.cast("Bolt", 2)
    battle.roll(6, 5)
    assert battle.node == Node.DISPEL


def test_chances_of_a_casting_roll() -> None:
    battle = duel()
    battle.cast("Bolt", 2)
    chances = {outcome: chance * 36 for outcome, chance in battle.outcomes().items()}
    expected = {
        OUTCOME_FAIL: 20,
        OUTCOME_MISCAST: 1,
        OUTCOME_IRRESISTIBLE: 1,
        **{FIRST_TOTAL + total: rolls for total, rolls in [(8, 5), (9, 4), (10, 3), (11, 2)]},
    }
    assert chances == pytest.approx(expected)


def test_results_that_no_answer_can_match_are_one() -> None:
    battle = game(army(wizard(4, BOLT, SECOND)), army(dispel_dice=1))
    battle.cast("Bolt", 3)
    assert set(battle.outcomes()) == {
        OUTCOME_FAIL,
        OUTCOME_MISCAST,
        OUTCOME_IRRESISTIBLE,
        FIRST_TOTAL + 7,
    }


def test_a_spell_without_possible_answer_works_at_once() -> None:
    battle = game(army(wizard(4, BOLT, SECOND)), army(dispel_dice=0))
    battle.cast("Bolt", 2)
    assert battle.roll(4, 4) == 10
    assert battle.node == Node.NOMINATE


def test_the_spells_worth_is_paid_when_it_takes_effect() -> None:
    battle = duel()
    battle.cast("Bolt", 2)
    assert battle.roll(4, 4) == 0
    assert battle.act(PASS) == 10


def test_casting_on_ends_with_the_last_die() -> None:
    battle = duel(4, power_dice=2)
    battle.cast("Bolt", 2)
    battle.roll(2, 3)
    assert battle.is_over


def test_wrong_dice_are_rejected() -> None:
    battle = duel()
    battle.cast("Bolt", 2)
    for faces in [(1,), (1, 2, 3), (0, 3), (7, 3)]:
        with pytest.raises(ValueError, match="expected 2 dice"):
            battle.roll(*faces)


def test_an_illegal_action_is_rejected() -> None:
    battle = duel()
    with pytest.raises(ValueError, match="expected one of"):
        battle.act(1)
    battle.nominate("Bolt")
    with pytest.raises(ValueError, match="POOL_DICE"):
        battle.act(1 + 6)
