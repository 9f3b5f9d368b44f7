"""Figure of the benchmark: env-steps/s by number of environments, with other libraries."""

from pathlib import Path

from matplotlib.figure import Figure

from experiments.benchmarks.aims import OURS
from experiments.benchmarks.tables import BATTLE, DUEL, Results
from experiments.figures.palette import BLACK, DPI, MARKERS, SERIES, VERMILION
from wfb_gym.files import save_figure

_COLOURS = {DUEL: VERMILION, BATTLE: BLACK}


def draw_speed(results: Results, path: Path) -> None:
    """Draw the rates of the batched step by number of environments."""
    figure = Figure(figsize=(8.0, 4.4), layout="constrained")
    axes = figure.subplots()
    lines = {DUEL: results["batched"], BATTLE: results["battle"]}
    for shown, part in lines.items():
        rates = {int(size): cases[OURS] for size, cases in part.items()}
        axes.plot(
            list(rates), [each["step"] / 1e6 for each in rates.values()], "-o",
            color=_COLOURS[shown], linewidth=2.2, label=f"wfb_gym, {shown}",
        )  # fmt: skip
    for number, peer in enumerate(results["ratios"]):
        rates = {
            int(size): cases[peer] for size, cases in results["batched"].items() if peer in cases
        }
        axes.plot(
            list(rates), [each["step"] / 1e6 for each in rates.values()], linestyle="--",
            marker=MARKERS[1 + number % (len(MARKERS) - 1)], color=SERIES[number % len(SERIES)],
            markersize=5, label=peer,
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
