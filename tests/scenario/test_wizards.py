"""Wizards: units of Daemons that cast, models in base contact, random spells."""

from typing import Any

import pytest

from wfb_gym.scenario import Scenario, ScenarioError, scenario_from_dict
from wfb_gym.scenario.army import ContactGroup
from wfb_gym.scenario.sizes import SPELLS

BOYZ = {"name": "Boyz", "models": 20, "toughness": 4, "armour_save": 6, "points": 5}
HORRORS = {"name": "Horrors", "models": 10, "toughness": 3, "points": 15, "traits": ["daemons"]}
WARD = {"name": "Ward", "casting_value": 7, "worth": 1, "duration": "remains_in_play"}


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


# --- Daemons -------------------------------------------------------------------------------


def test_a_unit_of_daemons_is_a_wizard() -> None:
    army = scenario(units=[HORRORS], wizards=[wizard(daemon_unit="Horrors", lore="Fire")]).caster
    assert army.unit_of(army.wizards[0]) is army.units[0]
    assert army.wizards[0].stands_in == "Horrors"


@pytest.mark.parametrize(
    ("key", "value", "found"),
    [
        ("wounds", 2, "2"),
        ("leadership", 8, "8"),
        ("points", 50, "50.0"),
        ("toughness", 3, "3"),
        ("armour_save", 5, "5"),
        ("ward_save", 5, "5"),
        ("profile", "Battle Wizard", '"Battle Wizard"'),
    ],
)
def test_a_unit_of_daemons_brings_its_own_values(key: str, value: object, found: str) -> None:
    daemon = wizard(daemon_unit="Horrors", **{key: value})
    assert refused(units=[HORRORS], wizards=[daemon]) == (
        f"scenario: caster.wizards[0].{key}: expected no value, as its unit of Daemons has it, "
        f"found {found}"
    )


def test_a_casting_unit_has_the_trait_daemons() -> None:
    assert refused(units=[BOYZ], wizards=[wizard(daemon_unit="Boyz")]) == (
        'scenario: caster.wizards[0].daemon_unit: expected a unit whose traits have "daemons", '
        'found "Boyz"'
    )


def test_a_unit_of_daemons_must_exist() -> None:
    assert refused(units=[HORRORS], wizards=[wizard(daemon_unit="Horors")]) == (
        "scenario: caster.wizards[0].daemon_unit: expected a unit of its army (did you mean "
        'Horrors?), found "Horors"'
    )


def test_a_unit_of_daemons_is_one_wizard() -> None:
    two = [wizard(daemon_unit="Horrors"), wizard(name="Berta", daemon_unit="Horrors")]
    assert refused(units=[HORRORS], wizards=two) == (
        "scenario: caster.wizards[1].daemon_unit: expected a unit that is no other wizard, "
        'found "Horrors"'
    )


def test_a_wizard_is_in_one_unit() -> None:
    both = wizard(daemon_unit="Horrors", unit="Boyz")
    assert refused(units=[HORRORS, BOYZ], wizards=[both]) == (
        'scenario: caster.wizards[0].unit: expected no value, as it is a unit itself, found "Boyz"'
    )


@pytest.mark.parametrize("status", ["dead", "off_table"])
def test_a_unit_of_daemons_is_on_the_table(status: str) -> None:
    daemon = wizard(daemon_unit="Horrors", status=status)
    assert refused(units=[HORRORS], wizards=[daemon]) == (
        'scenario: caster.wizards[0].status: expected "ready", "rallied" or "fleeing", as it is '
        f'a unit on the battlefield, found "{status}"'
    )


def test_a_unit_of_daemons_has_a_level_of_one_to_four() -> None:
    daemon = wizard(daemon_unit="Horrors", level=5)
    assert refused(units=[HORRORS], wizards=[daemon]) == (
        "scenario: caster.wizards[0].level: expected a whole number from 1 to 4, found 5"
    )


# --- base contact --------------------------------------------------------------------------


def test_listed_models_are_taken_as_given() -> None:
    group = {"side": "enemy", "models": 2, "toughness": 5, "ward_save": 4, "points": 9}
    battle = scenario(wizards=[wizard(base_contact=[group])])
    assert battle.contacts_of(0, 0) == (ContactGroup(1, None, 2, 5, None, 4, 9.0, 1),)


def test_models_of_a_unit_are_like_its_others() -> None:
    trolls = unit(name="Trolls", models=4, toughness=5, wounds=3, points=50)
    group = {"side": "enemy", "models": 2, "unit": "Trolls"}
    battle = scenario({"units": [BOYZ, trolls]}, wizards=[wizard(base_contact=[group])])
    assert battle.contacts_of(0, 0) == (ContactGroup(1, 1, 2, 5, 6, None, 50.0, 3),)


@pytest.mark.parametrize(("models", "touched"), [(20, 3), (2, 2)])
def test_a_character_in_a_unit_touches_three_models(models: int, touched: int) -> None:
    battle = scenario({"units": [unit(models=models)], "heroes": [{"name": "H", "unit": "Boyz"}]})
    assert battle.contacts_of(1, 0) == (ContactGroup(1, 0, touched, 4, 6, None, 5.0, 1),)


