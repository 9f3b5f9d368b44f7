"""Luck-adjusted points: what the dice alone brought is taken off the points of a battle.

The luck of a roll is what its dice brought, less what they bring on average: the points that
changed hands and an estimate of the position behind them, less the mean of both over all outcomes
by their exact chances. Where the next roll follows without a decision, it is looked through. The
mean of luck is 0 whatever the estimate says, so points less luck have the mean of the points; the
better the estimate, the less they vary, and the fewer battles tell two players apart. Of the
control variates known from poker (AIVAT; Burch, Schmid, Moravcik and Bowling 2018) this is the part
of chance; what players draw by themselves is left alone.
"""

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from experiments.common import BatchPlayer, play
from wfb_gym._jit import int64, jit
from wfb_gym._records import Records
from wfb_gym.engine.chance import sample
from wfb_gym.engine.chance_outcomes import chance_outcomes, most_outcomes
from wfb_gym.engine.legal import legal_actions
from wfb_gym.engine.queries import is_chance
from wfb_gym.engine.state import Node, State, WorkSpace, new_states, new_work_spaces
from wfb_gym.engine.transition import act_and_list, resolve, resolve_and_list
from wfb_gym.envs.kernel import Autoreset, BatchGame, Environment, draw_episode, find_opponent
from wfb_gym.envs.watching import BatchWatcher
from wfb_gym.opponents.scripted import Scripted, choose_action
from wfb_gym.packing.records import PackedScenario
from wfb_gym.players.interface import Agent, Opponent
from wfb_gym.players.search.estimate import estimate_phase
from wfb_gym.scenario.sizes import DICE
from wfb_gym.seats import seat_number

if TYPE_CHECKING:
    from wfb_gym.envs.batch import Batch

MOST_OUTCOMES = most_outcomes(DICE, rerolls=True)
"""That one roll may have."""
ROLLS_AHEAD = 4
"""Rolls that are followed one after the other, until somebody decides."""
MOST_AHEAD = 1 << 13
"""Positions that are laid out for one roll by looking at those behind it."""
ENOUGH = 1 << 15
"""Positions after which their estimates are asked for."""
_LEAST = 1e-9
"""Variance below which points are the same."""
_RESTART, _PLAYED = -1, -2
"""In place of an action: a battle that begins, and one whose action is played already."""


class Outlook(NamedTuple):
    """Positions that dice may lead to, k of them: decisions and ends, and rolls far ahead."""

    packed_scenarios: Records[PackedScenario]
    scenario: NDArray[np.int64]  # (k,): of each position
    states: Records[State]  # (k,)
    phases: NDArray[np.int64]  # (k,): in which the dice are rolled


ValueEstimate = Callable[[Outlook], NDArray[np.float64]]
"""Positions to points still to come for the first army, float64 (k,).

What one roll may lead to is compared, so all of it should be looked at up to one horizon: the end
of the phase in which the dice are rolled."""


class Leaves(NamedTuple):
    """Positions that rolls may lead to, side by side."""

    states: Records[State]
    scenario: NDArray[np.int64]
    phases: NDArray[np.int64]  # of the roll
    members: NDArray[np.int64]  # the battle
    labels: NDArray[np.int64]  # outcome of the roll
    rolls: NDArray[np.int64]  # that lead to it
    chances: NDArray[np.float64]
    gains: NDArray[np.float64]  # points of the first army on the way
    weights: NDArray[np.float64]  # of the position's worth in the luck of its battle


class Room(NamedTuple):
    """Where rolls are laid out: what they lead to, what is still to be followed, and scratch."""

    leaves: Leaves
    pending: Leaves
    used: NDArray[np.int64]  # (1,): of the leaves
    outcomes: NDArray[np.int64]
    probabilities: NDArray[np.float64]
    work: Records[WorkSpace]  # (1,)


