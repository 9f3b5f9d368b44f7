"""Numbers at the bounds that scenarios declare are packed unchanged."""

from collections.abc import Callable
from typing import Any, get_args

import numpy as np
import pytest
from pydantic import BaseModel

from tests.support.builders import Data, aimed, army, lasting, miscast, spell, unit, wizard
from tests.support.packed import scenario
from tests.support.playing import play_randomly
from wfb_gym.engine.battle import Battle
from wfb_gym.packing import pack
from wfb_gym.scenario import Scenario, ScenarioError
from wfb_gym.scenario.army import Army
from wfb_gym.scenario.characters import BaseContact, Hero, Wizard
from wfb_gym.scenario.fields import Number, Whole
from wfb_gym.scenario.items import Bound, Item, Stores, WhenCasting, WhenDispelling
from wfb_gym.scenario.rulesets import Hit, PointsLost
from wfb_gym.scenario.sizes import DICE
from wfb_gym.scenario.spells import Spell
from wfb_gym.scenario.units import Unit

BOLT = spell("Bolt", 3, 1)
UNIT = unit("U", 5, points=1, frontage=1)
CONTACT = {"side": "enemy", "models": 1}
ZAP = {"name": "Zap", "worth": 1}


def bounds(model: type[BaseModel], key: str) -> tuple[Any, Any]:
    """Return the least and the largest value of a field, as its kind declares them."""
    field = model.model_fields[key]
    waiting: list[Any] = [*field.metadata, field.annotation]
    while waiting:
        found = waiting.pop()
        if isinstance(found, Whole | Number):
            return found.low, found.high
        waiting += [*getattr(found, "__metadata__", ()), *get_args(found)]
    raise TypeError(f"{model.__name__}.{key}: expected bounds, found none")


def with_army(keys: Data, **more: Any) -> Scenario:
    first = {"wizards": [wizard(1, BOLT)], **keys}
    return scenario(first, army(wizard(1, name="Rival")), **{"phases": 2, **more})


def with_mage(keys: Data, **more: Any) -> Scenario:
    return with_army({"wizards": [{**wizard(1, BOLT), **keys}]}, **more)


def with_item(keys: Data, copies: int = 1) -> Scenario:
    return with_mage({"items": ["Thing"] * copies}, items=[{"name": "Thing", **keys}])


def with_effect(kind: str, keys: Data) -> Scenario:
    return with_army({}, **miscast({"kind": kind, **keys}))


def same(*keys: str) -> dict[str, str]:
    """Return fields whose packed names are their own."""
    return {key: key for key in keys}


NUMBERS: list[tuple[type[BaseModel], Callable[[Data], Scenario], str, dict[str, str]]] = [
    (Unit, lambda keys: with_army({"units": [{**UNIT, **keys}]}), "army.units[0].",
     same("models", "wounds", "magic_resistance", "points")),
    (Hero, lambda keys: with_army({"heroes": [{"name": "H", **keys}]}), "army.wizards[1].",
     same("toughness", "wounds", "armour_save", "ward_save", "magic_resistance")),
    (Wizard, with_mage, "army.wizards[0].", same("level", "reserve")),
    (Army, with_army, "army.", {"power_dice": "fixed_power", "dispel_dice": "fixed_dispel"}),
    (Scenario, lambda keys: with_army({}, **keys), "", same("phases")),
    (BaseContact, lambda keys: with_mage({"base_contact": [{**CONTACT, **keys}]}), "contacts[0].",
     same("models", "toughness", "armour_save", "ward_save", "points")),
    (Spell, lambda keys: with_mage({"spells": [{**lasting("Bolt", 3), **keys}]}), "army.spells[0].",
     same("casting_value", "worth", "worth_per_phase")),
    (Item, with_item, "army.wizards[0].", same("extra_dice_cap", "cast_bonus", "bearer_dice")),
    (Item, lambda keys: with_item({"stores": {"dice": 1}, **keys}), "army.items[0].",
     {**same("power_dice", "dispel_dice", "dispel_bonus"), "takes_power_dice": "takes_power"}),
    (WhenCasting, lambda keys: with_item({"uses": 1, "when_casting": keys}), "army.items[0].",
     {"extra_dice": "cast_extra_dice", "bonus": "cast_use_bonus"}),
    (WhenDispelling, lambda keys: with_item({"uses": 1, "when_dispelling": keys}), "army.items[0].",
     {"bonus": "dispel_use_bonus"}),
    (WhenDispelling,
     lambda keys: with_item({"uses": 1, "when_dispelling": {"automatic": True, **keys}}),
     "army.items[0].", same("forgotten_on")),
    (Stores, lambda keys: with_item({"stores": keys}), "army.items[0].", {"dice": "stores"}),
    (Bound, lambda keys: with_item({"bound": {"power_level": 5, "spell": ZAP, **keys}}), "army.",
     {"uses": "items[0].count", "power_level": "spells[1].casting_value"}),
    (PointsLost, lambda keys: with_effect("points_lost", keys), "effects[0].", same("points")),
    (Hit, lambda keys: with_effect("caster_hit", keys), "effects[0].", same("strength")),
]  # fmt: skip
"""Numbers that are packed: model, scenario with given keys, packed record, packed fields."""
CASES = [
    pytest.param(model, key, make, record + field, id=f"{model.__name__}.{key}")
    for model, make, record, fields in NUMBERS
    for key, field in fields.items()
]


