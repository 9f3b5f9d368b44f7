"""A spell's expected value to its owner: with its best aim, with one aim, or in play (read-only).

With points for models, a strike's value is computed against whole units when the scenario is
packed. With victory points, `wfb_gym.engine.expected_score` computes it from the current position.

All functions take `wound_weight`: with victory points, each wound lost scores at least this
fraction of its points. It is 0, except for players that also reward wounds that do not affect the
victory points yet.
"""

import numpy as np
from numpy.typing import NDArray

from wfb_gym._intrinsics import stack_floats
from wfb_gym._jit import int64, jit
from wfb_gym.engine.expected_score import (
    LANDS_NOW,
    change_by_aim,
    change_by_landing,
    changes_by_victim,
)
from wfb_gym.engine.state import Node, State
from wfb_gym.engine.targets import aim_record, can_aim, worth_per_phase
from wfb_gym.packing.records import Duration, PackedScenario
from wfb_gym.rules.comets import landing_chances
from wfb_gym.scenario.sizes import ARMIES, PHASES, POINTS, SPELLS, TARGETS

_VICTIMS = ARMIES * TARGETS
_LANDING_CHANCES = np.array(landing_chances(PHASES))


@jit
def phases_left(packed: PackedScenario, state: State) -> int:
    """Return the number of phases left, including the current one."""
    return int(packed.phases) - int(state.phase)


@jit
def expected_points(
    packed: PackedScenario, state: State, army: int, spell: int, wound_weight: float
) -> float:
    """Return a spell's expected points with its best aim, if it takes effect now.

    A spell that stays in play scores for each phase that ends while it is in play. A Comet scores
    the points for landing at the start of a later phase.
    """
    if packed.armies[army].spells[spell].targeted:
        return _value_of_best_aim(packed, state, army, spell, wound_weight)
    return expected_points_of_pending(packed, state, army, spell, int64(0), wound_weight)


@jit(forceinline=False)
def _value_of_best_aim(
    packed: PackedScenario, state: State, army: int, spell: int, wound_weight: float
) -> float:
    """Return the value of the best legal aim, or 0 if no aim is legal."""
    entry = packed.armies[army].spells[spell]
    if entry.landing >= 0:
        return _value_of_best_point(packed, state, army, spell, wound_weight)
    ranked = entry.duration != Duration.DELAYED and not packed.victory_points
    found = False
    most = 0.0
    for k in range(entry.n_aims):
        aim = int64(aim_record(packed, army, spell, k).ranked)
        if can_aim(packed, state, army, spell, aim):
            value = expected_points_at(packed, state, army, spell, aim, wound_weight)
            if ranked:
                return value
            if not found or value > most:
                most = value
            found = True
    return most


@jit(forceinline=False)
def _value_of_best_point(
    packed: PackedScenario, state: State, army: int, spell: int, wound_weight: float
) -> float:
    """Return `_value_of_best_aim` for a Comet aimed at points; either all are legal, or none."""
    if not can_aim(packed, state, army, spell, int64(0)):
        return 0.0
    if packed.victory_points:
        return _value_by_victory_points(packed, state, army, spell, wound_weight)
    entry = packed.armies[army].spells[spell]
    starts = int64(phases_left(packed, state) - 1)
    best = _mean_when_landing(packed, int64(entry.landing), int64(1), starts)
    return _value_without_landing(packed, state, army, spell, int64(0)) + best


@jit(forceinline=False)
def _value_by_victory_points(
    packed: PackedScenario, state: State, army: int, spell: int, wound_weight: float
) -> float:
    """Return a Comet's value at its best point, with victory points."""
    values = stack_floats(POINTS)
    count = expected_points_at_comet_points(packed, state, army, spell, wound_weight, values)
    most = values[0]
    for k in range(1, count):
        most = max(most, values[k])
    return float(most)


@jit(forceinline=False)
def expected_points_at_comet_points(
    packed: PackedScenario,
    state: State,
    army: int,
    spell: int,
    wound_weight: float,
    values: NDArray[np.float64],
) -> int:
    """Write `expected_points_at` for each of a Comet's points to `values`; return their number."""
    entry = packed.armies[army].spells[spell]
    starts = int64(phases_left(packed, state) - 1)
    changes = stack_floats(_VICTIMS)
    if packed.victory_points:
        changes_by_victim(packed, state, army, spell, int64(0), wound_weight, changes)
    for aim in range(entry.n_aims):
        if packed.victory_points:
            mean = change_by_landing(packed, army, spell, aim, int64(1), starts, changes)
        else:
            landing = int64(aim_record(packed, army, spell, aim).landing)
            mean = _mean_when_landing(packed, landing, int64(1), starts)
        values[aim] = _value_without_landing(packed, state, army, spell, aim) + mean
    return int64(entry.n_aims)


