"""A book of moves, compiled: the best action at every position of a solved scenario.

`wfb_gym.solver.books` writes them. A shelf holds the books of several scenarios in one array, so
that compiled code takes two arguments however many there are.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from wfb_gym._jit import int64, jit
from wfb_gym.engine.alike import merge_alike
from wfb_gym.engine.keys import PLAN, hash_of, pack_key
from wfb_gym.engine.state import Record

BOOK = np.dtype(
    [
        ("plan", PLAN),  # how keys are packed
        ("first", "i8"),  # where the book begins on the shelf
        ("slots", "i8"),  # a power of two; 0: there is no book
    ]
)
"""One scenario's book. A slot is a key, word by word, and 1 + the code of the action."""

NO_MOVE = -1


def no_books() -> tuple[np.recarray[Any, Any], NDArray[np.uint64]]:
    """An empty shelf, for batches in which nobody reads."""
    return np.zeros(1, BOOK).view(np.recarray), np.zeros(1, np.uint64)


@jit(forceinline=False)
def look_up_move(
    table: Record, state: Record, book: Record, shelf: NDArray[np.uint64], work: Record
) -> int:
    """The code of the best action at a decision, or NO_MOVE where the book has none.

    Args:
        table: the scenario.
        state: at a decision; not changed.
        book: the scenario's (`BOOK`).
        shelf: uint64, all books.
        work: scratch; `work.state` and `work.key` are overwritten.
    """
    if book.slots == 0:
        return NO_MOVE
    work.state = state
    merge_alike(table, work.state)
    if not pack_key(book.plan, work.state, work.key):
        return NO_MOVE
    words = int64(book.plan.words)
    mask = int64(book.slots - 1)
    slot = int64(hash_of(work.key, words)) & mask
    while True:
        place = int64(book.first) + slot * (words + 1)
        if shelf[place + words] == 0:
            return NO_MOVE
        same = True
        for word in range(words):
            same &= shelf[place + word] == work.key[word]
        if same:
            return int64(shelf[place + words]) - 1
        slot = (slot + 1) & mask


@jit(forceinline=False)
def write_moves(
    books: Record,
    which: int,
    keys: NDArray[np.uint64],
    codes: NDArray[np.int16],
    shelf: NDArray[np.uint64],
) -> None:
    """Write moves into a book whose slots are empty.

    Args:
        books: `BOOK`; the book says where its slots are, more of them than moves.
        which: of them.
        keys: of the positions, uint64 (n, words).
        codes: of the best actions, int16 (n,).
        shelf: uint64, changed.
    """
    book = books[which]
    words = int64(book.plan.words)
    mask = int64(book.slots - 1)
    for move in range(keys.shape[0]):
        slot = int64(hash_of(keys[move], words)) & mask
        while shelf[book.first + slot * (words + 1) + words] != 0:
            slot = (slot + 1) & mask
        place = int64(book.first) + slot * (words + 1)
        for word in range(words):
            shelf[place + word] = keys[move, word]
        shelf[place + words] = np.uint64(codes[move] + 1)
