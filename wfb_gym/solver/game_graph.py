"""The game graph's arrays: filling them, enlarging them, and stopping where memory ends.

The work itself is compiled (`wfb_gym.solver.graph`). It comes back whenever an array is full, or
after a while so that progress can be shown, and goes on where it stood.
"""

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from wfb_gym._jit import announce_compiling
from wfb_gym._records import Records, new_records
from wfb_gym.engine.actions import ACTIONS
from wfb_gym.engine.canonical import canonicalise
from wfb_gym.engine.chance import most_outcomes
from wfb_gym.engine.keys import new_plan, words_of
from wfb_gym.engine.state import STATE_WORDS, State, new_states, new_work_spaces
from wfb_gym.packing.records import PackedScenario
from wfb_gym.scenario.sizes import DICE
from wfb_gym.solver import graph

Progress = Callable[[int], None]
"""Is told the number of nodes that are done, several times a second."""

_SLICE = 50_000
"""Nodes between two looks at the clock."""
_FIRST_NODES = 1 << 12
_FIRST_STEPS = 1 << 12
_FIRST_FRAMES = 256
_GROWTH = 1.6
"""Factor by which the arrays of nodes grow; the old ones are there until the new are filled."""


class TooLarge(ValueError):  # noqa: N818 - it says what the scenario is
    """The scenario's game does not fit into the memory that it may take."""


class Arrays(NamedTuple):
    """A graph's arrays, without what only finding and going on need; see `GameGraph`."""

    merging: NDArray[np.bool_]
    origin: NDArray[np.uint64]
    moves: NDArray[np.uint64]
    keys: NDArray[np.uint64]
    kinds: NDArray[np.int8]
    counts: NDArray[np.int16]
    values: NDArray[np.float64]
    chosen: NDArray[np.int16]


def bytes_of(count: int, words: int) -> int:
    """Bytes that a graph's arrays come to as they grow to hold some nodes.

    Args:
        count: of the nodes.
        words: of a key.
    """
    capacity, slots = _FIRST_NODES, 4 * _FIRST_NODES
    while capacity < count:
        capacity = int(capacity * _GROWTH)
    while slots < 2 * count:
        slots *= 2
    row = 8 * words + sum(np.dtype(kind).itemsize for kind in (np.int8, np.int16, float, np.int16))
    return capacity * row + slots * np.dtype(np.int32).itemsize


