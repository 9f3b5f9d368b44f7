"""The spell that a miscast gives the opponent, and the one answer to it."""

from collections.abc import Sequence
from typing import Any

import pytest

from tests.support.builders import PASS, Data, Game, army, game, lasting, miscast, spell, wizard
from wfb_gym.engine import actions
from wfb_gym.engine.state import Node

from .facts import check


def free(*foes: Data, limit: str = "any", items: Sequence[str] = (), **keys: Any) -> Game:
    """Miscast Bolt (8+) with two of four dice; the opponent may cast."""
    mage = wizard(2, spell("Bolt", 8), spell("Second", 8), items=list(items))
    house = miscast({"kind": "free_spell", "limit": limit})
    house["rules"].update(keys.pop("rules", {}))
    battle = game(army(mage), army(*foes), **house, **keys)
    battle.miscast()
    return battle


def answered(name: str, *faces: int, **keys: Any) -> Game:
    """Return a battle after a free spell, and an answer with these dice, if any."""
    battle = free(FOE, **keys)
    battle.nominate(name)
    if faces:
        battle.dispel(*faces)
    else:
        battle.act(PASS)
    return battle


CURSE = lasting("Curse", 5, 0, worth_per_phase=5)
FOE = wizard(2, spell("Cheap", 8, 25), spell("Dear", 9, 70), name="Foe")


def test_the_opponent_chooses_among_his_spells_or_declines() -> None:
    battle = free(FOE)
    assert (battle.node, battle.mover) == (Node.FREE_SPELL, 1)
    assert len(battle.legal_actions()) == 3
    assert battle.act(PASS) == 0
    assert (battle.node, battle.mover) == (Node.NOMINATE, 0)


@pytest.mark.parametrize(("limit", "dear"), [("miscast_value", False), ("any", True)])
def test_the_limit_is_the_value_of_the_spell_that_miscast(limit: str, dear: bool) -> None:
    battle = free(FOE, limit=limit)
    assert battle.can_cast("Cheap")
    assert battle.can_cast("Dear") == dear


def test_it_needs_no_roll_and_its_casting_value_is_to_match() -> None:
    battle = free(FOE)
    battle.nominate("Dear")
    check(battle, node=Node.DISPEL, mover=0, number=9)
    assert battle.act(PASS) == -70
    assert battle.node == Node.NOMINATE


def test_the_answer_is_rolled_with_power_dice() -> None:
    battle = answered("Cheap", 4, 4)
    assert battle.points == 0
    assert battle.is_over  # two dice for Bolt, two for the answer
    battle = answered("Dear", 4)  # an answer that fails costs its dice
    check(battle, points=-70, power=1)


def test_the_answer_may_be_a_scroll() -> None:
    battle = free(FOE, items=["Dispel Scroll"])
    battle.nominate("Dear")
    battle.use("Dispel Scroll")
    check(battle, points=0, node=Node.NOMINATE, power=2)


def test_there_is_one_answer() -> None:
    battle = answered("Dear", 2, items=["Dispel Scroll"])
    check(battle, points=-70, node=Node.NOMINATE)


@pytest.mark.parametrize("status", ["fleeing", "off_table", "dead"])
def test_a_wizard_who_cannot_cast_cannot_use_it(status: str) -> None:
    battle = free({**FOE, "status": status})
    check(battle, node=Node.NOMINATE, mover=0)


def test_without_a_spell_low_enough_nothing_happens() -> None:
    battle = free(wizard(2, spell("Dear", 9)), limit="miscast_value")
    assert (battle.node, battle.points) == (Node.NOMINATE, 0)


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


def test_it_cannot_be_dispelled_at_the_end_of_the_phase() -> None:
    battle = free(wizard(2, CURSE, name="Foe"))
    battle.nominate("Curse")
    battle.act(PASS)
    assert battle.is_in_play("Curse", 1)
    battle.stop()
    check(battle, node=Node.END, points=-5)


def test_it_can_be_dispelled_in_a_later_phase() -> None:
    battle = free(wizard(2, CURSE, spell("Reply"), name="Foe"), phases=2)
    battle.nominate("Curse")
    battle.act(PASS)
    battle.stop()
    battle.stop()
    assert (battle.node, battle.mover) == (Node.IN_PLAY, 0)
    assert battle.can(battle.in_play_action("Curse", 1))


def test_the_miscast_wizards_own_dice_may_join_the_answer() -> None:
    battle = free(FOE, items=["Jewel of the Dusk"])
    battle.nominate("Dear")
    assert battle.can(actions.FIRST_WIZARD)
    battle.act(actions.FIRST_WIZARD)
    battle.act(actions.FIRST_DICE + 2)
    assert battle.dice_to_roll == 3
    battle.roll(3, 3, 3)
    assert battle.points == 0


def test_the_row_continues_after_it() -> None:
    house = miscast({"kind": "free_spell"}, {"kind": "points_lost", "points": 5.0})
    battle = game(army(wizard(2, spell("Bolt", 8), spell("Second"))), army(FOE), **house)
    battle.miscast()
    battle.nominate("Cheap")
    assert battle.act(PASS) == -30


def test_it_is_not_used_up_for_his_own_phase() -> None:
    battle = answered("Cheap", phases=2)
    battle.stop()
    assert battle.active == 1
    assert battle.can_cast("Cheap")
