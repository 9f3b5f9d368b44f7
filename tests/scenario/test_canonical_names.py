"""Accepted spellings: names in any case, texts in place of tables, x and y."""

from typing import Any

import pytest

from wfb_gym.scenario import ScenarioError, scenario_from_dict
from wfb_gym.scenario.document_limits import MAX_ENTRIES
from wfb_gym.scenario.scenario import Scenario

BOYZ = {"name": "Boyz", "models": 20, "toughness": 4, "points": 5}


def read(caster: dict[str, Any], **more: Any) -> Scenario:
    document = {"name": "test", "caster": caster, "dispeller": {"units": [BOYZ]}, **more}
    scenario = scenario_from_dict(document)
    assert scenario_from_dict(scenario.model_dump()) == scenario
    return scenario


def wizard(**keys: Any) -> dict[str, Any]:
    return {"wizards": [{"name": "Anna", "level": 2, **keys}]}


def refused(caster: dict[str, Any], **more: Any) -> str:
    with pytest.raises(ScenarioError) as caught:
        read(caster, **more)
    assert len(caught.value.problems) == 1, str(caught.value)
    return str(caught.value).removeprefix("scenario: ")


@pytest.mark.parametrize("lore", ["Fire", "fire", "FIRE", "Lore of Fire", "the lore of  fire"])
def test_lores_in_any_case(lore: str) -> None:
    assert read(wizard(lore=lore)) == read(wizard(lore="Fire"))
    entry = {"name": "Fire Ball", "lore": lore}
    assert read(wizard(spells=[entry])) == read(wizard(spells=["Fire Ball"]))


@pytest.mark.parametrize("spell", ["Fire Ball", "fire ball", "Fireball", {"name": "FIRE-BALL"}])
def test_a_lores_spell_by_only_its_name_in_any_case(spell: Any) -> None:
    assert read(wizard(spells=[spell])) == read(wizard(spells=[{"name": "Fire Ball"}]))
    item = {"name": "Wand", "bound": {"power_level": 3, "spell": spell}}
    whole = {"name": "Wand", "bound": {"power_level": 3, "spell": {"name": "Fire Ball"}}}
    assert read(wizard(items=["Wand"]), items=[item]) == read(wizard(items=["Wand"]), items=[whole])


def test_one_spell_twice_in_any_spelling() -> None:
    message = refused(wizard(spells=["Fire Ball", {"name": "fireball"}]))
    assert message.startswith("caster.wizards[0].spells[1].name: expected each name once")


def test_spells_of_the_scenarios_own_keep_their_names() -> None:
    own = {"name": "fire ball", "casting_value": 8, "worth": 10}
    assert read(wizard(spells=[own])).caster.wizards[0].spells[0].name == "fire ball"


def test_items_in_any_case() -> None:
    army = {**wizard(items=["power stone", "PowerStone"]), "items": ["dispel scroll"]}
    scenario = read(army, dispeller={"heroes": [{"name": "Lord", "items": ["DISPEL SCROLL"]}]})
    assert scenario.caster.items == ("Dispel Scroll",)
    assert scenario.caster.wizards[0].items == ("Power Stone", "Power Stone")
    assert scenario.dispeller.heroes[0].items == ("Dispel Scroll",)


def test_items_of_the_scenario_precede_bundled_ones() -> None:
    own = {"name": "dispel scroll", "uses": 2, "when_dispelling": {"bonus": 2}}
    named = read({"items": ["dispel scroll", "Dispel Scroll"]}, items=[own]).caster.items
    assert named == ("dispel scroll", "Dispel Scroll")


def test_profiles_in_any_case() -> None:
    units = [{"profile": "orc boyz", "models": 10}]
    scenario = read({"units": units, "heroes": [{"profile": "orc big BOSS"}]})
    assert (scenario.caster.units[0].profile, scenario.caster.units[0].name) == ("Orc Boyz",) * 2
    assert scenario.caster.heroes[0].profile == "Orc Big Boss"


def test_units_that_characters_name_in_any_case() -> None:
    contact = [{"side": "enemy", "unit": "BOYZ", "models": 2}]
    who = {"name": "Anna", "level": 2, "unit": "goblin SPEARS", "base_contact": contact}
    units = [{**BOYZ, "name": "Goblin Spears"}, {"profile": "orc boyz", "models": 10}]
    heroes = [{"name": "Lord", "unit": "ORC boyz"}]
    caster = read({"wizards": [who], "heroes": heroes, "units": units}).caster
    assert caster.wizards[0].unit == "Goblin Spears"
    assert caster.wizards[0].base_contact[0].unit == "Boyz"
    assert caster.heroes[0].unit == "Orc Boyz"
    error_text = refused({"wizards": [{**who, "unit": "Gobbos"}], "units": units})
    assert error_text.startswith("caster.wizards[0].unit: expected a unit of its army (")


@pytest.mark.parametrize(
    ("keys", "error_text"),
    [
        (
            {"models": "20"},
            "models: expected a whole number from 1 to 200, without quotes: 20, found",
        ),
        (
            {"armour_save": "4+"},
            "armour_save: expected a whole number from 1 to 6, without the +: 4",
        ),
        ({"points": "5"}, "points: expected a number from 0 to "),
        ({"models": "many"}, 'models: expected a whole number from 1 to 200, found "many"'),
        ({"models": "9" * 40}, 'models: expected a whole number from 1 to 200, found "9999'),
    ],
)
def test_numbers_in_quotes_get_the_correct_spelling(keys: dict[str, str], error_text: str) -> None:
    message = refused({"units": [{**BOYZ, **keys}]})
    assert message.startswith(f"caster.units[0].{error_text}")
    assert ("without quotes" in message) == (next(iter(keys.values())) in ("20", "5"))


