"""Results of casting and dispel rolls, and decisions to keep or re-roll their dice.

Sampled, enumerated and resolved rolls all follow the same path: dice, natural result, outcome. The
natural dice before any re-roll determine miscasts, irresistible force and double 6s in a dispel.
They are read again after a re-roll only if the re-roll item has `changes_natural` (S4).
"""

from typing import NamedTuple

from wfb_gym._jit import int64, jit
from wfb_gym.engine.actions import FIRST_REROLL, PASS, REROLL_ALL
from wfb_gym.engine.casting import (
    any_double_is_irresistible,
    apply_cast_outcome,
    cast_bonus,
    may_be_irresistible,
)
from wfb_gym.engine.dispelling import apply_dispel_outcome, bonus_to_dispel
from wfb_gym.engine.outcomes import (
    FACES_APART,
    OUTCOME_CAST,
    OUTCOME_FAIL,
    OUTCOME_IRRESISTIBLE,
    OUTCOME_MISCAST,
    OUTCOME_WORKS,
    count_of,
    face_counts_of,
    has_double,
    has_faces,
    rerollable_dice,
)
from wfb_gym.engine.queries import can_answer_cast, can_reroll, highest_dispel, one_use, reroll_item
from wfb_gym.engine.spells import use_item
from wfb_gym.engine.state import DispelAttempt, Node, State
from wfb_gym.packing.records import PackedScenario
from wfb_gym.rules.casting import is_cast, natural_result_of_cast
from wfb_gym.rules.dice import FACES, NaturalResult
from wfb_gym.rules.dispelling import matches, natural_result_of_dispel


class RollTerms(NamedTuple):
    """Everything that determines the pending roll, except for the dice.

    Attributes:
        casts: whether it is a casting roll; if not, it is a dispel roll.
        first: whether the dice are rolled for the first time.
        may_reroll: whether an item could re-roll them.
        number: the casting value, or the number to match.
        bonus: added to the total.
        sixes_count: whether two 6s decide the roll regardless of the total.
        doubles_count: whether any double is irresistible if `sixes_count` is True and the spell is
            cast.
        highest: for a casting roll, a result that the inactive army cannot match. All results at or
            above it are merged into one outcome. 0 if the army cannot try to dispel at all.
    """

    casts: bool
    first: bool
    may_reroll: bool
    number: int
    bonus: int
    sixes_count: bool
    doubles_count: bool
    highest: int


class DiceSummary(NamedTuple):
    """The numbers that the rules read from a set of dice.

    Attributes:
        ones: number of 1s.
        sixes: number of 6s.
        total: their sum.
        face_counts: packed as in `wfb_gym.engine.outcomes`; 0 if no rule reads individual faces.
    """

    ones: int
    sixes: int
    total: int
    face_counts: int


@jit
def roll_terms(packed: PackedScenario, state: State) -> RollTerms:
    """Return the terms of the pending roll, or of the roll that may be kept."""
    first = state.node == Node.ROLL_CASTING or state.node == Node.ROLL_DISPEL
    may_reroll = (first or rerollable_dice(state) > 0) and (
        can_reroll(packed, state, NaturalResult.PLAIN.value)
        or can_reroll(packed, state, NaturalResult.MISCAST.value)
    )
    if state.attempt == DispelAttempt.NONE:
        number = int64(packed.armies[state.active].spells[state.spell - 1].casting_value)
        bonus = cast_bonus(packed, state)
        sixes = may_be_irresistible(packed, state)
        doubles = any_double_is_irresistible(packed, state)
        highest = int64(0)
        if can_answer_cast(packed, state):
            highest = highest_dispel(packed, state)
        return RollTerms(True, first, may_reroll, number, bonus, sixes, doubles, highest)
    number = int64(state.number)
    bonus = bonus_to_dispel(packed, state)
    sixes = packed.dispel_double_six != 0
    return RollTerms(False, first, may_reroll, number, bonus, sixes, False, int64(0))


@jit
def dice_on_table(state: State) -> DiceSummary:
    """Return the pending roll's dice that have already been rolled; none on a first roll."""
    total = 0
    for face in range(FACES):
        total += (face + 1) * (int(state.faces[face]) + int(state.held[face]))
    ones = int(state.faces[0]) + int(state.held[0])
    sixes = int(state.faces[5]) + int(state.held[5])
    return DiceSummary(ones, sixes, total, face_counts_of(state))


