"""Data for the game graph's compiled code: constants, records and tuples of arrays.

Every node has a higher number than all of its successors, so a pass in ascending order always finds
the successors' values already computed. A node is a decision or a chance node. Chance nodes are
stored so that their chains of rolls are not enumerated again for every step that leads to them.
Successors are not stored, because enumerating them again with the engine is faster than reading
them from memory.

`wfb_gym.solver.game_graph` owns and grows the arrays.
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
"""Special node numbers. END: the battle is over. UNKNOWN: the position is not stored. NEW_BITS: the
position's key needs bits that are not in the key plan."""

FREE = -1
RESERVED = -2
"""Special node numbers in the index. FREE: no node. RESERVED: a thread is writing the node."""

NODES = 0
HALT = 8
SHARED = 16
"""Indices into `GraphArrays.shared`, in separate cache lines, and its length. NODES is the number
of nodes. HALT is 1 if all threads must return."""

CHANCE = 2
LEAF = 3
"""Kinds of nodes that are not decisions: chance nodes, and positions beyond the horizon, whose
values are given. The kind of a decision is the army to move, 0 or 1."""

NO_HORIZON = 1 << 30  # horizon that produces no leaves, because it is later than every phase

TIE = 1e-9
"""An action must be better by more than this, in points, to be chosen over one with a lower
code."""


class GraphOperation(IntEnum):
    """Operation of the compiled function `backward_induction.run`."""

    EXPLORE = 0
    SWEEP = 1
    EXPAND = 2


class GraphStatus(IntEnum):
    """Reason that `backward_induction.run` returned."""

    DONE = 0
    PAUSED = 1
    NODES_FULL = 2
    INDEX_FULL = 3
    STEPS_FULL = 4
    NEW_KEY_BITS = 5
    HALTED = 6  # another thread returned for one of the reasons above, or Python requested it


class SweepMode(IntEnum):
    """How an army plays in a lane of a sweep."""

    OPTIMAL = 0  # the best response to the other army's play
    GIVEN = 1  # the probabilities in `PolicyBatch.weights`
    UNIFORM = 2  # every legal action with the same probability
    REPORTED = 3  # OPTIMAL, and writes the action values into `PolicyBatch.weights`


class Successor(Record):
    """A step from a node to a successor: an action and the rolls that follow it, or only rolls."""

    state: State  # the successor's position
    probability: Float64
    gain: Float64  # points scored by the first army during the step
    action: Int64  # index of the action among the legal ones; -1 at a chance node
    code: Int64  # engine code of the action; -1 at a chance node
    rolls: Int64  # number of rolls in the step
    node: Int64  # the successor, or END, UNKNOWN, NEW_BITS
    hash: Int64  # hash of the successor's key
    candidate: Int64  # the node in the key's first slot of the index, or -1


class ExploredNode(Record):
    """A frame of the depth-first search: a node, the step to it, and the steps from it."""

    step: Int64  # step to the node
    first: Int64  # first step from the node; -1 before it is expanded
    end: Int64  # after the last step from the node
    cursor: Int64  # step to visit next
    left: Int64  # number of steps to visit
    count: Int64  # number of legal actions


class Control(Record):
    """Parameters and progress of a computation that can return and resume."""

    cursor: Int64  # next node of a sweep
    merging: Int64  # 1: equivalent positions share a node
    threads: Int64  # number of exploring threads
    horizon: Int64  # first phase whose positions are leaves, or NO_HORIZON


class Place(Record):
    """Progress of one thread's search."""

    thread: Int64  # the thread's number; determines the order in which it visits steps
    depth: Int64  # number of frames in use
    top: Int64  # number of steps in use


class GraphArrays(NamedTuple):
    """A scenario and the state of its graph. The first three fields are one-record arrays."""

    packed: Records[PackedScenario]
    plan: Records[KeyPlan]
    control: Records[Control]
    shared: NDArray[np.int64]  # (SHARED,): communication between threads


class Nodes(NamedTuple):
    """Arrays of nodes. In a sweep, `values` and `chosen` have one column per lane."""

    keys: NDArray[np.uint64]  # (capacity, words)
    slots: NDArray[np.int32]  # (a power of two,): node numbers by hash, FREE or RESERVED
    kinds: NDArray[np.int8]  # (capacity,)
    counts: NDArray[np.int16]  # (capacity,): number of legal actions; 0 for chance nodes
    values: NDArray[np.float64]  # (capacity, lanes): the first army's future points
    chosen: NDArray[np.int16]  # (capacity, lanes): code of the best action, or -1


class PolicyBatch(NamedTuple):
    """Pairs of policies evaluated side by side in one sweep, one pair per lane."""

    plays: NDArray[np.int64]  # (lanes, 2): a `SweepMode` for each army
    weights: NDArray[np.float64]  # (lanes with GIVEN or REPORTED, actions of all nodes):
    # probabilities, or values if REPORTED; these lanes come first
    offsets: NDArray[np.int64]  # (nodes,): index of each node's first weight; empty if unused


class Expansion(NamedTuple):
    """Buffers for the successors of positions."""

    steps: Records[Successor]
    chain: Records[Successor]  # scratch: chance nodes whose rolls are still to be enumerated
    outcomes: NDArray[np.int64]  # scratch for `chance_outcomes`
    probabilities: NDArray[np.float64]  # scratch for `chance_outcomes`
    codes: NDArray[np.int64]  # (ACTIONS,): legal actions of the last expanded decision
    sums: NDArray[np.float64]  # (ACTIONS,): scratch: values of these actions
    work: Records[WorkSpace]


class Stack(NamedTuple):
    """Memory of one thread's depth-first search."""

    place: Records[Place]  # (1,)
    frames: Records[ExploredNode]
    keys: NDArray[np.uint64]  # (steps, words): keys of the successors
    unknown: NDArray[np.uint64]  # (STATE_WORDS,): bits missing from the key plan


def new_expansion(size: int) -> Expansion:
    """Return buffers for `size` successors."""
    outcomes = most_outcomes(DICE, rerolls=True)
    steps, chain = new_records(Successor, size), new_records(Successor, size)
    return Expansion(
        steps, chain, np.zeros(outcomes, np.int64), np.zeros(outcomes), np.zeros(ACTIONS, np.int64),
        np.zeros(ACTIONS), new_work_spaces(),
    )  # fmt: skip
