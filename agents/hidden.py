"""Train by self-play with hidden items, and grade exactly how far play is from equilibrium.

    python -m agents.hidden
    python -m agents.hidden --scenario hidden-duel --runs 3 --steps 4000000

Both seats learn from each other, as in `agents.train_fast`. With hidden items every battle starts
from the deal: positions of an archive would come with beliefs that no play leads to. Optimal play
is mixed, and the last network of self-play may be far from it, because the strategies chase each
other in circles. Known remedies are compared with it:

- "self-play": plain PPO; the policy samples its actions.
- "regularised": an entropy bonus that stays large. It pulls towards uniform play and so damps the
  circles, like the magnet of magnetic mirror descent (Sokota et al. 2023).
- "with-history": observations include the last cast of each spell and the answer, so that a policy
  without memory can use which spells the enemy let through.
- each of them "averaged": a player that draws one of the networks of the curve before each battle,
  as in fictitious play (Brown 1951). It needs no further training.

Grades are exact, along the whole curve: 100 is equilibrium, 0 random play, each against its best
response, which may use everything except the deal. Finished trainings are stored in
OUT/trainings.jsonl, and the same command continues an interrupted run. OUT gets results.json, with
the grades of players that do not learn, curves.png, and the last networks, as
self-play/seed-0/caster.npz. Loaded as players, these take their likeliest action.
"""

from wfb_gym._commands import run_main

if __name__ == "__main__":
    run_main("agents.hidden")

import time
from collections.abc import Collection, Iterator
from dataclasses import dataclass, replace
from functools import cache
from itertools import chain
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray

from agents.compare import CURVES, compare_rows
from agents.compare import SCORES as COMPARED
from agents.figures import draw_comparison
from agents.self_play.settings import Settings as Training
from agents.train_fast import Learner, Trainer
from experiments import common, outcomes
from experiments.experiment import Experiment
from experiments.outcomes import Line, Results
from experiments.tables import texts
from wfb_gym import solver
from wfb_gym._progress import tell
from wfb_gym.cli.parser import option
from wfb_gym.players.learned import NetworkAgent
from wfb_gym.players.network import save_network
from wfb_gym.players.registry import make_agent
from wfb_gym.scenario import load_scenario
from wfb_gym.seats import SEATS

VARIANTS: dict[str, dict[str, Any]] = {
    "self-play": {},
    "regularised": {"final_entropy_coefficient": 0.1},
    "with-history": {"history": True},
}
"""Training variants, given by the settings that they change."""
AVERAGED = ", averaged"
"""Suffix of the name of a variant's averaged player."""
PLAYERS = ("phase-search", "greedy", "veteran", "random")
"""Players that are graded too. Planners assume that the enemy has its likeliest items."""


@dataclass(frozen=True)
class Settings:
    """Settings for a comparison.

    Attributes:
        variant: training variants.
        scenario: bundled name or file, with hidden items.
        steps: decisions of both seats in each training.
        seed: seed of the first run.
        runs: trainings of each variant, with consecutive seeds.
        evaluations: points of the learning curve after the first.
        gap: points between the bounds of the equilibrium value that grades refer to.
        out: folder of the results.
    """

    variant: tuple[str, ...] = option(tuple(VARIANTS), choices=tuple(VARIANTS))
    scenario: str = "hidden-duel"
    steps: int = 10_000_000
    seed: int = 0
    runs: int = 5
    evaluations: int = 10
    gap: float = 0.01
    out: Path = Path("runs/hidden")


class HiddenRun(NamedTuple):
    """One training run in the comparison."""

    variant: str
    seed: int

    def __str__(self) -> str:
        return f"{self.variant} seed {self.seed}"


def _runs_of(settings: Settings) -> Iterator[HiddenRun]:
    for seed in range(settings.seed, settings.seed + settings.runs):
        for variant in dict.fromkeys(settings.variant):
            yield HiddenRun(variant, seed)


def probabilities_of(
    learner: Learner | NetworkAgent, observations: NDArray[np.float32], masks: NDArray[np.bool_]
) -> NDArray[np.float64]:
    """Return the action probabilities (k, n) of a learner or a saved network."""
    with torch.no_grad():
        found = learner.network(torch.from_numpy(observations), torch.from_numpy(masks))[0]
    chances = np.where(masks, found.exp().double().numpy(), 0.0)
    chances /= chances.sum(1, keepdims=True)
    return chances


class StrategyGrader:
    """Grades strategies and their averages over the course of training."""

    def __init__(self, found: solver.Equilibrium) -> None:
        self.found = found
        self.plays = [np.zeros_like(found.strategy) for _ in SEATS]
        self.graded = 0

    def scores(self, trainer: Trainer) -> tuple[dict[str, float], dict[str, float]]:
        """Return the current learners' scores by seat, and the scores of the averages so far.

        In averages, the k-th strategy has k times the weight of the first.
        """
        self.graded += 1
        game = self.found.game
        last, averaged = {}, {}
        for seat, (name, learner) in enumerate(zip(SEATS, trainer.learners, strict=True)):

            def policy(*batch: Any, learner: Learner = learner) -> NDArray[np.float64]:
                return probabilities_of(learner, *batch)

            strategy = game.strategy_of(policy, seat, trainer.battles.views[seat].limits)
            self.plays[seat] += self.graded * game.plays_of(strategy, seat)
            last[name] = self._score(strategy, seat)
            averaged[name] = self._score(game.strategy_of_plays(self.plays[seat]), seat)
        return last, averaged

    def _score(self, strategy: NDArray[np.float64], seat: int) -> float:
        score = self.found.score(strategy, seat).score
        assert score is not None  # random play is never optimal here
        return score


