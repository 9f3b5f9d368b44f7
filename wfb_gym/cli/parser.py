"""What the commands share: how input is refused, JSON and columns of text."""

import argparse
import json
import sys
from collections.abc import Sequence
from typing import Any, NoReturn, TypeAlias

COULD_NOT_RUN = 2
"""Exit status after bad input."""


class Parser(argparse.ArgumentParser):
    """An `argparse.ArgumentParser` that refuses bad input in one line, without the usage."""

    def __init__(self, **options: Any) -> None:
        options.setdefault("formatter_class", argparse.RawDescriptionHelpFormatter)
        super().__init__(allow_abbrev=False, **options)

    def error(self, message: str) -> NoReturn:
        """Print what is wrong on stderr and exit.

        Args:
            message: what was expected and what was found.

        Raises:
            SystemExit: always, with status 2.
        """
        print(f"{self.prog}: {message}", file=sys.stderr)
        raise SystemExit(COULD_NOT_RUN)


Commands: TypeAlias = "argparse._SubParsersAction[Parser]"  # noqa: SLF001 - it has no public name
"""Where a command adds its parser."""


def whole_number(text: str) -> int:
    """Convert an argument to a whole number.

    Raises:
        argparse.ArgumentTypeError: it is not one.
    """
    try:
        return int(text)
    except ValueError:
        raise argparse.ArgumentTypeError(f"expected a whole number, found {text!r}") from None


def add_json_option(parser: argparse.ArgumentParser) -> None:
    """Add ``--json``, for `print_json`."""
    parser.add_argument("--json", action="store_true", help="print JSON alone")


def print_json(document: Any, indent: int | None = 2) -> None:
    """Print a document as JSON on stdout, on one line where there is no indent."""
    print(json.dumps(document, indent=indent, ensure_ascii=False))


def align_columns(rows: Sequence[Sequence[str]], alignments: str) -> list[str]:
    """Align the cells of a table.

    Args:
        rows: of one length.
        alignments: "<" or ">" for each column.

    Returns:
        A line for each row, without blanks at its end.
    """
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return [
        "  ".join(
            f"{cell:{side}{width}}"
            for cell, side, width in zip(row, alignments, widths, strict=True)
        ).rstrip()
        for row in rows
    ]
