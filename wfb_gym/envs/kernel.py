"""The compiled kernel of a batch: it plays each environment until the learner is to move.

`wfb_gym.envs.driver` owns the arrays and calls the kernel. The kernel contains no game rules and
calls the engine instead. `advance` and `draw_episode` define the order in which random numbers are
drawn. `wfb_gym.envs.watching` must draw in the same order to reproduce a step.
"""

from enum import IntEnum
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from wfb_gym._intrinsics import copy_record
from wfb_gym._jit import int64, jit
from wfb_gym._records import Float64, Int8, Int64, Record, Records, dtype_of
from wfb_gym.encoding.history import History, clear_history, note
from wfb_gym.encoding.observe import observe
from wfb_gym.encoding.view import ViewArrays, write_mask
from wfb_gym.engine.chance import sample
from wfb_gym.engine.legal import legal_actions
from wfb_gym.engine.random_numbers import Rng, next_choice
from wfb_gym.engine.state import FIRST_CHANCE, LAST_CHANCE, Node, State, WorkSpace
from wfb_gym.engine.transition import act_and_list, begin, resolve_and_list
from wfb_gym.envs.thread_pool import (
    ALONE,
    close_task,
    join_task,
    leave_task,
    next_chunk,
    open_task,
    task_arguments,
)
from wfb_gym.opponents.dispatch import Scripted, ScriptedPlayer, choose_action
from wfb_gym.opponents.move_tables import MoveTables
from wfb_gym.packing.records import PackedScenario


class Autoreset(IntEnum):
    """When an ended episode restarts; mirrors the members of Gymnasium's `AutoresetMode`."""

    NEXT_STEP = 0
    SAME_STEP = 1
    DISABLED = 2


class Operation(IntEnum):
    """The operations of `drive`.

    They share one compiled function because each compiled function includes the whole engine.
    """

    PREPARE = 0  # compute each scenario's first position
    RESET = 1  # start episodes
    STEP = 2  # play the learner's actions
    OPPONENT_STEP = 3  # play an external opponent's actions
    OBSERVE = 4  # write observations and masks without changing anything
    JOIN_TEAM = 5  # help with a team's tasks; the other arguments only provide types


class Status(IntEnum):
    """An environment's status between two calls of `drive`."""

    LEARNER_DECIDES = 0
    DONE = 1
    OPPONENT_DECIDES = 2  # in the middle of the learner's step
    OPPONENT_OPENS = 3  # before the learner's first action


class Environment(Record):
    """One environment of a batch."""

    state: State
    rng: Rng
    unpaid: Float64  # points won by the first army since the learner's last reward
    scenario: Int64
    opponent: Int64  # index of this episode's opponent in the pool
    history: History  # recorded only if `BatchGame.notes`
    status: Int8


ENVIRONMENT = dtype_of(Environment)


class FirstPosition(Record):
    """A scenario's first position, the points won before it, and its number of legal actions."""

    state: State
    points: Float64
    count: Int64


class BatchGame(NamedTuple):
    """The environments, scenarios and opponents of a batch."""

    envs: Records[Environment]  # (n,), changed in place
    packed_scenarios: Records[PackedScenario]
    starts: Records[FirstPosition]  # one per scenario
    redraw: bool  # whether to draw a scenario for each episode instead of keeping it
    pool: NDArray[np.int64]  # opponents by number; if several, one is drawn for each episode
    move_tables: MoveTables  # for optimal opponents
    mode: int  # Autoreset
    notes: bool  # whether to record histories
    scale: float  # reward per point
    one_scenario: bool  # compiled code for a GPU omits the index of the scenario


class BatchStep(NamedTuple):
    """The results of one step of a batch."""

    observations: NDArray[np.float32]  # (n, size)
    masks: NDArray[np.bool_]  # (n, actions); the next step overwrites them
    rewards: NDArray[np.float64]  # (n,), the learner's points / points_per_reward
    terminations: NDArray[np.bool_]  # (n,)
    illegal: NDArray[np.bool_]  # (n,), whether an illegal action was replaced
    # (n, size), last observations of ended episodes in SAME_STEP mode; other rows are undefined.
    # The next step overwrites them.
    final: NDArray[np.float32]


@jit(forceinline=False)
def advance(
    packed: PackedScenario,
    env: Environment,
    notes: bool,
    seat: int,
    opponent: ScriptedPlayer,
    count: int,
    work: WorkSpace,
) -> tuple[float, int]:
    """Play until the learner or an external opponent is to move, or the battle ends.

    Args:
        packed: the scenario.
        env: the environment, changed in place.
        notes: whether to record decisions and rolls in the environment's history.
        seat: the learner's seat.
        opponent: the player in the other seat.
        count: number of legal actions in `work.legal`; 0 if the state is not a decision.
        work: on return, `work.legal` contains the legal actions of the army to move.

    Returns:
        Net points gained by the first army, and the number of legal actions.
    """
    state, rng = env.state, env.rng
    points = 0.0
    while True:
        if count > 0:
            if state.mover == seat or opponent.number == Scripted.EXTERNAL:
                return points, count
            action = choose_action(opponent, packed, state, work, count, rng)
            if notes:
                note(packed, env.history, state, action)
            gained, count = act_and_list(packed, state, action, work)
        elif FIRST_CHANCE <= state.node <= LAST_CHANCE:
            outcome = sample(packed, state, rng, work)
            if notes:
                note(packed, env.history, state, 0)
            gained, count = resolve_and_list(packed, state, outcome, work)
        else:
            return points, 0
        points += gained


