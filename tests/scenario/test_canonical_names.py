"""Accepted spellings: names in any case, texts in place of tables, x and y."""

from typing import Any

import pytest

from tests.scenario.documents import BOYZ, Data, scenario
from wfb_gym.scenario import Scenario, ScenarioError, scenario_from_dict


def read(caster: Data, **keys: Any) -> Scenario:
    return scenario({"units": [BOYZ]}, keys=keys, **caster)


def wizard(**keys: Any) -> Data:
    return {"wizards": [{"name": "Anna", "level": 2, **keys}]}


@pytest.mark.parametrize("lore", ["FIRE", "Lore of Fire", "the lore of  fire"])
def test_lores_in_any_case(lore: str) -> None:
    assert read(wizard(lore=lore)) == read(wizard(lore="Fire"))
    entry = {"name": "Fire Ball", "lore": lore}
    assert read(wizard(spells=[entry])) == read(wizard(spells=["Fire Ball"]))


@pytest.mark.parametrize("spell", ["Fire Ball", "Fireball", {"name": "FIRE-BALL"}])
def test_a_lores_spell_by_only_its_name_in_any_case(spell: Any) -> None:
    assert read(wizard(spells=[spell])) == read(wizard(spells=[{"name": "Fire Ball"}]))
    item = {"name": "Wand", "bound": {"power_level": 3, "spell": spell}}
    whole = {"name": "Wand", "bound": {"power_level": 3, "spell": {"name": "Fire Ball"}}}
    assert read(wizard(items=["Wand"]), items=[item]) == read(wizard(items=["Wand"]), items=[whole])


def test_items_in_any_case() -> None:
    army = {**wizard(items=["power stone", "PowerStone"]), "items": ["dispel scroll"]}
    battle = read(army, dispeller={"heroes": [{"name": "Lord", "items": ["DISPEL SCROLL"]}]})
    assert battle.caster.items == ("Dispel Scroll",)
    assert battle.caster.wizards[0].items == ("Power Stone", "Power Stone")
    assert battle.dispeller.heroes[0].items == ("Dispel Scroll",)


def test_spells_and_items_of_the_scenario_keep_their_names() -> None:
    spell = {"name": "fire ball", "casting_value": 8, "worth": 10}
    assert read(wizard(spells=[spell])).caster.wizards[0].spells[0].name == "fire ball"
    own = {"name": "dispel scroll", "uses": 2, "when_dispelling": {"bonus": 2}}
    named = read({"items": ["dispel scroll", "Dispel Scroll"]}, items=[own]).caster.items
    assert named == ("dispel scroll", "Dispel Scroll")


def test_profiles_and_units_in_any_case() -> None:
    contact = [{"side": "enemy", "unit": "BOYZ", "models": 2}]
    who = {"name": "Anna", "level": 2, "unit": "goblin SPEARS", "base_contact": contact}
    units = [{**BOYZ, "name": "Goblin Spears"}, {"profile": "orc boyz", "models": 10}]
    heroes = [{"profile": "orc big BOSS", "unit": "ORC boyz"}]
    caster = read({"wizards": [who], "heroes": heroes, "units": units}).caster
    assert caster.wizards[0].unit == "Goblin Spears"
    assert caster.wizards[0].base_contact[0].unit == "Boyz"
    assert (caster.heroes[0].profile, caster.heroes[0].unit) == ("Orc Big Boss", "Orc Boyz")


def test_worths_of_spells_in_any_case() -> None:
    entry = {"spell": "pelt of midnight", "points_per_phase": 5}
    battle = read(wizard(spells=["Pelt of Midnight"]), worths=[entry])
    assert battle.worths[0].spell == "Pelt of Midnight"


def test_effects_of_miscasts_by_only_their_kind() -> None:
    def table(effects: list[Any]) -> dict[str, Any]:
        return {"house": {"rows": [{"roll": [2, 12], "effects": effects}]}}

    whole = read({}, miscast_tables=table([{"kind": "phase_ends"}, {"kind": "spell_forgotten"}]))
    assert read({}, miscast_tables=table(["phase_ends", "spell_forgotten"])) == whole


@pytest.mark.parametrize("wrong", [5, "x", [5], {"wizards": 5}, {"wizards": [5]}, {"items": 5}])
def test_documents_of_the_wrong_shape_are_checked_by_the_models(wrong: Any) -> None:
    for document in ({"caster": wrong}, {"items": wrong}, {"worths": wrong}, {"worths": [wrong]}):
        with pytest.raises(ScenarioError):
            scenario_from_dict({"name": "test", "caster": {}, "dispeller": 7, **document})