@pytest.mark.parametrize(("models", "touched"), [(10, 3), (3, 2)])
def test_the_focal_model_of_daemons_does_not_touch_itself(models: int, touched: int) -> None:
    horrors = {**HORRORS, "models": models}
    battle = scenario(units=[horrors], wizards=[wizard(daemon_unit="Horrors")])
    assert [group.models for group in battle.contacts_of(0, 0)] == [touched]


def test_the_last_daemon_touches_no_model() -> None:
    battle = scenario(units=[{**HORRORS, "models": 1}], wizards=[wizard(daemon_unit="Horrors")])
    assert battle.contacts_of(0, 0) == ()


def test_a_list_replaces_the_units_models() -> None:
    group = {"side": "own", "models": 1}
    battle = scenario(units=[BOYZ], wizards=[wizard(unit="Boyz", base_contact=[group])])
    assert [each.unit for each in battle.contacts_of(0, 0)] == [None]


def test_lone_or_dead_wizards_touch_no_model() -> None:
    dead = wizard(name="Berta", unit="Boyz", status="dead")
    battle = scenario(units=[BOYZ], wizards=[wizard(), dead])
    assert battle.contacts_of(0, 0) == battle.contacts_of(0, 1) == ()


@pytest.mark.parametrize(
    ("group", "message"),
    [
        (
            {"side": "own", "models": 1, "unit": "Boyz", "toughness": 4},
            "toughness: expected no value, as its unit has it, found 4",
        ),
        (
            {"side": "own", "models": 1, "unit": "Boyz", "points": 4},
            "points: expected no value, as its unit has it, found 4.0",
        ),
        (
            {"side": "own", "models": 1, "unit": "Boys"},
            'unit: expected a unit of its own army (did you mean Boyz?), found "Boys"',
        ),
        (
            {"side": "enemy", "models": 1, "unit": "Boyz"},
            'unit: expected a unit of the enemy army (there are none), found "Boyz"',
        ),
        (
            {"side": "own", "models": 8, "unit": "Boyz"},
            "models: expected at most 7, the number of models in the unit, found 8",
        ),
    ],
)
def test_models_in_contact_belong_to_their_unit(group: dict[str, Any], message: str) -> None:
    said = refused(units=[unit(models=7)], wizards=[wizard(base_contact=[group])])
    assert said == f"scenario: caster.wizards[0].base_contact[0].{message}"


# --- spells that are rolled ----------------------------------------------------------------


def test_a_wizard_with_a_lore_rolls_his_spells() -> None:
    anna = scenario(wizards=[wizard(lore="Death", spells=[])]).caster.wizards[0]
    assert anna.rolls_spells
    assert anna.spells == ()
    assert [spell.name for spell in anna.candidate_spells] == [
        "Dark Hand of Death",
        "Death Dealer",
        "Steal Soul",
        "Wind of Death",
        "Drain Life",
        "Doom and Darkness!",
    ]
    assert all(spell.lore == "Death" and spell.effect for spell in anna.candidate_spells)


def test_a_wizard_without_a_lore_knows_the_listed_spells() -> None:
    plain, listing = scenario(wizards=[wizard(), wizard(name="B", spells=[WARD])]).caster.wizards
    assert not plain.rolls_spells
    assert plain.candidate_spells == ()
    assert listing.candidate_spells == listing.spells


def test_a_lore_and_a_list_of_spells_exclude_each_other() -> None:
    assert refused(wizards=[wizard(lore="Fire", spells=[WARD])]) == (
        "scenario: caster.wizards[0].spells: expected no spells, as it rolls them on its lore, "
        "found 1 of them"
    )


def test_a_wizard_rolls_on_a_known_lore() -> None:
    assert refused(wizards=[wizard(lore="Fier")]) == (
        'scenario: caster.wizards[0].lore: expected a lore (did you mean Fire?), found "Fier"'
    )


@pytest.mark.parametrize(
    ("level", "items", "drawn"),
    [
        (1, [], 1),
        (3, ["Silver Wand"], 4),
        (4, ["Silver Wand", "Spell Familiar"], 6),
        (4, ["Silver Wand", "Silver Wand", "Spell Familiar"], 6),
    ],
)
def test_a_wizard_rolls_one_spell_a_level_and_those_of_his_items(
    level: int, items: list[str], drawn: int
) -> None:
    battle = scenario(wizards=[wizard(level=level, lore="Fire", items=items)])
    assert battle.spells_drawn(battle.caster.wizards[0]) == drawn


def test_a_wizard_with_listed_spells_rolls_none() -> None:
    battle = scenario(wizards=[wizard(items=["Silver Wand"], spells=[WARD])])
    assert battle.spells_drawn(battle.caster.wizards[0]) == 0


def test_a_wizard_who_rolls_takes_six_slots() -> None:
    rolling = [wizard(name=str(i), lore="Fire") for i in range(SPELLS // 6 + 1)]
    assert refused(wizards=rolling) == (
        f"scenario: caster.wizards: expected at most {SPELLS} spells in an army, six for a "
        f"wizard who rolls its spells, found {6 * len(rolling)}"
    )
