"""Handfuls of dice, the outcomes of rolls, and how the natural dice read.

An outcome is one integer. Where only the reading of a roll matters it is a small code; where
the faces stay apart, because a re-roll may follow, it is the handful itself.
"""

import numpy as np

from wfb_gym._jit import jit
from wfb_gym.engine.state import State
from wfb_gym.rules.dice import FACES, roll_counts
from wfb_gym.scenario.sizes import DICE

OUTCOME_FAIL = 0
"""The cast fails; the dispel fails; the wizard stays locked."""
OUTCOME_MISCAST = 1
OUTCOME_IRRESISTIBLE = 2
"""The spell is cast and nothing can stop it."""
FIRST_TOTAL = 3
"""FIRST_TOTAL + t: the spell is cast with t as the number to match."""
OUTCOME_WORKS = 1
"""The dispel works; the wizard is free."""
OUTCOME_CODES = FIRST_TOTAL + 256
"""Size of an array indexed by such codes."""

_BITS = 5
_MASK = (1 << _BITS) - 1
HANDFUL = 1 << 40
"""Mark of an outcome that is a handful: `_BITS` bits for the count of each face."""


def _roll_summaries() -> tuple[np.ndarray, ...]:
    """Flat tables of `roll_counts` for 0 to DICE dice: start, ones, sixes, total, chance."""
    start = [0]
    rows: list[tuple[int, int, int, float]] = []
    for dice in range(DICE + 1):
        for (ones, sixes, total), rolls in sorted(roll_counts(dice).items()):
            rows.append((ones, sixes, total, rolls / FACES**dice))
        start.append(len(rows))
    columns = list(zip(*rows, strict=True))
    return (
        np.array(start, np.int64),
        *(np.array(column, np.int64) for column in columns[:3]),
        np.array(columns[3], np.float64),
    )


(
    ROLL_SUMMARY_START,
    ROLL_SUMMARY_ONES,
    ROLL_SUMMARY_SIXES,
    ROLL_SUMMARY_TOTAL,
    ROLL_SUMMARY_CHANCE,
) = _roll_summaries()
"""Readings of n dice lie at READING_START[n] up to READING_START[n + 1]."""


@jit
def die_in_handful(face: int) -> int:
    """The handful of one die that shows `face`."""
    return 1 << (_BITS * (face - 1))


@jit
def is_handful(outcome: int) -> bool:
    """Whether an outcome carries faces."""
    return outcome >= HANDFUL


@jit
def count_of(handful: int, face: int) -> int:
    """How many dice of a handful show `face`."""
    return (handful >> (_BITS * (face - 1))) & _MASK


@jit(forceinline=False)
def has_double(handful: int) -> bool:
    """Whether two dice of a handful show one face."""
    doubles = 0
    for face in range(FACES):
        doubles += count_of(handful, face + 1) > 1
    return doubles > 0


@jit
def keep_handful(state: State, handful: int) -> None:
    """The dice of the pending roll lie as they fell."""
    for face in range(FACES):
        state.faces[face] = count_of(handful, face + 1)
        state.held[face] = 0


@jit
def hold_handful(state: State, handful: int) -> None:
    """Dice that have been rolled again stay as they fell (no die is re-rolled twice)."""
    for face in range(FACES):
        state.held[face] += count_of(handful, face + 1)


@jit(forceinline=False)
def handful_of(state: State) -> int:
    """All dice of the pending roll that lie."""
    handful = 0
    for face in range(FACES):
        dice = int(state.faces[face]) + int(state.held[face])
        handful += dice * die_in_handful(face + 1)
    return handful


@jit
def rollable(state: State) -> int:
    """Dice of the pending roll that have not been re-rolled."""
    dice = 0
    for face in range(FACES):
        dice += int(state.faces[face])
    return dice
