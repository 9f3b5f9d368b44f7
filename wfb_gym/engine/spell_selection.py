"""Spells that wizards roll for when the battle begins (6th edition, "Selecting spells").

A wizard rolls one D6 per level and re-rolls repeats. It may then swap one of the spells for the
lore's first. Wizards roll army by army, in scenario order. No roll affects another, so the order
does not change the chances (house rule C.84).
"""

from wfb_gym._jit import int64, jit
from wfb_gym.engine.actions import FIRST_CAST, PASS
from wfb_gym.engine.queries import bit, clear_bits
from wfb_gym.engine.state import Node, State
from wfb_gym.packing.records import PackedScenario
from wfb_gym.scenario.sizes import LORE_SPELLS, WIZARDS


@jit(forceinline=False)
def next_selection(packed: PackedScenario, state: State) -> None:
    """Go to the next wizard that rolls for its spells, or to the first phase."""
    while state.cursor < 2 * WIZARDS:
        army = int64(state.cursor) // WIZARDS
        if packed.armies[army].wizards[state.cursor % WIZARDS].draws:
            state.mover = army
            state.node = Node.ROLL_SPELLS
            return
        state.cursor += 1
    state.cursor = 0
    state.mover = 0
    state.node = Node.BEGIN_PHASE


@jit
def draws(packed: PackedScenario, state: State) -> int:
    """Return the number of spells that the current wizard rolls for."""
    army = int64(state.cursor) // WIZARDS
    return int(packed.armies[army].wizards[state.cursor % WIZARDS].draws)


@jit
def resolve_spells(packed: PackedScenario, state: State, drawn: int) -> None:
    """Give the wizard these spells from its lore: bit k for the spell numbered k + 1."""
    army = int64(state.mover)
    first = int64(packed.armies[army].wizards[state.cursor % WIZARDS].first_spell)
    for k in range(LORE_SPELLS):
        if drawn & bit(k):
            state.known[army] |= bit(first + k)
    state.node = Node.SWAP_SPELL
    if drawn & 1:  # the wizard has the lore's first spell already
        _done(state)


@jit
def act_swap(packed: PackedScenario, state: State, action: int) -> None:
    """Keep the spells, or give one up for the lore's first."""
    if action != PASS:
        army = int64(state.mover)
        first = int64(packed.armies[army].wizards[state.cursor % WIZARDS].first_spell)
        state.known[army] = clear_bits(state.known[army], bit(action - FIRST_CAST)) | bit(first)
    _done(state)


@jit
def _done(state: State) -> None:
    state.cursor += 1
    state.node = Node.SELECT_SPELLS
