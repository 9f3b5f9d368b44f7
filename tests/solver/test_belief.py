"""Values by belief: against bounds of equilibria, and against known laws."""

import numpy as np
import pytest

from tests.support.builders import army, miscast, spell, wizard
from tests.support.hidden import LUCK, SCROLL, STONE, hidden_scenario, kinds, scenarios
from wfb_gym.scenario import Scenario, scenario_from_dict
from wfb_gym.solver import HiddenGame, TooLarge, solve, solve_hidden, value_by_belief

EXACT = 1e-9


def scrolls(weights: list[float] | None = None) -> Scenario:
    """Return one spell more than the dispeller's dice can answer, and a scroll or none."""
    return hidden_scenario(dispeller=kinds([], [SCROLL], weights=weights), casts={"power_dice": 5})


def test_at_0_and_1_the_belief_is_knowledge() -> None:
    found = value_by_belief(scrolls())
    known = [
        solve(hidden_scenario(answers={"items": [SCROLL] * k}, casts={"power_dice": 5})).value
        for k in (0, 1)
    ]
    assert found.values[[0, -1]] == pytest.approx(known, abs=EXACT)
    assert (found.chances[0], found.chances[-1]) == (0.0, 1.0)


@pytest.mark.parametrize("chance", [0.1, 0.35, 0.5, 0.8])
def test_it_lies_between_the_bounds_of_equilibria(chance: float) -> None:
    found = value_by_belief(scrolls()).at(chance)
    bounds = solve_hidden(scrolls([1.0 - chance, chance]), gap=1e-5)
    assert bounds.lower - EXACT <= found <= bounds.upper + EXACT


@pytest.mark.parametrize(
    "scenario",
    [
        scenarios()["stones"],
        hidden_scenario(caster=kinds([], [LUCK], weights=[2.0, 3.0])),
        hidden_scenario(caster=kinds([STONE], [STONE, STONE]), dispeller=kinds([SCROLL])),
        hidden_scenario(dispeller=kinds([SCROLL], [SCROLL] * 2), phases=2),
        hidden_scenario(caster=kinds([], [SCROLL], bearer="Mage"), phases=2),
    ],
)
def test_secrets_of_either_side_lie_between_the_bounds(scenario: Scenario) -> None:
    armies = [each for each in scenario.armies if len(each.hidden) == 2]
    weights = [kind.weight for kind in armies[0].hidden]
    found = value_by_belief(scenario).at(weights[1] / sum(weights))
    bounds = solve_hidden(scenario, gap=1e-4)
    assert bounds.lower - EXACT <= found <= bounds.upper + EXACT


def test_it_is_convex_and_falls_where_the_enemy_may_have_a_scroll() -> None:
    found = value_by_belief(scrolls())
    slopes = np.diff(found.values) / np.diff(found.chances)
    assert len(slopes) > 1
    assert (np.diff(slopes) > 0.0).all()
    assert (slopes < 0.0).all()


def test_it_is_concave_and_rises_where_the_caster_may_have_a_stone() -> None:
    found = value_by_belief("hidden-stone")
    slopes = np.diff(found.values) / np.diff(found.chances)
    assert (np.diff(slopes) < 0.0).all()
    assert (slopes > 0.0).all()


def test_it_finds_the_value_also_with_too_many_histories() -> None:
    mage = wizard(4, *(spell(f"Spell {k}", 4 + k, 10.0 + 9.0 * k) for k in range(6)))
    document = {
        "name": "six-spells",
        "caster": army(mage),
        "dispeller": army(hidden=kinds([], [SCROLL]), dispel_dice=2),
        **miscast(),
    }
    scenario = scenario_from_dict(document)
    with pytest.raises(TooLarge):
        HiddenGame(scenario, max_bytes=32 << 20)
    found = value_by_belief(scenario, max_bytes=512 << 20)
    known = [
        solve(
            scenario.model_copy(
                update={
                    "dispeller": scenario.dispeller.model_copy(
                        update={"hidden": (), "items": (SCROLL,) * k}
                    )
                }
            )
        ).value
        for k in (0, 1)
    ]
    assert found.values[[0, -1]] == pytest.approx(known, abs=EXACT)
    assert found.at(0.5) < np.mean(known)


@pytest.mark.parametrize("name", ["both", "scrolls"])
def test_other_secrets_are_rejected(name: str) -> None:
    with pytest.raises(ValueError, match="two sets of hidden items in exactly one army"):
        value_by_belief(scenarios()[name])


def test_too_many_positions_are_rejected() -> None:
    with pytest.raises(TooLarge):
        value_by_belief("hidden-council", max_bytes=1 << 20)
