"""Every agent against every agent, in either seat, in one scenario after another.

    python -m experiments.tournament
    python -m experiments.tournament veteran optimal runs/duel/model.zip --scenario archmage-duel
    python -m experiments.tournament random veteran --battles 20000 --json

Agents are names or saved models, or two of these for the two seats, CASTER+DISPELLER. A cell is the
mean of the points that the first army wins, with a 95 % bootstrap interval; battle i has the same
dice in all cells of a scenario. Beside it stands the exact value where the scenario can be solved
and both agents are functions of what they see. The rating is fitted to the points of all scenarios;
experiments/tournaments/rating.py says how.

Where a scenario is too large for the optimal player, it is left out there. An agent that crashes,
answers with illegal actions or thinks too long forfeits the cell, and the rest goes on. Finished
cells are kept in OUT/cells.jsonl: the same command again goes on where it was interrupted. OUT gets
results.json, a picture of each scenario's cells and rating.png.
"""

import argparse
import json
import sys
from collections.abc import Sequence
from pathlib import Path

from rich.console import Console

from experiments.common import INTERRUPTED, progress
from experiments.figures.matrices import draw_matrix, draw_ratings
from experiments.tournaments.cells import player, shown_name
from experiments.tournaments.rating import Ratings, rate
from experiments.tournaments.record import Record, RecordError
from experiments.tournaments.running import (
    SPACING,
    Args,
    Round,
    pairings,
    round_of,
    run,
    settings,
)
from experiments.tournaments.telling import interval, matrix, notes, rating_table, results
from wfb_gym.cli.parser import Parser, whole_number
from wfb_gym.players.registry import make_agent
from wfb_gym.scenario import load_scenario

AGENTS = ("random", "greedy", "veteran", "expectimax", "mcts", "optimal")
SCENARIOS = ("archmage-duel", "orc-shaman-hunt", "seventh-edition-duel", "border-skirmish")
SMALLEST = "apprentice"
QUICK_BATTLES = 64
QUICK_SCENARIOS = (SMALLEST, "archmage-duel")
QUICK_OUT = Path("runs/tournament-quick")


