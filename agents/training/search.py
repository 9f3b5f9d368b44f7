"""The search for hyperparameters: which settings are tried, how long, and how they are scored."""

import json
import os
import sys
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from agents.training.pool import RULES_OF_THUMB, SOLVED_MIX
from agents.training.settings import Args as Run
from agents.training.settings import Hyperparameters, class_of, suited
from agents.training.trainee import trained
from wfb_gym import solver

KEPT = 3
"""One in so many goes on to the next rung, with so many times the steps."""
FIRST_SEED = 500
"""Of the trials; runs of agents.train begin at 0."""

CHOICES: dict[str, tuple[float, ...]] = {
    "num_envs": (64, 128, 256, 512, 1024),
    "n_steps": (8, 16, 32, 64),
    "batch_size": (256, 512, 1024, 2048, 4096),
    "n_epochs": (2, 4, 8),
    "gae_lambda": (0.9, 0.95, 1.0),
    "net": (32, 64, 128),
}
RANGES = {"learning_rate": (3e-4, 1e-2), "ent_coef": (3e-3, 0.3)}
"""Drawn evenly on a logarithmic scale."""
ENT_FALLS = (1.0, 0.1)
"""The entropy bonus at the end, as a share of that at the beginning."""


@dataclass(frozen=True)
class Search:
    """What to search.

    Attributes:
        scenario: bundled name or file.
        seat: "caster" or "dispeller".
        trials: settings in the first rung.
        steps: decisions of each trial there.
        seeds: trainings of each trial; their scores are averaged.
        seed: of the settings that are drawn.
        out: the search's folder.
    """

    scenario: str = "archmage-duel"
    seat: str = "caster"
    trials: int = 12
    steps: int = 60_000
    seeds: int = 2
    seed: int = 0
    out: Path = Path("runs")


@dataclass(frozen=True)
class Trial:
    """One training in the search.

    Attributes:
        number: of the settings; 0 are those of the file.
        rung: 0 for the first.
        seed: of the training.
        hyper: the settings.
        score: the higher the better; None before it is trained.
        seconds: that training took.
    """

    number: int
    rung: int
    seed: int
    hyper: Hyperparameters
    score: float | None = None
    seconds: float = 0.0

    @property
    def key(self) -> tuple[int, int, int]:
        """What tells it from the other trials of a search."""
        return self.number, self.rung, self.seed


def settings(args: Search) -> list[Hyperparameters]:
    """The settings of the first rung: those of the file, then random ones."""
    usual = suited(class_of(args.scenario, args.seat), args.seat)
    rng = np.random.default_rng(args.seed)
    found = [replace(usual, steps=args.steps)]
    fewest = 4 * min(CHOICES["num_envs"]) * min(CHOICES["n_steps"])
    while len(found) < args.trials:
        drawn: dict[str, Any] = {}
        for name, choices in CHOICES.items():
            drawn[name] = choices[int(rng.integers(len(choices)))]
        for name, (low, high) in RANGES.items():
            drawn[name] = float(f"{np.exp(rng.uniform(np.log(low), np.log(high))):.2g}")
        share = ENT_FALLS[int(rng.integers(len(ENT_FALLS)))]
        drawn["ent_final"] = float(f"{drawn['ent_coef'] * share:.2g}")
        if drawn["num_envs"] * drawn["n_steps"] * 4 <= max(args.steps, fewest):  # some updates
            found.append(replace(usual, steps=args.steps, **drawn))
    return found


def searched(args: Search, done: dict[tuple[int, int, int], Trial]) -> Iterator[Trial]:
    """The trials of a search in turn; those that were done before as they are."""
    solution = solution_of(args)
    field = list(enumerate(settings(args)))
    rung = 0
    while True:
        means = {}
        for number, hyper in field:
            scores = []
            for k in range(args.seeds):
                trial = Trial(number, rung, FIRST_SEED + k, hyper)
                trial = _known(trial, done) or scored(trial, args, solution)
                assert trial.score is not None
                scores.append(trial.score)
                yield trial
            means[number] = float(np.mean(scores))
        if len(field) == 1:
            return
        rung += 1
        best = sorted(field, key=lambda each: -means[each[0]])[: max(1, len(field) // KEPT)]
        field = [(number, replace(hyper, steps=hyper.steps * KEPT)) for number, hyper in best]


def _known(trial: Trial, done: dict[tuple[int, int, int], Trial]) -> Trial | None:
    """A trial as it was done before.

    Raises:
        ValueError: what lies in the folder is another search's.
    """
    known = done.get(trial.key)
    if known is not None and known.hyper != trial.hyper:
        raise ValueError("trials.jsonl is of another search; name another folder with --out")
    return known


def solution_of(args: Search) -> solver.Solution | None:
    try:
        return solver.solved(args.scenario, max_bytes=1 << 26, notice=sys.stderr)
    except solver.TooLarge:
        return None


def scored(trial: Trial, args: Search, solution: solver.Solution | None) -> Trial:
    """Train with a trial's settings, and score the outcome."""
    mix = RULES_OF_THUMB if solution is None else SOLVED_MIX
    run = Run(
        scenarios=(args.scenario,),
        seat=args.seat,
        opponents=mix,
        hyper=trial.hyper,
        seed=trial.seed,
        out=args.out,
    )
    score, seconds = trained(run, solution)
    return replace(trial, score=round(score, 3), seconds=round(seconds, 2))


def read(path: Path) -> dict[tuple[int, int, int], Trial]:
    """Trials that were done before; a last line that was not written whole is left out."""
    found: dict[tuple[int, int, int], Trial] = {}
    if not path.is_file():
        return found
    for line in path.read_text(encoding="utf-8").splitlines():
        try:
            plain = json.loads(line)
        except json.JSONDecodeError:
            continue
        trial = Trial(**plain | {"hyper": Hyperparameters(**plain["hyper"])})
        found[trial.key] = trial
    return found


def add(path: Path, trial: Trial) -> None:
    """Append a trial to the log, on a line of its own whatever was cut off before it."""
    with path.open("a+b") as file:
        end = file.seek(0, os.SEEK_END)
        file.seek(max(0, end - 1))
        line = json.dumps(asdict(trial)) + "\n"
        file.write((line if file.read(1) in (b"", b"\n") else "\n" + line).encode())


def ranked(trials: Sequence[Trial]) -> list[dict[str, Any]]:
    """Settings with their mean scores: the highest rung first, in it the best."""
    groups: dict[tuple[int, int], list[Trial]] = {}
    for trial in trials:
        groups.setdefault((trial.rung, trial.number), []).append(trial)
    rows = [
        {
            "number": number,
            "rung": rung,
            "score": round(float(np.mean([each.score for each in own])), 3),
            "hyper": asdict(own[0].hyper),
        }
        for (rung, number), own in groups.items()
    ]
    return sorted(rows, key=lambda row: (-row["rung"], -row["score"]))


def planned(args: Search) -> int:
    """Trainings of the whole search."""
    left, total = args.trials, args.trials
    while left > 1:
        left = max(1, left // KEPT)
        total += left
    return total * args.seeds
