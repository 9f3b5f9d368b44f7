"""Print results on stdout as JSON or as tables, and make tables for the documentation."""

from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from wfb_gym.cli.output import format_table, print_json


def print_results(results: Any, texts: Iterable[str], *, as_json: bool) -> None:
    """Print results on stdout, as JSON or as texts separated by empty lines."""
    if as_json:
        print_json(results)
    elif shown := "\n\n".join(texts):
        print(shown)


def text_table(
    rows: Sequence[Sequence[str]],
    title: str,
    text_columns: Collection[int] = (0,),
    caption: str = "",
) -> str:
    """Return a table as text, header first. Columns are right-aligned except `text_columns`."""
    alignments = "".join("<" if place in text_columns else ">" for place in range(len(rows[0])))
    return format_table(rows, alignments, title, caption)


def markdown_table(
    rows: Sequence[Sequence[str]],
    text_columns: Collection[int] | None = None,
    *,
    compact: bool = False,
) -> str:
    """Return a Markdown table, header first, without a final newline.

    Columns are right-aligned except `text_columns`. If that is None, all are left-aligned. A
    `compact` table has no spaces around its cells.
    """
    header, *rest = ([cell.replace("|", "\\|") for cell in row] for row in rows)
    left = range(len(header)) if text_columns is None else text_columns
    ruler = ["---" if column in left else "---:" for column in range(len(header))]
    pad = "" if compact else " "
    lines = (f"{pad}|{pad}".join(line) for line in (header, ruler, *rest))
    return "\n".join(f"|{pad}{line}{pad}|" for line in lines)


@dataclass(frozen=True)
class ResultTable:
    """A table of results, for the terminal and for the documentation.

    Attributes:
        title: title in the terminal.
        rows: returns the table's cells from the results, header first.
        text_columns: columns to align left.
    """

    title: str
    rows: Callable[[Any], Sequence[Sequence[str]]]
    text_columns: Collection[int] = (0,)

    def text(self, results: Any) -> str:
        """Return the table for the terminal."""
        return text_table(self.rows(results), self.title, self.text_columns)

    def markdown(self, results: Any) -> str:
        """Return the table as Markdown, for the documentation."""
        return markdown_table(self.rows(results), self.text_columns)


def texts(*tables: ResultTable) -> Callable[[Any], list[str]]:
    """Return a function that turns results into these tables, for `print_results`."""
    return lambda results: [each.text(results) for each in tables]
