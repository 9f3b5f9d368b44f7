"""Spells in play at the start of a battle, and the worth that a scenario gives to spells."""

from typing import Any

import pytest

from tests.scenario.documents import BOYZ, CURSE, scenario, unit, wizard
from wfb_gym.scenario.spells import Spell


def spell(**entry: Any) -> Spell:
    """Return the spell of an entry; its army has the unit Own, the enemy has Boyz."""
    battle = scenario({"units": [BOYZ]}, wizards=[wizard(spells=[entry])], units=[unit(name="Own")])
    return battle.caster.wizards[0].spells[0]


@pytest.mark.parametrize(("target", "on"), [
    ("enemy_unit", "Boyz"), ("friendly_unit", "Own"),
    ("friendly_unit", "Anna"), ("friendly_character", "Anna"),
])  # fmt: skip
def test_a_spell_in_play_has_a_legal_target(target: str, on: str) -> None:
    entry = {**CURSE, "target": target, "in_play": True, "in_play_on": on}
    assert spell(**entry).in_play_on == on


def test_a_spell_on_the_caster_in_play_needs_no_target() -> None:
    assert spell(name="Flaming Sword of Rhuin", in_play=True).in_play


PELT = "Pelt of Midnight"


def test_a_worth_for_one_target_precedes_the_general_one() -> None:
    worths = [{"spell": PELT, "target": "Own", "points": 15}]
    worths.append({"spell": PELT, "points": 3, "points_per_phase": 2})
    mage = wizard(spells=[PELT])
    battle = scenario(keys={"worths": worths}, wizards=[mage], units=[unit(name="Own")])
    pelt = battle.caster.wizards[0].spells[0]
    own, others = battle.worth_of(pelt, "Own"), battle.worth_of(pelt, "Anna")
    assert (own["points"], own["points_per_phase"]) == (15.0, 2.0)
    assert (others["points"], others["points_per_phase"]) == (3.0, 2.0)
    assert battle.worth_of(pelt) == others


def test_a_bound_spell_may_have_a_worth_too() -> None:
    anna = wizard(spells=[{"name": "Fire Ball", "worth": 20}], items=["Ring of Flame"])
    battle = scenario(keys={"worths": [{"spell": "Fire Ball", "points": 4}]}, wizards=[anna])
    assert battle.worths[0].points == 4.0
