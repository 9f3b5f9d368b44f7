"""Figure of the benchmark: env-steps/s by number of environments, with other libraries."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from experiments.benchmarks.aims import OURS
from experiments.benchmarks.rounds import entry_at, range_of
from experiments.benchmarks.tables import BATTLE, DUEL, Results
from experiments.figures.palette import BLACK, DPI, MARKERS, SERIES, VERMILION
from wfb_gym.files import save_figure

_COLOURS = {DUEL: VERMILION, BATTLE: BLACK}


def draw_speed(results: Results, path: Path) -> None:
    """Draw the batched step's rates by number of environments."""
    figure = Figure(figsize=(8.0, 4.4), layout="constrained")
    axes = figure.subplots()
    for shown, part in {DUEL: "batched", BATTLE: "battle"}.items():
        places = {int(size): (part, size, OURS, "step") for size in results[part]}
        _draw_line(
            axes, results, places, linestyle="-", marker="o", color=_COLOURS[shown], linewidth=2.2,
            label=f"wfb_gym, {shown}",
        )  # fmt: skip
    for number, peer in enumerate(results["ratios"]):
        places = {
            int(size): ("batched", size, peer, "step")
            for size, cases in results["batched"].items()
            if peer in cases
        }
        _draw_line(
            axes, results, places, linestyle="--", marker=MARKERS[1 + number % (len(MARKERS) - 1)],
            color=SERIES[number % len(SERIES)], markersize=5, label=peer,
        )  # fmt: skip
    sizes = [int(size) for size in results["batched"]]
    axes.set(xscale="log", yscale="log", xlabel="number of environments")
    axes.set_ylabel("million steps/s")
    axes.set_xticks(sizes, [f"{size:,}" for size in sizes])
    axes.set_title("speed by number of environments (both axes logarithmic)", fontsize=11)
    axes.minorticks_off()
    axes.yaxis.set_major_formatter(lambda rate, _: f"{rate:g}")
    axes.grid(alpha=0.3)
    axes.legend(fontsize=8)
    save_figure(figure, path, DPI)


def _draw_line(
    axes: Axes, results: Results, places: Mapping[int, tuple[str, ...]], **options: Any
) -> None:
    """Draw rates in millions by x, with a bar from the lowest to the highest round.

    Args:
        axes: axes to draw on.
        results: the benchmark's results.
        places: keys that lead to each rate, by x.
        **options: options to pass to `Axes.errorbar`.
    """
    rates = [entry_at(results, place) for place in places.values()]
    limits = [
        range_of(results, place) or (rate, rate)
        for place, rate in zip(places.values(), rates, strict=True)
    ]
    below = [(rate - low) / 1e6 for rate, (low, _) in zip(rates, limits, strict=True)]
    above = [(high - rate) / 1e6 for rate, (_, high) in zip(rates, limits, strict=True)]
    axes.errorbar(
        list(places), [rate / 1e6 for rate in rates], yerr=(below, above), capsize=3, **options
    )
