"""Pictures of a tournament: who wins how much from whom, and the ratings."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np
from matplotlib import colormaps
from matplotlib.figure import Figure

from experiments.statistics import Interval

_DPI = 150
_FONT = 9
_COLOURS = colormaps["YlGnBu"]
_FAILED = "0.85"
_DARK = 0.5
"""Luminance below which text is white."""


def draw_matrix(
    scenario: str,
    agents: Sequence[str],
    cells: Sequence[Interval | None],
    exact: Sequence[float | None],
    path: Path,
) -> None:
    """A scenario's cells as a heat map, casters in rows.

    Args:
        scenario: its name.
        agents: names, in the order of rows and columns.
        cells: row by row; None where one failed.
        exact: values beside them; None where there is none.
        path: of the picture.
    """
    count = len(agents)
    means = np.array([np.nan if cell is None else cell.value for cell in cells], np.float64)
    side = 2.2 + 1.05 * count
    figure = Figure(figsize=(side + 0.9, side), layout="constrained")
    axes = figure.add_subplot()
    colours = _COLOURS.with_extremes(bad=_FAILED)
    shown = axes.imshow(np.ma.masked_invalid(means.reshape(count, count)), cmap=colours)
    for place, (cell, value) in enumerate(zip(cells, exact, strict=True)):
        row, column = divmod(place, count)
        if cell is None:
            axes.text(column, row, "failed", ha="center", va="center", fontsize=_FONT)
            continue
        red, green, blue, _ = shown.to_rgba(np.array([cell.value]))[0]
        dark = 0.299 * red + 0.587 * green + 0.114 * blue < _DARK
        colour = "white" if dark else "black"
        lines = [f"± {(cell.high - cell.low) / 2:.1f}"]
        lines += [] if value is None else [f"exact {value:+.1f}"]
        axes.text(
            column, row - 0.18, f"{cell.value:+.1f}",
            ha="center", va="center", fontsize=_FONT + 2, color=colour,
        )  # fmt: skip
        axes.text(
            column, row + 0.2, "\n".join(lines),
            ha="center", va="center", fontsize=_FONT - 2, color=colour,
        )  # fmt: skip
    axes.set_xticks(range(count), agents, rotation=30, ha="right", fontsize=_FONT)
    axes.set_yticks(range(count), agents, fontsize=_FONT)
    axes.set_xlabel("dispeller")
    axes.set_ylabel("caster")
    axes.set_title(f"{scenario}: mean points of the caster, 95 % interval", fontsize=_FONT + 2)
    figure.colorbar(shown, ax=axes, shrink=0.8, label="points")
    figure.savefig(path, dpi=_DPI)


def draw_ratings(
    agents: Sequence[str],
    ratings: Sequence[Interval | None],
    worst: Sequence[Interval | None],
    path: Path,
) -> None:
    """Ratings with their intervals, the first on top, and margins over the worst opponents."""
    figure = Figure(figsize=(9.0, 1.5 + 0.42 * len(agents)), layout="constrained")
    figure.suptitle("All scenarios, both seats, 95 % intervals", fontsize=_FONT + 2)
    panels = figure.subplots(1, 2, sharey=True)
    titles = ("rating: points over the average agent", "points over its worst opponent")
    for axes, found, title in zip(panels, (ratings, worst), titles, strict=True):
        axes.axvline(0.0, color="0.7", linewidth=1)
        for place, each in enumerate(found):
            if each is not None:
                axes.plot([each.low, each.high], [place, place], color="C0", linewidth=2)
                axes.plot(each.value, place, "o", color="C0")
        axes.set_title(title, fontsize=_FONT + 1)
        axes.set_xlabel("standard deviations of a battle", fontsize=_FONT)
        axes.grid(axis="x", alpha=0.3)
    panels[0].set_yticks(range(len(agents)), agents, fontsize=_FONT)
    panels[0].set_ylim(len(agents) - 0.5, -0.5)
    figure.savefig(path, dpi=_DPI)
