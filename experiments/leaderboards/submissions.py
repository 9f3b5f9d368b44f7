"""Read and check submissions, the JSON files of experiments/leaderboards/entries/."""

import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, FailFast, Field, ValidationError

from experiments.leaderboards.protocol import (
    BUDGET,
    POOL,
    PROTOCOL,
    RUNS,
    TASKS,
    TRACKS,
    scenarios_at_stake,
)
from experiments.outcomes import ExperimentError
from wfb_gym.files import describe_error, read_limited
from wfb_gym.scenario.errors import printable, shortened
from wfb_gym.scenario.fields import FileName, Name, Writing
from wfb_gym.suggestions import did_you_mean

FOLDER = Path(__file__).parent / "entries"
MODELS = "models"
"""Name of the folder with the models for grading again, by submission."""
ALL = "all"
"""Key in `Submission.policies` for all tasks without their own key."""
MAX_BYTES = 2**19
"""Maximum file size. A hundred runs of all tasks take less."""
_MAX_MESSAGE = 500
BEST = 100.0
_ROUNDING = 1e-3
"""Maximum amount by which rounding may raise an exact score above the best score."""

Scores = Annotated[list[float], FailFast()]
"""Scores of a task's runs, or of a run's scenarios."""


class SubmissionError(ExperimentError):
    """A file is not a valid submission. The message names the file, the key and the problem."""


class Submission(BaseModel):
    """A policy's results; docs/benchmark.md describes every key."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)

    protocol: Literal[2]
    name: FileName
    description: Annotated[str, Writing(200)]
    authors: Annotated[str, Writing(200)]
    code: Annotated[str, Writing(500)]
    steps: Annotated[int, Field(ge=0)]
    versions: dict[Name, Name]
    policies: dict[str, list[Annotated[str, Writing(200)]]] = {}
    duels: dict[str, Scores] = {}
    hidden: dict[str, Scores] = {}
    generated: dict[str, Annotated[list[Scores], FailFast()]] = {}
    axes: dict[str, Annotated[list[Scores], FailFast()]] = {}
    battles: dict[str, dict[str, Scores]] = {}


assert PROTOCOL == 2, "Submission.protocol: expected the number of PROTOCOL"


def read_submission(path: Path) -> Submission:
    """Read a submission from its file, or raise a `SubmissionError` if it is invalid."""
    try:
        submission = Submission.model_validate_json(read_limited(path, MAX_BYTES))
        check_submission(submission)
        if path.stem != submission.name:
            raise SubmissionError(f"name: expected {path.stem!r}, found {submission.name!r}")
    except ValidationError as error:
        text = _first_problem(error)
    except (OSError, ValueError) as error:
        text = f"expected a JSON file, found {describe_error(error)}"
    except SubmissionError as error:
        text = str(error)
    else:
        return submission
    raise SubmissionError(f"{printable(str(path))}: {shortened(printable(text), _MAX_MESSAGE)}")


def _first_problem(error: ValidationError) -> str:
    """Return the first validation error: the key, the expectation and the value found."""
    first = error.errors()[0]
    if first["type"] == "json_invalid":
        return f"expected a JSON file, found {first['ctx']['error']}"
    key = ".".join(shortened(str(part), 60) for part in first["loc"]) or "the file"
    found = "nothing" if first["type"] == "missing" else shortened(repr(first["input"]), 60)
    return f"{key}: {first['msg']}, found {found}"


def check_submission(submission: Submission) -> None:
    """Raise a `SubmissionError` for the first problem that types do not cover."""
    if not any(getattr(submission, track) for track in TRACKS):
        raise SubmissionError(f"expected results under {', '.join(TRACKS)}, found none")
    for key in submission.policies:
        if key not in (ALL, *TASKS):
            raise SubmissionError(f"policies.{key}: expected {ALL} or a task")
    least = RUNS if 0 < submission.steps <= BUDGET else 1  # above the budget, the page marks it
    for track in ("duels", "hidden"):
        for key, scores in getattr(submission, track).items():
            _check_scores(_place(track, key), scores, least, BEST)
    for where, key, runs in (
        (_place(track, key), key, runs)
        for track in ("generated", "axes")
        for key, runs in getattr(submission, track).items()
    ):
        _check_count(where, len(runs), least)
        count = len(scenarios_at_stake(TASKS[key]))
        for number, scores in enumerate(runs):
            if len(scores) != count:
                expected = f"expected {count} scores, found {len(scores)}"
                raise SubmissionError(f"{where}.{number}: {expected}")
            _check_scores(f"{where}.{number}", scores, 1, BEST)
    for key, opponents in submission.battles.items():
        where = _place("battles", key)
        if sorted(opponents) != sorted(POOL):
            expected = f"expected {', '.join(POOL)}, found {', '.join(opponents)}"
            raise SubmissionError(f"{where}: {expected}")
        for opponent, points in opponents.items():
            _check_scores(f"{where}.{opponent}", points, RUNS, math.inf)
    for track in ("duels", "hidden", "generated", "axes"):
        _check_runs(track, getattr(submission, track))
    battles = {
        f"{key}.{opponent}": points
        for key, opponents in submission.battles.items()
        for opponent, points in opponents.items()
    }
    _check_runs("battles", battles)


def _place(track: str, key: str) -> str:
    """Return the path to a task's results in the file, or raise if the track lacks the task."""
    known = [str(task) for task in TRACKS[track]]
    if key not in known:
        raise SubmissionError(f"{track}.{key}: expected one of {', '.join(known)}")
    return f"{track}.{key}"


def _check_scores(where: str, scores: Scores, least: int, most: float) -> None:
    for each in scores:
        if not (math.isfinite(each) and each <= most + _ROUNDING):
            expected = "finite numbers" if math.isinf(most) else f"numbers up to {most:g}"
            raise SubmissionError(f"{where}: expected {expected}, found {each}")
    _check_count(where, len(scores), least)


def _check_count(where: str, count: int, least: int) -> None:
    if count < least:
        raise SubmissionError(f"{where}: expected {least} runs or more, found {count}")


def _check_runs(track: str, tasks: Mapping[str, Sequence[Any]]) -> None:
    wanted = len(next(iter(tasks.values()), ()))
    for key, runs in tasks.items():
        if len(runs) != wanted:
            expected = f"{wanted} runs as in the other tasks"
            raise SubmissionError(f"{track}.{key}: expected {expected}, found {len(runs)}")


def read_submissions(folder: Path = FOLDER) -> list[Submission]:
    """Read all submissions in a folder, by name."""
    return [read_submission(path) for path in sorted(folder.glob("*.json"))]


def check_known(by_name: Mapping[str, Submission], name: str, option: str) -> None:
    """Raise a `SubmissionError` if no submission has the name given to an option."""
    if name not in by_name:
        known = ", ".join(by_name) + did_you_mean(by_name, name)
        raise SubmissionError(f"{option}: expected one of {known}, found {name!r}")
