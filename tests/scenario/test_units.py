"""Units, characters and their relations."""

from typing import Any

import pytest

from wfb_gym.scenario import Scenario, ScenarioError, scenario_from_dict

BOYZ = {"name": "Boyz", "models": 20, "toughness": 4, "armour_save": 6, "points": 5}


def scenario(dispeller: dict[str, Any] | None = None, **caster: Any) -> Scenario:
    data = {"name": "test", "caster": caster, "dispeller": dispeller or {}}
    read = scenario_from_dict(data)
    assert scenario_from_dict(read.model_dump()) == read
    return read


def refused(dispeller: dict[str, Any] | None = None, **caster: Any) -> str:
    """Return the error for a scenario with one fault."""
    with pytest.raises(ScenarioError) as caught:
        scenario_from_dict({"name": "test", "caster": caster, "dispeller": dispeller or {}})
    assert len(caught.value.problems) == 1, str(caught.value)
    return str(caught.value)


def wizard(**changes: Any) -> dict[str, Any]:
    return {"name": "Anna", "level": 2, **changes}


def unit(**changes: Any) -> dict[str, Any]:
    return {**BOYZ, **changes}


# --- units ---------------------------------------------------------------------------------


def test_a_unit_has_its_defaults() -> None:
    boyz = scenario(units=[BOYZ]).caster.units[0]
    assert (boyz.wounds, boyz.ward_save, boyz.profile) == (1, None, None)
    assert (boyz.frontage, boyz.base, boyz.troop) == (5, (20.0, 20.0), "infantry")
    assert (boyz.position, boyz.facing, boyz.traits) == (None, 0.0, ())
    assert not any((boyz.skirmish, boyz.in_combat, boyz.fleeing, boyz.magic_item))
    assert boyz.magic_resistance == 0


@pytest.mark.parametrize(
    ("troop", "base", "frontage"),
    [
        ("infantry", (20.0, 20.0), 5),
        ("cavalry", (25.0, 50.0), 5),
        ("chariot", (50.0, 100.0), 1),
        ("monster", (50.0, 50.0), 1),
        ("war_machine", (50.0, 50.0), 1),
        ("swarm", (40.0, 40.0), 5),
    ],
)
def test_base_and_frontage_follow_the_troop_type(
    troop: str, base: tuple[float, float], frontage: int
) -> None:
    boyz = scenario(units=[unit(troop=troop)]).caster.units[0]
    assert (boyz.base, boyz.frontage) == (base, frontage)


def test_a_given_base_and_frontage_are_kept() -> None:
    boyz = scenario(units=[unit(troop="monster", base=[40, 60], frontage=3)]).caster.units[0]
    assert (boyz.base, boyz.frontage) == ((40.0, 60.0), 3)


def test_a_small_unit_is_one_rank() -> None:
    assert scenario(units=[unit(models=3)]).caster.units[0].frontage == 3


def test_the_front_rank_has_no_more_models_than_the_unit() -> None:
    assert refused(units=[unit(models=3, frontage=4)]) == (
        "scenario: caster.units[0].frontage: expected at most 3, the number of models in the unit, "
        "found 4"
    )


def test_a_fleeing_unit_is_not_in_combat() -> None:
    assert refused(units=[unit(fleeing=True, in_combat=True)]) == (
        "scenario: caster.units[0].in_combat: expected false, as a fleeing unit is not in close "
        "combat, found true"
    )


@pytest.mark.parametrize(
    ("key", "value", "expected", "found"),
    [
        ("magic_resistance", 4, "a whole number from 0 to 3", "4"),
        ("wounds", -1, "a whole number from 1 to 10", "-1"),
        ("leadership", 11, "a whole number from 2 to 10", "11"),
        ("position", [1], "two numbers from -1000 to 1000", "[1]"),
        ("position", [1, "2"], "two numbers from -1000 to 1000", "a list"),
        ("base", [0, 20], "two numbers from 1 to 400", "[0, 20]"),
        ("facing", 400, "a number from -360 to 360", "400"),
        ("fleeing", 1, "true or false", "1"),
        (
            "troops",
            "cavalry",
            "a known key (did you mean troop?)",
            'unknown key "troops"',
        ),
    ],
)
def test_a_wrong_value_of_a_unit_gives_an_error(
    key: str, value: object, expected: str, found: str
) -> None:
    message = f"scenario: caster.units[0].{key}: expected {expected}, found {found}"
    assert refused(units=[unit(**{key: value})]) == message


def test_only_known_troop_types_and_traits() -> None:
    assert '"war_machine" or "swarm", found "character"' in refused(units=[unit(troop="character")])
    message = refused(units=[unit(traits=["wet"])])
    assert message.startswith('scenario: caster.units[0].traits[0]: expected "undead"')


def test_an_army_has_at_most_ten_units() -> None:
    units = [unit(name=str(i)) for i in range(11)]
    assert len(scenario(units=units[:10]).caster.units) == 10
    assert refused(units=units) == (
        "scenario: caster.units: expected at most 10 entries, found more: 11"
    )


def test_leadership_is_given_or_from_the_profile_or_seven() -> None:
    goblins = {"profile": "Goblins", "models": 20}
    army = scenario(
        units=[goblins, {**goblins, "name": "Brave", "leadership": 8}, unit()],
        wizards=[wizard(), wizard(name="Berta", profile="Wizard Lord", level=3)],
        heroes=[{"profile": "Captain", "leadership": 9}],
    ).caster
    assert [each.leadership for each in army.units] == [6, 8, 7]
    assert [each.leadership for each in army.characters] == [7, 8, 9]


