"""Cast a spell: nominate it, declare an item, commit dice, read the roll (S0, S2, S4)."""

import numpy as np
from numpy.typing import NDArray

from wfb_gym._jit import int64, jit
from wfb_gym.engine import actions as _actions
from wfb_gym.engine.miscasts import begin_free_attempt
from wfb_gym.engine.phases import clear_roll, to_in_play, to_nominate
from wfb_gym.engine.queries import (
    bit,
    can_answer_cast,
    caster_of,
    highest_dispel,
    other,
    without,
)
from wfb_gym.engine.rolls import (
    FIRST_TOTAL,
    OUTCOME_FAIL,
    OUTCOME_IRRESISTIBLE,
    OUTCOME_MISCAST,
    READING_CHANCE,
    READING_ONES,
    READING_SIXES,
    READING_START,
    READING_TOTAL,
    has_double,
)
from wfb_gym.engine.spells import end_remaining, end_spells, take_effect, use_item
from wfb_gym.engine.state import Attempt, Back, Nature, Node, Record
from wfb_gym.engine.targets import aim_at
from wfb_gym.rules.casting import Casting, casting_outcome, is_cast
from wfb_gym.scenario.packed import DICE

PASS = _actions.PASS
FIRST_DICE = _actions.FIRST_DICE
FIRST_ITEM = _actions.FIRST_ITEM
FIRST_CAST = _actions.FIRST_CAST
FIRST_IN_PLAY = _actions.FIRST_IN_PLAY
FIRST_TARGET = _actions.FIRST_TARGET


@jit
def act_nominate(table: Record, state: Record, action: int) -> float:
    """Stop casting, end an own spell in play, or nominate a spell.

    An attempt counts from here: it uses up the spell for this phase, and ends what the wizard
    keeps in play, whatever the dice say (S0; spell texts). A bound spell is no attempt of its
    bearer's at a spell of his own (ours).
    """
    army = int64(state.active)
    if action == PASS:
        to_in_play(table, state)
    elif action >= FIRST_IN_PLAY:
        end_spells(table, state, army, bit(action - FIRST_IN_PLAY))
        to_nominate(table, state)
    else:
        spell = action - FIRST_CAST
        state.spell = spell + 1
        state.open = without(state.open, bit(spell))
        if not table.armies[army].spells[spell].bound:
            end_remaining(table, state, army, caster_of(table, army, spell))
        if table.armies[army].spells[spell].targeted:
            state.node = Node.TARGET
        else:
            return float(_to_cast(table, state))
    return 0.0


@jit
def act_target(table: Record, state: Record, action: int) -> float:
    """Aim the nominated spell, or the other army's free spell, before any dice (S0, S2, S4)."""
    code = action - FIRST_TARGET
    if state.free:
        state.free_aim = aim_at(table, state.mover, state.free - 1, code) + 1
        begin_free_attempt(table, state)
        return 0.0
    state.aim = aim_at(table, state.active, state.spell - 1, code) + 1
    return float(_to_cast(table, state))


@jit(forceinline=False)
def _to_cast(table: Record, state: Record) -> float:
    """Go straight to the first node that can offer a choice."""
    army = int64(state.active)
    if table.armies[army].spells[state.spell - 1].bound:
        return float(_cast_bound(table, state))
    if table.armies[army].n_items:
        state.node = Node.ITEM
    else:
        to_dice(table, state)
    return 0.0


@jit(forceinline=False)
def _cast_bound(table: Record, state: Record) -> float:
    """A bound spell needs no dice and no roll; its power level is the number to match."""
    army = int64(state.active)
    entry = table.armies[army].spells[state.spell - 1]
    if entry.bound_in:
        use_item(table, state, army, entry.bound_in - 1)
    if can_answer_cast(table, state):
        return float(settle_cast(table, state, FIRST_TOTAL + int(entry.casting_value)))
    return float(settle_cast(table, state, OUTCOME_IRRESISTIBLE))


@jit
def to_dice(table: Record, state: Record) -> None:
    """Dice of the wizard's own come first, where he has any."""
    wizard = caster_of(table, int64(state.active), state.spell - 1)
    state.node = Node.RESERVE_DICE if state.own_dice[wizard] > 0 else Node.POOL_DICE


@jit
def act_item(table: Record, state: Record, action: int) -> None:
    """Declare an item with the cast, or none."""
    if action != PASS:
        state.cast_item = action - FIRST_ITEM + 1
    to_dice(table, state)


@jit
def act_reserve_dice(state: Record, action: int) -> None:
    """Commit the wizard's own dice."""
    state.reserve = action - FIRST_DICE
    state.node = Node.POOL_DICE


@jit
def act_pool_dice(table: Record, state: Record, action: int) -> None:
    """Commit shared dice: all that are committed are spent now, cast or not (S0, S2, S4)."""
    army = int64(state.active)
    wizard = caster_of(table, army, state.spell - 1)
    dice = action - FIRST_DICE
    state.power -= dice
    state.own_dice[wizard] -= state.reserve
    state.dice = dice + int(state.reserve)
    state.reserve = 0
    if state.cast_item:
        item = state.cast_item - 1
        extra = int(table.armies[army].items[item].cast_extra_dice)
        state.dice = min(DICE, int(state.dice) + extra)
        use_item(table, state, army, item)
        if table.armies[army].items[item].ends_own_spells:
            end_remaining(table, state, army, wizard)
    state.node = Node.ROLL_CASTING


