"""Plain text lists: units, counts, points and options."""

import pytest

from wfb_gym.rosters import Roster, map_roster, read_roster


def read(text: str) -> Roster:
    return read_roster(text.encode())


@pytest.mark.parametrize(
    "line",
    ["20 Swordsmen 160 pts", "20 Swordsmen - 160", "20x Swordsmen [160 pts]",
     "20 x Swordsmen (160 points)", "Swordsmen x20 = 160", "- 20 Swordsmen: 160",
     "• 20 Swordsmen ... 160pts", "20 Swordsmen 160", "20 Swordsmen @ 160 Pts"],
)  # fmt: skip
def test_counts_and_points_are_found_in_many_forms(line: str) -> None:
    (entry,) = read(f"Empire army\n\n{line}").entries
    assert (entry.name, entry.number, entry.points) == ("Swordsmen", 20, 160.0)


@pytest.mark.parametrize(
    "text",
    ["Battle Wizard, level 2, Dispel Scroll, 120 pts",
     "Battle Wizard [120 pts]\n- level 2\n- Dispel Scroll",
     "Battle Wizard [120 pts]\n(level 2, Dispel Scroll)",
     "Battle Wizard [120pts, 2 Casting Dice]: level 2\n. Magic items: Dispel Scroll",
     "Battle Wizard (level 2) with Dispel Scroll = 120",
     "Battle Wizard\nlevel 2, Dispel Scroll\n120 points",
     "Level 2 Battle Wizard; Dispell Scroll; 120"],
)  # fmt: skip
def test_options_follow_on_the_line_below_it_or_in_brackets(text: str) -> None:
    army = map_roster(read(f"Empire army\n\n{text}\n\n20 Swordsmen, 160"))
    (wizard,) = army.wizards
    assert (wizard["profile"], wizard["level"]) == ("Battle Wizard", 2)
    assert (wizard["items"], wizard["points"]) == (["Dispel Scroll"], 120.0)
    assert [each["models"] for each in army.units] == [20]


def test_several_units_on_a_line() -> None:
    entries = read("Empire army\n\n2x5 Pistoliers - 190").entries
    assert [(each.number, each.points) for each in entries] == [(5, 95.0), (5, 95.0)]


def test_headings_totals_and_links_are_no_units() -> None:
    roster = read("""\
++ Standard (Empire) [1,500pts, 6 Casting Dice] ++

+ Heroes +

Captain [60pts]: General

## Core [140 pts]
20 Swordsmen [140 pts]

++ Total: [1,500pts] ++
Created with BattleScribe (https://battlescribe.net)
""")
    found = {each.name: each.group for each in roster.entries}
    assert found == {"Captain": "Heroes", "Swordsmen": "Core"}
    assert any("battlescribe.net" in each for each in roster.notes)


@pytest.mark.parametrize(
    "lines",
    ["Vampire Counts\n", "Vampire Counts army\n\n", "2000 pts\nVampire Counts\n",
     "Vampire Counts\n\nHeroes\n", "Warriors of Chaos\n"],
)  # fmt: skip
def test_a_line_with_only_the_name_of_an_army_is_no_unit(lines: str) -> None:
    army = map_roster(read(f"{lines}Necromancer, level 1, 60 pts\n20 Skeletons, 160 pts"))
    names = [each["name"] for each in (*army.characters, *army.units)]
    assert names == ["Necromancer", "Skeletons"]


@pytest.mark.parametrize("level", ["Wizard Level 3", "Level 3 Wizard", "- Wizard Level 3"])
def test_a_level_below_a_wizard_is_its_level(level: str) -> None:
    lines = f"Vampire Lord 355pts\n{level}\nDispel Scroll\n20 Skeletons, 160 pts"
    (wizard,) = map_roster(read(f"Vampire Counts\n\n{lines}")).wizards
    assert (wizard["profile"], wizard["level"]) == ("Vampire Lord", 3)
    assert wizard["items"] == ["Dispel Scroll"]


