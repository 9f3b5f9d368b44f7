"""Small lists: a few wizards and what both sides have, as a scenario of one phase."""

from collections.abc import Sequence
from dataclasses import dataclass

from wfb_gym.advising.position import RequestedPosition
from wfb_gym.advising.request import PositionError, PositionRequest
from wfb_gym.scenario import Scenario, ScenarioError, scenario_from_dict

_LISTS = "your lists"
"""The place that errors in small lists name."""


@dataclass(frozen=True)
class Lists:
    """Small lists: the caster's wizards, and what both sides have.

    Attributes:
        wizards: level and spells of each, as ``advise --wizard`` takes them: NAME=POINTS or
            VALUE=POINTS.
        power: power dice; None for those that the wizards generate.
        dispel: dispel dice.
        scrolls: Dispel Scrolls.
    """

    wizards: Sequence[Sequence[str]]
    power: int | None = None
    dispel: int = 4
    scrolls: int = 0


def scenario_of_lists(lists: Lists) -> Scenario:
    """Make a scenario of one phase of small lists, as ``advise`` does.

    Raises:
        ValueError: what is wrong with them.
    """
    request = PositionRequest(
        wizard=lists.wizards, power=lists.power, dispel=lists.dispel, scrolls=lists.scrolls
    )
    try:
        loaded = RequestedPosition(request).scenario
    except PositionError as error:  # which names the option of a command
        raise ValueError(str(error).removeprefix("--")) from None
    except ScenarioError as error:
        raise ScenarioError(_LISTS, error.problems, error.more) from None
    caster, dispeller = dict(loaded.caster), dict(loaded.dispeller)
    if lists.power is not None:
        caster["power_dice"] = lists.power
    dispeller["dispel_dice"] = lists.dispel
    armies = {"name": "your-lists", "caster": caster, "dispeller": dispeller}
    return scenario_from_dict(dict(loaded) | armies, _LISTS)
