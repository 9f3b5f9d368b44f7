"""The rulebook ledger: its names exist, and every row has sources, code and tests."""

import ast
import re
from collections import Counter
from functools import cache
from pathlib import Path

import pytest

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
    """Return the cells of every row of a page's tables, without headers."""
    lines = page.read_text(encoding="utf-8").splitlines()
    cells = [
        [cell.strip() for cell in line.strip("|").split(" | ")] for line in lines if "|" in line
    ]
    return [row for row in cells if NUMBER.fullmatch(row[0])]


ROWS = rows(LEDGER)
HELD_ROWS = rows(HELD)


@cache
def names_in(path: Path) -> frozenset[str]:
    """Return functions, methods, classes and module constants of a Python file."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    found = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            found.add(node.name)
    for node in tree.body:
        if isinstance(node, ast.Assign | ast.AnnAssign):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            found |= {target.id for target in targets if isinstance(target, ast.Name)}
    return frozenset(found)


def quoted(cell: str) -> list[str]:
    """Return the texts in backquotes."""
    return re.findall(r"`([^`]+)`", cell)


def test_both_pages_have_rows_of_three_cells() -> None:
    assert len(ROWS) > 100
    assert {len(row) for row in [*ROWS, *HELD_ROWS]} == {3}


def test_every_rule_has_its_code_and_tests() -> None:
    assert [row[0] for row in HELD_ROWS] == [row[0] for row in ROWS]


def test_rows_are_numbered_one_by_one() -> None:
    sections = [row[0].partition(".")[0] for row in ROWS]
    counts = Counter(sections)
    assert set(counts) == {*TEXTS, *CHAPTERS, CHOICES}
    for section, count in counts.items():
        numbers = [row[0] for row in ROWS if row[0].startswith(f"{section}.")]
        assert numbers == [f"{section}.{number}" for number in range(1, count + 1)]


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row[0])
def test_rows_name_sources_that_the_page_explains(row: list[str]) -> None:
    text = LEDGER.read_text(encoding="utf-8")
    section = row[0].partition(".")[0]
    sources = row[2].split(", ")
    if section in TEXTS:
        assert sources == [section]
    elif section == CHOICES:
        assert sources == [HOUSE_RULE]
    else:
        assert HOUSE_RULE not in sources
    for source in sources:
        assert f"**{source}**" in text or f"*{source}*" in text, source


@pytest.mark.parametrize("row", HELD_ROWS, ids=lambda row: row[0])
def test_the_tests_of_every_row_exist(row: list[str]) -> None:
    tests = quoted(row[2])
    assert tests
    for test in tests:
        path, _, name = test.partition("::")
        file = ROOT / "tests" / path
        assert file.is_file(), test
        assert name.startswith("test_"), test
        assert name in names_in(file), test


@pytest.mark.parametrize("row", HELD_ROWS, ids=lambda row: row[0])
def test_the_code_of_every_row_exists(row: list[str]) -> None:
    places = [place for place in quoted(row[1]) if "/" in place]
    assert places or "no rule of the engine" in row[1]
    for place in places:
        path, _, name = place.partition(":")
        file = PACKAGE / path
        assert file.is_file(), place
        assert bool(name) == (file.suffix == ".py"), place
        if name:
            assert name in names_in(file), place


@pytest.mark.parametrize("page", [LEDGER, HELD], ids=lambda page: page.stem)
def test_every_line_of_a_table_is_a_row(page: Path) -> None:
    lines = page.read_text(encoding="utf-8").splitlines()
    rulers = [line for line in lines if re.fullmatch(r"[|-]+", line) and line]
    tables = [line for line in lines if line.startswith("|")]
    assert len(tables) == len(rows(page)) + 2 * len(rulers)
