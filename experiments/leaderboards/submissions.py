"""Submissions: JSON files under experiments/leaderboards/entries/, read and checked."""

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
"""By which an exact score may lie over the best."""

Scores = list[float]
"""Of the runs of a task, or of the scenarios of a run."""


class SubmissionError(Exception):
    """A file that is no submission; the message names file, key, and what was expected."""


class Submission(BaseModel):
    """What somebody's policy came to; docs/benchmark.md describes every key."""

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


def read(path: Path) -> Submission:
    """A submission from its file.

    Raises:
        SubmissionError: it is none.
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
        raise SubmissionError(f"{path}: {key}: {first['msg']}, found {_short(first)}") from None
    for problem in problems(submission):
        raise SubmissionError(f"{path}: {problem}")
    if path.stem != submission.name:
        raise SubmissionError(f"{path}: name: expected {path.stem!r}, found {submission.name!r}")
    return submission


def _short(error: Any) -> str:
    told = "nothing" if error["type"] == "missing" else repr(error["input"])
    return told if len(told) <= 60 else f"{told[:57]}..."


def problems(submission: Submission) -> list[str]:
    """What is wrong with a submission beyond its types: key, what was expected, what was found."""
    found = []
    if not NAME.fullmatch(submission.name):
        expected = "letters, digits, dots, dashes and underscores"
        found.append(f"name: expected {expected}, found {submission.name!r}")
    if not (submission.duels or submission.generated or submission.battles):
        found.append("expected results under duels, generated or battles, found none")
    least = RUNS if submission.steps else 1
    for key, scores in submission.duels.items():
        where = f"duels.{key}"
        found += _task(where, "duels", key) or _scores(where, scores, least, BEST)
    for key, runs in submission.generated.items():
        where = f"generated.{key}"
        wrong = _task(where, "generated", key) or _count(where, len(runs), least)
        for number, scores in enumerate(runs if not wrong else ()):
            count = generated_tasks(TASKS[key].seat)
            place = f"{where}.{number}"
            if len(scores) != count:
                wrong.append(f"{place}: expected {count} scores, found {len(scores)}")
            wrong += _scores(place, scores, 1, BEST)
        found += wrong
    for key, opponents in submission.battles.items():
        where = f"battles.{key}"
        wrong = _task(where, "battles", key)
        if not wrong and sorted(opponents) != sorted(POOL):
            wrong.append(f"{where}: expected {', '.join(POOL)}, found {', '.join(opponents)}")
        for opponent, points in opponents.items():
            wrong += wrong or _scores(f"{where}.{opponent}", points, RUNS, math.inf)
        found += wrong
    return found or _unequal(submission)


def _task(where: str, track: str, key: str) -> list[str]:
    known = [str(task) for task in TRACKS[track]]
    return [] if key in known else [f"{where}: expected one of {', '.join(known)}"]


def _count(where: str, count: int, least: int) -> list[str]:
    return [] if count >= least else [f"{where}: expected {least} runs or more, found {count}"]


def _scores(where: str, scores: Scores, least: int, most: float) -> list[str]:
    bad = [each for each in scores if not (math.isfinite(each) and each <= most + _ROUNDING)]
    if bad:
        expected = "finite numbers" if math.isinf(most) else f"numbers up to {most:g}"
        return [f"{where}: expected {expected}, found {bad[0]}"]
    return _count(where, len(scores), least)


def _unequal(submission: Submission) -> list[str]:
    """Tasks of a track that have other numbers of runs."""
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


def read_all(folder: Path = FOLDER) -> list[Submission]:
    """All submissions, by name.

    Raises:
        SubmissionError: one is none.
    """
    return [read(path) for path in sorted(folder.glob("*.json"))]
