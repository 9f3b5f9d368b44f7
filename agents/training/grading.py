"""How good a player is: points over battles against others, and exact scores where it is solved."""

import sys
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from statistics import mean, median
from typing import Any

import numpy as np
from sb3_contrib import MaskablePPO

from agents.training.settings import Args
from experiments.common import Chooser, Score, play, score
from wfb_gym import solver
from wfb_gym.encoding.limits import Limits
from wfb_gym.opponents.scripted import RULE_BASED
from wfb_gym.players.interface import Agent
from wfb_gym.seats import seat_number
from wfb_gym.solver import graph
from wfb_gym.solver.policies import PolicyLike, SeatDecisions

EVALUATION_SEED = 1_000_000
"""Of the evaluations along the way: the same dice each time, so that the curve shows learning."""
FINAL_SEED = 2_000_000
"""Of the table at the end: other dice than any seen before."""
ASKED_ALONG_THE_WAY = 100_000
"""Most decisions of a scenario whose exact scores are worked out at every point of the curve."""
OPTIMAL = "optimal"
SAVED = (".zip", ".npz")
"""Endings of saved players' files."""


class Exact:
    """Exact scores of players of one seat in a solved scenario, for asking many times.

    Args:
        solution: of the scenario.
        seat: "caster" or "dispeller".
        limits: of the players' observations; fitted to the scenario unless given.
    """

    def __init__(self, solution: solver.Solution, seat: str, limits: Limits | None = None) -> None:
        self.solution = solution
        self.quick = solution.states <= ASKED_ALONG_THE_WAY
        self.optimum = _signed(solution.value, seat)
        self._seat = seat_number(seat)
        self._name = seat
        self._decisions = SeatDecisions(solution.full, self._seat, limits)
        self._random = self._guaranteed(None)

    def score(self, policy: PolicyLike) -> solver.Score:
        """The optimum, what the policy is sure of, and its place between random and optimal."""
        full = self.solution.full
        weights = np.zeros(int(full.offsets()[-1]))
        self._decisions.give(weights, policy)
        return solver.Score(self.optimum, self._guaranteed(weights), self._random)

    def _guaranteed(self, weights: Any) -> float:
        """Points against the best response; of random play where no chances are given."""
        how = graph.UNIFORM if weights is None else graph.GIVEN
        lane = (how, graph.OPTIMAL) if self._seat == 0 else (graph.OPTIMAL, how)
        values, _ = self.solution.full.sweep([lane], weights)
        return _signed(self.solution.whole(values[:, 0]), self._name)


def _signed(points: float, seat: str) -> float:
    return points if seat == "caster" else -points


@dataclass(frozen=True)
class Point:
    """One point of the learning curve: scores after so many steps.

    Attributes:
        steps: decisions learned from.
        scores: by opponent.
        exact: by scenario; those that nobody worked out are missing.
    """

    steps: int
    scores: dict[str, Score]
    exact: dict[str, solver.Score] = field(default_factory=dict)

    def plain(self) -> dict[str, Any]:
        """As JSON and checkpoints hold it."""
        return asdict(self)

    @classmethod
    def of(cls, plain: Mapping[str, Any]) -> "Point":
        """What `plain` gave."""
        return cls(
            plain["steps"],
            {name: Score(**each) for name, each in plain["scores"].items()},
            {name: solver.Score(**each) for name, each in plain["exact"].items()},
        )


@dataclass(frozen=True)
class Summary:
    """Exact scores of several scenarios in one.

    Attributes:
        mean: of the normalised scores.
        median: of the same.
        exploitability: mean points given away.
    """

    mean: float
    median: float
    exploitability: float


def summary(exact: Mapping[str, solver.Score]) -> Summary | None:
    """Exact scores of scenarios told together; None where nothing is to be won in any."""
    scores = [each.score for each in exact.values() if each.score is not None]
    if not scores:
        return None
    lost = mean(each.optimum - each.guaranteed for each in exact.values())
    return Summary(mean(scores), median(scores), lost)


def solutions(args: Args) -> dict[str, solver.Solution]:
    """The solved scenarios by name; those that are too large are missing, and said so."""
    if args.generated:
        return {}
    found = {}
    for name in args.scenarios:
        try:
            solution = solver.solved(name, max_bytes=args.exact_bytes, notice=sys.stderr)
            _ = solution.full
            found[Path(name).stem] = solution
        except solver.TooLarge as error:
            print(f"no exact score: {error}", file=sys.stderr)
    return found


def likeliest(model: MaskablePPO) -> Any:
    """A model as the solver asks it: its likeliest legal action."""
    return lambda observations, masks: model.predict(
        observations, action_masks=masks, deterministic=True
    )[0]


def model_chooser(model: MaskablePPO) -> Chooser:
    """A model in the learner's seat: its likeliest legal action."""
    policy = likeliest(model)
    return lambda envs, observations, masks: policy(observations, masks)


def graders(opponents: Sequence[str], solvable: bool) -> list[str]:
    """Whom a learner is graded against: the scripted players, and the saved models of its pool.

    Planners are left out: thousands of battles against them take longer than the training.
    """
    others = [name for name in opponents if Path(name).suffix in SAVED]
    return list(dict.fromkeys([*RULE_BASED, *([OPTIMAL] if solvable else []), *others]))


def points_against(
    player: Agent | Chooser,
    args: Args,
    seat: str,
    opponents: Sequence[str],
    battles: int,
    seed: int,
) -> dict[str, Score]:
    """A player's points by opponent."""
    return {
        opponent: score(
            play(
                player,
                seat=seat,
                scenario=args.graded_on,
                opponent=opponent,
                battles=battles,
                seed=seed,
            )
        )
        for opponent in opponents
    }


def examined(
    model: MaskablePPO, args: Args, seat: str, opponents: Sequence[str], exact: Mapping[str, Exact]
) -> Point:
    """A point of the curve: where the model stands now."""
    scores = points_against(
        model_chooser(model), args, seat, opponents, args.battles, EVALUATION_SEED
    )
    policy = likeliest(model)
    known = {name: each.score(policy) for name, each in exact.items() if each.quick}
    return Point(model.num_timesteps, scores, known)
