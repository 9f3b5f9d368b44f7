"""What a spell promises its owner, aimed, aimed best or in play: read-only questions.

Where points are those of models, a strike promises what was reckoned against whole units when the
scenario was packed. Under victory points it is what the tally can be expected to change from the
position as it is (`wfb_gym.engine.expected_score`). There `wear` is the part of the points of
wounds that counts where the tally changes by less: 0 but for players who want to get on.
"""

import numpy as np
from numpy.typing import NDArray

from wfb_gym._jit import int64, jit
from wfb_gym.engine.expected_score import (
    LANDS_NOW,
    change_by_aim,
    change_by_landing,
    changes_by_victim,
)
from wfb_gym.engine.state import Node, State
from wfb_gym.engine.targets import can_aim, worth_per_phase
from wfb_gym.packing.records import Duration, PackedScenario
from wfb_gym.rules.comets import landing_chances
from wfb_gym.scenario.sizes import ARMIES, PHASES, POINTS, SPELLS, TARGETS

_LANDING_CHANCES = np.array(landing_chances(PHASES))


@jit
def phases_left(packed: PackedScenario, state: State) -> int:
    """Phases that end from now on, this one included."""
    return int(packed.phases) - int(state.phase)


@jit
def worth_now(packed: PackedScenario, state: State, army: int, spell: int, wear: float) -> float:
    """Points that a spell promises its owner with its best aim, if it takes effect now.

    It pays for each of the phases that end while it is in play. A Comet promises what it brings
    if it lands at the start of one of the phases after this one.
    """
    if packed.armies[army].spells[spell].targeted:
        return _worth_of_best_aim(packed, state, army, spell, wear)
    return worth_of_pending(packed, state, army, spell, int64(0), wear)


@jit(forceinline=False)
def _worth_of_best_aim(
    packed: PackedScenario, state: State, army: int, spell: int, wear: float
) -> float:
    """Points of the best open aim, 0 where none is open.

    Aims are ranked by points against whole units; under victory points all are compared.
    """
    entry = packed.armies[army].spells[spell]
    if entry.landing >= 0:
        return _worth_of_best_point(packed, state, army, spell, wear)
    ranked = entry.duration != Duration.DELAYED and not packed.victory_points
    found = False
    most = 0.0
    for k in range(entry.n_aims):
        aim = int64(packed.armies[army].aims[entry.first_aim + k].ranked)
        if can_aim(packed, state, army, spell, aim):
            worth = worth_of_aim(packed, state, army, spell, aim, wear)
            if ranked:
                return worth
            if not found or worth > most:
                most = worth
            found = True
    return most


@jit(forceinline=False)
def _worth_of_best_point(
    packed: PackedScenario, state: State, army: int, spell: int, wear: float
) -> float:
    """`_worth_of_best_aim` of a Comet at points of the battlefield, all of them open or none."""
    if not can_aim(packed, state, army, spell, int64(0)):
        return 0.0
    if packed.victory_points:
        return _most_by_tally(packed, state, army, spell, wear)
    entry = packed.armies[army].spells[spell]
    starts = int64(phases_left(packed, state) - 1)
    best = _mean_when_landing(packed, int64(entry.landing), int64(1), starts)
    return _beside_landing(packed, state, army, spell, int64(0)) + best


@jit(_nrt=True, forceinline=False)
def _most_by_tally(
    packed: PackedScenario, state: State, army: int, spell: int, wear: float
) -> float:
    """Points of a Comet at its best point, as the tally is expected to change."""
    worths = np.empty(POINTS)
    count = worths_of_points(packed, state, army, spell, wear, worths)
    return float(worths[:count].max())


@jit(_nrt=True, forceinline=False)
def worths_of_points(
    packed: PackedScenario,
    state: State,
    army: int,
    spell: int,
    wear: float,
    worths: NDArray[np.float64],
) -> int:
    """Write `worth_of_aim` of each of a Comet's points to `worths`; return how many there are."""
    entry = packed.armies[army].spells[spell]
    starts = int64(phases_left(packed, state) - 1)
    changes = np.empty(ARMIES * TARGETS)
    if packed.victory_points:
        changes_by_victim(packed, state, army, spell, int64(0), wear, changes)
    for aim in range(entry.n_aims):
        if packed.victory_points:
            mean = change_by_landing(packed, army, spell, aim, int64(1), starts, changes)
        else:
            landing = int64(packed.armies[army].aims[entry.first_aim + aim].landing)
            mean = _mean_when_landing(packed, landing, int64(1), starts)
        worths[aim] = _beside_landing(packed, state, army, spell, aim) + mean
    return int64(entry.n_aims)


