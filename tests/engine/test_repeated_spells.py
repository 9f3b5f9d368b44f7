"""Spells that a wizard may attempt several times in a phase."""

from typing import Any

import pytest

from tests.support.builders import Game, aimed, army, game, miscast, spell, unit, wizard

from .titles import cast_with, castable, nominate

SIGIL = {"name": "Sigil", "uses": 1, "when_dispelling": {"automatic": True, "forgotten_on": 4}}
"""An item that dispels a spell and makes its caster forget it on a 4+."""


def repeated(casts: int = 3, power: int = 6, **keys: Any) -> Game:
    return game(army(wizard(4, spell(casts=casts), spell("Dart")), power_dice=power), **keys)


def test_each_attempt_is_counted_and_the_next_follows() -> None:
    battle = repeated(dispeller=army(dispel_dice=0))
    points = 0.0
    for cast in (1, 2, 3):
        title = f"Bolt (5+), cast {cast} of 3"
        assert castable(battle) == [title, "Dart (5+)"]
        points += cast_with(battle, title, 5)
    assert points == 30
    assert castable(battle) == ["Dart (5+)"]


def test_all_casts_return_in_the_next_phase() -> None:
    battle = repeated(casts=2, power=2, phases=3)
    cast_with(battle, "Bolt (5+), cast 1 of 2", 1)
    battle.pass_until(2)
    assert castable(battle) == ["Bolt (5+), cast 1 of 2", "Dart (5+)"]


@pytest.mark.parametrize("phases", [1, 3])
@pytest.mark.parametrize(("die", "left"), [(4, []), (3, ["Bolt (5+), cast 2 of 2"])])
def test_a_forgotten_spell_has_no_casts_left(phases: int, die: int, left: list[str]) -> None:
    foes = army(items=["Sigil"])
    battle = repeated(casts=2, dispeller=foes, items=[SIGIL], phases=phases)
    cast_with(battle, "Bolt (5+), cast 1 of 2", 5)
    battle.use("Sigil")
    battle.roll(die)
    assert castable(battle) == [*left, "Dart (5+)"]


def test_a_spell_forgotten_in_a_miscast_has_no_casts_left() -> None:
    battle = repeated(**miscast({"kind": "spell_forgotten", "whose": "caster"}))
    cast_with(battle, "Bolt (5+), cast 1 of 3", 1, 1)
    battle.roll(3, 4)
    assert castable(battle) == ["Dart (5+)"]


def test_a_free_spell_is_offered_once() -> None:
    foes = army(wizard(2, spell("Jolt", casts=3), name="Foe"), dispel_dice=0)
    battle = repeated(dispeller=foes, **miscast({"kind": "free_spell", "limit": "any"}))
    cast_with(battle, "Bolt (5+), cast 1 of 3", 1, 1)
    battle.roll(3, 4)
    assert castable(battle) == ["Jolt (5+), cast 1 of 3"]


def test_a_one_turn_spell_is_cast_at_several_targets_once_each() -> None:
    fog = aimed("Fog", duration="one_turn", worth={"points_per_phase": 5.0}, casts=3)
    foes = army(units=[unit("Spears"), unit("Bows")], dispel_dice=0)
    battle = game(army(wizard(4, fog), power_dice=6), foes)
    for cast in (1, 2):
        cast_with(battle, f"Fog (5+), cast {cast} of 3", 5)
    assert castable(battle) == []  # no target is left


def test_an_item_may_hold_several_casts_in_a_phase() -> None:
    bolt = {"name": "Bolt", "worth": 10.0, "casts": 2}
    stone = {"name": "Stone", "bound": {"power_level": 4, "spell": bolt}}
    battle = game(army(heroes=[{"name": "Captain", "items": ["Stone"]}]), items=[stone])
    for cast in (1, 2):
        nominate(battle, f"Bolt (power level 4), cast {cast} of 2")
        battle.let_through()
    assert battle.points == 20
    assert battle.is_over
