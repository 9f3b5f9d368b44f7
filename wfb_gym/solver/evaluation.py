"""Exact results of given policies: what they win, what their best responses win, their score.

All in points. Values are the first army's unless a docstring says otherwise.
"""

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from wfb_gym.packing import pack
from wfb_gym.scenario import load_scenario
from wfb_gym.seats import seat_number
from wfb_gym.solver import graph
from wfb_gym.solver.game_graph import GameGraph, Progress
from wfb_gym.solver.policies import PolicyLike, SeatDecisions
from wfb_gym.solver.solution import DEFAULT_BYTES, Solution
from wfb_gym.solver.table_policy import TablePolicy

SAME = 1e-9
"""Points below which two values are one."""


@dataclass(frozen=True)
class Score:
    """How good a policy is, from its own seat.

    Attributes:
        optimum: points of optimal play.
        guaranteed: points that the policy wins against its best response.
        random: points that uniformly random play wins against its best response.
        score: 100 is optimal, 0 as good as random; None where nothing is to be won.
    """

    optimum: float
    guaranteed: float
    random: float

    @property
    def score(self) -> float | None:
        """100 (guaranteed - random) / (optimum - random)."""
        stakes = self.optimum - self.random
        return 100.0 * (self.guaranteed - self.random) / stakes if stakes > SAME else None


class BestResponse:
    """The best answer to a policy.

    Attributes:
        value: points of the first army when one army plays the policy and the other answers best.
    """

    def __init__(self, value: float, decisions: SeatDecisions, codes: NDArray[np.int64]) -> None:
        self.value = value
        self._decisions = decisions
        self._codes = codes

    @cached_property
    def policy(self) -> TablePolicy:
        """Plays the answer, as a function of the other seat's observations."""
        return TablePolicy(self._decisions, self._codes)


def evaluate(
    scenario: Any, caster: PolicyLike, dispeller: PolicyLike, progress: Progress | None = None
) -> float:
    """Points that the first army wins on average when both policies play.

    Args:
        scenario: what `solve` takes, or a `Solution`.
        caster: policy of the first army; see `PolicyLike`.
        dispeller: policy of the other.
        progress: told the number of positions done.

    Raises:
        TooLarge: the scenario has more positions than fit.
        ValueError: a policy is none; see `SeatDecisions.give`.
    """
    game = _game(scenario)
    weights = _weights(game.full, {0: caster, 1: dispeller})
    values, _ = game.full.sweep([(graph.GIVEN, graph.GIVEN)], weights, progress)
    return game.whole(values[:, 0])


def best_response(
    scenario: Any, policy: PolicyLike, seat: int | str, progress: Progress | None = None
) -> BestResponse:
    """The best answer to a policy.

    Args:
        scenario: what `solve` takes, or a `Solution`.
        policy: see `PolicyLike`.
        seat: that the policy plays: 0 or "caster", 1 or "dispeller".
        progress: told the number of positions done.

    Raises:
        TooLarge: the scenario has more positions than fit.
        ValueError: the policy is none; see `SeatDecisions.give`.
    """
    game = _game(scenario)
    own = seat_number(seat)
    weights = _weights(game.full, {own: policy})
    values, chosen = game.full.sweep([_against(own)], weights, progress)
    decisions = SeatDecisions(game.full, 1 - own)
    codes = chosen[decisions.nodes, 0].astype(np.int64)
    return BestResponse(game.whole(values[:, 0]), decisions, codes)


def exploitability(
    scenario: Any,
    caster: PolicyLike | None = None,
    dispeller: PolicyLike | None = None,
    progress: Progress | None = None,
) -> float:
    """Points that policies give away to their best responses.

    Of one policy it is the optimum less what it guarantees. Of both it is the mean of the two,
    half of what is called NashConv.

    Args:
        scenario: what `solve` takes, or a `Solution`.
        caster: policy of the first army, if it is asked about.
        dispeller: policy of the other, if it is asked about.
        progress: told the number of positions done.

    Raises:
        TooLarge: the scenario has more positions than fit.
        ValueError: no policy, or one that is none; see `SeatDecisions.give`.
    """
    players = {k: p for k, p in enumerate((caster, dispeller)) if p is not None}
    if not players:
        raise ValueError("exploitability: expected a caster, a dispeller or both, found neither")
    game = _game(scenario)
    weights = _weights(game.full, players)
    values, _ = game.full.sweep([_against(seat) for seat in players], weights, progress)
    best = game.whole(game.full.values)
    lost = [(best - game.whole(values[:, lane])) * _sign(seat) for lane, seat in enumerate(players)]
    return sum(lost) / len(lost)


def normalised_score(
    scenario: Any, policy: PolicyLike, seat: int | str, progress: Progress | None = None
) -> Score:
    """How good a policy is between random play, 0, and the optimum, 100; see `Score`.

    Args:
        scenario: what `solve` takes, or a `Solution`.
        policy: see `PolicyLike`.
        seat: that it plays: 0 or "caster", 1 or "dispeller".
        progress: told the number of positions done.

    Raises:
        TooLarge: the scenario has more positions than fit.
        ValueError: the policy is none; see `SeatDecisions.give`.
    """
    game = _game(scenario)
    own = seat_number(seat)
    weights = _weights(game.full, {own: policy})
    values, _ = game.full.sweep([_against(own), _against(own, graph.UNIFORM)], weights, progress)
    points = [_sign(own) * game.whole(values[:, lane]) for lane in range(2)]
    return Score(_sign(own) * game.whole(game.full.values), *points)


def _game(scenario: Any) -> Solution:
    """The solution that was given, or one that works out what it is asked for and no more."""
    if isinstance(scenario, Solution):
        return scenario
    loaded = load_scenario(scenario)
    return Solution(loaded, GameGraph(pack(loaded), DEFAULT_BYTES, merging=True), 0.0)


def _weights(positions: GameGraph, players: dict[int, PolicyLike]) -> NDArray[np.float64]:
    """Chances of all legal actions at the decisions of those seats; 0 at the others."""
    weights = np.zeros(int(positions.offsets()[-1]))
    for seat, policy in players.items():
        SeatDecisions(positions, seat).give(weights, policy)
    return weights


def _against(seat: int, how: int = graph.GIVEN) -> tuple[int, int]:
    """A lane in which a seat plays so and the other answers best."""
    return (how, graph.OPTIMAL) if seat == 0 else (graph.OPTIMAL, how)


def _sign(seat: int) -> float:
    return 1.0 if seat == 0 else -1.0
