"""The army builder's scenario files."""

from dataclasses import replace

import pytest

from wfb_gym.scenario import Scenario, scenario_from_dict
from wfb_gym.scenario.documents import parse_toml
from wfb_gym.scenario.profiles import bundled_armies
from wfb_gym.scenario.sizes import UNITS, WIZARDS
from wfb_gym.scenario.spells import lore_spells
from wfb_gym.web import army_document
from wfb_gym.web.army_document import BuiltArmy, BuiltUnit, BuiltWizard, new_army


def built(*armies: BuiltArmy, phases: int = 2) -> Scenario:
    text = army_document.scenario_text(armies, phases)
    return scenario_from_dict(parse_toml(text, "built"), "built")


@pytest.mark.parametrize("army", bundled_armies())
def test_every_list_gives_an_army_to_begin_with(army: str) -> None:
    scenario = built(new_army("empire"), new_army(army))
    assert scenario.phases == 2
    dispeller = scenario.dispeller
    assert len(dispeller.units) == 3
    assert len(dispeller.characters) == 1
    assert dispeller.dwarf == (army == "dwarfs")
    if army == "empire":
        assert [each.name for each in scenario.armies] == ["Empire (caster)", "Empire (dispeller)"]


@pytest.mark.parametrize("army", bundled_armies())
def test_the_largest_army_of_every_profile_fits(army: str) -> None:
    first = new_army("empire")
    units = army_document.units(army).values()
    for name, profile in army_document.casters(army).items():
        for level in army_document.levels(profile) or [1]:
            lore = profile.lores[0] if profile.lores else ""
            spells = [each.name for each in lore_spells() if each.lore == lore][:1]
            number = WIZARDS if level < 4 else 5  # with more, there are too many power dice
            wizards = [BuiltWizard(name, level, lore, spells, unit=-1) for _ in range(number)]
            listed = [BuiltUnit(each.name, each.max_models) for each in units]
            large = BuiltArmy(army, wizards, (listed * UNITS)[:UNITS])
            scenario = built(first, large, phases=1)
            assert len(scenario.dispeller.characters) == number
            assert len(scenario.dispeller.units) == UNITS


def test_spells_items_and_units_of_a_wizard() -> None:
    army = new_army("empire")
    (wizard,) = army.wizards
    army.wizards = [
        replace(wizard, spells=["Fire Ball"], items=["Power Stone"] * 2),
        replace(wizard, unit=-1),
        replace(wizard, unit=9),  # a unit that is gone
    ]
    first, second, third = built(army, new_army("skaven")).caster.wizards
    assert [each.name for each in first.spells] == ["Fire Ball"]
    assert (first.items, first.unit) == (("Power Stone", "Power Stone"), "Halberdiers")
    assert (second.name, second.lore, second.unit) == ("Battle Wizard 2", "Fire", None)
    assert second.position != third.position
