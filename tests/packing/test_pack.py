"""The arrays that the engine reads, for short scenarios."""

from typing import Any

import numpy as np
import pytest

from tests.support.builders import Data, army, miscast, spell, wizard
from tests.support.packed import packed, scenario
from wfb_gym.packing import pack
from wfb_gym.packing.records import (
    GENERATED,
    PACKED_SCENARIO,
    DispelUse,
    Duration,
    EffectKind,
    Limit,
    Lock,
    RerollKind,
    Whose,
)
from wfb_gym.scenario import Scenario, ScenarioError
from wfb_gym.scenario.sizes import NO_BEARER, NO_SAVE

BOLT = spell("Bolt", 8, 40.0)
BOYZ = {"name": "Boyz", "models": 10, "toughness": 4, "points": 5.0}
LEVEL_LOST = {"kind": "level_lost"}


def own_table(*rows: Data) -> Data:
    """Return scenario keys of a miscast table of the scenario's own."""
    return {"rules": {"miscast_table": "own"}, "miscast_tables": {"own": {"rows": list(rows)}}}


def problem_key(caster: Data, **more: Any) -> str:
    """Return the key named by the error for a scenario over capacity."""
    with pytest.raises(ScenarioError) as caught:
        scenario(caster, **more)
    assert len(caught.value.problems) == 1, str(caught.value)
    return caught.value.problems[0].key


def test_shape_and_type() -> None:
    packed = pack(scenario())
    assert isinstance(packed, np.recarray)
    assert packed.shape == (1,)
    assert packed.dtype.fields == PACKED_SCENARIO.fields


def test_switches_and_phases() -> None:
    sixth, seventh = packed(phases=5), packed(ruleset="7e")
    names = ("phases", "own_dice", "dispel_double_six", "dispel_one_turn", "reroll_all_dice")
    assert [sixth[name] for name in names] == [5, 0, 0, 1, 0]
    assert [seventh[name] for name in names] == [1, 1, 1, 0, 1]


RING: Data = {"power_level": 3, "spell": {"name": "Fire Ball"}}
WITH_RING = army(heroes=[{"name": "Karl", "items": ["Ring"]}])


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
        (WITH_RING, army(units=[BOYZ]), {"items": [{"name": "Ring", "bound": RING}]}, 1),
        # A bound spell of fixed worth makes no battle of armies.
        (
            WITH_RING,
            army(units=[BOYZ]),
            {
                "items": [
                    {"name": "Ring", "bound": {**RING, "spell": {**RING["spell"], "worth": 9.0}}}
                ]
            },
            0,
        ),
    ],
)
def test_panic(caster: Data, dispeller: Data, keys: Data, panic: int) -> None:
    assert packed(caster, dispeller, **keys).panic == panic


def test_scoring() -> None:
    assert packed().victory_points == 0
    assert packed(rules={"scoring": "victory_points"}).victory_points == 1


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
    side = packed(
        army(
            wizard(2, leadership=5),
            wizard(1, name="Pink", daemon_unit="Horrors"),
            heroes=[{"profile": "Captain", "general": True}],
            units=[{"profile": "Horrors", "models": 12, "leadership": 4}],
        )
    ).armies[0]
    assert [who.leadership for who in side.wizards[:3]] == [5, 4, 8]
    assert [who.general for who in side.wizards[:3]] == [0, 0, 1]


def test_pools_are_generated_or_fixed() -> None:
    caster, dispeller = packed({"power_dice": 0}, {"dispel_dice": 7, "dwarf": True}).armies
    assert (caster.base_power, caster.base_dispel) == (2, 2)
    assert (caster.fixed_power, caster.fixed_dispel) == (0, GENERATED)
    assert (dispeller.base_power, dispeller.base_dispel) == (2, 4)
    assert (dispeller.fixed_power, dispeller.fixed_dispel) == (GENERATED, 7)


@pytest.mark.parametrize(("level", "dice"), [(1, 1), (2, 1), (3, 2), (4, 2)])
def test_wizard(level: int, dice: int) -> None:
    side = packed(army(wizard(level, points=255, wounds=3))).armies[0]
    mage = side.wizards[0]
    assert side.n_wizards == 1
    assert (mage.level, mage.dispel_dice, mage.rune, mage.reserve) == (level, dice, 0, GENERATED)
    assert (mage.armour_save, mage.ward_save) == (NO_SAVE, NO_SAVE)
    assert mage.points_per_wound == 85.0


