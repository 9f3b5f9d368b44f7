"""The batched advance: play each environment on until its learner must decide.

Compiled loops over a range of environments; `wfb_gym.envs.batch` owns the arrays and decides
which ranges run where. No rule lives here: everything goes through the engine's operations.
"""

import numpy as np
from numpy.typing import NDArray

from wfb_gym._jit import jit
from wfb_gym.encoding.observe import observe
from wfb_gym.engine.chance import sample
from wfb_gym.engine.generator import RNG, next_choice
from wfb_gym.engine.legal import legal_actions
from wfb_gym.engine.phase import act_listing, resolve_listing
from wfb_gym.engine.state import FIRST_CHANCE, LAST_CHANCE, STATE, Node, Record
from wfb_gym.opponents.policies import Scripted, choose

NEXT_STEP = 0
SAME_STEP = 1
DISABLED = 2
"""Autoreset modes as the kernel knows them."""

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
    table: Record, state: Record, rng: Record, seat: int, policy: int, count: int, work: Record
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


@jit(forceinline=False)
def restart(
    env: Record, tables: Record, starts: Record, pool: NDArray[np.int64], seat: int, work: Record
) -> int:
    """Begin the next episode of an environment and go on to its first decision.

    Args:
        env: the environment.
        tables: packed scenarios.
        starts: their first positions (`START`).
        pool: members of `Scripted`; one is drawn for the episode if there are several.
        seat: the learner's army.
        work: scratch; lists the actions of whoever must decide.

    Returns:
        How many actions `work.legal` lists.
    """
    start = starts[env.scenario]
    env.state = start.state
    if pool.shape[0] > 1:
        env.opponent = next_choice(env.rng, pool.shape[0])
    state = env.state
    table = tables[env.scenario]
    count = start.count
    if count > 0:
        count = legal_actions(table, state, work)
    gained, count = advance(table, state, env.rng, seat, pool[env.opponent], count, work)
    env.carry = start.points + gained
    env.status = FRESH if count > 0 and state.mover != seat else RUNNING
    return int(count)


@jit(forceinline=False)
def show(
    i: int,
    env: Record,
    tables: Record,
    seat: int,
    count: int,
    work: Record,
    at: Record,
    static: NDArray[np.float32],
    indices: NDArray[np.int64],
    allowed: NDArray[np.bool_],
    observations: NDArray[np.float32],
) -> None:
    """Write row i of observations and of masks; where nothing is to decide, pass is legal."""
    observe(tables[env.scenario], env.state, seat, at, static[env.scenario], observations[i])
    for k in range(allowed.shape[1]):
        allowed[i, k] = False
    for k in range(count):
        allowed[i, indices[work.legal[k]]] = True
    if count == 0:
        allowed[i, 0] = True


@jit
def admitted(i: int, index: int, allowed: NDArray[np.bool_]) -> int:
    """The index to play: an illegal one becomes the lowest legal one, pass if pass is legal."""
    if allowed[i, index]:
        return index
    lowest = 0
    while not allowed[i, lowest]:
        lowest += 1
    return lowest


@jit(nogil=True, forceinline=False)
def restart_chosen(
    chosen: NDArray[np.bool_],
    envs: Record,
    tables: Record,
    starts: Record,
    pool: NDArray[np.int64],
    seat: int,
    scratch: Record,
) -> int:
    """Begin new episodes; returns how many of them wait for an external opponent."""
    work = scratch[0]
    waiting = 0
    for i in range(envs.shape[0]):
        if chosen[i]:
            restart(envs[i], tables, starts, pool, seat, work)
            waiting += envs[i].status == FRESH
    return waiting


@jit(nogil=True, forceinline=False)
def show_all(
    members: NDArray[np.int64],
    envs: Record,
    tables: Record,
    seat: int,
    at: Record,
    static: NDArray[np.float32],
    indices: NDArray[np.int64],
    allowed: NDArray[np.bool_],
    observations: NDArray[np.float32],
    scratch: Record,
) -> None:
    """Write row j of observations and of masks for environment `members[j]`, as a seat sees it."""
    work = scratch[0]
    for j in range(members.shape[0]):
        env = envs[members[j]]
        count = 0
        if env.state.mover == seat:
            count = legal_actions(tables[env.scenario], env.state, work)
        show(j, env, tables, seat, count, work, at, static, indices, allowed, observations)


@jit(nogil=True, forceinline=False)
def count_illegal(actions: NDArray[np.int64], allowed: NDArray[np.bool_]) -> tuple[int, int]:
    """First row whose action lies outside the space, and first whose action is illegal; or -1."""
    outside = -1
    illegal = -1
    for i in range(actions.shape[0]):
        if actions[i] < 0 or actions[i] >= allowed.shape[1]:
            outside = i if outside < 0 else outside
        elif not allowed[i, actions[i]]:
            illegal = i if illegal < 0 else illegal
    return outside, illegal


