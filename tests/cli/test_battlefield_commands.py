"""Commands about a battlefield: legal targets, and a picture."""

import sys
from pathlib import Path

import pytest

from tests.support.commands import CommandLine

SKIRMISH = "border-skirmish"


def test_targets_of_every_spell_of_both_sides(commands: CommandLine) -> None:
    found: dict[str, set[str]] = {"caster": set(), "dispeller": set()}
    for each in commands.document(f"targets {SKIRMISH}"):
        found[each["side"]].add(each["spell"])
    assert found["caster"] == {"Fire Ball", "Fiery Blast"}
    assert found["dispeller"] == {"Dark Hand of Death", "Wind of Death"}


def test_targets_of_a_spell_by_names_in_any_case(commands: CommandLine) -> None:
    line = f"targets {SKIRMISH} --side caster --spell"
    (spell,) = commands.document(f"{line} 'Fire Ball'")
    assert [spell] == commands.document(f"{line} fireball --wizard 'battle wizard'")
    rows = {row["target"]: row for row in spell["targets"]}
    assert rows["Chaos Warriors"]["legal"]
    assert rows["Chaos Warriors"]["reason"] == ""
    assert not rows["Marauder Horsemen"]["legal"]
    assert "close combat" in rows["Marauder Horsemen"]["reason"]


def test_targets_in_words(commands: CommandLine) -> None:
    title, *lines = commands.output(f"targets {SKIRMISH} --spell 'Fire Ball'").splitlines()
    assert title == "Fire Ball, Battle Wizard (caster)"
    assert any(line.split()[-1] == "yes" for line in lines)
    assert any("no: is in close combat" in line for line in lines)


def test_a_spell_of_fixed_worth_has_no_target(commands: CommandLine) -> None:
    (spell,) = commands.document("targets archmage-duel --spell 'Fire Ball'")
    (row,) = spell["targets"]
    assert (row["target"], row["legal"]) == ("no target", True)
    assert row["reason"] == "its worth is fixed, so it needs no target"


WARLOCK = """
name = "warlock"
battlefield = { width = 48, depth = 48 }
dispeller = { units = [{ profile = "Halberdiers", models = 20, position = [24, 24] }] }
[[caster.wizards]]
name = "Warlock"
level = 3
position = [24, 4]
spells = [
  { name = "Lightning", casting_value = 5, target = "enemy_unit", alternatives = [
    { casting_value = 9, range_inches = 24 },
  ], range_inches = 12, damage = { hits = "D6", strength = 5 } },
]
"""


def test_each_casting_value_of_a_spell_has_its_targets(commands: CommandLine) -> None:
    Path("warlock.toml").write_text(WARLOCK)
    found = commands.document("targets warlock.toml --spell Lightning")
    legal = {each["spell"]: [row["legal"] for row in each["targets"]] for each in found}
    assert legal == {"Lightning (5+)": [False], "Lightning (9+)": [True]}
    (longer,) = commands.document("targets warlock.toml --spell 'lightning 9'")
    assert longer == found[1]
    reply = commands.error("draw warlock.toml --spell Lightning --out map.svg")
    assert "found 2: Lightning (5+) of Warlock, Lightning (9+) of Warlock" in reply
    commands.output("draw warlock.toml --spell 'Lightning (9+)' --out map.svg")
    assert Path("map.svg").exists()


def test_targets_of_spells_that_may_be_rolled_and_of_bound_ones(commands: CommandLine) -> None:
    found = {
        (each["wizard"], each["spell"]): each["targets"]
        for each in commands.document("targets the-winds-unbound")
    }
    assert len([spell for who, spell in found if who == "Celestial Wizard"]) == 6
    assert any(row["legal"] for row in found["Champion", "Storm of Hail"])


@pytest.mark.needs("PIL")
def test_a_picture_of_the_battlefield(commands: CommandLine) -> None:
    assert commands.output(f"draw {SKIRMISH} --out field") == "field.png\n"
    assert Path("field.png").read_bytes().startswith(b"\x89PNG")


def test_only_svg_needs_no_extra(commands: CommandLine, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("PIL", "matplotlib"):
        monkeypatch.setitem(sys.modules, name, None)
    for option, name in (("", f"{SKIRMISH}.svg"), ("--out field", "field.svg")):
        assert commands.output(f"draw {SKIRMISH} {option}") == f"{name}\n"
        assert Path(name).read_text(encoding="utf-8").startswith("<svg")


def test_a_picture_with_a_spells_range(commands: CommandLine) -> None:
    commands.output(f"draw {SKIRMISH} --wizard 'battle wizard' --spell 'fire ball' --out a.svg")
    assert 'class="range"' in Path("a.svg").read_text()
    assert 'data-name="Chaos Knights"' in Path("a.svg").read_text()
