"""Battles of several phases: lasting effects, dice and spells that return, permanent losses."""

from typing import Any

import pytest

from tests.support.builders import Data, Game, army, game, known, miscast, spell, unit, wizard
from wfb_gym.engine.outcomes import OUTCOME_FAIL, OUTCOME_WORKS
from wfb_gym.engine.state import BARS_ITEMS, Node
from wfb_gym.packing.records import Lock


def mishap(*effects: Data, phases: int = 5, **mage: Any) -> Game:
    """Return a battle with a miscast in its first phase, and a second wizard who can still cast."""
    first = wizard(2, spell("Bolt"), spell("Second"), name="First", **mage)
    side = army(first, wizard(1, spell("Spark"), name="Other"))
    foe = army(wizard(2, spell("Reply")))
    battle = game(side, foe, phases=phases, **miscast(*effects))
    battle.cast("Bolt", 2)
    battle.roll(1, 1)
    battle.roll(3, 4)
    return battle


def next_phase(battle: Game) -> None:
    """Cast nothing more in this phase."""
    battle.stop()


def test_armies_take_turns_as_the_active_side() -> None:
    side = army(wizard(1, spell()))
    battle = game(side, side, phases=4)
    seen = []
    while not battle.is_over:
        seen.append((battle.active, battle.mover, int(battle.state.phase)))
        battle.stop()
    assert seen == [(0, 0, 0), (1, 1, 1), (0, 0, 2), (1, 1, 3)]


def test_a_spell_may_be_tried_once_in_every_phase() -> None:
    battle = game(army(wizard(2, spell(), spell("Second"))), army(), phases=3)
    battle.cast("Bolt", 1)
    battle.roll(2)
    assert not battle.can_cast("Bolt")
    next_phase(battle)
    assert battle.state.phase == 2
    assert battle.can_cast("Bolt")


def test_points_of_the_second_army_count_against_the_first() -> None:
    side = army(wizard(2, spell(), spell("Second")))
    battle = game(side, side, phases=2)
    next_phase(battle)
    battle.cast("Bolt", 2)
    assert battle.roll(6, 6) == -10


def test_a_lock_of_this_phase_is_over_in_the_next() -> None:
    battle = mishap({"kind": "locked", "until": "phase_end"})
    assert battle.state.lock[0, 0] == Lock.PHASE_END
    next_phase(battle)
    assert battle.state.lock[0, 0] == Lock.NONE
    next_phase(battle)
    assert battle.can_cast("Second")


def test_a_lock_until_his_next_phase_outlasts_the_enemys() -> None:
    battle = mishap({"kind": "locked", "until": "own_next_phase", "bars_items": True})
    next_phase(battle)
    assert battle.active == 1
    assert battle.state.lock[0, 0] == Lock.OWN_NEXT_PHASE + BARS_ITEMS
    next_phase(battle)
    assert battle.state.lock[0, 0] == Lock.NONE
    assert battle.can_cast("Second")


def test_a_lock_until_a_six_is_rolled_for_in_each_of_his_own_phases() -> None:
    battle = mishap({"kind": "locked", "until": "six"})
    next_phase(battle)
    assert battle.node == Node.NOMINATE  # the enemy's phase: no roll
    next_phase(battle)
    assert battle.node == Node.ROLL_LOCK
    assert battle.dice_to_roll == 1
    assert battle.outcomes() == pytest.approx({OUTCOME_FAIL: 5 / 6, OUTCOME_WORKS: 1 / 6})
    battle.roll(5)
    assert not battle.can_cast("Second")
    assert battle.can_cast("Spark")
    assert battle.state.power == 5  # it still generates dice
    next_phase(battle)
    next_phase(battle)
    battle.roll(6)
    assert battle.can_cast("Second")


def test_each_locked_wizard_rolls() -> None:
    mages = [wizard(2, spell(), spell("More"), name=name) for name in "ABC"]
    battle = game(army(*mages), phases=3, **miscast({"kind": "locked", "until": "six"}))
    for index in (0, 2):
        battle.cast("Bolt", 2, wizard=index)
        battle.roll(1, 1)
        battle.roll(3, 4)
    next_phase(battle)
    battle.roll(6)
    assert battle.node == Node.ROLL_LOCK
    battle.roll(1)
    assert battle.can_cast("Bolt", 0)
    assert battle.can_cast("Bolt", 1)
    assert not battle.can_cast("Bolt", 2)


