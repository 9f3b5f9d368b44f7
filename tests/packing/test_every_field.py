"""Packing keeps every field of a scenario: each changes the packed bytes, or has a reason."""

from collections.abc import Callable
from functools import partial
from typing import Any, get_args

import pytest
from pydantic import BaseModel

from tests.support.builders import Data, aimed, army, miscast, unit, wizard
from tests.support.packed import scenario
from wfb_gym.packing import pack, records
from wfb_gym.scenario import Scenario, rulesets
from wfb_gym.scenario import items as scenario_items
from wfb_gym.scenario.characters import BaseContact, Character, Runesmith, Wizard
from wfb_gym.scenario.effects import Damage, Hits, Near, SpellEffect, Worth
from wfb_gym.scenario.items import FIELDS_BY_ROLE, Bound, Item, Stores, WhenCasting, WhenDispelling
from wfb_gym.scenario.rulesets import MiscastEffect
from wfb_gym.scenario.spells import DurationName, Spell
from wfb_gym.scenario.units import Unit


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


def with_item(item: Data) -> Scenario:
    bearer = {"name": "Anna", "level": 2, "lore": "Fire", "items": ["Thing"]}
    things = [{"name": "Thing", **item}]
    return scenario(army(bearer), army(units=[unit()]), phases=2, items=things)


def packed_miscast(effect: Data) -> bytes:
    return pack(scenario(army(wizard(2, FIRE_BALL)), **miscast(effect))).tobytes()


def kinds_of(model: type[BaseModel]) -> tuple[str, ...]:
    return get_args(model.model_fields["kind"].annotation)


def test_every_power_of_an_item_has_an_example() -> None:
    assert sorted(sum(FIELDS_BY_ROLE.values(), ())) == sorted(Item.model_fields)
    for model, fields in ITEMS.items():
        labels = FIELDS_BY_ROLE[scenario_items.Role.LABEL] if model is Item else ()
        assert set(fields) == set(model.model_fields) - set(labels), model.__name__


@pytest.mark.parametrize(
    ("item", "changed"),
    [pair for fields in ITEMS.values() for pair in fields.values()],
    ids=[f"{model.__name__}.{field}" for model, fields in ITEMS.items() for field in fields],
)
def test_every_power_of_an_item_is_packed(item: Data, changed: Data) -> None:
    assert pack(with_item(item)).tobytes() != pack(with_item(changed)).tobytes()


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
    assert written_names(*kinds) == set(records.EffectKind.__members__)
    untils = get_args(rulesets.Locked.model_fields["until"].annotation)
    assert written_names(*untils, "none") == set(records.Lock.__members__)
    models = (rulesets.DiceLost, rulesets.InPlayEnds, rulesets.SpellForgotten)
    whose = [w for model in models for w in get_args(model.model_fields["whose"].annotation)]
    assert written_names(*whose) == set(records.Whose.__members__)
    limits = get_args(rulesets.FreeSpell.model_fields["limit"].annotation)
    assert written_names(*limits) == set(records.Limit.__members__)
    rerolls = get_args(scenario_items.RerollPower.model_fields["dice"].annotation)
    assert written_names(*rerolls, "none") == set(records.RerollKind.__members__)
    assert written_names(*get_args(DurationName), "delayed") == set(records.Duration.__members__)
    keywords = {"line", "template", "front_rank", "every_model"}
    dice, named = records.HitDice, records.HIT_DICE
    assert set(get_args(Hits)) - set(named) == keywords
    assert {dice.NONE, dice.MODELS, *named.values()} == set(dice)


Parts = dict[str, Any]
"""Changes of a part of the battle (`packed`): its key, and the new value."""

