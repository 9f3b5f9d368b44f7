"""Spells of a wizard: a lore's or the scenario's own, with an effect or fixed points."""

from typing import Any

import pytest

from tests.scenario.documents import BOYZ, CURSE, Data, scenario, unit, wizard
from wfb_gym.scenario import Scenario
from wfb_gym.scenario.spells import Spell, find_lore_spell, lore_spells

HIT = {"target": "enemy_unit", "damage": {"hits": "D6", "strength": 5}}


def spell(**entry: Any) -> Spell:
    """Return the spell of an entry; its army has the unit Own, the enemy has Boyz."""
    battle = scenario({"units": [BOYZ]}, wizards=[wizard(spells=[entry])], units=[unit(name="Own")])
    return battle.caster.wizards[0].spells[0]


def bolt(**keys: Any) -> Spell:
    return spell(name="Bolt", casting_value=8, **keys)


def test_a_lores_spell_takes_its_effect_from_the_lore() -> None:
    ball, found = spell(name="Fire Ball"), find_lore_spell("Fire Ball")
    assert found is not None
    assert (ball.effect, found.range_inches) == (found.effect, 24)
    assert (ball.lore, ball.casting_value, ball.duration) == ("Fire", 5, "instant")
    assert (ball.worth, ball.worth_per_phase) == (0.0, 0.0)
    assert ball.picks_target


def test_a_lores_spell_with_a_worth_has_no_effect() -> None:
    ball = spell(name="Fire Ball", worth=0)
    assert (ball.effect, ball.worth, ball.picks_target) == (None, 0, False)


def test_every_spell_of_a_lore_can_be_listed() -> None:
    for each in lore_spells():
        assert spell(name=each.name).effect is not None


def test_an_inline_spell_has_the_keys_of_an_effect() -> None:
    own = bolt(range_inches=24, sight=True, missile=True, **HIT)
    assert own.effect is not None
    assert (own.effect.target, own.effect.sight, own.effect.missile) == ("enemy_unit", True, True)
    assert own.effect.damage is not None
    assert (own.effect.damage.hits, own.effect.damage.strength) == ("D6", 5)
    assert (own.effect.range_inches, own.worth, own.lore) == (24, 0.0, None)
    assert bolt(effect=HIT) == bolt(**HIT)
    own = bolt(worth={"points": 7.5}, **HIT)
    assert own.effect is not None
    assert own.effect.worth is not None
    assert (own.effect.worth.points, own.worth) == (7.5, 0.0)


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


def with_worths(*worths: Data) -> Scenario:
    wizards = [wizard(spells=[PELT])]
    return scenario(keys={"worths": list(worths)}, wizards=wizards, units=[unit(name="Own")])


def test_a_scenario_sets_parts_of_a_spells_worth() -> None:
    plain = with_worths()
    pelt = plain.caster.wizards[0].spells[0]
    before = plain.worth_of(pelt, "Own")
    assert pelt.effect is not None
    assert pelt.effect.worth is not None
    assert before["share_per_phase"] == pelt.effect.worth.share_per_phase
    changed = with_worths({"spell": PELT, "points": 15})
    assert changed.worth_of(pelt, "Own") == {**before, "points": 15.0}


def test_a_worth_for_one_target_precedes_the_general_one() -> None:
    alone = {"spell": PELT, "target": "Own", "points": 15}
    battle = with_worths(alone, {"spell": PELT, "points": 3, "points_per_phase": 2})
    pelt = battle.caster.wizards[0].spells[0]
    own, others = battle.worth_of(pelt, "Own"), battle.worth_of(pelt, "Anna")
    assert (own["points"], own["points_per_phase"]) == (15.0, 2.0)
    assert (others["points"], others["points_per_phase"]) == (3.0, 2.0)
    assert battle.worth_of(pelt) == others


def test_a_bound_spell_may_have_a_worth_too() -> None:
    anna = wizard(spells=[{"name": "Fire Ball", "worth": 20}], items=["Ring of Flame"])
    battle = scenario(keys={"worths": [{"spell": "Fire Ball", "points": 4}]}, wizards=[anna])
    assert battle.worths[0].points == 4.0
