"""The 48 spells of the lores: targets, effects, and rejected effects."""

from collections.abc import Mapping
from typing import Any, get_args

import pytest
from pydantic import ValidationError

from wfb_gym.scenario import load_scenario, scenario_from_dict
from wfb_gym.scenario.documents import validate
from wfb_gym.scenario.effects import (
    EFFECT_KEYS,
    Damage,
    SpellEffect,
    TroopType,
    effect_of,
)
from wfb_gym.scenario.errors import ScenarioError
from wfb_gym.scenario.spells import LoreSpell, find_lore_spell, lore_spells
from wfb_gym.seats import SEATS

# name | target | range | condition of the target | hits
FACTS = """
Fire Ball | enemy_unit | 24 | missile sight | D6 S4 flaming
Flaming Sword of Rhuin | caster | - | either | -
Fiery Blast | enemy_unit | 24 | missile sight | 2D6 S4 flaming
Burning Head | line | 18 | - | line S4 flaming
Conflagration of Doom | enemy_unit | - | - | D6 chain S4 flaming
Wall of Fire | enemy_unit | 24 | sight front_rank | front_rank S4 flaming
Rule of Burning Iron | enemy_model | 24 | missile sight | 1 S3/4/5 flaming
Commandment of Brass | enemy_unit | 24 | sight | -
Transmutation of Lead | enemy_unit | 24 | engaged | -
Distillation of Molten Silver | enemy_unit | 24 | missile sight | 2D6 S4 flaming
Law of Gold | enemy_unit | 24 | magic_item once | -
Bane of Forged Steel | enemy_unit | 12 | sight once | -
Steed of Shadows | friendly_character | 12 | either | -
Creeping Death | enemy_unit | 24 | missile sight | D6 S3 no-armour
Pelt of Midnight | friendly_unit | 24 | - | -
Shades of Death | friendly_unit | 6 | - | -
Unseen Lurker | friendly_unit | 24 | - | -
Pit of Shades | enemy_unit | - | - | template S3 3" 4+
The Oxen Stands | friendly_unit | - | fleeing once | rallies
The Eagle's Cry | enemy_unit | 24 | - | -
The Bear's Anger | caster | - | either caster-engaged | -
The Crow's Feast | enemy_unit | 24 | missile sight | 2D6 S3
The Beast Cowers | enemy_unit | - | engaged | -
The Wolf Hunts | friendly_unit | 24 | - | -
Second Sign of Amul | player | - | either | -
Portent of Far | friendly_unit | 12 | engaged | -
Forked Lightning | enemy_unit | 24 | - | D6 S4
Uranon's Thunder Bolt | enemy_unit | 24 | - | D6 S4 no-armour
Storm of Cronos | enemy_area | 12 | sight | D6 S4
The Comet of Casandora | point | - | either | 2D6 S4 delayed
Pha's Illumination | caster | - | either | -
Burning Gaze | enemy_unit | 24 | missile sight | D6 S4 flaming
Dazzling Brightness | enemy_unit | 18 | engaged | -
Healing Hand | friendly_model | - | either wounded | heals
Guardian Light | friendly_area | 12 | - | -
Blinding Light | enemy_unit | 24 | sight | -
Mistress of the Marsh | enemy_unit | 12 | near | -
Father of the Thorn | enemy_unit | 24 | sight | 2D6 S3
The Howler Wind | caster | 12 | either | -
Master of the Wood | enemy_unit | 12 | near | D6 S4
Master of Stone | enemy_unit | 12 | near | D6 S5
The Rain Lord | enemy_unit | 24 | sight once | -
Dark Hand of Death | enemy_unit | 24 | missile sight | D6 S4
Death Dealer | friendly_unit | 24 | engaged | -
Steal Soul | enemy_model | 12 | - | 1 no-armour automatic gains-wound
Wind of Death | enemy_unit | 24 | missile sight | 2D6 S4
Drain Life | enemy_area | 12 | - | D6 S3 no-armour
Doom and Darkness! | enemy_unit | 24 | sight | -
"""
BEASTS = {"cavalry", "chariot", "monster", "swarm"}
ALL = set(get_args(TroopType))
ONLY = {
    "Commandment of Brass": {"war_machine", "chariot"},
    "Bane of Forged Steel": ALL - {"war_machine"},
    "The Eagle's Cry": BEASTS,
    "The Beast Cowers": BEASTS,
    "The Wolf Hunts": BEASTS,
    "Healing Hand": ALL - {"war_machine", "chariot"},
}
NOT_ON = {
    "Healing Hand": {"undead", "daemons"},
    "Mistress of the Marsh": {"flyer", "ethereal"},
    "Master of the Wood": {"forest_spirit"},
    "Steal Soul": {"undead", "daemons", "soulless"},
    "Drain Life": {"undead", "daemons", "building"},
    "Doom and Darkness!": {"undead", "daemons", "unbreakable", "immune_to_psychology"},
}
NEAR = {
    "Mistress of the Marsh": ({"water"}, 12, 6, None),
    "Master of the Wood": ({"wood"}, 12, 6, "D6"),
    "Master of Stone": ({"hill", "rocks", "ruins"}, 12, 6, "D6"),
}


