"""The mutable state of a battle: its nodes and the record that holds them.

The record is canonical: data that can no longer matter is zeroed. Two states with equal bytes are
therefore the same position, and a solver uses the bytes as the key. The state does not include a
score, a step counter or a random generator. Data that is fixed by the scenario is in
`wfb_gym.packing.records`.

Code that branches on an enumeration, here or in `wfb_gym.packing.records`, lists every member
that can reach it and ends with `raise AssertionError("...")`, so a new member is never mistaken for
another. Tuples of members may replace chains of comparisons. If the table in
`wfb_gym.packing.effects` lacks a miscast effect, the import fails.
"""

from enum import IntEnum
from typing import Annotated

import numpy as np
from numpy.typing import NDArray

from wfb_gym._records import Int8, Int16, Int32, Int64, Record, Records, dtype_of, new_records
from wfb_gym.engine.actions import ACTIONS
from wfb_gym.rules.wounds import DICE_PER_HIT
from wfb_gym.scenario.sizes import (
    ARMIES,
    CONTACT_MODELS,
    CONTACTS,
    DICE,
    ITEMS,
    MARK_WORDS,
    SPELLS,
    UNITS,
    WIZARDS,
)


class Node(IntEnum):
    """A step in a battle. Decisions come first, then chance nodes, then automatic steps."""

    END = 0
    # decisions of the active player
    NOMINATE = 1
    ITEM = 2
    RESERVE_DICE = 3
    POOL_DICE = 4
    KEEP_CASTING = 5
    # decisions of the dispelling player
    DISPEL = 6
    DISPEL_RESERVE = 7
    DISPEL_POOL = 8
    KEEP_DISPEL = 9
    # others
    FREE_SPELL = 10
    IN_PLAY = 11
    # decisions that only some scenarios have
    TARGET = 12
    SWAP_SPELL = 13
    STORE_DICE = 14
    # chance
    ROLL_CASTING = 15
    REROLL_CASTING = 16
    ROLL_DISPEL = 17
    REROLL_DISPEL = 18
    ROLL_MISCAST = 19
    ROLL_HIT = 20
    ROLL_LOCK = 21
    ROLL_STRIKE = 22
    ROLL_WOUNDS = 23
    ROLL_FORGET = 24
    ROLL_COMET = 25
    ROLL_RADIUS = 26
    ROLL_STORED = 27
    ROLL_SPELLS = 28
    ROLL_HITS = 29
    ROLL_ODD_HIT = 30
    ROLL_RALLY = 31
    ROLL_PANIC = 32
    DEAL = 33  # of hidden items
    # automatic steps of the engine; callers never see a state at one of them
    BEGIN_PHASE = 34
    GENERATE_DICE = 35
    MISCAST_EFFECTS = 36
    END_PHASE = 37
    STRIKES = 38
    SELECT_SPELLS = 39
    COMETS = 40
    STORED_DICE = 41
    STORING = 42
    RALLY = 43
    PANIC = 44


FIRST_DECISION = int(Node.NOMINATE)
LAST_DECISION = int(Node.STORE_DICE)
FIRST_CHANCE = int(Node.ROLL_CASTING)
LAST_CHANCE = int(Node.DEAL)
DECISIONS = LAST_DECISION - FIRST_DECISION + 1
COMMON_DECISIONS = int(Node.IN_PLAY) - FIRST_DECISION + 1
"""Number of decisions that every scenario has; they come first."""


class DispelAttempt(IntEnum):
    """Kind of spell that the current dispel attempt targets."""

    NONE = 0
    CAST = 1
    FREE = 2
    IN_PLAY = 3


class AfterMiscast(IntEnum):
    """How the phase continues after a miscast."""

    CAST_AGAIN = 0
    IN_PLAY = 1
    PHASE_END = 2


class ReturnTo(IntEnum):
    """Node to continue from after a spell's strikes."""

    NOMINATE = 0
    FREE_SPELL = 1
    MISCAST_ROW = 2
    COMETS = 40


class OddHit(IntEnum):
    """Whether a character takes one of the odd hits on its small unit."""

    UNDECIDED = 0
    SPARED = 1
    STRUCK = 2


