"""What policies need to know of stored decisions, compiled: observations, masks, moves."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from wfb_gym._jit import int64, jit
from wfb_gym._records import Records
from wfb_gym.encoding.layout import LayoutOffsets
from wfb_gym.encoding.observe import observe
from wfb_gym.engine.generator import Rng
from wfb_gym.engine.keys import KeyPlan, unpack_key
from wfb_gym.engine.legal import legal_actions
from wfb_gym.engine.state import State, WorkSpace
from wfb_gym.opponents.move_tables import MoveTables
from wfb_gym.opponents.scripted import ScriptedPlayer, choose_action
from wfb_gym.packing.records import PackedScenario


class StoredPositions(NamedTuple):
    """The positions of a game graph, and scratch to unpack one of them."""

    packed: Records[PackedScenario]  # (1,)
    plan: Records[KeyPlan]  # (1,)
    keys: NDArray[np.uint64]  # (nodes, words)
    state: Records[State]  # (1,), scratch
    work: Records[WorkSpace]  # (1,), scratch


@jit(nogil=True, forceinline=False)
def unpack_states(
    stored: StoredPositions, nodes: NDArray[np.int64], states: Records[State]
) -> None:
    """Write the states of some nodes, shape (k,)."""
    for row in range(nodes.shape[0]):
        unpack_key(stored.plan[0], stored.keys[nodes[row]], states[row])


@jit(nogil=True, forceinline=False)
def observe_nodes(
    stored: StoredPositions,
    nodes: NDArray[np.int64],
    seat: int,
    offsets: Records[LayoutOffsets],
    static: NDArray[np.float32],
    indices: NDArray[np.int64],
    observations: NDArray[np.float32],
    masks: NDArray[np.bool_],
) -> None:
    """Write what a seat observes at decisions of its own.

    Args:
        stored: the positions.
        nodes: decisions of the seat, int64 (k,).
        seat: 0 or 1.
        offsets: of the observation's layout, shape (1,).
        static: fixed part of its observations, float32 (size,).
        indices: of the action space by engine code, int64 (ACTIONS,).
        observations: float32 (k, size), overwritten.
        masks: bool (k, actions), overwritten.
    """
    packed, state, work = stored.packed[0], stored.state[0], stored.work[0]
    for row in range(nodes.shape[0]):
        unpack_key(stored.plan[0], stored.keys[nodes[row]], state)
        observe(packed, state, seat, offsets[0], static, observations[row])
        for k in range(masks.shape[1]):
            masks[row, k] = False
        for k in range(legal_actions(packed, state, work)):
            masks[row, indices[work.legal[k]]] = True


@jit(nogil=True, forceinline=False)
def choose_scripted(
    policy: int,
    stored: StoredPositions,
    nodes: NDArray[np.int64],
    rngs: Records[Rng],
    move_tables: MoveTables,
    codes: NDArray[np.int64],
) -> None:
    """Write the codes of the actions that a scripted player takes at decisions.

    Args:
        policy: a member of `Scripted` that draws nothing.
        stored: the positions.
        nodes: decisions, int64 (k,).
        rngs: a generator, shape (1,), which nothing is drawn from.
        move_tables: empty ones.
        codes: int64 (k,), overwritten.
    """
    packed, state, work = stored.packed[0], stored.state[0], stored.work[0]
    for row in range(nodes.shape[0]):
        unpack_key(stored.plan[0], stored.keys[nodes[row]], state)
        count = int64(legal_actions(packed, state, work))
        player = ScriptedPlayer(policy, move_tables.tables[0], move_tables.storage)
        codes[row] = choose_action(player, packed, state, work, count, rngs[0])


@jit(nogil=True, forceinline=False)
def write_certain(
    stored: StoredPositions,
    nodes: NDArray[np.int64],
    codes: NDArray[np.int64],
    offsets: NDArray[np.int64],
    probabilities: NDArray[np.float64],
) -> int:
    """Write probability 1 for one action of each decision, and 0 for its others.

    Args:
        stored: the positions.
        nodes: decisions, int64 (k,).
        codes: of one action each, int64 (k,).
        offsets: where each node's actions begin, int64 (nodes,).
        probabilities: of all nodes' actions, float64, overwritten at the decisions' places.

    Returns:
        The first row whose code is not legal, or -1.
    """
    packed, state, work = stored.packed[0], stored.state[0], stored.work[0]
    for row in range(nodes.shape[0]):
        unpack_key(stored.plan[0], stored.keys[nodes[row]], state)
        found = False
        for k in range(legal_actions(packed, state, work)):
            is_chosen = work.legal[k] == codes[row]
            found |= is_chosen
            probabilities[offsets[nodes[row]] + k] = 1.0 if is_chosen else 0.0
        if not found:
            return int64(row)
    return -1
