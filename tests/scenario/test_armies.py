"""The bundled army lists, and the battles between them."""

from collections.abc import Iterator
from functools import cache

import pytest

from tests.support.armies import army_cost, check_combats, people_of
from wfb_gym.scenario import bundled_scenarios, load_scenario
from wfb_gym.scenario.army import Army
from wfb_gym.scenario.items import bundled_items
from wfb_gym.scenario.profiles import (
    CharacterProfile,
    UnitProfile,
    army_list,
    bundled_armies,
    character_profiles,
    unit_profiles,
)
from wfb_gym.scenario.scenario import Scenario
from wfb_gym.scenario.spells import RULEBOOK_LORES, rolled_lores
from wfb_gym.scenario.units import IMMUNE_TO_PANIC

TEACHING = "border-skirmish"
LARGEST = "the-winds-unbound"
SMALL = (
    TEACHING, "ford-of-the-green-lady", "horrors-in-the-mist",
    "redhorn-pass", "the-crooked-mile", "tower-of-the-nine-panes",
)  # fmt: skip
LARGE = (
    "battle-of-black-gorge", "dawn-at-grimmwald", "march-of-the-pale-count",
    "the-iron-tide", "the-shattered-gate", LARGEST,
)  # fmt: skip
LIMITS = dict.fromkeys(SMALL, 1000) | dict.fromkeys(LARGE, 2000)
"""Points of each side."""


@cache
def battles() -> tuple[Scenario, ...]:
    return tuple(load_scenario(name) for name in LIMITS)


def armies() -> Iterator[tuple[Scenario, Army]]:
    for scenario in battles():
        for army in scenario.armies:
            yield scenario, army


def carried() -> set[str]:
    return {
        name
        for _, army in armies()
        for names in (army.items, *(who.items for who in army.characters))
        for name in names
    }


@pytest.mark.parametrize("name", bundled_armies())
def test_every_profile_has_a_source(name: str) -> None:
    people = army_list(name)
    assert people.source.startswith("BS: ")
    assert people.units
    assert people.characters
    rows: list[UnitProfile | CharacterProfile] = [*people.units, *people.characters]
    for row in rows:
        sourced, _, ours = row.source.partition("; ours: ")
        assert sourced == "BS", row.name
        assert ours or "ours" not in row.source, row.name


UNITS = {
    "Halberdiers": (6, 3, 1), "Swordsmen": (7, 3, 1), "Handgunners": (8, 3, 1),
    "Greatswords": (12, 3, 1), "Knightly Orders": (23, 3, 1), "Flagellants": (11, 4, 1),
    "High Elf Spearmen": (11, 3, 1), "Orc Boyz": (5, 4, 1), "Goblins": (2, 3, 1),
    "Trolls": (50, 4, 3), "Chaos Knights": (33, 4, 1), "Horrors": (15, 3, 1),
    "Clanrats": (5, 3, 1), "Skeletons": (8, 3, 1), "Men-at-Arms": (5, 3, 1),
    "Knights of the Realm": (24, 3, 1),
}  # fmt: skip
"""Points, Toughness and Wounds."""
COSTS = {
    "Battle Wizard": {1: 60, 2: 95}, "Wizard Lord": {3: 175, 4: 210}, "Mage": {1: 95, 2: 130},
    "Archmage": {3: 220, 4: 255}, "Orc Shaman": {1: 65, 2: 100},
    "Orc Great Shaman": {3: 180, 4: 215}, "Goblin Shaman": {1: 55, 2: 90},
    "Necromancer": {1: 65, 2: 100}, "Master Necromancer": {3: 185, 4: 220},
    "Damsel of the Lady": {1: 70, 2: 105}, "Prophetess of the Lady": {3: 190, 4: 225},
    "Exalted Sorcerer of Chaos": {3: 235, 4: 270},
}  # fmt: skip
"""Points of wizards by level."""


def test_profiles_of_units_and_costs_of_wizards() -> None:
    units = {name: unit_profiles()[name] for name in UNITS}
    assert {name: (u.points, u.toughness, u.wounds) for name, u in units.items()} == UNITS
    for name, costs in COSTS.items():
        found = {level: character_profiles()[name].points_at(level) for level in range(1, 5)}
        assert found == {level: costs.get(level) for level in range(1, 5)}, name


def test_profiles_have_the_values_for_generated_armies() -> None:
    for unit in unit_profiles().values():
        assert 1 <= unit.min_models <= unit.max_models, unit.name
    for who in character_profiles().values():
        assert bool(who.lores) == (who.kind == "wizard"), who.name
        assert set(who.lores) <= set(rolled_lores()), who.name
        assert not who.lores or set(who.lores) & set(RULEBOOK_LORES), who.name
        assert isinstance(who.points, dict) == (who.kind == "wizard"), who.name
    for name in bundled_armies():
        assert any(unit.slot == "core" for unit in army_list(name).units), name


@pytest.mark.parametrize(("leadership", "names"), [
    (3, ["Skeletons"]), (4, ["Trolls"]), (5, ["Clanrats", "Night Goblins", "Men-at-Arms"]),
    (7, ["Halberdiers", "Orc Boyz", "Battle Wizard"]),
    (8, ["Greatswords", "High Elf Spearmen", "Chaos Warriors", "Captain", "Wizard Lord"]),
    (9, ["Dwarf Warriors"]), (10, ["Flagellants", "Dwarf Lord"]),
])  # fmt: skip
def test_leadership_of_profiles(leadership: int, names: list[str]) -> None:
    profiles = unit_profiles() | character_profiles()
    assert {name: profiles[name].leadership for name in names} == dict.fromkeys(names, leadership)


