"""Measure the value of memory with hidden items: equilibrium play that forgets the past.

    python -m experiments.value_of_history
    python -m experiments.value_of_history hidden-duel --gap 0.001

A policy of observations acts alike at all decisions with the same observation, and ignores the
past. So the equilibrium strategy is averaged over decisions with equal observations, weighted by
how often they are reached, and graded exactly: 100 is equilibrium, 0 random play. This is done for
plain observations, and for observations with history, which include the last cast of each spell
and the answer (``history=True``). The average is not the best memoryless play, which may score
more.

Finished scenarios are stored in OUT/parts.jsonl, and the same command continues an interrupted run.
OUT gets results.json.
"""

from wfb_gym._commands import run_main

if __name__ == "__main__":
    run_main("experiments.value_of_history")

from collections.abc import Collection
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from experiments.experiment import Experiment
from experiments.outcomes import Line, Results
from experiments.tables import ResultTable, texts
from wfb_gym.cli.parser import option
from wfb_gym.encoding.view import View
from wfb_gym.engine.actions import ACTIONS
from wfb_gym.scenario import load_scenario
from wfb_gym.seats import SEATS
from wfb_gym.solver import Equilibrium, HiddenGame


@dataclass(frozen=True)
class Settings:
    """Settings for the measurement.

    Attributes:
        scenario: bundled names or files with hidden items.
        gap: points between the bounds of the equilibria.
        out: folder of the results.
    """

    scenario: tuple[str, ...] = option(
        ("hidden-scroll", "hidden-stone", "hidden-scrolls", "hidden-duel"), positional=True
    )
    gap: float = 0.002
    out: Path = Path("runs/value-of-history")


class Sights(NamedTuple):
    """A seat's observations at all its decisions, by its hidden set, in n rows."""

    node: NDArray[np.int64]  # (n,)
    kind: NDArray[np.int64]  # (n,): the seat's hidden set
    seen: NDArray[np.int64]  # (n,): number of the observation


def sights_of(game: HiddenGame, seat: int, *, history: bool) -> Sights:
    """Return a seat's observations at all its decisions. The game must have a complete tree."""
    view = View.fitted(game.packed, seat, history=history)
    numbers: dict[bytes, int] = {}
    found: list[tuple[NDArray[np.int64], NDArray[np.int64], list[int]]] = []
    for kind, nodes, dealt in game.decisions(seat):
        histories = game.histories.at(nodes) if history else None
        rows, _ = view.show(np.zeros(len(nodes), np.int64), dealt, histories)
        seen = [numbers.setdefault(row.tobytes(), len(numbers)) for row in rows]
        found.append((nodes, np.full(len(nodes), kind), seen))
    node, kinds, numbered = (
        np.concatenate(each).astype(np.int64) for each in zip(*found, strict=True)
    )
    return Sights(node, kinds, numbered)


def forget(found: Equilibrium, seat: int, sights: Sights) -> NDArray[np.float64]:
    """Return a seat's equilibrium strategy, averaged over decisions with equal observations.

    The result is float64 (actions, kinds), the format used by `HiddenGame`. Decisions that are
    never reached get a tiny weight, so that every action has a probability.
    """
    game = found.game
    node, kind = sights.node, sights.kind
    weight = np.maximum(game.reaches(found.strategy, seat)[node, kind], np.finfo(float).tiny)
    action, row = game.tree.actions_of(node)
    pair = sights.seen[row] * ACTIONS + game.tree.code[action]
    _, same = np.unique(pair, return_inverse=True)
    sums = np.bincount(same, weight[row] * found.strategy[action, kind[row]])
    strategy = np.zeros_like(found.strategy)
    strategy[action, kind[row]] = sums[same] / np.bincount(sights.seen, weight)[sights.seen[row]]
    return strategy


def run_part(settings: Settings, scenario: str) -> Line:
    """Return the scores of memoryless equilibrium play in either seat of a scenario."""
    game = HiddenGame(scenario, whole=True)
    found = game.solve(settings.gap)
    parts = []
    for seat, name in enumerate(SEATS):
        part: dict[str, Any] = {"scenario": scenario, "seat": name}
        for key, history in (("without", False), ("with", True)):
            sights = sights_of(game, seat, history=history)
            score = found.score(forget(found, seat, sights), seat)
            part |= {"decisions": len(sights.node)}
            part[key] = {"observations": int(sights.seen.max()) + 1, "score": score.score}
        parts.append(part)
    return {"scenario": scenario, "parts": parts}


def memory_rows(results: Results) -> list[list[str]]:
    """Return the table of a run's results."""
    rows = [
        ["scenario", "seat", "decisions", "observations", "score", "observations with history",
         "score with history"]
    ]  # fmt: skip
    for part in results["parts"]:
        cells = [f"{part['decisions']:,}"]
        for key in ("without", "with"):
            cells += [f"{part[key]['observations']:,}", f"{part[key]['score']:.2f}"]
        rows.append([part["scenario"], part["seat"], *cells])
    return rows


def _check(settings: Settings, _: Collection[str]) -> Settings:
    for name in settings.scenario:
        if not load_scenario(name).has_hidden_items:
            raise ValueError(f"scenario: expected hidden items, found none in {name}")
    return settings


SCORES = ResultTable("scores of equilibrium play without memory", memory_rows, (0, 1))
EXPERIMENT = Experiment(
    module="experiments.value_of_history",
    description=__doc__,
    settings=Settings,
    quick={"scenario": ("hidden-scroll",)},
    check=_check,
    positive=("gap",),
    kind="value of history",
    free=("out", "scenario"),
    parts=lambda settings: settings.scenario,
    run_part=run_part,
    name_of=lambda line: str(line["scenario"]),
    results=lambda run: run.document(parts=list(chain(*run.values("parts")))),
    tables=texts(SCORES),
)
main = EXPERIMENT.main