def _new_leaves(count: int) -> Leaves:
    scenario, phases, members, labels, rolls = np.zeros((5, count), np.int64)
    chances, gains, weights = np.zeros((3, count))
    return Leaves(
        new_states(count), scenario, phases, members, labels, rolls, chances, gains, weights
    )


def _new_room() -> Room:
    most = MOST_OUTCOMES + MOST_AHEAD
    return Room(
        _new_leaves(ENOUGH + most), _new_leaves(most + 1), np.zeros(1, np.int64),
        np.zeros(MOST_OUTCOMES, np.int64), np.zeros(MOST_OUTCOMES), new_work_spaces(),
    )  # fmt: skip


def phase_estimate(outlook: Outlook) -> NDArray[np.float64]:
    """Estimate by the rule of thumb of the agents that search; a `ValueEstimate`."""
    values = np.zeros(len(outlook.states))
    _estimate(outlook, values, new_work_spaces())
    return values


@jit(nogil=True)
def _estimate(outlook: Outlook, values: NDArray[np.float64], scratch: Records[WorkSpace]) -> None:
    for k in range(values.shape[0]):
        packed = outlook.packed_scenarios[outlook.scenario[k]]
        values[k] = estimate_phase(packed, outlook.states[k], outlook.phases[k], scratch[0])


_opponent_of = jit(inline="always")(find_opponent)  # compiled code cannot return records


@jit(nogil=True)
def _follow(
    begin: int,
    moves: tuple[NDArray[np.int64], NDArray[np.int64]],
    envs: Records[Environment],
    game: BatchGame,
    seat: int,
    room: Room,
) -> int:
    """Play on as the environments' driver does, and lay out every roll on the way.

    `moves` are members of `envs`, from the entry `begin` on, and engine codes of what is played.

    Returns:
        The first member that could not be played to its end, as there is no room; go on with it.
    """
    members, codes = moves
    work = room.work[0]
    for j in range(begin, members.shape[0]):
        env = envs[members[j]]
        state = env.state
        if codes[j] == _RESTART:
            draw_episode(env, game.redraw, game.starts.shape[0], game.pool.shape[0])
            env.state = game.starts[env.scenario].state
        packed = game.packed_scenarios[env.scenario]
        opponent = _opponent_of(env, game)
        if codes[j] >= 0:
            _, count = act_and_list(packed, state, codes[j], work)
        else:
            count = int64(legal_actions(packed, state, work))
        codes[j] = _PLAYED
        while True:
            if is_chance(state.node):
                if room.used[0] > ENOUGH:
                    return j
                label = _roll(packed, env, members[j], room)
                _, count = resolve_and_list(packed, state, label, work)
            elif count > 0 and state.mover != seat and opponent.number != Scripted.EXTERNAL:
                action = choose_action(opponent, packed, state, work, count, env.rng)
                _, count = act_and_list(packed, state, action, work)
            else:
                break
    return int64(members.shape[0])


@jit(forceinline=False)
def _roll(packed: PackedScenario, env: Environment, member: int, room: Room) -> int:
    """Lay out what a battle's dice may lead to and roll them; returns the outcome."""
    leaves, pending = room.leaves, room.pending
    phase = int64(env.state.phase)
    first = int64(room.used[0])
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
        if is_chance(here.node) and here.phase == phase and rolls < ROLLS_AHEAD:
            count = int64(
                chance_outcomes(packed, here, room.outcomes, room.probabilities, 0, room.work[0])
            )
        if count == 0 or (rolls > 0 and end - first + left + count > MOST_AHEAD):
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
            to, outcome = left + k, room.outcomes[k]
            pending.states[to] = pending.states[last]
            gained = resolve(packed, pending.states[to], outcome, room.work[0])
            pending.chances[to] = chance * room.probabilities[k]
            pending.gains[to] = gain + gained
            pending.labels[to] = label if rolls > 0 else outcome
            pending.rolls[to] = rolls + 1
        left = last
    rolled = int64(sample(packed, env.state, env.rng, room.work[0]))
    chance = 0.0
    for k in range(first, end):
        chance += leaves.chances[k] if leaves.labels[k] == rolled else 0.0
    for k in range(first, end):
        came = 1.0 / chance if leaves.labels[k] == rolled else 0.0
        leaves.weights[k] = leaves.chances[k] * (came - 1.0)
    room.used[0] = end
    return rolled


