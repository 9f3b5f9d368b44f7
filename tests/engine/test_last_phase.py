"""The last phase: canonical states drop irrelevant data and keep relevant data."""

import random
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.support.builders import PASS, Data, Game, aimed, army, game, known, miscast, unit, wizard
from wfb_gym.engine.state import Node

from .strategies import EFFECTS, OWN_ITEMS, armies
from .test_oracle import Minimax

NOT_OF_ONE_PHASE = ("Rod of Power", "Black Periapt", "Seal of Destruction")
"""Items whose nodes do not occur in the last phase."""


def twins(caster: Data, dispeller: Data, **keys: Any) -> tuple[Game, Game]:
    """Return the same phase as the last of the battle, and with one more after it."""
    last = game(caster, dispeller, **keys)
    return last, game(caster, dispeller, phases=2, **keys)


@settings(max_examples=80, deadline=None, suppress_health_check=list(HealthCheck), derandomize=True)
@given(
    caster=armies(1, True),
    dispeller=armies(0, True),
    effects=st.lists(st.sampled_from(EFFECTS), max_size=3),
    seed=st.integers(0, 2**32),
)
def test_a_battle_continues_in_its_last_phase_as_in_any(
    caster: Data, dispeller: Data, effects: list[Data], seed: int
) -> None:
    for mage in (*caster["wizards"], *dispeller["wizards"]):
        items = mage.get("items", ())
        mage["items"] = [name for name in items if name not in NOT_OF_ONE_PHASE]
    last, other = twins(caster, dispeller, items=OWN_ITEMS, **miscast(*effects))
    choose = random.Random(seed)
    while not last.is_over:
        assert other.state.phase == 0
        assert (other.node, other.mover) == (last.node, last.mover)
        if last.is_chance():
            assert other.chance_outcomes() == last.chance_outcomes()
            codes = [code for code, _ in last.chance_outcomes()]
            weights = [6 if last.node == Node.ROLL_CASTING and code == 1 else 1 for code in codes]
            code = choose.choices(codes, weights)[0]
            gained = last.resolve(code), other.resolve(code)
        else:
            assert other.legal_actions() == last.legal_actions()
            action = choose.choice(last.legal_actions()[-6:])
            gained = last.act(action), other.act(action)
        if other.state.phase == 0:  # otherwise spells in play pay for the next phase too
            assert gained[0] == gained[1]


FOE = army(dispel_dice=1, units=[unit(models=9)])


@pytest.mark.parametrize(
    ("caster", "dispeller", "effects"),
    [
        (army(wizard(2, known("Fire Ball"), known("Fiery Blast")), power_dice=3), FOE, ()),
        (army(wizard(2, aimed(damage={"hits": "2D6", "strength": 4})), power_dice=2), FOE, ()),
        (
            army(wizard(2, known("Burning Head"), known("Fire Ball")), power_dice=3),
            army(dispel_dice=0, units=[unit(models=4, wounds=3), unit("Bows", 12)]),
            (),
        ),
        (
            army(
                wizard(1, known("Healing Hand"), name="Priest", points=50.0),
                wizard(1, name="Idle", wounds=3, points=90.0),
                power_dice=2,
            ),
            FOE,
            (),
        ),
        (
            army(wizard(1, known("Fire Ball")), wizard(1, name="Idle", wounds=3), power_dice=2),
            FOE,
            ({"kind": "other_wizards_wounds", "dice": "D3"},),
        ),
        (
            army(wizard(1, known("Fire Ball")), power_dice=2, units=[unit("Own", 8)]),
            army(wizard(1, known("Dark Hand of Death"), name="Foe"), dispel_dice=0, units=[unit()]),
            ({"kind": "free_spell"},),
        ),
    ],
    ids=["two missiles", "one bolt", "a line", "a healer", "other wizards", "a free spell"],
)
def test_canonicalizing_the_last_phase_changes_no_value(
    caster: Data, dispeller: Data, effects: tuple[Data, ...]
) -> None:
    dispeller = {**dispeller, "power_dice": 0}  # nothing happens in the next phase
    last, other = twins(caster, dispeller, **miscast(*effects))
    exact, brute = Minimax(last), Minimax(other)
    assert exact.value() == pytest.approx(brute.value(), abs=1e-12)
    assert len(exact.known) <= len(brute.known)


def after_a_loss(models: int, wounds: int) -> Game:
    """Return a battle after a Fire Ball wounded a unit, with another one to cast."""
    caster = army(wizard(4, known("Fire Ball")), wizard(4, known("Fire Ball"), name="Second"))
    battle = game(caster, army(units=[unit(models=models)]))
    battle.works("Fire Ball", wizard=0)
    battle.resolve(wounds)
    return battle


def test_models_beyond_any_possible_loss_are_one_position() -> None:
    keys = {after_a_loss(models, wounds).key() for models, wounds in [(20, 0), (20, 4), (9, 2)]}
    assert len(keys) == 1
    # six may still fall: of seven models one is safe, of six none
    assert after_a_loss(9, 2).key() == after_a_loss(9, 1).key()
    assert after_a_loss(9, 3).key() != after_a_loss(9, 2).key()


def test_models_of_several_wounds_keep_the_wounds_of_the_wounded_one() -> None:
    caster = army(wizard(4, known("Fire Ball")), wizard(4, known("Fire Ball"), name="Second"))
    seen = {}
    for wounds in range(5):
        battle = game(caster, army(units=[unit(models=20, wounds=3)]))
        battle.works("Fire Ball", wizard=0)
        battle.resolve(wounds)
        seen[wounds] = battle.units_left(1)[0]
    assert {left % 3 for left in seen.values()} == {0, 1, 2}
    assert seen[0] == seen[3]
    assert seen[1] == seen[4]
    assert min(seen.values()) > 6


def test_a_spell_that_strikes_is_one_position_however_it_came_to_work() -> None:
    caster = army(wizard(4, known("Fire Ball")), wizard(1, known("Fire Ball"), name="Second"))
    keys = set()
    for faces in [(6, 6), (3, 4), (2, 6)]:
        battle = game(caster, army(units=[unit()]))
        battle.cast("Fire Ball", 2)
        battle.roll(*faces)
        if battle.node == Node.DISPEL:
            battle.act(PASS)
        assert battle.node == Node.ROLL_STRIKE
        assert battle.mover == 0  # which wizard rolls the hits
        keys.add(battle.key())
    assert len(keys) == 1
