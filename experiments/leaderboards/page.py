"""The page docs/leaderboard.md, and the submission statistics on it."""

import re
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from experiments.leaderboards.protocol import (
    BATTLES,
    RANKED_WAYS,
    RUNS,
    SAMPLED,
    TASKS,
    TRACKS,
    Task,
    stakes_of,
)
from experiments.leaderboards.submissions import BEST, Results, Submission
from experiments.statistics import (
    Floats,
    Interval,
    bootstrap,
    fifth_percentile,
    interquartile_mean,
    mean,
    run_interval,
    share_of_stakes,
)
from experiments.tables import markdown_table
from wfb_gym.generating import AXES, Axis
from wfb_gym.opponents.policy_spec import WAYS
from wfb_gym.seats import SEATS, seat_number

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

Scores are exact and normalised: 100 is optimal play and 0 is random play, each against its best
response. Battles are too large to solve: there, 100 is `phase-search` and 0 is random play, in
luck-adjusted points against the pool of random, greedy, veteran and phase-search. A better player
scores above 100.

† marks policies that were trained for more steps than the [budget](benchmark.md#budget).

Brackets contain the [95 % interval](benchmark.md#reported-statistics): over scenarios in the
generated and hard tracks, otherwise over runs. Untrained policies with exact grades have no
interval over runs.
"""
OVERALL = """Each column is the track's primary number, by which the track is ranked. Policies
without a complete track are not in this table.

"""
STANDINGS = """The track is ranked by the {primary}. The 5th percentile measures how badly a policy
can fail. The share of the stakes, in %, weights each task by the points between random and optimal
play. The interquartile mean leaves out the best and the worst quarter.

"""
HARD = """`phase-search` and `search` fail in these scenarios, which were
[selected by their scores](benchmark.md#tracks).

"""
HIDDEN = """Optimal play is an [equilibrium](hidden-items.md) that mixes actions. A policy that
never bluffs loses to an enemy who knows the policy.

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
BOTH_WAYS = """A network can take its most likely action, or draw its actions from its policy. Each
track ranks one way, the same for all policies: drawn actions with hidden items, which need mixed
strategies, otherwise the most likely ones. Each cell is the mean score in the policy's tasks of the
track.

"""
TRAINING = """Numbers are for one run. A supervised policy learns from actions or exact values that
another player supplied.

- kind: with the features, unless the policy sees all observed numbers. Raw features
  (`features="raw"`) contain no expected values.
- exact: whether training or play uses exact solutions.
- steps, tuning: environment steps of the run and of all tuning runs; both count for the budget.
- recorded: other players' decisions that the run learned from.
- samples: decisions in all gradient steps, each counted as often as it was used.
- CPU s, s: CPU time and time, in seconds.

"""
_RANKED_BY = {"duels": 0, "hidden": 0, "generated": 3, "hard": 3}
"""Number of the statistic by which a track of exact scores is ranked."""
_HEADLINE = ("generated", "hard", "hidden", "battles", "duels")
"""Tracks in the overall table, the most important first."""
_Statistic = Callable[[Floats, Floats], Any]
_STATISTICS: dict[str, _Statistic] = {
    "mean": lambda scores, stakes: mean(scores),
    "interquartile mean": lambda scores, stakes: interquartile_mean(scores),
    "5th percentile": lambda scores, stakes: fifth_percentile(scores),
    "share of the stakes": share_of_stakes,
}
"""Statistics of scores, (..., runs, tasks), and of the tasks' points at stake, (..., tasks)."""


def marked_name(submission: Submission) -> str:
    """Return a submission's name, with a mark if its training exceeds the budget of a track."""
    tracks = [track for track in TRACKS if getattr(submission, track)]
    return submission.name + _OVER_BUDGET * any(map(submission.exceeds_budget, tracks))


def score_matrix(results: Results, tasks: Sequence[Task]) -> Floats | None:
    """Return the scores on a track's tasks, (runs, tasks), or None if one is missing."""
    found = [task_scores(results, task) for task in tasks]
    columns = [column for column in found if column is not None]
    return np.concatenate(columns, axis=1) if len(columns) == len(found) else None


def task_scores(results: Results, task: Task) -> Floats | None:
    """Return the scores on a task, (runs, parts of the task), or None if there are none.

    A kind's parts are its scenarios, and a battle's parts are its opponents.
    """
    found: Any = getattr(results, task.track).get(str(task))
    if found is None:
        return None
    if task.track in ("duels", "hidden"):
        return np.array(found)[:, None]
    if task.kind is not None:
        return np.array(found)
    random, strong = BATTLES[task.scenario][seat_number(task.seat)]
    return 100.0 * (np.array(list(found.values())).T - random) / (strong - random)


def track_statistics(submission: Submission, track: str) -> dict[str, Interval] | None:
    """Return a submission's statistics in a track of exact scores, or None if a task is missing."""
    scores = score_matrix(submission, TRACKS[track])
    if scores is None:
        return None
    return {name: _track_interval(each, scores, track) for name, each in _STATISTICS.items()}


def track_interval(submission: Submission, track: str) -> Interval | None:
    """Return a track's primary number for a submission, or None if a task is missing."""
    scores = score_matrix(submission, TRACKS[track])
    if scores is None:
        return None
    if track not in _RANKED_BY:
        return _interval(scores, track)
    return _track_interval(list(_STATISTICS.values())[_RANKED_BY[track]], scores, track)


def _track_interval(statistic: _Statistic, scores: Floats, track: str) -> Interval:
    """Return a statistic of a track's exact scores.

    If the scenarios are a sample, the bootstrap resamples them, each with the mean score over runs.
    """
    stakes = np.concatenate([stakes_of(task) for task in TRACKS[track]])
    if track not in SAMPLED:
        return run_interval(lambda drawn: statistic(drawn, stakes), scores, bounds=(-np.inf, BEST))
    means = scores.mean(axis=0)

    def of_scenarios(drawn: Floats) -> Any:
        at = drawn[..., 0].astype(int)
        return statistic(means[at][..., None, :], stakes[at])

    return bootstrap(of_scenarios, np.arange(float(len(means)))[:, None])


def task_interval(submission: Submission, task: Task) -> Interval | None:
    """Return a submission's score on a single scenario's task, or None if it is missing."""
    scores = task_scores(submission, task)
    return None if scores is None else _interval(scores, task.track)


def _interval(scores: Floats, track: str) -> Interval:
    """Return the mean score in battles, otherwise the interquartile mean of exact scores."""
    if track == "battles":
        return run_interval(mean, scores)
    return run_interval(interquartile_mean, scores, bounds=(-np.inf, BEST))


def standing_rows(entries: Sequence[Submission], track: str) -> list[list[str]]:
    """Return the statistics of a track of exact scores by policy, the best first."""
    found = [(each, track_statistics(each, track)) for each in entries]
    there = [(each, list(intervals.values())) for each, intervals in found if intervals is not None]
    there.sort(key=lambda row: row[1][_RANKED_BY[track]].value, reverse=True)
    return [
        ["policy", "kind", *_STATISTICS],
        *(
            [marked_name(each), each.kind, *(interval_text(one) for one in intervals)]
            for each, intervals in there
        ),
    ]


def interval_text(found: Interval | None) -> str:
    """Return an interval as a table cell."""
    if found is None:
        return MISSING
    value, low, high = (
        f"{round(each, 1) + 0.0:.1f}" for each in (found.value, found.low, found.high)
    )
    return value if low == high else f"{value} [{low}, {high}]"


def rank(submissions: Sequence[Submission]) -> list[Submission]:
    """Sort submissions by their primary numbers, track by track. Those without come last."""

    def key(submission: Submission) -> tuple[list[float], str]:
        found = [track_interval(submission, track) for track in _HEADLINE]
        return [np.inf if one is None else -one.value for one in found], submission.name

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
        return interval_text(task_interval(submission, task))
    return _joint_cell([task_scores(submission, task)])


def axis_rows(entries: Sequence[Submission]) -> list[list[str]]:
    """Return the table of axes: a policy's scores on seen and on unseen kinds."""
    rows = [["policy", "seat", *(f"{side} {name}" for name in AXES for side in Axis._fields)]]
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


def both_ways_rows(entries: Sequence[Submission]) -> list[list[str]]:
    """Return the mean scores of networks that choose their actions in both ways, by track."""
    rows = [["policy", "track", "tasks", *WAYS]]
    for each in entries:
        for track in TRACKS:
            tasks = [task for task in TRACKS[track] if str(task) in getattr(each.other_way, track)]
            if tasks:
                ranked, other = (score_matrix(one, tasks) for one in (each, each.other_way))
                assert ranked is not None
                assert other is not None
                way = RANKED_WAYS[track]
                cells = {
                    name: interval_text(run_interval(mean, ranked if name == way else other))
                    for name in WAYS
                }
                cells[way] = f"**{cells[way]}**"
                number = f"{len(tasks)} of {len(TRACKS[track])}"
                rows.append([marked_name(each), track, number, *cells.values()])
    return rows


def training_rows(entries: Sequence[Submission]) -> list[list[str]]:
    """Return the authors' statements on the training of a run."""
    rows = [
        ["policy", "kind", "exact", "runs", "steps", "tuning", "recorded", "samples", "CPU s", "s"]
    ]  # fmt: skip
    for each in entries:
        if each.is_learned:
            numbers = (
                each.steps, each.tuning_steps, each.recorded, each.gradient_samples,
                each.cpu_seconds, each.wall_seconds,
            )  # fmt: skip
            cells = (MISSING if one is None else f"{one:,.0f}" for one in numbers)
            exact = "yes" if each.uses_exact else "no"
            features = "" if each.features == "all" else f", {each.features} features"
            stated = (f"{each.kind}{features}", exact, str(_runs_of(each)))
            rows.append([marked_name(each), *stated, *cells])
    return rows


def _runs_of(submission: Submission) -> int:
    found = (task_scores(submission, task) for task in TASKS.values() if task.track != "battles")
    return max((len(scores) for scores in found if scores is not None), default=RUNS)


def make_page(submissions: Sequence[Submission], folder: Path | None = None) -> str:
    """Return the page's text, or the text of a page in a folder of one's own."""
    entries = rank(submissions)
    overall = [["policy", "kind", *_HEADLINE]]
    for each in entries:
        cells = [interval_text(track_interval(each, track)) for track in _HEADLINE]
        if set(cells) != {MISSING}:
            overall.append([marked_name(each), each.kind, *cells])
    about = [[marked_name(each), each.description, each.authors, each.code] for each in entries]
    standings = {
        track: (STANDINGS.format(primary=list(_STATISTICS)[number]), standing_rows(entries, track))
        for track, number in _RANKED_BY.items()
    }
    tables = {
        "Overall": (OVERALL, overall),
        "Generated": standings["generated"],
        "Generated, by kind": (BY_KIND, task_rows(entries, "generated")),
        "Hard": (HARD + standings["hard"][0], standings["hard"][1]),
        "Hard, by kind": (BY_KIND, task_rows(entries, "hard")),
        "Hidden items": (HIDDEN + standings["hidden"][0], standings["hidden"][1]),
        "Hidden items, by scenario": ("", task_rows(entries, "hidden")),
        "Battles": ("", task_rows(entries, "battles")),
        "Duels": standings["duels"],
        "Duels, by scenario": ("", task_rows(entries, "duels")),
        "Axes of generalisation": (BY_AXIS, axis_rows(entries)),
        "Both ways to choose actions": (BOTH_WAYS, both_ways_rows(entries)),
        "Training": (TRAINING, training_rows(entries)),
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
