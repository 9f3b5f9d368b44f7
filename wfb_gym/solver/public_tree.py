"""The public tree of a scenario with hidden items.

A node is a public history: the casts, rolls and answers so far, without the dealt items. Which
actions are legal depends on the mover's items, so each action has one flag per set of hidden items.
Roll results that lead to the same position are merged. Different choices are never merged, because
the enemy's beliefs depend on them. Once both armies' sets are known, the rest is a game of perfect
information, and the node is a leaf with its exact value.

In the arrays, a transition leads from an action to a child node, one per outcome of the rolls.
`wfb_gym.solver.equilibrium` solves such a tree.
"""

from collections import deque
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from wfb_gym._jit import jit
from wfb_gym._records import Records, as_records
from wfb_gym.encoding.history import HISTORY, History, new_histories, note
from wfb_gym.engine.actions import ACTIONS
from wfb_gym.engine.battle import Battle
from wfb_gym.engine.keys import KeyPlan, new_plan
from wfb_gym.engine.queries import is_chance
from wfb_gym.engine.state import (
    FIRST_DECISION,
    LAST_DECISION,
    Node,
    State,
    WorkSpace,
    new_states,
    new_work_spaces,
)
from wfb_gym.engine.transition import act
from wfb_gym.packing import pack
from wfb_gym.packing.records import PackedScenario
from wfb_gym.scenario import Scenario
from wfb_gym.scenario.sizes import ARMIES
from wfb_gym.solver.game_graph import GameGraph, Progress, TooLarge
from wfb_gym.solver.graph_arrays import CHANCE, LEAF
from wfb_gym.solver.node_index import pack_states, unpack_states

_AT_ONCE = 1 << 10  # number of nodes expanded per batch


class TreeArrays(NamedTuple):
    """A public tree for compiled code; parents come before children.

    Transition w leads to node w + 1, because every node except the root has exactly one parent. The
    actions of a node and the transitions of an action are contiguous.
    """

    mover: NDArray[np.int8]  # (nodes,): the army to move, CHANCE or LEAF
    first_action: NDArray[np.int64]  # (nodes + 1,): a chance node has one action, a leaf none
    # (actions, kinds): by the mover's set of hidden items; only the first column for chance
    legal: NDArray[np.bool_]
    gain: NDArray[np.float64]  # (actions,): the first army's expected points up to the children
    first_transition: NDArray[np.int64]  # (actions + 1,)
    # (transitions,): sums per action to 1 minus the probability of the end
    probability: NDArray[np.float64]
    value: NDArray[np.float64]  # (nodes,): at a leaf, the first army's future points


