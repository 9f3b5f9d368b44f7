"""Pages of the documentation taken apart for tests: sections, tables, code; where files lie."""

import re
from importlib.resources import files
from pathlib import Path

ROOT = Path(__file__).parent.parent
PACKAGE = Path(str(files("wfb_gym")))
"""Where the package is imported from: the checkout, or where it is installed."""


def place_of(path: str) -> Path:
    """Where a file or folder of the repository lies, named from its root."""
    return (PACKAGE.parent if path.split("/", maxsplit=1)[0] == PACKAGE.name else ROOT) / path


def page(name: str) -> str:
    """Text of a page in docs/."""
    return (ROOT / "docs" / name).read_text(encoding="utf-8")


def sections(text: str) -> dict[str, str]:
    """Text below each heading, up to the next one; headings in code do not count."""
    outside = re.sub(r"```.*?```", "", text, flags=re.DOTALL)
    parts = re.split(r"^#+ (.+)$", outside, flags=re.MULTILINE)
    return dict(zip(parts[1::2], parts[2::2], strict=True))


def tables(text: str) -> list[list[list[str]]]:
    """Cells of each table of a text, its head first and the ruler left out."""
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
    """Code of a language in a page, block by block."""
    return re.findall(rf"```{language}\n(.*?)```", text, re.DOTALL)


def rows_of(text: str, heading: str, table: int = 0) -> list[list[str]]:
    """Cells of a table below a heading, its head left out."""
    return tables(sections(text)[heading] + "\n")[table][1:]
