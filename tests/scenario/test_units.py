"""Units, wizards and other characters, their relations and places."""

from typing import Any

import pytest

from tests.scenario.documents import BOYZ, HORRORS, WARD, Data, scenario, unit, wizard
from wfb_gym.scenario import Scenario
from wfb_gym.scenario.army import ContactGroup
from wfb_gym.scenario.battlefield import Battlefield


@pytest.mark.parametrize(("troop", "base", "frontage"), [
    ("infantry", (20.0, 20.0), 5), ("cavalry", (25.0, 50.0), 5), ("chariot", (50.0, 100.0), 1),
    ("monster", (50.0, 50.0), 1), ("war_machine", (50.0, 50.0), 1), ("swarm", (40.0, 40.0), 5),
])  # fmt: skip
def test_base_and_frontage_follow_the_troop_type(
    troop: str, base: tuple[float, float], frontage: int
) -> None:
    boyz = scenario(units=[unit(troop=troop)]).caster.units[0]
    assert (boyz.base, boyz.frontage) == (base, frontage)


def test_a_given_base_and_frontage_are_kept_and_a_small_unit_is_one_rank() -> None:
    boyz = scenario(units=[unit(troop="monster", base=[40, 60], frontage=3)]).caster.units[0]
    assert (boyz.base, boyz.frontage) == ((40.0, 60.0), 3)
    assert scenario(units=[unit(models=3)]).caster.units[0].frontage == 3


def test_leadership_is_given_or_from_the_profile_or_seven() -> None:
    goblins = {"profile": "Goblins", "models": 20}
    army = scenario(
        units=[goblins, {**goblins, "name": "Brave", "leadership": 8}, unit()],
        wizards=[wizard(), wizard(name="Berta", profile="Wizard Lord", level=3)],
        heroes=[{"profile": "Captain", "leadership": 9}],
    ).caster
    assert [each.leadership for each in army.units] == [6, 8, 7]
    assert [each.leadership for each in army.characters] == [7, 8, 9]


def test_characters_are_wizards_then_runesmiths_then_heroes() -> None:
    heroes, smiths, wizards = [{"name": "Hero"}], [{"name": "Smith"}], [wizard(general=True)]
    army = scenario(heroes=heroes, runesmiths=smiths, wizards=wizards).caster
    assert [who.name for who in army.characters] == ["Anna", "Smith", "Hero"]
    assert [who.general for who in army.characters] == [True, False, False]
    keys = [key for key, _ in army.keyed_characters()]
    assert keys == ["wizards[0]", "runesmiths[0]", "heroes[0]"]


def test_a_mounted_character_has_the_base_of_his_mount() -> None:
    hero = scenario(heroes=[{"name": "Hero", "troop": "monster"}]).caster.heroes[0]
    assert hero.base == (50.0, 50.0)


@pytest.mark.parametrize(("status", "is_fleeing"), [("fleeing", True), ("dead", False)])
def test_all_but_the_dead_flee_with_their_unit(status: str, is_fleeing: bool) -> None:
    fleeing = unit(fleeing=True)
    army = scenario(units=[fleeing], wizards=[wizard(unit="Boyz", status=status)]).caster
    assert army.wizards[0].is_fleeing == is_fleeing
    assert army.companions(army.units[0]) == (army.wizards[:1] if is_fleeing else ())


@pytest.mark.parametrize("fighter", ["Boyz", "Anna", "Berta"])
def test_a_unit_and_those_in_it_fight_together(fighter: str) -> None:
    army = scenario(
        units=[unit(in_combat=fighter == "Boyz"), unit(name="Others")],
        wizards=[
            wizard(unit="Boyz", in_combat=fighter == "Anna"),
            wizard(name="Berta", unit="Boyz", in_combat=fighter == "Berta"),
            wizard(name="Carla"),
            wizard(name="Dora", in_combat=True),
        ],
    ).caster
    assert [army.is_engaged(each) for each in army.units] == [True, False]
    assert [army.is_engaged(who) for who in army.characters] == [True, True, False, True]


ENEMIES, OWN = {"side": "enemy", "models": 2}, {"side": "own", "models": 1}
GUARDS = {**ENEMIES, "toughness": 5, "ward_save": 4, "points": 9}
TROLLS = unit(name="Trolls", models=4, toughness=5, wounds=3, points=50)
HERO = {"heroes": [{"name": "H", "unit": "Boyz"}]}
DAEMONS = {"wizards": [wizard(daemon_unit="Horrors")]}
BOY = ContactGroup(0, 0, 3, 4, 6, None, 5.0, 1)
HORROR = ContactGroup(0, 0, 3, 3, None, None, 15.0, 1)


