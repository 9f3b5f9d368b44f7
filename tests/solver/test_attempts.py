"""Solved values of spells with several casts, against the oracle with a spell for each attempt."""

import pytest

from tests.support.builders import Data
from wfb_gym import solver
from wfb_gym.scenario import scenario_from_dict

from .oracle import Army, Duel, Row, Spell, scenario, value

HARSH: tuple[Row, ...] = ((2, 7, (("locked", 0),)), (8, 12, (("casting_ends", 0),)))
BOLT, DART = Spell(0, 7, 30), Spell(1, 4, 12)


def solved(duel: Duel, *spells: Data) -> float:
    """Return the solved value of the duel with these spells for its first wizard."""
    document = scenario(duel)
    document["caster"]["wizards"][0]["spells"] = list(spells)
    return solver.solve(scenario_from_dict(document)).value


@pytest.mark.parametrize(("phases", "casts", "power"), [(1, 3, 5), (3, 2, 2)])
def test_a_spell_with_several_casts_is_worth_as_many_equal_spells(
    phases: int, casts: int, power: int
) -> None:
    caster = Army((2, 1), (*[BOLT] * casts, DART), power)
    duel = Duel(caster, Army(dispel=2, scrolls=1), miscasts=HARSH, phases=phases)
    bolt = {"name": "Bolt", "casting_value": 7, "worth": 30.0, "casts": casts}
    assert solved(duel, bolt) == pytest.approx(float(value(duel)), abs=1e-9)


@pytest.mark.parametrize("phases", [1, 2])
def test_a_spell_with_several_casting_values_is_solved(phases: int) -> None:
    low, high = Spell(0, 4, 10, attempt=1), Spell(0, 9, 45, attempt=1)
    caster = Army((2, 1), (low, high, BOLT, DART), 4)
    duel = Duel(caster, Army(dispel=2, scrolls=1), miscasts=HARSH, phases=phases)
    raised = {"name": "Raise", "casting_value": 4, "worth": 10.0}
    raised["alternatives"] = [{"casting_value": 9, "worth": 45.0}]
    bolt = {"name": "Bolt", "casting_value": 7, "worth": 30.0}
    assert solved(duel, raised, bolt) == pytest.approx(float(value(duel)), abs=1e-9)


def test_a_group_of_spells_with_several_casts_is_solved() -> None:
    spells = [Spell(0, 4 + 3 * k, 12 + 9 * k, attempt=cast) for cast in (1, 2) for k in (0, 1)]
    duel = Duel(Army((2, 1), (*spells, DART), 4), Army(dispel=2), miscasts=HARSH)
    document = [
        {"name": f"Prayer {k}", "casting_value": 4 + 3 * k, "worth": 12.0 + 9 * k, "casts": 2,
         "group": "prayers"}
        for k in (0, 1)
    ]  # fmt: skip
    assert solved(duel, *document) == pytest.approx(float(value(duel)), abs=1e-9)
