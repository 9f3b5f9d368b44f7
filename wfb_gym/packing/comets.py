"""What Comets bring on average, by where they fall: the rule's chances times what they strike."""

import numpy as np
from numpy.typing import ArrayLike, NDArray

from wfb_gym.geometry import ROUNDING, Floats
from wfb_gym.packing.records import OUT_OF_REACH
from wfb_gym.rules.comets import landing_chances, reach_chances
from wfb_gym.rules.dice import FACES
from wfb_gym.scenario.sizes import PHASES


def inches_of(distances: ArrayLike) -> NDArray[np.int8]:
    """Return distances rounded up to inches, as far as a Comet may reach."""
    inches = np.ceil(np.asarray(distances) - ROUNDING)
    near: NDArray[np.int8] = np.where(inches <= FACES * PHASES, inches, OUT_OF_REACH).astype(
        np.int8
    )
    return near


def points_by_starts(points: ArrayLike, inches: NDArray[np.int8], starts: int) -> Floats:
    """Return the points that a Comet brings if it lands within 0, 1, 2 ... starts of phases.

    Args:
        points: what striking each victim wins, shape (n,).
        inches: to the victims, shape (..., n).
        starts: most of them; it has one marker at the first.

    Returns:
        Mean points, shape (..., starts + 1).
    """
    total = np.zeros((*inches.shape[:-1], starts + 1))
    for k, chance in enumerate(landing_chances(starts)):
        reached = reach_chances(inches, 1 + k) @ np.asarray(points, np.float64)
        total[..., k + 1] = total[..., k] + chance * reached
    return total