D6_HITS = {"hits": "D6", "strength": 4}
TEMPLATE = {"hits": "template", "strength": 4, "template": 3.0}
COMET = {**D6_HITS, "delayed": True, "radius": "D6 per marker"}
HEX = {"points": 8.0}
WORTH = {"damage": None, "worth": HEX}
BLESSING = {**WORTH, "target": "friendly_unit"}
FLIGHT = {**BLESSING, "needs": "fleeing"}
FIXED = {"target": None, "damage": None, "worth": 8.0}
MISSILE = {"sight": True, "range_inches": 24}
ON_HERO = {**WORTH, "target": "friendly_character", "engaged": "either"}
FRONT_RANK = {"damage": {"hits": "front_rank", "strength": 4}}
NEAR_WOOD = {"terrain": ["wood"], "within": 12, "otherwise": 1}
NEAR_WATER = {"terrain": ["water"], "within": 12, "otherwise": 1}
WOOD_APART = {"name": "Wood", "kind": "wood", "position": [24.0, 18.0], "size": [2.0, 2.0]}
WOOD_TOUCHING = {**WOOD_APART, "position": [24.0, 21.5]}
WIDE_WOOD = {**WOOD_APART, "size": [30.0, 2.0]}
BURNS = {"traits": ["flammable"]}
TORCH = {**BURNS, "wounds": 3}
GROUP = {"side": "own", "models": 2}
PIERCING = {**D6_HITS, "armour_save": False}
ONE_TURN = {"duration": "one_turn"}
REMAINS = {"duration": "remains_in_play"}
IN_PLAY = {**REMAINS, "in_play": True}
BRIEF, LIES = {**FIXED, **ONE_TURN}, {**WORTH, **IN_PLAY}
TURNED, DEEP = {"facing": 180.0}, {"base": [20.0, 100.0]}
JOINED = {"unit": "Guard", "position": None}
CASTING_UNIT = {**JOINED, "unit": None, "daemon_unit": "Guard"}


def spell(before: Parts, after: Parts) -> tuple[Parts, Parts]:
    return {"spell": before}, {"spell": after}


def damage(before: Parts, after: Parts) -> tuple[Parts, Parts]:
    return spell({"damage": before}, {"damage": after})


def near(before: Parts, after: Parts, wood: Parts = WOOD_APART) -> tuple[Parts, Parts]:
    """Return two battles that differ in the terrain from which the spell is measured."""
    return {"spell": {"near": before}, "wood": wood}, {"spell": {"near": after}, "wood": wood}


def one(key: str, after: Parts, before: Parts | None = None, **both: Any) -> tuple[Parts, Parts]:
    """Return two battles that differ in one part."""
    return {key: before or {}, **both}, {key: after, **both}


def each_of(part: str, **values: Any) -> dict[str, tuple[Parts, Parts]]:
    """Return two battles for each of these fields of a part, which has its value in one."""
    return {field: one(part, {field: value}) for field, value in values.items()}


