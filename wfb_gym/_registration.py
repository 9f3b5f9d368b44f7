"""PettingZoo and OpenSpiel learn of the package's names as soon as they are imported.

Gymnasium is imported with the package and registers at once. These two may be missing, take a
second to load, and look for no packages that extend them; so `watch_imports` registers with what is
loaded already, and waits for the rest at the front of Python's finders. What is registered names
the adapters of `wfb_gym.interop`, which are imported when a game is made.
"""

import sys
from collections.abc import Callable, Sequence
from importlib import import_module
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import Any, ClassVar

DEFAULT_SCENARIO = "archmage-duel"
"""Of OpenSpiel's game."""
_BATTLE = {"scenario": "border-skirmish"}
"""Of ``wfb_gym/Battle-v0``, as `wfb_gym.envs.battles` has it."""


def watch_imports() -> None:
    """Register with each library that is loaded, and with each that is loaded later."""
    for name, register in list(_Watcher.waiting.items()):
        library = sys.modules.get(name)
        if library is not None:
            del _Watcher.waiting[name]
            register(library)
    if _Watcher.waiting and _Watcher not in sys.meta_path:
        sys.meta_path.insert(0, _Watcher)


def _register_with_pettingzoo(pettingzoo: Any) -> None:
    if not hasattr(pettingzoo, "register"):  # a release before 1.27 makes nothing by name
        return
    for kind, made in (("aec", "env"), ("parallel", "parallel_env")):
        registry = getattr(pettingzoo, f"{kind}_registry")
        for name, kwargs in (("MagicPhase", {}), ("Battle", _BATTLE)):
            if f"wfb_gym/{name}-v0" not in registry:
                entry = f"wfb_gym.interop.pettingzoo:{made}"
                pettingzoo.register(kind, f"wfb_gym/{name}-v0", entry, kwargs=dict(kwargs))


def _register_with_openspiel(pyspiel: Any) -> None:
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


class _Watcher:
    """A finder that finds nothing itself: it has others' loaders tell when they are done."""

    waiting: ClassVar[dict[str, Callable[[Any], None]]] = {
        "pettingzoo": _register_with_pettingzoo,
        "pyspiel": _register_with_openspiel,
    }

    @classmethod
    def find_spec(
        cls, name: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """Return what the other finders find of a library that is waited for."""
        if name not in cls.waiting:
            return None
        for finder in sys.meta_path:
            if finder is not cls and (spec := finder.find_spec(name, path, target)) is not None:
                cls._follow(spec.loader, name)
                return spec
        return None

    @classmethod
    def _follow(cls, loader: Any, name: str) -> None:
        """Have a loader register with a library that it has executed."""
        execute = getattr(loader, "exec_module", None)
        if execute is None or "exec_module" in getattr(loader, "__dict__", ()):
            return  # it loads in a way of its own, or is followed already

        def exec_module(module: ModuleType) -> None:
            execute(module)
            if module.__name__ == name and (register := cls.waiting.pop(name, None)) is not None:
                del loader.exec_module
                register(module)

        loader.exec_module = exec_module
