"""The rulebook ledger: its names exist, and every row has sources, code and tests."""

import ast
import re
from collections import Counter
from functools import cache
from pathlib import Path

from tests.support.pages import PACKAGE, ROOT

LEDGER = ROOT / "docs" / "rules.md"
"""Number, rule and sources."""
HELD = ROOT / "docs" / "rules-tests.md"
"""Number, code and tests."""
TEXTS = ("S0", "S2", "S4")
CHAPTERS = ("B", "T", "L", "I", "W", "D", "M", "P", "V")
"""Sections whose rows name sources that the page explains."""
CHOICES = "C"
HOUSE_RULE = "house rule"
NUMBER = re.compile(r"([A-Z]\d?)\.(\d+)")


def rows(page: Path) -> list[list[str]]:
    lines = page.read_text(encoding="utf-8").splitlines()
    parts = [line.strip("|").split(" | ") for line in lines if "|" in line]
    cells = [[cell.strip() for cell in row] for row in parts]
    return [row for row in cells if NUMBER.fullmatch(row[0])]


ROWS = rows(LEDGER)
HELD_ROWS = rows(HELD)


@cache
def names_in(path: Path) -> frozenset[str]:
    """Return functions, methods, classes and module constants of a Python file."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    defined = ast.FunctionDef | ast.ClassDef
    found = {node.name for node in ast.walk(tree) if isinstance(node, defined)}
    for node in tree.body:
        if isinstance(node, ast.Assign | ast.AnnAssign):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            found |= {target.id for target in targets if isinstance(target, ast.Name)}
    return frozenset(found)


def quoted(cell: str) -> list[str]:
    return re.findall(r"`([^`]+)`", cell)


def test_every_rule_has_its_code_and_tests() -> None:
    assert len(ROWS) > 100
    assert {len(row) for row in [*ROWS, *HELD_ROWS]} == {3}
    assert [row[0] for row in HELD_ROWS] == [row[0] for row in ROWS]


def test_rows_are_numbered_one_by_one() -> None:
    counts = Counter(row[0].partition(".")[0] for row in ROWS)
    assert set(counts) == {*TEXTS, *CHAPTERS, CHOICES}
    for section, count in counts.items():
        numbers = [row[0] for row in ROWS if row[0].startswith(f"{section}.")]
        assert numbers == [f"{section}.{number}" for number in range(1, count + 1)]


def test_rows_name_sources_that_the_page_explains() -> None:
    text = LEDGER.read_text(encoding="utf-8")
    for number, _, cell in ROWS:
        section = number.partition(".")[0]
        sources = cell.split(", ")
        if section in TEXTS:
            assert sources == [section], number
        elif section == CHOICES:
            assert sources == [HOUSE_RULE], number
        else:
            assert HOUSE_RULE not in sources, number
        for source in sources:
            assert f"**{source}**" in text or f"*{source}*" in text, (number, source)


def test_the_tests_and_the_code_of_every_row_exist() -> None:
    for number, code, tests in HELD_ROWS:
        assert quoted(tests), number
        for test in quoted(tests):
            path, _, name = test.partition("::")
            file = ROOT / "tests" / path
            assert file.is_file(), (number, test)
            assert name.startswith("test_"), (number, test)
            assert name in names_in(file), (number, test)
        places = [place for place in quoted(code) if "/" in place]
        assert places or "no rule of the engine" in code, number
        for place in places:
            path, _, name = place.partition(":")
            file = PACKAGE / path
            assert file.is_file(), (number, place)
            assert bool(name) == (file.suffix == ".py"), (number, place)
            assert not name or name in names_in(file), (number, place)


def test_every_line_of_a_table_is_a_row() -> None:
    for page in (LEDGER, HELD):
        lines = page.read_text(encoding="utf-8").splitlines()
        rulers = [line for line in lines if re.fullmatch(r"[|-]+", line) and line]
        tables = [line for line in lines if line.startswith("|")]
        assert len(tables) == len(rows(page)) + 2 * len(rulers), page
