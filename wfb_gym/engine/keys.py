"""Short position keys that contain only the bits of a state that a scenario can change.

A state's bytes can serve as its key (`wfb_gym.engine.state`), but most of them never change in a
given scenario. A plan lists the bits that do change, and only these bits are stored. A key encodes
the whole position and is not a hash: `pack_key` detects changed bits that are not in the plan, and
`unpack_key` restores the state.
"""

from typing import Annotated, Any

import numpy as np
from numba import types
from numba.core import config
from numba.extending import intrinsic
from numpy.typing import NDArray

from wfb_gym._jit import jit
from wfb_gym._records import Int64, Record, Records, new_records
from wfb_gym.engine.random_numbers import mix
from wfb_gym.engine.state import STATE_WORDS, State

_MOST_RUNS = 512
"""Maximum number of runs of adjacent bits in a plan; a state has fewer than half as many fields."""
_WORD_BITS = 64


class KeyPlan(Record):
    """The bits of a state that make up its key, as runs of adjacent bits."""

    # reference state that all others are compared with
    origin: Annotated[NDArray[np.uint64], STATE_WORDS]
    moves: Annotated[NDArray[np.uint64], STATE_WORDS]  # bits that may differ from it
    words: Int64  # 64-bit words in a key, 1 or more
    runs: Int64
    from_word: Annotated[NDArray[np.int64], _MOST_RUNS]
    from_bit: Annotated[NDArray[np.uint64], _MOST_RUNS]
    bits: Annotated[NDArray[np.uint64], _MOST_RUNS]  # as a mask, starting at bit 0
    to_word: Annotated[NDArray[np.int64], _MOST_RUNS]
    to_bit: Annotated[NDArray[np.uint64], _MOST_RUNS]


_COLUMNS = ("from_word", "from_bit", "bits", "to_word", "to_bit")

_ZERO = np.uint64(0)


def words_of(state: State) -> NDArray[np.uint64]:
    """Return a view of a state's memory as 64-bit words, uint64 (STATE_WORDS,).

    Compiled code uses `word_of` and `set_word`.
    """
    return np.ndarray((STATE_WORDS,), np.uint64, buffer=state.data)


_WORDS: Any = types.CPointer(types.uint64)  # type: ignore[no-untyped-call]


@intrinsic
def _load_word(typingctx: Any, state: Any, index: Any) -> Any:
    """Read a word of a record; compiled code holds only the record's address."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        kind = context.get_value_type(_WORDS)
        return builder.load(builder.gep(builder.bitcast(arguments[0], kind), [arguments[1]]))

    return types.uint64(state, types.int64), generate


@intrinsic
def _store_word(typingctx: Any, state: Any, index: Any, word: Any) -> Any:
    """Write a word of a record."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        kind = context.get_value_type(_WORDS)
        place = builder.gep(builder.bitcast(arguments[0], kind), [arguments[1]])
        builder.store(arguments[2], place)
        return context.get_dummy_value()

    return types.void(state, types.int64, types.uint64), generate


# Numba passes the typing context itself.
_load: Any = _load_word
_store: Any = _store_word


@jit
def _load_compiled(state: State, index: int) -> np.uint64:
    word: np.uint64 = _load(state, index)
    return word


@jit
def _store_compiled(state: State, index: int, word: np.uint64) -> None:
    _store(state, index, word)


def _load_in_python(state: State, index: int) -> np.uint64:
    word: np.uint64 = words_of(state)[index]
    return word


def _store_in_python(state: State, index: int, word: np.uint64) -> None:
    state.setfield(word, np.uint64, 8 * int(index))


_PLAIN = bool(config.DISABLE_JIT)  # type: ignore[attr-defined]
word_of = _load_in_python if _PLAIN else _load_compiled
"""Word `index` of a state, for compiled code."""
set_word = _store_in_python if _PLAIN else _store_compiled
"""Overwrite word `index` of a state, for compiled code."""


@jit
def clear_state(state: State) -> None:
    """Set every field of a state to 0."""
    for index in range(STATE_WORDS):
        set_word(state, index, _ZERO)


def new_plan(base: NDArray[np.uint64], moves: NDArray[np.uint64]) -> Records[KeyPlan]:
    """Return a plan for packing the bits that differ between positions.

    Args:
        base: words of any position of the scenario, uint64 (STATE_WORDS,).
        moves: bits in which other positions differ from it, uint64 (STATE_WORDS,).

    Returns:
        Record array of `KeyPlan`, shape (1,).
    """
    plan = new_records(KeyPlan, 1)
    record = plan[0]
    record.origin[:] = base
    record.moves[:] = moves
    runs: list[tuple[int, ...]] = []  # written all at once, because record fields are slow
    word = bit = 0
    for index in np.flatnonzero(moves).tolist():
        left = int(moves[index])
        while left:
            first = (left & -left).bit_length() - 1  # index of the lowest set bit
            run_of_ones = left >> first
            # adding 1 to a run of ones carries to the first 0 above it
            length = ((run_of_ones + 1) & ~run_of_ones).bit_length() - 1
            left &= ~(((1 << length) - 1) << first)
            if bit + length > _WORD_BITS:
                word, bit = word + 1, 0
            runs.append((index, first, (1 << length) - 1, word, bit))
            bit += length
    for name, column in zip(_COLUMNS, zip(*runs, strict=True), strict=False):
        record[name][: len(runs)] = np.array(column, np.uint64)
    record.words = word + 1
    record.runs = len(runs)
    return plan


@jit
def pack_key(plan: KeyPlan, state: State, key: NDArray[np.uint64]) -> bool:
    """Write a position's key.

    Args:
        plan: plan of the scenario.
        state: the position.
        key: uint64, at least `plan.words` long; overwritten from index 0.

    Returns:
        True if the key was written. False if the position differs from `plan.origin` in a bit
        outside the plan; nothing is written.
    """
    unknown = _ZERO
    for index in range(STATE_WORDS):
        unknown |= (word_of(state, index) ^ plan.origin[index]) & ~plan.moves[index]
    if unknown != _ZERO:
        return False
    for index in range(plan.words):
        key[index] = _ZERO
    for run in range(plan.runs):
        index = plan.from_word[run]
        changed = word_of(state, index) ^ plan.origin[index]
        found = (changed >> plan.from_bit[run]) & plan.bits[run]
        key[plan.to_word[run]] |= found << plan.to_bit[run]
    return True


@jit
def unpack_key(plan: KeyPlan, key: NDArray[np.uint64], state: State) -> None:
    """Restore a key's position into `state`."""
    for index in range(STATE_WORDS):
        set_word(state, index, plan.origin[index])
    for run in range(plan.runs):
        found = (key[plan.to_word[run]] >> plan.to_bit[run]) & plan.bits[run]
        index = plan.from_word[run]
        set_word(state, index, word_of(state, index) ^ (found << plan.from_bit[run]))


@jit
def hash_of(key: NDArray[np.uint64], words: int) -> np.uint64:
    """Return the key's hash, at which a search in a hash table starts."""
    mixed = _ZERO
    for index in range(words):
        mixed = mix(mixed ^ key[index])
    return mixed
