"""Dice thrown one by one: number, order, and the exact probabilities of the node."""

import random
from collections import Counter
from typing import Any

import pytest

from tests.support.builders import Game, aimed, army, game, known, miscast, unit, wizard
from wfb_gym.engine.state import Node

from .enumeration import check_frequencies
from .strategies import throw
from .test_laws import after


def position(name: str, **keys: Any) -> Game:
    """Return a battle before the hits of a spell on a unit with all kinds of saves."""
    foe = {"models": 9, "armour_save": 5, "ward_save": 5, **keys}
    battle = game(army(wizard(4, known(name))), army(units=[unit(**foe)]), phases=4)
    battle.works(name)
    assert battle.node == Node.ROLL_STRIKE
    return battle


def hits_of_a_miscast() -> Game:
    mage = wizard(2, aimed(worth={"points": 1.0}), armour_save=5, ward_save=5, wounds=4)
    house = miscast({"kind": "caster_hits", "dice": "D6", "strength": 5})
    battle = game(army(mage), army(units=[unit()]), phases=4, **house)
    battle.miscast("Strike")
    assert battle.node == Node.ROLL_WOUNDS
    return battle


def drawing() -> Game:
    return game(army({"name": "Mage", "level": 3, "lore": "Death"}), army(units=[unit()]))


def shared(*faces: int) -> Game:
    """Return hits on a small unit with two heroes, after some of the dice."""
    heroes = [{"name": name, "unit": "Spears", "wounds": 3} for name in ("One", "Two")]
    foe = army(units=[unit(models=3)], heroes=heroes)
    battle = game(army(wizard(4, known("Fiery Blast"))), foe, phases=4)
    battle.works("Fiery Blast", "Spears")
    if faces:
        battle.roll(*faces)
    return battle


POSITIONS = {
    "number of shared hits": shared,
    "who takes the odd hits": lambda: shared(3, 4),
    "shared hits on a hero": lambda: shared(5, 5),
    "D6": lambda: position("Fire Ball"),
    "chain": lambda: position("Conflagration of Doom"),
    "doubled by fire": lambda: position("Fire Ball", wounds=3, models=2, traits=["flammable"]),
    "front rank": lambda: position("Wall of Fire"),
    "template": lambda: position("Pit of Shades"),
    "without a roll": lambda: position("Steal Soul"),
    "miscast": hits_of_a_miscast,
    "spells": drawing,
}


@pytest.mark.parametrize("start", POSITIONS.values(), ids=POSITIONS.keys())
def test_thrown_dice_follow_the_exact_chances(start: Any) -> None:
    battle = start()
    die = random.Random(7)
    expected = battle.outcomes()
    before = battle.points
    keys = {after(battle, code): code for code in expected}
    assert len(keys) == len(expected)
    found: Counter[int] = Counter()
    for _ in range(300):
        twin = battle.copy()
        twin.roll(*throw(twin, lambda: die.randint(1, 6)))
        found[keys[twin.key(), twin.points - before]] += 1
    check_frequencies(found, expected)


def test_dice_that_are_missing_as_they_fall() -> None:
    battle = game(army(wizard(4, known("Fire Ball"))), army(units=[unit()]))
    with pytest.raises(ValueError, match="expected a chance node, found NOMINATE"):
        battle.roll(1)
    battle.cast("Fire Ball", 2)
    assert battle.dice_to_roll == 2
    assert (battle.dice_missing(), battle.dice_missing(3), battle.dice_missing(3, 4)) == (2, 1, 0)
    assert hits_of_a_miscast().dice_to_roll is None
    battle = position("Conflagration of Doom")
    assert battle.dice_to_roll is None
    assert battle.dice_missing() == 1
    assert battle.dice_missing(2) == 2
    assert battle.dice_missing(2, 4, 3) == 2  # the caster's 4 beats a 3
    assert battle.dice_missing(2, 4, 3, 1, 1) == 3 * 6
    assert battle.dice_missing(2, 1, 1, *[1] * 6) == 0


@pytest.mark.parametrize(
    ("faces", "message"),
    [
        ((), "expected at least 1 dice with faces 1..6 .for the number of hits."),
        ((2, 1, 1, 1), "expected at least 7 dice .* 3 for each of 2 hits"),
        ((1, 1, 1, 1, 1), "expected 4 dice .* found .1, 1, 1, 1, 1."),
        ((7,), "faces 1..6"),
    ],
)
def test_a_wrong_number_of_dice_is_rejected(faces: tuple[int, ...], message: str) -> None:
    battle = position("Fire Ball")
    before = battle.key()
    with pytest.raises(ValueError, match=message):
        battle.roll(*faces)
    assert battle.key() == before
