"""Search hyperparameters of `agents.train`: train with many settings, and rank exact scores.

    python -m agents.search settings.toml
    python -m agents.search settings.toml --samples 20 --ray HEAD:6379

The file has three tables, whose keys are settings of agents.train. [fixed] holds constant values.
[grid] holds lists of values, and every combination is trained. [random] holds ranges, such as
{ low = 1e-4, high = 1e-2, log = true }, and --samples draws are made from each. The seed is a
setting like any other. All scenarios must be small enough to solve, because trainings are ranked by
the exact score, averaged over the scenarios.

Finished trainings are stored in OUT/trainings.jsonl, and the same command continues an interrupted
search. With --ray the trainings are distributed over the machines of a Ray cluster, with the same
results. OUT gets results.json, best first.
"""

from wfb_gym._commands import run_main

if __name__ == "__main__":
    run_main("agents.search")

import contextlib
import io
import itertools
import math
import tempfile
import time
import tomllib
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from agents import hyperparameters, train
from agents.common import by_scenario, load_solutions
from experiments import common
from experiments.experiment import Experiment
from experiments.outcomes import Line
from experiments.shared_files import local_path
from experiments.tables import text_table
from experiments.workers import RAY
from wfb_gym.cli.parser import option
from wfb_gym.files import describe_error

TABLES = ("fixed", "grid", "random")
NOT_SEARCHED = ("scenario", "seat", "opponent", "load")
"""`agents.train` settings that must be the same in every training run."""
Training = dict[str, Any]
"""`agents.train` settings, by name."""


@dataclass(frozen=True)
class Settings:
    """Settings for a search.

    Attributes:
        samples: draws of the random settings, for each combination of the grid.
        seed: seed of the draws.
        out: folder of the results.
    """

    file: tuple[str, ...] = option(
        (), positional=True, metavar="FILE", help="file of the search (default: a small search)"
    )
    samples: int = 1
    seed: int = 0
    out: Path = Path("runs/search")
    ray: str = option("", **RAY)


EXAMPLE = """
[fixed]
scenario = ["apprentice"]
[grid]
net = [32, 64]
[random]
learning_rate = { low = 1e-3, high = 1e-2, log = true }
"""
"""File with the default search."""


def read_trainings(settings: Settings) -> list[Training]:
    """Read a search file and return the settings of all its training runs, in order.

    Raises:
        ValueError: if the file is not a valid search, or a training run has invalid settings.
        OSError: if the file cannot be read.
    """
    name, text = "the small search", EXAMPLE
    for name in settings.file:
        try:
            text = Path(name).read_text(encoding="utf-8")
        except OSError as error:
            found = describe_error(error)
            raise OSError(f"{name}: expected a file of settings, found {found}") from error
    try:
        tables = tomllib.loads(text)
        for table, content in tables.items():
            if table not in TABLES or not isinstance(content, dict):
                raise ValueError(f"expected the tables {', '.join(TABLES)}, found {table}")
        fixed, grid, ranges = (tables.get(table, {}) for table in TABLES)
        given = [*fixed, *grid, *ranges]
        for key in given:
            _check_key(key, given.count(key), key in fixed)
        for key, values in grid.items():
            if not isinstance(values, list) or not values:
                raise ValueError(f"grid.{key}: expected a list of values, found {values!r}")
        for key, limits in ranges.items():
            _check_range(key, limits)
        rng = np.random.default_rng(settings.seed)
        trainings = []
        for values in itertools.product(*grid.values()):
            for _ in range(settings.samples if ranges else 1):
                drawn = {key: draw(limits, rng) for key, limits in ranges.items()}
                trainings.append({**fixed, **dict(zip(grid, values, strict=True)), **drawn})
        for training in trainings:
            hyperparameters.load_hyperparameters("small-duel", "caster", settings_of(training))
    except (ValueError, TypeError) as error:  # includes the TOML parser's errors
        raise ValueError(f"{name}: {error}") from None
    return trainings


def _check_key(key: str, count: int, is_fixed: bool) -> None:
    known = [each.name for each in fields(hyperparameters.Settings) if each.name != "out"]
    if key not in known:
        raise ValueError(f"expected settings of agents.train ({', '.join(known)}), found {key}")
    if count > 1:
        raise ValueError(f"{key}: expected in one table, found in {count}")
    if key in NOT_SEARCHED and not is_fixed:
        raise ValueError(f"{key}: expected in [fixed]")


def _check_range(key: str, limits: Any) -> None:
    if not isinstance(limits, dict) or not {"low", "high"} <= set(limits) <= {"low", "high", "log"}:
        raise ValueError(f"random.{key}: expected low, high and perhaps log, found {limits!r}")
    low, high = limits["low"], limits["high"]
    if not low < high or (limits.get("log") and low <= 0):
        raise ValueError(f"random.{key}: expected low < high, and over 0 for log, found {limits!r}")


