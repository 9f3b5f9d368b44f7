"""Random spell selection from a lore when the battle begins."""

from math import comb
from typing import Any

import pytest

from tests.support.builders import PASS, Game, army, game, spell, unit, wizard
from wfb_gym.engine.state import Node

from .facts import check

ROLLER = {"level": 1, "lore": "Fire"}


def pupil(level: int = 2, **keys: Any) -> Game:
    """Return a wizard of Fire who rolls."""
    mage = {"name": "Mage", "level": level, "lore": "Fire", **keys}
    return game(army(mage), army(units=[unit()]), phases=2)


@pytest.mark.parametrize(
    ("level", "items", "drawn"),
    [(1, [], 1), (2, [], 2), (3, [], 3), (4, [], 4), (2, ["Silver Wand"], 3)],
)
def test_one_spell_a_level_and_every_set_alike(level: int, items: list[str], drawn: int) -> None:
    battle = pupil(level, items=items)
    assert battle.node == Node.ROLL_SPELLS
    sets = battle.outcomes()
    assert len(sets) == comb(6, drawn)
    assert {bin(code).count("1") for code in sets} == {drawn}
    assert list(sets.values()) == pytest.approx([1 / comb(6, drawn)] * len(sets))


def test_a_repeat_is_rolled_again() -> None:
    battle = pupil()
    assert battle.dice_to_roll is None
    assert battle.dice_missing(4, 4) == 1
    with pytest.raises(ValueError, match="at least 3 dice"):
        battle.roll(4, 4)
    battle.roll(4, 4, 6)
    battle.act(PASS)
    check(battle, node=Node.NOMINATE, castable={"Burning Head", "Wall of Fire"})


def test_one_of_them_may_be_swapped_for_the_first() -> None:
    battle = pupil()
    battle.roll(4, 6)
    assert battle.node == Node.SWAP_SPELL
    assert len(battle.legal_actions()) == 3
    battle.nominate("Wall of Fire")  # given up
    check(battle, castable={"Fire Ball", "Burning Head"})


def test_there_is_nothing_to_swap_where_the_first_was_rolled() -> None:
    battle = pupil()
    battle.roll(1, 6)
    check(battle, node=Node.NOMINATE, castable={"Fire Ball", "Wall of Fire"})


def test_chance_of_any_spell_for_a_wizard_of_level_1() -> None:
    battle = pupil(1)
    with_wall = 0.0
    for code, chance in battle.chance_outcomes():
        twin = battle.copy()
        twin.resolve(code)
        if twin.node == Node.SWAP_SPELL:
            twin.act(PASS)
        with_wall += chance * twin.can_cast("Wall of Fire")
    assert with_wall == pytest.approx(1 / 6)


def test_every_wizard_who_rolls_does_and_both_armies() -> None:
    plain = wizard(1, spell("Bolt"), name="B")
    first = army({"name": "A", **ROLLER}, plain, {"name": "C", **ROLLER})
    battle = game(first, army({"name": "D", **ROLLER}, units=[unit()]), phases=2)
    seen = []
    while battle.node == Node.ROLL_SPELLS:
        seen.append((battle.mover, int(battle.state.cursor) % 6))
        battle.roll(1)
    assert seen == [(0, 0), (0, 2), (1, 0)]
    assert battle.node == Node.NOMINATE
    assert battle.can_cast("Bolt")
    assert battle.state.phase == 0


def test_two_wizards_may_hold_the_same_spell() -> None:
    battle = game(army({"name": "A", **ROLLER}, {"name": "B", **ROLLER}), army(units=[unit()]))
    battle.roll(1)
    battle.roll(1)
    assert battle.can_cast("Fire Ball", 0)
    assert battle.can_cast("Fire Ball", 1)


def test_spells_not_rolled_are_no_free_spells_either() -> None:
    battle = pupil()
    battle.roll(4, 6)
    battle.act(PASS)
    assert bin(int(battle.state.known[0])).count("1") == 2
