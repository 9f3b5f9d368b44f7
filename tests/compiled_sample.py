"""Functions for `test_compiler`, in their own module so that other processes can use them too."""

import json
from typing import Any

import numba
import numpy as np

from wfb_gym import _compiler
from wfb_gym._jit import CACHE_FOLDER, entry_point, jit

SQUARES = np.arange(10) ** 2
FOUR: Any = np.int8(4)


@jit
def square(value: int) -> int:
    """Always inlined; reads a constant array."""
    return SQUARES[value]  # type: ignore[no-any-return]


@jit(forceinline=False)
def checked_square(value: int) -> int:
    """Compiled separately; raises."""
    if value > 9:
        raise ValueError("expected 0..9")
    return square(value)


@jit(forceinline=False)
def sum_of_squares(first: int, second: int) -> int:
    """Calls a separately compiled function and an inlined one."""
    return checked_square(first) + square(second)


@jit
def difference(first: int, second: int) -> int:
    """Calls the same functions as `sum_of_squares`, also with a small integer and a constant."""
    return checked_square(first) - checked_square(second) + square(FOUR) - checked_square(4)


def _of_another_package(value: int) -> int:
    return sum_of_squares(value, 1)


of_another_package: Any = numba.njit(_of_another_package)
"""Calls one of our functions from a function compiled by plain Numba."""


@jit
def calls_another_package(value: int) -> int:
    """Calls a function compiled by plain Numba from one of ours."""
    return of_another_package(value) + 1  # type: ignore[no-any-return]


@jit(parallel=True, _nrt=True)
def sum_in_parallel(count: int) -> int:
    """Calls one of our functions from a loop that Numba compiles separately."""
    total = 0
    for k in numba.prange(count):
        total += sum_of_squares(k, 1)
    return total


@jit(forceinline=False, is_shared=True)
def shared_square(value: int) -> int:
    """Part of the core, `core`; raises."""
    return checked_square(value)


@jit
def calls_shared(value: int) -> int:
    """Calls a core function through its machine code only."""
    return shared_square(value) + 1


@jit(forceinline=False)
def core(value: int) -> int:
    """Calls the shared functions; tests use it in place of the engine's core."""
    return shared_square(value)


@jit(forceinline=False)
def square_and_shared(value: int) -> int:
    """Calls a function of the core; `wider_core` calls this one, which is then compiled again."""
    return checked_square(value) + shared_square(value)


@jit
def calls_both(value: int) -> int:
    """Calls `square_and_shared`; compiled before the core is known."""
    return square_and_shared(value) + 1


@jit(forceinline=False)
def wider_core(value: int) -> int:
    """Calls a shared function, and a function that may wait for its compilation."""
    return shared_square(value) + square_and_shared(value)


def _of_another_package_kept(value: int) -> int:
    return shared_square(value) + calls_shared(value) + 1


def report() -> str:
    """Return as JSON the results of two entries and their numbers in memory and on disk."""
    results = [sum_of_squares(3, 4), difference(5, 2), entry_point(sum_of_squares)(1, 2)]
    functions = (square, checked_square, sum_of_squares, difference)
    entries = [len(_compiler.entries(function)) for function in functions]
    kept = sorted(path.name.split("-")[0] for path in CACHE_FOLDER.rglob("*.nbi"))
    stored: tuple[Any, ...] = (sum_of_squares, difference)
    loaded = [function.stats.cache_hits.total() for function in stored]
    return json.dumps({"results": results, "entries": entries, "kept": kept, "loaded": loaded})
