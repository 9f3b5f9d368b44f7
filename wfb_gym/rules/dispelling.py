"""Dispelling spells (6th edition, p. 137): the results of dispel rolls."""

from fractions import Fraction

from wfb_gym._jit import jit
from wfb_gym.rules.dice import FACES, NaturalResult, double, roll_counts


@jit
def natural_result_of_dispel(ones: int, sixes: int, double_six: bool) -> int:
    """Return the `NaturalResult` of dispel dice.

    Two or more 1s fail regardless of the total (S0, S4). If `double_six` is True, two or more 6s
    succeed unless there are also two 1s (7th edition).

    Args:
        ones: number of natural 1s.
        sixes: number of natural 6s.
        double_six: whether two 6s dispel under this ruleset.
    """
    if double(ones):
        return NaturalResult.MISCAST.value
    if double_six and double(sixes):
        return NaturalResult.IRRESISTIBLE.value
    return NaturalResult.PLAIN.value


@jit
def matches(natural_result: int, natural: int, bonus: int, number_to_match: int) -> bool:
    """Return whether a dispel roll succeeds; an equal total is enough (S0, S4).

    Args:
        natural_result: `NaturalResult` of the dice, not `OPEN`.
        natural: total of the dice.
        bonus: added to the total.
        number_to_match: the casting result, or the casting value of a spell in play.
    """
    if natural_result == NaturalResult.MISCAST:
        return False
    if natural_result == NaturalResult.IRRESISTIBLE:
        return True
    if natural_result == NaturalResult.PLAIN:
        return natural + bonus >= number_to_match
    raise AssertionError("matches: expected a final natural result, found a pending re-roll")


@jit
def is_dispelled(
    ones: int, sixes: int, natural: int, bonus: int, number_to_match: int, double_six: bool
) -> bool:
    """Return whether a dispel roll succeeds; see the two functions above for the arguments."""
    result = natural_result_of_dispel(ones, sixes, double_six)
    return matches(result, natural, bonus, number_to_match)


def dispel_chance(
    dice: int, number_to_match: int, bonus: int = 0, double_six: bool = False
) -> Fraction:
    """Return the exact probability of dispelling.

    Args:
        dice: dispel dice, 1 or more.
        number_to_match: total to equal or beat.
        bonus: added to the total.
        double_six: whether two 6s dispel automatically.

    Raises:
        ValueError: if there are no dice.
    """
    if dice < 1:
        raise ValueError(f"dice: expected 1 or more to dispel, found {dice}")
    successes = sum(
        count
        for (ones, sixes, natural), count in roll_counts(dice).items()
        if is_dispelled(ones, sixes, natural, bonus, number_to_match, double_six)
    )
    return Fraction(successes, FACES**dice)
