"""Compiled backward induction over the game graph: exploration, optimal play and best responses.

Several threads can explore at the same time. Each runs a depth-first search from the same position
with its own stack. The threads share nodes: once one thread has finished a node, the others find it
in the index. With any number of threads, a node gets its number after all of its successors, and
its value is summed in the order of the steps, so the values are always the same.
"""

import numpy as np
from numpy.typing import NDArray

from wfb_gym._intrinsics import add_to_item, load_item, store_item
from wfb_gym._jit import int64, jit
from wfb_gym.engine.keys import unpack_key, word_of
from wfb_gym.engine.state import STATE_WORDS
from wfb_gym.solver import graph_arrays
from wfb_gym.solver.expansion import expand
from wfb_gym.solver.graph_arrays import (
    Expansion,
    ExploredNode,
    GraphArrays,
    GraphStatus,
    Nodes,
    PolicyBatch,
    Stack,
    SweepMode,
)
from wfb_gym.solver.node_index import find_successors, look_up, reserve, write_key


@jit(forceinline=False)
def _back_up(
    node: int, first: int, end: int, nodes: Nodes, lanes: PolicyBatch, buffers: Expansion
) -> None:
    """Write a node's value and best action in every lane, from its steps `first` to `end` - 1."""
    steps, sums, values, weights = buffers.steps, buffers.sums, nodes.values, lanes.weights
    kind = nodes.kinds[node]
    count = int64(nodes.counts[node])
    offset = lanes.offsets[node] if lanes.offsets.shape[0] > 0 else 0
    for lane in range(lanes.plays.shape[0]):
        nodes.chosen[node, lane] = -1
        mean = 0.0
        if kind == graph_arrays.LEAF:
            continue
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
        if play == SweepMode.OPTIMAL or play == SweepMode.REPORTED:
            sign = 1.0 if kind == 0 else -1.0
            best = sums[0]
            preferred = 0
            for k in range(1, count):
                if sign * (sums[k] - sums[preferred]) > graph_arrays.TIE:
                    preferred = k
                if sign * (sums[k] - best) > 0.0:
                    best = sums[k]
            values[node, lane] = best
            k = first
            while steps[k].action != preferred:
                k += 1
            nodes.chosen[node, lane] = steps[k].code
            if play == SweepMode.REPORTED:
                for k in range(count):
                    weights[lane, offset + k] = sums[k]
        elif play == SweepMode.GIVEN:
            for k in range(count):
                mean += weights[lane, offset + k] * sums[k]
            values[node, lane] = mean
        elif play == SweepMode.UNIFORM:
            for k in range(count):
                mean += sums[k]
            values[node, lane] = mean / count
        else:
            raise ValueError("lanes: unknown play")


