"""Solver results, as lines and as tables."""

from typing import Any

from experiments.tables import ResultTable
from wfb_gym import solver

MIB = 2**20
_SHORT = 0.1
"""Seconds below which a third decimal place is shown."""
Result = dict[str, Any]
"""A scenario's result as JSON. If the scenario is too large, `too_large` replaces its value."""


def result_text(result: Result) -> str:
    """Return one scenario's result in a few lines."""
    name, _, _, opening, decisions, seconds, mebibytes = table_row(result)
    if "too_large" in result:
        return f"{name}: too large: {solver.Estimate(**result['too_large'])}"
    if "out_of_memory" in result:
        return str(result["out_of_memory"])
    if "histories" in result:
        return (
            f"{name}: {result['value']:+.4f} points, "
            f"between {result['lower']:+.4f} and {result['upper']:+.4f}\n"
            f"{decisions} public histories, {seconds} s, {mebibytes} MiB"
        )
    return (
        f"{name}: {result['value']:+.4f} points\n"
        f"opening: {opening}\n"
        f"{decisions} decisions, {seconds} s, {mebibytes} MiB"
    )


HEADINGS = ("scenario", "phases", "points", "opening", "decisions", "seconds", "MiB")


def table_row(result: Result) -> tuple[str, ...]:
    """Return a result as a table row, with the reason if there is no solution."""
    name, phases = result["scenario"], str(result["phases"])
    if "too_large" in result:
        size = solver.Estimate(**{**result["too_large"], "causes": ()})
        return name, phases, "", f"too large: {size}", "", "", ""
    if "out_of_memory" in result:
        return name, phases, "", "too large", "", "", ""
    if "histories" in result:
        points, decisions = result["value"], result["histories"]
        words = f"mixed; within {(result['upper'] - result['lower']) / 2.0:.3f} points"
    else:
        points, words, decisions = result["value"], result["opening"]["words"], result["states"]
    seconds = f"{result['seconds']:,.{2 if result['seconds'] >= _SHORT else 3}f}"
    mebibytes = f"{result['bytes'] / MIB:,.1f}"
    return name, phases, f"{points:+.2f}", words, f"{decisions:,}", seconds, mebibytes


TABLE = ResultTable(
    "points of the first army if both play optimally",
    lambda scenarios: [HEADINGS, *map(table_row, scenarios)],
    (HEADINGS.index("scenario"), HEADINGS.index("opening")),
)
