"""Grading during self-play training: points on the learning curve."""

from collections.abc import Collection
from typing import TYPE_CHECKING, Any

import numpy as np

from agents.common import graded_scenario
from wfb_gym import solver
from wfb_gym.seats import SEATS

if TYPE_CHECKING:
    from agents.train_fast import Trainer

BATTLES = 1024
"""Number of battles against each scripted player if there is no exact score."""


def exact_scores(trainer: "Trainer", solutions: Collection[solver.Solution]) -> dict[str, float]:
    """Return each seat's normalised score: the median over the solved scenarios.

    A seat has no score if no scenario is solved, or if its decisions never matter.
    """
    scores: dict[str, float] = {}
    for seat, learner in zip(SEATS, trainer.learners, strict=True):
        found = [solver.normalised_score(one, learner.agent, seat).score for one in solutions]
        known = [score for score in found if score is not None]
        if known:
            scores[seat] = float(np.median(known))
    return scores


def points_per_battle(trainer: "Trainer") -> dict[str, dict[str, Any]]:
    """Return each seat's mean points against every scripted player."""
    from agents.evaluation import EVALUATION_SEED, GRADERS, Grader  # imports Stable-Baselines3

    played = graded_scenario(trainer.settings.scenario)
    return {
        seat: Grader(seat, played, GRADERS, {}).points(learner.agent, BATTLES, EVALUATION_SEED)
        for seat, learner in zip(SEATS, trainer.learners, strict=True)
    }


def grade(trainer: "Trainer", solutions: Collection[solver.Solution]) -> None:
    """Add a point to the learning curve."""
    point = {"seconds": round(trainer.seconds, 2), "frames": trainer.frames}
    scores = exact_scores(trainer, solutions)
    points = {} if scores else {"points": points_per_battle(trainer)}
    trainer.curve.append({**point, "scores": scores, **points})
