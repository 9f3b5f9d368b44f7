from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.geometry.stand_ins import (
    Character,
    Terrain,
    Unit,
    deployment,
    effect,
    front_rank,
    missile,
    verdicts,
    wood_spell,
)
from wfb_gym.geometry import Deployment, Verdict
from wfb_gym.scenario.effects import SpellEffect

KARL = Character(position=(36.0, 10.0))


def foe(name: str = "Foe", y: float = 20.0, x: float = 36.0, models: int = 5,
        **keys: Any) -> Unit:  # fmt: skip
    return Unit(name, models, min(models, 5), (x, y), 180.0, **keys)


def judged(where: Deployment, spell: SpellEffect, character: int = 0) -> dict[int | None, Verdict]:
    found = verdicts(where, 0, character, spell)
    return {verdict.target: verdict for verdict in found}


def reason(where: Deployment, spell: SpellEffect, target: int | None = 16) -> str:
    verdict = judged(where, spell)[target]
    assert verdict.legal == (not verdict.reason)
    assert not (verdict.legal and verdict.alone)
    return verdict.reason


# Range


def test_range_is_measured_from_base_to_nearest_base() -> None:
    # From y 10 to y 20.
    assert reason(deployment((KARL,), (foe(),)), effect(reach=10)) == ""
    too_far = "is 10.0 inches away: out of range (9 inches)"
    assert reason(deployment((KARL,), (foe(),)), effect(reach=9)) == too_far


def test_range_is_measured_aslant_between_corners() -> None:
    # From (36.5, 10) to (39.5, 14): 3 across and 4 ahead.
    aslant = deployment((KARL,), (foe(x=42.0, y=14.0),))
    assert aslant.polygons.distance(10, 16) == pytest.approx(5.0)  # type: ignore[union-attr]
    assert reason(aslant, effect(reach=5)) == ""
    assert reason(aslant, effect(reach=4)) != ""


def test_a_wizard_in_a_unit_measures_from_his_own_base() -> None:
    guard = Unit("Guard", 5, 5, (36.0, 10.0))
    beside = foe(x=44.0, y=10.0)  # 3 inches from the unit and 5 from the wizard in its middle
    where = deployment((guard, Character(unit="Guard", position=None)), (beside,))
    assert "5.0 inches" in reason(where, effect(reach=4))


def test_a_spell_without_range_reaches_the_whole_table() -> None:
    assert reason(deployment((KARL,), (foe(y=47.0),)), effect(reach=None)) == ""


@given(st.floats(5, 65), st.floats(5, 40), st.floats(0, 359), st.integers(1, 30))
def test_distance_is_the_same_from_either_side(
    x: float, y: float, facing: float, models: int
) -> None:
    one = deployment((KARL,), (Unit("Foe", models, min(5, models), (x, y), facing),))
    other = deployment((Unit("Foe", models, min(5, models), (x, y), facing),), (KARL,))
    first, second = one.polygons, other.polygons
    assert first is not None
    assert second is not None
    assert first.distance(10, 16) == pytest.approx(second.distance(0, 26))
    assert first.distance(10, 16) == first.distance(16, 10)


# Close combat


def test_a_unit_in_close_combat_is_no_target_unless_the_spell_says_so() -> None:
    fight = deployment((KARL,), (foe(in_combat=True),))
    assert reason(fight, effect()) == "is in close combat"
    assert reason(fight, effect(engaged="only")) == ""
    assert reason(fight, effect(engaged="either")) == ""
    assert reason(deployment((KARL,), (foe(),)), effect(engaged="only")) == "is not in close combat"


def test_a_unit_whose_character_fights_is_in_close_combat() -> None:
    where = deployment((KARL,), (foe(), Character("Hans", unit="Foe", in_combat=True)))
    assert reason(where, effect()) == "is in close combat"


@pytest.mark.parametrize("unit_fights", [True, False])
def test_magic_missiles_are_barred_while_the_wizard_or_his_unit_fights(unit_fights: bool) -> None:
    guard = Unit("Guard", 5, 5, (36.0, 10.0), in_combat=unit_fights)
    karl = Character(unit="Guard", in_combat=not unit_fights)
    where = deployment((guard, karl), (foe(),))
    assert reason(where, missile()) == "Karl is in close combat, which bars magic missiles"
    assert reason(where, effect()) == ""


