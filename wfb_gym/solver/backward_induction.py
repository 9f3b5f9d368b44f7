"""Backward induction over the game graph, compiled: exploring it, and sweeping its values."""

import numpy as np
from numpy.typing import NDArray

from wfb_gym._jit import int64, jit
from wfb_gym.engine.keys import pack_key, unpack_key, word_of
from wfb_gym.engine.legal import legal_actions
from wfb_gym.engine.state import STATE_WORDS
from wfb_gym.solver import graph_arrays
from wfb_gym.solver.expansion import expand
from wfb_gym.solver.graph_arrays import Expansion, Game, GraphStatus, Lanes, Nodes, Play, Stack
from wfb_gym.solver.node_index import enter, find_successors, look_up


@jit(forceinline=False)
def _back_up(node: int, first: int, end: int, nodes: Nodes, lanes: Lanes, room: Expansion) -> None:
    """Write a node's value and choice in every lane from the values of what can follow it.

    The steps from `first` to before `end` leave the node, and `room.codes` hold its legal actions.
    Where a lane is REPORTED, the actions' values are written to its weights.
    """
    steps, sums, values, weights = room.steps, room.sums, nodes.values, lanes.weights
    kind = nodes.kinds[node]
    count = int64(nodes.counts[node])
    offset = lanes.offsets[node] if lanes.offsets.shape[0] > 0 else 0
    for lane in range(lanes.plays.shape[0]):
        nodes.chosen[node, lane] = -1
        mean = 0.0
        if kind == graph_arrays.CHANCE:
            for k in range(first, end):
                step = steps[k]
                after = values[step.node, lane] if step.node >= 0 else 0.0
                mean += step.probability * (step.gain + after)
            values[node, lane] = mean
            continue
        for k in range(count):
            sums[k] = 0.0
        for k in range(first, end):
            step = steps[k]
            after = values[step.node, lane] if step.node >= 0 else 0.0
            sums[step.action] += step.probability * (step.gain + after)
        play = lanes.plays[lane, kind]
        if play == Play.OPTIMAL or play == Play.REPORTED:
            sign = 1.0 if kind == 0 else -1.0
            best = sums[0]
            preferred = 0
            for k in range(1, count):
                if sign * (sums[k] - sums[preferred]) > graph_arrays.TIE:
                    preferred = k
                if sign * (sums[k] - best) > 0.0:
                    best = sums[k]
            values[node, lane] = best
            nodes.chosen[node, lane] = room.codes[preferred]
            if play == Play.REPORTED:
                for k in range(count):
                    weights[offset + k] = sums[k]
        elif play == Play.GIVEN:
            for k in range(count):
                mean += weights[offset + k] * sums[k]
            values[node, lane] = mean
        elif play == Play.UNIFORM:
            for k in range(count):
                mean += sums[k]
            values[node, lane] = mean / count
        else:
            raise ValueError("lanes: unknown play")


