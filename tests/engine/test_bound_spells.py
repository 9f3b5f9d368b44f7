"""Bound spells of items: no dice, no roll, a power level to match."""

from collections.abc import Sequence
from typing import Any

import pytest

from tests.support.builders import (
    PASS,
    Data,
    Game,
    army,
    game,
    known,
    lasting,
    miscast,
    spell,
    unit,
    wizard,
)
from wfb_gym.engine import actions
from wfb_gym.engine.state import Node
from wfb_gym.packing.records import Lock

from .facts import check

RING = "Ring of Flame"
COLD = {"name": "Cold", "target": "enemy_unit", "worth": {"points": 9.0}}
SECOND = spell("Second")


def bearer(
    dice: int = 2, mages: Sequence[Data] = (), uses: int = 0, power: int = 0, **keys: Any
) -> Game:
    """Return a hero with the stone, and a wizard without power dice."""
    hero = {"name": "Captain", "items": ["Stone"], **keys.pop("hero", {})}
    side = army(*mages, heroes=keys.pop("heroes", [hero]), power_dice=power)
    foes = army(
        units=[unit(**keys.pop("foe", {}))], dispel_dice=dice, items=keys.pop("scrolls", [])
    )
    stone = {"name": "Stone", "bound": {"power_level": 4, "uses": uses, "spell": COLD}}
    return game(side, foes, items=[stone], **{"phases": 4, **keys})


def test_a_bound_spell_needs_no_power_dice() -> None:
    battle = bearer()
    assert battle.state.power == 0
    battle.nominate("Cold")
    assert battle.node == Node.DISPEL


def test_its_power_level_is_the_number_to_match() -> None:
    battle = bearer()
    battle.nominate("Cold")
    assert battle.state.number == 4
    battle.dispel(1, 3)
    assert battle.points == 0
    battle = bearer()
    battle.nominate("Cold")
    battle.dispel(1, 2)
    assert battle.points == 9


def test_a_bearer_off_the_table_cannot_use_it() -> None:
    assert bearer().can_cast("Cold")
    battle = bearer(mages=[wizard(4, spell())], power=2, hero={"status": "off_table"})
    assert not battle.can_cast("Cold")


def test_without_an_answer_it_works_at_once() -> None:
    battle = bearer(dice=0)
    battle.nominate("Cold")
    assert battle.points == 9


@pytest.mark.parametrize("item", [
    "Dispel Scroll", "Rune of Spellbreaking", "Seal of Destruction", "Sigil of Asuryan",
    "Spelleater Rune",
])  # fmt: skip
def test_items_stop_it_as_it_is_never_irresistible(item: str) -> None:
    battle = bearer(dice=0, scrolls=[item])
    battle.nominate("Cold")
    battle.use(item)
    assert battle.points == 0


def test_a_bound_spell_once_in_each_phase() -> None:
    battle = bearer(dice=0)
    battle.nominate("Cold")
    assert battle.state.phase == 2
    assert battle.can_cast("Cold")


def test_each_bearer_of_the_item_has_its_own() -> None:
    battle = bearer(0, heroes=[{"name": name, "items": [RING]} for name in ("Captain", "Priest")])
    battle.nominate("Fire Ball")
    battle.roll(1, 1, 1, 1)
    assert battle.state.phase == 0
    battle.act(battle.legal_actions()[-1])
    assert battle.node == Node.ROLL_STRIKE


@pytest.mark.parametrize("uses", [1, 2])
def test_counted_uses_are_spent_for_the_battle(uses: int) -> None:
    battle = bearer(dice=0, uses=uses)
    for _ in range(uses):
        battle.nominate("Cold")
    assert battle.is_over


def miscast_by_bearer(effect: Data, phases: int = 4) -> Game:
    """Return a battle in which the bearer, a wizard, has miscast."""
    mage = wizard(2, spell("Bolt"), SECOND, items=["Stone"])
    battle = bearer(0, mages=[mage], power=4, heroes=[], phases=phases, **miscast(effect))
    battle.miscast()
    return battle


def locked(bars_items: bool) -> Game:
    """Return the same, after a miscast that locks the bearer."""
    lock = {"kind": "locked", "until": "own_next_phase", "bars_items": bars_items}
    return miscast_by_bearer(lock, phases=1)


def test_a_locked_wizard_uses_it_all_the_same() -> None:
    battle = locked(bars_items=False)
    assert not battle.can_cast("Second")
    battle.nominate("Cold")
    assert battle.points == 9


def test_a_wizard_whose_items_are_barred_does_not() -> None:
    assert locked(bars_items=True).is_over


@pytest.mark.parametrize("status", ["fleeing", "dead"])
def test_the_fleeing_and_the_dead_use_none(status: str) -> None:
    battle = bearer(hero={"status": status})
    if status == "fleeing":  # its only action is the attempt to rally
        assert (battle.node, int(battle.state.phase)) == (Node.ROLL_RALLY, 2)
        while battle.node == Node.ROLL_RALLY:
            battle.roll(6, 6)
    assert battle.is_over


def test_it_goes_with_its_bearer() -> None:
    assert miscast_by_bearer({"kind": "caster_removed"}).is_over


def test_it_does_not_end_what_its_bearer_keeps_in_play() -> None:
    battle = bearer(0, mages=[wizard(2, lasting(in_play=True), items=["Stone"])], heroes=[])
    battle.nominate("Cold")
    assert battle.is_in_play("Ward", 0)


def test_it_is_no_free_spell_of_a_miscast() -> None:
    foe = army(wizard(1, spell("Reply", 3), items=[RING], name="Foe"))
    side = army(wizard(1, spell("Bolt"), spell("Second")), units=[unit()])
    battle = game(side, foe, **miscast({"kind": "free_spell"}))
    battle.miscast()
    assert battle.node == Node.FREE_SPELL
    assert battle.can_cast("Reply")
    assert not battle.can_cast("Fire Ball")


def test_it_does_not_depend_on_a_locked_wizard() -> None:
    battle = bearer(mages=(wizard(1, known("Fire Ball")),), power=0)
    battle.state.lock[0, 0] = Lock.BATTLE_END
    assert battle.can_cast("Cold")


def test_it_may_stay_unused() -> None:
    battle = bearer()
    battle.act(PASS)
    assert battle.state.phase == 2


def test_a_ring_of_flame_holds_a_fire_ball() -> None:
    battle = bearer(hero={"items": [RING]})
    battle.nominate("Fire Ball")
    assert battle.state.number == 3
    assert battle.act(PASS) == 0
    assert battle.node == Node.ROLL_STRIKE
    assert battle.roll(1, 6, 1, 1) == 6


def test_a_magic_resistance_stops_it_like_any_spell() -> None:
    battle = bearer(0, hero={"items": [RING]}, foe={"magic_resistance": 1}, phases=1)
    battle.nominate("Fire Ball")
    battle.act(actions.FIRST_DICE)
    battle.roll(3)
    check(battle, points=0, node=Node.END)
