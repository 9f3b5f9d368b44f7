"""Commands about a battlefield: legal targets, and a picture."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from wfb_gym.cli import main

Capture = pytest.CaptureFixture[str]
SKIRMISH = "border-skirmish"


def output(capsys: Capture, *arguments: str) -> str:
    assert main(arguments) == 0
    captured = capsys.readouterr()
    assert captured.err == ""
    return captured.out


def error_of(capsys: Capture, *arguments: str) -> str:
    with pytest.raises(SystemExit) as end:
        main(arguments)
    captured = capsys.readouterr()
    assert (end.value.code, captured.out) == (2, "")
    return captured.err


def targets(capsys: Capture, *arguments: str) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = json.loads(output(capsys, "targets", *arguments, "--json"))
    return found


def test_targets_of_every_spell_of_both_sides(capsys: Capture) -> None:
    found = targets(capsys, SKIRMISH)
    assert {(each["side"], each["spell"]) for each in found} == {
        ("caster", "Fire Ball"),
        ("caster", "Fiery Blast"),
        ("dispeller", "Dark Hand of Death"),
        ("dispeller", "Wind of Death"),
    }


def test_illegal_targets_have_a_reason(capsys: Capture) -> None:
    (spell,) = targets(capsys, SKIRMISH, "--spell", "Fire Ball")
    rows = {row["target"]: row for row in spell["targets"]}
    assert rows["Chaos Warriors"]["legal"]
    assert rows["Chaos Warriors"]["reason"] == ""
    assert not rows["Marauder Horsemen"]["legal"]
    assert "close combat" in rows["Marauder Horsemen"]["reason"]


def test_only_one_side_and_one_wizard(capsys: Capture) -> None:
    assert {each["side"] for each in targets(capsys, SKIRMISH, "--side", "dispeller")} == {
        "dispeller"
    }
    assert {each["wizard"] for each in targets(capsys, SKIRMISH, "--wizard", "Battle Wizard")} == {
        "Battle Wizard"
    }


def test_targets_in_words(capsys: Capture) -> None:
    lines = output(capsys, "targets", SKIRMISH, "--spell", "Fire Ball").splitlines()
    assert lines[0] == "Fire Ball, Battle Wizard (caster)"
    assert any(line.split()[-1] == "yes" for line in lines[1:])
    assert any("no: is in close combat" in line for line in lines[1:])


def test_names_in_any_case_and_questions_for_others(capsys: Capture) -> None:
    assert targets(capsys, SKIRMISH, "--spell", "fireball") == targets(
        capsys, SKIRMISH, "--spell", "Fire Ball", "--wizard", "battle wizard"
    )
    message = error_of(capsys, "targets", SKIRMISH, "--spell", "Fire Bell")
    assert "--spell: expected a spell of a wizard (did you mean Fire Ball" in message
    message = error_of(capsys, "draw", SKIRMISH, "--wizard", "Sorceror")
    assert "--wizard: expected a wizard with spells (did you mean Sorcerer?)" in message
    assert message.endswith("found 'Sorceror'\n")


def test_a_spell_of_fixed_worth_has_no_target(capsys: Capture) -> None:
    (spell,) = targets(capsys, "archmage-duel", "--spell", "Fire Ball")
    (row,) = spell["targets"]
    assert (row["target"], row["legal"]) == ("no target", True)
    assert row["reason"] == "its worth is fixed, so it needs no target"


def test_targets_of_spells_that_may_be_rolled_and_of_bound_ones(capsys: Capture) -> None:
    found = {
        (each["wizard"], each["spell"]): each["targets"]
        for each in targets(capsys, "the-winds-unbound")
    }
    assert len([spell for who, spell in found if who == "Celestial Wizard"]) == 6
    assert any(row["legal"] for row in found["Champion", "Storm of Hail"])


def test_an_army_without_spells(capsys: Capture) -> None:
    message = error_of(capsys, "targets", "archmage-duel", "--side", "dispeller")
    assert "expected a scenario with spells of the dispeller, found archmage-duel" in message


def test_an_unknown_scenario(capsys: Capture) -> None:
    assert "the name of a bundled scenario" in error_of(capsys, "targets", "nowhere")
    assert "the name of a bundled scenario" in error_of(capsys, "draw", "nowhere")


@pytest.mark.needs("PIL")
def test_a_picture_of_the_battlefield(capsys: Capture, tmp_path: Path) -> None:
    path = tmp_path / "field"
    assert output(capsys, "draw", SKIRMISH, "--out", str(path)) == f"{path}.png\n"
    assert path.with_suffix(".png").read_bytes().startswith(b"\x89PNG")


def test_svg_needs_no_extra(capsys: Capture, tmp_path: Path) -> None:
    path = tmp_path / "field.svg"
    assert output(capsys, "draw", SKIRMISH, "--out", str(path)) == f"{path}\n"
    assert 'data-name="Chaos Knights"' in path.read_text()
    script = (
        "import sys; sys.modules.update(dict.fromkeys(['PIL', 'matplotlib'])); "
        "from wfb_gym.cli import main; main(sys.argv[1:])"
    )
    command = [sys.executable, "-c", script, "draw", SKIRMISH, "--out"]
    done = subprocess.run([*command, str(path)], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    done = subprocess.run([*command, "x.png"], capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert 'pip install "wfb-gym[render]"' in done.stderr
    for more, name in (([], f"{SKIRMISH}.svg"), (["--out", "field"], "field.svg")):
        done = subprocess.run(
            [*command[:-1], *more], cwd=tmp_path, capture_output=True, text=True, check=False
        )
        assert (done.returncode, done.stdout, done.stderr) == (0, f"{name}\n", "")
        assert (tmp_path / name).read_text(encoding="utf-8").startswith("<svg")


def test_a_picture_with_a_spells_range(capsys: Capture, tmp_path: Path) -> None:
    path = tmp_path / "field.svg"
    arguments = "draw", SKIRMISH, "--wizard", "battle wizard", "--spell", "fire ball"
    output(capsys, *arguments, "--out", str(path))
    assert 'class="range"' in path.read_text()
    message = error_of(capsys, "draw", SKIRMISH, "--wizard", "Battle Wizard")
    assert "expected one spell by --wizard and --spell, found 2: Fire Ball of" in message


def test_no_picture_without_a_battlefield(capsys: Capture) -> None:
    message = error_of(capsys, "draw", "archmage-duel")
    assert "expected one with a battlefield, found archmage-duel" in message


def test_no_picture_of_another_kind(capsys: Capture) -> None:
    message = error_of(capsys, "draw", SKIRMISH, "--out", "field.tiff")
    assert "--out: expected a name ending in .png or .svg, found 'field.tiff'" in message


def test_no_picture_where_none_can_be_written(capsys: Capture, tmp_path: Path) -> None:
    message = error_of(capsys, "draw", SKIRMISH, "--out", str(tmp_path / "no" / "f.svg"))
    assert "--out: expected a file in a folder that exists, found " in message
