"""Battles of several phases: lasting effects, dice and spells that return, permanent losses."""

from typing import Any

import pytest

from tests.support.builders import Data, Game, army, game, known, miscast, spell, unit, wizard
from wfb_gym.engine.outcomes import OUTCOME_FAIL, OUTCOME_WORKS
from wfb_gym.engine.state import BARS_ITEMS, Node
from wfb_gym.packing.records import Lock

from .facts import check

TWO = army(wizard(2, spell(), spell("Second")))


def mishap(*effects: Data, **mage: Any) -> Game:
    """Return a battle with a miscast in its first phase, and a second wizard who can still cast."""
    first = wizard(2, spell("Bolt"), spell("Second"), name="First", **mage)
    side = army(first, wizard(1, spell("Spark"), name="Other"))
    battle = game(side, army(wizard(2, spell("Reply"))), phases=5, **miscast(*effects))
    battle.miscast()
    return battle


def test_armies_take_turns_as_the_active_side() -> None:
    side = army(wizard(1, spell()))
    battle = game(side, side, phases=4)
    seen = []
    while not battle.is_over:
        seen.append((battle.active, battle.mover, int(battle.state.phase)))
        battle.stop()
    assert seen == [(0, 0, 0), (1, 1, 1), (0, 0, 2), (1, 1, 3)]


def test_a_spell_may_be_tried_once_in_every_phase() -> None:
    battle = game(TWO, army(), phases=3)
    battle.cast_with("Bolt", 2)
    assert not battle.can_cast("Bolt")
    battle.stop()
    check(battle, phase=2, castable={"Bolt", "Second"})


def test_points_of_the_second_army_count_against_the_first() -> None:
    battle = game(TWO, TWO, phases=2)
    battle.stop()
    assert battle.cast_with("Bolt", 6, 6) == -10


@pytest.mark.parametrize(
    ("keys", "locks"),
    [
        ({"until": "phase_end"}, [Lock.PHASE_END, Lock.NONE]),
        (
            {"until": "own_next_phase", "bars_items": True},
            [Lock.OWN_NEXT_PHASE + BARS_ITEMS, Lock.OWN_NEXT_PHASE + BARS_ITEMS],
        ),
    ],
    ids=["of this phase", "until his next phase"],
)
def test_locks_end_in_time(keys: Data, locks: list[int]) -> None:
    battle = mishap({"kind": "locked", **keys})
    check(battle, lock=locks[0], active=0)
    battle.stop()
    check(battle, lock=locks[1], active=1)
    battle.stop()
    check(battle, lock=Lock.NONE, castable={"Bolt", "Second", "Spark"})


def test_a_lock_until_a_six_is_rolled_for_in_each_of_his_own_phases() -> None:
    battle = mishap({"kind": "locked", "until": "six"})
    battle.stop()
    assert battle.node == Node.NOMINATE  # the enemy's phase: no roll
    battle.stop()
    assert battle.node == Node.ROLL_LOCK
    assert battle.dice_to_roll == 1
    assert battle.outcomes() == pytest.approx({OUTCOME_FAIL: 5 / 6, OUTCOME_WORKS: 1 / 6})
    battle.roll(5)
    check(battle, castable={"Spark"}, power=5)  # it still generates dice
    battle.stop()
    battle.stop()
    battle.roll(6)
    assert battle.can_cast("Second")


def test_each_locked_wizard_rolls() -> None:
    mages = [wizard(2, spell(), spell("More"), name=name) for name in "ABC"]
    battle = game(army(*mages), phases=3, **miscast({"kind": "locked", "until": "six"}))
    battle.miscast(wizard=0)
    battle.miscast(wizard=2)
    battle.stop()
    battle.roll(6)
    assert battle.node == Node.ROLL_LOCK
    battle.roll(1)
    assert [battle.can_cast("Bolt", index) for index in range(3)] == [True, True, False]


def test_a_forgotten_spell_does_not_come_back() -> None:
    battle = mishap({"kind": "spell_forgotten"})
    for phase in (2, 4):
        battle.stop()
        battle.stop()
        check(battle, phase=phase, castable={"Second", "Spark"})


def test_a_forgotten_spell_cannot_be_the_free_spell() -> None:
    effects = {"kind": "spell_forgotten"}, {"kind": "free_spell"}
    side = army(wizard(2, spell(), name="A"), wizard(1, spell("Spark"), name="B"))
    foe = army(wizard(2, spell("Reply"), spell("More"), name="Foe"))
    battle = game(side, foe, phases=2, **miscast(*effects))
    battle.miscast()
    battle.act(0)
    battle.stop()
    battle.miscast("Reply")
    check(battle, node=Node.FREE_SPELL, castable={"Spark"})


@pytest.mark.parametrize(
    ("effects", "mage", "dispel", "power"),
    [
        ([{"kind": "level_lost"}], {}, 4, 4),
        ([{"kind": "level_lost"}] * 2, {}, 3, 3),
        ([{"kind": "caster_removed"}], {"items": ["Power Familiar"]}, 3, 3),
    ],
    ids=["level 1", "level 0", "dead"],
)
def test_lost_levels_and_wizards_make_fewer_dice_ever_after(
    effects: list[Data], mage: Data, dispel: int, power: int
) -> None:
    battle = mishap(*effects, **mage)
    battle.stop()
    assert battle.state.dispel == dispel
    battle.stop()
    assert battle.state.power == power
    if power == 4:
        battle.nominate("Bolt")
        assert battle.most_dice() == 2


@pytest.mark.parametrize(
    ("effect", "mage", "faces", "expected"),
    [
        ({"kind": "caster_hit", "strength": 10}, {"wounds": 3}, (2, 1, 1), {"wounds": 2}),
        (
            {"kind": "base_contact_hit", "strength": 10},
            {"base_contact": [{"side": "own", "models": 3}]},
            (2, 1, 1, 2, 1, 1, 1, 1, 1),
            {"contacts": [1, 0]},
        ),
    ],
    ids=["wounds", "models in base contact"],
)
def test_losses_are_permanent(
    effect: Data, mage: Data, faces: tuple[int, ...], expected: Data
) -> None:
    battle = mishap(effect, **mage)
    battle.roll(*faces)
    battle.stop()
    battle.stop()
    check(battle, phase=2, **expected)


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
    battle.cast_with("Bolt", 3, 4)
    battle.use("Dispel Scroll")
    battle.stop()
    battle.stop()
    battle.cast_with("Bolt", 3, 4)
    assert not battle.can_use("Dispel Scroll")


def test_a_copy_is_independent() -> None:
    battle = game(TWO)
    twin = battle.copy()
    assert twin.key() == battle.key()
    battle.cast("Bolt", 2)
    assert twin.key() != battle.key()
    assert twin.node == Node.NOMINATE


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
