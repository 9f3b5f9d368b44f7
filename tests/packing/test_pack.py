"""The arrays that the engine reads, for short scenarios."""

from typing import Any

import pytest

from tests.support.builders import Data, army, miscast, spell, wizard
from tests.support.errors import problem_of
from tests.support.packed import packed, scenario
from wfb_gym.packing import pack
from wfb_gym.packing.records import DispelUse, Duration
from wfb_gym.scenario import Scenario, ScenarioError
from wfb_gym.scenario.sizes import NO_BEARER

BOLT = spell("Bolt", 8, 40.0)
BOYZ = {"name": "Boyz", "models": 10, "toughness": 4, "points": 5.0}
LEVEL_LOST = {"kind": "level_lost"}


def own_table(*rows: Data) -> Data:
    return {"rules": {"miscast_table": "own"}, "miscast_tables": {"own": {"rows": list(rows)}}}


def test_switches_and_phases() -> None:
    names = (
        "phases", "own_dice", "dispel_double_six", "dispel_one_turn", "reroll_all_dice",
        "victory_points", "in_play_recast_side",
    )  # fmt: skip
    for record, expected in (
        (packed(phases=5), [5, 0, 0, 1, 0, 0, 1]),
        (packed(ruleset="7e"), [1, 1, 1, 0, 1, 0, 0]),
        (packed(rules={"scoring": "victory_points"}), [1, 0, 0, 1, 0, 1, 1]),
    ):
        assert [record[name] for name in names] == expected


WITH_RING = army(heroes=[{"name": "Karl", "items": ["Ring"]}])


def ring(**keys: Any) -> Data:
    bound = {"power_level": 3, "spell": {"name": "Fire Ball", **keys}}
    return {"items": [{"name": "Ring", "bound": bound}]}


@pytest.mark.parametrize(
    ("caster", "dispeller", "keys", "panic"),
    [
        (army(units=[BOYZ]), army(), {}, 1),
        (army(units=[BOYZ]), army(), {"ruleset": "7e"}, 1),
        (army(units=[BOYZ]), army(), {"rules": {"panic": False}}, 0),
        (army(), army(), {}, 0),
        (army(wizard(2, lore="Fire")), army(), {}, 0),
        (army(wizard(2, BOLT)), army(units=[BOYZ]), {}, 0),
        (army(wizard(2, BOLT)), army(units=[BOYZ]), {"rules": {"panic": True}}, 1),
        (WITH_RING, army(units=[BOYZ]), ring(), 1),
        # A bound spell of fixed worth makes no battle of armies.
        (WITH_RING, army(units=[BOYZ]), ring(worth=9.0), 0),
    ],
)
def test_panic(caster: Data, dispeller: Data, keys: Data, panic: int) -> None:
    assert packed(caster, dispeller, **keys).panic == panic


def test_leadership_and_who_panics() -> None:
    traits = [
        ["flyer"], ["undead"], ["daemons"], ["unbreakable"], ["immune_to_psychology"],
        ["flammable", "immune_to_panic"],
    ]  # fmt: skip
    units = [{**BOYZ, "name": f"Unit {i}", "traits": each} for i, each in enumerate(traits)]
    rats, host = {"profile": "Clanrats", "models": 20}, {**BOYZ, "name": "Host", "leadership": 10}
    side = packed(army(units=[*units, rats, BOYZ, host])).armies[0]
    assert [unit.panics for unit in side.units[:9]] == [1, 0, 0, 0, 0, 0, 1, 1, 1]
    assert [unit.leadership for unit in side.units[6:9]] == [5, 7, 10]


def test_leadership_of_characters_and_the_general() -> None:
    mages = wizard(2, leadership=5), wizard(1, name="Pink", daemon_unit="Horrors")
    captain = {"profile": "Captain", "general": True}
    horrors = {"profile": "Horrors", "models": 12, "leadership": 4}
    side = packed(army(*mages, heroes=[captain], units=[horrors])).armies[0]
    assert [(who.leadership, who.general) for who in side.wizards[:3]] == [(5, 0), (4, 0), (8, 1)]


