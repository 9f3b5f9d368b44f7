"""A magic phase reduced to a duel of plain worths, which is small enough to solve exactly.

What makes a phase of a battle large are casualties: every number of models left is a position of
its own. The reduction leaves units out. Each spell gets what it promises now, at its best target,
as a plain worth; one that lasts also gets what it can be expected to pay in phases to come. Dice,
items, wizards and spells in play stay as they are, and so does every rule of dice: the duel is a
packed scenario of one phase, which the engine plays.

`wfb_gym.players.search.phase_search` solves the duel and says what is left out.
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from wfb_gym._jit import int64, jit
from wfb_gym._records import Records
from wfb_gym.engine.promises import phases_left, worth_in_play, worth_of_pending
from wfb_gym.engine.queries import bit, can_nominate, other, without
from wfb_gym.engine.state import DispelAttempt, Node, State
from wfb_gym.engine.targets import (
    can_aim,
    resistance,
    resistance_of_aim,
    resistance_to_cast,
    worth_per_phase,
    wounds_left,
)
from wfb_gym.opponents.scripted import POINTS_PER_DIE, best_cast_chance
from wfb_gym.opponents.worths import WEAR, worth_of_aim
from wfb_gym.packing.records import Duration, EffectKind, PackedScenario, Whose
from wfb_gym.scenario.sizes import ARMIES, CONTACTS, MARK_WORDS, SPELLS, TARGETS, UNITS, WIZARDS

LEFT_OVER = 0.8
"""Share of the points of those struck that a spell can be expected to take at most."""
RESISTED = 0.15
"""Share of a spell's worth that each die of Magic Resistance takes away, before it is cast."""
MOST_IN_PLAY = 3
"""Spells in play of each army that a duel keeps."""
HOPE = 0.05
"""Added to the chance to cast where spells are ranked: a stone may cast what dice hardly can."""


class Worths(NamedTuple):
    """What the spells of a duel are worth, by army and spell, points."""

    at_once: NDArray[np.float64]  # (ARMIES, SPELLS), when it takes effect
    at_the_end: NDArray[np.float64]  # (ARMIES, SPELLS), when the phase ends while it is in play
    durations: NDArray[np.int64]  # (ARMIES, SPELLS)
    scores: NDArray[np.float64]  # (SPELLS,), scratch


def new_worths() -> Worths:
    """Worths of a duel, all 0."""
    shape = ARMIES, SPELLS
    return Worths(np.zeros(shape), np.zeros(shape), np.zeros(shape, np.int64), np.zeros(SPELLS))


@jit
def expected_phases(duration: int, left: int, survival: float) -> float:
    """Phases that a spell put into play now can be expected to pay for.

    `survival` is the chance that it outlives a phase.
    """
    if duration == Duration.ONE_TURN:
        return float(min(2, left))
    phases = 0.0
    chance = 1.0
    for _ in range(left):
        phases += chance
        chance *= survival
    return phases


@jit(forceinline=False)
def _aim_at_once(packed: PackedScenario, state: State, army: int, spell: int, aim: int) -> float:
    """Points of an aim when it takes effect, no more than what is left of those it strikes."""
    entry = packed.armies[army].spells[spell]
    way = packed.armies[army].aims[entry.first_aim + aim]
    later = way.worth_per_phase * phases_left(packed, state)
    points = worth_of_aim(packed, state, army, spell, aim) - later
    if packed.victory_points or way.n_strikes == 0:
        return float(points)
    left = 0.0
    whole = 0.0
    for k in range(way.n_strikes):
        victim = int64(packed.strikes[way.first_strike + k].victim)
        side = victim // TARGETS
        index = victim % TARGETS
        sign = 1.0 if side != army else -1.0
        wounds = float(wounds_left(state, side, index))
        if index < UNITS:
            unit = packed.armies[side].units[index]
            left += sign * wounds * unit.points / max(1, int64(unit.wounds))
            whole += sign * float(unit.models) * unit.points
        else:
            wizard = packed.armies[side].wizards[index - UNITS]
            left += sign * wounds * wizard.points_per_wound
            whole += sign * float(wizard.wounds) * wizard.points_per_wound
    struck = points - way.worth
    if way.n_strikes > 1 and whole > 0.0:
        struck *= max(0.0, left / whole)
    return float(way.worth + min(struck, LEFT_OVER * left))


