"""Seventh-edition dice: each wizard's own reserve, and a pool of two."""

from typing import Any

import pytest

from tests.support.builders import PASS, Data, Game, army, game, lasting, miscast, spell, wizard
from wfb_gym.engine import actions
from wfb_gym.engine.state import Node

from .facts import check

DICE = actions.FIRST_DICE


LORD = wizard(4, spell("Storm", 11, 60), spell("Flame"), name="Lord")
BOY = wizard(1, spell("Spark"), spell("Gleam"), name="Apprentice")


def duo(**keys: Any) -> Game:
    """Return a level 4 lord and a level 1 apprentice with spells of their own."""
    return game(army(LORD, BOY), ruleset="7e", **keys)


def test_reserves_and_pool() -> None:
    check(duo(), power=2, own_dice=[4, 1])


def test_the_totals_are_those_of_the_sixth_edition() -> None:
    side = army(wizard(3, spell()), wizard(1, name="B"))
    sixth, seventh = game(side, side), game(side, side, ruleset="7e")
    assert sixth.state.power == seventh.state.power + seventh.state.own_dice.sum()
    assert sixth.state.dispel == seventh.state.dispel


def test_own_dice_and_pool_in_any_combination_up_to_the_limit() -> None:
    battle = duo()
    battle.nominate("Spark")
    assert battle.node == Node.RESERVE_DICE
    assert battle.legal_actions() == [DICE, DICE + 1]
    battle.act(DICE + 1)
    assert battle.legal_actions() == [DICE, DICE + 1]
    battle = duo()
    battle.nominate("Spark")
    battle.act(DICE)
    assert battle.legal_actions() == [DICE + 1, DICE + 2]


def test_at_most_a_die_more_than_the_level_in_all() -> None:
    battle = duo()
    battle.nominate("Storm")
    assert battle.legal_actions()[-1] == DICE + 4
    battle.act(DICE + 4)
    assert battle.most_dice() == 1


def test_another_wizards_reserve_cannot_be_used() -> None:
    battle = duo()
    battle.cast_with("Spark", 1, 2, own=1)
    battle.cast_with("Gleam", 1)
    check(battle, power=0, own_dice=[4, 0], castable={"Storm", "Flame"})


def test_a_wizard_without_any_dice_cannot_cast() -> None:
    battle = duo()
    battle.cast_with("Spark", 1, 2, own=1)
    battle.cast_with("Storm", 2)
    assert not battle.can_cast("Gleam")
    assert battle.can_cast("Flame")


def test_dice_of_both_kinds_are_spent_cast_or_not() -> None:
    battle = duo()
    battle.cast_with("Storm", 1, 2, 2, 3, own=3)
    check(battle, power=1, own_dice=[1, 1])


def test_a_dead_wizards_reserve_is_gone() -> None:
    battle = duo(**miscast({"kind": "caster_removed"}))
    battle.miscast("Storm", own=2)
    check(battle, power=2, own_dice=[0, 1])


@pytest.mark.parametrize(
    ("keys", "own_dice"), [({"status": "fleeing"}, [0, 1]), ({"reserve": 1}, [1, 1])]
)
def test_a_fleeing_wizard_has_no_reserve_and_a_reserve_may_be_fixed(
    keys: Data, own_dice: list[int]
) -> None:
    check(game(army(LORD | keys, BOY), ruleset="7e"), own_dice=own_dice)


def curse(name: str = "Curse") -> Data:
    return lasting(name, 7, 0, worth_per_phase=5, in_play=True)


FOE = army(wizard(1, curse(), name="Foe"))


def in_play(foe: Data = FOE) -> Game:
    """Return the end of a phase without casts: the duo may dispel the enemy's Curse."""
    battle = duo(dispeller=foe)
    battle.stop()
    while battle.mover == 1:
        battle.act(PASS)
    return battle


def test_a_dispel_of_a_spell_in_play_names_one_wizard_whose_own_dice_join() -> None:
    battle = in_play()
    battle.try_in_play("Curse", 1)
    wizards = [actions.FIRST_WIZARD, actions.FIRST_WIZARD + 1]
    assert battle.legal_actions() == [DICE + 1, DICE + 2, *wizards]
    battle.act(actions.FIRST_WIZARD)
    assert battle.node == Node.DISPEL_RESERVE
    assert battle.legal_actions() == [DICE + n for n in (1, 2, 3, 4)]
    battle.act(DICE + 4)
    assert battle.node == Node.DISPEL_POOL
    assert battle.legal_actions() == [DICE, DICE + 1, DICE + 2]
    battle.act(DICE + 2)
    assert battle.dice_to_roll == 6  # dispels have no level limit
    battle.roll(1, 1, 1, 1, 1, 1)
    assert battle.points == -5


def test_the_dice_of_other_wizards_stay_with_them() -> None:
    two = army(wizard(1, curse(), name="Foe"), wizard(1, curse("Hex"), name="Other"))
    battle = in_play(two)
    battle.try_in_play("Curse", 1)
    battle.act(actions.FIRST_WIZARD)
    battle.act(DICE + 1)
    battle.act(DICE + 2)
    battle.roll(2, 2, 3)
    check(battle, power=0, own_dice=[3, 1])


def test_the_opponents_dispel_pool_is_shared_in_this_edition_too() -> None:
    mage = wizard(2, spell("Storm", 8, 60), spell("Flame"), name="Lord")
    foe = army(wizard(4, curse(), name="Foe"))
    battle = game(army(mage), foe, ruleset="7e")
    assert battle.state.dispel == 4
    battle.cast_with("Storm", 4, 4, own=2)
    assert battle.legal_actions() == [PASS, *(DICE + n for n in (1, 2, 3, 4))]


def test_the_opponents_attempts_leave_the_active_players_own_dice() -> None:
    battle = game(
        army(wizard(4, spell("Storm", 11, 60), name="Lord"), power_dice=0),
        army(wizard(1, curse(), name="Foe"), dispel_dice=2),
        ruleset="7e",
    )
    battle.stop()
    battle.try_in_play("Curse", 1)
    battle.dispel(2)
    assert battle.is_in_play("Curse", 1)
    if battle.mover == 1:
        battle.act(PASS)
    assert battle.node == Node.IN_PLAY
    assert battle.state.own_dice[0] == 4
    assert battle.can(battle.in_play_action("Curse", 1))


@pytest.mark.parametrize("name", ["Lord", "Apprentice"])
def test_the_answer_to_a_free_spell_may_be_joined_by_any_wizard(name: str) -> None:
    foe = army(wizard(1, spell("Reply", 6, 25), name="Foe"))
    battle = duo(dispeller=foe, **miscast({"kind": "free_spell"}))
    battle.miscast("Storm", own=2)
    battle.nominate("Reply")
    wizard_index = ["Lord", "Apprentice"].index(name)
    battle.act(actions.FIRST_WIZARD + wizard_index)
    if battle.node == Node.DISPEL_RESERVE:
        battle.act(DICE + 1)
    battle.act(DICE + 1)
    battle.roll(3, 3)
    assert battle.points == 0