EXAMPLES: dict[type[BaseModel], dict[str, tuple[Parts, Parts]]] = {
    SpellEffect: {
        **each_of("spell", range_inches=3, engaged="only", caster_engaged=True, only=["cavalry"]),
        **each_of("spell", needs="fleeing", near=NEAR_WATER, once=True, gains_wound=True),
        "target": spell(WORTH, BLESSING),
        "sight": one("spell", {"sight": True}, wood=WIDE_WOOD),
        "missile": one("spell", {**MISSILE, "missile": True}, MISSILE, wizard={"in_combat": True}),
        "not_on": one("spell", {"not_on": ["flammable"]}, enemy=BURNS),
        "damage": spell({"damage": D6_HITS}, {"damage": {**D6_HITS, "hits": "2D6"}}),
        "worth": spell({}, {"worth": {"points": 8.0}}),
        "caster_damage": spell({}, {"caster_damage": D6_HITS}),
        "heals": spell(BLESSING, {**BLESSING, "heals": True}),
        "rallies": one("spell", {**FLIGHT, "rallies": True}, FLIGHT),
    },
    Near: {
        "terrain": near(NEAR_WOOD, NEAR_WATER),
        "within": near(NEAR_WOOD, {**NEAR_WOOD, "within": 1}),
        "otherwise": near(NEAR_WATER, {**NEAR_WATER, "otherwise": 24}),
        "extra": near(NEAR_WOOD, {**NEAR_WOOD, "extra": "D6"}, WOOD_TOUCHING),
    },
    Damage: {
        "hits": damage(D6_HITS, {**D6_HITS, "hits": "2D6"}),
        "strength": damage(D6_HITS, {**D6_HITS, "strength": 5}),
        "strength_by_armour": damage(D6_HITS, {"hits": "D6", "strength_by_armour": [5, 5, 5]}),
        "strength_dice": damage(D6_HITS, {"hits": "D6", "strength_dice": "D6"}),
        "armour_save": damage(D6_HITS, PIERCING),
        "ward_save": damage(D6_HITS, {**D6_HITS, "ward_save": False}),
        "flaming": one("spell", {"damage": {**D6_HITS, "flaming": True}}, enemy=TORCH),
        "automatic": damage(PIERCING, {"hits": "D6", "armour_save": False, "automatic": True}),
        "template": damage(TEMPLATE, {**TEMPLATE, "template": 5.0}),
        "partial": damage(TEMPLATE, {**TEMPLATE, "partial": 4}),
        "delayed": spell({}, {"target": "point", "damage": COMET}),
    },
    Worth: {
        key: spell({**ONE_TURN, "worth": HEX}, {**ONE_TURN, "worth": {**HEX, key: 0.1}})
        for key in ("points", "share", "points_per_phase", "share_per_phase")
    },
    Spell: {
        "casting_value": spell({}, {"casting_value": 7}),
        "worth": spell(FIXED, {**FIXED, "worth": 9.0}),
        "effect": spell({}, WORTH),
        "duration": spell({}, ONE_TURN),
        "worth_per_phase": one("spell", {**BRIEF, "worth_per_phase": 1.0}, BRIEF),
        "survives_caster": spell(REMAINS, {**REMAINS, "survives_caster": True}),
        "in_play": spell({**FIXED, **REMAINS}, {**FIXED, **IN_PLAY}),
        "casts": spell({}, {"casts": 2}),
        "alternatives": spell({}, {"alternatives": [{"casting_value": 7}]}),
        "in_play_on": spell({**LIES, "in_play_on": "Boyz"}, {**LIES, "in_play_on": "Wolves"}),
    },
    Unit: {
        **each_of("enemy", models=12, toughness=5, wounds=2, leadership=6),
        **each_of("enemy", armour_save=5, ward_save=5, points=6.0, magic_resistance=1),
        **each_of("enemy", in_combat=True, fleeing=True),
        "frontage": one("enemy", {"frontage": 10}, spell=FRONT_RANK),
        "base": one("enemy", {"base": [40.0, 40.0]}, spell={"damage": TEMPLATE}),
        "position": one("enemy", {"position": [24.0, 44.0]}, spell={"range_inches": 20}),
        "facing": one("enemy", {"facing": 0.0}, spell={"range_inches": 11}),
        "troop": one("enemy", {"troop": "cavalry"}, spell={"only": ["infantry"]}),
        "traits": one("enemy", BURNS, spell={"not_on": ["flammable"]}),
        "skirmish": one("enemy", {"skirmish": True}, spell={"needs": "front_rank"}),
        "magic_item": one("enemy", {"magic_item": True}, spell={"needs": "magic_item"}),
    },
    Character: {
        **each_of("wizard", status="fleeing", points=120.0, toughness=4, wounds=3, leadership=8),
        **each_of("wizard", armour_save=5, ward_save=5, magic_resistance=1),
        "general": one("hero", {"general": True}),
        "in_combat": one("wizard", {"in_combat": True}, spell={**MISSILE, "missile": True}),
        "unit": one("wizard", JOINED),
        "position": one("wizard", {"position": [24.0, 2.0]}, spell={"range_inches": 15}),
        "facing": one("wizard", {**TURNED, **DEEP}, DEEP, spell={"range_inches": 9}),
        "base": one("wizard", {**TURNED, **DEEP}, TURNED, spell={"range_inches": 9}),
        "troop": one("hero", {"troop": "cavalry"}, spell=ON_HERO),
        "traits": one("hero", BURNS, spell={**ON_HERO, "not_on": ["flammable"]}),
        "base_contact": one("wizard", {"base_contact": [GROUP]}),
        "items": one("wizard", {"items": ["Power Stone"]}),
    },
    Wizard: {
        **each_of("wizard", level=3, reserve=2, miscast_table="7e"),
        "lore": one("wizard", {"spells": [], "lore": "Fire"}, {"spells": [], "lore": "Metal"}),
        "spells": one("wizard", {"spells": []}),
        "daemon_unit": one("wizard", CASTING_UNIT, JOINED, guard={"traits": ["daemons"]}),
    },
    Runesmith: {"rank": one("runesmith", {"rank": "runelord"}, ruleset="7e")},
    BaseContact: {
        **each_of("contact", side="enemy", models=3, toughness=4, armour_save=5, ward_save=5),
        **each_of("contact", points=6.0),
        "unit": one("contact", {"unit": "Guard"}, wizard=JOINED),
    },
}
"""For each field that is packed: two battles that differ in it."""