def asked(effect: SpellEffect) -> str:
    words = [
        "missile" if effect.missile else "",
        "sight" if effect.sight else "",
        {"no": "", "only": "engaged", "either": "either"}[effect.engaged],
        "caster-engaged" if effect.caster_engaged else "",
        effect.needs or "",
        "near" if effect.near else "",
        "once" if effect.once else "",
    ]
    return " ".join(filter(None, words)) or "-"


def done(effect: SpellEffect) -> str:
    damage = effect.damage
    words = ["heals" if effect.heals else "", "rallies" if effect.rallies else ""]
    if damage is not None:
        strengths = damage.strength_by_armour or (damage.strength,)
        words += [
            damage.hits,
            "" if strengths == (None,) else f"S{'/'.join(map(str, strengths))}",
            "" if damage.armour_save else "no-armour",
            "" if damage.ward_save else "no-ward",
            "flaming" if damage.flaming else "",
            "automatic" if damage.automatic else "",
            f'{damage.template:g}"' if damage.template else "",
            f"{damage.partial}+" if damage.partial else "",
            "delayed" if damage.delayed else "",
        ]
    words.append("gains-wound" if effect.gains_wound else "")
    return " ".join(filter(None, words)) or "-"


def test_spells_have_the_printed_targets_and_hits() -> None:
    found = [
        f"{s.name} | {s.target} | {s.range_inches or '-'} | {asked(s.effect)} | {done(s.effect)}"
        for s in lore_spells()
    ]
    assert found == FACTS.strip().split("\n")


def test_troop_types_of_spells() -> None:
    found = {spell.name: set(spell.only) for spell in lore_spells() if spell.only}
    assert found == ONLY


def test_traits_that_block_spells() -> None:
    found = {spell.name: set(spell.not_on) for spell in lore_spells() if spell.not_on}
    assert found == NOT_ON


def test_spells_measured_from_terrain() -> None:
    found = {
        s.name: (set(s.near.terrain), s.near.within, s.near.otherwise, s.near.extra)
        for s in lore_spells()
        if s.near
    }
    assert found == NEAR


def test_comet_reaches_a_die_for_each_marker() -> None:
    comet = find_lore_spell("The Comet of Casandora")
    assert comet is not None
    assert comet.damage is not None
    assert comet.damage.radius == "D6 per marker"


def test_spells_without_damage_have_a_worth_with_its_reason() -> None:
    for spell in lore_spells():
        assert spell.damage or spell.worth or spell.heals, spell.name
        assert spell.worth is None or spell.worth.reason, spell.name
    both = [spell.name for spell in lore_spells() if spell.damage and spell.worth]
    assert both == ["Wall of Fire", "Pit of Shades"]


def test_only_spells_in_play_pay_by_phase() -> None:
    for spell in lore_spells():
        if spell.worth is not None:
            assert spell.worth.is_lasting == (spell.duration != "instant"), spell.name
            assert not (spell.worth.is_lasting and (spell.worth.points or spell.worth.share))


def test_worths_are_of_the_size_of_a_missiles_damage() -> None:
    """On a target of 150 points over two phases, none is worth far more than a Conflagration."""
    for spell in lore_spells():
        if spell.worth is not None:
            worth = spell.worth
            points = worth.points + 150 * worth.share
            points += 2 * (worth.points_per_phase + 150 * worth.share_per_phase)
            assert 4 <= points <= 60, spell.name


