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
    """Return power and dispel dice of the first phase."""
    battle = game(caster, dispeller, **keys)
    assert battle.node == Node.NOMINATE
    return int(battle.state.power), int(battle.state.dispel)


def mages(*levels: int, **keys: Any) -> list[Data]:
    return [wizard(n, BOLT, name=f"Mage {i}", **keys) for i, n in enumerate(levels)]


def dispel_dice(dispeller: Data, **keys: Any) -> int:
    """Return the dispel dice of an army in the first phase of its enemy."""
    return pools(army(*mages(1)), dispeller, **keys)[1]


def pools_with(level: int = 4, **keys: Any) -> tuple[int, int]:
    """Return the dice of an army with two wizards of level 1, and another, as either side."""
    side = army(*mages(1, 1), wizard(level, BOLT, name="Third", **keys))
    return pools(side, side)


@pytest.mark.parametrize(("level", "power"), [(1, 3), (2, 4), (3, 5), (4, 6)])
def test_power_dice_of_a_level(level: int, power: int) -> None:
    assert pools(army(wizard(level, BOLT)))[0] == power


@pytest.mark.parametrize(("level", "dispel"), [(1, 3), (2, 3), (3, 4), (4, 4)])
def test_dispel_dice_of_a_level(level: int, dispel: int) -> None:
    assert dispel_dice(army(wizard(level))) == dispel


def test_every_army_has_two_dispel_dice_without_any_wizard() -> None:
    assert dispel_dice(army()) == 2


def test_wizards_add_up() -> None:
    assert pools_with(4) == (8, 6)


def test_a_fleeing_wizard_makes_no_dice() -> None:
    assert pools_with(status="fleeing") == (4, 4)


def test_a_dead_wizard_makes_no_dice() -> None:
    assert pools_with(status="dead") == (4, 4)


def test_a_rallied_wizard_acts_as_normal() -> None:
    side = army(wizard(4, BOLT, status="rallied"))
    assert pools(side, side) == (6, 4)
    assert game(side).can_cast("Bolt")


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


@pytest.mark.parametrize("ruleset", ["6e", "7e"])
def test_a_runesmith_off_the_table_makes_no_dice(ruleset: str) -> None:
    dwarfs = army(runesmiths=[{"name": "Smith", "status": "off_table"}])
    assert dispel_dice(dwarfs, ruleset=ruleset) == 2


def test_a_fleeing_wizard_cannot_cast() -> None:
    runner = wizard(4, spell("Panic"), status="fleeing", name="Runner")
    assert not game(army(*mages(1), runner)).can_cast("Panic")


def test_a_dwarf_army_has_four_dispel_dice() -> None:
    assert dispel_dice(army(dwarf=True)) == 4


@pytest.mark.parametrize(("ruleset", "dispel"), [("6e", 7), ("7e", 8)])
def test_runesmiths_and_runelords(ruleset: str, dispel: int) -> None:
    runes = [{"name": "Lord", "rank": "runelord"}, {"name": "Smith"}, {"name": "Younger"}]
    assert dispel_dice(army(dwarf=True, runesmiths=runes), ruleset=ruleset) == dispel


@pytest.mark.parametrize("status", ["fleeing", "dead"])
def test_a_runesmith_who_flees_or_is_dead_makes_no_dice(status: str) -> None:
    assert dispel_dice(army(runesmiths=[{"name": "Smith", "status": status}])) == 2


def test_bonus_dice_of_items() -> None:
    side = army(wizard(1, BOLT, items=[FAMILIAR]))
    assert pools(side, side) == (4, 4)
    assert pools(army(*mages(1), items=[FAMILIAR]), army())[0] == 4


@pytest.mark.parametrize(("status", "dice"), [("fleeing", (5, 5)), ("dead", (4, 4))])
def test_bonus_dice_of_an_item_stay_while_its_bearer_flees(
    status: str, dice: tuple[int, int]
) -> None:
    assert pools_with(1, status=status, items=[FAMILIAR]) == dice


def test_a_rune_of_balance_works_while_its_bearer_flees() -> None:
    balance = {"name": "Smith", "status": "fleeing", "items": [BALANCE]}
    assert pools(army(*mages(1)), army(runesmiths=[balance])) == (2, 3)


def test_fixed_pools() -> None:
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


def test_all_wizards_share_one_pile() -> None:
    battle = game(army(*mages(4), wizard(1, spell("Spark"), name="Boy")))
    battle.cast_with("Bolt", 1, 2, 2, 3, 6)
    battle.let_through()
    assert battle.state.power == 2
    battle.cast("Spark", 2)


def test_the_caster_moves_first_and_only_he_casts() -> None:
    battle = game(army(*mages(2)), army(wizard(2, spell("Other"))))
    assert battle.mover == battle.active == 0
    assert battle.can_cast("Bolt")
    assert len(battle.legal_actions()) == 2


def test_dice_left_are_gone_in_the_next_phase() -> None:
    side = army(*mages(2))
    battle = game(side, side, phases=2)
    battle.stop()
    check(battle, active=1, power=4, dispel=3)


def test_no_wizard_and_nothing_in_play_ends_the_battle_at_once() -> None:
    assert game(army(), army(*mages(4))).is_over
    battle = game(army(), army(wizard(1, lasting(in_play=True))))
    assert battle.node == Node.IN_PLAY