class LuckWatcher(BatchWatcher):
    """Follows the battles of a batch and adds up their luck.

    The batch must not begin battles anew by itself.

    Args:
        num_envs: battles of the batch.
        estimate: of positions; any has the same mean.

    Attributes:
        luck: points that the dice have brought the first army, float64 (n,).
    """

    def __init__(self, num_envs: int, estimate: ValueEstimate = phase_estimate) -> None:
        super().__init__(num_envs)
        self.luck = np.zeros(num_envs)
        self._estimate = estimate
        self._room = _new_room()

    def begin_step(self, batch: "Batch") -> None:
        self._envs = batch.envs.copy()
        self._asked: list[tuple[NDArray[np.int64], NDArray[np.int64]]] = []

    def add_answers(self, members: NDArray[np.int64], codes: NDArray[np.int64]) -> None:
        self._asked.append((members, codes.copy()))

    def follow_reset(self, batch: "Batch", chosen: NDArray[np.bool_]) -> None:
        members = np.flatnonzero(chosen)
        self.luck[members] = 0.0
        self._follow(batch, members, np.full(len(members), _RESTART))

    def follow_step(self, batch: "Batch", actions: NDArray[np.int64]) -> None:
        if batch.mode != Autoreset.DISABLED:
            raise ValueError("luck: expected battles that do not begin anew by themselves")
        members = np.flatnonzero(self._envs["state"]["node"] != Node.END)
        self._follow(batch, members, batch.codec.code_of[actions[members]])

    def _follow(self, batch: "Batch", members: NDArray[np.int64], codes: NDArray[np.int64]) -> None:
        for moves in ((members, codes), *self._asked):
            done = 0
            while done < len(moves[0]):
                done = _follow(done, moves, self._envs, batch.game, batch.seat, self._room)
                self._add_luck(batch.packed_scenarios)

    def _add_luck(self, packed_scenarios: Records[PackedScenario]) -> None:
        leaves, end = self._room.leaves, self._room.used[0]
        self._room.used[0] = 0
        outlook = Outlook(
            packed_scenarios, leaves.scenario[:end], leaves.states[:end], leaves.phases[:end]
        )
        worth = leaves.gains[:end] + self._estimate(outlook)
        np.add.at(self.luck, leaves.members[:end], leaves.weights[:end] * worth)


class LuckyPoints(NamedTuple):
    """Points of a seat in battles, and how many of them its dice brought; float64 (battles,)."""

    points: NDArray[np.float64]
    luck: NDArray[np.float64]

    @property
    def adjusted(self) -> NDArray[np.float64]:
        """Points without the luck: of the same mean."""
        return self.points - self.luck

    @property
    def shortening(self) -> float:
        """How many times fewer battles give as narrow an interval: the ratio of variances.

        1 where points do not vary.
        """
        plain = float(self.points.var())
        return plain / max(float(self.adjusted.var()), _LEAST) if plain > 0.0 else 1.0


def play_with_luck(
    player: Agent | BatchPlayer,
    *,
    seat: str,
    scenario: Any,
    opponent: Opponent | Sequence[Opponent],
    battles: int,
    seed: int,
    estimate: ValueEstimate = phase_estimate,
) -> LuckyPoints:
    """Play the battles that `experiments.common.play` plays, and tell their luck too."""
    watcher = LuckWatcher(battles, estimate)
    points = play(
        player, seat=seat, scenario=scenario, opponent=opponent, battles=battles, seed=seed,
        watcher=watcher,
    )  # fmt: skip
    return LuckyPoints(points, watcher.luck if seat_number(seat) == 0 else -watcher.luck)
