"""Measure how often intervals of few runs contain the true value, in simulated scores.

    python -m experiments.coverage

Scores of learned policies are simulated: normal ones, skewed ones (100 minus an exponential
variable), and ones of which a fifth fail. Tasks differ in the spread of their scores. The true
value is the statistic of a very large sample. Each line compares the percentile intervals of the
bootstrap with the Student intervals that the leaderboard reports; both should contain the true
value in 95 % of the trials.

OUT gets results.json.
"""

from wfb_gym._commands import run_main

if __name__ == "__main__":
    run_main("experiments.coverage")

from collections.abc import Callable
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from typing import NamedTuple
from zlib import crc32

import numpy as np

from experiments.experiment import Experiment
from experiments.outcomes import Line, Results
from experiments.statistics import Floats, bootstrap, interquartile_mean, run_interval
from experiments.tables import ResultTable, texts

TASKS = (1, 10)
RUNS = (5, 10)
_LARGE = 200_000
"""Number of runs whose statistic is the true value."""
_RESAMPLES = 500


def _normal(rng: np.random.Generator, shape: tuple[int, int]) -> Floats:
    return rng.normal(90.0, 3.0, shape)


def _skewed(rng: np.random.Generator, shape: tuple[int, int]) -> Floats:
    return 100.0 - rng.exponential(4.0, shape)


def _failing(rng: np.random.Generator, shape: tuple[int, int]) -> Floats:
    fails = rng.random(shape) < 0.2
    return np.where(fails, rng.normal(60.0, 5.0, shape), rng.normal(98.0, 1.0, shape))


SCORES: dict[str, Callable[[np.random.Generator, tuple[int, int]], Floats]] = {
    "normal": _normal,
    "skewed": _skewed,
    "a fifth fail": _failing,
}
"""Functions that draw scores, (runs, tasks), by their name."""


@dataclass(frozen=True)
class Settings:
    """Settings for the measurement.

    Attributes:
        trials: simulated submissions for each line.
        workers: processes.
        out: folder of the results.
    """

    trials: int = 2000
    workers: int = 2
    out: Path = Path("runs/coverage")


class Simulation(NamedTuple):
    """Scores, and their numbers of runs and tasks."""

    scores: str
    runs: int
    tasks: int

    def __str__(self) -> str:
        return f"{self.scores}, {self.runs} runs, {self.tasks} tasks"


def simulate(settings: Settings, part: Simulation) -> Line:
    """Return the share of trials in which each kind of interval contains the true value."""
    rng = np.random.default_rng(crc32(str(part).encode()))
    spread = np.linspace(0.5, 1.5, part.tasks) if part.tasks > 1 else np.ones(1)

    def draw(runs: int) -> Floats:
        return 90.0 + (SCORES[part.scores](rng, (runs, part.tasks)) - 90.0) * spread

    truth = float(interquartile_mean(draw(_LARGE)))
    held = {"percentile": 0, "student": 0}
    for trial in range(settings.trials):
        scores = draw(part.runs)
        for name, interval in (("percentile", bootstrap), ("student", run_interval)):
            found = interval(interquartile_mean, scores, seed=trial, resamples=_RESAMPLES)
            held[name] += found.low <= truth <= found.high
    shares = {name: count / settings.trials for name, count in held.items()}
    return {**part._asdict(), **shares}


def coverage_rows(results: Results) -> list[list[str]]:
    """Return the table of a run's results."""
    rows = [["scores", "runs", "tasks", "percentile interval, %", "Student interval, %"]]
    for line in results["lines"]:
        shares = [f"{100 * line[name]:.1f}" for name in ("percentile", "student")]
        rows.append([line["scores"], str(line["runs"]), str(line["tasks"]), *shares])
    return rows


COVERAGE = ResultTable("trials in which an interval contains the true value", coverage_rows, (0,))
EXPERIMENT = Experiment(
    module="experiments.coverage",
    description=__doc__,
    settings=Settings,
    quick={"trials": 100},
    free=("out", "workers"),
    positive=("trials", "workers"),
    kind="coverage",
    parts=lambda _: [Simulation(*each) for each in product(SCORES, RUNS, TASKS)],
    run_part=simulate,
    results=lambda run: run.document(lines=list(run.lines)),
    tables=texts(COVERAGE),
)
main = EXPERIMENT.main
