"""Items that store dice, take dice, make doubles count, and make spells forgotten."""

from typing import Any

import pytest

from tests.support.builders import (
    PASS,
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
from wfb_gym.engine.outcomes import OUTCOME_FAIL, OUTCOME_IRRESISTIBLE, OUTCOME_WORKS
from wfb_gym.engine.state import Node

ROD, PERIAPT, BOOK = "Rod of Power", "Black Periapt", "Book of Hoeth"


def holder(item: str, phases: int = 6, level: int = 2, **keys: Any) -> Game:
    """Return a wizard with the item, and an enemy wizard."""
    mage = wizard(level, spell("Bolt"), spell("Second"), items=[item], wounds=3)
    foe = army(wizard(1, spell("Reply", 3), spell("More"), name="Foe"))
    return game(army(mage), foe, phases=phases, **keys)


def store(battle: Game, dice: int) -> None:
    """Store this many dice at the end of this phase."""
    battle.stop()
    assert battle.node == Node.STORE_DICE
    battle.act(actions.FIRST_DICE + dice)


def test_a_rod_of_power_keeps_up_to_three_power_dice_of_ones_own_phase() -> None:
    battle = holder(ROD)
    battle.stop()
    assert (battle.node, battle.mover) == (Node.STORE_DICE, 0)
    assert battle.legal_actions() == [actions.FIRST_DICE + n for n in (0, 1, 2, 3)]


def test_a_rod_keeps_no_more_than_is_left() -> None:
    battle = holder(ROD)
    battle.cast("Bolt", 3)
    battle.roll(1, 2, 4)
    battle.let_through()
    battle.stop()
    assert battle.legal_actions() == [actions.FIRST_DICE, actions.FIRST_DICE + 1]


@pytest.mark.parametrize(("stored", "die", "power"), [(3, 3, 7), (3, 2, 4), (1, 1, 5)])
def test_stored_dice_come_back_on_a_d6_of_their_number(stored: int, die: int, power: int) -> None:
    battle = holder(ROD)
    store(battle, stored)
    assert battle.active == 1  # no stored dice return in the enemy's phase
    assert battle.state.dispel == 2 + 1
    assert battle.node == Node.NOMINATE
    battle.stop()
    assert battle.node == Node.ROLL_STORED
    works = (7 - stored) / 6
    expected = {OUTCOME_FAIL: 1 - works, OUTCOME_WORKS: works} if stored > 1 else {OUTCOME_WORKS: 1}
    assert battle.outcomes() == pytest.approx(expected)
    battle.roll(die)
    assert battle.state.power == power
    assert battle.state.items[0, 0] == 0


def test_no_dice_are_stored_in_the_last_phase() -> None:
    battle = holder(ROD, phases=1)
    battle.stop()
    assert battle.is_over


def test_a_dead_bearers_dice_are_gone() -> None:
    battle = holder(ROD)
    store(battle, 3)
    foe = battle.copy()
    foe.state.wounds[0, 0] = 0
    foe.state.items[0, 0] = 0
    foe.stop()
    assert foe.node != Node.ROLL_STORED


def test_a_miscast_can_empty_a_rod() -> None:
    battle = holder(ROD, **miscast({"kind": "stored_dice_lost"}))
    battle.state.items[0, 0] = 2
    battle.cast("Bolt", 2)
    battle.roll(1, 1)
    battle.roll(3, 4)
    assert battle.state.items[0, 0] == 0


def test_a_periapt_keeps_a_power_die_for_the_next_dispels() -> None:
    battle = holder(PERIAPT)
    battle.stop()
    assert battle.legal_actions() == [actions.FIRST_DICE, actions.FIRST_DICE + 1]
    battle.act(actions.FIRST_DICE + 1)
    assert battle.active == 1
    assert battle.state.dispel == 3 + 1
    assert battle.state.items[0, 0] == 0


def test_a_periapt_keeps_a_dispel_die_for_the_next_casts() -> None:
    battle = holder(PERIAPT)
    store(battle, 0)
    assert (battle.active, battle.state.dispel) == (1, 3)
    battle.stop()
    assert (battle.node, battle.mover) == (Node.STORE_DICE, 0)
    battle.act(actions.FIRST_DICE + 1)
    assert (battle.active, battle.state.power) == (0, 4 + 1)


# Master Rune of Balance.


def test_a_rune_of_balance_makes_an_enemy_power_die_a_dispel_die() -> None:
    dwarfs = army(items=["Master Rune of Balance"], dwarf=True)
    battle = game(army(wizard(2, spell())), dwarfs, phases=3)
    assert (battle.state.power, battle.state.dispel) == (3, 5)
    battle.stop()
    assert battle.state.phase == 2
    assert (battle.state.power, battle.state.dispel) == (3, 5)


def test_two_runes_of_balance_take_two_and_no_more_than_there_are() -> None:
    runes = ["Master Rune of Balance"] * 2
    battle = game(army(wizard(2, spell())), army(items=runes))
    assert (battle.state.power, battle.state.dispel) == (2, 4)
    battle = game(army(wizard(2, lasting(in_play=True)), power_dice=1), army(items=runes), phases=3)
    assert (battle.state.power, battle.state.dispel) == (0, 3)


# Spells forgotten.

ITEMS_THAT_DESTROY = ("Seal of Destruction", "Sigil of Asuryan", "Spelleater Rune")


def destroyer(item: str, **keys: Any) -> Game:
    """Return a battle after Bolt was cast; the enemy has the item and no dice."""
    mages = wizard(2, spell("Bolt"), spell("Second"), name="A"), wizard(1, spell("Bolt"), name="B")
    mage = wizard(1, spell("Reply"), name="Foe", items=[item])
    rune = item == "Spelleater Rune"
    foe = army(items=[item], dispel_dice=0) if rune else army(mage, dispel_dice=0)
    battle = game(army(*mages), foe, phases=keys.pop("phases", 4), **keys)
    battle.cast("Bolt", 2, wizard=0)
    battle.roll(3, 4)
    battle.use(item)
    return battle


@pytest.mark.parametrize("item", ITEMS_THAT_DESTROY)
@pytest.mark.parametrize(("die", "forgotten"), [(3, False), (4, True)])
def test_a_spell_dispelled_by_it_is_forgotten_on_a_4(item: str, die: int, forgotten: bool) -> None:
    battle = destroyer(item)
    assert battle.node == Node.ROLL_FORGET
    assert battle.outcomes() == pytest.approx({OUTCOME_FAIL: 0.5, OUTCOME_WORKS: 0.5})
    battle.roll(die)
    assert battle.points == 0
    assert battle.can_cast("Bolt", 1)  # the other still knows it
    battle.stop()
    while battle.state.phase < 2:
        battle.act(PASS)
    assert battle.can_cast("Bolt", 0) is not forgotten
    assert battle.can_cast("Bolt", 1)
    assert battle.state.items[1, 0] == 0


@pytest.mark.parametrize(
    ("item", "ends"), [("Seal of Destruction", True), ("Sigil of Asuryan", False)]
)
def test_a_seal_ends_its_readers_spells_in_play_like_a_scroll(item: str, ends: bool) -> None:
    foe = army(
        wizard(2, lasting(in_play=True), items=[item], name="Reader"),
        wizard(2, lasting("Veil", in_play=True), name="Neighbour"),
        dispel_dice=0,
    )
    battle = game(army(wizard(2, spell("Bolt"), spell("Second"))), foe, phases=4)
    battle.cast("Bolt", 2)
    battle.roll(3, 4)
    battle.use(item)
    assert battle.node == Node.ROLL_FORGET  # it is read before that die is thrown
    assert battle.is_in_play("Ward", 1) is not ends
    assert battle.is_in_play("Veil", 1)


def test_irrelevant_rolls_are_skipped() -> None:
    battle = destroyer("Seal of Destruction", phases=1)
    assert battle.node == Node.NOMINATE


def test_a_bound_spell_cannot_be_forgotten() -> None:
    hero = {"name": "Captain", "items": ["Ring of Flame"]}
    foe = army(items=["Spelleater Rune"], units=[unit()], dispel_dice=0)
    battle = game(army(heroes=[hero]), foe, phases=4)
    battle.nominate("Fire Ball")
    battle.use("Spelleater Rune")
    assert battle.state.phase == 2
    assert battle.can_cast("Fire Ball")


def ring_dispelled(item: str, uses: int = 0, phases: int = 6, **keys: Any) -> Game:
    """Return a battle after a bound spell was cast and the enemy used the item."""
    ring = {
        "name": "Ring",
        "bound": {"power_level": 4, "uses": uses, "spell": {"name": "Fire Ball"}},
    }
    hero = {"name": "Captain", "items": ["Ring"]}
    foe = army(items=[item], units=[unit()], dispel_dice=0)
    battle = game(army(heroes=[hero]), foe, phases=phases, items=[ring], **keys)
    battle.nominate("Fire Ball")
    battle.use(item)
    return battle


@pytest.mark.parametrize("item", ITEMS_THAT_DESTROY)
@pytest.mark.parametrize(("die", "destroyed"), [(3, False), (4, True)])
def test_a_bound_spell_is_destroyed_in_the_7th_edition(
    item: str, die: int, destroyed: bool
) -> None:
    battle = ring_dispelled(item, ruleset="7e")
    assert battle.node == Node.ROLL_FORGET
    battle.roll(die)
    assert battle.points == 0
    if destroyed:
        assert battle.is_over  # nothing is left to cast in this battle
    else:
        assert (battle.state.phase, battle.can_cast("Fire Ball")) == (2, True)


def test_the_switch_of_the_ruleset_decides() -> None:
    rules = {"destroy_bound": True}
    assert ring_dispelled("Sigil of Asuryan", rules=rules).node == Node.ROLL_FORGET
    rules = {"destroy_bound": False}
    battle = ring_dispelled("Sigil of Asuryan", ruleset="7e", rules=rules)
    assert battle.node != Node.ROLL_FORGET


def test_a_bound_spell_without_uses_left_needs_no_roll() -> None:
    assert ring_dispelled("Sigil of Asuryan", uses=2, ruleset="7e").node == Node.ROLL_FORGET
    assert ring_dispelled("Sigil of Asuryan", uses=1, ruleset="7e").is_over
    assert ring_dispelled("Sigil of Asuryan", phases=1, ruleset="7e").is_over


def test_plain_scrolls_destroy_nothing() -> None:
    battle = ring_dispelled("Rune of Spellbreaking", ruleset="7e")
    assert (battle.state.phase, battle.can_cast("Fire Ball")) == (2, True)


def test_all_butchers_losing_a_spell_leaves_it_in_items() -> None:
    house = miscast({"kind": "spell_forgotten", "whose": "side"})
    mage = wizard(2, known("Fire Ball"), items=["Ring of Flame"])
    battle = game(army(mage), army(units=[unit()], dispel_dice=0), phases=4, **house)
    battle.cast("Fire Ball", 2)
    battle.roll(1, 1)
    battle.roll(3, 4)
    assert battle.state.known[0] == 2
    assert battle.node == Node.NOMINATE


# Book of Hoeth.


def reader(value: int = 8, **keys: Any) -> Game:
    """Return a wizard with the book, or with another item."""
    mages = (
        wizard(4, spell("Bolt", value), spell("Second", value), items=[BOOK], name="Reader"),
        wizard(4, spell("Plain", value), name="Other"),
    )
    return game(army(*mages, power_dice=12), army(), **keys, **miscast())


@pytest.mark.parametrize("faces", [(4, 4), (2, 2, 5), (5, 5), (1, 3, 3, 2)])
def test_any_double_of_a_successful_cast_is_irresistible(faces: tuple[int, ...]) -> None:
    battle = reader()
    battle.cast("Bolt", len(faces))
    assert battle.roll(*faces) == 10
    battle.cast("Plain", len(faces), wizard=1)
    assert battle.roll(*faces) == 0
    assert battle.node == Node.DISPEL


@pytest.mark.parametrize("faces", [(3, 3), (2, 2, 1)])
def test_a_double_does_not_make_a_spell_succeed(faces: tuple[int, ...]) -> None:
    battle = reader()
    battle.cast("Bolt", len(faces))
    assert battle.roll(*faces) == 0
    assert battle.node == Node.NOMINATE


def test_two_1s_miscast_with_the_book_too() -> None:
    battle = reader(3)
    battle.cast("Bolt", 4)
    battle.roll(1, 1, 5, 5)
    assert battle.node == Node.ROLL_MISCAST


def test_chances_with_the_book() -> None:
    battle = reader()
    battle.cast("Bolt", 3)
    pairs = 0
    for a in range(1, 7):
        for b in range(1, 7):
            for c in range(1, 7):
                dice = [a, b, c]
                if dice.count(1) >= 2:
                    continue
                doubles = len(set(dice)) < 3
                pairs += dice.count(6) >= 2 or (doubles and sum(dice) >= 8)
    assert battle.outcomes()[OUTCOME_IRRESISTIBLE] == pytest.approx(pairs / 216)


def test_the_book_reads_natural_dice_and_no_rerolled_ones() -> None:
    mage = wizard(4, spell("Bolt", 8), spell("Second"), items=[BOOK, "Luckstone"])
    battle = game(army(mage, power_dice=12), army(), **miscast())
    battle.cast("Bolt", 2)
    battle.roll(5, 2)
    battle.act(actions.FIRST_REROLL + 1)
    battle.roll(5)
    assert battle.node == Node.DISPEL
    assert battle.state.number == 10
