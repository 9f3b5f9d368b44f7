"""Read-only queries about wizards, items and dice in a state."""

from wfb_gym._intrinsics import trailing_zeros
from wfb_gym._jit import int64, jit
from wfb_gym.engine.hidden_items import is_emptied, uses_at_most
from wfb_gym.engine.state import (
    BARS_ITEMS,
    DECLARED_BITS,
    FIRST_CHANCE,
    FIRST_DECISION,
    LAST_CHANCE,
    LAST_DECISION,
    DispelAttempt,
    State,
)
from wfb_gym.engine.targets import flees, has_aim, resistance, resistance_to_cast
from wfb_gym.packing.records import DispelUse, Duration, Lock, PackedScenario, RerollKind
from wfb_gym.rules.casting import most_casting_dice
from wfb_gym.rules.dice import NaturalResult
from wfb_gym.scenario.sizes import DICE, NO_BEARER, SPELLS, UNITS


@jit
def bit(index: int) -> int:
    """Return the mask with only bit `index` set."""
    return int64(1) << int64(index)


@jit
def lowest_bit(mask: int) -> int:
    """Return the index of the lowest set bit of a mask that is not 0.

    Loops over the bits of a mask end with ``mask &= mask - 1``, which clears that bit.
    """
    return int64(trailing_zeros(int64(mask)))


@jit
def clear_bits(mask: int, bits: int) -> int:
    """Return `mask` with all of `bits` cleared."""
    return int64(mask) & ~int64(bits)


@jit
def opponent_of(army: int) -> int:
    """Return an army's opponent."""
    return int64(1 - army)


@jit
def gain(army: int, points: float) -> float:
    """Return the points that `army` wins, from the first army's perspective."""
    return points if army == 0 else -points


@jit
def last_phase(packed: PackedScenario, state: State) -> bool:
    """Return whether this is the last magic phase."""
    return state.phase + 1 >= packed.phases


@jit
def is_active(packed: PackedScenario, state: State, army: int, wizard: int) -> bool:
    """Return whether a character generates dice: alive, on the table (W7) and not fleeing (S0)."""
    return (
        packed.armies[army].wizards[wizard].on_table != 0
        and not flees(state, army, UNITS + wizard)
        and state.wounds[army, wizard] > 0
    )


@jit
def may_cast(packed: PackedScenario, state: State, army: int, wizard: int) -> bool:
    """Return whether a wizard may cast at all: active (S0, S2), with a level and not locked."""
    return (
        is_active(packed, state, army, wizard)
        and state.level[army, wizard] > 0
        and state.lock[army, wizard] == Lock.NONE
    )


@jit
def item_works(packed: PackedScenario, state: State, army: int, item: int) -> bool:
    """Return whether an item's permanent effects work; its bearer may flee (house rule C.6).

    If the item needs a bearer, the bearer must be alive, on the table and not barred. Hidden items
    that a miscast has emptied do not work.
    """
    if state.emptied and is_emptied(packed, state, army, item):
        return False
    bearer = packed.armies[army].items[item].bearer
    if bearer == NO_BEARER:
        return True
    return (
        packed.armies[army].wizards[bearer].on_table != 0
        and state.wounds[army, bearer] > 0
        and state.lock[army, bearer] < BARS_ITEMS
    )


@jit
def bearer_can_use(packed: PackedScenario, state: State, army: int, item: int) -> bool:
    """Return whether the item works and its bearer, if it needs one, is not fleeing."""
    bearer = packed.armies[army].items[item].bearer
    fled = bearer != NO_BEARER and flees(state, army, UNITS + bearer)
    return not fled and item_works(packed, state, army, item)


@jit
def has_use(packed: PackedScenario, state: State, army: int, item: int) -> bool:
    """Return whether an item has a use left and its bearer, if it needs one, can use it."""
    return state.items[army, item] > 0 and bearer_can_use(packed, state, army, item)


@jit
def may_have_use(packed: PackedScenario, state: State, army: int, item: int) -> bool:
    """Return `has_use` as publicly known: a hidden item counts if the army may have it."""
    return uses_at_most(packed, state, army, item) > 0 and bearer_can_use(packed, state, army, item)


