"""The arrays that the engine reads, for short scenarios."""

from typing import Any

import numpy as np
import pytest

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
from wfb_gym.scenario import Scenario, ScenarioError, scenario_from_dict
from wfb_gym.scenario.sizes import NO_BEARER, NO_SAVE

BOLT = {"name": "Bolt", "casting_value": 8, "worth": 40.0}
BOYZ = {"name": "Boyz", "models": 10, "toughness": 4, "points": 5.0}


def scenario(
    caster: dict[str, Any] | None = None, dispeller: dict[str, Any] | None = None, **more: Any
) -> Scenario:
    return scenario_from_dict(
        {"name": "test", "caster": caster or {}, "dispeller": dispeller or {}, **more}
    )


def packed(
    caster: dict[str, Any] | None = None, dispeller: dict[str, Any] | None = None, **more: Any
) -> Any:
    """Return the one record of a packed scenario."""
    return pack(scenario(caster, dispeller, **more))[0]


def wizard(**changes: Any) -> dict[str, Any]:
    return {"name": "Anna", "level": 2, **changes}


def problem_key(caster: dict[str, Any], **more: Any) -> str:
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
    assert packed[0].armies[1].base_power == 2


def test_switches_and_phases() -> None:
    sixth, seventh = packed(phases=5), packed(ruleset="7e")
    names = ("phases", "own_dice", "dispel_double_six", "dispel_one_turn", "reroll_all_dice")
    assert [sixth[name] for name in names] == [5, 0, 0, 1, 0]
    assert [seventh[name] for name in names] == [1, 1, 1, 0, 1]


def test_panic_and_scoring() -> None:
    army, plain = {"units": [BOYZ]}, {"wizards": [wizard(spells=[BOLT])]}
    assert packed(army).panic == packed(army, ruleset="7e").panic == 1
    assert packed(army, rules={"panic": False}).panic == 0
    assert packed().panic == packed({"wizards": [wizard(lore="Fire")]}).panic == 0
    assert packed(plain, army).panic == 0
    assert packed(plain, army, rules={"panic": True}).panic == 1
    assert packed(army).victory_points == 0
    assert packed(army, rules={"scoring": "victory_points"}).victory_points == 1


def test_a_bound_spell_of_fixed_worth_makes_no_battle_of_armies() -> None:
    ring = {"power_level": 3, "spell": {"name": "Fire Ball"}}
    cases = ((ring, 1), ({**ring, "spell": {"name": "Fire Ball", "worth": 9.0}}, 0))
    for bound, panic in cases:
        items = [{"name": "Ring", "bound": bound}]
        hero = {"name": "Karl", "items": ["Ring"]}
        assert packed({"heroes": [hero]}, {"units": [BOYZ]}, items=items).panic == panic


def test_leadership_and_who_panics() -> None:
    traits: tuple[tuple[str, ...], ...] = (
        ("flyer",), ("undead",), ("daemons",), ("unbreakable",), ("immune_to_psychology",),
        ("flammable", "immune_to_panic"),
    )  # fmt: skip
    units = [{**BOYZ, "name": f"Unit {i}", "traits": each} for i, each in enumerate(traits)]
    army = packed({"units": [*units, {"profile": "Clanrats", "models": 20}, BOYZ]}).armies[0]
    assert [unit.panics for unit in army.units[:8]] == [1, 0, 0, 0, 0, 0, 1, 1]
    assert [unit.leadership for unit in army.units[6:8]] == [5, 7]
    host = packed({"units": [{**BOYZ, "leadership": 10}]}).armies[0]
    assert host.units[0].leadership == 10


def test_leadership_of_characters_and_the_general() -> None:
    horrors = {"profile": "Horrors", "models": 12, "leadership": 4}
    army = packed(
        {
            "wizards": [
                wizard(leadership=5),
                {"name": "Pink", "level": 1, "daemon_unit": "Horrors"},
            ],
            "heroes": [{"profile": "Captain", "general": True}],
            "units": [horrors],
        }
    ).armies[0]
    assert [who.leadership for who in army.wizards[:3]] == [5, 4, 8]
    assert [who.general for who in army.wizards[:3]] == [0, 0, 1]


