"""Numbers at the bounds that scenarios declare are packed unchanged."""

from collections.abc import Iterator
from typing import Any, get_args

import numpy as np
import pytest
from pydantic import BaseModel

from tests.support.playing import play_randomly
from wfb_gym.engine.battle import Battle
from wfb_gym.packing import pack
from wfb_gym.scenario import ScenarioError, scenario_from_dict
from wfb_gym.scenario.army import Army
from wfb_gym.scenario.characters import BaseContact, Hero, Wizard
from wfb_gym.scenario.fields import Number, Whole
from wfb_gym.scenario.items import Bound, Item, Stores, WhenCasting, WhenDispelling
from wfb_gym.scenario.rulesets import Hit, PointsLost
from wfb_gym.scenario.scenario import Scenario
from wfb_gym.scenario.sizes import DICE
from wfb_gym.scenario.spells import Spell
from wfb_gym.scenario.units import Unit

Table = dict[str, Any]
BOLT = {"name": "Bolt", "casting_value": 3, "worth": 1}
FEW = 24
"""Numbers of copies of an item that a bearer may list."""


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


def document(**caster: Any) -> Table:
    return {
        "name": "bounds",
        "phases": 2,
        "caster": {"wizards": [{"name": "A", "level": 1, "spells": [BOLT]}], **caster},
        "dispeller": {"wizards": [{"name": "B", "level": 1}]},
    }


def with_item(copies: int = 1, **keys: Any) -> Table:
    wizard = {"name": "A", "level": 1, "spells": [BOLT], "items": ["Thing"] * copies}
    return {**document(wizards=[wizard]), "items": [{"name": "Thing", **keys}]}


def with_effect(**keys: Any) -> Table:
    rows = {"rows": [{"roll": [2, 12], "effects": [keys]}]}
    return {**document(), "rules": {"miscast_table": "own"}, "miscast_tables": {"own": rows}}


def cases() -> Iterator[tuple[type[BaseModel], str, Any, str]]:
    """Numbers that are packed: model, key, the form in a document, the packed field."""
    unit = {"name": "U", "models": 5, "toughness": 3, "points": 1, "frontage": 1}
    for key in ("models", "wounds", "magic_resistance", "points"):
        yield Unit, key, lambda v, k=key: document(units=[{**unit, k: v}]), f"army.units[0].{key}"
    for key in ("toughness", "wounds", "armour_save", "ward_save", "magic_resistance"):
        yield (
            Hero,
            key,
            lambda v, k=key: document(heroes=[{"name": "H", k: v}]),
            f"army.wizards[1].{key}",
        )
    for key in ("level", "reserve"):
        yield (
            Wizard,
            key,
            lambda v, k=key: document(wizards=[{"name": "A", "level": 1, "spells": [BOLT], k: v}]),
            f"army.wizards[0].{key}",
        )
    for key in ("power_dice", "dispel_dice"):
        place = f"army.fixed_{key.removesuffix('_dice')}"
        yield Army, key, lambda v, k=key: document(**{k: v}), place
    yield Scenario, "phases", lambda v: {**document(), "phases": v}, "phases"
    contact = {"side": "enemy", "models": 1}
    for key in ("models", "toughness", "armour_save", "ward_save", "points"):
        yield (
            BaseContact,
            key,
            lambda v, k=key: document(
                wizards=[{"name": "A", "level": 1, "base_contact": [{**contact, k: v}]}]
            ),
            f"contacts[0].{key}",
        )
    lasting = {**BOLT, "duration": "remains_in_play"}
    for key in ("casting_value", "worth", "worth_per_phase"):
        yield (
            Spell,
            key,
            lambda v, k=key: document(
                wizards=[{"name": "A", "level": 1, "spells": [{**lasting, k: v}]}]
            ),
            f"army.spells[0].{key}",
        )
    for key in ("extra_dice_cap", "cast_bonus", "bearer_dice"):
        yield Item, key, lambda v, k=key: with_item(**{k: v}), f"army.wizards[0].{key}"
    for key in ("power_dice", "dispel_dice", "dispel_bonus"):
        yield (
            Item,
            key,
            lambda v, k=key: with_item(**{"stores": {"dice": 1}, k: v}),
            f"army.items[0].{key}",
        )
    yield (
        Item,
        "takes_power_dice",
        lambda v: with_item(stores={"dice": 1}, takes_power_dice=v),
        "army.items[0].takes_power",
    )
    for key in ("extra_dice", "bonus"):
        yield (
            WhenCasting,
            key,
            lambda v, k=key: with_item(uses=1, when_casting={k: v}),
            f"army.items[0].cast_{'use_bonus' if key == 'bonus' else key}",
        )
    yield (
        WhenDispelling,
        "bonus",
        lambda v: with_item(uses=1, when_dispelling={"bonus": v}),
        "army.items[0].dispel_use_bonus",
    )
    yield (
        WhenDispelling,
        "forgotten_on",
        lambda v: with_item(uses=1, when_dispelling={"automatic": True, "forgotten_on": v}),
        "army.items[0].forgotten_on",
    )
    yield Stores, "dice", lambda v: with_item(stores={"dice": v}), "army.items[0].stores"
    spell = {"name": "Zap", "worth": 1}
    for key, place in (("uses", "items[0].count"), ("power_level", "spells[1].casting_value")):
        yield (
            Bound,
            key,
            lambda v, k=key: with_item(bound={"power_level": 5, "spell": spell, k: v}),
            f"army.{place}",
        )
    yield (
        PointsLost,
        "points",
        lambda v: with_effect(kind="points_lost", points=v),
        "effects[0].points",
    )
    yield (
        Hit,
        "strength",
        lambda v: with_effect(kind="caster_hit", strength=v),
        "effects[0].strength",
    )


