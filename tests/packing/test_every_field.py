"""Packing keeps every field of a scenario: each changes the packed bytes."""

from collections.abc import Callable
from functools import partial
from typing import Any, get_args

import pytest
from pydantic import BaseModel

from tests.support.builders import Data, army, miscast, unit, wizard
from tests.support.packed import scenario
from wfb_gym.packing import pack
from wfb_gym.packing.records import (
    HIT_DICE,
    Duration,
    EffectKind,
    HitDice,
    Limit,
    Lock,
    RerollKind,
    Whose,
)
from wfb_gym.scenario import items as scenario_items
from wfb_gym.scenario import rulesets
from wfb_gym.scenario.effects import Hits
from wfb_gym.scenario.items import (
    FIELDS_BY_ROLE,
    Bound,
    Item,
    Role,
    Stores,
    WhenCasting,
    WhenDispelling,
)
from wfb_gym.scenario.rulesets import MiscastEffect
from wfb_gym.scenario.spells import DurationName


def power(key: str, defaults: Data, **other: Any) -> Callable[..., Data]:
    """Return a function that makes an item with a power, whose keys it takes."""
    return lambda **keys: {**other, key: {**defaults, **keys}}


def each(make: Callable[..., Data], **values: Any) -> dict[str, tuple[Data, Data]]:
    """Return two items or effects for each of these fields, which has its value in the second."""
    return {field: (make(), make(**{field: value})) for field, value in values.items()}


FIRE_BALL = {"name": "Fire Ball", "worth": 10.0}
casting = power("when_casting", {"extra_dice": 1}, uses=1)
dispelling = power("when_dispelling", {"automatic": True}, uses=1)
boost = power("when_dispelling", {}, uses=1)
reroll = power("reroll", {"of": "cast", "dice": "one"}, uses=1)
stores = power("stores", {"dice": 1})
bound = power("bound", {"power_level": 3, "spell": FIRE_BALL})
ITEMS: dict[type[BaseModel], dict[str, tuple[Data, Data]]] = {
    Item: {
        "uses": (casting(), {**casting(), "uses": 2}),
        **each(dict, power_dice=1, dispel_dice=1, bearer_dice=1, extra_dice_cap=1, cast_bonus=1),
        **each(dict, dispel_bonus=1, any_double=True, extra_spells=1, takes_power_dice=1),
        "when_casting": (dispelling(), {**dispelling(), **casting()}),
        "when_dispelling": (casting(), {**casting(), **dispelling()}),
        "reroll": (casting(), {**casting(), **reroll()}),
        "stores": ({}, stores()),
        "bound": ({}, bound()),
        "ends_own_spells": (casting(), {**casting(), "ends_own_spells": True}),
        "stores_dice": (casting(), {**casting(), "stores_dice": True}),
    },
    WhenCasting: each(casting, extra_dice=2, bonus=1, irresistible=False),
    WhenDispelling: {
        "automatic": (dispelling(), boost(bonus=1)),
        "bonus": (boost(bonus=1), boost(bonus=2)),
        "forgotten_on": (dispelling(), dispelling(forgotten_on=4)),
    },
    scenario_items.RerollPower: each(reroll, of="both", dice="all", changes_natural=True),
    Stores: each(stores, dice=2, check=True, either_phase=True),
    Bound: {
        **each(bound, power_level=4, spell={**FIRE_BALL, "worth": 20.0}, uses=1),
        "spells": (bound(), bound(spell=None, spells=["Fire Ball", "Fiery Blast"])),
    },
}
"""For each field that gives a power: an item, and the same item with that field changed."""