def test_pools_are_generated_or_fixed() -> None:
    caster, dispeller = packed({"power_dice": 0}, {"dispel_dice": 7, "dwarf": True}).armies
    assert (caster.base_power, caster.base_dispel) == (2, 2)
    assert (caster.fixed_power, caster.fixed_dispel) == (0, GENERATED)
    assert (dispeller.base_power, dispeller.base_dispel) == (2, 4)
    assert (dispeller.fixed_power, dispeller.fixed_dispel) == (GENERATED, 7)


@pytest.mark.parametrize(("level", "dice"), [(1, 1), (2, 1), (3, 2), (4, 2)])
def test_wizard(level: int, dice: int) -> None:
    army = packed(
        {
            "wizards": [
                wizard(level=level, points=255, wounds=3, toughness=4, ward_save=5, reserve=3)
            ]
        }
    ).armies[0]
    anna = army.wizards[0]
    assert army.n_wizards == 1
    assert (anna.level, anna.dispel_dice, anna.rune, anna.reserve) == (level, dice, 0, 3)
    assert (anna.wounds, anna.toughness) == (3, 4)
    assert (anna.armour_save, anna.ward_save) == (NO_SAVE, 5)
    assert anna.points_per_wound == 85.0


@pytest.mark.parametrize(
    ("status", "on_table", "alive", "fleeing"),
    [
        ("ready", 1, 1, 0),
        ("rallied", 1, 1, 0),
        ("fleeing", 1, 1, 1),
        ("off_table", 0, 1, 0),
        ("dead", 0, 0, 0),
    ],
)
def test_status(status: str, on_table: int, alive: int, fleeing: int) -> None:
    anna = packed({"wizards": [wizard(status=status)]}).armies[0].wizards[0]
    assert (anna.on_table, anna.alive, anna.fleeing) == (on_table, alive, fleeing)
    assert anna.reserve == GENERATED


@pytest.mark.parametrize(("ruleset", "runelord_dice"), [("6e", 1), ("7e", 2)])
def test_runesmiths_come_after_the_wizards(ruleset: str, runelord_dice: int) -> None:
    runesmiths = [
        {"name": "Lord", "rank": "runelord", "wounds": 3, "points": 150},
        {"name": "Smith", "status": "fleeing"},
    ]
    army = packed(
        ruleset=ruleset, dispeller={"wizards": [wizard()], "runesmiths": runesmiths}
    ).armies[1]
    assert army.n_wizards == 3
    _, lord, smith = army.wizards[:3]
    assert (lord.level, lord.rune, lord.dispel_dice, lord.fleeing) == (0, 1, runelord_dice, 0)
    assert lord.points_per_wound == 50.0
    assert (smith.rune, smith.dispel_dice, smith.fleeing) == (1, 1, 1)


def test_spells() -> None:
    ward = {"name": "Ward", "casting_value": 7, "worth": 1, "duration": "remains_in_play"}
    blaze = {"name": "Blaze", "casting_value": 9, "worth": 2, "duration": "one_turn"}
    lasting = {**ward, "worth_per_phase": 2.5, "in_play": True, "survives_caster": True}
    army = packed(
        {
            "wizards": [
                wizard(spells=[BOLT, ward]),
                wizard(name="Berta", spells=[lasting, blaze]),
            ]
        }
    ).armies[0]
    bolt, plain, long, turn = army.spells[:4]
    assert army.n_spells == 4
    assert [wizard.spells for wizard in army.wizards[:3]] == [0b0011, 0b1100, 0]
    assert (bolt.wizard, bolt.casting_value, bolt.worth) == (0, 8, 40.0)
    assert (bolt.duration, bolt.in_play) == (Duration.INSTANT, 0)
    assert (plain.duration, plain.survives_caster) == (Duration.REMAINS_IN_PLAY, 0)
    assert (long.wizard, long.in_play, long.survives_caster) == (1, 1, 1)
    assert long.worth_per_phase == 2.5
    assert (turn.duration, turn.worth_per_phase) == (Duration.ONE_TURN, 0.0)
    assert turn.survives_caster == 1


