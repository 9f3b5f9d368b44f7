"""Values of spells in a duel: expected points now, and in later phases while in play.

Casualties count only through their expected points, at the spell's best target.
"""

import numpy as np
from numpy.typing import NDArray

from wfb_gym._jit import int64, jit
from wfb_gym.engine.expected_score import change_by_care
from wfb_gym.engine.queries import bit
from wfb_gym.engine.spell_values import expected_points_in_play, phases_left
from wfb_gym.engine.state import State
from wfb_gym.engine.targets import (
    aim_record,
    army_of,
    can_aim,
    index_of,
    resistance_of_aim,
    victim_of,
    worth_per_phase,
    wounds_left,
)
from wfb_gym.opponents.values import WOUND_WEIGHT, value_with_flight
from wfb_gym.packing.records import Duration, PackedScenario
from wfb_gym.players.search.duel import NONE
from wfb_gym.scenario.sizes import UNITS

LEFT_OVER = 0.8  # maximum fraction of its victims' points that a spell is expected to destroy
RESISTED = 0.15
"""Fraction of a spell's value lost per die of Magic Resistance when comparing targets."""

Lasting = NDArray[np.float64]
"""Expected number of phases, including this one, in which each spell scores if it is in play at the
end of this phase, (ARMIES, SPELLS)."""


@jit(forceinline=False)
def expect_survival(
    packed: PackedScenario, state: State, survival: float, later: int, lasting: Lasting
) -> None:
    """Write `lasting` for the phase that is `later` phases away.

    `survival` is the probability that a spell in play is still in play one phase later.
    """
    phases = 0.0
    chance = 1.0
    for _ in range(phases_left(packed, state) - later):
        phases += chance
        chance *= survival
    lasting[:] = phases


@jit
def expected_phases(
    packed: PackedScenario, state: State, army: int, spell: int, lasting: Lasting
) -> float:
    """Return the expected number of phases in which a spell scores if it comes into play now."""
    if packed.armies[army].spells[spell].duration == Duration.ONE_TURN:
        return float(min(2, phases_left(packed, state)))
    return float(lasting[army, spell])


@jit(forceinline=False)
def aim_at_once(packed: PackedScenario, state: State, army: int, spell: int, aim: int) -> float:
    """Return an aim's immediate points, limited by the points of the surviving victims."""
    entry = packed.armies[army].spells[spell]
    aim_entry = aim_record(packed, army, spell, aim)
    later = aim_entry.worth_per_phase * phases_left(packed, state)
    points = value_with_flight(packed, state, army, spell, aim) - later
    if entry.heals and aim_entry.target and not packed.victory_points:  # not in the packed values
        code = int64(aim_entry.target)
        points += change_by_care(packed, state, army_of(army, code), index_of(code), True, False)
    if packed.victory_points or aim_entry.n_strikes == 0:
        return float(points)
    casualties = points - aim_entry.worth
    limited = _limit_to_survivors(packed, state, army, spell, aim, casualties)
    return float(aim_entry.worth + limited)


@jit(forceinline=False)
def _limit_to_survivors(
    packed: PackedScenario, state: State, army: int, spell: int, aim: int, points: float
) -> float:
    """Scale casualties against full units down to the remaining enemy models."""
    aim_entry = aim_record(packed, army, spell, aim)
    left = 0.0
    whole = 0.0
    for k in range(aim_entry.n_strikes):
        side, index = victim_of(packed, aim_entry.first_strike + k)
        if side == army:  # the owner's models do not raise a Comet's limit
            continue
        wounds = float(wounds_left(state, side, index))
        if index < UNITS:
            unit = packed.armies[side].units[index]
            left += wounds * unit.points / max(1, int64(unit.wounds))
            whole += float(unit.models) * unit.points
        else:
            wizard = packed.armies[side].wizards[index - UNITS]
            left += wounds * wizard.points_per_wound
            whole += float(wizard.wounds) * wizard.points_per_wound
    if aim_entry.n_strikes > 1 and whole > 0.0:
        points *= left / whole
    return min(points, LEFT_OVER * left)


@jit(forceinline=False)
def value_of_effect(
    packed: PackedScenario, state: State, army: int, spell: int, aim: int, lasting: Lasting
) -> float:
    """Return a spell's expected points if it takes effect with this aim; NONE for no target."""
    entry = packed.armies[army].spells[spell]
    phases = expected_phases(packed, state, army, spell, lasting)
    if aim < 0:
        return float(entry.worth + entry.worth_per_phase * phases)
    now = aim_at_once(packed, state, army, spell, aim)
    return float(now + aim_record(packed, army, spell, aim).worth_per_phase * phases)


@jit(forceinline=False)
def aim_value(
    packed: PackedScenario, state: State, army: int, spell: int, aim: int, lasting: Lasting
) -> float:
    """Return an aim's expected points if the spell is cast, less Magic Resistance."""
    value = value_of_effect(packed, state, army, spell, aim, lasting)
    return float(value * (1.0 - RESISTED * resistance_of_aim(packed, state, army, spell, aim)))


@jit(forceinline=False)
def best_aim(packed: PackedScenario, state: State, army: int, spell: int, lasting: Lasting) -> int:
    """Return the legal aim with the highest expected points, or -1."""
    best = -1
    most = 0.0
    for aim in range(packed.armies[army].spells[spell].n_aims):
        if can_aim(packed, state, army, spell, aim):
            value = aim_value(packed, state, army, spell, aim, lasting)
            if best < 0 or value > most:
                best = aim
                most = value
    return int64(best)


@jit(forceinline=False)
def best_use(
    packed: PackedScenario, state: State, army: int, spell: int, lasting: Lasting
) -> tuple[int, float]:
    """Return a spell's best aim (NONE without a target), and its points if it is cast."""
    if packed.armies[army].spells[spell].targeted:
        aim = best_aim(packed, state, army, spell, lasting)
        return aim, aim_value(packed, state, army, spell, aim, lasting)
    return int64(NONE), value_of_effect(packed, state, army, spell, NONE, lasting)


@jit
def value_in_play(
    packed: PackedScenario, state: State, army: int, spell: int, lasting: Lasting
) -> float:
    """Return the expected points of a spell in play, for its owner."""
    duration = int64(packed.armies[army].spells[spell].duration)
    phases = expected_phases(packed, state, army, spell, lasting)
    if duration == Duration.ONE_TURN and not state.new_in_play[army] & bit(spell):
        phases = 1.0
    per_phase = worth_per_phase(packed, state, army, spell)
    value = per_phase * phases
    if duration == Duration.DELAYED:
        landing = expected_points_in_play(packed, state, army, spell, WOUND_WEIGHT)
        landing -= per_phase * phases_left(packed, state)
        if not packed.victory_points:
            aim = int64(state.aims[army, spell] - 1)
            landing = _limit_to_survivors(packed, state, army, spell, aim, landing)
        value += landing
    return float(value)
