"""Read, roll and resolve the dice at chance nodes.

`sample` rolls dice and `wfb_gym.engine.chance_outcomes` enumerates outcomes. Both read dice with
the functions in this module, so they always apply the same rules.
"""

import numpy as np

from wfb_gym._jit import int64, jit
from wfb_gym.engine.dispelling import forgotten_on, resolve_forget
from wfb_gym.engine.hidden_items import deal_pmf, resolve_deal
from wfb_gym.engine.miscasts import (
    current_effect,
    hit_models,
    hit_profile,
    miscast_wounds_pmf,
    resolve_hit,
    resolve_miscast,
    resolve_wounds,
)
from wfb_gym.engine.morale import resolve_panic, resolve_rally, tested_leadership
from wfb_gym.engine.nodes import Dice, bits_of, nodes_with
from wfb_gym.engine.outcomes import OUTCOME_FAIL, OUTCOME_WORKS, one_die
from wfb_gym.engine.queries import bit, caster
from wfb_gym.engine.random_numbers import Rng, next_word
from wfb_gym.engine.roll_results import (
    DiceSummary,
    dice_on_table,
    read_roll,
    resolve_roll,
    roll_terms,
)
from wfb_gym.engine.shared_hits import odd_hit_pmf, resolve_hits, resolve_odd_hit, write_hits_pmf
from wfb_gym.engine.spell_selection import draws, resolve_spells
from wfb_gym.engine.state import Node, State, WorkSpace
from wfb_gym.engine.stored_dice import resolve_stored
from wfb_gym.engine.strikes import (
    current_strike,
    resolve_comet,
    resolve_radius,
    resolve_strike,
    strike_pmf,
)
from wfb_gym.engine.turn_flow import resolve_lock_roll
from wfb_gym.packing.records import PackedScenario
from wfb_gym.rules.comets import LANDS_ON
from wfb_gym.rules.dice import FACES
from wfb_gym.rules.morale import MORALE_DICE, passes
from wfb_gym.rules.wounds import DICE_PER_HIT, hit_wounds

_DICE_PER_WORD = 10
_FRACTION_BITS = 58
_FRACTION = (1 << _FRACTION_BITS) - 1
_UNIT = 1.0 / (1 << 53)
_DRAWN = bits_of(nodes_with(Dice.WOUNDS, Dice.DEAL))
_TOTAL = bits_of(nodes_with(Dice.TOTAL))
_ONE_DIE = bits_of(nodes_with(Dice.ONE_DIE))
_MORALE = bits_of(nodes_with(Dice.MORALE))


@jit
def miscast_table_of(packed: PackedScenario, state: State) -> int:
    """Return the index of the miscast table that the caster rolls on."""
    return int64(packed.armies[state.active].wizards[caster(packed, state)].miscast_table)


@jit
def has_pmf(node: int) -> bool:
    """Return whether one draw from a distribution over outcomes 0, 1, 2 ... resolves the node."""
    return (_DRAWN >> int64(node)) & 1 != 0


@jit(forceinline=False)
def write_pmf(packed: PackedScenario, state: State, work: WorkSpace) -> int:
    """Write the distribution for a node with `has_pmf` to `work.pmf`; return its length."""
    if state.node == Node.ROLL_STRIKE:
        return strike_pmf(packed, state, work)
    if state.node == Node.ROLL_WOUNDS:
        return miscast_wounds_pmf(packed, state, work)
    if state.node == Node.DEAL:
        return deal_pmf(packed, state, work)
    strike = current_strike(packed, state)
    if state.node == Node.ROLL_HITS:
        return write_hits_pmf(packed, strike, work)
    if state.node == Node.ROLL_ODD_HIT:
        return odd_hit_pmf(packed, state, strike, work)
    raise AssertionError("no probabilities are defined at this node")


@jit
def is_cast_or_dispel_roll(node: int) -> bool:
    """Return whether casting or dispel dice are rolled or re-rolled at this node."""
    return (_TOTAL >> int64(node)) & 1 != 0


@jit
def is_one_die(node: int) -> bool:
    """Return whether the node is resolved by one D6 that must reach a number."""
    return (_ONE_DIE >> int64(node)) & 1 != 0


