"""Items: dice and bonuses of a roll, dice that are stored or taken, spells that are forgotten."""

from itertools import product
from typing import Any

import pytest

from tests.support.builders import Data, Game, army, game, lasting, miscast, spell, unit, wizard
from wfb_gym.engine.actions import FIRST_DICE, FIRST_REROLL, PASS
from wfb_gym.engine.outcomes import OUTCOME_CAST, OUTCOME_FAIL, OUTCOME_IRRESISTIBLE, OUTCOME_WORKS
from wfb_gym.engine.state import Node
from wfb_gym.engine.stored_dice import next_stored

from .facts import check

STONE = "Power Stone"
VALAYA, BINDING = "Master Rune of Valaya", "Master Rune of Spellbinding"


def holder(*items: str, level: int = 2, **keys: Any) -> Game:
    mage = wizard(level, spell("Bolt", 8), spell("Second", 8), items=list(items or (STONE,)))
    return game(army(mage), **miscast(), **keys)


def test_a_power_stone_adds_two_dice_beyond_the_limit() -> None:
    """It needs a normal die, and it may stay unused."""
    battle = holder()
    twin = battle.copy()
    battle.cast("Bolt", 3, item=STONE)
    assert battle.dice_to_roll == 5
    assert battle.state.power == 1
    twin.cast("Bolt", 3)
    assert twin.dice_to_roll == 3
    twin.roll(1, 2, 2)
    assert twin.state.items[0, 0] == 1
    assert game(army(wizard(2, spell(), items=[STONE]), power_dice=0)).is_over


def test_a_cast_with_a_power_stone_cannot_be_irresistible_and_can_miscast() -> None:
    battle = holder()
    battle.cast("Bolt", 1, item=STONE)
    assert OUTCOME_IRRESISTIBLE not in battle.outcomes()
    twin = battle.copy()
    battle.roll(6, 6, 2)
    check(battle, node=Node.DISPEL, number=13)  # beyond the total of two dispel dice
    twin.roll(1, 6, 1)
    assert twin.node == Node.ROLL_MISCAST


def test_one_power_stone_a_spell_and_each_once() -> None:
    battle = holder(STONE, STONE)
    battle.nominate("Bolt")
    battle.use(STONE)
    assert battle.node == Node.POOL_DICE
    assert battle.legal_actions() == [FIRST_DICE + n for n in (1, 2, 3)]
    battle.act(FIRST_DICE + 1)
    battle.roll(2, 1, 2)
    battle.cast("Second", 1, item=STONE)
    battle.roll(2, 1, 3)
    check(battle, points=0, node=Node.END)
    battle = holder(STONE, phases=3)
    battle.cast("Bolt", 1, item=STONE)
    battle.roll(2, 1, 2)
    battle.stop()
    assert battle.state.phase == 2
    battle.nominate("Second")
    assert battle.node == Node.POOL_DICE  # for the rest of the battle
    assert not battle.can(PASS)


@pytest.mark.parametrize("of_army", [False, True])
def test_any_wizard_uses_an_item_of_the_army_and_it_ends_his_spells_in_play(of_army: bool) -> None:
    items = [] if of_army else [STONE]
    user = wizard(2, spell(), lasting(in_play=True), name="User", items=items)
    neighbour = wizard(2, spell("Other"), lasting("Veil", in_play=True), name="Neighbour")
    battle = game(army(user, neighbour, items=[STONE] if of_army else []))
    twin = battle.copy()
    battle.cast("Bolt", 1, item=STONE)
    check(battle, in_play={"Veil"})
    twin.nominate("Other")
    assert twin.node == (Node.ITEM if of_army else Node.POOL_DICE)


def test_dice_of_an_item_in_every_phase_and_a_staff_raises_the_limit_by_a_die() -> None:
    side = army(wizard(1, spell(), items=["Power Familiar", "Wizard's Staff"]))
    battle = game(side, side, phases=3)
    for _ in range(3):
        check(battle, power=4, dispel=4)
        twin = battle.copy()
        twin.nominate("Bolt")
        assert twin.most_dice() == 3
        battle.stop()
    assert battle.is_over


def test_plus_one_to_cast_counts_for_its_bearer_and_in_the_number_to_match() -> None:
    bearer = wizard(2, spell("Bolt", 8), items=["Starwood Staff"], name="Bearer")
    battle = game(army(bearer, wizard(2, spell("Other", 8), spell("More"), name="Other")))
    battle.cast_with("Bolt", 4, 3)
    assert battle.state.number == 8
    battle.let_through()
    battle.cast_with("Other", 4, 3)
    assert battle.node == Node.NOMINATE


def test_a_declared_bonus_counts_for_one_cast() -> None:
    charm = {"name": "Charm", "uses": 1, "when_casting": {"bonus": 3}}
    battle = holder("Charm", level=4, items=[charm])
    battle.cast("Bolt", 2, item="Charm")
    battle.roll(2, 3)
    assert battle.state.number == 8
    battle.let_through()
    battle.cast_with("Second", 2, 3)
    assert battle.is_over  # no dispel is due


def test_plus_one_to_dispel() -> None:
    battle = game(army(wizard(4, spell("Bolt", 8), spell("Second"))), army(items=[BINDING, VALAYA]))
    battle.cast_with("Bolt", 5, 5)
    battle.dispel(3, 4)
    assert battle.points == 0


