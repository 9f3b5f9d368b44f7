"""Damage of own spells: dice for the number of hits and their Strength, and hits on the caster."""

from collections import Counter
from fractions import Fraction as F
from itertools import product
from typing import Any

import pytest

from tests.support.builders import Data, Game, aimed, army, game, spell, unit, wizard
from wfb_gym import solver
from wfb_gym.engine.state import Node

from .facts import check
from .test_laws import check_battle
from .test_spells_damage import Foe, mean_points, wound_chance

D3, D6 = (1, 2, 3), (1, 2, 3, 4, 5, 6)
HITS: dict[str, list[tuple[int, ...]]] = {
    "1": [(1,)], "2": [(2,)], "3": [(3,)], "D3": [D3], "2D3": [D3, D3], "D3+1": [D3, (1,)],
    "D6": [D6], "D6+1": [D6, (1,)], "2D6": [D6] * 2, "3D6": [D6] * 3, "4D6": [D6] * 4,
}  # fmt: skip
"""Possible results of each part of the sum."""


def number_of_hits(hits: str) -> dict[int, F]:
    totals = Counter(sum(roll) for roll in product(*HITS[hits]))
    return {total: F(count, totals.total()) for total, count in totals.items()}


def blast(damage: Data, *, models: int = 20, power: int = 4, **keys: Any) -> Game:
    """Return a battle of one spell, at a unit of Toughness 4 with a 4+ save and no dispel dice."""
    foe = {**unit(models=models, toughness=4, armour_save=4, points=1.0), **keys.pop("foe", {})}
    foes = army(units=[foe], dispel_dice=0, **keys)
    return game(army(wizard(4, aimed("Blast", 3, damage=damage)), power_dice=power), foes)


def mean_wounds(hits: str, strengths: tuple[int, ...], most: int) -> F | float:
    """Return the mean wounds of one roll of hits that all have one Strength, at most `most`."""
    foe = Foe(most, toughness=4, armour=4, points=1.0)
    chances = [wound_chance(foe, strength, True) for strength in strengths]
    means = [mean_points(foe, number_of_hits(hits), each, flaming=False) for each in chances]
    return sum(means, F(0)) / len(means)


@pytest.mark.parametrize("hits", HITS)
@pytest.mark.parametrize("strength", [{"strength": 4}, {"strength_dice": "D6"}])
def test_points_of_a_spell_and_solved_value(hits: str, strength: Data) -> None:
    battle = blast({"hits": hits, **strength}, models=2, power=1)
    strengths = D6 if "strength_dice" in strength else (4,)
    expected = mean_wounds(hits, strengths, 2)
    assert float(battle.packed.armies[0].aims[0].expected_points) == pytest.approx(float(expected))
    cast = F(4, 6)  # the spell needs a 3+
    assert solver.solve(battle.scenario).value == pytest.approx(float(cast * expected), abs=1e-9)


@pytest.mark.parametrize(
    ("hits", "faces", "number"),
    [("D3", (3,), 2), ("2D3", (1, 6), 4), ("D3+1", (5,), 4), ("3D6", (1, 1, 2), 4), ("3", (), 3)],
)
def test_dice_are_read_as_players_roll_them(hits: str, faces: tuple[int, ...], number: int) -> None:
    battle = blast({"hits": hits, "strength": 4})
    battle.works("Blast", "Spears")
    assert battle.dice_missing(*faces) == 3 * number
    battle.roll(*faces, *(6, 1, 1) * number)
    assert battle.points == number


@pytest.mark.parametrize(("die", "strength", "points"), [("D6", 6, 2), ("D6", 2, 0), ("D3", 5, 2)])
def test_one_die_gives_the_strength_of_all_hits(die: str, strength: int, points: int) -> None:
    battle = blast({"hits": "2", "strength_dice": die}, foe={"armour_save": None})
    battle.works("Blast", "Spears")
    # Strength 6 wounds Toughness 4 on a 2+, 2 on a 6; a 5 is Strength 3 on a D3, which needs a 5+
    to_wound = {6: 2, 5: 5, 2: 5}[strength]
    assert battle.dice_missing() == 1
    battle.roll(strength, *(to_wound, 1, 1) * 2)
    assert battle.points == points


