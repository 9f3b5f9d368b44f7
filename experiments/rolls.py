"""Enumerate the possible results of a battle's dice, in compiled code."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from wfb_gym._jit import int64, jit
from wfb_gym._records import Records
from wfb_gym.engine.chance import sample
from wfb_gym.engine.chance_outcomes import chance_outcomes, most_outcomes
from wfb_gym.engine.legal import legal_actions
from wfb_gym.engine.queries import is_chance
from wfb_gym.engine.state import State, WorkSpace, new_states, new_work_spaces
from wfb_gym.engine.transition import act_and_list, resolve, resolve_and_list
from wfb_gym.envs.kernel import BatchGame, Environment, draw_episode, find_opponent
from wfb_gym.opponents.dispatch import Scripted, choose_action
from wfb_gym.packing.records import PackedScenario
from wfb_gym.scenario.sizes import DICE

MOST_OUTCOMES = most_outcomes(DICE, rerolls=True)
"""Maximum number of outcomes per roll."""
MOST_ROLLS = 4
"""Maximum number of consecutive rolls to enumerate without a decision in between."""
MOST_POSITIONS_OF_ROLL = 1 << 13
"""Maximum number of positions per roll when later rolls are enumerated too."""
ENOUGH = 1 << 15
"""Number of positions to collect before they are estimated."""
RESTART, PLAYED = -1, -2
"""Used in place of an action: a battle begins, or its action has already been played."""


class RolledPositions(NamedTuple):
    """k positions after dice rolls: decisions, ends of battles, and rolls at the depth limit."""

    packed_scenarios: Records[PackedScenario]
    scenario: NDArray[np.int64]  # (k,): index of each position's scenario
    states: Records[State]  # (k,)
    phases: NDArray[np.int64]  # (k,): phase in which the dice were rolled


class Leaves(NamedTuple):
    """Possible results of rolls, as parallel arrays."""

    states: Records[State]
    scenario: NDArray[np.int64]
    phases: NDArray[np.int64]  # phase of the roll
    members: NDArray[np.int64]  # battle
    labels: NDArray[np.int64]  # outcome of the first roll
    rolls: NDArray[np.int64]  # number of rolls before the position
    chances: NDArray[np.float64]
    gains: NDArray[np.float64]  # the first army's points since the first roll
    weights: NDArray[np.float64]  # of the position's value in its battle's luck


class RollScratch(NamedTuple):
    """Arrays for the enumeration: results, positions left to expand, and scratch memory."""

    leaves: Leaves
    pending: Leaves
    used: NDArray[np.int64]  # (1,): number of leaves in use
    outcomes: NDArray[np.int64]
    probabilities: NDArray[np.float64]
    work: Records[WorkSpace]  # (1,)


def _new_leaves(count: int) -> Leaves:
    scenario, phases, members, labels, rolls = np.zeros((5, count), np.int64)
    chances, gains, weights = np.zeros((3, count))
    return Leaves(
        new_states(count), scenario, phases, members, labels, rolls, chances, gains, weights
    )


def new_roll_scratch() -> RollScratch:
    most = MOST_OUTCOMES + MOST_POSITIONS_OF_ROLL
    return RollScratch(
        _new_leaves(ENOUGH + most), _new_leaves(most + 1), np.zeros(1, np.int64),
        np.zeros(MOST_OUTCOMES, np.int64), np.zeros(MOST_OUTCOMES), new_work_spaces(),
    )  # fmt: skip


_opponent_of = jit(inline="always")(find_opponent)  # compiled code cannot return records


@jit(nogil=True)
def follow_rolls(
    begin: int,
    moves: tuple[NDArray[np.int64], NDArray[np.int64]],
    envs: Records[Environment],
    game: BatchGame,
    seat: int,
    scratch: RollScratch,
) -> int:
    """Play actions as the environments' driver does, enumerating every roll along the way.

    `moves` holds members of `envs`, starting at the entry `begin`, and their actions' engine codes.

    Returns:
        The first entry that was not played to its end because `scratch` is full. It is the next
        `begin`.
    """
    members, codes = moves
    work = scratch.work[0]
    for j in range(begin, members.shape[0]):
        env = envs[members[j]]
        state = env.state
        if codes[j] == RESTART:
            draw_episode(env, game.redraw, game.starts.shape[0], game.pool.shape[0])
            env.state = game.starts[env.scenario].state
        packed = game.packed_scenarios[env.scenario]
        opponent = _opponent_of(env, game)
        if codes[j] >= 0:
            _, count = act_and_list(packed, state, codes[j], work)
        else:
            count = int64(legal_actions(packed, state, work))
        codes[j] = PLAYED
        while True:
            if is_chance(state.node):
                if scratch.used[0] > ENOUGH:
                    return j
                label = _roll(packed, env, members[j], scratch)
                _, count = resolve_and_list(packed, state, label, work)
            elif count > 0 and state.mover != seat and opponent.number != Scripted.EXTERNAL:
                action = choose_action(opponent, packed, state, work, count, env.rng)
                _, count = act_and_list(packed, state, action, work)
            else:
                break
    return int64(members.shape[0])


@jit(forceinline=False)
def _roll(packed: PackedScenario, env: Environment, member: int, scratch: RollScratch) -> int:
    """Enumerate the possible results of a battle's dice, then roll and return the outcome."""
    leaves, pending = scratch.leaves, scratch.pending
    phase = int64(env.state.phase)
    first = int64(scratch.used[0])
    end = first
    pending.states[0] = env.state
    pending.chances[0] = 1.0
    pending.gains[0] = 0.0
    pending.rolls[0] = 0
    left = 1
    while left > 0:
        left -= 1
        here = pending.states[left]
        rolls = pending.rolls[left]
        count = 0
        if is_chance(here.node) and here.phase == phase and rolls < MOST_ROLLS:
            count = int64(
                chance_outcomes(
                    packed, here, scratch.outcomes, scratch.probabilities, 0, scratch.work[0]
                )
            )
        if count == 0 or (rolls > 0 and end - first + left + count > MOST_POSITIONS_OF_ROLL):
            leaves.states[end] = here
            leaves.scenario[end] = env.scenario
            leaves.phases[end] = phase
            leaves.members[end] = member
            leaves.labels[end] = pending.labels[left]
            leaves.chances[end] = pending.chances[left]
            leaves.gains[end] = pending.gains[left]
            end += 1
            continue
        last = left + count
        pending.states[last] = here
        chance, gain, label = pending.chances[left], pending.gains[left], pending.labels[left]
        for k in range(count):
            to, outcome = left + k, scratch.outcomes[k]
            pending.states[to] = pending.states[last]
            gained = resolve(packed, pending.states[to], outcome, scratch.work[0])
            pending.chances[to] = chance * scratch.probabilities[k]
            pending.gains[to] = gain + gained
            pending.labels[to] = label if rolls > 0 else outcome
            pending.rolls[to] = rolls + 1
        left = last
    rolled = int64(sample(packed, env.state, env.rng, scratch.work[0]))
    chance = 0.0
    # luck is value given the rolled outcome minus expected value: weights p / p(outcome) - p
    for k in range(first, end):
        chance += leaves.chances[k] if leaves.labels[k] == rolled else 0.0
    for k in range(first, end):
        came = 1.0 / chance if leaves.labels[k] == rolled else 0.0
        leaves.weights[k] = leaves.chances[k] * (came - 1.0)
    scratch.used[0] = end
    return rolled