def test_a_spell_for_fighters_needs_an_engaged_caster() -> None:
    bear = effect("caster", None, caster_engaged=True)
    assert reason(deployment((KARL,)), bear, None) == "Karl is not in close combat"
    fighting = Character(position=(36.0, 10.0), in_combat=True)
    assert reason(deployment((fighting,)), bear, None) == ""


# The caster


@pytest.mark.parametrize(
    ("status", "why"), [("dead", "dead"), ("off_table", "off the table"), ("fleeing", "fleeing")]
)
def test_a_wizard_who_is_dead_off_the_table_or_fleeing_casts_nothing(status: str, why: str) -> None:
    karl = Character(status=status, position=(36.0, 10.0) if status == "fleeing" else None)
    where = deployment((karl,), (foe(),))
    assert judged(where, effect()) == {16: Verdict(16, False, f"Karl is {why}", False)}
    assert reason(where, effect("enemy_area"), None) == f"Karl is {why}"


def test_a_focal_model_flees_with_its_unit() -> None:
    horrors = Unit("Horrors", 10, 5, (36.0, 10.0), fleeing=True)
    where = deployment((horrors, Character("Fiend", daemon_unit="Horrors")), (foe(),))
    assert reason(where, effect()) == "Fiend is fleeing"


# Conditions of the spell on its target


def test_dead_characters_and_those_off_the_table_are_no_targets() -> None:
    gone = (Character("A", status="dead"), Character("B", status="off_table"))
    where = deployment((KARL,), gone)
    assert reason(where, effect(), 26) == "is dead"
    assert reason(where, effect(), 27) == "is off the table"


def test_a_spell_for_some_troop_types_works_on_no_other() -> None:
    cannon = foe(troop="war_machine", models=1)
    brass = effect(only=["war_machine", "chariot"], worth={"points": 5.0})
    assert reason(deployment((KARL,), (cannon,)), brass) == ""
    assert reason(deployment((KARL,), (foe(),)), brass) == "is infantry, not war machine or chariot"


def test_the_reason_names_the_trait_that_blocks_a_spell() -> None:
    where = deployment((KARL,), (foe(traits=("immune_to_psychology",)), foe("More", 30.0)))
    spell = effect(not_on=["undead", "immune_to_psychology"])
    assert reason(where, spell) == "is immune to psychology, so the spell has no effect"
    assert reason(where, spell, 17) == ""


def test_a_spell_for_the_fleeing_needs_them_to_flee() -> None:
    friends = Unit("A", 5, 5, (20.0, 10.0), fleeing=True), Unit("B", 5, 5, (50.0, 10.0))
    where = deployment((KARL, *friends))
    oxen = effect("friendly_unit", None, needs="fleeing")
    assert reason(where, oxen, 0) == ""
    assert reason(where, oxen, 1) == "is not fleeing"


def test_a_spell_on_magic_items_needs_one_in_the_unit() -> None:
    gold = effect(needs="magic_item", worth={"points": 12.0})
    assert reason(deployment((KARL,), (foe(),)), gold) == "carries no magic item"
    assert reason(deployment((KARL,), (foe(magic_item=True),)), gold) == ""
    bearer = Character("Hans", unit="Foe", items=("Wand",))
    assert reason(deployment((KARL,), (foe(), bearer)), gold) == ""


def test_a_wall_of_fire_needs_a_front_rank_free_for_an_inch() -> None:
    wall = front_rank()
    assert reason(deployment((KARL,), (foe(),)), wall) == ""
    assert reason(deployment((KARL,), (foe(skirmish=True),)), wall) == "has no front rank"
    assert reason(deployment((KARL,), (foe(models=1),)), wall) == "has no front rank"
    assert reason(deployment((KARL,), (foe(troop="monster"),)), wall) == "has no front rank"
    lone = Character("Hans", (36.0, 20.0), 180.0)
    assert reason(deployment((KARL,), (lone,)), wall, 26) == "has no front rank"
    beside = foe("Beside", x=42.0)  # from x 39.5, the front rank to 38.5
    close = "has Beside within 1 inch of its front rank"
    assert reason(deployment((KARL,), (foe(), beside)), wall) == close
    assert reason(deployment((KARL,), (foe(), foe("Beside", x=42.1))), wall) == ""


def test_models_near_the_rear_ranks_do_not_block_the_front_rank() -> None:
    column = Unit("Foe", 3, 1, (36.0, 20.0), 180.0)  # ranks from y 20 to 23
    behind = Unit("Behind", 2, 2, (38.0, 22.5), 180.0)
    assert reason(deployment((KARL,), (column, behind)), front_rank()) == ""


