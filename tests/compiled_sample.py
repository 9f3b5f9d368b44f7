"""Functions for `test_compiler`, in a module of their own so that other processes use them too."""

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
    """Is always inlined and reads a constant array."""
    return SQUARES[value]  # type: ignore[no-any-return]


@jit(forceinline=False)
def checked_square(value: int) -> int:
    """Is a function of its own, and raises."""
    if value > 9:
        raise ValueError("expected 0..9")
    return square(value)


@jit(forceinline=False)
def sum_of_squares(first: int, second: int) -> int:
    """Calls a function of its own and an inlined one."""
    return checked_square(first) + square(second)


@jit
def difference(first: int, second: int) -> int:
    """Calls the same as `sum_of_squares`, also with a small integer and a constant."""
    return checked_square(first) - checked_square(second) + square(FOUR) - checked_square(4)


def _of_another_package(value: int) -> int:
    return sum_of_squares(value, 1)


of_another_package: Any = numba.njit(_of_another_package)
"""Calls one of ours from a function that Numba compiles as it always does."""


@jit
def calls_another_package(value: int) -> int:
    """Calls such a function from one of ours."""
    return of_another_package(value) + 1  # type: ignore[no-any-return]


@jit(parallel=True, _nrt=True)
def sum_in_parallel(count: int) -> int:
    """Calls one of ours from a loop that Numba compiles as a function of its own."""
    total = 0
    for k in numba.prange(count):
        total += sum_of_squares(k, 1)
    return total


@jit(forceinline=False, is_shared=True)
def shared_square(value: int) -> int:
    """Is in the core, `core`, and raises."""
    return checked_square(value)


@jit
def calls_shared(value: int) -> int:
    """Calls a function of the core, and the machine code of that alone."""
    return shared_square(value) + 1


@jit(forceinline=False)
def core(value: int) -> int:
    """Calls what is shared; in place of the engine's core where a test says so."""
    return shared_square(value)


@jit(forceinline=False)
def square_and_shared(value: int) -> int:
    """Calls a function of the core, and is called by `wider_core`, which compiles it anew."""
    return checked_square(value) + shared_square(value)


@jit
def calls_both(value: int) -> int:
    """Meets `square_and_shared` before it knows of the core."""
    return square_and_shared(value) + 1


@jit(forceinline=False)
def wider_core(value: int) -> int:
    """Calls what is shared, and what may be waiting for it."""
    return shared_square(value) + square_and_shared(value)


def _of_another_package_kept(value: int) -> int:
    return shared_square(value) + calls_shared(value) + 1


def report() -> str:
    """Return as JSON what two entries give, and how many there are in memory and on disk."""
    results = [sum_of_squares(3, 4), difference(5, 2), entry_point(sum_of_squares)(1, 2)]
    functions = (square, checked_square, sum_of_squares, difference)
    entries = [len(_compiler.entries(function)) for function in functions]
    kept = sorted(path.name.split("-")[0] for path in CACHE_FOLDER.rglob("*.nbi"))
    stats: Any = sum_of_squares
    loaded = sum(stats.stats.cache_hits.values())
    return json.dumps({"results": results, "entries": entries, "kept": kept, "loaded": loaded})
