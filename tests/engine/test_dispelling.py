"""Dispel attempts at a spell that has just been cast."""

from typing import Any

import pytest

from tests.support.builders import PASS, Data, Game, army, game, lasting, spell, wizard
from wfb_gym.engine.actions import FIRST_DICE
from wfb_gym.engine.outcomes import OUTCOME_FAIL, OUTCOME_WORKS
from wfb_gym.engine.state import Node

from .facts import check

BOOST = {"name": "Charm", "uses": 1, "when_dispelling": {"bonus": 2}}
AMULET = {"name": "Amulet", "uses": 1, "when_dispelling": {"bonus": 1}}
SCROLL, RUNE = "Dispel Scroll", "Rune of Spellbreaking"


def cast(total: int = 8, dispeller: Data | None = None, **keys: Any) -> Game:
    """Return a battle after a cast with this total on two dice, or on three from 12 on."""
    mage = wizard(4, spell("Bolt", 3), spell("Second", 3))
    items = [keys.pop("boost", BOOST), AMULET]
    battle = game(army(mage), dispeller or army(dispel_dice=4), items=items, **keys)
    dice = 2 if total < 12 else 3
    low = total // dice
    battle.cast_with("Bolt", *[low + (i < total - low * dice) for i in range(dice)])
    assert battle.node == Node.DISPEL
    assert battle.state.number <= total  # totals beyond any dispel are one number
    return battle


def works(battle: Game) -> bool:
    """Return whether the last attempt dispelled the spell."""
    assert battle.node == Node.NOMINATE
    return battle.points == 0


def test_equal_is_enough() -> None:
    battle = cast(8)
    battle.dispel(4, 4)
    assert works(battle)


def test_less_is_not() -> None:
    battle = cast(8)
    battle.dispel(4, 3)
    assert not works(battle)


@pytest.mark.parametrize(
    ("total", "faces", "double_six", "boosted"),
    [
        (8, (1, 6, 1, 6), False, False),
        (12, (1, 1, 6, 6), True, False),  # and two 6s
        (3, (1, 1), False, True),
    ],
)
def test_two_ones_fail_whatever_the_total(
    total: int, faces: tuple[int, ...], double_six: bool, boosted: bool
) -> None:
    side = army(dispel_dice=4, items=["Charm"])
    battle = cast(total, side, rules={"dispel_double_six": double_six})
    if boosted:
        battle.use("Charm")
    battle.dispel(*faces)
    assert not works(battle)


@pytest.mark.parametrize("double_six", [False, True])
def test_two_sixes_dispel_only_if_the_switch_is_on(double_six: bool) -> None:
    battle = cast(14, rules={"dispel_double_six": double_six})
    battle.dispel(6, 6)
    assert works(battle) == double_six


def test_any_number_of_dice_that_there_are() -> None:
    battle = cast(8, army(dispel_dice=12))
    assert battle.legal_actions() == [PASS, *(1 + n for n in range(1, 13))]


def test_dispel_dice_rolled_are_spent() -> None:
    battle = cast(8)
    battle.dispel(1, 2, 3)
    assert battle.state.dispel == 1


def test_one_attempt_a_spell() -> None:
    battle = cast(8)
    battle.dispel(2)
    assert not works(battle)
    check(battle, mover=0, dispel=3)


def test_letting_a_spell_through_costs_no_dice() -> None:
    battle = cast(8)
    battle.let_through()
    check(battle, points=10, dispel=4)


def test_no_wizard_is_needed() -> None:
    battle = cast(8, army())
    battle.dispel(5, 5)
    assert works(battle)


@pytest.mark.parametrize("dice", [2, 0])
def test_a_scroll_dispels_without_a_roll(dice: int) -> None:
    battle = cast(14, army(dispel_dice=dice, items=[SCROLL]))
    assert len(battle.legal_actions()) == 2 + dice
    battle.use(SCROLL)
    assert works(battle)
    assert battle.state.dispel == dice


@pytest.mark.parametrize("scrolls", [1, 2])
def test_two_scrolls_are_read_one_at_a_time(scrolls: int) -> None:
    battle = cast(8, army(items=[SCROLL] * scrolls))
    battle.use(SCROLL)
    battle.cast_with("Second", 4, 4)
    assert battle.can_use(SCROLL) == (scrolls == 2)
    if scrolls == 2:
        battle.use(SCROLL)
        assert battle.points == 0


def test_a_scroll_not_against_irresistible_force() -> None:
    battle = game(army(wizard(4, spell(), spell("Second"))), army(items=[SCROLL]))
    assert battle.cast_with("Bolt", 6, 6) == 10
    assert battle.state.items[1, 0] == 1