@pytest.mark.parametrize(
    ("recast", "expected"),
    [
        ("side", [0b00101, 0b00010, 0b00101, 0b01000, 0b10000]),
        ("caster", [0b00001, 0b00010, 0b00100, 0b01000, 0b10000]),
    ],
)
def test_barred_by_the_same_spell_in_play(recast: str, expected: list[int]) -> None:
    wall = {"name": "Wall of Fire", "worth": 1}
    inline = {**wall, "casting_value": 12, "duration": "remains_in_play"}
    army = packed(
        {
            "wizards": [
                wizard(spells=[wall, BOLT]),
                wizard(name="Berta", spells=[wall]),
                wizard(name="Carla", spells=[inline]),
                wizard(name="Dora", spells=[{**BOLT, "name": "Other"}]),
            ]
        },
        rules={"in_play_recast": recast},
    ).armies[0]
    assert [spell.barred_by for spell in army.spells[:5]] == expected


def test_equal_items_of_one_bearer_share_a_slot() -> None:
    scroll = "Dispel Scroll"
    army = {
        "items": [scroll, "Power Familiar", scroll, "Power Familiar"],
        "wizards": [wizard(items=[scroll])],
        "runesmiths": [{"name": "Rolf", "items": ["Rune of Spellbreaking"] * 3}],
    }
    items = packed(army).armies[0].items
    assert packed(army).armies[0].n_items == 4
    assert [item.bearer for item in items[:4]] == [NO_BEARER, NO_BEARER, 0, 1]
    assert [item["count"] for item in items[:4]] == [2, 0, 1, 3]
    assert (items[1].power_dice, items[1].dispel_dice) == (2, 2)
    assert [item.dispel_use for item in items[:4]] == [
        DispelUse.AUTOMATIC,
        DispelUse.NONE,
        DispelUse.AUTOMATIC,
        DispelUse.AUTOMATIC,
    ]
    assert [item.ends_own_spells for item in items[:4]] == [1, 0, 1, 0]


def test_slots_are_computed_once_for_each_scenario() -> None:
    battle = scenario()
    assert battle.slots is battle.slots
    assert battle.slots is not scenario().slots
    assert battle.slots == scenario().slots


def test_slots_name_their_items() -> None:
    battle = scenario({"wizards": [wizard(items=["Starwood Staff", "Power Stone"], spells=[BOLT])]})
    slots = battle.slots[0].items
    assert [(slot.bearer, slot.item.name, slot.copies) for slot in slots] == [(0, "Power Stone", 1)]
    spells = battle.slots[0].spells
    assert [(slot.wizard, slot.spell.name) for slot in spells] == [(0, "Bolt")]


def test_items_that_only_change_their_bearer_need_no_slot() -> None:
    items = ["Starwood Staff", "Wizard's Staff", "Jewel of the Dusk", "Darkstar Cloak"]
    army = packed({"wizards": [wizard(items=items)]}).armies[0]
    anna = army.wizards[0]
    assert army.n_items == 0
    assert (anna.cast_bonus, anna.extra_dice_cap, anna.bearer_dice) == (1, 1, 2)


def test_power_stone_and_luckstone() -> None:
    army = packed({"wizards": [wizard(items=["Power Stone", "Luckstone"])]}).armies[0]
    stone, luck = army.items[:2]
    assert (stone.cast_use, stone.cast_extra_dice, stone.cast_not_irresistible) == (1, 2, 1)
    assert (stone.ends_own_spells, stone.stores_dice, stone.dispel_use) == (1, 1, DispelUse.NONE)
    assert (luck.reroll_cast, luck.reroll_dispel) == (RerollKind.ONE, RerollKind.ONE)
    assert (luck.dispel_use, luck.cast_use) == (DispelUse.BOOST, 0)
    assert (luck["count"], luck.changes_natural) == (1, 0)


