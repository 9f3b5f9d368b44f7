"""Heuristics for the scripted players: chances of rolls, and a rule for each kind of decision.

Both greedy and veteran choose the target with the highest expected points, swap their least
valuable spell for the first spell of its lore if that one is more valuable, and store as many dice
as an item can hold. `wfb_gym.opponents.values` computes the values of spells.
"""

from wfb_gym._jit import int64, jit
from wfb_gym.engine import actions, queries, targets
from wfb_gym.engine.casting import cast_bonus, may_be_irresistible
from wfb_gym.engine.dispelling import dispel_probability_of
from wfb_gym.engine.odds import BEST_CAST_CHANCE, CAST_CHANCES, cast_need
from wfb_gym.engine.outcomes import OUTCOME_FAIL
from wfb_gym.engine.roll_results import outcome_if_kept
from wfb_gym.engine.state import DispelAttempt, Node, State, WorkSpace
from wfb_gym.opponents.values import (
    greatest_open_threat,
    later_points,
    pending_threat,
    value_if_cast,
    value_with_flight,
)
from wfb_gym.packing.records import DispelUse, PackedScenario
from wfb_gym.scenario.sizes import DICE, ITEMS, SPELLS, WIZARDS

LIKELY = 0.6
"""Probability of success that satisfies the veteran."""
POINTS_PER_DIE = 3.5
"""Mean of a D6, used to estimate how many dice a number needs."""


# --- probabilities of rolls ---------------------------------------------------------------------


@jit
def need_of(packed: PackedScenario, army: int, spell: int) -> int:
    """Return a spell's row in the chance tables when its wizard casts it without items."""
    bonus = int(packed.armies[army].wizards[queries.caster_of(packed, army, spell)].cast_bonus)
    return int(cast_need(int(packed.armies[army].spells[spell].casting_value), bonus))


@jit
def dice_for_cast(packed: PackedScenario, state: State, army: int, spell: int) -> int:
    """Return the maximum dice that the active army can roll for a spell now, without items."""
    wizard = queries.caster_of(packed, army, spell)
    cap = queries.dice_cap(packed, state, army, wizard)
    return min(cap, int(state.power) + int(state.own_dice[wizard]))


@jit
def best_cast_chance(packed: PackedScenario, state: State, army: int, spell: int) -> float:
    """Return the probability of casting a spell with the best number of available dice."""
    if packed.armies[army].spells[spell].bound:
        return 1.0
    dice = dice_for_cast(packed, state, army, spell)
    return float(BEST_CAST_CHANCE[need_of(packed, army, spell), dice])


@jit
def pending_cast_chance(packed: PackedScenario, state: State, dice: int) -> float:
    """Return the chance of casting the pending spell with `dice` dice and any declared item."""
    army = int64(state.active)
    need = cast_need(
        int(packed.armies[army].spells[state.spell - 1].casting_value), cast_bonus(packed, state)
    )
    if state.cast_item:
        dice += int(packed.armies[army].items[state.cast_item - 1].cast_extra_dice)
    irresistible = int(may_be_irresistible(packed, state))
    return float(CAST_CHANCES[irresistible, need, min(DICE, dice)])


@jit
def pending_dispel_chance(packed: PackedScenario, state: State, dice: int) -> float:
    """Return the probability that the pending dispel succeeds with `dice` dice."""
    thrown = min(DICE, dice + targets.resistance(packed, state))
    return float(dispel_probability_of(packed, state, thrown))


# --- the rules of thumb --------------------------------------------------------------------------


@jit(forceinline=False)
def _best_nomination(
    packed: PackedScenario, state: State, work: WorkSpace, count: int, veteran: bool
) -> int:
    best = actions.PASS
    most = 0.0
    sure = False
    for i in range(count):
        action = int64(work.legal[i])
        if action < actions.FIRST_CAST or action >= actions.FIRST_IN_PLAY:
            continue
        spell = action - actions.FIRST_CAST
        worth = value_if_cast(packed, state, state.active, spell)
        chance = best_cast_chance(packed, state, state.active, spell)
        likely = veteran and chance >= LIKELY
        score = worth if likely else worth * chance
        if (likely and not sure and worth > 0.0) or (likely == sure and score > most):
            best = action
            most = score
            sure = likely
    return best


