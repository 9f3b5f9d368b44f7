"""Expected points from Comets, by landing point."""

import numpy as np
from numpy.typing import ArrayLike, NDArray

from wfb_gym.geometry import ROUNDING, Floats
from wfb_gym.packing.records import OUT_OF_REACH
from wfb_gym.rules.comets import landing_chances, reach_chances
from wfb_gym.rules.dice import FACES
from wfb_gym.scenario.sizes import PHASES


def inches_of(distances: ArrayLike) -> NDArray[np.int8]:
    """Round distances up to whole inches; use `OUT_OF_REACH` for those beyond any Comet's reach."""
    inches = np.ceil(np.asarray(distances) - ROUNDING)
    near: NDArray[np.int8] = np.where(inches <= FACES * PHASES, inches, OUT_OF_REACH).astype(
        np.int8
    )
    return near


def points_by_starts(points: ArrayLike, inches: NDArray[np.int8], starts: int) -> Floats:
    """Return the expected points from a Comet that may land at the next 0, 1, 2 ... phase starts.

    Args:
        points: expected points from hitting each victim, shape (n,).
        inches: distances to the victims, shape (..., n).
        starts: maximum number of phase starts. At the first, the Comet has one marker.

    Returns:
        Expected points by the number of phase starts, shape (..., starts + 1).
    """
    total = np.zeros((*inches.shape[:-1], starts + 1))
    for k, chance in enumerate(landing_chances(starts)):
        reached = reach_chances(inches, 1 + k) @ np.asarray(points, np.float64)
        total[..., k + 1] = total[..., k] + chance * reached
    return total
