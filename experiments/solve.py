"""Solves scenarios exactly: their values and optimal openings.

    python -m experiments.solve archmage-duel
    python -m experiments.solve --all
    python -m experiments.solve border-skirmish --phases 2
    python -m experiments.solve archmage-duel --plot dice.png

Values are points of the first army's seat on average, if both play optimally. Times are of
solving alone, with the rules compiled. Ctrl-C ends early and keeps what was solved.
"""

import json
import sys
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from matplotlib.backend_bases import FigureCanvasBase
from rich.console import Console
from rich.progress import Progress, SpinnerColumn, TextColumn, TimeElapsedColumn
from rich.table import Table

from experiments.common import (
    FAILED,
    INTERRUPTED,
    Interruptible,
    markdown_table,
    positive_integer,
)
from experiments.figures.dice import draw_dice
from experiments.figures.openings import first_opening_text, optimal_opening
from wfb_gym import solver
from wfb_gym.cli.parser import Parser
from wfb_gym.scenario import Scenario, ScenarioError, bundled_scenarios, load_scenario
from wfb_gym.seats import SEATS
from wfb_gym.solver.estimation import count_text, size_text

SMALLEST = "apprentice"
"""Scenario that is solved first, so that times do not include compilation."""

GIB = 2**30
MIB = 2**20
FIRST_PHASES = 256 * MIB
"""Memory for the first phases of a battle that is too large: minutes for all of them together."""


@dataclass(frozen=True)
class Settings:
    """What to solve, and the form of the output.

    Attributes:
        scenarios: in the order of the results.
        everything: solve all bundled ones; of battles that are too large the first phases.
        memory: bytes that a solution may take.
        plot: file for the heat maps, if any.
        form: "plain", "json" or "markdown".
    """

    scenarios: tuple[Scenario, ...]
    everything: bool
    memory: int
    plot: Path | None
    form: str


Result = dict[str, Any]
"""A scenario's result as JSON holds it; with `too_large` instead of a value if it is too large."""


def parse_arguments(arguments: Sequence[str] | None) -> Settings:
    """Parse the command line.

    Raises:
        SystemExit: help was asked for, or the input is bad.
    """
    parser = Parser(prog="python -m experiments.solve", description=(__doc__ or "").strip())
    add = parser.add_argument
    add("scenarios", nargs="*", metavar="SCENARIO", help="bundled name or file")
    add("--all", action="store_true", help="every bundled scenario")
    add("--phases", type=positive_integer, metavar="N", help="solve the first N phases of a battle")
    add(
        "--memory",
        type=positive_integer,
        default=4,
        metavar="GIB",
        help="limit (default: %(default)s)",
    )
    add("--plot", type=Path, metavar="FILE", help="draw the best dice by pools, of one scenario")
    forms = parser.add_mutually_exclusive_group()
    forms.add_argument("--json", action="store_true", help="print JSON alone on stdout")
    forms.add_argument("--markdown", action="store_true", help="print a table for a README")
    given = parser.parse_args(arguments)
    if given.all == bool(given.scenarios):
        parser.error("expected scenarios or --all" + (", not both" if given.all else ""))
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
    return Settings(scenarios, given.all, given.memory * GIB, given.plot, form)


def _check_plot(parser: Parser, path: Path, scenarios: int) -> None:
    """Refuse early a picture that cannot be drawn or written."""
    if scenarios != 1:
        parser.error(f"--plot: expected one scenario, found {scenarios}")
    if not path.parent.is_dir():
        parser.error(f"--plot: expected an existing folder, found {path.parent}")
    kinds = sorted(FigureCanvasBase.get_supported_filetypes())
    if path.suffix[1:] not in kinds:
        parser.error(
            f"--plot: expected a file that ends in one of {', '.join(kinds)}, found {path}"
        )


def result_of(solution: solver.Solution) -> Result:
    """Return the result of a solved scenario."""
    opening, dice = optimal_opening(solution)
    return {
        "scenario": solution.scenario.name,
        "phases": solution.scenario.phases,
        "value": solution.value,
        "opening": {
            "words": first_opening_text(solution),
            "army": None if opening is None else SEATS[opening.before.mover],
            "after_dice": dice,
        },
        "seconds": solution.seconds,
        "states": solution.states,
        "bytes": solution.bytes,
    }


def too_large_result(scenario: Scenario, estimate: solver.Estimate) -> Result:
    """Return the result of a scenario that is too large."""
    return {
        "scenario": scenario.name,
        "phases": scenario.phases,
        "too_large": {
            "states": estimate.states,
            "bytes": estimate.bytes,
            "exact": estimate.exact,
            "causes": list(estimate.causes),
        },
    }


class Spinner:
    """A line on stderr that shows what is being solved."""

    def __init__(self) -> None:
        self._progress = Progress(
            SpinnerColumn(),
            TextColumn("{task.description}"),
            TimeElapsedColumn(),
            TextColumn("{task.fields[note]}"),
            console=Console(stderr=True),
            transient=True,
        )
        self._task = self._progress.add_task("", total=None, note="")

    def __enter__(self) -> "Spinner":
        self._progress.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._progress.stop()

    def show(self, what: str) -> None:
        """Show what is being done."""
        self._progress.reset(self._task, description=what, note="")

    def count(self, number: int) -> None:
        """Show the number of positions so far."""
        self._progress.update(self._task, note=f"{number:,} positions")


