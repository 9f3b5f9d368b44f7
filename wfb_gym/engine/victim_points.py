"""Points that the enemy scores for a strike's victim, by the victim's wounds left.

With victory points, these are the points at the end of the phase, including the chance that a Panic
test fails. With points for models, they are either the points for the models lost, or the value of
the magic that a fleeing unit loses.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from wfb_gym._jit import int64, jit
from wfb_gym.engine.morale import PASS_CHANCE, is_in, leadership, most_for_test
from wfb_gym.engine.queries import bit
from wfb_gym.engine.scoring import half_of_unit, half_of_wizard, points_of, points_of_wizard
from wfb_gym.engine.state import State
from wfb_gym.engine.targets import flees, victim_of, wounds_left
from wfb_gym.packing.records import PackedScenario
from wfb_gym.scenario.sizes import UNITS

BY_MODELS = -1.0
"""Passed instead of `wound_weight` if no fraction of a wound's points counts.

If the scenario scores points for models, the points for all models and wounds lost count.
"""


class Counts(NamedTuple):
    """Points that the enemy scores for a victim, by the victim's wounds left."""

    matters: bool  # whether the wounds that it may lose can change the points
    left: int  # wounds now
    half: int  # maximum number of wounds left at which it is below half
    test: int  # maximum number of wounds left at which it takes a Panic test
    above: float  # points while it is above half
    below: float  # points while it is below half
    gone: float  # points when it is wiped out
    fled: float  # points when it flees, including the characters in it
    flight: float  # probability that the Panic test fails
    wound_weight: float  # minimum points that each wound lost scores
    # the next three are used only with points for models
    models: int
    wounds: int  # per model
    points: float  # per model


@jit(forceinline=False)
def counts_of(
    packed: PackedScenario, state: State, strike: int, most: int, wound_weight: float, panic: bool
) -> Counts:
    """Return the points that the enemy scores for a victim.

    Args:
        packed: the scenario.
        state: the position.
        strike: strike row, which identifies the victim.
        most: maximum number of wounds that the victim may lose.
        wound_weight: minimum fraction of a wound's points that each wound lost scores, or
            `BY_MODELS`.
        panic: whether a Panic test at the end of this phase counts.
    """
    side, index = victim_of(packed, strike)
    if index >= UNITS and packed.armies[side].wizards[index - UNITS].daemons:
        index = int64(packed.armies[side].wizards[index - UNITS].unit) - 1
    left = int64(wounds_left(state, side, index))
    zero, one = int64(0), int64(1)
    if wound_weight == BY_MODELS and not packed.victory_points:
        return _counts_of_models(packed, side, index, left)
    if flees(state, side, index):  # the enemy scores all of its points already
        return Counts(False, left, zero, zero, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, zero, one, 0.0)
    least = max(zero, left - most)
    test = zero
    if panic and index < UNITS and state.phase_models[side, index]:
        test = int64(most_for_test(packed, state, side, index))
    tested = test > 0 and least <= test
    flight = 0.0
    fled = 0.0
    if tested:
        flight = 1.0 - float(PASS_CHANCE[leadership(packed, state, side, index)])
    if not packed.victory_points:
        if tested:
            # Its characters lose their magic until its next phase, unless the unit rallies first.
            # A rally roll fails with the same probability as the Panic test.
            fled = flight * _points_of_magic(packed, state, side, index)
        matters = fled > 0.0
        return Counts(
            matters, left, zero, test, 0.0, 0.0, 0.0, fled, flight, 0.0, zero, one, 0.0
        )  # fmt: skip
    if index >= UNITS:
        half = int64(half_of_wizard(packed, side, index - UNITS))
    else:
        half = int64(half_of_unit(packed, side, index))
    matters = tested or wound_weight > 0.0 or least == 0 or (least <= half < left)
    if not matters:
        return Counts(False, left, half, test, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, zero, one, 0.0)
    gone = _points_with(packed, side, index, int64(0), False)
    below = _points_with(packed, side, index, half, False) if half else gone
    if tested:
        fled = _points_with(packed, side, index, left, True)
        fled += cost_of_company(packed, state, side, index)
    each = wound_weight * _points_per_wound(packed, side, index)
    return Counts(
        True, left, half, test, 0.0, below, gone, fled, flight, each, zero, one, 0.0
    )  # fmt: skip


