"""Values of scenario keys, and errors for wrong values."""

import copy
import math
import pickle
from typing import Any

import numpy as np
import pytest
from pydantic import ValidationError

from wfb_gym.scenario import (
    ScenarioError,
    bundled_scenarios,
    load_scenario,
    scenario_from_dict,
)
from wfb_gym.scenario.documents import bundled_data
from wfb_gym.scenario.sizes import SPELLS

BOLT = {"name": "Bolt", "casting_value": 8, "worth": 40.0}
WARD = {"name": "Ward", "casting_value": 7, "worth": 0, "duration": "remains_in_play"}


def document(**changes: Any) -> dict[str, Any]:
    """Return a small valid scenario with some of its keys replaced."""
    return {"name": "test", "caster": {"wizards": [wizard()]}, "dispeller": {}, **changes}


def wizard(**changes: Any) -> dict[str, Any]:
    """Return a small valid wizard with some of its keys replaced."""
    return {"name": "Anna", "level": 2, "spells": [BOLT], **changes}


def with_wizard(**changes: Any) -> dict[str, Any]:
    return document(caster={"wizards": [wizard(**changes)]})


def with_spell(**changes: Any) -> dict[str, Any]:
    return with_wizard(spells=[{**BOLT, **changes}])


def with_item(**keys: Any) -> dict[str, Any]:
    return document(items=[{"name": "Thing", **keys}])


def with_rows(*rows: dict[str, Any]) -> dict[str, Any]:
    return document(miscast_tables={"house": {"rows": list(rows)}})


def with_effect(**keys: Any) -> dict[str, Any]:
    return with_rows({"roll": [2, 12], "effects": [keys]})


def refused(data: Any) -> ScenarioError:
    with pytest.raises(ScenarioError) as caught:
        scenario_from_dict(data, "bad.toml")
    return caught.value


def test_defaults() -> None:
    scenario = scenario_from_dict(document(caster={"wizards": [{"name": "Anna", "level": 1}]}))
    anna = scenario.caster.wizards[0]
    assert (scenario.ruleset, scenario.phases, scenario.description) == ("6e", 1, None)
    assert (anna.status, anna.points, anna.toughness, anna.wounds) == ("ready", 100.0, 3, 2)
    assert (anna.armour_save, anna.ward_save, anna.reserve, anna.in_combat) == (
        None,
        None,
        None,
        False,
    )
    assert not (anna.items)
    assert not (anna.spells)
    assert not (anna.base_contact)
    assert not (scenario.dispeller.wizards)
    assert not (scenario.dispeller.units)
    assert not scenario.dispeller.dwarf


@pytest.mark.parametrize(
    ("edition", "expected"),
    [
        ("6e", (False, False, "side", "6e", 1, False, False, True, "points")),
        ("7e", (True, True, "caster", "7e", 2, True, True, False, "points")),
    ],
)
def test_ruleset_switches(edition: str, expected: tuple[object, ...]) -> None:
    rules = scenario_from_dict(document(ruleset=edition)).rules_in_force
    assert (
        rules.own_dice,
        rules.dispel_double_six,
        rules.in_play_recast,
        rules.miscast_table,
        rules.runelord_dispel_dice,
        rules.reroll_all_dice,
        rules.destroy_bound,
        rules.dispel_one_turn,
        rules.scoring,
    ) == expected


@pytest.mark.parametrize(
    ("switch", "value"),
    [
        ("own_dice", True),
        ("dispel_double_six", True),
        ("in_play_recast", "caster"),
        ("miscast_table", "7e"),
        ("runelord_dispel_dice", 2),
        ("reroll_all_dice", True),
        ("destroy_bound", True),
        ("dispel_one_turn", False),
        ("panic", True),
        ("scoring", "victory_points"),
    ],
)
def test_one_switch_changes_one_rule(switch: str, value: object) -> None:
    plain = scenario_from_dict(document()).rules_in_force.model_dump()
    changed = scenario_from_dict(document(rules={switch: value})).rules_in_force.model_dump()
    assert plain[switch] != value
    assert changed == {**plain, switch: value}


