"""The command line: output, and error messages for bad input."""

import json
from fractions import Fraction
from importlib.metadata import version
from pathlib import Path

import pytest

from tests.support.commands import CommandLine, run_command
from tests.support.scripts import run_python
from wfb_gym.cli import main, roll
from wfb_gym.cli.parser import Parser
from wfb_gym.scenario import bundled_scenarios, hidden_scenarios, load_scenario
from wfb_gym.scenario.profiles import character_profiles, unit_profiles
from wfb_gym.scenario.sizes import DICE

# --- casting -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("options", "chances"),
    [
        ("--dice 3 --value 8", {"cast": 3 / 4, "irresistible": 2 / 27, "miscast": 2 / 27}),
        # A bonus does not help a natural 2.
        ("--dice 1 --value 3 --bonus 2", {"cast": 4 / 6, "irresistible": 0, "miscast": 0}),
        ("--dice 1 --value 4 --bonus -1", {"cast": 2 / 6, "irresistible": 0, "miscast": 0}),
        # Without irresistible force two 6s must reach the value.
        ("--dice 2 --value 12 --no-irresistible", {"cast": 1 / 36, "irresistible": 0}),
        ("--dice 2 --value 13 --no-irresistible", {"cast": 0, "irresistible": 0}),
        ("--dice 2 --value 9", {"miscast": 1 / 36}),
        ("--dice 4 --value 9", {"miscast": 19 / 144}),
        ("--dice 7 --value 9", {"miscast": 7703 / 23328}),
    ],
)
def test_chances_to_cast(commands: CommandLine, options: str, chances: dict[str, float]) -> None:
    found = commands.document(f"roll {options}")
    assert {key: found[key] for key in chances} == chances
    assert list(found) == ["cast", "irresistible", "miscast", "fail"]
    assert sum(found.values()) == pytest.approx(1, abs=1e-15)


@pytest.mark.parametrize(
    ("dice", "value", "chance"),
    [
        (1, 3, Fraction(2, 3)),
        (1, 7, Fraction(0)),
        (2, 3, Fraction(35, 36)),
        (2, 15, Fraction(1, 36)),
        (3, 8, Fraction(89, 108)),
        (3, 12, Fraction(3, 8)),
        (4, 8, Fraction(1121, 1296)),
        (5, 10, Fraction(6245, 7776)),
    ],
)
def test_chance_to_cast_at_all(
    commands: CommandLine, dice: int, value: int, chance: Fraction
) -> None:
    found = commands.document(f"roll --dice {dice} --value {value}")
    assert found["cast"] + found["irresistible"] == pytest.approx(float(chance), abs=1e-15)


def test_casting_in_words(commands: CommandLine) -> None:
    assert commands.output("roll --dice 3 --value 8").splitlines() == [
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
def test_chance_to_dispel(commands: CommandLine, options: str, chance: Fraction) -> None:
    assert commands.document(f"roll {options}") == {"dispel": float(chance)}


def test_dispelling_in_words(commands: CommandLine) -> None:
    assert commands.output("roll --dispel 1 --total 7 --bonus 2").splitlines() == [
        "1 die +2 to dispel a total of 7",
        "  dispelled       33.333%  1/3",
        "  not dispelled   66.667%  2/3",
    ]


# --- tables of dice ------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("line", "one"),
    [
        (
            "roll --value 8 --no-irresistible --bonus 1",
            "roll --dice {} --value 8 --no-irresistible --bonus 1",
        ),
        ("roll --dispel --total 12 --double-six", "roll --dispel {} --total 12 --double-six"),
        ("roll --total 12", "roll --dispel {} --total 12"),
    ],
)
def test_without_dice_there_is_a_row_for_each_number(
    commands: CommandLine, line: str, one: str
) -> None:
    rows = commands.document(line)["rolls"]
    assert [row.pop("dice") for row in rows] == [1, 2, 3, 4, 5, 6]
    assert rows == [commands.document(one.format(dice)) for dice in range(1, 7)]


def test_the_table_in_words(commands: CommandLine) -> None:
    title, head, *rows = commands.output("roll --value 8").splitlines()
    assert commands.output("roll --value 8+").splitlines() == [title, head, *rows]
    assert title == "1 to 6 dice against a casting value of 8"
    assert head.split("  ")[0] == "DICE"
    assert "MISCAST" in head
    assert rows[2].split() == ["3", "75.000%", "7.407%", "82.407%", "7.407%", "10.185%"]


# --- scenarios and profiles ----------------------------------------------------------------


def test_scenarios_as_json(commands: CommandLine) -> None:
    scenarios = {scenario["name"]: scenario for scenario in commands.document("scenarios")}
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
    commands: CommandLine, tmp_path: Path, name: str
) -> None:
    file = tmp_path / "mine.toml"
    file.write_text(commands.output("scenarios", name), encoding="utf-8")
    assert load_scenario(str(file)) == load_scenario("border-skirmish")


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


# --- bad input -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("duel", "invalid choice: 'duel'"),
        ("scenarios skirmish", "(did you mean border-skirmish?), found 'skirmish'"),
        ("scenarios apprentice --json", "--json: expected no scenario name"),
        ("profiles empir", "the name of an army list (did you mean empire?), found 'empir'"),
        ("profiles chaos knights", "the name of an army list, warriors-of-chaos for this profile"),
        ("roll 3 8", "expected options, such as --dice 3 --value 8, found 3 8"),
        ("roll 8", "expected options, such as --value 8, found 8"),
        ("roll --value 8 3", "expected options, such as --dice 3, found 3"),
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
        ("roll --dice 3 --total 12", "with --total (did you mean --dispel 3?)"),
        ("roll --dispel --dice 3 --total 12", "with --dispel (did you mean --dispel 3?)"),
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
    commands: CommandLine, line: str, form: str, message: str
) -> None:
    assert message in commands.error(line + form)


def test_errors_are_printed_without_control_characters(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        Parser(prog="x").error("a\x1b[2J\u202eb\ud800\nc")
    assert capsys.readouterr().err == "x: a?[2J?b?\nc\n"


def test_limits_are_those_of_a_battle() -> None:
    assert roll.MOST_DICE == DICE


# --- as a process --------------------------------------------------------------------------


@pytest.mark.parametrize(
    "line", ["roll --dice 3 --value 8", "roll --dispel 3 --total 8", "scenarios"]
)
def test_stdout_holds_only_json(line: str) -> None:
    done = run_python("-m", "wfb_gym", *line.split(), "--json")
    assert done.status == 0
    assert json.loads(done.out)


def test_a_process_exits_with_status_two_on_bad_input() -> None:
    done = run_python("-m", "wfb_gym", "roll", "--dice", "3", "--value", "99", "--json")
    assert done == (2, "", "python -m wfb_gym roll: --value: expected 3..15, found 99\n")


def test_no_command_prints_the_help() -> None:
    done = run_python("-m", "wfb_gym")
    assert (done.status, done.err) == (0, "")
    assert done.out == run_python("-m", "wfb_gym", "--help").out
    assert "scenarios" in done.out
    assert "roll" in done.out


def test_the_version_is_the_packages(capsys: pytest.CaptureFixture[str]) -> None:
    assert run_command(capsys, main, "--version") == (0, f"wfb_gym {version('wfb_gym')}\n", "")


@pytest.mark.parametrize("command", ["scenarios", "roll", "targets", "advise", "odds"])
def test_help_of_a_command(commands: CommandLine, command: str) -> None:
    assert "--json" in commands.output(f"{command} --help")
