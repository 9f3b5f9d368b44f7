"""``play``: a person in either seat against any player, in a terminal."""

import argparse
from functools import partial
from pathlib import Path

from wfb_gym.cli.parser import Commands, Parser, whole_number
from wfb_gym.seats import SEATS, seat_number

_DESCRIPTION = """\
Play either seat of a scenario against a scripted player, a saved model or an agent.
At every decision the choices are numbered: answer with a number. "?" shows what the dice
can do, and what every choice is worth where the scenario can be solved soon; "quit" or
Ctrl-D ends the battle."""
_EXAMPLES = """\
examples:
  python -m wfb_gym play
      archmage-duel as the caster, against the veteran
  python -m wfb_gym play border-skirmish --seat dispeller --opponent greedy --seed 7
  python -m wfb_gym play orc-shaman-hunt --odds --transcript hunt.jsonl
"""


def add_to(commands: Commands) -> None:
    """Add the command."""
    parser = commands.add_parser(
        "play",
        help="play a battle in the terminal",
        description=_DESCRIPTION,
        epilog=_EXAMPLES,
    )
    parser.add_argument("scenario", nargs="?", default="archmage-duel", help="bundled name or file")
    parser.add_argument("--seat", choices=SEATS, default="caster", help="yours")
    parser.add_argument(
        "--opponent",
        default="veteran",
        metavar="NAME",
        help="random, greedy, veteran or optimal, a saved model ending in .zip; in a checkout "
        "any agent (default: veteran)",
    )
    parser.add_argument(
        "--seed", type=whole_number, metavar="N", help="of the dice (default: another each time)"
    )
    parser.add_argument("--odds", action="store_true", help='show at every decision what "?" shows')
    parser.add_argument("--transcript", metavar="FILE", help="write the battle to a file")
    parser.set_defaults(run=partial(_run, parser))


def _run(parser: Parser, given: argparse.Namespace) -> None:
    from wfb_gym.cli.table import Table
    from wfb_gym.scenario import ScenarioError, load_scenario
    from wfb_gym.solver import TooLarge

    if given.seed is not None and given.seed < 0:
        parser.error(f"--seed: expected 0 or more, found {given.seed}")
    if given.transcript and not Path(given.transcript).absolute().parent.is_dir():
        parser.error(
            f"--transcript: expected a file in a folder that there is, found {given.transcript}"
        )
    try:
        scenario = load_scenario(given.scenario)
        table = Table(scenario, seat_number(given.seat), given.opponent, given.seed)
    except (ScenarioError, ValueError, OSError, TooLarge) as error:
        parser.error(str(error))
    table.play(always_odds=given.odds)
    if given.transcript:
        from wfb_gym.transcripts import write

        try:
            write(table.transcript(), given.transcript)
        except OSError as error:
            parser.error(f"--transcript: {error}")
        print(f"The battle is in {given.transcript}.")
