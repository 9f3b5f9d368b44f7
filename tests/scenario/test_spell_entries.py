"""Spells of a wizard: a lore's or the scenario's own, with an effect or fixed points."""

from typing import Any

import pytest

from wfb_gym.scenario import ScenarioError, scenario_from_dict
from wfb_gym.scenario.spells import Spell, find_lore_spell, lore_spells, spells_of_lore

BOYZ = {"name": "Boyz", "models": 20, "toughness": 4, "points": 5}
HIT = {"target": "enemy_unit", "damage": {"hits": "D6", "strength": 5}}
CURSE = {
    "name": "Curse",
    "casting_value": 7,
    "duration": "remains_in_play",
    "target": "enemy_unit",
    "worth": {"points_per_phase": 5},
}
KEY = "scenario: caster.wizards[0].spells[0]"


def document(entry: dict[str, Any], **more: Any) -> dict[str, Any]:
    caster = {
        "wizards": [{"name": "Anna", "level": 2, "spells": [entry]}],
        "units": [{**BOYZ, "name": "Own"}],
    }
    return {"name": "test", "caster": caster, "dispeller": {"units": [BOYZ]}, **more}


def spell(**entry: Any) -> Spell:
    read = scenario_from_dict(document(entry))
    assert scenario_from_dict(read.model_dump()) == read
    return read.caster.wizards[0].spells[0]


def refused(**entry: Any) -> str:
    """Return the error for an entry with one fault."""
    with pytest.raises(ScenarioError) as caught:
        scenario_from_dict(document(entry))
    assert len(caught.value.problems) == 1, str(caught.value)
    return str(caught.value)


def bolt(**keys: Any) -> str:
    return refused(name="Bolt", casting_value=8, **keys)


def test_a_lores_spell_takes_its_effect_from_the_lore() -> None:
    ball, found = spell(name="Fire Ball"), find_lore_spell("Fire Ball")
    assert found is not None
    assert (ball.effect, found.range_inches) == (found.effect, 24)
    assert (ball.lore, ball.casting_value, ball.duration) == ("Fire", 5, "instant")
    assert (ball.worth, ball.worth_per_phase) == (0.0, 0.0)
    assert ball.picks_target


@pytest.mark.parametrize("worth", [0, 20])
def test_a_lores_spell_with_a_worth_has_no_effect(worth: float) -> None:
    ball = spell(name="Fire Ball", worth=worth)
    assert (ball.effect, ball.worth) == (None, worth)
    assert not ball.picks_target


@pytest.mark.parametrize("name", [each.name for each in lore_spells()])
def test_every_spell_of_a_lore_can_be_listed(name: str) -> None:
    assert spell(name=name).effect is not None


def test_the_six_spells_of_a_lore_are_in_its_order() -> None:
    assert [each.name for each in spells_of_lore("Metal")][:2] == [
        "Rule of Burning Iron",
        "Commandment of Brass",
    ]
    assert len(spells_of_lore("Metal")) == 6


def test_an_inline_spell_has_the_keys_of_an_effect() -> None:
    own = spell(name="Bolt", casting_value=8, range_inches=24, sight=True, missile=True, **HIT)
    assert own.effect is not None
    assert (own.effect.target, own.effect.sight, own.effect.missile) == ("enemy_unit", True, True)
    assert own.effect.damage is not None
    assert (own.effect.damage.hits, own.effect.damage.strength) == ("D6", 5)
    assert (own.effect.range_inches, own.worth, own.lore) == (24, 0.0, None)


def test_an_inline_spell_may_have_damage_and_a_worth() -> None:
    own = spell(name="Bolt", casting_value=8, worth={"points": 7.5}, **HIT)
    assert own.effect is not None
    assert own.effect.worth is not None
    assert (own.effect.worth.points, own.worth) == (7.5, 0.0)


def test_an_effect_may_be_its_own_table() -> None:
    apart = spell(name="Bolt", casting_value=8, effect=HIT)
    assert apart == spell(name="Bolt", casting_value=8, **HIT)


