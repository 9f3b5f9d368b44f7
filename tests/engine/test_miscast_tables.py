"""The bundled miscast tables, row by row."""

import pytest

from tests.support.builders import Data, Game, army, game, lasting, spell, wizard
from wfb_gym.engine.state import BARS_ITEMS, Node
from wfb_gym.packing.records import Lock

from .facts import check

WAYS = {2: 1, 3: 2, 4: 3, 5: 4, 6: 5, 7: 6, 8: 5, 9: 4, 10: 3, 11: 2, 12: 1}
CONTACT = {"side": "own", "models": 1, "points": 7}


CURSE = lasting("Curse", 4, 0, worth_per_phase=1, in_play=True)
ENEMY = army(
    wizard(2, spell("Cheap", 5, 25), spell("Dear", 12, 70), name="Foe"),
    wizard(1, CURSE, name="Keeper"),
)
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
