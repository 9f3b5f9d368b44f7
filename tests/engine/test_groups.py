"""Spells that a wizard may attempt several times, or one of several: casts, values and groups."""

from typing import Any

import pytest

from tests.support.builders import Data, Game, aimed, army, game, miscast, spell, unit, wizard
from wfb_gym.engine.state import Node
from wfb_gym.scenario import scenario_from_dict

from .facts import check
from .titles import cast_with, castable, nominate

LEVELS = spell("Raise", 3, 10.0, alternatives=[{"casting_value": 7, "worth": 25.0}])
PRAYERS = [spell("Smite", 4, group="prayers"), spell("Shield", 4, group="prayers")]
SIGIL = {"name": "Sigil", "uses": 1, "when_dispelling": {"automatic": True, "forgotten_on": 4}}


def battle_with(*spells: Data, power: int = 6, **keys: Any) -> Game:
    keys.setdefault("dispeller", army(dispel_dice=0))
    return game(army(wizard(4, *spells), power_dice=power), **keys)


@pytest.mark.parametrize(("title", "points"), [("Raise (3+)", 10), ("Raise (7+)", 25)])
def test_one_casting_value_is_chosen_for_each_attempt(title: str, points: float) -> None:
    battle = battle_with(LEVELS, spell("Dart"))
    assert castable(battle) == ["Raise (3+)", "Raise (7+)", "Dart (5+)"]
    assert cast_with(battle, title, 5, 2) == points
    assert castable(battle) == ["Dart (5+)"]


def test_an_alternative_has_the_other_keys_of_the_spell() -> None:
    bolt = aimed(damage={"hits": "D6", "strength": 5}, range_inches=24, casting_value=5)
    bolt["alternatives"] = [{"casting_value": 9, "damage": {"hits": "2D6", "strength": 5}}]
    battle = battle_with(bolt, dispeller=army(units=[unit()], dispel_dice=0))
    weak, strong = battle.scenario.caster.wizards[0].spells[0].versions
    assert weak.effect is not None
    assert strong.effect is not None
    assert (weak.effect.range_inches, strong.effect.range_inches) == (24, 24)
    cast_with(battle, "Strike (9+)", 5, 4)
    battle.roll(1, 1, *(6, 1, 1) * 2)  # two hits of 2D6
    assert battle.points == 12


def test_each_cast_has_a_choice_of_casting_values() -> None:
    battle = battle_with({**LEVELS, "casts": 2})
    first = ["Raise (3+), cast 1 of 2", "Raise (7+), cast 1 of 2"]
    assert castable(battle) == first
    cast_with(battle, first[1], 1)
    second = ["Raise (3+), cast 2 of 2", "Raise (7+), cast 2 of 2"]
    assert castable(battle) == second
    cast_with(battle, second[0], 1)
    assert battle.is_over


def test_groups_of_two_wizards_are_separate() -> None:
    mages = [wizard(2, *PRAYERS), wizard(2, *PRAYERS, name="Other")]
    battle = game(army(*mages, power_dice=4))
    cast_with(battle, "Smite (4+) by Mage", 1)
    assert castable(battle) == ["Smite (4+) by Other", "Shield (4+) by Other"]


@pytest.mark.parametrize(
    ("spells", "title", "left"),
    [
        ([LEVELS, spell("Dart")], "Raise (7+)", ["Dart (5+)"]),
        (PRAYERS, "Smite (4+)", ["Shield (4+)"]),
    ],
)
def test_a_spell_is_forgotten_with_all_its_casting_values_but_without_its_group(
    spells: list[Data], title: str, left: list[str]
) -> None:
    foes = army(items=["Sigil"], dispel_dice=0)
    battle = battle_with(*spells, dispeller=foes, items=[SIGIL], phases=3, power=2)
    cast_with(battle, title, 5, 4)
    battle.use("Sigil")
    battle.roll(4)
    battle.pass_until(2)
    assert castable(battle) == left


def test_a_free_spell_has_any_casting_value_up_to_the_limit_and_is_offered_once() -> None:
    foes = army(wizard(2, LEVELS, spell("Jolt", casts=3), name="Foe"), dispel_dice=0)
    effect = {"kind": "free_spell", "limit": "miscast_value"}
    battle = battle_with(spell("Bolt", 5), dispeller=foes, **miscast(effect))
    cast_with(battle, "Bolt (5+)", 1, 1)
    battle.roll(3, 4)
    assert castable(battle) == ["Raise (3+)", "Jolt (5+), cast 1 of 3"]


