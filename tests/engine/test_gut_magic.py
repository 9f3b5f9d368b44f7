"""The miscast table of the Ogres' Gut Magic: one D6, row by row."""

from fractions import Fraction as F
from typing import Any

import pytest

from tests.support.builders import Game, army, game, lasting, spell, unit, wizard
from wfb_gym.engine.state import Node
from wfb_gym.packing.records import Lock

from .enumeration import wounds_of_d6_hits
from .facts import check


def butchers(face: int, **keys: Any) -> Game:
    """Return three Butchers of 4 wounds and 120 points; the first has miscast with that D6."""
    common = {"wounds": 4, "points": 120.0}
    mages = [
        wizard(2, spell("Bonecrusher"), spell(f"Spell of {name}"), name=name, **common)
        for name in "ABC"
    ]
    mages[0]["spells"].append(lasting("Gut", in_play=True))
    mages[0] |= keys
    side = army(*mages, power_dice=9, miscast_table="gut-magic", units=[unit("Bulls", 6)])
    battle = game(side, army(dispel_dice=0), phases=3)
    battle.cast_with("Bonecrusher", 1, 1, wizard=0)
    assert list(battle.outcomes().values()) == pytest.approx([1 / 6] * 6)
    battle.roll(face)
    return battle


def test_row_1_kills_the_caster_and_wounds_the_other_butchers() -> None:
    contact = [{"side": "own", "models": 2, "points": 7.0}]
    battle = butchers(1, base_contact=contact)
    check(battle, points=-120, node=Node.ROLL_HIT)
    assert battle.outcomes() == pytest.approx({0: 1 / 9, 1: 4 / 9, 2: 4 / 9})  # Strength 4
    assert battle.roll(6, 1, 1, 1, 1, 1) == -7
    assert battle.node == Node.ROLL_WOUNDS
    assert battle.outcomes() == pytest.approx({1: 1 / 3, 2: 1 / 3, 3: 1 / 3})
    assert battle.roll(3) == -60  # a D3: 3 and 4 count as 2
    assert battle.roll(6) == -90
    assert list(battle.state.wounds[0][:3]) == [0, 2, 1]
    assert battle.can_cast("Spell of B")


def test_row_2_hits_the_caster_and_he_casts_no_more_in_the_battle() -> None:
    battle = butchers(2)
    assert battle.node == Node.ROLL_WOUNDS
    wounds = wounds_of_d6_hits(F(2, 3), most=4)
    assert battle.mean() == pytest.approx(float(-30 * sum(k * p for k, p in wounds.items())))
    assert battle.roll(3, 6, 1, 1, 2, 1, 1, 3, 1, 1) == -60  # wounds on 3 or more
    assert battle.state.lock[0, 0] == Lock.BATTLE_END
    assert not battle.can_cast("Spell of A")
    assert battle.can_cast("Spell of B")
    battle.pass_until(2)
    assert not battle.can_cast("Spell of A")


def test_the_hits_of_row_2_may_be_saved_by_armour() -> None:
    battle = butchers(2, armour_save=4)
    assert battle.roll(2, 6, 4, 1, 6, 5, 1) == -30  # Strength 4: saved on a 5 or more
    assert battle.state.wounds[0, 0] == 3


def test_row_3_wounds_the_caster_and_row_6_does_nothing_to_the_magic_phase() -> None:
    battle = butchers(3)
    assert battle.roll(2) == -30
    assert battle.state.wounds[0, 0] == 3
    assert battle.can_cast("Spell of A")
    battle = butchers(3, wounds=2)  # wounds beyond his own are one outcome
    assert battle.outcomes() == pytest.approx({1: 1 / 3, 2: 2 / 3})
    assert battle.roll(6) == -120
    assert not battle.is_in_play("Gut", 0)
    battle = butchers(6)
    check(battle, node=Node.NOMINATE, points=0)
    assert battle.can_cast("Spell of A")


def test_row_4_takes_the_spell_from_all_butchers() -> None:
    battle = butchers(4)
    for index in range(3):
        assert not battle.can_cast("Bonecrusher", index)
    assert battle.can_cast("Spell of A")
    battle.pass_until(2)
    assert not battle.can_cast("Bonecrusher", 1)


def test_row_5_hits_those_in_contact_without_armour() -> None:
    contact = [{"side": "own", "models": 1, "points": 7.0, "armour_save": 2}]
    battle = butchers(5, base_contact=contact)
    assert battle.outcomes() == pytest.approx({0: 4 / 6, 1: 2 / 6})  # Strength 2 on Toughness 3
    assert battle.roll(5, 6, 1) == -7
    # three models of his own unit touch him while it has three
    battle = butchers(5, unit="Bulls")
    twin = battle.copy()
    assert battle.dice_to_roll == 9
    assert battle.roll(*(6, 1, 1) * 2, 1, 1, 1) == -12
    assert battle.units_left(0) == [4]
    twin.state.unit_wounds[0, 0] = 2
    assert twin.dice_to_roll == 6
