"""Scenarios: validated models of armies, wizards, spells, items and rules.

`load_scenario` loads a bundled scenario or a file, and `scenario_from_dict` takes a Python dict.
`wfb_gym.packing` converts a scenario to the arrays that the engine reads.
"""

from wfb_gym.scenario.errors import Problem, ScenarioError
from wfb_gym.scenario.loading import (
    bundled_scenarios,
    hidden_scenarios,
    load_scenario,
    scenario_from_dict,
)
from wfb_gym.scenario.scenario import Scenario, TargetRow, explain_targets

__all__ = [
    "Problem",
    "Scenario",
    "ScenarioError",
    "TargetRow",
    "bundled_scenarios",
    "explain_targets",
    "hidden_scenarios",
    "load_scenario",
    "scenario_from_dict",
]
