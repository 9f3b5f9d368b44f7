"""Figure of `experiments.value_of_hiding`: the value of hiding an item, and optimal bluffs."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from experiments.figures.palette import DPI, GREY, MARKERS, SERIES
from wfb_gym.files import save_figure
from wfb_gym.view.names import plural

_SEEN = 0.005
"""Minimum share of a number of dice for it to be drawn."""


def draw_value_of_hiding(results: Mapping[str, Any], path: Path) -> None:
    """Draw the value, the first spell's dice and the item's use, by the item's chance."""
    parts = sorted(results["parts"], key=lambda part: part["chance"])
    chances = [part["chance"] for part in parts]
    figure = Figure(figsize=(12.0, 4.2), layout="constrained")
    value, dice, used = figure.subplots(1, 3)
    sign = 1 if results["args"]["side"] == "caster" else -1  # values are the caster's points
    gains = [sign * (part["value"] - part["known"]) for part in parts]
    value.plot(chances, gains, marker="o", ms=4, color=SERIES[0])
    value.axhline(0.0, color=GREY, linewidth=1.0)
    value.set_ylabel("points that its owner gains")
    seen = {int(n) for part in parts for n, share in part["dice"].items() if share > _SEEN}
    numbers = sorted(seen)
    shares = np.array([[part["dice"].get(str(n), 0.0) for n in numbers] for part in parts])
    _draw_shares(
        dice,
        chances,
        shares / shares.sum(1, keepdims=True),
        [plural(n, "die", "dice") for n in numbers],
    )
    dice.set_ylabel("percent of first spells")
    item = results["args"]["item"]
    most = max(len(part["used"]) for part in parts)
    for k in range(most):
        held = [part for part in parts if part["chance"] > 0.0]
        used.plot(
            [part["chance"] for part in held],
            [100.0 * (part["used"][k] if k < len(part["used"]) else 0.0) for part in held],
            marker=MARKERS[k % len(MARKERS)], ms=4, color=SERIES[k % len(SERIES)],
            label=f"spell {k + 1}",
        )  # fmt: skip
    used.set_ylabel(f"percent of players with a {item}")
    used.legend(fontsize=9)
    for axes, title in (
        (value, f"value of hiding the {item}"),
        (dice, "dice on the first spell"),
        (used, f"{item} used at"),
    ):
        axes.set_title(title, fontsize=11)
        axes.set_xlabel(f"chance of a {item}")
        axes.grid(alpha=0.3)
    figure.suptitle(
        f"{results['args']['scenario']}: a hidden item of the {results['args']['side']}"
    )
    save_figure(figure, path, DPI)


def _draw_shares(axes: Axes, places: list[float], shares: Any, labels: list[str]) -> None:
    colours = [SERIES[k % len(SERIES)] for k in range(len(labels))]
    width = 0.8 * min(np.diff(places))  # play may jump between two chances
    below = np.zeros(len(places))
    for label, colour, part in zip(labels, colours, 100.0 * shares.T, strict=True):
        axes.bar(places, part, width, bottom=below, label=label, color=colour)
        below += part
    axes.set(ylim=(0.0, 100.0))
    axes.legend(fontsize=9, loc="lower right", framealpha=1.0)
