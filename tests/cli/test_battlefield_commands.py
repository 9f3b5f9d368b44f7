"""Commands about a battlefield: legal targets, and a picture."""

from pathlib import Path

import pytest

from tests.support.commands import CommandLine
from tests.support.scripts import run_python

SKIRMISH = "border-skirmish"


def test_targets_of_every_spell_of_both_sides(commands: CommandLine) -> None:
    assert {(each["side"], each["spell"]) for each in commands.document(f"targets {SKIRMISH}")} == {
        ("caster", "Fire Ball"),
        ("caster", "Fiery Blast"),
        ("dispeller", "Dark Hand of Death"),
        ("dispeller", "Wind of Death"),
    }


def test_illegal_targets_have_a_reason(commands: CommandLine) -> None:
    (spell,) = commands.document(f"targets {SKIRMISH} --spell 'Fire Ball'")
    rows = {row["target"]: row for row in spell["targets"]}
    assert rows["Chaos Warriors"]["legal"]
    assert rows["Chaos Warriors"]["reason"] == ""
    assert not rows["Marauder Horsemen"]["legal"]
    assert "close combat" in rows["Marauder Horsemen"]["reason"]


@pytest.mark.parametrize(
    ("options", "key", "only"),
    [
        ("--side dispeller", "side", "dispeller"),
        ("--wizard 'Battle Wizard'", "wizard", "Battle Wizard"),
    ],
)
def test_only_one_side_or_wizard(commands: CommandLine, options: str, key: str, only: str) -> None:
    assert {each[key] for each in commands.document(f"targets {SKIRMISH} {options}")} == {only}


def test_targets_in_words(commands: CommandLine) -> None:
    title, *lines = commands.output(f"targets {SKIRMISH} --spell 'Fire Ball'").splitlines()
    assert title == "Fire Ball, Battle Wizard (caster)"
    assert any(line.split()[-1] == "yes" for line in lines)
    assert any("no: is in close combat" in line for line in lines)


def test_names_in_any_case(commands: CommandLine) -> None:
    line = f"targets {SKIRMISH} --spell"
    assert commands.document(f"{line} fireball") == commands.document(
        f"{line} 'Fire Ball' --wizard 'battle wizard'"
    )


def test_a_spell_of_fixed_worth_has_no_target(commands: CommandLine) -> None:
    (spell,) = commands.document("targets archmage-duel --spell 'Fire Ball'")
    (row,) = spell["targets"]
    assert (row["target"], row["legal"]) == ("no target", True)
    assert row["reason"] == "its worth is fixed, so it needs no target"


def test_targets_of_spells_that_may_be_rolled_and_of_bound_ones(commands: CommandLine) -> None:
    found = {
        (each["wizard"], each["spell"]): each["targets"]
        for each in commands.document("targets the-winds-unbound")
    }
    assert len([spell for who, spell in found if who == "Celestial Wizard"]) == 6
    assert any(row["legal"] for row in found["Champion", "Storm of Hail"])


@pytest.mark.parametrize(
    ("line", "message"),
    [
        (
            f"targets {SKIRMISH} --spell 'Fire Bell'",
            "--spell: expected a spell of a wizard (did you mean Fire Ball",
        ),
        (
            "targets archmage-duel --side dispeller",
            "expected a scenario with spells of the dispeller, found archmage-duel",
        ),
        ("targets nowhere", "the name of a bundled scenario"),
        ("draw nowhere", "the name of a bundled scenario"),
        (
            f"draw {SKIRMISH} --wizard Sorceror",
            "--wizard: expected a wizard with spells (did you mean Sorcerer?), found 'Sorceror'",
        ),
        (
            f"draw {SKIRMISH} --wizard 'Battle Wizard'",
            "expected one spell by --wizard and --spell, found 2: Fire Ball of",
        ),
        ("draw archmage-duel", "expected one with a battlefield, found archmage-duel"),
        (
            f"draw {SKIRMISH} --out field.tiff",
            "--out: expected a name ending in .png or .svg, found 'field.tiff'",
        ),
        (
            f"draw {SKIRMISH} --out no/such/folder/f.svg",
            "--out: expected a file in a folder that exists, found ",
        ),
    ],
)
def test_bad_input_is_one_line_on_stderr(commands: CommandLine, line: str, message: str) -> None:
    assert message in commands.error(line)


@pytest.mark.needs("PIL")
def test_a_picture_of_the_battlefield(commands: CommandLine, tmp_path: Path) -> None:
    path = tmp_path / "field"
    assert commands.output(f"draw {SKIRMISH} --out {path}") == f"{path}.png\n"
    assert path.with_suffix(".png").read_bytes().startswith(b"\x89PNG")


def test_only_svg_needs_no_extra(tmp_path: Path) -> None:
    script = (
        "import sys; sys.modules.update(dict.fromkeys(['PIL', 'matplotlib']))\n"
        "from wfb_gym.cli import main\n"
        "for out in ([], ['field'], ['other.svg'], ['x.png']):\n"
        "    main([*sys.argv[1:], *(['--out'] if out else []), *out])"
    )
    done = run_python("-c", script, "draw", SKIRMISH, cwd=tmp_path)
    names = [f"{SKIRMISH}.svg", "field.svg", "other.svg"]
    assert (done.status, done.out.splitlines()) == (2, names)
    assert 'pip install "wfb-gym[render]"' in done.err
    for name in names:
        assert (tmp_path / name).read_text(encoding="utf-8").startswith("<svg")


def test_a_picture_with_a_spells_range(commands: CommandLine, tmp_path: Path) -> None:
    path = tmp_path / "field.svg"
    commands.output(f"draw {SKIRMISH} --wizard 'battle wizard' --spell 'fire ball' --out {path}")
    assert 'class="range"' in path.read_text()
    assert 'data-name="Chaos Knights"' in path.read_text()
