"""Solve scenarios exactly: their values and optimal openings.

    python -m experiments.solve archmage-duel
    python -m experiments.solve --all
    python -m experiments.solve border-skirmish --phases 2
    python -m experiments.solve archmage-duel --plot dice.png
    python -m experiments.solve hidden-scrolls --gap 0.1
    python -m experiments.solve --all --into docs/results/values.json

Values are mean points of the first army's seat if both play optimally. With hidden items, optimal
play is an equilibrium. Its value lies between two bounds, and solving ends when their distance is
below the gap. Times cover only solving, without compilation.
Ctrl-C ends early and keeps the solved scenarios. With --into, they are added to the results in a
file: --all solves the scenarios that the file lacks, so the same command continues an interrupted
run, and named scenarios replace their former results.
"""

from wfb_gym._commands import run_main

if __name__ == "__main__":
    run_main("experiments.solve")

import json
import time
from collections.abc import Collection, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from itertools import chain
from pathlib import Path

from matplotlib.backend_bases import FigureCanvasBase

from experiments import common
from experiments.command_lines import non_negative_number, positive_integer
from experiments.experiment import Experiment
from experiments.figures.dice import draw_dice
from experiments.figures.openings import first_opening
from experiments.outcomes import Line, Outcome, Run
from experiments.solutions import MIB, TABLE, Result, result_text
from experiments.workers import Workers
from wfb_gym import solver
from wfb_gym._progress import tell
from wfb_gym.cli.parser import option
from wfb_gym.scenario import Scenario, ScenarioError, bundled_scenarios, load_scenario

SMALLEST = "apprentice"
"""Scenario to solve first, so that times do not include compilation."""

FIRST_PHASES = 256 * MIB
"""Memory for the first phases of a battle that is too large. All battles together take minutes."""


@dataclass(frozen=True)
class Settings:
    """Command-line options.

    Attributes:
        scenarios: bundled name or file.
        all: solve every bundled scenario.
        into: add the results to this file of --json, which is written if it is missing.
        phases: solve the first N phases of a battle.
        memory: memory limit.
        plot: draw the best dice by pools, of one scenario.
        gap: points between the bounds for scenarios with hidden items.
        json: print only JSON on stdout.
        markdown: print a Markdown table.
    """

    scenarios: tuple[str, ...] = option((), positional=True, metavar="SCENARIO")
    all: bool = False
    into: Path | None = option(None, exclusive="extent", metavar="FILE")
    phases: int | None = option(None, exclusive="extent", type=positive_integer, metavar="N")
    memory: int = option(4, type=positive_integer, metavar="GIB")
    plot: Path | None = option(None, metavar="FILE")
    gap: float = option(solver.DEFAULT_GAP, type=non_negative_number, metavar="POINTS")
    json: bool = option(False, exclusive="form")
    markdown: bool = option(False, exclusive="form")

    @property
    def allows_too_large(self) -> bool:
        """Whether to report scenarios that are too large, with their first phases."""
        return self.all or self.into is not None

    @property
    def max_bytes(self) -> int:
        """Memory limit for a solution, in bytes."""
        return self.memory * 2**30

    def load(self, name: str) -> Scenario:
        """Load a scenario or its first phases, or raise a ValueError if that is impossible."""
        scenario = load_scenario(name)
        try:
            return scenario if self.phases is None else scenario.first_phases(self.phases)
        except ScenarioError:
            raise
        except ValueError as error:
            raise ValueError(f"--phases: {error}") from None


def _check(settings: Settings, _: Collection[str]) -> Settings:
    if settings.all == bool(settings.scenarios):
        raise ValueError("expected scenarios or --all" + (", not both" if settings.all else ""))
    if settings.gap == 0.0:
        raise ValueError("--gap: expected a number above 0, found 0")
    names = tuple(bundled_scenarios() if settings.all else dict.fromkeys(settings.scenarios))
    if settings.into is not None:
        known = {each["scenario"] for each in _read(settings.into)}
        names = tuple(name for name in names if not (settings.all and name in known))
    scenarios = list(map(settings.load, names))
    if settings.plot is not None:
        _check_plot(settings.plot, scenarios)
    return replace(settings, scenarios=names)


def _read(path: Path) -> list[Result]:
    """Return the results in a file, or none if it is missing."""
    if not path.exists():
        return []
    try:
        found: list[Result] = json.loads(path.read_text(encoding="utf-8"))["scenarios"]
    except (ValueError, KeyError, TypeError):
        raise ValueError(f"--into: expected results of --json, found {path}") from None
    return found


