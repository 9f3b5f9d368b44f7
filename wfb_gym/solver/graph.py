"""The game graph, compiled: positions with their values, and what leads from one to the next.

Nodes are numbered so that every node comes after all that can follow it: whoever goes through
them in order finds the values of the successors ready. A node is a decision, or a chance node
that is stored to stop its chain from being written out once for each way into it. What a node
leads to is never stored: `expand` asks the engine again, which is quicker than memory.

`wfb_gym.solver.game_graph` owns the arrays and makes them larger.
"""

import numpy as np
from numpy.typing import NDArray

from wfb_gym._jit import int64, jit
from wfb_gym._records import Float64, Int64, Record, Records, dtype_of
from wfb_gym.engine.canonical import canonicalise
from wfb_gym.engine.chance import chance_outcomes
from wfb_gym.engine.keys import KeyPlan, hash_of, pack_key, unpack_key, word_of
from wfb_gym.engine.legal import legal_actions
from wfb_gym.engine.queries import is_chance, is_decision
from wfb_gym.engine.state import STATE_WORDS, Node, State, WorkSpace
from wfb_gym.engine.transition import act, resolve
from wfb_gym.packing.records import PackedScenario

INLINE = 3
"""Rolls that `expand` writes out one after the other; the next one is a node of its own."""

DONE = 0
PAUSED = 1
GROW_NODES = 2
GROW_INDEX = 3
GROW_STACK = 4
GROW_PLAN = 5
"""Why `explore` and `sweep` come back."""

EXPLORE = 0
SWEEP = 1
EXPAND = 2
"""What `run` does. One compiled entry for all, since each entry compiles the whole engine."""

END = -1
UNKNOWN = -2
NEW_BITS = -3
"""What stands for a node's number: the battle is over; it is not stored; its key is too short."""

CHANCE = 2
"""Kind of a stored chance node; a decision's kind is the army that decides."""

OPTIMAL = 0
GIVEN = 1
UNIFORM = 2
TELLING = 3
"""How an army plays in a lane of a sweep; TELLING is OPTIMAL and tells the actions' worth."""

TIE = 1e-9
"""Points by which an action must be better to be preferred to one of a lower code."""


class Successor(Record):
    """A way from a node to one that can follow it."""

    state: State
    chance: Float64
    gain: Float64  # points won on the way, by the first army
    action: Int64  # which of the legal actions it began with; -1 at a chance node
    rolls: Int64  # rolls on the way
    node: Int64  # that it leads to, or END, UNKNOWN, NEW_BITS
    hash: Int64  # of that node's key
    candidate: Int64  # first node that may be it


SUCCESSOR = dtype_of(Successor)


class Frame(Record):
    """A node under work: its own step, the steps that leave it, how far it has come."""

    step: Int64
    first: Int64
    end: Int64
    cursor: Int64
    count: Int64


FRAME = dtype_of(Frame)


class Progress(Record):
    """Where a computation stands that comes back and is called again."""

    nodes: Int64
    depth: Int64  # frames in use
    top: Int64  # steps in use
    cursor: Int64  # next node of a sweep
    merging: Int64  # 1: positions that play alike are one node


PROGRESS = dtype_of(Progress)


@jit
def _is_key(words: int, nodes: NDArray[np.uint64], node: int, key: NDArray[np.uint64]) -> bool:
    """Whether a node has a key: all of it."""
    same = True
    for word in range(words):
        same &= nodes[node, word] == key[word]
    return same


@jit
def look_up(
    words: int,
    hashed: int,
    key: NDArray[np.uint64],
    nodes: NDArray[np.uint64],
    index: NDArray[np.int32],
) -> int:
    """Number of the node with a key, or UNKNOWN."""
    mask = index.shape[0] - 1
    place = hashed & mask
    while True:
        node = int64(index[place])
        if node < 0:
            return UNKNOWN
        if _is_key(words, nodes, node, key):
            return node
        place = (place + 1) & mask


