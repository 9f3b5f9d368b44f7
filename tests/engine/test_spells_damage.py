"""Damaging spells of the lores: scripted dice, and means computed without the package.

The scenarios have no battlefield: all targets are in range and in sight, a line strikes one model
of each rank, a template and a front rank strike the models that the formation gives, and a Comet
strikes its target. Positions on a table are tested with the battlefield.
"""

from fractions import Fraction as F
from itertools import product
from typing import Any, NamedTuple

import pytest

from tests.support.builders import Data, Game, army, game, known, unit, wizard
from wfb_gym.engine.state import Node

from .enumeration import D6, TWO_D6, binomial, conflagration

# An independent implementation of the rules of wounds and casualties, without the package.


class Foe(NamedTuple):
    models: int = 10
    toughness: int = 3
    armour: int = 7
    ward: int = 7
    wounds: int = 1
    points: float = 6.0
    flammable: bool = False

    def as_unit(self) -> Data:
        return unit(
            models=self.models,
            toughness=self.toughness,
            wounds=self.wounds,
            points=self.points,
            traits=["flammable"] if self.flammable else [],
            armour_save=self.armour if self.armour < 7 else None,
            ward_save=self.ward if self.ward < 7 else None,
        )


def wound_chance(foe: Foe, strength: int, armour: bool) -> F:
    """Return the probability that a hit is not saved, counted over its three dice."""
    gap = foe.toughness - strength
    need = 7 if gap >= 4 else min(6, max(2, 4 + gap))
    save = max(2, foe.armour + max(0, strength - 3)) if armour else 7
    works = 0
    for to_wound, to_save, to_ward in product(range(1, 7), repeat=3):
        works += to_wound >= need and to_save < save and to_ward < max(2, foe.ward)
    return F(works, 216)


