"""Outcome codes for rolls, and tables that enumerate dice.

An outcome is a single integer. If only a roll's result matters, it is a small code. If the dice may
be re-rolled, it holds the number of dice showing each face.
"""

import numpy as np

from wfb_gym._jit import jit
from wfb_gym.engine.state import State
from wfb_gym.rules.dice import FACES, roll_counts
from wfb_gym.scenario.sizes import DICE

OUTCOME_FAIL = 0
"""The cast fails; the dispel fails; the wizard stays locked; the test is failed."""
OUTCOME_MISCAST = 1
OUTCOME_IRRESISTIBLE = 2
"""The spell is cast and cannot be dispelled."""
OUTCOME_CAST = 3
"""OUTCOME_CAST + t: the spell is cast with a total of t, the number to match to dispel it."""
OUTCOME_WORKS = 1
"""The dispel succeeds; the wizard is free; the test is passed."""
OUTCOME_CODES = OUTCOME_CAST + 256
"""Size of an array indexed by these codes."""

_BITS = 5
_MASK = (1 << _BITS) - 1
FACES_APART = 1 << 40
"""Flag for an outcome that holds face counts: `_BITS` bits for the number of dice per face."""


def _roll_summaries() -> tuple[np.ndarray, ...]:
    """Return tables of `roll_counts` for 0 to DICE dice: start, ones, sixes, total, probability."""
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
    ROLL_SUMMARY_PROBABILITY,
) = _roll_summaries()
"""Distinct results of n dice, by ones, sixes and total.

They are the rows from ROLL_SUMMARY_START[n] up to, but not including, ROLL_SUMMARY_START[n + 1];
their probabilities are in ROLL_SUMMARY_PROBABILITY.
"""


@jit
def one_die(face: int) -> int:
    """Return the face counts for a single die that shows `face`."""
    return 1 << (_BITS * (face - 1))


@jit
def has_faces(outcome: int) -> bool:
    """Return whether an outcome holds face counts."""
    return outcome >= FACES_APART


@jit
def count_of(face_counts: int, face: int) -> int:
    """Return the number of dice that show `face`."""
    return (face_counts >> (_BITS * (face - 1))) & _MASK


@jit(forceinline=False)
def has_double(face_counts: int) -> bool:
    """Return whether two of the dice show the same face."""
    doubles = 0
    for face in range(FACES):
        doubles += count_of(face_counts, face + 1) > 1
    return doubles > 0


@jit(forceinline=False)
def face_counts_of(state: State) -> int:
    """Return the face counts of the pending roll's dice rolled so far."""
    face_counts = 0
    for face in range(FACES):
        face_counts += (int(state.faces[face]) + int(state.held[face])) * one_die(face + 1)
    return face_counts


@jit
def rerollable_dice(state: State) -> int:
    """Return the number of dice in the pending roll that have not been re-rolled."""
    dice = 0
    for face in range(FACES):
        dice += int(state.faces[face])
    return dice