CASES = list(cases())


def packed_at(packed: Any, place: str) -> Any:
    found = packed[0]
    for step in place.replace("army", "armies[0]").replace("[", ".").replace("]", "").split("."):
        found = found[int(step) if step.isdigit() else step]
    return found


@pytest.mark.parametrize(
    ("model", "key", "make", "place"), CASES, ids=[f"{m.__name__}.{k}" for m, k, _, _ in CASES]
)
def test_numbers_are_packed_as_they_are_written(
    model: type[BaseModel], key: str, make: Any, place: str
) -> None:
    written = bounds(model, key)
    for value in written:
        scenario = scenario_from_dict(make(value))
        packed = pack(scenario)
        assert packed_at(packed, place) == value
        for _ in play_randomly(Battle(packed), np.random.default_rng(1)):
            pass
    for beyond in (written[0] - 1, written[1] + 1):
        with pytest.raises(ScenarioError):
            scenario_from_dict(make(beyond))


@pytest.mark.parametrize(
    ("keys", "place"),
    [
        ({"uses": 12, "when_casting": {"bonus": 1}}, "items[0].count"),
        ({"takes_power_dice": 12}, "items[0].takes_power"),
        ({"extra_dice_cap": 12}, "wizards[0].extra_dice_cap"),
        ({"dispel_bonus": -12}, "items[0].dispel_bonus"),
        ({"cast_bonus": 12}, "wizards[0].cast_bonus"),
    ],
)
def test_copies_of_an_item_are_packed_or_rejected(keys: Table, place: str) -> None:
    """No overflow: all copies together are packed, up to the capacity of a pool."""
    each = next(v for v in keys.values() if type(v) is int)
    for copies in range(1, FEW + 1):
        document = with_item(copies, **keys)
        if abs(each) * copies > DICE:
            with pytest.raises(ScenarioError, match=f"expected at most {DICE} as "):
                scenario_from_dict(document)
        else:
            assert packed_at(pack(scenario_from_dict(document)), f"army.{place}") == each * copies


def struck(models: int, **damage: Any) -> Table:
    """Return a spell that strikes every model of a unit with the smallest bases."""
    spell = {
        "name": "Fall",
        "casting_value": 3,
        "target": "enemy_unit",
        "damage": {"strength": 10, **damage},
    }
    wizard = {"name": "A", "level": 4, "spells": [spell], "position": [60, 20]}
    unit = {"name": "U", "models": models, "toughness": 1, "wounds": 10, "points": 1000}
    unit |= {"frontage": models, "base": [1, 1], "position": [60, 40], "facing": 180}
    return {
        "name": "struck",
        "battlefield": {"width": 120, "depth": 120},
        "caster": {"wizards": [wizard], "power_dice": 12},
        "dispeller": {"units": [unit]},
    }


@pytest.mark.parametrize(
    "damage", [{"hits": "front_rank"}, {"hits": "template", "template": 24, "partial": 2}]
)
def test_more_models_than_can_be_struck_are_rejected(damage: Table) -> None:
    packed = pack(scenario_from_dict(struck(127, **damage)))
    assert packed[0]["hits"].max() == 127
    assert packed[0]["hits"].min() == 0
    for _ in play_randomly(Battle(packed), np.random.default_rng(1)):
        pass
    with pytest.raises(ScenarioError, match="at most 127 models of a unit struck at once"):
        pack(scenario_from_dict(struck(128, **damage)))
