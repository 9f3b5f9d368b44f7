"""The command line: output, and error messages for bad input."""

import json
import subprocess
import sys
from fractions import Fraction
from importlib.metadata import version
from pathlib import Path
from typing import Any

import pytest

from wfb_gym.cli import main, roll
from wfb_gym.cli.parser import Parser
from wfb_gym.scenario import bundled_scenarios, hidden_scenarios, load_scenario
from wfb_gym.scenario.profiles import character_profiles, unit_profiles
from wfb_gym.scenario.sizes import DICE

Capture = pytest.CaptureFixture[str]


def shell(*arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "wfb_gym", *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=False, timeout=300)


def output(capsys: Capture, line: str) -> str:
    assert main(line.split()) == 0
    captured = capsys.readouterr()
    assert captured.err == ""
    return captured.out


def document(capsys: Capture, line: str) -> Any:
    return json.loads(output(capsys, f"{line} --json"))


# --- casting -------------------------------------------------------------------------------


def test_three_dice_cast_an_eight(capsys: Capture) -> None:
    chances = document(capsys, "roll --dice 3 --value 8")
    assert chances == {
        "cast": 3 / 4,
        "irresistible": 2 / 27,
        "miscast": 2 / 27,
        "fail": 11 / 108,
    }
    assert chances["cast"] + chances["irresistible"] == pytest.approx(89 / 108, abs=1e-15)


@pytest.mark.parametrize(
    ("dice", "value", "chance"),
    [
        (1, 3, Fraction(2, 3)),
        (1, 7, Fraction(0)),
        (2, 3, Fraction(35, 36)),
        (2, 15, Fraction(1, 36)),
        (3, 12, Fraction(3, 8)),
        (4, 8, Fraction(1121, 1296)),
        (5, 10, Fraction(6245, 7776)),
    ],
)
def test_chance_to_cast_at_all(capsys: Capture, dice: int, value: int, chance: Fraction) -> None:
    chances = document(capsys, f"roll --dice {dice} --value {value}")
    assert chances["cast"] + chances["irresistible"] == pytest.approx(float(chance), abs=1e-15)
    assert sum(chances.values()) == pytest.approx(1, abs=1e-15)


@pytest.mark.parametrize(
    ("dice", "miscast"), [(2, Fraction(1, 36)), (4, Fraction(19, 144)), (7, Fraction(7703, 23328))]
)
def test_chance_of_a_miscast(capsys: Capture, dice: int, miscast: Fraction) -> None:
    assert document(capsys, f"roll --dice {dice} --value 9")["miscast"] == float(miscast)


def test_bonus_does_not_help_a_natural_two(capsys: Capture) -> None:
    chances = document(capsys, "roll --dice 1 --value 3 --bonus 2")
    assert chances == {"cast": 4 / 6, "irresistible": 0, "miscast": 0, "fail": 2 / 6}


def test_negative_bonus(capsys: Capture) -> None:
    assert document(capsys, "roll --dice 1 --value 4 --bonus -1")["cast"] == 2 / 6


def test_without_irresistible_force_two_sixes_must_reach_the_value(capsys: Capture) -> None:
    chances = document(capsys, "roll --dice 2 --value 12 --no-irresistible")
    assert chances["irresistible"] == 0
    assert chances["cast"] == 1 / 36
    assert document(capsys, "roll --dice 2 --value 13 --no-irresistible")["cast"] == 0


def test_casting_in_words(capsys: Capture) -> None:
    assert output(capsys, "roll --dice 3 --value 8").splitlines() == [
        "3 dice against a casting value of 8",
        "  cast, may be dispelled         75.000%  3/4",
        "  cast with irresistible force    7.407%  2/27",
        "  cast either way                82.407%  89/108",
        "  miscast                         7.407%  2/27",
        "  not cast                       10.185%  11/108",
    ]


# --- dispelling ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("options", "chance"),
    [
        ("--dispel 2 --total 8", Fraction(5, 12)),
        ("--dispel 3 --total 8", Fraction(89, 108)),
        ("--dispel 2 --total 14", Fraction(0)),
        ("--dispel 2 --total 14 --double-six", Fraction(1, 36)),
        ("--dispel 3 --total 14", Fraction(35, 216)),
        ("--dispel 3 --total 14 --double-six", Fraction(19, 108)),
        ("--dispel 4 --total 16", Fraction(145, 432)),
        ("--dispel 1 --total 7 --bonus 1", Fraction(1, 6)),
    ],
)
def test_chance_to_dispel(capsys: Capture, options: str, chance: Fraction) -> None:
    assert document(capsys, f"roll {options}") == {"dispel": float(chance)}


