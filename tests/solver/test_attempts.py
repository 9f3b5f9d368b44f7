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


@pytest.mark.parametrize("phases", [1, 3])
def test_a_spell_with_several_casts_is_worth_as_many_equal_spells(phases: int) -> None:
    casts = 3 if phases == 1 else 2
    duel = Duel(
        Army((2, 1), (BOLT,) * casts + (DART,), 5 if phases == 1 else 2),
        Army(dispel=2, scrolls=1),
        miscasts=HARSH,
        phases=phases,
    )
    bolt = {"name": "Bolt", "casting_value": 7, "worth": 30.0, "casts": casts}
    assert solved(duel, bolt) == pytest.approx(float(value(duel)), abs=1e-9)
