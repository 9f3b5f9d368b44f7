"""``import``: the report, the scenario file, and bad input."""

import io
from pathlib import Path
from typing import Any

import pytest

from tests.support.commands import CommandLine
from wfb_gym.scenario import load_scenario

LIST = (
    "Empire 2000\n\nBattle Wizard, level 2, Ring of Volans, Dispel Scroll, 150\n20 Swordsmen, 140\n"
)


@pytest.fixture
def given(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "list.txt"
    path.write_text(LIST)
    return path


def test_a_list_becomes_a_scenario_file_and_a_report(given: Path, commands: CommandLine) -> None:
    out = commands.output(f"import {given}")
    scenario = load_scenario("empire-2000.toml")
    assert scenario.caster.wizards[0].items == ("Dispel Scroll",)
    assert "NOT UNDERSTOOD: 1\n  Ring of Volans" in out
    assert out.endswith("next: python -m wfb_gym advise empire-2000.toml --estimate\n")


def test_an_existing_file_is_replaced_only_on_request(given: Path, commands: CommandLine) -> None:
    commands.output(f"import {given}")
    assert "expected a new file" in commands.error(f"import {given}")
    commands.output(f"import {given} --out empire-2000.toml")


def test_the_enemy_may_be_a_list_too(given: Path, commands: CommandLine) -> None:
    Path("enemy.txt").write_text("Skaven 2000\n\nGrey Seer, level 4, 235\n25 Clanrats, 125\n")
    found = commands.document(f"import {given} --enemy enemy.txt --out both.toml")
    assert found["opponent"] == "Skaven 2000"
    assert load_scenario("both.toml").dispeller.units[0].profile == "Clanrats"
    assert {each["status"] for each in found["entries"]} == {"mapped", "unknown"}


def test_a_list_may_be_pasted(
    given: Path, commands: CommandLine, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Pasted:
        buffer: Any = io.BytesIO(given.read_bytes())

    monkeypatch.setattr("sys.stdin", Pasted())
    assert "Swordsmen" in commands.output("import - --out pasted.toml")


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("import missing.txt", "missing.txt: expected an army list, found No such file"),
        ("import .", ".: expected an army list, found a folder"),
        ("import empty.txt", "empty.txt: expected a line for each unit"),
        ("import list.txt --out no/such.toml", "--out: expected a file in a folder that exists"),
        ("import - --enemy -", "--enemy: expected another file"),
    ],
)
def test_bad_input_is_one_line(line: str, message: str, given: Path, commands: CommandLine) -> None:
    (given.parent / "empty.txt").write_text("")
    assert message in commands.error(line)
