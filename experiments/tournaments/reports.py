"""A tournament's results as JSON, tables and figures."""

from collections.abc import Iterator, Mapping
from dataclasses import asdict, astuple
from functools import partial
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib import colormaps
from matplotlib.axis import Axis
from matplotlib.figure import Figure

from experiments.common import versions
from experiments.figures.palette import BLUE, DPI, GREY
from experiments.outcomes import Run
from experiments.statistics import Interval
from experiments.tables import text_table
from experiments.tournaments.guarding import Failure
from experiments.tournaments.matches import Match, MatchResult, display_name
from experiments.tournaments.rating import rate
from experiments.tournaments.running import ExactPart, Settings, relevant_settings, results_in
from wfb_gym.files import save_figure

Results = Mapping[str, Any]
"""Results as JSON."""
RATING = "rating"
"""Name of the ratings figure."""
_FONT = 9
_MOST_DECIMALS = 9
_DARK = 0.5
"""Luminance below which text is drawn in white."""


def results_of(run: Run[Settings, Match | ExactPart]) -> dict[str, Any]:
    """Return all of a tournament's results as JSON."""
    rounds = [part.this for part in run.parts if isinstance(part, ExactPart)]
    played = [results_in(this, run.lines) for this in rounds]
    exact = {
        (line["exact"]["scenario"], pair["caster"], pair["dispeller"]): pair["points"]
        for line in run.lines
        if "exact" in line
        for pair in line["exact"]["values"]
    }
    ratings = rate(run.settings.agents, list(chain(*played)), run.settings.seed)
    return {
        "args": relevant_settings(run.settings),
        "versions": versions(),
        "interrupted": run.interrupted,
        "scenarios": [
            {
                "scenario": this.scenario.name,
                "unit": ratings.units.get(this.scenario.name),
                "agents": list(this.agents),
                "absent": this.absent,
                "cells": [_result_as_json(exact, result) for result in results],
            }
            for this, results in zip(rounds, played, strict=True)
        ],
        "rating": [asdict(each) for each in ratings.agents],
        "misfit": ratings.misfit,
    }


def _result_as_json(
    exact: Mapping[tuple[str, str, str], float], result: MatchResult
) -> dict[str, Any]:
    numbers = (None, None, None) if result.interval is None else astuple(result.interval)
    return {
        "caster": result.caster,
        "dispeller": result.dispeller,
        "battles": len(result.points),
        **dict(zip(("mean", "low", "high"), numbers, strict=True)),
        "exact": exact.get((result.scenario, result.caster, result.dispeller)),
        "failure": None if result.failure is None else asdict(result.failure),
    }


def notes(results: Results) -> list[str]:
    """Return a line for each absent agent and for each failed match."""
    return [
        f"{agent} is left out of {each['scenario']}: {reason}"
        for each in results["scenarios"]
        for agent, reason in each["absent"].items()
    ] + [
        f"{each['scenario']}: {one['caster']} - {one['dispeller']} failed, "
        f"{Failure(**one['failure'])}"
        for each in results["scenarios"]
        for one in each["cells"]
        if one["failure"] is not None
    ]


def tables(results: Results) -> Iterator[str]:
    """Yield a table of each scenario's results, with casters in rows, then the ratings."""
    for each in results["scenarios"]:
        if each["cells"]:
            yield _points_table(each)
    forfeits = any(each["forfeits"] for each in results["rating"])
    heads = ["agent", "rating", "cast", "dispel", "worst", "against"]
    rows = [[*heads, "forfeits"] if forfeits else heads]
    for one in results["rating"]:
        row = [
            display_name(one["agent"]),
            _interval_text(one["rating"]),
            "" if one["casting"] is None else f"{one['casting']:+.3f}",
            "" if one["dispelling"] is None else f"{one['dispelling']:+.3f}",
            _interval_text(one["worst"]),
            "" if one["against"] is None else display_name(one["against"]),
        ]
        rows.append([*row, str(one["forfeits"])] if forfeits else row)
    title = "rating: points over the average agent, in standard deviations of a battle"
    unexplained = f"misfit, not explained by the ratings: {results['misfit']:.3f}"
    yield text_table(rows, title, (0, heads.index("against")), unexplained)


def _interval_text(held: Mapping[str, float] | None) -> str:
    if held is None:
        return ""
    interval = Interval(**held)
    return f"{interval.value:+.3f} ± {interval.half_width:.3f}"


def _points_table(results: Results) -> str:
    agents = results["agents"]
    rows = [["caster \\ dispeller", *map(display_name, agents)]]
    for caster in agents:
        row = [cell for cell in results["cells"] if cell["caster"] == caster]
        rows.append([display_name(caster), *map(_points_text, row)])
    title = f"{results['scenario']}: points of the caster"
    caption = "with half the width of the 95 % interval; below, the exact value"
    return text_table(rows, title, caption=caption)