@jit
def _value_without_landing(
    packed: PackedScenario, state: State, army: int, spell: int, aim: int
) -> float:
    """Return an aim's points, excluding the points for a landing Comet."""
    aim_entry = aim_record(packed, army, spell, aim)
    return float(aim_entry.worth + aim_entry.worth_per_phase * phases_left(packed, state))


@jit
def expected_points_at(
    packed: PackedScenario, state: State, army: int, spell: int, aim: int, wound_weight: float
) -> float:
    """Return `expected_points` for one aim."""
    aim_entry = aim_record(packed, army, spell, aim)
    phases = phases_left(packed, state)
    if aim_entry.landing >= 0:
        starts = int64(phases - 1)
        mean = _mean_of_comet(packed, state, army, spell, aim, int64(1), starts, wound_weight)
        return _value_without_landing(packed, state, army, spell, aim) + mean
    lasting = aim_entry.worth_per_phase * phases
    if packed.victory_points:
        change = change_by_aim(packed, state, army, spell, aim, wound_weight)
        return float(aim_entry.worth + change + lasting)
    return float(aim_entry.expected_points + lasting)


@jit
def expected_points_of_pending(
    packed: PackedScenario,
    state: State,
    army: int,
    spell: int,
    aim_plus_one: int,
    wound_weight: float,
) -> float:
    """Return `expected_points` for a spell with its aim; `aim_plus_one` is 0 if it has no aim."""
    if aim_plus_one == 0:
        entry = packed.armies[army].spells[spell]
        return float(entry.worth + entry.worth_per_phase * phases_left(packed, state))
    return expected_points_at(packed, state, army, spell, aim_plus_one - 1, wound_weight)


@jit
def expected_points_in_play(
    packed: PackedScenario, state: State, army: int, spell: int, wound_weight: float
) -> float:
    """Return the points that a spell in play will still earn its owner if it is not ended."""
    paid = int64(state.node == Node.ROLL_PANIC)  # 1 if this phase has already been scored
    lasting = worth_per_phase(packed, state, army, spell) * (phases_left(packed, state) - paid)
    if packed.armies[army].spells[spell].duration == Duration.DELAYED:
        return lasting + _value_of_comet(packed, state, army, spell, wound_weight)
    return lasting


@jit(forceinline=False)
def _value_of_comet(
    packed: PackedScenario, state: State, army: int, spell: int, wound_weight: float
) -> float:
    """Return the points over the phases left of a Comet in play; 0 while it is striking."""
    if state.striking == army * SPELLS + spell + 1:
        return 0.0
    aim = int64(state.aims[army, spell] - 1)
    markers = int64(state.markers[army, packed.armies[army].spells[spell].wizard])
    if state.node == Node.ROLL_RADIUS and state.cursor == army * SPELLS + spell:
        return _mean_of_comet(packed, state, army, spell, aim, markers, LANDS_NOW, wound_weight)
    # Whether this phase's roll for the Comet is still to come: rally and lock rolls come before
    # the Comets, and Comets are rolled for in the order of their spells.
    due = state.node in (Node.ROLL_RALLY, Node.ROLL_LOCK) or (
        state.node == Node.ROLL_COMET and state.cursor <= army * SPELLS + spell
    )
    starts = int64(phases_left(packed, state) - 1 + due)
    return _mean_of_comet(packed, state, army, spell, aim, markers, starts, wound_weight)


@jit(forceinline=False)
def _mean_of_comet(
    packed: PackedScenario,
    state: State,
    army: int,
    spell: int,
    aim: int,
    markers: int,
    starts: int,
    wound_weight: float,
) -> float:
    """Return a Comet's points within the next `starts` phase starts if it is not dispelled."""
    if packed.victory_points:
        changes = stack_floats(_VICTIMS)
        changes_by_victim(packed, state, army, spell, aim, wound_weight, changes)
        return change_by_landing(packed, army, spell, aim, markers, starts, changes)
    landing = int64(aim_record(packed, army, spell, aim).landing)
    return _mean_when_landing(packed, landing, markers, starts)


@jit
def _mean_when_landing(packed: PackedScenario, landing: int, markers: int, starts: int) -> float:
    """Return `_mean_of_comet` with points for models, from the packed table at `landing`.

    The table starts at the time of casting. Dividing by the probability that the Comet has not
    landed yet gives the value for a Comet that now has `markers` markers.
    """
    first = landing + markers - 1
    if starts == LANDS_NOW:
        landing_points = packed.landings[first + 1] - packed.landings[first]
        return float(landing_points / _LANDING_CHANCES[markers - 1])
    landing_points = packed.landings[first + starts] - packed.landings[first]
    return float(landing_points * (_LANDING_CHANCES[0] / _LANDING_CHANCES[markers - 1]))