@jit
def natural_result(state: State, terms: RollTerms, dice: DiceSummary) -> int:
    """Return the `NaturalResult` of the pending roll, from all of its dice."""
    if not terms.first and state.natural_result != NaturalResult.OPEN:
        return int64(state.natural_result)
    if not terms.casts:
        return natural_result_of_dispel(dice.ones, dice.sixes, terms.sixes_count)
    natural = natural_result_of_cast(dice.ones, dice.sixes, terms.sixes_count)
    if terms.doubles_count and terms.sixes_count and natural == NaturalResult.PLAIN:
        if is_cast(dice.total, terms.bonus, terms.number) and has_double(dice.face_counts):
            return NaturalResult.IRRESISTIBLE.value
    return natural


@jit
def outcome_of(terms: RollTerms, natural: int, total: int) -> int:
    """Return the outcome of a final roll from its `NaturalResult` and the total of its dice.

    Casting results that the inactive army cannot match are merged into one outcome.
    """
    if not terms.casts:
        matched = matches(natural, total, terms.bonus, terms.number)
        return OUTCOME_WORKS if matched else OUTCOME_FAIL
    if natural == NaturalResult.MISCAST:
        return OUTCOME_MISCAST
    if natural == NaturalResult.IRRESISTIBLE:
        return OUTCOME_IRRESISTIBLE
    if natural != NaturalResult.PLAIN:
        raise AssertionError("outcome_of: expected a final natural result, found a pending re-roll")
    if not is_cast(total, terms.bonus, terms.number):
        return OUTCOME_FAIL
    if terms.highest == 0:
        return OUTCOME_IRRESISTIBLE
    return OUTCOME_CAST + min(total + terms.bonus, terms.highest)


@jit
def read_roll(
    packed: PackedScenario, state: State, terms: RollTerms, kept: DiceSummary, rolled: DiceSummary
) -> int:
    """Return the outcome of the pending roll.

    If the dice may be re-rolled, the outcome holds the faces of the dice in `rolled`.

    Args:
        packed: the scenario.
        state: the position.
        terms: terms of the pending roll.
        kept: dice rolled earlier.
        rolled: dice rolled now.
    """
    dice = DiceSummary(
        kept.ones + rolled.ones,
        kept.sixes + rolled.sixes,
        kept.total + rolled.total,
        kept.face_counts + rolled.face_counts,
    )
    natural = natural_result(state, terms, dice)
    if terms.may_reroll and can_reroll(packed, state, natural):
        return FACES_APART | rolled.face_counts
    return outcome_of(terms, natural, dice.total)


@jit
def outcome_if_kept(packed: PackedScenario, state: State) -> int:
    """Return the outcome of keeping a roll that may be re-rolled."""
    terms = roll_terms(packed, state)
    return outcome_of(terms, int64(state.natural_result), dice_on_table(state).total)


@jit
def resolve_roll(packed: PackedScenario, state: State, outcome: int) -> float:
    """Apply the outcome of a casting or dispel roll; return the points that change hands."""
    if not has_faces(outcome):
        return _apply_outcome(packed, state, outcome)
    terms = roll_terms(packed, state)
    for face in range(FACES):
        count = count_of(outcome, face + 1)
        if terms.first:
            state.faces[face] = count
            state.held[face] = 0
        else:  # re-rolled dice cannot be re-rolled again
            state.held[face] += count
    state.natural_result = natural_result(state, terms, dice_on_table(state))
    state.dice = 0
    if terms.casts:
        state.mover = state.active
        state.node = Node.KEEP_CASTING
    else:
        state.node = Node.KEEP_DISPEL
    return 0.0


@jit
def _apply_outcome(packed: PackedScenario, state: State, outcome: int) -> float:
    if state.attempt == DispelAttempt.NONE:
        return apply_cast_outcome(packed, state, outcome)
    return apply_dispel_outcome(packed, state, outcome)


@jit(forceinline=False)
def act_keep(packed: PackedScenario, state: State, action: int) -> float:
    """Keep the roll, re-roll one die or re-roll all dice; return the points that change hands."""
    if action == PASS:
        return _apply_outcome(packed, state, outcome_if_kept(packed, state))
    all_dice = 1 if action == REROLL_ALL else 0
    item = reroll_item(packed, state, all_dice, int64(state.natural_result))
    casting = state.attempt == DispelAttempt.NONE
    if packed.armies[state.mover].items[item].changes_natural:
        state.natural_result = NaturalResult.OPEN
    if casting:
        use_item(packed, state, state.mover, item)
    else:  # it was spent when declared; its bonus to the roll stays
        state.number -= packed.armies[state.mover].items[item].dispel_use_bonus
        state.declared -= one_use(item)
    if all_dice:
        state.dice = rerollable_dice(state)
        for face in range(FACES):
            state.faces[face] = 0
    else:
        state.dice = 1
        state.faces[action - FIRST_REROLL] -= 1
    state.node = Node.REROLL_CASTING if casting else Node.REROLL_DISPEL
    return 0.0