@jit(forceinline=False)
def _item(packed: PackedScenario, state: State, work: WorkSpace, count: int, veteran: bool) -> int:
    """Return the item that helps the cast most; the veteran uses one only for unlikely casts."""
    spell = state.spell - 1
    before = best_cast_chance(packed, state, state.active, spell)
    if veteran and before >= LIKELY:
        return actions.PASS
    best = actions.PASS
    most = before
    most_dice = dice_for_cast(packed, state, state.active, spell)
    for i in range(1, count):
        state.cast_item = work.legal[i] - actions.FIRST_ITEM + 1
        for dice in range(1, most_dice + 1):
            chance = pending_cast_chance(packed, state, dice)
            if chance > most:
                most = chance
                best = int64(work.legal[i])
    state.cast_item = 0
    return best


@jit(forceinline=False)
def _fewest_dice(
    packed: PackedScenario, state: State, work: WorkSpace, count: int, veteran: bool
) -> int:
    """Return the dice action with the best chance, or -1 without one; ties go to fewer dice."""
    casts = state.node == Node.POOL_DICE or state.node == Node.RESERVE_DICE
    best = -1
    most = -1.0
    for i in range(count):
        action = int64(work.legal[i])
        if action < actions.FIRST_DICE or action >= actions.FIRST_ITEM:
            continue
        dice = action - actions.FIRST_DICE + int(state.reserve)
        if casts:
            chance = pending_cast_chance(packed, state, dice)
        else:
            chance = pending_dispel_chance(packed, state, dice)
        if chance > most + 1e-12:
            most = chance
            best = action
            if veteran and chance >= LIKELY:
                return best  # good enough for the veteran
    return best


@jit
def _last_item(packed: PackedScenario, state: State, work: WorkSpace, count: int, use: int) -> int:
    for i in range(count):
        action = int64(work.legal[i])
        if actions.FIRST_ITEM <= action < actions.FIRST_ITEM + ITEMS:
            item = action - actions.FIRST_ITEM
            entry = packed.armies[state.mover].items[item]
            again = queries.declared_uses(state, item) > 0  # a second re-roll is rarely needed
            if entry.dispel_use == use and (not again or entry.dispel_use_bonus > 0):
                return action
    return -1


@jit(forceinline=False)
def _dispel(
    packed: PackedScenario, state: State, work: WorkSpace, count: int, veteran: bool
) -> int:
    threat = pending_threat(packed, state)
    if threat <= 0.0 and work.legal[0] == actions.PASS:
        return actions.PASS
    scroll = _last_item(packed, state, work, count, DispelUse.AUTOMATIC.value)
    if scroll >= 0 and not veteran:
        return scroll
    dice = _fewest_dice(packed, state, work, count, veteran)
    likely = dice >= 0 and pending_dispel_chance(packed, state, dice - actions.FIRST_DICE) >= LIKELY
    to_come = 0.0
    if veteran and state.attempt == DispelAttempt.CAST:
        to_come = greatest_open_threat(packed, state)
    if scroll >= 0 and not likely and threat >= to_come:
        return scroll
    if veteran and work.legal[0] == actions.PASS and threat < 0.5 * to_come:
        spare = queries.attempt_pool(state) * POINTS_PER_DIE - 2.0 * float(state.number)
        if spare < 0.0:
            return actions.PASS
    boost = _last_item(packed, state, work, count, DispelUse.BOOST.value)
    if boost >= 0 and not likely:
        return boost
    if dice >= 0:
        return dice
    return int64(work.legal[count - 1])


