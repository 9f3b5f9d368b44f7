"""A picture of the benchmark: env-steps/s by number of environments, beside other libraries."""

from pathlib import Path

from matplotlib.figure import Figure

from experiments.benchmarks.aims import OURS
from experiments.benchmarks.tables import BATTLE, DUEL, Results
from wfb_gym.files import save_figure

_COLOURS = {DUEL: "#b5432a", BATTLE: "#d99a2b"}
_PEER_COLOURS = ("#2a6fb5", "#4d9f6f", "#7a5ba6", "#6b7280", "#a1887f")
_DPI = 150


def draw_speed(results: Results, path: Path) -> None:
    """Draw the rates of the batched step, and what more threads bring."""
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
            list(rates), [each["step"] / 1e6 for each in rates.values()], "--s",
            color=_PEER_COLOURS[number % len(_PEER_COLOURS)], markersize=4, label=peer,
        )  # fmt: skip
    sizes = [int(size) for size in results["batched"]]
    left.set(xscale="log", yscale="log", xlabel="environments", ylabel="million env-steps/s")
    left.set_xticks(sizes, [f"{size:,}" for size in sizes])
    left.set_title("one step of all environments")
    left.minorticks_off()
    left.yaxis.set_major_formatter(lambda rate, _: f"{rate:g}")
    scaling = results["scaling"]
    for number, size in enumerate(next(iter(scaling.values()), {})):
        rates = {int(threads): each[size] / 1e6 for threads, each in scaling.items()}
        right.plot(
            list(rates), list(rates.values()), "-o",
            color=_PEER_COLOURS[number], label=f"{int(size):,} environments",
        )  # fmt: skip
    right.set(xlabel="threads", ylim=(0, None), title=f"{DUEL} by threads")
    right.set_xticks([int(threads) for threads in scaling])
    for axes in (left, right):
        axes.grid(alpha=0.3)
        axes.legend(fontsize=8)
    save_figure(figure, path, _DPI)