def _check_plot(path: Path, scenarios: Sequence[Scenario]) -> None:
    if len(scenarios) != 1:
        raise ValueError(f"--plot: expected one scenario, found {len(scenarios)}")
    if not path.parent.is_dir():
        raise ValueError(f"--plot: expected an existing folder, found {path.parent}")
    kinds = sorted(FigureCanvasBase.get_supported_filetypes())
    if path.suffix[1:] not in kinds:
        expected = f"a file that ends in one of {', '.join(kinds)}"
        raise ValueError(f"--plot: expected {expected}, found {path}")
    if scenarios[0].has_hidden_items:
        raise ValueError("--plot: expected a scenario without hidden items")


def _solve_all(
    settings: Settings, names: Sequence[str], _: Sequence[Line], __: Workers
) -> Iterator[Line]:
    """Solve scenarios, after a small one to trigger compilation."""
    solver.solve(SMALLEST)
    for name in names:
        scenario = settings.load(name)
        if scenario.has_hidden_items:
            yield {"scenarios": [_solve_with_hidden_items(scenario, settings)], "problem": ""}
        else:
            yield solve_open(scenario, settings)


def solve_open(scenario: Scenario, settings: Settings) -> Line:
    """Solve a scenario without hidden items. `problem` is why no figure was drawn, or ""."""
    estimate = solver.estimate(scenario) if settings.allows_too_large else None
    solution, problem = None, ""
    if estimate is None or estimate.bytes <= settings.max_bytes:
        with suppress(solver.TooLarge):
            solution = solver.solve(scenario, max_bytes=settings.max_bytes)
    if solution is None:
        size = estimate or solver.estimate(scenario)
        head = {"scenario": scenario.name, "phases": scenario.phases, "too_large": vars(size)}
        return {"scenarios": [head, *solve_first_phases(scenario, settings)], "problem": problem}
    if settings.plot is not None:
        try:
            draw_dice(solution, settings.plot)
        except (ValueError, OSError) as error:
            problem = str(error)
    return {"scenarios": [result_of(solution)], "problem": problem}


def solve_first_phases(scenario: Scenario, settings: Settings) -> Iterator[Result]:
    """With --all or --into, solve as many first phases as fit into `FIRST_PHASES`."""
    found = None
    with suppress(solver.TooLarge):
        for phases in range(1, scenario.phases if settings.allows_too_large else 1):
            found = solver.solve(scenario.first_phases(phases), max_bytes=FIRST_PHASES)
    if found is not None:
        yield result_of(found)


def _solve_with_hidden_items(scenario: Scenario, settings: Settings) -> Result:
    """Solve a scenario with hidden items, and return its equilibrium's result."""
    began = time.perf_counter()
    head = {"scenario": scenario.name, "phases": scenario.phases}
    try:
        game = solver.HiddenGame(scenario, settings.max_bytes)
    except solver.TooLarge as error:
        return {**head, "out_of_memory": str(error)}
    found = game.solve(
        settings.gap, report=lambda at: tell(f"between {at.lower:+.3f} and {at.upper:+.3f}")
    )
    histories, _ = game.tree.counts
    return {
        **head,
        "value": found.value,
        "lower": found.lower,
        "upper": found.upper,
        "seconds": time.perf_counter() - began,
        "histories": histories,
        "bytes": game.tree.bytes,
    }


def result_of(solution: solver.Solution) -> Result:
    """Return a solved scenario's result."""
    return {
        "scenario": solution.scenario.name,
        "phases": solution.scenario.phases,
        "value": solution.value,
        "opening": first_opening(solution),
        "seconds": solution.seconds,
        "states": solution.states,
        "bytes": solution.bytes,
    }


def _outcome_of(run: Run[Settings, str]) -> Outcome:
    settings = run.settings
    found: list[Result] = list(chain(*run.values("scenarios")))
    problems = [f"--plot: {each}" for each in run.values("problem") if each]
    is_drawn = settings.plot is not None and any("value" in each for each in found)
    failures = {"out_of_memory"} if settings.allows_too_large else {"out_of_memory", "too_large"}
    if settings.markdown:
        text = TABLE.markdown(found)
    elif len(run.parts) == 1:
        text = "\n".join(map(result_text, found))
    else:
        text = TABLE.text(found)
    results = {"scenarios": found, "interrupted": run.interrupted}
    notes = problems or ([f"The picture is in {settings.plot}."] if is_drawn else [])
    if settings.into is not None:
        solved = {each["scenario"] for each in found}
        others = [each for each in _read(settings.into) if each["scenario"] not in solved]
        merged = sorted([*others, *found], key=lambda each: each["scenario"])
        common.write_json(settings.into, {**results, "scenarios": merged})
        notes.append(f"results written to {settings.into}")
    failed = bool(problems) or any(failures & each.keys() for each in found)
    return Outcome(results, [text], notes, failed)


EXPERIMENT = Experiment(
    module="experiments.solve",
    description=__doc__,
    settings=Settings,
    quick=None,
    check=_check,
    file=None,
    parts=lambda settings: settings.scenarios,
    work=_solve_all,
    outcome=_outcome_of,
)
main = EXPERIMENT.main
