"""Solves scenarios exactly: their values and optimal openings.

    python -m experiments.solve archmage-duel
    python -m experiments.solve --all
    python -m experiments.solve border-skirmish --phases 2
    python -m experiments.solve archmage-duel --plot dice.png
    python -m experiments.solve hidden-scrolls --gap 0.1

Values are points of the first army's seat on average, if both play optimally. Where items are
hidden that is play in equilibrium: the value lies between two bounds, which solving brings closer
to each other than the gap. Times are of solving alone, with the rules compiled.
Ctrl-C ends early and keeps what was solved.
"""

import sys
import time
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from matplotlib.backend_bases import FigureCanvasBase
from rich.table import Column, Table

from experiments import common
from experiments.figures.dice import draw_dice
from experiments.figures.openings import first_opening
from experiments.progress import report_progress
from experiments.tables import markdown_table, print_table
from wfb_gym import solver
from wfb_gym._progress import tell
from wfb_gym.cli.output import print_json
from wfb_gym.cli.parser import Parser, option, parse_options
from wfb_gym.scenario import Scenario, ScenarioError, bundled_scenarios, load_scenario

SMALLEST = "apprentice"
"""Scenario that is solved first, so that times do not include compilation."""

MIB = 2**20
FIRST_PHASES = 256 * MIB
"""Memory for the first phases of a battle that is too large: minutes for all of them together."""
_SHORT = 0.1
"""Seconds below which a third digit is shown."""

Result = dict[str, Any]
"""A scenario's result as JSON holds it; with `too_large` instead of a value if it is too large."""


@dataclass(frozen=True)
class Settings:
    """What to solve, and the form of the output."""

    scenarios: tuple[Scenario, ...]  # in the order of the results
    everything: bool  # solve all bundled ones; of battles that are too large the first phases
    memory: int  # bytes that a solution may take
    plot: Path | None  # file for the heat maps
    form: str  # "plain", "json" or "markdown"
    gap: float = solver.DEFAULT_GAP  # points between the bounds where items are hidden


@dataclass(frozen=True)
class Options:
    """The command line.

    Attributes:
        scenarios: bundled name or file.
        all: solve every bundled scenario.
        phases: solve the first N phases of a battle.
        memory: most memory.
        plot: draw the best dice by pools, of one scenario.
        gap: points between the bounds where items are hidden.
        json: print only JSON on stdout.
        markdown: print a table for a README.
    """

    scenarios: tuple[str, ...] = option((), positional=True, metavar="SCENARIO")
    all: bool = False
    phases: int | None = option(None, type=common.positive_integer, metavar="N")
    memory: int = option(4, type=common.positive_integer, metavar="GIB")
    plot: Path | None = option(None, metavar="FILE")
    gap: float = option(solver.DEFAULT_GAP, type=common.non_negative_number, metavar="POINTS")
    json: bool = option(False, exclusive="form")
    markdown: bool = option(False, exclusive="form")


def parse_arguments(arguments: Sequence[str] | None) -> Settings:
    """Parse the command line."""
    given, parser = parse_options(
        Options, arguments, module="experiments.solve", description=__doc__
    )
    if given.all == bool(given.scenarios):
        parser.error("expected scenarios or --all" + (", not both" if given.all else ""))
    if given.gap == 0.0:
        parser.error("--gap: expected a number above 0, found 0")
    names = bundled_scenarios() if given.all else dict.fromkeys(given.scenarios)
    try:
        scenarios = tuple(load_scenario(name) for name in names)
        if given.phases is not None:
            scenarios = tuple(scenario.first_phases(given.phases) for scenario in scenarios)
    except ScenarioError as error:
        parser.error(str(error))
    except ValueError as error:
        parser.error(f"--phases: {error}")
    if given.plot is not None:
        _check_plot(parser, given.plot, len(scenarios))
    form = "json" if given.json else "markdown" if given.markdown else "plain"
    if given.plot is not None and scenarios[0].has_secrets:
        parser.error("--plot: expected a scenario in which nothing is hidden")
    memory = given.memory * 2**30
    return Settings(scenarios, given.all, memory, given.plot, form, given.gap)


def _check_plot(parser: Parser, path: Path, scenarios: int) -> None:
    """Refuse early a picture that cannot be drawn or written."""
    if scenarios != 1:
        parser.error(f"--plot: expected one scenario, found {scenarios}")
    if not path.parent.is_dir():
        parser.error(f"--plot: expected an existing folder, found {path.parent}")
    kinds = sorted(FigureCanvasBase.get_supported_filetypes())
    if path.suffix[1:] not in kinds:
        expected = f"a file that ends in one of {', '.join(kinds)}"
        parser.error(f"--plot: expected {expected}, found {path}")


def solve_all(settings: Settings, results: list[Result]) -> str:
    """Solve the scenarios and append their results, which stay there after Ctrl-C.

    With all bundled scenarios, those whose estimate exceeds the limit are skipped. Returns why the
    picture could not be drawn; empty if there is no problem.
    """
    with report_progress("solving", len(settings.scenarios)) as report:
        solver.solve(SMALLEST)
        for scenario in settings.scenarios:
            report(scenario.name, 0)
            if scenario.has_secrets:
                results.append(solve_secrets(scenario, settings))
            else:
                problem = solve_open(scenario, settings, results)
                if problem:
                    return problem
            report("", 1)
    return ""