def test_a_wizard_below_a_wizard_with_a_level_is_another() -> None:
    army = map_roster(read("Empire army\n\nWizard level 4\nWizard level 2\nDispel Scroll"))
    assert [each["level"] for each in army.wizards] == [4, 2]
    assert army.wizards[1]["items"] == ["Dispel Scroll"]


@pytest.mark.parametrize(
    "line",
    ["Eshin Sorcerer (Level 1)", "Eshin Sorcerer, level 1, Dispel Scroll", "Level 1 Eshin Sorcerer",
     "Eshin Sorcerer (Level 1) - 95 pts"],
)  # fmt: skip
def test_an_unknown_character_with_a_level_is_an_entry_of_its_own(line: str) -> None:
    roster = read(f"Skaven army\n\n10 Night Runners, 60 pts\n{line}")
    runners, sorcerer = roster.entries
    assert (runners.name, runners.entries) == ("Night Runners", ())
    findings = map_roster(roster).findings
    unknown = [each.entry for each in findings if each.status == "unknown"]
    assert unknown == [sorcerer.name]
    assert "Eshin Sorcerer" in sorcerer.name
    lost = [each.entry for each in findings if each.status == "left out"]
    assert lost == [each.name for each in sorcerer.entries]


def test_a_bloodline_in_the_name_of_a_character_is_no_option() -> None:
    text = "Master Necromancer, level 3, 300\nStrigoi Thrall, level 1\n20 Skeletons, 160 pts"
    army = map_roster(read(f"Vampire Counts army\n\n{text}"))
    (wizard,) = army.wizards
    assert (wizard["profile"], wizard["level"]) == ("Master Necromancer", 3)
    assert [each["profile"] for each in army.heroes] == ["Vampire Thrall"]
    assert [each.entry for each in army.findings if each.status == "unknown"] == ["level 1"]


@pytest.mark.parametrize(
    "line", ["Level 2, Lore of Fire", "Lore of Fire, level 2", "Magic level 2, Fire", "lvl 2, Fire",
             "barded warhorse, level 2, Fire", "2nd level, Fire", "Fire magic level 2"],
)  # fmt: skip
def test_a_level_after_an_option_belongs_to_the_character_above(line: str) -> None:
    (wizard,) = map_roster(read(f"Empire army\n\nBattle Wizard, 120 pts\n{line}")).wizards
    assert (wizard["level"], wizard["lore"]) == (2, "Fire")


@pytest.mark.parametrize(
    ("lines", "points"),
    [("20 Swordsmen - 140 pts\n  Detachment: 10 Halberdiers - 50pts", [7.0, 5.0]),
     ("20 Swordsmen - 140 pts\n- Detachment: 10 Halberdiers, shields (50 pts)", [7.0, 5.0]),
     ("20 Swordsmen - 140 pts\nDetachment: 10 Halberdiers - 50pts", [7.0, 5.0]),
     ("Swordsmen x20 - 140\n  Detachment of 10 Halberdiers - 50 pts", [7.0, 5.0]),
     ("20 Swordsmen, Detachment: 10 Halberdiers, 190 pts", [9.5, None]),  # one cost for both
     ("20 Swordsmen (Detachment: 10 Halberdiers) 190 pts", [9.5, None])],
)  # fmt: skip
def test_a_detachment_is_a_unit(lines: str, points: list[float | None]) -> None:
    army = map_roster(read(f"Empire army\n\n{lines}"))
    found = [(each["profile"], each["models"]) for each in army.units]
    assert found == [("Swordsmen", 20), ("Halberdiers", 10)]
    assert [each.get("points") for each in army.units] == points
    assert army.count("unknown") == 0
    assert army.points == 190.0


@pytest.mark.parametrize("option", ["Warpstone Tokens (2)", "2 Warpstone Tokens"])
def test_a_count_may_be_in_brackets_after_an_option(option: str) -> None:
    (entry,) = read(f"Skaven army\n\nWarlock Engineer 45pts\n- {option}").entries
    assert [(each.name, each.number) for each in entry.entries] == [("Warpstone Tokens", 2)]