@jit(forceinline=False)
def _most_valuable(packed: PackedScenario, state: State, work: WorkSpace, count: int) -> int:
    """Return the spell or target with the highest expected points; ties go to the first."""
    best = int64(work.legal[0])
    most = _value_of(packed, state, best)
    for i in range(1, count):
        value = _value_of(packed, state, int64(work.legal[i]))
        if value > most:
            most = value
            best = int64(work.legal[i])
    return best


@jit(forceinline=False)
def _value_of(packed: PackedScenario, state: State, action: int) -> float:
    """Return the points for a free spell, a spell in play, or a target; 0 for a pass."""
    if action == actions.PASS:
        return 0.0
    army = int64(state.mover)
    if state.node == Node.FREE_SPELL:
        return value_if_cast(packed, state, army, action - actions.FIRST_CAST)
    if state.node == Node.IN_PLAY:
        index = action - actions.FIRST_IN_PLAY
        owner = army if index < SPELLS else queries.opponent_of(army)
        return later_points(packed, state, owner, index % SPELLS)
    spell = int64(state.free - 1) if state.free else int64(state.spell - 1)
    aim = targets.aim_at(packed, army, spell, action - actions.FIRST_TARGET)
    return float(value_with_flight(packed, state, army, spell, aim))


@jit(forceinline=False)
def _swap(packed: PackedScenario, state: State, work: WorkSpace, count: int) -> int:
    """Swap the least valuable spell for the first spell of its lore, if that is more valuable."""
    army = int64(state.mover)
    worst = actions.PASS
    least = _expected_points(packed, state, army, int64(work.legal[1]) - actions.FIRST_CAST)
    for i in range(1, count):
        points = _expected_points(packed, state, army, int64(work.legal[i]) - actions.FIRST_CAST)
        if points <= least:
            least = points
            worst = int64(work.legal[i])
    first = int64(packed.armies[army].wizards[state.cursor % WIZARDS].first_spell)
    return worst if _expected_points(packed, state, army, first) > least else actions.PASS


@jit(forceinline=False)
def _expected_points(packed: PackedScenario, state: State, army: int, spell: int) -> float:
    """Return a spell's expected points with its wizard's maximum number of dice."""
    dice = queries.dice_cap(packed, state, army, queries.caster_of(packed, army, spell))
    chance = BEST_CAST_CHANCE[need_of(packed, army, spell), dice]
    return float(chance * value_if_cast(packed, state, army, spell))


@jit(forceinline=False)
def rule_based_action(
    packed: PackedScenario, state: State, work: WorkSpace, count: int, veteran: bool
) -> int:
    """Return the action that greedy or veteran takes."""
    node = state.node
    if node == Node.NOMINATE:
        return int(_best_nomination(packed, state, work, count, veteran))
    if node == Node.POOL_DICE or node == Node.RESERVE_DICE:
        return int(_fewest_dice(packed, state, work, count, veteran))
    if node == Node.DISPEL_POOL or node == Node.DISPEL_RESERVE:
        return int(_fewest_dice(packed, state, work, count, veteran))
    if node == Node.DISPEL:
        return int(_dispel(packed, state, work, count, veteran))
    if node == Node.ITEM:
        return int(_item(packed, state, work, count, veteran))
    if node == Node.KEEP_CASTING or node == Node.KEEP_DISPEL:
        fails = outcome_if_kept(packed, state) == OUTCOME_FAIL
        return int64(work.legal[1]) if fails else actions.PASS  # re-roll one die, or all
    if node == Node.FREE_SPELL or node == Node.TARGET or node == Node.IN_PLAY:
        return int(_most_valuable(packed, state, work, count))
    if node == Node.SWAP_SPELL:
        return int(_swap(packed, state, work, count))
    if node == Node.STORE_DICE:  # dice that are not stored are lost
        return int64(work.legal[count - 1])
    raise AssertionError("scripted players have no rule for this node")
