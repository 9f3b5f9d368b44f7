"""Profiles of the army lists, and the values that they supply."""

import pytest

from tests.scenario.documents import Data, scenario
from wfb_gym.scenario import ScenarioError, profiles
from wfb_gym.scenario.profiles import army_list, bundled_armies, character_profiles, unit_profiles


def test_a_unit_takes_missing_keys_from_its_profile() -> None:
    halberdiers = scenario(units=[{"profile": "Halberdiers", "models": 15}]).caster.units[0]
    given = unit_profiles()["Halberdiers"]
    assert halberdiers.name == "Halberdiers"
    for key in ("points", "toughness", "wounds", "armour_save", "ward_save", "troop", "base"):
        assert getattr(halberdiers, key) == getattr(given, key)
    written = {"name": "Guard", "toughness": 5, "armour_save": 3, "points": 9, "base": [25, 25]}
    guard = scenario(units=[{"profile": "Halberdiers", "models": 9, **written}]).caster.units[0]
    assert (guard.name, guard.toughness, guard.armour_save) == ("Guard", 5, 3)
    assert (guard.points, guard.base, guard.wounds) == (9.0, (25.0, 25.0), 1)
    hounds = scenario(units=[{"profile": "Flesh Hounds", "models": 5}]).caster.units[0]
    assert ("daemons" in hounds.traits, hounds.magic_resistance) == (True, 2)


def test_a_character_whose_profile_is_mounted_is_a_rider() -> None:
    lord = {"profile": "Bretonnian Lord"}
    assert scenario(heroes=[lord]).caster.heroes[0].troop == "cavalry"
    assert scenario(heroes=[{**lord, "troop": "monster"}]).caster.heroes[0].troop == "monster"
    assert scenario(heroes=[{"profile": "Captain"}]).caster.heroes[0].troop == "character"
    for profile in character_profiles().values():
        narrow, deep = profile.base
        assert (profile.troop == "cavalry") == (narrow < deep), profile.name


@pytest.mark.parametrize(("keys", "points"), [
    ({"level": 1}, 60.0), ({"level": 2}, 95.0), ({"level": 4, "points": 9}, 9.0),
])  # fmt: skip
def test_a_wizard_has_the_cost_of_his_level_unless_it_is_given(keys: Data, points: float) -> None:
    mage = scenario(wizards=[{"profile": "Battle Wizard", **keys}]).caster.wizards[0]
    assert (mage.name, mage.points, mage.wounds) == ("Battle Wizard", points, 2)


def test_a_runesmith_has_the_rank_of_his_profile() -> None:
    smith = scenario(runesmiths=[{"profile": "Runelord"}]).caster.runesmiths[0]
    assert (smith.rank, smith.name) == ("runelord", "Runelord")


def test_every_profile_can_be_fielded() -> None:
    for name in bundled_armies():
        for unit in army_list(name).units:
            fielded = scenario(units=[{"profile": unit.name, "models": unit.min_models}])
            assert fielded.caster.units[0].points == unit.points
    places = {"wizard": "wizards", "runesmith": "runesmiths", "runelord": "runesmiths"}
    for profile in character_profiles().values():
        for level in profile.points if isinstance(profile.points, dict) else [""]:
            more = {"level": int(level)} if level else {}
            entry = {"profile": profile.name, **more}
            keys: Data = {places.get(profile.kind, "heroes"): [entry]}
            assert scenario(**keys).caster.characters[0].toughness == profile.toughness


def test_a_name_is_in_one_list_only(monkeypatch: pytest.MonkeyPatch) -> None:
    halberdiers = unit_profiles()["Halberdiers"]
    monkeypatch.setattr(profiles, "bundled_armies", lambda: ("one", "two"))
    with pytest.raises(ScenarioError) as caught:
        profiles._by_name("units", [[halberdiers], [halberdiers]])
    expected = 'expected a name that no other profile has, found "Halberdiers"'
    assert str(caught.value) == f"armies/two.toml: units[0].name: {expected}"


def test_an_unknown_profile_hides_no_other_mistake_of_its_table() -> None:
    spell = {"name": "Fire Bal", "worth": "20", "casting_value": 99}
    wizard = {"profile": "Grand Wizard", "level": 7, "spells": [spell]}
    unit = {"profile": "Dire Wolfs", "models": "5"}
    with pytest.raises(ScenarioError) as caught:
        scenario(wizards=[wizard], units=[unit])
    assert [problem.key for problem in caught.value.problems] == [
        "caster.wizards[0].profile", "caster.wizards[0].level",
        "caster.wizards[0].spells[0].casting_value", "caster.wizards[0].spells[0].worth",
        "caster.units[0].profile", "caster.units[0].models",
    ]  # fmt: skip
