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
    """Return a lone wizard that faces up the table."""
    return wizard(4, *(known(name) for name in names), position=[x, y], **keys)


def at(x: float, y: float, name: str = "Foe", models: int = 10, **keys: Any) -> Data:
    """Return a unit that faces down the table, five wide, with the middle of its front there."""
    return unit(name, models, position=[x, y], facing=180.0, **keys)


def line(*own: Data) -> Game:
    """Return a Burning Head up the table at a column of two, with friends perhaps in its way."""
    caster = army(mage_at(36.0, 10.0, "Burning Head"), units=list(own))
    return game(caster, army(units=[at(36.0, 20.0, models=2, frontage=1)]), phases=4, **packed())


def test_a_burning_head_burns_a_model_of_each_rank_in_its_way() -> None:
    battle = line()
    battle.works("Burning Head", "Foe")
    assert battle.roll(*WOUND * 2) == 12
    assert battle.units_left(1) == [0]


def test_friends_on_the_line_of_a_burning_head_burn_too() -> None:
    # a rank of nine friends across every possible line
    own = unit("Own", 9, frontage=9, points=4.0, position=[36.0, 15.0])
    battle = line(own)
    battle.works("Burning Head", "Foe")
    mean = battle.mean()
    hurt = float(wound_chance(Foe(), 4, True))
    assert mean == pytest.approx(2 * hurt * 6 - hurt * 4)
    assert battle.roll(*WOUND) == -4
    assert battle.roll(*WOUND * 2) == 12


def test_a_burning_head_reaches_no_farther_than_its_range() -> None:
    caster = army(mage_at(36.0, 10.0, "Burning Head"))
    far = game(caster, army(units=[at(36.0, 29.0)]), **packed())
    assert far.is_over


WOOD: Data = {"name": "Wood", "kind": "wood", "position": [36.0, 20.0], "size": [6.0, 6.0]}


def woods(*terrain: Data, y: float = 23.0, name: str = "Master of the Wood") -> Game:
    """Return a wizard of Life far from a unit with its front at y and its rear behind it."""
    caster = army(mage_at(36.0, 3.0, name))
    return game(caster, army(units=[at(36.0, y)]), phases=4, **packed(*terrain))


BOTH = {k: sum((D6[a] * D6.get(k - a, F(0)) for a in D6), F(0)) for k in range(2, 13)}


@pytest.mark.parametrize(("y", "hits", "dice"), [(23.0, BOTH, 2), (30.0, D6, 1)])
def test_a_unit_that_touches_the_wood_takes_d6_hits_more(
    y: float, hits: dict[int, F], dice: int
) -> None:
    """A unit near the wood takes D6 hits."""
    battle = woods(WOOD, y=y)
    battle.works("Master of the Wood")
    expected = mean_points(Foe(), hits, wound_chance(Foe(), 4, True), flaming=False)
    assert battle.mean() == pytest.approx(float(expected))
    assert battle.dice_missing() == dice
    number = (1, 2) if dice == 2 else (3,)
    assert battle.roll(*number, *WOUND * 3) == 18


def test_far_from_every_wood_there_is_no_target() -> None:
    assert woods(WOOD, y=36.0).is_over
    assert woods(y=12.0).is_over  # without a wood: within 6 inches of the wizard
    assert woods(y=8.0).can_cast("Master of the Wood")


@pytest.mark.parametrize(
    ("kind", "name"),
    [
        ("hill", "Master of Stone"),
        ("rocks", "Master of Stone"),
        ("ruins", "Master of Stone"),
        ("water", "Mistress of the Marsh"),
    ],
)
def test_terrain_feeds_spells_of_life(kind: str, name: str) -> None:
    assert woods(WOOD, name=name).is_over
    battle = woods({**WOOD, "kind": kind}, name=name)
    battle.works(name)
    if name == "Master of Stone":
        assert battle.dice_missing() == 2


def test_a_wall_of_fire_needs_a_free_front() -> None:
    caster = army(mage_at(36.0, 3.0, "Wall of Fire"))
    close = at(36.0, 19.5 - 2 * 20 / INCH, "Before")  # two ranks, half an inch in front
    battle = game(caster, army(units=[at(36.0, 20.0), close]), **packed())
    battle.nominate("Wall of Fire")
    assert battle.node == Node.POOL_DICE  # only the unit in front is a target
    alone = game(caster, army(units=[at(36.0, 20.0)]), **packed())
    assert alone.can_cast("Wall of Fire")


def test_an_area_spell_covers_its_range() -> None:
    caster = army(mage_at(36.0, 10.0, "Drain Life"))
    foes = army(units=[at(36.0, 21.0, "Near"), at(36.0, 40.0, "Far")])
    battle = game(caster, foes, phases=4, **packed())
    battle.works("Drain Life")
    battle.roll(1, *WOUND)
    assert battle.units_left(1) == [9, 10]
    assert battle.node != Node.ROLL_STRIKE


@pytest.mark.parametrize(("name", "casts"), [("Fire Ball", False), ("Conflagration of Doom", True)])
def test_a_wizard_in_close_combat_casts_no_missiles(name: str, casts: bool) -> None:
    caster = army(wizard(4, known(name), in_combat=True))
    battle = game(caster, army(units=[unit()]))
    assert battle.is_over is not casts


def test_a_pit_of_shades_strikes_covered_neighbours() -> None:
    """Two units of one model side by side: one template covers both."""
    caster = army(mage_at(36.0, 3.0, "Pit of Shades"))
    beside = 36.0 + 20 / INCH + 0.01
    foes = [at(36.0, 20.0, "One", 1), at(beside, 20.0, "Two", 1, points=9.0)]
    battle = game(caster, army(units=foes), **packed())
    battle.works("Pit of Shades", "One")
    gained = 0.0
    while battle.node == Node.ROLL_STRIKE:
        faces: list[int] = []
        while battle.dice_missing(*faces):
            faces += [6] * battle.dice_missing() if not faces else WOUND
        gained += battle.roll(*faces)
    assert gained == 15
