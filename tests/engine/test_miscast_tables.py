"""The bundled miscast tables, row by row."""

from fractions import Fraction as F
from typing import Any

import pytest

from tests.support.builders import Data, Game, army, game, lasting, spell, unit, wizard
from wfb_gym.engine.state import BARS_ITEMS, Node
from wfb_gym.packing.records import Lock

from .enumeration import wounds_of_d6_hits
from .facts import check

WAYS = {2: 1, 3: 2, 4: 3, 5: 4, 6: 5, 7: 6, 8: 5, 9: 4, 10: 3, 11: 2, 12: 1}
CONTACT = {"side": "own", "models": 1, "points": 7}
CURSE = lasting("Curse", 4, 0, worth_per_phase=1, in_play=True)
FOE = wizard(2, spell("Cheap", 5, 25), spell("Dear", 12, 70), name="Foe")
ENEMY = army(FOE, wizard(1, CURSE, name="Keeper"))
"""Two spells, one worth as much as Bolt, one more, and a curse in play."""
OTHER = wizard(2, spell("Spark"), name="Other")


def mishap(total: int, table: str) -> Game:
    """Miscast Bolt with a three-wound wizard with a Power Stone, and roll `total` on the table."""
    spells = spell("Bolt", 5, 10), spell("Second", 5), lasting(in_play=True)
    keys: Data = {"wounds": 3, "points": 90, "items": ["Power Stone"], "base_contact": [CONTACT]}
    side, rules = army(wizard(4, *spells, **keys), OTHER), {"miscast_table": table}
    ruleset = "7e" if (total, table) == (7, "7e") else "6e"  # with dice of his own
    battle = game(side, ENEMY, phases=3, ruleset=ruleset, rules=rules)
    battle.miscast("Bolt", (total - 6, 6) if total > 7 else (1, total - 1))
    return battle


HIM, NEAR = -30, -7
"""Points of a hit on the caster, and on the model in contact."""
BARRED, STOPPED = Lock.OWN_NEXT_PHASE + BARS_ITEMS, Lock.PHASE_END + BARS_ITEMS
ALL_BUT_BOLT = {"Second", "Ward", "Spark"}
CASES: list[tuple[str, tuple[int, ...], list[tuple[float, int]], Data]] = [
    ("6e", (2,), [(5 / 6, HIM), (5 / 6, NEAR)], {"castable": ALL_BUT_BOLT}),
    ("6e", (3,), [], {"points": 0, "lock": Lock.SIX, "castable": {"Spark"}}),
    ("6e", (4,), [], {"node": Node.FREE_SPELL, "mover": 1, "castable": {"Cheap"}}),
    ("6e", (5, 6), [], {"lock": BARRED, "in_play": {"Curse"}, "castable": {"Spark"}}),
    ("6e", (7,), [], {"node": Node.IN_PLAY, "power": 0}),
    ("6e", (8, 9), [(2 / 3, HIM)], {"in_play": set(), "active": 1}),
    ("6e", (10, 11), [(5 / 6, HIM)], {"knows_bolt": False, "castable": ALL_BUT_BOLT}),
    ("6e", (12,), [], {"points": 0, "level": 3, "knows_bolt": False}),
    ("7e", (2,), [(5 / 6, NEAR)], {"points": -90 + NEAR, "wounds": 0}),
    ("7e", (3, 4), [(5 / 6, HIM), (5 / 6, NEAR)], {"level": 4, "knows_bolt": True}),
    ("7e", (5, 6), [], {"node": Node.FREE_SPELL, "castable": {"Cheap", "Dear"}}),
    ("7e", (7,), [(1 / 3, HIM)], {"own_dice": [0, 2], "lock": STOPPED, "castable": {"Spark"}}),
    ("7e", (8, 9), [(2 / 3, HIM)], {"in_play": set(), "items": [0, 0], "active": 1}),
    ("7e", (10, 11), [(5 / 6, HIM)], {"level": 3, "knows_bolt": False}),
    ("7e", (12,), [], {"points": 10, "node": Node.NOMINATE, "knows_bolt": False}),
]
"""A table, totals of one row, chances and points of its hits in their order, and facts."""


@pytest.mark.parametrize("table", ["6e", "7e"])
def test_rows_come_up_as_often_as_their_totals(table: str) -> None:
    battle = game(army(wizard(4, spell(), spell("Second"))), rules={"miscast_table": table})
    battle.cast_with("Bolt", 1, 1)
    rows = battle.scenario.find_miscast_table(table).rows
    counts = [sum(WAYS[n] for n in range(row.roll[0], row.roll[1] + 1)) for row in rows]
    expected = {index: count / 36 for index, count in enumerate(counts)}
    assert battle.outcomes() == pytest.approx(expected)


