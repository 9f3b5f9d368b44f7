"""Solves scenarios exactly: what they are worth, and how to begin.

    python -m experiments.solve archmage-duel
    python -m experiments.solve --all
    python -m experiments.solve border-skirmish --phases 2
    python -m experiments.solve archmage-duel --plot dice.png

Values are points of the first army's seat on average, if both play optimally. Times are of
solving alone, with the rules compiled. Ctrl-C ends early and keeps what was solved.
"""

import argparse
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

from experiments.common import INTERRUPTED
from experiments.figures.dice import draw_dice
from experiments.figures.openings import first_opening_text, optimal_opening
from wfb_gym import solver
from wfb_gym.cli.parser import Parser, whole_number
from wfb_gym.scenario import Scenario, ScenarioError, bundled_scenarios, load_scenario
from wfb_gym.seats import SEATS
from wfb_gym.solver.estimation import in_words, rounded

COULD_NOT_DO_IT = 1
"""Exit status where a scenario that was asked for by name is too large, or cannot be drawn."""

SMALLEST = "apprentice"
"""Is solved first, so that the rules are compiled before the clock starts."""

GIB = 2**30
MIB = 2**20
FIRST_PHASES = 256 * MIB
"""Memory for the first phases of a battle that is too large: minutes for all of them together."""


@dataclass(frozen=True)
class Args:
    """What to solve, and how to tell it.

    Attributes:
        scenarios: in the order of the results.
        everything: all bundled ones were asked for, whatever their size; of battles that are too
            large the first phases are solved.
        memory: bytes that a solution may take.
        plot: where to draw the heat maps, if anywhere.
        form: "plain", "json" or "markdown".
    """

    scenarios: tuple[Scenario, ...]
    everything: bool
    memory: int
    plot: Path | None
    form: str


Result = dict[str, Any]
"""What is known of a scenario, as JSON holds it; `too_large` instead of a value if it is so."""


def parsed(arguments: Sequence[str] | None) -> Args:
    """Settings from the command line, checked.

    Raises:
        SystemExit: help was asked for, or the input is bad.
    """
    parser = Parser(prog="python -m experiments.solve", description=(__doc__ or "").strip())
    add = parser.add_argument
    add("scenarios", nargs="*", metavar="SCENARIO", help="bundled name or file")
    add("--all", action="store_true", help="every bundled scenario")
    add("--phases", type=_positive, metavar="N", help="solve the first N phases of a battle")
    add("--memory", type=_positive, default=4, metavar="GIB", help="limit (default: %(default)s)")
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
    return Args(scenarios, given.all, given.memory * GIB, given.plot, form)


def _positive(text: str) -> int:
    number = whole_number(text)
    if number < 1:
        raise argparse.ArgumentTypeError(f"expected 1 or more, found {number}")
    return number


def _check_plot(parser: Parser, path: Path, scenarios: int) -> None:
    """Refuse early what could not be drawn at the end."""
    if scenarios != 1:
        parser.error(f"--plot: expected one scenario, found {scenarios}")
    if not path.parent.is_dir():
        parser.error(f"--plot: expected a folder that is there, found {path.parent}")
    kinds = sorted(FigureCanvasBase.get_supported_filetypes())
    if path.suffix[1:] not in kinds:
        parser.error(
            f"--plot: expected a file that ends in one of {', '.join(kinds)}, found {path}"
        )


def result(solution: solver.Solution) -> Result:
    """What is told of a solution."""
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


def too_large(scenario: Scenario, estimate: Any) -> Result:
    """What is told of a scenario that does not fit."""
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


class Progressing:
    """What is being solved, on stderr."""

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

    def __enter__(self) -> "Progressing":
        self._progress.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._progress.stop()

    def now(self, what: str) -> None:
        """Go on to something else."""
        self._progress.reset(self._task, description=what, note="")

    def positions(self, number: int) -> None:
        """Tell how many positions are done."""
        self._progress.update(self._task, note=f"{number:,} positions")


def solve_all(args: Args, results: list[Result]) -> str:
    """Add what there is to tell of each scenario to `results`.

    With all bundled scenarios, those whose estimate passes the limit are not even begun.

    Returns:
        Why the picture could not be drawn; empty if it could, or none was asked for.

    Raises:
        KeyboardInterrupt: Ctrl-C; what was done so far stands in `results`.
    """
    with Progressing() as shown:
        shown.now("getting ready")
        solver.solve(SMALLEST)
        for number, scenario in enumerate(args.scenarios, 1):
            count = f" ({number} of {len(args.scenarios)})" if len(args.scenarios) > 1 else ""
            shown.now(f"{scenario.name}{count}")
            estimate = solver.estimate(scenario) if args.everything else None
            solution = None
            if estimate is None or estimate.bytes <= args.memory:
                with suppress(solver.TooLarge):
                    solution = solver.solve(
                        scenario, max_bytes=args.memory, progress=shown.positions
                    )
            if solution is None:
                results.append(too_large(scenario, estimate or solver.estimate(scenario)))
                if args.everything:
                    solve_first_phases(scenario, results, shown)
                continue
            results.append(result(solution))
            if args.plot is not None:
                shown.now(f"drawing {args.plot}")
                try:
                    draw_dice(solution, args.plot)
                except (ValueError, OSError) as error:
                    return str(error)
    return ""


