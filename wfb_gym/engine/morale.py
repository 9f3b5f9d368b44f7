"""Morale: units that lose many models in a phase may flee, then rally before their next phase.

Panic tests are taken at the very end of a phase and rally rolls at the very start, so no unit
starts to flee during a phase. No roll is made if flight would change nothing (house rule C.123):
models never move, and a fleeing unit without magic is as good a target as a steady one.
"""

import numpy as np

from wfb_gym._jit import int64, jit
from wfb_gym.engine.canonical import most_loss_of_unit
from wfb_gym.engine.hidden_items import uses_at_most
from wfb_gym.engine.queries import bit, clear_bits, gain, opponent_of
from wfb_gym.engine.scoring import points_for
from wfb_gym.engine.state import Node, State
from wfb_gym.engine.targets import (
    flees,
    is_enough_to_rally,
    is_on_its_own,
    models_left,
    unit_stands,
    wounds_left,
)
from wfb_gym.packing.records import UNBOUNDED, PackedScenario
from wfb_gym.rules.dice import power
from wfb_gym.rules.morale import chance_to_pass, models_until_test, needs_panic_test
from wfb_gym.scenario.sizes import ARMIES, TARGETS, UNITS

MOST_LEADERSHIP = 10
PASS_CHANCE = np.array([float(chance_to_pass(each)) for each in range(MOST_LEADERSHIP + 1)])
"""Probability of passing a test, indexed by Leadership, float64 (MOST_LEADERSHIP + 1,)."""


@jit
def is_in(packed: PackedScenario, state: State, army: int, wizard: int, index: int) -> bool:
    """Return whether a character is alive, and is this target or in this unit."""
    unit = packed.armies[army].wizards[wizard].unit
    return state.wounds[army, wizard] > 0 and (unit == index + 1 or index == UNITS + wizard)


@jit
def _flees_on_its_own(packed: PackedScenario, state: State, army: int, index: int) -> bool:
    """Return whether a living target flees by itself: a unit, or a character outside a unit."""
    return wounds_left(state, army, index) > 0 and is_on_its_own(packed, state, army, index)


@jit(forceinline=False)
def leadership(packed: PackedScenario, state: State, army: int, index: int) -> int:
    """Return a unit's best Leadership, or the Leadership of a character on its own.

    A unit uses its own Leadership or a living character's, whichever is better (house rule C.116).
    """
    best = int64(0)
    if index < UNITS:
        best = int64(packed.armies[army].units[index].leadership)
    for wizard in range(packed.armies[army].n_wizards):
        if is_in(packed, state, army, wizard, index):
            best = max(best, int64(packed.armies[army].wizards[wizard].leadership))
    return best


@jit
def tested_leadership(packed: PackedScenario, state: State) -> int:
    """Return the Leadership for the pending Panic test or rally roll."""
    return leadership(packed, state, int64(state.mover), int64(state.cursor) % TARGETS)


@jit(forceinline=False)
def set_flight(packed: PackedScenario, state: State, army: int, index: int, fled: bool) -> float:
    """Make a unit and all its characters, or a character on its own, flee or rally.

    Returns:
        Points that change hands, from the first army's perspective.
    """
    group = bit(index)
    for wizard in range(packed.armies[army].n_wizards):
        if is_in(packed, state, army, wizard, index):
            group |= bit(UNITS + wizard)
    before = _points_of_group(packed, state, army, group)
    others = clear_bits(state.fleeing[army], group)
    state.fleeing[army] = others | group if fled else others
    return gain(opponent_of(army), _points_of_group(packed, state, army, group) - before)


@jit(forceinline=False)
def _points_of_group(packed: PackedScenario, state: State, army: int, group: int) -> float:
    """Return the victory points for the targets in a bit mask; 0 if they are not used."""
    points = 0.0
    if packed.victory_points:
        for index in range(TARGETS):
            if group & bit(index):
                points += points_for(packed, state, army, index)
    return points


# --- relevance of flight -------------------------------------------------------------------


