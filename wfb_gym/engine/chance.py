"""Chance nodes: what the dice can do, how likely it is, and drawing it.

`chance_outcomes` enumerates and `sample` rolls; both read dice through the same functions, so
they cannot disagree about a rule. Outcomes with equal successors are merged.
"""

from math import comb

import numpy as np
from numpy.typing import NDArray

from wfb_gym._jit import int64, jit
from wfb_gym.engine.generator import next_word
from wfb_gym.engine.miscasts import (
    current_effect,
    hit_chance,
    hit_models,
    hit_profile,
    resolve_hit,
    resolve_miscast,
)
from wfb_gym.engine.phases import resolve_lock_roll
from wfb_gym.engine.queries import can_reroll
from wfb_gym.engine.rerolls import is_first_roll, read_roll, resolve_roll
from wfb_gym.engine.rolls import (
    OUTCOME_FAIL,
    OUTCOME_WORKS,
    READING_CHANCE,
    READING_ONES,
    READING_SIXES,
    READING_START,
    READING_TOTAL,
    READINGS,
    die_in_handful,
    is_handful,
    rollable,
)
from wfb_gym.engine.state import Nature, Node, Record
from wfb_gym.engine.work import DICE_PER_HIT
from wfb_gym.rules.dice import FACES
from wfb_gym.rules.wounds import hit_wounds
from wfb_gym.scenario.packed import MISCAST_ROWS

_DICE_PER_WORD = 10
_FRACTION_BITS = 58
_FRACTION = (1 << _FRACTION_BITS) - 1


@jit
def dice_in_roll(table: Record, state: Record) -> int:
    """Number of D6 that decide the pending chance node."""
    node = state.node
    if node == Node.ROLL_MISCAST:
        return 2
    if node == Node.ROLL_LOCK:
        return 1
    if node == Node.ROLL_HIT:
        return DICE_PER_HIT * hit_models(table, state)
    return int(state.dice)


@jit
def outcome_of_roll(table: Record, state: Record, work: Record) -> int:
    """Outcome that these dice give.

    Args:
        table: the scenario.
        state: at a chance node.
        work: `work.faces` holds `dice_in_roll` faces, 1 to 6, in the order rolled. For hits:
            to wound, armour save and ward save of the first model, then of the next.
    """
    node = state.node
    if node == Node.ROLL_MISCAST:
        return int(table.miscast_row[int(work.faces[0]) + int(work.faces[1])])
    if node == Node.ROLL_LOCK:
        return OUTCOME_WORKS if work.faces[0] == FACES else OUTCOME_FAIL
    if node == Node.ROLL_HIT:
        return _wounds_of_roll(table, state, work)
    ones = 0
    sixes = 0
    natural = 0
    handful = 0
    for die in range(int(state.dice)):
        face = int(work.faces[die])
        ones += face == 1
        sixes += face == 6
        natural += face
        handful += die_in_handful(face)
    return int(read_roll(table, state, ones, sixes, natural, handful))


@jit(forceinline=False)
def _wounds_of_roll(table: Record, state: Record, work: Record) -> int:
    effect = current_effect(table, state)
    toughness, armour, ward = hit_profile(table, state)
    wounds = 0
    for model in range(hit_models(table, state)):
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
def roll_dice(rng: Record, count: int, work: Record) -> None:
    """Roll `count` D6 from the generator into the front of `work.faces`.

    One word gives up to ten dice, as digits of a 58-bit fraction in base 6: no handful of ten
    is off its exact chance by more than 2 parts in 10**10.
    """
    left = 0
    word = int64(0)
    for die in range(count):
        if left == 0:
            word = int64(next_word(rng) >> np.uint64(64 - _FRACTION_BITS))
            left = _DICE_PER_WORD
        word *= FACES
        work.faces[die] = (word >> _FRACTION_BITS) + 1
        word &= _FRACTION
        left -= 1


@jit(forceinline=False)
def sample(table: Record, state: Record, rng: Record, work: Record) -> int:
    """Draw one outcome of a chance node by rolling its dice.

    Args:
        table: the scenario.
        state: at a chance node; not changed.
        rng: the generator's record; moves on.
        work: scratch; `work.faces` holds the dice afterwards.
    """
    roll_dice(rng, dice_in_roll(table, state), work)
    return outcome_of_roll(table, state, work)


@jit
def resolve_outcome(table: Record, state: Record, outcome: int) -> float:
    """Go on from a chance node; see `wfb_gym.engine.phase.resolve` for the whole step."""
    node = state.node
    if node == Node.ROLL_MISCAST:
        resolve_miscast(table, state, outcome)
        return 0.0
    if node == Node.ROLL_LOCK:
        resolve_lock_roll(table, state, outcome == OUTCOME_WORKS)
        return 0.0
    if node == Node.ROLL_HIT:
        return float(resolve_hit(table, state, outcome))
    return float(resolve_roll(table, state, outcome))