def test_spells() -> None:
    ward = spell("Ward", 7, 1, duration="remains_in_play")
    held = {**ward, "worth_per_phase": 2.5, "in_play": True, "survives_caster": True}
    blaze = spell("Blaze", 9, 2, duration="one_turn")
    side = packed(army(wizard(2, BOLT, ward), wizard(2, held, blaze, name="Berta"))).armies[0]
    assert side.n_spells == 4
    assert [wizard.spells for wizard in side.wizards[:3]] == [0b0011, 0b1100, 0]
    names = ("wizard", "worth", "duration", "worth_per_phase", "in_play", "survives_caster")
    assert [tuple(each[name] for name in names) for each in side.spells[:4]] == [
        (0, 40.0, Duration.INSTANT, 0.0, 0, 0),
        (0, 1.0, Duration.REMAINS_IN_PLAY, 0.0, 0, 0),
        (1, 1.0, Duration.REMAINS_IN_PLAY, 2.5, 1, 1),
        (1, 2.0, Duration.ONE_TURN, 0.0, 0, 1),
    ]


def test_equal_items_of_one_bearer_share_a_slot() -> None:
    scroll, familiar = "Dispel Scroll", "Power Familiar"
    smith = {"name": "Rolf", "items": ["Rune of Spellbreaking"] * 3}
    own = army(wizard(2, items=[scroll]), items=[scroll, familiar] * 2, runesmiths=[smith])
    side = packed(own).armies[0]
    assert side.n_items == 4
    items = side.items[:4]
    assert [item.bearer for item in items] == [NO_BEARER, NO_BEARER, 0, 1]
    assert [item["count"] for item in items] == [2, 0, 1, 3]
    assert (items[1].power_dice, items[1].dispel_dice) == (2, 2)
    reads, none = DispelUse.AUTOMATIC, DispelUse.NONE
    assert [item.dispel_use for item in items] == [reads, none, reads, reads]
    assert [item.ends_own_spells for item in items] == [1, 0, 1, 0]


def test_items_that_only_change_their_bearer_need_no_slot() -> None:
    items = ["Starwood Staff", "Wizard's Staff", "Jewel of the Dusk", "Darkstar Cloak"]
    items += ["Book of Hoeth", "Silver Wand"]
    made = scenario(army(wizard(2, BOLT, items=[*items, "Power Stone"])))
    side = pack(made)[0].armies[0]
    mage = side.wizards[0]
    assert side.n_items == 1
    assert (mage.cast_bonus, mage.extra_dice_cap, mage.bearer_dice) == (1, 1, 2)
    slots = made.slots[0]
    assert made.slots is made.slots
    found = [(slot.bearer, slot.item.name, slot.copies) for slot in slots.items]
    assert found == [(0, "Power Stone", 1)]
    assert [(slot.wizard, slot.spell.name) for slot in slots.spells] == [(0, "Bolt")]


def test_rows_with_like_effects_are_one_outcome_whatever_their_table() -> None:
    like = {"effects": [LEVEL_LOST]}
    tables = {
        "a": {"rows": [{"roll": [2, 7], **like}, {"roll": [8, 12]}]},
        "b": {"dice": 1, "rows": [{"roll": [1, 2]}, {"roll": [3, 6], **like}]},
    }
    caster = army(wizard(2), miscast_table="b")
    record = packed(caster, rules={"miscast_table": "a"}, miscast_tables=tables)
    assert record.n_miscast_rows == 2
    assert record.miscast_row[0][2:].tolist() == [0] * 6 + [1] * 5
    assert record.miscast_row[1][1:7].tolist() == [1, 1, 0, 0, 0, 0]
    assert record.wounds_others == 0
    others = {"kind": "other_wizards_wounds", "dice": "D6"}
    assert packed(**miscast(LEVEL_LOST, others)).wounds_others == 1


