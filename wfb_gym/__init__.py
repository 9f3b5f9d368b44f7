"""The magic phase of Warhammer Fantasy Battle as a reinforcement-learning environment.

Importing the package registers its environments with Gymnasium, as well as with PettingZoo and
OpenSpiel if they have already been imported. Everything else is loaded on first use.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from wfb_gym import _registration

if TYPE_CHECKING:
    from wfb_gym import solver
    from wfb_gym.encoding.limits import ArmyLimits, Limits
    from wfb_gym.scenario import (
        Scenario,
        ScenarioError,
        bundled_scenarios,
        hidden_scenarios,
        load_scenario,
    )

__version__ = "0.1.0"

__all__ = [
    "ArmyLimits",
    "Limits",
    "Scenario",
    "ScenarioError",
    "bundled_scenarios",
    "hidden_scenarios",
    "load_scenario",
    "solver",
]

_HOMES = {
    "ArmyLimits": "wfb_gym.encoding.limits",
    "Limits": "wfb_gym.encoding.limits",
    "Scenario": "wfb_gym.scenario",
    "ScenarioError": "wfb_gym.scenario",
    "bundled_scenarios": "wfb_gym.scenario",
    "hidden_scenarios": "wfb_gym.scenario",
    "load_scenario": "wfb_gym.scenario",
}


def __getattr__(name: str) -> Any:
    if name in _HOMES:
        return getattr(import_module(_HOMES[name]), name)
    if name == "solver":
        return import_module("wfb_gym.solver")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted([*__all__, "__version__"])


def _register() -> None:
    from gymnasium import register

    for seat in ("Caster", "Dispeller"):
        register(
            id=f"wfb_gym/{seat}-v0",
            entry_point=f"wfb_gym.envs.single:{seat}Env",
            vector_entry_point=f"wfb_gym._vector_envs:{seat.lower()}_vector_env",
        )
    register(
        id="wfb_gym/Battle-v0",
        entry_point="wfb_gym.envs.battles:BattleEnv",
        vector_entry_point="wfb_gym._vector_envs:battle_vector_env",
    )
    _registration.register_loaded()


_register()