@pytest.mark.parametrize(
    ("keys", "message"),
    [
        (
            {},
            (
                "worth: expected a worth in points, or a target and an effect on it, "
                "found no such key"
            ),
        ),
        (
            {"range_inches": 24, "worth": 20},
            "target: expected a target for a spell with an effect, found no such key",
        ),
        (
            {"worth": 20, **HIT},
            "worth: expected a table such as { points = 10 } for a spell with a target, found 20",
        ),
        (
            {"target": "enemy_unit", "damage": {"hits": "template", "strength": 4}},
            'damage.template: expected its size in inches for hits = "template", found no such key',
        ),
        (
            {"target": "enemy_unit", "damage": {"hits": "D6", "strengh": 4}},
            (
                "damage.strengh: expected a known key (did you mean strength?), "
                'found unknown key "strengh"'
            ),
        ),
        (
            {"target": "enemy_unit", "damag": {"hits": "D6", "strength": 4}},
            'damag: expected a known key (did you mean damage?), found unknown key "damag"',
        ),
        (
            {"worth": {"points": 5, "points_per_phase": 3}, **HIT},
            (
                'worth: expected no worth per phase except for "remains_in_play" or "one_turn", '
                "found a table"
            ),
        ),
        (
            {"worth": {"points": 5}, "target": "enemy_unit", "damage": {"hits": "D6"}},
            "damage.strength: expected a Strength, or strength_by_armour, found no such key",
        ),
        (
            {"worth_per_phase": 3, **HIT},
            "worth_per_phase: expected 0, as its effect has its own worth, found 3.0",
        ),
        (
            {"effect": HIT, "target": "enemy_unit"},
            'target: expected no value with effect, found "enemy_unit"',
        ),
        (
            {"effect": HIT, "worth": 5},
            "worth: expected 0, as its effect has its own worth, found 5.0",
        ),
    ],
)
def test_a_wrong_inline_spell_is_one_clear_line(keys: dict[str, Any], message: str) -> None:
    assert bolt(**keys) == f"{KEY}.{message}"


def test_an_unknown_target_is_reported_once() -> None:
    message = bolt(target="enemy", damage={"hits": "D6", "strength": 4})
    assert message.startswith(f'{KEY}.target: expected "enemy_unit", "enemy_model"')


@pytest.mark.parametrize(
    ("keys", "message"),
    [
        (
            {"target": "enemy_unit"},
            'target: expected no value, because the lore supplies the effect, found "enemy_unit"',
        ),
        (
            {"worth": {"points": 3}},
            "worth: expected a number, because the lore supplies the effect, found a table",
        ),
        (
            {"effect": HIT},
            "effect: expected no value, because the lore supplies the effect, found a table",
        ),
        ({"effect": 5}, "effect: expected no value, because the lore supplies the effect, found 5"),
        (
            {"worth_per_phase": 3},
            "worth_per_phase: expected 0, as its effect has its own worth, found 3.0",
        ),
    ],
)
def test_a_lores_spell_rejects_keys_of_an_effect(keys: dict[str, Any], message: str) -> None:
    assert refused(name="Fire Ball", **keys) == f"{KEY}.{message}"


def test_a_spell_in_play_has_its_target() -> None:
    assert spell(**CURSE, in_play=True, in_play_on="Boyz").in_play_on == "Boyz"
    assert refused(**CURSE, in_play=True) == (
        f"{KEY}.in_play_on: expected the unit or character that it affects, found no such key"
    )


@pytest.mark.parametrize(
    ("changes", "on", "ok"),
    [
        ({"target": "enemy_unit"}, "Own", False),
        ({"target": "friendly_unit"}, "Own", True),
        ({"target": "friendly_unit"}, "Boyz", False),
        ({"target": "friendly_unit"}, "Anna", True),
        ({"target": "friendly_character"}, "Anna", True),
        ({"target": "friendly_character"}, "Own", False),
    ],
)
def test_a_spell_in_play_has_a_legal_target(changes: dict[str, Any], on: str, ok: bool) -> None:
    entry = {**CURSE, **changes, "in_play": True, "in_play_on": on}
    if ok:
        assert spell(**entry).in_play_on == on
    else:
        message = refused(**entry)
        assert message.startswith(f"{KEY}.in_play_on: expected a target of the spell (")
        assert message.endswith(f'found "{on}"')


