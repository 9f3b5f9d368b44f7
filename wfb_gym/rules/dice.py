"""Six-sided dice: what one roll says, and how likely each reading of it is.

Every rule of the phase looks at three numbers of a roll: its ones, its sixes and its total.
`roll_counts` counts, exactly, how many rolls read alike.
"""

from enum import IntEnum
from functools import cache

from wfb_gym._jit import jit

FACES = 6


class NaturalResult(IntEnum):
    """What the natural dice of a casting or dispel roll decide, before any re-roll."""

    PLAIN = 0  # nothing: the total does
    MISCAST = 1  # of a cast; of a dispel: two 1s
    IRRESISTIBLE = 2  # of a cast; of a dispel: two 6s where they dispel
    OPEN = 3  # a re-roll is under way that has the natural dice read again


@jit
def double(count: int) -> bool:
    """Whether `count` dice of one face are "two or more" of it (S0)."""
    return count >= 2


@cache
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