@jit
def _begin(frame: ExploredNode, first: int, end: int, thread: int, threads: int) -> None:
    """Set the order in which a thread visits a node's steps."""
    # Odd-numbered threads go backwards, and each pair of threads starts at a different step, so
    # that the threads explore different parts.
    length = end - first
    start = (thread // 2) * length // ((threads + 1) // 2)
    frame.first = first
    frame.end = end
    frame.cursor = first + start if thread % 2 == 0 else end - 1 - start
    frame.left = length


@jit
def _advance(frame: ExploredNode, thread: int) -> None:
    """Move the cursor to the next step."""
    frame.left -= 1
    if thread % 2 == 0:
        frame.cursor += 1
        if frame.cursor == frame.end:
            frame.cursor = frame.first
    else:
        frame.cursor -= 1
        if frame.cursor < frame.first:
            frame.cursor = frame.end - 1


@jit
def _find_open(
    game: GraphArrays, nodes: Nodes, frame: ExploredNode, buffers: Expansion, stack: Stack
) -> bool:
    """Advance a frame's cursor to the next step without a known node; return whether one exists."""
    words, thread = int64(game.plan[0].words), int64(stack.place[0].thread)
    while frame.left > 0:
        step = buffers.steps[frame.cursor]
        if step.node == graph_arrays.UNKNOWN:
            key = stack.keys[frame.cursor]
            step.node = look_up(words, int64(step.hash), key, nodes.keys, nodes.slots)
            if step.node == graph_arrays.UNKNOWN:
                return True
        _advance(frame, thread)
    return False


@jit
def _explore(
    game: GraphArrays, nodes: Nodes, lanes: PolicyBatch, buffers: Expansion, stack: Stack, end: int
) -> int:
    """Continue a thread's depth-first search; see `run`."""
    packed, plan, control, place = game.packed[0], game.plan[0], game.control[0], stack.place[0]
    steps, frames, shared = buffers.steps, stack.frames, game.shared
    words, threads, thread = int64(plan.words), int64(control.threads), int64(place.thread)
    while place.depth > 0:
        frame = frames[place.depth - 1]
        step = steps[frame.step]
        if frame.first < 0:
            if load_item(shared, graph_arrays.HALT) != 0:
                return GraphStatus.HALTED
            if load_item(shared, graph_arrays.NODES) >= end:
                return GraphStatus.PAUSED
            if place.depth == 1:
                write_key(plan, step, stack.keys[frame.step])
            top, count = place.top, int64(0)
            if step.state.phase < control.horizon:
                top, count = expand(packed, step.state, buffers, place.top, control.horizon)
            if top < 0:
                return GraphStatus.STEPS_FULL
            if not find_successors(game, nodes, steps, place.top, top, stack.keys):
                for k in range(place.top, top):
                    if steps[k].node == graph_arrays.END:
                        continue  # the end of the battle is not a node
                    for word in range(STATE_WORDS):
                        stack.unknown[word] |= word_of(steps[k].state, word) ^ plan.origin[word]
                return GraphStatus.NEW_KEY_BITS
            frame.count = count
            _begin(frame, int64(place.top), top, thread, threads)
            place.top = top
        if _find_open(game, nodes, frame, buffers, stack):
            if place.depth == frames.shape[0]:
                return GraphStatus.STEPS_FULL
            deeper = frames[place.depth]
            deeper.step = frame.cursor
            deeper.first = -1
            place.depth += 1
            continue
        # Every other thread may add one more node before it sees this count.
        known = load_item(shared, graph_arrays.NODES) + threads
        if known > nodes.keys.shape[0]:
            return GraphStatus.NODES_FULL
        if 2 * known > nodes.slots.shape[0]:
            return GraphStatus.INDEX_FULL
        key = stack.keys[frame.step]
        slot, node = reserve(words, int64(step.hash), key, nodes.keys, nodes.slots)
        if node == graph_arrays.UNKNOWN:
            node = add_to_item(shared, graph_arrays.NODES, 1)
            for word in range(words):
                nodes.keys[node, word] = key[word]
            nodes.kinds[node] = step.state.mover if frame.count > 0 else graph_arrays.CHANCE
            if step.state.phase >= control.horizon:
                nodes.kinds[node] = graph_arrays.LEAF
            nodes.counts[node] = frame.count
            _back_up(node, int64(frame.first), int64(frame.end), nodes, lanes, buffers)
            store_item(nodes.slots, slot, node)
        place.top = frame.first
        place.depth -= 1
        if place.depth > 0:
            step.node = node
            _advance(frames[place.depth - 1], thread)
    return GraphStatus.DONE


@jit
def _sweep(
    game: GraphArrays,
    nodes: Nodes,
    lanes: PolicyBatch,
    buffers: Expansion,
    keys: NDArray[np.uint64],
    last: int,
) -> int:
    """Compute the values of the nodes before `last`; see `run`."""
    packed, plan, control = game.packed[0], game.plan[0], game.control[0]
    while control.cursor < last:
        state = buffers.steps[0].state
        unpack_key(plan, nodes.keys[control.cursor], state)
        end = int64(1)
        if state.phase < control.horizon:
            end, _ = expand(packed, state, buffers, 1, control.horizon)
        if end < 0:
            return GraphStatus.STEPS_FULL
        find_successors(game, nodes, buffers.steps, 1, end, keys)
        _back_up(control.cursor, 1, end, nodes, lanes, buffers)
        control.cursor += 1
    return GraphStatus.DONE


@jit
def _expand_all(
    game: GraphArrays, nodes: Nodes, buffers: Expansion, stack: Stack, count: int
) -> int:
    """Write the steps from the first `count` positions; see `run`."""
    place = stack.place[0]
    place.top = count
    for k in range(count):
        first = place.top
        horizon = game.control[0].horizon
        end, _ = expand(game.packed[0], buffers.steps[k].state, buffers, first, horizon)
        if end < 0:
            return GraphStatus.STEPS_FULL
        place.top = end
        buffers.steps[k].node = end
        find_successors(game, nodes, buffers.steps, first, end, stack.keys)
    return GraphStatus.DONE


@jit(nogil=True, forceinline=False)
def run(
    operation: int,
    end: int,
    game: GraphArrays,
    nodes: Nodes,
    lanes: PolicyBatch,
    buffers: Expansion,
    stack: Stack,
) -> int:
    """Run one `GraphOperation` until it finishes, pauses, or fills an array.

    All operations share one compiled function, because each compiled function contains the whole
    engine.

    - EXPLORE continues the search in `stack` and stores every node that it reaches. It pauses at
      `end` nodes. Several threads can run it at the same time, each with its own buffers and stack.
      Any stop except a pause stops all threads.
    - SWEEP recomputes node values in order, from `control.cursor` up to but not including `end`.
    - EXPAND reads positions from the first `end` steps and appends their successors, grouped by
      position. It sets `node` of each of the first steps to the end of its group, and `place.top`
      to the end of the last group.

    Returns:
        A `GraphStatus`: DONE, PAUSED, HALTED, or the array that must grow before you call the
        function again. For NEW_KEY_BITS, `stack.unknown` contains the missing bits.
    """
    if operation == graph_arrays.GraphOperation.EXPLORE:
        status = int64(_explore(game, nodes, lanes, buffers, stack, end))
        if status != GraphStatus.PAUSED:
            store_item(game.shared, graph_arrays.HALT, 1)
        return status
    if operation == graph_arrays.GraphOperation.SWEEP:
        return int64(_sweep(game, nodes, lanes, buffers, stack.keys, end))
    if operation == graph_arrays.GraphOperation.EXPAND:
        return int64(_expand_all(game, nodes, buffers, stack, end))
    raise ValueError("operation: unknown")
