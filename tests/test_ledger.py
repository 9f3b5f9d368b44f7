"""The rulebook ledger: what it names exists, and every row says how it is held."""

import ast
import re
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
LEDGER = ROOT / "docs" / "rules.md"
SECTIONS = ("S0", "S2", "S4", "C")
OPEN = re.compile(r"open \(next: [a-z A-Z]+\)")


def rows() -> list[list[str]]:
    """Cells of every row of the ledger's tables, heads left out."""
    lines = LEDGER.read_text(encoding="utf-8").splitlines()
    cells = [
        [cell.strip() for cell in line.strip("|").split(" | ")] for line in lines if "|" in line
    ]
    return [row for row in cells if re.fullmatch(r"(S\d|C)\.\d+", row[1:2][0] if row[1:] else "")]


ROWS = rows()


@cache
def names_in(path: Path) -> frozenset[str]:
    """Functions, methods, classes and module constants of a Python file."""
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
    """What stands in backquotes."""
    return re.findall(r"`([^`]+)`", cell)


def test_the_ledger_has_rows_of_four_cells() -> None:
    assert len(ROWS) > 100
    assert {len(row) for row in ROWS} == {4}


@pytest.mark.parametrize("section", SECTIONS)
def test_rows_are_numbered_one_by_one(section: str) -> None:
    numbers = [int(row[1].split(".")[1]) for row in ROWS if row[1].startswith(f"{section}.")]
    assert numbers == list(range(1, len(numbers) + 1))
    assert numbers


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row[1])
def test_every_row_is_held_by_tests_that_exist_or_is_open(row: list[str]) -> None:
    tests = quoted(row[3])
    assert tests or OPEN.fullmatch(row[3])
    for test in tests:
        path, _, name = test.partition("::")
        assert name in names_in(ROOT / "tests" / path), test


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row[1])
def test_every_row_names_code_that_exists(row: list[str]) -> None:
    places = [place for place in quoted(row[2]) if "/" in place]
    assert places or OPEN.search(row[3]) or "no rule of the engine" in row[2]
    for place in places:
        path, _, name = place.partition(":")
        file = ROOT / "wfb_gym" / path
        assert file.is_file(), place
        assert bool(name) == (file.suffix == ".py"), place
        if name:
            assert name in names_in(file), place


def test_the_ledger_says_that_the_project_is_unofficial() -> None:
    assert "unofficial" in LEDGER.read_text(encoding="utf-8")
