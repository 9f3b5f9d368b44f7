"""Seventh-edition dice: each wizard's own reserve, and a pool of two."""

from typing import Any

import pytest

from tests.support.builders import PASS, Data, Game, army, game, lasting, miscast, spell, wizard
from wfb_gym.engine import actions
from wfb_gym.engine.state import Node

from .facts import check

DICE = actions.FIRST_DICE


def duo(lord: Data | None = None, **keys: Any) -> Game:
    mage = wizard(4, spell("Storm", 11, 60), spell("Flame"), name="Lord", **(lord or {}))
    boy = wizard(1, spell("Spark"), spell("Gleam"), name="Apprentice")
    return game(army(mage, boy), ruleset="7e", **keys)


def test_own_dice_and_pool_in_any_combination_up_to_the_limit() -> None:
    battle = duo()
    check(battle, power=2, own_dice=[4, 1])
    twin = battle.copy()
    battle.nominate("Spark")
    assert battle.node == Node.RESERVE_DICE
    assert battle.legal_actions() == [DICE, DICE + 1]
    other = battle.copy()
    battle.act(DICE + 1)
    assert battle.legal_actions() == [DICE, DICE + 1]
    other.act(DICE)
    assert other.legal_actions() == [DICE + 1, DICE + 2]
    twin.nominate("Storm")  # at most a die more than the level in all
    assert twin.legal_actions()[-1] == DICE + 4
    twin.act(DICE + 4)
    assert twin.most_dice() == 1


def test_another_wizards_reserve_cannot_be_used() -> None:
    battle = duo()
    twin = battle.copy()
    battle.cast_with("Spark", 1, 2, own=1)
    battle.cast_with("Gleam", 1)
    check(battle, power=0, own_dice=[4, 0], castable={"Storm", "Flame"})
    twin.cast_with("Storm", 1, 2, 2, 3, own=3)  # dice of both kinds are spent
    check(twin, power=1, own_dice=[1, 1])


@pytest.mark.parametrize(
    ("keys", "own_dice"), [({"status": "fleeing"}, [0, 1]), ({"reserve": 1}, [1, 1])]
)
def test_fleeing_and_dead_wizards_have_no_reserve_and_a_reserve_may_be_fixed(
    keys: Data, own_dice: list[int]
) -> None:
    check(duo(keys), own_dice=own_dice)
    battle = duo(phases=2, **miscast({"kind": "caster_removed"}))
    battle.miscast("Storm", own=2)
    check(battle, power=2, own_dice=[0, 1])


def curse(name: str = "Curse") -> Data:
    return lasting(name, 7, 0, worth_per_phase=5, in_play=True)


def test_a_dispel_of_a_spell_in_play_names_one_wizard_whose_own_dice_join() -> None:
    two = army(wizard(1, curse(), name="Foe"), wizard(1, curse("Hex"), name="Other"))
    battle = duo(dispeller=two)
    battle.stop()
    battle.try_in_play("Curse", 1)
    battle.dispel(2)
    while battle.mover == 1:
        battle.act(PASS)
    check(battle, node=Node.IN_PLAY, own_dice=[4, 1])  # the attempt has left them
    battle.try_in_play("Curse", 1)
    wizards = [actions.FIRST_WIZARD, actions.FIRST_WIZARD + 1]
    assert battle.legal_actions() == [DICE + 1, DICE + 2, *wizards]
    battle.act(actions.FIRST_WIZARD)
    assert battle.node == Node.DISPEL_RESERVE
    assert battle.legal_actions() == [DICE + n for n in (1, 2, 3, 4)]
    twin = battle.copy()
    battle.act(DICE + 4)
    assert battle.node == Node.DISPEL_POOL
    assert battle.legal_actions() == [DICE, DICE + 1, DICE + 2]
    battle.act(DICE + 2)
    assert battle.dice_to_roll == 6  # dispels have no level limit
    battle.roll(1, 1, 1, 1, 1, 1)
    assert battle.is_in_play("Curse", 1)
    twin.act(DICE + 1)
    twin.act(DICE + 2)
    twin.roll(2, 2, 3)
    check(twin, power=0, own_dice=[3, 1], in_play={"Hex"})


def test_the_opponents_dispel_pool_is_shared_in_this_edition_too() -> None:
    mage = wizard(2, spell("Storm", 8, 60), spell("Flame"), name="Lord")
    foe = army(wizard(4, curse(), name="Foe"))
    battle = game(army(mage), foe, ruleset="7e")
    assert battle.state.dispel == 4
    battle.cast_with("Storm", 4, 4, own=2)
    assert battle.legal_actions() == [PASS, *(DICE + n for n in (1, 2, 3, 4))]


@pytest.mark.parametrize("index", [0, 1])
def test_the_answer_to_a_free_spell_may_be_joined_by_any_wizard(index: int) -> None:
    foe = army(wizard(1, spell("Reply", 6, 25), name="Foe"))
    battle = duo(dispeller=foe, **miscast({"kind": "free_spell"}))
    battle.miscast("Storm", own=2)
    battle.nominate("Reply")
    battle.act(actions.FIRST_WIZARD + index)
    if battle.node == Node.DISPEL_RESERVE:
        battle.act(DICE + 1)
    battle.act(DICE + 1)
    battle.roll(3, 3)
    check(battle, points=0, own_dice=[2 - (index == 0), 1 - (index == 1)])