def solve_open(scenario: Scenario, settings: Settings, results: list[Result]) -> str:
    """Solve a scenario without hidden items; see `solve_all`."""
    estimate = solver.estimate(scenario) if settings.everything else None
    solution = None
    if estimate is None or estimate.bytes <= settings.memory:
        with suppress(solver.TooLarge):
            solution = solver.solve(scenario, max_bytes=settings.memory)
    if solution is None:
        size = estimate or solver.estimate(scenario)
        head = {"scenario": scenario.name, "phases": scenario.phases}
        results.append({**head, "too_large": vars(size)})
        if settings.everything:
            solve_first_phases(scenario, results)
        return ""
    results.append(result_of(solution))
    if settings.plot is not None:
        try:
            draw_dice(solution, settings.plot)
        except (ValueError, OSError) as error:
            return str(error)
    return ""


def solve_first_phases(scenario: Scenario, results: list[Result]) -> None:
    """Solve as many first phases of a battle as fit into `FIRST_PHASES`; append the result."""
    found = None
    with suppress(solver.TooLarge):
        for phases in range(1, scenario.phases):
            found = solver.solve(scenario.first_phases(phases), max_bytes=FIRST_PHASES)
    if found is not None:
        results.append(result_of(found))


def solve_secrets(scenario: Scenario, settings: Settings) -> Result:
    """Find the equilibrium of a scenario with hidden items; return its result."""
    began = time.perf_counter()
    head = {"scenario": scenario.name, "phases": scenario.phases}
    try:
        game = solver.HiddenGame(scenario, settings.memory)
    except solver.TooLarge as error:
        return {**head, "no_room": str(error)}
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
    """Return the result of a solved scenario."""
    return {
        "scenario": solution.scenario.name,
        "phases": solution.scenario.phases,
        "value": solution.value,
        "opening": first_opening(solution),
        "seconds": solution.seconds,
        "states": solution.states,
        "bytes": solution.bytes,
    }


def result_text(result: Result) -> str:
    """Return one scenario's result in a few lines."""
    name, _, _, opening, decisions, seconds, mebibytes = table_row(result)
    if "too_large" in result:
        return f"{name}: too large: {solver.Estimate(**result['too_large'])}"
    if "no_room" in result:
        return str(result["no_room"])
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
_TEXT = ("scenario", "opening")


def table_row(result: Result) -> tuple[str, ...]:
    """Return a result as a row of the table; in place of an opening, why there is no solution."""
    name, phases = result["scenario"], str(result["phases"])
    if "too_large" in result:
        size = solver.Estimate(**{**result["too_large"], "causes": ()})
        return name, phases, "", f"too large: {size}", "", "", ""
    if "no_room" in result:
        return name, phases, "", "too large", "", "", ""
    if "histories" in result:
        points, decisions = result["value"], result["histories"]
        words = f"mixed; within {(result['upper'] - result['lower']) / 2.0:.3f} points"
    else:
        points, words, decisions = result["value"], result["opening"]["words"], result["states"]
    seconds = f"{result['seconds']:,.{2 if result['seconds'] >= _SHORT else 3}f}"
    mebibytes = f"{result['bytes'] / MIB:,.1f}"
    return name, phases, f"{points:+.2f}", words, f"{decisions:,}", seconds, mebibytes


def values_table(results: Sequence[Result]) -> str:
    """Return the results as a Markdown table."""
    left = [HEADINGS.index(heading) for heading in _TEXT]
    return markdown_table([HEADINGS, *map(table_row, results)], left)


def print_results(settings: Settings, results: Sequence[Result], interrupted: bool) -> None:
    """Print the results in the form that the settings name."""
    if settings.form == "json":
        print_json({"scenarios": results, "interrupted": interrupted})
    elif settings.form == "markdown":
        print(values_table(results))
    elif len(settings.scenarios) == 1:
        print("\n".join(result_text(each) for each in results))
    else:
        columns = (
            Column(each, justify="left" if each in _TEXT else "right", no_wrap=each != "opening")
            for each in HEADINGS
        )
        table = Table(*columns, caption="points of the first army if both play optimally")
        for each in results:
            table.add_row(*table_row(each))
        print_table(table)


def main(arguments: Sequence[str] | None = None) -> int:
    """Solve and print; returns the exit status."""
    settings = parse_arguments(arguments)
    results: list[Result] = []
    problem = ""
    with common.Interruptible() as session:
        problem = solve_all(settings, results)
    if session.interrupted:
        done = f"{len(results)} of {len(settings.scenarios)} scenarios"
        print(f"interrupted after {done}", file=sys.stderr)
    print_results(settings, results, session.interrupted)
    if problem:
        print(f"--plot: {problem}", file=sys.stderr)
    elif settings.plot is not None and any("value" in each for each in results):
        print(f"The picture is in {settings.plot}.", file=sys.stderr)
    if session.interrupted:
        return common.INTERRUPTED
    refused = any("too_large" in each or "no_room" in each for each in results)
    return common.FAILED if problem or (refused and not settings.everything) else 0


if __name__ == "__main__":
    sys.exit(main())
