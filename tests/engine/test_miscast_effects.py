"""Miscasts: every effect of a row."""

from typing import Any

import pytest

from tests.support.builders import Data, Game, army, game, lasting, miscast, spell, wizard
from wfb_gym.engine.state import Node

from .facts import check

BOLT = spell("Bolt", 5)
SECOND = spell("Second", 5)
SPARK = wizard(1, spell("Spark"), name="Other")
WARD = wizard(1, lasting("Veil", in_play=True), name="Other")
PAYS = lasting("Curse", 5, 0, worth_per_phase=5, in_play=True)
CURSE = army(wizard(2, PAYS, spell("Reply"), name="Foe"))
"""An enemy whose spell is in play and pays it 5 at the end of each phase."""
GLARE = army(wizard(1, lasting("Glare", duration="one_turn", in_play=True), name="Foe"))
JEWEL = {"items": ["Jewel of the Dusk"]}


def effect(kind: str, **keys: Any) -> Data:
    return {"kind": kind, **keys}


def hit(strength: int = 10, **keys: Any) -> Data:
    return effect("caster_hit", strength=strength, **keys)


def touching(side: str = "own", models: int = 1, **keys: Any) -> Data:
    return {"base_contact": [{"side": side, "models": models, **keys}]}


REMOVED = effect("caster_removed")
ALL_HIT = effect("base_contact_hit", strength=10)
DEADLY = (2, 1, 1)


def mishap(*effects: Data, **keys: Any) -> Game:
    """Miscast Bolt with two dice of a wizard with 12; the effects are due."""
    spells = keys.pop("spells", [BOLT, SECOND])
    mage = wizard(4, *spells, **{"wounds": 3, "points": 90, **keys.pop("mage", {})})
    caster = army(mage, *keys.pop("others", []), power_dice=12)
    battle = game(caster, keys.pop("enemy", None), phases=3, **miscast(*effects))
    battle.miscast()
    return battle


def case(name: str, *effects: Data, dice: tuple[int, ...] = (), **keys: Any) -> Any:
    """Return a row: effects and dice for them, keys of `mishap`, and facts afterwards."""
    start = {key: keys.pop(key) for key in ("mage", "others", "enemy", "spells") if key in keys}
    return pytest.param(effects, start, dice, keys, id=name)


CASES = [
    case("none", points=0, node=Node.NOMINATE, power=10, castable={"Second"}),
    case("no wound", hit(4), dice=(2, 1, 1), points=0, wounds=3),
    case("saved", hit(3), mage={"armour_save": 5}, dice=(6, 5, 1), points=0),
    case("no armour", hit(3, armour_save=False), mage={"armour_save": 5}, dice=(6, 5, 1), wounds=2),
    case("ward", hit(10, armour_save=False), mage={"ward_save": 5}, dice=(6, 6, 5), points=0),
    case("the last wound", hit(), mage={"wounds": 1}, dice=DEADLY, points=-90, wounds=0, level=0),
    case("his spells end", hit(), mage={"wounds": 1}, others=[WARD], dice=DEADLY, in_play={"Veil"}),
    case("the pile outlives him", REMOVED, others=[SPARK], power=10, castable={"Spark"}),
    case("the points that are left", hit(), REMOVED, dice=DEADLY, points=-90, wounds=0),
    case("dead, not hit again", REMOVED, hit(), points=-90, node=Node.END),
    case("not the dead", effect("other_wizards_wounds", dice="D3"),
         others=[SPARK | {"status": "dead"}], points=0, node=Node.NOMINATE),
    case("his items", REMOVED, mage={"items": ["Dispel Scroll"]}, others=[SPARK], items=[0, 0]),
    case("an enemy", ALL_HIT, mage=touching("enemy", points=11), dice=DEADLY, points=11),
    case("near another", ALL_HIT, others=[SPARK | touching()], points=0, node=Node.NOMINATE),
    case("forgotten", effect("spell_forgotten"), others=[wizard(1, BOLT, name="Other")],
         castable={"Second", "Bolt"}),
    case("caster gone", REMOVED, ALL_HIT, mage=touching(points=7), dice=DEADLY, points=-97),
    case("all dice, no casts", effect("dice_lost", whose="side"), mage=JEWEL, enemy=CURSE,
         node=Node.IN_PLAY, power=0, own_dice=[0, 0], dispel=3),
    case("own dice", effect("dice_lost", whose="caster"), mage=JEWEL, power=10, own_dice=[0, 0]),
    case("stored", effect("stored_dice_lost"), mage={"items": ["Power Stone", "Dispel Scroll"]},
         items=[0, 1]),
    case("casting ends", effect("casting_ends"), enemy=CURSE, node=Node.IN_PLAY, power=10),
    case("no dispels", effect("phase_ends"), enemy=CURSE, points=-5, active=1),
    case("phase first", effect("phase_ends"), effect("casting_ends"), enemy=CURSE, active=1),
    case("his in play", effect("in_play_ends", whose="caster"), others=[WARD], enemy=CURSE,
         spells=[BOLT, SECOND, lasting(in_play=True)], in_play={"Veil", "Curse"}),
    case("all in play", effect("in_play_ends", whose="all"), others=[WARD], enemy=GLARE,
         in_play=set()),
    case("one wound is enough for a lock", effect("locked", until="battle_end"),
         mage={"wounds": 1}, castable=set()),
    case("it succeeds beyond dispelling", effect("spell_succeeds"), points=10, node=Node.NOMINATE,
         enemy=army(items=["Dispel Scroll"])),
    case("it succeeds and stays", effect("spell_succeeds"), points=3, in_play={"Bolt"},
         spells=[lasting("Bolt", worth=3), SECOND]),
]  # fmt: skip


