"""Spells on a battlefield: their victims and points, from the packed scenario on.

Geometry itself has its own tests. These cover a line with friends on it, terrain that feeds the
lore of Life, blocked front ranks, ranges, and close combat.
"""

from fractions import Fraction as F
from typing import Any

import pytest

from tests.support.builders import Data, Game, army, game, known, unit, wizard
from wfb_gym.engine.state import Node

from .enumeration import D6
from .test_spells_damage import WOUND, Foe, mean_points, wound_chance

INCH = 25.4


def packed(*terrain: Data) -> Data:
    return {"battlefield": {"width": 72.0, "depth": 48.0, "terrain": list(terrain)}}


def mage_at(x: float, y: float, *names: str, **keys: Any) -> Data:
    return wizard(4, *(known(name) for name in names), position=[x, y], **keys)


def at(x: float, y: float, name: str = "Foe", models: int = 10, **keys: Any) -> Data:
    """Return a unit that faces down the table, five wide, with the middle of its front there."""
    return unit(name, models, position=[x, y], facing=180.0, **keys)


def test_friends_on_the_line_of_a_burning_head_burn_too() -> None:
    """There is a rank of nine friends across every possible line, up to its range."""
    friends = unit("Own", 9, frontage=9, points=4.0, position=[36.0, 15.0])
    caster = army(mage_at(36.0, 10.0, "Burning Head"), units=[friends])
    column = army(units=[at(36.0, 20.0, models=2, frontage=1)])
    battle = game(caster, column, phases=4, **packed())
    battle.works("Burning Head", "Foe")
    hurt = float(wound_chance(Foe(), 4, True))
    assert battle.mean() == pytest.approx(2 * hurt * 6 - hurt * 4)
    assert battle.roll(*WOUND) == -4
    assert battle.roll(*WOUND * 2) == 12
    assert game(caster, army(units=[at(36.0, 29.0)]), **packed()).is_over


def woods(*terrain: Data, y: float = 23.0) -> Game:
    """Return a wizard of Life far from a unit with its front at y and its rear behind it."""
    caster = army(mage_at(36.0, 3.0, "Master of the Wood"))
    return game(caster, army(units=[at(36.0, y)]), phases=4, **packed(*terrain))


BOTH = {k: sum((D6[a] * D6.get(k - a, F(0)) for a in D6), F(0)) for k in range(2, 13)}


@pytest.mark.parametrize(("y", "hits", "dice"), [(23.0, BOTH, 2), (30.0, D6, 1)])
def test_a_unit_that_touches_the_wood_takes_d6_hits_more(
    y: float, hits: dict[int, F], dice: int
) -> None:
    """A unit near the wood takes D6 hits; far from every wood there is no target."""
    wood: Data = {"name": "Wood", "kind": "wood", "position": [36.0, 20.0], "size": [6.0, 6.0]}
    battle = woods(wood, y=y)
    battle.works("Master of the Wood")
    expected = mean_points(Foe(), hits, wound_chance(Foe(), 4, True), flaming=False)
    assert battle.mean() == pytest.approx(float(expected))
    assert battle.dice_missing() == dice
    number = (1, 2) if dice == 2 else (3,)
    assert battle.roll(*number, *WOUND * 3) == 18
    assert woods(wood, y=36.0).is_over
    assert woods(y=12.0).is_over  # without a wood: within 6 inches of the wizard
    assert woods(y=8.0).can_cast("Master of the Wood")


def test_a_pit_of_shades_strikes_covered_neighbours() -> None:
    """Two units of one model side by side: one template covers both."""
    beside = 36.0 + 20 / INCH + 0.01
    foes = [at(36.0, 20.0, "One", 1), at(beside, 20.0, "Two", 1, points=9.0)]
    battle = game(army(mage_at(36.0, 3.0, "Pit of Shades")), army(units=foes), **packed())
    battle.works("Pit of Shades", "One")
    before = battle.points
    while battle.node == Node.ROLL_STRIKE:
        touches = battle.dice_missing()
        battle.roll(*((6,) * touches if touches < 3 else ()), *WOUND)
    assert battle.points - before == 15
