"""Scenarios that most tests of this folder begin with."""

from typing import Any

from wfb_gym.scenario import Scenario, scenario_from_dict

Data = dict[str, Any]
BOYZ: Data = {"name": "Boyz", "models": 20, "toughness": 4, "armour_save": 6, "points": 5}
HORRORS: Data = {
    "name": "Horrors", "models": 10, "toughness": 3, "points": 15, "traits": ["daemons"],
}  # fmt: skip
BOLT: Data = {"name": "Bolt", "casting_value": 8, "worth": 40.0}
MISSILE: Data = {
    "target": "enemy_unit", "range_inches": 24, "sight": True, "missile": True,
    "damage": {"hits": "D6", "strength": 4},
}  # fmt: skip
CURSE: Data = {
    "name": "Curse", "casting_value": 7, "duration": "remains_in_play", "target": "enemy_unit",
    "worth": {"points_per_phase": 5},
}  # fmt: skip
ZAP: Data = {"name": "Zap", "target": "enemy_unit", "damage": {"hits": "1", "strength": 6}}
WARD: Data = {"name": "Ward", "casting_value": 7, "worth": 0, "duration": "remains_in_play"}


def read(document: Data) -> Scenario:
    """Return the scenario of a document, which its own dump gives again."""
    scenario = scenario_from_dict(document)
    assert scenario_from_dict(scenario.model_dump()) == scenario
    return scenario


def scenario(dispeller: Data | None = None, *, keys: Data | None = None, **caster: Any) -> Scenario:
    """Return a scenario of two armies; `keys` are further keys of the document."""
    document = {"name": "test", "caster": caster, "dispeller": dispeller or {}}
    return read({**document, **(keys or {})})


def wizard(**keys: Any) -> Data:
    return {"name": "Anna", "level": 2, **keys}


def unit(**keys: Any) -> Data:
    return {**BOYZ, **keys}