def test_a_forgotten_spell_does_not_come_back() -> None:
    battle = mishap({"kind": "spell_forgotten"})
    for _ in range(2):
        next_phase(battle)
        next_phase(battle)
        assert not battle.can_cast("Bolt")
        assert battle.can_cast("Second")


def test_a_forgotten_spell_cannot_be_the_free_spell() -> None:
    effects = {"kind": "spell_forgotten"}, {"kind": "free_spell"}
    side = army(wizard(2, spell(), name="A"), wizard(1, spell("Spark"), name="B"))
    foe = army(wizard(2, spell("Reply"), spell("More"), name="Foe"))
    battle = game(side, foe, phases=2, **miscast(*effects))
    battle.cast("Bolt", 2)
    battle.roll(1, 1)
    battle.roll(3, 4)
    battle.act(0)
    next_phase(battle)
    battle.cast("Reply", 2)
    battle.roll(1, 1)
    battle.roll(3, 4)
    assert battle.node == Node.FREE_SPELL
    assert not battle.can_cast("Bolt")
    assert battle.can_cast("Spark")


def test_a_lost_level_makes_fewer_dice_ever_after() -> None:
    battle = mishap({"kind": "level_lost"})
    next_phase(battle)
    assert battle.state.dispel == 4
    next_phase(battle)
    assert battle.state.power == 4
    battle.nominate("Bolt")
    assert battle.most_dice() == 2


def test_a_wizard_at_level_0_makes_no_dice() -> None:
    battle = mishap({"kind": "level_lost"}, {"kind": "level_lost"})
    next_phase(battle)
    assert battle.state.dispel == 3
    next_phase(battle)
    assert battle.state.power == 3


def test_a_dead_wizard_makes_no_dice_in_later_phases() -> None:
    battle = mishap({"kind": "caster_removed"}, items=["Power Familiar"])
    next_phase(battle)
    assert battle.state.dispel == 3
    next_phase(battle)
    assert battle.state.power == 3


def test_wounds_are_not_healed() -> None:
    battle = mishap({"kind": "caster_hit", "strength": 10}, wounds=3)
    battle.roll(2, 1, 1)
    next_phase(battle)
    next_phase(battle)
    assert battle.state.wounds[0, 0] == 2


def test_models_in_base_contact_do_not_come_back() -> None:
    touching = [{"side": "own", "models": 3}]
    battle = mishap({"kind": "base_contact_hit", "strength": 10}, base_contact=touching)
    battle.roll(2, 1, 1, 2, 1, 1, 1, 1, 1)
    next_phase(battle)
    next_phase(battle)
    assert battle.state.contacts[0] == 1


def test_losses_of_units_and_heroes_last() -> None:
    mage = wizard(4, known("Fire Ball"), known("Forked Lightning"))
    hero = {"name": "Captain", "wounds": 3}
    foes = army(units=[unit(models=4, wounds=3)], heroes=[hero], dispel_dice=0)
    battle = game(army(mage, power_dice=9), foes, phases=6)
    battle.works("Fire Ball", "Spears")
    battle.roll(2, *(6, 1, 1) * 2)
    battle.works("Forked Lightning", "Captain")
    battle.roll(1, 6, 1, 1)
    assert battle.state.phase == 2
    assert battle.units_left(1) == [10]
    assert battle.state.wounds[1, 0] == 2


def test_a_scroll_that_was_read_is_gone_for_the_battle() -> None:
    side = army(wizard(2, spell(), spell("Second"), items=["Dispel Scroll"]))
    battle = game(side, side, phases=3)
    battle.cast("Bolt", 2)
    battle.roll(3, 4)
    battle.use("Dispel Scroll")
    next_phase(battle)
    next_phase(battle)
    battle.cast("Bolt", 2)
    battle.roll(3, 4)
    assert not battle.can_use("Dispel Scroll")


def test_every_end_is_one_position() -> None:
    ends = set()
    for faces in [(2, 2), (6, 6)]:
        battle = game(army(wizard(2, spell(), spell("Second"))))
        battle.cast("Bolt", 2)
        battle.roll(*faces)
        battle.stop()
        assert battle.is_over
        assert battle.legal_actions() == []
        ends.add(battle.key())
    assert len(ends) == 1


def test_a_copy_is_independent() -> None:
    battle = game(army(wizard(2, spell(), spell("Second"))))
    twin = battle.copy()
    assert twin.key() == battle.key()
    battle.cast("Bolt", 2)
    assert twin.key() != battle.key()
    assert twin.node == Node.NOMINATE
