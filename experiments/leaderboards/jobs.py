"""The jobs of a grading: what is graded at once, where the workers are, and joined by task."""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from experiments.leaderboards import protocol
from experiments.leaderboards.protocol import (
    POOL,
    RUNS,
    TRACKS,
    BattleRun,
    GeneratedScenario,
    Task,
)
from experiments.outcomes import Line
from experiments.tournaments.guarding import one_line
from experiments.workers import Workers


class Entry(NamedTuple):
    """The policies of a submission, one for each run, and the tasks in which they are graded."""

    name: str
    policies: list[str]
    tasks: Sequence[Task]


class Job(NamedTuple):
    """What is graded at once: a task, several tasks in a generated scenario, or a battle's run."""

    name: str
    policies: list[str]
    tasks: tuple[Task, ...]
    part: GeneratedScenario | BattleRun | None = None

    @property
    def group(self) -> tuple[str, tuple[Task, ...]]:
        """What the jobs have in common that are joined, and refused together."""
        return self.name, self.tasks

    def __str__(self) -> str:
        """Return what is graded; no two jobs of a submission are called the same."""
        words = " and ".join(map(str, self.tasks))
        if isinstance(self.part, GeneratedScenario):
            words += f", seed {self.part.seed}"
        elif self.part is not None:
            words += f" against {self.part.opponent}, run {self.part.run + 1}"
        return words


def jobs_of(entry: Entry) -> Iterator[Job]:
    """Yield the jobs of a submission; each generated scenario is solved once for both seats.

    In battles an untrained policy plays `RUNS` runs with other dice.
    """
    name, policies, tasks = entry
    players = policies if len(policies) > 1 else policies * RUNS
    battles = [BattleRun(opponent, *run) for opponent in POOL for run in enumerate(players)]
    for scenario in dict.fromkeys(task.scenario for task in tasks):
        own = tuple(task for task in tasks if task.scenario == scenario)
        kind = own[0].kind
        if kind is not None:
            scenarios = protocol.generated_scenarios(kind)
            yield from (Job(name, policies, own, each) for each in scenarios)
        elif own[0].track == "battles":
            yield from (Job(name, policies, (task,), each) for task in own for each in battles)
        else:
            yield from (Job(name, policies, (task,)) for task in own)


def do_job(job: Job) -> tuple[Job, Line]:
    """Grade; returns the job with its line: what was found, or why the policy was refused."""
    try:
        return job, {"job": str(job), "found": _grade(job)}
    except ValueError as error:  # it does not fit, or TooLarge
        return job, {"job": str(job), "refused": one_line(error)}


def _grade(job: Job) -> Any:
    task = job.tasks[0]
    if isinstance(job.part, GeneratedScenario):
        return protocol.grade_generated(job.policies, [each.seat for each in job.tasks], job.part)
    if job.part is not None:
        return protocol.play_run(job.part, task)
    grade = protocol.grade_duel if task.track == "duels" else protocol.grade_hidden
    return grade(job.policies, task)


def do_jobs(jobs: Sequence[Job], workers: Workers) -> Iterator[Line]:
    """Yield the lines of jobs; after one that is refused, others of its tasks are not begun."""
    refused: dict[Any, str] = {}
    done = workers.map(do_job, (job for job in jobs if job.group not in refused))
    for job in jobs:
        if job.group not in refused:
            # Elsewhere jobs may have been begun before one of their tasks was refused.
            line = next(line for other, line in done if other.group not in refused)
            yield line
            if "refused" in line:
                refused[job.group] = line["refused"]
        else:
            yield {"job": str(job), "refused": refused[job.group]}


@dataclass(frozen=True)
class Grades:
    """What was found: by submission, track and task, of tasks that are graded in full.

    Attributes:
        results: by submission, with all tracks.
        refused: tasks that could not be graded, and why, a line each.
    """

    results: dict[str, dict[str, dict[str, Any]]] = field(default_factory=dict)
    refused: list[str] = field(default_factory=list)


def join_jobs(jobs: Iterable[Job], finished: Iterable[Job], lines: Iterable[Line]) -> Grades:
    """Join what jobs have found, by task; `jobs` are all, and `finished` those of the lines."""
    grades = Grades()
    groups: dict[Any, list[tuple[Job, Line]]] = {}
    for job, line in zip(finished, lines, strict=True):
        groups.setdefault(job.group, []).append((job, line))
    sizes = Counter(job.group for job in jobs)
    for (name, tasks), parts in groups.items():
        tracks = grades.results.setdefault(name, {track: {} for track in TRACKS})
        reasons = [line["refused"] for _, line in parts if "refused" in line]
        if reasons:
            grades.refused.extend([f"{name}: {task}: {reasons[0]}" for task in tasks])
        elif len(parts) == sizes[name, tasks]:
            found = [(job, line["found"]) for job, line in parts]
            for task in tasks:
                tracks[task.track][str(task)] = _joined(found, task)
    return grades


def _joined(parts: Sequence[tuple[Job, Any]], task: Task) -> Any:
    """Join what the jobs of a task have found.

    In generated scenarios these are a seat's scores, a list for each run; in a battle mean points
    by opponent, of each run.
    """
    if task.track == "battles":
        points: dict[str, list[float]] = {opponent: [] for opponent in POOL}
        for job, found in parts:
            assert isinstance(job.part, BattleRun)
            points[job.part.opponent].append(found)
        return points
    if task.kind is None:
        return parts[0][1]
    return [
        [score for scores in run for score in scores]
        for run in zip(*(found[task.seat] for _, found in parts), strict=True)
    ]