@pytest.mark.parametrize(("table", "totals", "hits", "facts"), CASES)
def test_rows_of_the_rulebooks_tables(
    table: str, totals: tuple[int, ...], hits: list[tuple[float, int]], facts: Data
) -> None:
    expected = dict(facts)
    knows_bolt = expected.pop("knows_bolt", None)
    for total in totals:
        battle = mishap(total, table)
        for chance, points in hits:
            assert battle.outcomes()[1] == pytest.approx(chance)
            assert battle.roll(6, 6, 1) == points
        check(battle, **expected)
        if knows_bolt is not None:
            known = int(battle.state.known[0]) >> battle.spell("Bolt", 0) & 1
            assert known == knows_bolt


def butchers(face: int, **keys: Any) -> Game:
    """Return three Butchers of 4 wounds and 120 points; the first has miscast with that D6."""
    common = {"wounds": 4, "points": 120.0}
    mages = [
        wizard(2, spell("Bonecrusher"), spell(f"Spell of {name}"), name=name, **common)
        for name in "ABC"
    ]
    mages[0]["spells"].append(lasting("Gut", in_play=True))
    mages[0] |= keys
    side = army(*mages, power_dice=9, miscast_table="gut-magic", units=[unit("Bulls", 6)])
    battle = game(side, army(dispel_dice=0), phases=3)
    battle.cast_with("Bonecrusher", 1, 1, wizard=0)
    assert list(battle.outcomes().values()) == pytest.approx([1 / 6] * 6)
    battle.roll(face)
    return battle


def test_row_1_kills_the_caster_and_wounds_the_other_butchers() -> None:
    contact = [{"side": "own", "models": 2, "points": 7.0}]
    battle = butchers(1, base_contact=contact)
    check(battle, points=-120, node=Node.ROLL_HIT)
    assert battle.outcomes() == pytest.approx({0: 1 / 9, 1: 4 / 9, 2: 4 / 9})  # Strength 4
    assert battle.roll(6, 1, 1, 1, 1, 1) == -7
    assert battle.node == Node.ROLL_WOUNDS
    assert battle.outcomes() == pytest.approx({1: 1 / 3, 2: 1 / 3, 3: 1 / 3})
    assert battle.roll(3) == -60  # a D3: 3 and 4 count as 2
    assert battle.roll(6) == -90
    assert list(battle.state.wounds[0][:3]) == [0, 2, 1]
    assert battle.can_cast("Spell of B")


def test_row_2_hits_the_caster_and_he_casts_no_more_in_the_battle() -> None:
    battle = butchers(2)
    assert battle.node == Node.ROLL_WOUNDS
    wounds = wounds_of_d6_hits(F(2, 3), most=4)
    assert battle.mean() == pytest.approx(float(-30 * sum(k * p for k, p in wounds.items())))
    assert battle.roll(3, 6, 1, 1, 2, 1, 1, 3, 1, 1) == -60  # wounds on 3 or more
    assert battle.state.lock[0, 0] == Lock.BATTLE_END
    assert not battle.can_cast("Spell of A")
    assert battle.can_cast("Spell of B")
    battle.pass_until(2)
    assert not battle.can_cast("Spell of A")


def test_the_hits_of_row_2_may_be_saved_by_armour() -> None:
    battle = butchers(2, armour_save=4)
    assert battle.roll(2, 6, 4, 1, 6, 5, 1) == -30  # Strength 4: saved on a 5 or more
    assert battle.state.wounds[0, 0] == 3


def test_row_3_wounds_the_caster_and_row_6_does_nothing_to_the_magic_phase() -> None:
    battle = butchers(3)
    assert battle.roll(2) == -30
    assert battle.state.wounds[0, 0] == 3
    assert battle.can_cast("Spell of A")
    battle = butchers(3, wounds=2)  # wounds beyond his own are one outcome
    assert battle.outcomes() == pytest.approx({1: 1 / 3, 2: 2 / 3})
    assert battle.roll(6) == -120
    assert not battle.is_in_play("Gut", 0)
    battle = butchers(6)
    check(battle, node=Node.NOMINATE, points=0)
    assert battle.can_cast("Spell of A")


def test_row_4_takes_the_spell_from_all_butchers() -> None:
    battle = butchers(4)
    for index in range(3):
        assert not battle.can_cast("Bonecrusher", index)
    assert battle.can_cast("Spell of A")
    battle.pass_until(2)
    assert not battle.can_cast("Bonecrusher", 1)


def test_row_5_hits_those_in_contact_without_armour() -> None:
    contact = [{"side": "own", "models": 1, "points": 7.0, "armour_save": 2}]
    battle = butchers(5, base_contact=contact)
    assert battle.outcomes() == pytest.approx({0: 4 / 6, 1: 2 / 6})  # Strength 2 on Toughness 3
    assert battle.roll(5, 6, 1) == -7
    # three models of his own unit touch him while it has three
    battle = butchers(5, unit="Bulls")
    twin = battle.copy()
    assert battle.dice_to_roll == 9
    assert battle.roll(*(6, 1, 1) * 2, 1, 1, 1) == -12
    assert battle.units_left(0) == [4]
    twin.state.unit_wounds[0, 0] = 2
    assert twin.dice_to_roll == 6
