"""Items that store dice, take dice, make doubles count, and make spells forgotten."""

from itertools import product
from typing import Any

import pytest

from tests.support.builders import Data, Game, army, game, lasting, miscast, spell, unit, wizard
from wfb_gym.engine.actions import FIRST_DICE, FIRST_REROLL
from wfb_gym.engine.outcomes import OUTCOME_FAIL, OUTCOME_IRRESISTIBLE, OUTCOME_WORKS
from wfb_gym.engine.state import Node

from .facts import check

ROD, PERIAPT, BOOK = "Rod of Power", "Black Periapt", "Book of Hoeth"
BALANCE = "Master Rune of Balance"
SEAL, SIGIL, SPELLEATER = "Seal of Destruction", "Sigil of Asuryan", "Spelleater Rune"
BOLTS = wizard(2, spell("Bolt"), spell("Second"))


def holder(item: str, phases: int = 6, **keys: Any) -> Game:
    foe = army(wizard(1, spell("Reply", 3), spell("More"), name="Foe"))
    return game(army(BOLTS | {"items": [item]}), foe, phases=phases, **keys)


def store(battle: Game, dice: int, most: int) -> None:
    battle.stop()
    check(battle, node=Node.STORE_DICE, mover=0)
    assert battle.legal_actions() == [FIRST_DICE + n for n in range(most + 1)]
    battle.act(FIRST_DICE + dice)


def test_a_rod_of_power_keeps_up_to_three_power_dice_of_ones_own_phase() -> None:
    store(holder(ROD), 0, most=3)
    battle = holder(ROD, **miscast({"kind": "stored_dice_lost"}))
    twin = battle.copy()
    battle.cast_with("Bolt", 1, 2, 4)
    battle.let_through()
    store(battle, 1, most=1)
    twin.state.items[0, 0] = 2
    twin.miscast()
    assert twin.state.items[0, 0] == 0
    battle = holder(ROD, phases=1)
    battle.stop()
    assert battle.is_over  # no dice are stored in the last phase


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


def test_a_periapt_keeps_a_power_die_for_the_next_dispels_and_a_dispel_die_for_casts() -> None:
    battle = holder(PERIAPT)
    twin = battle.copy()
    store(battle, 1, most=1)
    check(battle, active=1, dispel=3 + 1, items=[0, 0])
    store(twin, 0, most=1)
    check(twin, active=1, dispel=3)
    store(twin, 1, most=1)
    check(twin, active=0, power=4 + 1)
    mages = (BOLTS | {"items": [PERIAPT]}, wizard(1, name="Second", items=[PERIAPT]))
    battle = game(army(*mages, power_dice=1), phases=6)
    battle.stop()
    battle.act(FIRST_DICE + 1)  # the only power die is not left for the other Periapt
    check(battle, phase=1)
    battle = game(army(*mages, dispel_dice=1), phases=6)
    battle.stop()
    for dice in (0, 0, 1):  # nor is the only dispel die
        battle.act(FIRST_DICE + dice)
    check(battle, phase=2, node=Node.NOMINATE)


def test_a_rune_of_balance_makes_an_enemy_power_die_a_dispel_die() -> None:
    battle = game(army(wizard(2, spell())), army(items=[BALANCE], dwarf=True), phases=3)
    check(battle, power=3, dispel=5)
    battle.stop()
    check(battle, phase=2, power=3, dispel=5)
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
def test_a_spell_dispelled_by_it_is_forgotten_on_a_4(item: str) -> None:
    battle = destroyer(item)
    check(battle, node=Node.ROLL_FORGET, points=0, foes_items=[0, 0])
    assert battle.outcomes() == pytest.approx({OUTCOME_FAIL: 0.5, OUTCOME_WORKS: 0.5})
    for die, keeps in [(3, True), (4, False)]:
        twin = battle.copy()
        twin.roll(die)
        assert twin.can_cast("Bolt", 1)  # the other still knows it
        twin.pass_until(2)
        assert twin.can_cast("Bolt", 0) == keeps
        assert twin.can_cast("Bolt", 1)
    assert destroyer(item, phases=1).node == Node.NOMINATE  # the roll does not matter


