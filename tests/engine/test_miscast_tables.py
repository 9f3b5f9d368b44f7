"""The bundled miscast tables, row by row."""

import pytest

from tests.support.builders import Data, Game, army, game, lasting, spell, wizard
from wfb_gym.engine.state import BARS_ITEMS, Node
from wfb_gym.packing.records import Lock

WAYS = {2: 1, 3: 2, 4: 3, 5: 4, 6: 5, 7: 6, 8: 5, 9: 4, 10: 3, 11: 2, 12: 1}
CONTACT = {"side": "own", "models": 1, "points": 7}


def faces(total: int) -> tuple[int, int]:
    """Return two dice with that total."""
    return (total - 6, 6) if total > 7 else (1, total - 1)


def enemy() -> Data:
    """Return two spells, one worth as much as Bolt, one more, and a curse in play."""
    curse = lasting("Curse", 4, 0, worth_per_phase=1, in_play=True)
    keeper = wizard(1, curse, name="Keeper")
    return army(wizard(2, spell("Cheap", 5, 25), spell("Dear", 12, 70), name="Foe"), keeper)


def mishap(total: int, packed: str, ruleset: str = "6e") -> Game:
    """Miscast Bolt with a three-wound wizard with a Power Stone, and roll `total` on the table."""
    mage = wizard(
        4,
        spell("Bolt", 5, 10),
        spell("Second", 5),
        lasting(in_play=True),
        wounds=3,
        points=90,
        items=["Power Stone"],
        base_contact=[CONTACT],
    )
    other = wizard(2, spell("Spark"), name="Other")
    rules = {"miscast_table": packed}
    battle = game(army(mage, other), enemy(), phases=3, ruleset=ruleset, rules=rules)
    battle.cast("Bolt", 2)
    battle.roll(1, 1)
    battle.roll(*faces(total))
    return battle


@pytest.mark.parametrize("packed", ["6e", "7e"])
def test_rows_come_up_as_often_as_their_totals(packed: str) -> None:
    battle = game(army(wizard(4, spell(), spell("Second"))), rules={"miscast_table": packed})
    battle.cast("Bolt", 2)
    battle.roll(1, 1)
    rows = battle.scenario.find_miscast_table(packed).rows
    counts = [sum(WAYS[n] for n in range(row.roll[0], row.roll[1] + 1)) for row in rows]
    expected = {index: count / 36 for index, count in enumerate(counts)}
    assert battle.outcomes() == pytest.approx(expected)


def test_6e_2_hits_the_caster_and_all_in_contact_at_strength_10() -> None:
    battle = mishap(2, "6e")
    assert battle.roll(2, 1, 1) == -30
    assert battle.roll(2, 1, 1) == -7
    assert battle.node == Node.NOMINATE
    assert battle.can_cast("Second")


def test_6e_3_locks_him_until_he_rolls_a_six() -> None:
    battle = mishap(3, "6e")
    assert battle.state.lock[0, 0] == Lock.SIX
    assert not battle.can_cast("Second")
    assert battle.can_cast("Spark")
    assert battle.points == 0


def test_6e_4_gives_the_enemy_a_free_spell_no_dearer_than_the_miscast_one() -> None:
    battle = mishap(4, "6e")
    assert battle.node == Node.FREE_SPELL
    assert battle.mover == 1
    assert battle.can_cast("Cheap")
    assert not battle.can_cast("Dear")


@pytest.mark.parametrize("total", [5, 6])
def test_6e_5_and_6_bar_casting_and_items_until_his_next_phase(total: int) -> None:
    battle = mishap(total, "6e")
    assert battle.state.lock[0, 0] == Lock.OWN_NEXT_PHASE + BARS_ITEMS
    assert not battle.is_in_play("Ward", 0)
    assert not battle.can_cast("Second")
    assert battle.can_cast("Spark")


def test_6e_7_loses_the_sides_dice() -> None:
    battle = mishap(7, "6e")
    assert battle.node == Node.IN_PLAY
    assert battle.state.power == 0


@pytest.mark.parametrize("total", [8, 9])
def test_6e_8_and_9_hit_him_end_spells_in_play_and_casting(total: int) -> None:
    battle = mishap(total, "6e")
    assert battle.outcomes()[1] == pytest.approx(2 / 3)
    assert battle.roll(3, 1, 1) == -30
    assert list(battle.state.in_play) == [0, 0]
    assert battle.active == 1


@pytest.mark.parametrize("total", [10, 11])
def test_6e_10_and_11_hit_him_and_he_forgets_the_spell(total: int) -> None:
    battle = mishap(total, "6e")
    assert battle.outcomes()[1] == pytest.approx(5 / 6)
    assert battle.roll(2, 1, 1) == -30
    assert int(battle.state.known[0]) & 1 << battle.spell("Bolt", 0) == 0
    assert battle.can_cast("Second")


def test_6e_12_costs_the_spell_and_a_level() -> None:
    battle = mishap(12, "6e")
    assert battle.points == 0
    assert battle.state.level[0, 0] == 3
    assert int(battle.state.known[0]) & 1 << battle.spell("Bolt", 0) == 0


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
    battle = mishap(total, "7e")
    assert battle.node == Node.FREE_SPELL
    assert battle.can_cast("Cheap")
    assert battle.can_cast("Dear")


def test_7e_7_hits_him_costs_his_own_dice_and_stops_him() -> None:
    battle = mishap(7, "7e", "7e")
    assert battle.outcomes()[1] == pytest.approx(1 / 3)
    assert battle.roll(5, 1, 1) == -30
    assert list(battle.state.own_dice)[:2] == [0, 2]
    assert battle.state.lock[0, 0] == Lock.PHASE_END + BARS_ITEMS
    assert not battle.can_cast("Second")
    assert battle.can_cast("Spark")


@pytest.mark.parametrize("total", [8, 9])
def test_7e_8_and_9_end_the_phase_and_empty_items(total: int) -> None:
    battle = mishap(total, "7e")
    assert battle.roll(3, 6, 1) == -30
    assert list(battle.state.in_play) == [0, 0]
    assert battle.state.items[0, 0] == 0
    assert battle.active == 1


@pytest.mark.parametrize("total", [10, 11])
def test_7e_10_and_11_hit_him_and_cost_a_level_and_the_spell(total: int) -> None:
    battle = mishap(total, "7e")
    assert battle.roll(2, 6, 1) == -30
    assert battle.state.level[0, 0] == 3
    assert int(battle.state.known[0]) & 1 << battle.spell("Bolt", 0) == 0


def test_7e_12_casts_the_spell_and_he_forgets_it() -> None:
    battle = mishap(12, "7e")
    assert battle.points == 10
    assert int(battle.state.known[0]) & 1 << battle.spell("Bolt", 0) == 0
    assert battle.node == Node.NOMINATE
