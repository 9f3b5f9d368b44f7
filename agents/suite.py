"""Record a suite of data sets for offline learning, with the exact value of every action.

    python -m agents.suite
    python -m agents.suite --scenario archmage-duel --battles 1000

In each of three scenarios the same seat is played by four behaviours: random; medium, about halfway
between random and optimal; expert, which is optimal; and mixed, where each of the three plays a
third of the battles. The opponent plays optimally but acts at random with a probability, so that
the data include answers to errors. The data sets are named wfb_gym/offline/SCENARIO/SEAT-KIND-v0,
have the format of agents/record.py with --values, and store the exact score of their behaviour.

Ctrl-C keeps the complete data sets, and the same command continues with the others. Needs the extra
`minari`.
"""

from wfb_gym._commands import run_main

if __name__ == "__main__":
    run_main("agents.suite")

import sys
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from itertools import groupby
from pathlib import Path
from statistics import fmean
from typing import Any, NamedTuple

from agents import record
from agents.common import DeferredInterrupt, report
from agents.datasets import DatasetError, Episode, describe_dataset
from agents.exact_values import ExactValues
from experiments import command_lines, common
from experiments.progress import Report, report_progress
from wfb_gym import solver
from wfb_gym.cli.parser import option

MODULE = "agents.suite"
QUICK = {"scenario": ("apprentice",), "battles": 60}
KINDS = ("random", "medium", "expert", "mixed")


class SuiteTask(NamedTuple):
    """A seat in a scenario."""

    seat: str
    medium: str  # a player about halfway between random (0) and optimal (100)


TASKS = {
    "archmage-duel": SuiteTask("caster", "greedy:0.1"),  # 45.9
    "seventh-edition-duel": SuiteTask("dispeller", "veteran:0.3"),  # 48.8
    "long-siege": SuiteTask("caster", "veteran:0.3"),  # 51.2; four phases, and a unit
    "apprentice": SuiteTask("caster", "greedy:0.2"),  # for short runs, not in the suite
}
SUITE = tuple(TASKS)[:3]


@dataclass(frozen=True)
class Settings:
    """Settings for a suite.

    Attributes:
        scenario: scenario to play.
        battles: battles of each data set.
        opponent: player of the other seat.
        seed: seed of the first battle's dice; no two battles of a scenario share a seed.
    """

    scenario: tuple[str, ...] = option(SUITE, choices=tuple(TASKS))
    battles: int = 5000
    opponent: str = "optimal:0.3"
    seed: int = 0
    out: Path | None = option(None, metavar="FILE", help="also write the results to FILE")


def name_of(scenario: str, kind: str) -> str:
    """Return the name of a data set in the suite."""
    return f"wfb_gym/offline/{scenario}/{TASKS[scenario].seat}-{kind}-v0"


def members(settings: Settings) -> list[record.Settings]:
    """Return the suite's recordings: in each scenario, the data sets of `KINDS`."""
    found = []
    for scenario in settings.scenario:
        seat, medium = TASKS[scenario]
        everybody = ("random", medium, "optimal")
        for place, kind in enumerate(KINDS):
            member = record.Settings(
                agent=everybody if kind == "mixed" else everybody[place : place + 1],
                scenario=scenario,
                seat=seat,
                opponent=(settings.opponent,),
                battles=settings.battles,
                values=True,
                seed=settings.seed + place * settings.battles,
                name=name_of(scenario, kind),
            )
            found.append(member)
    return found


def behaviour_score(game: solver.ExactGame, settings: record.Settings) -> float:
    """Return the exact score of a data set's agent, or the mean if it has several agents."""
    seat = settings.seat
    scores = (
        game.score(game.probabilities(each, seat, reached=True), seat).score
        for each in settings.agent
    )
    return fmean(each for each in scores if each is not None)


def find_missing(
    wanted: Sequence[record.Settings], *, may_replace: bool = False
) -> list[record.Settings]:
    """Return the data sets that are missing, or have different settings and may be replaced.

    Raises:
        ImportError: if Minari is not installed.
        ValueError: if a setting is wrong, or a data set has different settings or is corrupt.
    """
    missing = []
    for settings in wanted:
        record.check_recording(settings, may_replace=True)
        found = describe_dataset(settings.name)
        if found and found.command == command_lines.command_line(record.MODULE, settings):
            continue
        if found and not may_replace:
            raise DatasetError(
                f"{settings.name} was recorded otherwise ({found.command}); "
                f"python -m {MODULE} --replace records it again"
            )
        missing.append(settings)
    return missing


def record_all(missing: Sequence[record.Settings]) -> None:
    """Record data sets, showing the progress.

    Raises:
        KeyboardInterrupt: if Ctrl-C is pressed. Existing data sets are complete.
    """
    if not missing:
        return
    with report_progress("recording", sum(each.battles for each in missing)) as advance:
        for _, some in groupby(missing, lambda each: each.scenario):
            record_scenario(list(some), advance)


def record_scenario(missing: Sequence[record.Settings], advance: Report) -> None:
    """Record data sets for one scenario and seat.

    Raises:
        KeyboardInterrupt: if Ctrl-C is pressed. Data sets already written are complete.
    """
    scenario, seat = missing[0].scenario, missing[0].seat
    solution = solver.solve(scenario, cache=True, notice=sys.stderr)
    exact, game = ExactValues(solution, seat), solver.ExactGame(solution)
    for settings in missing:
        advance(settings.name, 0)
        episodes: list[Episode] = []
        for played in record.Recorder(settings, exact).play():
            episodes += played
            advance(settings.name, len(played))
        score = behaviour_score(game, settings)
        with DeferredInterrupt("once the data set is written") as late:
            record.write_episodes(settings, episodes, replace=True, score=score)
        if late.requested:
            raise KeyboardInterrupt


def _summarise(wanted: Sequence[record.Settings]) -> list[dict[str, Any]]:
    found = []
    for settings in wanted:
        about = describe_dataset(settings.name)
        if about is not None:
            where = {"scenario": settings.scenario, "seat": settings.seat}
            found.append(where | {"agent": list(settings.agent)} | asdict(about))
    return found


def main(arguments: Sequence[str] | None = None) -> int:
    """Parse the command line, record missing data sets, print all and return the exit status."""
    settings, switches, parser = common.parse_settings(
        Settings,
        arguments,
        module=MODULE,
        description=__doc__,
        quick=QUICK,
        switches={"replace": "replace data sets with other settings, which are an error otherwise"},
    )
    wanted = members(settings)
    try:
        missing = find_missing(wanted, may_replace="replace" in switches)
    except (ValueError, ImportError) as error:
        parser.error(str(error))
    with common.Interruptible() as run:
        record_all(missing)
    found = _summarise(wanted)
    results = {
        "args": common.settings_as_json(settings),
        "interrupted": run.interrupted,
        "datasets": found,
        "versions": common.versions(("minari",)),
    }
    if settings.out is not None:
        common.write_json(settings.out, results)
    if run.interrupted:
        note = f"interrupted after {len(found)} of {len(wanted)}; the same command continues"
        print(note, file=sys.stderr)
    lines = (
        f"{each['name']}: {each['battles']:,} battles, {each['decisions']:,} decisions, exact "
        f"score {each['score']:.1f}"
        for each in found
    )
    return report(results, "json" in switches, "\n".join(lines))
