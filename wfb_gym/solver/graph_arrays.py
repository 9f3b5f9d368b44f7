"""What the compiled code of the game graph works on: constants, records and tuples of arrays.

Nodes are numbered so that every node comes after all that can follow it: going through them in
order finds the values of the successors ready. A node is a decision, or a chance node that is
stored so that its chain of rolls is not written out once for each way into it. A node's
successors are never stored: the engine enumerates them again, which is quicker than memory.

`wfb_gym.solver.game_graph` owns the arrays and enlarges them.
"""

from enum import IntEnum
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from wfb_gym._records import Float64, Int64, Record, Records, new_records
from wfb_gym.engine.actions import ACTIONS
from wfb_gym.engine.chance_outcomes import most_outcomes
from wfb_gym.engine.keys import KeyPlan
from wfb_gym.engine.state import State, WorkSpace, new_work_spaces
from wfb_gym.packing.records import PackedScenario
from wfb_gym.scenario.sizes import DICE

END = -1
UNKNOWN = -2
NEW_BITS = -3
"""In place of a node's number: the battle is over; the position is not stored; its key needs bits
that the key plan does not hold."""

FREE = -1
RESERVED = -2
"""In place of a node's number in the index: no node; one that a thread is about to write."""

NODES = 0
HALT = 8
SHARED = 16
"""Items of `Game.shared`, in cache lines of their own, and how many there are: the number of nodes;
whether all threads are to return."""

CHANCE = 2
LEAF = 3
"""Kinds of a stored chance node, and of a position behind the horizon, whose value is given; the
kind of a decision is the army that decides, 0 or 1."""

NO_HORIZON = 1 << 30
"""In place of the phase from which on positions are leaves: there are none."""

TIE = 1e-9
"""Points by which an action must be better to be preferred to one of a lower code."""


class GraphOperation(IntEnum):
    """What the compiled entry `backward_induction.run` does."""

    EXPLORE = 0
    SWEEP = 1
    EXPAND = 2


class GraphStatus(IntEnum):
    """Why `backward_induction.run` returns."""

    DONE = 0
    PAUSED = 1
    NODES_FULL = 2
    INDEX_FULL = 3
    STEPS_FULL = 4
    NEW_KEY_BITS = 5
    HALTED = 6  # another thread returned for one of these reasons, or Python asked for it


class SweepMode(IntEnum):
    """How an army plays in a lane of a sweep."""

    OPTIMAL = 0  # the best response to the other army's play
    GIVEN = 1  # the probabilities in `Lanes.weights`
    UNIFORM = 2  # every legal action with the same probability
    REPORTED = 3  # OPTIMAL, and writes the actions' values into `Lanes.weights`


class Successor(Record):
    """A way from a node to one that can follow it."""

    state: State
    probability: Float64
    gain: Float64  # points on the way, for the first army
    action: Int64  # which of the legal actions it began with; -1 at a chance node
    code: Int64  # of that action
    rolls: Int64  # rolls on the way
    node: Int64  # that it leads to, or END, UNKNOWN, NEW_BITS
    hash: Int64  # of that node's key
    candidate: Int64  # the node in the key's first slot of the index, or -1


class ExploredNode(Record):
    """A node under exploration: the step to it, and the steps that leave it."""

    step: Int64
    first: Int64  # -1 where it is not expanded
    end: Int64
    cursor: Int64  # step to look at next
    left: Int64  # steps to look at
    count: Int64  # legal actions


class Control(Record):
    """What a computation that returns and is called again is to do."""

    cursor: Int64  # next node of a sweep
    merging: Int64  # 1: positions that play alike are one node
    threads: Int64  # that explore at the same time
    horizon: Int64  # phase from which on positions are leaves, or NO_HORIZON


class Place(Record):
    """How far one thread's search has come."""

    thread: Int64  # its number; the steps that leave a node are gone through in another order
    depth: Int64  # frames in use
    top: Int64  # steps in use


class GraphArrays(NamedTuple):
    """A scenario, and how far its graph has come; the first are arrays of one record each."""

    packed: Records[PackedScenario]
    plan: Records[KeyPlan]
    control: Records[Control]
    shared: NDArray[np.int64]  # (SHARED,): what threads tell one another


class Nodes(NamedTuple):
    """The nodes' arrays; of a sweep, `values` and `chosen` have a column for each lane."""

    keys: NDArray[np.uint64]  # (capacity, words)
    slots: NDArray[np.int32]  # (a power of two,): numbers of nodes by hash; FREE, RESERVED
    kinds: NDArray[np.int8]  # (capacity,)
    counts: NDArray[np.int16]  # (capacity,): legal actions; 0 of chance nodes
    values: NDArray[np.float64]  # (capacity, lanes): points to come for the first army
    chosen: NDArray[np.int16]  # (capacity, lanes): code of the best action, or -1


class PolicyBatch(NamedTuple):
    """Ways to play that are evaluated side by side."""

    plays: NDArray[np.int64]  # (lanes, 2): a `SweepMode` for each army
    weights: NDArray[np.float64]  # (actions of all nodes,): probabilities, or values if REPORTED
    offsets: NDArray[np.int64]  # (nodes,): where a node's weights begin; empty where unused


class Expansion(NamedTuple):
    """Room for the successors of positions."""

    steps: Records[Successor]
    chain: Records[Successor]  # scratch: chance nodes to roll on from
    outcomes: NDArray[np.int64]  # scratch of `chance_outcomes`
    probabilities: NDArray[np.float64]  # likewise
    codes: NDArray[np.int64]  # (ACTIONS,): the legal actions of the decision expanded last
    sums: NDArray[np.float64]  # (ACTIONS,), scratch: their values
    work: Records[WorkSpace]


class Stack(NamedTuple):
    """Room of one thread's depth-first search."""

    place: Records[Place]  # (1,)
    frames: Records[ExploredNode]
    keys: NDArray[np.uint64]  # (steps, words): keys of the positions that the steps lead to
    unknown: NDArray[np.uint64]  # (STATE_WORDS,): bits that the key plan lacks


def new_expansion(size: int) -> Expansion:
    """Room for `size` successors."""
    outcomes = most_outcomes(DICE, rerolls=True)
    steps, chain = new_records(Successor, size), new_records(Successor, size)
    return Expansion(
        steps, chain, np.zeros(outcomes, np.int64), np.zeros(outcomes), np.zeros(ACTIONS, np.int64),
        np.zeros(ACTIONS), new_work_spaces(),
    )  # fmt: skip
