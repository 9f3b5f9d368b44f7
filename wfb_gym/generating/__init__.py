"""Random battles: legal scenarios of two armies on a battlefield, each from a seed.

`generate` makes one; `Generation` says what it is to be like. `Generated` stands for many at once,
with seeds for training or for tests, which share none. Scenarios are checked as any other; nothing
here plays or packs them.
"""

from wfb_gym.generating.options import AXES, KINDS, KINDS_OF_AXES, Axis, Generation, Sizes
from wfb_gym.generating.scenarios import (
    TEST_SEEDS,
    TRAIN_SEEDS,
    Generated,
    Split,
    generate,
    seeds,
)

__all__ = [
    "AXES",
    "KINDS",
    "KINDS_OF_AXES",
    "TEST_SEEDS",
    "TRAIN_SEEDS",
    "Axis",
    "Generated",
    "Generation",
    "Sizes",
    "Split",
    "generate",
    "seeds",
]
