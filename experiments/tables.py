"""Results on stdout, as JSON or as tables, and tables for pages of the documentation."""

import sys
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.table import Table

from wfb_gym.cli.output import print_json

WIDEST = 1000
"""Characters of a line that no terminal shows, at most; Rich would cut it at 80."""


def print_results(results: Any, tables: Iterable[Table], *, as_json: bool) -> None:
    """Print results on stdout, as JSON or as tables."""
    if as_json:
        print_json(results)
        return
    for table in tables:
        print_table(table)


def print_table(table: Table) -> None:
    """Print a table on stdout: in the terminal's width, elsewhere in that which it asks for."""
    console = Console(markup=False, emoji=False)
    if not sys.stdout.isatty():
        asked = console.measure(table, options=console.options.update(max_width=WIDEST))
        console.width = max(console.width, asked.maximum)
    console.print(table)


def text_table(rows: Sequence[Sequence[str]], title: str, text_columns: Collection[int]) -> Table:
    """Return a table for `print_table`, header first; aligned right but for `text_columns`."""
    header, *rest = rows
    table = Table(title=title, box=SIMPLE_HEAD)
    for place, name in enumerate(header):
        table.add_column(name, justify="left" if place in text_columns else "right")
    for row in rest:
        table.add_row(*row)
    return table


def markdown_table(
    rows: Sequence[Sequence[str]], text_columns: Collection[int] | None = None
) -> str:
    """Return a Markdown table, header first, without a final newline.

    Columns are aligned right, but for `text_columns`; None aligns all left.
    """
    header, *rest = ([cell.replace("|", "\\|") for cell in row] for row in rows)
    left = range(len(header)) if text_columns is None else text_columns
    ruler = ["---" if column in left else "---:" for column in range(len(header))]
    return "\n".join(f"| {' | '.join(line)} |" for line in (header, ruler, *rest))


@dataclass(frozen=True)
class ResultTable:
    """A table of results, for the terminal and for pages of the documentation.

    Attributes:
        title: on the terminal.
        rows: makes the cells of results, header first.
        text_columns: columns that are aligned left.
    """

    title: str
    rows: Callable[[Any], Sequence[Sequence[str]]]
    text_columns: Collection[int] = (0,)

    def text(self, results: Any) -> Table:
        """Return the table for `print_table`."""
        return text_table(self.rows(results), self.title, self.text_columns)

    def markdown(self, results: Any) -> str:
        """Return the table for a page."""
        return markdown_table(self.rows(results), self.text_columns)


def texts(*tables: ResultTable) -> Callable[[Any], list[Table]]:
    """Return what makes these tables of results, for `print_results`."""
    return lambda results: [each.text(results) for each in tables]