WIZARDS = [wizard(4, name=str(i)) for i in range(6)]
TABLES: Data = {"miscast_tables": {name: {"rows": [{"roll": [2, 12]}]} for name in "abc"}}
WITH_TABLES = [wizard(2, name=name, miscast_table=name) for name in "abc"]
TEN_DICE: Data = {"items": [{"name": "Ten", "power_dice": 10, "dispel_dice": 12}]}
WELL: Data = {"items": [{"name": "Well", "bearer_dice": 12}]}
TWO_WELLS = army(wizard(2, items=["Well", "Well"]))
STAFF: Data = {"items": [{"name": "Staff", "cast_bonus": -12}]}
SHIELD: Data = {"items": [{"name": "Shield", "dispel_bonus": 12}]}
WAND: Data = {"items": [{"name": "Wand", "uses": 12, "when_casting": {"bonus": 1}}]}
NAMES = [str(i) for i in range(9)]
NINE_ITEMS: Data = {"items": [{"name": name, "dispel_bonus": 1} for name in NAMES]}
EFFECTS_49 = own_table({"roll": [2, 12], "effects": [LEVEL_LOST] * 49})
CONTACT = {"side": "own", "models": 1}
TOUCHED = army(wizard(2, base_contact=[CONTACT] * 8))


@pytest.mark.parametrize(
    ("caster", "keys", "key"),
    [
        (army(*WITH_TABLES), TABLES, "miscast_tables"),
        (army(*WIZARDS), {}, "caster.power_dice"),
        (army(items=["Ten", "Ten"], power_dice=2), TEN_DICE, "caster.dispel_dice"),
        (TWO_WELLS, {**WELL, "ruleset": "7e"}, "caster.wizards[0].items"),
        (army(wizard(2, items=["Staff"] * 3)), STAFF, "caster.wizards[0].items"),
        (army(items=["Shield"] * 3), SHIELD, "caster.items[0]"),
        (army(wizard(2, items=NAMES[7:]), items=NAMES[:7]), NINE_ITEMS,
         "caster.wizards[0].items[1]"),
        (army(items=["Wand"] * 3), WAND, "caster.items[0]"),
        (army(*TOUCHED["wizards"], wizard(2, name="Berta", base_contact=[CONTACT])),
         {"dispeller": TOUCHED}, "dispeller.wizards[0].base_contact[7]"),
        (army(), EFFECTS_49, "miscast_tables.own.rows"),
    ],
)  # fmt: skip
def test_scenarios_over_capacity_are_rejected(caster: Data, keys: Data, key: str) -> None:
    assert problem_of(caster, lambda each: scenario(each, **keys)).split(": ")[1] == key


def test_scenarios_at_capacity_are_packed() -> None:
    assert packed(army(*WITH_TABLES[:2]), **TABLES).n_miscast_tables == 3
    assert packed(army(*WIZARDS, power_dice=24)).armies[0].fixed_power == 24
    assert packed(army(*WIZARDS), ruleset="7e").armies[0].n_wizards == 6
    for last in (wizard(2), wizard(4, status="fleeing")):
        assert packed(army(*WIZARDS[:5], last)).armies[0].n_wizards == 6
    dead = army(wizard(2, items=["Ten"], status="dead"), items=["Ten"])
    assert packed(dead, **TEN_DICE).armies[0].n_items == 2
    assert packed(TWO_WELLS, **WELL).armies[0].wizards[0].bearer_dice == 24
    assert packed(army(items=NAMES[:8]), **NINE_ITEMS).armies[0].n_items == 8
    assert packed(TOUCHED, TOUCHED).n_contacts == 16
    unused: Data = {"miscast_tables": EFFECTS_49["miscast_tables"]}
    assert packed(**unused).n_miscast_rows == 8


def test_packing_checks_scenarios_from_python() -> None:
    document = {"name": "test", "caster": army(*WIZARDS), "dispeller": army()}
    unchecked = Scenario.model_validate(document)
    with pytest.raises(ScenarioError, match=r"caster\.power_dice: expected at most 24"):
        pack(unchecked)
