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

from .enumeration import D6, TWO_D6, binomial

# An independent implementation of the rules of wounds and casualties, without the package.


class Foe(NamedTuple):
    """The target of the hits."""

    models: int = 10
    toughness: int = 3
    armour: int = 7
    ward: int = 7
    wounds: int = 1
    points: float = 6.0
    flammable: bool = False
    touched: int = 0  # models that a template only touches
    struck: int = 0  # models struck for certain

    def as_unit(self) -> Data:
        """Return the unit of a scenario."""
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


def chain(longest: int = 300) -> dict[int, float]:
    """Return hits of the Conflagration: a D6, and one more while the caster's die is higher."""
    pmf = dict.fromkeys(range(longest), 0.0)
    going = {hits: float(probability) for hits, probability in D6.items()}
    while going:
        following: dict[int, float] = {}
        for hits, probability in going.items():
            pmf[hits] += probability * 21 / 36  # 15 of 36 pairs continue
            for die in range(2, 7):
                more = hits + die
                if more < longest:
                    pair_probability = (die - 1) / 36
                    following[more] = following.get(more, 0.0) + probability * pair_probability
        going = following
    return pmf


class Row(NamedTuple):
    """A spell, and the rules of its hits."""

    name: str
    hits: Law
    strength: int
    armour: bool = True
    flaming: bool = False


MISSILES = [
    Row("Fire Ball", D6, 4, flaming=True),
    Row("Fiery Blast", TWO_D6, 4, flaming=True),
    Row("Distillation of Molten Silver", TWO_D6, 4, flaming=True),
    Row("Creeping Death", D6, 3, armour=False),
    Row("The Crow's Feast", TWO_D6, 3),
    Row("Forked Lightning", D6, 4),
    Row("Uranon's Thunder Bolt", D6, 4, armour=False),
    Row("Storm of Cronos", D6, 4),
    Row("Burning Gaze", D6, 4, flaming=True),
    Row("Father of the Thorn", TWO_D6, 3),
    Row("Master of the Wood", D6, 4),
    Row("Master of Stone", D6, 5),
    Row("Dark Hand of Death", D6, 4),
    Row("Wind of Death", TWO_D6, 4),
    Row("Drain Life", D6, 3, armour=False),
]
CONFLAGRATION = Row("Conflagration of Doom", chain(), 4, flaming=True)
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


def duel(name: str, foe: Foe, **keys: Any) -> Game:
    """Return a wizard with the spell against one unit."""
    return game(army(wizard(4, known(name))), army(units=[foe.as_unit()]), **keys)


def to_strike(name: str, foe: Foe, **keys: Any) -> Game:
    """Return a battle after the spell was cast irresistibly, before its hits."""
    battle = duel(name, foe, **keys)
    expected_points = battle.packed.armies[0].aims[0].expected_points
    at_once = battle.works(name)
    assert battle.node == Node.ROLL_STRIKE
    assert at_once + battle.mean() == pytest.approx(expected_points, abs=1e-9)
    return battle


@pytest.mark.parametrize(
    ("row", "foe"),
    [
        pytest.param(
            row,
            foe,
            id=f"{row.name}-{name}",
            marks=[pytest.mark.slow]
            * (row is CONFLAGRATION and name not in ("warded", "flammable")),
        )
        for row in (*MISSILES, CONFLAGRATION)
        for name, foe in FOES.items()
    ],
)
def test_mean_of_a_spell_with_dice_for_its_hits(row: Row, foe: Foe) -> None:
    chance = wound_chance(foe, row.strength, row.armour)
    expected = mean_points(foe, row.hits, chance, flaming=row.flaming)
    assert to_strike(row.name, foe).mean() == pytest.approx(float(expected), abs=1e-9)


@pytest.mark.parametrize(
    ("foe", "mean"),
    [
        (Foe(armour=6), F(7, 3)),
        (Foe(armour=5), F(35, 18)),
        (Foe(armour=4), F(14, 9)),
        (Foe(armour=1), F(7, 18)),
        (Foe(toughness=4, armour=4), F(7, 6)),
        (Foe(toughness=4, armour=6), F(7, 4)),
        (Foe(ward=5), F(14, 9)),
    ],
)
def test_hand_counted_means_of_a_fire_ball(foe: Foe, mean: F) -> None:
    assert to_strike("Fire Ball", foe._replace(points=1.0)).mean() == pytest.approx(float(mean))


