"""Spells that remain in play or last one turn: their ends, and dispels of them."""

from typing import Any

import pytest

from tests.support.builders import PASS, Data, Game, aimed, army, game, lasting, spell, unit, wizard
from wfb_gym.engine.casualties import remove_wizard
from wfb_gym.engine.state import Node

from .facts import check

CHARM = {"name": "Charm", "uses": 1, "when_dispelling": {"bonus": 2}}
REPLY = army(wizard(1, spell("Reply")))


def ward(name: str = "Ward", casting_value: int = 7, **keys: Any) -> Data:
    """Return a spell in play worth 5 to its owner at the end of every phase."""
    keys = {"worth": 0, "worth_per_phase": 5, "in_play": True, **keys}
    return lasting(name, casting_value, **keys)


def glare(**keys: Any) -> Data:
    return ward("Glare", duration="one_turn", in_play=False, **keys)


def keeper(*spells: Data, foe: Data | None = None, level: int = 4, **keys: Any) -> Game:
    return game(army(wizard(level, *(spells or (ward(),)), spell())), foe, **keys)


def to_dispel_in_play(battle: Game) -> Game:
    battle.stop()
    assert battle.node == Node.IN_PLAY
    return battle


@pytest.mark.parametrize(
    ("name", "answer", "points", "stays"),
    [("Ward", (), 3, True), ("Ward", (4, 4), 0, False), ("Bolt", (), 10, False)],
)
def test_a_spell_that_remains_is_in_play_once_cast(
    name: str, answer: tuple[int, ...], points: int, stays: bool
) -> None:
    battle = keeper(lasting(worth=3))
    battle.cast_with(name, 3, 4)
    battle.dispel(*answer) if answer else battle.let_through()
    assert battle.points == points
    assert battle.is_in_play("Ward", 0) == stays


def test_it_cannot_be_cast_again_while_it_is_in_play_and_its_caster_ends_it_at_no_cost() -> None:
    battle = keeper()
    power = int(battle.state.power)
    check(battle, castable={"Bolt"})
    battle.end("Ward")
    check(battle, castable={"Bolt", "Ward"}, in_play=set(), node=Node.NOMINATE, power=power)


@pytest.mark.parametrize(("recast", "allowed"), [("side", False), ("caster", True)])
def test_casters_that_may_not_cast_it_again(recast: str, allowed: bool) -> None:
    mages = wizard(2, ward(), name="A"), wizard(2, ward(in_play=False), spell(), name="B")
    foe = army(wizard(2, ward(in_play=False)))
    battle = game(army(*mages), foe, phases=2, rules={"in_play_recast": recast})
    assert battle.can_cast("Ward", 1) == allowed
    assert not battle.can_cast("Ward", 0)
    battle.pass_until(1)
    assert battle.can_cast("Ward")  # the enemy may


def test_its_target_in_close_combat_is_not_legal_again_once_it_ends() -> None:
    lies: Data = {"duration": "remains_in_play", "in_play": True, "in_play_on": "Fighters"}
    curse = aimed("Curse", worth={"points_per_phase": 5.0}, **lies)
    foes = [unit("Fighters", in_combat=True), unit("Guard"), unit("Bows")]
    battle = game(army(wizard(4, curse)), army(units=foes))
    battle.end("Curse")
    battle.nominate("Curse")
    assert battle.targets() == {"Guard", "Bows"}


def test_it_lasts_and_may_be_ended_while_its_caster_flees() -> None:
    runner = wizard(2, ward(), status="fleeing", name="Runner")
    battle = game(army(runner, wizard(4, spell(), name="Other")))
    check(battle, in_play={"Ward"}, castable={"Bolt"})
    battle.end("Ward")
    check(battle, in_play=set(), node=Node.NOMINATE)


def test_the_enemys_spells_and_one_turn_spells_cannot_be_ended() -> None:
    battle = keeper(glare(), foe=army(wizard(1, ward())))
    battle.cast_with("Glare", 6, 6)
    assert battle.is_in_play("Glare", 0)
    assert len(battle.legal_actions()) == 2


def test_attempting_another_spell_ends_it_cast_or_not() -> None:
    """It ends no spell of one turn, and none of another wizard."""
    mage = wizard(4, ward(), glare(), spell(), spell("Second"), name="A")
    battle = game(army(mage, wizard(2, ward("Veil"), name="B")))
    battle.nominate("Bolt")
    assert not battle.is_in_play("Ward", 0)
    battle.act(1 + 2)
    battle.roll(2, 2)
    battle.cast_with("Glare", 6, 6)
    battle.cast_with("Second", 2, 2)
    check(battle, in_play={"Glare", "Veil"})


@pytest.mark.parametrize("survives", [False, True])
def test_its_casters_death_ends_it_unless_it_says_otherwise(survives: bool) -> None:
    battle = game(army(wizard(1, ward(survives_caster=survives), points=40)))
    # set up by hand, as its own attempts would end the spell before a miscast could kill it
    assert remove_wizard(battle.packed, battle.state, 0, 0) == -40
    assert battle.is_in_play("Ward", 0) == survives


def test_its_targets_death_ends_it() -> None:
    lies: Data = {"duration": "remains_in_play", "in_play": True, "in_play_on": "Mage"}
    curse = aimed("Curse", target="enemy_model", worth={"points_per_phase": 3}, **lies)
    battle = game(army(wizard(1, spell())), army(wizard(1, curse, name="Foe")))
    assert battle.is_in_play("Curse", 1)
    remove_wizard(battle.packed, battle.state, 0, 0)
    assert not battle.is_in_play("Curse", 1)


