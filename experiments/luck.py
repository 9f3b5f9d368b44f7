"""Luck-adjusted points: what the dice alone brought is taken off the points of a battle.

The luck of a roll is what its dice brought, less what they bring on average: the points that
changed hands and an estimate of the position behind them, less the mean of both over all outcomes
by their exact chances. Its mean is 0 whatever the estimate says, so points less luck have the mean
of the points; the better the estimate, the less they vary, and the fewer battles tell two players
apart. Of the control variates known from poker (AIVAT; Burch, Schmid, Moravcik and Bowling 2018)
this is the part of chance; what players draw by themselves is left alone.
"""

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from experiments.common import BatchPlayer, play
from wfb_gym._jit import int64, jit
from wfb_gym._records import Float64, Int64, Record, Records, new_records
from wfb_gym.engine.chance import sample
from wfb_gym.engine.chance_outcomes import chance_outcomes, most_outcomes
from wfb_gym.engine.legal import legal_actions
from wfb_gym.engine.queries import is_chance
from wfb_gym.engine.state import Node, State, WorkSpace, new_states, new_work_spaces
from wfb_gym.engine.transition import act_and_list, resolve, resolve_and_list
from wfb_gym.envs.kernel import Autoreset, Environment, Game, draw_episode, find_opponent
from wfb_gym.envs.watching import BatchWatcher
from wfb_gym.opponents.scripted import Scripted, choose_action
from wfb_gym.packing.records import PackedScenario
from wfb_gym.players.interface import Agent, Opponent
from wfb_gym.players.search.estimate import estimate_phase
from wfb_gym.scenario.sizes import DICE
from wfb_gym.seats import seat_number

if TYPE_CHECKING:
    from wfb_gym.envs.batch import Batch

ROOM = most_outcomes(DICE, rerolls=True)
"""Outcomes whose estimates are asked for at once, at most: as many as one roll may have."""
_RESTART, _PLAYED = -1, -2
"""In place of an action: a battle that begins, and one whose action is played already."""


class Outcomes(NamedTuple):
    """Positions that dice may lead to, k of them."""

    packed_scenarios: Records[PackedScenario]
    scenario: NDArray[np.int64]  # (k,): of each position
    states: Records[State]  # (k,): decisions, further rolls, or the end
    phases: NDArray[np.int64]  # (k,): in which the dice are rolled


ValueEstimate = Callable[[Outcomes], NDArray[np.float64]]
"""Outcomes to points still to come for the first army, float64 (k,).

Outcomes of one roll are compared, so all of them should be looked at up to one horizon: the end of
the phase in which the dice are rolled."""


class Roll(Record):
    """A roll of a battle; its outcomes lie side by side."""

    member: Int64  # the battle
    first: Int64  # of the outcomes
    end: Int64
    taken: Int64  # the outcome that came about


class Chances(NamedTuple):
    """Rolls that were followed, and all their outcomes."""

    rolls: Records[Roll]
    states: Records[State]
    scenario: NDArray[np.int64]
    phases: NDArray[np.int64]
    labels: NDArray[np.int64]  # with room for another roll behind
    probabilities: NDArray[np.float64]  # alike
    gains: NDArray[np.float64]  # points of the first army on the way
    used: NDArray[np.int64]  # (2,): rolls, outcomes


def _new_chances() -> Chances:
    scenario, phases = np.zeros((2, ROOM), np.int64)
    labels, probabilities = np.zeros(2 * ROOM, np.int64), np.zeros(2 * ROOM)
    return Chances(
        new_records(Roll, ROOM), new_states(ROOM), scenario, phases, labels, probabilities,
        np.zeros(ROOM), np.zeros(2, np.int64),
    )  # fmt: skip


def phase_estimate(outcomes: Outcomes) -> NDArray[np.float64]:
    """Estimate by the rule of thumb of the agents that search; a `ValueEstimate`."""
    values = np.zeros(len(outcomes.states))
    _estimate(outcomes, values, new_work_spaces())
    return values


@jit(nogil=True)
def _estimate(
    outcomes: Outcomes, values: NDArray[np.float64], scratch: Records[WorkSpace]
) -> None:
    for k in range(values.shape[0]):
        packed = outcomes.packed_scenarios[outcomes.scenario[k]]
        values[k] = estimate_phase(packed, outcomes.states[k], outcomes.phases[k], scratch[0])


_opponent_of = jit(inline="always")(find_opponent)  # compiled code cannot return records


@jit(nogil=True)
def _follow(
    begin: int,
    moves: tuple[NDArray[np.int64], NDArray[np.int64]],
    envs: Records[Environment],
    game: Game,
    seat: int,
    found: Chances,
    scratch: Records[WorkSpace],
) -> int:
    """Play on as the environments' driver does, and write down every roll on the way.

    `moves` are members of `envs`, from the entry `begin` on, and engine codes of what is played.

    Returns:
        The first member that could not be played to its end, as there is no room; go on with it.
    """
    members, codes = moves
    work = scratch[0]
    for j in range(begin, members.shape[0]):
        i = members[j]
        env = envs[i]
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
                count = _roll(packed, env, i, found, work)
                if count < 0:
                    return j
            elif count > 0 and state.mover != seat and opponent.number != Scripted.EXTERNAL:
                action = choose_action(opponent, packed, state, work, count, env.rng)
                _, count = act_and_list(packed, state, action, work)
            else:
                break
    return int64(members.shape[0])


@jit(forceinline=False)
def _roll(
    packed: PackedScenario, env: Environment, member: int, found: Chances, work: WorkSpace
) -> int:
    """Roll the dice of a battle and write all outcomes down.

    Returns:
        The number of legal actions then; -1, with nothing done, if there is no room.
    """
    state = env.state
    roll = found.rolls[found.used[0]]
    first = int64(found.used[1])
    end = int64(chance_outcomes(packed, state, found.labels, found.probabilities, first, work))
    if end > found.states.shape[0]:
        return -1
    for k in range(first, end):
        found.states[k] = state
        found.gains[k] = resolve(packed, found.states[k], found.labels[k], work)
        found.scenario[k] = env.scenario
        found.phases[k] = state.phase
    label = sample(packed, state, env.rng, work)
    taken = first
    while found.labels[taken] != label:
        taken += 1
    roll.member = member
    roll.first = first
    roll.end = end
    roll.taken = taken
    found.used[0] += 1
    found.used[1] = end
    _, count = resolve_and_list(packed, state, label, work)
    return int64(count)


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
        self._chances, self._scratch = _new_chances(), new_work_spaces()

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

    def _follow(
        self, batch: "Batch", members: NDArray[np.int64], codes: NDArray[np.int64]
    ) -> None:
        for moves in ((members, codes), *self._asked):
            done = 0
            while done < len(moves[0]):
                self._chances.used[:] = 0
                done = _follow(
                    done, moves, self._envs, batch.game, batch.seat, self._chances, self._scratch
                )
                self._add_luck(batch.packed_scenarios)

    def _add_luck(self, packed_scenarios: Records[PackedScenario]) -> None:
        found = self._chances
        rolls, end = found.rolls[: found.used[0]], found.used[1]
        if not len(rolls):
            return
        outcomes = Outcomes(
            packed_scenarios, found.scenario[:end], found.states[:end], found.phases[:end]
        )
        worth = found.gains[:end] + self._estimate(outcomes)
        means = np.add.reduceat(found.probabilities[:end] * worth, rolls["first"])
        np.add.at(self.luck, rolls["member"], worth[rolls["taken"]] - means)


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
        """How many times fewer battles give as narrow an interval: the ratio of variances."""
        return float(self.points.var() / self.adjusted.var())


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
