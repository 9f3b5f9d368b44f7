"""The decorator for compiled code, and its cache folder.

Numba's cache only checks the file that contains a function, so it misses changes to functions that
this function calls in other files. The cache folder is therefore named after a hash of all files
with compiled code and of the constants they read. A change to any of these files starts an empty
cache.
"""

import contextlib
import hashlib
import os
import re
import shutil
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from importlib import import_module
from pathlib import Path
from typing import Any, Protocol, TypeVar, overload

import numba
import numpy as np
from numba.core import config

from wfb_gym import _shipped
from wfb_gym._compiler import entries, njit_cached, use_core, use_entries

_Function = TypeVar("_Function", bound=Callable[..., Any])

int64: Callable[[Any], int] = np.int64  # type: ignore[assignment]
"""Widen a small integer from a record. In compiled code, `int` keeps int8 as int8, and a function
called with both types would be compiled twice."""

_COMPILED_FOLDERS = frozenset(
    ("rules", "engine", "encoding", "opponents", "scripted", "solver", "players", "search", "envs")
)
_CONSTANTS = frozenset(
    (
        "_compiler/__init__.py",
        "_compiler/cache.py",
        "_compiler/core.py",
        "_compiler/dispatcher.py",
        "_compiler/linking.py",
        "_compiler/pipeline.py",
        "_cpu_count.py",
        "_intrinsics.py",
        "_jit.py",
        "_records.py",
        "_shipped.py",
        "encoding/fields.py",
        "encoding/layout.py",
        "encoding/limits.py",
        "engine/actions.py",
        "engine/nodes.py",
        "engine/state.py",
        "packing/effects.py",
        "opponents/policy_spec.py",
        "packing/records.py",
        "players/interface.py",
        "rules/comets.py",
        "scenario/sizes.py",
        "solver/graph_arrays.py",
    )
)
"""Files with no compiled functions, whose constants, records and intrinsics compiled code reads."""
_USES_JIT = re.compile(rb"@jit\b|\bjit\(")
_RECORDS = frozenset(("_records.py", "records.py", "sizes.py"))
_LONG = {
    "engine.core.core": "the engine, which takes about half a minute",
    "envs.kernel.drive": "the environments",
    "engine.transition.begin": "the start of a battle",
    "engine.transition.act": "decisions",
    "engine.transition.resolve": "dice",
    "solver.backward_induction.run": "the solver",
    "opponents.dispatch.choose_actions": "the scripted players",
    "opponents.dispatch.choose_action": "scripted players in a single battle",
    "encoding.view._show": "observations of players in Python",
    "engine.chance_outcomes.chance_outcomes": "the chances of dice",
    "engine.chance.sample": "dice of a single battle",
    "engine.spell_values.expected_points": "spell values",
    "engine.spell_values.expected_points_at": "spell values at a target",
    "players.search.expectimax.search": "expectimax",
    "players.search.mcts._search": "mcts",
    "players.search.phase_search.choose_all": "phase search",
}
"""Functions that take seconds to compile, with the description to show in the progress line."""
_CORE = "wfb_gym.engine.core"
"""Imported by name when needed, because the engine imports this module."""
_KEEP_SECONDS = 14 * 24 * 3600


def compiled_sources() -> dict[str, bytes]:
    """Return the source files that contain compiled code, by path in the package."""
    root = Path(__file__).parent
    sources = {name: (root / name).read_bytes() for name in _CONSTANTS}
    for path in root.rglob("*.py"):
        if path.parent.name in _COMPILED_FOLDERS and _USES_JIT.search(text := path.read_bytes()):
            sources[path.relative_to(root).as_posix()] = text
    return sources


def _sources_digest() -> str:
    """Return a hash of all source files that contain compiled code."""
    return _digest_of(compiled_sources())


def rules_digest() -> str:
    """Return a hash of the source files that implement the rules."""
    root = Path(__file__).parent
    return _digest_of(
        {
            str(path.relative_to(root)): path.read_bytes()
            for path in root.rglob("*.py")
            if path.parent.name in ("rules", "engine") or path.name in _RECORDS
        }
    )


def _digest_of(sources: dict[str, bytes]) -> str:
    """Return a hash of some files and their names."""
    digest = hashlib.sha256()
    for name in sorted(sources):
        digest.update(name.encode())
        digest.update(sources[name])
    return digest.hexdigest()[:16]


def _cache_roots() -> Iterator[Path]:
    """Yield candidates for the cache folder, starting with explicitly set ones.

    This is a generator because looking up a later candidate may raise: a user in a container may
    have no name, no home folder and no folder for temporary files.
    """
    if chosen := os.environ.get("WFB_GYM_CACHE_DIR"):
        yield Path(chosen).absolute()
    elif home := os.environ.get("XDG_CACHE_HOME"):
        yield Path(home, "wfb_gym").absolute()
    else:
        with contextlib.suppress(RuntimeError):
            yield Path.home() / ".cache" / "wfb_gym"
    with contextlib.suppress(OSError):
        user = os.getuid() if hasattr(os, "getuid") else os.environ.get("USERNAME", "")
        shared = Path(tempfile.gettempdir()) / f"wfb_gym-{user}"
        shared.mkdir(mode=0o700, exist_ok=True)
        if shared.lstat().st_uid in (user, 0):  # another owner could have put any code in it
            yield shared


