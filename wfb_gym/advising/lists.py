"""Small lists: a few wizards, dice and scrolls, turned into a one-phase scenario."""

from typing import Any

from wfb_gym.advising.position import RequestedPosition
from wfb_gym.advising.request import PositionError, PositionRequest
from wfb_gym.scenario import Scenario, ScenarioError, scenario_from_dict

_SOURCE = "your lists"


def scenario_of_lists(request: PositionRequest) -> Scenario:
    """Make a one-phase scenario from small lists, as ``advise`` does.

    Raises:
        ValueError: if the lists are invalid.
    """
    try:
        loaded = RequestedPosition(request).scenario
    except PositionError as error:  # its message begins with the option of ``advise``
        raise ValueError(str(error).removeprefix("--")) from None
    except ScenarioError as error:
        raise ScenarioError(_SOURCE, error.problems, error.more) from None
    document: dict[str, Any] = dict(loaded) | {"name": "your-lists"}
    if request.power is not None:
        document["caster"] = dict(loaded.caster) | {"power_dice": request.power}
    if request.dispel is not None:
        document["dispeller"] = dict(loaded.dispeller) | {"dispel_dice": request.dispel}
    return scenario_from_dict(document, _SOURCE)