@jit
def _beside_landing(packed: PackedScenario, state: State, army: int, spell: int, aim: int) -> float:
    """Points that an aim brings beside those of a landing Comet."""
    entry = packed.armies[army].spells[spell]
    way = packed.armies[army].aims[entry.first_aim + aim]
    return float(way.worth + way.worth_per_phase * phases_left(packed, state))


@jit
def worth_of_aim(
    packed: PackedScenario, state: State, army: int, spell: int, aim: int, wear: float
) -> float:
    """`worth_now` of one aim."""
    entry = packed.armies[army].spells[spell]
    way = packed.armies[army].aims[entry.first_aim + aim]
    phases = phases_left(packed, state)
    if way.landing >= 0:
        starts = int64(phases - 1)
        mean = _mean_of_comet(packed, state, army, spell, aim, int64(1), starts, wear)
        return _beside_landing(packed, state, army, spell, aim) + mean
    lasting = way.worth_per_phase * phases
    if packed.victory_points:
        change = change_by_aim(packed, state, army, spell, aim, wear)
        return float(way.worth + change + lasting)
    return float(way.promise + lasting)


@jit
def worth_of_pending(
    packed: PackedScenario, state: State, army: int, spell: int, aim_plus_one: int, wear: float
) -> float:
    """`worth_now` of a spell as it has been aimed."""
    if aim_plus_one == 0:
        entry = packed.armies[army].spells[spell]
        return float(entry.worth + entry.worth_per_phase * phases_left(packed, state))
    return worth_of_aim(packed, state, army, spell, aim_plus_one - 1, wear)


@jit
def worth_in_play(
    packed: PackedScenario, state: State, army: int, spell: int, wear: float
) -> float:
    """Points that a spell in play still promises its owner, if nobody ends it."""
    paid = int64(state.node == Node.ROLL_PANIC)  # for this phase
    lasting = worth_per_phase(packed, state, army, spell) * (phases_left(packed, state) - paid)
    if packed.armies[army].spells[spell].duration == Duration.DELAYED:
        return lasting + _worth_of_comet(packed, state, army, spell, wear)
    return lasting


@jit(forceinline=False)
def _worth_of_comet(
    packed: PackedScenario, state: State, army: int, spell: int, wear: float
) -> float:
    """Points that a Comet in play brings in the phases left, with the markers that it has.

    One that is striking counts for nothing.
    """
    if state.striking == army * SPELLS + spell + 1:
        return 0.0
    aim = int64(state.aims[army, spell] - 1)
    markers = int64(state.markers[army, packed.armies[army].spells[spell].wizard])
    if state.node == Node.ROLL_RADIUS and state.cursor == army * SPELLS + spell:
        return _mean_of_comet(packed, state, army, spell, aim, markers, LANDS_NOW, wear)
    # Units rally and locks are rolled for before Comets, and these in the order of their spells.
    due = state.node in (Node.ROLL_RALLY, Node.ROLL_LOCK) or (
        state.node == Node.ROLL_COMET and state.cursor <= army * SPELLS + spell
    )
    starts = int64(phases_left(packed, state) - 1 + due)
    return _mean_of_comet(packed, state, army, spell, aim, markers, starts, wear)


@jit(_nrt=True, forceinline=False)
def _mean_of_comet(
    packed: PackedScenario,
    state: State,
    army: int,
    spell: int,
    aim: int,
    markers: int,
    starts: int,
    wear: float,
) -> float:
    """Points that a Comet brings within the next starts of phases, unless it is dispelled."""
    if packed.victory_points:
        changes = np.empty(ARMIES * TARGETS)
        changes_by_victim(packed, state, army, spell, aim, wear, changes)
        return change_by_landing(packed, army, spell, aim, markers, starts, changes)
    entry = packed.armies[army].spells[spell]
    landing = int64(packed.armies[army].aims[entry.first_aim + aim].landing)
    return _mean_when_landing(packed, landing, markers, starts)


@jit
def _mean_when_landing(packed: PackedScenario, landing: int, markers: int, starts: int) -> float:
    """Return the same where points are those of models, by what is packed from `landing` on.

    That counts from the casting, and so is divided by the chance to have come so far.
    """
    first = landing + markers - 1
    if starts == LANDS_NOW:
        come = packed.landings[first + 1] - packed.landings[first]
        return float(come / _LANDING_CHANCES[markers - 1])
    come = packed.landings[first + starts] - packed.landings[first]
    return float(come * (_LANDING_CHANCES[0] / _LANDING_CHANCES[markers - 1]))
