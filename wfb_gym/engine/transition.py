"""The engine's operations: `act`, `resolve` and the automatic steps between them.

`act` and `resolve` change the state in place and return the points that change hands, from the
first army's perspective (positive if it gains). Nodes with a single legal action are played
automatically, so callers encounter only real decisions, chance nodes and the end. If items are
hidden, a decision is real if any item set that the mover may have gives it a choice.
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
from wfb_gym.engine.dispelling import act_dispel, act_dispel_pool, act_dispel_reserve, act_in_play
from wfb_gym.engine.hidden_items import deal_instead, is_set_hidden, may_be_kind
from wfb_gym.engine.legal import legal_actions
from wfb_gym.engine.miscasts import act_free_spell, after_free_spell, run_effects
from wfb_gym.engine.morale import next_rally, next_test
from wfb_gym.engine.queries import is_chance, is_decision
from wfb_gym.engine.roll_results import act_keep
from wfb_gym.engine.spell_selection import act_swap, next_selection
from wfb_gym.engine.state import Node, ReturnTo, State, WorkSpace
from wfb_gym.engine.stored_dice import act_store, next_store, next_stored
from wfb_gym.engine.strikes import next_comet, next_strike
from wfb_gym.engine.turn_flow import (
    begin_battle,
    begin_phase,
    end_phase,
    generate_dice,
    next_phase,
    to_nominate,
)
from wfb_gym.packing.records import PackedScenario


@jit(forceinline=False, is_shared=True)
def play_action(packed: PackedScenario, state: State, action: int) -> float:
    """Play one legal action, without the automatic steps that follow."""
    node = state.node
    if node == Node.NOMINATE:
        return act_nominate(packed, state, action)
    if node == Node.ITEM:
        act_item(packed, state, action)
    elif node == Node.RESERVE_DICE:
        act_reserve_dice(state, action)
    elif node == Node.POOL_DICE:
        act_pool_dice(packed, state, action)
    elif node == Node.DISPEL:
        return act_dispel(packed, state, action)
    elif node == Node.KEEP_CASTING or node == Node.KEEP_DISPEL:
        return act_keep(packed, state, action)
    elif node == Node.DISPEL_RESERVE:
        act_dispel_reserve(state, action)
    elif node == Node.DISPEL_POOL:
        act_dispel_pool(packed, state, action)
    elif node == Node.FREE_SPELL:
        act_free_spell(packed, state, action)
    elif node == Node.IN_PLAY:
        act_in_play(packed, state, action)
    elif node == Node.TARGET:
        return act_target(packed, state, action)
    elif node == Node.SWAP_SPELL:
        act_swap(packed, state, action)
    elif node == Node.STORE_DICE:
        act_store(state, action)
    else:
        raise AssertionError("no action is defined at this node")
    return 0.0


@jit(forceinline=False)
def _next_test_or_phase(packed: PackedScenario, state: State) -> None:
    """Go to the next Panic test, or to the next phase."""
    if not (packed.panic and next_test(packed, state)):
        next_phase(packed, state)


@jit(forceinline=False)
def _next_strike_or_return(packed: PackedScenario, state: State) -> None:
    """Strike the next victim, or return to the node that the spell was cast from."""
    if next_strike(packed, state):
        return
    back = int64(state.return_to)
    state.return_to = ReturnTo.NOMINATE
    if back == ReturnTo.FREE_SPELL:
        after_free_spell(state)
    elif back == ReturnTo.MISCAST_ROW:
        state.cursor += 1
        state.node = Node.MISCAST_EFFECTS
    elif back == ReturnTo.COMETS:
        state.node = Node.COMETS
    elif back == ReturnTo.NOMINATE:
        to_nominate(packed, state)
    else:
        raise AssertionError("no return to this node is defined")


@jit(forceinline=False)
def _others_could_choose(packed: PackedScenario, state: State, work: WorkSpace) -> bool:
    """Return whether the mover would have a choice with another item set that it may have."""
    army = int64(state.mover)
    own = int64(state.hidden_set[army] - 1)
    most = 0
    for kind in range(packed.armies[army].n_kinds):
        if kind != own and may_be_kind(packed, state, army, kind):
            deal_instead(packed, state, army, kind)
            most = max(most, legal_actions(packed, state, work))
            deal_instead(packed, state, army, own)
    legal_actions(packed, state, work)  # list the actions with the actual set again
    return most > 1


@jit
def is_asked(packed: PackedScenario, state: State, work: WorkSpace, count: int) -> bool:
    """Return whether the mover is asked to choose at a decision with `count` legal actions."""
    if count > 1:
        return True
    # A player with hidden items is asked even without a choice if another possible set would give
    # it one: not asking would reveal the items.
    return is_set_hidden(state, state.mover) and _others_could_choose(packed, state, work)


@jit(forceinline=False, is_shared=True)
def advance_to_choice(packed: PackedScenario, state: State, work: WorkSpace) -> tuple[float, int]:
    """Take automatic steps until a player has a choice, dice must be rolled or the battle ends.

    Returns:
        Points that change hands, and the number of actions in `work.legal` (0 except at decisions).
    """
    points = 0.0
    while True:
        node = state.node
        if is_decision(node):
            count = legal_actions(packed, state, work)
            if is_asked(packed, state, work, count):
                return points, count
            points += play_action(packed, state, int64(work.legal[0]))
        elif node == Node.END or is_chance(node):
            return points, 0
        elif node == Node.BEGIN_PHASE:
            begin_phase(packed, state)
        elif node == Node.GENERATE_DICE:
            generate_dice(packed, state)
        elif node == Node.MISCAST_EFFECTS:
            points += run_effects(packed, state)
        elif node == Node.END_PHASE:
            points += end_phase(packed, state)
        elif node == Node.STRIKES:
            _next_strike_or_return(packed, state)
        elif node == Node.COMETS:
            next_comet(packed, state)
        elif node == Node.STORED_DICE:
            next_stored(packed, state)
        elif node == Node.STORING:
            next_store(packed, state)
        elif node == Node.RALLY:
            next_rally(packed, state)
        elif node == Node.PANIC:
            _next_test_or_phase(packed, state)
        elif node == Node.SELECT_SPELLS:
            next_selection(packed, state)
        else:
            raise AssertionError("no step is defined at this node")


@jit(forceinline=False)
def begin(packed: PackedScenario, state: State, work: WorkSpace) -> float:
    """Set up the scenario and advance to its first decision, chance node or end.

    Args:
        packed: the packed scenario.
        state: overwritten.
        work: scratch space; afterwards it lists the legal actions at the next decision.

    Returns:
        Points that change hands before that node, from the first army's perspective.
    """
    begin_battle(packed, state)
    points, _ = advance_to_choice(packed, state, work)
    return points


@jit
def act_and_list(
    packed: PackedScenario, state: State, action: int, work: WorkSpace
) -> tuple[float, int]:
    """Play an action like `act`, and also return the number of legal actions at the next decision.

    The number is 0 if the next node is not a decision. `work.legal` lists the actions, so the
    caller does not need to call `legal_actions` again.
    """
    before = play_action(packed, state, action)
    points, count = advance_to_choice(packed, state, work)
    return before + points, count


@jit
def resolve_and_list(
    packed: PackedScenario, state: State, outcome: int, work: WorkSpace
) -> tuple[float, int]:
    """Apply an outcome like `resolve`, and also return the number of next legal actions.

    See `act_and_list`.
    """
    before = resolve_outcome(packed, state, outcome)
    points, count = advance_to_choice(packed, state, work)
    return before + points, count


@jit(forceinline=False)
def act(packed: PackedScenario, state: State, action: int, work: WorkSpace) -> float:
    """Play a legal action at a decision node.

    Args:
        packed: the packed scenario.
        state: at a decision node; changed in place.
        action: one of `legal_actions`; the result is undefined for any other action.
        work: scratch space; afterwards it lists the legal actions at the next decision.

    Returns:
        Points that change hands, from the first army's perspective.
    """
    points, _ = act_and_list(packed, state, action, work)
    return points


@jit(forceinline=False)
def resolve(packed: PackedScenario, state: State, outcome: int, work: WorkSpace) -> float:
    """Apply one of a chance node's outcomes.

    Args:
        packed: the packed scenario.
        state: at a chance node; changed in place.
        outcome: one of the node's outcomes; the result is undefined for any other outcome.
        work: scratch space; afterwards it lists the legal actions at the next decision.

    Returns:
        Points that change hands, from the first army's perspective.
    """
    points, _ = resolve_and_list(packed, state, outcome, work)
    return points