def test_an_effect_has_its_rows_keys() -> None:
    for spell in lore_spells():
        effect = spell.effect
        assert type(effect) is SpellEffect
        assert {key: getattr(effect, key) for key in EFFECT_KEYS} == {
            key: getattr(spell, key) for key in EFFECT_KEYS
        }
        assert spell.effect is effect


MISSILE = {
    "target": "enemy_unit",
    "range_inches": 24,
    "sight": True,
    "missile": True,
    "damage": {"hits": "D6", "strength": 4},
}
HEX = {"target": "enemy_unit", "range_inches": 24, "worth": {"points": 10.0}}
BOLT = {"hits": "D6", "strength": 4}
TEMPLATE = {"hits": "template", "strength": 4, "template": 3.0}
COMET = {"hits": "2D6", "strength": 4, "delayed": True, "radius": "D6 per marker"}
NEAR_WOOD = {"terrain": ["wood"], "within": 12, "otherwise": 6}


def test_defaults_of_an_effect() -> None:
    effect = validate(SpellEffect, HEX, "spell")
    assert (effect.engaged, effect.sight, effect.missile, effect.once) == ("no",) + (False,) * 3
    assert (effect.only, effect.not_on, effect.needs, effect.near) == ((), (), None, None)
    damage = validate(Damage, BOLT, "spell")
    assert (damage.armour_save, damage.ward_save) == (True, True)
    assert (damage.flaming, damage.automatic, damage.delayed) == (False,) * 3


@pytest.mark.parametrize("target", ["caster", "player", "point"])
def test_the_caster_and_points_have_no_combat_condition(target: str) -> None:
    row: dict[str, Any] = {"target": target, "worth": {"points": 5.0}}
    if target == "point":
        row["damage"] = COMET
    assert validate(SpellEffect, row, "spell").engaged == "either"


@pytest.mark.parametrize(
    "row",
    [
        MISSILE,
        {**MISSILE, "target": "enemy_model", "needs": "fleeing"},
        {"target": "line", "range_inches": 18, "damage": {"hits": "line", "strength": 10}},
        {"target": "point", "damage": COMET},
        {"target": "enemy_unit", "damage": {**TEMPLATE, "partial": 2, "armour_save": False}},
        {"target": "enemy_model", "damage": {**BOLT, "automatic": True}, "gains_wound": True},
        {"target": "caster", "heals": True},
        {**HEX, "range_inches": 12, "near": NEAR_WOOD},
        {"target": "enemy_unit", "near": {**NEAR_WOOD, "extra": "D6"}, "damage": BOLT},
        {"target": "caster", "range_inches": 6, "worth": {"points": 5.0}, "caster_engaged": True},
    ],
)
def test_consistent_effects_are_accepted(row: dict[str, Any]) -> None:
    assert validate(SpellEffect, row, "spell").target == row["target"]