# Terrain of Life


def wood(x: float = 20.0) -> Terrain:
    return Terrain("Old Wood", "wood", (x, 24.0), (8.0, 6.0), blocks_sight=True)


def test_a_spell_of_life_measures_from_its_terrain() -> None:
    # The wood ends at x 24; the unit begins at x 33.5, 9.5 away, and reaches back to y 21.
    where = deployment((KARL,), (foe(y=22.0), foe("Far", 22.0, x=50.0)), (wood(),))
    assert reason(where, wood_spell()) == ""
    assert reason(where, wood_spell(), 17) == ("is 23.5 inches from wood: out of range (12 inches)")


def test_without_such_terrain_a_spell_of_life_measures_from_the_caster() -> None:
    pond = Terrain("Pond", "water", (20.0, 24.0), (8.0, 6.0))
    where = deployment((KARL,), (foe(y=15.0), foe("Far", 20.0)), (pond,))
    assert reason(where, wood_spell()) == ""
    assert reason(where, wood_spell(), 17) == (
        "is 10.0 inches away, and there is no wood: out of range (6 inches)"
    )


# Characters


def test_a_character_in_a_unit_is_a_target_only_once_it_is_gone() -> None:
    hidden = Character("Hans", unit="Foe")
    where = deployment((KARL,), (foe(), hidden))
    assert judged(where, effect())[26] == Verdict(26, False, "is in Foe", True)
    assert judged(where, effect(reach=9))[26] == Verdict(26, False, "is in Foe", False)


def test_a_character_without_his_unit_may_still_be_guarded() -> None:
    hidden, guard = Character("Hans", unit="Foe"), foe("Guard", 17.0, x=42.5)
    where = deployment((KARL,), (foe(), guard, hidden))
    assert not judged(where, missile())[26].alone
    assert judged(where, effect(sight=True))[26].alone


def test_a_spell_at_a_model_may_pick_a_character_out_of_a_legal_unit() -> None:
    where = deployment((KARL,), (foe(), Character("Hans", unit="Foe", traits=("undead",))))
    assert reason(where, missile("enemy_model"), 26) == ""
    steal = missile("enemy_model", not_on=["undead"])
    assert reason(where, steal, 26) == "is undead, so the spell has no effect"
    assert reason(where, steal, 16) == ""
    far = missile("enemy_model", reach=9)
    assert reason(where, far, 26) == "is 10.0 inches away: out of range (9 inches)"


LONE = Character("Hans", (36.0, 25.0), 180.0)


def guarded(guard_x: float, guard_y: float = 21.0, **keys: int) -> Deployment:
    """Return Hans at 15 inches, and a unit whose left edge is 2.5 inches left of `guard_x`."""
    return deployment((KARL,), (foe("Guard", guard_y, x=guard_x, **keys), LONE))


def test_a_lone_character_near_a_large_unit_is_no_target_of_a_missile_unless_nearest() -> None:
    why = "is a lone character within 5 inches of Guard, and Guard is nearer"
    assert reason(guarded(40.0), missile(), 26) == why
    assert reason(guarded(40.0), effect(sight=True), 26) == ""
    assert reason(guarded(44.0, 25.0), missile(), 26) == ""  # it is the nearest
    assert reason(guarded(46.0), missile(), 26) == ""  # 7 inches from it
    assert reason(guarded(40.0, models=4), missile(), 26) == ""  # too few to hide among


def test_an_engaged_or_hidden_unit_is_no_nearer_target() -> None:
    fight = foe("Guard", 21.0, x=40.0, in_combat=True)
    assert reason(deployment((KARL,), (fight, LONE)), missile(), 26) == ""
    screen = Terrain("Screen", "wood", (38.6, 16.0), (3.0, 1.0), blocks_sight=True)
    small = foe("Guard", 21.0, x=41.0)
    assert reason(deployment((KARL,), (small, LONE)), missile(), 26) != ""
    seen = judged(deployment((KARL,), (small, LONE), (screen,)), missile())
    assert seen[26].legal == (not seen[16].legal)


