"""The results of a tournament as JSON, as tables and as pictures."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, astuple
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib import colormaps
from matplotlib.axis import Axis
from matplotlib.figure import Figure
from rich.box import SIMPLE_HEAD
from rich.table import Column, Table

from experiments.common import versions
from experiments.figures.palette import BLUE, DPI, GREY
from experiments.statistics import Interval
from experiments.tournaments.matches import MatchResult, display_name
from experiments.tournaments.rating import Ratings
from experiments.tournaments.running import ScenarioRound, Settings, settings_as_json
from wfb_gym.files import save_figure

Results = Mapping[str, Any]
"""As JSON holds them."""
RATING = "rating"
"""Picture of the ratings."""
_FONT = 9
_MOST_DECIMALS = 9
_DARK = 0.5
"""Luminance below which text is white."""


def results_as_json(
    settings: Settings, rounds: Sequence[ScenarioRound], ratings: Ratings, interrupted: bool
) -> dict[str, Any]:
    """All results of a tournament as JSON holds them."""
    return {
        "args": settings_as_json(settings),
        "versions": versions(),
        "interrupted": interrupted,
        "scenarios": [
            {
                "scenario": each.scenario.name,
                "unit": ratings.units.get(each.scenario.name),
                "agents": list(each.agents),
                "absent": each.absent,
                "cells": [_result_as_json(each, result) for result in each.results],
            }
            for each in rounds
        ],
        "rating": [asdict(each) for each in ratings.agents],
        "misfit": ratings.misfit,
    }


def _result_as_json(this: ScenarioRound, result: MatchResult) -> dict[str, Any]:
    numbers = (None, None, None) if result.interval is None else astuple(result.interval)
    return {
        "caster": result.caster,
        "dispeller": result.dispeller,
        "battles": len(result.points),
        **dict(zip(("mean", "low", "high"), numbers, strict=True)),
        "exact": this.exact.get((result.caster, result.dispeller)),
        "failure": None if result.failure is None else asdict(result.failure),
    }


def notes(rounds: Sequence[ScenarioRound]) -> list[str]:
    """Agents that did not play, and agents that failed, a line each."""
    return [
        f"{agent} is left out of {each.scenario.name}: {reason}"
        for each in rounds
        for agent, reason in each.absent.items()
    ] + [
        f"{each.scenario.name}: {one.caster} - {one.dispeller} failed, {one.failure}"
        for each in rounds
        for one in each.results
        if one.failure is not None
    ]


def tables(rounds: Sequence[ScenarioRound], ratings: Ratings) -> Iterator[Table]:
    """Make a table of the results in each scenario, casters in rows, and one of the ratings."""
    for each in rounds:
        if each.results:
            yield _points_table(each)
    forfeits = any(each.forfeits for each in ratings.agents)
    columns = [  # names give way to the numbers where there is no room for both
        Column(each, overflow="fold")
        if each in ("agent", "against")
        else Column(each, justify="right", no_wrap=True)
        for each in ("agent", "rating", "cast", "dispel", "worst", "against")
    ]
    table = Table(
        *columns,
        *([Column("forfeits", justify="right")] if forfeits else []),
        title="rating: points over the average agent, in standard deviations of a battle",
        caption=f"what strengths do not explain: {ratings.misfit:.3f}",
        box=SIMPLE_HEAD,
    )
    for one in ratings.agents:
        row = [
            display_name(one.agent),
            _interval_text(one.rating),
            "" if one.casting is None else f"{one.casting:+.3f}",
            "" if one.dispelling is None else f"{one.dispelling:+.3f}",
            _interval_text(one.worst),
            "" if one.against is None else display_name(one.against),
        ]
        table.add_row(*row, *([str(one.forfeits)] if forfeits else []))
    yield table


def _interval_text(interval: Interval | None) -> str:
    return "" if interval is None else f"{interval.value:+.3f} ± {interval.half_width:.3f}"


def _points_table(this: ScenarioRound) -> Table:
    table = Table(
        "caster \\ dispeller",
        *(Column(display_name(agent), justify="right") for agent in this.agents),
        title=f"{this.scenario.name}: points of the caster",
        caption="with half the width of the 95 % interval; below, the exact value",
        box=SIMPLE_HEAD,
    )
    for caster in this.agents:
        row = [result for result in this.results if result.caster == caster]
        table.add_row(display_name(caster), *(_points_text(this, result) for result in row))
    return table


def _points_text(this: ScenarioRound, result: MatchResult) -> str:
    interval = result.interval
    if interval is None:
        return "failed"
    exact = this.exact.get((result.caster, result.dispeller))
    lines = f"{interval.value:+.2f}\n± {interval.half_width:.2f}"
    return lines if exact is None else f"{lines}\n= {exact:+.2f}"


def draw_all(results: Results, folder: Path) -> None:
    """Draw every complete scenario of a tournament's results, and the ratings, into a folder."""
    for each in results["scenarios"]:
        if len(each["cells"]) == len(each["agents"]) ** 2:
            draw_points(each, folder / f"{each['scenario']}.png")
    if any(each["rating"] is not None for each in results["rating"]):
        draw_ratings(results, folder / f"{RATING}.png")


def draw_points(results: Results, path: Path) -> None:
    """Draw a scenario's results as a heat map, casters in rows."""
    agents = [display_name(agent) for agent in results["agents"]]
    count = len(agents)
    means = np.array([np.nan if c["mean"] is None else c["mean"] for c in results["cells"]])
    side = 2.2 + 1.05 * count
    figure = Figure(figsize=(side + 0.9, side), layout="constrained")
    axes = figure.add_subplot()
    colours = colormaps["YlGnBu"].with_extremes(bad="0.85")  # grey where it failed
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
    """Return a tick's number with its sign, and the decimals that tell it from its neighbours."""
    ticks = axis.get_majorticklocs()
    step = float(ticks[1] - ticks[0]) if len(ticks) > 1 else 1.0
    decimals = 1
    while decimals < _MOST_DECIMALS and abs(round(step, decimals) - step) > step / 100:
        decimals += 1
    return f"{value:+.{decimals}f}" if abs(value) > step / 100 else "0"


def draw_ratings(results: Results, path: Path) -> None:
    """Draw ratings with their intervals, the first on top, and margins over worst opponents."""
    rated = [each for each in results["rating"] if each["rating"] is not None]
    figure = Figure(figsize=(9.0, 1.7 + 0.42 * len(rated)), layout="constrained")
    figure.suptitle(
        "What an agent wins in a battle, over all scenarios and both seats, with 95 % intervals",
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
