"""The mapping of single entries, the limits of scenarios, and the opponent."""

import pytest

from wfb_gym.rosters import ImportedArmy, RosterError, import_roster, map_roster, read_roster
from wfb_gym.rosters.roster import MAX_ENTRIES, Roster, RosterEntry
from wfb_gym.scenario.documents import parse_toml
from wfb_gym.scenario.fields import MAX_NAME
from wfb_gym.scenario.items import bundled_items
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


def test_a_character_that_knows_only_certain_spells_has_these() -> None:
    result = import_roster(roster("Warlock Engineer, 45 pts", title="Skaven army"))
    (wizard,) = result.scenario.caster.wizards
    assert [each.name for each in wizard.candidate_spells] == ["Warp Lightning"]
    assert "assumed" not in result.army.findings[0].result


def test_dice_of_unknown_entries_become_an_item() -> None:
    army = army_of("Warrior Priest, 95 pts", "20 Swordsmen, 140 pts")
    assert army.own_items == [{"name": "Warrior Priest (1 dispel die)", "dispel_dice": 1}]
    scenario = import_roster(roster("Warrior Priest, 95", "Battle Wizard, level 1, 60")).scenario
    assert scenario.caster.heroes[0].items == ("Warrior Priest (1 dispel die)",)


@pytest.mark.parametrize(
    "prayers",
    ["Prayer: Healing Hand, Prayer: Soulfire, Prayer: Hammer of Sigmar",
     "Prayers: Healing Hand, Soulfire, Hammer of Sigmar",
     "Hammer of Sigmar, Soulfire, Prayer: Healing Hand"],
)  # fmt: skip
def test_a_priest_has_one_of_its_prayers_in_each_phase(prayers: str) -> None:
    lines = f"Warrior Priest, {prayers}, 100 pts", "Battle Wizard, level 1, Fire, 60"
    result = import_roster(roster(*lines))
    (unknown,) = (each for each in result.army.findings if each.status == "unknown")
    assert unknown.entry.removeprefix("Prayer: ") == "Soulfire"
    assert "one of its prayers in each phase" in result.army.findings[0].result
    name = "Prayers: Hammer of Sigmar, Healing Hand"
    assert result.scenario.caster.heroes[0].items == (name, "Warrior Priest (1 dispel die)")
    bound = {each.name: each.bound for each in result.scenario.items}[name]
    assert bound is not None
    both = [bundled_items()[f"Prayer: {each}"].bound for each in name[9:].split(", ")]
    assert list(bound.choices) == [each.spell for each in both if each]


def test_a_single_prayer_is_the_bundled_item() -> None:
    army = army_of("Warrior Priest, Armour of Righteousness, 100 pts")
    assert "Prayer: Armour of Righteousness" in army.heroes[0]["items"]


@pytest.mark.parametrize(
    ("items", "kept"),
    [("2 Hammer of Sigmar", "Prayer: Hammer of Sigmar"),
     ("Ring of Flame, Hammer of Sigmar", "Ring of Flame"),
     ("Ring of Flame, Hammer of Sigmar, Healing Hand", "Prayers: Hammer of Sigmar, Healing Hand")],
)  # fmt: skip
def test_a_character_keeps_one_item_with_bound_spells(items: str, kept: str) -> None:
    result = import_roster(roster(f"Warrior Priest, {items}, 100 pts", "Battle Wizard, level 1"))
    (priest,) = result.scenario.caster.heroes
    assert priest.items == (kept, "Warrior Priest (1 dispel die)")
    (left_out,) = (each for each in result.army.findings if each.status == "left out")
    assert left_out.owner == "Warrior Priest"


def test_a_spell_with_the_name_of_a_prayer_is_a_spell_of_a_wizard() -> None:
    army = army_of("Battle Wizard, level 1, Healing Hand, 60 pts")
    assert army.wizards[0]["spells"] == ["Healing Hand"]


