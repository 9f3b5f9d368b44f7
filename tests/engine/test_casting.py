"""Casting: wizards, number of attempts, number of dice, and results of the roll."""

from typing import Any

import pytest

from tests.support.builders import Data, Game, army, game, miscast, spell, wizard
from wfb_gym.engine import outcomes
from wfb_gym.engine.state import Node

from .facts import check

BOLT = spell("Bolt", 8)
SECOND = spell("Second", 8)


def duel(level: int = 4, casting_value: int = 8, bonus: int = 0, **caster: Any) -> Game:
    """Return one wizard with two spells against the base dice, perhaps with a bonus to cast."""
    mage = wizard(level, spell("Bolt", casting_value), SECOND, items=["Rod"] if bonus else [])
    rod = {"name": "Rod", "cast_bonus": bonus or 1}
    return game(army(mage, **caster), items=[rod], **miscast())


def test_each_spell_once_a_phase_cast_or_not() -> None:
    battle = duel()
    battle.cast_with("Bolt", 6)
    check(battle, node=Node.NOMINATE, castable={"Second"})
    battle = duel()
    battle.miscast("Bolt")
    check(battle, node=Node.NOMINATE, castable={"Second"})


@pytest.mark.parametrize(("answer", "points"), [((), 10), ((4, 5), 0)])
def test_a_spell_that_was_cast_is_used_up_and_paid_when_it_takes_effect(
    answer: tuple[int, ...], points: int
) -> None:
    """Another wizard may still try the same spell."""
    battle = game(army(wizard(4, BOLT, name="A"), wizard(2, BOLT, name="B")))
    assert battle.cast_with("Bolt", 2, 3, 4, wizard=0) == 0
    battle.dispel(*answer) if answer else battle.let_through()
    assert battle.points == points
    assert not battle.can_cast("Bolt", 0)
    assert battle.can_cast("Bolt", 1)


def test_wizards_may_take_turns() -> None:
    battle = game(army(wizard(2, BOLT, SECOND, name="A"), wizard(2, spell("Other"), name="B")))
    battle.cast_with("Bolt", 2)
    battle.cast_with("Other", 2)
    assert battle.can_cast("Second")


@pytest.mark.parametrize(
    ("level", "dice", "most"), [(1, 9, 2), (2, 9, 3), (3, 9, 4), (4, 9, 5), (4, 3, 3)]
)
def test_most_dice_of_a_level(level: int, dice: int, most: int) -> None:
    """A cast needs a die, and a nomination cannot be taken back."""
    battle = duel(level, power_dice=dice)
    battle.nominate("Bolt")
    assert battle.node == Node.POOL_DICE
    assert battle.legal_actions() == [1 + n for n in range(1, most + 1)]
    assert not duel(level, power_dice=0).is_decision()


@pytest.mark.parametrize(("faces", "value", "bonus", "node", "keys"), [
    ((4, 4), 8, 0, Node.DISPEL, {"mover": 1, "number": 8}),  # equal is enough
    ((4, 3), 8, 0, Node.NOMINATE, {}), ((3,), 3, 5, Node.DISPEL, {"number": 8}),
    ((2,), 3, 5, Node.NOMINATE, {}),  # a natural 1 or 2 fails
    ((1, 5, 1, 6), 8, 0, Node.ROLL_MISCAST, {}), ((6, 1, 6, 1), 8, 0, Node.ROLL_MISCAST, {}),
    ((1, 1, 6), 8, 1, Node.ROLL_MISCAST, {}), ((5, 5), 8, 1, Node.DISPEL, {"number": 11}),
    ((6, 6), 15, 0, Node.NOMINATE, {"points": 10}),  # irresistible below the casting value
    ((6, 5), 8, 1, Node.DISPEL, {}),  # a bonus makes no 6
])  # fmt: skip
def test_results_of_casting_rolls(
    faces: tuple[int, ...], value: int, bonus: int, node: Node, keys: Data
) -> None:
    """The dice are spent with each of them."""
    battle = duel(4, value, bonus)
    battle.cast_with("Bolt", *faces)
    check(battle, node=node, power=6 - len(faces), **keys)


def test_two_sixes_are_irresistible_and_cannot_be_dispelled() -> None:
    battle = game(army(wizard(4, BOLT, SECOND)), army(wizard(4), items=["Dispel Scroll"]))
    assert battle.cast_with("Bolt", 6, 6) == 10
    check(battle, node=Node.NOMINATE, dispel=4)


def test_chances_of_a_casting_roll() -> None:
    """Totals that no answer can match are one result."""
    for dice, results in [(2, [(8, 5), (9, 4), (10, 3), (11, 2)]), (1, [(7, 14)])]:
        battle = game(army(wizard(4, BOLT, SECOND)), army(dispel_dice=dice))
        battle.cast("Bolt", 2)
        chances = {outcome: chance * 36 for outcome, chance in battle.outcomes().items()}
        expected = {outcomes.OUTCOME_CAST + total: rolls for total, rolls in results}
        expected |= {outcomes.OUTCOME_MISCAST: 1, outcomes.OUTCOME_IRRESISTIBLE: 1}
        expected[outcomes.OUTCOME_FAIL] = 20
        assert chances == pytest.approx(expected)


def test_casting_on_ends_with_the_last_die() -> None:
    battle = duel(4, power_dice=2)
    battle.cast_with("Bolt", 2, 3)
    assert battle.is_over


def test_wrong_dice_and_illegal_actions_are_rejected() -> None:
    battle = duel()
    with pytest.raises(ValueError, match="expected one of"):
        battle.act(1)
    battle.nominate("Bolt")
    with pytest.raises(ValueError, match="POOL_DICE"):
        battle.act(1 + 6)
    battle.act(1 + 2)
    for faces in ((1, 2, 3), (0, 3), (7, 3)):
        with pytest.raises(ValueError, match="expected 2 dice"):
            battle.roll(*faces)
