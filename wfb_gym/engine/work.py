"""Scratch space that the engine's operations pass around as one record.

It carries nothing from one call to the next but what the callee says it leaves there.
"""

from typing import Any

import numpy as np

from wfb_gym.engine.actions import ACTIONS
from wfb_gym.engine.state import STATE, STATE_WORDS
from wfb_gym.scenario.packed import CONTACT_MODELS, DICE

DICE_PER_HIT = 3
"""To wound, armour save, ward save: drawn for every model hit, read only as needed."""
MOST_FACES = max(DICE, DICE_PER_HIT * CONTACT_MODELS)
"""Most dice of one chance node."""

MOST_LAW = 512
"""Most chances of one law: every number of wounds that a unit can take, and none."""

WORK = np.dtype(
    [
        ("law", "f8", (MOST_LAW,)),  # chances of 0, 1, 2 ... wounds, from the front
        ("state", STATE),  # a copy to change at will
        ("key", "u8", (STATE_WORDS,)),  # of a position, from the front
        ("legal", "i2", (ACTIONS,)),  # legal actions, ascending, from the front
        ("faces", "i1", (MOST_FACES,)),  # the dice rolled last
    ],
    align=True,
)


def new_scratch(count: int = 1) -> np.recarray[Any, Any]:
    """Zeroed scratch records, shape (count,): one for each thread.

    Compiled code takes the array and reads a record from it: a record alone would not keep the
    memory alive.
    """
    return np.zeros(count, WORK).view(np.recarray)
