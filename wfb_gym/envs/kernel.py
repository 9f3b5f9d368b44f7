"""The batched advance: play each environment on until its learner must decide.

Compiled loops over a range of environments; `wfb_gym.envs.batch` owns the arrays and decides
which ranges run where. No rule lives here: everything goes through the engine's operations.
"""

import numpy as np
from numpy.typing import NDArray

from wfb_gym._jit import int64, jit
from wfb_gym.encoding.observe import observe
from wfb_gym.engine.chance import sample
from wfb_gym.engine.generator import RNG, next_choice
from wfb_gym.engine.legal import legal_actions
from wfb_gym.engine.phase import act_listing, begin, resolve_listing
from wfb_gym.engine.state import FIRST_CHANCE, LAST_CHANCE, STATE, Node, Record
from wfb_gym.opponents.policies import Scripted, choose

NEXT_STEP = 0
SAME_STEP = 1
DISABLED = 2
"""Autoreset modes as the kernel knows them."""

PREPARE = 0
RESTART = 1
STEP = 2
RESUME = 3
LOOK = 4
"""What `drive` does: work out first positions, begin episodes, play the learner's actions, play
an external opponent's, or only show. One compiled entry for all, since each entry compiles the
whole engine."""

RUNNING = 0
DONE = 1
WAITING = 2
FRESH = 3
"""Status of an environment: the learner's turn; the episode is over; an external opponent's
turn in the middle of a step, or in an episode that has just begun."""

ENVIRONMENT = np.dtype(
    [
        ("state", STATE),
        ("rng", RNG),
        ("carry", "f8"),  # points won since the learner's last reward, by the first army
        ("scenario", "i8"),
        ("opponent", "i8"),  # member of the pool that plays this episode
        ("status", "i1"),
    ],
    align=True,
)
"""One environment of a batch."""

START = np.dtype([("state", STATE), ("points", "f8"), ("count", "i8")], align=True)
"""A scenario's first position, the points won on the way to it, and its legal actions' number."""


@jit(forceinline=False)
def advance(
    table: Record,
    state: Record,
    rng: Record,
    seat: int,
    policy: int,
    count: int,
    book: Record,
    shelf: NDArray[np.uint64],
    work: Record,
) -> tuple[float, int]:
    """Go on until the learner or an external opponent must decide, or the battle ends.

    Args:
        table: the packed scenario.
        state: changed in place.
        rng: the environment's generator.
        seat: the learner's army.
        policy: who plays the other army, as `opponents.policies.choose` takes it.
        count: how many actions `work.legal` lists for the state, 0 if it is no decision.
        book: the scenario's book of moves, for an opponent that reads one.
        shelf: that holds it.
        work: scratch; lists the actions of whoever must decide.

    Returns:
        Points that changed hands, as the first army sees them, and the number of legal actions.
    """
    points = 0.0
    while True:
        if count > 0:
            if state.mover == seat or policy == Scripted.EXTERNAL:
                return points, count
            action = choose(policy, table, state, work, count, rng, book, shelf)
            gained, count = act_listing(table, state, action, work)
        elif FIRST_CHANCE <= state.node <= LAST_CHANCE:
            outcome = sample(table, state, rng, work)
            gained, count = resolve_listing(table, state, outcome, work)
        else:
            return points, 0
        points += gained


@jit
def restart(
    env: Record,
    tables: Record,
    starts: Record,
    redraw: bool,
    pool: NDArray[np.int64],
    seat: int,
    books: Record,
    shelf: NDArray[np.uint64],
    work: Record,
) -> int:
    """Begin the next episode of an environment and go on to its first decision.

    Args:
        env: the environment.
        tables: packed scenarios.
        starts: their first positions (`START`).
        redraw: draw a scenario for the episode; else the environment keeps its own.
        pool: opponents, by number; one is drawn for the episode if there are several.
        seat: the learner's army.
        books: of moves, by scenario; a single one may stand for all.
        shelf: that holds them.
        work: scratch; lists the actions of whoever must decide.

    Returns:
        How many actions `work.legal` lists.
    """
    if redraw:
        env.scenario = next_choice(env.rng, starts.shape[0])
    start = starts[env.scenario]
    env.state = start.state
    if pool.shape[0] > 1:
        env.opponent = next_choice(env.rng, pool.shape[0])
    state = env.state
    table = tables[env.scenario]
    count = start.count
    if count > 0:
        count = legal_actions(table, state, work)
    book = books[env.scenario % books.shape[0]]
    gained, count = advance(
        table, state, env.rng, seat, pool[env.opponent], count, book, shelf, work
    )
    env.carry = start.points + gained
    env.status = FRESH if count > 0 and state.mover != seat else RUNNING
    return int64(count)


@jit
def prepare(table: Record, start: Record, work: Record) -> None:
    """Work out the first position of a scenario, so that a reset is no more than a copy."""
    start.points = begin(table, start.state, work)
    start.count = legal_actions(table, start.state, work)


