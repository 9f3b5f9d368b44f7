"""Validation of a game graph loaded from a file.

Optimal players take their moves from saved graphs without checking that they are legal. The graph
is therefore validated once, when it is loaded.
"""

import numpy as np
from numpy.typing import NDArray

from wfb_gym._jit import jit
from wfb_gym._records import Records
from wfb_gym.encoding.state_validation import check_states
from wfb_gym.engine.keys import unpack_key
from wfb_gym.engine.legal import legal_actions
from wfb_gym.engine.state import (
    FIRST_CHANCE,
    FIRST_DECISION,
    LAST_CHANCE,
    LAST_DECISION,
    STATE_WORDS,
    State,
    WorkSpace,
    new_states,
    new_work_spaces,
)
from wfb_gym.solver.graph_arrays import CHANCE, NODES, GraphArrays, Nodes
from wfb_gym.solver.node_index import find_node

_TOGETHER = 20_000  # number of nodes validated per batch


@jit(forceinline=False)
def _unpack(
    game: GraphArrays, nodes: Nodes, first: int, states: Records[State], key: NDArray[np.uint64]
) -> int:
    """Write the nodes' positions from `first` on; return the first with an invalid key, or -1."""
    for k in range(states.shape[0]):
        unpack_key(game.plan[0], nodes.keys[first + k], states[k])
        # Invalid: another node has the same key, or the key has bits that are not in the plan.
        if find_node(game.plan[0], states[k], nodes.keys, nodes.slots, key) != first + k:
            return first + k
    return -1


@jit(forceinline=False)
def _first_illegal(
    game: GraphArrays, nodes: Nodes, first: int, states: Records[State], scratch: Records[WorkSpace]
) -> int:
    """Return the first node with an illegal best action or the wrong number of actions, or -1."""
    work = scratch[0]
    for k in range(states.shape[0]):
        if nodes.kinds[first + k] == CHANCE:
            continue
        count = legal_actions(game.packed[0], states[k], work)
        found = 0
        for place in range(count):
            found += work.legal[place] == nodes.chosen[first + k, 0]
        if count != nodes.counts[first + k] or found != 1:
            return first + k
    return -1


def check_nodes(game: GraphArrays, nodes: Nodes) -> None:
    """Raise a ValueError for the first node that cannot come from solving."""
    size = int(game.shared[NODES])
    values = nodes.values[:size, 0]
    if not np.isfinite(values).all():
        wrong = int(np.argmin(np.isfinite(values)))
        raise ValueError(f"node {wrong}: expected a finite value, found {values[wrong]}")
    key, scratch = np.zeros(STATE_WORDS, np.uint64), new_work_spaces()
    for first in range(0, size, _TOGETHER):
        states = new_states(min(_TOGETHER, size - first))
        wrong = _unpack(game, nodes, first, states, key)
        if wrong >= 0:
            raise ValueError(f"node {wrong}: expected a unique valid key, found another")
        here = slice(first, first + len(states))
        kinds, node = nodes.kinds[here], states["node"]
        rolls = (node >= FIRST_CHANCE) & (node <= LAST_CHANCE) & (kinds == CHANCE)
        rolls &= (nodes.counts[here] == 0) & (nodes.chosen[here, 0] == -1)
        decides = (node >= FIRST_DECISION) & (node <= LAST_DECISION) & (kinds == states["mover"])
        if not (rolls | decides).all():
            wrong = first + int(np.argmin(rolls | decides))
            raise ValueError(f"node {wrong}: expected the kind of its position, found another")
        some = states[decides]
        check_states("position", game.packed, np.zeros(len(some), np.int64), some, reachable=False)
        wrong = _first_illegal(game, nodes, first, states, scratch)
        if wrong >= 0:
            raise ValueError(
                f"node {wrong}: expected a legal best action and the number of legal actions, "
                f"found {nodes.chosen[wrong, 0]} and {nodes.counts[wrong]}"
            )
