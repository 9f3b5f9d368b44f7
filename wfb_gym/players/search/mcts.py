"""Monte Carlo tree search (MCTS) with full backups.

The tree has decision nodes for both sides, with chance nodes between them. A simulation descends
from the root to an unexpanded decision, and tries each of its actions once. Along the path, the
side to move takes the action with the highest upper confidence bound (UCB1; Auer, Cesa-Bianchi and
Fischer 2002; Kocsis and Szepesvári 2006), scaled by the range of points seen. The search rolls dice
with its own random number generator. A new node is valued by `wfb_gym.players.search.estimate`, a
chance node by the mean over its outcomes. The end of the phase is the horizon.

During backup, a decision takes the value of its best action, and a chance node the mean over its
outcomes. Outcomes that were never rolled count with their estimates (as in MaxUCT; Keller and
Helmert 2013). Averaging rollouts instead would require thousands of simulations, because the
variance from miscasts that kill a wizard is larger than most differences between actions.

The result depends only on the position and the seed, not on the row in a batch.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from wfb_gym._jit import int64, jit
from wfb_gym._records import Float64, Int64, Record, Records, new_records
from wfb_gym.encoding.positions import PositionArrays
from wfb_gym.engine.actions import ACTIONS
from wfb_gym.engine.chance import sample
from wfb_gym.engine.chance_outcomes import chance_outcomes, most_outcomes
from wfb_gym.engine.keys import word_of
from wfb_gym.engine.legal import legal_actions
from wfb_gym.engine.queries import is_chance, is_decision
from wfb_gym.engine.random_numbers import Rng, key_of_seed, mix, new_rngs
from wfb_gym.engine.state import STATE_WORDS, Node, State, WorkSpace, new_states, new_work_spaces
from wfb_gym.engine.transition import act, resolve
from wfb_gym.packing.records import PackedScenario
from wfb_gym.players.interface import Actions, PositionAgent
from wfb_gym.players.search.estimate import estimate_phase
from wfb_gym.scenario.sizes import DICE

DEFAULT_SIMULATIONS = 400
EXPLORATION = 0.3  # weight of the confidence bound, relative to the range of points

NODES_PER_SIMULATION = 16
LONGEST = 1 << 10  # maximum length of a path through the tree, in nodes


class TreeNode(Record):
    """A node in the tree. A decision's children are contiguous, one per action."""

    state: State
    value: Float64  # the first army's expected future points
    gain: Float64  # points scored on the way from its parent
    probability: Float64  # probability of the outcome leading to it, if its parent is a chance node
    label: Int64  # code of the action, or outcome of the dice, that leads to it
    tries: Int64  # number of times the action leading to it was tried
    first: Int64  # its first child, or -1 if none
    count: Int64  # number of a decision's children; 0 before it is expanded
    visits: Int64
    next: Int64  # next child of its parent, if that is a chance node, or -1 if none


class PathStep(Record):
    """A node on a simulation's path."""

    node: Int64
    before: Float64  # the node's value before the simulation


class Tree(NamedTuple):
    """Arrays for a search: its tree, and scratch."""

    nodes: Records[TreeNode]
    used: NDArray[np.int64]  # (1,): number of nodes in use
    path: Records[PathStep]
    rng: Records[Rng]  # (1,)
    outcomes: NDArray[np.int64]
    probabilities: NDArray[np.float64]
    beyond: Records[State]  # (1,)
    work: Records[WorkSpace]  # (1,)


