"""Mutants of a source file, and the tests that run for them."""

import ast
from pathlib import Path

import pytest

from tests.mutation import mutants, score, suite
from tests.mutation.mutants import Mutant, draw_mutants, mutants_of
from tests.mutation.suite import ROOT, files_for, imports

SOURCE = '''"""Text with 1 number."""
__all__ = ["half"]


@decorate(2)
def half(number: int | None = 3, *, is_odd: Literal[4] = 4) -> int | str:
    """Return 5."""
    record[number] += 6
    call(number)
    if not number or number < 7:
        raise ValueError(f"{8}")
    number = number // -9
    return 1 if is_odd else min(number, é)
'''


def _changes(source: str, folder: Path) -> set[tuple[str, str]]:
    (folder / "sample.py").write_text(source, encoding="utf-8")
    return {(each.before, each.after) for each in mutants_of(folder, "sample.py")}


def test_operators_constants_conditions_and_statements_are_changed(tmp_path: Path) -> None:
    constants = {(number, str(int(number) + 1)) for number in "346719"}
    assert _changes(SOURCE, tmp_path) == constants | {
        ("record[number] += 6", "pass"),
        ("call(number)", "pass"),
        ("not number or number < 7", "(not number and number < 7)"),
        ("not number", "(number)"),
        ("number < 7", "(number <= 7)"),
        ("1 if is_odd else min(number, é)", "(min(number, é) if is_odd else 1)"),
        ("number // -9", "(number * -9)"),
        ("-9", "(9)"),
        ("min(number, é)", "max(number, é)"),
    }


def test_a_changed_file_differs_only_in_the_change(tmp_path: Path) -> None:
    path = tmp_path / "sample.py"
    path.write_text("é = 'é' < b\n", encoding="utf-8")
    (mutant,) = mutants_of(tmp_path, "sample.py")
    assert mutant.apply(path.read_bytes()).decode() == "é = ('é' <= b)\n"
    assert mutant.changed_line(path.read_bytes()) == ("é = 'é' < b", "é = ('é' <= b)")
    assert str(mutant) == "sample.py:1: 'é' < b -> ('é' <= b)"


def test_every_equivalent_change_is_one_that_is_made() -> None:
    for path, *lines in score.equivalent_changes():
        source = (ROOT / path).read_bytes()
        assert tuple(lines) in {each.changed_line(source) for each in mutants_of(ROOT, path)}


def test_drawn_mutants_are_valid_and_repeatable(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(mutants, "PACKAGES", ("rules",))
    drawn = draw_mutants(ROOT, 100, seed=3)
    assert drawn[:50] == draw_mutants(ROOT, 50, seed=3)
    assert drawn[:50] != draw_mutants(ROOT, 50, seed=4)
    assert len(set(drawn)) == 100
    for mutant in drawn:
        ast.parse(mutant.apply((ROOT / mutant.path).read_bytes()))


def test_files_of_other_packages_are_tested_too() -> None:
    files = files_for("wfb_gym/engine/casting.py")
    assert "tests/engine/test_casting.py" in files
    assert any(file.startswith("tests/solver/") for file in files)
    assert len(files) == len(set(files))
    assert imports("tests/engine/test_keys.py", "wfb_gym/engine/battle.py")


@pytest.mark.slow
def test_a_wrong_rule_is_noticed_and_a_pointless_change_survives(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for module in (score, suite):
        monkeypatch.setattr(module, "files_for", lambda _: ["tests/rules/test_wound_chances.py"])
    path = "wfb_gym/rules/wounds.py"
    source = (ROOT / path).read_bytes()
    settings = score.Settings(out=tmp_path)
    harmless = Mutant(path, len(source), len(source), 1, "", "_UNUSED = 1\n")
    assert score.run_part(settings, harmless)["noticed"] is None
    wrong = next(each for each in mutants_of(ROOT, path) if each.before == "4")
    assert "test_wound_chances" in str(score.run_part(settings, wrong)["noticed"])
