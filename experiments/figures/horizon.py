"""Figure of `experiments.horizon`: exact scores and points by the number of phases considered."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from experiments.figures.palette import BLACK, DPI, GREY, MARKERS, SEAT_COLOURS, SERIES
from wfb_gym.files import save_figure
from wfb_gym.seats import SEATS

_STYLES = {"exact": ":", "phase-search": "-"}
_NAMES = {"exact": "solved with this horizon", "phase-search": "phase-search"}


def draw_horizon(results: Mapping[str, Any], path: Path) -> None:
    """Draw each solved scenario's exact scores, with each seat's points in battles below them."""
    parts = results["parts"]
    solved = list(dict.fromkeys(part["scenario"] for part in parts if "scenario" in part))
    battles = list(dict.fromkeys(part["battle"] for part in parts if "battle" in part))
    rows = bool(solved) + bool(battles)
    figure = Figure(figsize=(10.0, 4.0 * rows), layout="constrained")
    grids = list(figure.subfigures(rows, 1, squeeze=False)[:, 0])
    if solved:
        for axes, name in zip(
            np.atleast_1d(grids.pop(0).subplots(1, len(solved), sharey=True)), solved, strict=True
        ):
            _draw_exact(axes, [part for part in parts if part.get("scenario") == name], name)
        figure.axes[0].set_ylabel("exact score in the whole battle")
        figure.axes[0].legend(fontsize=8, loc="lower right")
    if battles:
        first = len(figure.axes)
        for axes, seat in zip(grids[0].subplots(1, 2, sharey=True), SEATS, strict=True):
            _draw_battles(axes, parts, battles, seat)
        figure.axes[first].set_ylabel("lead over a horizon of one phase, points per battle")
        shown = figure.axes[first].get_legend_handles_labels()
        grids[0].legend(*shown, fontsize=8, loc="outside lower center", ncols=len(battles))
    save_figure(figure, path, DPI)


def _draw_exact(axes: Axes, parts: list[Mapping[str, Any]], name: str) -> None:
    phases = [part["phases"] for part in parts]
    for (seat, colour), marker in zip(SEAT_COLOURS.items(), MARKERS, strict=False):
        for kind, style in _STYLES.items():
            scores = [part[f"{kind} {seat}"] for part in parts]
            label = f"{seat}, {_NAMES[kind]}"
            axes.plot(phases, scores, style, color=colour, marker=marker, ms=4, label=label)
    axes.axhline(100.0, color=BLACK, linestyle="--", linewidth=0.8)
    axes.set_title(f"{name}, {parts[-1]['of']} phases", fontsize=11)
    axes.set(xlabel="phases considered", xticks=phases, ylim=(0.0, 105.0))
    axes.grid(alpha=0.3)


def _draw_battles(
    axes: Axes, parts: list[Mapping[str, Any]], battles: list[str], seat: str
) -> None:
    # The horizons are evenly spaced: between 5 and 12 none was measured.
    horizons = sorted({part["phases"] for part in parts if "battle" in part})
    for k, name in enumerate(battles):
        own = [part for part in parts if part.get("battle") == name]
        places = [horizons.index(part["phases"]) + 0.05 * (k - len(battles) / 2) for part in own]
        more = [part[seat]["more"] for part in own]
        widths = [part[seat]["half_width"] for part in own]
        axes.errorbar(
            places, more, widths, color=SERIES[k % len(SERIES)], marker=MARKERS[k % len(MARKERS)],
            ms=4, capsize=2, label=name,
        )  # fmt: skip
    axes.axhline(0.0, color=GREY, linestyle="--", linewidth=0.8)
    axes.set_title(f"phase-search as {seat}", fontsize=11)
    axes.set(xlabel="phases considered")
    axes.set_xticks(range(len(horizons)), [str(each) for each in horizons])
    axes.grid(alpha=0.3)
