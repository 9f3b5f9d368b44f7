"""Items that store dice, take dice, make doubles count, and make spells forgotten."""

from itertools import product
from typing import Any

import pytest

from tests.support.builders import Game, army, game, known, lasting, miscast, spell, unit, wizard
from wfb_gym.engine.actions import FIRST_DICE, FIRST_REROLL
from wfb_gym.engine.outcomes import OUTCOME_FAIL, OUTCOME_IRRESISTIBLE, OUTCOME_WORKS
from wfb_gym.engine.state import Node

from .facts import check

ROD, PERIAPT, BOOK, BALANCE = (
    "Rod of Power",
    "Black Periapt",
    "Book of Hoeth",
    "Master Rune of Balance",
)
SEAL, SIGIL, SPELLEATER = "Seal of Destruction", "Sigil of Asuryan", "Spelleater Rune"
BOLTS = wizard(2, spell("Bolt"), spell("Second"))


def holder(item: str, phases: int = 6, **keys: Any) -> Game:
    """Return a wizard with the item, and an enemy wizard."""
    foe = army(wizard(1, spell("Reply", 3), spell("More"), name="Foe"))
    return game(army(BOLTS | {"items": [item], "wounds": 3}), foe, phases=phases, **keys)


def store(battle: Game, dice: int, most: int) -> None:
    """Store this many dice at the end of this phase."""
    battle.stop()
    check(battle, node=Node.STORE_DICE, mover=0)
    assert battle.legal_actions() == [FIRST_DICE + n for n in range(most + 1)]
    battle.act(FIRST_DICE + dice)


def test_a_rod_of_power_keeps_up_to_three_power_dice_of_ones_own_phase() -> None:
    store(holder(ROD), 0, most=3)
    battle = holder(ROD)
    battle.cast_with("Bolt", 1, 2, 4)
    battle.let_through()
    store(battle, 1, most=1)


@pytest.mark.parametrize(("stored", "die", "power"), [(3, 3, 7), (3, 2, 4), (1, 1, 5)])
def test_stored_dice_come_back_on_a_d6_of_their_number(stored: int, die: int, power: int) -> None:
    battle = holder(ROD)
    store(battle, stored, most=3)
    # no stored dice return in the enemy's phase
    check(battle, active=1, dispel=2 + 1, node=Node.NOMINATE)
    battle.stop()
    assert battle.node == Node.ROLL_STORED
    works = (7 - stored) / 6
    expected = {OUTCOME_FAIL: 1 - works, OUTCOME_WORKS: works} if stored > 1 else {OUTCOME_WORKS: 1}
    assert battle.outcomes() == pytest.approx(expected)
    battle.roll(die)
    check(battle, power=power, items=[0, 0])


def test_no_dice_are_stored_in_the_last_phase() -> None:
    battle = holder(ROD, phases=1)
    battle.stop()
    assert battle.is_over


def test_a_miscast_can_empty_a_rod() -> None:
    battle = holder(ROD, **miscast({"kind": "stored_dice_lost"}))
    battle.state.items[0, 0] = 2
    battle.miscast()
    assert battle.state.items[0, 0] == 0


def test_a_periapt_keeps_a_power_die_for_the_next_dispels() -> None:
    battle = holder(PERIAPT)
    store(battle, 1, most=1)
    check(battle, active=1, dispel=3 + 1, items=[0, 0])


def test_a_periapt_keeps_a_dispel_die_for_the_next_casts() -> None:
    battle = holder(PERIAPT)
    store(battle, 0, most=1)
    check(battle, active=1, dispel=3)
    store(battle, 1, most=1)
    check(battle, active=0, power=4 + 1)


def test_a_rune_of_balance_makes_an_enemy_power_die_a_dispel_die() -> None:
    battle = game(army(wizard(2, spell())), army(items=[BALANCE], dwarf=True), phases=3)
    check(battle, power=3, dispel=5)
    battle.stop()
    check(battle, phase=2, power=3, dispel=5)


def test_two_runes_of_balance_take_two_and_no_more_than_there_are() -> None:
    runes = army(items=[BALANCE] * 2)
    check(game(army(wizard(2, spell())), runes), power=2, dispel=4)
    poor = army(wizard(2, lasting(in_play=True)), power_dice=1)
    check(game(poor, runes, phases=3), power=0, dispel=3)


ITEMS_THAT_DESTROY = (SEAL, SIGIL, SPELLEATER)


def destroyer(item: str, phases: int = 4) -> Game:
    """Return a battle after Bolt was cast; the enemy has the item and no dice."""
    side = army(BOLTS, wizard(1, spell("Bolt"), name="B"))
    mage = wizard(1, spell("Reply"), name="Foe", items=[item])
    rune = item == SPELLEATER
    foe = army(items=[item], dispel_dice=0) if rune else army(mage, dispel_dice=0)
    battle = game(side, foe, phases=phases)
    battle.cast_with("Bolt", 3, 4, wizard=0)
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
    battle.pass_until(2)
    assert battle.can_cast("Bolt", 0) is not forgotten
    assert battle.can_cast("Bolt", 1)
    assert battle.state.items[1, 0] == 0


