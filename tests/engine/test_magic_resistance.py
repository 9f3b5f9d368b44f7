"""Magic Resistance: dispel dice of a target against enemy spells."""

from collections.abc import Sequence
from typing import Any

import pytest

from tests.support.builders import Game, aimed, army, game, known, miscast, spell, unit, wizard
from wfb_gym.engine import actions
from wfb_gym.engine.state import Node

from .facts import check

NO_DICE = actions.FIRST_DICE


def resisting(dice: int = 0, own: str = "Fire Ball", heroes: Sequence[Any] = ()) -> Game:
    """Return a unit with Magic Resistance 2 and a plain one, against Fire Balls."""
    foes = [unit("Warded", 10, magic_resistance=2), unit("Plain", 10)]
    mage = wizard(4, known(own), known("Forked Lightning"))
    return game(army(mage, power_dice=9), army(units=foes, dispel_dice=dice, heroes=list(heroes)))


def cast_at(battle: Game, name: str, target: str) -> None:
    battle.nominate(name)
    battle.aim(target)
    battle.act(actions.FIRST_DICE + 2)
    battle.roll(3, 4)


def test_a_comet_meets_no_magic_resistance() -> None:
    foes = [unit("Warded", 10, magic_resistance=2)]
    mage = wizard(4, known("The Comet of Casandora"))
    battle = game(army(mage, power_dice=9), army(units=foes, dispel_dice=1), phases=4)
    battle.nominate("The Comet of Casandora")
    battle.act(actions.FIRST_DICE + 4)
    battle.roll(3, 3, 4, 5)
    assert battle.node == Node.DISPEL
    assert not battle.can(NO_DICE)
    battle.act(actions.FIRST_DICE + 1)
    assert battle.dice_to_roll == 1


def test_its_dice_join_those_of_the_pool_and_are_not_taken_from_it() -> None:
    """They help against every spell of the phase, and they are enough by themselves."""
    battle = resisting(dice=1)
    cast_at(battle, "Fire Ball", "Warded")
    assert battle.state.dispel == 1
    assert battle.legal_actions() == [actions.PASS, NO_DICE, NO_DICE + 1]
    battle.act(NO_DICE + 1)
    assert battle.dice_to_roll == 3
    assert battle.state.dispel == 0
    battle.roll(2, 2, 3)
    check(battle, points=0, node=Node.NOMINATE)
    cast_at(battle, "Forked Lightning", "Warded")
    assert battle.legal_actions() == [actions.PASS, NO_DICE]
    battle.act(NO_DICE)
    assert battle.dice_to_roll == 2
    battle.roll(3, 4)
    check(battle, points=0)


def test_it_helps_no_other_unit_and_not_against_irresistible_force() -> None:
    battle = resisting(dice=1)
    twin = battle.copy()
    cast_at(battle, "Fire Ball", "Plain")
    assert battle.legal_actions() == [actions.PASS, NO_DICE + 1]
    battle.act(NO_DICE + 1)
    assert battle.dice_to_roll == 1
    twin.works("Fire Ball", "Warded")
    assert twin.node == Node.ROLL_STRIKE


def test_spells_of_friends_and_of_areas_meet_none() -> None:
    mage = wizard(4, known("Pelt of Midnight"), known("Storm of Cronos"), unit="Warded")
    own = army(mage, units=[unit("Warded", magic_resistance=3)])
    foes = army(units=[unit("Other", magic_resistance=2)], dispel_dice=0)
    for name in ("Pelt of Midnight", "Storm of Cronos"):
        battle = game(own, foes)
        battle.cast_with(name, 3, 4, 5)
        assert battle.node != Node.DISPEL


@pytest.mark.parametrize(("target", "own", "alive", "models", "dice"), [
    ("Warded", 3, 1, 10, 3), ("Warded", 3, 0, 10, 2),
    ("Captain", 1, 1, 10, 2), ("Captain", 1, 1, 0, 1),
])  # fmt: skip
def test_the_highest_of_a_unit_and_the_characters_in_it_counts(
    target: str, own: int, alive: int, models: int, dice: int
) -> None:
    spell = "Fire Ball" if target == "Warded" else "Rule of Burning Iron"
    hero = {"name": "Captain", "unit": "Warded", "magic_resistance": own}
    battle = resisting(own=spell, heroes=[hero])
    battle.state.wounds[1, 0] *= alive
    battle.state.unit_wounds[1, 0] = models
    cast_at(battle, spell, target)
    battle.act(NO_DICE)
    assert battle.dice_to_roll == dice


def test_it_does_not_help_against_a_spell_in_play() -> None:
    held = aimed("Chill", duration="remains_in_play", worth={"points_per_phase": 3.0})
    held |= {"in_play": True, "in_play_on": "Warded"}
    foes = army(units=[unit("Warded", magic_resistance=2)], dispel_dice=1)
    battle = game(army(wizard(1, held), wizard(1, spell(), name="Other")), foes)
    battle.stop()
    battle.try_in_play("Chill", 0)
    assert battle.dice_to_roll == 1  # the only possible number of dice


def test_it_helps_against_the_free_spell_of_a_miscast() -> None:
    mage = wizard(1, spell("Bolt"), unit="Warded")
    own = army(mage, units=[unit("Warded", magic_resistance=2)], power_dice=2)
    foe = army(wizard(2, known("Pelt of Midnight"), known("Fire Ball"), name="Foe"))
    battle = game(own, foe, **miscast({"kind": "free_spell"}))
    battle.miscast()
    battle.nominate("Fire Ball")
    assert (battle.node, battle.mover) == (Node.DISPEL, 0)
    battle.act(NO_DICE)
    assert battle.dice_to_roll == 2
