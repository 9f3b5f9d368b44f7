"""Compare behaviour cloning with offline Q-learning on the suite of data sets.

    python -m agents.compare_offline
    python -m agents.compare_offline --scenario archmage-duel --runs 3

Trains the learners of agents/imitate.py and agents/offline.py on each data set of agents/suite.py,
with several seeds, and grades them exactly: 100 is optimal play, 0 random play, each against its
best response. The exact values in the data also give the points that the learners lose at each
decision of held-out battles. Missing data sets are recorded first.

Finished runs are stored in OUT/parts.jsonl, and the same command continues an interrupted run. OUT
gets results.json and a picture of all scores. Needs the extra `minari`.
"""

from wfb_gym._commands import run_main

if __name__ == "__main__":
    run_main("agents.compare_offline")

import itertools
import sys
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from statistics import fmean
from typing import Any, NamedTuple

import numpy as np
import torch

from agents import imitate, offline, record, suite
from agents.datasets import Dataset, read_dataset
from agents.figures import draw_offline
from experiments import common
from experiments.experiment import Experiment
from experiments.outcomes import Line
from experiments.statistics import bootstrap, mean
from experiments.tables import ResultTable, texts
from experiments.workers import Workers
from wfb_gym import solver

LEARNERS: dict[str, tuple[Any, Any]] = {
    "cloning": (imitate.Settings, imitate.CloningLoss),
    "Q-learning": (offline.Settings, offline.ConservativeLoss),
}
"""Each learner's settings and loss."""


@dataclass(frozen=True)
class Settings(suite.Settings):
    """Settings for a comparison.

    Attributes:
        seed: seed of the first run; the data sets keep the suite's default seed.
        runs: runs of each learner on each data set, with consecutive seeds.
        steps: approximate number of gradient steps per run, rounded to a whole number of epochs.
        out: folder of the results.
    """

    seed: int = 0
    runs: int = 5
    steps: int = 3000
    out: Path = Path("runs/offline")


class OfflineRun(NamedTuple):
    """A learner trained on a data set with one seed."""

    scenario: str
    kind: str
    learner: str
    seed: int


def offline_runs(settings: Settings) -> list[OfflineRun]:
    """Return all runs, grouped by data set."""
    seeds = range(settings.seed, settings.seed + settings.runs)
    found = itertools.product(settings.scenario, suite.KINDS, LEARNERS, seeds)
    return list(itertools.starmap(OfflineRun, found))


def learn_all(
    settings: Settings, runs: Sequence[OfflineRun], _: Sequence[Line], __: Workers
) -> Iterator[Line]:
    """Train and grade every run, recording missing data sets first.

    Raises:
        KeyboardInterrupt: if Ctrl-C is pressed.
    """
    suite.record_all(missing_of(settings))
    for scenario, in_scenario in itertools.groupby(runs, lambda run: run.scenario):
        game = solver.ExactGame(solver.solve(scenario, cache=True, notice=sys.stderr))
        for kind, on_dataset in itertools.groupby(in_scenario, lambda run: run.kind):
            data = read_dataset(suite.name_of(scenario, kind))
            for run in on_dataset:
                yield {"part": _learn(settings, run, data, game)}


def _learn(
    settings: Settings, run: OfflineRun, data: Dataset, game: solver.ExactGame
) -> dict[str, Any]:
    title = f"{data.name}, {run.learner}, seed {run.seed}"
    defaults = imitate.Settings()
    decisions = len(data.decisions.actions)
    chosen: dict[str, Any] = {
        "dataset": data.name,
        "seed": run.seed,
        "epochs": max(1, round(settings.steps * defaults.batch_size / decisions)),
    }
    kind, loss = LEARNERS[run.learner]
    network, learned = imitate.learn(kind(**chosen), data, loss, title)
    if learned["interrupted"]:
        raise KeyboardInterrupt
    player = imitate.player_of(network, data)
    limits = imitate.own_limits(player)
    probabilities = game.probabilities(player, data.seat, limits, reached=True)
    return {
        **run._asdict(),
        "dataset": data.name,
        "seat": data.seat,
        "decisions": decisions,
        "behaviour_score": data.behaviour_score,
        "behaviour_regret": learned["behaviour_regret"],
        "score": game.score(probabilities, data.seat).score,
        "regret": learned["regret"],
        "seconds": learned["seconds"],
    }


def learner_rows(parts: Sequence[Mapping[str, Any]], what: str, digits: int) -> list[list[str]]:
    """Return a table's cells by data set, header first.

    Args:
        parts: the runs' results.
        what: "score" or "regret".
        digits: decimal places.
    """
    rows = [["data set", "decisions", "behaviour", *LEARNERS]]
    for name, some in itertools.groupby(parts, lambda part: part["dataset"]):
        own = list(some)
        behaviour = fmean(each[f"behaviour_{what}"] for each in own)
        row = [name, f"{own[0]['decisions']:,}", f"{behaviour:.{digits}f}"]
        for learner in LEARNERS:
            values = np.array([[each[what]] for each in own if each["learner"] == learner])
            if not len(values):
                row.append("")
                continue
            found = bootstrap(mean, values)
            low, high = f"{found.low:.{digits}f}", f"{found.high:.{digits}f}"
            row.append(f"{found.value:.{digits}f} [{low}, {high}]")
        rows.append(row)
    return rows


def missing_of(settings: Settings) -> list[record.Settings]:
    """Return the data sets that must be recorded first."""
    return suite.find_missing(suite.members(replace(settings, seed=suite.Settings.seed)))


def _check(settings: Settings, _: Collection[str]) -> Settings:
    try:
        missing_of(settings)
    except ImportError as error:
        raise ValueError(str(error)) from error
    torch.set_num_threads(1)  # more threads are slower for networks this small
    return settings


SCORES = ResultTable("exact scores", lambda results: learner_rows(results["parts"], "score", 1))
REGRETS = ResultTable(
    "points lost at a decision", lambda results: learner_rows(results["parts"], "regret", 2)
)
EXPERIMENT = Experiment(
    module="agents.compare_offline",
    description=__doc__,
    settings=Settings,
    quick={**suite.QUICK, "runs": 2, "steps": 20},
    check=_check,
    positive=("runs", "steps"),
    kind="comparison",
    parts=offline_runs,
    work=learn_all,
    results=lambda run: {
        "args": common.recorded_settings(run.settings, {"out"}),
        "parts": run.values("part"),
        "interrupted": run.interrupted,
        "versions": common.versions(("minari",)),
    },
    tables=texts(SCORES, REGRETS),
    figures=lambda results, out: draw_offline(results, out / "scores.png"),
)
main = EXPERIMENT.main