@pytest.mark.parametrize(("item", "ends"), [(SEAL, True), (SIGIL, False)])
def test_a_seal_ends_its_readers_spells_in_play_like_a_scroll(item: str, ends: bool) -> None:
    reader = wizard(2, lasting(in_play=True), items=[item], name="Reader")
    neighbour = wizard(2, lasting("Veil", in_play=True), name="Neighbour")
    battle = game(army(BOLTS), army(reader, neighbour, dispel_dice=0), phases=4)
    battle.cast_with("Bolt", 3, 4)
    battle.use(item)
    # it is read before that die is thrown
    check(battle, node=Node.ROLL_FORGET, in_play={"Veil"} if ends else {"Ward", "Veil"})


def test_irrelevant_rolls_are_skipped() -> None:
    assert destroyer(SEAL, phases=1).node == Node.NOMINATE


def ring_dispelled(item: str, uses: int = 0, phases: int = 6, **keys: Any) -> Game:
    """Return a battle after a bound spell was cast and the enemy used the item."""
    bound = {"power_level": 4, "uses": uses, "spell": {"name": "Fire Ball"}}
    side = army(heroes=[{"name": "Captain", "items": ["Ring"]}])
    foe = army(items=[item], units=[unit()], dispel_dice=0)
    ring = {"name": "Ring", "bound": bound}
    battle = game(side, foe, phases=phases, items=[ring], **keys)
    battle.nominate("Fire Ball")
    battle.use(item)
    return battle


def test_a_bound_spell_cannot_be_forgotten() -> None:
    check(ring_dispelled(SPELLEATER), phase=2, castable={"Fire Ball"})


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
        check(battle, phase=2, castable={"Fire Ball"})


@pytest.mark.parametrize(("ruleset", "destroys"), [("6e", True), ("7e", False)])
def test_the_switch_of_the_ruleset_decides(ruleset: str, destroys: bool) -> None:
    battle = ring_dispelled(SIGIL, ruleset=ruleset, rules={"destroy_bound": destroys})
    assert (battle.node == Node.ROLL_FORGET) == destroys


@pytest.mark.parametrize(
    ("uses", "phases", "node"),
    [(2, 6, Node.ROLL_FORGET), (1, 6, Node.END), (0, 1, Node.END)],
)
def test_a_bound_spell_without_uses_left_needs_no_roll(uses: int, phases: int, node: Node) -> None:
    assert ring_dispelled(SIGIL, uses, phases, ruleset="7e").node == node


def test_plain_scrolls_destroy_nothing() -> None:
    battle = ring_dispelled("Rune of Spellbreaking", ruleset="7e")
    check(battle, phase=2, castable={"Fire Ball"})


def test_all_butchers_losing_a_spell_leaves_it_in_items() -> None:
    house = miscast({"kind": "spell_forgotten", "whose": "side"})
    mage = wizard(2, known("Fire Ball"), items=["Ring of Flame"])
    battle = game(army(mage), army(units=[unit()], dispel_dice=0), phases=4, **house)
    battle.miscast("Fire Ball")
    assert battle.state.known[0] == 2
    assert battle.node == Node.NOMINATE


def reader(value: int = 8, items: tuple[str, ...] = (BOOK,)) -> Game:
    """Return a wizard with the book, and one without."""
    spells = spell("Bolt", value), spell("Second", value)
    other = wizard(4, spell("Plain", value), name="Other")
    mage = wizard(4, *spells, items=list(items), name="Reader")
    return game(army(mage, other, power_dice=12), army(), **miscast())


@pytest.mark.parametrize("faces", [(4, 4), (2, 2, 5), (5, 5), (1, 3, 3, 2)])
def test_any_double_of_a_successful_cast_is_irresistible(faces: tuple[int, ...]) -> None:
    battle = reader()
    assert battle.cast_with("Bolt", *faces) == 10
    assert battle.cast_with("Plain", *faces, wizard=1) == 0
    assert battle.node == Node.DISPEL


@pytest.mark.parametrize("faces", [(3, 3), (2, 2, 1)])
def test_a_double_does_not_make_a_spell_succeed(faces: tuple[int, ...]) -> None:
    battle = reader()
    assert battle.cast_with("Bolt", *faces) == 0
    assert battle.node == Node.NOMINATE


def test_two_1s_miscast_with_the_book_too() -> None:
    battle = reader(3)
    battle.cast_with("Bolt", 1, 1, 5, 5)
    assert battle.node == Node.ROLL_MISCAST


def test_chances_with_the_book() -> None:
    battle = reader()
    battle.cast("Bolt", 3)
    count = 0
    for dice in product(range(1, 7), repeat=3):
        if dice.count(1) < 2:
            doubles = len(set(dice)) < 3
            count += dice.count(6) >= 2 or (doubles and sum(dice) >= 8)
    assert battle.outcomes()[OUTCOME_IRRESISTIBLE] == pytest.approx(count / 216)


def test_the_book_reads_natural_dice_and_no_rerolled_ones() -> None:
    battle = reader(items=(BOOK, "Luckstone"))
    battle.cast_with("Bolt", 5, 2)
    battle.act(FIRST_REROLL + 1)
    battle.roll(5)
    check(battle, node=Node.DISPEL, number=10)