def test_lore_spell_brings_value_and_duration() -> None:
    spells = [{"name": "Wall of Fire", "worth": 10}, {"name": "Blinding Light", "worth": 5}]
    wall, light = scenario_from_dict(with_wizard(spells=spells)).caster.wizards[0].spells
    assert (wall.lore, wall.casting_value, wall.duration) == ("Fire", 12, "remains_in_play")
    assert (light.lore, light.casting_value, light.duration) == ("Light", 9, "one_turn")


def test_an_inline_spell_takes_no_keys_of_a_lore() -> None:
    data = with_spell(name="Wall of Fire", casting_value=4)
    spell = scenario_from_dict(data).caster.wizards[0].spells[0]
    assert (spell.lore, spell.casting_value, spell.duration) == (None, 4, "instant")
    assert spell.identity == ("Wall of Fire", None)


def test_own_items_and_tables_replace_bundled_ones() -> None:
    table = {"rows": [{"roll": [2, 12]}]}
    own = {"name": "Power Stone", "power_dice": 3}
    scenario = scenario_from_dict(document(items=[own], miscast_tables={"6e": table}))
    assert scenario.catalogue["Power Stone"].power_dice == 3
    assert scenario.find_miscast_table("6e").rows[0].effects == ()
    assert scenario.catalogue["Dispel Scroll"].uses == 1


@pytest.mark.parametrize("name", bundled_scenarios())
def test_scenario_survives_its_own_dump(name: str) -> None:
    scenario = load_scenario(name)
    for again in (scenario_from_dict(scenario.model_dump()), pickle.loads(pickle.dumps(scenario))):
        assert again == scenario
        assert {again} == {scenario}
        assert {*again.armies} == {*scenario.armies}


def test_equal_scenarios_have_equal_hashes() -> None:
    tables = {name: {"rows": [{"roll": [2, 12]}]} for name in ("house", "home")}
    scenario, other = (
        scenario_from_dict(document(miscast_tables=dict(items)))
        for items in (tables.items(), reversed(tables.items()))
    )
    assert scenario == other
    assert {scenario: "found"}[other] == "found"
    assert scenario_from_dict(document()) not in {scenario}


def in_numpy(value: Any) -> Any:
    """Return the document with NumPy's scalars for numbers, booleans and texts."""
    if isinstance(value, dict):
        return {key: in_numpy(each) for key, each in value.items()}
    if isinstance(value, list):
        return [in_numpy(each) for each in value]
    return np.array(value)[()]


@pytest.mark.parametrize("name", bundled_scenarios())
def test_numpy_scalars_count_as_their_values(name: str) -> None:
    assert scenario_from_dict(in_numpy(bundled_data("scenarios", name))) == load_scenario(name)


def test_numpy_scalars_that_are_rejected() -> None:
    for whole in (np.bool_(True), np.float64(2.0), np.float32(2.0)):
        assert "level: expected a whole number from 1 to 4, found" in str(
            refused(with_wizard(level=whole))
        )
    assert str(refused(with_wizard(level=np.int8(5)))).endswith("found 5")
    assert str(refused(with_spell(worth=np.bool_(True)))).endswith("found true")
    assert str(refused(with_spell(worth=np.float32("nan")))).endswith("found nan")
    assert scenario_from_dict(with_spell(worth=np.float32(2.5))) == scenario_from_dict(
        with_spell(worth=2.5)
    )


def test_scenario_is_immutable() -> None:
    scenario = scenario_from_dict(document())
    with pytest.raises(ValidationError):
        scenario.phases = 3


def test_input_is_not_changed() -> None:
    data = with_wizard(spells=[{"name": "Fire Ball", "worth": 1}])
    before = copy.deepcopy(data)
    scenario_from_dict(data)
    assert data == before


def test_bounds_are_inclusive() -> None:
    for spell in ({"casting_value": 3, "worth": 0}, {"casting_value": 15, "worth": 1000}):
        scenario_from_dict(with_spell(**spell))
    for phases in (1, 12):
        assert scenario_from_dict(document(phases=phases)).phases == phases


