"""Parse pages of the documentation for tests: sections, tables, code, files."""

import re
from importlib.resources import files
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[2]
PACKAGE = Path(str(files("wfb_gym")))
"""Folder from which the package is imported: the clone, or the installation."""


def place_of(path: str) -> Path:
    """Return the path of a file or folder of the repository, given from its root."""
    return (PACKAGE.parent if path.split("/", maxsplit=1)[0] == PACKAGE.name else ROOT) / path


def page(name: str) -> str:
    """Return the text of a page in docs/."""
    return (ROOT / "docs" / name).read_text(encoding="utf-8")


def sections(text: str) -> dict[str, str]:
    """Return the text below each heading, up to the next one; headings in code do not count."""
    outside = re.sub(r"```.*?```", "", text, flags=re.DOTALL)
    parts = re.split(r"^#+ (.+)$", outside, flags=re.MULTILINE)
    return dict(zip(parts[1::2], parts[2::2], strict=True))


def section(text: str, heading: str) -> str:
    """Return the text below a heading of the second level, with its code."""
    return text.partition(f"\n## {heading}\n")[2].partition("\n## ")[0]


def tables(text: str) -> list[list[list[str]]]:
    """Return the cells of each table of a text, with its header and without the ruler."""
    found = re.findall(r"(?:^\|.*\n)+", text, re.MULTILINE)
    return [
        [
            [cell.strip() for cell in line.strip().strip("|").split("|")]
            for line in table.splitlines()
            if not re.fullmatch(r"[|: -]+", line)
        ]
        for table in found
    ]


def blocks(text: str, language: str) -> list[str]:
    """Return the code blocks of a language in a page."""
    return re.findall(rf"```{language}\n(.*?)```", text, re.DOTALL)


def run_blocks(text: str) -> dict[str, Any]:
    """Run the Python blocks of a page one after another; returns the names that they define."""
    names: dict[str, Any] = {}
    for code in blocks(text, "python"):
        exec(code, names)
    return names


def rows_of(text: str, heading: str, table: int = 0) -> list[list[str]]:
    """Return the cells of a table below a heading, without its header."""
    return tables(sections(text)[heading] + "\n")[table][1:]
