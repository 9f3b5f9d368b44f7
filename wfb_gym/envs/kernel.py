"""The batched advance: play each environment on until its learner must decide.

Compiled loops over a range of environments; `wfb_gym.envs.batch` owns the arrays and decides
which ranges run where. No rule lives here: everything goes through the engine's operations.
"""

import numpy as np
from numpy.typing import NDArray

from wfb_gym._jit import jit
from wfb_gym.encoding.observe import observe
from wfb_gym.engine import actions as _actions
from wfb_gym.engine.chance import sample
from wfb_gym.engine.legal import legal_actions
from wfb_gym.engine.phase import act_listing, resolve_listing
from wfb_gym.engine.state import FIRST_CHANCE, LAST_CHANCE, Node, Record
from wfb_gym.opponents.policies import Scripted, choose

PASS = _actions.PASS

NEXT_STEP = 0
SAME_STEP = 1
DISABLED = 2
"""Autoreset modes as the kernel knows them."""

RUNNING = 0
DONE = 1
WAITING = 2
"""Status of an environment: the learner's turn; the episode is over; an external opponent's
turn."""


@jit
def advance(
    table: Record,
    state: Record,
    rng: Record,
    seat: int,
    policy: int,
    count: int,
    work: Record,
) -> tuple[float, int]:
    """Go on until the learner or an external opponent must decide, or the battle ends.

    Args:
        table: the packed scenario.
        state: changed in place.
        rng: the environment's generator.
        seat: the learner's army.
        policy: member of `Scripted` that plays the other army.
        count: how many actions `work.legal` lists for the state, 0 if it is no decision.
        work: scratch; lists the actions of whoever must decide.

    Returns:
        Points that changed hands, as the first army sees them, and the number of legal actions.
    """
    points = 0.0
    while True:
        if count > 0:
            if state.mover == seat or policy == Scripted.EXTERNAL:
                return points, count
            action = choose(policy, table, state, work, count, rng)
            gained, count = act_listing(table, state, action, work)
        elif FIRST_CHANCE <= state.node <= LAST_CHANCE:
            outcome = sample(table, state, rng, work)
            gained, count = resolve_listing(table, state, outcome, work)
        else:
            return points, 0
        points += gained


@jit
def admitted(index: int, codes: NDArray[np.int64], work: Record, count: int) -> tuple[int, bool]:
    """Engine code to play for an index of the action space, and whether the index was legal.

    An illegal one becomes pass where pass is legal, else the lowest legal action; `legal` is
    sorted, so that is its first entry.
    """
    code = codes[index]
    for k in range(count):
        if work.legal[k] == code:
            return int(code), True
    return int(work.legal[0]), False


@jit
def write_mask(
    work: Record, count: int, indices: NDArray[np.int64], mask: NDArray[np.bool_]
) -> None:
    """Mark legal actions in one row of a mask; where nothing is to decide, pass alone."""
    for k in range(mask.shape[0]):
        mask[k] = False
    for k in range(count):
        mask[indices[work.legal[k]]] = True
    if count == 0:
        mask[0] = True


@jit(nogil=True, _nrt=True)
def reset_range(
    low: int,
    high: int,
    chosen: NDArray[np.bool_],
    tables: Record,
    initial: Record,
    initial_points: NDArray[np.float64],
    scenario: NDArray[np.int64],
    states: Record,
    rngs: Record,
    policies: NDArray[np.int64],
    seat: int,
    carry: NDArray[np.float64],
    status: NDArray[np.uint8],
    scratch: Record,
) -> None:
    """Start the chosen environments of a range anew, up to their first decision."""
    work = scratch[0]
    for i in range(low, high):
        if chosen[i]:
            k = scenario[i]
            states[i] = initial[k]
            state = states[i]
            count = legal_actions(tables[k], state, work)
            gained, count = advance(tables[k], state, rngs[i], seat, policies[i], count, work)
            carry[i] = initial_points[k] + gained
            waits = count > 0 and state.mover != seat
            status[i] = WAITING if waits else RUNNING