def packed_at(packed: Any, place: str) -> Any:
    found = packed[0]
    for step in place.replace("army", "armies[0]").replace("[", ".").replace("]", "").split("."):
        found = found[int(step) if step.isdigit() else step]
    return found


def play(packed: Any) -> None:
    list(play_randomly(Battle(packed), np.random.default_rng(1)))


@pytest.mark.parametrize(("model", "key", "make", "place"), CASES)
def test_numbers_are_packed_as_they_are_written(
    model: type[BaseModel], key: str, make: Callable[[Data], Scenario], place: str
) -> None:
    low, high = bounds(model, key)
    for value in (low, high):
        packed = pack(make({key: value}))
        assert packed_at(packed, place) == value
        play(packed)
    for beyond in (low - 1, high + 1):
        with pytest.raises(ScenarioError):
            make({key: beyond})


@pytest.mark.parametrize(
    ("keys", "each", "place"),
    [
        ({"uses": 12, "when_casting": {"bonus": 1}}, 12, "items[0].count"),
        ({"takes_power_dice": 12}, 12, "items[0].takes_power"),
        ({"extra_dice_cap": 12}, 12, "wizards[0].extra_dice_cap"),
        ({"dispel_bonus": -12}, -12, "items[0].dispel_bonus"),
        ({"cast_bonus": 12}, 12, "wizards[0].cast_bonus"),
    ],
)
def test_copies_of_an_item_are_packed_or_rejected(keys: Data, each: int, place: str) -> None:
    """No overflow: all copies together are packed, up to the capacity of a pool."""
    for copies in (1, 2, 3, 22):
        if abs(each) * copies > DICE:
            with pytest.raises(ScenarioError, match=f"expected at most {DICE} as "):
                with_item(keys, copies)
        else:
            assert packed_at(pack(with_item(keys, copies)), f"army.{place}") == each * copies


def struck(models: int, damage: Data) -> Scenario:
    """Return a spell that strikes every model of a unit with the smallest bases."""
    fall = aimed("Fall", 3, damage={"strength": 10, **damage})
    target = unit("U", models, toughness=1, wounds=10, points=1000, frontage=models)
    return scenario(
        army(wizard(4, fall, position=[60, 20]), power_dice=12),
        army(units=[{**target, "base": [1, 1], "position": [60, 40], "facing": 180}]),
        battlefield={"width": 120, "depth": 120},
    )


@pytest.mark.parametrize("damage", [
    {"hits": "front_rank"}, {"hits": "every_model"},
    pytest.param({"hits": "template", "template": 24, "partial": 2}, marks=pytest.mark.slow),
])  # fmt: skip
def test_more_models_than_can_be_struck_are_rejected(damage: Data) -> None:
    packed = pack(struck(127, damage))
    assert packed[0]["hits"].max() == 127
    assert packed[0]["hits"].min() == 0
    play(packed)
    with pytest.raises(ScenarioError, match="at most 127 models of a unit struck at once"):
        pack(struck(128, damage))
