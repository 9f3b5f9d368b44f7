"""Tables of success probabilities for casting and dispel rolls.

They are computed over all rolls with the functions in `wfb_gym.rules`, for observations, scripted
opponents and the enumeration of dispel rolls that cannot be re-rolled.
"""

import numpy as np
from numpy.typing import NDArray

from wfb_gym._jit import jit
from wfb_gym.engine.outcomes import (
    ROLL_SUMMARY_ONES,
    ROLL_SUMMARY_PROBABILITY,
    ROLL_SUMMARY_SIXES,
    ROLL_SUMMARY_START,
    ROLL_SUMMARY_TOTAL,
)
from wfb_gym.rules.casting import Casting, casting_outcome
from wfb_gym.rules.dispelling import is_dispelled
from wfb_gym.scenario.sizes import DICE

HIGHEST_NEED = 160
"""Highest number to match in the tables; no roll reaches it."""
_CAST_NEEDS = 52
"""Rows of the casting tables: casting values up to 15, penalties of items up to 24 and 12."""


@jit(_nrt=True, forceinline=False)
def _cast_table() -> NDArray[np.float64]:
    table = np.zeros((2, _CAST_NEEDS, DICE + 1))
    for irresistible in range(2):
        for dice in range(1, DICE + 1):
            for reading in range(ROLL_SUMMARY_START[dice], ROLL_SUMMARY_START[dice + 1]):
                ones, sixes = ROLL_SUMMARY_ONES[reading], ROLL_SUMMARY_SIXES[reading]
                total = ROLL_SUMMARY_TOTAL[reading]
                for need in range(_CAST_NEEDS):
                    outcome = casting_outcome(ones, sixes, total, 0, need, irresistible == 1)
                    if outcome != Casting.CAST and outcome != Casting.IRRESISTIBLE:
                        break  # a higher casting value fails too
                    table[irresistible, need, dice] += ROLL_SUMMARY_PROBABILITY[reading]
    return table


@jit(_nrt=True, forceinline=False)
def _dispel_table() -> NDArray[np.float64]:
    table = np.zeros((2, HIGHEST_NEED + 1, DICE + 1))
    for double_six in range(2):
        for dice in range(1, DICE + 1):
            for reading in range(ROLL_SUMMARY_START[dice], ROLL_SUMMARY_START[dice + 1]):
                ones, sixes = ROLL_SUMMARY_ONES[reading], ROLL_SUMMARY_SIXES[reading]
                total = ROLL_SUMMARY_TOTAL[reading]
                for need in range(HIGHEST_NEED + 1):
                    if not is_dispelled(ones, sixes, total, 0, need, double_six == 1):
                        break  # nor is a higher number matched
                    table[double_six, need, dice] += ROLL_SUMMARY_PROBABILITY[reading]
    return table


@jit(_nrt=True, forceinline=False)
def through_table(most_dice: int) -> NDArray[np.float64]:
    """Return the probability that a spell is cast and a roll with all dice does not dispel it.

    Args:
        most_dice: maximum number of dice in either roll.

    Returns:
        float64 (2, needs, most_dice + 1, most_dice + 1): [two 6s dispel, casting value minus
        bonuses, power dice, dispel dice]. Bonuses count only towards the casting value.
    """
    table = np.zeros((2, _CAST_NEEDS, most_dice + 1, most_dice + 1))
    for need in range(_CAST_NEEDS):
        for dice in range(1, most_dice + 1):
            for reading in range(ROLL_SUMMARY_START[dice], ROLL_SUMMARY_START[dice + 1]):
                total = ROLL_SUMMARY_TOTAL[reading]
                outcome = casting_outcome(
                    ROLL_SUMMARY_ONES[reading], ROLL_SUMMARY_SIXES[reading], total, 0, need, True
                )
                probability = ROLL_SUMMARY_PROBABILITY[reading]
                if outcome == Casting.IRRESISTIBLE:
                    table[:, need, dice] += probability
                elif outcome == Casting.CAST:
                    for double_six in range(2):
                        ended = DISPEL_CHANCE[double_six, total, : most_dice + 1]
                        table[double_six, need, dice] += probability * (1.0 - ended)
                elif outcome != Casting.FAIL and outcome != Casting.MISCAST:
                    raise AssertionError("this outcome of a cast is undefined")
    return table


CAST_CHANCES: NDArray[np.float64] = _cast_table()
"""Probability of casting: [may be irresistible, casting value minus bonuses, dice], float64."""
CAST_CHANCE: NDArray[np.float64] = CAST_CHANCES[1]
"""Probability of casting if the cast may be irresistible: [casting value minus bonuses, dice]."""
BEST_CAST_CHANCE: NDArray[np.float64] = np.maximum.accumulate(CAST_CHANCE, axis=1)
"""`CAST_CHANCE` for the best number of dice up to the given number."""
DISPEL_CHANCE: NDArray[np.float64] = _dispel_table()
"""Probability of dispelling: [two 6s count, number to match minus bonuses, dice], float64."""


@jit
def cast_need(casting_value: int, bonus: int) -> int:
    """Return the row index in the cast tables."""
    return min(_CAST_NEEDS - 1, max(0, casting_value - bonus))


@jit
def dispel_need(number: int, bonus: int) -> int:
    """Return the row index in the dispel table."""
    return min(HIGHEST_NEED, max(0, number - bonus))
