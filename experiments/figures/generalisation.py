"""Figure of `experiments.generalisation`: the share of the stakes by steps and by scenarios."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from experiments.figures.palette import BLUE, DPI, VERMILION
from wfb_gym.files import save_figure

_GROUPS = {"seen": (VERMILION, "s", "seen in training"), "unseen": (BLUE, "o", "unseen")}


def draw_generalisation(results: Mapping[str, Any], path: Path) -> None:
    """Draw the runs with the most scenarios by steps, and those with equal steps by scenarios."""
    runs = results["runs"]
    most = max(run["scenarios"] for run in runs)
    counts = {run["steps"]: set[int]() for run in runs}
    for run in runs:
        counts[run["steps"]].add(run["scenarios"])
    steps = max(counts, key=lambda each: (len(counts[each]), each))
    figure = Figure(figsize=(10.0, 4.0), layout="constrained")
    left, right = figure.subplots(1, 2, sharey=True)
    _draw_shares(left, [run for run in runs if run["scenarios"] == most], "steps")
    _draw_shares(right, [run for run in runs if run["steps"] == steps], "scenarios")
    left.set(xlabel=f"environment steps, {most:,} scenarios", ylabel="share of the stakes, %")
    right.set(xlabel=f"training scenarios, {steps:,} steps")
    left.legend(loc="lower right")
    save_figure(figure, path, DPI)


def _draw_shares(axes: Axes, runs: Sequence[Mapping[str, Any]], key: str) -> None:
    values = sorted({run[key] for run in runs})
    for group, (colour, marker, label) in _GROUPS.items():
        means = [np.mean([run[group] for run in runs if run[key] == value]) for value in values]
        axes.plot(values, means, color=colour, marker=marker, label=label)
        axes.plot(
            [run[key] for run in runs], [run[group] for run in runs],
            marker, color=colour, alpha=0.4, ms=4,
        )  # fmt: skip
    axes.set_xscale("log")
    axes.set_xticks(values, [f"{value:,}" for value in values])
    axes.minorticks_off()
    axes.grid(alpha=0.3)
