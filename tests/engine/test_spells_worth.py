"""Spells of the lores without damage: points at once, phase by phase, and once only."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, NamedTuple

import pytest

from tests.support.builders import PASS, Data, Game, aimed, army, game, known, spell, unit, wizard
from wfb_gym.engine.state import Node

CHARIOT = {"troop": "chariot", "models": 1, "points": 80.0, "wounds": 4}
RIDERS = {"troop": "cavalry", "models": 5, "points": 20.0}
FIGHTING = {"in_combat": True}
OWN, FOE, NO_TARGET = "Own", "Foe", ""
BOLT = spell("Bolt", 5, 1.0)
CAPTAIN: Data = {"name": "Captain", "points": 90.0, "wounds": 3}


class Row(NamedTuple):
    """A spell of each kind, with its one legal target, and its expected points.

    Points are counted by hand from the table of the lore: a share of 60 points of infantry, of 80
    of a chariot, of 100 of five riders.
    """

    name: str
    target: str
    once: float
    per_phase: float
    keys: Mapping[str, Any] = MappingProxyType({})
    not_at: Data | None = None  # an illegal target
    mage: Mapping[str, Any] = MappingProxyType({})


ROWS = [
    Row("Flaming Sword of Rhuin", NO_TARGET, 0, 5),
    Row("Commandment of Brass", FOE, 0, 6.4, CHARIOT, not_at={}),
    Row("Transmutation of Lead", FOE, 6, 0, FIGHTING, not_at={}),
    Row("Law of Gold", FOE, 12, 0, {"magic_item": True}, not_at={}),
    Row("Bane of Forged Steel", FOE, 9, 0, not_at={"troop": "war_machine"}),
    Row("Steed of Shadows", "Mage", 10, 0),
    Row("Pelt of Midnight", OWN, 0, 3, not_at=FIGHTING),
    Row("The Oxen Stands", OWN, 24, 0, {"fleeing": True}, not_at={}),
    Row("The Bear's Anger", NO_TARGET, 0, 10, mage=FIGHTING),
    Row("The Beast Cowers", FOE, 12, 0, {**RIDERS, **FIGHTING}, not_at=RIDERS),
    Row("The Wolf Hunts", OWN, 12, 0, RIDERS, not_at={}),
    Row("Guardian Light", OWN, 0, 1.2),
    Row("Blinding Light", FOE, 0, 6, not_at=FIGHTING),
    Row("Mistress of the Marsh", FOE, 3.6, 0, not_at={"traits": ["flyer"]}),
    Row("Doom and Darkness!", FOE, 0, 7.2, not_at={"traits": ["unbreakable"]}),
]
ONE_TURN = ("Commandment of Brass", "Blinding Light", "Doom and Darkness!")


def duel(row: Row, keys: Mapping[str, Any], **further: Any) -> Game:
    """Return the spell with a unit of those keys on the side of its targets; no dispel dice."""
    own = [unit(OWN, **keys)] if row.target == OWN else []
    foe = [unit(FOE, **keys)] if row.target == FOE else []
    place = {"unit": OWN} if own and not keys.get("fleeing") else {}  # otherwise it is a target too
    caster = army(wizard(4, known(row.name), **row.mage, **place), units=own)
    return game(caster, army(units=foe, dispel_dice=0), **further)


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.name)
def test_points_of_a_spell_at_once_and_phase_by_phase(row: Row) -> None:
    """Four phases: spells that remain in play pay four times, spells of one turn twice."""
    battle = duel(row, row.keys, phases=4)
    aim = battle.packed.armies[0].aims[0]
    assert (aim.expected_points, aim.worth_per_phase) == pytest.approx((row.once, row.per_phase))
    times = 2 if row.name in ONE_TURN else 4
    battle.works(row.name, row.target)
    while not battle.is_over:
        battle.act(PASS)
    assert battle.points == pytest.approx(row.once + times * row.per_phase)


@pytest.mark.parametrize("row", [row for row in ROWS if row.not_at is not None], ids=lambda r: r[0])
def test_an_illegal_target_of_a_spell(row: Row) -> None:
    assert row.not_at is not None
    assert duel(row, row.keys).can_cast(row.name)
    assert duel(row, row.not_at).is_over  # no spell to cast


def test_steed_of_shadows_carries_only_its_caster_out_of_a_unit() -> None:
    hero = {"name": "Captain", "unit": OWN}
    mages = wizard(4, known("Steed of Shadows"), unit=OWN), wizard(1, name="Other")
    battle = game(army(*mages, units=[unit(OWN)], heroes=[hero]))
    battle.nominate("Steed of Shadows")
    assert battle.targets() == {"Mage", "Other"}
    # another spell is for a wizard in close combat
    assert game(army(wizard(4, known("The Bear's Anger")))).is_over


def healer(**wounded: int) -> Game:
    """Return a healer, an unhurt hero and units; the wounds left of some of them."""
    heroes = [CAPTAIN, {"name": "Other", "wounds": 2}]
    units = [unit("Ogres", 3, wounds=3, points=40.0), unit("Bones", 2, wounds=2, traits=["undead"])]
    mage = wizard(4, known("Healing Hand"), BOLT)
    battle = game(army(mage, heroes=heroes, units=units), army(), phases=4)
    for name, left in wounded.items():
        if name in ("Ogres", "Bones"):
            battle.state.unit_wounds[0, ("Ogres", "Bones").index(name)] = left
        else:
            battle.state.wounds[0, 1 + ("Captain", "Other").index(name)] = left
    return battle


def test_healing_hand_gives_back_all_wounds_of_a_character_and_their_points() -> None:
    """It heals the wounded model of a unit, and raises none."""
    battle = healer(Captain=1, Other=1, Ogres=4)
    twin = battle.copy()
    twin.nominate("Healing Hand")
    assert twin.targets() == {"Captain", "Other", "Ogres"}
    twin = battle.copy()
    assert twin.works("Healing Hand", "Ogres") == 0
    assert twin.units_left(0)[0] == 6
    assert battle.works("Healing Hand", "Captain") == 60
    assert list(battle.state.wounds[0][:3]) == [2, 3, 1]


@pytest.mark.parametrize("wounded", [{}, {"Captain": 0, "Bones": 3}, {"Ogres": 6}])
def test_healing_hand_is_not_for_the_unhurt_the_dead_and_the_undead(wounded: Data) -> None:
    assert not healer(**wounded).can_cast("Healing Hand")


def rivals(name: str, **keys: Any) -> Game:
    mages = wizard(4, known(name), name="A"), wizard(4, known(name), name="B")
    foes = [unit("One", **keys), unit("Two", **keys)]
    return game(army(*mages, power_dice=9), army(units=foes, dispel_dice=0), phases=4)


@pytest.mark.parametrize("name", ["Law of Gold", "Bane of Forged Steel", "The Rain Lord"])
def test_a_spell_for_the_rest_of_the_battle_is_cast_once_at_a_target(name: str) -> None:
    battle = rivals(name, magic_item=True)
    battle.works(name, "One", wizard=0)
    assert battle.works(name, "Two", wizard=1) > 0  # the only legal target
    battle.act(PASS) if not battle.is_over and battle.state.phase == 0 else None
    assert battle.is_over or not battle.can_cast(name)


def test_a_flat_spell_of_two_wizards_does_not_stack_in_one_phase() -> None:
    name = "Transmutation of Lead"
    battle = rivals(name, **FIGHTING)
    battle.works(name, "One", wizard=0)
    assert battle.node == Node.NOMINATE
    assert battle.works(name, wizard=1) == 6  # at the other, without a choice
    assert battle.state.phase == 2  # no other wizard has a spell
    battle.nominate(name, wizard=1)
    assert battle.targets() == {"One", "Two"}  # effects of this turn have ended


OATH = aimed("Oath", target="friendly_unit", worth={"points": 1.0}, once=True)
SHROUD = aimed(
    "Shroud", target="friendly_unit", duration="remains_in_play", in_play=True, in_play_on="Two",
    worth={"points_per_phase": 1.0},
)  # fmt: skip
RECAST = {"phases": 4, "rules": {"in_play_recast": "caster"}}


@pytest.mark.parametrize(("cast", "keys"), [(OATH, {}), (known("Pelt of Midnight"), RECAST)])
def test_a_lasting_spell_of_two_wizards_does_not_stack_on_one_unit(cast: Data, keys: Data) -> None:
    """Another spell in play on a unit does not bar it."""
    mages = [wizard(4, cast, name=name) for name in "AB"]
    side = army(*mages, wizard(1, SHROUD, name="C"), units=[unit("One"), unit("Two")], power_dice=9)
    battle = game(side, **keys)
    battle.works(cast["name"], "One", wizard=0)
    battle.nominate(cast["name"], 1)
    assert battle.targets() == {"Two", "A", "B", "C"}


@pytest.mark.parametrize(("target", "points"), [("One", 7), ("Two", 30), (OWN, 11)])
def test_a_scenario_sets_its_own_worth_for_a_spell_and_for_a_target(
    target: str, points: int
) -> None:
    worths = [
        {"spell": "The Rain Lord", "share": 0.0, "points": 7.0},
        {"spell": "The Rain Lord", "target": "Two", "points": 30.0},
        {"spell": "Pelt of Midnight", "share_per_phase": 0.0, "points_per_phase": 11.0},
    ]
    mage = wizard(4, known("The Rain Lord"), known("Pelt of Midnight"))
    foes = army(units=[unit("One"), unit("Two")])
    battle = game(army(mage, units=[unit(OWN)]), foes, worths=worths)
    battle.works("Pelt of Midnight" if target == OWN else "The Rain Lord", target)
    battle.stop()
    assert battle.points == points


def test_spells_on_a_unit_end_with_it_and_its_character_is_a_target() -> None:
    doom = wizard(4, known("Doom and Darkness!"), name="Doomsayer")
    burner = wizard(4, known("Fire Ball"), known("Fiery Blast"), name="Burner")
    captain = CAPTAIN | {"unit": FOE}
    side = army(units=[unit(FOE, 2, points=30.0)], heroes=[captain], dispel_dice=0)
    battle = game(army(doom, burner, power_dice=9), side, phases=6)
    battle.works("Doom and Darkness!", FOE)
    assert battle.is_in_play("Doom and Darkness!", 0)
    battle.works("Fire Ball", FOE)
    battle.roll(3)  # one for each of the three
    assert battle.roll(1, 1, 1) == 0
    assert battle.roll(*(6, 1, 1) * 2) == 60
    assert not battle.is_in_play("Doom and Darkness!", 0)
    assert battle.state.aims[0].sum() == 0
    twin, before = battle.copy(), battle.points
    while twin.state.phase == 0:
        twin.act(PASS)
    assert twin.points == before
    battle.works("Fiery Blast")
    assert battle.node == Node.ROLL_STRIKE
    assert battle.roll(1, 1, *(6, 1, 1) * 2) == 60
    assert battle.state.wounds[1, 0] == 1


def test_a_dead_character_is_no_target() -> None:
    burner = wizard(4, known("Fire Ball"), known("Fiery Blast"))
    heroes = [{"name": "Captain", "wounds": 1}, {"name": "Other", "wounds": 1}]
    battle = game(army(burner, power_dice=9), army(heroes=heroes), phases=4)
    battle.works("Fire Ball", "Captain")
    assert battle.roll(2, *(6, 1, 1) * 2) == 100  # wounds beyond its own are lost
    assert battle.node == Node.NOMINATE
    battle.nominate("Fiery Blast")
    assert battle.node == Node.POOL_DICE
