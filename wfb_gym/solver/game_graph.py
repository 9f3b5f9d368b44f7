"""The game graph: the positions of a scenario that are solved, with their values.

The work is compiled (`wfb_gym.solver.backward_induction`). It returns whenever an array is full,
and after a slice of nodes so that progress can be shown, and goes on where it stood. This module
owns the arrays, enlarges them, and stops at the limit of memory.
"""

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple, Self, assert_never

import numpy as np
from numpy.typing import NDArray

from wfb_gym._records import Records, new_records
from wfb_gym.engine.canonical import canonicalise
from wfb_gym.engine.keys import new_plan, words_of
from wfb_gym.engine.state import STATE_WORDS, State, new_states
from wfb_gym.packing.records import PackedScenario
from wfb_gym.solver import graph_arrays
from wfb_gym.solver.backward_induction import run
from wfb_gym.solver.foreign_nodes import check_nodes
from wfb_gym.solver.graph_arrays import Game, GraphOperation, GraphStatus, Lanes, Nodes, Play
from wfb_gym.solver.node_index import enter_all, find_node, repack

Progress = Callable[[int], None]
"""Is called with the number of nodes that are done, several times a second."""

DEFAULT_BYTES = 4 * 2**30
"""Memory that a solution may take unless a caller says otherwise."""

_SLICE = 50_000
"""Nodes between two calls of `Progress`."""
_FIRST_NODES = 1 << 12
_FIRST_STEPS = 1 << 12
_FIRST_FRAMES = 256
_GROWTH = 1.6
"""Factor by which the arrays of nodes grow; the old ones stay until the new are filled."""


class TooLarge(ValueError):  # noqa: N818 - it says what the scenario is
    """The scenario's game does not fit into the memory that it may take."""


class SavedGraph(NamedTuple):
    """The arrays that a file holds of a `GameGraph`; the rest follows from them."""

    merging: NDArray[np.bool_]
    origin: NDArray[np.uint64]
    moves: NDArray[np.uint64]
    keys: NDArray[np.uint64]
    kinds: NDArray[np.int8]
    counts: NDArray[np.int16]
    values: NDArray[np.float64]
    chosen: NDArray[np.int16]


def bytes_of(count: int, words: int) -> int:
    """Return the bytes of a graph's arrays, grown to hold nodes with keys of `words` words."""
    capacity, slots = _FIRST_NODES, 4 * _FIRST_NODES
    while capacity < count:
        capacity = int(capacity * _GROWTH)
    while slots < 2 * count:
        slots *= 2
    one = _new_nodes(1, words, np.zeros(1, np.int32))
    row = sum(array.nbytes for array in one) - one.slots.nbytes
    return capacity * row + slots * one.slots.nbytes


def _new_nodes(capacity: int, words: int, slots: NDArray[np.int32]) -> Nodes:
    return Nodes(
        np.zeros((capacity, words), np.uint64),
        slots,
        np.zeros(capacity, np.int8),
        np.zeros(capacity, np.int16),
        np.zeros((capacity, 1)),
        np.zeros((capacity, 1), np.int16),
    )


def _check_array(name: str, array: Any, dtype: np.dtype[Any], shape: tuple[int, ...]) -> None:
    """Raise a ValueError if an array of a file is not of this kind."""
    if array.dtype != dtype or array.shape != shape:
        raise ValueError(
            f"{name}: expected {dtype} of shape {shape}, found {array.dtype} of shape {array.shape}"
        )


def _lanes(plays: Sequence[tuple[Play, Play]]) -> Lanes:
    """Lanes that need no weights."""
    return Lanes(np.array(plays, np.int64), np.zeros(0), np.zeros(0, np.int64))


def _enlarge(array: Any, length: int) -> Any:
    """Copy an array into a longer one of its kind; what is new is 0."""
    larger = np.zeros((length, *array.shape[1:]), array.dtype).view(type(array))
    larger[: len(array)] = array
    return larger


