"""The game graph: a scenario's solved positions and their values.

The computation is compiled (`wfb_gym.solver.backward_induction`). It returns when an array is full,
or after a slice of nodes to report progress, and can then resume. This module owns and grows the
arrays, enforces the memory limit, and starts the threads that share a search. Threads start only
after the first `_ALONE` nodes, so small games have the same node numbers in every run. In large
games with several threads, node numbers differ between runs, but values and actions never do.
"""

from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from typing import Any, NamedTuple, Self, assert_never

import numpy as np
from numba.core import config
from numpy.typing import NDArray

from wfb_gym._records import Records, new_records
from wfb_gym.engine.canonical import canonicalize
from wfb_gym.engine.keys import new_plan, words_of
from wfb_gym.engine.state import STATE_WORDS, State, new_states
from wfb_gym.packing.records import PackedScenario
from wfb_gym.solver import graph_arrays
from wfb_gym.solver.backward_induction import run
from wfb_gym.solver.graph_arrays import (
    Expansion,
    GraphArrays,
    GraphOperation,
    GraphStatus,
    Nodes,
    PolicyBatch,
    Stack,
    SweepMode,
)
from wfb_gym.solver.graph_validation import check_nodes
from wfb_gym.solver.node_index import enter_all, find_node, pack_steps, repack, unpack_states

Progress = Callable[[int], None]
"""Callback that is called several times per second with the number of finished nodes."""
StateValues = Callable[[Records[State]], NDArray[np.float64]]
"""Function from states (k,) to the first army's future points, float64 (k,)."""

DEFAULT_BYTES = 4 * 2**30  # default memory limit for a solution, in bytes

_SLICE = 50_000  # number of nodes between calls to `Progress`
_ALONE = 50_000  # number of nodes that the first thread explores before the other threads start
_NO_END = 1 << 62
_FIRST_NODES = 1 << 12
_FIRST_STEPS = 1 << 12
_FIRST_FRAMES = 256
_GROWTH = 1.6
"""Factor by which the node arrays grow. Both the old and the new array are in memory while one is
copied."""


HASH_FACTORS = np.random.default_rng(6).integers(0, 2**63, STATE_WORDS, np.uint64) * np.uint64(2)
HASH_FACTORS += np.uint64(1)
"""Odd factors for hashing the words of a key."""


class TooLarge(ValueError):  # noqa: N818 - the public name has no "Error"
    """The scenario's game does not fit in the memory limit."""


class _Search(NamedTuple):
    """Memory owned by one thread of a search."""

    buffers: Expansion
    stack: Stack


class SavedGraph(NamedTuple):
    """Arrays of a `GameGraph` that are saved to a file."""

    merging: NDArray[np.bool_]
    origin: NDArray[np.uint64]
    moves: NDArray[np.uint64]
    keys: NDArray[np.uint64]
    kinds: NDArray[np.int8]
    counts: NDArray[np.int16]
    values: NDArray[np.float64]
    chosen: NDArray[np.int16]


def bytes_of(count: int, words: int) -> int:
    """Return the size in bytes of a graph's arrays for `count` nodes with `words` words per key."""
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
    """Raise a ValueError if an array from a file has the wrong dtype or shape."""
    if array.dtype != dtype or array.shape != shape:
        raise ValueError(
            f"{name}: expected {dtype} of shape {shape}, found {array.dtype} of shape {array.shape}"
        )


def _lanes(plays: Sequence[tuple[SweepMode, SweepMode]]) -> PolicyBatch:
    """Return lanes without weights."""
    return PolicyBatch(np.array(plays, np.int64), np.zeros((0, 0)), np.zeros(0, np.int64))


def _enlarge(array: Any, length: int) -> Any:
    """Return a longer copy of an array, filled with zeros."""
    larger = np.zeros((length, *array.shape[1:]), array.dtype).view(type(array))
    larger[: len(array)] = array
    return larger


