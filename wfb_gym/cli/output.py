"""Command output on stdout: JSON and text tables."""

import json
import sys
from collections.abc import Callable, Sequence
from itertools import zip_longest
from typing import Any

QUIT = ("q", "quit", "exit")  # answers that leave a game or a round of puzzles


def read_answer(prompt: str, ask: Callable[[str], str], show: Callable[[str], Any]) -> str:
    """Return a person's answer in lower case.

    Raises:
        EOFError: if the person quits.
        KeyboardInterrupt: if the person pressed Ctrl-C.
    """
    try:
        answer = ask(prompt).strip().lower()
    except (EOFError, KeyboardInterrupt):
        show("")
        raise
    if answer in QUIT:
        raise EOFError
    return answer


def print_json(document: Any, indent: int | None = 2) -> None:
    """Print a document as JSON on stdout, in a single line if `indent` is None.

    Fractions are printed as floats, and characters that stdout cannot encode are escaped.
    """
    is_unicode = (sys.stdout.encoding or "utf-8").lower().startswith("utf")
    print(json.dumps(document, indent=indent, ensure_ascii=not is_unicode, default=float))


def format_table(
    rows: Sequence[Sequence[str]], alignments: str, title: str = "", caption: str = ""
) -> str:
    """Format a table as text.

    Cells may span several lines. Rows may have fewer cells than the header.

    Args:
        rows: cells by row, starting with the header.
        alignments: "<" or ">" for each column.
        title: line above the table.
        caption: line below the table.
    """
    empty = [""] * len(alignments)
    padded = ([*row, *empty[len(row) :]] for row in rows)
    lines = [
        line
        for row in padded
        for line in zip_longest(*(cell.split("\n") for cell in row), fillvalue="")
    ]
    parts = (title, *align_columns(lines, alignments), caption)
    return "\n".join(parts[not title : len(parts) - (not caption)])


def format_exact_points(points: float) -> str:
    """Return points with two decimal places, never as "-0.00"."""
    return f"{points:z.2f}"


def align_columns(rows: Sequence[Sequence[str]], alignments: str) -> list[str]:
    """Return a line for each row of a table; `alignments` has "<" or ">" for each column."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    line = "  ".join(f"{{:{side}{width}}}" for side, width in zip(alignments, widths, strict=True))
    return [line.format(*row).rstrip() for row in rows]
