"""Figure of players' strength: points per battle behind the reference, by time per decision."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.figure import Figure

from experiments.figures.palette import DPI, GREY, SEAT_COLOURS
from wfb_gym.files import save_figure
from wfb_gym.seats import SEATS

_FASTEST = 1e-3
"""Milliseconds at which to draw untimed players, which play inside the batch."""

_LONGEST = 24
"""Maximum length of a drawn name, in letters. A file's path keeps its last ones."""

_CLOSE = 5.0, 12.0
"""Ratio of times and difference in points within which two labels would overlap."""


def _is_left(one: tuple[float, float], other: tuple[float, float]) -> bool:
    """Return whether a point's label must be on the left to avoid another point's label."""
    (time, behind), (other_time, other_behind) = one, other
    close = max(time, other_time) / min(time, other_time) < _CLOSE[0]
    close = close and abs(behind - other_behind) < _CLOSE[1]
    return close and (time, other_behind) < (other_time, behind)


def draw_strength(results: Mapping[str, Any], path: Path) -> None:
    """Draw each player in both seats, averaged over the battles."""
    figure = Figure(figsize=(10.0, 4.6), layout="constrained")
    reference = results["players"][0]
    for axes, seat in zip(figure.subplots(1, 2, sharex=True, sharey=True), SEATS, strict=True):
        points: list[tuple[str, float, float]] = []
        for player in results["players"]:
            rows = [
                row for row in results["rows"] if (row["player"], row["seat"]) == (player, seat)
            ]
            time = max(_FASTEST, float(np.mean([row["milliseconds"] for row in rows])))
            behind = -float(np.mean([row["reference_wins_more"] for row in rows]))
            # Battles are independent of each other.
            error = float(np.sqrt(np.sum([row["half_width"] ** 2 for row in rows])) / len(rows))
            colour = SEAT_COLOURS[seat]
            filling = "white" if time == _FASTEST else colour  # untimed
            axes.errorbar(time, behind, error, fmt="o", color=colour, mfc=filling, capsize=3)
            points.append((player, time, behind))
        for player, time, behind in points:
            is_left = any(_is_left((time, behind), other[1:]) for other in points)
            height = 3 if player == reference else -4  # its label would lie on the line at 0
            place, side = ((-7, height), "right") if is_left else ((7, height), "left")
            shown = player if len(player) <= _LONGEST else f"...{player[-_LONGEST:]}"
            axes.annotate(
                shown, (time, behind), place, textcoords="offset points", fontsize=8, ha=side
            )
        axes.axhline(0.0, color=GREY, linewidth=0.8, linestyle="--")
        axes.set(xscale="log", xlabel="milliseconds per decision")
        axes.set_title(f"as {seat}", fontsize=11)
        axes.margins(x=0.4)
        axes.grid(alpha=0.3)
    figure.axes[0].set_ylabel(f"points per battle, {reference} at 0")
    save_figure(figure, path, DPI)
