"""What the commands share: how input is refused, JSON and columns of text."""

import argparse
import json
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NoReturn, TypeAlias

from wfb_gym import _progress
from wfb_gym.suggestions import did_you_mean

COULD_NOT_RUN = 2
"""Exit status after bad input."""
_PROGRESS_WIDTH = 60


class Parser(argparse.ArgumentParser):
    """An `argparse.ArgumentParser` that refuses bad input in one line, without the usage.

    For an unknown command, choice or option the line asks for the one that may be meant.
    """

    def __init__(self, **options: Any) -> None:
        options.setdefault("formatter_class", argparse.RawDescriptionHelpFormatter)
        self.describe_extra: Callable[[argparse.Namespace, list[str]], str] | None = None
        """Says what may be meant by arguments that no option takes."""
        super().__init__(allow_abbrev=False, **options)

    def _check_value(self, action: argparse.Action, value: Any) -> None:
        try:
            super()._check_value(action, value)
        except argparse.ArgumentError as error:
            error.message += did_you_mean(map(str, action.choices or ()), str(value))
            raise

    def parse_known_args(self, args: Any = None, namespace: Any = None) -> Any:
        """Parse arguments; refuse those of an unknown option, with one that may be meant."""
        found, extra = super().parse_known_args(args, namespace)
        options = [each for each in self._option_string_actions if each.startswith("--")]
        unknown = [each.partition("=")[0] for each in extra if each.startswith("-")]
        if unknown:
            question = did_you_mean(options, unknown[0])
            self.error(f"unrecognized arguments: {' '.join(extra)}{question}")
        if extra and self.describe_extra is not None:
            self.error(self.describe_extra(found, extra))
        if extra:
            hint = " (a name of several words stands in quotes)"
            self.error(f"expected no more arguments, found {' '.join(extra)}{hint}")
        return found, extra

    def error(self, message: str) -> NoReturn:
        """Print what was expected and what was found on stderr, and exit with status 2."""
        from wfb_gym.scenario.errors import printable  # what files hold may be in a message

        shown = "\n".join(map(printable, f"{self.prog}: {message}".split("\n")))
        print(shown, file=sys.stderr)
        raise SystemExit(COULD_NOT_RUN)


Commands: TypeAlias = "argparse._SubParsersAction[Parser]"  # noqa: SLF001 - it has no public name
"""Where a command adds its parser."""


def whole_number(text: str) -> int:
    """Convert an argument to a whole number, or refuse it."""
    try:
        return int(text)
    except ValueError:
        raise argparse.ArgumentTypeError(f"expected a whole number, found {text!r}") from None


def check_folder(parser: Parser, option: str, path: str | Path) -> None:
    """Refuse a file to write in a folder that does not exist."""
    if not Path(path).absolute().parent.is_dir():
        parser.error(f"{option}: expected a file in a folder that exists, found {path}")


def add_json_option(parser: argparse.ArgumentParser) -> None:
    """Add ``--json``, for `print_json`."""
    parser.add_argument("--json", action="store_true", help="print JSON alone")


def print_json(document: Any, indent: int | None = 2) -> None:
    """Print a document, fractions and all, as JSON on stdout; on one line without an indent.

    Signs that stdout cannot encode are escaped.
    """
    is_unicode = (sys.stdout.encoding or "utf-8").lower().startswith("utf")
    print(json.dumps(document, indent=indent, ensure_ascii=not is_unicode, default=float))


def tell_progress(line: str) -> None:
    """Show what is being done, in place of what was shown before; "" to end it."""
    _progress.tell(line)
    if sys.stderr.isatty():
        print(f"\r{line:<{_PROGRESS_WIDTH}}", end="" if line else "\r", file=sys.stderr, flush=True)


def format_value(points: float) -> str:
    """Return points with two decimals, and no minus before a zero."""
    return f"{round(points, 2) + 0.0:.2f}"


def align_columns(rows: Sequence[Sequence[str]], alignments: str) -> list[str]:
    """Return a line for each row of a table; alignments are "<" or ">" for each column."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    line = "  ".join(f"{{:{side}{width}}}" for side, width in zip(alignments, widths, strict=True))
    return [line.format(*row).rstrip() for row in rows]