@jit(forceinline=False)
def find(
    plan: KeyPlan,
    state: State,
    nodes: NDArray[np.uint64],
    index: NDArray[np.int32],
    key: NDArray[np.uint64],
) -> int:
    """Number of a position's node, UNKNOWN or NEW_BITS; `key` is scratch."""
    if not pack_key(plan, state, key):
        return NEW_BITS
    words = int64(plan.words)
    return look_up(words, int64(hash_of(key, words)), key, nodes, index)


@jit
def enter(words: int, node: int, nodes: NDArray[np.uint64], index: NDArray[np.int32]) -> None:
    """Have `find` find a node."""
    mask = index.shape[0] - 1
    place = int64(hash_of(nodes[node], words)) & mask
    while index[place] >= 0:
        place = (place + 1) & mask
    index[place] = node


@jit(forceinline=False)
def reindex(words: int, count: int, nodes: NDArray[np.uint64], index: NDArray[np.int32]) -> None:
    """Fill an empty index (all -1) with the first `count` nodes."""
    for node in range(count):
        enter(words, node, nodes, index)


@jit(forceinline=False)
def repack(
    old: Records[KeyPlan],
    new: Records[KeyPlan],
    count: int,
    nodes: NDArray[np.uint64],
    larger: NDArray[np.uint64],
    steps: Records[Successor],
    top: int,
    keys: NDArray[np.uint64],
) -> None:
    """Write the keys of the first `count` nodes and `top` steps as another plan packs them."""
    state = steps[steps.shape[0] - 1].state
    for node in range(count):
        unpack_key(old[0], nodes[node], state)
        pack_key(new[0], state, larger[node])
    for k in range(top):
        if steps[k].node < 0 and steps[k].node != END:
            _write_key(new[0], steps[k], keys[k])


@jit
def _write_key(plan: KeyPlan, step: Successor, key: NDArray[np.uint64]) -> None:
    """Write the key of the position that a step leads to, and its hash, to look it up later."""
    step.node = UNKNOWN
    if pack_key(plan, step.state, key):
        step.hash = int64(hash_of(key, int64(plan.words)))
    else:
        step.node = NEW_BITS


@jit(forceinline=False)
def number(
    packed: PackedScenario,
    plan: KeyPlan,
    merging: bool,
    nodes: NDArray[np.uint64],
    index: NDArray[np.int32],
    steps: Records[Successor],
    first: int,
    end: int,
    keys: NDArray[np.uint64],
) -> bool:
    """Find the nodes that steps lead to; False if the plan does not know all their bits.

    Short loops one after the other: the processor then fetches from far memory what many of them
    need at once, instead of waiting for each.
    """
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
    mask = index.shape[0] - 1
    for k in range(first, end):
        steps[k].candidate = index[steps[k].hash & mask]
    for k in range(first, end):
        step = steps[k]
        if step.node == UNKNOWN and step.candidate >= 0:
            if _is_key(words, nodes, int64(step.candidate), keys[k]):
                step.node = step.candidate
            else:
                step.node = look_up(words, step.hash, keys[k], nodes, index)
    return True


@jit(forceinline=False)
def expand(
    packed: PackedScenario,
    state: State,
    steps: Records[Successor],
    first: int,
    chain: Records[Successor],
    outcomes: NDArray[np.int64],
    chances: NDArray[np.float64],
    codes: NDArray[np.int64],
    work: WorkSpace,
) -> tuple[int, int]:
    """Write the ways that lead from a node to the next ones, action by action.

    Args:
        packed: the packed scenario.
        state: a decision or a chance node; not changed.
        steps: filled from `first`.
        first: where to begin.
        chain: scratch of the same kind.
        outcomes: scratch, as `chance_outcomes` takes it.
        chances: likewise.
        codes: scratch; the legal actions of a decision afterwards.
        work: scratch.

    Returns:
        The entry behind the last, or -1 if there is no room; and the number of legal actions.
    """
    top = first
    count = 0
    if is_decision(state.node):
        count = int64(legal_actions(packed, state, work))
        for k in range(count):
            codes[k] = work.legal[k]
        for k in range(count):
            if top >= steps.shape[0]:
                return -1, count
            step = steps[top]
            step.state = state
            step.gain = act(packed, step.state, codes[k], work)
            step.chance = 1.0
            step.action = k
            step.rolls = 0
            if not is_chance(step.state.node):
                top += 1
                continue
            chain[0] = step
            top = _roll_on(packed, steps, top, chain, outcomes, chances, work)
            if top < 0:
                return -1, count
    else:
        step = chain[0]
        step.state = state
        step.gain = 0.0
        step.chance = 1.0
        step.action = -1
        step.rolls = INLINE - 1
        top = _roll_on(packed, steps, top, chain, outcomes, chances, work)
    return top, count


