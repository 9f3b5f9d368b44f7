"""The jobs of a grading, which workers run one by one, and their results joined by task."""

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
    both_ways,
)
from experiments.outcomes import Line
from experiments.tournaments.guarding import one_line
from experiments.workers import Workers


class Entry(NamedTuple):
    """A submission's policies, one per run, and the tasks to grade them on."""

    name: str
    policies: list[str]
    tasks: Sequence[Task]


class Job(NamedTuple):
    """A unit of grading: one task, several tasks on a generated scenario, or a run of a battle.

    `others` are the models of `policies`, if they are models, with the other way to choose actions.
    """

    name: str
    policies: list[str]
    others: list[str]
    tasks: tuple[Task, ...]
    part: GeneratedScenario | BattleRun | None = None

    @property
    def group(self) -> tuple[str, tuple[Task, ...]]:
        """Key shared by jobs that are joined into one result and fail together."""
        return self.name, self.tasks

    def __str__(self) -> str:
        """Return the tasks as text, unique among a submission's jobs."""
        words = " and ".join(map(str, self.tasks))
        if isinstance(self.part, GeneratedScenario):
            words += f", seed {self.part.seed}"
        elif self.part is not None:
            other = ", the other way" if self.part.policy in self.others else ""
            words += f" against {self.part.opponent}, run {self.part.run + 1}{other}"
        return words


def jobs_of(entry: Entry) -> Iterator[Job]:
    """Yield a submission's jobs. Each generated scenario is solved once for both seats.

    In battles, a single policy plays `RUNS` runs with different dice.
    """
    for scenario in dict.fromkeys(task.scenario for task in entry.tasks):
        own = tuple(task for task in entry.tasks if task.scenario == scenario)
        kind, track = own[0].kind, own[0].track
        policies, others = both_ways(entry.policies, track)
        if kind is not None:
            for each in protocol.generated_scenarios(kind):
                yield Job(entry.name, policies, others, own, each)
            continue
        for task in own:
            job = Job(entry.name, policies, others, (task,))
            yield from _battles_of(job) if track == "battles" else (job,)


def _battles_of(job: Job) -> Iterator[Job]:
    """Yield the jobs of a battle, one for each opponent and run."""
    for opponent in POOL:
        for players in (job.policies, job.others):
            for run, policy in enumerate(players * RUNS if len(players) == 1 else players):
                yield job._replace(part=BattleRun(opponent, run, policy))


def do_job(job: Job) -> tuple[Job, Line]:
    """Run a job, and return it with its line: the result, or the reason for the failure."""
    try:
        return job, {"job": str(job), "found": _grade(job)}
    except ValueError as error:  # the policy does not fit, or TooLarge
        return job, {"job": str(job), "rejected": one_line(error)}


def _grade(job: Job) -> Any:
    task, policies = job.tasks[0], [*job.policies, *job.others]
    if isinstance(job.part, GeneratedScenario):
        by_seat = dict.fromkeys((each.seat for each in job.tasks), policies)
        return protocol.grade_generated(by_seat, job.part)
    if job.part is not None:
        return protocol.play_run(job.part, task)
    grade = protocol.grade_duel if task.track == "duels" else protocol.grade_hidden
    return grade(policies, task)


def do_jobs(jobs: Sequence[Job], workers: Workers) -> Iterator[Line]:
    """Yield the jobs' lines. After a failed job, no other jobs of its tasks are started."""
    rejected: dict[Any, str] = {}
    done = workers.map(do_job, (job for job in jobs if job.group not in rejected))
    for job in jobs:
        if job.group not in rejected:
            # Workers may have started jobs before another job of the same tasks failed.
            line = next(line for other, line in done if other.group not in rejected)
            yield line
            if "rejected" in line:
                rejected[job.group] = line["rejected"]
        else:
            yield {"job": str(job), "rejected": rejected[job.group]}


@dataclass(frozen=True)
class Grades:
    """Results for completely graded tasks, by submission, track and task.

    Attributes:
        ranked: results by submission, including all tracks.
        others: the same for models that choose actions the other way.
        rejected: a line for each task that could not be graded, with the reason.
    """

    ranked: dict[str, dict[str, dict[str, Any]]] = field(default_factory=dict)
    others: dict[str, dict[str, dict[str, Any]]] = field(default_factory=dict)
    rejected: list[str] = field(default_factory=list)


def join_jobs(jobs: Iterable[Job], finished: Iterable[Job], lines: Iterable[Line]) -> Grades:
    """Join the jobs' results by task. `jobs` holds all jobs, and `finished` those with lines."""
    grades = Grades()
    groups: dict[Any, list[tuple[Job, Line]]] = {}
    for job, line in zip(finished, lines, strict=True):
        groups.setdefault(job.group, []).append((job, line))
    sizes = Counter(job.group for job in jobs)
    for (name, tasks), parts in groups.items():
        both = [
            each.setdefault(name, {track: {} for track in TRACKS})
            for each in (grades.ranked, grades.others)
        ]
        reasons = [line["rejected"] for _, line in parts if "rejected" in line]
        if reasons:
            grades.rejected.extend([f"{name}: {task}: {reasons[0]}" for task in tasks])
        elif len(parts) == sizes[name, tasks]:
            found = [(job, line["found"]) for job, line in parts]
            for task in tasks:
                for tracks, result in zip(both, _joined(found, task), strict=True):
                    if result:
                        tracks[task.track][str(task)] = result
    return grades


def _joined(parts: Sequence[tuple[Job, Any]], task: Task) -> tuple[Any, Any]:
    """Return a task's ranked and other result: mean points by opponent, or scores by run."""
    first = parts[0][0]
    if task.track == "battles":
        return _points(parts, first.policies), _points(parts, first.others)
    runs = parts[0][1]
    if task.kind is not None:
        runs = [
            [score for scores in run for score in scores]
            for run in zip(*(found[task.seat] for _, found in parts), strict=True)
        ]
    count = len(first.policies)
    return runs[:count], runs[count:]


def _points(parts: Sequence[tuple[Job, Any]], policies: Sequence[str]) -> dict[str, list[float]]:
    """Return the mean points of some policies by opponent, in the order of the runs."""
    points: dict[str, list[float]] = {}
    for job, found in parts:
        assert isinstance(job.part, BattleRun)
        if job.part.policy in policies:
            points.setdefault(job.part.opponent, []).append(found)
    return points
