"""Compares two ways to learn from the suite of data sets: behaviour cloning and Q-learning.

    python -m agents.compare_offline
    python -m agents.compare_offline --scenario archmage-duel --runs 3

Trains the learners of agents/imitate.py and agents/offline.py on each data set of agents/suite.py,
several times with other seeds, and grades them exactly: 100 is optimal play, 0 as good as random,
each against its best response. The exact values in the data also tell how many points the learners
give away at each decision of battles that they did not learn from. Data sets that are missing are
recorded first.

Each finished run is a line in OUT/parts.jsonl: the same command continues an interrupted one. OUT
gets results.json and a picture of all scores. Needs the extra `minari`.
"""

import itertools
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from importlib.metadata import version
from pathlib import Path
from statistics import fmean
from typing import Any, NamedTuple

import numpy as np
import torch

from agents import imitate, offline, suite
from agents.datasets import Dataset, read_dataset
from agents.figures import draw_offline
from agents.run_folder import write_or_warn
from experiments import common
from experiments.records import Record, RecordError
from experiments.statistics import bootstrap, mean
from wfb_gym import solver
from wfb_gym.cli.parser import COULD_NOT_RUN

MODULE = "agents.compare_offline"
QUICK = {**suite.QUICK, "runs": 2, "steps": 20, "out": Path("runs/offline-quick")}
CLONING, Q_LEARNING = "cloning", "Q-learning"
LEARNERS = (CLONING, Q_LEARNING)
FILE = "parts.jsonl"
"""File of the folder that holds finished runs."""
PICTURE = "scores.png"
Part = dict[str, Any]
"""What came of a run, as JSON holds it."""


@dataclass(frozen=True)
class Settings(suite.Settings):
    """What is compared.

    Attributes:
        seed: seed of the first run; the data sets are those of the suite's usual seed.
        runs: runs of each learner on each data set, with consecutive seeds.
        steps: gradient steps of a run, about: passes over the decisions are whole.
        out: folder of the results.
    """

    seed: int = 0
    runs: int = 5
    steps: int = 3000
    out: Path = Path("runs/offline")


class Run(NamedTuple):
    """A learner with a seed on a data set."""

    scenario: str
    kind: str
    learner: str
    seed: int


def runs_of(settings: Settings) -> list[Run]:
    """All runs, those on one data set behind one another."""
    seeds = range(settings.seed, settings.seed + settings.runs)
    found = itertools.product(settings.scenario, suite.KINDS, LEARNERS, seeds)
    return list(itertools.starmap(Run, found))


def work(settings: Settings, runs: Sequence[Run]) -> Iterator[Part]:
    """Do runs; yields what came of each.

    Raises:
        KeyboardInterrupt: Ctrl-C ended it.
    """
    for scenario, in_scenario in itertools.groupby(runs, lambda run: run.scenario):
        game = solver.ExactGame(solver.solve(scenario, cache=True, notice=sys.stderr))
        for kind, on_dataset in itertools.groupby(in_scenario, lambda run: run.kind):
            data = read_dataset(suite.name_of(scenario, kind))
            for run in on_dataset:
                yield _work(settings, run, data, game)


def _work(settings: Settings, run: Run, data: Dataset, game: solver.ExactGame) -> Part:
    title = f"{data.name}, {run.learner}, seed {run.seed}"
    defaults = imitate.Settings()
    decisions = len(data.decisions.actions)
    chosen: dict[str, Any] = {
        "dataset": data.name,
        "seed": run.seed,
        "epochs": max(1, round(settings.steps * defaults.batch_size / decisions)),
    }
    if run.learner == CLONING:
        given = imitate.Settings(**chosen)
        network, learned = imitate.learn(given, data, imitate.CloningLoss, title)
    else:
        given = offline.Settings(**chosen)
        network, learned = imitate.learn(given, data, offline.ConservativeLoss, title)
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


def rows_of(parts: Sequence[Part], what: str, digits: int) -> list[list[str]]:
    """Return the cells of a table by data set, the header first.

    Args:
        parts: of the runs.
        what: "score" or "regret".
        digits: behind the point.
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


def main(arguments: Sequence[str] | None = None) -> int:
    """Record, train, grade, print and write; returns the exit status."""
    settings, switches, parser = common.parse_settings(
        Settings, arguments, module=MODULE, description=__doc__, quick=QUICK, switches={}
    )
    common.check_positive(parser, settings, ("runs", "steps"))
    try:
        missing = suite.find_missing(suite.members(replace(settings, seed=suite.Settings.seed)))
    except (ValueError, ImportError) as error:
        parser.error(str(error))
    given = common.recorded_settings(settings, {"out"})
    try:
        record = Record(settings.out, FILE, "comparison", given)
    except (RecordError, OSError) as error:
        print(f"python -m {MODULE}: {error}", file=sys.stderr)
        return COULD_NOT_RUN
    torch.set_num_threads(1)  # more are slower for networks as small as these
    runs = runs_of(settings)
    with record:
        parts: list[Part] = [line["part"] for line in record.lines]
        with common.Interruptible() as session:
            suite.record_all(missing)
            for part in work(settings, runs[len(parts) :]):
                parts.append(part)
                record.add({"part": part})
        results = {
            "args": given,
            "parts": parts,
            "interrupted": session.interrupted,
            "versions": {**common.versions(), "minari": version("minari")},
        }
        common.write_results(settings.out, results)
        if parts:
            path = settings.out / PICTURE
            write_or_warn(path, lambda: draw_offline(results, path))
    if session.interrupted:
        done = f"interrupted after {len(parts)} of {len(runs)}; the same command continues"
        print(done, file=sys.stderr)
    tables = (
        common.text_table(rows_of(parts, "score", 1), "exact scores", (0,)),
        common.text_table(rows_of(parts, "regret", 2), "points given away at a decision", (0,)),
    )
    common.print_results(results, tables, as_json="json" in switches)
    return common.INTERRUPTED if session.interrupted else 0


if __name__ == "__main__":
    sys.exit(main())
