"""Six-sided dice: what one roll says, and how likely each reading of it is.

`read` turns natural dice into the three numbers that every rule of the phase looks at. The
tables of chances here are counted over all rolls, exactly, for those readings.
"""

from functools import lru_cache
from math import comb

import numpy as np
from numpy.typing import NDArray

from wfb_gym._jit import jit

FACES = 6


@jit
def double(count: int) -> bool:
    """Whether `count` dice of one face are "two or more" of it (S0)."""
    return count >= 2


@lru_cache(maxsize=None)
def roll_counts(dice: int) -> dict[tuple[int, int, int], int]:
    """How many of the 6**dice rolls read alike.

    Args:
        dice: number of dice, 0 or more.

    Returns:
        Rolls by (ones, sixes, total), where ones and sixes are counted up to 2: no rule asks
        for more than two.
    """
    if dice == 0:
        return {(0, 0, 0): 1}
    counts: dict[tuple[int, int, int], int] = {}
    for (ones, sixes, total), rolls in roll_counts(dice - 1).items():
        for face in range(1, FACES + 1):
            key = (min(2, ones + (face == 1)), min(2, sixes + (face == 6)), total + face)
            counts[key] = counts.get(key, 0) + rolls
    return counts


def two_dice_chances() -> NDArray[np.float64]:
    """Chances of each total of 2D6, shape (13,), entries 0 and 1 zero."""
    chances = np.zeros(13)
    for (_, _, total), rolls in roll_counts(2).items():
        chances[total] += rolls / FACES**2
    return chances


@jit
def multinomial(counts: NDArray[np.uint8]) -> float:
    """Number of orders in which dice show each face `counts[face - 1]` times, shape (6,)."""
    ways = 1.0
    dice = 0
    for face in range(FACES):
        for k in range(counts[face]):
            dice += 1
            ways = ways * dice / (k + 1)
    return ways


@lru_cache(maxsize=None)
def combinations_with_faces(dice: int) -> int:
    """Number of different handfuls of `dice` dice, their order left aside."""
    return comb(dice + FACES - 1, FACES - 1)
