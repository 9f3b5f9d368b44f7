"""The page docs/leaderboard.md and the statistics of submissions that it shows."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from experiments.common import markdown_table
from experiments.leaderboards.protocol import (
    BATTLES,
    POINTS_UNIT,
    TRACKS,
    Task,
    generated_scenarios,
)
from experiments.leaderboards.submissions import Submission
from experiments.statistics import Floats, Interval, bootstrap, interquartile_mean, mean
from wfb_gym.seats import SEATS
from wfb_gym.solver.evaluation import SAME

PAGE = Path(__file__).parents[2] / "docs" / "leaderboard.md"

MISSING = "–"  # noqa: RUF001
INTRODUCTION = """# Leaderboard

Results under the [benchmark protocol](benchmark.md), which says what the tracks are and how to add
a line. `python -m experiments.leaderboard` makes this page of the files in
`experiments/leaderboards/entries/`; do not edit it.

Duels and generated scenarios: exact normalised scores, 100 is optimal play, 0 random play; the
interquartile mean over tasks and runs. Battles: mean points against random, greedy and veteran,
for each 1,000 points of army. In brackets the stratified bootstrap 95 % interval over runs; a
policy that is not trained and is graded exactly has none.
"""
GENERATED = """How often a policy fails, beside how good it is: the 5th percentile of its scores,
and the share of all points between random and optimal play that it wins, where a scenario counts by
what is at stake in it. Intervals are over scenarios, the mean of a policy's runs in each.
"""


def score_matrix(submission: Submission, track: str) -> Floats | None:
    """Return a submission's scores in a track, (runs, tasks); None if a task is missing."""
    found = [task_scores(submission, task) for task in TRACKS[track]]
    columns = [column for column in found if column is not None]
    return np.concatenate(columns, axis=1) if len(columns) == len(found) else None


def task_scores(submission: Submission, task: Task) -> Floats | None:
    """Return a submission's scores in a task, (runs, parts of the task); None if there are none.

    The parts of the generated task are its scenarios; those of a battle its opponents, in points
    for each `POINTS_UNIT` points of army.
    """
    found: Any = getattr(submission, task.track).get(str(task))
    if found is None:
        return None
    if task.track == "duels":
        return np.array(found)[:, None]
    if task.track == "generated":
        return np.array(found)
    return np.array(list(found.values())).T * POINTS_UNIT / BATTLES[task.scenario]


def track_interval(submission: Submission, track: str) -> Interval | None:
    """Return a submission's mean score in a track; None if a task is missing."""
    scores = score_matrix(submission, track)
    statistic = mean if track == "battles" else interquartile_mean
    return None if scores is None else bootstrap(statistic, scores)


def task_interval(submission: Submission, task: Task) -> Interval | None:
    """Return a submission's mean score in a single task; None if it is missing."""
    scores = task_scores(submission, task)
    statistic = interquartile_mean if task.track == "generated" else mean
    return None if scores is None else bootstrap(statistic, scores)


def generated_intervals(submission: Submission, seat: str) -> list[Interval] | None:
    """Return a submission's scores over the generated scenarios of a seat; None if it has none.

    They are the interquartile mean, the 5th percentile, and the share of all stakes in %. Scenarios
    are drawn, with a score for each, the mean over runs.
    """
    (task,) = (task for task in TRACKS["generated"] if task.seat == seat)
    found = task_scores(submission, task)
    if found is None:
        return None
    scores, points = found.mean(axis=0), [each.points for each in generated_scenarios()]
    stakes = np.array([each[seat][1] - each[seat][0] for each in points if seat in each])
    stakes = stakes[stakes > SAME]

    def five_percent(drawn: Floats) -> Any:
        return np.quantile(scores[drawn[..., 0].astype(int)], 0.05, axis=-1)

    def share(drawn: Floats) -> Any:
        at = drawn[..., 0].astype(int)
        return (scores[at] * stakes[at]).sum(axis=-1) / stakes[at].sum(axis=-1)

    numbers = np.arange(float(len(scores)))[:, None]
    middle = bootstrap(interquartile_mean, scores[:, None])
    return [middle, bootstrap(five_percent, numbers), bootstrap(share, numbers)]


def generated_rows(entries: Sequence[Submission]) -> list[list[str]]:
    """Return the table of the generated scenarios."""
    rows = [["policy", "seat", "interquartile mean", "5th percentile", "of all stakes, %"]]
    for each in entries:
        for seat in SEATS:
            found = generated_intervals(each, seat)
            if found is not None:
                rows.append([each.name, seat, *(interval_text(one, "generated") for one in found)])
    return rows


def interval_text(found: Interval | None, track: str) -> str:
    """Return an interval in a track as a cell of a table."""
    if found is None:
        return MISSING
    form = "+.1f" if track == "battles" else ".1f"
    value, low, high = (format(each, form) for each in (found.value, found.low, found.high))
    return value if low == high else f"{value} [{low}, {high}]"


def rank(submissions: Sequence[Submission]) -> list[Submission]:
    """Sort submissions by their score in the duels; those that lack a duel come last, by name."""

    def key(submission: Submission) -> tuple[bool, float, str]:
        found = track_interval(submission, "duels")
        return found is None, -(found.value if found is not None else 0.0), submission.name

    return sorted(submissions, key=key)


def make_page(submissions: Sequence[Submission]) -> str:
    """Write the text of the page."""
    entries = rank(submissions)
    overall = [["policy", "steps", *TRACKS]]
    for each in entries:
        cells = [interval_text(track_interval(each, track), track) for track in TRACKS]
        overall.append([each.name, f"{each.steps:,}" if each.steps else "none", *cells])
    tables = {"Overall": overall}
    for track, tasks in TRACKS.items():
        by_seat = len(tasks) > len(SEATS)  # a line for each seat of a policy
        rows = [["policy", *(task.seat for task in tasks)]]
        if by_seat:
            rows = [["policy", "seat", *dict.fromkeys(task.scenario for task in tasks)]]
        for each in entries:
            cells = [interval_text(task_interval(each, task), track) for task in tasks]
            if all(cell == MISSING for cell in cells):
                continue
            if by_seat:
                rows += [[each.name, seat, *cells[number::2]] for number, seat in enumerate(SEATS)]
            else:
                rows.append([each.name, *cells])
        if track == "generated":
            rows = generated_rows(entries)
        if len(rows) > 1:
            tables[track.capitalize()] = rows
    about = [[each.name, each.description, each.authors, each.code] for each in entries]
    tables["Policies"] = [["policy", "what it is", "by", "code"], *about]
    words = {"Generated": f"{GENERATED}\n"}
    parts = [
        f"## {title}\n\n{words.get(title, '')}{markdown_table(rows)}\n"
        for title, rows in tables.items()
    ]
    return "\n".join([INTRODUCTION, *parts])