def solve_first_phases(scenario: Scenario, results: list[Result], shown: Progressing) -> None:
    """Add the result of as many first phases of a battle as fit into `FIRST_PHASES` bytes."""
    found = None
    with suppress(solver.TooLarge):
        for phases in range(1, scenario.phases):
            shown.now(f"{scenario.name}, first {phases} of {scenario.phases} phases")
            found = solver.solve(
                scenario.first_phases(phases), max_bytes=FIRST_PHASES, progress=shown.positions
            )
    if found is not None:
        results.append(result(found))


def plain(found: Result) -> str:
    """One scenario in a few lines."""
    if "too_large" in found:
        causes = ", ".join(found["too_large"]["causes"])
        return f"{found['scenario']}: {_refusal(found['too_large'])}, most of them from {causes}"
    return (
        f"{found['scenario']}: {found['value']:+.4f} points\n"
        f"opening: {found['opening']['words']}\n"
        f"{found['states']:,} decisions, {_seconds(found)} s, {_mebibytes(found)} MiB"
    )


def _refusal(estimate: Result) -> str:
    """Why a scenario is not solved, in a table."""
    about = "" if estimate["exact"] else "about "
    size = f"{about}{rounded(estimate['states'])} positions"
    return f"too large: {size} in {in_words(estimate['bytes'])}"


_BRIEF = 0.1
"""Seconds below which a third digit is told."""


def _seconds(found: Result) -> str:
    return f"{found['seconds']:,.{2 if found['seconds'] >= _BRIEF else 3}f}"


def _mebibytes(found: Result) -> str:
    return f"{found['bytes'] / MIB:,.1f}"


HEADINGS = ("scenario", "phases", "points", "opening", "decisions", "seconds", "MiB")
_LEFT = ("scenario", "opening")


def cells(found: Result) -> tuple[str, ...]:
    """A row of the table."""
    phases = str(found["phases"])
    if "too_large" in found:
        return found["scenario"], phases, "", _refusal(found["too_large"]), "", "", ""
    return (
        found["scenario"],
        phases,
        f"{found['value']:+.2f}",
        found["opening"]["words"],
        f"{found['states']:,}",
        _seconds(found),
        _mebibytes(found),
    )


def table(results: Sequence[Result]) -> Table:
    """The results for people."""
    shown = Table(caption="points of the first army if both play optimally")
    for heading in HEADINGS:
        left = heading in _LEFT
        shown.add_column(heading, justify="left" if left else "right", no_wrap=heading != "opening")
    for found in results:
        shown.add_row(*cells(found))
    return shown


def markdown(results: Sequence[Result]) -> str:
    """The results as a README has them."""
    rows = [HEADINGS, tuple("---" if h in _LEFT else "---:" for h in HEADINGS)]
    rows += [cells(found) for found in results]
    return "\n".join(f"| {' | '.join(row)} |" for row in rows)


def tell(args: Args, results: Sequence[Result], interrupted: bool) -> None:
    """Print the results."""
    if args.form == "json":
        told_in_full = {"scenarios": results, "interrupted": interrupted}
        print(json.dumps(told_in_full, indent=2, ensure_ascii=False))
    elif args.form == "markdown":
        print(markdown(results))
    elif len(args.scenarios) == 1:
        print("\n".join(plain(found) for found in results))
    else:
        Console().print(table(results))


def main(arguments: Sequence[str] | None = None) -> int:
    """Solve and print; returns the exit status."""
    args = parsed(arguments)
    results: list[Result] = []
    trouble, interrupted = "", False
    try:
        trouble = solve_all(args, results)
    except KeyboardInterrupt:
        interrupted = True
        done = f"{len(results)} of {len(args.scenarios)} scenarios"
        print(f"interrupted after {done}", file=sys.stderr)
    tell(args, results, interrupted)
    if trouble:
        print(f"--plot: {trouble}", file=sys.stderr)
    if interrupted:
        return INTERRUPTED
    refused = any("too_large" in found for found in results)
    return COULD_NOT_DO_IT if trouble or (refused and not args.everything) else 0


if __name__ == "__main__":
    sys.exit(main())
