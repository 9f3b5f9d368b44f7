from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.geometry.stand_ins import (
    KARL,
    Character,
    Terrain,
    Unit,
    deployment,
    effect,
    foe,
    front_rank,
    missile,
    verdicts,
    wood_spell,
)
from wfb_gym.geometry import Deployment, Verdict
from wfb_gym.scenario.effects import SpellEffect


def judged(where: Deployment, spell: SpellEffect) -> dict[int | None, Verdict]:
    return {verdict.target: verdict for verdict in verdicts(where, 0, 0, spell)}


def reason(where: Deployment, spell: SpellEffect, target: int | None = 16) -> str:
    verdict = judged(where, spell)[target]
    assert verdict.legal == (not verdict.reason)
    assert not (verdict.legal and verdict.alone)
    return verdict.reason


FOE, HANS = foe(), Character("Hans", unit="Foe")
UNDEAD = replace(HANS, traits=("undead",))
GUARD, IN_GUARD = Unit("Guard", 5, 5, (36.0, 10.0)), Character(unit="Guard")
FIGHTS: dict[str, Any] = {"in_combat": True}
HORRORS = Unit("Horrors", 10, 5, (36.0, 10.0)), Character("Fiend", daemon_unit="Horrors")
BEHIND = Unit("Foe", 1, 1, (36.0, 20.0), 180.0)
WALL = foe("Wall", 15.0)
COLUMN = Unit("Foe", 3, 1, (36.0, 20.0), 180.0)  # ranks from y 20 to 23

BEAR = effect("caster", None, caster_engaged=True)
BRASS = effect(only=["war_machine", "chariot"], worth={"points": 5.0})
GOLD = effect(needs="magic_item", worth={"points": 12.0})
OXEN = effect("friendly_unit", None, needs="fleeing")
PANIC = effect(not_on=["undead", "immune_to_psychology"])
STEAL = missile("enemy_model", not_on=["undead"])
STEED = effect("friendly_character", 12, engaged="either")