@jit
def draw_episode(env: Environment, redraw: bool, scenarios: int, opponents: int) -> None:
    """Draw an episode's scenario if `redraw` is set, then its opponent if there are several."""
    if redraw:
        env.scenario = next_choice(env.rng, scenarios)
    if opponents > 1:
        env.opponent = next_choice(env.rng, opponents)


@jit
def scenario_index(env: Environment, game: BatchGame) -> int:
    """Return the index of an environment's scenario."""
    return int64(0) if game.one_scenario else int64(env.scenario)


def find_opponent(env: Environment, game: BatchGame) -> ScriptedPlayer:
    """Return the opponent in an environment's current episode."""
    tables = game.move_tables.tables
    table = tables[scenario_index(env, game) % tables.shape[0]]
    number = game.pool[env.opponent if game.pool.shape[0] > 1 else 0]
    return ScriptedPlayer(number, table, game.move_tables.storage)


_opponent_of = jit(inline="always")(find_opponent)  # compiled code cannot return records


@jit
def restart(env: Environment, game: BatchGame, seat: int, work: WorkSpace) -> int:
    """Start an environment's next episode; return the number of legal actions in `work.legal`."""
    draw_episode(env, game.redraw, game.starts.shape[0], game.pool.shape[0])
    start = game.starts[scenario_index(env, game)]
    copy_record(env.state, start.state)
    if game.notes:
        clear_history(env.history)
    state, packed, count = env.state, game.packed_scenarios[scenario_index(env, game)], start.count
    if count > 0:
        count = legal_actions(packed, state, work)
    gained, count = advance(packed, env, game.notes, seat, _opponent_of(env, game), count, work)
    env.unpaid = start.points + gained
    opens = count > 0 and state.mover != seat
    env.status = Status.OPPONENT_OPENS if opens else Status.LEARNER_DECIDES
    return int64(count)


@jit
def legal_or_lowest(i: int, index: int, allowed: NDArray[np.bool_]) -> int:
    """Return the action to play, replacing an illegal one by the lowest legal one (0 is pass)."""
    if allowed[i, index]:
        return index
    lowest = 0
    while not allowed[i, lowest]:
        lowest += 1
    return lowest


@jit(nogil=True, forceinline=False)
def first_invalid(
    actions: NDArray[np.int64], allowed: NDArray[np.bool_], envs: Records[Environment]
) -> tuple[int, int]:
    """Return the first row with an action outside the space, and the first with an illegal one.

    Each is -1 if there is no such row. Once an episode is over, any action in the space is
    accepted.
    """
    outside = -1
    illegal = -1
    for i in range(actions.shape[0]):
        if actions[i] < 0 or actions[i] >= allowed.shape[1]:
            outside = i if outside < 0 else outside
        elif not allowed[i, actions[i]] and envs[i].status == Status.LEARNER_DECIDES:
            illegal = i if illegal < 0 else illegal
    return outside, illegal