@jit(forceinline=False)
def flight_matters(
    packed: PackedScenario, state: State, army: int, index: int, phases: int
) -> bool:
    """Return whether it matters if a unit, or a character on its own, flees.

    It matters if the scenario uses victory points, if a character in it could add dice, cast or use
    an item, or if a spell depends on or changes flight.

    Args:
        packed: the scenario.
        state: the position.
        army: the target's army.
        index: the target's index, units first.
        phases: number of phases whose dice are still to be generated.
    """
    if packed.victory_points:
        return True
    if phases == 0:
        return False
    if packed.armies[army].gains_if_fleeing & bit(index):
        return True
    for wizard in range(packed.armies[army].n_wizards):
        if is_in(packed, state, army, wizard, index) and _has_magic(packed, state, army, wizard):
            return True
    return False


@jit(forceinline=False)
def _has_magic(packed: PackedScenario, state: State, army: int, wizard: int) -> bool:
    """Return whether a character could add dice, cast or use an item while not fleeing."""
    entry = packed.armies[army].wizards[wizard]
    if state.level[army, wizard] > 0 or (entry.rune and entry.dispel_dice > 0):
        return True
    if entry.bound & state.known[army]:
        return True
    return _bears_item(packed, state, army, wizard)


@jit(forceinline=False)
def _bears_item(packed: PackedScenario, state: State, army: int, wizard: int) -> bool:
    """Return whether a character has an item that is not used up."""
    for item in range(packed.armies[army].n_items):
        entry = packed.armies[army].items[item]
        if entry.bearer == wizard and (
            uses_at_most(packed, state, army, item) > 0 or entry.count == 0
        ):
            return True
    return False


# --- rallying ------------------------------------------------------------------------------


@jit(forceinline=False)
def next_rally(packed: PackedScenario, state: State) -> None:
    """Go to the next of the active army's targets that may rally, or continue the phase (RE).

    A unit with less than a quarter of its models may not rally.
    """
    army = int64(state.active)
    while state.cursor < TARGETS:
        index = int64(state.cursor)
        if flees(state, army, index) and _flees_on_its_own(packed, state, army, index):
            phases = int64(packed.phases - state.phase)
            if is_enough_to_rally(packed, state, army, index) and flight_matters(
                packed, state, army, index, phases
            ):
                state.mover = army
                state.node = Node.ROLL_RALLY
                return
        state.cursor += 1
    state.cursor = 0
    state.node = Node.BEGIN_PHASE


@jit
def resolve_rally(packed: PackedScenario, state: State, rallies: bool) -> float:
    """Rally the current target, or let it keep fleeing; return points like `set_flight`."""
    index = int64(state.cursor)
    state.cursor += 1
    state.node = Node.RALLY
    return set_flight(packed, state, int64(state.active), index, False) if rallies else 0.0


# --- panic ---------------------------------------------------------------------------------


@jit(forceinline=False)
def count_models(packed: PackedScenario, state: State) -> None:
    """Record each unit's models at the start of the phase if it may take a Panic test."""
    for army in range(ARMIES):
        for unit in range(packed.armies[army].n_units):
            if _may_panic(packed, state, army, unit):
                state.phase_models[army, unit] = models_left(packed, state, army, unit)


@jit(forceinline=False)
def _may_panic(packed: PackedScenario, state: State, army: int, unit: int) -> bool:
    """Return whether a unit could flee at the end of the phase if it lost enough models.

    A unit that is immune or flees already does not test (REC), and a unit in close combat does not
    test either (house rule C.117).
    """
    entry = packed.armies[army].units[unit]
    if not entry.panics or entry.engaged or not unit_stands(state, army, unit):
        return False
    if flees(state, army, unit):
        return False
    phases = int64(packed.phases - state.phase - 1)
    return flight_matters(packed, state, army, unit, phases)


@jit(forceinline=False)
def canonicalize_tests(packed: PackedScenario, state: State) -> None:
    """Clear the recorded models at the start of the phase if no Panic test needs them.

    Call this only between casts.
    """
    for army in range(ARMIES):
        for unit in range(packed.armies[army].n_units):
            began = int64(state.phase_models[army, unit])
            if began == 0:
                continue
            left = models_left(packed, state, army, unit)
            if not _may_panic(packed, state, army, unit):
                state.phase_models[army, unit] = 0
            elif needs_panic_test(began, began - left):
                state.phase_models[army, unit] = packed.armies[army].units[unit].models
            else:
                least = _least_left(packed, state, army, unit)
                if not needs_panic_test(began, began - least):
                    state.phase_models[army, unit] = 0


