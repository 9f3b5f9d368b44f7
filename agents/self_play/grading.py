"""Grading during self-play training: points on the learning curve, and the best networks."""

from collections.abc import Collection, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from agents.common import graded_scenario
from wfb_gym import solver
from wfb_gym.seats import SEATS

if TYPE_CHECKING:
    from agents.train_fast import Trainer

BATTLES = 1024
"""Number of battles against each scripted player if there is no exact score."""


class Best(NamedTuple):
    """A seat's network at the first point that reached its highest exact score."""

    score: float
    frames: int  # decisions played up to then
    network: dict[str, Any]  # its weights


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


def grade_and_keep_best(trainer: "Trainer", solutions: Collection[solver.Solution]) -> None:
    """Add a point to the learning curve, and keep any networks that are the best so far."""
    point = {"seconds": round(trainer.seconds, 2), "frames": trainer.frames}
    scores = exact_scores(trainer, solutions)
    keep_best(trainer, scores)
    points = {} if scores else {"points": points_per_battle(trainer)}
    trainer.curve.append({**point, "scores": scores, **points})


def keep_best(trainer: "Trainer", scores: Mapping[str, float]) -> None:
    """Keep the networks of seats whose scores are the best so far."""
    best = trainer.best
    for seat, learner in zip(SEATS, trainer.learners, strict=True):
        if seat in scores and (seat not in best or scores[seat] > best[seat].score):
            weights = {name: w.clone() for name, w in learner.network.state_dict().items()}
            best[seat] = Best(scores[seat], trainer.frames, weights)


def go_back_to_best(trainer: "Trainer") -> None:
    """Load the best networks into the learners. A seat without a score keeps its last network."""
    for seat, learner in zip(SEATS, trainer.learners, strict=True):
        if seat in trainer.best:
            learner.network.load_state_dict(trainer.best[seat].network)
