"""The benchmark's results as rows of text, header first, for the terminal and the docs."""

from collections.abc import Mapping
from typing import Any

from experiments.benchmarks.aims import OURS

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
    cases = [(duel, name, name.replace("wfb_gym", DUEL)) for name in ours]
    cases += [(battle, name, name.replace("wfb_gym", BATTLE)) for name in _names(battle, ours=True)]
    cases += [(duel, name, name) for name in peers]
    for part, name, shown in cases:
        cells = (part.get(size, {}).get(name) for size in duel)
        rows.append([shown, *("" if one is None else _millions(one["step"]) for one in cells)])
    return rows


def _names(part: Results, *, ours: bool) -> list[str]:
    """Return the names of our cases, or of the peers', in the order of measurement."""
    found = dict.fromkeys(name for each in part.values() for name in each)
    return [name for name in found if name.startswith("wfb_gym") == ours]


def _millions(rate: float) -> str:
    """Return a rate in millions, with at least two significant digits below 1."""
    millions = rate / 1e6
    return f"{millions:.{1 if millions >= 1 else 2 if millions >= 0.1 else 3}f}"


def ratios(results: Results) -> dict[str, dict[str, float]]:
    """Return the duel's speed over each peer's, by number of environments."""
    found: dict[str, dict[str, float]] = {}
    for size, rates in results["batched"].items():
        for name in _names({size: rates}, ours=False):
            ratio = rates[OURS]["step"] / rates[name]["step"]
            found.setdefault(name, {})[size] = float(f"{ratio:.3g}")
    return found


def ratio_rows(results: Results) -> Rows:
    """Return the duel's speed as a multiple of each peer's, by number of environments."""
    found = results["ratios"]
    sizes = list(next(iter(found.values()), {}))
    rows = [["archmage-duel, opponent random, over", *(f"{int(size):,}" for size in sizes)]]
    return rows + [[name, *(f"{each[size]:g}" for size in sizes)] for name, each in found.items()]


def single_rows(results: Results) -> Rows:
    """Return thousand steps/s of one environment of `gym.make`."""
    rows = [["gym.make", "thousand steps/s"]]
    return rows + [[name, f"{each['step'] / 1e3:.0f}"] for name, each in results["single"].items()]


def scaling_rows(results: Results) -> Rows:
    """Return million env-steps/s by threads, and the speed-up over one thread."""
    found = results["scaling"]
    sizes = list(next(iter(found.values()), {}))
    rows = [["threads", *(f"{int(size):,}" for size in sizes)]]
    for threads, rates in found.items():
        times = ((rates[size], rates[size] / found["1"][size]) for size in sizes)
        rows.append([threads, *(f"{_millions(rate)} ({ratio:.2f} x)" for rate, ratio in times)])
    return rows


def solving_rows(results: Results) -> Rows:
    """Return seconds and decisions of the solved scenarios."""
    rows = [["the exact optimum", "scenario", "decisions", "seconds"]]
    return rows + [
        [name, each["scenario"], f"{each['decisions']:,}", f"{each['seconds']:.3g}"]
        for name, each in results["solving"].items()
        if "decisions" in each
    ]


def command_rows(results: Results) -> Rows:
    """Return seconds of the commands of ``python -m wfb_gym``."""
    rows = [["python -m wfb_gym", "seconds"]]
    commands = results["starting"]["commands"]
    return rows + [[f"`{line}`", f"{seconds:.2f}"] for line, seconds in commands.items()]


def profile_rows(results: Results) -> Rows:
    """Return the time of the parts of an update of `agents.train_fast`."""
    parts = results["profile"]
    whole = sum(parts.values())
    rows = [["part of an update", "ms", "%"]]
    rows += [
        [part, f"{1e3 * seconds:.1f}", f"{100 * seconds / whole:.0f}"]
        for part, seconds in parts.items()
    ]
    return [*rows, ["all", f"{1e3 * whole:.1f}", "100"]]


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