def test_dispelling_in_words(capsys: Capture) -> None:
    assert output(capsys, "roll --dispel 1 --total 7 --bonus 2").splitlines() == [
        "1 die +2 to dispel a total of 7",
        "  dispelled       33.333%  1/3",
        "  not dispelled   66.667%  2/3",
    ]


# --- tables of dice ------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("line", "one"),
    [
        ("roll --value 8 --no-irresistible --bonus 1", "roll --dice {} --value 8 --no-irr"),
        ("roll --dispel --total 12 --double-six", "roll --dispel {} --total 12 --double-six"),
        ("roll --total 12", "roll --dispel {} --total 12"),
    ],
)
def test_without_dice_there_is_a_row_for_each_number(capsys: Capture, line: str, one: str) -> None:
    one = one.replace("--no-irr", "--no-irresistible --bonus 1")
    rows = document(capsys, line)["rolls"]
    assert [row.pop("dice") for row in rows] == [1, 2, 3, 4, 5, 6]
    assert rows == [document(capsys, one.format(dice)) for dice in range(1, 7)]


def test_the_table_in_words(capsys: Capture) -> None:
    title, head, *rows = output(capsys, "roll --value 8").splitlines()
    assert output(capsys, "roll --value 8+").splitlines() == [title, head, *rows]
    assert title == "1 to 6 dice against a casting value of 8"
    assert head.split("  ")[0] == "DICE"
    assert "MISCAST" in head
    assert rows[2].split() == ["3", "75.000%", "7.407%", "82.407%", "7.407%", "10.185%"]


# --- scenarios -----------------------------------------------------------------------------


def test_scenarios_as_json(capsys: Capture) -> None:
    scenarios = {scenario["name"]: scenario for scenario in document(capsys, "scenarios")}
    assert list(scenarios) == [*bundled_scenarios(), *hidden_scenarios()]
    assert scenarios["archmage-duel"] == {
        "name": "archmage-duel",
        "ruleset": "6e",
        "phases": 1,
        "wizards": {"caster": 1, "dispeller": 1},
        "spells": {"caster": 4, "dispeller": 0},
        "description": "An Archmage with four spells against a rival with one Dispel Scroll.",
    }


@pytest.mark.parametrize("name", ["border-skirmish", "Border Skirmish"])
def test_the_file_of_a_scenario_begins_one_of_your_own(
    capsys: Capture, tmp_path: Path, name: str
) -> None:
    assert main(["scenarios", name]) == 0
    file = tmp_path / "mine.toml"
    file.write_text(capsys.readouterr().out, encoding="utf-8")
    assert load_scenario(str(file)) == load_scenario("border-skirmish")


def test_scenarios_as_a_table(capsys: Capture) -> None:
    heading, *rows = output(capsys, "scenarios").splitlines()
    assert [row.split()[0] for row in rows] == [*bundled_scenarios(), *hidden_scenarios()]
    assert heading.split() == ["NAME", "RULESET", "PHASES", "WIZARDS", "SPELLS", "DESCRIPTION"]
    for title in heading.split()[1:]:
        column = heading.index(title)
        assert all(row[column - 1] == " " != row[column] for row in rows)


