"""Panic, flight and rallying: when units take tests, test results, and units that may rally.

Chapter P of docs/rules.md lists the facts and sources: `W7` and `RE` are pages of the rulebook, and
`REC` is general knowledge of it.
"""

from fractions import Fraction

from wfb_gym._jit import jit
from wfb_gym.rules.dice import FACES, roll_counts

MORALE_DICE = 2
"""Number of D6 in a Panic test or rally roll (REC; RE, rallying)."""


@jit
def needs_panic_test(models_at_phase_start: int, models_lost: int) -> bool:
    """Return whether a unit has lost a quarter or more of its models in a phase (W7).

    Args:
        models_at_phase_start: models in the unit when the phase began.
        models_lost: models lost since then.
    """
    return models_lost > 0 and 4 * models_lost >= models_at_phase_start


@jit
def models_until_test(models_at_phase_start: int, models_lost: int) -> int:
    """Return how many more models a unit must lose this phase to take a test; 0 if it must now."""
    # a quarter, rounded up
    return max(0, (models_at_phase_start + 3) // 4 - models_lost)


@jit
def may_rally(models_left: int, original: int) -> bool:
    """Return whether a unit may rally, because at least a quarter of its models are left (RE).

    Args:
        models_left: models left in the unit.
        original: models in the unit at the start of the battle.
    """
    return 4 * models_left >= original


@jit
def passes(total: int, leadership: int) -> bool:
    """Return whether a total of 2D6 passes a test: equal to Leadership or less (REC, RE)."""
    return total <= leadership


def chance_to_pass(leadership: int) -> Fraction:
    """Return the exact probability, in 36ths, that 2D6 total `leadership` or less.

    Args:
        leadership: any integer; 1 or less never passes, 12 or more always passes.
    """
    counts = roll_counts(MORALE_DICE).items()
    successes = sum(count for (_, _, total), count in counts if passes(total, leadership))
    return Fraction(successes, FACES**MORALE_DICE)
