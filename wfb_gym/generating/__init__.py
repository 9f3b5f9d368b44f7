"""Random battles: legal scenarios for two armies on a battlefield, each generated from a seed.

`generate` makes a single scenario from a seed and `Generation` options. `Generated` is a set of
scenarios. Training and test seeds are disjoint. Generated scenarios pass the same validation as
scenario files.
"""

from wfb_gym.generating.options import (
    ALL_KINDS,
    AXES,
    HARD_KINDS,
    KINDS,
    KINDS_OF_AXES,
    OPTIONS_BY_NAME,
    Axis,
    Generation,
    Sizes,
)
from wfb_gym.generating.scenarios import TEST_SEEDS, TRAIN_SEEDS, Generated, Split, generate, seeds

__all__ = [
    "ALL_KINDS",
    "AXES",
    "HARD_KINDS",
    "KINDS",
    "KINDS_OF_AXES",
    "OPTIONS_BY_NAME",
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