Pieces = tuple[Unit | Character, ...]
REASONS: dict[str, tuple[Pieces, Pieces, SpellEffect, int | None, str]] = {
    "in range": ((KARL,), (FOE,), effect(reach=10), 16, ""),
    "out of range": ((KARL,), (FOE,), effect(reach=9), 16,
        "is 10.0 inches away: out of range (9 inches)"),
    # From (36.5, 10) to (39.5, 14): 3 across and 4 ahead.
    "aslant between corners": ((KARL,), (foe(x=42.0, y=14.0),), effect(reach=5), 16, ""),
    "no range": ((KARL,), (foe(y=47.0),), effect(reach=None), 16, ""),
    # The enemy is 3 inches from the unit and 5 from the wizard in its middle.
    "from his own base": ((GUARD, IN_GUARD), (foe(x=44.0, y=10.0),), effect(reach=4), 16,
        "is 5.0 inches away: out of range (4 inches)"),
    "close combat": ((KARL,), (foe(**FIGHTS),), effect(), 16, "is in close combat"),
    "only close combat": ((KARL,), (foe(**FIGHTS),), effect(engaged="only"), 16, ""),
    "either": ((KARL,), (foe(**FIGHTS),), effect(engaged="either"), 16, ""),
    "no close combat": ((KARL,), (FOE,), effect(engaged="only"), 16, "is not in close combat"),
    "its character fights": ((KARL,), (FOE, replace(HANS, **FIGHTS)), effect(), 16,
        "is in close combat"),
    "a missile, his unit fights": ((replace(GUARD, **FIGHTS), IN_GUARD), (FOE,), missile(), 16,
        "Karl is in close combat, which bars magic missiles"),
    "a missile, he fights": ((GUARD, replace(IN_GUARD, **FIGHTS)), (FOE,), missile(), 16,
        "Karl is in close combat, which bars magic missiles"),
    "no missile, his unit fights": ((replace(GUARD, **FIGHTS), IN_GUARD), (FOE,), effect(), 16, ""),
    "no missile, he fights": ((GUARD, replace(IN_GUARD, **FIGHTS)), (FOE,), effect(), 16, ""),
    "fighters only": ((KARL,), (), BEAR, None, "Karl is not in close combat"),
    "a fighter": ((replace(KARL, **FIGHTS),), (), BEAR, None, ""),
    "his daemons flee": ((replace(HORRORS[0], fleeing=True), HORRORS[1]), (FOE,), effect(), 16,
        "Fiend is fleeing"),
    "dead": ((KARL,), (Character("A", status="dead"),), effect(), 26, "is dead"),
    "off the table": ((KARL,), (Character("A", status="off_table"),), effect(), 26,
        "is off the table"),
    "the right troop type": ((KARL,), (foe(troop="war_machine", models=1),), BRASS, 16, ""),
    "another troop type": ((KARL,), (FOE,), BRASS, 16,
        "is infantry, not war machine or chariot"),
    "immune": ((KARL,), (foe(traits=("immune_to_psychology",)),), PANIC, 16,
        "is immune to psychology, so the spell has no effect"),
    "not immune": ((KARL,), (FOE,), PANIC, 16, ""),
    "a fleeing friend": ((KARL, Unit("A", 5, 5, (20.0, 10.0), fleeing=True)), (), OXEN, 0, ""),
    "a steady friend": ((KARL, Unit("A", 5, 5, (20.0, 10.0))), (), OXEN, 0, "is not fleeing"),
    "no magic item": ((KARL,), (FOE,), GOLD, 16, "carries no magic item"),
    "a magic item": ((KARL,), (foe(magic_item=True),), GOLD, 16, ""),
    "its character's item": ((KARL,), (FOE, replace(HANS, items=("Wand",))), GOLD, 16, ""),
    "a front rank": ((KARL,), (FOE,), front_rank(), 16, ""),
    "skirmishers": ((KARL,), (foe(skirmish=True),), front_rank(), 16, "has no front rank"),
    "one model": ((KARL,), (foe(models=1),), front_rank(), 16, "has no front rank"),
    "a monster": ((KARL,), (foe(troop="monster"),), front_rank(), 16, "has no front rank"),
    "a character": ((KARL,), (Character("Hans", (36.0, 20.0), 180.0),), front_rank(), 26,
        "has no front rank"),
    # The front rank ends at x 38.5, the other unit begins at 39.5 or 39.6.
    "within an inch": ((KARL,), (FOE, foe("Beside", x=42.0)), front_rank(), 16,
        "has Beside within 1 inch of its front rank"),
    "beyond an inch": ((KARL,), (FOE, foe("Beside", x=42.1)), front_rank(), 16, ""),
    "near rear ranks": ((KARL,), (COLUMN, Unit("Behind", 2, 2, (38.0, 22.5), 180.0)), front_rank(),
        16, ""),
    "a model of a unit": ((KARL,), (FOE, UNDEAD), missile("enemy_model"), 26, ""),
    "an immune model": ((KARL,), (FOE, UNDEAD), STEAL, 26,
        "is undead, so the spell has no effect"),
    "its unit": ((KARL,), (FOE, UNDEAD), STEAL, 16, ""),
    "a model far away": ((KARL,), (FOE, HANS), missile("enemy_model", reach=9), 26,
        "is 10.0 inches away: out of range (9 inches)"),
    "a missile without sight": ((KARL,), (BEHIND, WALL), missile(), 16,
        "is out of sight behind Wall"),
    "a spell without sight": ((KARL,), (BEHIND, WALL), effect(), 16, ""),
    "a steed out of a unit": ((GUARD, IN_GUARD), (), STEED, 10, ""),
    "a steed of a daemon": (HORRORS, (), STEED, 10, "a Daemon may not leave its unit by magic"),
    "a daemon's steed for a friend": ((*HORRORS, Character("Hans", (40.0, 10.0))), (), STEED, 11,
        ""),
    "a daemon's spell on itself": (HORRORS, (), effect("caster", None), None, ""),
}  # fmt: skip


@pytest.mark.parametrize(
    ("ours", "theirs", "spell", "target", "why"), REASONS.values(), ids=REASONS
)
def test_the_reason_that_bars_a_target(
    ours: Pieces, theirs: Pieces, spell: SpellEffect, target: int | None, why: str
) -> None:
    assert reason(deployment(ours, theirs), spell, target) == why


@given(st.floats(5, 65), st.floats(5, 40), st.floats(0, 359), st.integers(1, 30))
def test_distance_is_the_same_from_either_side(
    x: float, y: float, facing: float, models: int
) -> None:
    unit = Unit("Foe", models, min(5, models), (x, y), facing)
    one, other = deployment((KARL,), (unit,)), deployment((unit,), (KARL,))
    first, second = one.polygons, other.polygons
    assert first is not None
    assert second is not None
    assert first.distance(10, 16) == pytest.approx(second.distance(0, 26))
    assert first.distance(10, 16) == first.distance(16, 10)


