"""Casting spells (6th edition, p. 136): dice limits and the results of casting rolls."""

from enum import IntEnum
from fractions import Fraction

from wfb_gym._jit import jit
from wfb_gym.rules.dice import FACES, NaturalResult, double, roll_counts

MINIMUM_TO_CAST = 3
"""A natural total below this always fails, regardless of bonuses (S0, S4)."""
LOWEST_CASTING_VALUE = 3
HIGHEST_CASTING_VALUE = 15
"""Casting values range from `LOWEST_CASTING_VALUE` to this number (S2, S4)."""


class Casting(IntEnum):
    """Result of a casting roll."""

    FAIL = 0
    MISCAST = 1
    IRRESISTIBLE = 2
    CAST = 3


@jit
def most_casting_dice(level: int) -> int:
    """Return the maximum number of power dice for a spell: the wizard's level plus one (S0, S2)."""
    return level + 1


@jit
def is_miscast(ones: int) -> bool:
    """Return whether a roll is a miscast: two or more natural 1s (S0, S4)."""
    return double(ones)


@jit
def is_irresistible(ones: int, sixes: int) -> bool:
    """Return whether a roll is irresistible: two or more natural 6s, and no miscast (S0, S4)."""
    return double(sixes) and not is_miscast(ones)


@jit
def natural_result_of_cast(ones: int, sixes: int, may_be_irresistible: bool) -> int:
    """Return the `NaturalResult` of casting dice, checked in the rulebook's order (S0, S4).

    Args:
        ones: number of natural 1s.
        sixes: number of natural 6s.
        may_be_irresistible: False if an item forbids irresistible force.
    """
    if is_miscast(ones):
        return NaturalResult.MISCAST.value
    if may_be_irresistible and is_irresistible(ones, sixes):
        return NaturalResult.IRRESISTIBLE.value
    return NaturalResult.PLAIN.value


@jit
def is_cast(natural: int, bonus: int, casting_value: int) -> bool:
    """Return whether a roll that is neither a miscast nor irresistible casts the spell (S0, S4).

    Args:
        natural: total of the dice.
        bonus: total bonus from items and other effects.
        casting_value: the value to equal or beat.
    """
    return natural >= MINIMUM_TO_CAST and natural + bonus >= casting_value


@jit
def casting_outcome(
    ones: int, sixes: int, natural: int, bonus: int, casting_value: int, may_be_irresistible: bool
) -> int:
    """Return the result of a casting roll, checked in the rulebook's order (S0, S4).

    Args:
        ones: number of natural 1s.
        sixes: number of natural 6s.
        natural: total of the dice.
        bonus: added to the total.
        casting_value: 3 to 15.
        may_be_irresistible: False if an item forbids irresistible force.

    Returns:
        A member of `Casting`. An irresistible roll may be below the casting value
        (house rule C.9).
    """
    result = natural_result_of_cast(ones, sixes, may_be_irresistible)
    if result == NaturalResult.MISCAST:
        return Casting.MISCAST
    if result == NaturalResult.IRRESISTIBLE:
        return Casting.IRRESISTIBLE
    return Casting.CAST if is_cast(natural, bonus, casting_value) else Casting.FAIL


def casting_probabilities(
    dice: int, casting_value: int, bonus: int = 0, may_be_irresistible: bool = True
) -> dict[Casting, Fraction]:
    """Return the exact probability of each result of a casting roll.

    Args:
        dice: power dice, 1 or more.
        casting_value: 3 to 15.
        bonus: added to the total.
        may_be_irresistible: False if an item forbids irresistible force.

    Returns:
        A fraction for each member of `Casting`; `CAST` excludes irresistible casts.

    Raises:
        ValueError: if there are no dice, or the casting value is outside 3..15.
    """
    if dice < 1:
        raise ValueError(f"dice: expected 1 or more to cast, found {dice}")
    if not LOWEST_CASTING_VALUE <= casting_value <= HIGHEST_CASTING_VALUE:
        raise ValueError(
            f"casting value: expected {LOWEST_CASTING_VALUE}..{HIGHEST_CASTING_VALUE}, "
            f"found {casting_value}"
        )
    rolls = dict.fromkeys(Casting, 0)
    for (ones, sixes, natural), count in roll_counts(dice).items():
        outcome = casting_outcome(ones, sixes, natural, bonus, casting_value, may_be_irresistible)
        rolls[Casting(outcome)] += count
    return {outcome: Fraction(count, FACES**dice) for outcome, count in rolls.items()}
