"""Magic items that store dice, hold spells or destroy spells."""

from typing import Any

import pytest

from tests.scenario.documents import ZAP, Data, scenario, wizard
from tests.support.errors import problem_of
from wfb_gym.scenario.items import Bound, Item, bundled_items
from wfb_gym.scenario.spells import find_lore_spell


def thing(**keys: Any) -> Item:
    return scenario(keys={"items": [{"name": "Thing", **keys}]}).items[0]


def bound(**keys: Any) -> Bound:
    held = thing(bound={"power_level": 4, **keys}).bound
    assert held is not None
    return held


def test_items_with_counters_or_spells_need_a_slot() -> None:
    needing = {name for name, item in bundled_items().items() if item.needs_slot}
    assert {"Rod of Power", "Black Periapt", "Master Rune of Balance"} <= needing
    assert thing(bound={"power_level": 4, "spell": ZAP}).needs_slot
    assert thing(stores={"dice": 2}, stores_dice=True).stores_dice


@pytest.mark.parametrize(("key", "value"), [("any_double", True), ("extra_spells", 1)])
def test_some_items_serve_only_a_wizard_who_carries_them(key: str, value: object) -> None:
    keys = {"items": [{"name": "Thing", key: value}]}
    assert not scenario(keys=keys, wizards=[wizard(items=["Thing"])]).items[0].needs_slot
    for place in ("heroes", "runesmiths"):
        army = {place: [{"name": "Karl", "items": ["Thing"]}]}
        assert problem_of({"name": "test", "caster": army, "dispeller": {}, **keys}) == (
            f"scenario: caster.{place}[0].items[0]: expected an item without {key}, which only a "
            'wizard who carries it can use, found "Thing" of Karl'
        )


def test_a_bound_spell_of_a_lore() -> None:
    held = bound(spell={"name": "Fire Ball"})
    found = find_lore_spell("Fire Ball")
    assert found is not None
    assert (held.power_level, held.uses) == (4, 0)
    assert (held.choices[0].lore, held.choices[0].effect) == ("Fire", found.effect)
    held = bound(spell={"name": "Fire Ball", "worth": 12}, uses=2)
    assert (held.choices[0].lore, held.choices[0].effect, held.choices[0].worth) == (
        "Fire",
        None,
        12.0,
    )
    assert held.uses == 2


@pytest.mark.parametrize("spell", [ZAP, {**ZAP, "name": "Fire Ball"}, {"name": "Zap", "worth": 5}])
def test_a_bound_spell_of_the_scenarios_own(spell: Data) -> None:
    held = bound(spell=spell)
    assert (held.choices[0].lore, held.choices[0].casting_value) == (None, 4)
    assert (held.choices[0].effect is None) == ("worth" in spell)
