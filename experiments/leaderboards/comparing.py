"""Comparisons of submissions in their common tasks, corrected for their number."""

from collections.abc import Mapping, Sequence
from itertools import combinations
from typing import Any

from experiments.leaderboards.page import MISSING, score_matrix
from experiments.leaderboards.protocol import SAMPLED, TRACKS
from experiments.leaderboards.submissions import Submission
from experiments.outcomes import Line
from experiments.statistics import (
    Floats,
    Interval,
    adjust_for_many,
    mean,
    p_value,
    probability_of_improvement,
    run_interval,
)
from experiments.tables import ResultTable


def compare(submissions: Sequence[Submission]) -> list[Line]:
    """Compare each pair of submissions in each track with common tasks.

    In tracks of generated scenarios, the scenarios are a sample: differences are between the mean
    scores over runs, paired by scenario. In the other tracks, the runs are a sample, within each
    task. `p` is the p-value of the mean difference, adjusted for all comparisons by the method of
    Holm; None if nothing varies, as between two untrained policies with exact scores.
    """
    lines = [
        line
        for pair in combinations(submissions, 2)
        for track in TRACKS
        if (line := _compare_in(track, *pair)) is not None
    ]
    varying = [line for line in lines if line["p"] is not None]
    adjusted = adjust_for_many([line["p"] for line in varying])
    for line, value in zip(varying, adjusted, strict=True):
        line["p"] = value
    return lines


def _compare_in(track: str, *pair: Submission) -> Line | None:
    common = [task for task in TRACKS[track] if all(str(task) in getattr(e, track) for e in pair)]
    if not common:
        return None
    first, second = (score_matrix(each, common) for each in pair)
    assert first is not None
    assert second is not None
    if track in SAMPLED:
        paired = (first.mean(axis=0) - second.mean(axis=0))[:, None]
        difference, p = run_interval(mean, paired), p_value(mean, paired)
    else:
        difference = run_interval(_difference, first, second)
        p = p_value(_difference, first, second)
    better = run_interval(probability_of_improvement, first, second, bounds=(0.0, 1.0))
    return {
        "track": track,
        "tasks": len(common),
        "policies": [each.name for each in pair],
        "means": [float(scores.mean()) for scores in (first, second)],
        "difference": vars(difference),
        "improvement": vars(better),
        "p": p,
    }


def _difference(first: Floats, second: Floats) -> Any:
    return mean(first) - mean(second)


def comparison_rows(lines: Sequence[Mapping[str, Any]]) -> list[list[str]]:
    """Return the table of comparisons."""
    rows = [
        ["first", "second", "track", "tasks", "mean", "mean", "difference", "first better", "p"]
    ]
    for line in lines:
        difference = Interval(**line["difference"])
        rows.append(
            [
                *line["policies"],
                line["track"],
                f"{line['tasks']} of {len(TRACKS[line['track']])}",
                *(f"{value:.1f}" for value in line["means"]),
                f"{difference.value:+.1f} [{difference.low:+.1f}, {difference.high:+.1f}]",
                str(Interval(**line["improvement"])),
                _p_text(line["p"]),
            ]
        )
    return rows


def _p_text(p: float | None) -> str:
    if p is None:
        return MISSING
    return f"{p:.3f}" if p >= 0.001 else "< 0.001"


COMPARISONS = ResultTable(
    "means over common tasks; chance that a run of the first is better; p adjusted for all lines",
    comparison_rows,
    (0, 1, 2),
)
