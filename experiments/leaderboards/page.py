"""The page docs/leaderboard.md, and the submission statistics on it."""

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from experiments.leaderboards.protocol import (
    BATTLES,
    BUDGET,
    POINTS_UNIT,
    RUNS,
    TASKS,
    TRACKS,
    Task,
    scenarios_at_stake,
)
from experiments.leaderboards.submissions import Submission
from experiments.statistics import (
    Floats,
    Interval,
    bootstrap,
    interquartile_mean,
    mean,
    run_interval,
)
from experiments.tables import markdown_table
from wfb_gym.generating import AXES, Axis
from wfb_gym.seats import SEATS

PAGE = Path(__file__).parents[2] / "docs" / "leaderboard.md"

MISSING = "–"  # noqa: RUF001
_OVER_BUDGET = "†"
_LINK = re.compile(r"\[([^\]]+)\]\([^)]+\.md[^)]*\)")
"""A link to another page, which a folder of one's own does not contain."""
_OWN_INTRODUCTION = """# Submissions in {folder}

`python -m experiments.leaderboard --folder {folder}` generates this page from the JSON files in the
folder. The published policies, and an explanation of the columns, are in `docs/leaderboard.md`.
"""
INTRODUCTION = """# Leaderboard

This page compares policies under the [benchmark protocol](benchmark.md). The protocol defines the
tracks and explains how to submit a result. Do not edit this page:
`python -m experiments.leaderboard` generates it from `experiments/leaderboards/entries/`.

The duels, hidden and generated tracks report exact normalised scores. 100 is optimal play and 0 is
random play. Values are interquartile means over runs, and under Overall over scenarios and runs.
They leave out the best and the worst quarter, so a policy with 100.0 can fail in single scenarios.
The battles track reports the mean points against random, greedy and veteran, per 1,000 points of
army. The [gallery](gallery.md) and [strength in battles](experiments/players.md) use another pool
(greedy, veteran and phase-search:2), so their points in battles are not comparable with these.

† marks policies that were trained for more steps than the [budget](benchmark.md#budget).

Policies are in the order of their scores in the duels. Policies without one follow, by name.

Brackets contain the [95 % interval](benchmark.md#reported-statistics) over runs. Untrained policies
with exact grades have no interval.
"""
HIDDEN = """Optimal play is an [equilibrium](hidden-items.md) that mixes actions. A policy that
never bluffs loses to an enemy who knows the policy.

"""
GENERATED = """The 5th percentile of the scores measures how badly a policy can fail. The last
column is the share of the points between random and optimal play that the policy wins. It weights
each scenario by the points at stake. Intervals are over scenarios, with the mean of a policy's runs
in each scenario.

"""
BY_KIND = """Each cell contains the interquartile mean / the 5th percentile.

"""
BY_AXIS = """Each cell contains the interquartile mean / the 5th percentile. The training kinds of
an axis are seen, the held-out kinds are unseen. A policy generalises along an axis if its unseen
column is about as high as its seen column. The axes have no column under Overall: a policy trains
for one axis, so a mean over all four would have no meaning. If a policy trained on both or on
neither, the two columns only compare the difficulty of the kinds. The descriptions under
[Policies](#policies) name the training.

"""


def marked_name(submission: Submission) -> str:
    """Return a submission's name, with a mark if its training exceeds the budget."""
    return submission.name + _OVER_BUDGET * (submission.steps > BUDGET)


def score_matrix(submission: Submission, tasks: Sequence[Task]) -> Floats | None:
    """Return a submission's scores on a track's tasks, (runs, tasks), or None if one is missing."""
    found = [task_scores(submission, task) for task in tasks]
    columns = [column for column in found if column is not None]
    return np.concatenate(columns, axis=1) if len(columns) == len(found) else None


def task_scores(submission: Submission, task: Task) -> Floats | None:
    """Return a submission's scores on a task, (runs, parts of the task), or None if it has none.

    A kind's parts are its scenarios. A battle's parts are its opponents, with scores in points per
    `POINTS_UNIT` points of army.
    """
    found: Any = getattr(submission, task.track).get(str(task))
    if found is None:
        return None
    if task.track in ("duels", "hidden"):
        return np.array(found)[:, None]
    if task.kind is not None:
        return np.array(found)
    return np.array(list(found.values())).T * POINTS_UNIT / BATTLES[task.scenario]


def track_interval(submission: Submission, track: str) -> Interval | None:
    """Return a submission's mean score on a track, or None if a task is missing."""
    scores = score_matrix(submission, TRACKS[track])
    return None if scores is None else _interval(scores, track)


def task_interval(submission: Submission, task: Task) -> Interval | None:
    """Return a submission's score on a single scenario's task, or None if it is missing."""
    scores = task_scores(submission, task)
    return None if scores is None else _interval(scores, task.track)


def _interval(scores: Floats, track: str) -> Interval:
    """Return the mean points in battles, otherwise the interquartile mean of exact scores."""
    if track == "battles":
        return run_interval(mean, scores)
    return run_interval(interquartile_mean, scores, bounds=(-np.inf, 100.0))


