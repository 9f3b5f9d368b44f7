"""The engine's operations: `act` and `resolve`, and the steps that the engine takes itself.

Both change the state in place and return the points that changed hands, as the first army sees
them (positive: it gained). Nodes with one legal action are played here, so callers meet only
real decisions, chance nodes and the end.
"""

from wfb_gym._jit import int64, jit
from wfb_gym.engine.casting import (
    act_item,
    act_nominate,
    act_pool_dice,
    act_reserve_dice,
    act_target,
)
from wfb_gym.engine.chance import resolve_outcome
from wfb_gym.engine.comets import next_comet
from wfb_gym.engine.dispelling import (
    act_dispel,
    act_dispel_pool,
    act_dispel_reserve,
    act_in_play,
)
from wfb_gym.engine.legal import legal_actions
from wfb_gym.engine.miscasts import act_free_spell, after_free_spell, run_effects
from wfb_gym.engine.phases import (
    begin_battle,
    begin_phase,
    end_phase,
    generate_dice,
    to_nominate,
)
from wfb_gym.engine.queries import is_chance, is_decision
from wfb_gym.engine.rerolls import act_keep
from wfb_gym.engine.selection import act_swap, next_selection
from wfb_gym.engine.state import Back, Node, Record
from wfb_gym.engine.storing import act_store, next_store, next_stored
from wfb_gym.engine.strikes import next_strike


@jit(forceinline=False)
def _play(table: Record, state: Record, action: int) -> float:
    """One legal action, without what follows by itself."""
    node = state.node
    if node == Node.NOMINATE:
        return float(act_nominate(table, state, action))
    if node == Node.ITEM:
        act_item(table, state, action)
    elif node == Node.RESERVE_DICE:
        act_reserve_dice(state, action)
    elif node == Node.POOL_DICE:
        act_pool_dice(table, state, action)
    elif node == Node.DISPEL:
        return float(act_dispel(table, state, action))
    elif node == Node.KEEP_CASTING or node == Node.KEEP_DISPEL:
        return float(act_keep(table, state, action))
    elif node == Node.DISPEL_RESERVE:
        act_dispel_reserve(state, action)
    elif node == Node.DISPEL_POOL:
        act_dispel_pool(table, state, action)
    elif node == Node.FREE_SPELL:
        act_free_spell(table, state, action)
    elif node == Node.IN_PLAY:
        act_in_play(table, state, action)
    elif node == Node.TARGET:
        return float(act_target(table, state, action))
    elif node == Node.SWAP_SPELL:
        act_swap(table, state, action)
    elif node == Node.STORE_DICE:
        act_store(state, action)
    return 0.0


@jit(forceinline=False)
def _strike(table: Record, state: Record) -> None:
    """Strike the next victim, or go back to where the spell was cast."""
    if next_strike(table, state):
        return
    back = int64(state.back)
    state.back = Back.NOMINATE
    if back == Back.FREE_SPELL:
        after_free_spell(state)
    elif back == Back.MISCAST_ROW:
        state.cursor += 1
        state.node = Node.MISCAST_EFFECTS
    elif back == Back.COMETS:
        state.node = Node.COMETS
    else:
        to_nominate(table, state)


@jit(forceinline=False)
def _settle(table: Record, state: Record, work: Record) -> tuple[float, int]:
    """Go on by itself until somebody has a choice, dice must be rolled, or the battle ends.

    Returns:
        Points that changed hands, and how many actions `work.legal` lists (0 unless at a decision).
    """
    points = 0.0
    while True:
        node = state.node
        if is_decision(node):
            count = legal_actions(table, state, work)
            if count > 1:
                return points, count
            points += _play(table, state, int64(work.legal[0]))
        elif node == Node.END or is_chance(node):
            return points, 0
        elif node == Node.BEGIN_PHASE:
            begin_phase(table, state)
        elif node == Node.GENERATE_DICE:
            generate_dice(table, state)
        elif node == Node.MISCAST_EFFECTS:
            points += run_effects(table, state)
        elif node == Node.END_PHASE:
            points += end_phase(table, state)
        elif node == Node.STRIKES:
            _strike(table, state)
        elif node == Node.COMETS:
            next_comet(table, state)
        elif node == Node.STORED_DICE:
            next_stored(table, state)
        elif node == Node.STORING:
            next_store(table, state)
        else:
            next_selection(table, state)


@jit(forceinline=False)
def begin(table: Record, state: Record, work: Record) -> float:
    """Set up the scenario and go on to its first decision, chance node or end.

    Args:
        table: the packed scenario.
        state: overwritten.
        work: scratch; lists the legal actions of the next decision afterwards.

    Returns:
        Points that changed hands on the way, as the first army sees them.
    """
    begin_battle(table, state)
    points, _ = _settle(table, state, work)
    return points


@jit
def act_listing(table: Record, state: Record, action: int, work: Record) -> tuple[float, int]:
    """`act`, telling also how many actions `work.legal` lists for the next decision.

    The number is 0 where the next node is not a decision. It saves a driver that goes straight
    on from asking `legal_actions` again.
    """
    before = _play(table, state, action)
    points, count = _settle(table, state, work)
    return before + points, count


@jit
def resolve_listing(table: Record, state: Record, outcome: int, work: Record) -> tuple[float, int]:
    """`resolve`, telling also how many actions `work.legal` lists, as `act_listing` does."""
    before = resolve_outcome(table, state, outcome)
    points, count = _settle(table, state, work)
    return before + points, count


@jit(forceinline=False)
def act(table: Record, state: Record, action: int, work: Record) -> float:
    """Play a legal action at a decision node.

    Args:
        table: the packed scenario.
        state: at a decision node; changed in place.
        action: one of `legal_actions`; anything else is undefined.
        work: scratch; lists the legal actions of the next decision afterwards.

    Returns:
        Points that changed hands, as the first army sees them.
    """
    points, _ = act_listing(table, state, action, work)
    return points


@jit(forceinline=False)
def resolve(table: Record, state: Record, outcome: int, work: Record) -> float:
    """Go on from a chance node with one of its outcomes; arguments and result as for `act`."""
    points, _ = resolve_listing(table, state, outcome, work)
    return points