@jit(forceinline=False)
def _roll_on(
    packed: PackedScenario,
    steps: Records[Successor],
    first: int,
    chain: Records[Successor],
    outcomes: NDArray[np.int64],
    chances: NDArray[np.float64],
    work: WorkSpace,
) -> int:
    """Write out what the dice can do from `chain[0]` on; the entry behind the last, or -1."""
    top = first
    left = 1
    here = chain[chain.shape[0] - 1]
    while left > 0:
        left -= 1
        here.state = chain[left].state
        here.gain = chain[left].gain
        here.chance = chain[left].chance
        here.action = chain[left].action
        here.rolls = chain[left].rolls + 1
        end = int64(chance_outcomes(packed, here.state, outcomes, chances, 0, work))
        if top + end > steps.shape[0] or left + end >= chain.shape[0]:
            return -1
        for k in range(end):
            step = steps[top]
            step.state = here.state
            step.gain = here.gain + resolve(packed, step.state, outcomes[k], work)
            step.chance = here.chance * chances[k]
            step.action = here.action
            step.rolls = here.rolls
            if here.rolls < INLINE and is_chance(step.state.node):
                chain[left] = step
                left += 1
            else:
                top += 1
    return top


@jit(forceinline=False)
def weigh(
    steps: Records[Successor],
    first: int,
    end: int,
    kind: int,
    count: int,
    plays: NDArray[np.int64],
    weights: NDArray[np.float64],
    offset: int,
    codes: NDArray[np.int64],
    sums: NDArray[np.float64],
    values: NDArray[np.float64],
    chosen: NDArray[np.int16],
    node: int,
) -> None:
    """Work out a node's value in every lane from those of the nodes that can follow it.

    Args:
        steps: that leave the node, with the numbers of the nodes that they lead to.
        first: the first of them.
        end: behind the last.
        kind: of the node.
        count: legal actions.
        plays: how each army plays in each lane, int64 (lanes, 2).
        weights: chances of the actions, decision by decision, where a lane is GIVEN; what they
            are worth is written there where a lane is TELLING.
        offset: where the node's begin.
        codes: of the legal actions.
        sums: scratch, (ACTIONS,).
        values: float64 (n, lanes), points still to come for the first army.
        chosen: int16 (n, lanes), the best action's code; -1 where no army seeks one.
        node: row to write.
    """
    for lane in range(plays.shape[0]):
        mean = 0.0
        if kind == CHANCE:
            for k in range(first, end):
                step = steps[k]
                after = values[step.node, lane] if step.node >= 0 else 0.0
                mean += step.chance * (step.gain + after)
            values[node, lane] = mean
            chosen[node, lane] = -1
            continue
        for k in range(count):
            sums[k] = 0.0
        for k in range(first, end):
            step = steps[k]
            after = values[step.node, lane] if step.node >= 0 else 0.0
            sums[step.action] += step.chance * (step.gain + after)
        how = plays[lane, kind]
        chosen[node, lane] = -1
        if how == OPTIMAL or how == TELLING:
            sign = 1.0 if kind == 0 else -1.0
            best = sums[0]
            preferred = 0
            for k in range(1, count):
                if sign * (sums[k] - sums[preferred]) > TIE:
                    preferred = k
                if sign * (sums[k] - best) > 0.0:
                    best = sums[k]
            values[node, lane] = best
            chosen[node, lane] = codes[preferred]
            if how == TELLING:
                for k in range(count):
                    weights[offset + k] = sums[k]
        elif how == GIVEN:
            for k in range(count):
                mean += weights[offset + k] * sums[k]
            values[node, lane] = mean
        else:
            for k in range(count):
                mean += sums[k]
            values[node, lane] = mean / count