class MctsAgent(PositionAgent):
    """Plays the action with the highest value after a number of simulations.

    Args:
        simulations: simulations per decision, at least 1.
        seed: seed for the dice. If None, each agent draws a new seed.
        exploration: weight of the confidence bound, greater than 0.

    Raises:
        ValueError: if an argument is out of range.
    """

    _called = "mcts"
    seeded = True
    """The seed determines the agent's actions, so agents with different seeds are different
    players."""

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
        drawn = int(np.random.default_rng().integers(2**63))
        self._key = key_of_seed(drawn if seed is None else seed)
        self._simulations = simulations
        self._exploration = float(exploration)
        outcomes = most_outcomes(DICE, rerolls=True)
        self._tree = Tree(
            new_records(TreeNode, NODES_PER_SIMULATION * simulations + ACTIONS + 1),
            np.zeros(1, np.int64),
            new_records(PathStep, LONGEST),
            new_rngs(1),
            np.zeros(outcomes, np.int64),
            np.zeros(outcomes),
            new_states(1),
            new_work_spaces(),
        )

    def _choose(self, asked: PositionArrays, actions: Actions) -> None:
        _search(self._simulations, self._exploration, self._key, asked, self._tree, actions)


@jit(nogil=True)
def _search(
    simulations: int,
    exploration: float,
    key: np.uint64,
    positions: PositionArrays,
    tree: Tree,
    actions: Actions,
) -> None:
    """Write the best actions for the rows in which the seat is to move."""
    nodes, rng = tree.nodes, tree.rng[0]
    for row in range(positions.states.shape[0]):
        root = positions.states[row]
        if not (is_decision(root.node) and root.mover == positions.seat):
            continue
        packed = positions.packed_scenarios[positions.scenario[row]]
        mixed = key
        for word in range(STATE_WORDS):
            mixed = mix(mixed ^ word_of(root, word))
        rng.key = mixed
        rng.dice = np.uint64(0)
        rng.choices = np.uint64(0)
        nodes[0].state = root
        _clear(nodes[0])
        tree.used[0] = 1
        _expand(packed, 0, tree)
        low = np.inf
        high = -np.inf
        for _ in range(simulations):
            weight = exploration * (high - low) if high > low else exploration
            length = _descend(packed, weight, tree)
            least, most = _back_up(tree, length)
            low = min(low, least)
            high = max(high, most)
        best = _best_child(nodes[0], nodes)
        actions[row] = positions.indices[nodes[best].label]


@jit
def _clear(node: TreeNode) -> None:
    node.value = 0.0
    node.first = -1
    node.count = 0
    node.visits = 0


@jit(forceinline=False)
def _expand(packed: PackedScenario, here: int, tree: Tree) -> None:
    """Try each of a decision's actions once, if the tree has space for the children."""
    node, work = tree.nodes[here], tree.work[0]
    phase = int64(tree.nodes[0].state.phase)
    first = int64(tree.used[0])
    count = int64(legal_actions(packed, node.state, work))
    if first + count > tree.nodes.shape[0]:
        return
    for k in range(count):
        tree.nodes[first + k].label = work.legal[k]
    for k in range(first, first + count):
        new = tree.nodes[k]
        new.state = node.state
        new.gain = act(packed, new.state, new.label, work)
        new.tries = 1
        _clear(new)
        new.value = _first_value(packed, new.state, phase, tree)
    tree.used[0] += count
    node.first = first
    node.count = count
    node.visits = count
    node.value = _worth_of(tree.nodes[_best_child(node, tree.nodes)])


@jit(forceinline=False)
def _first_value(packed: PackedScenario, state: State, phase: int, tree: Tree) -> float:
    """Return a new node's value: an estimate, or the mean estimate over the dice."""
    work = tree.work[0]
    if not is_chance(state.node) or state.phase != phase:
        return float(estimate_phase(packed, state, phase, work))
    outcomes, probabilities = tree.outcomes, tree.probabilities
    mean = 0.0
    for k in range(chance_outcomes(packed, state, outcomes, probabilities, 0, work)):
        tree.beyond[0] = state
        points = resolve(packed, tree.beyond[0], outcomes[k], work)
        value = estimate_phase(packed, tree.beyond[0], phase, work)
        mean += probabilities[k] * (points + value)
    return mean


