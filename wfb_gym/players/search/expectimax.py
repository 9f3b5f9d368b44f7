"""Expectimax: looks some decisions ahead, the dice weighed exactly, and estimates what is behind.

From the position the search lays out every position that can follow, decision after decision, and
each only once, however many ways lead to it. Dice are enumerated by the engine's own law. Where it
stops, `wfb_gym.players.search.estimate` stands in; where the phase ends it goes no further. With
room for
the whole phase it plays the exact optimum of a battle of one phase.
"""

import numpy as np
from numpy.typing import NDArray

from wfb_gym._jit import int64, jit
from wfb_gym._records import Float64, Int64, Record, Records, dtype_of, new_records
from wfb_gym.encoding.positions import Positions
from wfb_gym.engine.actions import ACTIONS
from wfb_gym.engine.canonical import canonicalise
from wfb_gym.engine.chance import most_outcomes
from wfb_gym.engine.generator import mix
from wfb_gym.engine.keys import word_of
from wfb_gym.engine.queries import is_chance, is_decision
from wfb_gym.engine.state import STATE_WORDS, Node, State, WorkSpace, new_work_spaces
from wfb_gym.packing.records import PackedScenario
from wfb_gym.players.interface import require_positions
from wfb_gym.players.search.estimate import estimate, still_paid
from wfb_gym.scenario.sizes import DICE
from wfb_gym.solver.graph import TIE, Successor, expand

FULL = 1 << 30
"""Decisions ahead that no phase reaches."""
DEFAULT_WAYS = 50_000
"""Ways from one position to the next that a search lays out, unless told otherwise."""

DONE = 0
MORE_NODES = 1
MORE_WAYS = 2
MORE_STEPS = 3
"""Why `_search` comes back: all is done, or an array is too small for the first look ahead."""


class SearchNode(Record):
    """A position that the search has laid out."""

    state: State
    value: Float64  # points still to come for the first army
    hash: Int64
    first: Int64  # of the ways that leave it; -1 where it is not laid out
    end: Int64
    cursor: Int64  # way that is being worked out; -1 once the value is there
    ahead: Int64  # decisions on the shortest way to it
    count: Int64  # legal actions, 0 where dice decide


NODE = dtype_of(SearchNode)


class Transition(Record):
    """A way from a node to another."""

    chance: Float64
    gain: Float64  # points on the way
    node: Int64
    action: Int64  # which of the legal actions it began with


TRANSITION = dtype_of(Transition)


class ExpectimaxAgent:
    """Looks as many decisions ahead as it is told, or as a number of ways lets it.

    Args:
        depth: decisions ahead at most, 1 or more; None looks as far as `ways` lets it.
        ways: from position to position that one search may lay out; the first decision is looked
            at whatever it takes, every further one only if all ways to it have room.

    Raises:
        ValueError: depth or ways below 1.
    """

    sees_positions = True

    def __init__(self, depth: int | None = None, *, ways: int = DEFAULT_WAYS) -> None:
        for name, number in (("depth", depth), ("ways", ways)):
            if number is not None and number < 1:
                raise ValueError(f"expectimax: expected {name} of 1 or more, found {number}")
        self._depth = FULL if depth is None else depth
        self._ways = ways
        self._nodes = new_records(SearchNode, 1 << 10)
        self._laid = new_records(Transition, 1 << 12)
        self._index = np.zeros(1 << 11, np.int32)
        self._queue = np.zeros((2, 1 << 10), np.int64)
        self._steps, self._chain = new_records(Successor, 1 << 12), new_records(Successor, 1 << 12)
        room = most_outcomes(DICE, rerolls=True)
        self._outcomes, self._chances = np.zeros(room, np.int64), np.zeros(room)
        self._codes, self._sums = np.zeros(ACTIONS, np.int64), np.zeros(ACTIONS)
        self._scratch = new_work_spaces()

    def act(
        self,
        observations: NDArray[np.float32],
        action_masks: NDArray[np.bool_],
        positions: Positions | None = None,
    ) -> NDArray[np.int64]:
        """Choose an action for each row; see `Agent`."""
        seen = require_positions(positions, "expectimax")
        actions = np.zeros(len(seen), np.int64)
        row = 0
        while True:
            why, row = _search(
                row, self._depth, self._ways, seen.seat, seen.packed_scenarios, seen.scenario,
                seen.states,
                seen.codec.index_of, self._nodes, self._laid, self._index, self._queue,
                self._steps, self._chain, self._outcomes, self._chances, self._codes, self._sums,
                self._scratch, actions,
            )  # fmt: skip
            if why == DONE:
                return actions
            self._grow(why)

    def _grow(self, why: int) -> None:
        """Make room; what a search finds does not depend on it."""
        if why == MORE_NODES:
            size = 4 * len(self._nodes)
            self._nodes = new_records(SearchNode, size)
            self._index = np.zeros(2 * size, np.int32)
            self._queue = np.zeros((2, size), np.int64)
        elif why == MORE_WAYS:
            self._laid = new_records(Transition, 4 * len(self._laid))
        else:
            size = 4 * len(self._steps)
            self._steps, self._chain = new_records(Successor, size), new_records(Successor, size)


