"""Miscasts: every effect of a row."""

from typing import Any

import pytest

from tests.support.builders import Data, Game, army, game, lasting, miscast, spell, wizard
from wfb_gym.engine.state import Node
from wfb_gym.packing.records import Lock

BOLT = spell("Bolt", 5)
SECOND = spell("Second", 5)


def mishap(*effects: Data, others: tuple[Data, ...] = (), **keys: Any) -> Game:
    """Miscast Bolt with two dice of a wizard with 12; the effects are due."""
    mage = {"wounds": 3, "points": 90, **keys.pop("mage", {})}
    side = {"power_dice": 12, **keys.pop("side", {})}
    caster = army(wizard(4, BOLT, SECOND, **mage), *others, **side)
    enemy = keys.pop("enemy", None)
    battle = game(caster, enemy, phases=3, **miscast(*effects), **keys)
    battle.cast("Bolt", 2)
    battle.roll(1, 1)
    assert battle.node == Node.ROLL_MISCAST
    return battle


def effect(kind: str, **keys: Any) -> Data:
    """Return one effect."""
    return {"kind": kind, **keys}


def test_without_effects_only_the_spell_fails() -> None:
    battle = mishap()
    assert battle.roll(3, 4) == 0
    assert battle.node == Node.NOMINATE
    assert battle.state.power == 10
    assert battle.can_cast("Second")


def test_points_lost_go_to_the_enemy() -> None:
    assert mishap(effect("points_lost", points=30.0)).roll(3, 4) == -30


def test_a_hit_takes_a_wound_worth_its_share_of_the_caster() -> None:
    battle = mishap(effect("caster_hit", strength=4))
    battle.roll(3, 4)
    assert battle.node == Node.ROLL_HIT
    assert battle.dice_to_roll == 3
    assert battle.outcomes() == pytest.approx({0: 1 / 3, 1: 2 / 3})
    assert battle.roll(3, 1, 1) == -30
    assert battle.state.wounds[0, 0] == 2
    assert battle.can_cast("Second")


def test_a_hit_that_does_not_wound_costs_nothing() -> None:
    battle = mishap(effect("caster_hit", strength=4))
    battle.roll(3, 4)
    assert battle.roll(2, 1, 1) == 0
    assert battle.state.wounds[0, 0] == 3


@pytest.mark.parametrize("allowed", [True, False])
def test_an_armour_save_against_a_hit_where_it_is_allowed(allowed: bool) -> None:
    hit = effect("caster_hit", strength=3, armour_save=allowed)
    battle = mishap(hit, mage={"armour_save": 5})
    battle.roll(3, 4)
    assert battle.roll(6, 5, 1) == (0 if allowed else -30)


def test_a_ward_save_against_a_hit_without_armour() -> None:
    hit = effect("caster_hit", strength=10, armour_save=False)
    battle = mishap(hit, mage={"ward_save": 5})
    battle.roll(3, 4)
    assert battle.roll(6, 6, 5) == 0


def test_the_last_wound_kills_and_ends_his_spells_in_play() -> None:
    own = wizard(1, lasting("Veil", in_play=True), name="Other")
    battle = mishap(effect("caster_hit", strength=10), mage={"wounds": 1}, others=(own,))
    battle.roll(3, 4)
    assert battle.roll(2, 1, 1) == -90
    assert battle.state.wounds[0, 0] == battle.state.level[0, 0] == 0
    assert not battle.can_cast("Second")
    assert battle.is_in_play("Veil", 0)


def test_the_shared_pile_outlives_the_wizard() -> None:
    other = wizard(1, spell("Spark"), name="Other")
    battle = mishap(effect("caster_removed"), others=(other,))
    battle.roll(3, 4)
    assert battle.state.power == 10
    assert battle.can_cast("Spark")


def test_removal_costs_all_his_remaining_points() -> None:
    battle = mishap(effect("caster_hit", strength=10), effect("caster_removed"))
    battle.roll(3, 4)
    assert battle.roll(2, 1, 1) == -90
    assert battle.state.wounds[0, 0] == 0


def test_his_items_go_with_him() -> None:
    mage = {"items": ["Dispel Scroll"]}
    battle = mishap(effect("caster_removed"), mage=mage, others=(wizard(1, SECOND, name="B"),))
    battle.roll(3, 4)
    assert battle.state.items[0, 0] == 0


