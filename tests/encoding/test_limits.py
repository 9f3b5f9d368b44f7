"""Limits: fitted, joined, checked."""

from typing import Any

import pytest

import wfb_gym
from tests.support.builders import aimed, army, known, lasting, miscast, spell, unit, wizard
from tests.support.builders import game as new_game
from tests.support.playing import table_of
from wfb_gym.encoding.actions import action_codec
from wfb_gym.encoding.layout import layout
from wfb_gym.encoding.limits import ArmyLimits, Limits, check_covers, fit, union
from wfb_gym.engine.state import Node

SCENARIOS = wfb_gym.bundled_scenarios()
CURSE = aimed("Curse", worth={"points": 5.0})
FREE = miscast({"kind": "free_spell", "limit": "any"})
BRAVE = unit("Brave", magic_resistance=1)


def fitted(name: str, seat: int) -> Limits:
    return fit(table_of(name), seat)


@pytest.mark.parametrize(
    ("keys", "field"),
    [
        ({"caster": army(wizard(2, lasting()))}, "in_play"),
        ({"caster": army(wizard(4, items=["Luckstone"]))}, "rerolls"),
        ({"phases": 2}, "battle"),
        ({"ruleset": "7e", "caster": army(wizard(2, spell()))}, "own_dice"),
        ({"dispeller": army(wizard(2, spell())), **FREE}, "free_spells"),
        ({"caster": army(wizard(4, CURSE))}, "targets"),
        ({"caster": army(wizard(4, CURSE)), "dispeller": army(units=[BRAVE])}, "resistance"),
        ({"caster": army(wizard(4, {**CURSE, "once": True}))}, "marks"),
        ({"caster": army(wizard(4, known("The Comet of Casandora")))}, "comets"),
        ({"caster": army(wizard(4, known("The Comet of Casandora")))}, "in_play"),
        ({"dispeller": army(wizard(1, CURSE), units=[BRAVE]), "phases": 2}, "panic"),
        ({"dispeller": army({"name": "Mage", "level": 2, "lore": "Fire"})}, "selection"),
        ({"dispeller": army(wizard(4, items=["Rod of Power"]))}, "stored_dice"),
        ({"caster": army(wizard(4, items=["Black Periapt"]))}, "stored_dice"),
        ({"rules": {"scoring": "victory_points"}}, "victory_points"),
        ({"dispeller": army(wizard(4, items=["Starwood Staff"]))}, "exceptions"),
        ({"caster": army(wizard(4, items=["Book of Hoeth"]))}, "exceptions"),
        ({"dispeller": army(items=["Seal of Destruction"])}, "exceptions"),
        ({"caster": army(items=["Power Familiar"])}, "exceptions"),
        ({"caster": army(wizard(4, items=["Rod of Power"]))}, "exceptions"),
        ({"dispeller": army(items=["Rune of Spellbreaking"])}, "exceptions"),
    ],
)
def test_switches_follow_the_scenario(keys: dict[str, Any], field: str) -> None:
    packed = new_game(**keys).packed_scenarios
    plain = new_game().packed_scenarios
    for seat in (0, 1):
        assert getattr(fit(packed, seat), field)
        assert not getattr(fit(plain, seat), field)


@pytest.mark.parametrize(
    "name", ["Dispel Scroll", "Power Stone", "Luckstone", "Staff of Sorcery", "Wizard's Staff"]
)
def test_the_common_items_are_no_exceptions(name: str) -> None:
    battle = new_game(army(wizard(4, items=[name])), army(wizard(2, items=[name])))
    assert not fit(battle.packed_scenarios, 0).exceptions


def test_magic_resistance_is_hidden_without_aimed_spells() -> None:
    limits = fit(new_game(dispeller=army(units=[BRAVE])).packed_scenarios, 0)
    assert not limits.resistance
    assert limits.opponent.units == 0


def test_units_are_shown_if_anything_can_happen_to_them() -> None:
    """As targets, in base contact with a wizard, or as Daemons that cast."""
    unit_of = unit("Guard")
    horrors = wizard(1, spell(), daemon_unit="Guard")
    idle = new_game(army(wizard(4, spell()), units=[unit_of]), army(units=[unit_of]))
    assert [fit(idle.packed_scenarios, seat).own.units for seat in (0, 1)] == [0, 0]
    for caster, units in (
        (army(wizard(4, spell(), CURSE), units=[unit_of]), 1),
        (army(wizard(4, spell(), unit="Guard"), units=[unit_of]), 1),
        (army(horrors, units=[unit("Guard", traits=["daemons"])]), 1),
    ):
        limits = fit(new_game(caster, army(units=[unit_of])).packed_scenarios, 0)
        assert (limits.own.units, limits.opponent.units) == (units, units)