@jit
def _counts_of_models(packed: PackedScenario, side: int, index: int, left: int) -> Counts:
    """Return `counts_of` with points for models and wounds lost."""
    zero = int64(0)
    models, wounds, points = zero, int64(1), 0.0
    if index < UNITS:
        unit = packed.armies[side].units[index]
        models, wounds, points = int64(unit.models), int64(unit.wounds), float(unit.points)
    else:
        wizard = packed.armies[side].wizards[index - UNITS]
        models, points = int64(wizard.wounds), float(wizard.points_per_wound)
    return Counts(
        True, left, zero, zero, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, models, wounds, points
    )  # fmt: skip


@jit
def _points_with(packed: PackedScenario, side: int, index: int, left: int, fled: bool) -> float:
    """Return the victory points for a target with `left` wounds; Daemons include their caster."""
    points = float(points_of(packed, side, index, left, fled))
    caster = int64(packed.armies[side].units[index].caster) if index < UNITS else int64(0)
    if caster and left == 0:  # a fleeing focal model is counted with the characters in the unit
        points += points_of_wizard(packed, side, caster - 1, left, fled)
    return points


@jit
def _expected_count(counts: Counts, left: int) -> float:
    """Return the expected points at the end of the phase if the victim has `left` wounds."""
    if counts.points != 0.0:  # points for models: minus the points of the models left
        # rounded up; wounds gained above the starting number do not count
        models = min(counts.models, (left + counts.wounds - 1) // counts.wounds)
        return float(-models * counts.points)
    if left == 0:
        return float(counts.gone)
    points = counts.below if left <= counts.half else counts.above
    if left <= counts.test:
        points += counts.flight * (counts.fled - points)
    return float(points)


@jit(forceinline=False)
def mean_change(counts: Counts, pmf: NDArray[np.float64], first: int, count: int) -> float:
    """Return the average number of points that a victim loses.

    Args:
        counts: the victim's points by wounds left.
        pmf: `pmf[first + n]` is the probability of n wounds, float64.
        first: index of the probability of 0 wounds.
        count: number of probabilities.
    """
    now = _expected_count(counts, counts.left)
    mean = 0.0
    for wounds in range(1, count):
        after = max(int64(0), counts.left - wounds)
        change = _expected_count(counts, after) - now
        if counts.wound_weight > 0.0:
            change = max(change, counts.wound_weight * (counts.left - after))
        mean += pmf[first + wounds] * change
    return mean


@jit
def _points_per_wound(packed: PackedScenario, side: int, index: int) -> float:
    """Return the points of a model divided by its wounds."""
    if index >= UNITS:
        return float(packed.armies[side].wizards[index - UNITS].points_per_wound)
    entry = packed.armies[side].units[index]
    return float(entry.points / entry.wounds)


# --- flight --------------------------------------------------------------------------------


@jit(forceinline=False)
def cost_of_company(packed: PackedScenario, state: State, side: int, unit: int) -> float:
    """Return the extra victory points for the characters in a unit while the unit flees."""
    points = 0.0
    for wizard in range(packed.armies[side].n_wizards):
        if is_in(packed, state, side, wizard, unit):
            left = int64(state.wounds[side, wizard])
            points += points_of_wizard(packed, side, wizard, left, True)
            points -= points_of_wizard(packed, side, wizard, left, False)
    return points


@jit(forceinline=False)
def _points_of_magic(packed: PackedScenario, state: State, side: int, unit: int) -> float:
    """Return the total points of the best spell of each character in a unit."""
    points = 0.0
    for wizard in range(packed.armies[side].n_wizards):
        if is_in(packed, state, side, wizard, unit):
            points += _points_of_best_spell(packed, state, side, wizard)
    return points


@jit(forceinline=False)
def _points_of_best_spell(packed: PackedScenario, state: State, side: int, wizard: int) -> float:
    entry = packed.armies[side].wizards[wizard]
    spells = int64(entry.bound & state.known[side])
    if state.level[side, wizard] > 0:
        spells |= int64(entry.spells & state.known[side])
    most = 0.0
    for spell in range(packed.armies[side].n_spells):
        if spells & bit(spell):
            entry_of_spell = packed.armies[side].spells[spell]
            most = max(most, float(entry_of_spell.worth + entry_of_spell.worth_per_phase))
    return most
