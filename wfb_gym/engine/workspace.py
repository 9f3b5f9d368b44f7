"""Scratch space that the engine's operations pass around as one record.

It carries nothing from one call to the next but what the callee says it leaves there.
"""

from typing import Annotated

import numpy as np
from numpy.typing import NDArray

from wfb_gym._records import Record, Records, dtype_of, new_records
from wfb_gym.engine.actions import ACTIONS
from wfb_gym.engine.state import STATE_WORDS, State
from wfb_gym.scenario.sizes import CONTACT_MODELS, DICE

DICE_PER_HIT = 3
"""To wound, armour save, ward save: drawn for every model hit, read only as needed."""
MOST_FACES = max(DICE, DICE_PER_HIT * CONTACT_MODELS)
"""Most dice of one chance node."""

MAX_PMF = 512
"""Most chances of one law: every number of wounds that a unit can take, and none."""


class WorkSpace(Record):
    """Scratch space of one thread."""

    pmf: Annotated[NDArray[np.float64], MAX_PMF]  # chances of 0, 1, 2 ... wounds, from the front
    state: State  # a copy to change at will
    key: Annotated[NDArray[np.uint64], STATE_WORDS]  # of a position, from the front
    legal: Annotated[NDArray[np.int16], ACTIONS]  # legal actions, ascending, from the front
    faces: Annotated[NDArray[np.int8], MOST_FACES]  # the dice rolled last


WORK_SPACE = dtype_of(WorkSpace)


def new_work_spaces(count: int = 1) -> Records[WorkSpace]:
    """Zeroed scratch records, shape (count,): one for each thread.

    Compiled code takes the array and reads a record from it: a record alone would not keep the
    memory alive.
    """
    return new_records(WorkSpace, count)