def ring_dispelled(item: str, uses: int = 0, phases: int = 6, **keys: Any) -> Game:
    bound = {"power_level": 4, "uses": uses, "spell": {"name": "Fire Ball"}}
    side = army(heroes=[{"name": "Captain", "items": ["Ring"]}])
    foe = army(items=[item], units=[unit()], dispel_dice=0)
    ring = {"name": "Ring", "bound": bound}
    battle = game(side, foe, phases=phases, items=[ring], **keys)
    battle.nominate("Fire Ball")
    battle.use(item)
    return battle


@pytest.mark.parametrize("item", ITEMS_THAT_DESTROY)
def test_a_bound_spell_is_destroyed_in_the_7th_edition(item: str) -> None:
    battle = ring_dispelled(item, ruleset="7e")
    assert battle.node == Node.ROLL_FORGET
    twin = battle.copy()
    battle.roll(3)
    check(battle, phase=2, castable={"Fire Ball"}, points=0)
    twin.roll(4)
    assert twin.is_over  # nothing is left to cast in this battle


@pytest.mark.parametrize(
    ("item", "uses", "phases", "ruleset", "rules", "node"),
    [
        (SPELLEATER, 0, 6, "6e", {}, Node.NOMINATE),  # it cannot be forgotten
        (SIGIL, 0, 6, "6e", {"destroy_bound": True}, Node.ROLL_FORGET),
        (SIGIL, 0, 6, "7e", {"destroy_bound": False}, Node.NOMINATE),
        ("Rune of Spellbreaking", 0, 6, "7e", {}, Node.NOMINATE),
        (SIGIL, 2, 6, "7e", {}, Node.ROLL_FORGET),
        (SIGIL, 1, 6, "7e", {}, Node.END),  # no uses are left
        (SIGIL, 0, 1, "7e", {}, Node.END),
    ],
)
def test_a_bound_spell_is_destroyed_only_if_the_roll_matters(
    item: str, uses: int, phases: int, ruleset: str, rules: Data, node: Node
) -> None:
    battle = ring_dispelled(item, uses, phases, ruleset=ruleset, rules=rules)
    assert battle.node == node
    if node == Node.NOMINATE:
        check(battle, phase=2, castable={"Fire Ball"})


def test_all_butchers_losing_a_spell_leaves_it_in_items() -> None:
    house = miscast({"kind": "spell_forgotten", "whose": "side"})
    mage = wizard(2, {"name": "Fire Ball"}, items=["Ring of Flame"])
    battle = game(army(mage), army(units=[unit()], dispel_dice=0), phases=4, **house)
    battle.miscast("Fire Ball")
    assert battle.state.known[0] == 2


def reader(items: tuple[str, ...] = (BOOK,)) -> Game:
    other = wizard(4, spell("Plain", 8), name="Other")
    mage = wizard(4, spell("Bolt", 8), spell("Second", 8), items=list(items), name="Reader")
    return game(army(mage, other, power_dice=12), army(), **miscast())


@pytest.mark.parametrize("faces", [(4, 4), (2, 2, 5), (1, 3, 3, 2)])
def test_any_double_of_a_successful_cast_is_irresistible(faces: tuple[int, ...]) -> None:
    battle = reader()
    assert battle.cast_with("Bolt", *faces) == 10
    assert battle.cast_with("Plain", *faces, wizard=1) == 0
    assert battle.node == Node.DISPEL


def test_other_rolls_with_the_book() -> None:
    battle = reader()
    assert battle.cast_with("Bolt", 2, 2, 1) == 0  # a double is no success
    assert battle.node == Node.NOMINATE
    battle.cast_with("Second", 1, 1, 5, 5)
    assert battle.node == Node.ROLL_MISCAST
    battle = reader(items=(BOOK, "Luckstone"))  # only natural dice are a double
    battle.cast_with("Bolt", 5, 2)
    battle.act(FIRST_REROLL + 1)
    battle.roll(5)
    check(battle, node=Node.DISPEL, number=10)
    battle = reader()
    battle.cast("Bolt", 3)
    count = 0
    for dice in product(range(1, 7), repeat=3):
        if dice.count(1) < 2:
            doubles = len(set(dice)) < 3
            count += dice.count(6) >= 2 or (doubles and sum(dice) >= 8)
    assert battle.outcomes()[OUTCOME_IRRESISTIBLE] == pytest.approx(count / 216)
