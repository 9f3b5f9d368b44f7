"""Pictures of learning: scores along the training, and over many scenarios."""

import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.figure import Figure

from agents.common import by_scenario, short_names
from agents.distillation.grading import Grade
from experiments.figures.dice import policy_beside_optimal
from wfb_gym.files import save_figure
from wfb_gym.players.interface import Agent
from wfb_gym.solver import Solution

_SCORE = "exact score (100 is optimal, 0 random)"
_COLOURS = {"caster": "#b5432a", "dispeller": "#2a6fb5"}
_SMALLEST_GAP = 0.01
"""Points of score below which a gap to the optimum is drawn as this."""


def draw_scores(
    runs: Sequence[Sequence[Mapping[str, Any]]], title: str, path: Path, across: str = "seconds"
) -> None:
    """Gap to the optimum, 100 less the exact score, along the training of one run or several.

    The points of each run's curve have seconds, frames (either goes on the x axis) and scores.
    """
    figure = Figure(figsize=(7.5, 4.5), layout="constrained")
    axes = figure.subplots()
    for seat, colour in _COLOURS.items():
        for number, run in enumerate(runs):
            points = [point for point in run if seat in point["scores"]]
            gaps = [max(_SMALLEST_GAP, 100.0 - point["scores"][seat]) for point in points]
            places = [point[across] for point in points]
            (line,) = axes.plot(places, gaps, color=colour, marker="o", markersize=3, linewidth=1.2)
            line.set_alpha(0.9 if len(runs) == 1 else 0.5)
            line.set_label(seat if number == 0 else "_")
    axes.axhline(0.5, color="black", linestyle="--", linewidth=1, label="score 99.5")
    axes.set_yscale("log")
    axes.invert_yaxis()
    ticks = [200.0, 100.0, 50.0, 20.0, 10.0, 5.0, 2.0, 1.0, 0.5, 0.2, 0.1, _SMALLEST_GAP]
    low, high = sorted(axes.get_ylim())
    ticks = [tick for tick in ticks if low <= tick <= high]
    axes.set_yticks(ticks, [f"{100.0 - tick:g}" for tick in ticks])
    axes.minorticks_off()
    across = "seconds of learning" if across == "seconds" else "decisions of both seats"
    axes.set(xlabel=across, ylabel=_SCORE, title=title)
    axes.grid(alpha=0.3)
    axes.legend(loc="lower right")
    save_figure(figure, path, 150)


def draw_openings(solution: Solution, caster: Agent, path: Path) -> None:
    """Draw what a trained caster opens with beside the optimum, where there is anything to draw."""
    try:
        policy_beside_optimal(solution, caster.act, path, "the trained caster")
    except ValueError as error:
        print(f"no {path.name}: {error}", file=sys.stderr)


def draw_learning_curve(curve: Sequence[Mapping[str, Any]], title: str, path: Path) -> None:
    """Draw mean points against each opponent with 95 % bands, and exact scores below."""
    if not curve:
        return
    steps = [point["steps"] for point in curve]
    exact = [by_scenario(point["exact"]) for point in curve]
    figure = Figure(figsize=(8, 7.5 if exact[0] else 5), layout="constrained")
    axes, *below = figure.subplots(1 + bool(exact[0]), sharex=True, squeeze=False)[:, 0]
    for name, shown in short_names(curve[0]["points"]).items():
        means = np.array([point["points"][name]["mean"] for point in curve])
        half = np.array([point["points"][name]["half_width"] for point in curve])
        axes.plot(steps, means, marker="o", markersize=3, label=f"against {shown}")
        axes.fill_between(steps, means - half, means + half, alpha=0.2)
    axes.axhline(0.0, color="grey", linewidth=0.8)
    axes.set_ylabel("points per battle (mean, 95 % confidence)")
    for lower in below:
        for name in exact[0]:
            scores = [np.nan if one[name]["score"] is None else one[name]["score"] for one in exact]
            lower.plot(steps, scores, "-s", markersize=3, label=f"exact score {name}".strip())
        lower.axhline(100.0, color="black", linestyle="--", linewidth=1)
        lower.set_ylabel(_SCORE)
    for each in (axes, *below):
        each.grid(alpha=0.3)
    axes.set_title(title)
    lowest = (axes, *below)[-1]
    lowest.set_xlabel("decisions learned from")
    lowest.xaxis.set_major_formatter(lambda value, _: f"{value:,.0f}")
    figure.legend(loc="outside lower center", ncols=3)
    save_figure(figure, path, 150)


def draw_grades(grades: Sequence[Grade], seat: str, path: Path) -> None:
    """Exact scores in many scenarios: each against its size, and how many reach what."""
    scores = np.array([one.score for one in grades], float)
    sizes = np.array([one.decisions for one in grades], float)
    figure = Figure(figsize=(9.0, 4.2), layout="constrained")
    left, right = figure.subplots(1, 2, width_ratios=(3, 2))
    drawn = np.maximum(scores, 0.0)
    left.scatter(sizes, drawn, s=14, color=_COLOURS[seat], alpha=0.6, linewidths=0)
    left.set(xscale="log", xlabel="positions of the scenario")
    left.set_ylabel("exact score (below 0 drawn at 0)")
    left.set_title(f"{seat}: {len(scores)} scenarios that it never saw")
    ordered = np.sort(drawn)[::-1]
    right.plot(ordered, 100.0 * np.arange(1, len(ordered) + 1) / len(ordered), color=_COLOURS[seat])
    median = float(np.median(scores))
    right.axvline(median, color="black", linestyle="--", linewidth=1)
    right.set_title(f"median {median:.1f}")
    right.set(xlabel="exact score", ylabel="scenarios that reach it, %")
    for axes in (left, right):
        axes.grid(alpha=0.3)
    save_figure(figure, path, 150)
