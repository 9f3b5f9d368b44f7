"""Monte Carlo tree search: grows a tree of what can follow, mostly along what looks best.

The tree has decision nodes for both sides and chance nodes between them. A simulation goes from
the root to a decision whose actions nobody tried, and tries each once. On the way the side that
moves takes the action of the highest upper confidence bound (UCB1; Auer, Cesa-Bianchi and Fischer
2002; Kocsis and Szepesvári 2006), in points over the range of points seen so far. Dice are rolled
by the engine's own `sample`, from a generator of the search's own. A new node is worth what
`wfb_gym.players.search.estimate` says, where dice decide by their chances. The phase's end is the
horizon.

On the way back a decision is worth as much as its best action, and dice what their outcomes are
worth by their chances, those never rolled by the estimate (as in MaxUCT; Keller and Helmert 2013).
Means over simulations, with the dice of veteran's play behind the tree, need thousands of rolls to
even out: a wizard lost to a miscast outweighs all that is to be decided.

What a search finds follows from the position and the seed alone: not from its place in a batch.
"""

import numpy as np
from numpy.typing import NDArray

from wfb_gym._jit import int64, jit
from wfb_gym._records import Float64, Int64, Record, Records, dtype_of, new_records
from wfb_gym.encoding.positions import Positions
from wfb_gym.engine.actions import ACTIONS
from wfb_gym.engine.chance import chance_outcomes, most_outcomes, sample
from wfb_gym.engine.generator import Rng, key_of_seed, mix, new_rngs
from wfb_gym.engine.keys import word_of
from wfb_gym.engine.legal import legal_actions
from wfb_gym.engine.queries import is_chance, is_decision
from wfb_gym.engine.state import STATE_WORDS, Node, State, WorkSpace, new_states, new_work_spaces
from wfb_gym.engine.transition import act, resolve
from wfb_gym.packing.records import PackedScenario
from wfb_gym.players.interface import require_positions
from wfb_gym.players.search.estimate import estimate, still_paid
from wfb_gym.scenario.sizes import DICE

DEFAULT_SIMULATIONS = 400
EXPLORATION = 0.3
"""Weight of the confidence bound, in parts of the range of points."""

NODES_PER_SIMULATION = 16
EDGES_PER_SIMULATION = 16
LONGEST = 1 << 10
"""Nodes on one way through the tree."""


class TreeNode(Record):
    """A node of the tree."""

    state: State
    value: Float64  # points still to come for the first army
    gain: Float64  # points on the way to it
    chance: Float64  # that its parent's dice lead to it
    first: Int64  # of its edges, or where dice decide its first child; -1 for none
    count: Int64  # of its edges; 0 where dice decide, or none was tried yet
    visits: Int64
    outcome: Int64  # of its parent's dice
    next: Int64  # its parent's next child; -1 for none


NODE = dtype_of(TreeNode)


class Edge(Record):
    """An action of a decision."""

    code: Int64
    node: Int64  # that it leads to; -1 if no simulation went there
    visits: Int64
    value: Float64  # points


class PathStep(Record):
    """A node on the way through the tree."""

    node: Int64
    edge: Int64  # by which the way goes on from a decision
    before: Float64  # what the node was worth before


EDGE = dtype_of(Edge)
PATH_STEP = dtype_of(PathStep)


class MctsAgent:
    """Plays the action that is worth most after its simulations.

    Args:
        simulations: of each decision, 1 or more.
        seed: of their dice; None takes another one each time that an agent is made.
        exploration: weight of the confidence bound, more than 0.

    Raises:
        ValueError: an argument is out of range.
    """

    sees_positions = True
    seeded = True
    """What it plays follows from its seed: another seed is another player."""

    def __init__(
        self,
        simulations: int = DEFAULT_SIMULATIONS,
        *,
        seed: int | None = None,
        exploration: float = EXPLORATION,
    ) -> None:
        if simulations < 1:
            raise ValueError(f"mcts: expected simulations of 1 or more, found {simulations}")
        if not exploration > 0.0:
            raise ValueError(f"mcts: expected exploration of more than 0, found {exploration}")
        fresh = int(np.random.default_rng().integers(2**63))
        self._key = key_of_seed(fresh if seed is None else seed)
        self._simulations = simulations
        self._exploration = float(exploration)
        self._nodes = new_records(TreeNode, NODES_PER_SIMULATION * simulations + ACTIONS + 1)
        self._edges = new_records(Edge, EDGES_PER_SIMULATION * simulations + ACTIONS)
        self._path = new_records(PathStep, LONGEST)
        room = most_outcomes(DICE, rerolls=True)
        self._outcomes, self._chances = np.zeros(room, np.int64), np.zeros(room)
        self._beyond = new_states(1)
        self._rngs = new_rngs(1)
        self._scratch = new_work_spaces()

    def act(
        self,
        observations: NDArray[np.float32],
        action_masks: NDArray[np.bool_],
        positions: Positions | None = None,
    ) -> NDArray[np.int64]:
        """Choose an action for each row; see `Agent`."""
        seen = require_positions(positions, "mcts")
        actions = np.zeros(len(seen), np.int64)
        _search(
            self._simulations, self._exploration, self._key, seen.seat, seen.packed_scenarios,
            seen.scenario,
            seen.states, seen.codec.index_of, self._nodes, self._edges, self._path, self._outcomes,
            self._chances, self._beyond, self._rngs, self._scratch,
            actions,
        )  # fmt: skip
        return actions


