"""Attempts to dispel a spell just cast, a miscast's free spell or a spell in play (S0)."""

from wfb_gym._jit import int64, jit
from wfb_gym.engine.actions import FIRST_DICE, FIRST_IN_PLAY, FIRST_ITEM, FIRST_WIZARD, PASS
from wfb_gym.engine.miscasts import after_free_spell
from wfb_gym.engine.odds import DISPEL_CHANCE, dispel_need
from wfb_gym.engine.outcomes import OUTCOME_FAIL, OUTCOME_WORKS
from wfb_gym.engine.queries import (
    bit,
    clear_bits,
    declared_bonus,
    declared_uses,
    dispel_bonus,
    has_bound_use,
    last_phase,
    number_against,
    one_use,
    opponent_of,
    same_spell,
    split_spell,
)
from wfb_gym.engine.spells import end_spells, take_effect, take_effect_of_cast, use_item
from wfb_gym.engine.state import DispelAttempt, Node, ReturnTo, State
from wfb_gym.engine.targets import resistance
from wfb_gym.engine.turn_flow import canonicalize_unused, clear_roll, pass_in_play, to_nominate
from wfb_gym.packing.records import DispelUse, PackedScenario
from wfb_gym.scenario.sizes import DICE, SPELLS


@jit
def act_dispel(packed: PackedScenario, state: State, action: int) -> float:
    """Let the spell through, use or declare an item, name a wizard to add its dice, or roll."""
    if action == PASS:
        return apply_dispel_outcome(packed, state, OUTCOME_FAIL)
    if action >= FIRST_WIZARD:
        state.joined = action - FIRST_WIZARD + 1
        state.node = Node.DISPEL_RESERVE
        return 0.0
    if action >= FIRST_ITEM:
        item = action - FIRST_ITEM
        use_item(packed, state, state.mover, item)
        entry = packed.armies[state.mover].items[item]
        if entry.dispel_use == DispelUse.AUTOMATIC:
            if entry.forgotten_on and forgetting_matters(packed, state):
                state.declared += one_use(item)
                state.node = Node.ROLL_FORGET
                return 0.0
            return apply_dispel_outcome(packed, state, OUTCOME_WORKS)
        if entry.dispel_use == DispelUse.BOOST:
            state.declared += one_use(item)
            return 0.0
        raise AssertionError("this use of an item in a dispel is undefined")
    roll_dispel(packed, state, action - FIRST_DICE)
    return 0.0


@jit
def forgetting_matters(packed: PackedScenario, state: State) -> bool:
    """Return whether the spell could be cast again, so that forgetting it makes a difference."""
    if state.attempt == DispelAttempt.FREE:
        return True
    if state.attempt == DispelAttempt.CAST:
        army, spell = int64(state.active), int64(state.spell - 1)
        again = (state.castable & same_spell(packed, army, spell)) != 0
        if last_phase(packed, state) and not again:
            return False
        if not packed.armies[army].spells[spell].bound:
            return True
        return packed.destroys_bound != 0 and has_bound_use(packed, state, army, spell)
    raise AssertionError("no item dispels outright in this attempt")


@jit
def forgotten_on(packed: PackedScenario, state: State) -> int:
    """Return the D6 result on which the declared item makes the caster forget the spell."""
    number = 0
    for item in range(packed.armies[state.mover].n_items):
        if declared_uses(state, item):
            number = int(packed.armies[state.mover].items[item].forgotten_on)
    return number


@jit(forceinline=False)
def resolve_forget(packed: PackedScenario, state: State, forgotten: bool) -> float:
    """Dispel the spell with an item; its caster forgets it if `forgotten`."""
    if forgotten:
        if state.attempt == DispelAttempt.FREE:
            army = opponent_of(state.active)
            spells = same_spell(packed, army, int64(state.free - 1))
        elif state.attempt == DispelAttempt.CAST:
            army = int64(state.active)
            spells = same_spell(packed, army, int64(state.spell - 1))
            state.castable = clear_bits(state.castable, spells)
        else:
            raise AssertionError("no item dispels outright in this attempt")
        state.known[army] = clear_bits(state.known[army], spells)
    return apply_dispel_outcome(packed, state, OUTCOME_WORKS)


@jit
def act_dispel_reserve(state: State, action: int) -> None:
    """Add this many of the named wizard's own dice."""
    state.reserve = action - FIRST_DICE
    state.node = Node.DISPEL_POOL


@jit
def act_dispel_pool(packed: PackedScenario, state: State, action: int) -> None:
    """Add shared dice to a wizard's own dice and roll."""
    state.own_dice[state.joined - 1] -= state.reserve
    roll_dispel(packed, state, action - FIRST_DICE)


@jit
def roll_dispel(packed: PackedScenario, state: State, shared: int) -> None:
    """Spend the dice before they are rolled (S4), and add the Magic Resistance dice."""
    if state.mover == state.active:
        state.power -= shared
    else:
        state.dispel -= shared
    state.dice = min(DICE, shared + int(state.reserve) + resistance(packed, state))
    state.reserve = 0
    state.joined = 0
    state.node = Node.ROLL_DISPEL


@jit
def act_in_play(packed: PackedScenario, state: State, action: int) -> None:
    """Stop dispelling spells in play, or try to dispel one by matching its casting value."""
    if action == PASS:
        pass_in_play(packed, state)
        return
    index = action - FIRST_IN_PLAY
    army = int64(state.mover) if index < SPELLS else opponent_of(state.mover)
    target = army * SPELLS + index % SPELLS
    state.target = target + 1
    state.attempted[army] |= bit(index % SPELLS)
    state.number = number_against(packed, target)
    state.attempt = DispelAttempt.IN_PLAY
    state.node = Node.DISPEL


@jit
def bonus_to_dispel(packed: PackedScenario, state: State) -> int:
    """Return the bonus from permanent and declared items to the pending dispel roll."""
    army = int64(state.mover)
    return dispel_bonus(packed, state, army) + declared_bonus(packed, state, army)


@jit
def dispel_probability_of(packed: PackedScenario, state: State, dice: int) -> float:
    """Return the probability that the pending dispel succeeds with `dice` dice and no re-roll."""
    need = dispel_need(int(state.number), bonus_to_dispel(packed, state))
    return float(DISPEL_CHANCE[int(packed.dispel_double_six != 0), need, dice])


@jit(forceinline=False)
def apply_dispel_outcome(packed: PackedScenario, state: State, outcome: int) -> float:
    """Apply the outcome of the attempt: the spell takes effect, stays in play or ends."""
    dispelled = outcome == OUTCOME_WORKS
    points = 0.0
    if state.attempt == DispelAttempt.CAST:
        if not dispelled:
            points = take_effect_of_cast(packed, state, ReturnTo.NOMINATE.value)
        if state.striking == 0:
            to_nominate(packed, state)
        else:
            clear_roll(state)
    elif state.attempt == DispelAttempt.FREE:
        if not dispelled:
            enemy, back = opponent_of(state.active), ReturnTo.FREE_SPELL.value
            points = take_effect(packed, state, enemy, state.free - 1, state.free_aim, back)
        if state.striking == 0:
            after_free_spell(state)
        else:
            clear_roll(state)
    elif state.attempt == DispelAttempt.IN_PLAY:
        if dispelled:
            army, spell = split_spell(state.target - 1)
            end_spells(packed, state, army, bit(spell))
        clear_roll(state)
        state.node = Node.IN_PLAY
        canonicalize_unused(packed, state)
    else:
        raise AssertionError("this attempt to dispel is undefined")
    return points
