"""Battles of several phases: lasting effects, dice and spells that return, permanent losses."""

from typing import Any

import pytest

from tests.support.builders import Data, Game, army, game, miscast, spell, wizard
from wfb_gym.engine.outcomes import OUTCOME_FAIL, OUTCOME_WORKS
from wfb_gym.engine.state import BARS_ITEMS, Node
from wfb_gym.packing.records import Lock

from .facts import check


def mishap(*effects: Data, **mage: Any) -> Game:
    first = wizard(2, spell("Bolt"), spell("Second"), name="First", **mage)
    side = army(first, wizard(1, spell("Spark"), name="Other"))
    battle = game(side, army(wizard(2, spell("Reply"))), phases=5, **miscast(*effects))
    battle.miscast()
    return battle


def test_armies_take_turns_as_the_active_side() -> None:
    """Each may try a spell once in each of its phases; its points count against the other."""
    side = army(wizard(2, spell(), spell("Second")))
    battle = game(side, side, phases=4)
    seen = []
    while not battle.is_over:
        twin = battle.copy()
        assert twin.key() == battle.key()
        assert twin.cast_with("Bolt", 6, 6) == (-10 if battle.active else 10)
        check(twin, castable={"Second"})
        assert twin.key() != battle.key()
        seen.append((battle.active, battle.mover, int(battle.state.phase)))
        check(battle, castable={"Bolt", "Second"})
        battle.stop()
    assert seen == [(0, 0, 0), (1, 1, 1), (0, 0, 2), (1, 1, 3)]


@pytest.mark.parametrize(
    ("keys", "locks"),
    [
        ({"until": "phase_end"}, [Lock.PHASE_END, Lock.NONE]),
        ({"until": "own_next_phase", "bars_items": True}, [Lock.OWN_NEXT_PHASE + BARS_ITEMS] * 2),
    ],
)
def test_locks_end_in_time(keys: Data, locks: list[int]) -> None:
    battle = mishap({"kind": "locked", **keys})
    check(battle, lock=locks[0], active=0)
    battle.stop()
    check(battle, lock=locks[1], active=1)
    battle.stop()
    check(battle, lock=Lock.NONE, castable={"Bolt", "Second", "Spark"})


def test_a_lock_until_a_six_is_rolled_for_in_each_of_his_own_phases() -> None:
    mages = [wizard(2, spell(), spell("More"), name=name) for name in "ABC"]
    foe = army(wizard(2, spell("Reply")))
    battle = game(army(*mages), foe, phases=5, **miscast({"kind": "locked", "until": "six"}))
    battle.miscast(wizard=0)
    battle.miscast(wizard=2)
    battle.stop()
    assert battle.node == Node.NOMINATE  # the enemy's phase: no roll
    battle.stop()
    assert battle.node == Node.ROLL_LOCK
    assert battle.dice_to_roll == 1
    assert battle.outcomes() == pytest.approx({OUTCOME_FAIL: 5 / 6, OUTCOME_WORKS: 1 / 6})
    battle.roll(6)
    assert battle.node == Node.ROLL_LOCK
    battle.roll(1)
    assert [battle.can_cast("Bolt", index) for index in range(3)] == [True, True, False]
    assert battle.state.power == 2 + 6  # he still generates dice
    battle.stop()
    battle.stop()
    battle.roll(6)
    assert battle.can_cast("Bolt", 2)


def test_a_forgotten_spell_does_not_come_back_and_cannot_be_the_free_spell() -> None:
    battle = mishap({"kind": "spell_forgotten"}, {"kind": "free_spell"})
    battle.act(0)
    battle.stop()
    battle.miscast("Reply")
    check(battle, node=Node.FREE_SPELL, castable={"Second", "Spark"})
    battle.act(0)
    check(battle, phase=2, castable={"Second", "Spark"})


@pytest.mark.parametrize(
    ("effects", "dispel", "power"),
    [(["level_lost"], 4, 4), (["level_lost"] * 2, 3, 3), (["caster_removed"], 3, 3)],
)
def test_lost_levels_and_wizards_make_fewer_dice_ever_after(
    effects: list[str], dispel: int, power: int
) -> None:
    items = ["Power Familiar"] if "caster_removed" in effects else []
    battle = mishap(*({"kind": kind} for kind in effects), items=items)
    battle.stop()
    assert battle.state.dispel == dispel
    battle.stop()
    assert battle.state.power == power