@jit(forceinline=False)
def _descend(packed: PackedScenario, weight: float, tree: Tree) -> int:
    """Descend to an unexpanded decision and expand it; return the path's length."""
    nodes, path = tree.nodes, tree.path
    phase = int64(nodes[0].state.phase)
    here = 0
    length = 0
    while True:
        path[length].node = here
        path[length].before = nodes[here].value
        length += 1
        node = nodes[here]
        if node.state.node == Node.END or node.state.phase != phase or length == path.shape[0]:
            return length
        if not is_chance(node.state.node):
            if node.count == 0:
                _expand(packed, here, tree)
                return length
            here = _select(node, nodes, weight)
            node.visits += 1
            nodes[here].tries += 1
            continue
        outcome = int64(sample(packed, node.state, tree.rng[0], tree.work[0]))
        here = int64(node.first)
        while here >= 0 and nodes[here].label != outcome:
            here = int64(nodes[here].next)
        if here >= 0:
            continue
        if tree.used[0] == nodes.shape[0]:
            return length
        here = int64(tree.used[0])
        tree.used[0] += 1
        _add_child(packed, node, here, outcome, tree)


@jit
def _add_child(
    packed: PackedScenario, node: TreeNode, child: int, outcome: int, tree: Tree
) -> None:
    """Write a chance node's child for an outcome."""
    work, phase = tree.work[0], int64(tree.nodes[0].state.phase)
    outcomes, probabilities = tree.outcomes, tree.probabilities
    new = tree.nodes[child]
    new.state = node.state
    new.gain = resolve(packed, new.state, outcome, work)
    _clear(new)
    new.label = outcome
    new.next = node.first
    node.first = child
    for k in range(chance_outcomes(packed, node.state, outcomes, probabilities, 0, work)):
        if outcomes[k] == outcome:
            new.probability = probabilities[k]
    estimated = estimate_phase(packed, new.state, phase, work)
    new.value = estimated
    if is_chance(new.state.node):  # the parent's value still contains the plain estimate
        new.value = _first_value(packed, new.state, phase, tree)
        node.value += new.probability * (new.value - estimated)


@jit(forceinline=False)
def _back_up(tree: Tree, length: int) -> tuple[float, float]:
    """Back up the value of the path's last node to the root; return the range of values."""
    low = np.inf
    high = -np.inf
    for place in range(length - 2, -1, -1):
        node = tree.nodes[tree.path[place].node]
        after = tree.nodes[tree.path[place + 1].node]
        if is_chance(node.state.node):
            node.value += after.probability * (after.value - tree.path[place + 1].before)
        else:
            low = min(low, _worth_of(after))
            high = max(high, _worth_of(after))
            node.value = _worth_of(tree.nodes[_best_child(node, tree.nodes)])
    return low, high


@jit
def _worth_of(child: TreeNode) -> float:
    """Return the value of the action leading to a node."""
    return float(child.gain + child.value)


@jit
def _sign_of(node: TreeNode) -> float:
    """Return 1.0 if the first army moves, which wants high values, otherwise -1.0."""
    return 1.0 if node.state.mover == 0 else -1.0


@jit
def _best_child(node: TreeNode, nodes: Records[TreeNode]) -> int:
    """Return the best action's child; ties go to the first."""
    sign = _sign_of(node)
    best = int64(node.first)
    for k in range(node.first + 1, node.first + node.count):
        if sign * _worth_of(nodes[k]) > sign * _worth_of(nodes[best]):
            best = k
    return best


@jit
def _select(node: TreeNode, nodes: Records[TreeNode], weight: float) -> int:
    """Return the child with the highest confidence bound for the side to move."""
    first = int64(node.first)
    sign = _sign_of(node)
    logarithm = np.log(float(node.visits))
    best = first
    most = -np.inf
    for k in range(first, first + node.count):
        bound = sign * _worth_of(nodes[k]) + weight * np.sqrt(logarithm / nodes[k].tries)
        if bound > most:
            best = k
            most = bound
    return best