class GameGraph:
    """Positions of one scenario that are solved, and their values.

    Args:
        packed: packed scenario, shape (1,).
        max_bytes: memory that the arrays may take.
        merging: whether positions that play alike (`wfb_gym.engine.canonical`) share a node.
    """

    def __init__(
        self, packed: Records[PackedScenario], max_bytes: int, *, merging: bool = False
    ) -> None:
        self.packed = packed
        self.merging = merging
        self.max_bytes = max_bytes
        self.plan = new_plan(np.zeros(STATE_WORDS, np.uint64), np.zeros(STATE_WORDS, np.uint64))
        self._control = new_records(graph_arrays.Control, 1)
        self._control[0].merging = merging
        self._nodes = _new_nodes(_FIRST_NODES, 1, np.full(4 * _FIRST_NODES, -1, np.int32))
        self._room = graph_arrays.new_expansion(_FIRST_STEPS)
        self._stack = graph_arrays.Stack(
            new_records(graph_arrays.Frame, _FIRST_FRAMES),
            np.zeros((_FIRST_STEPS, 1), np.uint64),
            np.zeros(STATE_WORDS, np.uint64),
        )
        self._state = new_states(1)
        self._key = np.zeros(STATE_WORDS, np.uint64)
        self._optimal = _lanes([(Play.OPTIMAL, Play.OPTIMAL)])

    @classmethod
    def from_saved(cls, packed: Records[PackedScenario], max_bytes: int, saved: SavedGraph) -> Self:
        """Return the graph that `to_saved` was called on.

        Raises:
            ValueError: The arrays do not fit together, or hold what no solving comes to.
        """
        for name, dtype, shape in (
            ("merging", np.bool_, ()),
            ("origin", np.uint64, (STATE_WORDS,)),
            ("moves", np.uint64, (STATE_WORDS,)),
        ):
            _check_array(name, getattr(saved, name), np.dtype(dtype), shape)
        graph = cls(packed, max_bytes, merging=bool(saved.merging))
        graph.plan = new_plan(saved.origin, saved.moves)
        size, words = len(saved.kinds), int(graph.plan[0].words)
        slots = max(4 * _FIRST_NODES, 1 << (2 * size).bit_length())
        graph._nodes = _new_nodes(max(_FIRST_NODES, size), words, np.zeros(slots, np.int32))
        graph._control[0].nodes = size
        for name in ("keys", "kinds", "counts", "values", "chosen"):
            array, own = getattr(saved, name), getattr(graph, name)
            _check_array(name, array, own.dtype, own.shape)
            own[:] = array
        graph._fill_index()
        check_nodes(Game(packed, graph.plan, graph._control), graph._nodes)
        graph._stack = graph._stack._replace(keys=np.zeros((_FIRST_STEPS, words), np.uint64))
        return graph

    def to_saved(self) -> SavedGraph:
        """Return the arrays that a file holds."""
        plan = self.plan[0]
        return SavedGraph(
            np.array(self.merging), plan.origin.copy(), plan.moves.copy(), self.keys, self.kinds,
            self.counts, self.values, self.chosen,
        )  # fmt: skip

    @property
    def size(self) -> int:
        """Number of nodes."""
        return int(self._control[0].nodes)

    @property
    def keys(self) -> NDArray[np.uint64]:
        """Keys of the nodes' positions, uint64 (size, words)."""
        return self._nodes.keys[: self.size]

    @property
    def kinds(self) -> NDArray[np.int8]:
        """The army that decides, or `graph_arrays.CHANCE`, int8 (size,)."""
        return self._nodes.kinds[: self.size]

    @property
    def counts(self) -> NDArray[np.int16]:
        """Numbers of legal actions, int16 (size,); 0 at chance nodes."""
        return self._nodes.counts[: self.size]

    @property
    def values(self) -> NDArray[np.float64]:
        """Points still to come for the first army if both play optimally, float64 (size,)."""
        return self._nodes.values[: self.size, 0]

    @property
    def chosen(self) -> NDArray[np.int16]:
        """Codes of the movers' best actions, int16 (size,); -1 at chance nodes."""
        return self._nodes.chosen[: self.size, 0]

    @property
    def bytes(self) -> int:
        """Bytes of the arrays that grow with the game."""
        return sum(array.nbytes for array in self._nodes)

    def find(self, state: State) -> int:
        """Return the number of a position's node; it is negative if the position has none."""
        nodes = self._nodes
        return int(
            find_node(self.plan[0], self.canonical(state), nodes.keys, nodes.slots, self._key)
        )

    def canonical(self, state: State) -> State:
        """Return the position that the graph holds for a position; the next call overwrites it."""
        self._state[0] = state
        if self.merging:
            canonicalise(self.packed[0], self._state[0])
        return self._state[0]

    def explore(self, state: State, progress: Progress | None = None) -> int:
        """Solve a decision or chance node and everything that can follow it; return its node.

        Raises:
            TooLarge: The arrays would outgrow `max_bytes`; what was done so far stays.
        """
        known = self.find(state)
        if known >= 0:
            return known
        state = self.canonical(state)
        if self.size == 0:
            self.plan = new_plan(words_of(state).copy(), self.plan[0].moves)
        elif known == graph_arrays.NEW_BITS:
            self._stack.unknown[:] = words_of(state) ^ self.plan[0].origin
            self._learn_bits()
        self._room.steps[0].state = state
        self._room.steps[0].node = graph_arrays.UNKNOWN
        self._stack.frames[0] = (0, -1, 0, 0, 0)
        self._control[0].depth = self._control[0].top = 1
        self._run(GraphOperation.EXPLORE, _SLICE, self._optimal, progress=progress)
        return self.size - 1

    def successors(
        self, states: Records[State] | NDArray[Any]
    ) -> tuple[Records[graph_arrays.Successor], NDArray[np.int64]]:
        """Return what can follow some positions, shape (k,).

        Returns:
            The ways from all positions, one position's after the other's, in memory that the next
            call overwrites; and how many each position has, int64 (k,).
        """
        count = len(states)
        while len(self._room.steps) <= count:
            self._grow(GraphStatus.STEPS_FULL)
        self._room.steps.state[:count] = states
        self._run(GraphOperation.EXPAND, count, self._optimal)
        ends = self._room.steps.node[:count].copy()
        return self._room.steps[count : self._control[0].top], np.diff(ends, prepend=count)

    def sweep(
        self,
        plays: Sequence[tuple[Play, Play]],
        weights: NDArray[np.float64] | None = None,
        progress: Progress | None = None,
    ) -> tuple[NDArray[np.float64], NDArray[np.int16]]:
        """Return the values of all nodes where the armies play in other ways, lane by lane.

        For `Play.GIVEN` the weights are the probabilities of the legal actions of every node, in
        ascending order of codes, all behind one another in order of nodes, float64 (sum of
        counts,).

        Returns:
            Values, float64 (size, lanes), and the best action's code where an army answers best,
            int16 (size, lanes), else -1.
        """
        nodes = self._nodes._replace(
            values=np.zeros((self.size, len(plays))),
            chosen=np.zeros((self.size, len(plays)), np.int16),
        )
        lanes = _lanes(plays)
        if weights is not None:
            lanes = lanes._replace(weights=weights, offsets=self.offsets()[:-1])
        self._control[0].cursor = 0
        self._run(GraphOperation.SWEEP, _SLICE, lanes, nodes, progress)
        return nodes.values, nodes.chosen

    def action_values(self, progress: Progress | None = None) -> NDArray[np.float64]:
        """Return the value of every legal action of every decision if play is optimal afterwards.

        They are points still to come for the first army, in the order of `offsets`: float64 (sum
        of counts,).
        """
        values = np.zeros(int(self.offsets()[-1]))
        self.sweep([(Play.REPORTED, Play.REPORTED)], values, progress)
        return values

    def offsets(self) -> NDArray[np.int64]:
        """Return where each node's legal actions begin in an array of all, int64 (size + 1,)."""
        return np.concatenate([[0], np.cumsum(self.counts, dtype=np.int64)])

    def _run(
        self,
        operation: GraphOperation,
        budget: int,
        lanes: Lanes,
        nodes: Nodes | None = None,
        progress: Progress | None = None,
    ) -> None:
        """Run one operation to its end; on the graph's own nodes unless others are given."""
        while True:
            game = Game(self.packed, self.plan, self._control)
            status = GraphStatus(
                run(
                    int(operation), budget, game, self._nodes if nodes is None else nodes, lanes,
                    self._room, self._stack,
                )
            )  # fmt: skip
            if progress is not None:
                control = self._control[0]
                sweeping = operation == GraphOperation.SWEEP
                progress(int(control.cursor if sweeping else control.nodes))
            if status == GraphStatus.DONE:
                return
            self._grow(status)

    def _grow(self, status: GraphStatus) -> None:
        """Enlarge what the compiled code found too small."""
        room, stack, nodes = self._room, self._stack, self._nodes
        if status == GraphStatus.NODES_FULL:
            before = len(nodes.kinds)
            capacity = int(before * _GROWTH)
            row = (self.bytes - nodes.slots.nbytes) // before
            self._check_room(self.bytes + row * (capacity - before))
            self._nodes = Nodes._make(
                array if array is nodes.slots else _enlarge(array, capacity) for array in nodes
            )
        elif status == GraphStatus.INDEX_FULL:
            self._check_room(self.bytes + nodes.slots.nbytes)
            self._nodes = nodes._replace(slots=np.zeros(2 * len(nodes.slots), np.int32))
            self._fill_index()
        elif status == GraphStatus.STEPS_FULL:
            size = 2 * len(room.steps)
            steps, chain = _enlarge(room.steps, size), _enlarge(room.chain, size)
            self._room = room._replace(steps=steps, chain=chain)
            frames = _enlarge(stack.frames, 2 * len(stack.frames))
            self._stack = stack._replace(frames=frames, keys=_enlarge(stack.keys, size))
        elif status == GraphStatus.NEW_KEY_BITS:
            self._learn_bits()
        elif status == GraphStatus.DONE or status == GraphStatus.PAUSED:
            return
        else:
            assert_never(status)

    def _check_room(self, wanted: int) -> None:
        if wanted > self.max_bytes:
            raise TooLarge(
                f"{self.size:,} positions take {self.bytes / 2**20:,.0f} MiB, and more would pass "
                f"the limit of {self.max_bytes / 2**20:,.0f} MiB"
            )

    def _learn_bits(self) -> None:
        """Add the bits in `_stack.unknown` to the key plan, and write all keys anew."""
        plan = new_plan(self.plan[0].origin, self.plan[0].moves | self._stack.unknown)
        words = int(plan[0].words)
        keys = np.zeros((len(self._nodes.kinds), words), np.uint64)
        step_keys = np.zeros((len(self._room.steps), words), np.uint64)
        game = Game(self.packed, self.plan, self._control)
        repack(game, plan, self._nodes.keys, keys, self._room.steps, step_keys)
        self.plan = plan
        self._nodes = self._nodes._replace(keys=keys)
        self._stack = self._stack._replace(keys=step_keys)
        self._fill_index()

    def _fill_index(self) -> None:
        self._nodes.slots[:] = -1
        enter_all(int(self.plan[0].words), self.size, self._nodes.keys, self._nodes.slots)
