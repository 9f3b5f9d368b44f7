"""Counter-based random number generator for dice and opponents' choices.

Each environment owns one record. It is not part of the state, so planners cannot see it. Each word
depends only on the key and a counter, so a renderer can show earlier rolls again. Dice and choices
have separate counters, so changing the opponent does not change the dice.
"""

from collections.abc import Callable
from typing import Any, TypeVar

import numpy as np
from numba.core import config

from wfb_gym._jit import int64, jit
from wfb_gym._records import Record, Records, UInt64, new_records

_Function = TypeVar("_Function", bound=Callable[..., Any])


class Rng(Record):
    """One environment's random number generator."""

    key: UInt64
    dice: UInt64  # number of words drawn for dice
    choices: UInt64  # number of words drawn for choices


_GOLDEN = np.uint64(0x9E3779B97F4A7C15)
_FIRST = np.uint64(0xBF58476D1CE4E5B9)
_SECOND = np.uint64(0x94D049BB133111EB)
_CHOICES = np.uint64(0xD1B54A32D192ED03)
_ONE = np.uint64(1)
_S30 = np.uint64(30)
_S27 = np.uint64(27)
_S31 = np.uint64(31)
_S32 = np.uint64(32)


def _wrapping(function: _Function) -> _Function:
    """Compile a function or, if compilation is disabled, silence NumPy's overflow warnings."""
    if config.DISABLE_JIT:  # type: ignore[attr-defined]
        return np.errstate(over="ignore")(function)
    return jit(function)


@_wrapping
def mix(word: np.uint64) -> np.uint64:
    """Mix all bits of a word (finaliser of SplitMix64; Steele, Lea and Flood, OOPSLA 2014)."""
    word = (word ^ (word >> _S30)) * _FIRST
    word = (word ^ (word >> _S27)) * _SECOND
    return word ^ (word >> _S31)


@_wrapping
def next_word(rng: Rng) -> np.uint64:
    """Return 64 random bits for dice."""
    rng.dice += _ONE
    return mix(rng.key + rng.dice * _GOLDEN)


@_wrapping
def next_choice(rng: Rng, options: int) -> int:
    """Return a uniform random integer from 0 to `options` - 1, for an opponent's random choices.

    `options` must be at least 1.
    """
    rng.choices += _ONE
    word = mix((rng.key ^ _CHOICES) + rng.choices * _GOLDEN)
    return int64(((word >> _S32) * np.uint64(options)) >> _S32)


def key_of_seed(seed: int) -> np.uint64:
    """Return the key for a seed, a non-negative integer of any size."""
    digest = np.random.SeedSequence(seed).generate_state(1, np.uint64)
    return np.uint64(digest[0])


def new_rngs(count: int) -> Records[Rng]:
    """Return zeroed generators, shape (count,)."""
    return new_records(Rng, count)
