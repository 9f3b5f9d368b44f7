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


def mishap(total: int, table: str, ruleset: str = "6e") -> Game:
    """Miscast Bolt with a three-wound wizard with a Power Stone, and roll `total` on the table."""
    spells = spell("Bolt", 5, 10), spell("Second", 5), lasting(in_play=True)
    keys: Data = {"wounds": 3, "points": 90, "items": ["Power Stone"], "base_contact": [CONTACT]}
    side, rules = army(wizard(4, *spells, **keys), OTHER), {"miscast_table": table}
    battle = game(side, ENEMY, phases=3, ruleset=ruleset, rules=rules)
    battle.miscast("Bolt", (total - 6, 6) if total > 7 else (1, total - 1))
    return battle


def knows_bolt(battle: Game) -> bool:
    return bool(int(battle.state.known[0]) >> battle.spell("Bolt", 0) & 1)


@pytest.mark.parametrize("table", ["6e", "7e"])
def test_rows_come_up_as_often_as_their_totals(table: str) -> None:
    battle = game(army(wizard(4, spell(), spell("Second"))), rules={"miscast_table": table})
    battle.cast_with("Bolt", 1, 1)
    rows = battle.scenario.find_miscast_table(table).rows
    counts = [sum(WAYS[n] for n in range(row.roll[0], row.roll[1] + 1)) for row in rows]
    expected = {index: count / 36 for index, count in enumerate(counts)}
    assert battle.outcomes() == pytest.approx(expected)


def test_6e_2_hits_the_caster_and_all_in_contact_at_strength_10() -> None:
    battle = mishap(2, "6e")
    assert battle.roll(2, 1, 1) == -30
    assert battle.roll(2, 1, 1) == -7
    check(battle, node=Node.NOMINATE, castable={"Second", "Ward", "Spark"})


def test_6e_3_locks_him_until_he_rolls_a_six() -> None:
    check(mishap(3, "6e"), lock=Lock.SIX, castable={"Spark"}, points=0)


def test_6e_4_gives_the_enemy_a_free_spell_no_dearer_than_the_miscast_one() -> None:
    check(mishap(4, "6e"), node=Node.FREE_SPELL, mover=1, castable={"Cheap"})


@pytest.mark.parametrize("total", [5, 6])
def test_6e_5_and_6_bar_casting_and_items_until_his_next_phase(total: int) -> None:
    lock = Lock.OWN_NEXT_PHASE + BARS_ITEMS
    check(mishap(total, "6e"), lock=lock, in_play={"Curse"}, castable={"Spark"})


def test_6e_7_loses_the_sides_dice() -> None:
    check(mishap(7, "6e"), node=Node.IN_PLAY, power=0)


@pytest.mark.parametrize("total", [8, 9])
def test_6e_8_and_9_hit_him_end_spells_in_play_and_casting(total: int) -> None:
    battle = mishap(total, "6e")
    assert battle.outcomes()[1] == pytest.approx(2 / 3)
    assert battle.roll(3, 1, 1) == -30
    check(battle, in_play=set(), active=1)


@pytest.mark.parametrize("total", [10, 11])
def test_6e_10_and_11_hit_him_and_he_forgets_the_spell(total: int) -> None:
    battle = mishap(total, "6e")
    assert battle.outcomes()[1] == pytest.approx(5 / 6)
    assert battle.roll(2, 1, 1) == -30
    assert not knows_bolt(battle)
    assert battle.can_cast("Second")


def test_6e_12_costs_the_spell_and_a_level() -> None:
    battle = mishap(12, "6e")
    check(battle, points=0, level=3)
    assert not knows_bolt(battle)


def test_7e_2_removes_him_and_hits_all_in_contact_at_strength_10() -> None:
    battle = mishap(2, "7e")
    assert battle.points == -90
    assert battle.roll(2, 6, 1) == -7
    assert battle.state.wounds[0, 0] == 0


@pytest.mark.parametrize("total", [3, 4])
def test_7e_3_and_4_hit_him_and_all_in_contact_at_strength_6(total: int) -> None:
    battle = mishap(total, "7e")
    assert battle.outcomes()[1] == pytest.approx(5 / 6)
    assert battle.roll(2, 6, 1) == -30
    assert battle.roll(2, 6, 1) == -7


@pytest.mark.parametrize("total", [5, 6])
def test_7e_5_and_6_give_the_enemy_any_spell_free(total: int) -> None:
    check(mishap(total, "7e"), node=Node.FREE_SPELL, castable={"Cheap", "Dear"})


def test_7e_7_hits_him_costs_his_own_dice_and_stops_him() -> None:
    battle = mishap(7, "7e", "7e")
    assert battle.outcomes()[1] == pytest.approx(1 / 3)
    assert battle.roll(5, 1, 1) == -30
    check(battle, own_dice=[0, 2], lock=Lock.PHASE_END + BARS_ITEMS, castable={"Spark"})


@pytest.mark.parametrize("total", [8, 9])
def test_7e_8_and_9_end_the_phase_and_empty_items(total: int) -> None:
    battle = mishap(total, "7e")
    assert battle.roll(3, 6, 1) == -30
    check(battle, in_play=set(), items=[0, 0], active=1)


@pytest.mark.parametrize("total", [10, 11])
def test_7e_10_and_11_hit_him_and_cost_a_level_and_the_spell(total: int) -> None:
    battle = mishap(total, "7e")
    assert battle.roll(2, 6, 1) == -30
    assert battle.state.level[0, 0] == 3
    assert not knows_bolt(battle)


def test_7e_12_casts_the_spell_and_he_forgets_it() -> None:
    battle = mishap(12, "7e")
    check(battle, points=10, node=Node.NOMINATE)
    assert not knows_bolt(battle)
