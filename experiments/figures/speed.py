"""Figure of the benchmark: env-steps/s by number of environments, with other libraries."""

from pathlib import Path

from matplotlib.figure import Figure

from experiments.benchmarks.aims import OURS
from experiments.benchmarks.tables import BATTLE, DUEL, Results
from experiments.figures.palette import BLACK, DPI, MARKERS, SERIES, VERMILION
from wfb_gym.files import save_figure

_COLOURS = {DUEL: VERMILION, BATTLE: BLACK}


def draw_speed(results: Results, path: Path) -> None:
    """Draw the rates of the batched step by number of environments and by threads."""
    figure = Figure(figsize=(10.0, 4.4), layout="constrained")
    left, right = figure.subplots(1, 2, width_ratios=(5, 3))
    lines = {DUEL: results["batched"], BATTLE: results["battle"]}
    for shown, part in lines.items():
        rates = {int(size): cases[OURS] for size, cases in part.items()}
        left.plot(
            list(rates), [each["step"] / 1e6 for each in rates.values()], "-o",
            color=_COLOURS[shown], linewidth=2.2, label=f"wfb_gym, {shown}",
        )  # fmt: skip
    for number, peer in enumerate(results["ratios"]):
        rates = {
            int(size): cases[peer] for size, cases in results["batched"].items() if peer in cases
        }
        left.plot(
            list(rates), [each["step"] / 1e6 for each in rates.values()], linestyle="--",
            marker=MARKERS[1 + number % (len(MARKERS) - 1)], color=SERIES[number % len(SERIES)],
            markersize=5, label=peer,
        )  # fmt: skip
    sizes = [int(size) for size in results["batched"]]
    left.set(xscale="log", yscale="log", xlabel="number of environments")
    left.set_ylabel("million steps/s")
    left.set_xticks(sizes, [f"{size:,}" for size in sizes])
    left.set_title("speed by number of environments (both axes logarithmic)", fontsize=11)
    left.minorticks_off()
    left.yaxis.set_major_formatter(lambda rate, _: f"{rate:g}")
    scaling = results["scaling"]
    for number, size in enumerate(next(iter(scaling.values()), {})):
        rates = {int(threads): each[size] / 1e6 for threads, each in scaling.items()}
        right.plot(
            list(rates), list(rates.values()), linestyle="-", marker=MARKERS[number],
            color=SERIES[number], label=f"{int(size):,} environments",
        )  # fmt: skip
    right.set(xlabel="threads", ylim=(0, None), ylabel="million steps/s")
    right.set_title(f"{DUEL} by number of threads", fontsize=11)
    right.set_xticks([int(threads) for threads in scaling])
    for axes in (left, right):
        axes.grid(alpha=0.3)
        axes.legend(fontsize=8)
    save_figure(figure, path, DPI)