def test_own_items() -> None:
    own = [
        {"name": "A", "uses": 2, "when_casting": {"bonus": -1}, "dispel_bonus": -2},
        {"name": "B", "uses": 1, "when_dispelling": {"bonus": 3}, "power_dice": 1},
        {
            "name": "C",
            "uses": 1,
            "reroll": {"of": "cast", "dice": "all", "changes_natural": True},
        },
        {"name": "D", "uses": 1, "reroll": {"of": "dispel", "dice": "all"}},
    ]
    a, b, c, d = packed({"items": ["A", "B", "C", "D"]}, items=own).armies[0].items[:4]
    assert (a["count"], a.cast_use, a.cast_use_bonus, a.dispel_bonus) == (2, 1, -1, -2)
    assert (a.cast_not_irresistible, a.cast_extra_dice) == (0, 0)
    assert (b.dispel_use, b.dispel_use_bonus, b.power_dice) == (DispelUse.BOOST, 3, 1)
    assert (c.reroll_cast, c.reroll_dispel, c.changes_natural) == (
        RerollKind.ALL,
        RerollKind.NONE,
        1,
    )
    assert c.dispel_use == DispelUse.NONE
    assert (d.reroll_cast, d.reroll_dispel) == (RerollKind.NONE, RerollKind.ALL)
    assert d.dispel_use == DispelUse.BOOST


def test_contacts_of_both_armies() -> None:
    own = {"side": "own", "models": 1, "toughness": 5, "ward_save": 4, "points": 50}
    enemy = {"side": "enemy", "models": 20, "armour_save": 6}
    record = packed(
        {"wizards": [wizard(), wizard(name="Berta", base_contact=[own, enemy])]},
        {"runesmiths": [{"name": "Rolf", "base_contact": [own, enemy]}]},
    )
    assert record.n_contacts == 4
    contacts = record.contacts[:4]
    assert [(c.army, c.wizard, c.owner) for c in contacts] == [
        (0, 1, 0),
        (0, 1, 1),
        (1, 0, 1),
        (1, 0, 0),
    ]
    assert [(c.models, c.toughness, c.points) for c in contacts[:2]] == [(1, 5, 50.0), (20, 3, 5.0)]
    assert [(c.armour_save, c.ward_save) for c in contacts[:2]] == [(NO_SAVE, 4), (6, NO_SAVE)]


def test_every_effect() -> None:
    effects: list[tuple[dict[str, Any], dict[str, float]]] = [
        ({"kind": "points_lost", "points": 30}, {"kind": EffectKind.POINTS_LOST, "points": 30.0}),
        (
            {"kind": "caster_hit", "strength": 4},
            {"kind": EffectKind.CASTER_HIT, "strength": 4, "armour_save": 1},
        ),
        (
            {"kind": "base_contact_hit", "strength": 10, "armour_save": False},
            {"kind": EffectKind.BASE_CONTACT_HIT, "strength": 10},
        ),
        ({"kind": "caster_removed"}, {"kind": EffectKind.CASTER_REMOVED}),
        (
            {"kind": "locked", "until": "phase_end"},
            {"kind": EffectKind.LOCKED, "until": Lock.PHASE_END},
        ),
        (
            {"kind": "locked", "until": "own_next_phase", "bars_items": True},
            {"kind": EffectKind.LOCKED, "until": Lock.OWN_NEXT_PHASE, "bars_items": 1},
        ),
        ({"kind": "locked", "until": "six"}, {"kind": EffectKind.LOCKED, "until": Lock.SIX}),
        (
            {"kind": "dice_lost", "whose": "side"},
            {"kind": EffectKind.DICE_LOST, "whose": Whose.SIDE},
        ),
        (
            {"kind": "dice_lost", "whose": "caster"},
            {"kind": EffectKind.DICE_LOST, "whose": Whose.CASTER},
        ),
        ({"kind": "stored_dice_lost"}, {"kind": EffectKind.STORED_DICE_LOST}),
        ({"kind": "casting_ends"}, {"kind": EffectKind.CASTING_ENDS}),
        ({"kind": "phase_ends"}, {"kind": EffectKind.PHASE_ENDS}),
        (
            {"kind": "in_play_ends", "whose": "all"},
            {"kind": EffectKind.IN_PLAY_ENDS, "whose": Whose.ALL},
        ),
        ({"kind": "spell_forgotten"}, {"kind": EffectKind.SPELL_FORGOTTEN}),
        ({"kind": "level_lost"}, {"kind": EffectKind.LEVEL_LOST}),
        ({"kind": "spell_succeeds"}, {"kind": EffectKind.SPELL_SUCCEEDS}),
        ({"kind": "free_spell"}, {"kind": EffectKind.FREE_SPELL, "limit": Limit.ANY}),
        (
            {"kind": "free_spell", "limit": "miscast_value"},
            {"kind": EffectKind.FREE_SPELL, "limit": Limit.MISCAST_VALUE},
        ),
        (
            {"kind": "spell_forgotten", "whose": "side"},
            {"kind": EffectKind.SPELL_FORGOTTEN, "whose": Whose.SIDE},
        ),
        (
            {"kind": "caster_hits", "dice": "D6", "strength": 6, "armour_save": False},
            {"kind": EffectKind.CASTER_HITS, "strength": 6, "dice_faces": 6},
        ),
        (
            {"kind": "caster_hits", "dice": "D3", "strength": 2},
            {"kind": EffectKind.CASTER_HITS, "strength": 2, "armour_save": 1, "dice_faces": 3},
        ),
        (
            {"kind": "caster_wounds", "dice": "D3"},
            {"kind": EffectKind.CASTER_WOUNDS, "dice_faces": 3},
        ),
        (
            {"kind": "other_wizards_wounds", "dice": "D6"},
            {"kind": EffectKind.OTHER_WIZARDS_WOUNDS, "dice_faces": 6},
        ),
    ]
    rows = [{"roll": [2, 12], "effects": [written for written, _ in effects]}]
    record = packed(rules={"miscast_table": "own"}, miscast_tables={"own": {"rows": rows}})
    for (_, expected), effect in zip(effects, record.effects, strict=False):
        values = {name: effect[name] for name in effect.dtype.names}
        assert values == {**dict.fromkeys(effect.dtype.names, 0), **expected}
    assert {effect["kind"] for _, effect in effects} == set(EffectKind)
    assert record.wounds_others == 1


