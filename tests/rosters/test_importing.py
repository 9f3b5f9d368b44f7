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


@pytest.mark.parametrize(
    ("listed", "spells"),
    [("1. Fire Ball, Burning Head", ["Fire Ball", "Burning Head"]),
     ("Healing Hand", ["Healing Hand"])],  # also the name of a prayer
)  # fmt: skip
def test_listed_spells_replace_the_lore(listed: str, spells: list[str]) -> None:
    (found,) = army_of(f"Battle Wizard, level 2, {listed}, 95 pts").wizards
    assert found["spells"] == spells
    assert "lore" not in found


def test_a_character_that_knows_only_certain_spells_has_these() -> None:
    result = import_roster(roster("Warlock Engineer, 45 pts", title="Skaven army"))
    (wizard,) = result.scenario.caster.wizards
    assert [each.name for each in wizard.candidate_spells] == ["Warp Lightning"]
    assert "assumed" not in result.army.findings[0].result


@pytest.mark.parametrize(
    ("lines", "dice"),
    [(["Warrior Priest, 95 pts"], {"Warrior Priest (1 dispel die)": 1}),
     ([f"Captain [60pts, {n} dispel dice]" for n in (1, 2)],
      {"Captain (1 dispel die)": 1, "Captain (2 dispel dice)": 2}),
     (["Captain, Icon 2 dispel dice, 60"], {"Icon 2 dispel dice of Captain (2 dispel dice)": 2})],
)  # fmt: skip
def test_dice_of_entries_become_items(lines: list[str], dice: dict[str, int]) -> None:
    army = import_roster(roster(*lines, "20 Swordsmen, 140 pts")).army
    assert army.own_items == [{"name": each, "dispel_dice": n} for each, n in dice.items()]


def test_an_item_with_dice_has_a_name_within_the_limit() -> None:
    army = import_roster(roster(f"Captain, Icon of {'A' * 90} 1 dispel dice, 60")).army
    assert all(len(each["name"]) <= MAX_NAME for each in army.own_items)
    assert army.own_items[0]["name"].endswith(" (1 dispel die)")


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


@pytest.mark.parametrize(
    ("items", "kept", "lost"),
    [("Armour of Righteousness", "Prayer: Armour of Righteousness", 0),
     ("2 Hammer of Sigmar", "Prayer: Hammer of Sigmar", 1),
     ("Ring of Flame, Hammer of Sigmar", "Ring of Flame", 1),
     ("Ring of Flame, Hammer of Sigmar, Healing Hand",
      "Prayers: Hammer of Sigmar, Healing Hand", 1)],
)  # fmt: skip
def test_a_character_keeps_one_item_with_bound_spells(items: str, kept: str, lost: int) -> None:
    result = import_roster(roster(f"Warrior Priest, {items}, 100 pts", "Battle Wizard, level 1"))
    (priest,) = result.scenario.caster.heroes
    assert priest.items == (kept, "Warrior Priest (1 dispel die)")
    left_out = [each.owner for each in result.army.findings if each.status == "left out"]
    assert left_out == ["Warrior Priest"] * lost


def test_unknown_names_are_reported_with_suggestions() -> None:
    army = army_of("Battle Wizard, level 1, Ring of Volans, Moon Staf, 60", "10 Swordsmans of X, 9")
    found = {each.entry: each for each in army.findings}
    assert found["Ring of Volans"].status == "unknown"
    assert "[[items]]" in found["Ring of Volans"].result
    assert found["10 Swordsmans of X"].result.endswith("profile Swordsmen, a similar name")


def test_weapons_mounts_and_command_are_ignored() -> None:
    lines = "Captain, lance, shield, warhorse, battle standard, 90", "20 Swordsmen, musician, 9"
    ignored = {each.entry for each in army_of(*lines).findings if each.status == "ignored"}
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


def test_the_typical_opponent_depends_on_the_points() -> None:
    levels = {}
    for points in (1000, 2000, 3000):
        enemy = import_roster(roster("Battle Wizard, level 2, 95", title=f"Empire {points}")).enemy
        levels[points] = [each["level"] for each in enemy.wizards]
        assert all(each["items"] == ["Dispel Scroll"] for each in enemy.wizards)
    assert levels == {1000: [2], 2000: [2, 2], 3000: [4, 2]}


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


def test_the_enemy_may_be_a_roster_of_the_same_name_units_and_items() -> None:
    own = roster("Warrior Priest, 95", "Battle Wizard, level 2, 95", "10 Swordsmen, 70")
    scenario = import_roster(own, own).scenario
    assert scenario.caster.units == scenario.dispeller.units
    assert [each.name for each in scenario.items] == ["Warrior Priest (1 dispel die)"]
    assert scenario.dispeller.heroes[0].items == scenario.caster.heroes[0].items


@pytest.mark.parametrize(
    ("lines", "left_out"),
    [(["Battle Wizard, level 1, general", "Battle Wizard, level 2, general"], ["Battle Wizard"]),
     (["Battle Wizard, level 1, general", "Captain, general"], ["Captain"]),
     (["2 Battle Wizard, level 1, general, 60"], [])],
)  # fmt: skip
def test_an_army_has_one_general(lines: list[str], left_out: list[str]) -> None:
    result = import_roster(roster(*lines))
    assert [each.general for each in result.scenario.caster.characters] == [True, False]
    found = [each.entry for each in result.army.findings if each.status == "left out"]
    assert found == left_out


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
