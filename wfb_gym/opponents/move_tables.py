"""Compiled move tables: the best action at every position of a solved scenario.

`wfb_gym.solver.move_tables` fills the tables. One array holds the moves for all scenarios, so that
compiled code needs only two arguments.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from wfb_gym._intrinsics import copy_record
from wfb_gym._jit import int64, jit
from wfb_gym._records import Int64, Record, Records, new_records
from wfb_gym.engine.canonical import canonicalize
from wfb_gym.engine.keys import KeyPlan, hash_of, pack_key
from wfb_gym.engine.state import State, WorkSpace
from wfb_gym.packing.records import PackedScenario


class MoveTable(Record):
    """One scenario's hash table. A slot holds the words of a key, then the action's code + 1."""

    plan: KeyPlan  # layout of packed keys
    first: Int64  # index of the table's first word in the storage
    slots: Int64  # a power of two, or 0 if the table is empty


NO_MOVE = -1


class MoveTables(NamedTuple):
    """A batch's move tables."""

    tables: Records[MoveTable]  # one per scenario, or a single one for all scenarios
    storage: NDArray[np.uint64]  # all tables' slots


def no_move_tables() -> MoveTables:
    """Return an empty table, for batches without an optimal player."""
    return MoveTables(new_records(MoveTable, 1), np.zeros(1, np.uint64))


@jit(forceinline=False)
def look_up_move(
    packed: PackedScenario,
    state: State,
    move_table: MoveTable,
    move_storage: NDArray[np.uint64],
    work: WorkSpace,
) -> int:
    """Return the code of the best action at a decision, or NO_MOVE if it is not in the table.

    Overwrites `work.state` and `work.key`.
    """
    if move_table.slots == 0:
        return NO_MOVE
    copy_record(work.state, state)
    canonicalize(packed, work.state)
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
    """Write moves to table `which`, which must be empty and have more slots than there are moves.

    Args:
        move_tables: the tables.
        which: index of the table.
        keys: packed keys of the positions, (n, words).
        codes: codes of the best actions, (n,).
        move_storage: storage for all tables; overwritten.
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