@pytest.mark.parametrize(
    ("status", "reads"),
    [("fleeing", False), ("dead", False), ("off_table", False), ("ready", True), ("rallied", True)],
)
def test_a_fleeing_or_dead_wizard_reads_no_scroll(status: str, reads: bool) -> None:
    battle = cast(8, army(wizard(2, status=status, items=[SCROLL])))
    assert battle.can_use(SCROLL) == reads


def test_an_item_of_the_army_needs_no_bearer() -> None:
    battle = cast(8, army(wizard(2, status="dead"), items=[RUNE]))
    battle.use(RUNE)
    assert works(battle)


def test_a_scroll_ends_the_spells_that_its_reader_keeps_in_play() -> None:
    reader = wizard(2, lasting(in_play=True), items=[SCROLL], name="Reader")
    neighbour = wizard(2, lasting("Veil", in_play=True), name="Neighbour")
    battle = cast(8, army(reader, neighbour))
    battle.use(SCROLL)
    assert not battle.is_in_play("Ward", 1)
    assert battle.is_in_play("Veil", 1)


def test_a_rune_ends_nothing() -> None:
    battle = cast(8, army(wizard(2, lasting(in_play=True), items=[RUNE])))
    battle.use(RUNE)
    assert battle.is_in_play("Ward", 1)


def test_a_boost_is_declared_before_the_dice_and_dice_must_follow() -> None:
    battle = cast(8, army(items=["Charm"]))
    battle.use("Charm")
    assert battle.node == Node.DISPEL
    assert battle.legal_actions() == [2, 3]
    battle.dispel(3, 3)
    assert works(battle)


def test_a_boost_is_spent_though_the_dispel_fails() -> None:
    battle = cast(9, army(items=["Charm"]))
    battle.use("Charm")
    battle.dispel(6)
    assert not works(battle)
    assert battle.state.items[1, 0] == 0


def test_a_boost_needs_dice_to_boost() -> None:
    battle = cast(8, army(dispel_dice=0, items=["Charm", SCROLL]))
    assert not battle.can_use("Charm")


def test_no_scroll_after_a_boost() -> None:
    battle = cast(8, army(items=["Charm", SCROLL]))
    battle.use("Charm")
    assert not battle.can_use(SCROLL)
    assert not battle.can_use("Charm")


def test_two_boosts_add_up() -> None:
    battle = cast(8, army(items=["Charm", "Amulet"]))
    battle.use("Amulet")
    battle.use("Charm")
    battle.dispel(5)
    assert works(battle)


@pytest.mark.parametrize(
    ("items", "uses"), [(["Charm", "Charm"], 1), (["Charm"], 2), (["Charm", "Charm"], 2)]
)
def test_two_boosts_of_one_kind_add_up(items: list[str], uses: int) -> None:
    """4 and twice 2 match 8."""
    battle = cast(8, army(items=items), boost={**BOOST, "uses": uses})
    battle.use("Charm")
    assert battle.can_use("Charm")
    battle.use("Charm")
    assert battle.can_use("Charm") == (len(items) * uses > 2)
    battle.act(FIRST_DICE + 1)
    assert battle.outcomes() == pytest.approx({OUTCOME_FAIL: 1 / 2, OUTCOME_WORKS: 1 / 2})
    battle.roll(4)
    assert works(battle)
    assert battle.state.items[1, 0] == len(items) * uses - 2
    assert battle.state.declared == 0


@pytest.mark.parametrize(("total", "number"), [(9, 9), (10, 10), (11, 11), (12, 11)])
def test_casting_totals_that_all_boosts_together_can_match_stay_apart(
    total: int, number: int
) -> None:
    """A die and twice 2 match at most 10, not 11."""
    mage = wizard(4, spell("Bolt", 3), spell("Second", 3))
    battle = game(army(mage), army(dispel_dice=1, items=["Charm", "Charm"]), items=[BOOST])
    battle.cast_with("Bolt", 3, 3, total - 6)
    assert battle.state.number == number


@pytest.mark.parametrize("status", ["ready", "fleeing", "dead", "off_table"])
def test_a_lasting_bonus_stays_while_its_bearer_is_on_the_table(status: str) -> None:
    side = army(wizard(2, items=["Staff of Sorcery"], status=status), dispel_dice=2)
    battle = cast(8, side)
    battle.dispel(4, 3)
    assert works(battle) == (status in ("ready", "fleeing"))


def test_chances_of_a_dispel_roll() -> None:
    battle = cast(8)
    battle.act(1 + 3)
    assert battle.outcomes() == pytest.approx({OUTCOME_FAIL: 19 / 108, OUTCOME_WORKS: 89 / 108})
