"""Random spell selection from a lore when the battle begins."""

from math import comb
from typing import Any

import pytest

from tests.support.builders import PASS, Game, army, game, spell, unit, wizard
from wfb_gym.engine.state import Node

from .facts import check

ROLLER = {"level": 1, "lore": "Fire"}


def pupil(level: int = 2, **keys: Any) -> Game:
    mage = {"name": "Mage", "level": level, "lore": "Fire", **keys}
    return game(army(mage), army(units=[unit()]), phases=2)


@pytest.mark.parametrize(
    ("level", "items", "drawn"), [(1, [], 1), (3, [], 3), (2, ["Silver Wand"], 3)]
)
def test_one_spell_a_level_and_every_set_alike(level: int, items: list[str], drawn: int) -> None:
    battle = pupil(level, items=items)
    assert battle.node == Node.ROLL_SPELLS
    sets = battle.outcomes()
    assert {bin(code).count("1") for code in sets} == {drawn}
    assert list(sets.values()) == pytest.approx([1 / comb(6, drawn)] * comb(6, drawn))


def test_one_of_them_may_be_swapped_for_the_first_and_a_repeat_is_rolled_again() -> None:
    battle = pupil()
    first, twin = battle.copy(), battle.copy()
    assert battle.dice_to_roll is None
    assert battle.dice_missing(4, 4) == 1
    with pytest.raises(ValueError, match="at least 3 dice"):
        battle.roll(4, 4)
    battle.roll(4, 4, 6)
    assert battle.node == Node.SWAP_SPELL
    assert len(battle.legal_actions()) == 3
    battle.nominate("Wall of Fire")  # given up
    check(battle, castable={"Fire Ball", "Burning Head"})
    twin.roll(4, 6)
    twin.act(PASS)
    check(twin, node=Node.NOMINATE, castable={"Burning Head", "Wall of Fire"})
    assert bin(int(twin.state.known[0])).count("1") == 2  # others are no free spells either
    first.roll(1, 6)  # there is nothing to swap
    check(first, node=Node.NOMINATE, castable={"Fire Ball", "Wall of Fire"})


def test_every_wizard_who_rolls_does_and_both_armies() -> None:
    """Two wizards may hold the same spell."""
    plain = wizard(1, spell("Bolt"), name="B")
    first = army({"name": "A", **ROLLER}, plain, {"name": "C", **ROLLER}, units=[unit("Own")])
    battle = game(first, army({"name": "D", **ROLLER}, units=[unit()]), phases=2)
    seen = []
    while battle.node == Node.ROLL_SPELLS:
        seen.append((battle.mover, int(battle.state.cursor) % 6))
        battle.roll(1)
    assert seen == [(0, 0), (0, 2), (1, 0)]
    check(battle, node=Node.NOMINATE, phase=0)
    assert battle.can_cast("Bolt")
    assert battle.can_cast("Fire Ball", 0)
    assert battle.can_cast("Fire Ball", 2)
