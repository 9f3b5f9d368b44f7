"""Compiled hash index that maps keys to the game graph's nodes.

Several threads look up and insert nodes concurrently. To insert a node, a thread reserves the free
slot where its key search ended, writes the node, and then writes the node's number into the slot. A
thread that finds a reserved slot waits for the number (less than a microsecond), because the slot
may belong to the same key.
"""

import numpy as np
from numpy.typing import NDArray

from wfb_gym._intrinsics import load_item, pause, replace_item
from wfb_gym._jit import int64, jit
from wfb_gym._records import Records
from wfb_gym.engine.canonical import canonicalize
from wfb_gym.engine.keys import KeyPlan, hash_of, pack_key, unpack_key
from wfb_gym.engine.state import Node, State
from wfb_gym.solver.graph_arrays import (
    END,
    FREE,
    NEW_BITS,
    RESERVED,
    UNKNOWN,
    GraphArrays,
    Nodes,
    Successor,
)


@jit
def _is_key(words: int, keys: NDArray[np.uint64], node: int, key: NDArray[np.uint64]) -> bool:
    """Whether `key` is a node's key."""
    same = True
    for word in range(words):
        same &= keys[node, word] == key[word]
    return same


@jit
def _number_in(slots: NDArray[np.int32], place: int) -> int:
    """Return the number of the node in a slot, or FREE; waits while the slot is reserved."""
    node = int64(load_item(slots, place))
    while node == RESERVED:
        pause()
        node = int64(load_item(slots, place))
    return node


@jit(nogil=True, forceinline=False)
def unpack_states(
    plan: Records[KeyPlan],
    keys: NDArray[np.uint64],
    nodes: NDArray[np.int64],
    states: Records[State],
) -> None:
    """Write the positions of the given nodes."""
    for row in range(nodes.shape[0]):
        unpack_key(plan[0], keys[nodes[row]], states[row])


@jit(nogil=True, forceinline=False)
def pack_states(plan: Records[KeyPlan], states: Records[State], keys: NDArray[np.uint64]) -> None:
    """Write the keys of the given positions; the key plan must contain all their bits."""
    for row in range(keys.shape[0]):
        pack_key(plan[0], states[row], keys[row])


@jit
def look_up(
    words: int,
    hashed: int,
    key: NDArray[np.uint64],
    keys: NDArray[np.uint64],
    slots: NDArray[np.int32],
) -> int:
    """Return the number of the node with the given key, or UNKNOWN."""
    mask = slots.shape[0] - 1
    place = hashed & mask
    while True:
        node = _number_in(slots, place)
        if node == FREE:
            return UNKNOWN
        if _is_key(words, keys, node, key):
            return node
        place = (place + 1) & mask


@jit(forceinline=False)
def find_node(
    plan: KeyPlan,
    state: State,
    keys: NDArray[np.uint64],
    slots: NDArray[np.int32],
    key: NDArray[np.uint64],
) -> int:
    """Return the number of a position's node, UNKNOWN or NEW_BITS; `key` is scratch."""
    if not pack_key(plan, state, key):
        return NEW_BITS
    words = int64(plan.words)
    return look_up(words, int64(hash_of(key, words)), key, keys, slots)


@jit
def reserve(
    words: int,
    hashed: int,
    key: NDArray[np.uint64],
    keys: NDArray[np.uint64],
    slots: NDArray[np.int32],
) -> tuple[int, int]:
    """Reserve a slot for a new node with the given key.

    Returns:
        The reserved slot and UNKNOWN. If the node already exists, its slot and its number.
    """
    mask = slots.shape[0] - 1
    place = hashed & mask
    while True:
        node = _number_in(slots, place)
        if node == FREE:
            if replace_item(slots, place, FREE, RESERVED):
                return place, UNKNOWN
        elif _is_key(words, keys, node, key):
            return place, node
        else:
            place = (place + 1) & mask


@jit(forceinline=False)
def enter_all(words: int, count: int, keys: NDArray[np.uint64], slots: NDArray[np.int32]) -> None:
    """Insert the first `count` nodes into an empty index (all FREE); not thread-safe."""
    mask = slots.shape[0] - 1
    for node in range(count):
        place = int64(hash_of(keys[node], words)) & mask
        while slots[place] >= 0:
            place = (place + 1) & mask
        slots[place] = node


@jit(forceinline=False)
def repack(
    before: Records[KeyPlan],
    after: Records[KeyPlan],
    count: int,
    keys: NDArray[np.uint64],
    larger: NDArray[np.uint64],
    scratch: Records[State],
) -> None:
    """Convert the first `count` keys from the plan `before` to the plan `after`, into `larger`."""
    for node in range(count):
        unpack_key(before[0], keys[node], scratch[0])
        pack_key(after[0], scratch[0], larger[node])


@jit(forceinline=False)
def pack_steps(
    plan: Records[KeyPlan], steps: Records[Successor], count: int, keys: NDArray[np.uint64]
) -> None:
    """Write the keys of the first `count` steps, except for steps with a known node or END."""
    for k in range(count):
        if steps[k].node < 0 and steps[k].node != END:
            write_key(plan[0], steps[k], keys[k])


@jit
def write_key(plan: KeyPlan, step: Successor, key: NDArray[np.uint64]) -> None:
    """Write the key and the hash of the position that a step leads to."""
    step.node = UNKNOWN
    if pack_key(plan, step.state, key):
        step.hash = int64(hash_of(key, int64(plan.words)))
    else:
        step.node = NEW_BITS


@jit(forceinline=False)
def find_successors(
    game: GraphArrays,
    nodes: Nodes,
    steps: Records[Successor],
    first: int,
    end: int,
    keys: NDArray[np.uint64],
) -> bool:
    """Write the nodes and keys of the steps from `first` up to but not including `end`.

    The work is split into short loops so that the processor can overlap memory accesses for many
    steps.

    Returns:
        False if the key plan lacks bits for a position.
    """
    packed = game.packed[0]
    plan = game.plan[0]
    merging = game.control[0].merging != 0
    known = True
    for k in range(first, end):
        step = steps[k]
        step.node = END
        if step.state.node != Node.END:
            if merging:
                canonicalize(packed, step.state)
            write_key(plan, step, keys[k])
            known &= step.node != NEW_BITS
    if not known:
        return False
    words = int64(plan.words)
    mask = nodes.slots.shape[0] - 1
    for k in range(first, end):
        steps[k].candidate = load_item(nodes.slots, steps[k].hash & mask)
    for k in range(first, end):
        step = steps[k]
        if step.node == UNKNOWN and step.candidate != FREE:
            if step.candidate >= 0 and _is_key(words, nodes.keys, int64(step.candidate), keys[k]):
                step.node = step.candidate
            else:
                step.node = look_up(words, step.hash, keys[k], nodes.keys, nodes.slots)
    return True
