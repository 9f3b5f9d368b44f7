"""Measure the value of planning ahead: scores and points by the number of phases considered.

    python -m experiments.horizon
    python -m experiments.horizon --scenario archmage-duel:5 --battle long-siege --battles 400

In scenarios that can be solved, there are three figures for every number of phases: the value of
these first phases; the exact score, in the whole battle, of a player that plays as if the battle
ended after them; and the exact score of phase-search when it considers them. In larger battles,
phase-search plays against the opponents. The figures are the additional points that it wins
compared with one phase, on the same dice and luck-adjusted (experiments/luck.py), and its time
per decision.

Finished parts are stored in OUT/parts.jsonl, and the same command continues an interrupted run. OUT
gets results.json and horizon.png.
"""

from wfb_gym._commands import run_main

if __name__ == "__main__":
    run_main("experiments.horizon")

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from experiments import command_lines, common
from experiments.experiment import Experiment
from experiments.figures.horizon import draw_horizon
from experiments.horizon_agents import HorizonAgent, TimedAgent
from experiments.luck import play_with_luck
from experiments.outcomes import Line
from experiments.tables import ResultTable, texts
from wfb_gym._progress import tell
from wfb_gym.cli.parser import option
from wfb_gym.players.registry import make_agent
from wfb_gym.players.search.phase_search import PhaseSearchAgent
from wfb_gym.scenario import Scenario, load_scenario, scenario_from_dict
from wfb_gym.seats import SEATS
from wfb_gym.solver import ExactGame, solve

FIRST_SEED = 12_000_000_000
"""Seed for the dice, far from the seeds used for tuning."""
Part = dict[str, Any]
"""The figures for one number of phases, as JSON."""


@dataclass(frozen=True)
class Settings:
    """Settings for the measurement.

    Attributes:
        scenario: bundled names or files that can be solved; NAME:PHASES sets the number of phases.
        battle: bundled names or files of battles to play.
        phases: numbers of phases that phase-search considers in these battles; 1 is always added.
        opponent: opponents of phase-search in these battles.
        battles: battles against each opponent.
        seed: seed of the dice.
        out: folder of the results.
    """

    scenario: tuple[str, ...] = ("archmage-duel:5", "orc-shaman-hunt:7", "long-siege")
    battle: tuple[str, ...] = (
        "border-skirmish", "redhorn-pass", "the-crooked-mile", "dawn-at-grimmwald",
        "the-shattered-gate", "the-winds-unbound",
    )  # fmt: skip
    phases: tuple[int, ...] = option((2, 3, 5, 12), type=command_lines.positive_integer)
    opponent: tuple[str, ...] = ("greedy", "veteran")
    battles: int = 100
    seed: int = 0
    out: Path = Path("runs/horizon")


class Source(NamedTuple):
    """A scenario to solve, or a battle to play."""

    name: str
    is_battle: bool

    def __str__(self) -> str:
        return self.name


def read_scenario(text: str) -> Scenario:
    """Load a scenario. NAME:PHASES sets its number of phases.

    Raises:
        ValueError: if the scenario is unknown or invalid.
        OSError: if the file cannot be read.
    """
    name, colon, count = text.rpartition(":")
    if not colon or not count.isdigit():
        return load_scenario(text)
    lasting = load_scenario(name).model_dump(mode="json") | {"phases": int(count)}
    return scenario_from_dict(lasting)


def exact_parts(scenario: Scenario) -> Iterator[Part]:
    """Measure a solved scenario at each number of phases."""
    game = ExactGame(scenario)
    for phases in range(1, scenario.phases + 1):
        part: Part = {"scenario": scenario.name, "phases": phases, "of": scenario.phases}
        part["value"] = solve(scenario.first_phases(phases)).value
        for seat_name in SEATS:
            for kind, agent in (
                ("exact", HorizonAgent(scenario, phases)),
                ("phase-search", PhaseSearchAgent(phases_ahead=phases - 1)),
            ):
                probabilities = game.probabilities(agent, seat_name, reached=True)
                part[f"{kind} {seat_name}"] = game.score(probabilities, seat_name).score
        yield part