def test_a_spell_in_play_bars_its_other_casting_values() -> None:
    ward = spell("Ward", 3, 1.0, duration="remains_in_play")
    ward["alternatives"] = [{"casting_value": 6, "worth": 2.0}]
    battle = battle_with(ward, phases=3, rules={"in_play_recast": "caster"})
    cast_with(battle, "Ward (3+)", 5)
    battle.pass_until(2)
    assert castable(battle) == []


def test_one_spell_of_an_item_is_chosen_for_each_use() -> None:
    spells = [{"name": "Smite", "worth": 5.0}, {"name": "Shield", "worth": 3.0}]
    book = {"name": "Prayers", "bound": {"power_level": 4, "spells": spells}}
    priest = {"name": "Priest", "items": ["Prayers"]}
    battle = game(army(heroes=[priest]), army(dispel_dice=1), items=[book], phases=3)
    both = ["Smite (power level 4)", "Shield (power level 4)"]
    assert castable(battle) == both
    nominate(battle, both[1])
    check(battle, node=Node.DISPEL, number=4)
    battle.dispel(3)
    check(battle, points=3)
    battle.pass_until(2)
    assert castable(battle) == both


def test_a_scenario_with_alternatives_can_be_saved_and_read() -> None:
    bolt = aimed(damage={"hits": "D6", "strength": 5})
    bolt["alternatives"] = [{"casting_value": 9, "range_inches": 12}]
    spells = [{"name": "Smite", "worth": 5.0}, "Fire Ball"]
    book = {"name": "Book", "bound": {"power_level": 4, "spells": spells}}
    side = army(wizard(4, bolt, LEVELS, items=["Book"]))
    scenario = game(side, army(units=[unit()]), items=[book]).scenario
    assert scenario_from_dict(scenario.model_dump(mode="json")) == scenario


def repeated(casts: int = 3, power: int = 6, **keys: Any) -> Game:
    return game(army(wizard(4, spell(casts=casts), spell("Dart")), power_dice=power), **keys)


def test_each_attempt_is_counted_and_the_next_follows() -> None:
    battle = repeated(dispeller=army(dispel_dice=0))
    points = 0.0
    for cast in (1, 2, 3):
        title = f"Bolt (5+), cast {cast} of 3"
        assert castable(battle) == [title, "Dart (5+)"]
        points += cast_with(battle, title, 5)
    assert points == 30
    assert castable(battle) == ["Dart (5+)"]


def test_all_casts_return_in_the_next_phase() -> None:
    battle = repeated(casts=2, power=2, phases=3)
    cast_with(battle, "Bolt (5+), cast 1 of 2", 1)
    battle.pass_until(2)
    assert castable(battle) == ["Bolt (5+), cast 1 of 2", "Dart (5+)"]


@pytest.mark.parametrize("phases", [1, 3])
@pytest.mark.parametrize(("die", "left"), [(4, []), (3, ["Bolt (5+), cast 2 of 2"])])
def test_a_forgotten_spell_has_no_casts_left(phases: int, die: int, left: list[str]) -> None:
    foes = army(items=["Sigil"])
    battle = repeated(casts=2, dispeller=foes, items=[SIGIL], phases=phases)
    cast_with(battle, "Bolt (5+), cast 1 of 2", 5)
    battle.use("Sigil")
    battle.roll(die)
    assert castable(battle) == [*left, "Dart (5+)"]


def test_a_spell_forgotten_in_a_miscast_has_no_casts_left() -> None:
    battle = repeated(**miscast({"kind": "spell_forgotten", "whose": "caster"}))
    cast_with(battle, "Bolt (5+), cast 1 of 3", 1, 1)
    battle.roll(3, 4)
    assert castable(battle) == ["Dart (5+)"]


def test_a_one_turn_spell_is_cast_at_several_targets_once_each() -> None:
    fog = aimed("Fog", duration="one_turn", worth={"points_per_phase": 5.0}, casts=3)
    foes = army(units=[unit("Spears"), unit("Bows")], dispel_dice=0)
    battle = game(army(wizard(4, fog), power_dice=6), foes)
    for cast in (1, 2):
        cast_with(battle, f"Fog (5+), cast {cast} of 3", 5)
    assert castable(battle) == []  # no target is left


def test_an_item_may_hold_several_casts_in_a_phase() -> None:
    bolt = {"name": "Bolt", "worth": 10.0, "casts": 2}
    stone = {"name": "Stone", "bound": {"power_level": 4, "spell": bolt}}
    battle = game(army(heroes=[{"name": "Captain", "items": ["Stone"]}]), items=[stone])
    for cast in (1, 2):
        nominate(battle, f"Bolt (power level 4), cast {cast} of 2")
        battle.let_through()
    assert battle.points == 20
    assert battle.is_over
