"""What a tournament has found, as JSON and as tables for people."""

from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from rich.box import SIMPLE_HEAD
from rich.table import Table

from experiments.common import versions
from experiments.statistics import Interval, bootstrap, mean
from experiments.tournaments.cells import Cell, shown_name
from experiments.tournaments.rating import Ratings
from experiments.tournaments.running import Args, Round, settings


def results(args: Args, rounds: Sequence[Round], ratings: Ratings, stopped: bool) -> dict[str, Any]:
    """All that came of it, as JSON holds it."""
    return {
        "args": settings(args),
        "versions": versions(),
        "interrupted": stopped,
        "scenarios": [
            {
                "scenario": each.scenario.name,
                "unit": ratings.units.get(each.scenario.name),
                "agents": list(each.agents),
                "absent": each.absent,
                "cells": [_plain(each, cell) for cell in each.cells],
            }
            for each in rounds
        ],
        "rating": [asdict(each) for each in ratings.agents],
        "misfit": ratings.misfit,
    }


def _plain(this: Round, cell: Cell) -> dict[str, Any]:
    found = interval(cell)
    return {
        "caster": cell.caster,
        "dispeller": cell.dispeller,
        "battles": len(cell.points),
        "mean": None if found is None else found.value,
        "low": None if found is None else found.low,
        "high": None if found is None else found.high,
        "exact": this.exact.get((cell.caster, cell.dispeller)),
        "failure": None if cell.failure is None else asdict(cell.failure),
    }


def interval(cell: Cell) -> Interval | None:
    """Mean points of a cell; None if it failed."""
    return None if cell.failure is not None else bootstrap(mean, cell.array[:, None])


def matrix(this: Round) -> Table:
    """A scenario's cells for people."""
    shown = Table(
        title=f"{this.scenario.name}: points of the caster",
        caption="with half the width of the 95 % interval; below, the exact value",
        box=SIMPLE_HEAD,
    )
    shown.add_column("caster \\ dispeller")
    for agent in this.agents:
        shown.add_column(shown_name(agent), justify="right")
    for caster in this.agents:
        row = [cell for cell in this.cells if cell.caster == caster]
        shown.add_row(shown_name(caster), *(_told(this, cell) for cell in row))
    return shown


def _told(this: Round, cell: Cell) -> str:
    found = interval(cell)
    if found is None:
        return "failed"
    exact = this.exact.get((cell.caster, cell.dispeller))
    lines = [f"{found.value:+.2f}", f"± {(found.high - found.low) / 2:.2f}"]
    return "\n".join([*lines, *([] if exact is None else [f"= {exact:+.2f}"])])


def notes(rounds: Sequence[Round]) -> list[str]:
    """Who did not play, and who failed, a line each."""
    found = [
        f"{agent} is left out of {each.scenario.name}: {reason}"
        for each in rounds
        for agent, reason in each.absent.items()
    ]
    for each in rounds:
        for cell in each.cells:
            if cell.failure is not None:
                pair = f"{cell.caster} - {cell.dispeller}"
                fault = f"{cell.failure.agent} as {cell.failure.seat}"
                found.append(f"{each.scenario.name}: {pair} failed, {fault}: {cell.failure.reason}")
    return found


def rating_table(ratings: Ratings) -> Table:
    """The ratings for people."""
    shown = Table(
        title="rating: points over the average agent, in standard deviations of a battle",
        caption=f"what strengths do not explain: {ratings.misfit:.3f}",
        box=SIMPLE_HEAD,
    )
    for heading in ("agent", "rating", "cast", "dispel", "worst", "against"):
        left = heading in ("agent", "against")
        shown.add_column(heading, justify="left" if left else "right", no_wrap=True)
    forfeits = any(each.forfeits for each in ratings.agents)
    if forfeits:
        shown.add_column("forfeits", justify="right")
    for each in ratings.agents:
        row = [
            shown_name(each.agent),
            _spread(each.rating),
            "" if each.casting is None else f"{each.casting:+.3f}",
            "" if each.dispelling is None else f"{each.dispelling:+.3f}",
            _spread(each.worst),
            "" if each.against is None else shown_name(each.against),
        ]
        shown.add_row(*row, *([str(each.forfeits)] if forfeits else []))
    return shown


def _spread(found: Interval | None) -> str:
    if found is None:
        return ""
    return f"{found.value:+.3f} ± {(found.high - found.low) / 2:.3f}"
