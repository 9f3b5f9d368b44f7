"""The spells of the lores: targets, effects, and rejected effects."""

import re
from collections.abc import Mapping
from typing import Any, get_args

import pytest

from tests.scenario.documents import MISSILE
from wfb_gym.scenario import load_scenario, scenario_from_dict
from wfb_gym.scenario.documents import validate
from wfb_gym.scenario.effects import SpellEffect, TroopType
from wfb_gym.scenario.errors import ScenarioError
from wfb_gym.scenario.spells import LoreSpell, lore_spells

# name | casting value and duration | target | range | condition of the target | hits
FACTS = """
Fire Ball | 5 instant | enemy_unit | 24 | missile sight | D6 S4 flaming
Flaming Sword of Rhuin | 6 remains_in_play | caster | - | either | -
Fiery Blast | 8 instant | enemy_unit | 24 | missile sight | 2D6 S4 flaming
Burning Head | 9 instant | line | 18 | - | line S4 flaming
Conflagration of Doom | 11 instant | enemy_unit | - | - | D6 chain S4 flaming
Wall of Fire | 12 remains_in_play | enemy_unit | 24 | sight front_rank | front_rank S4 flaming
Rule of Burning Iron | 3 instant | enemy_model | 24 | missile sight | 1 S3/4/5 flaming
Commandment of Brass | 6 one_turn | enemy_unit | 24 | sight | -
Transmutation of Lead | 8 instant | enemy_unit | 24 | engaged | -
Distillation of Molten Silver | 8 instant | enemy_unit | 24 | missile sight | 2D6 S4 flaming
Law of Gold | 9 instant | enemy_unit | 24 | magic_item once | -
Bane of Forged Steel | 11 instant | enemy_unit | 12 | sight once | -
Steed of Shadows | 4 instant | friendly_character | 12 | either | -
Creeping Death | 6 instant | enemy_unit | 24 | missile sight | D6 S3 no-armour
Pelt of Midnight | 7 remains_in_play | friendly_unit | 24 | - | -
Shades of Death | 8 remains_in_play | friendly_unit | 6 | - | -
Unseen Lurker | 10 instant | friendly_unit | 24 | - | -
Pit of Shades | 11 instant | enemy_unit | - | - | template S3 3" 4+
The Oxen Stands | 5 instant | friendly_unit | - | fleeing once | rallies
The Eagle's Cry | 6 instant | enemy_unit | 24 | - | -
The Bear's Anger | 6 remains_in_play | caster | - | either caster-engaged | -
The Crow's Feast | 7 instant | enemy_unit | 24 | missile sight | 2D6 S3
The Beast Cowers | 8 instant | enemy_unit | - | engaged | -
The Wolf Hunts | 9 instant | friendly_unit | 24 | - | -
Second Sign of Amul | 6 instant | player | - | either | -
Portent of Far | 6 instant | friendly_unit | 12 | engaged | -
Forked Lightning | 7 instant | enemy_unit | 24 | - | D6 S4
Uranon's Thunder Bolt | 9 instant | enemy_unit | 24 | - | D6 S4 no-armour
Storm of Cronos | 9 instant | enemy_area | 12 | sight | D6 S4
The Comet of Casandora | 11 instant | point | - | either | 2D6 S4 delayed
Pha's Illumination | 5 remains_in_play | caster | - | either | -
Burning Gaze | 5 instant | enemy_unit | 24 | missile sight | D6 S4 flaming
Dazzling Brightness | 6 instant | enemy_unit | 18 | engaged | -
Healing Hand | 7 instant | friendly_model | - | either wounded | heals
Guardian Light | 8 remains_in_play | friendly_area | 12 | - | -
Blinding Light | 9 one_turn | enemy_unit | 24 | sight | -
Mistress of the Marsh | 6 instant | enemy_unit | 12 | near | -
Father of the Thorn | 7 instant | enemy_unit | 24 | sight | 2D6 S3
The Howler Wind | 7 remains_in_play | caster | 12 | either | -
Master of the Wood | 7 instant | enemy_unit | 12 | near | D6 S4
Master of Stone | 8 instant | enemy_unit | 12 | near | D6 S5
The Rain Lord | 9 instant | enemy_unit | 24 | sight once | -
Dark Hand of Death | 5 instant | enemy_unit | 24 | missile sight | D6 S4
Death Dealer | 5 instant | friendly_unit | 24 | engaged | -
Steal Soul | 8 instant | enemy_model | 12 | - | 1 no-armour automatic gains-wound
Wind of Death | 8 instant | enemy_unit | 24 | missile sight | 2D6 S4
Drain Life | 10 instant | enemy_area | 12 | - | D6 S3 no-armour
Doom and Darkness! | 12 one_turn | enemy_unit | 24 | sight | -
Invocation of Nehek | 7 instant | player | - | either | -
Hand of Dust | 7 remains_in_play | caster | - | either | -
Hellish Vigour | 7 instant | friendly_unit | 18 | engaged | -
Gaze of Nagash | 8 instant | enemy_unit | 24 | missile sight | 2D6 S4
Vanhel's Danse Macabre | 9 instant | friendly_unit | 18 | - | -
Curse of Years | 10 remains_in_play | enemy_unit | 24 | - | -
Skitterleap | 4 instant | friendly_character | 12 | either | -
Warp Lightning | 5 instant | enemy_unit | 24 | missile sight | D6 S5
Vermintide | 7 instant | enemy_unit | 14 | either | 3D6 S2
Pestilent Breath | 8 instant | enemy_unit | 8 | either | D6 S3 no-armour
Death Frenzy | 9 instant | friendly_unit | 18 | either once | -
Plague | 13 instant | enemy_unit | 18 | either | every_model S3 no-armour
Gaze of Mork | 5 instant | enemy_unit | 24 | missile sight | D6 S4
Fists of Gork | 7 instant | enemy_unit | 8 | either | -
'Eadbutt | 7 instant | enemy_model | 24 | sight | 1 S4 no-armour
Brain Bursta | 8 instant | enemy_unit | 24 | missile sight | 2D6 S4
'Ere We Go! | 9 instant | friendly_unit | 18 | engaged | -
The Hand of Gork | 9 instant | friendly_unit | 24 | - | -
Gork'll Fix It | 6 instant | friendly_unit | 24 | engaged | -
Bash 'Em Ladz | 7 instant | friendly_unit | 18 | engaged | -
Walk Between Worlds | 4 instant | caster | - | either | -
Curse of Arrow Attraction | 6 instant | enemy_unit | 24 | - | -
Fortune is Fickle | 7 remains_in_play | enemy_model | 24 | either | -
Fury of Khaine | 8 instant | enemy_unit | 24 | missile sight | 2D6 S4
Flames of the Phoenix | 11 remains_in_play | enemy_unit | 24 | - | every_model S3 flaming
Vaul's Unmaking | 12 instant | enemy_unit | 24 | either magic_item once | -
Chillwind | 5 instant | enemy_unit | 24 | missile sight | D6 S3
Doombolt | 6 instant | enemy_unit | 18 | missile sight | D6 S5
Word of Pain | 8 remains_in_play | enemy_unit | 24 | sight either | -
Soul Stealer | 9 instant | enemy_unit | 6 | either | every_model S3 gains-wound
Dominion | 10 instant | enemy_unit | 12 | - | -
Black Horror | 12 instant | enemy_unit | 18 | sight | template S3 no-armour 5" 4+
Rune of Water | 6 instant | enemy_unit | - | - | -
Rune of Air | 7 instant | enemy_unit | - | - | D6 S4
Rune of Fire | 8 instant | enemy_unit | 30 | missile sight | 2D6 S4
Rune of Earth | 9 instant | enemy_unit | 72 | sight near | D6 S5
Yellow Fire | 6 remains_in_play | caster | - | either | -
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
    "Fortune is Fickle": {"character"},
}
NOT_ON = {
    "Healing Hand": {"undead", "daemons"},
    "Mistress of the Marsh": {"flyer", "ethereal"},
    "Master of the Wood": {"forest_spirit"},
    "Steal Soul": {"undead", "daemons", "soulless"},
    "Drain Life": {"undead", "daemons", "building"},
    "Doom and Darkness!": {"undead", "daemons", "unbreakable", "immune_to_psychology"},
    "Rune of Water": {"flyer", "ethereal"},
}
NEAR = {
    "Mistress of the Marsh": ({"water"}, 12, 6, None),
    "Master of the Wood": ({"wood"}, 12, 6, "D6"),
    "Master of Stone": ({"hill", "rocks", "ruins"}, 12, 6, "D6"),
    "Rune of Earth": ({"hill", "rocks", "ruins"}, 72, 72, "D6"),
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


def test_spells_have_the_printed_values_targets_and_hits() -> None:
    found = [
        f"{s.name} | {s.casting_value} {s.duration} | {s.target} | {s.range_inches or '-'} | "
        f"{asked(s.effect)} | {done(s.effect)}"
        for s in lore_spells()
    ]
    assert found == FACTS.strip().split("\n")
    for each in lore_spells():
        assert (each.kind == "magic_missile") == each.missile, each.name


def test_approximate_rows_describe_the_printed_effect() -> None:
    approximate = {each.name for each in lore_spells() if each.confidence == "approximate"}
    assert approximate == {
        *("Invocation of Nehek", "Curse of Years", "Warp Lightning", "Vermintide"),
        *("Pestilent Breath", "Plague", "Fists of Gork", "Fortune is Fickle", "Soul Stealer"),
        "Black Horror",
    }


def test_conditions_of_spells() -> None:
    """Troop types, traits that block a spell, and terrain that it is measured from."""
    spells = lore_spells()
    assert {spell.name: set(spell.only) for spell in spells if spell.only} == ONLY
    assert {spell.name: set(spell.not_on) for spell in spells if spell.not_on} == NOT_ON
    assert {
        s.name: (set(s.near.terrain), s.near.within, s.near.otherwise, s.near.extra)
        for s in spells
        if s.near
    } == NEAR


def test_spells_without_damage_have_a_worth_with_its_reason() -> None:
    for spell in lore_spells():
        assert spell.damage or spell.worth or spell.heals, spell.name
        assert spell.worth is None or spell.worth.reason, spell.name
    both = [spell.name for spell in lore_spells() if spell.damage and spell.worth]
    assert both == ["Wall of Fire", "Pit of Shades", "Flames of the Phoenix", "Chillwind"]


def test_only_spells_in_play_pay_by_phase_and_none_is_worth_far_more_than_another() -> None:
    """On a target of 150 points over two phases, none is worth far more than a Conflagration."""
    for spell in lore_spells():
        if spell.worth is not None:
            worth = spell.worth
            assert worth.is_lasting == (spell.duration != "instant"), spell.name
            assert not (worth.is_lasting and (worth.points or worth.share))
            points = worth.points + 150 * worth.share
            points += 2 * (worth.points_per_phase + 150 * worth.share_per_phase)
            assert 4 <= points <= 60, spell.name


HEX = {"target": "enemy_unit", "range_inches": 24, "worth": {"points": 10.0}}
BOLT = {"hits": "D6", "strength": 4}
TEMPLATE = {"hits": "template", "strength": 4, "template": 3.0}
COMET = {"hits": "2D6", "strength": 4, "delayed": True, "radius": "D6 per marker"}
NEAR_WOOD = {"terrain": ["wood"], "within": 12, "otherwise": 6}


def test_the_caster_and_points_have_no_combat_condition() -> None:
    row: dict[str, Any]
    for row in ({"target": "caster"}, {"target": "player"}, {"target": "point", "damage": COMET}):
        effect = validate(SpellEffect, {"worth": {"points": 5.0}, **row}, "spell")
        assert effect.engaged == "either"


@pytest.mark.parametrize(
    "row",
    [
        MISSILE,
        {**MISSILE, "target": "enemy_model", "needs": "fleeing"},
        {"target": "line", "range_inches": 18, "damage": {"hits": "line", "strength": 10}},
        {"target": "point", "damage": COMET},
        {"target": "enemy_unit", "damage": {**TEMPLATE, "partial": 2, "armour_save": False}},
        {"target": "enemy_model", "damage": {**BOLT, "automatic": True}, "gains_wound": True},
        {"target": "friendly_model", "heals": True},
        {**HEX, "range_inches": 12, "near": NEAR_WOOD},
        {"target": "enemy_unit", "near": {**NEAR_WOOD, "extra": "D6"}, "damage": BOLT},
        {"target": "caster", "range_inches": 6, "worth": {"points": 5.0}, "caster_engaged": True},
    ],
)
def test_consistent_effects_are_accepted(row: dict[str, Any]) -> None:
    assert validate(SpellEffect, row, "spell").target == row["target"]


LORE_ROW = {
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


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"kind": "magic_missile"}, 'missile: expected true for kind = "magic_missile"'),
        ({"confidence": "approximate"}, "note: expected the printed effect"),
        ({"worth": {"points": 5.0}}, "worth.reason: expected a reason, as the worth"),
        (
            {"worth": {"points_per_phase": 5.0, "reason": "A guess."}},
            "worth: expected no worth per phase except for",
        ),
    ],
)
def test_rows_of_a_lore_that_are_rejected(changes: Mapping[str, Any], message: str) -> None:
    assert validate(LoreSpell, LORE_ROW, "lores.toml").worth is not None
    with pytest.raises(ScenarioError, match=rf"^lores\.toml: {re.escape(message)}"):
        validate(LoreSpell, {**LORE_ROW, **changes}, "lores.toml")


KNOWS = {"wizards": [{"name": "Anna", "level": 1, "spells": ["Burning Head"]}]}
ROLLS = {"wizards": [{"name": "Anna", "level": 1, "lore": "Death"}]}
BEARS = {"heroes": [{"name": "Captain", "items": ["Ring of Flame"]}]}


@pytest.mark.parametrize(
    "armies", [{"caster": KNOWS}, {"caster": ROLLS}, {"dispeller": KNOWS}, {"dispeller": BEARS}]
)
def test_a_scenario_of_the_7th_edition_notes_that_its_lores_are_those_of_the_6th(
    armies: dict[str, Any],
) -> None:
    document = {"name": "test", "ruleset": "7e", "caster": {}, "dispeller": {}, **armies}
    (note,) = scenario_from_dict(document).notes
    assert "lores are from the 6th edition" in note
    assert scenario_from_dict({**document, "ruleset": "6e"}).notes == ()


def test_no_note_without_spells_of_a_lore() -> None:
    assert load_scenario("seventh-edition-duel").notes == ()
