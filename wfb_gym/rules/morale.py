"""Panic, flight and rallying: when a unit takes a test, what passes it, and who may rally.

Facts and sources are those of the ledger's chapter P: `W7` and `RE` are pages of the rulebook,
`REC` is general knowledge of it.
"""

from fractions import Fraction

from wfb_gym._jit import jit
from wfb_gym.rules.dice import FACES, roll_counts

MORALE_DICE = 2
"""D6 of a Panic test and of a roll to rally (REC; RE, rallying)."""


@jit
def needs_panic_test(models_at_phase_start: int, models_lost: int) -> bool:
    """Whether a unit has lost enough in a phase: a quarter of its models or more (W7).

    Args:
        models_at_phase_start: models that it had when the phase began.
        models_lost: of these, in the phase.
    """
    return models_lost > 0 and 4 * models_lost >= models_at_phase_start


@jit
def models_until_test(models_at_phase_start: int, models_lost: int) -> int:
    """Models that a unit must still lose in the phase before it takes a test; 0 once it does."""
    return max(0, (models_at_phase_start + 3) // 4 - models_lost)


@jit
def may_rally(models_left: int, original: int) -> bool:
    """Whether enough of a unit is left to rally: no fewer than a quarter of its models (RE).

    Args:
        models_left: in the unit.
        original: models that it had when the battle began.
    """
    return 4 * models_left >= original


@jit
def passes(total: int, leadership: int) -> bool:
    """Whether a total of 2D6 passes a test against Leadership: equal or less (REC, RE)."""
    return total <= leadership


def chance_to_pass(leadership: int) -> Fraction:
    """Exact chance, in 36ths, that 2D6 come to no more than `leadership`.

    Args:
        leadership: any whole number; 1 or less never passes, 12 or more always.
    """
    counts = roll_counts(MORALE_DICE).items()
    works = sum(count for (_, _, total), count in counts if passes(total, leadership))
    return Fraction(works, FACES**MORALE_DICE)