@jit
def admitted(i: int, index: int, allowed: NDArray[np.bool_]) -> int:
    """The index to play: an illegal one becomes the lowest legal one, pass if pass is legal."""
    if allowed[i, index]:
        return index
    lowest = 0
    while not allowed[i, lowest]:
        lowest += 1
    return lowest


@jit
def write_mask(
    row: int, count: int, work: Record, indices: NDArray[np.int64], allowed: NDArray[np.bool_]
) -> None:
    """Write one row of masks; where nothing is to decide, pass is legal."""
    for k in range(allowed.shape[1]):
        allowed[row, k] = False
    for k in range(count):
        allowed[row, indices[work.legal[k]]] = True
    if count == 0:
        allowed[row, 0] = True


@jit(nogil=True, forceinline=False)
def first_faults(
    actions: NDArray[np.int64], allowed: NDArray[np.bool_], envs: Record
) -> tuple[int, int]:
    """First row whose action lies outside the space, and first whose action is illegal; or -1.

    Where an episode is over, any action will do.
    """
    outside = -1
    illegal = -1
    for i in range(actions.shape[0]):
        if actions[i] < 0 or actions[i] >= allowed.shape[1]:
            outside = i if outside < 0 else outside
        elif not allowed[i, actions[i]] and envs[i].status == RUNNING:
            illegal = i if illegal < 0 else illegal
    return outside, illegal


@jit(nogil=True, forceinline=False)
def drive(
    operation: int,
    low: int,
    high: int,
    members: NDArray[np.int64],
    actions: NDArray[np.int64],
    mode: int,
    envs: Record,
    tables: Record,
    starts: Record,
    redraw: bool,
    pool: NDArray[np.int64],
    seat: int,
    scale: float,
    codes: NDArray[np.int64],
    indices: NDArray[np.int64],
    offsets: Record,
    static: NDArray[np.float32],
    allowed: NDArray[np.bool_],
    observations: NDArray[np.float32],
    rewards: NDArray[np.float64],
    terminations: NDArray[np.bool_],
    illegal: NDArray[np.bool_],
    final: NDArray[np.float32],
    books: Record,
    shelf: NDArray[np.uint64],
    scratch: Record,
) -> int:
    """Do one operation for `members[low:high]`; every output is written once.

    Outputs stand in the rows of their environments, but LOOK fills rows from `low` on. RESUME
    takes engine codes as actions, one for each member; STEP takes indices of the action space,
    one for each environment. Rewards are the learner's, in points times `scale`. In SAME_STEP
    mode the last observation of an ended episode goes to `final`. Environments that wait for an
    external opponent have no observation yet.

    Returns:
        How many environments wait.
    """
    work = scratch[0]
    at = offsets[0]
    waiting = 0
    if operation == PREPARE:
        for j in range(low, high):
            prepare(tables[j], starts[j], work)
        return 0
    for j in range(low, high):
        i = members[j]
        row = i
        env = envs[i]
        state = env.state
        table = tables[env.scenario]
        count = 0
        code = -1
        fresh = operation == RESTART
        paid = False
        if operation == STEP:
            rewards[i] = 0.0
            terminations[i] = False
            illegal[i] = False
            if env.status == DONE:
                terminations[i] = mode == DISABLED
                fresh = mode != DISABLED  # NEXT_STEP: this call only resets
            else:
                paid = True
                index = admitted(i, actions[i], allowed)
                illegal[i] = index != actions[i]
                if state.node != Node.END:
                    code = codes[index]
        elif operation == RESUME:
            code = actions[j]
            paid = env.status == WAITING
        elif operation == LOOK:
            row = j
            if state.mover == seat:
                count = legal_actions(table, state, work)
        if code >= 0:
            first, count = act_listing(table, state, code, work)
            book = books[env.scenario % books.shape[0]]
            gained, count = advance(
                table, state, env.rng, seat, pool[env.opponent], count, book, shelf, work
            )
            env.carry += first + gained
            if count > 0 and state.mover != seat:
                env.status = WAITING if paid else FRESH
                waiting += 1
                continue
            env.status = RUNNING
        if paid:
            rewards[i] = env.carry * (scale if seat == 0 else -scale)
            env.carry = 0.0
            if state.node == Node.END:
                terminations[i] = True
                env.status = DONE
                if mode == SAME_STEP:
                    observe(table, state, seat, at, static[env.scenario], final[i])
                    fresh = True
        if fresh:
            count = restart(env, tables, starts, redraw, pool, seat, books, shelf, work)
            table = tables[env.scenario]
            if env.status == FRESH:
                waiting += 1
                continue
        observe(table, state, seat, at, static[env.scenario], observations[row])
        write_mask(row, count, work, indices, allowed)
    return waiting
