"""The Comet of Casandora: landing and reach probabilities (W6, BS).

The Comet is placed on the battlefield with one marker. At the start of each later phase, of either
side, a D6 is rolled. On a 4 or more, the Comet lands; otherwise it gains another marker. When it
lands, it reaches D6 inches per marker. These probabilities assume that it is not dispelled first.
"""

import numpy as np
from numpy.typing import ArrayLike, NDArray

from wfb_gym.rules.dice import FACES

LANDS_ON = 4
"""Lowest D6 result on which a Comet lands."""


def landing_chances(starts: int) -> tuple[float, ...]:
    """Return the probability of landing at each of the next `starts` phase starts."""
    lands = (FACES + 1 - LANDS_ON) / FACES
    return tuple(lands * (1.0 - lands) ** k for k in range(starts))


def reach_chances(distances: ArrayLike, markers: int) -> NDArray[np.float64]:
    """Return the probability that a landing Comet reaches each distance.

    Args:
        distances: in inches, any shape.
        markers: number of markers on the Comet.

    Returns:
        float64, same shape as `distances`.
    """
    reaches = np.arange(1, FACES + 1) * markers
    chances: NDArray[np.float64] = (reaches >= np.asarray(distances)[..., None]).mean(axis=-1)
    return chances
