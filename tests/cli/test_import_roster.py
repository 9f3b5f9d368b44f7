"""``import``: the report, the scenario file, and bad input."""

import io
from pathlib import Path

import pytest

from tests.support.commands import CommandLine
from wfb_gym.scenario import load_scenario

LIST = (
    "Empire 2000\n\nBattle Wizard, level 2, Ring of Volans, Dispel Scroll, 150\n20 Swordsmen, 140\n"
)


@pytest.fixture(autouse=True)
def _list() -> None:
    Path("list.txt").write_text(LIST)


def test_a_list_becomes_a_scenario_file_and_a_report(commands: CommandLine) -> None:
    out = commands.output("import list.txt")
    assert load_scenario("empire-2000.toml").caster.wizards[0].items == ("Dispel Scroll",)
    assert "NOT UNDERSTOOD: 1\n  Ring of Volans" in out
    assert out.endswith("next: python -m wfb_gym advise empire-2000.toml --estimate\n")


def test_an_existing_file_is_replaced_only_on_request(commands: CommandLine) -> None:
    commands.output("import list.txt")
    assert "expected a new file" in commands.error("import list.txt")
    commands.output("import list.txt --out empire-2000.toml")


def test_the_enemy_may_be_a_list_too(commands: CommandLine) -> None:
    Path("enemy.txt").write_text("Skaven 2000\n\nGrey Seer, level 4, 235\n25 Clanrats, 125\n")
    found = commands.document("import list.txt --enemy enemy.txt --out both.toml")
    assert found["opponent"] == "Skaven 2000"
    assert load_scenario("both.toml").dispeller.units[0].profile == "Clanrats"
    assert {each["status"] for each in found["entries"]} == {"mapped", "unknown"}


def test_a_list_may_be_pasted(commands: CommandLine, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(LIST.encode())))
    assert "Swordsmen" in commands.output("import - --out pasted.toml")
