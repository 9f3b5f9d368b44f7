"""What a run shows of itself: the learning curve, the table of the end, the trained openings."""

import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from rich.box import SIMPLE_HEAD
from rich.table import Table
from sb3_contrib import MaskablePPO

from agents.training.grading import Point, likeliest, summary
from agents.training.settings import Args
from experiments.common import Score
from experiments.figures.dice import policy_beside_optimal
from wfb_gym import solver

Grades = Mapping[str, Mapping[str, Score]]
"""Scores of players, by opponent."""
ExactGrades = Mapping[str, Mapping[str, solver.Score]]
"""Exact scores of players, by scenario."""


def draw_curve(points: Sequence[Point], args: Args, seat: str, path: Path) -> None:
    """The learning curve: mean points against each opponent, with 95 % bands.

    Of a solved scenario also the exact points that are guaranteed, and the optimum; of several
    the normalised scores below.
    """
    several = len(points[0].exact) > 1
    figure = Figure(figsize=(8, 7.5 if several else 5), layout="constrained")
    axes, *below = figure.subplots(1 + several, sharex=True, squeeze=False)[:, 0]
    _draw_points(axes, points)
    if several:
        _draw_scores(below[0], points)
    elif points[0].exact:
        steps = [point.steps for point in points]
        found = [next(iter(point.exact.values())) for point in points]
        guaranteed = [each.guaranteed for each in found]
        axes.plot(steps, guaranteed, "k-s", markersize=3, label="guaranteed, exact")
        axes.axhline(
            found[0].optimum, color="black", linestyle="--", linewidth=1, label="the optimum"
        )
    axes.set_title(f"MaskablePPO as {seat}, {args.title}")
    lowest = below[0] if several else axes
    lowest.set_xlabel("decisions learned from")
    lowest.xaxis.set_major_formatter(lambda value, _: f"{value:,.0f}")
    figure.legend(loc="outside lower center", ncols=3)
    figure.savefig(path, dpi=150)


def _draw_points(axes: Axes, points: Sequence[Point]) -> None:
    steps = [point.steps for point in points]
    for name in points[0].scores:
        scores = [point.scores[name] for point in points]
        low = [each.mean - each.half_width for each in scores]
        high = [each.mean + each.half_width for each in scores]
        means = [each.mean for each in scores]
        axes.plot(steps, means, marker="o", markersize=3, label=f"against {Path(name).stem}")
        axes.fill_between(steps, low, high, alpha=0.2)
    axes.axhline(0.0, color="grey", linewidth=0.8)
    axes.set_ylabel("points per battle (mean, 95 % confidence)")
    axes.grid(alpha=0.3)


def _draw_scores(axes: Axes, points: Sequence[Point]) -> None:
    """Normalised scores of solved scenarios, and their mean."""
    steps = [point.steps for point in points]
    for number, name in enumerate(points[0].exact):
        scores = [each for point in points if (each := point.exact[name].score) is not None]
        if len(scores) == len(steps):
            axes.plot(steps, scores, "--", color=f"C{number + 4}", label=f"score in {name}")
    told = [summary(point.exact) for point in points]
    means = [each.mean for each in told if each is not None]
    if len(means) == len(steps):
        axes.plot(steps, means, "k-s", markersize=3, label="mean score, exact")
    axes.axhline(100.0, color="black", linestyle="--", linewidth=1)
    axes.set_ylabel("score (0 random, 100 optimal)")
    axes.grid(alpha=0.3)


def draw_policy(model: MaskablePPO, solution: solver.Solution, path: Path) -> None:
    """What the caster opens with beside the optimum, where there is something to open with."""
    try:
        policy_beside_optimal(solution, likeliest(model), path, "the trained caster")
    except ValueError as error:
        print(f"no {path.name}: {error}", file=sys.stderr)


def table(grades: Grades, exact: ExactGrades, args: Args) -> Table:
    """The final scores for people."""
    where = f"{args.title}, held-out" if args.generated else args.title
    several = len(args.scenarios) > 1
    caption = f"mean ± 95 % over {args.final_battles:,} battles; models play deterministically"
    if exact:
        caption += "" if several else "; exact: guaranteed against any opponent"
        caption += "; score: 100 is optimal, 0 random, both exact"
    if exact and several:
        caption += f", mean and median over {len(exact['trained'])} scenarios"
    shown = Table(
        box=SIMPLE_HEAD,
        padding=(0, 1, 0, 0),  # fits into 80 columns
        title=f"{args.seat} in {where}: points per battle against",
        caption=caption,
    )
    opponents = list(next(iter(grades.values())))
    shown.add_column(args.seat, no_wrap=True)
    for name in opponents:
        shown.add_column(Path(name).stem, justify="right", no_wrap=True)
    if exact:
        for name in ("score", "median") if several else ("exact", "score"):
            shown.add_column(name, justify="right", no_wrap=True)
    for name, scores in grades.items():
        cells = [f"{each.mean:+.1f} ± {each.half_width:.1f}" for each in scores.values()]
        if exact:
            cells += _exact_cells(exact[name], several)
        shown.add_row(name, *cells, style="bold" if name == "trained" else None)
    if exact:
        optimum = next(iter(exact["trained"].values())).optimum
        cells = ["100.0", "100.0"] if several else [f"{optimum:+.1f}", "100.0"]
        shown.add_row("optimal", *("" for _ in opponents), *cells, style="dim")
    return shown


def _exact_cells(scores: Mapping[str, solver.Score], several: bool) -> list[str]:
    """Points guaranteed and normalised score; of several scenarios, mean and median score."""
    told = summary(scores)
    if several:
        return ["", ""] if told is None else [f"{told.mean:.1f}", f"{told.median:.1f}"]
    score = "" if told is None else f"{told.mean:.1f}"
    return [f"{next(iter(scores.values())).guaranteed:+.1f}", score]
