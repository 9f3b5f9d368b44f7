"""What the enemy counts for a victim of a strike by the wounds that are left to it.

Under victory points that is the tally at the end of the phase, with the chance that a Panic test
fails. Where points are those of models it is the magic that flight takes away, or the models.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from wfb_gym._jit import int64, jit
from wfb_gym.engine.morale import PASS_CHANCE, is_in, leadership, most_for_test
from wfb_gym.engine.queries import bit
from wfb_gym.engine.scoring import (
    half_of_unit,
    half_of_wizard,
    points_of_unit,
    points_of_wizard,
)
from wfb_gym.engine.state import State
from wfb_gym.engine.targets import flees, wounds_left
from wfb_gym.packing.records import PackedScenario
from wfb_gym.scenario.sizes import TARGETS, UNITS

BY_MODELS = -1.0
"""In place of a part of the points of wounds: of these no part, but where points are those of
models, the points of all models and wounds lost."""


class Counts(NamedTuple):
    """What the enemy counts for a victim by its wounds left."""

    matters: bool  # whether what it may lose changes anything
    left: int  # wounds that it has now
    half: int  # most wounds with which it is below half
    test: int  # most wounds with which it takes a Panic test
    above: float  # points above half, below half, gone and fleeing, the characters in it then
    below: float
    gone: float
    fled: float
    flight: float  # chance that the test fails
    wear: float  # points of a wound that count where the tally changes by less
    # where points are those of models: how many there are, wounds and points of each
    models: int
    wounds: int
    points: float


@jit(forceinline=False)
def counts_of(
    packed: PackedScenario, state: State, victim: int, most: int, wear: float, panic: bool
) -> Counts:
    """Tell what the enemy counts for a victim that may lose so many wounds at the most."""
    side = victim // TARGETS
    index = victim % TARGETS
    if index >= UNITS and packed.armies[side].wizards[index - UNITS].daemons:
        index = int64(packed.armies[side].wizards[index - UNITS].unit) - 1
    left = int64(wounds_left(state, side, index))
    zero, one = int64(0), int64(1)
    if wear == BY_MODELS and not packed.victory_points:
        return _counts_of_models(packed, side, index, left)
    if flees(state, side, index):  # all of it is counted already
        return Counts(False, left, zero, zero, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, zero, one, 0.0)
    least = max(int64(0), left - most)
    test = zero
    if panic and index < UNITS and state.phase_models[side, index]:
        test = int64(most_for_test(packed, state, side, index))
    tested = test > 0 and least <= test
    flight = 0.0
    company = 0.0
    if tested:
        flight = 1.0 - float(PASS_CHANCE[leadership(packed, state, side, index)])
    if not packed.victory_points:
        if tested:  # until its next phase, if it does not rally before
            company = flight * _magic_in(packed, state, side, index)
        matters = company > 0.0
        return Counts(
            matters, left, zero, test, 0.0, 0.0, 0.0, company, flight, 0.0, zero, one, 0.0
        )  # fmt: skip
    if index >= UNITS:
        half = int64(half_of_wizard(packed, side, index - UNITS))
    else:
        half = int64(half_of_unit(packed, side, index))
    matters = tested or wear > 0.0 or least == 0 or (least <= half < left)
    if not matters:
        return Counts(False, left, half, test, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, zero, one, 0.0)
    gone = _points_with(packed, side, index, int64(0), False)
    below = _points_with(packed, side, index, half, False) if half else gone
    if tested:
        company = _points_with(packed, side, index, left, True)
        company += cost_of_company(packed, state, side, index)
    each = wear * _points_per_wound(packed, side, index)
    return Counts(
        True, left, half, test, 0.0, below, gone, company, flight, each, zero, one, 0.0
    )  # fmt: skip


@jit
def _counts_of_models(packed: PackedScenario, side: int, index: int, left: int) -> Counts:
    """Return `counts_of` where points are those of models and wounds lost."""
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
    """Victory points for a target with so many wounds left; of Daemons with their focal model."""
    if index >= UNITS:
        return float(points_of_wizard(packed, side, index - UNITS, left, fled))
    points = float(points_of_unit(packed, side, index, left, fled))
    caster = int64(packed.armies[side].units[index].caster)
    if caster and left == 0:  # who flees is counted with the characters in it
        points += points_of_wizard(packed, side, caster - 1, left, fled)
    return points


@jit
def _expected_count(counts: Counts, left: int) -> float:
    """Points expected to be counted at the end of the phase with so many wounds left.

    Where points are those of models, they are counted from the last one on.
    """
    if counts.points != 0.0:
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
    """Points that a victim loses on average by 0, 1, 2 ... wounds; chances begin at `first`."""
    now = _expected_count(counts, counts.left)
    mean = 0.0
    for wounds in range(1, count):
        after = max(int64(0), counts.left - wounds)
        change = _expected_count(counts, after) - now
        if counts.wear > 0.0:
            change = max(change, counts.wear * (counts.left - after))
        mean += pmf[first + wounds] * change
    return mean


@jit
def _points_per_wound(packed: PackedScenario, side: int, index: int) -> float:
    """Share of a wound in the points of the model that loses it."""
    if index >= UNITS:
        return float(packed.armies[side].wizards[index - UNITS].points_per_wound)
    entry = packed.armies[side].units[index]
    return float(entry.points / entry.wounds)


# --- flight --------------------------------------------------------------------------------


@jit(forceinline=False)
def cost_of_company(packed: PackedScenario, state: State, side: int, unit: int) -> float:
    """Victory points that the enemy counts for characters in a unit only while they flee."""
    points = 0.0
    for wizard in range(packed.armies[side].n_wizards):
        if is_in(packed, state, side, wizard, unit):
            left = int64(state.wounds[side, wizard])
            points += points_of_wizard(packed, side, wizard, left, True)
            points -= points_of_wizard(packed, side, wizard, left, False)
    return points


@jit(forceinline=False)
def _magic_in(packed: PackedScenario, state: State, side: int, unit: int) -> float:
    """Points of the dearest spells that the characters in a unit could cast, one for each."""
    points = 0.0
    for wizard in range(packed.armies[side].n_wizards):
        if is_in(packed, state, side, wizard, unit):
            points += _dearest_spell(packed, state, side, wizard)
    return points


@jit(forceinline=False)
def _dearest_spell(packed: PackedScenario, state: State, side: int, wizard: int) -> float:
    entry = packed.armies[side].wizards[wizard]
    spells = int64(entry.bound & state.known[side])
    if state.level[side, wizard] > 0:
        spells |= int64(entry.spells & state.known[side])
    most = 0.0
    for spell in range(packed.armies[side].n_spells):
        if spells & bit(spell):
            promised = packed.armies[side].spells[spell]
            most = max(most, float(promised.worth + promised.worth_per_phase))
    return most