WHOLE = "a whole number from"
NUMBER = "a number from 0 to 1000"
STAFF = '"Starwood Staff" of the army itself'
WAND = '"Wizard\'s Staff" of the army itself'
CLOAK = '"Darkstar Cloak" of the army itself'
BAD: list[tuple[dict[str, Any], str, str, str]] = [
    # one wrong value: document, key, part of the expected value, found value
    (document(name=""), "name", "digits, dots, dashes and underscores", '""'),
    (document(name=3), "name", "digits, dots, dashes and underscores", "3"),
    (document(ruleset="8e"), "ruleset", '"6e" or "7e"', '"8e"'),
    (document(phases=0), "phases", f"{WHOLE} 1 to 12", "0"),
    (document(phases=13), "phases", f"{WHOLE} 1 to 12", "13"),
    (document(phases=True), "phases", f"{WHOLE} 1 to 12", "true"),
    (document(phases=1.0), "phases", f"{WHOLE} 1 to 12", "1.0"),
    (document(phases="1"), "phases", f"{WHOLE} 1 to 12", '"1"'),
    (document(phasess=1), "phasess", "did you mean phases?", 'unknown key "phasess"'),
    (document(caster=5), "caster", "a table", "5"),
    (document(rules={"own_dice": 1}), "rules.own_dice", "true or false", "1"),
    (document(rules={"own_dce": True}), "rules.own_dce", "own_dice", 'unknown key "own_dce"'),
    (document(rules={"runelord_dispel_dice": 3}), "rules.runelord_dispel_dice", WHOLE, "3"),
    (document(rules={"in_play_recast": "all"}), "rules.in_play_recast", '"caster"', '"all"'),
    (document(rules={"miscast_table": "8e"}), "rules.miscast_table", "6e", '"8e"'),
    (document(caster={"power_dice": 25}), "caster.power_dice", f"{WHOLE} 0 to 24", "25"),
    (document(dispeller={"dispel_dice": -1}), "dispeller.dispel_dice", f"{WHOLE} 0 to 24", "-1"),
    (document(caster={"items": "Power Stone"}), "caster.items", "a list", '"Power Stone"'),
    (document(caster={"items": ["Power Ston"]}), "caster.items[0]", "Power Stone", '"Power Ston"'),
    (with_wizard(level=0), "caster.wizards[0].level", f"{WHOLE} 1 to 4", "0"),
    (with_wizard(level=5), "caster.wizards[0].level", f"{WHOLE} 1 to 4", "5"),
    (with_wizard(status="tired"), "caster.wizards[0].status", '"off_table"', '"tired"'),
    (with_wizard(points=-1), "caster.wizards[0].points", NUMBER, "-1"),
    (with_wizard(points=1000.5), "caster.wizards[0].points", NUMBER, "1000.5"),
    (with_wizard(toughness=11), "caster.wizards[0].toughness", f"{WHOLE} 1 to 10", "11"),
    (with_wizard(wounds=0), "caster.wizards[0].wounds", f"{WHOLE} 1 to 10", "0"),
    (with_wizard(armour_save=7), "caster.wizards[0].armour_save", f"{WHOLE} 1 to 6", "7"),
    (with_wizard(ward_save=0), "caster.wizards[0].ward_save", f"{WHOLE} 1 to 6", "0"),
    (with_wizard(in_combat="no"), "caster.wizards[0].in_combat", "true or false", '"no"'),
    (with_wizard(reserve=25), "caster.wizards[0].reserve", f"{WHOLE} 0 to 24", "25"),
    (with_wizard(items=["Scroll"] * 25), "caster.wizards[0].items", "24 entries", "more: 25"),
    (with_wizard(spells=[7]), "caster.wizards[0].spells[0]", "a table", "7"),
    (with_wizard(spells=[BOLT, BOLT]), "caster.wizards[0].spells[1].name", "once", '"Bolt"'),
    (
        with_wizard(base_contact=[{"side": "own", "models": 21}]),
        "caster.wizards[0].base_contact[0].models",
        f"{WHOLE} 1 to 20",
        "21",
    ),
    (
        with_wizard(base_contact=[{"side": "mine", "models": 1}]),
        "caster.wizards[0].base_contact[0].side",
        '"own" or "enemy"',
        '"mine"',
    ),
    (with_spell(casting_value=2), "caster.wizards[0].spells[0].casting_value", "3 to 15", "2"),
    (with_spell(casting_value=16), "caster.wizards[0].spells[0].casting_value", "3 to 15", "16"),
    (with_spell(casting_value="8"), "caster.wizards[0].spells[0].casting_value", WHOLE, '"8"'),
    (with_spell(worth=-1), "caster.wizards[0].spells[0].worth", NUMBER, "-1"),
    (
        with_spell(worth=math.inf),
        "caster.wizards[0].spells[0].worth",
        NUMBER,
        "a number that is too large",
    ),
    (with_spell(worth=math.nan), "caster.wizards[0].spells[0].worth", NUMBER, "nan"),
    (with_spell(worth=True), "caster.wizards[0].spells[0].worth", NUMBER, "true"),
    (with_spell(duration="ever"), "caster.wizards[0].spells[0].duration", '"instant"', '"ever"'),
    (
        with_spell(worth_per_phase=1),
        "caster.wizards[0].spells[0].worth_per_phase",
        "duration",
        "1.0",
    ),
    (with_spell(in_play=True), "caster.wizards[0].spells[0].in_play", "duration", "true"),
    (
        with_spell(survives_caster=True),
        "caster.wizards[0].spells[0].survives_caster",
        "duration",
        "true",
    ),
    (
        with_wizard(spells=[{"name": "Fire Bal", "worth": 1}]),
        "caster.wizards[0].spells[0].name",
        "Fire Ball",
        '"Fire Bal"',
    ),
    (
        with_wizard(spells=[{"name": "Burning Gaze", "lore": "Fire", "worth": 1}]),
        "caster.wizards[0].spells[0].name",
        "a spell of the lore of Fire",
        '"Burning Gaze"',
    ),
    (
        with_wizard(spells=[{"name": "Fire Ball", "lore": "Fier", "worth": 1}]),
        "caster.wizards[0].spells[0].lore",
        "did you mean Fire",
        '"Fier"',
    ),
    (
        with_wizard(spells=[{"name": "Fire Ball", "lore": ["Fire"], "worth": 1}]),
        "caster.wizards[0].spells[0].lore",
        "a lore",
        "a list",
    ),
    (
        with_wizard(spells=[{"name": "Fire Ball", "lasts": 1}]),
        "caster.wizards[0].spells[0].lasts",
        "a known key",
        'unknown key "lasts"',
    ),
    (
        with_wizard(spells=[{"name": "Fire Ball", "worth": 1, "duration": "one_turn"}]),
        "caster.wizards[0].spells[0].duration",
        '"instant", as in its lore',
        '"one_turn"',
    ),
    (
        with_spell(name="Fire Ball", lore="Fire"),
        "caster.wizards[0].spells[0].casting_value",
        "5, as in its lore",
        "8",
    ),
    (
        with_wizard(spells=[{"worth": 1}]),
        "caster.wizards[0].spells[0].name",
        "a text",
        "no such key",
    ),
    (
        with_wizard(spells=[{"name": "Bolt", "casting_value": 5}]),
        "caster.wizards[0].spells[0].worth",
        "a worth in points, or a target",
        "no such key",
    ),
    (
        with_wizard(spells=[{**WARD, "in_play": True}, {**WARD, "name": "B", "in_play": True}]),
        "caster.wizards[0].spells[1].in_play",
        "at most one spell",
        "2 of them",
    ),
    (
        with_wizard(status="dead", spells=[{**WARD, "in_play": True}]),
        "caster.wizards[0].spells[0].in_play",
        "survives_caster",
        "true",
    ),
    (
        with_wizard(status="off_table", spells=[{**WARD, "in_play": True}]),
        "caster.wizards[0].spells[0].in_play",
        "off_table",
        "true",
    ),
    (
        document(caster={"wizards": [wizard()], "runesmiths": [{"name": "Anna"}]}),
        "caster.runesmiths[0].name",
        "of its own",
        '"Anna"',
    ),
    (
        document(caster={"wizards": [wizard(name=str(i)) for i in range(7)]}),
        "caster.wizards",
        "at most 6",
        "7",
    ),
    (
        with_wizard(spells=[{**BOLT, "name": str(i)} for i in range(SPELLS + 1)]),
        "caster.wizards",
        f"at most {SPELLS} spells",
        str(SPELLS + 1),
    ),
    (
        document(caster={"runesmiths": [{"name": "R", "rank": "king"}]}),
        "caster.runesmiths[0].rank",
        '"runesmith" or "runelord"',
        '"king"',
    ),
    (
        document(caster={"units": [{"name": "U", "models": 0, "toughness": 3, "points": 5}]}),
        "caster.units[0].models",
        WHOLE,
        "0",
    ),
    (
        document(caster={"units": [{"name": "U", "models": 1, "toughness": 3, "points": 5}] * 2}),
        "caster.units[1].name",
        "of its own",
        '"U"',
    ),
    (document(caster={"items": ["Starwood Staff"]}), "caster.items[0]", "cast_bonus", STAFF),
    (document(caster={"items": ["Wizard's Staff"]}), "caster.items[0]", "extra_dice_cap", WAND),
    (document(caster={"items": ["Darkstar Cloak"]}), "caster.items[0]", "bearer_dice", CLOAK),
    (
        document(caster={"runesmiths": [{"name": "Rolf", "items": ["Starwood Staff"]}]}),
        "caster.runesmiths[0].items[0]",
        "a wizard who carries it",
        '"Starwood Staff" of Rolf',
    ),
    (with_item(uses=1), "items[0].uses", "when_casting", "1"),
    (with_item(uses=13), "items[0].uses", f"{WHOLE} 0 to 12", "13"),
    (with_item(when_casting={}), "items[0].when_casting", "no value if uses is 0", "a table"),
    (with_item(stores_dice=True), "items[0].stores_dice", "false if uses is 0", "true"),
    (with_item(ends_own_spells=True), "items[0].ends_own_spells", "false", "true"),
    (with_item(dispel_bonus=13), "items[0].dispel_bonus", f"{WHOLE} -12 to 12", "13"),
    (with_item(uses=1, when_dispelling={}), "items[0].when_dispelling", "bonus", "neither"),
    (
        with_item(uses=1, when_dispelling={"automatic": True, "bonus": 1}),
        "items[0].when_dispelling",
        "either",
        "both",
    ),
    (
        with_item(uses=1, when_dispelling={"automatic": True}, reroll={"of": "both"}),
        "items[0].reroll.of",
        "without a roll",
        '"both"',
    ),
    (with_item(uses=1, reroll={"of": "all"}), "items[0].reroll.of", '"cast"', '"all"'),
    (
        document(items=[{"name": "Thing"}, {"name": "Thing"}]),
        "items[1].name",
        "once",
        '"Thing"',
    ),
    (with_rows({"roll": [2, 13]}), "miscast_tables.house.rows[0].roll", "2D6", "[2, 13]"),
    (with_rows({"roll": [5, 4]}), "miscast_tables.house.rows[0].roll", "2D6", "[5, 4]"),
    (with_rows({"roll": True}), "miscast_tables.house.rows[0].roll", "2D6", "true"),
    (with_rows({"roll": [2.0, 12]}), "miscast_tables.house.rows[0].roll", "2D6", "[2.0, 12]"),
    (with_rows({"roll": [2, 11]}), "miscast_tables.house.rows", "exactly one", "no row for 12"),
    (
        with_rows({"roll": [2, 7]}, {"roll": [7, 12]}),
        "miscast_tables.house.rows",
        "exactly one",
        "several rows for 7",
    ),
    (
        with_effect(kind="explosion"),
        "miscast_tables.house.rows[0].effects[0].kind",
        '"caster_hit"',
        '"explosion"',
    ),
    (with_effect(), "miscast_tables.house.rows[0].effects[0].kind", "required", "no such key"),
    (
        with_effect(kind="caster_hit"),
        "miscast_tables.house.rows[0].effects[0].strength",
        "required",
        "no such key",
    ),
    (
        with_effect(kind="caster_hit", strength=11),
        "miscast_tables.house.rows[0].effects[0].strength",
        f"{WHOLE} 1 to 10",
        "11",
    ),
    (
        with_effect(kind="phase_ends", strength=1),
        "miscast_tables.house.rows[0].effects[0].strength",
        "a known key (kind)",
        'unknown key "strength"',
    ),
    (
        with_effect(kind="points_lost", points=-5),
        "miscast_tables.house.rows[0].effects[0].points",
        NUMBER,
        "-5",
    ),
    (
        with_effect(kind="locked", until="dawn"),
        "miscast_tables.house.rows[0].effects[0].until",
        '"six"',
        '"dawn"',
    ),
    (
        with_effect(kind="dice_lost", whose="all"),
        "miscast_tables.house.rows[0].effects[0].whose",
        '"side" or "caster"',
        '"all"',
    ),
    (
        with_effect(kind="in_play_ends", whose="side"),
        "miscast_tables.house.rows[0].effects[0].whose",
        '"caster" or "all"',
        '"side"',
    ),
    (
        document(miscast_tables={"rows": {"rows": [{"roll": [2, 12], "effect": []}]}}),
        "miscast_tables.rows.rows[0].effect",
        "effects",
        'unknown key "effect"',
    ),
    (
        document(miscast_tables={"rows": {"rows": [{"roll": [2, 12]}], "row": []}}),
        "miscast_tables.rows.row",
        "did you mean rows?",
        'unknown key "row"',
    ),
]