@pytest.mark.parametrize(
    ("status", "expected"),
    [
        ("ready", (1, 1, 0)),
        ("rallied", (1, 1, 0)),
        ("fleeing", (1, 1, 1)),
        ("off_table", (0, 1, 0)),
        ("dead", (0, 0, 0)),
    ],
)
def test_status(status: str, expected: tuple[int, int, int]) -> None:
    mage = packed(army(wizard(2, status=status))).armies[0].wizards[0]
    assert (mage.on_table, mage.alive, mage.fleeing) == expected


@pytest.mark.parametrize(("ruleset", "runelord_dice"), [("6e", 1), ("7e", 2)])
def test_runesmiths_come_after_the_wizards(ruleset: str, runelord_dice: int) -> None:
    runesmiths = [
        {"name": "Lord", "rank": "runelord", "wounds": 3, "points": 150},
        {"name": "Smith", "status": "fleeing"},
    ]
    side = packed(army(), army(wizard(2), runesmiths=runesmiths), ruleset=ruleset).armies[1]
    assert side.n_wizards == 3
    _, lord, smith = side.wizards[:3]
    assert (lord.level, lord.rune, lord.dispel_dice, lord.fleeing) == (0, 1, runelord_dice, 0)
    assert lord.points_per_wound == 50.0
    assert (smith.rune, smith.dispel_dice, smith.fleeing) == (1, 1, 1)


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


@pytest.mark.parametrize(
    ("recast", "expected"),
    [
        ("side", [0b00101, 0b00010, 0b00101, 0b01000, 0b10000]),
        ("caster", [0b00001, 0b00010, 0b00100, 0b01000, 0b10000]),
    ],
)
def test_barred_by_the_same_spell_in_play(recast: str, expected: list[int]) -> None:
    wall = {"name": "Wall of Fire", "worth": 1}
    side = packed(
        army(
            wizard(2, wall, BOLT),
            wizard(2, wall, name="Berta"),
            wizard(2, spell("Wall of Fire", 12, 1, duration="remains_in_play"), name="Carla"),
            wizard(2, {**BOLT, "name": "Other"}, name="Dora"),
        ),
        rules={"in_play_recast": recast},
    ).armies[0]
    assert [spell.barred_by for spell in side.spells[:5]] == expected


def test_equal_items_of_one_bearer_share_a_slot() -> None:
    scroll = "Dispel Scroll"
    runesmith = {"name": "Rolf", "items": ["Rune of Spellbreaking"] * 3}
    side = packed(
        army(
            wizard(2, items=[scroll]),
            items=[scroll, "Power Familiar", scroll, "Power Familiar"],
            runesmiths=[runesmith],
        )
    ).armies[0]
    assert side.n_items == 4
    items = side.items[:4]
    assert [item.bearer for item in items] == [NO_BEARER, NO_BEARER, 0, 1]
    assert [item["count"] for item in items] == [2, 0, 1, 3]
    assert (items[1].power_dice, items[1].dispel_dice) == (2, 2)
    reads, none = DispelUse.AUTOMATIC, DispelUse.NONE
    assert [item.dispel_use for item in items] == [reads, none, reads, reads]
    assert [item.ends_own_spells for item in items] == [1, 0, 1, 0]


def test_slots_are_computed_once_and_name_their_items() -> None:
    battle = scenario(army(wizard(2, BOLT, items=["Starwood Staff", "Power Stone"])))
    slots = battle.slots[0]
    assert battle.slots is battle.slots
    assert battle.slots is not scenario().slots
    assert [(slot.bearer, slot.item.name, slot.copies) for slot in slots.items] == [
        (0, "Power Stone", 1)
    ]
    assert [(slot.wizard, slot.spell.name) for slot in slots.spells] == [(0, "Bolt")]


def test_items_that_only_change_their_bearer_need_no_slot() -> None:
    items = ["Starwood Staff", "Wizard's Staff", "Jewel of the Dusk", "Darkstar Cloak"]
    side = packed(army(wizard(2, items=items))).armies[0]
    mage = side.wizards[0]
    assert side.n_items == 0
    assert (mage.cast_bonus, mage.extra_dice_cap, mage.bearer_dice) == (1, 1, 2)


