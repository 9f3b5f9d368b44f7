"""What commands print on stdout: JSON, and tables in columns of text."""

import json
import sys
from collections.abc import Sequence
from itertools import zip_longest
from typing import Any


def print_json(document: Any, indent: int | None = 2) -> None:
    """Print a document, fractions and all, as JSON on stdout; on one line without an indent.

    Signs that stdout cannot encode are escaped.
    """
    is_unicode = (sys.stdout.encoding or "utf-8").lower().startswith("utf")
    print(json.dumps(document, indent=indent, ensure_ascii=not is_unicode, default=float))


def format_table(
    rows: Sequence[Sequence[str]], alignments: str, title: str = "", caption: str = ""
) -> str:
    """Return a table as text, header first.

    A cell may have several lines, and a row fewer cells than the header.

    Args:
        rows: cells by row.
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
    """Return points with two decimals, and no minus before a zero."""
    return f"{round(points, 2) + 0.0:.2f}"


def align_columns(rows: Sequence[Sequence[str]], alignments: str) -> list[str]:
    """Return a line for each row of a table; alignments are "<" or ">" for each column."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    line = "  ".join(f"{{:{side}{width}}}" for side, width in zip(alignments, widths, strict=True))
    return [line.format(*row).rstrip() for row in rows]
