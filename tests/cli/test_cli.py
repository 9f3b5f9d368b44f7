"""The command line: output, and error messages for bad input."""

import json
from fractions import Fraction
from importlib.metadata import version
from itertools import product
from pathlib import Path

import pytest

from tests.support.commands import CommandLine, run_command
from tests.support.scripts import run_python
from wfb_gym.cli import main
from wfb_gym.cli.parser import Parser
from wfb_gym.scenario import bundled_scenarios, hidden_scenarios, load_scenario
from wfb_gym.scenario.profiles import character_profiles, unit_profiles


@pytest.mark.parametrize(
    ("options", "chances"),
    [
        ("--dice 3 --value 8", {"cast": 3 / 4, "irresistible": 2 / 27, "miscast": 2 / 27}),
        # A bonus does not help a natural 2.
        ("--dice 1 --value 3 --bonus 2", {"cast": 4 / 6, "irresistible": 0, "miscast": 0}),
        ("--dice 2 --value 12 --no-irresistible", {"cast": 1 / 36, "irresistible": 0}),
    ],
)
def test_chances_to_cast(commands: CommandLine, options: str, chances: dict[str, float]) -> None:
    found = commands.document(f"roll {options}")
    assert {key: found[key] for key in chances} == chances
    assert list(found) == ["cast", "irresistible", "miscast", "fail"]
    assert sum(found.values()) == pytest.approx(1, abs=1e-15)


@pytest.mark.parametrize(
    ("options", "chance"),
    [
        ("--dispel 3 --total 8", Fraction(89, 108)),
        ("--dispel 2 --total 14 --double-six", Fraction(1, 36)),
        ("--dispel 1 --total 7 --bonus 1", Fraction(1, 6)),
    ],
)
def test_chance_to_dispel(commands: CommandLine, options: str, chance: Fraction) -> None:
    assert commands.document(f"roll {options}") == {"dispel": float(chance)}


@pytest.mark.parametrize("double_six", [False, True])
def test_chance_of_a_cast_that_is_then_dispelled(commands: CommandLine, double_six: bool) -> None:
    """Counted by hand: two dice +1 against 6+, then two dice to dispel."""
    rolls = [*product(range(1, 7), repeat=2)]
    counts = dict.fromkeys(("dispelled", "works", "miscast", "fail"), 0)
    for cast, dispel in product(rolls, rolls):
        if cast == (1, 1):
            counts["miscast"] += 1
        elif sum(cast) + 1 < 6:
            counts["fail"] += 1
        elif cast == (6, 6) or dispel == (1, 1):
            counts["works"] += 1
        elif sum(dispel) >= sum(cast) + 1 or (double_six and dispel == (6, 6)):
            counts["dispelled"] += 1
        else:
            counts["works"] += 1
    line = "roll --dice 2 --value 6 --bonus 1 --dispel 2" + " --double-six" * double_six
    assert commands.document(line) == {key: count / 36**2 for key, count in counts.items()}


@pytest.mark.parametrize(
    ("line", "one"),
    [("--value 8 --no-irresistible --bonus 1", "--dice {} --value 8 --no-irresistible --bonus 1"),
     ("--total 12", "--dispel {} --total 12"),
     ("--value 8 --dispel 2", "--dice {} --value 8 --dispel 2"),
     ("--dice 3 --value 8 --dispel", "--dice 3 --value 8 --dispel {}")],
)  # fmt: skip
def test_without_dice_each_number_has_a_row(commands: CommandLine, line: str, one: str) -> None:
    rows = commands.document(f"roll {line}")["rolls"]
    assert [row.pop("dice") for row in rows] == [1, 2, 3, 4, 5, 6]
    assert rows == [commands.document(f"roll {one.format(dice)}") for dice in range(1, 7)]
    assert commands.output("roll --value 8+") == commands.output("roll --value 8")


def test_scenarios_as_json(commands: CommandLine) -> None:
    scenarios = {scenario["name"]: scenario for scenario in commands.document("scenarios")}
    assert list(scenarios) == [*bundled_scenarios(), *hidden_scenarios()]
    assert scenarios["archmage-duel"] == {
        "name": "archmage-duel", "ruleset": "6e", "phases": 1,
        "wizards": {"caster": 1, "dispeller": 1}, "spells": {"caster": 4, "dispeller": 0},
        "description": "An Archmage with four spells against a rival with one Dispel Scroll.",
    }  # fmt: skip


@pytest.mark.parametrize("name", ["border-skirmish", "Border Skirmish"])
def test_the_file_of_a_scenario_begins_one_of_your_own(commands: CommandLine, name: str) -> None:
    Path("mine.toml").write_text(commands.output("scenarios", name), encoding="utf-8")
    assert load_scenario("mine.toml") == load_scenario("border-skirmish")


def test_scenarios_as_a_table(commands: CommandLine) -> None:
    heading, *rows = commands.output("scenarios").splitlines()
    assert [row.split()[0] for row in rows] == [*bundled_scenarios(), *hidden_scenarios()]
    assert heading.split() == ["NAME", "RULESET", "PHASES", "WIZARDS", "SPELLS", "DESCRIPTION"]
    for title in heading.split()[1:]:
        column = heading.index(title)
        assert all(row[column - 1] == " " != row[column] for row in rows)


def test_profiles_are_those_of_the_army_lists(commands: CommandLine) -> None:
    found = {each["profile"]: each for each in commands.document("profiles Empire")}
    assert found["Halberdiers"]["points"] == 6.0
    assert found["Battle Wizard"]["points"] == {"1": 60.0, "2": 95.0}
    table, _, legend = commands.output("profiles").rpartition("\n\n")
    lines = table.splitlines()
    assert len(lines) == 1 + len(unit_profiles()) + len(character_profiles())
    (wizard,) = (line for line in lines if " Battle Wizard " in line)
    assert "wizard 1-2 " in wizard
    assert " 60/95 " in wizard
    assert max(map(len, (*lines, *legend.splitlines()))) <= 100


def test_errors_are_printed_without_control_characters(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        Parser(prog="x").error("a\x1b[2J\u202eb\ud800\nc")
    assert capsys.readouterr().err == "x: a?[2J?b?\nc\n"


def test_a_process_prints_only_json_or_an_error() -> None:
    done = run_python("-m", "wfb_gym", "roll", "--dice", "3", "--value", "8", "--json")
    assert (done.status, next(iter(json.loads(done.out)))) == (0, "cast")
    done = run_python("-m", "wfb_gym", "roll", "--dice", "3", "--value", "99", "--json")
    assert done == (2, "", "python -m wfb_gym roll: --value: expected 3..15, found 99\n")


def test_no_command_prints_the_help(capsys: pytest.CaptureFixture[str]) -> None:
    done = run_command(capsys, main)
    assert done == run_command(capsys, main, "--help")
    assert "scenarios" in done.out


def test_the_version_is_the_packages(capsys: pytest.CaptureFixture[str]) -> None:
    assert run_command(capsys, main, "--version") == (0, f"wfb_gym {version('wfb_gym')}\n", "")