@jit
def is_morale_roll(node: int) -> bool:
    """Return whether the node is resolved by 2D6 against Leadership."""
    return (_MORALE >> int64(node)) & 1 != 0


@jit
def dice_in_roll(packed: PackedScenario, state: State) -> int:
    """Return the number of D6 to roll at the chance node; 0 if the number is open."""
    node = state.node
    if is_cast_or_dispel_roll(node):
        return int(state.dice)
    if node == Node.ROLL_MISCAST:
        return int64(packed.miscast_dice[miscast_table_of(packed, state)])
    if node == Node.ROLL_HIT:
        return DICE_PER_HIT * hit_models(packed, state)
    if is_one_die(node) or node == Node.ROLL_RADIUS:
        return 1
    if is_morale_roll(node):
        return MORALE_DICE
    if has_pmf(node) or node == Node.ROLL_SPELLS:
        return 0
    raise AssertionError("no number of dice is defined at this node")


@jit
def outcome_of_roll(packed: PackedScenario, state: State, work: WorkSpace) -> int:
    """Return the outcome for the first `dice_in_roll` faces in `work.faces`, in the order rolled.

    Faces are 1 to 6. For hits, the order is: to wound, armour save and ward save for the first
    model, then for the next.
    """
    if not is_cast_or_dispel_roll(state.node):
        return _outcome_of_other_roll(packed, state, work)
    ones = 0
    sixes = 0
    total = 0
    face_counts = 0
    for die in range(int(state.dice)):
        face = int(work.faces[die])
        ones += face == 1
        sixes += face == 6
        total += face
        face_counts += one_die(face)
    rolled = DiceSummary(ones, sixes, total, face_counts)
    return read_roll(packed, state, roll_terms(packed, state), dice_on_table(state), rolled)


@jit(forceinline=False)
def _outcome_of_other_roll(packed: PackedScenario, state: State, work: WorkSpace) -> int:
    """Return `outcome_of_roll` for a roll that is neither a cast nor a dispel."""
    node = state.node
    if node == Node.ROLL_MISCAST:
        chosen = miscast_table_of(packed, state)
        total = int64(work.faces[0])
        if packed.miscast_dice[chosen] > 1:
            total += int64(work.faces[1])
        return int64(packed.miscast_row[chosen, total])
    if node == Node.ROLL_HIT:
        return _wounds_of_roll(packed, state, work)
    if node == Node.ROLL_RADIUS:
        return int64(work.faces[0])
    if is_morale_roll(node):
        total = int(work.faces[0]) + int(work.faces[1])
        return OUTCOME_WORKS if passes(total, tested_leadership(packed, state)) else OUTCOME_FAIL
    if is_one_die(node):
        return OUTCOME_WORKS if work.faces[0] >= needed(packed, state) else OUTCOME_FAIL
    raise AssertionError("no outcome of dice is defined at this node")


@jit(forceinline=False)
def needed(packed: PackedScenario, state: State) -> int:
    """Return the lowest face that succeeds at a node resolved by one D6."""
    node = state.node
    if node == Node.ROLL_FORGET:
        return forgotten_on(packed, state)
    if node == Node.ROLL_COMET:
        return LANDS_ON
    if node == Node.ROLL_STORED:
        return int64(state.items[state.active, state.cursor])
    if node == Node.ROLL_LOCK:
        return FACES
    raise AssertionError("no needed number is defined at this node")


@jit(forceinline=False)
def _wounds_of_roll(packed: PackedScenario, state: State, work: WorkSpace) -> int:
    effect = current_effect(packed, state)
    toughness, armour, ward = hit_profile(packed, state)
    wounds = 0
    for model in range(hit_models(packed, state)):
        first = DICE_PER_HIT * model
        wounds += hit_wounds(
            int(work.faces[first]),
            int(work.faces[first + 1]),
            int(work.faces[first + 2]),
            int(effect.strength),
            toughness,
            armour,
            ward,
            effect.armour_save != 0,
        )
    return wounds


