"""The command line: ``python -m wfb_gym``, a module a command.

A command imports what it needs when it runs, so that help and errors come at once. Bad input
ends with one line on stderr and exit status 2.
"""

from collections.abc import Sequence

from wfb_gym.cli import advise, draw, play, replay, roll, scenarios, targets
from wfb_gym.cli.parser import Parser

__all__ = ["main"]


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command; without one, print the help.

    Args:
        arguments: what stands after ``python -m wfb_gym``; None takes it from the process.

    Returns:
        The exit status.

    Raises:
        SystemExit: help was asked for, or the input is bad.
    """
    parser = Parser(
        prog="python -m wfb_gym",
        description="The magic phase of Warhammer Fantasy Battle as a learning environment.",
    )
    commands = parser.add_subparsers(title="commands", metavar="COMMAND")
    for command in (scenarios, targets, draw, roll, advise, play, replay):
        command.add_to(commands)
    given = parser.parse_args(arguments)
    if "run" in given:
        given.run(given)
    else:
        parser.print_help()
    return 0
