"""Positions of a solved scenario as policies see them, compiled: observations, masks, choices."""

import numpy as np
from numpy.typing import NDArray

from wfb_gym._jit import int64, jit
from wfb_gym._records import Records
from wfb_gym.encoding.layout import LayoutOffsets
from wfb_gym.encoding.observe import observe
from wfb_gym.engine.generator import Rng, mix
from wfb_gym.engine.keys import KeyPlan, unpack_key
from wfb_gym.engine.legal import legal_actions
from wfb_gym.engine.state import State, WorkSpace
from wfb_gym.opponents.move_tables import MoveTable
from wfb_gym.opponents.scripted import ScriptedPlayer, choose_action
from wfb_gym.packing.records import PackedScenario


@jit(nogil=True, forceinline=False)
def show(
    packed_scenarios: Records[PackedScenario],
    plans: Records[KeyPlan],
    nodes: NDArray[np.uint64],
    members: NDArray[np.int64],
    seat: int,
    offsets: Records[LayoutOffsets],
    static: NDArray[np.float32],
    indices: NDArray[np.int64],
    states: Records[State],
    scratch: Records[WorkSpace],
    observations: NDArray[np.float32],
    masks: NDArray[np.bool_],
) -> None:
    """Write what a seat sees at decisions of its own.

    Args:
        packed_scenarios: the packed scenario, shape (1,).
        plans: its plan of keys, shape (1,).
        nodes: keys, uint64 (n, words).
        members: decisions of the seat, int64 (k,).
        seat: 0 or 1.
        offsets: of the observation's layout, shape (1,).
        static: fixed part of its observations, float32 (size,).
        indices: of the action space by engine code, int64 (ACTIONS,).
        states: scratch, `STATE`, shape (1,).
        scratch: `engine.work.WORK_SPACE`, shape (1,).
        observations: float32 (k, size), overwritten.
        masks: bool (k, actions), overwritten.
    """
    packed = packed_scenarios[0]
    state = states[0]
    work = scratch[0]
    for row in range(members.shape[0]):
        unpack_key(plans[0], nodes[members[row]], state)
        observe(packed, state, seat, offsets[0], static, observations[row])
        for k in range(masks.shape[1]):
            masks[row, k] = False
        for k in range(legal_actions(packed, state, work)):
            masks[row, indices[work.legal[k]]] = True


@jit(nogil=True, forceinline=False)
def unpack(
    plans: Records[KeyPlan],
    nodes: NDArray[np.uint64],
    members: NDArray[np.int64],
    states: Records[State],
) -> None:
    """Write the states of some positions.

    Args:
        plans: the scenario's plan of keys, shape (1,).
        nodes: keys, uint64 (n, words).
        members: of the nodes, int64 (k,).
        states: `STATE`, shape (k,), overwritten.
    """
    for row in range(members.shape[0]):
        unpack_key(plans[0], nodes[members[row]], states[row])


@jit(nogil=True, forceinline=False)
def scripted(
    policy: int,
    packed_scenarios: Records[PackedScenario],
    plans: Records[KeyPlan],
    nodes: NDArray[np.uint64],
    members: NDArray[np.int64],
    states: Records[State],
    rngs: Records[Rng],
    move_tables: Records[MoveTable],
    move_storage: NDArray[np.uint64],
    scratch: Records[WorkSpace],
    codes: NDArray[np.int64],
) -> None:
    """Write the codes of the actions that a scripted player takes at decisions, int64 (k,).

    Args:
        policy: a member of `Scripted` that draws no chances.
        packed_scenarios: the packed scenario, shape (1,).
        plans: its plan of keys, shape (1,).
        nodes: keys, uint64 (n, words).
        members: decisions, int64 (k,).
        states: scratch, `STATE`, shape (1,).
        rngs: a generator, shape (1,), which nothing is drawn from.
        move_tables: an empty one, shape (1,).
        move_storage: that holds none.
        scratch: `engine.work.WORK_SPACE`, shape (1,).
        codes: overwritten.
    """
    packed = packed_scenarios[0]
    state = states[0]
    work = scratch[0]
    for row in range(members.shape[0]):
        unpack_key(plans[0], nodes[members[row]], state)
        count = int64(legal_actions(packed, state, work))
        player = ScriptedPlayer(policy, move_tables[0], move_storage)
        codes[row] = choose_action(player, packed, state, work, count, rngs[0])


@jit(nogil=True, forceinline=False)
def mark(
    packed_scenarios: Records[PackedScenario],
    plans: Records[KeyPlan],
    nodes: NDArray[np.uint64],
    members: NDArray[np.int64],
    codes: NDArray[np.int64],
    offsets: NDArray[np.int64],
    states: Records[State],
    scratch: Records[WorkSpace],
    weights: NDArray[np.float64],
) -> int:
    """Give the legal action with its code the weight 1 at decisions, and the others 0.

    Args:
        packed_scenarios: the packed scenario, shape (1,).
        plans: its plan of keys, shape (1,).
        nodes: keys, uint64 (n, words).
        members: decisions, int64 (k,).
        codes: of one action each, int64 (k,).
        offsets: where each node's weights begin, int64 (n,).
        states: scratch, `STATE`, shape (1,).
        scratch: `engine.work.WORK_SPACE`, shape (1,).
        weights: float64, written at the decisions' places.

    Returns:
        The first row whose code is not legal, or -1.
    """
    packed = packed_scenarios[0]
    state = states[0]
    work = scratch[0]
    for row in range(members.shape[0]):
        unpack_key(plans[0], nodes[members[row]], state)
        found = False
        for k in range(legal_actions(packed, state, work)):
            taken = work.legal[k] == codes[row]
            found |= taken
            weights[offsets[members[row]] + k] = 1.0 if taken else 0.0
        if not found:
            return int64(row)
    return -1


@jit(nogil=True, forceinline=False)
def fingerprints(rows: NDArray[np.uint32], salt: np.uint64, marks: NDArray[np.uint64]) -> None:
    """Write a 64-bit mark of each row of bits, to look rows up by.

    Args:
        rows: uint32 (k, size).
        salt: other marks for other salts.
        marks: uint64 (k,), overwritten.
    """
    for row in range(rows.shape[0]):
        mark_of_row = salt
        for column in range(rows.shape[1]):
            mark_of_row = mix(mark_of_row ^ np.uint64(rows[row, column]))
        marks[row] = mark_of_row
