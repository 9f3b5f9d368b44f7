"""Victory points (6th edition): the points that the enemy scores for a unit or character.

Every character counts as a unit. Table quarters and captured standards need movement and close
combat, so they are left out (house rule C.109).
"""

from math import ceil

from wfb_gym._jit import jit

GENERAL_POINTS = 100.0
"""Points for a slain or fleeing general, in addition to its own points (W6)."""
_ROUNDING = 1e-9


@jit
def is_below_half(left: int, original: int) -> bool:
    """Return whether fewer than half are left; exactly half is not below half (W6)."""
    return 2 * left < original


@jit
def half_points(points: float) -> float:
    """Return half of a unit's points, rounded up (W6) but never more than all (house rule)."""
    return min(points, float(ceil(points / 2.0 - _ROUNDING)))


@jit
def points_conceded(points: float, left: int, original: int, flees: bool) -> float:
    """Return the victory points that the enemy scores for a unit or character (W6).

    Args:
        points: the whole unit's points.
        left: models left, or wounds left for a single-model unit or a character.
        original: models (or wounds) at the start of the battle.
        flees: whether it is fleeing.
    """
    if left == 0 or flees:
        return points
    return half_points(points) if is_below_half(left, original) else 0.0