@jit
def _explore(
    packed: PackedScenario,
    plan: KeyPlan,
    registers: Progress,
    budget: int,
    nodes: NDArray[np.uint64],
    index: NDArray[np.int32],
    kinds: NDArray[np.int8],
    counts: NDArray[np.int16],
    values: NDArray[np.float64],
    chosen: NDArray[np.int16],
    plays: NDArray[np.int64],
    weights: NDArray[np.float64],
    steps: Records[Successor],
    frames: Records[Frame],
    chain: Records[Successor],
    outcomes: NDArray[np.int64],
    chances: NDArray[np.float64],
    codes: NDArray[np.int64],
    sums: NDArray[np.float64],
    unknown: NDArray[np.uint64],
    keys: NDArray[np.uint64],
    work: WorkSpace,
) -> int:
    """Depth first from the frames that are there; see `run`."""
    limit = registers.nodes + budget
    words = int64(plan.words)
    while registers.depth > 0:
        frame = frames[registers.depth - 1]
        if frame.first < 0:
            if registers.nodes >= limit:
                return PAUSED
            state = steps[frame.step].state
            end, count = expand(
                packed, state, steps, registers.top, chain, outcomes, chances, codes, work
            )
            if end < 0:
                return GROW_STACK
            if not number(
                packed, plan, registers.merging != 0, nodes, index, steps, registers.top, end, keys
            ):
                for k in range(registers.top, end):
                    if steps[k].node == END:
                        continue  # which is never stored
                    for word in range(STATE_WORDS):
                        unknown[word] |= word_of(steps[k].state, word) ^ plan.origin[word]
                return GROW_PLAN
            frame.first = registers.top
            frame.cursor = registers.top
            frame.end = end
            frame.count = count
            registers.top = end
        while frame.cursor < frame.end:
            step = steps[frame.cursor]
            if step.node == UNKNOWN:
                step.node = look_up(words, step.hash, keys[frame.cursor], nodes, index)
                if step.node == UNKNOWN:
                    break
            frame.cursor += 1
        if frame.cursor < frame.end:
            if registers.depth == frames.shape[0]:
                return GROW_STACK
            deeper = frames[registers.depth]
            deeper.step = frame.cursor
            deeper.first = -1
            registers.depth += 1
            continue
        if registers.nodes == nodes.shape[0]:
            return GROW_NODES
        if 2 * (registers.nodes + 1) > index.shape[0]:
            return GROW_INDEX
        node = registers.nodes
        state = steps[frame.step].state
        pack_key(plan, state, nodes[node])
        enter(words, node, nodes, index)
        kinds[node] = CHANCE
        counts[node] = frame.count
        if frame.count > 0:
            kinds[node] = state.mover
            legal_actions(packed, state, work)
            for k in range(frame.count):
                codes[k] = work.legal[k]
        weigh(
            steps, frame.first, frame.end, kinds[node], frame.count, plays, weights, 0, codes,
            sums, values, chosen, node,
        )  # fmt: skip
        registers.nodes += 1
        registers.top = frame.first
        registers.depth -= 1
        if registers.depth > 0:
            steps[frame.step].node = node
            frames[registers.depth - 1].cursor += 1
    return DONE


@jit
def _sweep(
    packed: PackedScenario,
    plan: KeyPlan,
    registers: Progress,
    budget: int,
    nodes: NDArray[np.uint64],
    index: NDArray[np.int32],
    kinds: NDArray[np.int8],
    values: NDArray[np.float64],
    chosen: NDArray[np.int16],
    plays: NDArray[np.int64],
    weights: NDArray[np.float64],
    offsets: NDArray[np.int64],
    steps: Records[Successor],
    chain: Records[Successor],
    outcomes: NDArray[np.int64],
    chances: NDArray[np.float64],
    codes: NDArray[np.int64],
    sums: NDArray[np.float64],
    keys: NDArray[np.uint64],
    work: WorkSpace,
) -> int:
    """Values of the next `budget` nodes; see `run`."""
    last = min(registers.cursor + budget, registers.nodes)
    while registers.cursor < last:
        node = registers.cursor
        unpack_key(plan, nodes[node], steps[0].state)
        end, count = expand(packed, steps[0].state, steps, 1, chain, outcomes, chances, codes, work)
        if end < 0:
            return GROW_STACK
        number(packed, plan, registers.merging != 0, nodes, index, steps, 1, end, keys)
        offset = offsets[node] if offsets.shape[0] > 0 else 0
        weigh(
            steps, 1, end, kinds[node], count, plays, weights, offset, codes, sums, values,
            chosen, node,
        )  # fmt: skip
        registers.cursor += 1
    return DONE if registers.cursor == registers.nodes else PAUSED


