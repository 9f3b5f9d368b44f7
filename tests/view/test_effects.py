"""Descriptions of items: every power of an item is described."""

from typing import Any

import pytest

from tests.packing.test_every_field import ITEMS
from wfb_gym.scenario import scenario_from_dict
from wfb_gym.scenario.items import Item
from wfb_gym.view.effects import item_words

NOT_DESCRIBED = {"stores_dice": "matters only if a miscast empties items"}
"""Powers without words, with the reason."""
EXAMPLES = ITEMS[Item]
"""For each power, an item and the same item with that power changed."""


def words_for(item: dict[str, Any]) -> str:
    document = {
        "name": "Test",
        "phases": 2,
        "items": [{"name": "Thing", **item}],
        "caster": {"wizards": [{"name": "Anna", "level": 2, "lore": "Fire", "items": ["Thing"]}]},
        "dispeller": {"units": [{"name": "Boyz", "models": 10, "toughness": 4, "points": 5.0}]},
    }
    return item_words(scenario_from_dict(document).items[0])


@pytest.mark.parametrize("power", EXAMPLES)
def test_every_power_of_an_item_is_described(power: str) -> None:
    item, changed = EXAMPLES[power]
    assert (words_for(item) == words_for(changed)) == (power in NOT_DESCRIBED)
