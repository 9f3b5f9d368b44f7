"""Solved values with shared hits, against a separate expectimax."""

from fractions import Fraction as F
from functools import cache

import pytest

from tests.engine.enumeration import D6
from tests.engine.test_shared_hits import Victim, expected, hero
from tests.support.builders import aimed, army, miscast, unit, wizard
from wfb_gym.scenario import Scenario
from wfb_gym.solver import solve

from .oracle import chance_to_cast
from .small import scenario

WOUND = F(2, 3)
VALUES = {"Bolt": 5, "Flash": 3, "Glare": 6}
"""Casting values of spells of D6 hits at Strength 4."""


def shared_hits(models: int, power: int) -> Scenario:
    """Return a level 1 wizard against a unit with a hero; no dispel dice, miscasts only fail."""
    damage = {"hits": "D6", "strength": 4}
    spells = [aimed(name, value, damage=damage) for name, value in VALUES.items()]
    foe = army(units=[unit(models=models)], heroes=[hero()], dispel_dice=0)
    return scenario(army(wizard(1, *spells), power_dice=power), foe, **miscast())


@cache
def struck(models: int, wounds: int) -> dict[tuple[int, ...], F]:
    """Return the remaining unit and hero; the hero is a target once the unit is gone."""
    if models == 0:
        return {(0, left): p for (left,), p in expected(D6, 1, Victim(wounds, WOUND)).items()}
    if wounds == 0 or models >= 5:
        law = expected(D6, models, Victim(models, WOUND))
        return {(left, wounds): p for (left,), p in law.items()}
    return expected(D6, models, Victim(models, WOUND), Victim(wounds, WOUND))


@cache
def value(dice: int, spells: frozenset[str], models: int, wounds: int) -> F:
    """Return the wizard's expected points with optimal play."""
    best = F(0)
    if models + wounds == 0:
        return best
    for name in spells:
        rest = spells - {name}
        for thrown in range(1, min(2, dice) + 1):
            chance = chance_to_cast(thrown, VALUES[name])
            mean = (1 - chance) * value(dice - thrown, rest, models, wounds)
            for (left, hurt), probability in struck(models, wounds).items():
                gained = 6 * (models - left) + 50 * (wounds - hurt)
                after = value(dice - thrown, rest, left, hurt)
                mean += chance * probability * (gained + after)
            best = max(best, mean)
    return best


@pytest.mark.parametrize(("models", "power"), [(3, 2), (5, 4), (7, 5)])
def test_solved_values_are_those_of_an_expectimax(models: int, power: int) -> None:
    exact = value(power, frozenset(VALUES), models, 2)
    assert solve(shared_hits(models, power)).value == pytest.approx(float(exact), abs=1e-9)


def test_models_that_cannot_be_wounded_still_take_their_share() -> None:
    bolt = aimed("Bolt", 3, damage={"hits": "1", "strength": 4})
    foe = army(units=[unit(models=4, toughness=9)], heroes=[hero()], dispel_dice=0)
    made = scenario(army(wizard(1, bolt), power_dice=1), foe, **miscast())
    exact = chance_to_cast(1, 3) * F(1, 5) * WOUND * 50
    assert solve(made).value == pytest.approx(float(exact), abs=1e-9)
