"""Compile with Numba. Only this package relies on Numba's internals; see README.md."""

import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numba
from numba.core import config

from wfb_gym._compiler.cache import EntryCache
from wfb_gym._compiler.core import Core
from wfb_gym._compiler.dispatcher import Dispatcher, entries, lower, with_one_signature
from wfb_gym._compiler.pipeline import Pipeline

__all__ = [
    "entries",
    "is_tested",
    "lower",
    "njit_cached",
    "ship_entries_into",
    "use_core",
    "use_entries",
]

_OLDEST_TESTED, _NEWEST_TESTED = (0, 61), (0, 68)
"""Oldest and newest Numba release (major, minor) that this package was tested with."""


def is_tested(release: tuple[int, int]) -> bool:
    """Return whether a Numba release has been tested, and warn if it has not.

    Args:
        release: `(major, minor)` version.
    """
    if _OLDEST_TESTED <= release <= _NEWEST_TESTED:
        return True
    oldest, newest = (".".join(map(str, each)) for each in (_OLDEST_TESTED, _NEWEST_TESTED))
    warnings.warn(
        f"wfb_gym was tested with Numba {oldest} to {newest}, not with {numba.__version__}: "
        "compiling takes several times as long; the results are the same",
        RuntimeWarning,
        stacklevel=2,
    )
    return False


_TESTED = is_tested(numba.version_info.short)


def njit_cached(
    function: Callable[..., Any],
    *,
    is_brief: bool = False,
    is_shared: bool = False,
    **options: Any,
) -> Any:
    """Compile a function like `numba.njit(cache=True)`, with this package's changes.

    Args:
        function: the Python function.
        is_brief: whether to run the first thousand calls from Python as plain Python, which is
            faster than loading machine code.
        is_shared: whether compiled callers call its machine code in the core.
        **options: options to pass to `numba.njit`.

    Returns:
        The dispatcher.
    """
    if not _TESTED or config.DISABLE_JIT:
        return with_one_signature(numba.njit(cache=True, **options)(function))
    dispatcher = Dispatcher(
        function, targetoptions={"nopython": True, **options}, pipeline_class=Pipeline
    )
    dispatcher.is_brief, dispatcher.is_shared = is_brief, is_shared
    if is_shared:
        Core.members.append(dispatcher)
    dispatcher.enable_caching()
    return with_one_signature(dispatcher)


def use_entries(shipped: Path | None, on_compiling: Callable[[Callable[..., Any]], None]) -> None:
    """Set the folder with shipped entries and the callback for compilation.

    Args:
        shipped: folder filled by `ship_entries_into` from the same sources. If None, no entries
            are shipped.
        on_compiling: called with each function before it is compiled as an entry.
    """
    EntryCache.shipped, EntryCache.on_compiling = shipped, staticmethod(on_compiling)


def ship_entries_into(folder: Path) -> None:
    """From now on, also write every compiled entry to a folder."""
    EntryCache.ship_into = folder


def use_core(find: Callable[[], tuple[Any, tuple[Any, ...]]]) -> None:
    """Set the core.

    Args:
        find: callable that returns a function that calls every shared function, and example
            arguments for it. Only the argument types are used.
    """
    Core.find = staticmethod(find)
