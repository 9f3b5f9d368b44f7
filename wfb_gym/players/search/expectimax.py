"""Expectimax: a full-width search to a fixed depth with exact dice and heuristic leaf values.

The search expands every reachable position, level by level. Positions reached by several paths are
stored once. The engine enumerates the dice. Leaf values come from `wfb_gym.players.search.estimate`
or from the caller (`wfb_gym.players.search.ply_search`). The search never goes past the end of the
phase. If its depth covers all of a one-phase battle, the agent plays optimally.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from wfb_gym._jit import int64, jit
from wfb_gym._records import Float64, Int64, Record, Records, new_records
from wfb_gym.encoding.positions import PositionArrays, position_of
from wfb_gym.engine.battle import Battle
from wfb_gym.engine.canonical import canonicalize
from wfb_gym.engine.keys import word_of
from wfb_gym.engine.queries import is_chance, is_decision
from wfb_gym.engine.random_numbers import mix
from wfb_gym.engine.state import STATE_WORDS, Node, State
from wfb_gym.packing.records import PackedScenario
from wfb_gym.players.interface import Actions, PositionAgent
from wfb_gym.players.search.estimate import estimate_phase
from wfb_gym.players.search.phase_values import is_known
from wfb_gym.solver.expansion import expand
from wfb_gym.solver.graph_arrays import NO_HORIZON, TIE, Expansion, Successor, new_expansion

FULL = 1 << 30  # unlimited depth, in decisions: no phase is this long
DEFAULT_TRANSITIONS = 50_000  # default limit on the number of transitions in a search

DONE = 0
NODES_FULL = 1
TRANSITIONS_FULL = 2
STEPS_FULL = 3
TOO_MANY = 4
"""Status of `search`: finished, an array is too small (three cases), or the first decision has more
transitions than the limit allows."""

# Operations of `search`.
CHOOSE = 0
LAY_OUT = 1
BACK_UP = 2


class SearchNode(Record):
    """A position in the search."""

    state: State
    value: Float64  # the first army's expected future points
    hash: Int64
    first: Int64  # its first transition; -1 if it is not expanded
    end: Int64  # end of its transitions
    cursor: Int64  # next transition to evaluate; -1 once the value is known
    depth: Int64  # number of decisions on the shortest path to it
    count: Int64  # number of legal actions; 0 at a chance node


class Transition(Record):
    """A transition from one node to another."""

    probability: Float64
    gain: Float64  # points scored during the transition
    node: Int64  # -1 if the battle ends
    action: Int64  # index of the legal action that it starts with


class SearchGraph(NamedTuple):
    """The arrays of a search."""

    nodes: Records[SearchNode]
    transitions: Records[Transition]
    slots: NDArray[np.int32]  # hash table of nodes; -1 if free
    queue: NDArray[np.int64]  # (2, nodes): queue of decisions; a stack
    size: NDArray[np.int64]  # (1,): nodes in use


class ExpectimaxAgent(PositionAgent):
    """Searches to a fixed depth in decisions, or up to a number of transitions.

    Args:
        depth: maximum number of decisions on a path, at least 1. If None, only `max_transitions`
            limits the search.
        max_transitions: maximum number of transitions per search. The first decision is always
            expanded. A further level is used only if it fits as a whole.

    Raises:
        ValueError: if `depth` or `max_transitions` is less than 1.
    """

    _called = "expectimax"

    def __init__(
        self, depth: int | None = None, *, max_transitions: int = DEFAULT_TRANSITIONS
    ) -> None:
        for name, number in (("depth", depth), ("max_transitions", max_transitions)):
            if number is not None and number < 1:
                raise ValueError(f"expectimax: expected {name} of 1 or more, found {number}")
        self._depth = FULL if depth is None else depth
        self._max_transitions = max_transitions
        self._graph = new_graph()
        self._expansion = new_expansion(1 << 12)

    def action_values(self, battle: Battle) -> dict[int, float]:
        """Return the search value of each legal action for the first army.

        Args:
            battle: a battle at a decision of either army; not modified.

        Returns:
            Expected future points by engine code, in ascending order of codes.

        Raises:
            ValueError: if the battle is not at a decision.
        """
        if not battle.is_decision():
            raise ValueError(f"action values: expected a decision, found {battle.node.name}")
        self._choose(position_of(battle), np.zeros(1, np.int64))
        legal = battle.legal_actions()
        # The root is backed up last, and the following `expand` does not overwrite its sums.
        return dict(zip(legal, self._expansion.sums[: len(legal)].tolist(), strict=True))

    def _choose(self, asked: PositionArrays, actions: Actions) -> None:
        row = 0
        while True:
            status, row = search(
                CHOOSE,
                row,
                self._depth,
                self._max_transitions,
                asked,
                self._graph,
                self._expansion,
                actions,
            )
            if status == DONE:
                return
            self._graph, self._expansion = enlarged(status, self._graph, self._expansion)


def new_graph() -> SearchGraph:
    """Return arrays sized for a small search."""
    return _with_nodes(1 << 10, new_records(Transition, 1 << 12))


def enlarged(
    status: int, graph: SearchGraph, expansion: Expansion
) -> tuple[SearchGraph, Expansion]:
    """Return a search's arrays, with the array named by the status enlarged.

    Array sizes do not affect the result of a search.
    """
    if status == NODES_FULL:
        return _with_nodes(4 * len(graph.nodes), graph.transitions), expansion
    if status == TRANSITIONS_FULL:
        return graph._replace(
            transitions=new_records(Transition, 4 * len(graph.transitions))
        ), expansion
    if status == STEPS_FULL:
        size = 4 * len(expansion.steps)
        steps, chain = new_records(Successor, size), new_records(Successor, size)
        return graph, expansion._replace(steps=steps, chain=chain)
    raise AssertionError(f"unknown status {status}")


def _with_nodes(size: int, transitions: Records[Transition]) -> SearchGraph:
    nodes, slots = new_records(SearchNode, size), np.zeros(2 * size, np.int32)
    return SearchGraph(
        nodes, transitions, slots, np.zeros((2, size), np.int64), np.zeros(1, np.int64)
    )


@jit(nogil=True)
def search(
    operation: int,
    row: int,
    depth: int,
    most: int,
    positions: PositionArrays,
    graph: SearchGraph,
    expansion: Expansion,
    actions: Actions,
) -> tuple[int, int]:
    """Run one of three operations.

    A single entry point serves all three, because each would compile the whole engine again.

    - CHOOSE writes the best actions for the positions from `row` on. It returns a status and the
      row at which it stops.
    - LAY_OUT expands the position in a row, whether or not its seat is to move. Paths continue
      through decisions that no duel represents and through the dice at the start of the next phase.
      It returns a status and the number of complete levels.
    - BACK_UP computes the values of the graph, cut off after `depth` decisions, and writes the best
      action for the row. It returns DONE and the row. A node whose cursor is -1 already has its
      value.
    """
    if operation == BACK_UP:
        packed = positions.packed_scenarios[positions.scenario[row]]
        best = _back_up(packed, depth, graph, expansion)
        expand(packed, positions.states[row], expansion, 0, NO_HORIZON)
        actions[row] = positions.indices[expansion.codes[best]]
        return DONE, row
    while row < positions.states.shape[0]:
        state = positions.states[row]
        packed = positions.packed_scenarios[positions.scenario[row]]
        if operation == LAY_OUT:
            return _lay_out(packed, state, depth, most, True, graph, expansion)
        if is_decision(state.node) and state.mover == positions.seat:
            status, level = _lay_out(packed, state, depth, most, False, graph, expansion)
            if status != DONE:
                return status, row
            best = _back_up(packed, level, graph, expansion)
            expand(packed, state, expansion, 0, NO_HORIZON)
            actions[row] = positions.indices[expansion.codes[best]]
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
    expansion: Expansion,
) -> tuple[int, int]:
    """Expand a position breadth-first, to `depth` decisions or `most` transitions.

    With `through`, decisions that no duel represents do not count as decisions, the dice at the
    start of the next phase are expanded, and the limit `most` also applies to the first level.
    Returns the status and the number of complete levels.
    """
    nodes, transitions, queue = graph.nodes, graph.transitions, graph.queue
    graph.slots[:] = -1
    nodes[0].state = state
    nodes[0].first = -1
    nodes[0].depth = 0
    size = 1
    top = 0  # transitions in use
    queue[0, 0] = 0
    head = 0
    tail = 1
    while head < tail:
        level = int64(nodes[queue[0, head]].depth)
        if level >= depth:
            graph.size[0] = size
            return DONE, level
        queue[1, 0] = queue[0, head]
        rolls = 1  # positions on the stack: the decision, then the chance nodes after it
        head += 1
        while rolls > 0:
            rolls -= 1
            here = nodes[queue[1, rolls]]
            end, count = expand(packed, here.state, expansion, 0, NO_HORIZON)
            if end < 0:
                return STEPS_FULL, 0
            if top + end > most and (level > 0 or through):
                graph.size[0] = size
                return DONE if level > 0 else TOO_MANY, level
            if top + end > transitions.shape[0]:
                return TRANSITIONS_FULL, 0
            if size + end > nodes.shape[0]:
                return NODES_FULL, 0
            here.first = top
            here.end = top + end
            here.count = count
            here.cursor = top
            for k in range(end):
                step, transition = expansion.steps[k], transitions[top]
                transition.probability = step.probability
                transition.gain = step.gain
                transition.action = step.action
                transition.node = -1
                top += 1
                if step.state.node == Node.END:
                    continue
                canonicalize(packed, step.state)
                found = _find(step.state, graph, size)
                transition.node = found
                if found < size:
                    continue
                new = nodes[size]
                size += 1
                new.first = -1
                new.cursor = 0
                new.depth = level + 1
                rolls_on = is_chance(new.state.node)
                if new.state.phase != state.phase and not (through and rolls_on):
                    continue
                if rolls_on or (through and not is_known(new.state)):
                    new.depth = level
                    queue[1, rolls] = found
                    rolls += 1
                else:
                    queue[0, tail] = found
                    tail += 1
    graph.size[0] = size
    return DONE, FULL


@jit(forceinline=False)
def _find(state: State, graph: SearchGraph, size: int) -> int:
    """Return a position's node. A new position is written to node `size`."""
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
def _back_up(packed: PackedScenario, level: int, graph: SearchGraph, expansion: Expansion) -> int:
    """Compute values from the leaves to the root; return the index of the root's best legal action.

    Positions after `level` decisions are estimated even if they were expanded, so that all actions
    are searched to the same depth.
    """
    nodes, transitions, stack, sums = graph.nodes, graph.transitions, graph.queue[1], expansion.sums
    phase = int64(nodes[0].state.phase)
    chosen = 0
    depth = 1
    stack[0] = 0
    while depth > 0:
        node = nodes[stack[depth - 1]]
        if node.first < 0 or (node.depth >= level and depth > 1):
            node.value = estimate_phase(packed, node.state, phase, expansion.work[0])
            node.cursor = -1
            depth -= 1
            continue
        waiting = False
        while node.cursor < node.end:
            after = int64(transitions[node.cursor].node)
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
            transition = transitions[k]
            value = nodes[transition.node].value if transition.node >= 0 else 0.0
            sums[max(0, transition.action)] += transition.probability * (transition.gain + value)
        sign = 1.0 if node.state.mover == 0 else -1.0
        best = 0
        for k in range(1, node.count):
            if sign * (sums[k] - sums[best]) > TIE:
                best = k
        node.value = sums[best]
        chosen = best  # the root is the last node
        node.cursor = -1
        depth -= 1
    return chosen
