"""What PettingZoo and OpenSpiel know of the package by name.

Gymnasium is imported with the package and registers at once. These two may be missing, take a
second to load, and look for no packages that extend them. ``import wfb_gym`` registers with those
that are loaded already, and each adapter of `wfb_gym.interop` registers with its own library.
"""

import sys
from collections.abc import Callable
from importlib import import_module
from typing import Any

DEFAULT_SCENARIO = "archmage-duel"
"""Of OpenSpiel's game."""
_BATTLE = {"scenario": "border-skirmish"}
"""Of ``wfb_gym/Battle-v0``, as `wfb_gym.envs.battles` has it."""


def register_loaded() -> None:
    """Register with each of the libraries that is loaded."""
    for name, register in _REGISTER.items():
        if (library := sys.modules.get(name)) is not None:
            register(library)


def register_with_pettingzoo(pettingzoo: Any) -> None:
    """Register the environments with PettingZoo."""
    if not hasattr(pettingzoo, "register"):  # a release before 1.27 makes nothing by name
        return
    for kind, made in (("aec", "env"), ("parallel", "parallel_env")):
        registry = getattr(pettingzoo, f"{kind}_registry")
        for name, kwargs in (("MagicPhase", {}), ("Battle", _BATTLE)):
            if f"wfb_gym/{name}-v0" not in registry:
                entry = f"wfb_gym.interop.pettingzoo:{made}"
                pettingzoo.register(kind, f"wfb_gym/{name}-v0", entry, kwargs=dict(kwargs))


def register_with_openspiel(pyspiel: Any) -> None:
    """Register the game with OpenSpiel."""
    kind = openspiel_type(pyspiel)
    if kind.short_name not in pyspiel.registered_names():
        pyspiel.register_game(kind, _PhaseGame)


class _PhaseGame:
    """Makes the adapter's game.

    OpenSpiel lets go of what it was given when Python has ended already. That would free a
    function, and abort; a class refers to itself.
    """

    def __new__(cls, params: dict[str, Any] | None = None) -> Any:
        return import_module("wfb_gym.interop.openspiel").PhaseGame(params)


def openspiel_type(pyspiel: Any, has_secrets: bool = False) -> Any:
    """Return what OpenSpiel must know of ``wfb_gym_phase`` before it loads one.

    Args:
        pyspiel: the library.
        has_secrets: of a scenario with hidden items. The registered type is that of all others:
            OpenSpiel asks a game that it has loaded for the type of its own, as games that it reads
            from files have it too, so that one name does for both.
    """
    kind = pyspiel.GameType
    information = kind.Information
    return kind(
        short_name="wfb_gym_phase",
        long_name="Magic phase of Warhammer Fantasy Battle",
        dynamics=kind.Dynamics.SEQUENTIAL,
        chance_mode=kind.ChanceMode.EXPLICIT_STOCHASTIC,
        information=(
            information.IMPERFECT_INFORMATION if has_secrets else information.PERFECT_INFORMATION
        ),
        utility=kind.Utility.ZERO_SUM,
        reward_model=kind.RewardModel.TERMINAL,
        max_num_players=2,
        min_num_players=2,
        provides_information_state_string=True,
        provides_information_state_tensor=True,
        provides_observation_string=True,
        provides_observation_tensor=True,
        provides_factored_observation_string=has_secrets,
        parameter_specification={"scenario": DEFAULT_SCENARIO},
    )


_REGISTER: dict[str, Callable[[Any], None]] = {
    "pettingzoo": register_with_pettingzoo,
    "pyspiel": register_with_openspiel,
}
