"""Bound spells of items: no dice, no roll, a power level to match."""

from collections.abc import Sequence
from typing import Any

import pytest

from tests.support.builders import Data, Game, army, game, lasting, miscast, spell, unit, wizard
from wfb_gym.engine import actions
from wfb_gym.engine.state import Node

from .facts import check

RING = "Ring of Flame"
COLD = {"name": "Cold", "target": "enemy_unit", "worth": {"points": 9.0}}
MAGE = wizard(2, spell("Bolt"), spell("Second"), items=["Stone"])


def bearer(
    dice: int = 2, mages: Sequence[Data] = (), uses: int = 0, power: int = 0, **keys: Any
) -> Game:
    hero = {"name": "Captain", "items": ["Stone"], **keys.pop("hero", {})}
    side = army(*mages, heroes=keys.pop("heroes", [hero]), power_dice=power)
    foe, scrolls = unit(**keys.pop("foe", {})), keys.pop("scrolls", [])
    foes = army(units=[foe], dispel_dice=dice, items=scrolls)
    bound = {"power_level": 4, "uses": uses, "spell": keys.pop("bound", COLD)}
    return game(side, foes, items=[{"name": "Stone", "bound": bound}], **{"phases": 4, **keys})


@pytest.mark.parametrize(("faces", "points"), [((1, 3), 0), ((1, 2), 9)])
def test_a_bound_spell_needs_no_power_dice_and_its_power_level_is_the_number_to_match(
    faces: tuple[int, ...], points: int
) -> None:
    battle = bearer()
    assert battle.state.power == 0
    twin = battle.copy()
    battle.nominate("Cold")
    check(battle, node=Node.DISPEL, number=4)
    battle.dispel(*faces)
    assert battle.points == points
    twin.act(actions.PASS)
    assert twin.state.phase == 2  # it may stay unused


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
    battle.nominate("Cold")  # and works at once, without an answer
    check(battle, phase=2, castable={"Cold"}, points=9)
    battle = bearer(dice=0, uses=1)
    battle.nominate("Cold")
    assert battle.is_over  # its use is spent


@pytest.mark.parametrize(
    ("effect", "keys", "uses"),
    [
        ("locked", {"until": "own_next_phase", "bars_items": False}, True),
        ("locked", {"until": "own_next_phase", "bars_items": True}, False),
        ("caster_removed", {}, False),
    ],
)
def test_a_locked_wizard_uses_it_all_the_same(effect: str, keys: Data, uses: bool) -> None:
    house = miscast({"kind": effect, **keys})
    battle = bearer(0, mages=[MAGE], power=4, heroes=[], phases=1, **house)
    battle.miscast()
    assert battle.is_over is not uses
    if uses:
        check(battle, castable={"Cold"})
        battle.nominate("Cold")
        assert battle.points == 9


@pytest.mark.parametrize("status", ["fleeing", "dead", "off_table"])
def test_the_fleeing_the_dead_and_those_off_the_table_use_none(status: str) -> None:
    battle = bearer(mages=[wizard(4, spell())], power=2, hero={"status": status}, phases=1)
    check(battle, castable={"Bolt"})


def test_it_does_not_end_what_its_bearer_keeps_in_play() -> None:
    battle = bearer(0, mages=[wizard(2, lasting(in_play=True), items=["Stone"])], heroes=[])
    battle.nominate("Cold")
    assert battle.is_in_play("Ward", 0)


def test_it_ends_if_its_bearer_is_removed() -> None:
    ward = {"name": "Ward", "worth": 1.0, "duration": "remains_in_play"}
    house = miscast({"kind": "caster_removed"})
    battle = bearer(mages=[MAGE], power=4, heroes=[], bound=ward, **house)
    battle.nominate("Ward")
    battle.let_through()
    assert battle.is_in_play("Ward", 0)
    battle.miscast()
    assert not battle.is_in_play("Ward", 0)


def test_it_is_no_free_spell_of_a_miscast() -> None:
    foe = army(wizard(1, spell("Reply", 3), items=[RING], name="Foe"))
    side = army(wizard(1, spell("Bolt"), spell("Second")), units=[unit()])
    battle = game(side, foe, **miscast({"kind": "free_spell"}))
    battle.miscast()
    assert battle.node == Node.FREE_SPELL
    assert battle.can_cast("Reply")
    assert not battle.can_cast("Fire Ball")


def test_a_ring_of_flame_holds_a_fire_ball() -> None:
    """Each bearer has its own, and Magic Resistance serves against both."""
    rings = [{"name": name, "items": [RING]} for name in ("Captain", "Priest")]
    battle = bearer(0, heroes=rings, foe={"magic_resistance": 1}, phases=1)
    battle.nominate("Fire Ball")
    assert battle.state.number == 3
    assert battle.act(actions.PASS) == 0
    assert battle.node == Node.ROLL_STRIKE
    assert battle.roll(1, 6, 1, 1) == 6
    battle.act(battle.legal_actions()[-1])
    battle.act(actions.FIRST_DICE)
    battle.roll(3)
    check(battle, points=6, node=Node.END)