def solve_all(settings: Settings, results: list[Result]) -> str:
    """Solve the scenarios and append their results.

    With all bundled scenarios, those whose estimate exceeds the limit are skipped.

    Returns:
        Why the picture could not be drawn; empty if there is no problem.

    Raises:
        KeyboardInterrupt: Ctrl-C; `results` holds what was done.
    """
    with Spinner() as spinner:
        spinner.show("getting ready")
        solver.solve(SMALLEST)
        for number, scenario in enumerate(settings.scenarios, 1):
            count = (
                f" ({number} of {len(settings.scenarios)})" if len(settings.scenarios) > 1 else ""
            )
            spinner.show(f"{scenario.name}{count}")
            estimate = solver.estimate(scenario) if settings.everything else None
            solution = None
            if estimate is None or estimate.bytes <= settings.memory:
                with suppress(solver.TooLarge):
                    solution = solver.solve(
                        scenario, max_bytes=settings.memory, progress=spinner.count
                    )
            if solution is None:
                results.append(too_large_result(scenario, estimate or solver.estimate(scenario)))
                if settings.everything:
                    solve_first_phases(scenario, results, spinner)
                continue
            results.append(result_of(solution))
            if settings.plot is not None:
                spinner.show(f"drawing {settings.plot}")
                try:
                    draw_dice(solution, settings.plot)
                except (ValueError, OSError) as error:
                    return str(error)
    return ""


def solve_first_phases(scenario: Scenario, results: list[Result], spinner: Spinner) -> None:
    """Solve as many first phases of a battle as fit into `FIRST_PHASES`; append the result."""
    found = None
    with suppress(solver.TooLarge):
        for phases in range(1, scenario.phases):
            spinner.show(f"{scenario.name}, first {phases} of {scenario.phases} phases")
            found = solver.solve(
                scenario.first_phases(phases), max_bytes=FIRST_PHASES, progress=spinner.count
            )
    if found is not None:
        results.append(result_of(found))


def result_text(result: Result) -> str:
    """Return one scenario's result in a few lines."""
    if "too_large" in result:
        causes = ", ".join(result["too_large"]["causes"])
        return f"{result['scenario']}: {_refusal(result['too_large'])}, most of them from {causes}"
    return (
        f"{result['scenario']}: {result['value']:+.4f} points\n"
        f"opening: {result['opening']['words']}\n"
        f"{result['states']:,} decisions, {_seconds(result)} s, {_mebibytes(result)} MiB"
    )


def _refusal(estimate: Result) -> str:
    """Return why a scenario is not solved, for a table."""
    about = "" if estimate["exact"] else "about "
    size = f"{about}{count_text(estimate['states'])} positions"
    return f"too large: {size} in {size_text(estimate['bytes'])}"


_SHORT = 0.1
"""Seconds below which a third digit is shown."""


def _seconds(result: Result) -> str:
    return f"{result['seconds']:,.{2 if result['seconds'] >= _SHORT else 3}f}"


def _mebibytes(result: Result) -> str:
    return f"{result['bytes'] / MIB:,.1f}"


HEADINGS = ("scenario", "phases", "points", "opening", "decisions", "seconds", "MiB")
_TEXT = ("scenario", "opening")


def table_row(result: Result) -> tuple[str, ...]:
    """Return a result as a row of the table."""
    phases = str(result["phases"])
    if "too_large" in result:
        return result["scenario"], phases, "", _refusal(result["too_large"]), "", "", ""
    return (
        result["scenario"],
        phases,
        f"{result['value']:+.2f}",
        result["opening"]["words"],
        f"{result['states']:,}",
        _seconds(result),
        _mebibytes(result),
    )


def console_table(results: Sequence[Result]) -> Table:
    """Return the results as a table for the console."""
    table = Table(caption="points of the first army if both play optimally")
    for heading in HEADINGS:
        left = heading in _TEXT
        table.add_column(heading, justify="left" if left else "right", no_wrap=heading != "opening")
    for each in results:
        table.add_row(*table_row(each))
    return table


def values_table(results: Sequence[Result]) -> str:
    """Return the results as a Markdown table."""
    left = [column for column, heading in enumerate(HEADINGS) if heading in _TEXT]
    return markdown_table([HEADINGS, *map(table_row, results)], left)


def print_results(settings: Settings, results: Sequence[Result], interrupted: bool) -> None:
    """Print the results in the form that the settings name."""
    if settings.form == "json":
        document = {"scenarios": results, "interrupted": interrupted}
        print(json.dumps(document, indent=2, ensure_ascii=False))
    elif settings.form == "markdown":
        print(values_table(results))
    elif len(settings.scenarios) == 1:
        print("\n".join(result_text(each) for each in results))
    else:
        Console().print(console_table(results))


def main(arguments: Sequence[str] | None = None) -> int:
    """Solve and print; returns the exit status."""
    settings = parse_arguments(arguments)
    results: list[Result] = []
    problem = ""
    with Interruptible() as session:
        problem = solve_all(settings, results)
    if session.interrupted:
        done = f"{len(results)} of {len(settings.scenarios)} scenarios"
        print(f"interrupted after {done}", file=sys.stderr)
    print_results(settings, results, session.interrupted)
    if problem:
        print(f"--plot: {problem}", file=sys.stderr)
    if session.interrupted:
        return INTERRUPTED
    refused = any("too_large" in each for each in results)
    return FAILED if problem or (refused and not settings.everything) else 0


if __name__ == "__main__":
    sys.exit(main())