def test_an_army_has_at_most_one_general() -> None:
    karl = {"name": "Karl", "general": True}
    assert refused(wizards=[wizard(general=True)], heroes=[karl]) == (
        "scenario: caster.heroes[0].general: expected false, as Anna is the general, found true"
    )
    anna = scenario(wizards=[wizard(general=True)]).caster.wizards[0]
    assert anna.general


# --- characters ----------------------------------------------------------------------------


def test_characters_are_wizards_then_runesmiths_then_heroes() -> None:
    army = scenario(
        heroes=[{"name": "Hero"}], runesmiths=[{"name": "Smith"}], wizards=[wizard()]
    ).caster
    assert [who.name for who in army.characters] == ["Anna", "Smith", "Hero"]
    assert [key for key, _ in army.keyed_characters()] == [
        "wizards[0]",
        "runesmiths[0]",
        "heroes[0]",
    ]


def test_a_character_has_his_defaults() -> None:
    hero = scenario(heroes=[{"name": "Hero"}]).caster.heroes[0]
    assert (hero.base, hero.troop, hero.facing) == ((20.0, 20.0), "character", 0.0)
    assert (hero.unit, hero.position, hero.traits) == (None, None, ())
    assert hero.magic_resistance == 0


def test_a_mounted_character_has_the_base_of_his_mount() -> None:
    hero = scenario(heroes=[{"name": "Hero", "troop": "monster"}]).caster.heroes[0]
    assert hero.base == (50.0, 50.0)


def test_an_army_has_at_most_six_characters() -> None:
    heroes = [{"name": str(i)} for i in range(7)]
    assert len(scenario(heroes=heroes[:6]).caster.characters) == 6
    assert refused(heroes=heroes) == (
        "scenario: caster.heroes: expected at most 6 wizards, Runesmiths, Runelords and heroes, "
        "found 7"
    )


def test_heroes_know_neither_spells_nor_levels() -> None:
    message = refused(heroes=[{"name": "Hero", "level": 2}])
    assert message.endswith('found unknown key "level"')


@pytest.mark.parametrize(
    ("army", "key"),
    [
        ({"units": [BOYZ, BOYZ]}, "units[1].name"),
        ({"units": [BOYZ], "wizards": [wizard(name="Boyz")]}, "units[0].name"),
        ({"wizards": [wizard()], "heroes": [{"name": "Anna"}]}, "heroes[0].name"),
    ],
)
def test_units_and_characters_share_one_set_of_names(army: dict[str, Any], key: str) -> None:
    name = "Anna" if "heroes" in army else "Boyz"
    assert refused(**army) == (
        f"scenario: caster.{key}: expected a name of its own, as each unit and character of an "
        f'army has, found "{name}"'
    )


def test_two_armies_may_use_one_name() -> None:
    both = scenario({"units": [BOYZ]}, units=[BOYZ])
    assert both.caster.units[0].name == both.dispeller.units[0].name


def test_a_character_joins_a_unit_of_his_army() -> None:
    assert refused({"units": [BOYZ]}, wizards=[wizard(unit="Boyz")]) == (
        "scenario: caster.wizards[0].unit: expected a unit of its army (there are none), "
        'found "Boyz"'
    )
    army = scenario(units=[BOYZ], wizards=[wizard(unit="Boyz")]).caster
    assert army.unit_of(army.wizards[0]) is army.units[0]
    assert army.companions(army.units[0]) == (army.wizards[0],)


def test_a_character_flees_with_his_unit() -> None:
    fleeing = unit(fleeing=True)
    army = scenario(units=[fleeing], wizards=[wizard(unit="Boyz", status="fleeing")]).caster
    assert army.wizards[0].is_fleeing
    assert refused(units=[fleeing], wizards=[wizard(unit="Boyz")]) == (
        'scenario: caster.wizards[0].status: expected "fleeing", as its unit flees, found "ready"'
    )
    assert refused(units=[BOYZ], wizards=[wizard(unit="Boyz", status="fleeing")]) == (
        "scenario: caster.wizards[0].status: expected another, as its unit does not flee, "
        'found "fleeing"'
    )


def test_the_dead_do_not_flee_with_their_unit() -> None:
    army = scenario(units=[unit(fleeing=True)], wizards=[wizard(unit="Boyz", status="dead")]).caster
    assert not army.wizards[0].is_fleeing
    assert army.companions(army.units[0]) == ()


def test_characters_off_the_table_are_in_no_unit() -> None:
    assert refused(units=[BOYZ], wizards=[wizard(unit="Boyz", status="off_table")]) == (
        'scenario: caster.wizards[0].unit: expected no unit, as it is off the table, found "Boyz"'
    )


def test_a_fleeing_character_is_not_in_combat() -> None:
    assert refused(wizards=[wizard(status="fleeing", in_combat=True)]) == (
        "scenario: caster.wizards[0].in_combat: expected false, as a fleeing model is not in "
        "close combat, found true"
    )


@pytest.mark.parametrize(
    ("of_unit", "of_wizard", "of_other"),
    [(True, False, False), (False, True, False), (False, False, True)],
)
def test_a_unit_and_those_in_it_fight_together(
    of_unit: bool, of_wizard: bool, of_other: bool
) -> None:
    army = scenario(
        units=[unit(in_combat=of_unit), unit(name="Others")],
        wizards=[
            wizard(unit="Boyz", in_combat=of_wizard),
            wizard(name="Berta", unit="Boyz", in_combat=of_other),
            wizard(name="Carla"),
        ],
    ).caster
    assert [army.is_engaged(each) for each in army.units] == [True, False]
    assert [army.is_engaged(who) for who in army.characters] == [True, True, False]


def test_a_lone_character_may_fight() -> None:
    army = scenario(wizards=[wizard(in_combat=True), wizard(name="Berta")]).caster
    assert [army.is_engaged(who) for who in army.wizards] == [True, False]
