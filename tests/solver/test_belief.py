"""Values by belief: against bounds of equilibria, and against known laws."""

from typing import Any

import numpy as np
import pytest

from tests.support.builders import army, miscast, spell, wizard
from tests.support.hidden import LUCK, SCROLL, STONE, hidden_scenario, kinds, scenarios
from wfb_gym.scenario import Scenario
from wfb_gym.solver import HiddenGame, TooLarge, solve, solve_hidden, value_by_belief
from wfb_gym.solver.belief import _lower_hull, _without_straight

from .small import perhaps_a_scroll, scenario

EXACT = 1e-9


@pytest.mark.parametrize(
    ("secret", "gap"),
    [
        *((perhaps_a_scroll(chance), 1e-5) for chance in (0.1, 0.35, 0.5, 0.8)),
        (scenarios()["stones"], 1e-4),
        (hidden_scenario(caster=kinds([], [LUCK], weights=[2.0, 3.0])), 1e-4),
        (hidden_scenario(caster=kinds([STONE], [STONE] * 2), dispeller=kinds([SCROLL])), 1e-4),
        (hidden_scenario(dispeller=kinds([SCROLL], [SCROLL] * 2), phases=2), 1e-4),
        (hidden_scenario(caster=kinds([], [SCROLL], bearer="Mage"), phases=2), 1e-4),
    ],
)
def test_it_lies_between_the_bounds_of_equilibria(secret: Scenario, gap: float) -> None:
    armies = [each for each in secret.armies if len(each.hidden) == 2]
    weights = [kind.weight for kind in armies[0].hidden]
    found = value_by_belief(secret).at(weights[1] / sum(weights))
    bounds = solve_hidden(secret, gap=gap)
    assert bounds.lower - EXACT <= found <= bounds.upper + EXACT


@pytest.mark.parametrize(
    ("secret", "sign"),
    [
        (perhaps_a_scroll(0.5), -1.0),  # of the enemy: it falls and is convex
        ("hidden-stone", 1.0),  # of the caster: it rises and is concave
    ],
)
def test_it_falls_or_rises_with_the_chance_of_an_item(secret: Any, sign: float) -> None:
    found = value_by_belief(secret)
    slopes = np.diff(found.values) / np.diff(found.chances)
    assert len(slopes) > 1
    assert (sign * slopes > 0.0).all()
    assert (sign * np.diff(slopes) < 0.0).all()


def test_the_order_of_the_sets_does_not_matter() -> None:
    last = value_by_belief(perhaps_a_scroll(0.5))
    sets = kinds([SCROLL], [])
    first = value_by_belief(hidden_scenario(dispeller=sets, casts={"power_dice": 5}))
    assert first.chances == pytest.approx(1.0 - last.chances[::-1])
    assert first.values == pytest.approx(last.values[::-1])


def test_it_is_exact_at_0_and_1_also_with_too_many_histories() -> None:
    mage = wizard(4, *(spell(f"Spell {k}", 4 + k, 10.0 + 9.0 * k) for k in range(5)))

    def of_spells(**keys: Any) -> Scenario:
        return scenario(army(mage), army(dispel_dice=2, **keys), **miscast())

    secret = of_spells(hidden=kinds([], [SCROLL]))
    with pytest.raises(TooLarge):
        HiddenGame(secret, max_bytes=4 << 20)
    found = value_by_belief(secret, max_bytes=512 << 20)
    known = [solve(of_spells(items=[SCROLL] * count)).value for count in (0, 1)]
    assert found.values[[0, -1]] == pytest.approx(known, abs=EXACT)
    assert (found.chances[0], found.chances[-1]) == (0.0, 1.0)
    assert found.at(0.5) < np.mean(known)


def test_corners_above_the_lines_through_others_are_removed() -> None:
    hull = _lower_hull([], [(0.0, 5.0), (0.2, 1.0), (0.6, 4.0), (0.8, 1.2), (1.0, 2.0)])
    assert hull.chances.tolist() == [0.0, 0.2, 0.8, 1.0]
    assert hull.values.tolist() == [5.0, 1.0, 1.2, 2.0]


def test_corners_at_which_the_slope_does_not_change_are_removed() -> None:
    left = _without_straight(np.array([0.0, 0.25, 0.5, 1.0]), np.array([1.0, 2.0, 3.0, 4.0]))
    assert left.chances.tolist() == [0.0, 0.5, 1.0]
    assert left.values.tolist() == [1.0, 3.0, 4.0]


def test_other_secrets_and_too_many_positions_are_rejected() -> None:
    for name in ("both", "scrolls"):
        with pytest.raises(ValueError, match="two sets of hidden items in exactly one army"):
            value_by_belief(scenarios()[name])
    # The first one's 133 positions take 46 kB, and the arrays that expand them 152 kB.
    for secret, most in ((perhaps_a_scroll(0.5), 180_000), ("hidden-council", 1 << 20)):
        with pytest.raises(TooLarge):
            value_by_belief(secret, max_bytes=most)