def mean_points(foe: Foe, hits: "Law", chance: F, *, flaming: bool) -> F | float:
    """Return the mean points that this many hits cost the enemy."""
    each = 2 if flaming and foe.flammable and foe.wounds > 1 else 1
    total: F | float = F(0)
    for number, probability in hits.items():
        for works, share in binomial(number, chance).items():
            left = max(0, foe.models * foe.wounds - each * works)
            dead = foe.models - -(-left // foe.wounds)
            total += probability * share * dead * F(foe.points)
    return total


Law = dict[int, F] | dict[int, float]


class Row(NamedTuple):
    """A spell, and the rules of its hits."""

    name: str
    hits: Law
    strength: int
    armour: bool = True
    flaming: bool = False


STORM = Row("Storm of Cronos", D6, 4)
# One spell of each number of hits, Strength and save; docs/lores.md has the others' values.
MISSILES = [
    Row("Fire Ball", D6, 4, flaming=True), Row("Fiery Blast", TWO_D6, 4, flaming=True),
    Row("Creeping Death", D6, 3, armour=False), Row("The Crow's Feast", TWO_D6, 3),
    Row("Forked Lightning", D6, 4), Row("Uranon's Thunder Bolt", D6, 4, armour=False),
    STORM, Row("Master of Stone", D6, 5),
    Row("Wind of Death", TWO_D6, 4), Row("Drain Life", D6, 3, armour=False),
]  # fmt: skip
CHAIN = {hits: float(conflagration(hits)) for hits in range(300)}
FIRE_BALL, CONFLAGRATION = MISSILES[0], Row("Conflagration of Doom", CHAIN, 4, flaming=True)
FOES = {
    "unarmoured": Foe(),
    "armoured": Foe(toughness=4, armour=4),
    "in plate": Foe(models=5, armour=1, points=23.0),
    "warded": Foe(armour=5, ward=5, points=15.0),
    "few": Foe(models=3),
    "big": Foe(models=4, toughness=4, wounds=3, points=50.0),
    "flammable": Foe(models=4, wounds=3, points=30.0, flammable=True),
    "flammable, of one wound": Foe(models=8, flammable=True),
    "too tough": Foe(toughness=9),
}


def to_strike(name: str, foe: Foe, **keys: Any) -> Game:
    """Return a battle after the spell was cast irresistibly at one unit, before its hits."""
    battle = game(army(wizard(4, known(name))), army(units=[foe.as_unit()]), **keys)
    expected_points = battle.packed.armies[0].aims[0].expected_points
    at_once = battle.works(name)
    assert battle.node == Node.ROLL_STRIKE
    assert at_once + battle.mean() == pytest.approx(expected_points, abs=1e-9)
    return battle


def check_mean(battle: Game, row: Row, foe: Foe) -> None:
    chance = wound_chance(foe, row.strength, row.armour)
    expected = mean_points(foe, row.hits, chance, flaming=row.flaming)
    assert battle.mean() == pytest.approx(float(expected), abs=1e-9)


@pytest.mark.parametrize(
    ("row", "foe"),
    [(FIRE_BALL, foe) for foe in FOES] + [(CONFLAGRATION, "warded"), (CONFLAGRATION, "flammable")],
)
def test_mean_of_a_spell_with_dice_for_its_hits(row: Row, foe: str) -> None:
    check_mean(to_strike(row.name, FOES[foe]), row, FOES[foe])


WOUND, SAVED, WARDED, HELD = (6, 1, 1), (6, 6, 1), (6, 1, 6), (1, 1, 1)


@pytest.mark.parametrize("row", MISSILES, ids=lambda row: row.name)
def test_a_spell_takes_a_model_for_each_hit_that_wounds_and_is_not_saved(row: Row) -> None:
    """Four hits: one does not wound, one meets armour, one a ward save, one kills."""
    foe = Foe(models=8, toughness=4, armour=4, ward=6, wounds=2, flammable=True)
    check_mean(to_strike(row.name, foe), row, foe)
    battle = to_strike(row.name, Foe(models=8, armour=2, ward=6))
    number = (4,) if row.hits == D6 else (2, 2)
    gained = battle.roll(*number, *HELD, *SAVED, *WARDED, *WOUND)
    assert gained == (6 if row.armour else 12)
    assert battle.is_over


OGRES = Foe(models=3, wounds=3, points=40.0)


@pytest.mark.parametrize(("name", "foe", "hits", "points", "left"), [
    ("Fire Ball", OGRES, 2, 0, 7),  # wounds too few for a model stay with the unit
    ("Fire Ball", OGRES, 4, 40, 5), ("Fire Ball", Foe(models=2), 6, 12, 0),
    ("Fire Ball", OGRES._replace(flammable=True), 3, 80, 3),  # flames double them
    ("Dark Hand of Death", OGRES._replace(flammable=True), 2, 0, 7),
    ("Fire Ball", Foe(models=4, flammable=True), 2, 12, 2),  # a model of one wound burns once
    ("Fire Ball", Foe(toughness=8), 1, 0, 10),
])  # fmt: skip
def test_hits_that_wound_take_models(
    name: str, foe: Foe, hits: int, points: int, left: int
) -> None:
    battle = to_strike(name, foe, phases=4)
    assert battle.roll(hits, *WOUND * hits) == points
    assert battle.units_left(1) == [left]


@pytest.mark.parametrize(("name", "models", "hits"), [
    ("Burning Head", 11, 3), ("Burning Head", 10, 2), ("Burning Head", 4, 1),
    ("Wall of Fire", 11, 5), ("Wall of Fire", 4, 4),
])  # fmt: skip
def test_a_burning_head_strikes_each_rank_and_a_wall_of_fire_the_first_and_stays(
    name: str, models: int, hits: int
) -> None:
    foe = Foe(models, armour=5, wounds=2, flammable=True)
    battle = to_strike(name, foe, phases=3)
    check_mean(battle, Row(name, {hits: F(1)}, 4, flaming=True), foe)
    assert battle.is_in_play(name, 0) == (name == "Wall of Fire")
    assert battle.roll(*WOUND * hits) == 6 * hits
    fewer = game(army(wizard(4, known(name))), army(units=[foe.as_unit()]))
    fewer.state.unit_wounds[1, 0] = 2  # one model is left
    fewer.works(name)
    assert fewer.roll(*WOUND) == 6


def test_a_pit_of_shades_takes_models_it_only_touches_on_a_4_and_slows_the_others() -> None:
    """A template of 3 inches on a block of 20 mm bases, five wide and five deep."""
    foe = Foe(models=25)
    battle = to_strike("Pit of Shades", foe)
    assert battle.points == pytest.approx(0.03 * 25 * 6)
    strike = battle.packed.strikes[battle.packed.armies[0].aims[0].first_strike]
    wholly = int(battle.packed.hits[strike.hits + foe.models])
    touched = int(battle.packed.hits[strike.touched + foe.models])
    assert wholly == max(
        sum(
            max(abs(20 * i - x), abs(20 * i + 20 - x)) ** 2
            + max(abs(20 * j - y), abs(20 * j + 20 - y)) ** 2
            <= (1.5 * 25.4) ** 2
            for i in range(5)
            for j in range(5)
        )
        for x in (40 + quarter / 4 for quarter in range(81))
        for y in (40 + quarter / 4 for quarter in range(81))
    )
    assert 0 < touched <= 25 - wholly
    more = {wholly + k: chance for k, chance in binomial(touched, F(1, 2)).items()}
    check_mean(battle, Row("Pit of Shades", more, 3), foe)
    faces = [3] * (touched - 2) + [4, 6]
    assert battle.roll(*faces, *WOUND * (wholly + 2)) == 6 * (wholly + 2)


def test_a_pit_of_shades_on_a_model_larger_than_its_template_takes_it_on_a_4() -> None:
    foe = Foe(models=1)
    giant = {**foe.as_unit(), "base": [100.0, 100.0]}
    # Equal numbers of models struck are stored once, and Burning Head's numbers come first.
    mage = wizard(4, known("Burning Head"), known("Pit of Shades"))
    battle = game(army(mage), army(units=[giant]))
    battle.works("Pit of Shades")
    check_mean(battle, Row("Pit of Shades", {0: F(1, 2), 1: F(1, 2)}, 3), foe)


@pytest.mark.parametrize(("armour", "strength"), [(6, 3), (5, 4), (1, 5)])
def test_burning_iron_kills_one_model_by_the_armour_it_heats(armour: int, strength: int) -> None:
    foe = Foe(toughness=4, armour=armour, points=14.0, flammable=True)
    battle = to_strike("Rule of Burning Iron", foe)
    check_mean(battle, Row("Rule of Burning Iron", {1: F(1)}, strength, flaming=True), foe)
    assert battle.roll(*WOUND) == 14
    foe = Foe(models=2, wounds=3, points=40.0, flammable=True)
    battle = to_strike("Rule of Burning Iron", foe, phases=4)
    assert battle.roll(*WOUND) == 0
    assert battle.units_left(1) == [4]


def test_only_burning_iron_picks_a_character_out_of_his_unit() -> None:
    hero = {"name": "Captain", "unit": "Spears", "points": 90.0, "wounds": 3}
    foe = army(units=[unit()], heroes=[hero | {"armour_save": 3, "toughness": 4}])
    battle = game(army(wizard(4, known("Rule of Burning Iron"), known("Fire Ball"))), foe)
    twin = battle.copy()
    twin.nominate("Fire Ball")
    assert twin.node == Node.POOL_DICE  # the unit is the only target
    battle.nominate("Rule of Burning Iron")
    assert battle.targets() == {"Spears", "Captain"}
    battle.aim("Captain")
    battle.act(1 + 2)
    battle.roll(6, 6)
    hurt = wound_chance(Foe(toughness=4, armour=3), 5, True)
    assert battle.mean() == pytest.approx(float(hurt) * 30)
    assert battle.roll(*WOUND) == 30


@pytest.mark.parametrize(
    ("left", "ward", "points", "after"), [(2, 7, 6, 3), (1, 7, 6 + 25, 2), (1, 4, 0, 1)]
)
def test_steal_soul_wounds_automatically_and_gives_its_caster_a_wound(
    left: int, ward: int, points: int, after: int
) -> None:
    """Only ward saves apply; a regained wound counts, and one beyond his own does not."""
    foe = Foe(models=3, armour=2, ward=ward)
    mage = wizard(4, known("Steal Soul"), wounds=2, points=50.0)
    battle = game(army(mage), army(units=[foe.as_unit()]), phases=4)
    battle.state.wounds[0, 0] = left
    battle.works("Steal Soul")
    mean = (ward - 1) / 6 * (6 + 25 * (left == 1))
    assert battle.mean() == pytest.approx(mean)
    assert battle.roll(1, 6, 4) == points
    assert battle.state.wounds[0, 0] == after


def test_a_stolen_wound_costs_nothing_to_lose() -> None:
    owner = wizard(1, known("Steal Soul"), wounds=2, points=50.0, name="Thief")
    battle = game(army(wizard(4, known("Fire Ball"))), army(owner), phases=4)
    battle.state.wounds[1, 0] = 4
    battle.works("Fire Ball")
    assert battle.outcomes().keys() == {0, 1, 2, 3, 4}
    assert battle.roll(3, *WOUND * 3) == 25
    assert battle.state.wounds[1, 0] == 1


@pytest.mark.parametrize("row", [STORM, MISSILES[-1]], ids=lambda row: row.name)
def test_an_area_spell_strikes_every_unit_one_after_the_other(row: Row) -> None:
    units = [unit("A", 5), unit("B", 5, points=9.0), unit("Fighting", 5, in_combat=True)]
    battle = game(army(wizard(4, known(row.name))), army(units=units), phases=4)
    battle.works(row.name)
    chance = wound_chance(Foe(), row.strength, row.armour)
    foes = Foe(models=5), Foe(models=5, points=9.0)
    expected = sum(float(mean_points(foe, D6, chance, flaming=False)) for foe in foes)
    assert battle.mean() == pytest.approx(expected)
    assert battle.roll(2, *WOUND * 2) == 12
    assert battle.roll(1, *WOUND) == 9
    assert battle.units_left(1) == [3, 4, 5]


def test_drain_life_skips_the_dead_and_is_not_cast_without_victims() -> None:
    bones = unit("Bones", 5, traits=["undead"])
    mage = wizard(4, known("Drain Life"), known("The Howler Wind"))
    battle = game(army(mage), army(units=[bones, unit("B", 5)]), phases=4)
    battle.works("Drain Life")
    battle.roll(3, *WOUND * 3)
    assert battle.units_left(1) == [5, 2]
    battle = game(army(mage), army(units=[bones]))
    assert not battle.can_cast("Drain Life")
    assert battle.can_cast("The Howler Wind")