@jit(forceinline=False)
def _least_left(packed: PackedScenario, state: State, army: int, unit: int) -> int:
    """Return the minimum number of models that this phase's magic may leave in a unit."""
    most = int64(most_loss_of_unit(packed, state, army, unit))
    if most == UNBOUNDED:
        return 0
    each = int64(packed.armies[army].units[unit].wounds)
    left = int64(state.unit_wounds[army, unit])
    return max(0, (left - most + each - 1) // each)


@jit
def most_for_test(packed: PackedScenario, state: State, army: int, unit: int) -> int:
    """Return the maximum wounds left at which a unit takes a Panic test; 0 if it takes none."""
    began = int64(state.phase_models[army, unit])
    each = int64(packed.armies[army].units[unit].wounds)
    return (began - models_until_test(began, int64(0))) * each


@jit(forceinline=False)
def next_test(packed: PackedScenario, state: State) -> bool:
    """Move to the next unit that takes a Panic test; return whether there is one.

    The first army's units come first; no test affects another.
    """
    while state.cursor < ARMIES * TARGETS:
        army = int64(state.cursor) // TARGETS
        index = int64(state.cursor) % TARGETS
        if index < UNITS and state.phase_models[army, index]:
            state.mover = army
            state.node = Node.ROLL_PANIC
            return True
        state.cursor += 1
    state.cursor = 0
    return False


@jit
def resolve_panic(packed: PackedScenario, state: State, passes: bool) -> float:
    """Apply the current unit's Panic test; return points like `set_flight`."""
    army = int64(state.mover)
    unit = int64(state.cursor) % TARGETS
    state.phase_models[army, unit] = 0
    state.cursor += 1
    state.node = Node.PANIC
    return 0.0 if passes else set_flight(packed, state, army, unit, True)


# --- rolls to come -------------------------------------------------------------------------


@jit(forceinline=False)
def points_of_flight_to_come(packed: PackedScenario, state: State) -> float:
    """Return the expected points of the coming Panic tests and rally rolls.

    These are the tests at the end of this phase and the rally rolls at the start of all later
    phases, if the models left stay the same. Without victory points, the result is 0.

    Args:
        packed: the scenario.
        state: a decision; not modified.

    Returns:
        Points from the first army's perspective.
    """
    points = 0.0
    if not (packed.panic and packed.victory_points):
        return points
    for army in range(ARMIES):
        later = int64(packed.phases - 1 - state.phase)
        rolls = later // 2 if army == state.active else (later + 1) // 2
        for index in range(TARGETS):
            if not _flees_on_its_own(packed, state, army, index):
                continue
            fails = 1.0 - PASS_CHANCE[leadership(packed, state, army, index)]
            never_rallies = 1.0
            if is_enough_to_rally(packed, state, army, index):
                never_rallies = power(fails, rolls)
            fled = bool(flees(state, army, index))
            chance = 0.0
            if fled:
                chance = 1.0 - never_rallies
            elif index < UNITS and state.phase_models[army, index]:
                left = int64(wounds_left(state, army, index))
                if left <= most_for_test(packed, state, army, index):
                    chance = fails * never_rallies
            if chance > 0.0:
                fleeing = state.fleeing[army]
                points += chance * set_flight(packed, state, army, index, not fled)
                state.fleeing[army] = fleeing
    return float(points)


@jit(forceinline=False)
def forget_flight(packed: PackedScenario, state: State) -> None:
    """In the last phase, clear the flight of targets for which it no longer matters."""
    if packed.victory_points:
        return
    for army in range(ARMIES):
        free = state.known[army] if army != state.active else 0
        for index in range(TARGETS):
            if not flees(state, army, index) or not _flees_on_its_own(packed, state, army, index):
                continue
            matters = (packed.armies[army].gains_if_fleeing & bit(index)) != 0
            for wizard in range(packed.armies[army].n_wizards):
                if is_in(packed, state, army, wizard, index):
                    spells = packed.armies[army].wizards[wizard].spells & free
                    matters |= spells != 0 or _bears_item(packed, state, army, wizard)
            if not matters:
                set_flight(packed, state, army, index, False)