def test_the_opponent_dispels_first_then_the_active_player() -> None:
    curse = ward("Curse", worth_per_phase=3)
    battle = to_dispel_in_play(keeper(level=1, foe=army(wizard(1, curse))))
    check(battle, in_play={"Ward", "Curse"}, mover=1)
    battle.act(PASS)
    check(battle, node=Node.IN_PLAY, mover=0)
    battle.act(PASS)
    check(battle, node=Node.END, points=5 - 3)


@pytest.mark.parametrize(("value", "faces", "keys", "ends"), [
    (7, (3, 4), {}, True), (7, (3, 3), {}, False), (3, (1, 1, 6), {}, False),
    (7, (2, 3), {"items": [CHARM]}, True),  # a boost
    (13, (6, 6), {"rules": {"dispel_double_six": False}}, False),
    (13, (6, 6), {"rules": {"dispel_double_six": True}}, True),
])  # fmt: skip
def test_its_casting_value_is_to_match_and_equal_is_enough(
    value: int, faces: tuple[int, ...], keys: Data, ends: bool
) -> None:
    foe = army(dispel_dice=3, items=["Charm"] if "items" in keys else [])
    battle = to_dispel_in_play(keeper(ward("Ward", value), level=1, foe=foe, **keys))
    battle.try_in_play("Ward", 0)
    assert battle.state.number == value
    if "items" in keys:
        battle.use("Charm")
    battle.dispel(*faces)
    assert battle.is_over == ends
    if not ends:
        assert battle.is_in_play("Ward", 0)
        battle.pass_until(1)
    assert battle.points == (0 if ends else 5)


def test_the_active_player_uses_the_power_dice_that_are_left() -> None:
    battle = game(army(wizard(2, spell(), spell("Second"))), army(wizard(1, ward("Curse"))))
    battle.cast_with("Bolt", 2)
    battle.stop()
    battle.act(PASS)
    assert battle.mover == 0
    battle.try_in_play("Curse", 1)
    assert battle.most_dice() == 3
    battle.dispel(3, 2, 2)
    assert battle.points == 0


def test_dispel_dice_that_are_left_serve_the_opponent() -> None:
    mages = wizard(2, ward(), name="A"), wizard(1, spell(), spell("Second"), name="B")
    battle = game(army(*mages))
    battle.cast_with("Bolt", 3, 3)
    twin = battle.copy()
    battle.dispel(2)
    battle.stop()
    battle.try_in_play("Ward", 0)
    assert battle.node == Node.ROLL_DISPEL  # the last die must be rolled
    assert battle.dice_to_roll == 1
    twin.dispel(2, 2)
    twin.stop()
    check(twin, node=Node.IN_PLAY, mover=0)  # without dice there is no attempt


def test_one_attempt_a_spell_a_player_a_phase_also_at_his_own() -> None:
    neighbour = wizard(1, ward("Veil"), name="Neighbour")
    side = army(wizard(1, ward(), spell()), neighbour)
    battle = to_dispel_in_play(game(side, army(dispel_dice=6)))
    battle.try_in_play("Ward", 0)
    battle.dispel(2)
    check(battle, node=Node.IN_PLAY, mover=1)
    assert not battle.can(battle.in_play_action("Ward", 0))
    assert battle.can(battle.in_play_action("Veil", 0))
    battle.act(PASS)
    assert battle.mover == 0
    battle.try_in_play("Ward", 0)
    battle.dispel(3, 4)
    check(battle, in_play={"Veil"})


def test_a_spell_can_be_dispelled_from_the_next_phase_on_also_an_irresistible_one() -> None:
    battle = keeper(ward(in_play=False), foe=REPLY, phases=2)
    battle.cast_with("Ward", 6, 6)
    battle.stop()
    check(battle, phase=1, points=5)
    battle.stop()
    check(battle, node=Node.IN_PLAY, mover=0)
    battle.act(PASS)
    battle.try_in_play("Ward", 0)
    assert battle.state.number == 7
    battle.dispel(3, 4)
    assert battle.points == 5


def test_a_scroll_cannot_dispel_a_spell_in_play() -> None:
    battle = to_dispel_in_play(keeper(level=1, foe=army(items=["Dispel Scroll"])))
    battle.try_in_play("Ward", 0)
    assert not battle.can_use("Dispel Scroll")
    assert not battle.can(PASS)


@pytest.mark.parametrize("allowed", [True, False])
def test_whether_a_spell_of_one_turn_can_be_dispelled_later(allowed: bool) -> None:
    battle = keeper(glare(), foe=REPLY, level=2, phases=2, rules={"dispel_one_turn": allowed})
    battle.cast_with("Glare", 6, 6)
    battle.stop()
    battle.stop()
    assert battle.is_over != allowed


def test_worth_per_phase_is_paid_at_the_end_of_each_phase_in_play() -> None:
    side = army(wizard(2, ward(in_play=False, worth=1), spell()), dispel_dice=0)
    battle = game(side, army(dispel_dice=0, power_dice=0), phases=3)
    battle.cast_with("Ward", 3, 4)
    assert battle.points == 1
    battle.stop()  # end of its phase, of the enemy's, and on to its next
    check(battle, phase=2, points=1 + 5 + 5)
    battle.stop()  # it has power dice to dispel the spell itself
    check(battle, node=Node.IN_PLAY, mover=0)
    battle.act(PASS)
    check(battle, node=Node.END, points=1 + 5 + 5 + 5)


def test_a_spell_of_one_turn_ends_at_its_owners_next_phase() -> None:
    side = army(wizard(2, glare(), spell()), dispel_dice=0)
    battle = game(side, army(dispel_dice=0, power_dice=0), phases=3)
    battle.cast_with("Glare", 3, 4)
    battle.stop()
    check(battle, phase=2, in_play=set(), points=5 + 5, castable={"Glare", "Bolt"})