def test_every_model_in_base_contact_is_hit_and_pays_its_owner() -> None:
    touching = [
        {"side": "own", "models": 2, "points": 7},
        {"side": "enemy", "models": 1, "points": 11, "toughness": 4},
    ]
    battle = mishap(effect("base_contact_hit", strength=4), mage={"base_contact": touching})
    battle.roll(3, 4)
    assert battle.dice_to_roll == 6
    assert battle.outcomes() == pytest.approx({0: 1 / 9, 1: 4 / 9, 2: 4 / 9})
    assert battle.roll(3, 1, 1, 2, 1, 1) == -7
    assert battle.dice_to_roll == 3
    assert battle.roll(3, 1, 1) == 0
    assert list(battle.state.contacts)[:2] == [1, 1]
    assert battle.node == Node.NOMINATE


def test_an_enemy_model_in_base_contact_pays_the_caster() -> None:
    touching = [{"side": "enemy", "models": 1, "points": 11}]
    battle = mishap(effect("base_contact_hit", strength=10), mage={"base_contact": touching})
    battle.roll(3, 4)
    assert battle.roll(2, 1, 1) == 11


def test_models_around_another_wizard_are_not_hit() -> None:
    other = wizard(1, name="Other", base_contact=[{"side": "own", "models": 1}])
    battle = mishap(effect("base_contact_hit", strength=10), others=(other,))
    assert battle.roll(3, 4) == 0
    assert battle.node == Node.NOMINATE


def test_models_in_base_contact_are_hit_though_the_caster_is_gone() -> None:
    touching = [{"side": "own", "models": 1, "points": 7}]
    effects = effect("caster_removed"), effect("base_contact_hit", strength=10)
    battle = mishap(*effects, mage={"base_contact": touching})
    assert battle.roll(3, 4) == -90
    assert battle.node == Node.ROLL_HIT
    assert battle.roll(2, 1, 1) == -7


@pytest.mark.parametrize(
    ("until", "lock"),
    [("phase_end", Lock.PHASE_END), ("own_next_phase", Lock.OWN_NEXT_PHASE), ("six", Lock.SIX)],
)
def test_a_locked_wizard_casts_no_more_but_others_do(until: str, lock: Lock) -> None:
    other = wizard(1, spell("Spark"), name="Other")
    battle = mishap(effect("locked", until=until), others=(other,))
    battle.roll(3, 4)
    assert battle.state.lock[0, 0] == lock
    assert not battle.can_cast("Second")
    assert battle.can_cast("Spark")


@pytest.mark.parametrize("bars", [False, True])
def test_a_lock_may_bar_items(bars: bool) -> None:
    scroll = {"items": ["Dispel Scroll"]}
    lock = effect("locked", until="own_next_phase", bars_items=bars)
    battle = mishap(lock, mage=scroll, enemy=army(wizard(2, spell("Reply"), spell("More"))))
    battle.roll(3, 4)
    assert battle.active == 1
    battle.cast("Reply", 2)
    battle.roll(3, 4)
    assert battle.can_use("Dispel Scroll") != bars


def test_the_sides_dice_are_lost() -> None:
    mage = {"items": ["Jewel of the Dusk"]}
    battle = mishap(effect("dice_lost", whose="side"), mage=mage, enemy=enemy_ward())
    battle.roll(3, 4)
    assert battle.node == Node.IN_PLAY  # without dice all casting ends
    assert (battle.state.power, battle.state.own_dice[0], battle.state.dispel) == (0, 0, 3)


def test_the_casters_own_dice_are_lost_and_the_pile_is_not() -> None:
    battle = mishap(effect("dice_lost", whose="caster"), mage={"items": ["Jewel of the Dusk"]})
    battle.roll(3, 4)
    assert battle.state.own_dice[0] == 0
    assert battle.state.power == 10


def test_dice_stored_in_items_are_lost() -> None:
    mage = {"items": ["Power Stone", "Dispel Scroll"]}
    battle = mishap(effect("stored_dice_lost"), mage=mage)
    battle.roll(3, 4)
    assert list(battle.state.items[0])[:2] == [0, 1]


def enemy_ward() -> Data:
    """Return an enemy whose spell is in play and pays it 5 at the end of each phase."""
    ward = lasting("Curse", 5, 0, worth_per_phase=5, in_play=True)
    return army(wizard(2, ward, spell("Reply"), name="Foe"))