@jit(forceinline=False)
def aim_value(
    packed: PackedScenario, state: State, army: int, spell: int, aim: int, survival: float
) -> float:
    """Points that an aim can be expected to bring, if the spell is cast."""
    entry = packed.armies[army].spells[spell]
    way = packed.armies[army].aims[entry.first_aim + aim]
    phases = expected_phases(int64(entry.duration), phases_left(packed, state), survival)
    value = _aim_at_once(packed, state, army, spell, aim) + way.worth_per_phase * phases
    return float(value * (1.0 - RESISTED * resistance_of_aim(packed, state, army, spell, aim)))


@jit(nogil=True, forceinline=False)
def best_aim(packed: PackedScenario, state: State, army: int, spell: int, survival: float) -> int:
    """Return the number of the open aim that can be expected to bring most, or -1."""
    best = -1
    most = 0.0
    for aim in range(packed.armies[army].spells[spell].n_aims):
        if can_aim(packed, state, army, spell, aim):
            value = aim_value(packed, state, army, spell, aim, survival)
            if best < 0 or value > most:
                best = aim
                most = value
    return int64(best)


@jit
def _is_pending(state: State, spell: int) -> bool:
    """Whether the active army's spell is being cast, or was and is being dispelled."""
    cast = state.attempt == DispelAttempt.NONE or state.attempt == DispelAttempt.CAST
    return bool(state.spell - 1 == spell and cast)


@jit
def _highest(scores: NDArray[np.float64], count: int, chosen: int) -> int:
    """Spell of the highest score above 0 that is not chosen yet, or -1."""
    best = -1
    most = 1e-9
    for spell in range(count):
        if not (chosen & bit(spell)) and scores[spell] > most:
            best = spell
            most = scores[spell]
    return int64(best)


@jit(forceinline=False)
def _reduce_casts(
    packed: PackedScenario, state: State, most_spells: int, survival: float, worths: Worths
) -> int:
    """Write the worths of the best spells that are open, and of the one under way.

    Returns:
        The open ones that are kept, as bits.
    """
    army = int64(state.active)
    count = int64(packed.armies[army].n_spells)
    left = phases_left(packed, state)
    scores = worths.scores
    for s in range(count):
        scores[s] = -1.0
        entry = packed.armies[army].spells[s]
        pending = _is_pending(state, s)
        if not pending and not can_nominate(packed, state, s):
            continue
        now = float(entry.worth)
        per_phase = float(entry.worth_per_phase)
        if entry.targeted:
            aim = int64(state.aim) - 1 if pending else int64(-1)
            if aim < 0:
                aim = best_aim(packed, state, army, s, survival)
            if aim < 0:
                continue
            now = _aim_at_once(packed, state, army, s, aim)
            per_phase = float(packed.armies[army].aims[entry.first_aim + aim].worth_per_phase)
            if not pending:
                stays = 1.0 - RESISTED * resistance_of_aim(packed, state, army, s, aim)
                now *= stays
                per_phase *= stays
        later = per_phase * expected_phases(int64(entry.duration), left, survival)
        if entry.duration == Duration.REMAINS_IN_PLAY:
            worths.at_once[army, s] = now
            worths.at_the_end[army, s] = later
            worths.durations[army, s] = Duration.REMAINS_IN_PLAY
        else:
            worths.at_once[army, s] = now + later
        if not pending:
            scores[s] = (now + later) * (HOPE + best_cast_chance(packed, state, army, s))
    chosen = int64(0)
    for _ in range(most_spells):
        best = _highest(scores, count, chosen)
        if best < 0:
            break
        chosen |= bit(best)
    for s in range(count):
        if scores[s] >= 0.0 and not (chosen & bit(s)):
            worths.at_once[army, s] = 0.0
            worths.at_the_end[army, s] = 0.0
            worths.durations[army, s] = 0
    return chosen


@jit(forceinline=False)
def _reduce_spells_in_play(
    packed: PackedScenario, state: State, army: int, survival: float, worths: Worths
) -> int:
    """Write what an army's spells in play are worth; returns those that are kept, as bits."""
    count = int64(packed.armies[army].n_spells)
    left = phases_left(packed, state)
    for s in range(count):
        worths.scores[s] = -1.0
        if not state.in_play[army] & bit(s):
            continue
        duration = int64(packed.armies[army].spells[s].duration)
        per_phase = worth_per_phase(packed, state, army, s)
        if duration == Duration.DELAYED:
            worths.scores[s] = worth_in_play(packed, state, army, s, WEAR)
        else:
            phases = expected_phases(duration, left, survival)
            if duration == Duration.ONE_TURN and not state.new_in_play[army] & bit(s):
                phases = 1.0
            worths.scores[s] = per_phase * phases
    kept = int64(0)
    if state.target and (state.target - 1) // SPELLS == army:
        kept |= bit((state.target - 1) % SPELLS)
    for _ in range(MOST_IN_PLAY):
        best = _highest(worths.scores, count, kept)
        if best < 0:
            break
        kept |= bit(best)
    for s in range(count):
        if kept & bit(s):
            worths.at_once[army, s] = 0.0
            worths.at_the_end[army, s] = max(0.0, worths.scores[s])
            worths.durations[army, s] = packed.armies[army].spells[s].duration
    return kept


