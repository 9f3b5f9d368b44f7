"""The benchmark's results as rows of text, header first, for the terminal and the docs."""

from collections.abc import Mapping
from functools import partial
from typing import Any

from experiments.benchmarks.aims import AIMS, OURS, Target
from experiments.benchmarks.rounds import ROUNDS, with_range

Results = Mapping[str, Any]
Rows = list[list[str]]

DUEL = "archmage-duel"
BATTLE = "the-winds-unbound"
"""The default scenario, and the largest bundled battle."""


def speed_rows(results: Results) -> Rows:
    """Return million env-steps/s by number of environments, and by peer."""
    duel, battle = results["batched"], results["battle"]
    rows = [["million env-steps/s", *(f"{int(size):,}" for size in duel)]]
    ours, peers = _names(duel, ours=True), _names(duel, ours=False)
    cases = [("batched", name, name.replace("wfb_gym", DUEL)) for name in ours]
    cases += [
        ("battle", name, name.replace("wfb_gym", BATTLE)) for name in _names(battle, ours=True)
    ]
    cases += [("batched", name, name) for name in peers]
    for part, name, shown in cases:
        cells = (with_range(results, (part, size, name, "step"), _millions) for size in duel)
        rows.append([shown, *cells])
    return rows


def _names(part: Results, *, ours: bool) -> list[str]:
    """Return the names of our cases, or of our peers', in the order of measurement."""
    found = dict.fromkeys(name for each in part.values() for name in each)
    return [name for name in found if name.startswith("wfb_gym") == ours]


def _millions(rate: float) -> str:
    """Return a rate in millions, with at least two significant digits below 1."""
    millions = rate / 1e6
    return f"{millions:.{1 if millions >= 1 else 2 if millions >= 0.1 else 3}f}"


def ratios(measured: Results) -> dict[str, dict[str, list[float]]]:
    """Return the ratio of the duel's speed to each peer's in each round, by number of environments.

    Args:
        measured: parts that hold lists with all rounds.
    """
    found: dict[str, dict[str, list[float]]] = {}
    for size, rates in measured["batched"].items():
        for name in _names({size: rates}, ours=False):
            pairs = zip(rates[OURS]["step"], rates[name]["step"], strict=True)
            in_rounds = [float(f"{ours / theirs:.3g}") for ours, theirs in pairs]
            found.setdefault(name, {})[size] = in_rounds
    return found


def ratio_rows(results: Results) -> Rows:
    """Return the duel's speed as a multiple of each peer's, by number of environments."""
    found = results["ratios"]
    sizes = list(next(iter(found.values()), {}))
    rows = [["archmage-duel, opponent random, over", *(f"{int(size):,}" for size in sizes)]]
    return rows + [
        [name, *(with_range(results, ("ratios", name, size), _general) for size in sizes)]
        for name in found
    ]


def _general(number: float) -> str:
    return f"{number:g}"


def _three_digits(number: float) -> str:
    return f"{number:.3g}"


def _hundredths(number: float) -> str:
    return f"{number:.2f}"


def _thousands(rate: float) -> str:
    return f"{rate / 1e3:.0f}"


def single_rows(results: Results) -> Rows:
    """Return thousand steps/s for a single environment from `gym.make`."""
    rows = [["gym.make", "thousand steps/s"]]
    return rows + [
        [name, with_range(results, ("single", name, "step"), _thousands)]
        for name in results["single"]
    ]


def scaling_rows(results: Results) -> Rows:
    """Return million env-steps/s by threads, and the speed-up over one thread."""
    found = results["scaling"]
    sizes = list(next(iter(found.values()), {}))
    rows = [["threads", *(f"{int(size):,}" for size in sizes)]]
    for threads, rates in found.items():
        cells = []
        for size in sizes:
            rate = with_range(results, ("scaling", threads, size), _millions)
            cells.append(f"{rate} ({rates[size] / found['1'][size]:.2f} x)")
        rows.append([threads, *cells])
    return rows


def solving_rows(results: Results) -> Rows:
    """Return seconds and decisions for the solved scenarios."""
    rows = [["the exact optimum", "scenario", "decisions", "seconds"]]
    return rows + [
        [
            *(name, each["scenario"], f"{each['decisions']:,}"),
            with_range(results, ("solving", name, "seconds"), _three_digits),
        ]
        for name, each in results["solving"].items()
        if "decisions" in each
    ]


def command_rows(results: Results) -> Rows:
    """Return the seconds that each ``python -m wfb_gym`` command takes."""
    rows = [["python -m wfb_gym", "seconds"]]
    return rows + [
        [f"`{line}`", with_range(results, ("starting", "commands", line), _hundredths)]
        for line in results["starting"]["commands"]
    ]


def profile_rows(results: Results) -> Rows:
    """Return the time taken by each part of an `agents.train_fast` update."""
    parts = results["profile"]
    whole = sum(parts.values())
    rows = [["part of an update", "ms", "%"]]
    rows += [
        [
            part,
            with_range(results, ("profile", part), _milliseconds),
            f"{100 * seconds / whole:.0f}",
        ]
        for part, seconds in parts.items()
    ]
    return [*rows, ["all", _milliseconds(whole), "100"]]


def _milliseconds(seconds: float) -> str:
    return f"{1e3 * seconds:.1f}"


def summary_rows(results: Results) -> Rows:
    """Return the measurements that have targets, without the targets."""
    rows = [["measurement", "measured"]]
    for aim in AIMS:
        figure = with_range(results, aim.place, partial(_in_unit, aim))
        if figure:
            rows.append([aim.what, f"{figure} {aim.unit}"])
    return rows


def _in_unit(aim: Target, number: float) -> str:
    return _three_digits(aim.in_unit(number))


def machine_line(results: Results) -> str:
    """Return the machine and the number of rounds, in words."""
    machine = results["machine"]
    where = f"{machine.get('model', machine['processor'])}, {machine['cores']} cores"
    counts = sorted(_lengths(results[ROUNDS]))
    number = f"{counts[0]} to {counts[-1]}" if len(counts) > 1 else f"{counts[0]}"
    return f"Machine: {where}. Each figure is the median of {number} rounds."


def _lengths(tree: Any) -> set[int]:
    """Return the lengths of all lists in a tree."""
    if isinstance(tree, Mapping):
        return set().union(*map(_lengths, tree.values()))
    return {len(tree)}


def aim_rows(results: Results) -> Rows:
    """Return the measurements next to their targets."""
    rows = [["measurement", "measured", "aim", "met"]]
    for each in results["aims"]:
        aim = f"{'at most' if each['at_most'] else 'at least'} {each['limit']:g} {each['unit']}"
        if each["value"] is None:
            rows.append([each["what"], "not measured", aim, ""])
        else:
            met = "yes" if each["met"] else "no"
            rows.append([each["what"], f"{each['value']:.3g} {each['unit']}", aim, met])
    return rows