@jit(nogil=True)
def _search(
    row: int,
    depth: int,
    most: int,
    seat: int,
    packed_scenarios: Records[PackedScenario],
    scenario: NDArray[np.int64],
    states: Records[State],
    indices: NDArray[np.int64],
    nodes: Records[SearchNode],
    ways: Records[Transition],
    index: NDArray[np.int32],
    queue: NDArray[np.int64],
    steps: Records[Successor],
    chain: Records[Successor],
    outcomes: NDArray[np.int64],
    chances: NDArray[np.float64],
    codes: NDArray[np.int64],
    sums: NDArray[np.float64],
    scratch: Records[WorkSpace],
    actions: NDArray[np.int64],
) -> tuple[int, int]:
    """Write the best actions of the positions from `row` on; why it stops, and at which row."""
    work = scratch[0]
    while row < states.shape[0]:
        state = states[row]
        if is_decision(state.node) and state.mover == seat:
            packed = packed_scenarios[scenario[row]]
            why, ahead = _lay_out(
                packed, state, depth, most, nodes, ways, index, queue, steps, chain, outcomes,
                chances, codes, work,
            )  # fmt: skip
            if why != DONE:
                return why, row
            best = _weigh(packed, ahead, nodes, ways, queue, sums, work)
            expand(packed, state, steps, 0, chain, outcomes, chances, codes, work)
            actions[row] = indices[codes[best]]
        row += 1
    return DONE, row


@jit(forceinline=False)
def _lay_out(
    packed: PackedScenario,
    state: State,
    depth: int,
    most: int,
    nodes: Records[SearchNode],
    ways: Records[Transition],
    index: NDArray[np.int32],
    queue: NDArray[np.int64],
    steps: Records[Successor],
    chain: Records[Successor],
    outcomes: NDArray[np.int64],
    chances: NDArray[np.float64],
    codes: NDArray[np.int64],
    work: WorkSpace,
) -> tuple[int, int]:
    """Lay out what can follow, nearest decisions first.

    Returns:
        DONE or what is too small; and how many decisions ahead all positions were laid out.
    """
    for k in range(index.shape[0]):
        index[k] = -1
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
            return DONE, ahead
        queue[1, 0] = queue[0, head]
        rolls = 1  # positions on the other row: the decision, then where dice decide behind it
        head += 1
        while rolls > 0:
            rolls -= 1
            here = nodes[queue[1, rolls]]
            end, count = expand(packed, here.state, steps, 0, chain, outcomes, chances, codes, work)
            if end < 0:
                return MORE_STEPS, 0
            if ahead > 0 and top + end > most:
                return DONE, ahead
            if top + end > ways.shape[0]:
                return MORE_WAYS, 0
            if size + end > nodes.shape[0]:
                return MORE_NODES, 0
            here.first = top
            here.end = top + end
            here.count = count
            here.cursor = top
            for k in range(end):
                step = steps[k]
                way = ways[top]
                way.chance = step.chance
                way.gain = step.gain
                way.action = step.action
                way.node = -1
                top += 1
                if step.state.node == Node.END:
                    continue
                canonicalise(packed, step.state)
                found = _find(step.state, nodes, index, size)
                way.node = found
                if found < size:
                    continue
                new = nodes[size]
                size += 1
                new.first = -1
                new.cursor = 0
                new.ahead = ahead + 1
                if new.state.phase != state.phase:
                    continue
                if is_chance(new.state.node):
                    new.ahead = ahead
                    queue[1, rolls] = found
                    rolls += 1
                else:
                    queue[0, tail] = found
                    tail += 1
    return DONE, FULL


@jit(forceinline=False)
def _find(state: State, nodes: Records[SearchNode], index: NDArray[np.int32], size: int) -> int:
    """The node of a position; `size` if it is new, which it then is written to."""
    mixed = np.uint64(0)
    for word in range(STATE_WORDS):
        mixed = mix(mixed ^ word_of(state, word))
    hashed = int64(mixed)
    mask = index.shape[0] - 1
    place = hashed & mask
    while index[place] >= 0:
        node = nodes[index[place]]
        if node.hash == hashed:
            same = True
            for word in range(STATE_WORDS):
                same &= word_of(node.state, word) == word_of(state, word)
            if same:
                return int64(index[place])
        place = (place + 1) & mask
    index[place] = size
    nodes[size].state = state
    nodes[size].hash = hashed
    return size


@jit(forceinline=False)
def _weigh(
    packed: PackedScenario,
    ahead: int,
    nodes: Records[SearchNode],
    ways: Records[Transition],
    stack: NDArray[np.int64],
    sums: NDArray[np.float64],
    work: WorkSpace,
) -> int:
    """Work out the values from the far end to the root; which of its legal actions is best.

    Positions from `ahead` decisions on are estimated, though some were laid out before room ran
    out: the answers to all actions are then seen equally far.
    """
    chosen = 0
    depth = 1
    stack[1, 0] = 0
    while depth > 0:
        node = nodes[stack[1, depth - 1]]
        if node.first < 0 or (node.ahead >= ahead and depth > 1):
            if node.state.phase == nodes[0].state.phase:
                node.value = estimate(packed, node.state, work)
            else:
                node.value = still_paid(packed, node.state)
            node.cursor = -1
            depth -= 1
            continue
        waiting = False
        while node.cursor < node.end:
            after = int64(ways[node.cursor].node)
            if after >= 0 and nodes[after].cursor >= 0:
                stack[1, depth] = after
                depth += 1
                waiting = True
                break
            node.cursor += 1
        if waiting:
            continue
        for k in range(max(1, node.count)):
            sums[k] = 0.0
        for k in range(node.first, node.end):
            way = ways[k]
            value = nodes[way.node].value if way.node >= 0 else 0.0
            sums[max(0, way.action)] += way.chance * (way.gain + value)
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
