"""Random battles of every bundled scenario, and of generated ones, break no invariant."""

from typing import Any

import numpy as np
import pytest

from wfb_gym.engine.legal import legal_actions
from wfb_gym.engine.random_numbers import key_of_seed, new_rngs
from wfb_gym.engine.state import new_states, new_work_spaces
from wfb_gym.engine.transition import begin
from wfb_gym.generating import TEST_SEEDS, generate
from wfb_gym.packing import pack
from wfb_gym.scenario import Scenario, bundled_scenarios, load_scenario
from wfb_gym.scenario.sizes import UNITS

from .invariants import BROKEN, broken, casualties, play_on

DAMAGE_ALONE = ("border-skirmish",)
"""Battles that score only casualties."""
compiled = pytest.mark.skipif(not hasattr(play_on, "py_func"), reason="no compiler")


def for_victory_points(scenario: Scenario) -> Any:
    """Return the packed scenario with victory points as its scoring."""
    rules = scenario.rules.model_copy(update={"scoring": "victory_points"})
    packed_scenarios = pack(scenario.model_copy(update={"rules": rules}))
    for field in ("worth", "worth_per_phase"):
        packed_scenarios["armies"]["spells"][field] = 0.0
        packed_scenarios["armies"]["aims"][field] = 0.0
    packed_scenarios["effects"]["points"] = 0.0
    return packed_scenarios


def played(
    scenario: Scenario, steps: int, seed: int, victory_points: bool = False
) -> tuple[int, int]:
    """Return steps taken and battles ended; fails if an invariant does."""
    packed_scenarios, states, rngs, scratch = (
        for_victory_points(scenario) if victory_points else pack(scenario),
        new_states(1),
        new_rngs(1),
        new_work_spaces(),
    )
    rngs[0].key = key_of_seed(seed)
    alone = victory_points or scenario.name in DAMAGE_ALONE
    failed, taken, battles = play_on(
        packed_scenarios[0], states[0], rngs[0], scratch[0], steps, alone
    )
    assert failed == 0, f"{BROKEN[failed]} after {taken} steps: {states[0]}"
    return taken, battles


@compiled
@pytest.mark.parametrize("name", bundled_scenarios())
def test_some_thousand_steps(name: str) -> None:
    taken, battles = played(load_scenario(name), 20_000, seed=1)
    assert taken >= 20_000
    assert battles > 10


@compiled
@pytest.mark.parametrize("name", bundled_scenarios())
def test_some_thousand_steps_for_victory_points(name: str) -> None:
    taken, _ = played(load_scenario(name), 20_000, seed=3, victory_points=True)
    assert taken >= 20_000


@pytest.mark.slow
@compiled
@pytest.mark.parametrize("name", bundled_scenarios())
def test_a_million_steps(name: str) -> None:
    taken, _ = played(load_scenario(name), 1_000_000, seed=2)
    assert taken >= 1_000_000


@pytest.mark.slow
@compiled
@pytest.mark.parametrize("victory_points", [False, True])
@pytest.mark.parametrize("first", range(0, 200, 25))
def test_a_million_steps_of_each_generated_battle(first: int, victory_points: bool) -> None:
    for seed in TEST_SEEDS[first : first + 25]:
        taken, _ = played(generate(seed), 1_000_000, seed, victory_points)
        assert taken >= 1_000_000


def _position(name: str) -> tuple[Any, Any, Any]:
    packed_scenarios, states, rngs, scratch = (
        pack(load_scenario(name)), new_states(1), new_rngs(1), new_work_spaces(),
    )  # fmt: skip
    rngs[0].key = key_of_seed(3)
    play_on(packed_scenarios[0], states[0], rngs[0], scratch[0], 1, False)
    begin(packed_scenarios[0], states[0], scratch[0])
    return packed_scenarios, states, scratch


@pytest.mark.parametrize(
    ("field", "value", "number"),
    [
        ("node", 35, 1),
        ("phase", 7, 3),
        ("power", 25, 4),
        ("dispel", -1, 4),
        ("number", 9, 13),
        ("aim", 1, 13),
    ],
)
def test_a_broken_position_is_noticed(field: str, value: int, number: int) -> None:
    packed_scenarios, states, scratch = _position("border-skirmish")
    states[0][field] = value
    assert broken(packed_scenarios[0], states[0], 3, scratch[0]) in (number, 2)


@pytest.mark.parametrize(
    ("field", "index", "value", "number"),
    [
        ("wounds", (0, 0), 9, 5),
        ("wounds", (1, 0), 0, 6),
        ("unit_wounds", (1, 2), 500, 7),
        ("items", (0, 0), 9, 8),
        ("known", 1, 1 << 20, 9),
        ("new_in_play", 0, 1, 9),
        ("aims", (0, 1), 1, 10),
        ("in_play", 0, 1, 10),
        ("markers", (0, 0), 2, 12),
        ("fleeing", 1, 1 << 1, 16),
        ("fleeing", 0, 1 << 1 | 1 << UNITS, 17),
        ("phase_models", (1, 1), 200, 18),
    ],
)
def test_a_broken_army_is_noticed(field: str, index: Any, value: int, number: int) -> None:
    packed_scenarios, states, scratch = _position("border-skirmish")
    states[0][field][index] = value
    count = legal_actions(packed_scenarios[0], states[0], scratch[0])
    assert broken(packed_scenarios[0], states[0], count, scratch[0]) == number


def test_points_that_no_casualty_explains_are_noticed() -> None:
    packed_scenarios, states, _ = _position("border-skirmish")

    assert casualties(packed_scenarios[0], states[0]) == 0.0
    states[0].unit_wounds[1, 0] -= 2
    points = float(packed_scenarios[0].armies[1].units[0].points)
    assert casualties(packed_scenarios[0], states[0]) == pytest.approx(2 * points)
    assert np.isfinite(points)
