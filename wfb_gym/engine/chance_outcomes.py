"""Enumerate chance nodes: every outcome of the dice with its probability.

Outcomes that lead to the same successor are merged. `wfb_gym.engine.chance` reads, rolls and
resolves dice; this module uses its functions to read them.
"""

from math import comb
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from wfb_gym._jit import int64, jit
from wfb_gym.engine.chance import (
    has_pmf,
    is_cast_or_dispel_roll,
    is_morale_roll,
    is_one_die,
    miscast_table_of,
    needed,
    write_pmf,
)
from wfb_gym.engine.dispelling import dispel_probability_of
from wfb_gym.engine.miscasts import hit_models, wound_probability
from wfb_gym.engine.morale import PASS_CHANCE, tested_leadership
from wfb_gym.engine.outcomes import (
    OUTCOME_CODES,
    OUTCOME_FAIL,
    OUTCOME_WORKS,
    ROLL_SUMMARY_ONES,
    ROLL_SUMMARY_PROBABILITY,
    ROLL_SUMMARY_SIXES,
    ROLL_SUMMARY_START,
    ROLL_SUMMARY_TOTAL,
    has_faces,
    one_die,
)
from wfb_gym.engine.roll_results import DiceSummary, RollTerms, dice_on_table, read_roll, roll_terms
from wfb_gym.engine.spell_selection import draws
from wfb_gym.engine.state import MAX_PMF, Node, State, WorkSpace
from wfb_gym.packing.records import PackedScenario
from wfb_gym.rules.dice import FACES, power
from wfb_gym.scenario.sizes import LORE_SPELLS, MISCAST_ROWS


class _Outcomes(NamedTuple):
    """Output arrays for outcomes and their probabilities."""

    outcomes: NDArray[np.int64]
    probabilities: NDArray[np.float64]


@jit
def _add(found: _Outcomes, end: int, outcome: int, probability: float) -> int:
    """Write an outcome at `end` if its probability is positive; return the next free index."""
    if probability > 0.0:
        found.outcomes[end] = outcome
        found.probabilities[end] = probability
        return end + 1
    return end


@jit
def _add_all(found: _Outcomes, start: int, pmf: NDArray[np.float64], count: int) -> int:
    """Write the outcomes 0 to `count` - 1 with their probabilities."""
    end = start
    for outcome in range(count):
        end = _add(found, end, outcome, pmf[outcome])
    return end


@jit(forceinline=False)
def _roll_outcomes(
    packed: PackedScenario, state: State, found: _Outcomes, start: int, work: WorkSpace
) -> int:
    """Write the outcomes of casting or dispel dice."""
    terms = roll_terms(packed, state)
    if state.node == Node.ROLL_DISPEL and not terms.may_reroll:
        success = dispel_probability_of(packed, state, int(state.dice))
        return _two_outcomes(success, found, start)
    merged = work.pmf
    for outcome in range(OUTCOME_CODES):
        merged[outcome] = 0.0
    end = start
    if terms.may_reroll or terms.doubles_count:
        end = _face_outcomes(packed, state, terms, found, start, merged)
    elif terms.first:  # no dice rolled yet: constants let the compiler make a short loop
        first = RollTerms(
            True, True, False, terms.number, terms.bonus, terms.sixes_count, False, terms.highest
        )
        _merge_totals(packed, state, first, DiceSummary(0, 0, 0, 0), merged)
    else:
        _merge_totals(packed, state, terms, dice_on_table(state), merged)
    return _add_all(found, end, merged, OUTCOME_CODES)


@jit
def _merge_totals(
    packed: PackedScenario, state: State, terms: RollTerms, kept: DiceSummary,
    merged: NDArray[np.float64],
) -> None:  # fmt: skip
    """Add the dice's probabilities to `merged`; no outcome depends on individual faces."""
    dice = int(state.dice)
    for row in range(ROLL_SUMMARY_START[dice], ROLL_SUMMARY_START[dice + 1]):
        rolled = DiceSummary(
            ROLL_SUMMARY_ONES[row], ROLL_SUMMARY_SIXES[row], ROLL_SUMMARY_TOTAL[row], 0
        )
        outcome = read_roll(packed, state, terms, kept, rolled)
        merged[outcome] += ROLL_SUMMARY_PROBABILITY[row]


@jit
def _two_outcomes(success: float, found: _Outcomes, start: int) -> int:
    """Write a success with this probability, and a failure with the remaining probability."""
    return _add(found, _add(found, start, OUTCOME_FAIL, 1.0 - success), OUTCOME_WORKS, success)