WOUND, SAVED, WARDED, HELD = (6, 1, 1), (6, 6, 1), (6, 1, 6), (1, 1, 1)


@pytest.mark.parametrize("row", MISSILES, ids=lambda row: row.name)
def test_a_spell_takes_a_model_for_each_hit_that_wounds_and_is_not_saved(row: Row) -> None:
    """Four hits: one does not wound, one meets armour, one a ward save, one kills."""
    foe = Foe(models=8, armour=2, ward=6)
    battle = to_strike(row.name, foe)
    number = (4,) if row.hits == D6 else (2, 2)
    gained = battle.roll(*number, *HELD, *SAVED, *WARDED, *WOUND)
    dead = 1 if row.armour else 2
    assert gained == dead * 6
    assert battle.is_over


@pytest.mark.parametrize(("name", "points"), [("Master of the Wood", 0), ("Master of Stone", 6)])
def test_strength_reduces_armour_saves(name: str, points: int) -> None:
    """A 5 saves at 4+ against Strength 4, and no longer against Strength 5."""
    assert to_strike(name, Foe(armour=4)).roll(1, 6, 5, 1) == points


def test_no_die_wounds_what_is_four_points_tougher() -> None:
    assert to_strike("Fire Ball", Foe(toughness=8)).roll(1, *WOUND) == 0


def test_casualties_end_with_the_unit() -> None:
    battle = to_strike("Fire Ball", Foe(models=2))
    assert battle.outcomes().keys() == {0, 1, 2}
    assert battle.roll(6, *WOUND * 6) == 12


@pytest.mark.parametrize(("wounds", "points", "left"), [(2, 0, 7), (4, 40, 5)])
def test_wounds_too_few_for_a_model_stay_with_the_unit(wounds: int, points: int, left: int) -> None:
    battle = to_strike("Fire Ball", Foe(models=3, wounds=3, points=40.0), phases=4)
    assert battle.roll(wounds, *WOUND * wounds) == points
    assert battle.units_left(1) == [left]


@pytest.mark.parametrize(
    ("name", "points", "left"), [("Fire Ball", 80, 2), ("Dark Hand of Death", 0, 5)]
)
def test_flames_double_the_wounds_of_what_burns(name: str, points: int, left: int) -> None:
    foe = Foe(models=2, wounds=4, points=80.0, flammable=True)
    battle = to_strike(name, foe, phases=4)
    assert battle.roll(3, *WOUND * 3) == points
    assert battle.units_left(1) == [left]


def test_a_model_of_one_wound_burns_once() -> None:
    assert to_strike("Fire Ball", Foe(models=4, flammable=True)).roll(2, *WOUND * 2) == 12


def test_the_conflagration_continues_while_the_caster_rolls_higher() -> None:
    assert to_strike("Conflagration of Doom", Foe()).roll(1, 3, 3, *WOUND) == 6
    battle = to_strike("Conflagration of Doom", Foe(models=12))
    assert battle.roll(1, 5, 4, 2, 1, 1, 6, *WOUND * 8) == 48


def test_the_conflagrations_mean_hits() -> None:
    pmf = chain()
    assert sum(hits * p for hits, p in pmf.items()) == pytest.approx(41 / 6)
    assert sum(pmf.values()) == pytest.approx(1)


@pytest.mark.parametrize("foe", FOES.values(), ids=FOES.keys())
@pytest.mark.parametrize(("name", "hits"), [("Burning Head", 3), ("Wall of Fire", 5)])
def test_mean_of_a_spell_that_strikes_models(name: str, hits: int, foe: Foe) -> None:
    """11 models in ranks of five: three ranks, five in front."""
    foe = foe._replace(models=11)
    expected = mean_points(foe, {hits: F(1)}, wound_chance(foe, 4, True), flaming=True)
    assert to_strike(name, foe).mean() == pytest.approx(float(expected), abs=1e-9)


