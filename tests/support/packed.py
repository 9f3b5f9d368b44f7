"""Scenarios of two armies, and their packed records."""

from typing import Any

from tests.support.builders import Data, army
from wfb_gym.packing import pack
from wfb_gym.scenario import Scenario, scenario_from_dict


def scenario(caster: Data | None = None, dispeller: Data | None = None, **keys: Any) -> Scenario:
    """Return a scenario of two armies; further keys are keys of the scenario."""
    document = {"name": "test", "caster": caster or army(), "dispeller": dispeller or army()}
    return scenario_from_dict({**document, **keys})


def packed(caster: Data | None = None, dispeller: Data | None = None, **keys: Any) -> Any:
    """Return the one record of the packed scenario."""
    return pack(scenario(caster, dispeller, **keys))[0]
