"""The command line: ``wfb-gym``, or ``python -m wfb_gym``. Most commands have their own module.

Commands only import their dependencies when they run, so that help and errors appear immediately.
Invalid input results in one line on stderr and exit status 2.
"""

from collections.abc import Sequence
from contextlib import nullcontext

from wfb_gym import __version__
from wfb_gym._commands import install_handlers, is_script
from wfb_gym._progress import printed_lines
from wfb_gym.cli import (
    advise,
    compiling,
    draw,
    import_roster,
    odds,
    play,
    practise,
    roll,
    scenarios,
    train,
    web,
)
from wfb_gym.cli.parser import Parser, UsageError, add_options, read_options

__all__ = ["main"]

COMMANDS = {
    command.name: command
    for command in (
        *scenarios.COMMANDS,
        import_roster.COMMAND,
        draw.COMMAND,
        roll.COMMAND,
        odds.COMMAND,
        advise.COMMAND,
        *play.COMMANDS,
        practise.COMMAND,
        train.COMMAND,
        web.COMMAND,
        compiling.COMMAND,
    )
}
"""Commands by name, in the order in which the help lists them."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command, or print the help if there is none.

    Args:
        arguments: the command line. Defaults to `sys.argv[1:]`.

    Returns:
        The exit status.

    Raises:
        SystemExit: if help was requested or the input is invalid.
    """
    if arguments is None:
        install_handlers()
    parser = Parser(
        prog="wfb-gym" if is_script() else "python -m wfb_gym",
        description="The magic phase of Warhammer Fantasy Battle as a reinforcement-learning "
        "environment.",
    )
    parser.add_argument(
        "--version", action="version", version=f"wfb_gym {__version__}", help="print the version"
    )
    commands = parser.add_subparsers(title="commands", metavar="COMMAND", dest="command")
    parsers: dict[str, Parser] = {}
    for each in COMMANDS.values():
        parsers[each.name] = one = commands.add_parser(
            each.name, help=each.help, description=each.description, epilog=each.epilog
        )
        one.describe_extra = each.describe_extra
        add_options(one, each.options)
    given = parser.parse_args(arguments)
    if given.command is None:
        parser.print_help()
        return 0
    command = COMMANDS[given.command]
    try:
        with nullcontext() if command.is_interactive else printed_lines(command.name):
            command.run(read_options(command.options, given))
    except UsageError as error:
        parsers[command.name].error(str(error))
    return 0
