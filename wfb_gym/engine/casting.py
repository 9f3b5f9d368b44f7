"""Cast a spell: nominate it, declare an item, commit dice and apply the roll (S0, S2, S4).

`wfb_gym.engine.roll_results` reads the dice.
"""

from wfb_gym._jit import int64, jit
from wfb_gym.engine.actions import (
    FIRST_CAST,
    FIRST_DICE,
    FIRST_IN_PLAY,
    FIRST_ITEM,
    FIRST_TARGET,
    PASS,
)
from wfb_gym.engine.miscasts import begin_free_attempt
from wfb_gym.engine.outcomes import (
    OUTCOME_CAST,
    OUTCOME_FAIL,
    OUTCOME_IRRESISTIBLE,
    OUTCOME_MISCAST,
)
from wfb_gym.engine.queries import (
    bit,
    can_answer_cast,
    caster,
    caster_of,
    clear_bits,
    opponent_of,
    same_attempt,
)
from wfb_gym.engine.spells import end_remains_in_play, end_spells, take_effect_of_cast, use_item
from wfb_gym.engine.state import DispelAttempt, Node, ReturnTo, State
from wfb_gym.engine.targets import aim_at
from wfb_gym.engine.turn_flow import clear_roll, to_dispel_in_play, to_nominate
from wfb_gym.packing.records import PackedScenario
from wfb_gym.scenario.sizes import DICE


@jit
def act_nominate(packed: PackedScenario, state: State, action: int) -> float:
    """Stop casting, end one of the player's spells in play, or nominate a spell.

    Nominating a spell counts as attempting it: this uses up the spell and its group for the phase
    and ends the caster's spells that remain in play, even if the roll fails (S0; spell texts). A
    bound spell does not count as an attempt at one of its bearer's own spells (house rule C.77).
    """
    army = int64(state.active)
    if action == PASS:
        to_dispel_in_play(packed, state)
    elif action >= FIRST_IN_PLAY:
        end_spells(packed, state, army, bit(action - FIRST_IN_PLAY))
        to_nominate(packed, state)
    else:
        spell = action - FIRST_CAST
        state.spell = spell + 1
        state.castable = clear_bits(state.castable, same_attempt(packed, army, spell))
        if not packed.armies[army].spells[spell].bound:
            end_remains_in_play(packed, state, army, caster_of(packed, army, spell))
        if packed.armies[army].spells[spell].targeted:
            state.node = Node.TARGET
        else:
            return _to_cast(packed, state)
    return 0.0


@jit
def act_target(packed: PackedScenario, state: State, action: int) -> float:
    """Aim the nominated spell, or the opponent's free spell, before any dice (S0, S2, S4)."""
    code = action - FIRST_TARGET
    if state.free:
        state.free_aim = aim_at(packed, state.mover, state.free - 1, code) + 1
        begin_free_attempt(packed, state)
        return 0.0
    state.aim = aim_at(packed, state.active, state.spell - 1, code) + 1
    return _to_cast(packed, state)


@jit(forceinline=False)
def _to_cast(packed: PackedScenario, state: State) -> float:
    """Go to the first node of the cast that can offer a choice."""
    army = int64(state.active)
    if packed.armies[army].spells[state.spell - 1].bound:
        return _cast_bound(packed, state)
    if packed.armies[army].n_items:
        state.node = Node.ITEM
    else:
        to_dice(packed, state)
    return 0.0


@jit(forceinline=False)
def _cast_bound(packed: PackedScenario, state: State) -> float:
    """Cast a bound spell without a roll; its power level is the number to match."""
    army = int64(state.active)
    entry = packed.armies[army].spells[state.spell - 1]
    if entry.bound_in:
        use_item(packed, state, army, entry.bound_in - 1)
    if can_answer_cast(packed, state):
        return apply_cast_outcome(packed, state, OUTCOME_CAST + int(entry.casting_value))
    return apply_cast_outcome(packed, state, OUTCOME_IRRESISTIBLE)


@jit
def to_dice(packed: PackedScenario, state: State) -> None:
    """Go to the wizard's own dice if it has any, otherwise to the shared dice."""
    wizard = caster(packed, state)
    state.node = Node.RESERVE_DICE if state.own_dice[wizard] > 0 else Node.POOL_DICE


@jit
def act_item(packed: PackedScenario, state: State, action: int) -> None:
    """Declare an item for the cast, or no item."""
    if action != PASS:
        state.cast_item = action - FIRST_ITEM + 1
    to_dice(packed, state)


@jit
def act_reserve_dice(state: State, action: int) -> None:
    """Commit the wizard's own dice."""
    state.reserve = action - FIRST_DICE
    state.node = Node.POOL_DICE


@jit
def act_pool_dice(packed: PackedScenario, state: State, action: int) -> None:
    """Commit shared dice; all committed dice are spent now, even if the cast fails (S0, S2, S4)."""
    army = int64(state.active)
    wizard = caster(packed, state)
    dice = action - FIRST_DICE
    state.power -= dice
    state.own_dice[wizard] -= state.reserve
    state.dice = dice + int(state.reserve)
    state.reserve = 0
    if state.cast_item:
        item = state.cast_item - 1
        extra = int(packed.armies[army].items[item].cast_extra_dice)
        state.dice = min(DICE, int(state.dice) + extra)
        use_item(packed, state, army, item)
    state.node = Node.ROLL_CASTING


@jit
def cast_bonus(packed: PackedScenario, state: State) -> int:
    """Return the bonus from items to the pending casting roll."""
    army = int64(state.active)
    wizard = caster(packed, state)
    bonus = int(packed.armies[army].wizards[wizard].cast_bonus)
    if state.cast_item:
        bonus += int(packed.armies[army].items[state.cast_item - 1].cast_use_bonus)
    return bonus


@jit
def may_be_irresistible(packed: PackedScenario, state: State) -> bool:
    """Return whether the declared item, if any, allows irresistible force."""
    if state.cast_item == 0:
        return True
    return not packed.armies[state.active].items[state.cast_item - 1].cast_not_irresistible


@jit
def any_double_is_irresistible(packed: PackedScenario, state: State) -> bool:
    """Return whether any double makes the pending cast irresistible if it succeeds."""
    return packed.armies[state.active].wizards[caster(packed, state)].any_double != 0


@jit(forceinline=False)
def apply_cast_outcome(packed: PackedScenario, state: State, outcome: int) -> float:
    """Apply the outcome of a final casting roll; return the points that change hands."""
    clear_roll(state)
    state.cast_item = 0
    if outcome == OUTCOME_FAIL:
        to_nominate(packed, state)
        return 0.0
    if outcome == OUTCOME_MISCAST:
        state.node = Node.ROLL_MISCAST
        return 0.0
    if outcome == OUTCOME_IRRESISTIBLE:
        points = take_effect_of_cast(packed, state, ReturnTo.NOMINATE.value)
        if state.striking == 0:
            to_nominate(packed, state)
        return points
    state.number = outcome - OUTCOME_CAST
    state.attempt = DispelAttempt.CAST
    state.mover = opponent_of(state.active)
    state.node = Node.DISPEL
    return 0.0