@jit(_nrt=True, forceinline=False)
def _roll_outcomes(
    table: Record,
    state: Record,
    outcomes: NDArray[np.int64],
    chances: NDArray[np.float64],
    start: int,
) -> int:
    """Outcomes of casting and dispel dice."""
    reroll = (is_first_roll(state) or rollable(state) > 0) and (
        can_reroll(table, state, Nature.PLAIN.value)
        or can_reroll(table, state, Nature.MISCAST.value)
    )
    merged = np.zeros(READINGS)
    end = start
    if reroll:
        end = _handful_outcomes(table, state, outcomes, chances, start, merged)
    else:
        dice = int(state.dice)
        for reading in range(READING_START[dice], READING_START[dice + 1]):
            ones, sixes = READING_ONES[reading], READING_SIXES[reading]
            outcome = read_roll(table, state, ones, sixes, READING_TOTAL[reading], 0)
            merged[outcome] += READING_CHANCE[reading]
    for outcome in range(READINGS):
        if merged[outcome] > 0.0:
            outcomes[end] = outcome
            chances[end] = merged[outcome]
            end += 1
    return end


@jit(_nrt=True, forceinline=False)
def _handful_outcomes(
    table: Record,
    state: Record,
    outcomes: NDArray[np.int64],
    chances: NDArray[np.float64],
    start: int,
    merged: NDArray[np.float64],
) -> int:
    """Every handful of the pending dice; those that stand as they lie go to `merged`."""
    end = start
    dice = int(state.dice)
    counts = np.zeros(FACES, np.int64)
    counts[0] = dice
    while True:
        handful = 0
        natural = 0
        chance = 1.0
        left = dice
        for face in range(FACES):
            handful += counts[face] * die_in_handful(face + 1)
            natural += counts[face] * (face + 1)
            for k in range(counts[face]):
                chance *= left / ((k + 1) * 6.0)
                left -= 1
        outcome = read_roll(table, state, counts[0], counts[5], natural, handful)
        if is_handful(outcome):
            outcomes[end] = outcome
            chances[end] = chance
            end += 1
        else:
            merged[outcome] += chance
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


@jit(_nrt=True, forceinline=False)
def _miscast_outcomes(
    table: Record, outcomes: NDArray[np.int64], chances: NDArray[np.float64], start: int
) -> int:
    rows = np.zeros(MISCAST_ROWS)
    for reading in range(READING_START[2], READING_START[3]):
        rows[table.miscast_row[READING_TOTAL[reading]]] += READING_CHANCE[reading]
    end = start
    for row in range(MISCAST_ROWS):
        if rows[row] > 0.0:
            outcomes[end] = row
            chances[end] = rows[row]
            end += 1
    return end


@jit(_nrt=True, forceinline=False)
def _hit_outcomes(
    table: Record,
    state: Record,
    outcomes: NDArray[np.int64],
    chances: NDArray[np.float64],
    start: int,
) -> int:
    """Binomial: each model hit is wounded or not."""
    wounded = hit_chance(table, state)
    models = hit_models(table, state)
    end = start
    ways = 1.0
    for wounds in range(models + 1):
        chance = ways * wounded**wounds * (1.0 - wounded) ** (models - wounds)
        if chance > 0.0:
            outcomes[end] = wounds
            chances[end] = chance
            end += 1
        ways = ways * (models - wounds) / (wounds + 1)
    return end


@jit(_nrt=True, forceinline=False)
def chance_outcomes(
    table: Record,
    state: Record,
    outcomes: NDArray[np.int64],
    chances: NDArray[np.float64],
    start: int,
) -> int:
    """List what the dice can do.

    Args:
        table: the scenario.
        state: at a chance node; not changed.
        outcomes: int64, filled from `start`; `most_outcomes` says how much room is needed.
        chances: float64, alike; the probabilities, which sum to 1.
        start: first entry to fill, so that a caller can stack lists in one array.

    Returns:
        The entry behind the last.
    """
    node = state.node
    if node == Node.ROLL_MISCAST:
        return _miscast_outcomes(table, outcomes, chances, start)
    if node == Node.ROLL_LOCK:
        outcomes[start] = OUTCOME_FAIL
        chances[start] = 5.0 / 6.0
        outcomes[start + 1] = OUTCOME_WORKS
        chances[start + 1] = 1.0 / 6.0
        return start + 2
    if node == Node.ROLL_HIT:
        return _hit_outcomes(table, state, outcomes, chances, start)
    return _roll_outcomes(table, state, outcomes, chances, start)


def most_outcomes(dice: int, rerolls: bool) -> int:
    """Room that `chance_outcomes` needs for one node.

    Args:
        dice: most dice of one casting or dispel roll.
        rerolls: whether any item of the scenario re-rolls dice.
    """
    return READINGS + (comb(dice + FACES - 1, FACES - 1) if rerolls else 0)
