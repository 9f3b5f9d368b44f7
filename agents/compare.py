"""Compare learners: train each with several seeds in one duel, and draw their learning curves.

    python -m agents.compare
    python -m agents.compare --learner self-play --learner raw-features --runs 3
    python -m agents.compare --scenario apprentice --learner MCCFR --learner NFSP

Learners are `agents.train` with its algorithms, which train one seat against a mix of opponents;
`agents.train_fast`, where both seats learn from each other, and its ablations; and algorithms of
OpenSpiel (`agents.openspiel`). All are graded by the exact score: 100 is optimal play, 0 random
play, each against its best response.

Trainings run one after the other, each in its own process, in OUT/LEARNER/SEED (or
LEARNER/SEAT/SEED). Finished trainings are stored in OUT/trainings.jsonl, and the same command
continues an interrupted run. OUT gets results.json and a picture with curves by decisions. CPU time
covers the whole process, grading included.
"""

from wfb_gym._commands import run_main

if __name__ == "__main__":
    run_main("agents.compare")

import json
import os
import subprocess
import sys
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from agents.common import by_scenario
from agents.figures import draw_comparison
from experiments import common
from experiments.experiment import Experiment
from experiments.outcomes import ExperimentError
from experiments.tables import ResultTable, texts
from wfb_gym import solver
from wfb_gym.cli.parser import option
from wfb_gym.seats import SEATS

CURVES = "curves.png"
_SB3, _SELF_PLAY, _OPENSPIEL = "agents.train", "agents.train_fast", "agents.openspiel"


class TrainingCommand(NamedTuple):
    """A training command and its options."""

    module: str
    options: str = ""

    @property
    def of_one_seat(self) -> bool:
        """Whether the command trains one seat at a time."""
        return self.module == _SB3


ABLATIONS = {
    "no-exploration": TrainingCommand(_SELF_PLAY, "--exploration 0"),
    "no-exploring-starts": TrainingCommand(_SELF_PLAY, "--exploring-starts 0"),
    "no-entropy-bonus": TrainingCommand(
        _SELF_PLAY, "--entropy-coefficient 0 --final-entropy-coefficient 0"
    ),
    "gamma-0.99": TrainingCommand(_SELF_PLAY, "--gamma 0.99"),
    "raw-features": TrainingCommand(_SELF_PLAY, "--features raw"),
}
"""Self-play with one component removed."""
LEARNERS = {
    "self-play": TrainingCommand(_SELF_PLAY),
    "MaskablePPO": TrainingCommand(_SB3),
    "PPO": TrainingCommand(_SB3, "--algorithm PPO"),
    "DQN": TrainingCommand(_SB3, "--algorithm DQN"),
    **ABLATIONS,
    "MCCFR": TrainingCommand(_OPENSPIEL),
    "NFSP": TrainingCommand(_OPENSPIEL, "--algorithm NFSP"),
}
USUAL = ("self-play", "MaskablePPO", "PPO", "DQN")


@dataclass(frozen=True)
class Settings:
    """Settings for a comparison.

    Attributes:
        learner: learners to compare.
        scenario: bundled name or file of a duel that can be solved.
        steps: decisions of each training; 0: the learner's default.
        seed: seed of the first run.
        runs: trainings of each learner, with consecutive seeds.
        out: folder of the results.
    """

    learner: tuple[str, ...] = option(USUAL, choices=tuple(LEARNERS))
    scenario: str = "archmage-duel"
    steps: int = 0
    seed: int = 0
    runs: int = 5
    out: Path = Path("runs/compare")


class Training(NamedTuple):
    """One training run in the comparison: its learner, seat ("" for both seats) and seed."""

    learner: str
    seat: str
    seed: int

    def __str__(self) -> str:
        return " ".join(filter(None, (self.learner, self.seat, f"seed {self.seed}")))

    def folder(self, out: Path) -> Path:
        """Return the training run's folder."""
        return out.joinpath(*filter(None, (self.learner, self.seat)), f"seed-{self.seed}")

    def command(self, settings: Settings) -> str:
        """Return the arguments for ``python -m``, without ``--out``."""
        learner = LEARNERS[self.learner]
        words = [learner.module, learner.options, f"--scenario {settings.scenario}"]
        words += [f"--seat {self.seat}"] if self.seat else []
        words += [f"--steps {settings.steps}"] if settings.steps else []
        return " ".join(filter(None, (*words, f"--seed {self.seed}")))