@jit
def cast_bonus(table: Record, state: Record) -> int:
    """What items add to the pending casting roll."""
    army = int64(state.active)
    wizard = caster_of(table, army, state.spell - 1)
    bonus = int(table.armies[army].wizards[wizard].cast_bonus)
    if state.cast_item:
        bonus += int(table.armies[army].items[state.cast_item - 1].cast_use_bonus)
    return bonus


@jit
def may_be_irresistible(table: Record, state: Record) -> bool:
    """Whether no declared item forbids irresistible force."""
    if state.cast_item == 0:
        return True
    return not table.armies[state.active].items[state.cast_item - 1].cast_not_irresistible


@jit
def nature_of_cast(
    table: Record, state: Record, ones: int, sixes: int, natural: int, handful: int
) -> int:
    """What the natural dice of the pending cast settle."""
    value = int(table.armies[state.active].spells[state.spell - 1].casting_value)
    bonus = cast_bonus(table, state)
    allowed = may_be_irresistible(table, state)
    casting = casting_outcome(ones, sixes, natural, bonus, value, allowed)
    if casting == Casting.MISCAST or casting == Casting.IRRESISTIBLE:
        return _plain_nature(casting)
    if allowed and casting == Casting.CAST and doubles_count(table, state):
        if has_double(handful):
            return Nature.IRRESISTIBLE.value
    return Nature.PLAIN.value


@jit
def _plain_nature(casting: int) -> int:
    """Nature of a casting roll by what it reads."""
    if casting == Casting.MISCAST:
        return Nature.MISCAST.value
    if casting == Casting.IRRESISTIBLE:
        return Nature.IRRESISTIBLE.value
    return Nature.PLAIN.value


@jit
def doubles_count(table: Record, state: Record) -> bool:
    """Whether any double of the pending cast is irresistible, if the spell is cast."""
    if state.attempt != Attempt.NONE or state.spell == 0:
        return False
    wizard = caster_of(table, int64(state.active), state.spell - 1)
    return table.armies[state.active].wizards[wizard].any_double != 0


@jit
def final_cast_outcome(table: Record, state: Record, nature: int, natural: int) -> int:
    """Outcome of a casting roll that stands.

    Results that the inactive army cannot tell apart are one outcome.
    """
    value = int(table.armies[state.active].spells[state.spell - 1].casting_value)
    return int(
        _standing(
            nature,
            natural,
            value,
            cast_bonus(table, state),
            can_answer_cast(table, state),
            highest_dispel(table, state),
        )
    )


@jit
def _standing(
    nature: int, natural: int, value: int, bonus: int, answered: bool, highest: int
) -> int:
    if nature == Nature.MISCAST:
        return OUTCOME_MISCAST
    if nature == Nature.IRRESISTIBLE:
        return OUTCOME_IRRESISTIBLE
    if not is_cast(natural, bonus, value):
        return OUTCOME_FAIL
    if not answered:
        return OUTCOME_IRRESISTIBLE
    return FIRST_TOTAL + min(natural + bonus, highest)


@jit(forceinline=False)
def add_cast_chances(table: Record, state: Record, merged: NDArray[np.float64]) -> None:
    """Add the chance of each outcome of a cast to `merged`, where no faces need be told apart.

    Reading by reading it is what `nature_of_cast` and `final_cast_outcome` say, with whatever
    does not depend on the dice asked once.

    Args:
        table: the scenario.
        state: at `Node.ROLL_CASTING`; no double counts and nothing can be re-rolled.
        merged: float64 (READINGS,) or longer, by outcome.
    """
    value = int(table.armies[state.active].spells[state.spell - 1].casting_value)
    bonus = cast_bonus(table, state)
    allowed = may_be_irresistible(table, state)
    answered = can_answer_cast(table, state)
    highest = highest_dispel(table, state)
    dice = int(state.dice)
    for reading in range(READING_START[dice], READING_START[dice + 1]):
        natural = READING_TOTAL[reading]
        casting = casting_outcome(
            READING_ONES[reading], READING_SIXES[reading], natural, bonus, value, allowed
        )
        nature = _plain_nature(casting)
        outcome = _standing(nature, natural, value, bonus, answered, highest)
        merged[outcome] += READING_CHANCE[reading]


@jit(forceinline=False)
def settle_cast(table: Record, state: Record, outcome: int) -> float:
    """A casting roll stands."""
    clear_roll(state)
    state.cast_item = 0
    if outcome == OUTCOME_FAIL:
        to_nominate(table, state)
        return 0.0
    if outcome == OUTCOME_MISCAST:
        state.node = Node.ROLL_MISCAST
        return 0.0
    if outcome == OUTCOME_IRRESISTIBLE:
        points = take_effect(
            table, state, state.active, state.spell - 1, state.aim, Back.NOMINATE.value
        )
        if state.striking == 0:
            to_nominate(table, state)
        return points
    state.number = outcome - FIRST_TOTAL
    state.attempt = Attempt.CAST
    state.mover = other(state.active)
    state.node = Node.DISPEL
    return 0.0