@jit
def _explore(
    game: Game, nodes: Nodes, lanes: Lanes, room: Expansion, stack: Stack, budget: int
) -> int:
    """Search depth first from the frames in use; see `run`."""
    packed, plan, control = game.packed[0], game.plan[0], game.control[0]
    steps, frames, work = room.steps, stack.frames, room.work[0]
    limit = control.nodes + budget
    words = int64(plan.words)
    while control.depth > 0:
        frame = frames[control.depth - 1]
        if frame.first < 0:
            if control.nodes >= limit:
                return GraphStatus.PAUSED
            end, count = expand(packed, steps[frame.step].state, room, control.top)
            if end < 0:
                return GraphStatus.STEPS_FULL
            if not find_successors(game, nodes, steps, control.top, end, stack.keys):
                for k in range(control.top, end):
                    if steps[k].node == graph_arrays.END:
                        continue  # which is never stored
                    for word in range(STATE_WORDS):
                        stack.unknown[word] |= word_of(steps[k].state, word) ^ plan.origin[word]
                return GraphStatus.NEW_KEY_BITS
            frame.first = control.top
            frame.cursor = control.top
            frame.end = end
            frame.count = count
            control.top = end
        while frame.cursor < frame.end:
            step = steps[frame.cursor]
            if step.node == graph_arrays.UNKNOWN:
                key = stack.keys[frame.cursor]
                step.node = look_up(words, step.hash, key, nodes.keys, nodes.slots)
                if step.node == graph_arrays.UNKNOWN:
                    break
            frame.cursor += 1
        if frame.cursor < frame.end:
            if control.depth == frames.shape[0]:
                return GraphStatus.STEPS_FULL
            deeper = frames[control.depth]
            deeper.step = frame.cursor
            deeper.first = -1
            control.depth += 1
            continue
        if control.nodes == nodes.keys.shape[0]:
            return GraphStatus.NODES_FULL
        if 2 * (control.nodes + 1) > nodes.slots.shape[0]:
            return GraphStatus.INDEX_FULL
        node = control.nodes
        state = steps[frame.step].state
        pack_key(plan, state, nodes.keys[node])
        enter(words, node, nodes.keys, nodes.slots)
        nodes.kinds[node] = graph_arrays.CHANCE
        nodes.counts[node] = frame.count
        if frame.count > 0:
            nodes.kinds[node] = state.mover
            legal_actions(packed, state, work)
            for k in range(frame.count):
                room.codes[k] = work.legal[k]
        _back_up(node, frame.first, frame.end, nodes, lanes, room)
        control.nodes += 1
        control.top = frame.first
        control.depth -= 1
        if control.depth > 0:
            steps[frame.step].node = node
            frames[control.depth - 1].cursor += 1
    return GraphStatus.DONE


@jit
def _sweep(
    game: Game, nodes: Nodes, lanes: Lanes, room: Expansion, keys: NDArray[np.uint64], budget: int
) -> int:
    """Compute the values of the next `budget` nodes; see `run`."""
    packed, plan, control = game.packed[0], game.plan[0], game.control[0]
    last = min(control.cursor + budget, control.nodes)
    while control.cursor < last:
        state = room.steps[0].state
        unpack_key(plan, nodes.keys[control.cursor], state)
        end, _ = expand(packed, state, room, 1)
        if end < 0:
            return GraphStatus.STEPS_FULL
        find_successors(game, nodes, room.steps, 1, end, keys)
        _back_up(control.cursor, 1, end, nodes, lanes, room)
        control.cursor += 1
    return GraphStatus.DONE if control.cursor == control.nodes else GraphStatus.PAUSED


@jit
def _expand_all(game: Game, nodes: Nodes, room: Expansion, stack: Stack, count: int) -> int:
    """Write the steps that leave the first `count` positions; see `run`."""
    control = game.control[0]
    control.top = count
    for k in range(count):
        first = control.top
        end, _ = expand(game.packed[0], room.steps[k].state, room, first)
        if end < 0:
            return GraphStatus.STEPS_FULL
        control.top = end
        room.steps[k].node = end
        find_successors(game, nodes, room.steps, first, end, stack.keys)
    return GraphStatus.DONE


@jit(nogil=True, forceinline=False)
def run(
    operation: int,
    budget: int,
    game: Game,
    nodes: Nodes,
    lanes: Lanes,
    room: Expansion,
    stack: Stack,
) -> int:
    """Do one `GraphOperation`, as far as the arrays and the budget of nodes reach.

    One compiled entry serves all operations, since each entry compiles the whole engine.

    - EXPLORE computes every node that can follow the frames in use, and the frames' own.
    - SWEEP computes the nodes' values anew, in order, from `control.cursor` on.
    - EXPAND writes the steps that leave the first `budget` steps' positions behind these, one
      position's after the other's; `node` of each of the first steps is where its own end, and
      `control.top` where the last do.

    Returns:
        A `GraphStatus`: DONE, PAUSED, or what must grow before the call is repeated; the stack
        holds the missing bits where it is NEW_KEY_BITS.
    """
    if operation == graph_arrays.GraphOperation.EXPLORE:
        return int64(_explore(game, nodes, lanes, room, stack, budget))
    if operation == graph_arrays.GraphOperation.SWEEP:
        return int64(_sweep(game, nodes, lanes, room, stack.keys, budget))
    if operation == graph_arrays.GraphOperation.EXPAND:
        return int64(_expand_all(game, nodes, room, stack, budget))
    raise ValueError("operation: unknown")