def test_power_stone_and_luckstone() -> None:
    side = packed(army(wizard(2, items=["Power Stone", "Luckstone"]))).armies[0]
    stone, luck = side.items[:2]
    assert (stone.cast_use, stone.cast_extra_dice, stone.cast_not_irresistible) == (1, 2, 1)
    assert (stone.ends_own_spells, stone.stores_dice, stone.dispel_use) == (1, 1, DispelUse.NONE)
    assert (luck.reroll_cast, luck.reroll_dispel) == (RerollKind.ONE, RerollKind.ONE)
    assert (luck.dispel_use, luck.cast_use) == (DispelUse.BOOST, 0)
    assert (luck["count"], luck.changes_natural) == (1, 0)


def test_own_items() -> None:
    own: list[Data] = [
        {"when_casting": {"bonus": -1}, "dispel_bonus": -2},
        {"when_dispelling": {"bonus": 3}, "power_dice": 1},
        {"reroll": {"of": "cast", "dice": "all", "changes_natural": True}},
        {"reroll": {"of": "dispel", "dice": "all"}},
    ]
    items = [{"name": str(i), "uses": 1, **each} for i, each in enumerate(own)]
    side = packed(army(items=[item["name"] for item in items]), items=items).armies[0]
    cast, boost, again, dispel = side.items[:4]
    assert (cast.cast_use, cast.cast_not_irresistible, cast.cast_extra_dice) == (1, 0, 0)
    assert (cast.cast_use_bonus, cast.dispel_bonus) == (-1, -2)
    assert (boost.dispel_use, boost.dispel_use_bonus, boost.power_dice) == (DispelUse.BOOST, 3, 1)
    assert (again.reroll_cast, again.reroll_dispel) == (RerollKind.ALL, RerollKind.NONE)
    assert (again.dispel_use, again.changes_natural) == (DispelUse.NONE, 1)
    assert (dispel.reroll_cast, dispel.reroll_dispel) == (RerollKind.NONE, RerollKind.ALL)
    assert dispel.dispel_use == DispelUse.BOOST


def test_contacts_of_both_armies() -> None:
    own = {"side": "own", "models": 1, "toughness": 5, "ward_save": 4, "points": 50}
    enemy = {"side": "enemy", "models": 20, "armour_save": 6}
    record = packed(
        army(wizard(2), wizard(2, name="Berta", base_contact=[own, enemy])),
        army(runesmiths=[{"name": "Rolf", "base_contact": [own, enemy]}]),
    )
    assert record.n_contacts == 4
    contacts = record.contacts[:4]
    owners = [(c.army, c.wizard, c.owner) for c in contacts]
    assert owners == [(0, 1, 0), (0, 1, 1), (1, 0, 1), (1, 0, 0)]
    assert [(c.models, c.toughness, c.points) for c in contacts[:2]] == [(1, 5, 50.0), (20, 3, 5.0)]
    assert [(c.armour_save, c.ward_save) for c in contacts[:2]] == [(NO_SAVE, 4), (6, NO_SAVE)]


HIT = {"strength": 6, "armour_save": False}
EFFECTS: list[tuple[str, Data, Data]] = [
    ("points_lost", {"points": 30}, {"points": 30.0}),
    ("caster_hit", {"strength": 4}, {"strength": 4, "armour_save": 1}),
    ("base_contact_hit", HIT, {"strength": 6}),
    ("caster_hits", {"dice": "D6", **HIT}, {"strength": 6, "dice_faces": 6}),
    (
        "caster_hits",
        {"dice": "D3", "strength": 2},
        {"strength": 2, "armour_save": 1, "dice_faces": 3},
    ),
    ("caster_wounds", {"dice": "D3"}, {"dice_faces": 3}),
    ("other_wizards_wounds", {"dice": "D6"}, {"dice_faces": 6}),
    ("caster_removed", {}, {}),
    ("locked", {"until": "phase_end"}, {"until": Lock.PHASE_END}),
    (
        "locked",
        {"until": "own_next_phase", "bars_items": True},
        {"until": Lock.OWN_NEXT_PHASE, "bars_items": 1},
    ),
    ("locked", {"until": "six"}, {"until": Lock.SIX}),
    ("dice_lost", {"whose": "side"}, {"whose": Whose.SIDE}),
    ("dice_lost", {"whose": "caster"}, {"whose": Whose.CASTER}),
    ("stored_dice_lost", {}, {}),
    ("casting_ends", {}, {}),
    ("phase_ends", {}, {}),
    ("in_play_ends", {"whose": "all"}, {"whose": Whose.ALL}),
    ("spell_forgotten", {}, {}),
    ("spell_forgotten", {"whose": "side"}, {"whose": Whose.SIDE}),
    ("level_lost", {}, {}),
    ("spell_succeeds", {}, {}),
    ("free_spell", {}, {"limit": Limit.ANY}),
    ("free_spell", {"limit": "miscast_value"}, {"limit": Limit.MISCAST_VALUE}),
]
"""Effects of a miscast: kind, keys, and the packed fields that are not 0."""