def test_units_without_panic_tests() -> None:
    """Undead and Daemons, and single units of other armies."""
    for army in bundled_armies():
        immune = {unit.name for unit in army_list(army).units if IMMUNE_TO_PANIC & {*unit.traits}}
        everybody = {unit.name for unit in army_list(army).units}
        assert immune == {
            "daemons": everybody,
            "vampire-counts": everybody - {"Ghouls"},
            "bretonnia": {"Grail Knights"},
            "dwarfs": {"Longbeards", "Troll Slayers"},
            "empire": {"Flagellants"},
            "orcs-and-goblins": {"Savage Orc Boyz", "Snotlings"},
            "skaven": {"Plague Monks", "Plague Censer Bearers", "Rat Swarm"},
            "warriors-of-chaos": {"Spawn of Chaos"},
        }.get(army, set()), army


def test_daemons_have_no_ward_save_against_spells() -> None:
    daemons = [unit for unit in unit_profiles().values() if "daemons" in unit.traits]
    assert len(daemons) == len(army_list("daemons").units)
    assert {unit.ward_save for unit in daemons} == {None}


def test_every_bundled_battle_is_tested_here() -> None:
    fought = {name for name in bundled_scenarios() if load_scenario(name).battlefield is not None}
    assert fought == set(LIMITS)


@pytest.mark.parametrize("name", LIMITS)
def test_armies_are_of_one_people_in_units_of_their_size_and_fit_their_points(name: str) -> None:
    scenario = load_scenario(name)
    for army in scenario.armies:
        assert 0.95 * LIMITS[name] <= army_cost(scenario, army) <= LIMITS[name], army.name
        people_of(army)
        for unit in army.units:
            profile = unit_profiles()[str(unit.profile)]
            assert profile.min_models <= unit.models <= profile.max_models, unit.name


def test_battles_are_whole_ones_with_fronts_away_from_the_long_edges() -> None:
    assert load_scenario(TEACHING).phases == 6
    for scenario in battles():
        if LIMITS[scenario.name] == 2000:
            assert scenario.phases == 12
        elif scenario.name != TEACHING:
            assert 8 <= scenario.phases <= 12
        field = scenario.battlefield
        assert field is not None
        assert (field.width, field.depth) == (72.0, 48.0)
        assert field.terrain
        for army in scenario.armies:
            placed = [unit.position for unit in army.units]
            placed += [who.position for who in army.characters if who.stands_in is None]
            assert all(place and 12.0 <= place[1] <= 36.0 for place in placed)


@pytest.mark.parametrize("name", LIMITS)
def test_units_in_combat_touch_an_enemy_and_no_others_do(name: str) -> None:
    scenario = load_scenario(name)
    check_combats(scenario)
    assert sum(unit.in_combat for army in scenario.armies for unit in army.units) >= 2


@pytest.mark.parametrize("name", LIMITS)
def test_every_wizard_has_a_target(name: str) -> None:
    scenario = load_scenario(name)
    for side, army in enumerate(scenario.armies):
        for index, wizard in enumerate(army.wizards):
            effects = [spell.effect for spell in wizard.candidate_spells if spell.effect]
            verdicts = [scenario.aim(side, index, effect).verdicts() for effect in effects]
            assert any(verdict.legal for each in verdicts for verdict in each), wizard.name


def test_all_lores_of_the_rulebook_are_cast() -> None:
    known = [spell for _, army in armies() for who in army.wizards for spell in who.spells]
    assert {spell.lore for spell in known} - {None} == set(RULEBOOK_LORES)


WITHOUT_BEARER = {"Darkstar Cloak", "Seal of Ghrond"}
"""Older items that no bundled army has; these are of the Dark Elves, who have no army list."""


def test_items_of_the_armies_are_used() -> None:
    """Every item up to Storm Stone, the last one before the items added for own scenarios."""
    names = list(bundled_items())
    older = set(names[: names.index("Storm Stone") + 1])
    assert older - carried() == WITHOUT_BEARER


def test_dwarfs_bring_runes_and_units_of_daemons_cast() -> None:
    throngs = [army for _, army in armies() if army.dwarf]
    assert {rune.rank for army in throngs for rune in army.runesmiths} == {"runesmith", "runelord"}
    for army in throngs:
        assert len(army.runesmiths) >= 2
        assert all(who.items and "Rune" in who.items[0] for who in army.runesmiths)
        assert not army.wizards
    casting = {
        (scenario.name, scenario.miscast_table_of(army, wizard))
        for scenario, army in armies()
        for wizard in army.wizards
        if wizard.daemon_unit is not None
    }
    assert casting == {("horrors-in-the-mist", "daemons"), ("the-shattered-gate", "daemons")}


def test_editions_magic_resistance_bound_and_rolled_spells_occur() -> None:
    assert {scenario.ruleset for scenario in battles()} == {"6e", "7e"}
    assert {unit.magic_resistance for _, army in armies() for unit in army.units} == {0, 1, 2}
    assert {who.magic_resistance for _, army in armies() for who in army.characters} == {0, 1, 2}
    catalogue = battles()[0].catalogue
    bound = {name for name in carried() if catalogue[name].bound is not None}
    assert bound == {"Ring of Flame", "Storm Stone"}
    rolls = {scenario.name for scenario, army in armies() for who in army.wizards if who.lore}
    assert len(rolls) >= 3


def test_the_largest_uses_the_whole_capacity() -> None:
    scenario = load_scenario(LARGEST)
    for army in scenario.armies:
        assert len(army.units) == 10
        assert len(army.characters) == 6
        items = [scenario.catalogue[name] for who in army.characters for name in who.items]
        bound = sum(item.bound is not None for item in items)
        assert sum(len(wizard.candidate_spells) for wizard in army.wizards) + bound == 24
        assert sum(len(set(who.items)) for who in army.characters) == 8
