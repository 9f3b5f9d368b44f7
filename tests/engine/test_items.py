"""Items that are declared with a cast, add dice, or add to rolls."""

from typing import Any

import pytest

from tests.support.builders import PASS, Game, army, game, lasting, miscast, spell, wizard
from wfb_gym.engine import actions
from wfb_gym.engine.outcomes import OUTCOME_CAST, OUTCOME_IRRESISTIBLE
from wfb_gym.engine.state import Node

from .facts import check

STONE = "Power Stone"
VALAYA, BINDING = "Master Rune of Valaya", "Master Rune of Spellbinding"


def holder(*items: str, level: int = 2, **keys: Any) -> Game:
    mage = wizard(level, spell("Bolt", 8), spell("Second", 8), items=list(items or (STONE,)))
    return game(army(mage), **miscast(), **keys)


def cast_with_stone(battle: Game, name: str, *faces: int) -> None:
    battle.cast(name, 1, item=STONE)
    battle.roll(*faces)


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
    assert battle.legal_actions() == [actions.FIRST_DICE + n for n in (1, 2, 3)]
    battle.act(actions.FIRST_DICE + 1)
    battle.roll(2, 1, 2)
    cast_with_stone(battle, "Second", 2, 1, 3)
    check(battle, points=0, node=Node.END)
    battle = holder(STONE, phases=3)
    cast_with_stone(battle, "Bolt", 2, 1, 2)
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