@jit(_nrt=True, forceinline=False)
def _face_outcomes(
    packed: PackedScenario, state: State, terms: RollTerms, found: _Outcomes, start: int,
    merged: NDArray[np.float64],
) -> int:  # fmt: skip
    """Write every combination of faces that may be re-rolled; add the others to `merged`."""
    end = start
    dice = int(state.dice)
    kept = dice_on_table(state)
    counts = np.zeros(FACES, np.int64)
    counts[0] = dice
    while True:
        face_counts = 0
        total = 0
        probability = 1.0
        left = dice
        for face in range(FACES):
            face_counts += counts[face] * one_die(face + 1)
            total += counts[face] * (face + 1)
            # multinomial probability, one factor for each die
            for k in range(counts[face]):
                probability *= left / ((k + 1) * 6.0)
                left -= 1
        rolled = DiceSummary(counts[0], counts[5], total, face_counts)
        outcome = read_roll(packed, state, terms, kept, rolled)
        if has_faces(outcome):
            end = _add(found, end, outcome, probability)
        else:
            merged[outcome] += probability
        # next composition of `dice` into six counts
        last = counts[FACES - 1]
        counts[FACES - 1] = 0
        face = FACES - 2
        while face >= 0 and counts[face] == 0:
            face -= 1
        if face < 0:
            return end
        counts[face] -= 1
        counts[face + 1] = last + 1


@jit(forceinline=False)
def _miscast_outcomes(
    packed: PackedScenario, state: State, found: _Outcomes, start: int, work: WorkSpace
) -> int:
    rows = work.pmf
    for row in range(MISCAST_ROWS):
        rows[row] = 0.0
    chosen = miscast_table_of(packed, state)
    dice = int64(packed.miscast_dice[chosen])
    for reading in range(ROLL_SUMMARY_START[dice], ROLL_SUMMARY_START[dice + 1]):
        row = packed.miscast_row[chosen, ROLL_SUMMARY_TOTAL[reading]]
        rows[row] += ROLL_SUMMARY_PROBABILITY[reading]
    return _add_all(found, start, rows, MISCAST_ROWS)


@jit(_nrt=True, forceinline=False)
def _hit_outcomes(packed: PackedScenario, state: State, found: _Outcomes, start: int) -> int:
    """Write the binomial distribution of the number of models wounded."""
    wounded = wound_probability(packed, state)
    models = hit_models(packed, state)
    end = start
    combinations = 1.0
    for wounds in range(models + 1):
        chance = combinations * power(wounded, wounds) * power(1.0 - wounded, models - wounds)
        end = _add(found, end, wounds, chance)
        combinations = combinations * (models - wounds) / (wounds + 1)
    return end


@jit(_nrt=True, forceinline=False)
def chance_outcomes(
    packed: PackedScenario,
    state: State,
    outcomes: NDArray[np.int64],
    probabilities: NDArray[np.float64],
    start: int,
    work: WorkSpace,
) -> int:
    """List the outcomes of a chance node.

    Args:
        packed: the scenario.
        state: at a chance node; not changed.
        outcomes: int64, filled from `start`; `most_outcomes` returns the number of entries needed.
        probabilities: float64, filled like `outcomes`; the new entries sum to 1.
        start: first entry to fill, so that a caller can write several lists into one array.
        work: scratch space; `work.pmf` is overwritten.

    Returns:
        Index one past the last entry.
    """
    found = _Outcomes(outcomes, probabilities)
    node = state.node
    if is_cast_or_dispel_roll(node):
        return _roll_outcomes(packed, state, found, start, work)
    if node == Node.ROLL_MISCAST:
        return _miscast_outcomes(packed, state, found, start, work)
    if node == Node.ROLL_HIT:
        return _hit_outcomes(packed, state, found, start)
    if has_pmf(node):
        return _add_all(found, start, work.pmf, write_pmf(packed, state, work))
    if node == Node.ROLL_SPELLS:
        return _spell_outcomes(packed, state, found, start)
    if node == Node.ROLL_RADIUS:
        for face in range(FACES):
            _add(found, start + face, face + 1, 1.0 / FACES)
        return start + FACES
    if is_morale_roll(node):
        success = float(PASS_CHANCE[tested_leadership(packed, state)])
        return _two_outcomes(success, found, start)
    if is_one_die(node):
        success = (FACES + 1 - needed(packed, state)) / float(FACES)
        return _two_outcomes(success, found, start)
    raise AssertionError("no outcomes are defined at this node")


@jit(_nrt=True, forceinline=False)
def _spell_outcomes(packed: PackedScenario, state: State, found: _Outcomes, start: int) -> int:
    """Write every set of `draws` spells out of the six; all sets are equally likely."""
    wanted = draws(packed, state)
    end = start
    for drawn in range(1 << LORE_SPELLS):
        spells = 0
        for k in range(LORE_SPELLS):
            spells += (drawn >> k) & 1
        if spells == wanted:
            end = _add(found, end, drawn, 1.0)
    found.probabilities[start:end] = 1.0 / (end - start)
    return end


def most_outcomes(dice: int, rerolls: bool) -> int:
    """Return the number of entries that `chance_outcomes` needs for one node.

    Args:
        dice: maximum number of dice in one casting or dispel roll.
        rerolls: whether any item in the scenario re-rolls dice.
    """
    return max(OUTCOME_CODES, MAX_PMF) + (comb(dice + FACES - 1, FACES - 1) if rerolls else 0)
