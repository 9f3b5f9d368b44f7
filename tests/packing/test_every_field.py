"""Packing keeps every field of a scenario: each changes the packed bytes."""

from collections.abc import Callable
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
        "power_dice": ({}, {"power_dice": 1}),
        "dispel_dice": ({}, {"dispel_dice": 1}),
        "bearer_dice": ({}, {"bearer_dice": 1}),
        "extra_dice_cap": ({}, {"extra_dice_cap": 1}),
        "cast_bonus": ({}, {"cast_bonus": 1}),
        "dispel_bonus": ({}, {"dispel_bonus": 1}),
        "when_casting": (dispelling(), {**dispelling(), **casting()}),
        "when_dispelling": (casting(), {**casting(), **dispelling()}),
        "reroll": (casting(), {**casting(), **reroll()}),
        "stores": ({}, stores()),
        "any_double": ({}, {"any_double": True}),
        "extra_spells": ({}, {"extra_spells": 1}),
        "takes_power_dice": ({}, {"takes_power_dice": 1}),
        "bound": ({}, bound()),
        "ends_own_spells": (casting(), {**casting(), "ends_own_spells": True}),
        "stores_dice": (casting(), {**casting(), "stores_dice": True}),
    },
    WhenCasting: {
        "extra_dice": (casting(), casting(extra_dice=2)),
        "bonus": (casting(), casting(bonus=1)),
        "irresistible": (casting(), casting(irresistible=False)),
    },
    WhenDispelling: {
        "automatic": (dispelling(), boost(bonus=1)),
        "bonus": (boost(bonus=1), boost(bonus=2)),
        "forgotten_on": (dispelling(), dispelling(forgotten_on=4)),
    },
    scenario_items.RerollPower: {
        "of": (reroll(), reroll(of="both")),
        "dice": (reroll(), reroll(dice="all")),
        "changes_natural": (reroll(), reroll(changes_natural=True)),
    },
    Stores: {
        "dice": (stores(), stores(dice=2)),
        "check": (stores(), stores(check=True)),
        "either_phase": (stores(), stores(either_phase=True)),
    },
    Bound: {
        "power_level": (bound(), bound(power_level=4)),
        "spell": (bound(), bound(spell={**FIRE_BALL, "worth": 20.0})),
        "uses": (bound(), bound(uses=1)),
    },
}
"""For each field that gives a power: an item, and the same item with that field changed."""

HIT = {"strength": 4}
HITS = {"dice": "D3", **HIT}
MISCASTS: dict[type[BaseModel], dict[str, tuple[Data, Data]]] = {
    rulesets.PointsLost: {"points": ({"points": 5.0}, {"points": 6.0})},
    rulesets.Hit: {
        "strength": (HIT, {"strength": 5}),
        "armour_save": (HIT, {**HIT, "armour_save": False}),
    },
    rulesets.Hits: {
        "dice": (HITS, {**HITS, "dice": "D6"}),
        "strength": (HITS, {**HITS, "strength": 5}),
        "armour_save": (HITS, {**HITS, "armour_save": False}),
    },
    rulesets.Wounds: {"dice": ({"dice": "D3"}, {"dice": "D6"})},
    rulesets.Locked: {
        "until": ({"until": "six"}, {"until": "phase_end"}),
        "bars_items": ({"until": "six"}, {"until": "six", "bars_items": True}),
    },
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
    assert set(get_args(Hits)) - set(HIT_DICE) == {"line", "template", "front_rank"}
    assert {HitDice.NONE, HitDice.MODELS, *HIT_DICE.values()} == set(HitDice)