@jit(nogil=True, forceinline=False)
def run(
    operation: int,
    budget: int,
    packed_scenarios: Records[PackedScenario],
    plans: Records[KeyPlan],
    control: Records[Progress],
    nodes: NDArray[np.uint64],
    index: NDArray[np.int32],
    kinds: NDArray[np.int8],
    counts: NDArray[np.int16],
    values: NDArray[np.float64],
    chosen: NDArray[np.int16],
    plays: NDArray[np.int64],
    weights: NDArray[np.float64],
    offsets: NDArray[np.int64],
    steps: Records[Successor],
    frames: Records[Frame],
    chain: Records[Successor],
    outcomes: NDArray[np.int64],
    chances: NDArray[np.float64],
    codes: NDArray[np.int64],
    sums: NDArray[np.float64],
    unknown: NDArray[np.uint64],
    keys: NDArray[np.uint64],
    scratch: Records[WorkSpace],
) -> int:
    """Do one operation, as far as the budget and the arrays reach.

    EXPLORE works out every node that can follow the frames, and those. SWEEP works the nodes'
    values out anew, in order, from `control.cursor` on. EXPAND writes the steps that leave the
    first `budget` steps behind them, one position's after the other's; `node` of each of these
    tells where its own end, and `control.top` where the last do.

    Args:
        operation: EXPLORE, SWEEP or EXPAND.
        budget: nodes to work out before it comes back with PAUSED; positions to EXPAND.
        packed_scenarios: the packed scenario, shape (1,).
        plans: its plan of keys (`engine.keys.PLAN`), shape (1,).
        control: `PROGRESS`, shape (1,).
        nodes: keys, uint64 (capacity, words).
        index: of a power of two, int32: numbers of nodes by hash, -1 where free.
        kinds: of the nodes, int8.
        counts: legal actions of each, int16; 0 for chance nodes.
        values: see `weigh`, as are `chosen`, `plays` and `weights`.
        chosen: likewise.
        plays: likewise.
        weights: likewise.
        offsets: where each node's weights begin, int64; empty where no lane is GIVEN.
        steps: `SUCCESSOR`.
        frames: `FRAME`.
        chain: `SUCCESSOR`, scratch.
        outcomes: scratch, as `chance_outcomes` takes it.
        chances: likewise.
        codes: scratch, int64 (ACTIONS,).
        sums: scratch, float64 (ACTIONS,).
        unknown: bits that the plan must learn, where the answer is GROW_PLAN.
        keys: of the positions that the steps lead to, uint64 (steps, words), scratch.
        scratch: `engine.work.WORK_SPACE`, shape (1,).

    Returns:
        DONE, PAUSED, or what must grow before the call is made again.
    """
    packed = packed_scenarios[0]
    plan = plans[0]
    registers = control[0]
    work = scratch[0]
    if operation == EXPLORE:
        return int64(
            _explore(
                packed, plan, registers, budget, nodes, index, kinds, counts, values, chosen, plays,
                weights, steps, frames, chain, outcomes, chances, codes, sums, unknown, keys, work,
            )
        )  # fmt: skip
    if operation == SWEEP:
        return int64(
            _sweep(
                packed, plan, registers, budget, nodes, index, kinds, values, chosen, plays,
                weights,
                offsets, steps, chain, outcomes, chances, codes, sums, keys, work,
            )
        )  # fmt: skip
    registers.top = budget
    for k in range(budget):
        first = registers.top
        end, _ = expand(packed, steps[k].state, steps, first, chain, outcomes, chances, codes, work)
        if end < 0:
            return GROW_STACK
        registers.top = end
        steps[k].node = end
        number(packed, plan, registers.merging != 0, nodes, index, steps, first, end, keys)
    return DONE
