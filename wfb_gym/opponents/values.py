"""What a spell is worth to the scripted players: what it promises, and whom it makes flee."""

from wfb_gym._jit import int64, jit
from wfb_gym.engine import queries, spell_values
from wfb_gym.engine.expected_score import flight_by_aim, flight_may_pay
from wfb_gym.engine.state import DispelAttempt, State
from wfb_gym.engine.targets import can_aim
from wfb_gym.packing.records import PackedScenario
from wfb_gym.scenario.sizes import SPELLS

WOUND_WEIGHT = 0.5
"""Part of the points of wounds that counts where it is more than the change of the tally.

Under victory points most spells pass no threshold by themselves: by the tally alone nobody would
begin to cast.
"""


@jit
def value_with_flight(
    packed: PackedScenario, state: State, army: int, spell: int, aim: int
) -> float:
    """Points that a spell brings its owner aimed so, the flight of those struck in it."""
    worth = spell_values.worth_of_aim(packed, state, army, spell, aim, WOUND_WEIGHT)
    if flight_may_pay(packed, state):
        worth += flight_by_aim(packed, state, army, spell, aim)
    return float(worth)


@jit
def value_if_cast(packed: PackedScenario, state: State, army: int, spell: int) -> float:
    """Points that a spell brings its owner with its best aim, if nobody ends it early."""
    if packed.armies[army].spells[spell].targeted and flight_may_pay(packed, state):
        return _most_with_flight(packed, state, army, spell)
    return float(spell_values.worth_now(packed, state, army, spell, WOUND_WEIGHT))


@jit(forceinline=False)
def _most_with_flight(packed: PackedScenario, state: State, army: int, spell: int) -> float:
    """`value_with_flight` of the best open aim; 0 where none is open.

    Only aims at which somebody may flee can be better than the first open one.
    """
    most = float(spell_values.worth_now(packed, state, army, spell, WOUND_WEIGHT))
    for aim in range(packed.armies[army].spells[spell].n_aims):
        flight = flight_by_aim(packed, state, army, spell, aim)
        if flight > 0.0 and can_aim(packed, state, army, spell, aim):
            worth = (
                spell_values.worth_of_aim(packed, state, army, spell, aim, WOUND_WEIGHT) + flight
            )
            most = max(most, worth)
    return most


@jit
def pending_threat(packed: PackedScenario, state: State) -> float:
    """Points that the mover stands to lose if the pending dispel fails (or its owner to keep)."""
    army = int64(state.active)
    if state.attempt == DispelAttempt.CAST:
        return _worth_of_pending(packed, state, army, int64(state.spell - 1), int64(state.aim))
    if state.attempt == DispelAttempt.FREE:
        enemy = queries.opponent_of(army)
        return _worth_of_pending(packed, state, enemy, int64(state.free - 1), int64(state.free_aim))
    target = state.target - 1
    return later_worth(packed, state, target // SPELLS, target % SPELLS)


@jit
def _worth_of_pending(
    packed: PackedScenario, state: State, army: int, spell: int, aim_plus_one: int
) -> float:
    if aim_plus_one:
        return value_with_flight(packed, state, army, spell, aim_plus_one - 1)
    return float(spell_values.worth_of_pending(packed, state, army, spell, int64(0), WOUND_WEIGHT))


@jit
def later_worth(packed: PackedScenario, state: State, army: int, spell: int) -> float:
    """Points that a spell in play still pays, a threat from the mover's view if the enemy's."""
    worth = float(spell_values.worth_in_play(packed, state, army, spell, WOUND_WEIGHT))
    return worth if army != state.mover else -worth


@jit
def greatest_open_threat(packed: PackedScenario, state: State) -> float:
    """Largest worth among the spells that the active army may still attempt this phase."""
    most = 0.0
    army = int64(state.active)
    for spell in range(packed.armies[army].n_spells):
        if queries.can_nominate(packed, state, spell):
            most = max(most, value_if_cast(packed, state, army, spell))
    return most
