"""Wizards: units of Daemons that cast, models in base contact, random spells."""

import pytest

from tests.scenario.documents import BOYZ, HORRORS, WARD, Data, scenario, unit, wizard
from wfb_gym.scenario.army import ContactGroup

FIRE = {"lore": "Fire"}
CASTER = wizard(daemon_unit="Horrors")


ENEMIES = {"side": "enemy", "models": 2}
GUARDS = {**ENEMIES, "toughness": 5, "ward_save": 4, "points": 9}
TROLLS = unit(name="Trolls", models=4, toughness=5, wounds=3, points=50)
DAEMONS = {"wizards": [CASTER]}
HORROR = ContactGroup(0, 0, 3, 3, None, None, 15.0, 1)


@pytest.mark.parametrize(
    ("dispeller", "caster", "contacts"),
    [
        (  # listed models are taken as given
            {},
            {"wizards": [wizard(base_contact=[GUARDS])]},
            [ContactGroup(1, None, 2, 5, None, 4, 9.0, 1)],
        ),
        (  # models of a unit are like its others
            {"units": [BOYZ, TROLLS]},
            {"wizards": [wizard(base_contact=[{**ENEMIES, "unit": "Trolls"}])]},
            [ContactGroup(1, 1, 2, 5, 6, None, 50.0, 3)],
        ),
        (  # a character in a unit touches three models
            {},
            {"units": [BOYZ], "heroes": [{"name": "H", "unit": "Boyz"}]},
            [ContactGroup(0, 0, 3, 4, 6, None, 5.0, 1)],
        ),
        (
            {},
            {"units": [unit(models=2)], "heroes": [{"name": "H", "unit": "Boyz"}]},
            [ContactGroup(0, 0, 2, 4, 6, None, 5.0, 1)],
        ),
        (  # a list replaces the unit's models
            {},
            {
                "units": [BOYZ],
                "wizards": [wizard(unit="Boyz", base_contact=[{"side": "own", "models": 1}])],
            },
            [ContactGroup(0, None, 1, 3, None, None, 5.0, 1)],
        ),
        # the focal model of Daemons does not touch itself
        ({}, {"units": [HORRORS], **DAEMONS}, [HORROR]),
        ({}, {"units": [{**HORRORS, "models": 3}], **DAEMONS}, [HORROR._replace(models=2)]),
        ({}, {"units": [{**HORRORS, "models": 1}], **DAEMONS}, []),
        ({}, {"wizards": [wizard()]}, []),
        ({}, {"units": [BOYZ], "wizards": [wizard(unit="Boyz", status="dead")]}, []),
    ],
)
def test_models_in_base_contact(
    dispeller: Data, caster: Data, contacts: list[ContactGroup]
) -> None:
    assert list(scenario(dispeller, **caster).contacts_of(0, 0)) == contacts


def test_models_in_contact_with_the_second_army() -> None:
    battle = scenario({"units": [BOYZ], "heroes": [{"name": "H", "unit": "Boyz"}]})
    assert battle.contacts_of(1, 0) == (ContactGroup(1, 0, 3, 4, 6, None, 5.0, 1),)


def test_a_wizard_with_a_lore_rolls_his_spells_and_others_know_the_listed_ones() -> None:
    anna = scenario(wizards=[wizard(lore="Death", spells=[])]).caster.wizards[0]
    assert anna.rolls_spells
    assert anna.spells == ()
    names = [spell.name for spell in anna.candidate_spells]
    assert (len(names), names[0], names[5]) == (6, "Dark Hand of Death", "Doom and Darkness!")
    assert all(spell.lore == "Death" and spell.effect for spell in anna.candidate_spells)
    plain, listing = scenario(wizards=[wizard(), wizard(name="B", spells=[WARD])]).caster.wizards
    assert not plain.rolls_spells
    assert plain.candidate_spells == ()
    assert listing.candidate_spells == listing.spells


@pytest.mark.parametrize(
    ("keys", "drawn"),
    [
        ({"level": 1, **FIRE}, 1),
        ({"level": 3, **FIRE, "items": ["Silver Wand"]}, 4),
        ({"level": 4, **FIRE, "items": ["Silver Wand", "Spell Familiar"]}, 6),
        ({"level": 4, **FIRE, "items": ["Silver Wand", "Silver Wand", "Spell Familiar"]}, 6),
        ({"level": 2, "spells": [WARD], "items": ["Silver Wand"]}, 0),
    ],
)
def test_a_wizard_rolls_one_spell_a_level_and_those_of_his_items(keys: Data, drawn: int) -> None:
    battle = scenario(wizards=[wizard(**keys)])
    assert battle.spells_drawn(battle.caster.wizards[0]) == drawn