@pytest.mark.parametrize(("models", "ranks"), [(11, 3), (10, 2), (4, 1)])
def test_a_burning_head_strikes_a_model_of_each_rank(models: int, ranks: int) -> None:
    battle = to_strike("Burning Head", Foe(models=models))
    assert battle.roll(*WOUND * ranks) == 6 * ranks


@pytest.mark.parametrize(("models", "front"), [(11, 5), (4, 4)])
def test_a_wall_of_fire_strikes_the_front_rank_once_and_stays(models: int, front: int) -> None:
    battle = to_strike("Wall of Fire", Foe(models=models), phases=3)
    assert battle.is_in_play("Wall of Fire", 0)
    assert battle.roll(*WOUND * front) == 6 * front


def test_fewer_models_left_are_fewer_in_the_front_rank() -> None:
    mages = wizard(4, known("Fire Ball")), wizard(4, known("Wall of Fire"), name="Second")
    battle = game(army(*mages), army(units=[Foe(models=7).as_unit()]))
    battle.works("Fire Ball")
    battle.roll(4, *WOUND * 4)
    battle.works("Wall of Fire")
    assert battle.roll(*WOUND * 3) == 18


def pit(foe: Foe, **keys: Any) -> tuple[Game, int, int]:
    """Return a Pit of Shades, with the numbers of models wholly covered and touched."""
    battle = to_strike("Pit of Shades", foe, **keys)
    strike = battle.packed.strikes[battle.packed.armies[0].aims[0].first_strike]
    wholly = int(battle.packed.hits[strike.hits + foe.models])
    return battle, wholly, int(battle.packed.hits[strike.touched + foe.models])


def test_mean_of_a_pit_of_shades() -> None:
    """A template of 3 inches on a block of 20 mm bases, five wide and five deep."""
    foe = Foe(models=25)
    battle, wholly, touched = pit(foe)
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
    chance = wound_chance(foe, 3, True)
    expected: F | float = F(0)
    for more, probability in binomial(touched, F(1, 2)).items():
        expected += probability * mean_points(foe, {wholly + more: F(1)}, chance, flaming=False)
    assert battle.mean() == pytest.approx(float(expected), abs=1e-9)


def test_a_pit_of_shades_takes_models_it_only_touches_on_a_4() -> None:
    battle, wholly, touched = pit(Foe(models=25))
    faces = [3] * (touched - 2) + [4, 6]
    assert battle.roll(*faces, *WOUND * (wholly + 2)) == 6 * (wholly + 2)


def test_a_pit_of_shades_slows_the_survivors() -> None:
    battle = duel("Pit of Shades", Foe(models=25))
    assert battle.works("Pit of Shades") == pytest.approx(0.03 * 25 * 6)


@pytest.mark.parametrize(
    ("armour", "strength"), [(7, 3), (6, 3), (5, 4), (4, 5), (3, 5), (2, 5), (1, 5)]
)
def test_mean_of_burning_iron_by_the_armour_it_heats(armour: int, strength: int) -> None:
    foe = Foe(toughness=4, armour=armour, points=14.0)
    expected = mean_points(foe, {1: F(1)}, wound_chance(foe, strength, True), flaming=True)
    battle = to_strike("Rule of Burning Iron", foe)
    assert battle.mean() == pytest.approx(float(expected), abs=1e-9)
    assert battle.roll(*WOUND) == 14


def test_burning_iron_does_no_more_than_kill_one_model() -> None:
    foe = Foe(models=2, wounds=3, points=40.0, flammable=True)
    battle = to_strike("Rule of Burning Iron", foe, phases=4)
    assert battle.roll(*WOUND) == 0
    assert battle.units_left(1) == [4]


def with_hero(name: str, **keys: Any) -> Game:
    """Return the spell against a unit with a hero of 3 wounds in it."""
    hero = {"name": "Captain", "unit": "Spears", "points": 90.0, "wounds": 3, **keys}
    return game(army(wizard(4, known(name))), army(units=[unit()], heroes=[hero]))


def test_burning_iron_picks_a_character_out_of_his_unit() -> None:
    battle = with_hero("Rule of Burning Iron", armour_save=3, toughness=4)
    battle.nominate("Rule of Burning Iron")
    assert battle.targets() == {"Spears", "Captain"}
    battle.aim("Captain")
    battle.act(1 + 2)
    battle.roll(6, 6)
    hurt = wound_chance(Foe(toughness=4, armour=3), 5, True)
    assert battle.mean() == pytest.approx(float(hurt) * 30)
    assert battle.roll(*WOUND) == 30