@pytest.mark.parametrize(
    ("troop", "base", "guards", "free"),
    [
        ("cavalry", 25.0, [{}], True),
        ("cavalry", 25.0, [{"troop": "cavalry"}], False),
        ("cavalry", 25.0, [{}, {"troop": "cavalry"}], False),
        ("cavalry", 25.0, [{}, {"troop": "cavalry", "models": 2}], False),
        ("cavalry", 25.0, [{}, {"troop": "cavalry", "x": 60.0}], True),
        ("cavalry", 25.0, [{}, {"troop": "war_machine", "models": 1}], False),
        ("cavalry", 25.0, [{"base": (40.0, 40.0)}], True),
        ("monster", 25.0, [{}], True),
        ("monster", 25.0, [{"troop": "cavalry"}], True),
        ("monster", 25.0, [{"troop": "cavalry"}, {"troop": "monster", "models": 1}], False),
        ("monster", 25.0, [{"troop": "swarm", "base": (40.0, 40.0)}], True),
        ("chariot", 25.0, [{}], True),
        ("chariot", 25.0, [{"troop": "chariot"}], False),
        ("character", 40.0, [{}], True),
        ("character", 40.0, [{"base": (40.0, 40.0)}], False),
        ("character", 39.0, [{}], False),
        ("character", 25.0, [{}], False),
    ],
)
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


def test_shooting_rules_require_sight_for_a_missile() -> None:
    wall = foe("Wall", 15.0, models=5)
    behind = Unit("Foe", 1, 1, (36.0, 20.0), 180.0)
    why = "is out of sight behind Wall"
    assert reason(deployment((KARL,), (behind, wall)), missile()) == why
    assert reason(deployment((KARL,), (behind, wall)), effect()) == ""


# Friends, and the caster itself

STEED = effect("friendly_character", 12, engaged="either")


def test_a_steed_takes_the_caster_or_a_lone_character_on_foot_in_range() -> None:
    guard = Unit("Guard", 5, 5, (36.0, 20.0))
    friends = (
        Character("Near", (40.0, 10.0)),
        Character("Rider", (44.0, 10.0), troop="cavalry"),
        Character("Far", (60.0, 10.0)),
        Character("Hidden", unit="Guard"),
    )
    found = judged(deployment((KARL, guard, *friends), (foe(),)), STEED)
    assert list(found) == [10, 11, 12, 13, 14]
    assert [found[code].legal for code in found] == [True, True, False, False, False]
    assert found[12].reason == "is not on foot"
    assert "out of range" in found[13].reason
    assert found[14] == Verdict(14, False, "is in Guard", True)


def test_a_steed_takes_its_caster_out_of_his_unit_but_no_daemon_out_of_its() -> None:
    guard = Unit("Guard", 5, 5, (36.0, 10.0))
    assert reason(deployment((guard, Character(unit="Guard"))), STEED, 10) == ""
    fiend, lone = Character("Fiend", daemon_unit="Guard"), Character("Hans", (40.0, 10.0))
    daemons = deployment((guard, fiend, lone))
    assert reason(daemons, STEED, 10) == "a Daemon may not leave its unit by magic"
    assert reason(daemons, STEED, 11) == ""
    assert reason(daemons, effect("caster", None), None) == ""


def test_friendly_spells_consider_only_friends_and_the_casters_unit() -> None:
    guard = Unit("Guard", 5, 5, (36.0, 10.0))
    where = deployment((guard, Character(unit="Guard")), (foe(),))
    found = judged(where, effect("friendly_unit", 6, sight=True))
    assert {code: verdict.legal for code, verdict in found.items()} == {0: True, 10: False}
    heal = judged(where, effect("friendly_model", None, heals=True, needs="wounded"))
    assert {code: verdict.legal for code, verdict in heal.items()} == {0: True, 10: True}


def test_focal_models_are_targets_as_their_unit() -> None:
    horrors = foe("Horrors")
    where = deployment((KARL,), (horrors, Character("Fiend", daemon_unit="Horrors")))
    assert list(judged(where, missile("enemy_model"))) == [16]


@pytest.mark.parametrize("target", ["caster", "player", "enemy_area", "friendly_area"])
def test_spells_without_a_target_have_one_verdict(target: str) -> None:
    where = deployment((KARL,), (foe(in_combat=True),))
    reason = "no target in reach" if target == "enemy_area" else ""
    assert judged(where, effect(target)) == {None: Verdict(None, not reason, reason, False)}


# Without a battlefield


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


def test_a_piece_on_the_table_needs_a_position() -> None:
    with pytest.raises(ValueError, match=r"caster\.wizards\[0\]: expected a position"):
        verdicts(deployment((Character(),)), 0, 0, effect())
