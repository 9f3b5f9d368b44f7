"""The changing state of a battle: its nodes and the record that holds it.

The record is canonical: what can no longer matter is zero, so two states with equal bytes are
one position, and its bytes are the key that a solver stores. It holds no score, no step
counter and no generator. What the scenario fixes stands in `wfb_gym.scenario.packed`.
"""

from enum import IntEnum
from typing import Any

import numpy as np

from wfb_gym.scenario.packed import (
    ARMIES,
    CONTACTS,
    ITEMS,
    MARK_WORDS,
    SPELLS,
    UNITS,
    WIZARDS,
)

Record = Any
"""A structured NumPy record (`np.record`), changed in place by compiled code."""


class Node(IntEnum):
    """Where the battle stands. Decisions come first, then chance, then what runs by itself."""

    END = 0
    # decisions of the active player
    NOMINATE = 1
    ITEM = 2
    RESERVE_DICE = 3
    POOL_DICE = 4
    KEEP_CASTING = 5
    # decisions of whoever dispels
    DISPEL = 6
    DISPEL_RESERVE = 7
    DISPEL_POOL = 8
    KEEP_DISPEL = 9
    # others
    FREE_SPELL = 10
    IN_PLAY = 11
    # decisions that only some scenarios know
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
    # steps that the engine takes by itself; no caller ever sees a state in one of them
    BEGIN_PHASE = 29
    GENERATE_DICE = 30
    MISCAST_EFFECTS = 31
    END_PHASE = 32
    STRIKES = 33
    SELECT_SPELLS = 34
    COMETS = 35
    STORED_DICE = 36
    STORING = 37


FIRST_DECISION = int(Node.NOMINATE)
LAST_DECISION = int(Node.STORE_DICE)
FIRST_CHANCE = int(Node.ROLL_CASTING)
LAST_CHANCE = int(Node.ROLL_SPELLS)
DECISIONS = LAST_DECISION - FIRST_DECISION + 1
COMMON_DECISIONS = int(Node.IN_PLAY) - FIRST_DECISION + 1
"""Decisions that every scenario knows come first."""


class Attempt(IntEnum):
    """What an attempt to dispel is made against."""

    NONE = 0
    CAST = 1
    FREE = 2
    IN_PLAY = 3


class Nature(IntEnum):
    """What the natural dice of the pending roll have settled, before any re-roll."""

    PLAIN = 0
    MISCAST = 1  # of a cast; of a dispel: two 1s
    IRRESISTIBLE = 2  # of a cast; of a dispel: two 6s where they dispel
    OPEN = 3  # a re-roll is under way that has the natural dice read again


class After(IntEnum):
    """Where a miscast leaves the phase."""

    CAST_AGAIN = 0
    IN_PLAY = 1
    PHASE_END = 2


class Back(IntEnum):
    """Where the battle goes on when a spell has struck."""

    NOMINATE = 0
    FREE_SPELL = 1
    MISCAST_ROW = 2
    COMETS = 3


STATE = np.dtype(
    [
        ("marked", "i8", (ARMIES, MARK_WORDS)),  # targets that keep the army's marks
        ("open", "i4"),  # bit s: the active army may still attempt its spell s this phase
        ("known", "i4", (ARMIES,)),  # bit s: spell s is not forgotten
        ("in_play", "i4", (ARMIES,)),
        ("fresh", "i4", (ARMIES,)),  # in play since this phase: not to be dispelled in it
        ("tried", "i4", (ARMIES,)),  # in play, and the mover has had his attempt this phase
        ("unit_wounds", "i2", (ARMIES, UNITS)),  # left in the unit; 0 is wiped out
        ("number", "i2"),  # number to match
        ("node", "i1"),
        ("mover", "i1"),  # army that decides, or whose dice are rolled
        ("active", "i1"),  # army whose phase it is
        ("phase", "i1"),
        ("power", "i1"),  # dice in the active army's shared pool
        ("dispel", "i1"),  # dice in the other army's pool
        ("spell", "i1"),  # 1 + spell being cast by the active army
        ("aim", "i1"),  # 1 + which of its aims
        ("cast_item", "i1"),  # 1 + item declared with the cast
        ("reserve", "i1"),  # own dice committed to the pending roll
        ("dice", "i1"),  # dice of the pending roll
        ("attempt", "i1"),  # Attempt
        ("declared", "i1"),  # bit i: item i boosts the pending dispel
        ("joined", "i1"),  # 1 + wizard whose own dice join the pending dispel
        ("target", "i1"),  # 1 + spell in play to dispel (army x SPELLS + spell)
        ("nature", "i1"),  # Nature of the pending roll
        ("row", "i1"),  # 1 + row of the miscast table
        ("cursor", "i1"),  # effects of the row that are done
        ("group", "i1"),  # groups in base contact that are done
        ("after", "i1"),  # After
        ("free", "i1"),  # 1 + the free spell of the other army
        ("free_aim", "i1"),  # 1 + which of its aims
        ("striking", "i1"),  # 1 + spell that strikes (army x SPELLS + spell)
        ("strike", "i1"),  # units and characters that it has struck
        ("radius", "i1"),  # inches that it reaches from its point, of a Comet
        ("back", "i1"),  # Back
        ("faces", "i1", (6,)),  # dice of the pending roll that may be re-rolled, by face
        ("held", "i1", (6,)),  # dice of the pending roll that have been re-rolled, by face
        ("items", "i1", (ARMIES, ITEMS)),  # uses left
        ("level", "i1", (ARMIES, WIZARDS)),
        ("wounds", "i1", (ARMIES, WIZARDS)),  # left; 0 is dead
        ("lock", "i1", (ARMIES, WIZARDS)),  # Lock, plus BARS_ITEMS
        ("own_dice", "i1", (WIZARDS,)),  # power dice that only this wizard may use
        ("contacts", "i1", (CONTACTS,)),  # models left in each group in base contact
        ("aims", "i1", (ARMIES, SPELLS)),  # 1 + aim of a spell in play
        ("markers", "i1", (ARMIES, WIZARDS)),  # on the Comet of this wizard
        ("spare", "i1", (6,)),  # padding that has no name is lost when NumPy copies
    ],
    align=True,
)

STATE_WORDS = STATE.itemsize // 8
"""64-bit words of a state."""

BARS_ITEMS = 8
"""Added to a wizard's lock while it bars his items too."""


def new_states(count: int) -> np.recarray[Any, Any]:
    """Zeroed states, shape (count,)."""
    return np.zeros(count, STATE).view(np.recarray)
