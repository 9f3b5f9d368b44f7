"""Values of scenario keys, and errors for wrong values."""

import copy
import pickle
from typing import Any

import numpy as np
import pytest
from pydantic import ValidationError

from tests.scenario.documents import BOLT, WARD, Data, wizard
from wfb_gym.scenario import ScenarioError, bundled_scenarios, load_scenario, scenario_from_dict
from wfb_gym.scenario.documents import bundled_data

ANNA = wizard(spells=[BOLT])


def document(**changes: Any) -> Data:
    """Return a small valid scenario with some of its keys replaced."""
    return {"name": "test", "caster": {"wizards": [ANNA]}, "dispeller": {}, **changes}


def with_wizard(**changes: Any) -> Data:
    return document(caster={"wizards": [{**ANNA, **changes}]})


def with_spell(**changes: Any) -> Data:
    return with_wizard(spells=[{**BOLT, **changes}])


def error_of(data: Any) -> ScenarioError:
    with pytest.raises(ScenarioError) as caught:
        scenario_from_dict(data, "bad.toml")
    return caught.value


@pytest.mark.parametrize(("switch", "value"), [
    ("own_dice", True), ("in_play_recast", "caster"), ("miscast_table", "7e"),
    ("runelord_dispel_dice", 2), ("dispel_one_turn", False), ("scoring", "victory_points"),
])  # fmt: skip
def test_one_switch_changes_one_rule(switch: str, value: object) -> None:
    plain = scenario_from_dict(document()).rules_in_force.model_dump()
    changed = scenario_from_dict(document(rules={switch: value})).rules_in_force.model_dump()
    assert plain[switch] != value
    assert changed == {**plain, switch: value}


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


@pytest.mark.parametrize("name", ["seventh-edition-duel", "the-winds-unbound"])
def test_numpy_scalars_count_as_their_values(name: str) -> None:
    assert scenario_from_dict(in_numpy(bundled_data("scenarios", name))) == load_scenario(name)


def test_numpy_scalars_that_are_rejected() -> None:
    for whole in (np.bool_(True), np.float64(2.0), np.float32(2.0)):
        message = str(error_of(with_wizard(level=whole)))
        assert "level: expected a whole number from 1 to 4, found" in message
    assert str(error_of(with_wizard(level=np.int8(5)))).endswith("found 5")
    assert str(error_of(with_spell(worth=np.bool_(True)))).endswith("found true")
    assert str(error_of(with_spell(worth=np.float32("nan")))).endswith("found nan")
    half, same = (scenario_from_dict(with_spell(worth=worth)) for worth in (np.float32(2.5), 2.5))
    assert half == same


def test_scenario_is_immutable_and_its_input_not_changed() -> None:
    data = with_wizard(spells=[{"name": "Fire Ball", "worth": 1}])
    before = copy.deepcopy(data)
    scenario = scenario_from_dict(data)
    assert data == before
    with pytest.raises(ValidationError):
        scenario.phases = 3


def test_all_wrong_values_are_reported_together_and_errors_are_pickled() -> None:
    spells = [{"name": "Fire Bal", "worth": 1}, {"name": "Bolt", "casting_value": 99, "worth": -1}]
    error = error_of(document(phases=0, caster={"wizards": [wizard(level=9, spells=spells)]}))
    assert [problem.key for problem in error.problems] == [
        "phases", "caster.wizards[0].level", "caster.wizards[0].spells[0].name",
        "caster.wizards[0].spells[1].casting_value", "caster.wizards[0].spells[1].worth",
    ]  # fmt: skip
    assert len(str(error).splitlines()) == 5
    again = pickle.loads(pickle.dumps(error))
    assert str(again) == str(error)
    assert again.problems == error.problems


@pytest.mark.parametrize(("status", "keys"), [("fleeing", {}), ("dead", {"survives_caster": True})])
def test_spells_in_play_of_fleeing_and_dead_wizards(status: str, keys: Data) -> None:
    data = with_wizard(status=status, spells=[{**WARD, "in_play": True, **keys}])
    assert scenario_from_dict(data).caster.wizards[0].spells[0].in_play


def test_the_first_phases_of_a_battle_are_a_scenario() -> None:
    scenario = scenario_from_dict(document(phases=4))
    assert scenario.first_phases(2).phases == 2
    assert scenario.first_phases(4) == scenario
    for count in (0, 5):
        with pytest.raises(ValueError, match=rf"phases: expected 1..4, found {count}"):
            scenario.first_phases(count)