@jit(nogil=True, forceinline=False)
def reduce_state(
    packed: PackedScenario,
    state: State,
    most_spells: int,
    survival: float,
    worths: Worths,
    duel: State,
) -> None:
    """Reduce a position to one of a duel.

    Args:
        packed: the battle's scenario.
        state: the position, at a decision.
        most_spells: spells that may still be cast in the duel.
        survival: chance that a spell in play outlives a phase.
        worths: overwritten.
        duel: overwritten.
    """
    worths.at_once[:] = 0.0
    worths.at_the_end[:] = 0.0
    worths.durations[:] = 0
    army = int64(state.active)
    enemy = other(army)
    number = int64(state.number)
    if state.node == Node.DISPEL and resistance(packed, state):
        dice = resistance_to_cast(packed, state)
        number = max(1, number - int64(POINTS_PER_DIE * dice + 0.5))
    opened = _reduce_casts(packed, state, most_spells, survival, worths)
    if state.free:
        s = int64(state.free - 1)
        points = worth_of_pending(packed, state, enemy, s, int64(state.free_aim), WEAR)
        worths.at_once[enemy, s] = points
    for a in range(ARMIES):
        kept = _reduce_spells_in_play(packed, state, a, survival, worths)
        duel.in_play[a] = kept
        duel.new_in_play[a] = state.new_in_play[a] & kept
        duel.attempted[a] = state.attempted[a] & kept
        if a == army:
            opened = without(opened, kept)
        duel.known[a] = 0
        duel.fleeing[a] = without(state.fleeing[a], bit(UNITS) - 1)
        for word in range(MARK_WORDS):
            duel.marks[a, word] = 0
        for unit in range(UNITS):
            duel.unit_wounds[a, unit] = 0
            duel.phase_models[a, unit] = 0
        for wizard in range(WIZARDS):
            duel.markers[a, wizard] = 0
        for s in range(SPELLS):
            duel.aims[a, s] = 0
    for contact in range(CONTACTS):
        duel.contacts[contact] = 0
    duel.open = opened
    duel.number = number
    duel.phase = 0
    duel.aim = 0
    duel.free_aim = 0


def reduced_scenario(
    packed: Records[PackedScenario], miscast_cost: float
) -> Records[PackedScenario]:
    """Return the scenario of the duels that a battle's phases are reduced to, without worths.

    Args:
        packed: the battle's, shape (1,).
        miscast_cost: points that every miscast costs; it has no other effect.
    """
    reduced = packed.copy()
    one: Any = reduced[0]
    one.phases = 1
    for name in ("targets", "delayed", "stores", "draws", "n_contacts", "panic", "victory_points"):
        one[name] = 0
    for name in ("wounds_others", "miscast_wounds", "miscast_levels", "miscast_spells"):
        one[name] = 0
    for army in one.armies:
        for name in ("n_units", "healing", "sought", "rerolls"):
            army[name] = 0
        for name in ("daemons", "unit", "magic_resistance"):
            army["wizards"][name] = 0
        for name in ("targeted", "heals", "mark", "gains_wound", "needs_flight", "rallies"):
            army["spells"][name] = 0
        army["spells"]["survives_caster"] = 0
        army["spells"]["landing"] = -1
        items = army["items"]
        items["dispel_use"][items["reroll_dispel"] != 0] = 0
        items["reroll_cast"] = items["reroll_dispel"] = 0
    one.miscast_row[:] = 0
    one.n_miscast_rows = 1
    one.miscast_rows[0] = (0, 1)
    one.effects[0]["kind"] = EffectKind.POINTS_LOST
    one.effects[0]["points"] = miscast_cost
    one.effects[0]["whose"] = Whose.CASTER
    return reduced


def with_worths(reduced: Records[PackedScenario], worths: Worths) -> Records[PackedScenario]:
    """Return the scenario of one duel."""
    duel = reduced.copy()
    for army, entry in enumerate(duel[0].armies):
        entry["spells"]["worth"] = worths.at_once[army]
        entry["spells"]["worth_per_phase"] = worths.at_the_end[army]
        entry["spells"]["duration"] = worths.durations[army]
    return duel