@pytest.mark.parametrize(("effects", "keys", "dice", "expected"), CASES)
def test_effects_of_a_miscast(
    effects: tuple[Data, ...], keys: Data, dice: tuple[int, ...], expected: Data
) -> None:
    battle = mishap(*effects, **keys)
    if dice:
        assert battle.node == Node.ROLL_HIT
        battle.roll(*dice)
    check(battle, **expected)


def test_a_hit_takes_a_wound_worth_its_share_of_the_caster() -> None:
    """Other effects come before and after it, in their order."""
    battle = mishap(effect("points_lost", points=5.0), hit(4), effect("points_lost", points=7.0))
    check(battle, points=-5, node=Node.ROLL_HIT)
    assert battle.dice_to_roll == 3
    assert battle.outcomes() == pytest.approx({0: 1 / 3, 1: 2 / 3})
    assert battle.roll(3, 1, 1) == -37
    check(battle, wounds=2, castable={"Second"})


def test_a_number_of_wounds_takes_one_die() -> None:
    battle = mishap(effect("caster_wounds", dice="D3"))
    with pytest.raises(ValueError, match=r"at least 1 dice .* \(for the number of wounds\)"):
        battle.roll()
    battle.roll(5)
    check(battle, wounds=0)


def test_every_model_in_base_contact_is_hit_and_pays_its_owner() -> None:
    models = touching(models=2, points=7)["base_contact"]
    models += touching("enemy", points=11, toughness=4)["base_contact"]
    battle = mishap(effect("base_contact_hit", strength=4), mage={"base_contact": models})
    assert battle.dice_to_roll == 6
    assert battle.outcomes() == pytest.approx({0: 1 / 9, 1: 4 / 9, 2: 4 / 9})
    assert battle.roll(3, 1, 1, 2, 1, 1) == -7
    assert battle.dice_to_roll == 3
    assert battle.roll(3, 1, 1) == 0
    check(battle, contacts=[1, 1], node=Node.NOMINATE)


@pytest.mark.parametrize("bars", [False, True])
def test_a_lock_may_bar_items(bars: bool) -> None:
    lock = effect("locked", until="own_next_phase", bars_items=bars)
    enemy = army(wizard(2, spell("Reply"), spell("More")))
    battle = mishap(lock, mage={"items": ["Dispel Scroll"]}, enemy=enemy)
    assert battle.active == 1
    battle.cast_with("Reply", 3, 4)
    assert battle.can_use("Dispel Scroll") != bars


def test_a_lost_level_lowers_the_limit_and_leaves_the_dice() -> None:
    battle = mishap(effect("level_lost"))
    check(battle, level=3, power=10)
    battle.nominate("Second")
    assert battle.most_dice() == 4
    lost = [effect("level_lost")] * 4
    battle = mishap(*lost, others=[SPARK])  # he casts no more at level 0
    check(battle, level=0, castable={"Spark"})
    battle.stop()
    check(battle, phase=2, castable={"Spark"})