def _is_usable(folder: Path) -> bool:
    """Return whether a folder is writable or already contains compiled code."""
    with contextlib.suppress(OSError):
        folder.mkdir(parents=True, exist_ok=True)
        os.utime(folder)  # marks it as in use; see `_delete_disused`
    return os.access(folder, os.W_OK | os.X_OK) or any(folder.glob("*/*.nbi"))


def _delete_disused(root: Path, own: Path) -> None:
    """Delete other versions' folders if they have not been used for two weeks."""
    for other in root.glob("numba-*"):
        with contextlib.suppress(OSError):  # another process may be deleting it, too
            if other != own and other.stat().st_mtime < time.time() - _KEEP_SECONDS:
                shutil.rmtree(other, ignore_errors=True)


def _open_cache_folder() -> Path:
    """Return this version's cache folder, and delete other versions' disused folders."""
    # Numba names its subfolders after the path of the sources, so copies cannot share a cache.
    versions = f"{numba.__version__} {sys.version} {SOURCES} {Path(__file__).parent}"
    name = f"numba-{hashlib.sha256(versions.encode()).hexdigest()[:16]}"
    for root in _cache_roots():
        folder = root / name
        if _is_usable(folder):
            _delete_disused(root, folder)
            return folder
    raise OSError(
        "wfb_gym: expected a writable folder for compiled code, found none; "
        "set WFB_GYM_CACHE_DIR to a writable folder"
    )


SOURCES = _sources_digest()
CACHE_FOLDER = _open_cache_folder()
_is_announced = False
"""Whether this process has already printed the path of the cache folder."""


def announce_compiling(function: Callable[..., Any], *, is_kept: bool = True) -> None:
    """Report on stderr that a function is being compiled, if that takes seconds.

    No total is reported, because a process does not know in advance which functions it will call.

    Args:
        function: the Python function being compiled.
        is_kept: whether the result is stored in the cache.
    """
    global _is_announced  # noqa: PLW0603 - the path is printed once per process
    name = f"{function.__module__}.{function.__qualname__}".removeprefix("wfb_gym.")
    if name not in _LONG:
        return
    where = ""
    if not os.access(CACHE_FOLDER, os.W_OK | os.X_OK):
        where = f"; the result is not kept because {CACHE_FOLDER} is not writable"
    elif is_kept and not _is_announced:
        where = f"; the result is kept in {CACHE_FOLDER}"
        _is_announced = True
    sys.stderr.write(f"wfb_gym: compiling {_LONG[name]}{where}\n")
    sys.stderr.flush()


def _find_core() -> tuple[Any, tuple[Any, ...]]:
    """Return the function that calls all shared functions, and example arguments for it."""
    module = import_module(_CORE)
    return module.core, module.example_arguments()


use_entries(_shipped.find(SOURCES), announce_compiling)
use_core(_find_core)


class _Jit(Protocol):
    """Type of a decorator that can be used with or without options."""

    @overload
    def __call__(self, function: _Function) -> _Function: ...

    @overload
    def __call__(self, **options: Any) -> Callable[[_Function], _Function]: ...


def _compile(function: Any = None, **options: Any) -> Any:
    if function is None:
        return lambda later: _compile(later, **options)
    before = config.CACHE_DIR
    config.CACHE_DIR = str(CACHE_FOLDER)  # read while decorating; other users keep their own
    try:
        # C division, and no reference counting, as only functions with "_nrt" allocate.
        options = {"error_model": "numpy", "_nrt": False, "forceinline": True, **options}
        is_rule = function.__module__.startswith("wfb_gym.rules.")  # small functions of numbers
        return njit_cached(function, is_brief=is_rule, **options)
    finally:
        config.CACHE_DIR = before


jit: _Jit = _compile
"""`numba.njit` with the package's own cache folder.

Compiled functions may raise errors with a constant message, which costs no measurable time if the
branch is not taken. Under ``NUMBA_DISABLE_JIT=1``, functions stay plain Python.

Args:
    function: the function to compile, if the decorator is used without parentheses.
    **options: options to pass to `numba.njit`. In addition, ``is_shared`` compiles the function
        once for all its callers, in `wfb_gym.engine.core`.
"""


def entry_point(dispatcher: Any) -> Callable[..., Any]:
    """Return the compiled code of a function that has only been called with one set of types.

    Calling this code skips Numba's check of the argument types. For two dozen arrays, the check
    takes longer than a step in one environment. The caller must pass the right types.
    """
    compiled = entries(dispatcher)
    return compiled[0] if len(compiled) == 1 else dispatcher