@pytest.mark.parametrize(
    ("row", "message"),
    [
        ({"worth": {"points": 1}}, "target: expected a value, as the key is required"),
        ({**HEX, "target": "foe"}, 'target: expected "enemy_unit", '),
        ({**HEX, "range_inches": 0}, "range_inches: expected a whole number from 1 to 72"),
        ({**HEX, "only": ["horses"]}, 'only[0]: expected "infantry", '),
        ({**HEX, "only": "cavalry"}, 'only: expected a list such as ["cavalry"], found'),
        ({**HEX, "not_on": ["elves"]}, 'not_on[0]: expected "undead", '),
        ({**HEX, "sihgt": True}, "sihgt: expected a known key (did you mean sight"),
        ({"target": "enemy_unit"}, "damage: expected damage, a worth, heals = true or rallies"),
        ({**HEX, "rallies": True}, 'rallies: expected false without needs = "fleeing", found'),
        ({**HEX, "worth": {}}, "worth.points: expected a number above 0, or a share"),
        ({**HEX, "worth": {"share": 1.5}}, "worth.share: expected a number from 0 to 1"),
        ({**HEX, "gains_wound": True}, "gains_wound: expected false without damage"),
        ({**HEX, "heals": True}, 'heals: expected false for target = "enemy_unit", found true'),
        ({**HEX, "engaged": "only", "needs": "fleeing"}, 'engaged: expected "no", as units'),
        ({**MISSILE, "sight": False}, "sight: expected true for a magic missile, found false"),
        ({**MISSILE, "range_inches": None}, "range_inches: expected a range for a magic missile"),
        ({**MISSILE, "engaged": "either"}, 'engaged: expected "no" for a magic missile'),
        ({**MISSILE, "caster_engaged": True}, "caster_engaged: expected false for a magic"),
        ({**MISSILE, "target": "enemy_area"}, 'target: expected "enemy_unit" or "enemy_model"'),
        ({**MISSILE, "target": "friendly_unit"}, 'target: expected "enemy_unit"'),
        ({"target": "caster", "damage": BOLT}, "target: expected an enemy, a line or a point"),
        ({**HEX, "target": ["caster"]}, 'target: expected "enemy_unit", '),
        (
            {"target": "caster", "worth": {"points": 1}, "engaged": "no"},
            'engaged: expected "either" for target = "caster"',
        ),
        (
            {"target": "player", "worth": {"points": 1}, "sight": True},
            'sight: expected false for target = "player", found true',
        ),
        (
            {"target": "caster", "worth": {"points": 1}, "not_on": ["undead"]},
            'not_on: expected no value for target = "caster"',
        ),
        (
            {"target": "player", "worth": {"share": 0.1}},
            'worth.share: expected 0 for target = "player", which has no points, found 0.1',
        ),
        ({**HEX, "near": NEAR_WOOD}, "range_inches: expected near's within, 12, or no value"),
        (
            {"target": "enemy_unit", "worth": {"points": 1}, "near": {**NEAR_WOOD, "extra": "D6"}},
            'near.extra: expected no value without damage, found "D6"',
        ),
        (
            {"target": "enemy_area", "damage": BOLT, "near": NEAR_WOOD},
            'near: expected no value for target = "enemy_area"',
        ),
        (
            {"target": "enemy_unit", "damage": BOLT, "near": {**NEAR_WOOD, "terrain": []}},
            "near.terrain: expected at least one kind of terrain, found []",
        ),
        ({"target": "line", "damage": {"hits": "line", "strength": 4}}, "range_inches: expected"),
        (
            {"target": "line", "range_inches": 18, "damage": BOLT},
            'damage.hits: expected "line" for target = "line", and for no other, found "D6"',
        ),
        (
            {"target": "enemy_unit", "damage": {"hits": "line", "strength": 4}},
            'damage.hits: expected "line" for target = "line"',
        ),
        (
            {"target": "enemy_area", "damage": TEMPLATE},
            'damage.hits: expected dice for target = "enemy_area", found "template"',
        ),
        ({"target": "point", "damage": BOLT}, "damage.delayed: expected true for target ="),
        ({"target": "enemy_unit", "damage": COMET}, "damage.delayed: expected true for target ="),
    ],
)
def test_effects_that_are_rejected(row: dict[str, Any], message: str) -> None:
    with pytest.raises(ScenarioError) as error:
        validate(SpellEffect, row, "spell")
    assert str(error.value).startswith(f"spell: {message}")
    assert len(error.value.problems) == 1


