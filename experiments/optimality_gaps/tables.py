"""Tables of exact scores, exploiters' gains, and lower bounds on exploitability."""

from collections.abc import Sequence
from typing import Any

from experiments import common
from experiments.tables import ResultTable
from experiments.tournaments.matches import display_name

Part = dict[str, Any]
"""The figures for a player's seat in a scenario, as JSON."""
HEADINGS = ("scenario", "player", "seat", "exact score", "exploiter", "gain", "variance ratio")


def gap_rows(parts: Sequence[Part]) -> list[list[str]]:
    """Return the cells of a table of figures, header first."""
    rows = [list(HEADINGS)]
    for each in parts:
        exact, found = each["exact"], each["exploited"]
        score = "too large" if exact.get("too_large") else "rejected"
        if "rejected" not in exact:
            value = "" if exact["score"] is None else f"{exact['score']:.1f}"
            score = f"{value} ({exact['phases']} of {exact['of']})"
        gain = common.MeanPoints(**found["gain"])
        cells = [each["scenario"], display_name(each["player"]), each["seat"], score]
        rows.append([*cells, found["exploiter"], str(gain), f"{found['variance_ratio']:.1f}"])
    return rows


def bound_rows_of(found: Sequence[dict[str, Any]]) -> list[list[str]]:
    """Return the cells of a table of lower bounds, header first."""
    rows = [["scenario", "player", "exploitability at least"]]
    for each in found:
        text = f"{each['value']:+.2f} ± {each['half_width']:.2f}"
        rows.append([each["scenario"], display_name(each["player"]), text])
    return rows


FIGURES = ResultTable(
    "gain of the exploiter, in points per battle; score in the first phases",
    lambda results: gap_rows(results["parts"]),
    (0, 1, 2, 4),
)
BOUNDS = ResultTable(
    "lower bounds of exploitability, in points per battle",
    lambda results: bound_rows_of(results["bounds"]),
    (0, 1),
)