def test_miscast_rows() -> None:
    rows = [
        {"roll": [8, 12], "effects": [{"kind": "phase_ends"}]},
        {"roll": 7},
        {"roll": [2, 6], "effects": [{"kind": "level_lost"}, {"kind": "casting_ends"}]},
    ]
    record = packed(rules={"miscast_table": "own"}, miscast_tables={"own": {"rows": rows}})
    assert record.n_miscast_rows == 3
    assert record.miscast_dice.tolist() == [2, 0, 0]
    assert record.miscast_row[0][2:].tolist() == [2] * 5 + [1] + [0] * 5
    assert [tuple(row) for row in record.miscast_rows[:3]] == [(0, 1), (1, 0), (1, 2)]
    assert record.wounds_others == 0


def test_each_wizard_has_the_table_of_his_own_of_his_army_or_of_the_rules() -> None:
    """Tables are stored one after the other, the ruleset's first; each has its number of dice."""
    hexes = [{"roll": [1, 6], "effects": [{"kind": "level_lost"}]}]
    record = packed(
        {"wizards": [wizard(), wizard(name="Berta", miscast_table="hexes")]},
        {"miscast_table": "gut-magic", "wizards": [wizard()], "runesmiths": [{"name": "Rolf"}]},
        miscast_tables={"hexes": {"dice": 1, "rows": hexes}},
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
    like = [{"kind": "level_lost"}]
    packed_scenarios = {
        "a": {"rows": [{"roll": [2, 7], "effects": like}, {"roll": [8, 12]}]},
        "b": {"dice": 1, "rows": [{"roll": [1, 2]}, {"roll": [3, 6], "effects": like}]},
    }
    record = packed(
        {"miscast_table": "b", "wizards": [wizard()]},
        rules={"miscast_table": "a"},
        miscast_tables=packed_scenarios,
    )
    assert record.n_miscast_rows == 2
    assert record.miscast_row[0][2:].tolist() == [0] * 6 + [1] * 5
    assert record.miscast_row[1][1:7].tolist() == [1, 1, 0, 0, 0, 0]


def test_too_many_miscast_tables() -> None:
    packed_scenarios = {name: {"rows": [{"roll": [2, 12]}]} for name in "abc"}
    mages = [wizard(name=name, miscast_table=name) for name in packed_scenarios]
    assert packed({"wizards": mages[:2]}, miscast_tables=packed_scenarios).n_miscast_tables == 3
    assert problem_key({"wizards": mages}, miscast_tables=packed_scenarios) == "miscast_tables"


WIZARDS = [{"name": str(i), "level": 4} for i in range(6)]
TEN_DICE = {"name": "Ten", "power_dice": 10, "dispel_dice": 12}
CONTACT = {"side": "own", "models": 1}


def test_too_many_generated_power_dice() -> None:
    assert problem_key({"wizards": WIZARDS}) == "caster.power_dice"
    assert packed({"wizards": WIZARDS, "power_dice": 24}).armies[0].fixed_power == 24
    assert packed({"wizards": WIZARDS}, ruleset="7e").armies[0].n_wizards == 6
    assert packed({"wizards": [*WIZARDS[:5], wizard(level=2)]}).armies[0].n_wizards == 6
    idle = [*WIZARDS[:5], {"name": "Berta", "level": 4, "status": "fleeing"}]
    assert packed({"wizards": idle}).armies[0].n_wizards == 6


def test_too_many_generated_dispel_dice() -> None:
    items = [TEN_DICE]
    two = {"items": ["Ten", "Ten"], "power_dice": 2}
    assert problem_key(two, items=items) == "caster.dispel_dice"
    one = {"items": ["Ten"], "wizards": [wizard(items=["Ten"], status="dead")]}
    assert packed(one, items=items).armies[0].n_items == 2


def test_too_many_dice_of_his_own() -> None:
    items = [{"name": "Well", "bearer_dice": 12}]
    caster = {"wizards": [wizard(items=["Well", "Well"])]}
    assert packed(caster, items=items).armies[0].wizards[0].bearer_dice == 24
    assert problem_key(caster, items=items, ruleset="7e") == "caster.wizards[0].items"


def test_too_large_bonuses() -> None:
    items = [{"name": "Staff", "cast_bonus": -12}, {"name": "Shield", "dispel_bonus": 12}]
    caster = {"wizards": [wizard(items=["Staff"] * 3)]}
    assert problem_key(caster, items=items) == "caster.wizards[0].items"
    assert problem_key({"items": ["Shield"] * 3}, items=items) == "caster.items[0]"


def test_too_many_kinds_of_item() -> None:
    items = [{"name": str(i), "dispel_bonus": 1} for i in range(9)]
    names = [str(i) for i in range(9)]
    assert packed({"items": names[:8]}, items=items).armies[0].n_items == 8
    caster = {"items": names[:7], "wizards": [wizard(items=names[7:])]}
    assert problem_key(caster, items=items) == "caster.wizards[0].items[1]"


def test_too_many_uses_of_one_item() -> None:
    items = [{"name": "Wand", "uses": 12, "when_casting": {"bonus": 1}}]
    assert problem_key({"items": ["Wand"] * 3}, items=items) == "caster.items[0]"


def test_too_many_contacts_over_both_armies() -> None:
    caster = {"wizards": [wizard(base_contact=[CONTACT] * 8), wizard(name="Berta")]}
    dispeller = {"wizards": [wizard(base_contact=[CONTACT] * 8)]}
    assert packed(caster, dispeller).n_contacts == 16
    caster["wizards"][1]["base_contact"] = [CONTACT]
    key = problem_key(caster, dispeller=dispeller)
    assert key == "dispeller.wizards[0].base_contact[7]"


def test_too_many_effects() -> None:
    rows = [{"roll": [2, 12], "effects": [{"kind": "level_lost"}] * 49}]
    more = {"rules": {"miscast_table": "own"}, "miscast_tables": {"own": {"rows": rows}}}
    assert problem_key({}, **more) == "miscast_tables.own.rows"
    assert packed(miscast_tables=more["miscast_tables"]).n_miscast_rows == 8


def test_packing_checks_scenarios_from_python() -> None:
    unchecked = Scenario.model_validate(
        {"name": "test", "caster": {"wizards": WIZARDS}, "dispeller": {}}
    )
    with pytest.raises(ScenarioError, match=r"caster\.power_dice: expected at most 24"):
        pack(unchecked)
