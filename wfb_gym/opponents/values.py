"""Spell values for the scripted players: expected points, including units that flee."""

from wfb_gym._jit import int64, jit
from wfb_gym.engine import queries, spell_values
from wfb_gym.engine.expected_score import flight_by_aim, flight_may_pay
from wfb_gym.engine.state import DispelAttempt, State
from wfb_gym.engine.targets import can_aim
from wfb_gym.packing.records import PackedScenario

WOUND_WEIGHT = 0.5
"""Minimum fraction of a wound's points that each lost wound scores.

Under victory points a single spell rarely reaches a threshold. If only the score counted, no
scripted player would ever start casting.
"""


@jit
def value_with_flight(
    packed: PackedScenario, state: State, army: int, spell: int, aim: int
) -> float:
    """Return a spell's points for its owner with this aim, including victims that flee."""
    worth = spell_values.expected_points_at(packed, state, army, spell, aim, WOUND_WEIGHT)
    if flight_may_pay(packed, state):
        worth += flight_by_aim(packed, state, army, spell, aim)
    return float(worth)


@jit
def value_if_cast(packed: PackedScenario, state: State, army: int, spell: int) -> float:
    """Return a spell's points for its owner with its best aim, if neither side ends it."""
    if packed.armies[army].spells[spell].targeted and flight_may_pay(packed, state):
        return _most_with_flight(packed, state, army, spell)
    return float(spell_values.expected_points(packed, state, army, spell, WOUND_WEIGHT))


@jit(forceinline=False)
def _most_with_flight(packed: PackedScenario, state: State, army: int, spell: int) -> float:
    """Return `value_with_flight` for the best legal aim, or 0 if there is none."""
    # Only aims with victims that may flee can beat the best aim without flight.
    most = float(spell_values.expected_points(packed, state, army, spell, WOUND_WEIGHT))
    for aim in range(packed.armies[army].spells[spell].n_aims):
        flight = flight_by_aim(packed, state, army, spell, aim)
        if flight > 0.0 and can_aim(packed, state, army, spell, aim):
            worth = spell_values.expected_points_at(packed, state, army, spell, aim, WOUND_WEIGHT)
            most = max(most, worth + flight)
    return most


@jit
def pending_threat(packed: PackedScenario, state: State) -> float:
    """Return the points that the mover loses if the pending dispel fails.

    The result is negative if the mover owns the spell.
    """
    army = int64(state.active)
    if state.attempt == DispelAttempt.CAST:
        return _points_of_pending(packed, state, army, int64(state.spell - 1), int64(state.aim))
    if state.attempt == DispelAttempt.FREE:
        enemy = queries.opponent_of(army)
        spell, aim = int64(state.free - 1), int64(state.free_aim)
        return _points_of_pending(packed, state, enemy, spell, aim)
    owner, lasting = queries.split_spell(state.target - 1)
    return later_points(packed, state, owner, lasting)


@jit
def _points_of_pending(
    packed: PackedScenario, state: State, army: int, spell: int, aim_plus_one: int
) -> float:
    if aim_plus_one:
        return value_with_flight(packed, state, army, spell, aim_plus_one - 1)
    return float(
        spell_values.expected_points_of_pending(packed, state, army, spell, int64(0), WOUND_WEIGHT)
    )


@jit
def later_points(packed: PackedScenario, state: State, army: int, spell: int) -> float:
    """Return the future points from a spell in play; negative if the mover owns it."""
    worth = float(spell_values.expected_points_in_play(packed, state, army, spell, WOUND_WEIGHT))
    return worth if army != state.mover else -worth


@jit
def greatest_open_threat(packed: PackedScenario, state: State) -> float:
    """Return the value of the best spell that the active army may still cast in this phase."""
    most = 0.0
    army = int64(state.active)
    for spell in range(packed.armies[army].n_spells):
        if queries.can_nominate(packed, state, spell):
            most = max(most, value_if_cast(packed, state, army, spell))
    return most
