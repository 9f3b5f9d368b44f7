"""Random battles: legal scenarios of two armies on a table, each from a seed.

`generate` makes one, `Generation` says what it is to be like. `Generated` names many at once, of
the seeds for training or of those for tests, which share none. Scenarios are checked as any
other; nothing here plays or packs them.
"""

from wfb_gym.generating.making import generate, spent
from wfb_gym.generating.options import Generation, Sizes
from wfb_gym.generating.pools import TEST_SEEDS, TRAIN_SEEDS, Generated, seeds

__all__ = [
    "TEST_SEEDS",
    "TRAIN_SEEDS",
    "Generated",
    "Generation",
    "Sizes",
    "generate",
    "seeds",
    "spent",
]
