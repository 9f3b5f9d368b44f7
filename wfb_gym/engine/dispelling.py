"""Attempt to dispel: a spell just cast, a miscast's free spell, or a spell in play (S0)."""

from wfb_gym._jit import int64, jit
from wfb_gym.engine import actions as _actions
from wfb_gym.engine.miscasts import after_free_spell
from wfb_gym.engine.phases import clear_roll, pass_in_play, tidy, to_nominate
from wfb_gym.engine.queries import (
    bit,
    declared_bonus,
    dispel_bonus,
    number_against,
    other,
)
from wfb_gym.engine.rolls import OUTCOME_FAIL, OUTCOME_WORKS
from wfb_gym.engine.spells import end_spells, take_effect, use_item
from wfb_gym.engine.state import Attempt, Nature, Node, Record
from wfb_gym.rules.dice import double
from wfb_gym.rules.dispelling import is_dispelled
from wfb_gym.scenario.packed import SPELLS, DispelUse

PASS = _actions.PASS
FIRST_DICE = _actions.FIRST_DICE
FIRST_ITEM = _actions.FIRST_ITEM
FIRST_WIZARD = _actions.FIRST_WIZARD
FIRST_IN_PLAY = _actions.FIRST_IN_PLAY


@jit
def act_dispel(table: Record, state: Record, action: int) -> float:
    """Let it through, use or declare an item, name a wizard whose own dice join, or roll."""
    if action == PASS:
        return settle_dispel(table, state, OUTCOME_FAIL)
    if action >= FIRST_WIZARD:
        state.joined = action - FIRST_WIZARD + 1
        state.node = Node.DISPEL_RESERVE
        return 0.0
    if action >= FIRST_ITEM:
        item = action - FIRST_ITEM
        use_item(table, state, state.mover, item)
        if table.armies[state.mover].items[item].dispel_use == DispelUse.AUTOMATIC:
            return settle_dispel(table, state, OUTCOME_WORKS)
        state.declared |= bit(item)
        return 0.0
    roll_dispel(state, action - FIRST_DICE)
    return 0.0


@jit
def act_dispel_reserve(state: Record, action: int) -> None:
    """The named wizard adds this many of his own dice."""
    state.reserve = action - FIRST_DICE
    state.node = Node.DISPEL_POOL


@jit
def act_dispel_pool(state: Record, action: int) -> None:
    """Shared dice on top of a wizard's own."""
    state.own_dice[state.joined - 1] -= state.reserve
    roll_dispel(state, action - FIRST_DICE)


@jit
def roll_dispel(state: Record, shared: int) -> None:
    """All dice rolled are spent, whatever they show (S4)."""
    if state.mover == state.active:
        state.power -= shared
    else:
        state.dispel -= shared
    state.dice = shared + int(state.reserve)
    state.reserve = 0
    state.joined = 0
    state.node = Node.ROLL_DISPEL


@jit
def act_in_play(table: Record, state: Record, action: int) -> None:
    """Be done with the spells in play, or try to dispel one: its casting value is to match."""
    if action == PASS:
        pass_in_play(state)
        return
    index = action - FIRST_IN_PLAY
    army = int64(state.mover) if index < SPELLS else other(state.mover)
    target = army * SPELLS + index % SPELLS
    state.target = target + 1
    state.tried[army] |= bit(index % SPELLS)
    state.number = number_against(table, target)
    state.attempt = Attempt.IN_PLAY
    state.node = Node.DISPEL


@jit
def nature_of_dispel(table: Record, ones: int, sixes: int) -> int:
    """What the natural dice of a dispel settle: two 1s, or two 6s where they count."""
    if double(ones):
        return Nature.MISCAST.value
    if table.dispel_double_six and double(sixes):
        return Nature.IRRESISTIBLE.value
    return Nature.PLAIN.value


@jit
def final_dispel_outcome(table: Record, state: Record, nature: int, natural: int) -> int:
    """Outcome of a dispel roll that stands."""
    army = int64(state.mover)
    bonus = dispel_bonus(table, state, army) + declared_bonus(table, state, army)
    ones = 2 if nature == Nature.MISCAST else 0
    sixes = 2 if nature == Nature.IRRESISTIBLE else 0
    number = int(state.number)
    if is_dispelled(ones, sixes, natural, bonus, number, table.dispel_double_six != 0):
        return OUTCOME_WORKS
    return OUTCOME_FAIL


@jit(forceinline=False)
def settle_dispel(table: Record, state: Record, outcome: int) -> float:
    """The attempt is over, for better or worse."""
    dispelled = outcome == OUTCOME_WORKS
    points = 0.0
    if state.attempt == Attempt.CAST:
        if not dispelled:
            points = take_effect(table, state, state.active, state.spell - 1)
        to_nominate(table, state)
    elif state.attempt == Attempt.FREE:
        if not dispelled:
            points = take_effect(table, state, other(state.active), state.free - 1)
        after_free_spell(state)
    else:
        if dispelled:
            target = state.target - 1
            end_spells(state, target // SPELLS, bit(target % SPELLS))
        clear_roll(state)
        state.node = Node.IN_PLAY
        tidy(table, state)
    return points