@jit(nogil=True, forceinline=False)
def step_range(
    low: int,
    high: int,
    actions: NDArray[np.int64],
    mode: int,
    envs: Record,
    tables: Record,
    starts: Record,
    pool: NDArray[np.int64],
    seat: int,
    scale: float,
    codes: NDArray[np.int64],
    indices: NDArray[np.int64],
    at: Record,
    static: NDArray[np.float32],
    allowed: NDArray[np.bool_],
    observations: NDArray[np.float32],
    rewards: NDArray[np.float64],
    terminations: NDArray[np.bool_],
    illegal: NDArray[np.bool_],
    final: NDArray[np.float32],
    scratch: Record,
) -> int:
    """One step of every environment in a range; writes every output once.

    Rewards are the learner's, in points times `scale`. In SAME_STEP mode the last observation
    of an ended episode goes to `final`. Environments that wait for an external opponent have
    no observation yet; `resume` goes on with them.

    Returns:
        How many environments wait.
    """
    work = scratch[0]
    waiting = 0
    for i in range(low, high):
        env = envs[i]
        rewards[i] = 0.0
        terminations[i] = False
        illegal[i] = False
        count = 0
        if env.status == DONE:
            if mode == DISABLED:
                terminations[i] = True
            else:  # NEXT_STEP: this call only resets
                count = restart(env, tables, starts, pool, seat, work)
        else:
            gained = 0.0
            if env.state.node != Node.END:
                index = admitted(i, actions[i], allowed)
                illegal[i] = index != actions[i]
                table = tables[env.scenario]
                first, count = act_listing(table, env.state, codes[index], work)
                gained, count = advance(
                    table, env.state, env.rng, seat, pool[env.opponent], count, work
                )
                gained += first
            count = _settle_step(
                i, gained, count, mode, envs, tables, starts, pool, seat, scale,
                at, static, rewards, terminations, final, work,
            )  # fmt: skip
        if env.status >= WAITING:
            waiting += 1
        else:
            show(
                i, env, tables, seat, count, work,
                at, static, indices, allowed, observations,
            )  # fmt: skip
    return waiting


@jit(forceinline=False)
def _settle_step(
    i: int,
    gained: float,
    count: int,
    mode: int,
    envs: Record,
    tables: Record,
    starts: Record,
    pool: NDArray[np.int64],
    seat: int,
    scale: float,
    at: Record,
    static: NDArray[np.float32],
    rewards: NDArray[np.float64],
    terminations: NDArray[np.bool_],
    final: NDArray[np.float32],
    work: Record,
) -> int:
    """Pay the learner if the step is over; returns the number of legal actions then."""
    env = envs[i]
    env.carry += gained
    if count > 0 and env.state.mover != seat:
        env.status = WAITING
        return count
    env.status = RUNNING
    rewards[i] = env.carry * (scale if seat == 0 else -scale)
    env.carry = 0.0
    if env.state.node == Node.END:
        terminations[i] = True
        env.status = DONE
        if mode == SAME_STEP:
            scenario = env.scenario
            observe(tables[scenario], env.state, seat, at, static[scenario], final[i])
            return int(restart(env, tables, starts, pool, seat, work))
    return count


@jit(nogil=True, forceinline=False)
def resume(
    members: NDArray[np.int64],
    chosen: NDArray[np.int64],
    mode: int,
    envs: Record,
    tables: Record,
    starts: Record,
    pool: NDArray[np.int64],
    seat: int,
    scale: float,
    indices: NDArray[np.int64],
    at: Record,
    static: NDArray[np.float32],
    allowed: NDArray[np.bool_],
    observations: NDArray[np.float32],
    rewards: NDArray[np.float64],
    terminations: NDArray[np.bool_],
    final: NDArray[np.float32],
    scratch: Record,
) -> int:
    """Play external opponents' actions and go on with the steps that waited for them.

    `members` are the environments that wait, `chosen` a legal engine code for each; the rest
    is as for `step_range`.

    Returns:
        How many environments wait again.
    """
    work = scratch[0]
    waiting = 0
    for j in range(members.shape[0]):
        i = members[j]
        env = envs[i]
        table = tables[env.scenario]
        first, count = act_listing(table, env.state, chosen[j], work)
        gained, count = advance(table, env.state, env.rng, seat, pool[env.opponent], count, work)
        gained += first
        if env.status == FRESH:
            env.carry += gained
            env.status = FRESH if count > 0 and env.state.mover != seat else RUNNING
        else:
            count = _settle_step(
                i, gained, count, mode, envs, tables, starts, pool, seat, scale,
                at, static, rewards, terminations, final, work,
            )  # fmt: skip
        if env.status >= WAITING:
            waiting += 1
        else:
            show(
                i, env, tables, seat, count, work,
                at, static, indices, allowed, observations,
            )  # fmt: skip
    return waiting
