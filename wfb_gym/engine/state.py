"""The changing state of a battle: its nodes and the record that holds it.

The record is canonical: what can no longer matter is zero, so two states with equal bytes are
one position, and its bytes are the key that a solver stores. It holds no score, no step
counter and no generator. What the scenario fixes stands in `wfb_gym.scenario.packed`.
"""

from enum import IntEnum
from typing import Any

import numpy as np

from wfb_gym.scenario.packed import ARMIES, CONTACTS, ITEMS, WIZARDS

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
    # chance
    ROLL_CASTING = 12
    REROLL_CASTING = 13
    ROLL_DISPEL = 14
    REROLL_DISPEL = 15
    ROLL_MISCAST = 16
    ROLL_HIT = 17
    ROLL_LOCK = 18
    # steps that the engine takes by itself; no caller ever sees a state in one of them
    BEGIN_PHASE = 19
    GENERATE_DICE = 20
    MISCAST_EFFECTS = 21
    END_PHASE = 22


FIRST_DECISION = int(Node.NOMINATE)
LAST_DECISION = int(Node.IN_PLAY)
FIRST_CHANCE = int(Node.ROLL_CASTING)
LAST_CHANCE = int(Node.ROLL_LOCK)
DECISIONS = LAST_DECISION - FIRST_DECISION + 1


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


STATE = np.dtype(
    [
        ("open", "i4"),  # bit s: the active army may still attempt its spell s this phase
        ("known", "i4", (ARMIES,)),  # bit s: spell s is not forgotten
        ("in_play", "i4", (ARMIES,)),
        ("fresh", "i4", (ARMIES,)),  # in play since this phase: not to be dispelled in it
        ("tried", "i4", (ARMIES,)),  # in play, and the mover has had his attempt this phase
        ("node", "i1"),
        ("mover", "i1"),  # army that decides, or whose dice are rolled
        ("active", "i1"),  # army whose phase it is
        ("phase", "i1"),
        ("power", "i1"),  # dice in the active army's shared pool
        ("dispel", "i1"),  # dice in the other army's pool
        ("spell", "i1"),  # 1 + spell being cast by the active army
        ("cast_item", "i1"),  # 1 + item declared with the cast
        ("reserve", "i1"),  # own dice committed to the pending roll
        ("dice", "i1"),  # dice of the pending roll
        ("attempt", "i1"),  # Attempt
        ("number", "i2"),  # number to match
        ("declared", "i1"),  # bit i: item i boosts the pending dispel
        ("joined", "i1"),  # 1 + wizard whose own dice join the pending dispel
        ("target", "i1"),  # 1 + spell in play to dispel (army x SPELLS + spell)
        ("nature", "i1"),  # Nature of the pending roll
        ("row", "i1"),  # 1 + row of the miscast table
        ("cursor", "i1"),  # effects of the row that are done
        ("group", "i1"),  # groups in base contact that are done
        ("after", "i1"),  # After
        ("free", "i1"),  # 1 + the free spell of the other army
        ("faces", "i1", (6,)),  # dice of the pending roll that may be re-rolled, by face
        ("held", "i1", (6,)),  # dice of the pending roll that have been re-rolled, by face
        ("items", "i1", (ARMIES, ITEMS)),  # uses left
        ("level", "i1", (ARMIES, WIZARDS)),
        ("wounds", "i1", (ARMIES, WIZARDS)),  # left; 0 is dead
        ("lock", "i1", (ARMIES, WIZARDS)),  # Lock, plus BARS_ITEMS
        ("own_dice", "i1", (WIZARDS,)),  # power dice that only this wizard may use
        ("contacts", "i1", (CONTACTS,)),  # models left in each group in base contact
    ],
    align=True,
)

BARS_ITEMS = 8
"""Added to a wizard's lock while it bars his items too."""


def new_states(count: int) -> np.recarray[Any, Any]:
    """Zeroed states, shape (count,)."""
    return np.zeros(count, STATE).view(np.recarray)