def test_dice_that_an_item_keeps_are_dice_of_an_action() -> None:
    """A wizard of level 1 casts with two dice; its rod keeps three."""
    caster = army(wizard(1, spell(), items=["Rod of Power"]), power_dice=6, dispel_dice=0)
    battle = new_game(caster, phases=3, **miscast({"kind": "level_lost"}))
    assert fit(battle.packed_scenarios, 0).dice == 3
    battle.stop()
    assert battle.node == Node.STORE_DICE
    codec = action_codec(fit(battle.packed_scenarios, 0))
    assert [int(codec.index_of[code]) for code in battle.legal_actions()] == [1, 2, 3, 4]


@pytest.mark.parametrize("seat", [0, 1])
def test_limits_and_their_union_cover_every_scenario(seat: int) -> None:
    """Swapped limits are the other seat's."""
    limits = []
    for name in SCENARIOS:
        own, other = fitted(name, seat), fitted(name, 1 - seat)
        check_covers(own, table_of(name), seat)
        assert own.from_other_seat(other.dice) == other
        limits.append(own)
    both = union(limits)
    for name in SCENARIOS:
        check_covers(both, table_of(name), seat)
    assert layout(both).size >= max(layout(each).size for each in limits)
    assert action_codec(both).n >= max(action_codec(each).n for each in limits)


def test_union_covers_each() -> None:
    first = Limits(ArmyLimits(1, 5, 0), ArmyLimits(2, 0, 1), dice=3, rerolls=True)
    second = Limits(ArmyLimits(2, 1, 1), ArmyLimits(1, 0, 0), dice=7, contacts=2)
    both = Limits(ArmyLimits(2, 5, 1), ArmyLimits(2, 0, 1), dice=7, contacts=2, rerolls=True)
    assert union([first, second]) == union([second, first]) == both
    assert union([first]) == first
    assert union([both, first]) == both


@pytest.mark.parametrize(
    ("limits", "expected"),
    [
        (Limits(ArmyLimits(1, 3, 0), ArmyLimits(1, 0, 1), 5), ["own.spells", "needs 4, found 3"]),
        (Limits(ArmyLimits(1, 4, 0), ArmyLimits(1, 0, 0), 5), ["opponent.items", "needs 1"]),
        (Limits(ArmyLimits(1, 4, 0), ArmyLimits(1, 0, 1), 4), ["dice", "needs 5, found 4"]),
    ],
)
def test_the_limit_that_is_too_small_is_named(limits: Limits, expected: list[str]) -> None:
    with pytest.raises(ValueError, match="limits") as caught:
        check_covers(limits, table_of("archmage-duel"), 0)
    assert all(part in str(caught.value) for part in expected)
    assert str(caught.value).count("needs") == 1


def test_switches_that_are_missing_are_named() -> None:
    needed = fitted("long-siege", 0)
    missing = "in_play: the scenario needs True, found False; .*; battle: the scenario needs True"
    with pytest.raises(ValueError, match=missing):
        check_covers(Limits(needed.own, needed.opponent, needed.dice), table_of("long-siege"), 0)


@pytest.mark.parametrize(
    ("build", "expected"),
    [
        (lambda: ArmyLimits(wizards=7), r"wizards: expected 0\.\.6, found 7"),
        (lambda: ArmyLimits(items=9), r"items: expected 0\.\.8, found 9"),
        (lambda: Limits(ArmyLimits(), ArmyLimits(), dice=0), r"dice: expected 1\.\.24, found 0"),
        (lambda: Limits(ArmyLimits(), ArmyLimits(), dice=25), r"dice: expected 1\.\.24, found 25"),
        (lambda: ArmyLimits(units=11), r"units: expected 0\.\.10, found 11"),
        (lambda: Limits(ArmyLimits(), ArmyLimits(), 1, contacts=17), r"contacts: .*0\.\.16"),
        (lambda: ArmyLimits(spells="x"), r"spells: expected 0\.\.24, found 'x'"),  # type: ignore[arg-type]
        (lambda: Limits(1, ArmyLimits(), 5), "own: expected wfb_gym's ArmyLimits, found 1"),  # type: ignore[arg-type]
    ],
)
def test_impossible_sizes_are_rejected(build: Any, expected: str) -> None:
    with pytest.raises(ValueError, match=expected):
        build()