def parsed(arguments: Sequence[str] | None) -> tuple[Args, bool]:
    """Settings from the command line, checked, and whether JSON is wanted.

    Raises:
        SystemExit: help was asked for, or the input is bad.
    """
    usual = Args((), ())
    parser = Parser(prog="python -m experiments.tournament", description=(__doc__ or "").strip())
    add = parser.add_argument
    add("agents", nargs="*", metavar="AGENT", help=f"(default: {' '.join(AGENTS)})")
    add(
        "--scenario",
        action="append",
        metavar="NAME",
        help=f"bundled name or file; repeat for several (default: {' '.join(SCENARIOS)})",
    )
    add("--battles", type=_battles, metavar="N", help=f"of a cell (default: {usual.battles})")
    add(
        "--planner-battles",
        type=_battles,
        metavar="N",
        help=f"of a cell in which an agent searches (default: {usual.planner_battles})",
    )
    add("--seed", type=_natural, default=usual.seed, metavar="N", help="(default: %(default)s)")
    add(
        "--move-seconds",
        type=_seconds,
        default=usual.move_seconds,
        metavar="S",
        help="that an agent may think about a decision, on average (default: %(default)s)",
    )
    add("--out", type=Path, metavar="DIR", help=f"folder of the results (default: {usual.out})")
    add("--quick", action="store_true", help="few battles in small scenarios")
    add("--json", action="store_true", help="print JSON alone on stdout")
    given = parser.parse_args(arguments)
    args = Args(
        tuple(given.agents) or AGENTS,
        tuple(given.scenario or (QUICK_SCENARIOS if given.quick else SCENARIOS)),
        given.battles or (QUICK_BATTLES if given.quick else usual.battles),
        given.planner_battles or (QUICK_BATTLES // 4 if given.quick else usual.planner_battles),
        given.seed,
        given.out or (QUICK_OUT if given.quick else usual.out),
        given.move_seconds,
    )
    try:
        check(args)
    except (ValueError, OSError) as error:
        parser.error(str(error))
    return args, given.json


def _natural(text: str) -> int:
    number = whole_number(text)
    if number < 0:
        raise argparse.ArgumentTypeError(f"expected 0 or more, found {number}")
    return number


def _battles(text: str) -> int:
    number = whole_number(text)
    if not 1 <= number <= SPACING:
        raise argparse.ArgumentTypeError(f"expected 1 to {SPACING:,}, found {number}")
    return number


def _seconds(text: str) -> float:
    try:
        seconds = float(text)
    except ValueError:
        seconds = 0.0
    if not seconds > 0.0:
        raise argparse.ArgumentTypeError(f"expected a time over 0, found {text!r}")
    return seconds


def check(args: Args) -> None:
    """Refuse what cannot be played at all.

    Raises:
        ValueError: an unknown agent or scenario, a file that is no model, or one given twice.
        OSError: a file that cannot be read.
    """
    for kind, names in (("agent", args.agents), ("scenario", args.scenarios)):
        for name in names:
            if names.count(name) > 1:
                raise ValueError(f"{kind}: {name} is given twice")
    for name in dict.fromkeys(player(agent, seat) for agent in args.agents for seat in range(2)):
        make_agent(name, scenario=SMALLEST)
    loaded = [load_scenario(scenario).name for scenario in args.scenarios]
    for name in loaded:
        if loaded.count(name) > 1:
            raise ValueError(f"scenario: two of them are named {name}")


def play_all(args: Args, record: Record, rounds: list[Round]) -> None:
    """Play with a bar on stderr.

    Raises:
        KeyboardInterrupt: Ctrl-C.
    """
    with progress() as bar:
        task = bar.add_task("getting ready", total=None, note="")
        rounds += [round_of(name, args.agents) for name in args.scenarios]
        cells = sum(1 for each in rounds for _ in pairings(args, each))
        bar.update(task, total=cells, description="tournament")

        def tell(what: str, done: int) -> None:
            bar.update(task, advance=done)
            if what:
                bar.update(task, note=what)

        run(args, record, rounds, tell)


def draw(args: Args, rounds: Sequence[Round], ratings: Ratings) -> None:
    """The pictures of what is complete."""
    for each in rounds:
        if len(each.cells) == len(each.agents) ** 2:
            draw_matrix(
                each.scenario.name,
                [shown_name(agent) for agent in each.agents],
                [None if c.failure is not None else interval(c) for c in each.cells],
                [each.exact.get((c.caster, c.dispeller)) for c in each.cells],
                args.out / f"{each.scenario.name}.png",
            )
    rated = [each for each in ratings.agents if each.rating is not None]
    if rated:
        names = [shown_name(each.agent) for each in rated]
        draw_ratings(
            names,
            [each.rating for each in rated],
            [e.worst for e in rated],
            args.out / "rating.png",
        )


def main(arguments: Sequence[str] | None = None) -> int:
    """Play, print and draw; returns the exit status."""
    args, as_json = parsed(arguments)
    rounds: list[Round] = []
    stopped = False
    try:
        record = Record(args.out, settings(args))
    except (RecordError, OSError) as error:
        print(f"python -m experiments.tournament: {error}", file=sys.stderr)
        return 2
    try:
        play_all(args, record, rounds)
    except KeyboardInterrupt:
        stopped = True
        done = sum(len(each.cells) for each in rounds)
        print(f"interrupted after {done} cells; the same command goes on", file=sys.stderr)
    cells = [cell for each in rounds for cell in each.cells]
    ratings = rate(args.agents, cells, args.seed)
    found = results(args, rounds, ratings, stopped)
    (args.out / "results.json").write_text(json.dumps(found, indent=2) + "\n", encoding="utf-8")
    draw(args, rounds, ratings)
    for note in notes(rounds):
        print(note, file=sys.stderr)
    if as_json:
        print(json.dumps(found, indent=2))
    else:
        console = Console()
        for each in rounds:
            if each.cells:
                console.print(matrix(each))
        console.print(rating_table(ratings))
        print(f"results: {args.out}")
    return INTERRUPTED if stopped else 0


if __name__ == "__main__":
    sys.exit(main())
