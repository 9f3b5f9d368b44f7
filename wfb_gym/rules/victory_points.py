"""Victory points (6th edition): what the enemy counts for a unit or character by its state.

Every character is a unit of its own. Table quarters and captured standards follow from movement
and close combat, which are not played, and are left out.
"""

from math import ceil

from wfb_gym._jit import jit

GENERAL_POINTS = 100.0
"""For the general slain or fleeing, beside its own points (W6)."""
_ROUNDING = 1e-9


@jit
def is_below_half(left: int, original: int) -> bool:
    """Whether fewer than half are left; half themselves are enough (W6)."""
    return 2 * left < original


@jit
def half_points(points: float) -> float:
    """Half of the points of a unit, rounded up (W6); never more than all of them (ours)."""
    return min(points, float(ceil(points / 2.0 - _ROUNDING)))


@jit
def points_conceded(points: float, left: int, original: int, flees: bool) -> float:
    """Victory points that the enemy counts for a unit or character (W6).

    Args:
        points: of the whole unit.
        left: models that it has left; of a unit of one model and of a character, wounds.
        original: how many of them it began with.
        flees: whether it is fleeing.
    """
    if left == 0 or flees:
        return points
    return half_points(points) if is_below_half(left, original) else 0.0
