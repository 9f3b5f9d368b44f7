"""Read and check submissions, the JSON files of experiments/leaderboards/entries/."""

import math
import tomllib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, FailFast, Field, ValidationError

from experiments.leaderboards.protocol import (
    BUDGETS,
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
"""Maximum file size. Twenty runs of all tasks, graded both ways, take less."""
_MAX_MESSAGE = 500
BEST = 100.0
_ROUNDING = 1e-3
"""Maximum amount by which rounding may raise an exact score above the best score."""

Scores = Annotated[list[float], FailFast()]
"""Scores of a task's runs, or of a run's scenarios."""


class SubmissionError(ExperimentError):
    """A file is not a valid submission. The message names the file, the key and the problem."""


Kind = Literal["model-free", "supervised", "planner", "scripted"]
"""How a policy chooses its actions: learned from rewards only, learned from actions or exact values
that another player supplied, by search with the rules, or by fixed rules."""
Count = Annotated[int, Field(ge=0)]
Seconds = Annotated[float, Field(gt=0, allow_inf_nan=False)] | None


class About(BaseModel):
    """An author's statements on a policy; docs/benchmark.md describes every key."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)

    kind: Kind
    description: Annotated[str, Writing(200)]
    authors: Annotated[str, Writing(200)] = "unknown"
    code: Annotated[str, Writing(500)]
    uses_exact: bool = False
    features: Literal["all", "raw", "other"] = "all"
    steps: Count = 0
    tuning_steps: Count | None = None
    recorded: Count = 0
    gradient_samples: Count | None = None
    cpu_seconds: Seconds = None
    wall_seconds: Seconds = None

    def exceeds_budget(self, track: str) -> bool:
        """Return whether a run, with all tuning, took more environment steps than allowed."""
        return self.steps + (self.tuning_steps or 0) > BUDGETS[track]


class Results(BaseModel):
    """Results by track and task; docs/benchmark.md describes every key."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)

    duels: dict[str, Scores] = {}
    hidden: dict[str, Scores] = {}
    generated: dict[str, Annotated[list[Scores], FailFast()]] = {}
    axes: dict[str, Annotated[list[Scores], FailFast()]] = {}
    hard: dict[str, Annotated[list[Scores], FailFast()]] = {}
    battles: dict[str, dict[str, Scores]] = {}


class Submission(Results, About):
    """A policy's results; docs/benchmark.md describes every key."""

    protocol: Literal[3]
    name: FileName
    versions: dict[Name, Name]
    policies: dict[str, list[Annotated[str, Writing(200)]]] = {}
    other_way: Results = Results()

    @property
    def is_learned(self) -> bool:
        """Whether the policy was trained, rather than written."""
        return self.kind in ("model-free", "supervised")


assert PROTOCOL == 3, "Submission.protocol: expected the number of PROTOCOL"


def read_about(path: Path) -> About:
    """Read an author's statements on a policy from a TOML file.

    Raises:
        SubmissionError: the file is invalid. The message names it, the key and the problem.
    """
    try:
        return About.model_validate(tomllib.loads(read_limited(path, MAX_BYTES).decode("utf-8")))
    except ValidationError as error:
        text = _first_problem(error)
    except (OSError, ValueError) as error:
        text = f"expected a TOML file, found {describe_error(error)}"
    raise SubmissionError(_in_file(path, text))


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
    raise SubmissionError(_in_file(path, text))


def _in_file(path: Path, text: str) -> str:
    return f"{printable(str(path))}: {shortened(printable(text), _MAX_MESSAGE)}"


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
    for track in TRACKS:
        ranked, other = getattr(submission, track), getattr(submission.other_way, track)
        least = least_runs(submission, track)
        _check_results(track, track, ranked, least)
        where = f"other_way.{track}"
        _check_results(where, track, other, least)
        if other and other.keys() != ranked.keys():
            expected = f"expected the tasks of {track}, {', '.join(ranked) or 'none'}"
            raise SubmissionError(f"{where}: {expected}, found {', '.join(other)}")


def least_runs(about: About, track: str) -> int:
    """Return the minimum number of runs of a policy in a track with exact scores.

    A policy that learned from rewards has several, unless its training exceeds the budget, which
    the page marks.
    """
    return RUNS if about.kind == "model-free" and not about.exceeds_budget(track) else 1


def _check_results(where: str, track: str, results: Mapping[str, Any], least: int) -> None:
    """Raise a `SubmissionError` for the first problem with a track's results."""
    known = [str(task) for task in TRACKS[track]]
    runs_of: dict[str, Sequence[Any]] = {}
    for key, found in results.items():
        place = f"{where}.{key}"
        if key not in known:
            raise SubmissionError(f"{place}: expected one of {', '.join(known)}")
        if track == "battles":
            if sorted(found) != sorted(POOL):
                expected = f"expected {', '.join(POOL)}, found {', '.join(found)}"
                raise SubmissionError(f"{place}: {expected}")
            for opponent, points in found.items():
                _check_scores(f"{place}.{opponent}", points, RUNS, math.inf)
                runs_of[f"{key}.{opponent}"] = points
            continue
        runs_of[key] = found
        if TASKS[key].kind is None:
            _check_scores(place, found, least, BEST)
            continue
        _check_count(place, len(found), least)
        count = len(scenarios_at_stake(TASKS[key]))
        for number, scores in enumerate(found):
            if len(scores) != count:
                expected = f"expected {count} scores, found {len(scores)}"
                raise SubmissionError(f"{place}.{number}: {expected}")
            _check_scores(f"{place}.{number}", scores, 1, BEST)
    _check_runs(where, runs_of)


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