@jit
def roll_dice(rng: Rng, count: int, work: WorkSpace) -> None:
    """Roll `count` D6 with the generator into `work.faces`, starting at index 0.

    One word yields up to ten dice, as base-6 digits of a 58-bit fraction. The probability of any
    roll of ten dice differs from the exact one by less than 2 parts in 10**10.
    """
    left = 0
    word = int64(0)
    for die in range(count):
        if left == 0:
            word = int64(next_word(rng) >> np.uint64(64 - _FRACTION_BITS))
            left = _DICE_PER_WORD
        word *= FACES  # the bits above the fraction are now the next base-6 digit
        work.faces[die] = (word >> _FRACTION_BITS) + 1
        word &= _FRACTION
        left -= 1


@jit(forceinline=False)
def _draw(packed: PackedScenario, state: State, rng: Rng, work: WorkSpace) -> int:
    """Sample the outcome of a node with an open number of dice."""
    if state.node == Node.ROLL_SPELLS:
        drawn = 0
        left = draws(packed, state)
        while left > 0:  # a repeat is rolled again
            roll_dice(rng, 1, work)
            spell = bit(int64(work.faces[0]) - 1)
            if not drawn & spell:
                drawn |= spell
                left -= 1
        return drawn
    count = write_pmf(packed, state, work)
    point = float(next_word(rng) >> np.uint64(11)) * _UNIT
    chosen = 0
    for k in range(count):
        if work.pmf[k] > 0.0:
            chosen = k
            point -= work.pmf[k]
            if point < 0.0:
                return chosen
    return chosen


@jit(forceinline=False)
def sample(packed: PackedScenario, state: State, rng: Rng, work: WorkSpace) -> int:
    """Sample an outcome of a chance node, by rolling its dice or with a single draw for wounds.

    The generator advances, but the state does not change. Afterwards, `work.faces` holds the dice.
    """
    if has_pmf(state.node) or state.node == Node.ROLL_SPELLS:
        return _draw(packed, state, rng, work)
    roll_dice(rng, dice_in_roll(packed, state), work)
    return outcome_of_roll(packed, state, work)


@jit(forceinline=False, is_shared=True)
def resolve_outcome(packed: PackedScenario, state: State, outcome: int) -> float:
    """Apply a chance node's outcome; see `wfb_gym.engine.transition.resolve` for the whole step."""
    if is_cast_or_dispel_roll(state.node):
        return resolve_roll(packed, state, outcome)
    return _resolve_other(packed, state, outcome)


@jit(forceinline=False)
def _resolve_other(packed: PackedScenario, state: State, outcome: int) -> float:
    """Apply an outcome like `resolve_outcome`, for rolls that are neither casts nor dispels."""
    node = state.node
    if node == Node.ROLL_MISCAST:
        resolve_miscast(packed, state, outcome)
    elif node == Node.ROLL_HIT:
        return resolve_hit(packed, state, outcome)
    elif node == Node.ROLL_STRIKE:
        return resolve_strike(packed, state, outcome)
    elif node == Node.ROLL_HITS:
        resolve_hits(state, outcome)
    elif node == Node.ROLL_ODD_HIT:
        resolve_odd_hit(state, outcome)
    elif node == Node.ROLL_WOUNDS:
        return resolve_wounds(packed, state, outcome)
    elif node == Node.ROLL_FORGET:
        return resolve_forget(packed, state, outcome == OUTCOME_WORKS)
    elif node == Node.ROLL_COMET:
        resolve_comet(packed, state, outcome == OUTCOME_WORKS)
    elif node == Node.ROLL_RADIUS:
        resolve_radius(packed, state, outcome)
    elif node == Node.ROLL_STORED:
        resolve_stored(packed, state, outcome == OUTCOME_WORKS)
    elif node == Node.ROLL_SPELLS:
        resolve_spells(packed, state, outcome)
    elif node == Node.ROLL_LOCK:
        resolve_lock_roll(packed, state, outcome == OUTCOME_WORKS)
    elif node == Node.ROLL_RALLY:
        return resolve_rally(packed, state, outcome == OUTCOME_WORKS)
    elif node == Node.ROLL_PANIC:
        return resolve_panic(packed, state, outcome == OUTCOME_WORKS)
    elif node == Node.DEAL:
        resolve_deal(packed, state, outcome)
    else:
        raise AssertionError("no outcome is resolved at this node")
    return 0.0
