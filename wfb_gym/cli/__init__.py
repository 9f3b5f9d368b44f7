"""The command line: ``wfb-gym``, or ``python -m wfb_gym``; a module for each command, or two.

A command imports what it needs when it runs, so that help and errors come at once. Bad input
ends with one line on stderr and exit status 2.
"""

from collections.abc import Sequence
from contextlib import nullcontext

from wfb_gym import __version__
from wfb_gym._commands import is_script
from wfb_gym._progress import printed_lines
from wfb_gym.cli import advise, compiling, draw, odds, play, roll, scenarios, web
from wfb_gym.cli.parser import Parser

__all__ = ["main"]


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command of the process or of `arguments`, or print the help; returns the exit status.

    Raises:
        SystemExit: help was asked for, or the input is bad.
    """
    parser = Parser(
        prog="wfb-gym" if is_script() else "python -m wfb_gym",
        description="The magic phase of Warhammer Fantasy Battle as a learning environment.",
    )
    parser.add_argument(
        "--version", action="version", version=f"wfb_gym {__version__}", help="print the version"
    )
    parser.set_defaults(is_interactive=False)
    commands = parser.add_subparsers(title="commands", metavar="COMMAND", dest="command")
    for command in (scenarios, draw, roll, odds, advise, play, web, compiling):
        command.add_to(commands)
    options = parser.parse_args(arguments)
    if "run" in options:
        waits = options.is_interactive  # for a person, whom lines would interrupt
        with nullcontext() if waits else printed_lines(options.command):
            options.run(options)
    else:
        parser.print_help()
    return 0
