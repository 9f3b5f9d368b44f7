"""Magic items that store dice, hold spells or destroy spells."""

from typing import Any

import pytest

from wfb_gym.scenario import Scenario, ScenarioError, scenario_from_dict
from wfb_gym.scenario.items import Bound, Item, Stores, bundled_items
from wfb_gym.scenario.spells import find_lore_spell

ZAP = {"name": "Zap", "target": "enemy_unit", "damage": {"hits": "1", "strength": 6}}


def scenario(*items: dict[str, Any], **caster: Any) -> Scenario:
    data = {"name": "test", "caster": caster, "dispeller": {}, "items": list(items)}
    read = scenario_from_dict(data)
    assert scenario_from_dict(read.model_dump()) == read
    return read


def thing(**keys: Any) -> Item:
    return scenario({"name": "Thing", **keys}).items[0]


def refused(*items: dict[str, Any], **caster: Any) -> str:
    """Return the error for a scenario with one fault."""
    with pytest.raises(ScenarioError) as caught:
        scenario(*items, **caster)
    assert len(caught.value.problems) == 1, str(caught.value)
    return str(caught.value)


def refused_thing(**keys: Any) -> str:
    return refused({"name": "Thing", **keys})


def bound(**keys: Any) -> Bound:
    held = thing(bound={"power_level": 4, **keys}).bound
    assert held is not None
    return held


@pytest.mark.parametrize(
    ("name", "stores"),
    [
        ("Rod of Power", Stores(dice=3, check=True)),
        ("Black Periapt", Stores(dice=1, either_phase=True)),
    ],
)
def test_items_that_store_dice(name: str, stores: Stores) -> None:
    item = bundled_items()[name]
    assert (item.stores, item.stores_dice, item.uses) == (stores, True, 0)
    assert item.needs_slot


@pytest.mark.parametrize("name", ["Seal of Destruction", "Sigil of Asuryan", "Spelleater Rune"])
def test_items_that_make_a_caster_forget(name: str) -> None:
    item = bundled_items()[name]
    assert item.when_dispelling is not None
    assert (item.when_dispelling.automatic, item.when_dispelling.forgotten_on) == (True, 4)
    assert (item.uses, item.ends_own_spells) == (1, name == "Seal of Destruction")


def test_only_what_dispels_without_a_roll_makes_forget() -> None:
    assert refused_thing(uses=1, when_dispelling={"bonus": 2, "forgotten_on": 4}) == (
        "scenario: items[0].when_dispelling.forgotten_on: expected no value without "
        "automatic = true, found 4"
    )


@pytest.mark.parametrize(
    ("key", "value"), [("any_double", True), ("extra_spells", 1), ("cast_bonus", 1)]
)
def test_some_items_serve_only_a_wizard_who_carries_them(key: str, value: object) -> None:
    item = {"name": "Thing", key: value}
    assert (
        not scenario(item, wizards=[{"name": "Anna", "level": 1, "items": ["Thing"]}])
        .items[0]
        .needs_slot
    )
    for place, owner in (("heroes", "Hero"), ("runesmiths", "Smith")):
        assert refused(item, **{place: [{"name": owner, "items": ["Thing"]}]}) == (
            f"scenario: caster.{place}[0].items[0]: expected an item without {key}, which only a "
            f'wizard who carries it can use, found "Thing" of {owner}'
        )


def test_the_master_rune_of_balance_takes_a_die() -> None:
    item = bundled_items()["Master Rune of Balance"]
    assert item.takes_power_dice == 1
    assert item.needs_slot


def test_a_bound_spell_of_a_lore() -> None:
    held = bound(spell={"name": "Fire Ball"})
    found = find_lore_spell("Fire Ball")
    assert found is not None
    assert (held.power_level, held.uses) == (4, 0)
    assert (held.spell.lore, held.spell.effect) == ("Fire", found.effect)


def test_a_bound_spell_of_a_lore_with_fixed_worth() -> None:
    held = bound(spell={"name": "Fire Ball", "worth": 12}, uses=2)
    assert (held.spell.lore, held.spell.effect, held.spell.worth) == ("Fire", None, 12.0)
    assert held.uses == 2