def test_a_dispel_bonus_helps_against_a_spell_in_play() -> None:
    ward = lasting(casting_value=8, worth=0, worth_per_phase=5, in_play=True)
    battle = game(army(wizard(1, ward)), army(items=[BINDING]))
    battle.stop()
    battle.try_in_play("Ward", 0)
    battle.dispel(3, 4)
    assert battle.points == 0


def test_more_dice_than_a_roll_holds_are_not_rolled() -> None:
    rod = {"name": "Rod", "extra_dice_cap": 12}
    great = {"name": "Great Stone", "uses": 1, "when_casting": {"extra_dice": 12}}
    mage = wizard(4, spell(), items=["Rod", "Great Stone"])
    battle = game(army(mage, power_dice=24), items=[rod, great], **miscast())
    battle.nominate("Bolt")
    battle.use("Great Stone")
    battle.act(battle.legal_actions()[-1])
    assert battle.dice_missing() <= 24
    assert sum(battle.outcomes().values()) == pytest.approx(1)


def test_the_number_to_match_holds_the_casters_bonus() -> None:
    bearer = wizard(2, spell("Bolt", 8), spell("Second"), items=["Starwood Staff"])
    battle = game(army(bearer), army(dispel_dice=4))
    battle.cast("Bolt", 2)
    outcomes = battle.outcomes()
    assert outcomes[OUTCOME_CAST + 8] == pytest.approx(6 / 36)
    assert outcomes[OUTCOME_CAST + 12] == pytest.approx(2 / 36)
    battle.roll(5, 6)
    battle.dispel(6, 5)
    assert battle.points == 10


ROD, PERIAPT, BOOK = "Rod of Power", "Black Periapt", "Book of Hoeth"
BALANCE = "Master Rune of Balance"
SEAL, SIGIL, SPELLEATER = "Seal of Destruction", "Sigil of Asuryan", "Spelleater Rune"
BOLTS = wizard(2, spell("Bolt"), spell("Second"))


def storer(item: str, phases: int = 6, **keys: Any) -> Game:
    foe = army(wizard(1, spell("Reply", 3), spell("More"), name="Foe"))
    return game(army(BOLTS | {"items": [item]}), foe, phases=phases, **keys)


def store(battle: Game, dice: int, most: int) -> None:
    battle.stop()
    check(battle, node=Node.STORE_DICE, mover=0)
    assert battle.legal_actions() == [FIRST_DICE + n for n in range(most + 1)]
    battle.act(FIRST_DICE + dice)


def test_a_rod_of_power_keeps_up_to_three_power_dice_of_ones_own_phase() -> None:
    store(storer(ROD), 0, most=3)
    battle = storer(ROD, **miscast({"kind": "stored_dice_lost"}))
    twin = battle.copy()
    battle.cast_with("Bolt", 1, 2, 4)
    battle.let_through()
    store(battle, 1, most=1)
    twin.state.items[0, 0] = 2
    twin.miscast()
    assert twin.state.items[0, 0] == 0
    battle = storer(ROD, phases=1)
    battle.stop()
    assert battle.is_over  # no dice are stored in the last phase


@pytest.mark.parametrize(("stored", "die", "power"), [(3, 3, 7), (3, 2, 4), (1, 1, 5)])
def test_stored_dice_come_back_on_a_d6_of_their_number(stored: int, die: int, power: int) -> None:
    battle = storer(ROD)
    store(battle, stored, most=3)
    # no stored dice return in the enemy's phase
    check(battle, active=1, dispel=2 + 1, node=Node.NOMINATE)
    battle.stop()
    check(battle, node=Node.ROLL_STORED, mover=0)
    twin = battle.copy()
    twin.state.mover = 1  # for example after the enemy's Panic test
    next_stored(twin.packed, twin.state)
    assert twin.key() == battle.key()
    works = (7 - stored) / 6
    expected = {OUTCOME_FAIL: 1 - works, OUTCOME_WORKS: works} if stored > 1 else {OUTCOME_WORKS: 1}
    assert battle.outcomes() == pytest.approx(expected)
    battle.roll(die)
    check(battle, power=power, items=[0, 0])


def test_a_periapt_keeps_a_power_die_for_the_next_dispels_and_a_dispel_die_for_casts() -> None:
    battle = storer(PERIAPT)
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


@pytest.mark.parametrize(("item", "uses", "phases", "ruleset", "rules", "node"), [
    (SPELLEATER, 0, 6, "6e", {}, Node.NOMINATE),  # it cannot be forgotten
    (SIGIL, 0, 6, "6e", {"destroy_bound": True}, Node.ROLL_FORGET),
    (SIGIL, 0, 6, "7e", {"destroy_bound": False}, Node.NOMINATE),
    ("Rune of Spellbreaking", 0, 6, "7e", {}, Node.NOMINATE),
    (SIGIL, 2, 6, "7e", {}, Node.ROLL_FORGET), (SIGIL, 0, 1, "7e", {}, Node.END),
    (SIGIL, 1, 6, "7e", {}, Node.END),  # no uses are left
])  # fmt: skip
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
