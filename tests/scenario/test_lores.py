"""The spells of the lores: targets, effects, and rejected effects."""

import re
from collections.abc import Mapping
from typing import Any

import pytest

from wfb_gym.scenario import load_scenario, scenario_from_dict
from wfb_gym.scenario.documents import validate
from wfb_gym.scenario.effects import SpellEffect
from wfb_gym.scenario.errors import ScenarioError
from wfb_gym.scenario.spells import LoreSpell, lore_spells


def test_values_that_the_pages_tables_do_not_show() -> None:
    """`tests/test_docs.py` compares all others with docs/lores.md."""
    spells = {spell.name: spell for spell in lore_spells()}
    assert spells["Burning Head"].engaged == "no"
    assert spells["The Comet of Casandora"].duration == "instant"
    for each in spells.values():
        assert (each.kind == "magic_missile") == each.missile, each.name


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


def test_the_caster_and_points_have_no_combat_condition() -> None:
    comet = {"hits": "2D6", "strength": 4, "delayed": True, "radius": "D6 per marker"}
    row: dict[str, Any]
    for row in ({"target": "caster"}, {"target": "player"}, {"target": "point", "damage": comet}):
        effect = validate(SpellEffect, {"worth": {"points": 5.0}, **row}, "spell")
        assert effect.engaged == "either"


LORE_ROW = {
    "name": "Bolt", "lore": "Storms", "number": 1, "casting_value": 5, "duration": "instant",
    "kind": "hex", "confidence": "found", "source": "ours", "target": "enemy_unit",
    "worth": {"points": 5.0, "reason": "A guess."},
}  # fmt: skip


@pytest.mark.parametrize(("changes", "message"), [
    ({"kind": "magic_missile"}, 'missile: expected true for kind = "magic_missile"'),
    ({"confidence": "approximate"}, "note: expected the printed effect"),
    ({"worth": {"points": 5.0}}, "worth.reason: expected a reason, as the worth"),
    ({"worth": {"points_per_phase": 5.0, "reason": "A guess."}},
     "worth: expected no worth per phase except for"),
])  # fmt: skip
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
    assert load_scenario("seventh-edition-duel").notes == ()  # without spells of a lore
