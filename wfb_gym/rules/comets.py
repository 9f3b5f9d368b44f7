"""The Comet of Casandora: when it lands, and how far it reaches (W6, BS).

It lies on the battlefield with one marker. At the start of every later phase of either side a D6
is rolled: on a 4 or more it lands, else it gets a marker more. When it lands, it reaches D6 inches
a marker. That somebody may dispel it first is left out here.
"""

import numpy as np
from numpy.typing import ArrayLike, NDArray

from wfb_gym.rules.dice import FACES

LANDS_ON = 4
"""A Comet lands on this D6 or more."""


def landing_chances(starts: int) -> tuple[float, ...]:
    """Chances that a Comet lands at the first, second ... of so many starts of phases."""
    lands = (FACES + 1 - LANDS_ON) / FACES
    return tuple(lands * (1.0 - lands) ** k for k in range(starts))


def reach_chances(distances: ArrayLike, markers: int) -> NDArray[np.float64]:
    """Chances, of the shape of `distances`, that a Comet which lands reaches so many inches far."""
    reaches = np.arange(1, FACES + 1) * markers
    chances: NDArray[np.float64] = (reaches >= np.asarray(distances)[..., None]).mean(axis=-1)
    return chances
