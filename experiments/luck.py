"""Luck-adjusted points: variance reduction by subtracting dice luck from the points.

A roll's luck is its actual result minus its expected result. The result is the points that changed
hands plus an estimate of the position afterwards. Its expectation uses the exact chances of all
outcomes. If another roll follows without a decision in between, the outcomes of both are combined.
Luck has mean 0 for any estimate, so adjusted points keep their mean. The better the estimate, the
smaller the variance, and the fewer battles are needed to distinguish two players. These are the
chance terms of AIVAT, control variates for poker (Burch, Schmid, Moravcik and Bowling 2018). The
players' random choices are not adjusted.
"""

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from experiments.common import play_battles
from experiments.rolls import RESTART, RolledPositions, follow_rolls, new_roll_scratch
from wfb_gym._jit import jit
from wfb_gym._records import Records
from wfb_gym.engine.state import Node, WorkSpace, new_work_spaces
from wfb_gym.envs.kernel import Autoreset
from wfb_gym.envs.watching import BatchWatcher
from wfb_gym.packing.records import PackedScenario
from wfb_gym.players.interface import Opponent
from wfb_gym.players.search.estimate import estimate_phase
from wfb_gym.seats import seat_number

if TYPE_CHECKING:
    from wfb_gym.envs.batch import Batch

_LEAST = 1e-9
"""Minimum variance of adjusted points, to avoid division by 0."""

ValueEstimate = Callable[[RolledPositions], NDArray[np.float64]]
"""Maps positions to the first army's points still to come, float64 (k,).

The possible results of a roll are compared, so all should be estimated up to the same horizon: the
end of the phase in which the dice are rolled."""


def phase_estimate(positions: RolledPositions) -> NDArray[np.float64]:
    """Estimate points with the search agents' rule of thumb; a `ValueEstimate`."""
    values = np.zeros(len(positions.states))
    _estimate(positions, values, new_work_spaces())
    return values


@jit(nogil=True)
def _estimate(
    positions: RolledPositions, values: NDArray[np.float64], scratch: Records[WorkSpace]
) -> None:
    for k in range(values.shape[0]):
        packed = positions.packed_scenarios[positions.scenario[k]]
        values[k] = estimate_phase(packed, positions.states[k], positions.phases[k], scratch[0])


class LuckWatcher(BatchWatcher):
    """Follows the battles in a batch and adds up their luck.

    The batch must not reset battles on its own.

    Args:
        num_envs: number of battles in the batch.
        estimate: estimates positions. Any estimate gives the same mean.

    Attributes:
        luck: points that the dice have won for the first army, float64 (n,).
    """

    def __init__(self, num_envs: int, estimate: ValueEstimate = phase_estimate) -> None:
        super().__init__(num_envs)
        self.luck = np.zeros(num_envs)
        self._estimate = estimate
        self._scratch = new_roll_scratch()

    def begin_step(self, batch: "Batch") -> None:
        self._envs = batch.envs.copy()
        self._asked: list[tuple[NDArray[np.int64], NDArray[np.int64]]] = []

    def add_answers(self, members: NDArray[np.int64], codes: NDArray[np.int64]) -> None:
        self._asked.append((members, codes.copy()))

    def follow_reset(self, batch: "Batch", chosen: NDArray[np.bool_]) -> None:
        members = np.flatnonzero(chosen)
        self.luck[members] = 0.0
        self._follow(batch, members, np.full(len(members), RESTART))

    def follow_step(self, batch: "Batch", actions: NDArray[np.int64]) -> None:
        if batch.mode != Autoreset.DISABLED:
            raise ValueError("luck: expected autoreset_mode Disabled, found another mode")
        members = np.flatnonzero(self._envs["state"]["node"] != Node.END)
        self._follow(batch, members, batch.codec.code_of[actions[members]])

    def _follow(self, batch: "Batch", members: NDArray[np.int64], codes: NDArray[np.int64]) -> None:
        for moves in ((members, codes), *self._asked):
            done = 0
            while done < len(moves[0]):
                done = follow_rolls(done, moves, self._envs, batch.game, batch.seat, self._scratch)
                self._add_luck(batch.packed_scenarios)

    def _add_luck(self, packed_scenarios: Records[PackedScenario]) -> None:
        leaves, end = self._scratch.leaves, self._scratch.used[0]
        self._scratch.used[0] = 0
        positions = RolledPositions(
            packed_scenarios, leaves.scenario[:end], leaves.states[:end], leaves.phases[:end]
        )
        values = leaves.gains[:end] + self._estimate(positions)
        np.add.at(self.luck, leaves.members[:end], leaves.weights[:end] * values)


class LuckyPoints(NamedTuple):
    """A seat's points in battles, and the luck in them; float64 (battles,) each."""

    points: NDArray[np.float64]
    luck: NDArray[np.float64]

    @property
    def adjusted(self) -> NDArray[np.float64]:
        """Points without luck, which have the same mean."""
        return self.points - self.luck

    @property
    def variance_ratio(self) -> float:
        """Variance ratio: how many times fewer battles give an interval of the same width.

        1 if the points do not vary.
        """
        plain = float(self.points.var())
        return plain / max(float(self.adjusted.var()), _LEAST) if plain > 0.0 else 1.0


def play_with_luck(
    player: Opponent,
    *,
    seat: str,
    scenario: Any,
    opponent: Opponent | Sequence[Opponent],
    battles: int,
    seed: int,
    estimate: ValueEstimate = phase_estimate,
) -> LuckyPoints:
    """Play battles like `experiments.common.play_battles`, and return points and luck."""
    watcher = LuckWatcher(battles, estimate)
    points = play_battles(
        player, seat=seat, scenario=scenario, opponent=opponent, battles=battles, seed=seed,
        watcher=watcher,
    )  # fmt: skip
    return LuckyPoints(points, watcher.luck if seat_number(seat) == 0 else -watcher.luck)