def test_every_effect() -> None:
    record = packed(**miscast(*({"kind": kind, **keys} for kind, keys, _ in EFFECTS)))
    for (kind, _, expected), effect in zip(EFFECTS, record.effects, strict=False):
        names = effect.dtype.names
        fields = {**dict.fromkeys(names, 0), **expected, "kind": EffectKind[kind.upper()]}
        assert {name: effect[name] for name in names} == fields
    assert {kind.upper() for kind, _, _ in EFFECTS} == set(EffectKind.__members__)
    assert record.wounds_others == 1


def test_miscast_rows() -> None:
    record = packed(
        **own_table(
            {"roll": [8, 12], "effects": [{"kind": "phase_ends"}]},
            {"roll": 7},
            {"roll": [2, 6], "effects": [LEVEL_LOST, {"kind": "casting_ends"}]},
        )
    )
    assert record.n_miscast_rows == 3
    assert record.miscast_dice.tolist() == [2, 0, 0]
    assert record.miscast_row[0][2:].tolist() == [2] * 5 + [1] + [0] * 5
    assert [tuple(row) for row in record.miscast_rows[:3]] == [(0, 1), (1, 0), (1, 2)]
    assert record.wounds_others == 0


def test_each_wizard_has_the_table_of_his_own_of_his_army_or_of_the_rules() -> None:
    """Tables are stored one after the other, the ruleset's first; each has its number of dice."""
    hexes = {"dice": 1, "rows": [{"roll": [1, 6], "effects": [LEVEL_LOST]}]}
    record = packed(
        army(wizard(2), wizard(2, name="Berta", miscast_table="hexes")),
        army(wizard(2), miscast_table="gut-magic", runesmiths=[{"name": "Rolf"}]),
        miscast_tables={"hexes": hexes},
    )
    assert record.n_miscast_tables == 3
    assert record.miscast_dice.tolist() == [2, 1, 1]
    own, other = record.armies
    assert [who.miscast_table for who in own.wizards[:2]] == [0, 1]
    assert [who.miscast_table for who in other.wizards[:2]] == [2, 0]
    row = record.miscast_rows[record.miscast_row[1][1]]
    assert len(set(record.miscast_row[1][1:7].tolist())) == 1
    assert (row["count"], record.effects[row["first"]].kind) == (1, EffectKind.LEVEL_LOST)


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


# --- exceeded capacities -------------------------------------------------------------------

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
        (
            army(wizard(2, items=NAMES[7:]), items=NAMES[:7]),
            NINE_ITEMS,
            "caster.wizards[0].items[1]",
        ),
        (army(items=["Wand"] * 3), WAND, "caster.items[0]"),
        (
            army(*TOUCHED["wizards"], wizard(2, name="Berta", base_contact=[CONTACT])),
            {"dispeller": TOUCHED},
            "dispeller.wizards[0].base_contact[7]",
        ),
        (army(), EFFECTS_49, "miscast_tables.own.rows"),
    ],
)
def test_scenarios_over_capacity_are_rejected(caster: Data, keys: Data, key: str) -> None:
    assert problem_key(caster, **keys) == key


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
    unchecked = Scenario.model_validate(
        {"name": "test", "caster": army(*WIZARDS), "dispeller": army()}
    )
    with pytest.raises(ScenarioError, match=r"caster\.power_dice: expected at most 24"):
        pack(unchecked)