def battle_parts(settings: Settings, name: str) -> Iterator[Part]:
    """Measure a played battle at each number of phases."""
    scenario = load_scenario(name)
    first: dict[str, Any] = {}
    for phases in settings.phases:
        if phases > scenario.phases:
            continue
        part: Part = {"battle": scenario.name, "phases": phases}
        for seat in SEATS:
            agent = TimedAgent(PhaseSearchAgent(phases_ahead=phases - 1))
            points = np.concatenate(
                [
                    play_with_luck(
                        agent, seat=seat, scenario=scenario, opponent=opponent,
                        battles=settings.battles, seed=FIRST_SEED + 1_000_000 * settings.seed,
                    ).adjusted
                    for opponent in settings.opponent
                ]
            )  # fmt: skip
            more = common.mean_points(points - first.setdefault(seat, points))
            part[seat] = {"more": more.mean, "half_width": more.half_width, "points": points.mean()}
            part[seat]["milliseconds"] = 1e3 * agent.seconds / max(1, agent.decisions)
        yield part


def exact_rows(parts: Sequence[Part]) -> list[list[str]]:
    """Return the cells of the table of exact scores, header first."""
    kinds = [f"{kind} {seat}" for kind in ("exact", "phase-search") for seat in SEATS]
    rows = [["scenario", "phases", "value", *kinds]]
    for part in parts:
        if "scenario" in part:
            scores = [f"{part[kind]:.2f}" for kind in kinds]
            counted = f"{part['phases']} of {part['of']}"
            rows.append([part["scenario"], counted, f"{part['value']:+.2f}", *scores])
    return rows


def battle_rows(parts: Sequence[Part]) -> list[list[str]]:
    """Return the cells of the table of points won by planning ahead, header first."""
    rows = [["battle", "phases", *SEATS, "ms per decision"]]
    for part in parts:
        if "battle" in part:
            cells = [f"{part[s]['more']:+.1f} ± {part[s]['half_width']:.1f}" for s in SEATS]
            if part["phases"] == 1:
                cells = [f"({part[seat]['points']:+.1f})" for seat in SEATS]
            spent = np.mean([part[seat]["milliseconds"] for seat in SEATS])
            rows.append([part["battle"], str(part["phases"]), *cells, f"{spent:.2f}"])
    return rows


def _run_part(settings: Settings, source: Source) -> Line:
    measured = (
        battle_parts(settings, source.name)
        if source.is_battle
        else exact_parts(read_scenario(source.name))
    )
    parts: list[Part] = []
    for part in measured:
        parts.append(part)
        tell(f"phases considered: {part['phases']}")
    tell("")
    return {"parts": parts}


def sources_of(settings: Settings) -> list[Source]:
    """Return the scenarios to solve, then the battles to play."""
    solved = [Source(name, is_battle=False) for name in settings.scenario]
    return [*solved, *(Source(name, is_battle=True) for name in settings.battle)]


def _check(settings: Settings, _: Collection[str]) -> Settings:
    for name in settings.opponent:
        make_agent(name)
    for name in settings.scenario:
        read_scenario(name)
    for name in settings.battle:
        load_scenario(name)
    return replace(settings, phases=tuple(sorted({1, *settings.phases})))


SCORES = ResultTable(
    "exact scores in the whole battle, by number of phases considered",
    lambda results: exact_rows(results["parts"]),
    (0, 1),
)
BATTLES = ResultTable(
    "lead over a horizon of one phase, in points per battle (brackets: points with one phase)",
    lambda results: battle_rows(results["parts"]),
)
EXPERIMENT = Experiment(
    module="experiments.horizon",
    description=__doc__,
    settings=Settings,
    quick={
        "scenario": ("apprentice:3",),
        "battle": ("border-skirmish",),
        "phases": (2,),
        "opponent": ("greedy",),
        "battles": 4,
    },
    check=_check,
    positive=("battles",),
    parts=sources_of,
    run_part=_run_part,
    results=lambda run: {
        "args": common.recorded_settings(run.settings, {"out"}),
        "parts": list(chain(*run.values("parts"))),
        "versions": common.versions(),
    },
    tables=texts(SCORES, BATTLES),
    figures=lambda results, out: draw_horizon(results, out / "horizon.png"),
    needs_all=True,
)
main = EXPERIMENT.main