LABEL = "a label for people"
FILLS_IN = "other fields are filled in from it before a scenario is packed"
NOT_PACKED: dict[type[BaseModel], dict[str, str]] = {
    Damage: {"radius": "only one is known, and every delayed spell has it"},
    Worth: {"reason": LABEL},
    Spell: {
        "name": f"{LABEL}; only which spells share it is packed",
        "lore": FILLS_IN,
        "group": f"{LABEL}; only which spells share it is packed",
    },
    Unit: {"profile": FILLS_IN, "name": LABEL},
    Character: {"profile": FILLS_IN, "name": LABEL},
}
"""Fields without an example, with the reason."""


def without_none(table: Parts) -> Parts:
    return {key: value for key, value in table.items() if value is not None}


def packed(parts: Parts) -> bytes:
    """Return the packed bytes of a battle of one wizard with one spell, with changed parts.

    Args:
        parts: changes of "spell", "wizard", "hero", "runesmith", "guard", "enemy", "contact",
            "wood" and "ruleset"; None takes a key away, and without "contact" and "wood" there is
            none.
    """
    bolt = without_none({**aimed("Bolt", damage=D6_HITS), **parts.get("spell", {})})
    mage = {**wizard(2, bolt, position=[24.0, 10.0]), **parts.get("wizard", {})}
    if "contact" in parts:
        mage["base_contact"] = [{**GROUP, **parts["contact"]}]
    hero = {"name": "Karl", "position": [40.0, 10.0], **parts.get("hero", {})}
    smith = {"name": "Snorri", "position": [30.0, 4.0], **parts.get("runesmith", {})}
    guard = {**unit("Guard", position=[8.0, 10.0]), **parts.get("guard", {})}
    boyz = unit("Boyz", toughness=4, points=5.0, position=[24.0, 22.0], facing=180.0)
    wolves = unit("Wolves", position=[8.0, 40.0], facing=180.0)
    terrain = [parts["wood"]] if "wood" in parts else []
    made = scenario(
        army(without_none(mage), runesmiths=[smith], heroes=[hero], units=[guard]),
        army(units=[{**boyz, **parts.get("enemy", {})}, wolves]),
        phases=2,
        ruleset=parts.get("ruleset", "6e"),
        battlefield={"width": 48.0, "depth": 48.0, "terrain": terrain},
    )
    return pack(made).tobytes()


@pytest.mark.parametrize("model", EXAMPLES, ids=lambda model: model.__name__)
def test_every_field_has_an_example_or_a_reason(model: type[BaseModel]) -> None:
    own = set(model.model_fields)
    if model in (Wizard, Runesmith):
        own -= set(Character.model_fields)
    reasons = NOT_PACKED.get(model, {})
    assert EXAMPLES[model].keys() | reasons.keys() == own
    assert not EXAMPLES[model].keys() & reasons.keys()


@pytest.mark.parametrize(
    ("before", "after"),
    [pair for fields in EXAMPLES.values() for pair in fields.values()],
    ids=[f"{model.__name__}.{field}" for model, fields in EXAMPLES.items() for field in fields],
)
def test_a_changed_field_changes_the_packed_bytes(before: Parts, after: Parts) -> None:
    assert packed(before) != packed(after)
