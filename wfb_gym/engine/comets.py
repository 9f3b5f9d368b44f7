"""Comets on their way: at the start of every turn they come nearer or land.

A Comet of Casandora lies in play from its casting until it lands, whatever becomes of its
caster, and can be dispelled like any spell in play.
"""

from wfb_gym._jit import int64, jit
from wfb_gym.engine.queries import bit
from wfb_gym.engine.state import Node, ReturnTo, State
from wfb_gym.packing.records import Duration, PackedScenario
from wfb_gym.scenario.sizes import SPELLS

LANDS_ON = 4
"""A Comet lands on this D6 or more; less adds a marker."""


@jit(forceinline=False)
def next_comet(packed: PackedScenario, state: State) -> None:
    """Go to the next Comet in play, or on with the phase's beginning."""
    while packed.delayed and state.cursor < 2 * SPELLS:
        army = int64(state.cursor) // SPELLS
        spell = int64(state.cursor) % SPELLS
        delayed = packed.armies[army].spells[spell].duration == Duration.DELAYED
        if delayed and state.in_play[army] & bit(spell):
            state.mover = army
            state.node = Node.ROLL_COMET
            return
        state.cursor += 1
    state.cursor = 0
    state.node = Node.STORED_DICE


@jit
def resolve_comet(packed: PackedScenario, state: State, lands: bool) -> None:
    """It lands, or its marker grows."""
    army = int64(state.cursor) // SPELLS
    spell = int64(state.cursor) % SPELLS
    if lands:
        state.node = Node.ROLL_RADIUS
        return
    state.markers[army, packed.armies[army].spells[spell].wizard] += 1
    state.cursor += 1
    state.node = Node.COMETS


@jit
def resolve_radius(packed: PackedScenario, state: State, die: int) -> None:
    """Everybody within D6 inches a marker is struck."""
    army = int64(state.cursor) // SPELLS
    spell = int64(state.cursor) % SPELLS
    markers = int(state.markers[army, packed.armies[army].spells[spell].wizard])
    state.radius = die * markers
    state.striking = state.cursor + 1
    state.strike = 0
    state.return_to = ReturnTo.COMETS
    state.cursor += 1
    state.node = Node.STRIKES
