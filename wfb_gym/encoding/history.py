"""Public history: each spell's last cast and the response, stored outside the position.

A position does not contain the past. With hidden items, however, the past is evidence about the
enemy. For example, an army that let a strong spell through probably has no scroll, or is saving it.
`note` is called with every position and action, and reads only public information. Dice results are
not recorded, because only choices depend on hidden items.
"""

from enum import IntEnum
from typing import Annotated

import numpy as np
from numpy import float32
from numpy.typing import NDArray

from wfb_gym._jit import int64, jit
from wfb_gym._records import Record, Records, dtype_of, new_records
from wfb_gym.encoding.fields import ArmyOffsets, LayoutOffsets
from wfb_gym.encoding.rows import DIE, NUMBER, ONE, Row, put
from wfb_gym.engine.actions import FIRST_ITEM, FIRST_WIZARD, PASS
from wfb_gym.engine.state import DispelAttempt, Node, State
from wfb_gym.packing.records import DispelUse, PackedScenario
from wfb_gym.scenario.sizes import ARMIES, SPELLS


class Answer(IntEnum):
    """Response to a cast, if it was not a dice roll (which is a positive number)."""

    NONE = 0  # no response yet, or the cast could not be dispelled
    LET_THROUGH = -1
    BY_ITEM = -2  # an item dispelled it without a roll


class History(Record):
    """Each spell's last cast in the battle."""

    dice: Annotated[NDArray[np.int8], ARMIES, SPELLS]  # dice rolled for it; 0 for a bound spell
    number: Annotated[NDArray[np.int16], ARMIES, SPELLS]  # needed to dispel it; 0 if impossible
    answer: Annotated[NDArray[np.int8], ARMIES, SPELLS]  # dice rolled to dispel it, or `Answer`


HISTORY = dtype_of(History)


def new_histories(count: int) -> Records[History]:
    """Return empty histories, shape (count,)."""
    return new_records(History, count)


@jit
def clear_history(history: History) -> None:
    """Reset a history at the start of a battle."""
    for army in range(ARMIES):
        for spell in range(SPELLS):
            history.dice[army, spell] = 0
            history.number[army, spell] = 0
            history.answer[army, spell] = Answer.NONE


@jit(forceinline=False)
def note(packed: PackedScenario, history: History, state: State, action: int) -> None:
    """Add a decision or a roll to a history.

    Args:
        packed: the scenario.
        history: the history, modified in place.
        state: the position before the decision or roll.
        action: engine code of the decision. Ignored for a roll.
    """
    if state.spell == 0:
        return
    army, spell = int64(state.active), int64(state.spell - 1)
    if state.node == Node.ROLL_CASTING:
        history.dice[army, spell] = state.dice
        history.number[army, spell] = 0
        history.answer[army, spell] = Answer.NONE
    elif state.attempt != DispelAttempt.CAST:
        return
    elif state.node == Node.ROLL_DISPEL:
        history.answer[army, spell] = state.dice
    elif state.node == Node.DISPEL:
        if state.declared == 0:
            history.number[army, spell] = state.number
            history.answer[army, spell] = Answer.NONE
        if action == PASS:
            history.answer[army, spell] = Answer.LET_THROUGH
        elif FIRST_ITEM <= action < FIRST_WIZARD:
            item = packed.armies[state.mover].items[action - FIRST_ITEM]
            if item.dispel_use == DispelUse.AUTOMATIC:
                history.answer[army, spell] = Answer.BY_ITEM


@jit(forceinline=False)
def write_history(
    packed: PackedScenario,
    history: History,
    army: int,
    at: LayoutOffsets,
    first: ArmyOffsets,
    row: Row,
) -> None:
    """Write the last casts of an army's spells and the responses to them."""
    spell = at.in_spell
    for s in range(packed.armies[army].n_spells):
        field = first.spells + s * spell.stride
        answer = int64(history.answer[army, s])
        put(row, field + spell.last_dice, float32(history.dice[army, s]) * DIE)
        put(row, field + spell.last_number, float32(history.number[army, s]) * NUMBER)
        if answer > 0:
            put(row, field + spell.answered_by_dice, float32(answer) * DIE)
        elif answer == Answer.LET_THROUGH:
            put(row, field + spell.let_through, ONE)
        elif answer == Answer.BY_ITEM:
            put(row, field + spell.answered_by_item, ONE)
