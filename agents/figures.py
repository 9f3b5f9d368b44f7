"""Figures about learning: learning curves, and scores on many scenarios."""

import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import NullFormatter

from agents.common import by_scenario, short_names
from agents.distillation.grading import Grade
from experiments.figures.dice import draw_casting
from experiments.figures.palette import BLACK, DPI, GREY, MARKERS, SEAT_COLOURS, SERIES
from wfb_gym.files import save_figure
from wfb_gym.players.interface import Agent
from wfb_gym.solver import Solution

_OPTIMAL = 100.0
_SCORE = "exact score"
_MILLIONS = "decisions, in millions"


def _draw_score_axis(axes: Axes, lowest: float) -> None:
    """Scale scores from the lowest (at most 0) to 100, and mark optimal and random play."""
    axes.axhline(_OPTIMAL, color=BLACK, linestyle="--", linewidth=1)
    axes.axhline(0.0, color=GREY, linestyle=":", linewidth=1)
    for score, name in ((_OPTIMAL, "optimal play"), (0.0, "random play")):
        axes.annotate(
            name, (1.0, score), (-4, 5), xycoords=("axes fraction", "data"),
            textcoords="offset points", ha="right", fontsize=9, color=GREY,
        )  # fmt: skip
    axes.set_ylim(min(0.0, lowest) - 5.0, _OPTIMAL + 10.0)
    axes.set_yticks(range(20 * int(min(0.0, lowest) // 20), 101, 20))
    axes.set_ylabel(_SCORE)


def _draw_legend_below(figure: Figure, axes: Axes) -> None:
    shown = axes.get_legend_handles_labels()
    figure.legend(*shown, loc="outside lower center", ncols=4, fontsize=9)


def draw_scores(runs: Sequence[Sequence[Mapping[str, Any]]], title: str, path: Path) -> None:
    """Draw learning curves of exact scores: the median over several runs, and a band of all.

    The legend shows the score of a run's last networks, which are saved: the median over all runs.

    The points on each run's curve have frames and scores, with the same frames in all runs. The
    plot ends with the shortest run.
    """
    figure = Figure(figsize=(7.5, 4.5), layout="constrained")
    axes = figure.subplots()
    points = list(zip(*runs, strict=False))
    places = [at[0]["frames"] / 1e6 for at in points]
    lowest = 0.0
    for (seat, colour), marker in zip(SEAT_COLOURS.items(), MARKERS, strict=False):
        scores = np.array([[one["scores"].get(seat, np.nan) for one in at] for at in points])
        if np.isnan(scores).any():
            continue
        middle = np.median(scores, 1)
        label = f"{seat}, last network: {middle[-1]:.1f}"
        axes.plot(places, middle, color=colour, marker=marker, markersize=4, label=label)
        if len(runs) > 1:
            axes.fill_between(places, scores.min(1), scores.max(1), color=colour, alpha=0.2)
        lowest = min(lowest, float(scores.min()))
    _draw_score_axis(axes, lowest)
    axes.set(xlabel=f"{_MILLIONS}, of both seats", xlim=(0.0, None))
    band = f"\nline: median of {len(runs)} runs, band: from the worst to the best"
    axes.set_title(title + (band if len(runs) > 1 else ""), fontsize=11)
    axes.grid(alpha=0.3)
    axes.legend(loc="lower right")
    save_figure(figure, path, DPI)


def draw_policy(solution: Solution, caster: Agent, path: Path) -> None:
    """Draw a trained caster's choices and the points they lose, if the scenario allows it."""
    try:
        draw_casting(solution, caster.act, path, "the trained caster")
    except ValueError as error:
        print(f"no {path.name}: {error}", file=sys.stderr)


def draw_learning_curve(curve: Sequence[Mapping[str, Any]], title: str, path: Path) -> None:
    """Draw mean points against each opponent with 95 % bands, and exact scores below them."""
    if not curve:
        return
    steps = [point["steps"] / 1e6 for point in curve]
    exact = [by_scenario(point["exact"]) for point in curve]
    figure = Figure(figsize=(8, 7.5 if exact[0] else 5), layout="constrained")
    axes, *below = figure.subplots(1 + bool(exact[0]), sharex=True, squeeze=False)[:, 0]
    for number, (name, shown) in enumerate(short_names(curve[0]["points"]).items()):
        means = np.array([point["points"][name]["mean"] for point in curve])
        half = np.array([point["points"][name]["half_width"] for point in curve])
        axes.plot(steps, means, label=f"against {shown}", **_series(number))
        colour = SERIES[number % len(SERIES)]
        axes.fill_between(steps, means - half, means + half, color=colour, alpha=0.2, linewidth=0)
    axes.axhline(0.0, color=GREY, linewidth=0.8)
    axes.set_ylabel("points per battle, with 95 % bands")
    for lower in below:
        lowest = 0.0
        for number, name in enumerate(exact[0]):
            scores = [np.nan if one[name]["score"] is None else one[name]["score"] for one in exact]
            lower.plot(steps, scores, label=name, **_series(number, BLACK if not name else None))
            lowest = min(lowest, float(np.nanmin([*scores, 0.0])))
        _draw_score_axis(lower, lowest)
        if len(exact[0]) > 1:
            lower.legend(loc="lower right")
    for each in (axes, *below):
        each.grid(alpha=0.3)
    axes.set_title(title)
    (axes, *below)[-1].set(xlabel=f"{_MILLIONS}, that it learned from", xlim=(0.0, None))
    _draw_legend_below(figure, axes)
    save_figure(figure, path, DPI)


def draw_comparison(results: Mapping[str, Any], path: Path) -> None:
    """Draw several learners' learning curves against decisions, one panel per seat.

    Lines are medians over runs, and bands range from the worst to the best run. The axis of
    decisions is logarithmic. Unfinished training runs are left out.
    """
    trainings = results["trainings"]
    figure = Figure(figsize=(10.0, 4.8), layout="constrained")
    panels = figure.subplots(1, len(SEAT_COLOURS), sharex=True, sharey=True)
    learners = list(dict.fromkeys(each["learner"] for each in trainings))
    lowest = 0.0
    for seat, axes in zip(SEAT_COLOURS, panels, strict=True):
        for number, learner in enumerate(learners):
            curves = [
                each["curve"]
                for each in trainings
                if each["learner"] == learner and seat in each["scores"]
            ]
            points = list(zip(*curves, strict=False))[1:]  # the first point has 0 decisions
            if not points:
                continue
            scores = np.array([[one["scores"][seat] for one in at] for at in points])
            lowest = min(lowest, float(scores.min()))
            places = [float(np.median([one["steps"] for one in at])) for at in points]
            style = _series(number)
            axes.plot(places, np.median(scores, 1), label=learner, **style)
            axes.fill_between(
                places, scores.min(1), scores.max(1), color=style["color"], alpha=0.15, linewidth=0
            )
    for seat, axes in zip(SEAT_COLOURS, panels, strict=True):
        _draw_score_axis(axes, lowest)
        axes.set(xscale="log", xlabel="decisions (self-play: of both seats), logarithmic")
        axes.set_title(f"as {seat}", fontsize=11)
        axes.xaxis.set_minor_formatter(NullFormatter())
        axes.grid(alpha=0.3)
        axes.label_outer()
    named, runs = results["args"]["scenario"], results["args"]["runs"]
    figure.suptitle(f"{named}: line: median of {runs} runs, band: from the worst to the best")
    _draw_legend_below(figure, panels[0])
    save_figure(figure, path, DPI)


def draw_offline(results: Mapping[str, Any], path: Path) -> None:
    """Draw the exact scores of all runs on data sets, and the recorded behaviour's scores.

    Each scenario has its own panel. Unfinished runs are left out.
    """
    parts = results["parts"]
    scenarios, kinds, learners = (
        list(dict.fromkeys(each[key] for each in parts)) for key in ("scenario", "kind", "learner")
    )
    figure = Figure(figsize=(1.0 + 3.2 * len(scenarios), 4.4), layout="constrained")
    grid = figure.subplots(1, len(scenarios), sharey=True, squeeze=False)[0]
    lowest = min(each["score"] for each in parts)
    for axes, scenario in zip(grid, scenarios, strict=True):
        own = [each for each in parts if each["scenario"] == scenario]
        recorded = {each["kind"]: each["behaviour_score"] for each in own}
        places = [kinds.index(kind) for kind in recorded]
        level = axes.hlines(
            list(recorded.values()), np.subtract(places, 0.35), np.add(places, 0.35), color=GREY,
            linewidth=2,
        )  # fmt: skip
        level.set_label("behaviour")
        for number, learner in enumerate(learners):
            some = [each for each in own if each["learner"] == learner]
            aside = 0.3 * (number - (len(learners) - 1) / 2)
            axes.plot(
                [kinds.index(each["kind"]) + aside for each in some],
                [each["score"] for each in some],
                label=learner,
                **_series(number) | {"linestyle": ""},
            )
        _draw_score_axis(axes, lowest)
        axes.set_xticks(range(len(kinds)), kinds)
        axes.set_title(f"{scenario}: {own[0]['seat']}", fontsize=11)
        axes.grid(alpha=0.3, axis="y")
        axes.label_outer()
    _draw_legend_below(figure, grid[0])
    save_figure(figure, path, DPI)


def _series(number: int, colour: str | None = None) -> dict[str, Any]:
    """Return a line's style. Later lines have larger, empty markers, visible in overlaps."""
    return {
        "color": colour or SERIES[number % len(SERIES)],
        "marker": MARKERS[number % len(MARKERS)],
        "markersize": 4 + 1.5 * number,
        "markerfacecolor": "none" if number else None,
        "linestyle": ("-", "--", "-.", ":")[number % 4],
    }


def draw_grades(grades: Sequence[Grade], path: Path) -> None:
    """Draw exact scores on many scenarios: by size, and as a cumulative distribution."""
    figure = Figure(figsize=(9.0, 4.2), layout="constrained")
    left, right = figure.subplots(1, 2, width_ratios=(3, 2))
    for seat, colour in SEAT_COLOURS.items():
        own = [one for one in grades if one.seat == seat]
        if not own:
            continue
        drawn = np.maximum([one.score for one in own], 0.0)
        sizes = [one.decisions for one in own]
        left.scatter(sizes, drawn, s=14, color=colour, alpha=0.6, linewidths=0, zorder=3)
        ordered = np.sort(drawn)[::-1]
        share = 100.0 * np.arange(1, len(ordered) + 1) / len(ordered)
        low = float(np.quantile(drawn, 0.05))
        right.plot(ordered, share, color=colour, linewidth=2, label=f"{seat}, 95 % reach {low:.0f}")
    _draw_score_axis(left, 0.0)
    left.set(xscale="log", xlabel="positions of the scenario")
    left.set_ylabel("exact score (below 0 drawn at 0)")
    left.xaxis.set_major_formatter(lambda size, _: f"{size:,.0f}")
    left.set_title("scenarios that it never saw", fontsize=11)
    right.set_title("how many reach which score", fontsize=11)
    right.set(xlabel="exact score", ylabel="scenarios with this score or more, %")
    right.set(xlim=(0.0, 102.0), ylim=(0.0, 102.0))
    right.legend(loc="lower left")
    for axes in (left, right):
        axes.grid(alpha=0.3)
    save_figure(figure, path, DPI)