class PublicTree(NamedTuple):
    """All public histories of a scenario."""

    arrays: TreeArrays  # the tree
    code: NDArray[np.int16]  # the actions' engine codes, int16 (actions,); -1 for chance
    kinds: NDArray[np.bool_]  # sets of hidden items that each army may have, bool (nodes, 2, kinds)
    weights: NDArray[np.float64]  # probabilities of the deals, float64 (2, kinds)
    # the nodes' positions in batches: a key plan and the keys, uint64 (k, words)
    parts: list[tuple[Records[KeyPlan], NDArray[np.uint64]]]

    @property
    def counts(self) -> tuple[int, int]:
        """Number of nodes and number of actions."""
        return len(self.arrays.mover), len(self.code)

    @property
    def node_of_action(self) -> NDArray[np.int64]:
        """The node of each action, int64 (actions,)."""
        first = self.arrays.first_action
        nodes: NDArray[np.int64] = np.repeat(np.arange(len(first) - 1), np.diff(first))
        return nodes

    @property
    def bytes(self) -> int:
        """Memory used by the tree, in bytes."""
        keys = sum(keys.nbytes for _, keys in self.parts)
        return keys + sum(each.nbytes for each in (*self.arrays, self.code, self.kinds))

    def actions_of(self, nodes: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Return the actions at `nodes` (k,), and each action's row in `nodes`, both int64 (a,)."""
        first = self.arrays.first_action
        counts = first[nodes + 1] - first[nodes]
        row = np.repeat(np.arange(len(nodes)), counts)
        return np.arange(len(row)) + (first[nodes] - np.cumsum(counts) + counts)[row], row

    def decisions(self, seat: int) -> Iterator[tuple[NDArray[np.int64], Records[State]]]:
        """Yield a seat's decisions in batches: nodes and positions, both (k,).

        Each position contains one of the possible deals.
        """
        first = 0
        for plan, keys in self.parts:
            own = np.flatnonzero(self.arrays.mover[first : first + len(keys)] == seat)
            if len(own):
                states = new_states(len(own))
                unpack_states(plan, keys, own, states)
                yield first + own, states
            first += len(keys)


class TreeHistories:
    """Histories of the spells cast and answered before each node of a tree.

    Args:
        packed: the packed scenario, (1,).
        redactor: the scenario's redactor.
        tree: tree of the scenario's public histories.
    """

    def __init__(
        self, packed: Records[PackedScenario], redactor: "Redactor", tree: PublicTree
    ) -> None:
        arrays, work = tree.arrays, new_work_spaces()
        cast = new_histories(1)
        for army, side in enumerate(packed[0].armies):
            for field in HISTORY.names or ():
                every_bit = np.int64(-1).astype(HISTORY[field].base)
                cast[field][0, army, : int(side.n_spells)] = every_bit
        self._bytes = np.flatnonzero(_bytes_of(cast)[0])  # the other bytes stay 0
        self._kept = np.zeros((len(arrays.mover), len(self._bytes)), np.uint8)
        first = 0
        for plan, keys in tree.parts:
            last = first + len(keys)
            node = np.repeat(np.arange(len(keys)), np.diff(arrays.first_action[first : last + 1]))
            states = new_states(len(node))
            unpack_states(plan, keys, node, states)
            low, high = arrays.first_action[first], arrays.first_action[last]
            for army in range(ARMIES):
                own = np.flatnonzero(arrays.mover[first + node] == army)
                dealt = states[own].copy()
                redactor.deal(dealt, army, arrays.legal[low:high][own].argmax(1))
                states[own] = dealt
            after = self.at(first + node)
            _note_each(packed, after, states, tree.code[low:high].astype(np.int64), work)
            transitions = np.diff(arrays.first_transition[low : high + 1])
            begin = 1 + arrays.first_transition[low]
            self._kept[begin : begin + transitions.sum()] = np.repeat(
                _bytes_of(after)[:, self._bytes], transitions, 0
            )
            first = last

    def at(self, nodes: NDArray[np.int64]) -> Records[History]:
        """Return the histories at the given nodes, (k,)."""
        histories = new_histories(len(nodes))
        _bytes_of(histories)[:, self._bytes] = self._kept[nodes]
        return histories


@jit(nogil=True, forceinline=False)
def _note_each(
    packed: Records[PackedScenario],
    histories: Records[History],
    states: Records[State],
    actions: NDArray[np.int64],
    scratch: Records[WorkSpace],
) -> None:
    """Append actions (-1: a roll) and immediate rolls to histories; modifies the states."""
    for k in range(states.shape[0]):
        state, history = states[k], histories[k]
        note(packed[0], history, state, actions[k])
        if actions[k] >= 0:
            act(packed[0], state, actions[k], scratch[0])
            if is_chance(state.node):
                note(packed[0], history, state, -1)


def _bytes_of(histories: Records[History]) -> NDArray[np.uint8]:
    """View histories (k,) as bytes (k, bytes)."""
    return np.asarray(histories).view(np.uint8).reshape(len(histories), HISTORY.itemsize)


class Redactor:
    """Hides the dealt items, so that positions with the same public information become equal."""

    def __init__(self, packed: PackedScenario) -> None:
        self.counts = [int(army.n_kinds) for army in packed.armies]
        uses = [np.asarray(army.kind_uses, np.int64) for army in packed.armies]
        self.uses = np.array(uses)  # (2, 4, items)
        self.weights = np.array([army.kind_chances for army in packed.armies])
        for army, count in enumerate(self.counts):
            if not count:
                self.weights[army, 0] = 1.0

    def possible(self, states: Records[State]) -> NDArray[np.bool_]:
        """Return each army's possible sets, bool (k, 2, 4); only the first if it hides nothing."""
        found = np.zeros((len(states), *self.weights.shape), np.bool_)
        for army, count in enumerate(self.counts):
            shown = self.shown(states, army)
            for kind in range(count):
                found[:, army, kind] = (shown <= self.uses[army, kind]).all(1)
            if not count:
                found[:, army, 0] = True
        return found

    def shown(self, states: Records[State], army: int) -> NDArray[np.int64]:
        """Return how often both players have seen each item used, int64 (k, items)."""
        dealt = np.maximum(np.asarray(states["hidden_set"])[:, army].astype(np.int64) - 1, 0)
        left: NDArray[np.int64] = np.asarray(states["items"])[:, army].astype(np.int64)
        shown: NDArray[np.int64] = self.uses[army, dealt] - left
        return shown

    def deal(self, states: Records[State], army: int, kinds: NDArray[np.int64]) -> None:
        """Replace the army's hidden items with other sets, in place; uses seen stay used."""
        if not self.counts[army]:
            return
        shown = self.shown(states, army)
        states["items"][:, army] = self.uses[army, kinds] - shown
        states["hidden_set"][:, army] = kinds + 1

    def hide(self, states: Records[State]) -> None:
        """Deal each army its first possible set of items, in place."""
        is_running = np.asarray(states["node"]) != Node.END
        some = as_records(State, np.asarray(states)[is_running])
        possible = self.possible(some)
        for army in range(ARMIES):
            self.deal(some, army, possible[:, army].argmax(1))
        np.asarray(states)[is_running] = np.asarray(some)


class PublicNodes(NamedTuple):
    """A batch of public positions."""

    mover: NDArray[np.int8]  # (nodes,): the army to move, CHANCE or LEAF
    possible: NDArray[np.bool_]  # (nodes, 2, 4): sets that each army may have
    value: NDArray[np.float64]  # (nodes,): at a leaf, the first army's future points


class PublicTransitions(NamedTuple):
    """Actions at a batch of public positions, and the transitions that follow these actions."""

    counts: NDArray[np.int64]  # (nodes,): number of actions
    code: NDArray[np.int16]  # (actions,): engine codes; -1 for chance
    legal: NDArray[np.bool_]  # (actions, 4): by the mover's set; only the first for chance
    gain: NDArray[np.float64]  # (actions,): the first army's expected points
    transitions: NDArray[np.int64]  # (actions,): number of transitions
    probability: NDArray[np.float64]  # (transitions,)
    states: Records[State]  # (transitions,): positions after `Redactor.hide`


class PublicExpansion:
    """Enumerates the successors of public positions, merging indistinguishable ones.

    Args:
        scenario: a scenario, with or without hidden items.
        max_bytes: maximum memory for the positions, in bytes.
        whole: whether to expand positions in which all items are known; otherwise they are leaves.
        start: see `wfb_gym.solver.HiddenGame`.
        known_bytes: see `wfb_gym.solver.HiddenGame`.

    Attributes:
        packed: the packed scenario, (1,).
        redactor: the scenario's redactor.
        graph: game graph with the leaves' exact values.
    """

    def __init__(
        self,
        scenario: Scenario,
        max_bytes: int,
        whole: bool = False,
        start: Records[State] | None = None,
        known_bytes: int | None = None,
    ) -> None:
        self.scenario = scenario
        self.whole = whole
        self.packed = pack(scenario)
        self.redactor = Redactor(self.packed[0])
        self.graph = GameGraph(self.packed, max_bytes if known_bytes is None else known_bytes)
        self.max_bytes = max_bytes
        self._start = start

    def root(self) -> Records[State]:
        """Return the first position after all deals, (1,)."""
        states = new_states(1)
        if self._start is None:
            battle = Battle(self.packed)
            while battle.node == Node.DEAL:
                battle.resolve(0)
            states[0] = battle.state
        else:
            states[0] = self._start[0]
        self.redactor.hide(states)
        return states

    def expand(self, states: Records[State]) -> tuple[PublicNodes, PublicTransitions]:
        """Return the nodes of a batch of positions (see `position_chunks`) and their successors."""
        possible = self.redactor.possible(states)
        mover, value = self._kinds_of_nodes(states, possible)
        return PublicNodes(mover, possible, value), self._expand(states, possible, mover)

    def check_memory(self, taken: int, found: int) -> None:
        """Raise `TooLarge` if `taken` bytes for `found` positions exceed the memory limit."""
        if taken + self.graph.bytes > self.max_bytes:
            raise TooLarge(
                f"{self.scenario.name}: expected public histories that fit into "
                f"{self.max_bytes / 2**20:,.0f} MiB, found more than {found:,}"
            )

    def _kinds_of_nodes(
        self, states: Records[State], possible: NDArray[np.bool_]
    ) -> tuple[NDArray[np.int8], NDArray[np.float64]]:
        """Return the side to move at each of the given nodes, and the values of leaves."""
        nodes = np.asarray(states["node"])
        decides = (nodes >= FIRST_DECISION) & (nodes <= LAST_DECISION)
        mover = np.where(decides, np.asarray(states["mover"]), CHANCE).astype(np.int8)
        if not self.whole:
            mover[(possible.sum(2) == 1).all(1)] = LEAF
        value = np.zeros(len(states))
        for k in np.flatnonzero(mover == LEAF):
            node = self.graph.explore(states[k])
            value[k] = self.graph.values[node]
        return mover, value

    def _expand(
        self, states: Records[State], possible: NDArray[np.bool_], mover: NDArray[np.int8]
    ) -> PublicTransitions:
        """Return the given nodes' successors, for each possible set of the mover."""
        decides = mover < CHANCE
        own = possible[np.arange(len(states)), np.where(decides, mover, 0)]
        own[~decides] = False
        own[mover == CHANCE, 0] = True  # rolls do not depend on the deal
        node, kind = np.nonzero(own)
        dealt = as_records(State, np.asarray(states)[node])
        for army in range(ARMIES):
            which = np.flatnonzero(mover[node] == army)
            part = as_records(State, np.asarray(dealt)[which])
            self.redactor.deal(part, army, kind[which])
            np.asarray(dealt)[which] = np.asarray(part)
        steps, counts = self.graph.successors(dealt)
        source = np.repeat(np.arange(len(dealt)), counts)
        pair = node[source] * (ACTIONS + 1) + np.asarray(steps["code"]) + 1
        found, action = np.unique(pair, return_inverse=True)
        legal = np.zeros((len(found), own.shape[1]), np.bool_)
        legal[action, kind[source]] = True
        # The successors of an action do not depend on the mover's set: keep one set's successors.
        kept = kind[source] == legal.argmax(1)[action]
        action = action[kept]
        after = as_records(State, np.asarray(steps)["state"][kept])
        probability = np.asarray(steps["probability"])[kept]
        gain = np.bincount(
            action, probability * np.asarray(steps["gain"])[kept], len(found)
        ).astype(np.float64)
        self.redactor.hide(after)
        on = np.asarray(after["node"]) != Node.END
        action, probability = action[on], probability[on]
        after = as_records(State, np.asarray(after)[on])
        first, transition = _merge_equal(action, after)
        order = np.argsort(action[first], kind="stable")
        first, rank = first[order], np.argsort(order)
        return PublicTransitions(
            np.bincount(found // (ACTIONS + 1), minlength=len(states)),
            (found % (ACTIONS + 1) - 1).astype(np.int16),
            legal,
            gain,
            np.bincount(action[first], minlength=len(found)),
            np.bincount(rank[transition], probability, len(first)).astype(np.float64),
            as_records(State, np.asarray(after)[first]),
        )


def position_chunks(states: Records[State]) -> Iterator[Records[State]]:
    """Split positions into batches, as copies, for `PublicExpansion.expand`."""
    for first in range(0, len(states), _AT_ONCE):
        yield states[first : first + _AT_ONCE].copy()


def build_tree(expansion: PublicExpansion, progress: Progress | None = None) -> PublicTree:
    """Build the tree of a scenario's public histories; report their number to `progress`.

    Raises:
        TooLarge: if the tree exceeds the expansion's memory limit.
    """
    waiting = deque([expansion.root()])
    nodes: list[PublicNodes] = []
    chunks: list[PublicTransitions] = []
    parts = []
    found, taken = 0, 0
    while waiting:
        states = waiting.popleft()
        some, transitions = expansion.expand(states)
        nodes.append(some)
        chunks.append(transitions._replace(states=transitions.states[:0].copy()))
        parts.append(_pack_states(states))
        waiting += position_chunks(transitions.states)
        found += len(states)
        taken += sum(int(array.nbytes) for array in (*some, *chunks[-1], parts[-1][1]))
        expansion.check_memory(taken + sum(int(array.nbytes) for array in waiting), found)
        if progress is not None:
            progress(found)
    counts, codes, legal, gain, numbers, probability, _ = (
        np.concatenate(each) for each in zip(*chunks, strict=True)
    )
    mover, possible, value = (np.concatenate(each) for each in zip(*nodes, strict=True))
    kinds = max(1, *expansion.redactor.counts)
    arrays = TreeArrays(
        mover,
        np.concatenate([[0], np.cumsum(counts)]),
        np.ascontiguousarray(legal[:, :kinds]),
        gain,
        np.concatenate([[0], np.cumsum(numbers)]),
        probability,
        value,
    )
    weights = np.ascontiguousarray(expansion.redactor.weights[:, :kinds])
    return PublicTree(arrays, codes, possible[:, :, :kinds], weights, parts)


def _pack_states(states: Records[State]) -> tuple[Records[KeyPlan], NDArray[np.uint64]]:
    """Return a key plan for the given positions, and their keys, uint64 (k, words)."""
    words = np.asarray(states).view(np.uint64).reshape(len(states), -1)
    plan = new_plan(words[0].copy(), np.bitwise_or.reduce(words ^ words[0], axis=0))
    keys = np.zeros((len(states), int(plan[0].words)), np.uint64)
    pack_states(plan, states, keys)
    return plan, keys


def _merge_equal(
    action: NDArray[np.int64], states: Records[State]
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the first transition with each action and position, and each transition's group."""
    if not len(action):
        return np.zeros(0, np.int64), np.zeros(0, np.int64)
    words = np.asarray(states).view(np.int64).reshape(len(action), -1)
    keyed = np.ascontiguousarray(np.column_stack([action, words]))
    whole = keyed.view(np.dtype((np.void, keyed.shape[1] * 8))).ravel()
    _, first, transition = np.unique(whole, return_index=True, return_inverse=True)
    return first, transition