class GameGraph:
    """Positions of one scenario that were worked out, and their values.

    Args:
        packed: packed scenario, shape (1,).
        max_bytes: that the arrays may take.
        merging: have positions that play alike (`engine.alike`) share a node.

    Attributes:
        keys: of the nodes, uint64 (capacity, words); nodes behind `size` are free.
        kinds: int8 (capacity,): the army that decides, or `graph.CHANCE`.
        counts: int16 (capacity,): legal actions.
        values: float64 (capacity,): points still to come, as the first army sees them, if both
            play optimally.
        chosen: int16 (capacity,): code of the mover's best action; -1 at chance nodes.
    """

    def __init__(
        self, packed: Records[PackedScenario], max_bytes: int, *, merging: bool = False
    ) -> None:
        self.packed = packed
        self.merging = merging
        self.max_bytes = max_bytes
        self._moves = np.zeros(STATE_WORDS, np.uint64)
        self.plan = new_plan(np.zeros(STATE_WORDS, np.uint64), self._moves)
        self._control = new_records(graph.Progress, 1)
        self._control[0].merging = merging
        self._asked = new_states(1)
        self._allocate(_FIRST_NODES)
        self._index = np.full(4 * _FIRST_NODES, -1, np.int32)
        self._steps = new_records(graph.Successor, _FIRST_STEPS)
        self._frames = new_records(graph.Frame, _FIRST_FRAMES)
        self._chain = new_records(graph.Successor, _FIRST_STEPS)
        room = most_outcomes(DICE, rerolls=True)
        self._outcomes, self._chances = np.zeros(room, np.int64), np.zeros(room)
        self._codes, self._sums = np.zeros(ACTIONS, np.int64), np.zeros(ACTIONS)
        self._unknown = np.zeros(STATE_WORDS, np.uint64)
        self._key = np.zeros(STATE_WORDS, np.uint64)
        self._keys = np.zeros((_FIRST_STEPS, 1), np.uint64)
        self._scratch = new_work_spaces()
        self._optimal = np.full((1, 2), graph.OPTIMAL, np.int64)
        announce_compiling(graph.run)

    @classmethod
    def restored(cls, packed: Records[PackedScenario], max_bytes: int, arrays: Arrays) -> Self:
        """The graph that `arrays` came from.

        Raises:
            ValueError: the arrays do not fit together.
        """
        graph_again = cls(packed, max_bytes, merging=bool(arrays.merging))
        graph_again.plan = new_plan(arrays.origin, arrays.moves)
        graph_again._moves[:] = arrays.moves
        size = len(arrays.kinds)
        wanted = {
            "keys": (np.dtype(np.uint64), (size, int(graph_again.plan[0].words))),
            "kinds": (np.dtype(np.int8), (size,)),
            "counts": (np.dtype(np.int16), (size,)),
            "values": (np.dtype(np.float64), (size,)),
            "chosen": (np.dtype(np.int16), (size,)),
        }
        for name, (dtype, shape) in wanted.items():
            array = getattr(arrays, name)
            if array.dtype != dtype or array.shape != shape:
                raise ValueError(
                    f"{name}: expected {dtype} of shape {shape}, found {array.dtype} of shape "
                    f"{array.shape}"
                )
        graph_again._allocate(max(_FIRST_NODES, size))
        for name in wanted:
            getattr(graph_again, name)[:size] = getattr(arrays, name)
        graph_again._control[0].nodes = size
        graph_again._keys = np.zeros((_FIRST_STEPS, graph_again.keys.shape[1]), np.uint64)
        slots = max(4 * _FIRST_NODES, 1 << (2 * size).bit_length())
        graph_again._index = np.full(slots, -1, np.int32)
        words = int(graph_again.plan[0].words)
        graph.reindex(words, size, graph_again.keys, graph_again._index)
        return graph_again

    def arrays(self) -> Arrays:
        """All that was worked out, for a file."""
        size = self.size
        return Arrays(
            np.array(self.merging), self.plan[0].origin.copy(), self._moves, self.keys[:size],
            self.kinds[:size], self.counts[:size], self.values[:size], self.chosen[:size],
        )  # fmt: skip

    @property
    def size(self) -> int:
        """Nodes that are done."""
        return int(self._control[0].nodes)

    @property
    def bytes(self) -> int:
        """Bytes of the arrays that grow with the game."""
        held = (self.keys, self.kinds, self.counts, self.values, self.chosen, self._index)
        return sum(array.nbytes for array in held)

    def _allocate(self, capacity: int) -> None:
        self.keys = np.zeros((capacity, int(self.plan[0].words)), np.uint64)
        self.kinds = np.zeros(capacity, np.int8)
        self.counts = np.zeros(capacity, np.int16)
        self.values = np.zeros(capacity)
        self.chosen = np.zeros(capacity, np.int16)

    def find(self, state: State) -> int:
        """Number of a position's node; negative if it has none."""
        asked = self.taken(state)
        return int(graph.find(self.plan[0], asked, self.keys, self._index, self._key))

    def taken(self, state: State) -> State:
        """The position that the graph holds for one."""
        self._asked[0] = state
        if self.merging:
            canonicalise(self.packed[0], self._asked[0])
        return self._asked[0]

    def explore(self, state: State, progress: Progress | None = None) -> int:
        """Work out a position and everything that can follow it.

        Args:
            state: a decision or a chance node of the scenario.
            progress: see `Progress`.

        Returns:
            The position's node.

        Raises:
            TooLarge: the arrays would outgrow `max_bytes`; what was done so far stays.
        """
        known = self.find(state)
        if known >= 0:
            return known
        state = self.taken(state)
        if self.size == 0:
            self.plan = new_plan(words_of(state).copy(), self._moves)
        elif known == graph.NEW_BITS:
            self._unknown[:] = words_of(state) ^ self.plan[0].origin
            self._learn_bits()
        registers = self._control[0]
        self._steps[0].state = state
        self._frames[0] = (0, -1, 0, 0, 0)
        registers.depth, registers.top = 1, 1
        self._steps[0].node = graph.UNKNOWN
        while True:
            answer = self._run(graph.EXPLORE, _SLICE, self._optimal)
            if progress is not None:
                progress(self.size)
            if answer == graph.DONE:
                return self.size - 1
            self._grow(answer)

    def successors(self, state: State) -> Any:
        """What can follow a position: a record array of `graph.STEP`, one entry a way.

        Nodes are numbered as `graph.find` tells.
        """
        states = new_states(1)
        states[0] = state
        return self.ways(states)[0].copy()

    def ways(self, states: Any) -> tuple[Any, NDArray[np.int64]]:
        """What can follow some positions.

        Args:
            states: record array of `STATE`.

        Returns:
            The ways from all of them, as `successors` has them, one position's after the other's,
            in memory that the next call writes over; and how many each position has.
        """
        count = len(states)
        while len(self._steps) <= count:
            self._grow(graph.GROW_STACK)
        self._steps.state[:count] = states
        while True:
            answer = self._run(graph.EXPAND, count, self._optimal)
            if answer == graph.DONE:
                ends = self._steps.node[:count].copy()
                return (
                    self._steps[count : self._control[0].top],
                    np.diff(ends, prepend=count),
                )
            self._grow(answer)

    def sweep(
        self,
        plays: Sequence[tuple[int, int]],
        weights: NDArray[np.float64] | None = None,
        progress: Progress | None = None,
    ) -> tuple[NDArray[np.float64], NDArray[np.int16]]:
        """Values of all nodes under other ways to play.

        Args:
            plays: how either army plays in each lane: `graph.OPTIMAL` answers best to the other,
                `graph.GIVEN` follows `weights`, `graph.UNIFORM` takes every legal action as
                likely.
            weights: chances of the legal actions of every node, in ascending order of codes, all
                behind one another in order of nodes: float64 (sum of counts,).
            progress: see `Progress`.

        Returns:
            Values, float64 (size, lanes), and the best action's code where an army answers best,
            int16 (size, lanes), else -1.
        """
        lanes = np.array(plays, np.int64)
        values = np.zeros((self.size, len(lanes)))
        chosen = np.zeros((self.size, len(lanes)), np.int16)
        given = np.zeros(0) if weights is None else weights
        offsets = np.zeros(0, np.int64) if weights is None else self.offsets()[:-1]
        self._control[0].cursor = 0
        while True:
            answer = self._run(graph.SWEEP, _SLICE, lanes, given, offsets, values, chosen)
            if progress is not None:
                progress(int(self._control[0].cursor))
            if answer == graph.DONE:
                return values, chosen
            self._grow(answer)

    def action_values(self, progress: Progress | None = None) -> NDArray[np.float64]:
        """What every legal action of every decision is worth if play is optimal afterwards.

        Args:
            progress: see `Progress`.

        Returns:
            Points still to come for the first army, in the order of `offsets`: float64 (sum of
            counts,).
        """
        told = np.zeros(int(self.offsets()[-1]))
        self.sweep([(graph.TELLING, graph.TELLING)], told, progress)
        return told

    def offsets(self) -> NDArray[np.int64]:
        """Where each node's legal actions begin in an array of all, int64 (size + 1,)."""
        return np.concatenate([[0], np.cumsum(self.counts[: self.size], dtype=np.int64)])

    def _run(
        self,
        operation: int,
        budget: int,
        plays: NDArray[np.int64],
        weights: NDArray[np.float64] | None = None,
        offsets: NDArray[np.int64] | None = None,
        values: NDArray[np.float64] | None = None,
        chosen: NDArray[np.int16] | None = None,
    ) -> int:
        nothing = np.zeros(0, np.int64)
        return int(
            graph.run(
                operation, budget, self.packed, self.plan, self._control, self.keys, self._index,
                self.kinds, self.counts,
                self.values[:, None] if values is None else values,
                self.chosen[:, None] if chosen is None else chosen,
                plays,
                np.zeros(0) if weights is None else weights,
                nothing if offsets is None else offsets,
                self._steps, self._frames, self._chain, self._outcomes, self._chances, self._codes,
                self._sums, self._unknown, self._keys, self._scratch,
            )
        )  # fmt: skip

    def _grow(self, answer: int) -> None:
        """Give what the compiled code asked for."""
        if answer == graph.GROW_NODES:
            self._more_nodes()
        elif answer == graph.GROW_INDEX:
            self._check_room(self.bytes + self._index.nbytes)
            self._index = np.full(2 * len(self._index), -1, np.int32)
            graph.reindex(int(self.plan[0].words), self.size, self.keys, self._index)
        elif answer == graph.GROW_STACK:
            for name in ("_steps", "_frames", "_chain"):
                array = getattr(self, name)
                larger = np.zeros(2 * len(array), array.dtype).view(np.recarray)
                larger[: len(array)] = array
                setattr(self, name, larger)
            self._keys = np.concatenate([self._keys, np.zeros_like(self._keys)])
        elif answer == graph.GROW_PLAN:
            self._learn_bits()

    def _more_nodes(self) -> None:
        before = len(self.kinds)
        capacity = int(before * _GROWTH)
        held = (self.keys, self.kinds, self.counts, self.values, self.chosen)
        row = sum(array.nbytes for array in held) // before
        self._check_room(self.bytes + row * (capacity - before))
        self._allocate(capacity)
        self.keys[:before], self.kinds[:before], self.counts[:before] = held[:3]
        self.values[:before], self.chosen[:before] = held[3:]

    def _check_room(self, wanted: int) -> None:
        if wanted > self.max_bytes:
            raise TooLarge(
                f"{self.size:,} positions take {self.bytes / 2**20:,.0f} MiB, and more would pass "
                f"the limit of {self.max_bytes / 2**20:,.0f} MiB"
            )

    def _learn_bits(self) -> None:
        """Have the plan know all bits of `_unknown`, and write the keys anew."""
        old, keys = self.plan, self.keys
        self._moves |= self._unknown
        self.plan = new_plan(old[0].origin, self._moves)
        self.keys = np.zeros((len(keys), int(self.plan[0].words)), np.uint64)
        self._keys = np.zeros((len(self._steps), self.keys.shape[1]), np.uint64)
        top = int(self._control[0].top)
        graph.repack(old, self.plan, self.size, keys, self.keys, self._steps, top, self._keys)
        self._index[:] = -1
        graph.reindex(int(self.plan[0].words), self.size, self.keys, self._index)
