"""Register the package with PettingZoo, OpenSpiel and TextArena.

The package imports Gymnasium and registers with it immediately. The other libraries may not be
installed, take a second to load and do not discover plugins. ``import wfb_gym`` therefore registers
with any library that is already loaded, and each adapter in `wfb_gym.interop` registers with its
own library.
"""

import sys
from collections.abc import Callable
from importlib import import_module
from typing import Any

DEFAULT_SCENARIO = "archmage-duel"
"""Default scenario for the OpenSpiel game."""
_BATTLE = {"scenario": "border-skirmish"}
"""Default scenario for ``wfb_gym/Battle-v0``, the same as in `wfb_gym.envs.battles`."""

_TEXTARENA_ID = "wfb_gym/MagicPhase-v0"


def register_loaded() -> None:
    """Register with every library that is already loaded."""
    for name, register in _REGISTER.items():
        if (library := sys.modules.get(name)) is not None:
            register(library)


def register_with_pettingzoo(pettingzoo: Any) -> None:
    """Register the environments with PettingZoo."""
    if not hasattr(pettingzoo, "register"):  # releases before 1.27 have no registry
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


def register_with_textarena(textarena: Any) -> None:
    """Register the environment with TextArena, with and without (``-raw``) its wrapper."""
    registry = textarena.envs.registration
    if _TEXTARENA_ID not in registry.ENV_REGISTRY:
        registry.register_with_versions(
            id=_TEXTARENA_ID,
            entry_point="wfb_gym.interop.textarena:TextArenaEnv",
            wrappers={"default": [textarena.wrappers.LLMObservationWrapper]},
        )


class _PhaseGame:
    """Factory for the adapter's game.

    OpenSpiel releases registered objects after Python has shut down. Freeing a function at that
    point would abort the process. A class is never freed, because it is part of a reference cycle.
    """

    def __new__(cls, params: dict[str, Any] | None = None) -> Any:
        return import_module("wfb_gym.interop.openspiel").PhaseGame(params)


def openspiel_type(pyspiel: Any, has_hidden_items: bool = False) -> Any:
    """Return the OpenSpiel game type for ``wfb_gym_phase``.

    Args:
        pyspiel: the library.
        has_hidden_items: whether the scenario has hidden items. Only the type without hidden items
            is registered. A loaded game returns its own type, so one name works for both.
    """
    kind = pyspiel.GameType
    information = kind.Information
    return kind(
        short_name="wfb_gym_phase",
        long_name="Magic phase of Warhammer Fantasy Battle",
        dynamics=kind.Dynamics.SEQUENTIAL,
        chance_mode=kind.ChanceMode.EXPLICIT_STOCHASTIC,
        information=(
            information.IMPERFECT_INFORMATION
            if has_hidden_items
            else information.PERFECT_INFORMATION
        ),
        utility=kind.Utility.ZERO_SUM,
        reward_model=kind.RewardModel.TERMINAL,
        max_num_players=2,
        min_num_players=2,
        provides_information_state_string=True,
        provides_information_state_tensor=True,
        provides_observation_string=True,
        provides_observation_tensor=True,
        provides_factored_observation_string=has_hidden_items,
        parameter_specification={"scenario": DEFAULT_SCENARIO},
    )


_REGISTER: dict[str, Callable[[Any], None]] = {
    "pettingzoo": register_with_pettingzoo,
    "pyspiel": register_with_openspiel,
    "textarena": register_with_textarena,
}
