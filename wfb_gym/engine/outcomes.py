"""Codes of the outcomes of rolls, and the tables that enumerate dice.

An outcome is one integer. Where only the result of a roll matters it is a small code; where the
faces stay apart, because a re-roll may follow, it is the number of dice of each face.
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
FACES_APART = 1 << 40
"""Mark of an outcome that holds face counts: `_BITS` bits for the dice that show each face."""


def _roll_summaries() -> tuple[np.ndarray, ...]:
    """Flat tables of `roll_counts` for 0 to DICE dice: start, ones, sixes, total, probability."""
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
"""Rolls of n dice that the rules cannot tell apart: rows ROLL_SUMMARY_START[n] up to
ROLL_SUMMARY_START[n + 1]; the probability of each is in ROLL_SUMMARY_PROBABILITY."""


@jit
def one_die(face: int) -> int:
    """Face counts of one die that shows `face`."""
    return 1 << (_BITS * (face - 1))


@jit
def has_faces(outcome: int) -> bool:
    """Whether an outcome holds face counts."""
    return outcome >= FACES_APART


@jit
def count_of(face_counts: int, face: int) -> int:
    """How many of the dice show `face`."""
    return (face_counts >> (_BITS * (face - 1))) & _MASK


@jit(forceinline=False)
def has_double(face_counts: int) -> bool:
    """Whether two of the dice show one face."""
    doubles = 0
    for face in range(FACES):
        doubles += count_of(face_counts, face + 1) > 1
    return doubles > 0


@jit(forceinline=False)
def face_counts_of(state: State) -> int:
    """Face counts of the pending roll's dice that are not in the air."""
    face_counts = 0
    for face in range(FACES):
        face_counts += (int(state.faces[face]) + int(state.held[face])) * one_die(face + 1)
    return face_counts


@jit
def rerollable_dice(state: State) -> int:
    """Return the number of dice of the pending roll that have not been re-rolled."""
    dice = 0
    for face in range(FACES):
        dice += int(state.faces[face])
    return dice