def test_casting_ends_and_spells_in_play_are_next() -> None:
    battle = mishap(effect("casting_ends"), enemy=enemy_ward())
    battle.roll(3, 4)
    assert battle.node == Node.IN_PLAY
    assert battle.state.power == 10


def test_the_phase_ends_without_dispels() -> None:
    battle = mishap(effect("phase_ends"), enemy=enemy_ward())
    assert battle.roll(3, 4) == -5
    assert battle.active == 1


def test_the_phase_ends_comes_before_casting_ends() -> None:
    for order in [("phase_ends", "casting_ends"), ("casting_ends", "phase_ends")]:
        battle = mishap(*(effect(kind) for kind in order), enemy=enemy_ward())
        battle.roll(3, 4)
        assert battle.active == 1


def test_the_casters_spells_in_play_end() -> None:
    other = wizard(1, lasting("Veil", in_play=True), name="Other")
    mage = lasting("Ward", in_play=True)
    side = army(wizard(4, BOLT, SECOND, mage), other, power_dice=12)
    battle = game(side, enemy_ward(), phases=3, **miscast(effect("in_play_ends", whose="caster")))
    battle.cast("Bolt", 2)
    battle.roll(1, 1)
    battle.roll(3, 4)
    assert not battle.is_in_play("Ward", 0)
    assert battle.is_in_play("Veil", 0)
    assert battle.is_in_play("Curse", 1)


def test_all_spells_in_play_end() -> None:
    other = wizard(1, lasting("Veil", in_play=True), name="Other")
    glare = wizard(1, lasting("Glare", duration="one_turn", in_play=True), name="Foe")
    battle = mishap(effect("in_play_ends", whose="all"), others=(other,), enemy=army(glare))
    battle.roll(3, 4)
    assert list(battle.state.in_play) == [0, 0]


def test_a_forgotten_spell_is_lost_only_for_its_caster() -> None:
    other = wizard(1, BOLT, name="Other")
    battle = mishap(effect("spell_forgotten"), others=(other,))
    battle.roll(3, 4)
    assert battle.can_cast("Bolt", 1)
    battle.stop()
    assert battle.state.phase == 2
    assert not battle.can_cast("Bolt", 0)
    assert battle.can_cast("Second")
    assert battle.can_cast("Bolt", 1)


def test_a_lost_level_lowers_the_limit_and_leaves_the_dice() -> None:
    battle = mishap(effect("level_lost"))
    battle.roll(3, 4)
    assert battle.state.level[0, 0] == 3
    assert battle.state.power == 10
    battle.nominate("Second")
    assert battle.most_dice() == 4


def test_a_wizard_at_level_0_casts_no_more() -> None:
    first = wizard(1, BOLT, SECOND, name="First")
    side = army(first, wizard(1, spell("Spark"), name="Other"))
    battle = game(side, phases=3, **miscast(effect("level_lost")))
    battle.cast("Bolt", 2)
    battle.roll(1, 1)
    battle.roll(3, 4)
    assert battle.state.level[0, 0] == 0
    assert not battle.can_cast("Second")
    battle.stop()
    assert battle.state.phase == 2
    assert battle.state.power == 3
    assert not battle.can_cast("Bolt")
    assert battle.can_cast("Spark")


def test_the_spell_succeeds_beyond_dispelling() -> None:
    battle = mishap(effect("spell_succeeds"), enemy=army(items=["Dispel Scroll"]))
    assert battle.roll(3, 4) == 10
    assert battle.node == Node.NOMINATE


def test_a_lasting_spell_that_succeeds_stays_in_play() -> None:
    mage = wizard(4, lasting(worth=3), SECOND)
    battle = game(army(mage), phases=2, **miscast(effect("spell_succeeds")))
    battle.cast("Ward", 2)
    battle.roll(1, 1)
    assert battle.roll(3, 4) == 3
    assert battle.is_in_play("Ward", 0)


def test_effects_come_in_their_order() -> None:
    effects = (
        effect("points_lost", points=5.0),
        effect("caster_hit", strength=10),
        effect("points_lost", points=7.0),
    )
    battle = mishap(*effects)
    assert battle.roll(3, 4) == -5
    assert battle.node == Node.ROLL_HIT
    assert battle.roll(2, 1, 1) == -37


def test_a_dead_caster_is_not_hit_again() -> None:
    battle = mishap(effect("caster_removed"), effect("caster_hit", strength=10))
    assert battle.roll(3, 4) == -90
    assert battle.node != Node.ROLL_HIT