@jit(nogil=True)
def _search(
    simulations: int,
    exploration: float,
    key: np.uint64,
    seat: int,
    packed_scenarios: Records[PackedScenario],
    scenario: NDArray[np.int64],
    states: Records[State],
    indices: NDArray[np.int64],
    nodes: Records[TreeNode],
    edges: Records[Edge],
    path: Records[PathStep],
    outcomes: NDArray[np.int64],
    chances: NDArray[np.float64],
    beyond: Records[State],
    rngs: Records[Rng],
    scratch: Records[WorkSpace],
    actions: NDArray[np.int64],
) -> None:
    """Write the actions that are worth most, in the rows in which the seat decides."""
    work = scratch[0]
    rng = rngs[0]
    for row in range(states.shape[0]):
        root = states[row]
        if not (is_decision(root.node) and root.mover == seat):
            continue
        packed = packed_scenarios[scenario[row]]
        mixed = key
        for word in range(STATE_WORDS):
            mixed = mix(mixed ^ word_of(root, word))
        rng.key = mixed
        rng.dice = np.uint64(0)
        rng.choices = np.uint64(0)
        nodes[0].state = root
        nodes[0].value = 0.0
        _clear(nodes[0])
        size, top = _open(packed, 0, nodes, 1, edges, 0, outcomes, chances, beyond, work)
        low = np.inf
        high = -np.inf
        for _ in range(simulations):
            weight = exploration * (high - low) if high > low else exploration
            size, top, length = _descend(
                packed, weight, nodes, size, edges, top, path, outcomes, chances, beyond, rng, work
            )
            least, most = _learn(nodes, edges, path, length)
            low = min(low, least)
            high = max(high, most)
        best = 0
        sign = 1.0 if root.mover == 0 else -1.0
        for k in range(1, nodes[0].count):
            if sign * edges[k].value > sign * edges[best].value:
                best = k
        actions[row] = indices[edges[best].code]


@jit
def _clear(node: TreeNode) -> None:
    node.first = -1
    node.count = 0
    node.visits = 0


@jit(forceinline=False)
def _open(
    packed: PackedScenario,
    here: int,
    nodes: Records[TreeNode],
    size: int,
    edges: Records[Edge],
    top: int,
    outcomes: NDArray[np.int64],
    chances: NDArray[np.float64],
    beyond: Records[State],
    work: WorkSpace,
) -> tuple[int, int]:
    """Try every action of a decision once, if there is room; nodes and edges in use then."""
    node = nodes[here]
    count = int64(legal_actions(packed, node.state, work))
    if top + count > edges.shape[0] or size + count > nodes.shape[0]:
        return size, top
    for k in range(count):
        edges[top + k].code = work.legal[k]
    node.first = top
    node.count = count
    for k in range(top, top + count):
        edge = edges[k]
        new = nodes[size]
        new.state = node.state
        new.gain = act(packed, new.state, edge.code, work)
        _clear(new)
        new.value = _first_value(packed, new.state, nodes, outcomes, chances, beyond, work)
        edge.node = size
        edge.visits = 1
        edge.value = new.gain + new.value
        size += 1
    node.visits = count
    node.value = _best_value(node, edges)
    return size, top + count


