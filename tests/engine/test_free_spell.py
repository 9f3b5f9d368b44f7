"""The spell that a miscast gives the opponent, and the one answer to it."""

from collections.abc import Sequence
from typing import Any

import pytest

from tests.support.builders import Data, Game, army, game, lasting, miscast, spell, unit, wizard
from wfb_gym.engine.actions import FIRST_DICE, FIRST_WIZARD, PASS
from wfb_gym.engine.state import Node

from .facts import check


def free(
    *foes: Data,
    limit: str = "any",
    items: Sequence[str] = (),
    effects: Sequence[Data] = (),
    units: Sequence[Data] = (),
    **keys: Any,
) -> Game:
    """Miscast Bolt (8+) with two of four dice; the opponent may cast."""
    mage = wizard(2, spell("Bolt", 8), spell("Second", 8), items=list(items))
    house = miscast({"kind": "free_spell", "limit": limit}, *effects)
    house["rules"].update(keys.pop("rules", {}))
    battle = game(army(mage, units=list(units)), army(*foes), **house, **keys)
    battle.miscast()
    return battle


FOE = wizard(2, spell("Cheap", 8, 25), spell("Dear", 9, 70), name="Foe")


def test_the_opponent_chooses_among_his_spells_or_declines() -> None:
    """It needs no roll, its casting value is to match, and it is not used up."""
    lost = {"kind": "points_lost", "points": 5.0}
    battle = free(FOE, phases=2, effects=[lost])
    check(battle, node=Node.FREE_SPELL, mover=1, castable={"Cheap", "Dear"})
    twin = battle.copy()
    assert twin.act(PASS) == -5  # the row continues
    check(twin, node=Node.NOMINATE, mover=0)
    battle.nominate("Dear")
    check(battle, node=Node.DISPEL, mover=0, number=9)
    assert battle.act(PASS) == -70 - 5
    battle.stop()
    check(battle, active=1, castable={"Cheap", "Dear"})


@pytest.mark.parametrize(
    ("limit", "castable"), [("miscast_value", {"Cheap"}), ("any", {"Cheap", "Dear"})]
)
def test_the_limit_is_the_value_of_the_spell_that_miscast(limit: str, castable: set[str]) -> None:
    check(free(FOE, limit=limit), castable=castable)
    battle = free(wizard(2, spell("Dear", 9)), limit="miscast_value")
    check(battle, node=Node.NOMINATE, points=0)  # without a spell low enough nothing happens


def test_the_one_answer_is_rolled_with_power_dice_or_a_scroll() -> None:
    battle = free(FOE, items=["Dispel Scroll"])
    battle.nominate("Dear")
    rolled, failed = battle.copy(), battle.copy()
    battle.use("Dispel Scroll")
    check(battle, points=0, node=Node.NOMINATE, power=2)
    rolled.dispel(5, 4)
    assert rolled.points == 0
    assert rolled.is_over  # two dice for Bolt, two for the answer
    failed.dispel(4)  # an answer that fails costs its dice
    check(failed, points=-70, power=1, node=Node.NOMINATE)


def test_an_item_may_make_its_caster_forget_it() -> None:
    foe = wizard(2, spell("Cheap", 8), spell("Dear", 9), spell("Dearer", 10), name="Foe")
    battle = free(foe, items=["Seal of Destruction"], phases=2)
    battle.nominate("Dear")
    battle.use("Seal of Destruction")
    battle.roll(4)
    battle.pass_until(1)
    check(battle, mover=1, castable={"Cheap", "Dearer"})


@pytest.mark.parametrize("status", ["fleeing", "off_table", "dead"])
def test_a_wizard_who_cannot_cast_cannot_use_it(status: str) -> None:
    battle = free({**FOE, "status": status})
    check(battle, node=Node.NOMINATE, mover=0)


def test_it_ends_what_its_caster_kept_in_play() -> None:
    foe = wizard(2, spell("Cheap", 5), lasting("Curse", in_play=True), name="Foe")
    other = wizard(2, lasting("Veil", in_play=True), name="Other")
    battle = free(foe, other)
    battle.nominate("Cheap")
    assert not battle.is_in_play("Curse", 1)
    assert battle.is_in_play("Veil", 1)


@pytest.mark.parametrize(("recast", "allowed"), [("side", False), ("caster", True)])
def test_a_spell_in_play_cannot_be_the_free_spell(recast: str, allowed: bool) -> None:
    keeper = wizard(2, lasting("Curse", in_play=True), name="Keeper")
    other = wizard(2, lasting("Curse"), name="Other")
    battle = free(keeper, other, rules={"in_play_recast": recast})
    assert (battle.node == Node.FREE_SPELL) == allowed
    if allowed:
        assert battle.can_cast("Curse", 1)
        assert not battle.can_cast("Curse", 0)


def test_a_free_spells_aim_is_cleared_before_the_next_effect() -> None:
    foe, hit = wizard(2, {"name": "Fire Ball"}, name="Foe"), {"kind": "caster_hit", "strength": 4}
    battle = free(foe, effects=[hit], units=[unit()])
    battle.nominate("Fire Ball")
    battle.aim("Spears")
    assert battle.state.free_aim > 0
    battle.act(PASS)
    battle.resolve(battle.chance_outcomes()[0][0])  # wounds
    check(battle, node=Node.ROLL_HIT)
    assert battle.state.free_aim == 0


def test_it_can_be_dispelled_in_a_later_phase_and_not_at_the_end_of_this_one() -> None:
    curse = lasting("Curse", 5, 0, worth_per_phase=5)
    battle = free(wizard(2, curse, spell("Reply"), name="Foe"), phases=2)
    battle.nominate("Curse")
    battle.act(PASS)
    assert battle.is_in_play("Curse", 1)
    battle.stop()
    check(battle, phase=1, points=-5)
    battle.stop()
    check(battle, node=Node.IN_PLAY, mover=0)
    assert battle.can(battle.in_play_action("Curse", 1))


def test_the_miscast_wizards_own_dice_may_join_the_answer() -> None:
    battle = free(FOE, items=["Jewel of the Dusk"])
    battle.nominate("Dear")
    assert battle.can(FIRST_WIZARD)
    battle.act(FIRST_WIZARD)
    battle.act(FIRST_DICE + 2)
    assert battle.dice_to_roll == 3
    battle.roll(3, 3, 3)
    assert battle.points == 0