@jit(nogil=True, _nrt=True)
def encode_range(
    low: int,
    high: int,
    tables: Record,
    scenario: NDArray[np.int64],
    states: Record,
    seat: int,
    at: Record,
    static: NDArray[np.float32],
    indices: NDArray[np.int64],
    observations: NDArray[np.float32],
    masks: NDArray[np.bool_],
    scratch: Record,
) -> None:
    """Write observations and masks of a range, as one seat sees them."""
    work = scratch[0]
    for i in range(low, high):
        k = scenario[i]
        state = states[i]
        count = 0
        if state.mover == seat:
            count = legal_actions(tables[k], state, work)
        observe(tables[k], state, seat, at, static[k], observations[i])
        write_mask(work, count, indices, masks[i])


@jit(nogil=True, _nrt=True)
def step_range(
    low: int,
    high: int,
    actions: NDArray[np.int64],
    mode: int,
    tables: Record,
    initial: Record,
    initial_points: NDArray[np.float64],
    scenario: NDArray[np.int64],
    states: Record,
    rngs: Record,
    policies: NDArray[np.int64],
    seat: int,
    scale: float,
    carry: NDArray[np.float64],
    status: NDArray[np.uint8],
    codes: NDArray[np.int64],
    indices: NDArray[np.int64],
    at: Record,
    static: NDArray[np.float32],
    observations: NDArray[np.float32],
    masks: NDArray[np.bool_],
    rewards: NDArray[np.float64],
    terminations: NDArray[np.bool_],
    illegal: NDArray[np.bool_],
    final: NDArray[np.float32],
    scratch: Record,
) -> int:
    """One step of every environment in a range; writes every output once.

    Rewards are the learner's, in points times `scale`. In SAME_STEP mode the last observation
    of an ended episode goes to `final`. Environments that wait for an external opponent have
    no observation yet: `carry` holds what they have gained so far.

    Returns:
        How many environments wait.
    """
    work = scratch[0]
    sign = scale if seat == 0 else -scale
    waiting = 0
    for i in range(low, high):
        k = scenario[i]
        table = tables[k]
        state = states[i]
        rewards[i] = 0.0
        terminations[i] = False
        illegal[i] = False
        count = 0
        if status[i] == DONE:
            if mode == DISABLED:
                terminations[i] = True
            else:  # NEXT_STEP: this call only resets
                states[i] = initial[k]
                count = legal_actions(table, state, work)
                gained, count = advance(table, state, rngs[i], seat, policies[i], count, work)
                carry[i] = initial_points[k] + gained
                status[i] = RUNNING
        else:
            gained = 0.0
            if state.node != Node.END:
                count = legal_actions(table, state, work)
                code, allowed = admitted(actions[i], codes, work, count)
                illegal[i] = not allowed
                first, count = act_listing(table, state, code, work)
                gained, count = advance(table, state, rngs[i], seat, policies[i], count, work)
                gained += first
            gained += carry[i]
            carry[i] = 0.0
            if state.node == Node.END:
                rewards[i] = sign * gained
                terminations[i] = True
                status[i] = DONE
                if mode == SAME_STEP:
                    observe(table, state, seat, at, static[k], final[i])
                    states[i] = initial[k]
                    count = legal_actions(table, state, work)
                    gained, count = advance(table, state, rngs[i], seat, policies[i], count, work)
                    carry[i] = initial_points[k] + gained
                    status[i] = RUNNING
            elif count > 0 and state.mover != seat:
                carry[i] = gained
            else:
                rewards[i] = sign * gained
        if count > 0 and state.mover != seat:
            status[i] = WAITING
            waiting += 1
            continue
        observe(table, state, seat, at, static[k], observations[i])
        write_mask(work, count, indices, masks[i])
    return waiting