@pytest.mark.parametrize(("dispeller", "caster", "contacts"), [
    # listed models are taken as given
    ({}, {"wizards": [wizard(base_contact=[GUARDS])]},
     [ContactGroup(1, None, 2, 5, None, 4, 9.0, 1)]),
    # models of a unit are like its others
    ({"units": [BOYZ, TROLLS]}, {"wizards": [wizard(base_contact=[{**ENEMIES, "unit": "Trolls"}])]},
     [ContactGroup(1, 1, 2, 5, 6, None, 50.0, 3)]),
    # a character in a unit touches three models
    ({}, {"units": [BOYZ], **HERO}, [BOY]),
    ({}, {"units": [unit(models=2)], **HERO}, [BOY._replace(models=2)]),
    # a list replaces the unit's models
    ({}, {"units": [BOYZ], "wizards": [wizard(unit="Boyz", base_contact=[OWN])]},
     [ContactGroup(0, None, 1, 3, None, None, 5.0, 1)]),
    # the focal model of Daemons does not touch itself
    ({}, {"units": [HORRORS], **DAEMONS}, [HORROR]),
    ({}, {"units": [{**HORRORS, "models": 3}], **DAEMONS}, [HORROR._replace(models=2)]),
    ({}, {"units": [{**HORRORS, "models": 1}], **DAEMONS}, []),
    ({}, {"wizards": [wizard()]}, []),
    ({}, {"units": [BOYZ], "wizards": [wizard(unit="Boyz", status="dead")]}, []),
])  # fmt: skip
def test_models_in_base_contact(
    dispeller: Data, caster: Data, contacts: list[ContactGroup]
) -> None:
    assert list(scenario(dispeller, **caster).contacts_of(0, 0)) == contacts


def test_models_in_contact_with_the_second_army() -> None:
    battle = scenario({"units": [BOYZ], **HERO})
    assert battle.contacts_of(1, 0) == (ContactGroup(1, 0, 3, 4, 6, None, 5.0, 1),)


FIRE = {"lore": "Fire"}


@pytest.mark.parametrize(("keys", "drawn"), [
    ({"level": 1, **FIRE}, 1),
    ({"level": 3, **FIRE, "items": ["Silver Wand"]}, 4),
    ({"level": 4, **FIRE, "items": ["Silver Wand", "Spell Familiar"]}, 6),
    ({"level": 4, **FIRE, "items": ["Silver Wand", "Silver Wand", "Spell Familiar"]}, 6),
    ({"level": 2, "spells": [WARD], "items": ["Silver Wand"]}, 0),
])  # fmt: skip
def test_a_wizard_rolls_one_spell_a_level_and_those_of_his_items(keys: Data, drawn: int) -> None:
    battle = scenario(wizards=[wizard(**keys)])
    assert battle.spells_drawn(battle.caster.wizards[0]) == drawn


FIELD = {"width": 72.0, "depth": 48}
WOOD = {"name": "Old Wood", "kind": "wood", "position": [20, 24], "size": [8, 6]}


def on_field(terrain: tuple[Data, ...] = (), **caster: Any) -> Scenario:
    return scenario(keys={"battlefield": {**FIELD, "terrain": list(terrain)}}, **caster)


@pytest.mark.parametrize(("keys", "blocks"), [
    ({"kind": "wood"}, True), ({"kind": "hill"}, True), ({"kind": "ruins"}, True),
    ({"kind": "building"}, True), ({"kind": "water"}, False), ({"kind": "wall"}, False),
    ({"kind": "rocks"}, False), ({"kind": "wood", "blocks_sight": False}, False),
])  # fmt: skip
def test_blocking_of_sight_follows_from_the_kind_unless_it_is_given(
    keys: Data, blocks: bool
) -> None:
    field = on_field(({**WOOD, **keys},)).battlefield
    assert isinstance(field, Battlefield)
    assert field.terrain[0].blocks_sight is blocks


@pytest.mark.parametrize(("army", "place"), [
    ({"units": [unit(position=[30, 20.5])]}, (30.0, 20.5)),
    ({"wizards": [wizard(position=[30, 20])]}, (30.0, 20.0)),
    ({"units": [unit(position=[30, 20])], "wizards": [wizard(unit="Boyz")]}, None),
    ({"wizards": [wizard(status="dead")]}, None),
])  # fmt: skip
def test_pieces_have_a_position_unless_they_are_in_a_unit_or_off_the_table(
    army: Data, place: tuple[float, float] | None
) -> None:
    read = on_field(**army).caster
    positions = [unit.position for unit in read.units] + [who.position for who in read.wizards]
    assert positions[-1] == place
