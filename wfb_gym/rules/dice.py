"""Six-sided dice: the results that the rules read from a roll, and their probabilities.

Every rule in the phase reads three numbers from a roll: its ones, its sixes and its total.
`roll_counts` counts exactly how many rolls share the same three numbers.
"""

from enum import IntEnum
from functools import cache

from wfb_gym._jit import jit

FACES = 6


class NaturalResult(IntEnum):
    """Result of the natural dice of a casting or dispel roll, before any re-roll."""

    PLAIN = 0  # the total decides
    MISCAST = 1  # of a cast; in a dispel, two 1s
    IRRESISTIBLE = 2  # of a cast; in a dispel, two 6s if they count
    OPEN = 3  # pending re-roll, after which the natural dice are read again


@jit
def double(count: int) -> bool:
    """Return whether `count` dice showing the same face make a double: two or more (S0)."""
    return count >= 2


@jit
def power(base: float, exponent: int) -> float:
    """Return `base ** exponent` for an exponent of 0 or more, as a product.

    The C library's `pow` differs between machines in the last bit.
    """
    result = 1.0
    for _ in range(exponent):
        result *= base
    return result


@cache
def roll_counts(dice: int) -> dict[tuple[int, int, int], int]:
    """Return how many of the 6**dice rolls have the same ones, sixes and total.

    Args:
        dice: number of dice, 0 or more.

    Returns:
        Number of rolls for each (ones, sixes, total). Ones and sixes are capped at 2, because no
        rule looks at more than two.
    """
    if dice == 0:
        return {(0, 0, 0): 1}
    counts: dict[tuple[int, int, int], int] = {}
    for (ones, sixes, total), rolls in roll_counts(dice - 1).items():
        for face in range(1, FACES + 1):
            key = (min(2, ones + (face == 1)), min(2, sixes + (face == 6)), total + face)
            counts[key] = counts.get(key, 0) + rolls
    return counts
