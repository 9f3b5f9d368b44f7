"""Grading during training: points on the learning curve."""

from collections.abc import Collection, Sequence
from typing import Any, Protocol

import numpy as np

from agents.common import graded_scenario
from wfb_gym import solver
from wfb_gym.players.learned import NetworkAgent
from wfb_gym.players.network import PolicyNetwork
from wfb_gym.seats import SEATS

BATTLES = 1024
"""Number of battles against each scripted player if there is no exact score."""


class Graded(Protocol):
    """A seat's learner."""

    @property
    def seat(self) -> int:
        """0 or 1."""

    @property
    def network(self) -> PolicyNetwork:
        """The network, on any device."""

    @property
    def agent(self) -> NetworkAgent:
        """An agent that plays with the network, on the CPU."""


class GradedTrainer(Protocol):
    """A training run with one or two learners."""

    settings: Any
    frames: int
    learned: int
    seconds: float
    curve: list[dict[str, Any]]

    @property
    def measurements(self) -> dict[str, Any]:
        """Further results."""

    @property
    def learners(self) -> Sequence[Graded]:
        """The learners."""


def exact_scores(
    trainer: GradedTrainer, solutions: Collection[solver.Solution]
) -> dict[str, float]:
    """Return each seat's normalised score: the median over the solved scenarios.

    A seat has no score if no scenario is solved, or if its decisions never matter.
    """
    scores: dict[str, float] = {}
    for learner in trainer.learners:
        seat = SEATS[learner.seat]
        found = [solver.normalised_score(one, learner.agent, seat).score for one in solutions]
        known = [score for score in found if score is not None]
        if known:
            scores[seat] = float(np.median(known))
    return scores


def points_per_battle(trainer: GradedTrainer) -> dict[str, dict[str, Any]]:
    """Return each seat's mean points against every scripted player."""
    from agents.evaluation import EVALUATION_SEED, GRADERS, Grader  # imports Stable-Baselines3

    played = graded_scenario(trainer.settings.scenario)
    return {
        seat: Grader(seat, played, GRADERS, {}).points(learner.agent, BATTLES, EVALUATION_SEED)
        for learner in trainer.learners
        for seat in [SEATS[learner.seat]]
    }


def grade(trainer: GradedTrainer, solutions: Collection[solver.Solution]) -> None:
    """Add a point to the learning curve, unless it has one for the current networks."""
    if trainer.curve and trainer.curve[-1]["frames"] == trainer.frames:
        return
    point = {"seconds": round(trainer.seconds, 2), "frames": trainer.frames}
    scores = exact_scores(trainer, solutions)
    points = {} if scores else {"points": points_per_battle(trainer)}
    trainer.curve.append({**point, "scores": scores, **points})