def generated_intervals(submission: Submission, seat: str) -> list[Interval] | None:
    """Return a submission's scores over a seat's generated scenarios, or None if a kind is missing.

    The scores are the interquartile mean, the 5th percentile, and the share of points at stake in
    %. The bootstrap resamples scenarios, each with the mean score over the runs.
    """
    tasks = [task for task in TRACKS["generated"] if task.seat == seat]
    found = [task_scores(submission, task) for task in tasks]
    there = [each.mean(axis=0) for each in found if each is not None]
    if len(there) < len(found):
        return None
    scores = np.concatenate(there)
    points = [each.points[seat] for task in tasks for each in scenarios_at_stake(task)]
    stakes = np.array([optimum - random for random, optimum in points])

    def five_percent(drawn: Floats) -> Any:
        return np.quantile(scores[drawn[..., 0].astype(int)], 0.05, axis=-1)

    def share(drawn: Floats) -> Any:
        at = drawn[..., 0].astype(int)
        return (scores[at] * stakes[at]).sum(axis=-1) / stakes[at].sum(axis=-1)

    # the bootstrap resamples scenario indices, because `share` needs scores and stakes
    numbers = np.arange(float(len(scores)))[:, None]
    middle = bootstrap(interquartile_mean, scores[:, None])
    return [middle, bootstrap(five_percent, numbers), bootstrap(share, numbers)]


def generated_rows(entries: Sequence[Submission]) -> list[list[str]]:
    """Return the table of the generated scenarios."""
    statistics = ("interquartile mean", "5th percentile", "share of points at stake, %")
    rows = [["policy", "seat", *statistics]]
    for each in entries:
        name = marked_name(each)
        for seat in SEATS:
            found = generated_intervals(each, seat)
            if found is not None:
                rows.append([name, seat, *(interval_text(one, "generated") for one in found)])
    return rows


def interval_text(found: Interval | None, track: str) -> str:
    """Return an interval as a table cell for a track."""
    if found is None:
        return MISSING
    form = "+.1f" if track == "battles" else ".1f"
    value, low, high = (format(each, form) for each in (found.value, found.low, found.high))
    return value if low == high else f"{value} [{low}, {high}]"


def rank(submissions: Sequence[Submission]) -> list[Submission]:
    """Sort submissions by their score in the duels. Submissions without one come last, by name."""

    def key(submission: Submission) -> tuple[bool, float, str]:
        found = track_interval(submission, "duels")
        return found is None, -(found.value if found is not None else 0.0), submission.name

    return sorted(submissions, key=key)


def task_rows(entries: Sequence[Submission], track: str) -> list[list[str]]:
    """Return a track's table: scores by policy and seat in each scenario or kind."""
    tasks = TRACKS[track]
    scenarios = dict.fromkeys(task.scenario.removeprefix("generated-") for task in tasks)
    rows = [["policy", "seat", *scenarios]]
    for each in entries:
        cells = [_task_cell(each, task) for task in tasks]
        if any(cell != MISSING for cell in cells):
            name = marked_name(each)
            rows += [[name, seat, *cells[number::2]] for number, seat in enumerate(SEATS)]
    return rows


def _task_cell(submission: Submission, task: Task) -> str:
    if task.kind is None:
        return interval_text(task_interval(submission, task), task.track)
    return _joint_cell([task_scores(submission, task)])


def axis_rows(entries: Sequence[Submission]) -> list[list[str]]:
    """Return the table of axes: a policy's scores on seen and on unseen kinds."""
    rows = [["policy", "seat", *(f"{name}: {side}" for name in AXES for side in Axis._fields)]]
    for each in entries:
        for seat in SEATS:
            found = [
                [task_scores(each, TASKS[f"generated-{kind}/{seat}"]) for kind in kinds]
                for axis in AXES.values()
                for kinds in axis
            ]
            cells = [_joint_cell(part) for part in found]
            if any(cell != MISSING for cell in cells):
                rows.append([marked_name(each), seat, *cells])
    return rows


def _joint_cell(parts: Sequence[Floats | None]) -> str:
    there = [each for each in parts if each is not None]
    if len(there) < len(parts):
        return MISSING
    scores = np.concatenate(there, axis=1)
    return f"{interquartile_mean(scores):.1f} / {np.quantile(scores.mean(axis=0), 0.05):.0f}"


def _runs_of(submission: Submission) -> str:
    found = (task_scores(submission, task) for task in TASKS.values() if task.track != "battles")
    runs = max((len(scores) for scores in found if scores is not None), default=RUNS)
    return f"{runs} run" if runs == 1 else f"{runs} runs"


def make_page(submissions: Sequence[Submission], folder: Path | None = None) -> str:
    """Return the page's text, or the text of a page in a folder of one's own."""
    entries = rank(submissions)
    shown = [track for track in TRACKS if track != "axes"]
    overall = [["policy", "steps", *shown]]
    for each in entries:
        cells = [interval_text(track_interval(each, track), track) for track in shown]
        runs = f" ({_runs_of(each)})" if each.steps > BUDGET else ""
        steps = f"{each.steps:,}{runs}" if each.steps else "none"
        overall.append([marked_name(each), steps, *cells])
    about = [[marked_name(each), each.description, each.authors, each.code] for each in entries]
    tables = {
        "Overall": ("", overall),
        "Duels": ("", task_rows(entries, "duels")),
        "Hidden items": (HIDDEN, task_rows(entries, "hidden")),
        "Generated": (GENERATED, generated_rows(entries)),
        "Generated, by kind": (BY_KIND, task_rows(entries, "generated")),
        "Axes of generalisation": (BY_AXIS, axis_rows(entries)),
        "Battles": ("", task_rows(entries, "battles")),
        "Policies": ("", [["policy", "description", "authors", "code"], *about]),
    }
    parts = [
        f"## {title}\n\n{words}{markdown_table(rows)}\n"
        for title, (words, rows) in tables.items()
        if len(rows) > 1
    ]
    if folder is None:
        return "\n".join([INTRODUCTION, *parts])
    return _LINK.sub(r"\1", "\n".join([_OWN_INTRODUCTION.format(folder=folder), *parts]))