@pytest.mark.parametrize(
    ("status", "why"), [("dead", "dead"), ("off_table", "off the table"), ("fleeing", "fleeing")]
)
def test_a_wizard_who_is_dead_off_the_table_or_fleeing_casts_nothing(status: str, why: str) -> None:
    karl = Character(status=status, position=(36.0, 10.0) if status == "fleeing" else None)
    where = deployment((karl,), (foe(),))
    assert judged(where, effect()) == {16: Verdict(16, False, f"Karl is {why}", False)}
    assert reason(where, effect("enemy_area"), None) == f"Karl is {why}"


@pytest.mark.parametrize(("kind", "near", "far", "why"), [
    # The wood ends at x 24; the unit begins at x 33.5, 9.5 away, and reaches back to y 21.
    ("wood", 22.0, (22.0, 50.0), "is 23.5 inches from wood: out of range (12 inches)"),
    # Without such terrain it is measured from the caster.
    ("water", 15.0, (20.0, 36.0),
     "is 10.0 inches away, and there is no wood: out of range (6 inches)"),
])  # fmt: skip
def test_a_spell_of_life_measures_from_its_terrain(
    kind: str, near: float, far: tuple[float, float], why: str
) -> None:
    terrain = Terrain("Old", kind, (20.0, 24.0), (8.0, 6.0))
    where = deployment((KARL,), (foe(y=near), foe("Far", *far)), (terrain,))
    assert reason(where, wood_spell()) == ""
    assert reason(where, wood_spell(), 17) == why


def test_a_character_in_a_unit_is_a_target_only_once_it_is_gone() -> None:
    where = deployment((KARL,), (FOE, HANS))
    assert judged(where, effect())[26] == Verdict(26, False, "is in Foe", True)
    assert judged(where, effect(reach=9))[26] == Verdict(26, False, "is in Foe", False)


def test_a_character_without_his_unit_may_still_be_guarded() -> None:
    where = deployment((KARL,), (FOE, foe("Guard", 17.0, x=42.5), HANS))
    assert not judged(where, missile())[26].alone
    assert judged(where, effect(sight=True))[26].alone


LONE = Character("Hans", (36.0, 25.0), 180.0)
HIDDEN = "is a lone character within 5 inches of Guard, and Guard is nearer"


@pytest.mark.parametrize(("guard", "spell", "expected"), [
    ({}, missile(), HIDDEN), ({}, effect(sight=True), ""),
    ({"y": 25.0, "x": 44.0}, missile(), ""),  # the character is the nearest
    ({"x": 46.0}, missile(), ""),  # 7 inches from it
    ({"models": 4}, missile(), ""),  # too few to hide among
    ({"in_combat": True}, missile(), ""),
])  # fmt: skip
def test_a_lone_character_near_a_large_unit_is_no_target_of_a_missile_unless_nearest(
    guard: dict[str, Any], spell: SpellEffect, expected: str
) -> None:
    unit = foe("Guard", **{"y": 21.0, "x": 40.0, **guard})
    assert reason(deployment((KARL,), (unit, LONE)), spell, 26) == expected


def test_a_hidden_unit_is_no_nearer_target() -> None:
    screen = Terrain("Screen", "wood", (38.6, 16.0), (3.0, 1.0), blocks_sight=True)
    small = foe("Guard", 21.0, x=41.0)
    assert reason(deployment((KARL,), (small, LONE)), missile(), 26) != ""
    seen = judged(deployment((KARL,), (small, LONE), (screen,)), missile())
    assert seen[26].legal == (not seen[16].legal)


