"""Checks that are removed from the package on purpose, to prove that fuzzing finds that."""

import importlib.abc
import importlib.machinery
import importlib.util
import sys
from collections.abc import Sequence
from types import ModuleType
from typing import NamedTuple


class Removal(NamedTuple):
    """A check that is removed.

    Attributes:
        kind: the kind of input that the check is about.
        module: the module with the check.
        check: its source, which occurs there once.
        instead: the source in its place.
    """

    kind: str
    module: str
    check: str
    instead: str = ""


_STATES = "wfb_gym.encoding.state_validation"
REMOVALS = {
    "castable": Removal(
        "states", _STATES, '    "castable": lambda f: _spell_bits(f)[f.rows, f.active],\n'
    ),
    "target": Removal("self-play", _STATES, '    "target": (0, ARMIES * SPELLS),\n'),
    "phase-models": Removal("states", _STATES, '    "phase_models": _most_phase_models,\n'),
    "choices": Removal("self-play", _STATES, "        _check_choices(fields)\n"),
    "finite-weights": Removal(
        "policy",
        "wfb_gym.players.network",
        "if not np.isfinite(array).all():",
        "if False:",
    ),
    "seconds": Removal(
        "solution",
        "wfb_gym.solver.solution",
        "if not 0.0 <= seconds < math.inf:",
        "if False:",
    ),
}
"""The faults of the proof by name."""


class _Loader(importlib.abc.InspectLoader):
    """Loads a module without a check."""

    def __init__(self, removal: Removal, source: str, path: str) -> None:
        self._removal, self._source, self._path = removal, source, path

    def get_source(self, fullname: str) -> str:
        found = self._source.count(self._removal.check)
        if found != 1:
            raise ImportError(
                f"{fullname}: expected {self._removal.check.strip()!r} once, found it {found} times"
            )
        return self._source.replace(self._removal.check, self._removal.instead)

    def exec_module(self, module: ModuleType) -> None:
        module.__file__ = self._path
        exec(compile(self.get_source(module.__name__), self._path, "exec"), module.__dict__)


class _Finder(importlib.abc.MetaPathFinder):
    """Finds the module of a removal, and no other."""

    def __init__(self, removal: Removal) -> None:
        self._removal = removal

    def find_spec(
        self, name: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> importlib.machinery.ModuleSpec | None:
        if name != self._removal.module:
            return None
        spec = importlib.machinery.PathFinder.find_spec(name, path)
        if (
            spec is None
            or spec.origin is None
            or not isinstance(spec.loader, importlib.machinery.SourceFileLoader)
        ):
            return None
        source = spec.loader.get_source(name) or ""
        loader = _Loader(self._removal, source, spec.origin)
        return importlib.util.spec_from_loader(name, loader, origin=spec.origin)


def remove(removal: Removal) -> None:
    """Have this process load the module without the check; it is not loaded yet."""
    if removal.module in sys.modules:
        raise RuntimeError(f"{removal.module}: expected a module that is not loaded yet")
    sys.meta_path.insert(0, _Finder(removal))
