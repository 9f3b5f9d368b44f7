"""Items that store power or dispel dice from one phase for a later one.

Stored dice are counted in `State.items`, like other items' uses; no item has both.
"""

from wfb_gym._jit import int64, jit
from wfb_gym.engine.actions import FIRST_DICE
from wfb_gym.engine.queries import bearer_can_use, last_phase, pool_of
from wfb_gym.engine.state import Node, State
from wfb_gym.packing.records import PackedScenario
from wfb_gym.scenario.sizes import ITEMS


@jit
def storing_item(state: State) -> int:
    """Return the mover's item that may store dice now."""
    return int64(state.cursor) % ITEMS


@jit
def storable(packed: PackedScenario, state: State) -> int:
    """Return the maximum number of dice that the current item may store."""
    army = int64(state.cursor) // ITEMS
    most = int(packed.armies[army].items[state.cursor % ITEMS].stores)
    return min(most, pool_of(state, army))


@jit(forceinline=False)
def next_store(packed: PackedScenario, state: State) -> None:
    """Go to the next item that may store a die from this phase, or to the end of the phase."""
    while state.cursor < 2 * ITEMS and not last_phase(packed, state):
        army = int64(state.cursor) // ITEMS
        item = int64(state.cursor) % ITEMS
        entry = packed.armies[army].items[item]
        if entry.stores and (entry.store_either or army == state.active):
            if bearer_can_use(packed, state, army, item) and pool_of(state, army) > 0:
                state.mover = army
                state.node = Node.STORE_DICE
                return
        state.cursor += 1
    state.cursor = 0
    state.node = Node.END_PHASE


@jit
def act_store(state: State, action: int) -> None:
    """Store this many dice from the phase that is ending."""
    army = int64(state.cursor) // ITEMS
    dice = action - FIRST_DICE
    state.items[army, state.cursor % ITEMS] = dice
    if army == state.active:
        state.power -= dice
    else:
        state.dispel -= dice
    state.cursor += 1
    state.node = Node.STORING


@jit(forceinline=False)
def next_stored(packed: PackedScenario, state: State) -> None:
    """Go to the next item whose stored dice need a roll, or to the generation of dice."""
    army = int64(state.active)
    while packed.stores and state.cursor < packed.armies[army].n_items:
        entry = packed.armies[army].items[state.cursor]
        if entry.stores and entry.store_check and state.items[army, state.cursor] > 0:
            state.mover = army
            state.node = Node.ROLL_STORED
            return
        state.cursor += 1
    state.cursor = 0
    state.node = Node.GENERATE_DICE


@jit
def resolve_stored(packed: PackedScenario, state: State, kept: bool) -> None:
    """Keep the item's dice if the D6 reached their number; if not, remove them (Rod of Power)."""
    if not kept:
        state.items[state.active, state.cursor] = 0
    state.cursor += 1
    next_stored(packed, state)


@jit
def stored_dice(packed: PackedScenario, state: State, army: int) -> int:
    """Return the dice that items add to the army's pool in this phase, and empty the items."""
    dice = 0
    if not packed.stores:
        return dice
    for item in range(packed.armies[army].n_items):
        entry = packed.armies[army].items[item]
        if entry.stores and (entry.store_either or army == state.active):
            if bearer_can_use(packed, state, army, item):
                dice += int(state.items[army, item])
            state.items[army, item] = 0
    return dice