@pytest.mark.parametrize(("data", "key", "expected", "found"), BAD)
def test_one_wrong_value_is_one_clear_line(
    data: dict[str, Any], key: str, expected: str, found: str
) -> None:
    error = refused(data)
    assert [problem.key for problem in error.problems] == [key]
    line = str(error)
    assert line.startswith(f"bad.toml: {key}: expected ")
    assert "\n" not in line
    assert expected in error.problems[0].expected
    assert error.problems[0].found == found


def test_all_wrong_values_are_reported_together() -> None:
    spells = [{"name": "Fire Bal", "worth": 1}, {"name": "Bolt", "casting_value": 99, "worth": -1}]
    error = refused(document(phases=0, caster={"wizards": [wizard(level=9, spells=spells)]}))
    assert [problem.key for problem in error.problems] == [
        "phases",
        "caster.wizards[0].level",
        "caster.wizards[0].spells[0].name",
        "caster.wizards[0].spells[1].casting_value",
        "caster.wizards[0].spells[1].worth",
    ]
    assert len(str(error).splitlines()) == 5


@pytest.mark.parametrize("key", ["name", "caster", "dispeller"])
def test_required_keys(key: str) -> None:
    data = document()
    del data[key]
    assert str(refused(data)) == (
        f"bad.toml: {key}: expected a value, as the key is required, found no such key"
    )