def draw(limits: Mapping[str, Any], rng: np.random.Generator) -> float | int:
    """Draw a value from a range. It is a whole number if both limits are whole numbers."""
    low, high = limits["low"], limits["high"]
    whole = isinstance(low, int) and isinstance(high, int)
    if limits.get("log"):
        value = math.exp(rng.uniform(math.log(low), math.log(high)))
        return round(value) if whole else value
    return int(rng.integers(low, high + 1)) if whole else float(rng.uniform(low, high))


def settings_of(training: Training) -> hyperparameters.Settings:
    """Return the `agents.train` settings for a training run."""
    values: dict[str, Any] = {
        key: tuple(value) if isinstance(value, list) else value for key, value in training.items()
    }
    for key in ("scenario", "opponent"):
        if key in values:
            values[key] = tuple(local_path(name) for name in values[key])
    if "load" in values:
        values["load"] = Path(local_path(values["load"]))
    return hyperparameters.Settings(**values)


def files_of(training: Training) -> list[str]:
    """Return the files named in a training run's settings."""
    names = [*training.get("scenario", ()), *training.get("opponent", ())]
    names += [training["load"]] if "load" in training else []
    return [name for name in names if Path(name).suffix and Path(name).is_file()]


def train_once(training: Training) -> dict[str, Any]:
    """Train once, and return the exact score, the steps and the seconds.

    Raises:
        KeyboardInterrupt: if Ctrl-C is pressed.
    """
    began = time.monotonic()
    with tempfile.TemporaryDirectory() as folder, contextlib.redirect_stderr(io.StringIO()):
        settings = settings_of({**training, "out": Path(folder)})
        results = train.run(settings, train.prepare(settings))
    if results["interrupted"]:
        raise KeyboardInterrupt
    scores = [each["score"] for each in by_scenario(results["exact"]["trained"]).values()]
    return {
        "score": float(np.mean(scores)),
        "steps": results["steps"],
        "seconds": round(time.monotonic() - began, 2),
    }


def check_scenarios(trainings: Sequence[Training]) -> None:
    """Raise a ValueError if a scenario has no exact score to rank by."""
    settings = settings_of(trainings[0])
    solutions = load_solutions(settings.scenario, settings.exact_bytes)
    if missing := [name for name in settings.scenario if name not in solutions]:
        raise ValueError(f"scenario: expected solvable scenarios, found {', '.join(missing)}")


class Part(NamedTuple):
    """One training run in the search."""

    training: Training

    def __str__(self) -> str:
        return ", ".join(f"{key} {value}" for key, value in self.training.items())


def train_part(_: Settings, part: Part) -> Line:
    """Train with a part's settings."""
    return {"training": {"settings": part.training, **train_once(part.training)}}


def ranking_table(ranking: Sequence[Mapping[str, Any]]) -> str:
    """Return a table of the training runs, best first, with the settings in which they differ."""
    first = ranking[0]["settings"]
    keys = [key for key in first if any(each["settings"][key] != first[key] for each in ranking)]
    rows = [[*keys, "score", "seconds"]]
    for each in ranking:
        values = (each["settings"][key] for key in keys)
        cells = [f"{one:.4g}" if isinstance(one, float) else str(one) for one in values]
        rows.append([*cells, f"{each['score']:.2f}", f"{each['seconds']:.1f}"])
    return text_table(rows, "exact scores", range(len(rows[0])))


@dataclass(frozen=True)
class _Plan(Settings):
    """A search's settings, with all its training runs."""

    trainings: tuple[Training, ...] = ()


def _check(settings: Settings, switches: Collection[str]) -> _Plan:
    """Return a search's plan, or raise a ValueError or an OSError if it is invalid."""
    if len(settings.file) > 1:
        raise ValueError(f"expected one file, found {len(settings.file)}")
    trainings = read_trainings(settings)
    if "quick" in switches:
        trainings = [{**hyperparameters.QUICK, **each} for each in trainings]
    check_scenarios(trainings)
    return _Plan(**vars(settings), trainings=tuple(trainings))


EXPERIMENT: Experiment[Any, Part] = Experiment(
    module="agents.search",
    description=__doc__,
    settings=Settings,
    quick={},
    check=_check,
    positive=("samples",),
    natural=("seed",),
    kind="search",
    file="trainings.jsonl",
    recorded=lambda plan: {"trainings": list(plan.trainings)},
    parts=lambda plan: list(map(Part, plan.trainings)),
    run_part=train_part,
    files=lambda plan: files_of(plan.trainings[0]),
    results=lambda run: {
        "trainings": sorted(run.values("training"), key=lambda each: -each["score"]),
        "interrupted": run.interrupted,
        "versions": common.versions(),
    },
    tables=lambda results: [ranking_table(results["trainings"])],
)
main = EXPERIMENT.main
