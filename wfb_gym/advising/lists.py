"""Small lists: a few wizards, dice and scrolls, as a scenario of one phase."""

from collections.abc import Sequence
from dataclasses import dataclass

from wfb_gym.advising.position import RequestedPosition
from wfb_gym.advising.request import PositionError, PositionRequest
from wfb_gym.scenario import Scenario, ScenarioError, scenario_from_dict

_LISTS = "your lists"
"""Name of small lists in error messages."""


@dataclass(frozen=True)
class Lists:
    """Small lists: the caster's wizards, dice and scrolls.

    Attributes:
        wizards: level and spells of each wizard in the format of ``advise --wizard``: NAME=POINTS
            or VALUE=POINTS.
        power: number of power dice; None for the number that the wizards generate.
        dispel: number of dispel dice.
        scrolls: number of Dispel Scrolls.
    """

    wizards: Sequence[Sequence[str]]
    power: int | None = None
    dispel: int = 4
    scrolls: int = 0


def scenario_of_lists(lists: Lists) -> Scenario:
    """Make a scenario of one phase from small lists, as ``advise`` does.

    Raises:
        ValueError: the lists are invalid.
    """
    request = PositionRequest(
        wizard=lists.wizards, power=lists.power, dispel=lists.dispel, scrolls=lists.scrolls
    )
    try:
        loaded = RequestedPosition(request).scenario
    except PositionError as error:  # its message starts with the option of ``advise``
        raise ValueError(str(error).removeprefix("--")) from None
    except ScenarioError as error:
        raise ScenarioError(_LISTS, error.problems, error.more) from None
    caster, dispeller = dict(loaded.caster), dict(loaded.dispeller)
    if lists.power is not None:
        caster["power_dice"] = lists.power
    dispeller["dispel_dice"] = lists.dispel
    armies = {"name": "your-lists", "caster": caster, "dispeller": dispeller}
    return scenario_from_dict(dict(loaded) | armies, _LISTS)
