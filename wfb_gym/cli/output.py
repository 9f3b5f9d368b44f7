"""What commands print on stdout: JSON, and tables in columns of text."""

import json
import sys
from collections.abc import Sequence
from typing import Any


def print_json(document: Any, indent: int | None = 2) -> None:
    """Print a document, fractions and all, as JSON on stdout; on one line without an indent.

    Signs that stdout cannot encode are escaped.
    """
    is_unicode = (sys.stdout.encoding or "utf-8").lower().startswith("utf")
    print(json.dumps(document, indent=indent, ensure_ascii=not is_unicode, default=float))


def print_columns(rows: Sequence[Sequence[str]], alignments: str, title: str = "") -> None:
    """Print a table on stdout; see `align_columns`."""
    print("\n".join([*([title] if title else ()), *align_columns(rows, alignments)]))


def format_exact_points(points: float) -> str:
    """Return points with two decimals, and no minus before a zero."""
    return f"{round(points, 2) + 0.0:.2f}"


def align_columns(rows: Sequence[Sequence[str]], alignments: str) -> list[str]:
    """Return a line for each row of a table; alignments are "<" or ">" for each column."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    line = "  ".join(f"{{:{side}{width}}}" for side, width in zip(alignments, widths, strict=True))
    return [line.format(*row).rstrip() for row in rows]
