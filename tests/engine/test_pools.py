"""Generation of power and dispel dice."""

from typing import Any

import pytest

from tests.support.builders import Data, army, game, lasting, spell, wizard
from wfb_gym.engine.queries import dispel_bonus
from wfb_gym.engine.state import Node

from .facts import check

BOLT = spell()
FAMILIAR, JEWEL, BALANCE = "Power Familiar", "Jewel of the Dusk", "Master Rune of Balance"


def pools(caster: Data, dispeller: Data | None = None, **keys: Any) -> tuple[int, int]:
    battle = game(caster, dispeller, **keys)
    assert battle.node == Node.NOMINATE
    return int(battle.state.power), int(battle.state.dispel)


def mages(*levels: int, **keys: Any) -> list[Data]:
    return [wizard(n, BOLT, name=f"Mage {i}", **keys) for i, n in enumerate(levels)]


@pytest.mark.parametrize(("level", "power", "dispel"), [(1, 3, 3), (2, 4, 3), (3, 5, 4), (4, 6, 4)])
def test_dice_of_a_level(level: int, power: int, dispel: int) -> None:
    side = army(wizard(level, BOLT))
    assert pools(side, side) == (power, dispel)
    assert pools(side, army())[1] == 2  # without any wizard


@pytest.mark.parametrize(("level", "keys", "dice"), [
    (4, {}, (8, 6)),  # wizards add up
    (4, {"status": "fleeing"}, (4, 4)), (4, {"status": "dead"}, (4, 4)),
    (1, {"items": [FAMILIAR]}, (6, 6)), (1, {"status": "dead", "items": [FAMILIAR]}, (4, 4)),
    (1, {"status": "fleeing", "items": [FAMILIAR]}, (5, 5)),
])  # fmt: skip
def test_fleeing_and_dead_wizards_make_no_dice_and_items_of_the_dead(
    level: int, keys: Data, dice: tuple[int, int]
) -> None:
    """There are two other wizards of level 1."""
    side = army(*mages(1, 1), wizard(level, BOLT, name="Third", **keys))
    assert pools(side, side) == dice


def test_a_rallied_wizard_acts_as_normal_and_a_fleeing_one_cannot_cast() -> None:
    runner = wizard(4, spell("Panic"), status="fleeing", name="Runner")
    side = army(wizard(4, BOLT, status="rallied"), runner)
    assert pools(side, side) == (6, 4)
    check(game(side), castable={"Bolt"})


@pytest.mark.parametrize("ruleset", ["6e", "7e"])
def test_a_wizard_off_the_table_makes_no_dice_and_its_items_are_away(ruleset: str) -> None:
    items = [FAMILIAR, JEWEL, "Staff of Sorcery", BALANCE]
    away = wizard(3, spell("Far"), status="off_table", name="Away", items=items, reserve=2)
    side = army(*mages(1), away)
    battle = game(side, side, ruleset=ruleset)
    own = battle.state.own_dice[:2].tolist()
    assert (battle.state.power + sum(own), battle.state.dispel) == (3, 3)
    assert own[1] == dispel_bonus(battle.packed, battle.state, 1) == 0
    assert battle.can_cast("Bolt")
    assert not battle.can_cast("Far")


SMITHS = [{"name": "Lord", "rank": "runelord"}, {"name": "Smith"}, {"name": "Younger"}]
AWAY = [{"name": status, "status": status} for status in ("fleeing", "dead", "off_table")]


@pytest.mark.parametrize(("ruleset", "dispel"), [("6e", 7), ("7e", 8)])
def test_dwarfs_runesmiths_and_runelords(ruleset: str, dispel: int) -> None:
    dwarfs = [army(dwarf=True, runesmiths=SMITHS), army(dwarf=True), army(runesmiths=AWAY)]
    found = [pools(army(*mages(1)), each, ruleset=ruleset)[1] for each in dwarfs]
    assert found == [dispel, 4, 2]


def test_dice_of_items_of_the_army_and_of_a_fleeing_bearer_and_fixed_pools() -> None:
    assert pools(army(*mages(1), items=[FAMILIAR]), army())[0] == 4
    balance = {"name": "Smith", "status": "fleeing", "items": [BALANCE]}
    assert pools(army(*mages(1)), army(runesmiths=[balance])) == (2, 3)
    caster = army(*mages(4), power_dice=9)
    assert pools(caster, army(*mages(4), dispel_dice=1, items=[FAMILIAR])) == (9, 1)


def test_dice_that_only_their_bearer_may_use() -> None:
    bearer = wizard(1, spell("Mine"), spell("Mine too"), items=[JEWEL], name="Bearer")
    battle = game(army(bearer, *mages(1)))
    check(battle, power=4, own_dice=[1, 0])
    twin = battle.copy()
    battle.nominate("Bolt")
    assert battle.node == Node.POOL_DICE
    twin.nominate("Mine")
    assert twin.node == Node.RESERVE_DICE
    assert twin.legal_actions() == [1, 2]
    twin.act(2)
    assert twin.node == Node.POOL_DICE
    assert twin.most_dice() == 1  # its own die counts towards the limit


def test_the_caster_moves_first_and_only_he_casts() -> None:
    battle = game(army(*mages(2)), army(wizard(2, spell("Other"))))
    assert battle.mover == battle.active == 0
    assert battle.can_cast("Bolt")
    assert len(battle.legal_actions()) == 2


def test_no_wizard_and_nothing_in_play_ends_the_battle_at_once() -> None:
    assert game(army(), army(*mages(4))).is_over
    assert game(army(), army(wizard(1, lasting(in_play=True)))).node == Node.IN_PLAY
