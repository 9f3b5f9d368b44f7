"""A table or figure in the documentation, and its place in the pages."""

import json
import re
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from wfb_gym.files import atomic_write, atomic_write_text

ROOT = Path(__file__).parents[1]
RESULTS = ROOT / "docs" / "results"
IMAGES = ROOT / "docs" / "images"
RUNS = Path("runs") / "report"

Results = Any
"""A command's JSON output."""


@dataclass(frozen=True)
class CheckOptions:
    """Command-line options for a command that writes pages.

    Attributes:
        check: change nothing, only list stale files.
    """

    check: bool = False


def find_stale_files(wanted: Mapping[Path, str], folder: Path, pattern: str) -> list[str]:
    """Return the names of files that are missing, outdated, or in a folder but not wanted.

    Args:
        wanted: texts by file.
        folder: folder in which all files that match `pattern` should be wanted.
        pattern: glob pattern.
    """
    paths = {*wanted, *folder.glob(pattern)}
    found = {path: path.read_text(encoding="utf-8") for path in paths if path.is_file()}
    return sorted(path.name for path in paths if found.get(path) != wanted.get(path))


def update_files(
    wanted: Mapping[Path, str], folder: Path, pattern: str, *, check: bool = False
) -> bool:
    """Write files, delete those not wanted in a folder, and list both on stderr.

    Args:
        wanted: texts by file.
        folder: as in `find_stale_files`.
        pattern: as in `find_stale_files`.
        check: whether to only list the stale files.

    Returns:
        Whether the files are current.
    """
    changed = find_stale_files(wanted, folder, pattern)
    for name in changed:
        print(f"{'stale' if check else 'written'}: {name}", file=sys.stderr)
    if check:
        return not changed
    folder.mkdir(exist_ok=True)
    for path in set(folder.glob(pattern)) - set(wanted):
        path.unlink()
    for path, text in wanted.items():
        atomic_write_text(path, text)
    return True


@dataclass(frozen=True)
class Report:
    """A table or figure, and the command that produces its results."""

    name: str  # name of the results, and of the table in its page
    command: str  # arguments of ``python -m``; ``--json`` is appended if `printed`
    minutes: float  # the command's duration on two cores
    table: Callable[[Results], str] | None = None  # from the results to Markdown
    pictures: Mapping[str, str] = field(default_factory=dict)
    """Files in the command's folder, and their names in docs/images."""
    draw: Sequence[Callable[[Results, Path], None]] = ()
    """Functions that draw the first pictures from the results only, if possible."""
    printed: bool = False  # whether the command prints its results instead of writing a file
    more: Mapping[str, Callable[[Results], str]] = field(default_factory=dict)
    """Additional tables from the same results, by name."""

    @property
    def folder(self) -> Path:
        """The command's output folder."""
        return RUNS / self.name

    @property
    def line(self) -> str:
        """The arguments for ``python -m``."""
        return f"{self.command} {'--json' if self.printed else f'--out {self.folder}'}"

    @property
    def results(self) -> Path:
        """The committed results."""
        return RESULTS / f"{self.name}.json"

    def read(self) -> Results:
        """Read the committed results."""
        return json.loads(self.results.read_text(encoding="utf-8"))

    def pages_with_tables(self) -> dict[Path, tuple[str, str]]:
        """Return each page's current text, and its text with tables from the committed results.

        Raises:
            ValueError: if no page has a table's marks.
        """
        own = {} if self.table is None else {self.name: self.table}
        found: dict[Path, tuple[str, str]] = {}
        for name, table in (own | dict(self.more)).items():
            text = table(self.read())
            pages = {path: found.get(path) or (_text(path),) * 2 for path in _pages()}
            shown = {path: each for path, each in pages.items() if _marks(name).search(each[0])}
            if not shown:
                raise ValueError(
                    f"expected <!-- report:{name} --> and <!-- /report --> in README.md or docs/"
                )
            found |= {
                path: (old, insert_table(new, name, text)) for path, (old, new) in shown.items()
            }
        return found


def _pages() -> list[Path]:
    return [path for path in (ROOT / "README.md", *(ROOT / "docs").rglob("*.md")) if path.is_file()]


def _text(path: Path) -> str:
    return path.read_text(encoding="utf-8")


def _marks(name: str) -> re.Pattern[str]:
    """Return a pattern for a table's marks and the text between them."""
    return re.compile(rf"(<!-- report:{re.escape(name)} -->\n).*?(<!-- /report -->)", re.DOTALL)


def insert_table(page: str, name: str, table: str) -> str:
    """Return a page with a table between its marks."""
    return _marks(name).sub(lambda found: f"{found[1]}\n{table}\n\n{found[2]}", page)


def find_stale_tables(reports: Sequence[Report]) -> dict[str, list[str]]:
    """Return the pages with tables that differ from the committed results, by report."""
    stale = {
        one.name: [
            path.relative_to(ROOT).as_posix()
            for path, (old, new) in one.pages_with_tables().items()
            if old != new
        ]
        for one in reports
        if one.results.is_file()
    }
    return {name: pages for name, pages in stale.items() if pages}


def rewrite_tables(one: Report) -> None:
    """Write tables into their pages, and draw the pictures that need no other data."""
    for path, (_, page) in one.pages_with_tables().items():
        atomic_write_text(path, page)
    for draw, picture in zip(one.draw, one.pictures.values(), strict=False):
        draw(one.read(), IMAGES / picture)


def run_report(one: Report) -> None:
    """Run the command and store its results and pictures."""
    print(f"{one.name}: python -m {one.line}", file=sys.stderr)
    done = subprocess.run(
        [sys.executable, "-m", *one.line.split()],
        cwd=ROOT,
        check=True,
        text=True,
        stdout=subprocess.PIPE if one.printed else sys.stderr,
    )
    text = done.stdout if one.printed else (ROOT / one.folder / "results.json").read_text("utf-8")
    RESULTS.mkdir(parents=True, exist_ok=True)
    atomic_write_text(one.results, text)
    if one.printed:
        return  # its pictures are drawn from the results
    for source, target in one.pictures.items():
        with atomic_write(IMAGES / target) as file:
            file.write((ROOT / one.folder / source).read_bytes())