@pytest.mark.parametrize(
    ("damage", "message"),
    [
        ({"strength": 4}, "hits: expected a value, as the key is required"),
        ({**BOLT, "hits": "D5"}, 'hits: expected "1", "D6"'),
        ({**BOLT, "strength": 11}, "strength: expected a whole number from 1 to 10, found 11"),
        ({"hits": "D6"}, "strength: expected a Strength, or strength_by_armour"),
        (
            {**BOLT, "strength_by_armour": [3, 4, 5]},
            "strength: expected no value with strength_by_armour, found 4",
        ),
        (
            {"hits": "1", "strength_by_armour": [3, 4]},
            "strength_by_armour: expected three Strengths: ",
        ),
        (
            {"hits": "1", "strength_by_armour": [3, 4, 0]},
            "strength_by_armour[2]: expected a whole number from 1 to 10",
        ),
        (
            {**BOLT, "automatic": True, "armour_save": False},
            "strength: expected no value, as neither wounds nor saves depend on it, found 4",
        ),
        ({"hits": "D6", "automatic": True}, "strength: expected a Strength"),
        (
            {"hits": "template", "strength": 4},
            'template: expected its size in inches for hits = "template", found no such key',
        ),
        ({**BOLT, "template": 3.0}, 'template: expected no value except for hits = "template"'),
        ({**BOLT, "partial": 4}, 'partial: expected no value except for hits = "template"'),
        ({**TEMPLATE, "partial": 1}, "partial: expected a whole number from 2 to 6, found 1"),
        ({**BOLT, "delayed": True}, "radius: expected a radius for delayed = true"),
        ({**BOLT, "radius": "D6 per marker"}, "radius: expected no value without delayed = true"),
    ],
)
def test_damage_that_is_rejected(damage: dict[str, Any], message: str) -> None:
    with pytest.raises(ScenarioError) as error:
        validate(SpellEffect, {"target": "enemy_unit", "damage": damage}, "spell")
    assert str(error.value).startswith(f"spell: damage.{message}")
    assert len(error.value.problems) == 1


def lore_row(**changes: Any) -> dict[str, Any]:
    row = {
        "name": "Bolt",
        "lore": "Storms",
        "number": 1,
        "casting_value": 5,
        "duration": "instant",
        "kind": "hex",
        "confidence": "found",
        "source": "ours",
        "target": "enemy_unit",
        "worth": {"points": 5.0, "reason": "A guess."},
    }
    return {**row, **changes}


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"kind": "magic_missile"}, 'missile: expected true for kind = "magic_missile"'),
        ({"worth": {"points": 5.0}}, "worth.reason: expected a reason, as the worth"),
        (
            {"worth": {"points_per_phase": 5.0, "reason": "A guess."}},
            "worth: expected no worth per phase except for",
        ),
        ({"range_inches": 73}, "range_inches: expected a whole number from 1 to 72, found 73"),
        ({"sight": 1}, "sight: expected true or false, found 1"),
    ],
)
def test_rows_of_a_lore_that_are_rejected(changes: Mapping[str, Any], message: str) -> None:
    assert validate(LoreSpell, lore_row(), "lores.toml").worth is not None
    with pytest.raises(ScenarioError) as error:
        validate(LoreSpell, lore_row(**changes), "lores.toml")
    assert str(error.value).startswith(f"lores.toml: {message}")


def test_effect_of_reads_only_its_own_keys() -> None:
    row = {**MISSILE, "name": "Bolt", "casting_value": 8}
    assert effect_of(row) == SpellEffect.model_validate(MISSILE)


def test_documents_are_immutable() -> None:
    effect = SpellEffect.model_validate(MISSILE)
    with pytest.raises(ValidationError):
        effect.sight = False


# --- the 7th edition -----------------------------------------------------------------------

KNOWS = {"wizards": [{"name": "Anna", "level": 1, "spells": ["Burning Head"]}]}
ROLLS = {"wizards": [{"name": "Anna", "level": 1, "lore": "Death"}]}
BEARS = {"heroes": [{"name": "Captain", "items": ["Ring of Flame"]}]}
OWN = {"name": "Bolt", "casting_value": 5, "worth": 9.0}


@pytest.mark.parametrize("army", [KNOWS, ROLLS, BEARS])
@pytest.mark.parametrize("seat", SEATS)
def test_a_scenario_of_the_7th_edition_notes_that_its_lores_are_those_of_the_6th(
    army: dict[str, Any], seat: str
) -> None:
    other = {"caster": {}, "dispeller": {}, seat: army}
    (note,) = scenario_from_dict({"name": "test", "ruleset": "7e", **other}).notes
    assert "lores are from the 6th edition" in note
    assert scenario_from_dict({"name": "test", "ruleset": "6e", **other}).notes == ()


def test_no_note_without_spells_of_a_lore() -> None:
    own = {"wizards": [{"name": "Anna", "level": 1, "spells": [OWN]}]}
    document = {"name": "test", "ruleset": "7e", "caster": own, "dispeller": {}}
    assert scenario_from_dict(document).notes == ()
    assert load_scenario("seventh-edition-duel").notes == ()