@pytest.mark.parametrize("spell", [ZAP, {**ZAP, "name": "Fire Ball"}, {"name": "Zap", "worth": 5}])
def test_a_bound_spell_of_the_scenarios_own(spell: dict[str, Any]) -> None:
    held = bound(spell=spell)
    assert (held.spell.lore, held.spell.casting_value) == (None, 4)
    assert (held.spell.effect is None) == ("worth" in spell)


def test_an_item_with_a_bound_spell_needs_a_slot() -> None:
    assert thing(bound={"power_level": 4, "spell": ZAP}).needs_slot


@pytest.mark.parametrize(
    ("keys", "message"),
    [
        (
            {"power_level": 4, "spell": {**ZAP, "casting_value": 5}},
            "spell.casting_value: expected no value, as a bound spell has its power level, found 5",
        ),
        (
            {"power_level": 2, "spell": ZAP},
            "power_level: expected a whole number from 3 to 15, found 2",
        ),
        ({"spell": ZAP}, "power_level: expected a value, as the key is required, found no"),
        ({"power_level": 4}, "spell: expected a value, as the key is required, found no such key"),
        ({"power_level": 4, "spell": {"name": "Fire Bal"}}, "spell.name: expected a spell of a lo"),
        (
            {
                "power_level": 4,
                "spell": {**ZAP, "duration": "remains_in_play", "in_play": True, "in_play_on": "A"},
            },
            "spell.in_play: expected false for a bound spell, found true",
        ),
        ({"power_level": 4, "spell": ZAP, "uses": 13}, "uses: expected a whole number from 0 to"),
    ],
)
def test_a_wrong_bound_spell_gives_an_error(keys: dict[str, Any], message: str) -> None:
    assert refused_thing(bound=keys).startswith(f"scenario: items[0].bound.{message}")


@pytest.mark.parametrize("place", ["wizards", "runesmiths", "heroes"])
def test_every_character_can_carry_a_bound_spell(place: str) -> None:
    level = {"level": 1} if place == "wizards" else {}
    army = scenario(**{place: [{"name": "Anna", "items": ["Ring of Flame"], **level}]}).caster
    assert army.characters[0].items == ("Ring of Flame",)


def test_a_bound_spell_needs_a_bearer() -> None:
    assert refused(items=["Ring of Flame"]) == (
        "scenario: caster.items[0]: expected an item without a bound spell, which only a "
        'character who carries it casts, found "Ring of Flame" of the army itself'
    )


@pytest.mark.parametrize("second", ["Ring of Flame", "Storm Stone"])
def test_a_character_carries_one_item_with_a_bound_spell(second: str) -> None:
    anna = {"name": "Anna", "level": 1, "items": ["Ring of Flame", "Dispel Scroll", second]}
    assert refused(wizards=[anna]) == (
        "scenario: caster.wizards[0].items[2]: expected at most one item with a bound spell, "
        f'found "{second}" of Anna'
    )
    anna["items"] = ["Ring of Flame"]
    captain = {"name": "Captain", "items": [second]}
    assert scenario(wizards=[anna], heroes=[captain]).caster.heroes[0].items == (second,)


def test_bundled_bound_items_are_marked_as_house_rules() -> None:
    held = [item for item in bundled_items().values() if item.bound is not None]
    assert [item.name for item in held] == ["Ring of Flame", "Storm Stone"]
    assert {item.source for item in held} == {"ours"}


def test_stores_hold_at_least_one_die() -> None:
    assert refused_thing(stores={"dice": 0}) == (
        "scenario: items[0].stores.dice: expected a whole number from 1 to 12, found 0"
    )


def test_items_that_store_dice_may_be_emptied() -> None:
    assert thing(stores={"dice": 2}, stores_dice=True).stores_dice
    assert refused_thing(stores_dice=True) == (
        "scenario: items[0].stores_dice: expected false if uses is 0 and it has no stores, "
        "found true"
    )