hit: Callable[..., Data] = partial(dict, strength=4)
hits: Callable[..., Data] = partial(hit, dice="D3")
MISCASTS: dict[type[BaseModel], dict[str, tuple[Data, Data]]] = {
    rulesets.PointsLost: {"points": ({"points": 5.0}, {"points": 6.0})},
    rulesets.Hit: each(hit, strength=5, armour_save=False),
    rulesets.Hits: each(hits, dice="D6", strength=5, armour_save=False),
    rulesets.Wounds: {"dice": ({"dice": "D3"}, {"dice": "D6"})},
    rulesets.Locked: each(partial(dict, until="six"), until="phase_end", bars_items=True),
    rulesets.DiceLost: {"whose": ({"whose": "side"}, {"whose": "caster"})},
    rulesets.InPlayEnds: {"whose": ({"whose": "all"}, {"whose": "caster"})},
    rulesets.SpellForgotten: {"whose": ({}, {"whose": "side"})},
    rulesets.FreeSpell: {"limit": ({}, {"limit": "miscast_value"})},
    rulesets.PlainEffect: {},
}


def packed_item(item: Data) -> bytes:
    bearer = {"name": "Anna", "level": 2, "lore": "Fire", "items": ["Thing"]}
    made = scenario(army(bearer), army(units=[unit()]), phases=2, items=[{"name": "Thing", **item}])
    return pack(made).tobytes()


def packed_miscast(effect: Data) -> bytes:
    return pack(scenario(army(wizard(2, FIRE_BALL)), **miscast(effect))).tobytes()


def kinds_of(model: type[BaseModel]) -> tuple[str, ...]:
    return get_args(model.model_fields["kind"].annotation)


def test_every_power_of_an_item_has_an_example() -> None:
    assert sorted(sum(FIELDS_BY_ROLE.values(), ())) == sorted(Item.model_fields)
    for model, fields in ITEMS.items():
        labels = FIELDS_BY_ROLE[Role.LABEL] if model is Item else ()
        assert set(fields) == set(model.model_fields) - set(labels), model.__name__


@pytest.mark.parametrize(
    ("item", "changed"),
    [pair for fields in ITEMS.values() for pair in fields.values()],
    ids=[f"{model.__name__}.{field}" for model, fields in ITEMS.items() for field in fields],
)
def test_every_power_of_an_item_is_packed(item: Data, changed: Data) -> None:
    assert packed_item(item) != packed_item(changed)


def test_every_miscast_effect_has_an_example() -> None:
    assert set(MISCASTS) == set(get_args(MiscastEffect))
    for model, fields in MISCASTS.items():
        assert set(fields) == set(model.model_fields) - {"kind"}, model.__name__


@pytest.mark.parametrize(
    ("kind", "effect", "changed"),
    [
        (kind, *pair)
        for model, fields in MISCASTS.items()
        for kind in kinds_of(model)
        for pair in fields.values()
    ],
)
def test_every_field_of_a_miscast_effect_is_packed(kind: str, effect: Data, changed: Data) -> None:
    assert packed_miscast({"kind": kind, **effect}) != packed_miscast({"kind": kind, **changed})


def written_names(*values: str) -> set[str]:
    return {value.upper() for value in values}


def test_words_of_scenarios_are_members_of_the_packed_enumerations() -> None:
    kinds = [kind for model in get_args(MiscastEffect) for kind in kinds_of(model)]
    assert len(kinds) == len(set(kinds))
    assert written_names(*kinds) == set(EffectKind.__members__)
    untils = get_args(rulesets.Locked.model_fields["until"].annotation)
    assert written_names(*untils, "none") == set(Lock.__members__)
    models = (rulesets.DiceLost, rulesets.InPlayEnds, rulesets.SpellForgotten)
    whose = [w for model in models for w in get_args(model.model_fields["whose"].annotation)]
    assert written_names(*whose) == set(Whose.__members__)
    limits = get_args(rulesets.FreeSpell.model_fields["limit"].annotation)
    assert written_names(*limits) == set(Limit.__members__)
    dice = get_args(scenario_items.RerollPower.model_fields["dice"].annotation)
    assert written_names(*dice, "none") == set(RerollKind.__members__)
    assert written_names(*get_args(DurationName), "delayed") == set(Duration.__members__)
    keywords = {"line", "template", "front_rank", "every_model"}
    assert set(get_args(Hits)) - set(HIT_DICE) == keywords
    assert {HitDice.NONE, HitDice.MODELS, *HIT_DICE.values()} == set(HitDice)