def test_shared_hits_have_a_strength_each() -> None:
    hero = {"name": "Hero", "unit": "Spears", "points": 20.0}
    damage = {"hits": "2", "strength_dice": "D6"}
    battle = blast(damage, models=1, heroes=[hero], foe={"armour_save": None})
    battle.works("Blast", "Spears")
    assert battle.node == Node.ROLL_HITS
    battle.roll()
    assert battle.dice_missing() == 4
    battle.roll(6, 2, 1, 1)  # the hero takes a hit of Strength 6 and loses one of two wounds
    assert battle.points == 10


@pytest.mark.parametrize("models", [1, 3, 20])
def test_probabilities_and_samples_agree(models: int) -> None:
    hero = {"name": "Hero", "unit": "Spears"}
    battle = blast({"hits": "D3", "strength_dice": "D3"}, models=models, heroes=[hero])
    check_battle(battle.scenario, seed=1)


BURN: Data = {"hits": "2", "strength": 4}
HURT: Data = {"hits": "1", "strength": 5}


def burst(*spells: Data, own: Data | None = None, power: int = 4, **keys: Any) -> Game:
    burn = aimed("Blast", 3, damage=BURN, caster_damage=HURT if own is None else own)
    mage = wizard(4, burn, *spells, points=80.0, **keys.pop("mage", {}))
    side = army(mage, power_dice=power, units=keys.pop("units", []))
    return game(side, army(units=[unit(models=10)], dispel_dice=0), **keys)


def test_the_caster_is_hit_after_the_target() -> None:
    battle = burst(spell())
    battle.works("Blast", "Spears")
    battle.roll(*(3, 1, 1) * 2)  # two Spears die
    check(battle, node=Node.ROLL_STRIKE, points=12, wounds=2)
    battle.roll(2, 1, 1)  # Strength 5 wounds Toughness 3 on a 2+
    check(battle, node=Node.NOMINATE, points=12 - 40, wounds=1, castable={"Bolt"})


@pytest.mark.parametrize(
    ("mage", "points", "dies"), [({"wounds": 1}, -80, True), ({"unit": "Guard"}, -40, False)]
)
def test_a_spell_may_kill_its_caster_and_does_not_hit_its_unit(
    mage: Data, points: int, dies: bool
) -> None:
    battle = burst(spell(), mage=mage, units=[unit("Guard")])
    battle.works("Blast", "Spears")
    battle.roll(*(1, 1, 1) * 2)
    battle.roll(2, 1, 1)
    assert (battle.points, battle.is_over) == (points, dies)
    assert dies or battle.units_left(0) == [10]


def test_hits_on_a_unit_of_daemons_that_casts_cost_it_models() -> None:
    horrors = unit("Horrors", models=10, traits=["daemons"])
    burn = aimed("Blast", 3, damage=BURN, caster_damage=HURT)
    mage = wizard(1, burn, spell(), daemon_unit="Horrors")
    foes = army(units=[unit()], dispel_dice=0)
    battle = game(army(mage, units=[horrors], power_dice=4), foes)
    battle.works("Blast", "Spears")
    battle.roll(*(1, 1, 1) * 2)
    battle.roll(2, 1, 1)
    assert battle.units_left(0) == [9]
    assert battle.points == -6


@pytest.mark.parametrize("status", ["dead", "off_table"])
def test_an_absent_caster_has_no_strikes_to_pack(status: str) -> None:
    assert burst(mage={"status": status}, power=0).is_over


def test_points_and_solved_value() -> None:
    battle = burst(power=1)
    burn = 2 * wound_chance(Foe(), 4, True) * 6
    hurt = wound_chance(Foe(), 5, True) * 40
    expected_points = float(battle.packed.armies[0].aims[0].expected_points)
    assert expected_points == pytest.approx(float(burn - hurt))
    worth = max(F(0), F(4, 6) * (burn - hurt))  # a 3+ is needed, or the caster passes
    assert solver.solve(battle.scenario).value == pytest.approx(float(worth), abs=1e-9)
    assert solver.solve(burst(power=1, own={"hits": "D6", "strength": 10}).scenario).value == 0


@pytest.mark.parametrize("seed", range(3))
def test_probabilities_and_samples_agree_if_the_caster_is_hit(seed: int) -> None:
    check_battle(burst(spell(), own={"hits": "D6", "strength": 3}, phases=3).scenario, seed)


def test_a_curse_without_damage_may_hit_its_caster() -> None:
    curse = aimed("Curse", 3, worth={"points": 9.0}, caster_damage=HURT)
    battle = game(army(wizard(4, curse, points=80.0)), army(units=[unit()], dispel_dice=0))
    battle.works("Curse", "Spears")
    battle.roll(2, 1, 1)
    assert battle.points == 9 - 40
