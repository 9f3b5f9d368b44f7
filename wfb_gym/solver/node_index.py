"""Finding the nodes of the game graph by their whole keys, compiled."""

import numpy as np
from numpy.typing import NDArray

from wfb_gym._jit import int64, jit
from wfb_gym._records import Records
from wfb_gym.engine.canonical import canonicalise
from wfb_gym.engine.keys import KeyPlan, hash_of, pack_key, unpack_key
from wfb_gym.engine.state import Node, State
from wfb_gym.solver.graph_arrays import END, NEW_BITS, UNKNOWN, Game, Nodes, Successor


@jit
def _is_key(words: int, keys: NDArray[np.uint64], node: int, key: NDArray[np.uint64]) -> bool:
    """Whether `key` is the whole key of a node."""
    same = True
    for word in range(words):
        same &= keys[node, word] == key[word]
    return same


@jit
def look_up(
    words: int,
    hashed: int,
    key: NDArray[np.uint64],
    keys: NDArray[np.uint64],
    slots: NDArray[np.int32],
) -> int:
    """Return the number of the node with a key, or UNKNOWN."""
    mask = slots.shape[0] - 1
    place = hashed & mask
    while True:
        node = int64(slots[place])
        if node < 0:
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
def enter(words: int, node: int, keys: NDArray[np.uint64], slots: NDArray[np.int32]) -> None:
    """Enter a node into the index."""
    mask = slots.shape[0] - 1
    place = int64(hash_of(keys[node], words)) & mask
    while slots[place] >= 0:
        place = (place + 1) & mask
    slots[place] = node


@jit(forceinline=False)
def enter_all(words: int, count: int, keys: NDArray[np.uint64], slots: NDArray[np.int32]) -> None:
    """Enter the first `count` nodes into an empty index (all -1)."""
    for node in range(count):
        enter(words, node, keys, slots)


@jit(forceinline=False)
def repack(
    game: Game,
    plan: Records[KeyPlan],
    keys: NDArray[np.uint64],
    larger: NDArray[np.uint64],
    steps: Records[Successor],
    step_keys: NDArray[np.uint64],
) -> None:
    """Write the keys of all nodes to `larger` and of the steps in use to `step_keys`.

    The game's plan packed the nodes' keys so far, `plan` packs the new ones. The last step is
    scratch.
    """
    state = steps[steps.shape[0] - 1].state
    for node in range(game.control[0].nodes):
        unpack_key(game.plan[0], keys[node], state)
        pack_key(plan[0], state, larger[node])
    for k in range(game.control[0].top):
        if steps[k].node < 0 and steps[k].node != END:
            _write_key(plan[0], steps[k], step_keys[k])


@jit
def _write_key(plan: KeyPlan, step: Successor, key: NDArray[np.uint64]) -> None:
    """Write the key of the position that a step leads to, and its hash."""
    step.node = UNKNOWN
    if pack_key(plan, step.state, key):
        step.hash = int64(hash_of(key, int64(plan.words)))
    else:
        step.node = NEW_BITS


@jit(forceinline=False)
def find_successors(
    game: Game,
    nodes: Nodes,
    steps: Records[Successor],
    first: int,
    end: int,
    keys: NDArray[np.uint64],
) -> bool:
    """Write the nodes that the steps from `first` to before `end` lead to, and their `keys`.

    Short loops one after the other: the processor then fetches from far memory what many of them
    need at once, instead of waiting for each.

    Returns:
        False if the key plan lacks bits of one of them.
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
                canonicalise(packed, step.state)
            _write_key(plan, step, keys[k])
            known &= step.node != NEW_BITS
    if not known:
        return False
    words = int64(plan.words)
    mask = nodes.slots.shape[0] - 1
    for k in range(first, end):
        steps[k].candidate = nodes.slots[steps[k].hash & mask]
    for k in range(first, end):
        step = steps[k]
        if step.node == UNKNOWN and step.candidate >= 0:
            if _is_key(words, nodes.keys, int64(step.candidate), keys[k]):
                step.node = step.candidate
            else:
                step.node = look_up(words, step.hash, keys[k], nodes.keys, nodes.slots)
    return True
