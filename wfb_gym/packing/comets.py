"""What Comets bring on average, by where they fall: the rule's chances times what they strike."""

import numpy as np
from numpy.typing import ArrayLike

from wfb_gym.geometry import Floats
from wfb_gym.rules.comets import landing_chances, reach_chances


def points_when_landing(points: ArrayLike, distances: ArrayLike, phases: int) -> Floats:
    """Return the points that a Comet wins on average when it lands with 1, 2 ... markers.

    Args:
        points: what striking each victim wins, shape (n,).
        distances: to the victims, in inches, shape (..., n).
        phases: most markers.

    Returns:
        Points, shape (..., phases).
    """
    reached = [reach_chances(distances, 1 + k) @ np.asarray(points) for k in range(phases)]
    return np.stack(reached, axis=-1)


def points_until(landings: Floats, starts: int) -> Floats:
    """Return the points that it wins on average within so many starts of phases, shape (...)."""
    mean: Floats = landings[..., :starts] @ np.array(landing_chances(starts), np.float64)
    return mean