@jit(forceinline=False)
def _first_value(
    packed: PackedScenario,
    state: State,
    nodes: Records[TreeNode],
    outcomes: NDArray[np.int64],
    chances: NDArray[np.float64],
    beyond: Records[State],
    work: WorkSpace,
) -> float:
    """What a new node is worth; dice are weighed by their chances."""
    phase = int64(nodes[0].state.phase)
    if not is_chance(state.node) or state.phase != phase:
        return float(_guess(packed, state, phase, work))
    mean = 0.0
    for k in range(chance_outcomes(packed, state, outcomes, chances, 0, work)):
        beyond[0] = state
        points = resolve(packed, beyond[0], outcomes[k], work)
        mean += chances[k] * (points + _guess(packed, beyond[0], phase, work))
    return mean


@jit(forceinline=False)
def _guess(packed: PackedScenario, state: State, phase: int, work: WorkSpace) -> float:
    """Points still to come by the rule of thumb, nothing of the phases after this one."""
    if state.node == Node.END or state.phase != phase:
        return float(still_paid(packed, state))
    return float(estimate(packed, state, work))


@jit(forceinline=False)
def _descend(
    packed: PackedScenario,
    weight: float,
    nodes: Records[TreeNode],
    size: int,
    edges: Records[Edge],
    top: int,
    path: Records[PathStep],
    outcomes: NDArray[np.int64],
    chances: NDArray[np.float64],
    beyond: Records[State],
    rng: Rng,
    work: WorkSpace,
) -> tuple[int, int, int]:
    """Go from the root to a decision whose actions nobody tried, and try them.

    Returns:
        Nodes and edges in use afterwards, and nodes on the way.
    """
    phase = int64(nodes[0].state.phase)
    here = 0
    length = 0
    while True:
        path[length].node = here
        path[length].before = nodes[here].value
        length += 1
        node = nodes[here]
        if node.state.node == Node.END or node.state.phase != phase or length == path.shape[0]:
            return size, top, length
        if not is_chance(node.state.node):
            if node.count == 0:
                size, top = _open(
                    packed, here, nodes, size, edges, top, outcomes, chances, beyond, work
                )
                return size, top, length
            chosen = _promising(node, edges, weight)
            node.visits += 1
            edges[chosen].visits += 1
            path[length - 1].edge = chosen
            here = int64(edges[chosen].node)
            continue
        outcome = int64(sample(packed, node.state, rng, work))
        here = int64(node.first)
        while here >= 0 and nodes[here].outcome != outcome:
            here = int64(nodes[here].next)
        if here >= 0:
            continue
        if size == nodes.shape[0]:
            return size, top, length
        here = size
        size += 1
        new = nodes[here]
        new.state = node.state
        new.gain = resolve(packed, new.state, outcome, work)
        _clear(new)
        new.outcome = outcome
        new.next = node.first
        node.first = here
        for k in range(chance_outcomes(packed, node.state, outcomes, chances, 0, work)):
            if outcomes[k] == outcome:
                new.chance = chances[k]
        new.value = _guess(packed, new.state, phase, work)
        if is_chance(new.state.node):
            new.value = _first_value(packed, new.state, nodes, outcomes, chances, beyond, work)
            node.value += new.chance * (new.value - _guess(packed, new.state, phase, work))


@jit(forceinline=False)
def _learn(
    nodes: Records[TreeNode], edges: Records[Edge], path: Records[PathStep], length: int
) -> tuple[float, float]:
    """Carry the value of the last node back to the root; the range of values on the way."""
    low = np.inf
    high = -np.inf
    for k in range(length - 1):
        place = length - 2 - k
        node = nodes[path[place].node]
        after = nodes[path[place + 1].node]
        if is_chance(node.state.node):
            node.value += after.chance * (after.value - path[place + 1].before)
        else:
            edge = edges[path[place].edge]
            edge.value = after.gain + after.value
            low = min(low, edge.value)
            high = max(high, edge.value)
            node.value = _best_value(node, edges)
    return low, high


@jit
def _best_value(node: TreeNode, edges: Records[Edge]) -> float:
    """What the best action that was tried is worth."""
    sign = 1.0 if node.state.mover == 0 else -1.0
    most = -np.inf
    for k in range(node.first, node.first + node.count):
        most = max(most, sign * edges[k].value)
    return sign * most


@jit
def _promising(node: TreeNode, edges: Records[Edge], weight: float) -> int:
    """The edge of the highest confidence bound for the side that moves."""
    first = int64(node.first)
    sign = 1.0 if node.state.mover == 0 else -1.0
    logarithm = np.log(float(node.visits))
    best = first
    most = -np.inf
    for k in range(first, first + node.count):
        edge = edges[k]
        bound = sign * edge.value + weight * np.sqrt(logarithm / edge.visits)
        if bound > most:
            best = k
            most = bound
    return best