# --- bad input -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("duel", "invalid choice: 'duel'"),
        ("scenarios skirmish", "(did you mean border-skirmish?), found 'skirmish'"),
        ("scenarios apprentice --json", "--json: expected no scenario name"),
        ("profiles empir", "the name of an army list (did you mean empire?), found 'empir'"),
        ("profiles chaos knights", "the name of an army list, warriors-of-chaos for this profile"),
        ("roll 3 8", "roll: expected options, such as --dice 3 --value 8, found 3 8"),
        ("roll 8", "roll: expected options, such as --value 8, found 8"),
        ("roll --value 8 3", "roll: expected options, such as --dice 3, found 3"),
        ("roll", "expected --value to cast or --total to dispel, and the dice with it"),
        ("roll --bonus 1", "expected --value to cast"),
        ("roll --dice 3", "expected --value with --dice"),
        ("roll --no-irresistible", "expected --value with --no-irresistible"),
        ("roll --dispel 3", "expected --total with --dispel"),
        ("roll --dispel", "expected --total with --dispel"),
        ("roll --double-six", "expected --total with --double-six"),
        ("roll --value 99", "--value: expected 3..15, found 99"),
        ("roll --dispel 0 --total 8", "--dispel: expected 1..24, found 0"),
        ("roll --dice 3 --value 8 --dispel 3 --total 8", "found --dice with --dispel"),
        ("roll --dice 3 --value 8 --double-six", "found --dice with --double-six"),
        ("roll --dice 0 --total 12", "found --dice with --total"),
        ("roll --dispel 3 --total 8 --no-irresistible", "--no-irresistible with --dispel"),
        ("roll --dice three --value 8", "--dice: expected a whole number, found 'three'"),
        ("roll --dice 2.5 --value 8", "--dice: expected a whole number, found '2.5'"),
        ("roll --dice 0 --value 8", "--dice: expected 1..24, found 0"),
        ("roll --dice 25 --value 8", "--dice: expected 1..24, found 25"),
        ("roll --dice 3 --value 2", "--value: expected 3..15, found 2"),
        ("roll --dice 3 --value 16", "--value: expected 3..15, found 16"),
        ("roll --dice 3 --value 8 --bonus 99", "--bonus: expected -24..24, found 99"),
        ("roll --dispel -1 --total 8", "--dispel: expected 1..24, found -1"),
        ("roll --dispel 3 --total 0", "--total: expected 1..168, found 0"),
        (f"roll --dispel 3 --total {10**30}", "--total: expected 1..168"),
        ("roll --dic 3 --value 8", "unrecognized arguments: --dic 3 (did you mean --dice?)"),
        ("drwa border-skirmish", "(did you mean draw?)"),
        ("targets border-skirmsh", "(did you mean border-skirmish?)"),
        ("targets border-skirmish --wizrd=x", "arguments: --wizrd=x (did you mean --wizard?)"),
        ("targets border-skirmish --side castr", "(did you mean caster?)"),
        ("targets border-skirmish --spell fireblal", "(did you mean Fire Ball?)"),
    ],
)
@pytest.mark.parametrize("form", ["", " --json"])
def test_bad_input_is_one_line_on_stderr(
    capsys: Capture, line: str, form: str, message: str
) -> None:
    with pytest.raises(SystemExit) as end:
        main((line + form).split())
    captured = capsys.readouterr()
    assert end.value.code == 2
    assert captured.out == ""
    assert captured.err.count("\n") == 1
    assert captured.err.startswith("python -m wfb_gym")
    assert message in captured.err


def test_errors_are_printed_without_control_characters(capsys: Capture) -> None:
    with pytest.raises(SystemExit):
        Parser(prog="x").error("a\x1b[2J\u202eb\ud800\nc")
    assert capsys.readouterr().err == "x: a?[2J?b?\nc\n"


def test_profiles_are_those_of_the_army_lists(capsys: Capture) -> None:
    main(["profiles", "Empire", "--json"])
    found = {each["profile"]: each for each in json.loads(capsys.readouterr().out)}
    assert found["Halberdiers"]["points"] == 6.0
    assert found["Battle Wizard"]["points"] == {"1": 60.0, "2": 95.0}
    main(["profiles"])
    table, _, legend = capsys.readouterr().out.rpartition("\n\n")
    lines = table.splitlines()
    assert len(lines) == 1 + len(unit_profiles()) + len(character_profiles())
    (wizard,) = (line for line in lines if " Battle Wizard " in line)
    assert "wizard 1-2 " in wizard
    assert " 60/95 " in wizard
    assert max(map(len, (*lines, *legend.splitlines()))) <= 100


def test_limits_are_those_of_a_battle() -> None:
    assert roll.MOST_DICE == DICE


# --- as a process --------------------------------------------------------------------------


@pytest.mark.parametrize(
    "line", ["roll --dice 3 --value 8", "roll --dispel 3 --total 8", "scenarios"]
)
def test_stdout_holds_only_json(line: str) -> None:
    done = shell(*line.split(), "--json")
    assert done.returncode == 0
    assert json.loads(done.stdout)


def test_a_process_exits_with_status_two_on_bad_input() -> None:
    done = shell("roll", "--dice", "3", "--value", "99", "--json")
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == "python -m wfb_gym roll: --value: expected 3..15, found 99\n"


def test_no_command_prints_the_help() -> None:
    done = shell()
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout == shell("--help").stdout
    assert "scenarios" in done.stdout
    assert "roll" in done.stdout


def test_the_version_is_the_packages(capsys: Capture) -> None:
    with pytest.raises(SystemExit) as end:
        main(["--version"])
    assert (end.value.code, capsys.readouterr().out) == (0, f"wfb_gym {version('wfb_gym')}\n")


@pytest.mark.parametrize("command", ["scenarios", "roll", "targets"])
def test_help_of_a_command(capsys: Capture, command: str) -> None:
    with pytest.raises(SystemExit) as end:
        main([command, "--help"])
    assert end.value.code == 0
    assert "--json" in capsys.readouterr().out