def test_unknown_names_are_reported_with_suggestions() -> None:
    army = army_of("Battle Wizard, level 1, Ring of Volans, Moon Staf, 60", "10 Swordsmans of X, 9")
    found = {each.entry: each for each in army.findings}
    assert found["Ring of Volans"].status == "unknown"
    assert "[[items]]" in found["Ring of Volans"].result
    assert found["10 Swordsmans of X"].status in ("unknown", "mapped")


def test_weapons_mounts_and_command_are_ignored() -> None:
    lines = "Captain, lance, shield, warhorse, battle standard, 90", "20 Swordsmen, musician, 9"
    army = army_of(*lines)
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


def test_two_armies_may_have_the_same_entry_with_dice() -> None:
    priest, wizard = "Warrior Priest, 95", "Battle Wizard, level 2, 95"
    scenario = import_roster(roster(priest, wizard), roster(priest)).scenario
    assert [each.name for each in scenario.items] == ["Warrior Priest (1 dispel die)"]
    assert scenario.dispeller.heroes[0].items == scenario.caster.heroes[0].items


def test_entries_of_the_same_name_may_have_different_dice() -> None:
    lines = [f"Captain [60pts, {n} dispel dice]" for n in (1, 2)]
    army = import_roster(roster(*lines, "20 Swordsmen, 100")).army
    found = {each["name"]: each["dispel_dice"] for each in army.own_items}
    assert found == {"Captain (1 dispel die)": 1, "Captain (2 dispel dice)": 2}


def test_dice_of_an_option_on_the_same_line_count_once() -> None:
    army = import_roster(roster("Captain, Icon 2 dispel dice, 60", "20 Swordsmen, 100")).army
    assert [each["dispel_dice"] for each in army.own_items] == [2]


def test_an_item_with_dice_has_a_name_within_the_limit() -> None:
    army = import_roster(roster(f"Captain, Icon of {'A' * 90} 1 dispel dice, 60")).army
    assert all(len(each["name"]) <= MAX_NAME for each in army.own_items)
    assert army.own_items[0]["name"].endswith(" (1 dispel die)")


@pytest.mark.parametrize(
    "lines",
    [["Battle Wizard, level 1, general, 60", "Battle Wizard, level 2, general, 95"],
     ["2 Battle Wizard, level 1, general, 60"]],
)  # fmt: skip
def test_an_army_has_one_general(lines: list[str]) -> None:
    wizards = import_roster(roster(*lines)).scenario.caster.wizards
    assert [each.general for each in wizards] == [True, False]


def test_the_second_general_of_a_list_is_reported() -> None:
    army = army_of("Battle Wizard, general, 60", "Captain, general, 50")
    assert [each.entry for each in army.findings if each.status == "left out"] == ["Captain"]


def test_an_army_of_thousands_of_characters_keeps_the_first() -> None:
    many = RosterEntry("Battle Wizard", number=4)
    army = map_roster(Roster("Mine", "", "Empire", 0.0, (many,) * MAX_ENTRIES))
    assert [each["name"] for each in army.wizards] == [
        "Battle Wizard", *(f"Battle Wizard {n}" for n in range(2, WIZARDS + 1))
    ]  # fmt: skip
    assert army.count("left out") == 4 * MAX_ENTRIES - WIZARDS


def test_the_name_of_a_file_is_cleaned() -> None:
    for name in ("\x1b[31mred\x7f", '"""\n[caster]\nname = "x"', "x" * 300):
        result = import_roster(read_roster(b"Battle Wizard, 60 pts", name))
        assert result.army.name.isprintable()
        assert parse_toml(result.toml, "x")["caster"]["name"] == result.army.name


def test_a_problem_with_the_limits_is_one_line() -> None:
    icons = [f"Captain, Icon {n}00 dispel dice, 60" for n in range(1, 5)]
    with pytest.raises(RosterError, match="within the limits") as error:
        import_roster(roster(*icons * 2, *(["Battle Wizard, Icon 9 dispel dice"] * 2)))
    assert len(str(error.value).splitlines()) == 1
