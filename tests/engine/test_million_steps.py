"""Random battles of every bundled scenario, and of generated ones, break no invariant."""

from typing import Any

import pytest

from wfb_gym.engine.legal import legal_actions
from wfb_gym.engine.random_numbers import key_of_seed, new_rngs
from wfb_gym.engine.state import new_states, new_work_spaces
from wfb_gym.engine.transition import begin
from wfb_gym.generating import TEST_SEEDS, generate
from wfb_gym.packing import pack
from wfb_gym.scenario import Scenario, bundled_scenarios, load_scenario
from wfb_gym.scenario.sizes import UNITS

from .invariants import BROKEN, broken, play_on

ONLY_DAMAGE = ("border-skirmish",)
"""Battles that score only casualties."""
compiled = pytest.mark.skipif(not hasattr(play_on, "py_func"), reason="no compiler")


def for_victory_points(scenario: Scenario) -> Any:
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
    packed = for_victory_points(scenario) if victory_points else pack(scenario)
    states, rngs, scratch = new_states(1), new_rngs(1), new_work_spaces()
    rngs[0].key = key_of_seed(seed)
    only_damage = victory_points or scenario.name in ONLY_DAMAGE
    failed, taken, battles = play_on(packed[0], states[0], rngs[0], scratch[0], steps, only_damage)
    assert failed == 0, f"{BROKEN[failed]} after {taken} steps: {states[0]}"
    return taken, battles


@compiled
@pytest.mark.parametrize(("steps", "seed", "victory_points"), [
    (10_000, 1, False), (10_000, 3, True),
    pytest.param(1_000_000, 2, False, marks=pytest.mark.slow),
])  # fmt: skip
@pytest.mark.parametrize("name", bundled_scenarios())
def test_many_steps_break_no_invariant(
    name: str, steps: int, seed: int, victory_points: bool
) -> None:
    taken, battles = played(load_scenario(name), steps, seed, victory_points)
    assert taken >= steps
    assert battles > 10


@pytest.mark.slow
@compiled
@pytest.mark.parametrize("victory_points", [False, True])
@pytest.mark.parametrize("first", range(0, 200, 25))
def test_a_million_steps_of_each_generated_battle(first: int, victory_points: bool) -> None:
    for seed in TEST_SEEDS[first : first + 25]:
        taken, _ = played(generate(seed), 1_000_000, seed, victory_points)
        assert taken >= 1_000_000


@pytest.mark.parametrize(("field", "index", "value", "number"), [
    ("phase", (), 7, 3), ("power", (), 25, 4), ("number", (), 9, 13),
    ("wounds", (0, 0), 9, 5), ("wounds", (1, 0), 0, 6), ("unit_wounds", (1, 2), 500, 7),
    ("items", (0, 0), 9, 8), ("known", (1,), 1 << 20, 9), ("aims", (0, 1), 1, 10),
    ("in_play", (0,), 1, 10), ("markers", (0, 0), 2, 12), ("fleeing", (1,), 1 << 1, 16),
    ("fleeing", (0,), 1 << 1 | 1 << UNITS, 17), ("phase_models", (1, 1), 200, 18),
])  # fmt: skip
def test_a_broken_position_is_noticed(
    field: str, index: tuple[int, ...], value: int, number: int
) -> None:
    packed = pack(load_scenario("border-skirmish"))[0]
    states, scratch = new_states(1), new_work_spaces()[0]
    begin(packed, states[0], scratch)
    states[field][(0, *index)] = value
    count = legal_actions(packed, states[0], scratch)
    assert broken(packed, states[0], count, scratch) == number