def test_no_other_missile_picks_a_character_out_of_his_unit() -> None:
    battle = with_hero("Fire Ball")
    battle.nominate("Fire Ball")
    assert battle.node == Node.POOL_DICE  # the unit is the only target


def thief(wounds: int, points: float = 50.0, **keys: Any) -> Game:
    """Return a wizard with this many of two wounds left, who knows Steal Soul."""
    mage = wizard(4, known("Steal Soul"), wounds=2, points=points)
    battle = game(army(mage), army(units=[Foe(models=3, **keys).as_unit()]), phases=4)
    battle.state.wounds[0, 0] = wounds
    battle.works("Steal Soul")
    return battle


@pytest.mark.parametrize("ward", [7, 5, 4])
def test_mean_of_steal_soul(ward: int) -> None:
    """It wounds automatically; only ward saves apply; a regained wound counts too."""
    lost = F(6 - 7 + ward, 6) if ward < 7 else F(1)
    battle = thief(2, armour=2, ward=ward)
    assert battle.mean() == pytest.approx(float(lost * 6))
    battle = thief(1, armour=2, ward=ward)
    assert battle.mean() == pytest.approx(float(lost * (6 + 25)))


def test_steal_soul_gives_the_caster_a_wound_beyond_his_own() -> None:
    battle = thief(2)
    assert battle.roll(1, 6, 1) == 6
    assert battle.state.wounds[0, 0] == 3


@pytest.mark.parametrize(("ward", "points", "wounds"), [(7, 6 + 25, 2), (4, 0, 1)])
def test_steal_soul_gives_back_a_lost_wound_and_its_points(
    ward: int, points: int, wounds: int
) -> None:
    battle = thief(1, ward=ward)
    assert battle.roll(1, 6, 4) == points
    assert battle.state.wounds[0, 0] == wounds


def test_a_stolen_wound_costs_nothing_to_lose() -> None:
    owner = wizard(1, known("Steal Soul"), wounds=2, points=50.0, name="Thief")
    battle = game(army(wizard(4, known("Fire Ball"))), army(owner), phases=4)
    battle.state.wounds[1, 0] = 4
    battle.works("Fire Ball")
    assert battle.outcomes().keys() == {0, 1, 2, 3, 4}
    assert battle.roll(3, *WOUND * 3) == 25
    assert battle.state.wounds[1, 0] == 1


@pytest.mark.parametrize("name", ["Storm of Cronos", "Drain Life"])
def test_an_area_spell_strikes_every_unit_one_after_the_other(name: str) -> None:
    units = [unit("A", 5), unit("B", 5, points=9.0), unit("Fighting", 5, in_combat=True)]
    battle = game(army(wizard(4, known(name))), army(units=units), phases=4)
    battle.works(name)
    expected = sum(
        float(mean_points(foe, D6, wound_chance(foe, strength, armour), flaming=False))
        for foe in (Foe(models=5), Foe(models=5, points=9.0))
        for strength, armour in [(4, True) if name == "Storm of Cronos" else (3, False)]
    )
    assert battle.mean() == pytest.approx(expected)
    assert battle.roll(2, *WOUND * 2) == 12
    assert battle.roll(1, *WOUND) == 9
    assert battle.units_left(1) == [3, 4, 5]


def test_drain_life_skips_the_dead() -> None:
    units = [unit("Bones", 5, traits=["undead"]), unit("B", 5)]
    battle = game(army(wizard(4, known("Drain Life"))), army(units=units), phases=4)
    battle.works("Drain Life")
    battle.roll(3, *WOUND * 3)
    assert battle.units_left(1) == [5, 2]


def test_a_spell_without_victims_is_not_cast() -> None:
    battle = game(
        army(wizard(4, known("Drain Life"), known("The Howler Wind"))),
        army(units=[unit(traits=["undead"])]),
    )
    assert not battle.can_cast("Drain Life")
    assert battle.can_cast("The Howler Wind")
