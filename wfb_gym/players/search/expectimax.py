"""Expectimax: looks some decisions ahead with exact dice, and estimates what lies behind.

From the position the search lays out every position that can follow, decision after decision, and
each only once, however many ways lead to it. Dice are enumerated by the engine. Where the search
stops, `wfb_gym.players.search.estimate` supplies the value, unless a caller does
(`wfb_gym.players.search.ply_search`); it never goes beyond the phase. With room for the whole phase
it plays the exact optimum of a battle of one phase.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from wfb_gym._jit import int64, jit
from wfb_gym._records import Float64, Int64, Record, Records, new_records
from wfb_gym.encoding.positions import PositionArrays, position_of
from wfb_gym.engine.battle import Battle
from wfb_gym.engine.canonical import canonicalize
from wfb_gym.engine.generator import mix
from wfb_gym.engine.keys import word_of
from wfb_gym.engine.queries import is_chance, is_decision
from wfb_gym.engine.state import STATE_WORDS, Node, State
from wfb_gym.packing.records import PackedScenario
from wfb_gym.players.interface import Actions, PositionAgent
from wfb_gym.players.search.estimate import estimate_phase
from wfb_gym.players.search.phase_values import is_known
from wfb_gym.solver.expansion import expand
from wfb_gym.solver.graph_arrays import NO_HORIZON, TIE, Expansion, Successor, new_expansion

FULL = 1 << 30
"""Decisions ahead that no phase reaches."""
DEFAULT_WAYS = 50_000
"""Ways from one position to the next that a search lays out by default."""

DONE = 0
NODES_FULL = 1
WAYS_FULL = 2
STEPS_FULL = 3
TOO_MANY = 4
"""Why `search` returns: all is done, an array is too small for the first look ahead, or that has
more ways than there may be."""

CHOOSE = 0
LAY_OUT = 1
BACK_UP = 2
"""What `search` does."""


class SearchNode(Record):
    """A position that the search has laid out."""

    state: State
    value: Float64  # points still to come for the first army
    hash: Int64
    first: Int64  # of the ways that leave it; -1 where it is not laid out
    end: Int64
    cursor: Int64  # next way to look at; -1 once the value is known
    ahead: Int64  # decisions on the shortest way to it
    count: Int64  # legal actions; 0 where dice decide


class Transition(Record):
    """A way from a node to another."""

    probability: Float64
    gain: Float64  # points on the way
    node: Int64  # -1 where the battle ends
    action: Int64  # which of the legal actions it began with


class SearchGraph(NamedTuple):
    """The arrays of a search."""

    nodes: Records[SearchNode]
    ways: Records[Transition]
    slots: NDArray[np.int32]  # nodes by hash; -1 where free
    queue: NDArray[np.int64]  # (2, nodes): decisions in turn; a stack
    size: NDArray[np.int64]  # (1,): nodes in use


class ExpectimaxAgent(PositionAgent):
    """Looks a number of decisions ahead, or as far as a number of ways lets it.

    Args:
        depth: decisions ahead at most, 1 or more; None looks as far as `ways` lets it.
        ways: from position to position that one search may lay out; the first decision is
            always laid out, every further one only if all ways to it have room.

    Raises:
        ValueError: Depth or ways below 1.
    """

    _called = "expectimax"

    def __init__(self, depth: int | None = None, *, ways: int = DEFAULT_WAYS) -> None:
        for name, number in (("depth", depth), ("ways", ways)):
            if number is not None and number < 1:
                raise ValueError(f"expectimax: expected {name} of 1 or more, found {number}")
        self._depth = FULL if depth is None else depth
        self._ways = ways
        self._graph = new_graph()
        self._room = new_expansion(1 << 12)

    def action_values(self, battle: Battle) -> dict[int, float]:
        """Return what the search finds each legal action worth: points to come for the first army.

        Args:
            battle: at a decision of either army; it stays as it is.

        Returns:
            By engine code, ascending.

        Raises:
            ValueError: The battle is at no decision.
        """
        if not battle.is_decision():
            raise ValueError(f"action values: expected a decision, found {battle.node.name}")
        self._choose(position_of(battle), np.zeros(1, np.int64))
        legal = battle.legal_actions()
        # The root's sums come last, and stay: `expand`, which follows, has no use for them.
        return dict(zip(legal, self._room.sums[: len(legal)].tolist(), strict=True))

    def _choose(self, asked: PositionArrays, actions: Actions) -> None:
        row = 0
        while True:
            why, row = search(
                CHOOSE, row, self._depth, self._ways, asked, self._graph, self._room, actions
            )
            if why == DONE:
                return
            self._graph, self._room = enlarged(why, self._graph, self._room)


def new_graph() -> SearchGraph:
    """Room for a small search."""
    return _with_nodes(1 << 10, new_records(Transition, 1 << 12))


def enlarged(why: int, graph: SearchGraph, room: Expansion) -> tuple[SearchGraph, Expansion]:
    """Enlarge what was too small; what a search finds does not depend on it."""
    if why == NODES_FULL:
        return _with_nodes(4 * len(graph.nodes), graph.ways), room
    if why == WAYS_FULL:
        return graph._replace(ways=new_records(Transition, 4 * len(graph.ways))), room
    if why == STEPS_FULL:
        size = 4 * len(room.steps)
        steps, chain = new_records(Successor, size), new_records(Successor, size)
        return graph, room._replace(steps=steps, chain=chain)
    raise AssertionError(f"unknown answer {why}")


def _with_nodes(size: int, ways: Records[Transition]) -> SearchGraph:
    nodes, slots = new_records(SearchNode, size), np.zeros(2 * size, np.int32)
    return SearchGraph(nodes, ways, slots, np.zeros((2, size), np.int64), np.zeros(1, np.int64))


@jit(nogil=True)
def search(
    operation: int,
    row: int,
    depth: int,
    most: int,
    positions: PositionArrays,
    graph: SearchGraph,
    room: Expansion,
    actions: Actions,
) -> tuple[int, int]:
    """Do one of three things; one compiled entry serves all, since each compiles the whole engine.

    - CHOOSE writes the best actions of the positions from `row` on, and returns why it stops and at
      which row.
    - LAY_OUT lays out the position of a row, whether its seat decides or not, through decisions
      that no duel knows and the dice of the phase to come, and returns why it stops and how many
      decisions ahead all was laid out.
    - BACK_UP computes the value of what was laid out `depth` decisions ahead, writes the best
      action of the row, and returns DONE and the row. A node whose cursor is -1 has its value.
    """
    if operation == BACK_UP:
        packed = positions.packed_scenarios[positions.scenario[row]]
        best = _back_up(packed, depth, graph, room)
        expand(packed, positions.states[row], room, 0, NO_HORIZON)
        actions[row] = positions.indices[room.codes[best]]
        return DONE, row
    while row < positions.states.shape[0]:
        state = positions.states[row]
        packed = positions.packed_scenarios[positions.scenario[row]]
        if operation == LAY_OUT:
            return _lay_out(packed, state, depth, most, True, graph, room)
        if is_decision(state.node) and state.mover == positions.seat:
            why, ahead = _lay_out(packed, state, depth, most, False, graph, room)
            if why != DONE:
                return why, row
            best = _back_up(packed, ahead, graph, room)
            expand(packed, state, room, 0, NO_HORIZON)
            actions[row] = positions.indices[room.codes[best]]
        row += 1
    return DONE, row


@jit(forceinline=False)
def _lay_out(
    packed: PackedScenario,
    state: State,
    depth: int,
    most: int,
    through: bool,
    graph: SearchGraph,
    room: Expansion,
) -> tuple[int, int]:
    """Lay out what can follow a position, nearest decisions first.

    With `through` decisions that no duel knows do not count as such, and the dice that open the
    next phase are laid out.

    Returns:
        DONE, TOO_MANY or what is too small, and how many decisions ahead all was laid out. With
        `through` the first look ahead, too, may have no more ways than `most`.
    """
    nodes, ways, queue = graph.nodes, graph.ways, graph.queue
    graph.slots[:] = -1
    nodes[0].state = state
    nodes[0].first = -1
    nodes[0].ahead = 0
    size = 1
    top = 0  # of the ways
    queue[0, 0] = 0
    head = 0
    tail = 1
    while head < tail:
        ahead = int64(nodes[queue[0, head]].ahead)
        if ahead >= depth:
            graph.size[0] = size
            return DONE, ahead
        queue[1, 0] = queue[0, head]
        rolls = 1  # positions on the stack: the decision, then the chance nodes behind it
        head += 1
        while rolls > 0:
            rolls -= 1
            here = nodes[queue[1, rolls]]
            end, count = expand(packed, here.state, room, 0, NO_HORIZON)
            if end < 0:
                return STEPS_FULL, 0
            if top + end > most and (ahead > 0 or through):
                graph.size[0] = size
                return DONE if ahead > 0 else TOO_MANY, ahead
            if top + end > ways.shape[0]:
                return WAYS_FULL, 0
            if size + end > nodes.shape[0]:
                return NODES_FULL, 0
            here.first = top
            here.end = top + end
            here.count = count
            here.cursor = top
            for k in range(end):
                step, way = room.steps[k], ways[top]
                way.probability = step.probability
                way.gain = step.gain
                way.action = step.action
                way.node = -1
                top += 1
                if step.state.node == Node.END:
                    continue
                canonicalize(packed, step.state)
                found = _find(step.state, graph, size)
                way.node = found
                if found < size:
                    continue
                new = nodes[size]
                size += 1
                new.first = -1
                new.cursor = 0
                new.ahead = ahead + 1
                rolls_on = is_chance(new.state.node)
                if new.state.phase != state.phase and not (through and rolls_on):
                    continue
                if rolls_on or (through and not is_known(new.state)):
                    new.ahead = ahead
                    queue[1, rolls] = found
                    rolls += 1
                else:
                    queue[0, tail] = found
                    tail += 1
    graph.size[0] = size
    return DONE, FULL


@jit(forceinline=False)
def _find(state: State, graph: SearchGraph, size: int) -> int:
    """Return the node of a position; `size` if it is new, and then write it there."""
    nodes, slots = graph.nodes, graph.slots
    mixed = np.uint64(0)
    for word in range(STATE_WORDS):
        mixed = mix(mixed ^ word_of(state, word))
    hashed = int64(mixed)
    mask = slots.shape[0] - 1
    place = hashed & mask
    while slots[place] >= 0:
        node = nodes[slots[place]]
        if node.hash == hashed:
            same = True
            for word in range(STATE_WORDS):
                same &= word_of(node.state, word) == word_of(state, word)
            if same:
                return int64(slots[place])
        place = (place + 1) & mask
    slots[place] = size
    nodes[size].state = state
    nodes[size].hash = hashed
    return size


@jit(forceinline=False)
def _back_up(packed: PackedScenario, ahead: int, graph: SearchGraph, room: Expansion) -> int:
    """Compute the values from the far end to the root; return its best legal action's number.

    Positions from `ahead` decisions on are estimated, though some were laid out before room ran
    out: the answers to all actions are then seen equally far.
    """
    nodes, ways, stack, sums = graph.nodes, graph.ways, graph.queue[1], room.sums
    phase = int64(nodes[0].state.phase)
    chosen = 0
    depth = 1
    stack[0] = 0
    while depth > 0:
        node = nodes[stack[depth - 1]]
        if node.first < 0 or (node.ahead >= ahead and depth > 1):
            node.value = estimate_phase(packed, node.state, phase, room.work[0])
            node.cursor = -1
            depth -= 1
            continue
        waiting = False
        while node.cursor < node.end:
            after = int64(ways[node.cursor].node)
            if after >= 0 and nodes[after].cursor >= 0:
                stack[depth] = after
                depth += 1
                waiting = True
                break
            node.cursor += 1
        if waiting:
            continue
        sums[: max(1, node.count)] = 0.0
        for k in range(node.first, node.end):
            way = ways[k]
            value = nodes[way.node].value if way.node >= 0 else 0.0
            sums[max(0, way.action)] += way.probability * (way.gain + value)
        sign = 1.0 if node.state.mover == 0 else -1.0
        best = 0
        for k in range(1, node.count):
            if sign * (sums[k] - sums[best]) > TIE:
                best = k
        node.value = sums[best]
        chosen = best  # the root's comes last
        node.cursor = -1
        depth -= 1
    return chosen
