"""Submissions: reading and checking the JSON files of experiments/leaderboards/entries/."""

import json
import math
import re
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from experiments.leaderboards.protocol import (
    BUDGET,
    POOL,
    PROTOCOL,
    RUNS,
    TASKS,
    TRACKS,
    generated_tasks,
)

FOLDER = Path(__file__).parent / "entries"
NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*")
BEST = 100.0
_ROUNDING = 1e-3
"""By which an exact score may exceed the best."""

Scores = list[float]
"""One for each run of a task, or for each scenario of a run."""


class SubmissionError(Exception):
    """A file is no submission; the message names file, key, and what was expected."""


class Submission(BaseModel):
    """The results of a policy; docs/benchmark.md describes every key."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)

    protocol: Literal[1]
    name: str
    description: Annotated[str, Field(min_length=1, max_length=200)]
    authors: Annotated[str, Field(min_length=1)]
    code: Annotated[str, Field(min_length=1)]
    steps: Annotated[int, Field(ge=0, le=BUDGET)]
    versions: dict[str, str]
    duels: dict[str, Scores] = {}
    generated: dict[str, list[Scores]] = {}
    battles: dict[str, dict[str, Scores]] = {}


assert PROTOCOL == 1, "Submission.protocol says which protocol it is of"


def read_submission(path: Path) -> Submission:
    """Read a submission from its file.

    Raises:
        SubmissionError: the file is no submission.
    """
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise SubmissionError(f"{path}: expected a JSON file: {error}") from None
    try:
        submission = Submission.model_validate(found)
    except ValidationError as error:
        first = error.errors()[0]
        key = ".".join(str(part) for part in first["loc"]) or "the file"
        raise SubmissionError(
            f"{path}: {key}: {first['msg']}, found {_input_text(first)}"
        ) from None
    for problem in find_problems(submission):
        raise SubmissionError(f"{path}: {problem}")
    if path.stem != submission.name:
        raise SubmissionError(f"{path}: name: expected {path.stem!r}, found {submission.name!r}")
    return submission


def _input_text(error: Any) -> str:
    text = "nothing" if error["type"] == "missing" else repr(error["input"])
    return text if len(text) <= 60 else f"{text[:57]}..."


def find_problems(submission: Submission) -> list[str]:
    """Check a submission beyond its types: a line for each key, what was expected and found."""
    found = []
    if not NAME.fullmatch(submission.name):
        expected = "letters, digits, dots, dashes and underscores"
        found.append(f"name: expected {expected}, found {submission.name!r}")
    if not (submission.duels or submission.generated or submission.battles):
        found.append("expected results under duels, generated or battles, found none")
    least = RUNS if submission.steps else 1
    for key, scores in submission.duels.items():
        where = f"duels.{key}"
        found += _task_problems(where, "duels", key) or _score_problems(where, scores, least, BEST)
    for key, runs in submission.generated.items():
        where = f"generated.{key}"
        wrong = _task_problems(where, "generated", key) or _count_problems(where, len(runs), least)
        for number, scores in enumerate(runs if not wrong else ()):
            count = generated_tasks(TASKS[key].seat)
            place = f"{where}.{number}"
            if len(scores) != count:
                wrong.append(f"{place}: expected {count} scores, found {len(scores)}")
            wrong += _score_problems(place, scores, 1, BEST)
        found += wrong
    for key, opponents in submission.battles.items():
        where = f"battles.{key}"
        wrong = _task_problems(where, "battles", key)
        if not wrong and sorted(opponents) != sorted(POOL):
            wrong.append(f"{where}: expected {', '.join(POOL)}, found {', '.join(opponents)}")
        for opponent, points in opponents.items():
            wrong += wrong or _score_problems(f"{where}.{opponent}", points, RUNS, math.inf)
        found += wrong
    return found or _unequal_runs(submission)


def _task_problems(where: str, track: str, key: str) -> list[str]:
    known = [str(task) for task in TRACKS[track]]
    return [] if key in known else [f"{where}: expected one of {', '.join(known)}"]


def _count_problems(where: str, count: int, least: int) -> list[str]:
    return [] if count >= least else [f"{where}: expected {least} runs or more, found {count}"]


def _score_problems(where: str, scores: Scores, least: int, most: float) -> list[str]:
    bad = [each for each in scores if not (math.isfinite(each) and each <= most + _ROUNDING)]
    if bad:
        expected = "finite numbers" if math.isinf(most) else f"numbers up to {most:g}"
        return [f"{where}: expected {expected}, found {bad[0]}"]
    return _count_problems(where, len(scores), least)


def _unequal_runs(submission: Submission) -> list[str]:
    """Tasks whose number of runs differs from the first task of their track."""
    found = []
    battles = {
        f"{key}.{opponent}": points
        for key, opponents in submission.battles.items()
        for opponent, points in opponents.items()
    }
    tracks: dict[str, dict[str, Any]] = {
        "duels": dict(submission.duels),
        "generated": dict(submission.generated),
        "battles": dict(battles),
    }
    for track, tasks in tracks.items():
        counts = {key: len(runs) for key, runs in tasks.items()}
        wanted = next(iter(counts.values()), 0)
        for key, count in counts.items():
            if count != wanted:
                expected = f"{wanted} runs as in the other tasks"
                found.append(f"{track}.{key}: expected {expected}, found {count}")
    return found


def read_submissions(folder: Path = FOLDER) -> list[Submission]:
    """Read all submissions of a folder, by name.

    Raises:
        SubmissionError: a file is no submission.
    """
    return [read_submission(path) for path in sorted(folder.glob("*.json"))]