@pytest.mark.parametrize(("troop", "base", "guards", "free"), [
    ("cavalry", 25.0, [{}], True), ("cavalry", 25.0, [{"troop": "cavalry"}], False),
    ("cavalry", 25.0, [{}, {"troop": "cavalry", "x": 60.0}], True),
    ("cavalry", 25.0, [{}, {"troop": "war_machine", "models": 1}], False),
    ("cavalry", 25.0, [{"base": (40.0, 40.0)}], True),
    ("monster", 25.0, [{"troop": "cavalry"}], True),
    ("monster", 25.0, [{"troop": "cavalry"}, {"troop": "monster", "models": 1}], False),
    ("monster", 25.0, [{"troop": "swarm", "base": (40.0, 40.0)}], True),
    ("chariot", 25.0, [{"troop": "chariot"}], False),
    ("character", 40.0, [{}], True), ("character", 40.0, [{"base": (40.0, 40.0)}], False),
    ("character", 39.0, [{}], False),
])  # fmt: skip
def test_a_mounted_or_much_larger_character_may_be_picked_out(
    troop: str, base: float, guards: list[dict[str, Any]], free: bool
) -> None:
    hans = replace(LONE, troop=troop, base=(base, base))
    # Behind the first guard, which is nearer to the caster than Hans.
    units = [
        foe(f"Guard {i}", 21.0 + 4.0 * i, **{"x": 40.0, **keys}) for i, keys in enumerate(guards)
    ]
    found = judged(deployment((KARL,), (*units, hans)), missile())[26]
    assert found.legal == free, found.reason
    # The same for a character after the loss of his unit.
    host = foe("Host", 25.0, x=36.0, base=(base, base))
    inside = replace(hans, position=None, unit="Host")
    found = judged(deployment((KARL,), (host, *units, inside)), missile())[26]
    assert (found.legal, found.alone) == (False, free)


def test_the_seventh_edition_does_not_guard_lone_characters() -> None:
    where = deployment((KARL,), (foe("Guard", 21.0, x=40.0), LONE), ruleset="7e")
    assert reason(where, missile(), 26) == ""


def test_a_steed_takes_the_caster_or_a_lone_character_on_foot_in_range() -> None:
    guard = Unit("Guard", 5, 5, (36.0, 20.0))
    friends = (
        Character("Near", (40.0, 10.0)), Character("Rider", (44.0, 10.0), troop="cavalry"),
        Character("Far", (60.0, 10.0)), Character("Hidden", unit="Guard"),
    )  # fmt: skip
    found = judged(deployment((KARL, guard, *friends), (foe(),)), STEED)
    assert list(found) == [10, 11, 12, 13, 14]
    assert [found[code].legal for code in found] == [True, True, False, False, False]
    assert found[12].reason == "is not on foot"
    assert "out of range" in found[13].reason
    assert found[14] == Verdict(14, False, "is in Guard", True)


def test_friendly_spells_consider_only_friends_and_the_casters_unit() -> None:
    where = deployment((GUARD, IN_GUARD), (FOE,))
    found = judged(where, effect("friendly_unit", 6, sight=True))
    assert {code: verdict.legal for code, verdict in found.items()} == {0: True, 10: False}
    heal = judged(where, effect("friendly_model", None, heals=True, needs="wounded"))
    assert {code: verdict.legal for code, verdict in heal.items()} == {0: True, 10: True}


def test_focal_models_are_targets_as_their_unit() -> None:
    where = deployment((KARL,), (foe("Horrors"), HORRORS[1]))
    assert list(judged(where, missile("enemy_model"))) == [16]


@pytest.mark.parametrize("target", ["caster", "player", "enemy_area", "friendly_area"])
def test_spells_without_a_target_have_one_verdict(target: str) -> None:
    where = deployment((KARL,), (foe(in_combat=True),))
    reason = "no target in reach" if target == "enemy_area" else ""
    assert judged(where, effect(target)) == {None: Verdict(None, not reason, reason, False)}


def test_without_a_battlefield_all_targets_are_in_range_and_in_sight() -> None:
    theirs = (Unit("Foe"), Unit("Fight", in_combat=True), Character("Hans", unit="Foe"))
    where = deployment((Character(),), theirs, battlefield=False)
    found = judged(where, missile(reach=1))
    assert found == {
        16: Verdict(16, True, "", False),
        17: Verdict(17, False, "is in close combat", False),
        26: Verdict(26, False, "is in Foe", True),
    }
    assert judged(where, front_rank())[16].legal
    assert judged(where, wood_spell())[16].legal
    lone = deployment((Character(),), (Unit("Foe"), Character("Hans")), battlefield=False)
    assert judged(lone, missile())[26].legal
    with pytest.raises(ValueError, match=r"caster\.wizards\[0\]: expected a position"):
        verdicts(deployment((Character(),)), 0, 0, effect())