def _train(run: HiddenRun, settings: Settings, found: solver.Equilibrium) -> list[dict[str, Any]]:
    training = Training(
        scenario=(settings.scenario,), steps=settings.steps, seed=run.seed, exploring_starts=0.0,
        evaluations=settings.evaluations, workers=1, out=settings.out,
    )  # fmt: skip
    trainer = Trainer(replace(training, **VARIANTS[run.variant]))
    grader, began = StrategyGrader(found), time.process_time()
    curves: tuple[list[dict[str, Any]], list[dict[str, Any]]] = ([], [])
    while True:
        done = trainer.progress >= 1.0
        if done or trainer.progress >= len(curves[0]) / settings.evaluations:
            for curve, scores in zip(curves, grader.scores(trainer), strict=True):
                seconds = round(trainer.seconds, 2)
                curve.append({"steps": trainer.frames, "seconds": seconds, "scores": scores})
        if done:
            break
        trainer.update()
        now = ", ".join(f"{k} {v:.1f}" for k, v in curves[0][-1]["scores"].items())
        tell(f"{trainer.progress:.0%}, {now}")
    tell("")
    for seat, learner in zip(SEATS, trainer.learners, strict=True):
        about = {
            "seat": learner.seat,
            "scenario": settings.scenario,
            "seed": run.seed,
            "frames": trainer.frames,
            "score": curves[0][-1]["scores"][seat],
            "versions": common.versions(),
        }
        folder = settings.out / run.variant / f"seed-{run.seed}"
        save_network(learner.network, folder / f"{seat}.npz", about)
    return [
        {
            "learner": run.variant + ending,
            "seed": run.seed,
            "steps": trainer.frames,
            "seconds": round(trainer.seconds, 2),
            "cpu_seconds": round(time.process_time() - began, 1),
            "scores": curve[-1]["scores"],
            "curve": curve,
        }
        for curve, ending in zip(curves, ("", AVERAGED), strict=True)
    ]


def grade_players(found: solver.Equilibrium) -> dict[str, dict[str, float | None]]:
    """Return the scores of `PLAYERS`, by name and seat."""
    game = found.game

    def score(name: str, seat: int) -> float | None:
        uniform = name == "random"
        strategy = game.uniform if uniform else game.strategy_of(make_agent(name), seat)
        return found.score(strategy, seat).score

    return {name: {seat: score(name, k) for k, seat in enumerate(SEATS)} for name in PLAYERS}


@cache
def _equilibrium(settings: Settings) -> solver.Equilibrium:
    return solver.HiddenGame(settings.scenario, whole=True).solve(settings.gap)


def _run_part(settings: Settings, run: HiddenRun) -> Line:
    return {"run": list(run), "trainings": _train(run, settings, _equilibrium(settings))}


def _results_of(done: outcomes.Run[Settings, HiddenRun]) -> Results:
    found = _equilibrium(done.settings)
    return done.document(
        value=found.value,
        gap=found.upper - found.lower,
        histories=found.game.tree.counts[0],
        players=grade_players(found),
        trainings=list(chain(*done.values("trainings"))),
    )


def player_rows(results: Results) -> list[list[str]]:
    """Return the table from `compare_rows`, with added rows for `PLAYERS`."""
    rows = compare_rows(results["trainings"])
    for name, scores in results["players"].items():
        for seat, score in scores.items():
            cell = "" if score is None else f"{score:.1f}"
            rows.append([name, seat, cell, cell, cell, "", "", ""])
    return rows


def _check(settings: Settings, _: Collection[str]) -> Settings:
    try:
        if not load_scenario(settings.scenario).has_hidden_items:
            raise ValueError(f"expected hidden items, found none in {settings.scenario}")
    except (ValueError, OSError) as error:
        raise ValueError(f"--scenario: {error}") from None
    torch.set_num_threads(1)
    return settings


SCORES = replace(COMPARED, rows=player_rows)
EXPERIMENT = Experiment(
    module="agents.hidden",
    description=__doc__,
    settings=Settings,
    quick={"scenario": "hidden-scroll", "steps": 65_536, "runs": 1, "evaluations": 2, "gap": 0.1},
    check=_check,
    positive=("runs", "steps", "evaluations", "gap"),
    kind="comparison",
    file="trainings.jsonl",
    free=("out", "variant", "runs", "seed"),
    parts=lambda settings: list(_runs_of(settings)),
    run_part=_run_part,
    name_of=lambda line: str(HiddenRun(*line["run"])),
    results=_results_of,
    tables=texts(SCORES),
    figures=lambda results, out: draw_comparison(results, out / CURVES),
    needs_all=True,
)
main = EXPERIMENT.main