@jit
def serves_cast(packed: PackedScenario, state: State, army: int, item: int, wizard: int) -> bool:
    """Return whether the item may help `wizard` cast: it belongs to the wizard or the army."""
    bearer = packed.armies[army].items[item].bearer
    return (bearer == NO_BEARER or bearer == wizard) and has_use(packed, state, army, item)


@jit
def may_serve_cast(packed: PackedScenario, state: State, army: int, item: int, wizard: int) -> bool:
    """Return `serves_cast` as publicly known: a hidden item counts if the army may have it."""
    bearer = packed.armies[army].items[item].bearer
    return (bearer == NO_BEARER or bearer == wizard) and may_have_use(packed, state, army, item)


@jit
def dispel_bonus(packed: PackedScenario, state: State, army: int) -> int:
    """Return the bonus from permanent items to each of the army's dispel rolls."""
    bonus = 0
    for item in range(packed.armies[army].n_items):
        extra = packed.armies[army].items[item].dispel_bonus
        if extra != 0 and item_works(packed, state, army, item):
            bonus += int(extra)
    return bonus


@jit
def one_use(item: int) -> int:
    """Return one use of the item, encoded as in `State.declared`; uses add up."""
    return bit(DECLARED_BITS * item)


@jit
def declared_uses(state: State, item: int) -> int:
    """Return the number of uses of the mover's item declared with the pending dispel (S0)."""
    return (int64(state.declared) >> DECLARED_BITS * int64(item)) & ((1 << DECLARED_BITS) - 1)


@jit
def declared_bonus(packed: PackedScenario, state: State, army: int) -> int:
    """Return the bonus from the items declared with the pending dispel."""
    bonus = 0
    if state.declared == 0:
        return bonus
    for item in range(packed.armies[army].n_items):
        uses = declared_uses(state, item)
        if uses:
            bonus += uses * int(packed.armies[army].items[item].dispel_use_bonus)
    return bonus


@jit
def caster_of(packed: PackedScenario, army: int, spell: int) -> int:
    """Return the wizard that owns the spell."""
    return int64(packed.armies[army].spells[spell].wizard)


@jit
def caster(packed: PackedScenario, state: State) -> int:
    """Return the wizard that is casting the current spell."""
    return caster_of(packed, int64(state.active), state.spell - 1)


@jit
def split_spell(code: int) -> tuple[int, int]:
    """Split a code, army x SPELLS + spell, into the army and the spell."""
    return int64(code) // SPELLS, int64(code) % SPELLS


@jit
def dice_cap(packed: PackedScenario, state: State, army: int, wizard: int) -> int:
    """Return the maximum number of power dice for the wizard's spells, excluding items' dice."""
    cap = most_casting_dice(int64(state.level[army, wizard]))
    return min(DICE, cap + int(packed.armies[army].wizards[wizard].extra_dice_cap))


@jit
def is_barred(packed: PackedScenario, state: State, army: int, spell: int) -> bool:
    """Return whether a spell in play prevents casting this one again (S4)."""
    return bool((packed.armies[army].spells[spell].barred_by & state.in_play[army]) != 0)


@jit
def can_nominate(packed: PackedScenario, state: State, spell: int) -> bool:
    """Return whether the active army may attempt its spell now.

    A spell is castable while its wizard may cast and has dice. A spell that needs a target also
    needs a legal aim.
    """
    barred = is_barred(packed, state, int64(state.active), spell)
    return not barred and can_attempt(packed, state, spell)


@jit
def can_attempt(packed: PackedScenario, state: State, spell: int) -> bool:
    """Return `can_nominate`, ignoring spells in play that bar the spell."""
    army = int64(state.active)
    return (
        (state.castable & bit(spell)) != 0
        and has_aim(packed, state, army, spell)
        and has_bound_use(packed, state, army, spell)
    )