@pytest.mark.parametrize(
    "entry",
    [
        {**CURSE, "in_play_on": "Boyz"},
        {**CURSE, "target": "caster", "in_play": True, "in_play_on": "Boyz"},
        {"name": "Pelt of Midnight", "worth": 3, "in_play": True, "in_play_on": "Boyz"},
    ],
)
def test_only_an_aimed_spell_in_play_has_a_target(entry: dict[str, Any]) -> None:
    assert refused(**entry) == (
        f"{KEY}.in_play_on: expected no value except for a spell in play with a unit or character "
        'as target, found "Boyz"'
    )


def test_a_spell_on_the_caster_in_play_needs_no_target() -> None:
    assert spell(name="Flaming Sword of Rhuin", in_play=True).in_play


# --- worths --------------------------------------------------------------------------------


def with_worths(*worths: dict[str, Any]) -> dict[str, Any]:
    return document({"name": "Pelt of Midnight"}, worths=list(worths))


def refused_worths(*worths: dict[str, Any]) -> str:
    with pytest.raises(ScenarioError) as caught:
        scenario_from_dict(with_worths(*worths))
    assert len(caught.value.problems) == 1, str(caught.value)
    return str(caught.value)


def test_a_scenario_sets_parts_of_a_spells_worth() -> None:
    plain = scenario_from_dict(with_worths())
    pelt = plain.caster.wizards[0].spells[0]
    before = plain.worth_of(pelt, "Own")
    assert pelt.effect is not None
    assert pelt.effect.worth is not None
    assert before["share_per_phase"] == pelt.effect.worth.share_per_phase
    changed = scenario_from_dict(with_worths({"spell": "Pelt of Midnight", "points": 15}))
    assert scenario_from_dict(changed.model_dump()) == changed
    assert changed.worth_of(pelt, "Own") == {**before, "points": 15.0}


def test_a_worth_for_one_target_precedes_the_general_one() -> None:
    alone = {"spell": "Pelt of Midnight", "target": "Own", "points": 15}
    for_all = {"spell": "Pelt of Midnight", "points": 3, "points_per_phase": 2}
    battle = scenario_from_dict(with_worths(alone, for_all))
    pelt = battle.caster.wizards[0].spells[0]
    own, others = battle.worth_of(pelt, "Own"), battle.worth_of(pelt, "Anna")
    assert (own["points"], own["points_per_phase"]) == (15.0, 2.0)
    assert (others["points"], others["points_per_phase"]) == (3.0, 2.0)
    assert battle.worth_of(pelt) == others


@pytest.mark.parametrize(
    ("worth", "message"),
    [
        (
            {"spell": "Pelt of Midnigh", "points": 1},
            (
                "[0].spell: expected a spell of the scenario without fixed worth (did you mean "
                'Pelt of Midnight?), found "Pelt of Midnigh"'
            ),
        ),
        (
            {"spell": "Pelt of Midnight", "target": "Boy", "points": 1},
            (
                "[0].target: expected a unit or character of the scenario (did you mean Boyz?), "
                'found "Boy"'
            ),
        ),
        (
            {"spell": "Pelt of Midnight"},
            "[0]: expected points, share, points_per_phase or share_per_phase, found none of them",
        ),
        (
            {"spell": "Pelt of Midnight", "share": 1.5},
            "[0].share: expected a number from 0 to 1, found 1.5",
        ),
    ],
)
def test_a_worth_needs_a_known_spell_and_target(worth: dict[str, Any], message: str) -> None:
    assert refused_worths(worth) == f"scenario: worths{message}"


def test_a_spell_of_fixed_worth_has_no_other() -> None:
    data = document(
        {"name": "Fire Ball", "worth": 20}, worths=[{"spell": "Fire Ball", "points": 1}]
    )
    with pytest.raises(
        ScenarioError, match=r"worths\[0\]\.spell: expected a spell of the scenario"
    ):
        scenario_from_dict(data)


def test_a_worth_is_given_once() -> None:
    worth = {"spell": "Pelt of Midnight", "target": "Own", "points": 1}
    assert refused_worths(worth, {**worth, "points": 2}) == (
        "scenario: worths[1]: expected one entry for each spell and target, "
        'found another for "Pelt of Midnight"'
    )


def test_a_bound_spell_may_have_a_worth_too() -> None:
    data = document({"name": "Fire Ball", "worth": 20})
    data["caster"]["wizards"][0]["items"] = ["Ring of Flame"]
    data["worths"] = [{"spell": "Fire Ball", "points": 4}]
    assert scenario_from_dict(data).worths[0].points == 4.0