@jit  # always inlined: a call would pass 145 numbers and addresses
def drive_member(  # noqa: PLR0913 - the body of a loop
    operation: int,
    j: int,
    i: int,
    env: Environment,
    actions: NDArray[np.int64],
    game: BatchGame,
    view: ViewArrays,
    out: BatchStep,
    work: WorkSpace,
) -> bool:
    """Run an operation on one member; return whether it awaits an external opponent.

    Args:
        operation: a member of `Operation` other than PREPARE and JOIN_TEAM.
        j: the member's index.
        i: the member, which is the index of its environment.
        env: the environment, in `game.envs` or a copy that the caller writes back.
        actions: as for `drive`.
        game: scenarios and opponents.
        view: the learner's view.
        out: the results.
        work: scratch space.
    """
    at, seat = view.offsets[0], view.seat
    row = i
    state = env.state
    packed = game.packed_scenarios[scenario_index(env, game)]
    count = 0
    code = -1
    begins = False
    paid = False
    if operation == Operation.STEP:
        out.rewards[i] = 0.0
        out.terminations[i] = False
        out.illegal[i] = False
        if env.status == Status.DONE:
            out.terminations[i] = game.mode == Autoreset.DISABLED
            begins = game.mode != Autoreset.DISABLED  # NEXT_STEP: this call only resets
        else:
            paid = True
            index = legal_or_lowest(i, actions[i], out.masks)
            out.illegal[i] = index != actions[i]
            if state.node != Node.END:
                code = view.codes[index]
    elif operation == Operation.OPPONENT_STEP:
        code = actions[j]
        paid = env.status == Status.OPPONENT_DECIDES
    elif operation == Operation.OBSERVE:
        row = j
        if state.mover == seat:
            count = legal_actions(packed, state, work)
    elif operation == Operation.RESET:
        begins = True
    else:
        raise AssertionError("operation: expected a member of Operation")
    if code >= 0:
        if game.notes:
            note(packed, env.history, state, code)
        first, count = act_and_list(packed, state, code, work)
        opponent = _opponent_of(env, game)
        gained, count = advance(packed, env, game.notes, seat, opponent, count, work)
        env.unpaid += first + gained
        if count > 0 and state.mover != seat:
            env.status = Status.OPPONENT_DECIDES if paid else Status.OPPONENT_OPENS
            return True
        env.status = Status.LEARNER_DECIDES
    if paid:
        out.rewards[i] = env.unpaid * (game.scale if seat == 0 else -game.scale)
        env.unpaid = 0.0
        if state.node == Node.END:
            out.terminations[i] = True
            env.status = Status.DONE
            if game.mode == Autoreset.SAME_STEP:
                static = view.static[scenario_index(env, game)]
                observe(packed, state, env.history, seat, at, static, out.final[i])
                begins = True
    if begins:
        count = restart(env, game, seat, work)
        packed = game.packed_scenarios[scenario_index(env, game)]
        if env.status == Status.OPPONENT_OPENS:
            return True
    static = view.static[scenario_index(env, game)]
    observe(packed, state, env.history, seat, at, static, out.observations[row])
    write_mask(row, count, work, view.indices, out.masks)
    return False


@jit(forceinline=False)
def _drive_chunk(
    operation: int,
    low: int,
    high: int,
    moves: tuple[NDArray[np.int64], NDArray[np.int64]],
    game: BatchGame,
    view: ViewArrays,
    out: BatchStep,
    work: WorkSpace,
) -> int:
    """Run an operation on `members[low:high]`; return how many await an external opponent."""
    members, actions = moves
    waiting = 0
    if operation == Operation.PREPARE:
        for j in range(low, high):
            start = game.starts[j]
            start.points = begin(game.packed_scenarios[j], start.state, work)
            start.count = legal_actions(game.packed_scenarios[j], start.state, work)
        return 0
    for j in range(low, high):
        i = members[j]
        waiting += drive_member(operation, j, i, game.envs[i], actions, game, view, out, work)
    return waiting


@jit
def _are_in_space(actions: NDArray[np.int64], size: int) -> bool:
    inside = True
    for k in range(actions.shape[0]):
        inside &= 0 <= actions[k] < size
    return inside


@jit(nogil=True, forceinline=False)
def drive(
    operation: int,
    moves: tuple[NDArray[np.int64], NDArray[np.int64]],
    game: BatchGame,
    view: ViewArrays,
    out: BatchStep,
    scratch: Records[WorkSpace],
    team: int,
    chunk: int,
) -> int:
    """Run an operation on all members.

    Results for environment i are written to row i of `out`. OBSERVE is the exception: it writes the
    results for member j to row j. In SAME_STEP mode, an ended episode's last observation is written
    to `out.final`. No observation is written for environments waiting for an external opponent.

    Args:
        operation: a member of `Operation`.
        moves: members and actions. Members, int64 (k,), are environments, or scenarios for
            PREPARE. Actions, int64, are indices into the action space of shape (n,) for STEP, or
            engine actions of shape (k,) for OPPONENT_STEP.
        game: environments, scenarios and opponents.
        view: the learner's view. For OBSERVE, the view from either seat.
        out: the results.
        scratch: this thread's work space, (1,).
        team: the address of the team that shares the work, or `thread_pool.ALONE`.
        chunk: number of members that a team's thread takes at a time.

    Returns:
        The number of environments waiting for an external opponent; helper threads count their
        own. If a STEP action is outside the action space, -1, and nothing is changed.
    """
    helps = operation == Operation.JOIN_TEAM
    task = operation, moves, game, view, out
    if operation == Operation.STEP and not _are_in_space(moves[1], out.masks.shape[1]):
        return -1
    while True:
        low, high = 0, moves[0].shape[0]
        if helps:
            if not join_task(team):
                return 0
            task = task_arguments(team, task)
        elif team != ALONE:
            open_task(team, high, chunk, task)
        if team != ALONE:
            low, high = next_chunk(team)
        waiting = 0
        task_operation, task_moves, task_game, task_view, task_out = task
        while low < high:
            waiting += _drive_chunk(
                task_operation, low, high, task_moves, task_game, task_view, task_out, scratch[0]
            )
            low, high = next_chunk(team) if team != ALONE else (high, high)
        if not helps:
            if team != ALONE:
                close_task(team)
            return waiting
        leave_task(team, waiting)
