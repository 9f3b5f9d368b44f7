"""Compiled enumeration of a position's successors, using the engine's own operations."""

from wfb_gym._jit import int64, jit
from wfb_gym.engine.chance_outcomes import chance_outcomes
from wfb_gym.engine.legal import legal_actions
from wfb_gym.engine.queries import is_chance, is_decision
from wfb_gym.engine.state import State
from wfb_gym.engine.transition import act, resolve
from wfb_gym.packing.records import PackedScenario
from wfb_gym.solver.graph_arrays import Expansion

INLINE = 3
"""Maximum number of consecutive rolls that `expand` combines into one step. The next roll becomes a
separate node."""


@jit(forceinline=False)
def expand(
    packed: PackedScenario, state: State, buffers: Expansion, first: int, horizon: int
) -> tuple[int, int]:
    """Write the steps from a node to its successors, one action after another.

    Args:
        packed: the scenario.
        state: the node's position; not modified.
        buffers: receives the steps, starting at index `first`, and the legal actions in `codes`.
        first: index of the first step to write.
        horizon: first phase whose positions are leaves; no dice are rolled there.

    Returns:
        The index after the last step, or -1 if the buffers are too small, and the number of legal
        actions.
    """
    work = buffers.work[0]
    top = first
    count = 0
    if is_decision(state.node):
        count = int64(legal_actions(packed, state, work))
        for k in range(count):
            buffers.codes[k] = work.legal[k]
        for k in range(count):
            if top >= buffers.steps.shape[0]:
                return -1, count
            step = buffers.steps[top]
            step.state = state
            step.gain = act(packed, step.state, buffers.codes[k], work)
            step.probability = 1.0
            step.action = k
            step.code = buffers.codes[k]
            step.rolls = 0
            if not is_chance(step.state.node) or step.state.phase >= horizon:
                top += 1
                continue
            buffers.chain[0] = step
            top = _roll_on(packed, buffers, top, horizon)
            if top < 0:
                return -1, count
    else:
        step = buffers.chain[0]
        step.state = state
        step.gain = 0.0
        step.probability = 1.0
        step.action = -1
        step.code = -1
        step.rolls = INLINE - 1
        top = _roll_on(packed, buffers, top, horizon)
    return top, count


@jit(forceinline=False)
def _roll_on(packed: PackedScenario, buffers: Expansion, first: int, horizon: int) -> int:
    """Write the steps for all rolls from `chain[0]`; return the index after the last one, or -1."""
    work = buffers.work[0]
    steps, chain = buffers.steps, buffers.chain
    top = first
    left = 1
    here = chain[chain.shape[0] - 1]
    while left > 0:
        left -= 1
        chain[chain.shape[0] - 1] = chain[left]
        here.rolls += 1
        end = int64(
            chance_outcomes(packed, here.state, buffers.outcomes, buffers.probabilities, 0, work)
        )
        if top + end > steps.shape[0] or left + end >= chain.shape[0]:
            return -1
        for k in range(end):
            steps[top] = here
            step = steps[top]
            step.gain += resolve(packed, step.state, buffers.outcomes[k], work)
            step.probability *= buffers.probabilities[k]
            rolls = is_chance(step.state.node) and step.state.phase < horizon
            if rolls and here.rolls < INLINE:
                chain[left] = step
                left += 1
            else:
                top += 1
    return top