class State(Record):
    """A position in a battle."""

    declared: Int64  # uses of items declared with the pending dispel, DECLARED_BITS bits for each
    marks: Annotated[NDArray[np.int64], ARMIES, MARK_WORDS]  # bits of marked targets
    castable: Int32  # bit s: the active army may still attempt its spell s this phase
    known: Annotated[NDArray[np.int32], ARMIES]  # bit s: spell s is not forgotten
    in_play: Annotated[NDArray[np.int32], ARMIES]
    # came into play this phase, so it cannot be dispelled at the end of the phase
    new_in_play: Annotated[NDArray[np.int32], ARMIES]
    # in play, and the mover has already tried to dispel it this phase
    attempted: Annotated[NDArray[np.int32], ARMIES]
    # bit t: target t is fleeing; a character in a unit flees with its unit
    fleeing: Annotated[NDArray[np.int32], ARMIES]
    unit_wounds: Annotated[NDArray[np.int16], ARMIES, UNITS]  # left in the unit; 0: wiped out
    # models in the unit at the start of the phase; its starting number once a Panic test is
    # certain; 0 if no Panic test is possible
    phase_models: Annotated[NDArray[np.int16], ARMIES, UNITS]
    number: Int16  # number to match
    hits: Int16  # on a small unit, not allocated yet
    node: Int8
    mover: Int8  # army to move or roll dice
    active: Int8  # army whose phase it is
    phase: Int8
    power: Int8  # dice in the active army's shared pool
    dispel: Int8  # dice in the other army's pool
    spell: Int8  # 1 + spell being cast by the active army
    aim: Int8  # 1 + that spell's aim
    cast_item: Int8  # 1 + item declared with the cast
    reserve: Int8  # own dice committed to the pending roll
    dice: Int8  # number of dice in the pending roll
    attempt: Int8  # DispelAttempt
    joined: Int8  # 1 + wizard adding its own dice to the pending dispel
    target: Int8  # 1 + spell in play to dispel (army x SPELLS + spell)
    natural_result: Int8  # NaturalResult of the pending roll
    row: Int8  # 1 + row of the miscast table
    cursor: Int8  # effects in the miscast row already applied; also a position in other lists
    group: Int8  # groups in base contact, or wizards, already hit by a miscast
    after_miscast: Int8  # AfterMiscast
    free: Int8  # 1 + the other army's free spell
    free_aim: Int8  # 1 + the free spell's aim
    striking: Int8  # 1 + spell that is striking (army x SPELLS + spell)
    strike: Int8  # units and characters already struck by it
    member: Int8  # characters in a small unit that have taken their hits
    odd_hit: Int8  # `OddHit` for the next character
    radius: Int8  # reach of a landing Comet from its point, in inches
    return_to: Int8  # ReturnTo
    faces: Annotated[NDArray[np.int8], 6]  # dice in the pending roll that may be re-rolled, by face
    # dice in the pending roll that have been re-rolled, by face
    held: Annotated[NDArray[np.int8], 6]
    items: Annotated[NDArray[np.int8], ARMIES, ITEMS]  # uses left
    level: Annotated[NDArray[np.int8], ARMIES, WIZARDS]
    wounds: Annotated[NDArray[np.int8], ARMIES, WIZARDS]  # left; 0: dead
    # Lock, plus BARS_ITEMS if the wizard's items are barred too
    lock: Annotated[NDArray[np.int8], ARMIES, WIZARDS]
    own_dice: Annotated[NDArray[np.int8], WIZARDS]  # power dice that only this wizard may use
    contacts: Annotated[NDArray[np.int8], CONTACTS]  # models left in each group in base contact
    aims: Annotated[NDArray[np.int8], ARMIES, SPELLS]  # 1 + aim of a spell in play
    markers: Annotated[NDArray[np.int8], ARMIES, WIZARDS]  # markers on this wizard's Comet
    # 1 + set of hidden items that the army was dealt; 0 before the deal and without hidden items
    hidden_set: Annotated[NDArray[np.int8], ARMIES]
    emptied: Int8  # bit a: a miscast has emptied army a's hidden items that store dice


STATE = dtype_of(State)

DECLARED_BITS = 5
"""Bits of `State.declared` for each item, enough for `DICE` uses of it."""

STATE_WORDS = STATE.itemsize // 8
"""Number of 64-bit words in a state."""

BARS_ITEMS = 8
"""Added to a wizard's lock if the lock also bars the wizard's items."""


def declared_counts(declared: NDArray[np.int64]) -> NDArray[np.int64]:
    """Split many states' `State.declared`, (k,), into the uses of each item, (k, ITEMS)."""
    shifts = DECLARED_BITS * np.arange(ITEMS)
    return (declared[:, None] >> shifts) & ((1 << DECLARED_BITS) - 1)


def new_states(count: int) -> Records[State]:
    """Return zeroed states, shape (count,)."""
    return new_records(State, count)


MOST_FACES = max(DICE, DICE_PER_HIT * CONTACT_MODELS)
"""Maximum number of dice at one chance node."""

MAX_PMF = 512
"""Maximum number of entries in a distribution: each number of wounds of a unit, from 0."""


class WorkSpace(Record):
    """Scratch space for one thread."""

    pmf: Annotated[NDArray[np.float64], MAX_PMF]  # probabilities of 0, 1, 2 ... wounds
    state: State  # a copy of a state that may be changed
    key: Annotated[NDArray[np.uint64], STATE_WORDS]  # key of a position, starting at index 0
    legal: Annotated[NDArray[np.int16], ACTIONS]  # legal actions, ascending, starting at index 0
    faces: Annotated[NDArray[np.int8], MOST_FACES]  # the most recently rolled dice


def new_work_spaces(count: int = 1) -> Records[WorkSpace]:
    """Return zeroed scratch records, shape (count,): one per thread.

    Compiled code takes the array and reads a record from it, because a single record would not keep
    the memory alive.
    """
    return new_records(WorkSpace, count)