@pytest.mark.parametrize("data", [[], 5, None, "text"])
def test_a_document_is_a_table(data: object) -> None:
    assert str(refused(data)).startswith("bad.toml: expected a table, found ")


def test_error_is_a_value_error_that_can_be_pickled() -> None:
    error = refused(document(phases=0))
    assert isinstance(error, ValueError)
    again = pickle.loads(pickle.dumps(error))
    assert str(again) == str(error)
    assert again.problems == error.problems


def test_a_dead_wizards_spell_may_survive_him() -> None:
    spell = {**WARD, "in_play": True, "survives_caster": True}
    scenario = scenario_from_dict(with_wizard(status="dead", spells=[spell]))
    assert scenario.caster.wizards[0].spells[0].in_play


def test_a_fleeing_wizards_spell_stays_in_play() -> None:
    data = with_wizard(status="fleeing", spells=[{**WARD, "in_play": True}])
    assert scenario_from_dict(data).caster.wizards[0].spells[0].in_play


def test_the_first_phases_of_a_battle_are_a_scenario() -> None:
    scenario = scenario_from_dict(document(phases=4))
    assert scenario.first_phases(2).phases == 2
    assert scenario.first_phases(4) == scenario
    for count in (0, 5):
        with pytest.raises(ValueError, match=rf"phases: expected 1..4, found {count}"):
            scenario.first_phases(count)