@jit
def same_spell(packed: PackedScenario, army: int, spell: int) -> int:
    """Return a mask of the spell's slots: its caster forgets all of them with the spell."""
    entry = packed.armies[army].spells[spell]
    wizard = packed.armies[army].wizards[entry.wizard]
    return int64(entry.namesakes & (wizard.bound if entry.bound else wizard.spells))


@jit
def same_attempt(packed: PackedScenario, army: int, spell: int) -> int:
    """Return a mask of the spells that an attempt at the spell spends for the phase."""
    group = packed.armies[army].spells[spell].group
    if group == 0:
        return bit(spell)
    return _spells_in_group(packed, army, int64(group))


@jit(forceinline=False)
def _spells_in_group(packed: PackedScenario, army: int, group: int) -> int:
    spells = int64(0)
    for spell in range(packed.armies[army].n_spells):
        if packed.armies[army].spells[spell].group == group:
            spells |= bit(spell)
    return spells


@jit
def is_previous_cast_in(packed: PackedScenario, army: int, spell: int, mask: int) -> bool:
    """Return whether `mask` has the slot of the spell's previous cast, which comes first."""
    previous = packed.armies[army].spells[spell].copy_of
    return previous != 0 and (mask & bit(previous - 1)) != 0


@jit
def has_bound_use(packed: PackedScenario, state: State, army: int, spell: int) -> bool:
    """Return whether a bound spell's item has a use left; True if its uses are unlimited."""
    item = packed.armies[army].spells[spell].bound_in
    return item == 0 or state.items[army, item - 1] > 0


@jit
def can_cast_free(
    packed: PackedScenario, state: State, army: int, spell: int, highest: int
) -> bool:
    """Return whether `army` may take its spell as a miscast's free spell."""
    return (
        (state.known[army] & bit(spell)) != 0
        and not packed.armies[army].spells[spell].bound
        and not is_previous_cast_in(packed, army, spell, int64(state.known[army]))
        and packed.armies[army].spells[spell].casting_value <= highest
        and has_aim(packed, state, army, spell)
        and not is_barred(packed, state, army, spell)
        and may_cast(packed, state, army, caster_of(packed, army, spell))
    )


@jit
def later_spells(state: State, army: int) -> int:
    """Return the mask of the army's spells in play that the mover may still try to dispel.

    They came into play in earlier phases, and the mover has not tried to dispel them in this phase.
    """
    return clear_bits(
        clear_bits(state.in_play[army], state.new_in_play[army]), state.attempted[army]
    )


@jit
def can_dispel_later(packed: PackedScenario, state: State, army: int, spell: int) -> bool:
    """Return whether the mover may try to dispel the army's spell from an earlier phase (S0)."""
    if not later_spells(state, army) & bit(spell):
        return False
    duration = packed.armies[army].spells[spell].duration
    if duration == Duration.ONE_TURN:
        return packed.dispel_one_turn != 0
    if duration == Duration.REMAINS_IN_PLAY or duration == Duration.DELAYED:
        return True
    raise AssertionError("no spell of this duration is in play")


@jit
def pool_of(state: State, army: int) -> int:
    """Return an army's shared dice: power dice in its own phase, otherwise dispel dice."""
    return int(state.power) if army == state.active else int(state.dispel)


@jit
def attempt_pool(state: State) -> int:
    """Return the shared dice that the mover may use to dispel."""
    return pool_of(state, state.mover)


@jit
def has_dispel_dice(packed: PackedScenario, state: State) -> bool:
    """Return whether the mover has any dice to dispel with."""
    if attempt_pool(state) > 0 or resistance(packed, state) > 0:
        return True
    if state.mover == state.active:
        for wizard in range(packed.armies[state.active].n_wizards):
            if state.own_dice[wizard] > 0:
                return True
    return False


@jit
def dispels_outright(packed: PackedScenario, state: State, army: int, item: int) -> bool:
    """Return whether the item can stop, without a roll, a spell that has just been cast."""
    return packed.armies[army].items[item].dispel_use == DispelUse.AUTOMATIC and has_use(
        packed, state, army, item
    )


