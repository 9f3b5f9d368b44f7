"""Descriptions of items: every power of an item is described."""

import pytest

from tests.packing.test_every_field import ITEMS, with_item
from wfb_gym.scenario.items import Item
from wfb_gym.view.effects import item_words

NOT_DESCRIBED = {"stores_dice": "matters only if a miscast empties items"}
"""Powers without words, with the reason."""
EXAMPLES = ITEMS[Item]
"""For each power, an item and the same item with that power changed."""


@pytest.mark.parametrize("power", EXAMPLES)
def test_every_power_of_an_item_is_described(power: str) -> None:
    words, changed = (item_words(with_item(item).items[0]) for item in EXAMPLES[power])
    assert (words == changed) == (power in NOT_DESCRIBED)
