"""The mapping of single entries, the limits of scenarios, and the opponent."""

import pytest

from wfb_gym.rosters import (
    ImportedArmy,
    Roster,
    RosterError,
    import_roster,
    map_roster,
    read_roster,
)
from wfb_gym.scenario.sizes import SPELLS, UNITS, WIZARDS


def roster(*lines: str, title: str = "Empire army") -> Roster:
    return read_roster("\n".join([title, "", *lines]).encode())


def army_of(*lines: str, title: str = "Empire army") -> ImportedArmy:
    return map_roster(roster(*lines, title=title))


def statuses(army: ImportedArmy) -> dict[str, str]:
    return {each.entry: each.status for each in army.findings}


def test_a_wizard_without_a_lore_gets_the_first_of_its_profile_and_a_note() -> None:
    army = army_of("Battle Wizard, level 2, 95 pts")
    assert army.wizards[0]["lore"] == "Fire"
    assert "assumed" in army.findings[0].result
    assert 'lore = "Fire"  # assumed' in import_roster(roster("Battle Wizard, level 2, 95")).toml


@pytest.mark.parametrize(
    ("option", "lore"),
    [("Lore of Heavens", "Heavens"), ("Celestial", "Heavens"), ("Lore: Fire", "Fire"),
     ("beasts", "Beasts"), ("Shadow magic", "Shadow")],
)  # fmt: skip
def test_lores_have_several_names(option: str, lore: str) -> None:
    assert army_of(f"Battle Wizard, level 1, {option}, 60").wizards[0]["lore"] == lore


def test_listed_spells_replace_the_lore() -> None:
    army = army_of("Battle Wizard, level 2, 1. Fire Ball, Burning Head, 95 pts")
    assert army.wizards[0]["spells"] == ["Fire Ball", "Burning Head"]
    assert "lore" not in army.wizards[0]


def test_dice_of_unknown_entries_become_an_item() -> None:
    army = army_of("Warrior Priest, 95 pts", "20 Swordsmen, 140 pts")
    assert army.own_items == [{"name": "Warrior Priest (dice)", "dispel_dice": 1}]
    scenario = import_roster(roster("Warrior Priest, 95", "Battle Wizard, level 1, 60")).scenario
    assert scenario.caster.heroes[0].items == ("Warrior Priest (dice)",)


def test_unknown_names_are_reported_with_suggestions() -> None:
    army = army_of("Battle Wizard, level 1, Ring of Volans, Moon Staf, 60", "10 Swordsmans of X, 9")
    found = {each.entry: each for each in army.findings}
    assert found["Ring of Volans"].status == "unknown"
    assert "[[items]]" in found["Ring of Volans"].result
    assert found["10 Swordsmans of X"].status in ("unknown", "mapped")


def test_weapons_mounts_and_command_are_ignored() -> None:
    army = army_of(
        "Captain, lance, shield, warhorse, battle standard, 90", "20 Swordsmen, musician, 9"
    )
    ignored = {entry for entry, status in statuses(army).items() if status == "ignored"}
    assert ignored == {"lance", "shield", "warhorse", "battle standard", "musician"}


def test_what_exceeds_the_limits_is_left_out_and_reported() -> None:
    heroes = [f"Captain, {50 + i} pts" for i in range(WIZARDS)]
    wizards = [f"Battle Wizard, level 2, Lore of Fire, {95 + i} pts" for i in range(WIZARDS - 1)]
    units = [f"{10 + i} Swordsmen, {70 + i} pts" for i in range(UNITS + 2)]
    result = import_roster(roster(*heroes, *wizards, *units))
    left = [each for each in result.army.findings if each.status == "left out"]
    assert len(result.scenario.caster.characters) == WIZARDS
    assert len(result.scenario.caster.wizards) == len(wizards)
    assert len(result.scenario.caster.units) == UNITS
    assert min(each.models for each in result.scenario.caster.units) == 12
    assert sum(len(each.candidate_spells) for each in result.scenario.caster.wizards) <= SPELLS
    assert len(left) >= 1 + len(heroes) - 1 + 2
    assert all(each.entry in result.toml for each in left)


def test_an_army_without_wizards_is_the_dispeller() -> None:
    result = import_roster(roster("Runesmith, Rune of Spellbreaking, 95", title="Dwarf army"))
    assert result.side == "dispeller"
    assert result.scenario.dispeller.dwarf
    assert result.scenario.caster.wizards[0].candidate_spells


def test_the_typical_opponent_depends_on_the_points() -> None:
    levels = {}
    for points in (1000, 2000, 3000):
        enemy = import_roster(roster("Battle Wizard, level 2, 95", title=f"Empire {points}")).enemy
        levels[points] = [each["level"] for each in enemy.wizards]
        assert all(each["items"] == ["Dispel Scroll"] for each in enemy.wizards)
    assert levels == {1000: [2], 2000: [2, 2], 3000: [4, 2]}


def test_the_enemy_may_be_a_roster_of_the_same_name() -> None:
    own = roster("Battle Wizard, level 2, 95", "10 Swordsmen, 70")
    scenario = import_roster(own, own).scenario
    assert scenario.caster.units == scenario.dispeller.units


def test_characters_on_foot_join_units() -> None:
    caster = import_roster(roster("Battle Wizard, level 2, 95", "20 Swordsmen, 1")).scenario.caster
    assert caster.wizards[0].unit == "Swordsmen"


def test_a_list_without_any_known_name_is_rejected() -> None:
    with pytest.raises(RosterError, match="expected units or characters of an army list"):
        import_roster(roster("20 Zzzz, 100 pts"))


def test_the_edition_is_taken_from_the_roster_or_the_option() -> None:
    lines = "Battle Wizard, level 2, 95"
    assert import_roster(roster(lines, title="Empire, 7th edition")).scenario.ruleset == "7e"
    assert import_roster(roster(lines), ruleset="7e").scenario.ruleset == "7e"
    assert import_roster(roster(lines)).scenario.ruleset == "6e"
