"""The batched advance: play each environment on until its learner must decide.

Compiled loops over a range of environments; `wfb_gym.envs.batch` owns the arrays and decides
which ranges run where. No rule lives here: everything goes through the engine's operations.
"""

import numpy as np
from numpy.typing import NDArray

from wfb_gym._jit import int64, jit
from wfb_gym._records import Float64, Int8, Int64, Record, Records, dtype_of
from wfb_gym.encoding.layout import LayoutOffsets
from wfb_gym.encoding.observe import observe
from wfb_gym.engine.chance import sample
from wfb_gym.engine.generator import Rng, next_choice
from wfb_gym.engine.legal import legal_actions
from wfb_gym.engine.state import FIRST_CHANCE, LAST_CHANCE, Node, State, WorkSpace
from wfb_gym.engine.transition import act_and_list, begin, resolve_and_list
from wfb_gym.opponents.move_tables import MoveTable
from wfb_gym.opponents.scripted import Scripted, ScriptedPlayer, choose_action
from wfb_gym.packing.records import PackedScenario

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


class Environment(Record):
    """One environment of a batch."""

    state: State
    rng: Rng
    carry: Float64  # points won since the learner's last reward, by the first army
    scenario: Int64
    opponent: Int64  # member of the pool that plays this episode
    status: Int8


ENVIRONMENT = dtype_of(Environment)


class FirstPosition(Record):
    """A scenario's first position, the points on the way to it, and its number of legal actions."""

    state: State
    points: Float64
    count: Int64


START = dtype_of(FirstPosition)


@jit(forceinline=False)
def advance(
    packed: PackedScenario,
    state: State,
    rng: Rng,
    seat: int,
    policy: int,
    count: int,
    move_table: MoveTable,
    move_storage: NDArray[np.uint64],
    work: WorkSpace,
) -> tuple[float, int]:
    """Go on until the learner or an external opponent must decide, or the battle ends.

    Args:
        packed: the packed scenario.
        state: changed in place.
        rng: the environment's generator.
        seat: the learner's army.
        policy: who plays the other army, as `opponents.scripted.choose_action` takes it.
        count: how many actions `work.legal` lists for the state, 0 if it is no decision.
        move_table: the scenario's book of moves, for an opponent that reads one.
        move_storage: that holds it.
        work: scratch; lists the actions of whoever must decide.

    Returns:
        Points that changed hands, as the first army sees them, and the number of legal actions.
    """
    points = 0.0
    while True:
        if count > 0:
            if state.mover == seat or policy == Scripted.EXTERNAL:
                return points, count
            player = ScriptedPlayer(policy, move_table, move_storage)
            action = choose_action(player, packed, state, work, count, rng)
            gained, count = act_and_list(packed, state, action, work)
        elif FIRST_CHANCE <= state.node <= LAST_CHANCE:
            outcome = sample(packed, state, rng, work)
            gained, count = resolve_and_list(packed, state, outcome, work)
        else:
            return points, 0
        points += gained


@jit
def restart(
    env: Environment,
    packed_scenarios: Records[PackedScenario],
    starts: Records[FirstPosition],
    redraw: bool,
    pool: NDArray[np.int64],
    seat: int,
    move_tables: Records[MoveTable],
    move_storage: NDArray[np.uint64],
    work: WorkSpace,
) -> int:
    """Begin the next episode of an environment and go on to its first decision.

    Args:
        env: the environment.
        packed_scenarios: packed scenarios.
        starts: their first positions (`START`).
        redraw: draw a scenario for the episode; else the environment keeps its own.
        pool: opponents, by number; one is drawn for the episode if there are several.
        seat: the learner's army.
        move_tables: of moves, by scenario; a single one may stand for all.
        move_storage: that holds them.
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
    packed = packed_scenarios[env.scenario]
    count = start.count
    if count > 0:
        count = legal_actions(packed, state, work)
    move_table = move_tables[env.scenario % move_tables.shape[0]]
    gained, count = advance(
        packed, state, env.rng, seat, pool[env.opponent], count, move_table, move_storage, work
    )
    env.carry = start.points + gained
    env.status = FRESH if count > 0 and state.mover != seat else RUNNING
    return int64(count)


@jit
def prepare(packed: PackedScenario, start: FirstPosition, work: WorkSpace) -> None:
    """Work out the first position of a scenario, so that a reset is no more than a copy."""
    start.points = begin(packed, start.state, work)
    start.count = legal_actions(packed, start.state, work)


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
    row: int, count: int, work: WorkSpace, indices: NDArray[np.int64], allowed: NDArray[np.bool_]
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
    actions: NDArray[np.int64], allowed: NDArray[np.bool_], envs: Records[Environment]
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
    envs: Records[Environment],
    packed_scenarios: Records[PackedScenario],
    starts: Records[FirstPosition],
    redraw: bool,
    pool: NDArray[np.int64],
    seat: int,
    scale: float,
    codes: NDArray[np.int64],
    indices: NDArray[np.int64],
    offsets: Records[LayoutOffsets],
    static: NDArray[np.float32],
    allowed: NDArray[np.bool_],
    observations: NDArray[np.float32],
    rewards: NDArray[np.float64],
    terminations: NDArray[np.bool_],
    illegal: NDArray[np.bool_],
    final: NDArray[np.float32],
    move_tables: Records[MoveTable],
    move_storage: NDArray[np.uint64],
    scratch: Records[WorkSpace],
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
            prepare(packed_scenarios[j], starts[j], work)
        return 0
    for j in range(low, high):
        i = members[j]
        row = i
        env = envs[i]
        state = env.state
        packed = packed_scenarios[env.scenario]
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
                count = legal_actions(packed, state, work)
        if code >= 0:
            first, count = act_and_list(packed, state, code, work)
            move_table = move_tables[env.scenario % move_tables.shape[0]]
            gained, count = advance(
                packed,
                state,
                env.rng,
                seat,
                pool[env.opponent],
                count,
                move_table,
                move_storage,
                work,
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
                    observe(packed, state, seat, at, static[env.scenario], final[i])
                    fresh = True
        if fresh:
            count = restart(
                env, packed_scenarios, starts, redraw, pool, seat, move_tables, move_storage, work
            )
            packed = packed_scenarios[env.scenario]
            if env.status == FRESH:
                waiting += 1
                continue
        observe(packed, state, seat, at, static[env.scenario], observations[row])
        write_mask(row, count, work, indices, allowed)
    return waiting