def _new_search(steps: int, frames: int, keys: NDArray[np.uint64]) -> _Search:
    """Return the memory for a search whose keys are as long as `keys`."""
    return _Search(
        graph_arrays.new_expansion(steps),
        Stack(
            new_records(graph_arrays.Place, 9)[4:5],  # padding: a separate cache line per thread
            new_records(graph_arrays.ExploredNode, frames),
            np.zeros((steps, keys.shape[1]), np.uint64),
            np.zeros(STATE_WORDS, np.uint64),
        ),
    )


def _enlarge_search(buffers: Expansion, stack: Stack) -> _Search:
    size = 2 * len(buffers.steps)
    return _Search(
        buffers._replace(steps=_enlarge(buffers.steps, size), chain=_enlarge(buffers.chain, size)),
        stack._replace(
            frames=_enlarge(stack.frames, 2 * len(stack.frames)), keys=_enlarge(stack.keys, size)
        ),
    )


class GameGraph:
    """Solved positions of one scenario, and their values.

    Args:
        packed: packed scenario, shape (1,).
        max_bytes: maximum memory for the arrays, in bytes.
        merging: whether equivalent positions (`wfb_gym.engine.canonical`) share a node.
        threads: number of threads that explore a large game; always 1 if Numba is disabled. With
            one thread, node numbers are the same in every run.
        horizon: first phase whose positions are leaves.
        leaf_values: function that returns the values of leaves; required with `horizon`.
    """

    def __init__(
        self,
        packed: Records[PackedScenario],
        max_bytes: int,
        *,
        merging: bool = False,
        threads: int = 1,
        horizon: int = graph_arrays.NO_HORIZON,
        leaf_values: StateValues | None = None,
    ) -> None:
        self.packed = packed
        self.merging = merging
        self.max_bytes = max_bytes
        self.threads = 1 if config.DISABLE_JIT else threads  # type: ignore[attr-defined]
        self.plan = new_plan(np.zeros(STATE_WORDS, np.uint64), np.zeros(STATE_WORDS, np.uint64))
        self._control = new_records(graph_arrays.Control, 1)
        self._control[0].merging = merging
        self._control[0].horizon = horizon
        self.leaf_values = leaf_values
        self._valued = 0  # leaves below this node number already have values
        self._shared = np.zeros(graph_arrays.SHARED, np.int64)
        slots = np.full(4 * _FIRST_NODES, graph_arrays.FREE, np.int32)
        self._nodes = _new_nodes(_FIRST_NODES, 1, slots)
        self._searches = [_new_search(_FIRST_STEPS, _FIRST_FRAMES, self._nodes.keys)]
        self._state = new_states(1)
        self._key = np.zeros(STATE_WORDS, np.uint64)
        self._optimal = _lanes([(SweepMode.OPTIMAL, SweepMode.OPTIMAL)])

    @classmethod
    def from_saved(cls, packed: Records[PackedScenario], max_bytes: int, saved: SavedGraph) -> Self:
        """Rebuild a graph from its saved arrays.

        Raises:
            ValueError: if the arrays are inconsistent, or cannot come from solving.
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
        graph._shared[graph_arrays.NODES] = size
        for name in ("keys", "kinds", "counts", "values", "chosen"):
            array, own = getattr(saved, name), getattr(graph, name)
            _check_array(name, array, own.dtype, own.shape)
            own[:] = array
        graph._check_keys()  # first: duplicates make `_fill_index` take quadratic time
        graph._fill_index()
        check_nodes(graph._game(), graph._nodes)
        graph._searches = [_new_search(_FIRST_STEPS, _FIRST_FRAMES, graph._nodes.keys)]
        return graph

    def to_saved(self) -> SavedGraph:
        """Return the arrays to save to a file."""
        plan = self.plan[0]
        return SavedGraph(
            np.array(self.merging), plan.origin.copy(), plan.moves.copy(), self.keys, self.kinds,
            self.counts, self.values, self.chosen,
        )  # fmt: skip

    @property
    def size(self) -> int:
        """Number of nodes."""
        return int(self._shared[graph_arrays.NODES])

    @property
    def keys(self) -> NDArray[np.uint64]:
        """Keys of the nodes' positions, uint64 (size, words)."""
        return self._nodes.keys[: self.size]

    @property
    def kinds(self) -> NDArray[np.int8]:
        """The army to move, or `graph_arrays.CHANCE` or `LEAF`, int8 (size,)."""
        return self._nodes.kinds[: self.size]

    @property
    def counts(self) -> NDArray[np.int16]:
        """Numbers of legal actions, int16 (size,); 0 at chance nodes and leaves."""
        return self._nodes.counts[: self.size]

    @property
    def values(self) -> NDArray[np.float64]:
        """The first army's future points under optimal play by both sides, float64 (size,)."""
        return self._nodes.values[: self.size, 0]

    @property
    def chosen(self) -> NDArray[np.int16]:
        """Codes of the best actions, int16 (size,); -1 at chance nodes and leaves."""
        return self._nodes.chosen[: self.size, 0]

    @property
    def bytes(self) -> int:
        """Size in bytes of the arrays that grow with the game."""
        return sum(array.nbytes for array in self._nodes)

    @property
    def horizon(self) -> int:
        """First phase whose positions are leaves, or `graph_arrays.NO_HORIZON`."""
        return int(self._control[0].horizon)

    def states(self, nodes: NDArray[np.int64]) -> Records[State]:
        """Return the positions of the given nodes, (k,)."""
        states = new_states(len(nodes))
        unpack_states(self.plan, self.keys, nodes, states)
        return states

    def find(self, state: State) -> int:
        """Return the number of a position's node, or a negative number if there is none."""
        nodes = self._nodes
        return int(
            find_node(self.plan[0], self.canonical(state), nodes.keys, nodes.slots, self._key)
        )

    def canonical(self, state: State) -> State:
        """Return the graph's representative of `state`; the next call overwrites it."""
        self._state[0] = state
        if self.merging:
            canonicalize(self.packed[0], self._state[0])
        return self._state[0]

    def explore(self, state: State, progress: Progress | None = None) -> int:
        """Solve a decision or chance node and every position reachable from it; return its node.

        Raises:
            TooLarge: if the arrays would exceed `max_bytes`; nodes solved so far are kept.
            ValueError: if `leaf_values` does not return one finite number per leaf.
        """
        known = self.find(state)
        if known >= 0:
            self._value_leaves()
            return known
        state = self.canonical(state)
        if self.size == 0:
            self.plan = new_plan(words_of(state).copy(), self.plan[0].moves)
        elif known == graph_arrays.NEW_BITS:
            self._searches[0].stack.unknown[:] = words_of(state) ^ self.plan[0].origin
            self._learn_bits()
        self._begin_search(0, state)
        self._search(progress)
        known = self.size - 1
        self._value_leaves()
        return known

    def _value_leaves(self) -> None:
        """Compute the values of new leaves, then recompute the nodes that were added with them."""
        first, size = self._valued, self.size
        if self.leaf_values is None or first == size:
            return
        leaves = first + np.flatnonzero(self.kinds[first:] == graph_arrays.LEAF)
        for some in np.split(leaves, range(_SLICE, len(leaves), _SLICE)):
            found = np.asarray(self.leaf_values(self.states(some)), np.float64)
            if found.shape != some.shape or not np.isfinite(found).all():
                raise ValueError(
                    f"leaf values: expected {len(some)} finite numbers, found {found.shape} with "
                    f"{np.isfinite(found).sum()} finite ones"
                )
            self.values[some] = found
        self._control[0].cursor = first
        self._run(GraphOperation.SWEEP, size, self._optimal, self._nodes)
        self._valued = size

    def successors(
        self, states: Records[State] | NDArray[Any]
    ) -> tuple[Records[graph_arrays.Successor], NDArray[np.int64]]:
        """Return the successors of the given positions, (k,).

        Returns:
            The steps from all positions, grouped by position, in memory that the next call
            overwrites, and the number of steps from each position, int64 (k,).
        """
        count = len(states)
        while len(self._searches[0].buffers.steps) <= count:
            self._grow(GraphStatus.STEPS_FULL)
        self._searches[0].buffers.steps.state[:count] = states
        self._run(GraphOperation.EXPAND, count, self._optimal, self._nodes)
        buffers, stack = self._searches[0]
        ends = buffers.steps.node[:count].copy()
        return buffers.steps[count : stack.place[0].top], np.diff(ends, prepend=count)

    def sweep(
        self,
        plays: Sequence[tuple[SweepMode, SweepMode]],
        weights: NDArray[np.float64] | None = None,
        progress: Progress | None = None,
    ) -> tuple[NDArray[np.float64], NDArray[np.int16]]:
        """Return the values of all nodes under given pairs of policies, one lane per pair.

        Args:
            plays: both armies' `SweepMode` in each lane. Lanes with `SweepMode.GIVEN` come first.
            weights: for each lane with `SweepMode.GIVEN`, the probabilities of the legal actions
                at all nodes, ordered by node, then by action code (see `offsets`), float64
                (lanes, sum of counts).
            progress: called with the number of nodes evaluated so far.

        Returns:
            Values, float64 (size, lanes), and the best actions' codes for armies that play their
            best response, otherwise -1, int16 (size, lanes).
        """
        nodes = self._nodes._replace(
            values=np.zeros((self.size, len(plays))),
            chosen=np.zeros((self.size, len(plays)), np.int16),
        )
        leaves = self.kinds == graph_arrays.LEAF
        nodes.values[leaves] = self.values[leaves, None]
        lanes = _lanes(plays)
        if weights is not None:
            lanes = lanes._replace(weights=weights, offsets=self.offsets()[:-1])
        self._control[0].cursor = 0
        for first in range(0, self.size, _SLICE):
            end = min(first + _SLICE, self.size)
            self._run(GraphOperation.SWEEP, end, lanes, nodes)
            if progress is not None:
                progress(end)
        return nodes.values, nodes.chosen

    def action_values(self, progress: Progress | None = None) -> NDArray[np.float64]:
        """Return the values of all legal actions at all decisions, float64 (sum of counts,).

        An action's value is the first army's future points if play after the action is optimal.
        Actions are ordered as in `offsets`.
        """
        values = np.zeros(int(self.offsets()[-1]))
        self.sweep([(SweepMode.REPORTED, SweepMode.REPORTED)], values[None], progress)
        return values

    def offsets(self) -> NDArray[np.int64]:
        """Return the index of each node's first action in all-action arrays, int64 (size + 1,)."""
        return np.concatenate([[0], np.cumsum(self.counts, dtype=np.int64)])

    def _run(self, operation: GraphOperation, end: int, lanes: PolicyBatch, nodes: Nodes) -> None:
        """Run one operation in a single thread until it finishes."""
        while True:
            status = GraphStatus(
                run(int(operation), end, self._game(), nodes, lanes, *self._searches[0])
            )
            if status == GraphStatus.DONE:
                return
            self._grow(status)

    def _game(self) -> GraphArrays:
        return GraphArrays(self.packed, self.plan, self._control, self._shared)

    def _search(self, progress: Progress | None) -> None:
        """Run the search until it finishes; start the other threads after `_ALONE` nodes."""
        before = self.size
        self._control[0].threads = 1
        with ThreadPoolExecutor(
            self.threads, "wfb_gym explore"
        ) as pool:  # starts threads on demand
            while True:
                answers = self._run_searches(pool, progress)
                if GraphStatus.DONE in answers:
                    return
                if self._control[0].threads < self.threads and self.size - before >= _ALONE:
                    self._add_threads()
                for status in answers:
                    self._grow(status)

    def _run_searches(
        self, pool: ThreadPoolExecutor, progress: Progress | None
    ) -> set[GraphStatus]:
        """Run all threads' searches until one of them stops; return their statuses."""
        threads = int(self._control[0].threads)
        game, nodes, lanes = self._game(), self._nodes, self._optimal
        explore = int(GraphOperation.EXPLORE)
        self._shared[graph_arrays.HALT] = 0
        others: list[Future[int]] = []
        try:
            for each in self._searches[1:threads]:
                others.append(pool.submit(run, explore, _NO_END, game, nodes, lanes, *each))
            while True:
                end = self.size + _SLICE
                status = run(explore, end, game, nodes, lanes, *self._searches[0])
                if progress is not None:
                    progress(self.size)
                if status != GraphStatus.PAUSED or threads == 1 or any(map(Future.done, others)):
                    break
        finally:
            self._shared[graph_arrays.HALT] = 1
            wait(others)
        return {GraphStatus(each) for each in (status, *map(Future.result, others))}

    def _add_threads(self) -> None:
        """Start the other threads' searches from the first thread's starting position."""
        buffers, stack = self._searches[0]
        while len(self._searches) < self.threads:
            self._searches.append(_new_search(len(buffers.steps), len(stack.frames), stack.keys))
        for thread in range(1, self.threads):
            self._begin_search(thread, buffers.steps[0].state)
        self._control[0].threads = self.threads

    def _begin_search(self, thread: int, state: State) -> None:
        buffers, stack = self._searches[thread]
        buffers.steps[0].state = state
        buffers.steps[0].node = graph_arrays.UNKNOWN
        stack.frames[0] = (0, -1, 0, 0, 0, 0)
        stack.place[0] = (thread, 1, 1)

    def _grow(self, status: GraphStatus) -> None:
        """Enlarge the array that was too small for the compiled code."""
        nodes = self._nodes
        if status == GraphStatus.NODES_FULL:
            before = len(nodes.kinds)
            capacity = int(before * _GROWTH)
            row = (self.bytes - nodes.slots.nbytes) // before
            self._check_memory(self.bytes + row * (capacity - before))
            self._nodes = Nodes._make(
                array if array is nodes.slots else _enlarge(array, capacity) for array in nodes
            )
        elif status == GraphStatus.INDEX_FULL:
            self._check_memory(self.bytes + nodes.slots.nbytes)
            self._nodes = nodes._replace(slots=np.zeros(2 * len(nodes.slots), np.int32))
            self._fill_index()
        elif status == GraphStatus.STEPS_FULL:
            self._searches = [_enlarge_search(*each) for each in self._searches]
        elif status == GraphStatus.NEW_KEY_BITS:
            self._learn_bits()
        elif (
            status == GraphStatus.DONE
            or status == GraphStatus.PAUSED
            or status == GraphStatus.HALTED
        ):
            return
        else:
            assert_never(status)

    def _check_memory(self, wanted: int) -> None:
        if wanted > self.max_bytes:
            raise TooLarge(
                f"{self.size:,} positions take {self.bytes / 2**20:,.0f} MiB, and more would "
                f"exceed the limit of {self.max_bytes / 2**20:,.0f} MiB"
            )

    def _learn_bits(self) -> None:
        """Add the bits in the stacks' `unknown` to the key plan, and rebuild all keys."""
        before = self.plan
        moves = np.bitwise_or.reduce(
            [before[0].moves, *(each.stack.unknown for each in self._searches)]
        )
        self.plan = new_plan(before[0].origin, moves)
        words = int(self.plan[0].words)
        keys = np.zeros((len(self._nodes.kinds), words), np.uint64)
        repack(before, self.plan, self.size, self._nodes.keys, keys, new_states(1))
        self._nodes = self._nodes._replace(keys=keys)
        for thread, (buffers, stack) in enumerate(self._searches):
            step_keys = np.zeros((len(buffers.steps), words), np.uint64)
            pack_steps(self.plan, buffers.steps, int(stack.place[0].top), step_keys)
            self._searches[thread] = _Search(buffers, stack._replace(keys=step_keys))
        self._fill_index()

    def _check_keys(self) -> None:
        """Raise a ValueError if two nodes have the same key."""
        # Equal keys have equal hashes; sorting hashes is several times faster than sorting keys.
        hashes = np.sort(self.keys @ HASH_FACTORS[: self.keys.shape[1]])
        if not (hashes[1:] == hashes[:-1]).any():
            return
        order = np.lexsort(self.keys.T)
        same = np.ones(max(0, self.size - 1), np.bool_)
        for column in self.keys.T:
            same &= np.diff(column[order]) == 0
        if same.any():
            wrong = int(order[np.argmax(same) + 1])
            raise ValueError(f"node {wrong}: expected a unique key, found a duplicate")

    def _fill_index(self) -> None:
        self._nodes.slots[:] = graph_arrays.FREE
        enter_all(int(self.plan[0].words), self.size, self._nodes.keys, self._nodes.slots)