@jit
def highest_dispel(packed: PackedScenario, state: State) -> int:
    """Return a number that the total of the inactive army's dispel roll cannot reach.

    Casting results at or above this number are equivalent. Hidden items count if the army may have
    them.
    """
    army = opponent_of(state.active)
    bonus = dispel_bonus(packed, state, army)
    for item in range(packed.armies[army].n_items):
        uses = uses_at_most(packed, state, army, item)
        if uses > 0:
            bonus += uses * max(0, int(packed.armies[army].items[item].dispel_use_bonus))
    dice = int(state.dispel) + resistance_to_cast(packed, state)
    return 6 * dice + bonus + 1


@jit
def can_answer_cast(packed: PackedScenario, state: State) -> bool:
    """Return whether the inactive army can, or with hidden items might, try to stop a spell."""
    if state.dispel > 0 or resistance_to_cast(packed, state) > 0:
        return True
    army = opponent_of(state.active)
    for item in range(packed.armies[army].n_items):
        outright = packed.armies[army].items[item].dispel_use == DispelUse.AUTOMATIC
        if outright and may_have_use(packed, state, army, item):
            return True
    return False


@jit
def reroll_item(packed: PackedScenario, state: State, all_dice: int, natural_result: int) -> int:
    """Return the mover's first item that may re-roll the pending dice, or -1.

    A cast is re-rolled by an item of its caster or of the army. A dispel is re-rolled by an item
    that was declared before the dice (S0). If the natural dice have decided the roll, the item
    needs `changes_natural` (S4).

    Args:
        packed: the scenario.
        state: the position.
        all_dice: 1 to re-roll all dice, 0 to re-roll one.
        natural_result: `NaturalResult` of the dice.
    """
    army = int64(state.active if state.attempt == DispelAttempt.NONE else state.mover)
    if not packed.armies[army].rerolls:
        return -1
    return _reroll_item(packed, state, army, all_dice, natural_result, False)


@jit(forceinline=False)
def _reroll_item(
    packed: PackedScenario,
    state: State,
    army: int,
    all_dice: int,
    natural_result: int,
    may_be_hidden: bool,
) -> int:
    """Return `reroll_item` for an army that has or may have items that re-roll."""
    casting = state.attempt == DispelAttempt.NONE
    for item in range(packed.armies[army].n_items):
        entry = packed.armies[army].items[item]
        reroll = entry.reroll_cast if casting else entry.reroll_dispel
        if reroll == RerollKind.NONE:
            continue
        if reroll != RerollKind.ONE and reroll != RerollKind.ALL:
            raise AssertionError("this re-roll is undefined")
        takes_all = reroll == RerollKind.ALL or (casting and packed.reroll_all_dice != 0)
        if takes_all != (all_dice == 1):
            continue
        if natural_result != NaturalResult.PLAIN and not entry.changes_natural:
            continue
        if casting:
            wizard = caster(packed, state)
            if may_be_hidden:
                serves = may_serve_cast(packed, state, army, item, wizard)
            else:
                serves = serves_cast(packed, state, army, item, wizard)
            if serves:
                return item
        elif declared_uses(state, item):
            return item
    return -1


@jit
def can_reroll(packed: PackedScenario, state: State, natural_result: int) -> bool:
    """Return whether an item that the mover has, or may have, could re-roll the pending dice."""
    army = int64(state.active if state.attempt == DispelAttempt.NONE else state.mover)
    if not packed.armies[army].rerolls:
        return False
    return (
        _reroll_item(packed, state, army, int64(0), natural_result, True) >= 0
        or _reroll_item(packed, state, army, int64(1), natural_result, True) >= 0
    )


@jit
def number_against(packed: PackedScenario, target: int) -> int:
    """Return the number to match to dispel a spell in play: its casting value (S0)."""
    army, spell = split_spell(target)
    return int(packed.armies[army].spells[spell].casting_value)


@jit
def is_decision(node: int) -> bool:
    """Return whether this is a decision node."""
    return FIRST_DECISION <= node <= LAST_DECISION


@jit
def is_chance(node: int) -> bool:
    """Return whether this is a chance node."""
    return FIRST_CHANCE <= node <= LAST_CHANCE
