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
    assert battle.node == Node.NOMINATE
    return battle.points == 0


@pytest.mark.parametrize(("total", "faces", "double_six", "dispelled"), [
    (8, (4, 4), False, True),  # equal is enough
    (8, (4, 3), False, False), (14, (6, 6), False, False), (14, (6, 6), True, True),
    (8, (1, 6, 1, 6), False, False), (12, (1, 1, 6, 6), True, False),  # two 1s fail with any total
])  # fmt: skip
def test_one_attempt_a_spell_by_a_roll_of_dice_that_are_spent(
    total: int, faces: tuple[int, ...], double_six: bool, dispelled: bool
) -> None:
    battle = cast(total, rules={"dispel_double_six": double_six})
    battle.dispel(*faces)
    assert works(battle) == dispelled
    check(battle, mover=0, dispel=4 - len(faces))


def test_any_number_of_dice_that_there_are_and_no_wizard_is_needed() -> None:
    battle = cast(8, army(dispel_dice=12))
    assert battle.legal_actions() == [PASS, *(1 + n for n in range(1, 13))]
    battle.dispel(5, 5)
    assert works(battle)


def test_letting_a_spell_through_costs_no_dice() -> None:
    battle = cast(8)
    battle.let_through()
    check(battle, points=10, dispel=4)


@pytest.mark.parametrize(("dice", "scrolls"), [(2, 1), (0, 2)])
def test_a_scroll_dispels_without_a_roll_and_is_read_once(dice: int, scrolls: int) -> None:
    battle = cast(14, army(dispel_dice=dice, items=[SCROLL] * scrolls))
    assert len(battle.legal_actions()) == 2 + dice
    battle.use(SCROLL)
    assert works(battle)
    assert battle.state.dispel == dice
    battle.cast_with("Second", 2, 4)
    assert battle.can_use(SCROLL) == (scrolls == 2)
    if scrolls == 2:
        battle.use(SCROLL)
        assert battle.points == 0


@pytest.mark.parametrize(
    ("status", "reads"),
    [("fleeing", False), ("dead", False), ("off_table", False), ("ready", True), ("rallied", True)],
)
def test_a_fleeing_or_dead_wizard_reads_no_scroll(status: str, reads: bool) -> None:
    battle = cast(8, army(wizard(2, status=status, items=[SCROLL])))
    assert battle.can_use(SCROLL) == reads


@pytest.mark.parametrize(("item", "in_play"), [
    (SCROLL, {"Veil"}), ("Seal of Destruction", {"Veil"}),
    (RUNE, {"Ward", "Veil"}), ("Sigil of Asuryan", {"Ward", "Veil"}),
])  # fmt: skip
def test_a_scroll_ends_the_spells_that_its_reader_keeps_in_play(
    item: str, in_play: set[str]
) -> None:
    reader = wizard(2, lasting(in_play=True), items=[item], name="Reader")
    neighbour = wizard(2, lasting("Veil", in_play=True), name="Neighbour")
    battle = cast(8, army(reader, neighbour), phases=4)
    battle.use(item)
    check(battle, in_play=in_play)
    battle = cast(8, army(wizard(2, status="dead"), items=[RUNE]))  # it needs no bearer
    battle.use(RUNE)
    assert works(battle)


def test_a_boost_is_declared_before_the_dice_and_dice_must_follow() -> None:
    battle = cast(8, army(items=["Charm", SCROLL]))
    battle.use("Charm")
    assert battle.node == Node.DISPEL
    assert battle.legal_actions() == [2, 3]  # dice, and no scroll
    twin = battle.copy()
    battle.dispel(3, 3)
    assert works(battle)
    twin.dispel(5)
    assert not works(twin)
    check(twin, foes_items=[0, 1])
    battle = cast(8, army(dispel_dice=0, items=["Charm", SCROLL]))
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


def test_casting_totals_that_all_boosts_together_can_match_stay_apart() -> None:
    """A die and twice 2 match at most 10, not 11."""
    mage = wizard(4, spell("Bolt", 3), spell("Second", 3))
    foe = army(dispel_dice=1, items=["Charm", "Charm"])
    for total, number in [(10, 10), (11, 11), (12, 11)]:
        battle = game(army(mage), foe, items=[BOOST])
        battle.cast_with("Bolt", 3, 3, total - 6)
        assert battle.state.number == number


@pytest.mark.parametrize("status", ["ready", "fleeing", "dead", "off_table"])
def test_a_lasting_bonus_stays_while_its_bearer_is_on_the_table(status: str) -> None:
    side = army(wizard(2, items=["Staff of Sorcery"], status=status), dispel_dice=2)
    battle = cast(8, side)
    battle.dispel(4, 3)
    assert works(battle) == (status in ("ready", "fleeing"))