@pytest.mark.parametrize("missing", ["name", "toughness", "points", "models"])
def test_the_error_for_a_missing_key_mentions_the_profile(missing: str) -> None:
    message = refused({"units": [{key: each for key, each in BOYZ.items() if key != missing}]})
    assert message.startswith(
        f"caster.units[0].{missing}: expected a value, as the key is required"
    )
    assert ('unless a profile = "..." supplies it' in message) == (missing != "models")


def test_a_key_in_the_singular_gives_only_its_plural() -> None:
    assert "expected a known key (did you mean wizards?), found" in refused({"wizard": []})


def test_worths_of_spells_in_any_case() -> None:
    entry = {"spell": "pelt of midnight", "points_per_phase": 5}
    scenario = read(wizard(spells=["Pelt of Midnight"]), worths=[entry])
    assert scenario.worths[0].spell == "Pelt of Midnight"
    own = {"name": "zap", "casting_value": 7, "target": "enemy_unit", "worth": {"points": 5}}
    scenario = read(wizard(spells=[own]), worths=[{"spell": "ZAP", "points": 9}])
    assert scenario.worths[0].spell == "zap"


def test_effects_of_miscasts_by_only_their_kind() -> None:
    def table(effects: list[Any]) -> dict[str, Any]:
        return {"house": {"rows": [{"roll": [2, 12], "effects": effects}]}}

    whole = read({}, miscast_tables=table([{"kind": "phase_ends"}, {"kind": "spell_forgotten"}]))
    assert read({}, miscast_tables=table(["phase_ends", "spell_forgotten"])) == whole
    message = refused({}, miscast_tables=table(["points_lost"]))
    assert message == (
        "miscast_tables.house.rows[0].effects[0].points: expected a value, as the key is required, "
        "found no such key"
    )
    message = refused({}, miscast_tables=table(["phase_end"]))
    assert message.startswith("miscast_tables.house.rows[0].effects[0].kind: expected one of")
    assert message.endswith('found "phase_end"')


@pytest.mark.parametrize(
    ("keys", "found"), [({"x": 3, "y": 4}, "x"), ({"x": 3}, "x"), ({"y": 4}, "y")]
)
def test_x_and_y_suggest_position(keys: dict[str, int], found: str) -> None:
    line = f'position: expected two numbers in inches, [x, y], found unknown key "{found}"'
    assert refused(wizard(**keys)) == f"caster.wizards[0].{line}"
    assert refused({"units": [{**BOYZ, **keys}]}) == f"caster.units[0].{line}"
    assert refused({found: 3}).startswith(f"caster.{found}: expected a known key")


@pytest.mark.parametrize(
    ("caster", "message"),
    [
        (
            wizard(spells="Fire Ball"),
            'wizards[0].spells: expected a list such as ["Fire Ball"]',
        ),
        (
            {"wizards": {"name": "Mage"}},
            "wizards: expected a list: [[caster.wizards]] in double brackets, once for each entry",
        ),
        (wizard(items="Power Stone"), 'wizards[0].items: expected a list such as ["Power Stone"]'),
        (
            wizard(spells=["Fire Bell"]),
            "wizards[0].spells[0].name: expected a spell of a lore (",
        ),
        (wizard(spells=["Bolt"]), "wizards[0].spells[0].name: expected a spell of a lore (did you"),
        (wizard(spells=[""]), "wizards[0].spells[0].name: expected a spell of a lore (none of the"),
        (wizard(spells=[5]), "wizards[0].spells[0]: expected a table, found 5"),
        (
            wizard(lore="Wire"),
            "wizards[0].lore: expected a lore (did you mean Fire?)",
        ),
        (wizard(lore="Lore of"), "wizards[0].lore: expected a lore ("),
        (wizard(lore=5), "wizards[0].lore: expected a lore (Beasts, "),
        (wizard(items=["Power Ston"]), "wizards[0].items[0]: expected an item of this file or"),
        (wizard(items=[5]), "wizards[0].items[0]: expected a text of up to 100"),
    ],
)
def test_errors_name_the_key_and_the_expected_value(caster: dict[str, Any], message: str) -> None:
    assert refused(caster).startswith(f"caster.{message}")


def test_spells_of_another_lore_suggest_full_entries() -> None:
    error_text = refused(wizard(lore="Little Waaagh"))
    assert "Metal, Shadow); a spell of another lore needs a name, a casting_value" in error_text
    assert "written out" not in refused(wizard(lore="Wire"))


@pytest.mark.parametrize("wrong", [5, "x", [5], {"wizards": 5}, {"wizards": [5]}, {"items": 5}])
def test_documents_of_the_wrong_shape_are_checked_by_the_models(wrong: Any) -> None:
    for document in ({"caster": wrong}, {"items": wrong}, {"worths": wrong}, {"worths": [wrong]}):
        with pytest.raises(ScenarioError):
            scenario_from_dict({"name": "test", "caster": {}, "dispeller": 7, **document})


def test_limits_hold_for_short_forms_too() -> None:
    many = ["Fire Ball"] * (MAX_ENTRIES + 1)
    assert "expected at most 128 entries" in refused(wizard(spells=many))
    assert "expected at most 128 entries" in refused(wizard(items=many))
    assert "expected a text of up to 100" in refused(wizard(items=["x" * 101]))