def trainings_of(settings: Settings) -> Iterator[Training]:
    """Yield all training runs seed by seed, so that every learner finishes a run early."""
    for seed in range(settings.seed, settings.seed + settings.runs):
        for learner in dict.fromkeys(settings.learner):
            for seat in SEATS if LEARNERS[learner].of_one_seat else ("",):
                yield Training(learner, seat, seed)


def train_learner(training: Training, settings: Settings) -> dict[str, Any]:
    """Train in a subprocess, and return the learning curve, scores and time.

    Raises:
        ExperimentError: if training fails.
        KeyboardInterrupt: if training is interrupted.
    """
    folder = training.folder(settings.out)
    folder.mkdir(parents=True, exist_ok=True)
    words = [sys.executable, "-m", *training.command(settings).split()]
    with (folder / "log.txt").open("wb") as log:
        process = subprocess.Popen(
            [*words, "--out", str(folder), "--overwrite"], stdout=log, stderr=log
        )
        try:
            _, status, used = os.wait4(process.pid, 0)
        except KeyboardInterrupt:
            process.wait()  # Ctrl-C also reaches the subprocess
            raise
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode == common.INTERRUPTED:
        raise KeyboardInterrupt
    if process.returncode:
        raise ExperimentError(f"{training} failed, see {folder / 'log.txt'}")
    results = json.loads((folder / common.RESULTS).read_text(encoding="utf-8"))
    curve = curve_of(results, training.seat)
    return {
        **training._asdict(),
        "command": f"python -m {training.command(settings)}",
        "steps": results["steps" if training.seat else "frames"],
        "seconds": results["seconds"],
        "cpu_seconds": round(used.ru_utime + used.ru_stime, 1),
        "scores": final_scores(results, training.seat),
        "curve": curve,
    }


def final_scores(results: Mapping[str, Any], seat: str) -> dict[str, float]:
    """Return each seat's score for the model that the training run kept."""
    if not seat:
        return dict(results["scores"])
    (exact,) = by_scenario(results["exact"]["trained"]).values()
    return {seat: exact["score"]}


def curve_of(results: Mapping[str, Any], seat: str) -> list[dict[str, Any]]:
    """Return a training run's learning curve: decisions, seconds of learning, scores by seat."""
    points = []
    for point in results["curve"]:
        scores = point["scores"] if not seat else {seat: point["exact"]["score"]}
        steps = point["steps" if seat else "frames"]
        points.append({"steps": steps, "seconds": point["seconds"], "scores": scores})
    return points


def compare_rows(trainings: Sequence[Mapping[str, Any]]) -> list[list[str]]:
    """Return the table's rows: scores, decisions and time by learner and seat."""
    header = ["learner", "seat", "score", "worst", "best", "decisions", "seconds", "CPU s"]
    rows = [header]
    for learner in dict.fromkeys(each["learner"] for each in trainings):
        for seat in SEATS:
            own = [
                each for each in trainings if each["learner"] == learner and seat in each["scores"]
            ]
            if not own:
                continue
            scores = [each["scores"][seat] for each in own]
            taken = [
                float(np.median([each[name] for each in own]))
                for name in ("steps", "seconds", "cpu_seconds")
            ]
            cells = [f"{np.median(scores):.1f}", f"{min(scores):.1f}", f"{max(scores):.1f}"]
            rows.append([learner, seat, *cells, *(f"{each:,.0f}" for each in taken)])
    return rows


def _check(settings: Settings, _: Collection[str]) -> Settings:
    try:
        solver.ExactGame(settings.scenario)
    except (ValueError, OSError) as error:
        raise ValueError(f"--scenario: {error}") from None
    return settings


SCORES = ResultTable(
    "exact scores: median of the runs", lambda results: compare_rows(results["trainings"]), (0, 1)
)
EXPERIMENT = Experiment(
    module="agents.compare",
    description=__doc__,
    settings=Settings,
    quick={"learner": ("self-play", "PPO"), "scenario": "apprentice", "runs": 1, "steps": 2048},
    check=_check,
    positive=("runs",),
    natural=("steps", "seed"),
    kind="comparison",
    file="trainings.jsonl",
    free=("out", "learner", "runs", "seed"),
    parts=lambda settings: list(trainings_of(settings)),
    run_part=lambda settings, training: train_learner(training, settings),
    name_of=lambda line: str(Training(line["learner"], line["seat"], line["seed"])),
    results=lambda run: run.document(trainings=run.lines),
    tables=texts(SCORES),
    figures=lambda results, out: draw_comparison(results, out / CURVES),
)
main = EXPERIMENT.main
