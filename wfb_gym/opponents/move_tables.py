"""A book of moves, compiled: the best action at every position of a solved scenario.

`wfb_gym.solver.move_tables` writes them. A shelf holds the books of several scenarios in one
array, so
that compiled code takes two arguments however many there are.
"""

import numpy as np
from numpy.typing import NDArray

from wfb_gym._jit import int64, jit
from wfb_gym._records import Int64, Record, Records, dtype_of, new_records
from wfb_gym.engine.canonical import canonicalise
from wfb_gym.engine.keys import KeyPlan, hash_of, pack_key
from wfb_gym.engine.state import State, WorkSpace
from wfb_gym.packing.records import PackedScenario


class MoveTable(Record):
    """One scenario's book. A slot is a key, word by word, and 1 + the code of the action."""

    plan: KeyPlan  # how keys are packed
    first: Int64  # where the book begins on the shelf
    slots: Int64  # a power of two; 0: there is no book


MOVE_TABLE = dtype_of(MoveTable)

NO_MOVE = -1


def no_move_tables() -> tuple[Records[MoveTable], NDArray[np.uint64]]:
    """An empty shelf, for batches in which nobody reads."""
    return new_records(MoveTable, 1), np.zeros(1, np.uint64)


@jit(forceinline=False)
def look_up_move(
    packed: PackedScenario,
    state: State,
    move_table: MoveTable,
    move_storage: NDArray[np.uint64],
    work: WorkSpace,
) -> int:
    """The code of the best action at a decision, or NO_MOVE where the book has none.

    Args:
        packed: the scenario.
        state: at a decision; not changed.
        move_table: the scenario's (`MOVE_TABLE`).
        move_storage: uint64, all books.
        work: scratch; `work.state` and `work.key` are overwritten.
    """
    if move_table.slots == 0:
        return NO_MOVE
    work.state = state
    canonicalise(packed, work.state)
    if not pack_key(move_table.plan, work.state, work.key):
        return NO_MOVE
    words = int64(move_table.plan.words)
    mask = int64(move_table.slots - 1)
    slot = int64(hash_of(work.key, words)) & mask
    while True:
        place = int64(move_table.first) + slot * (words + 1)
        if move_storage[place + words] == 0:
            return NO_MOVE
        same = True
        for word in range(words):
            same &= move_storage[place + word] == work.key[word]
        if same:
            return int64(move_storage[place + words]) - 1
        slot = (slot + 1) & mask


@jit(forceinline=False)
def write_moves(
    move_tables: Records[MoveTable],
    which: int,
    keys: NDArray[np.uint64],
    codes: NDArray[np.int16],
    move_storage: NDArray[np.uint64],
) -> None:
    """Write moves into a book whose slots are empty.

    Args:
        move_tables: `MOVE_TABLE`; the book says where its slots are, more of them than moves.
        which: of them.
        keys: of the positions, uint64 (n, words).
        codes: of the best actions, int16 (n,).
        move_storage: uint64, changed.
    """
    move_table = move_tables[which]
    words = int64(move_table.plan.words)
    mask = int64(move_table.slots - 1)
    for move in range(keys.shape[0]):
        slot = int64(hash_of(keys[move], words)) & mask
        while move_storage[move_table.first + slot * (words + 1) + words] != 0:
            slot = (slot + 1) & mask
        place = int64(move_table.first) + slot * (words + 1)
        for word in range(words):
            move_storage[place + word] = keys[move, word]
        move_storage[place + words] = np.uint64(codes[move] + 1)