def _points_text(cell: Results) -> str:
    if cell["mean"] is None:
        return "failed"
    interval = Interval(*(cell[key] for key in ("mean", "low", "high")))
    lines = f"{interval.value:+.2f}\n± {interval.half_width:.2f}"
    return lines if cell["exact"] is None else f"{lines}\n= {cell['exact']:+.2f}"


def draw_all(results: Results, folder: Path) -> None:
    """Draw every complete scenario in a tournament's results, and the ratings, into a folder."""
    for each in results["scenarios"]:
        if len(each["cells"]) == len(each["agents"]) ** 2:
            draw_points(each, folder / f"{each['scenario']}.png")
    if any(each["rating"] is not None for each in results["rating"]):
        draw_ratings(results, folder / f"{RATING}.png")


def draw_points(results: Results, path: Path) -> None:
    """Draw a scenario's results as a heat map, with casters in rows."""
    agents = [display_name(agent) for agent in results["agents"]]
    count = len(agents)
    means = np.array([np.nan if c["mean"] is None else c["mean"] for c in results["cells"]])
    side = 2.2 + 1.05 * count
    figure = Figure(figsize=(side + 0.9, side), layout="constrained")
    axes = figure.add_subplot()
    colours = colormaps["YlGnBu"].with_extremes(bad="0.85")  # grey for failed matches
    image = axes.imshow(np.ma.masked_invalid(means.reshape(count, count)), cmap=colours)
    centred: dict[str, Any] = {"ha": "center", "va": "center"}
    for place, cell in enumerate(results["cells"]):
        row, column = divmod(place, count)
        if cell["mean"] is None:
            axes.text(column, row, "failed", fontsize=_FONT, **centred)
            continue
        red, green, blue, _ = image.to_rgba(np.array([cell["mean"]]))[0]
        dark = 0.299 * red + 0.587 * green + 0.114 * blue < _DARK
        coloured = {**centred, "color": "white" if dark else "black"}
        text = f"± {(cell['high'] - cell['low']) / 2:.1f}"
        if cell["exact"] is not None:
            text += f"\nexact {cell['exact']:+.1f}"
        axes.text(column, row - 0.18, f"{cell['mean']:+.1f}", fontsize=_FONT + 2, **coloured)
        axes.text(column, row + 0.2, text, fontsize=_FONT - 1, **coloured)
    axes.set_xticks(range(count), agents, rotation=30, ha="right", fontsize=_FONT)
    axes.set_yticks(range(count), agents, fontsize=_FONT)
    axes.set_xlabel("plays the dispeller")
    axes.set_ylabel("plays the caster")
    name = results["scenario"]
    title = f"{name}: the caster's points per battle, with 95 % intervals"
    axes.set_title(title, fontsize=_FONT + 2)
    figure.colorbar(image, ax=axes, shrink=0.8, label="points per battle")
    save_figure(figure, path, DPI)


def signed_tick(axis: Axis, value: float, _: int | None = None) -> str:
    """Return a tick's signed number, with enough decimals to differ from other ticks."""
    ticks = axis.get_majorticklocs()
    step = float(ticks[1] - ticks[0]) if len(ticks) > 1 else 1.0
    decimals = 1
    while decimals < _MOST_DECIMALS and abs(round(step, decimals) - step) > step / 100:
        decimals += 1
    return f"{value:+.{decimals}f}" if abs(value) > step / 100 else "0"


def draw_ratings(results: Results, path: Path) -> None:
    """Draw ratings with intervals, best at the top, and margins over the toughest opponents."""
    rated = [each for each in results["rating"] if each["rating"] is not None]
    figure = Figure(figsize=(9.0, 1.7 + 0.42 * len(rated)), layout="constrained")
    figure.suptitle(
        "Mean points of an agent in a battle, all scenarios and both seats, with 95 % intervals",
        fontsize=_FONT + 2,
    )
    panels = figure.subplots(1, 2, sharey=True)
    titles = ("from the average agent: its rating", "from the opponent that it does worst against")
    for axes, key, title in zip(panels, ("rating", "worst"), titles, strict=True):
        axes.axvline(0.0, color=GREY, linewidth=1)
        for place, each in enumerate(rated):
            if (one := each[key]) is not None:
                axes.plot([one["low"], one["high"]], [place, place], color=BLUE, linewidth=2)
                axes.plot(one["value"], place, "o", color=BLUE)
        axes.set_title(title, fontsize=_FONT + 1)
        axes.set_xlabel("points, in standard deviations of a battle", fontsize=_FONT)
        axes.xaxis.set_major_formatter(partial(signed_tick, axes.xaxis))
        axes.grid(axis="x", alpha=0.3)
    names = [display_name(each["agent"]) for each in rated]
    panels[0].set_yticks(range(len(rated)), names, fontsize=_FONT)
    panels[0].set_ylim(len(rated) - 0.5, -0.5)
    save_figure(figure, path, DPI)
