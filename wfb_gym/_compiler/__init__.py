"""How Numba compiles this package: all that relies on Numba's internals. README.md explains it."""

import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numba
from numba.core import config

from wfb_gym._compiler.cache import EntryCache
from wfb_gym._compiler.core import Core
from wfb_gym._compiler.dispatcher import Dispatcher, entries, with_one_signature
from wfb_gym._compiler.pipeline import Pipeline

__all__ = ["entries", "is_tested", "njit_cached", "ship_entries_into", "use_core", "use_entries"]

_OLDEST_TESTED, _NEWEST_TESTED = (0, 61), (0, 68)
"""Numba's releases, major and minor, between which the classes of this package were tested."""


def is_tested(release: tuple[int, int]) -> bool:
    """Say whether functions are compiled with their entry on a release; warn if they are not."""
    if _OLDEST_TESTED <= release <= _NEWEST_TESTED:
        return True
    oldest, newest = (".".join(map(str, each)) for each in (_OLDEST_TESTED, _NEWEST_TESTED))
    warnings.warn(
        f"wfb_gym was tested with Numba {oldest} to {newest}, not with {numba.__version__}: "
        "compiling takes several times as long, what is compiled is the same",
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
    """Return what `numba.njit(cache=True)` makes of a function, compiled as this module says.

    Args:
        function: as it is written.
        is_brief: Python that calls it runs it as it is written, the first thousand times: that is
            sooner done than machine code is loaded.
        is_shared: compiled callers call the core's machine code of it.
        **options: of `numba.njit`.
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
    """Look for entries in a folder first, and tell of each function before it is compiled.

    Args:
        shipped: a folder that `ship_entries_into` filled, from the same sources.
        on_compiling: called with each function that is compiled as an entry.
    """
    EntryCache.shipped, EntryCache.on_compiling = shipped, staticmethod(on_compiling)


def ship_entries_into(folder: Path) -> None:
    """Put every entry that is compiled from now on into a folder, too."""
    EntryCache.ship_into = folder


def use_core(find: Callable[[], tuple[Any, tuple[Any, ...]]]) -> None:
    """Say what the core is.

    Args:
        find: returns a function that calls every shared one, and arguments for it; they are not
            used but for their types.
    """
    Core.find = staticmethod(find)
