import pytest

from tests.geometry.stand_ins import (
    KARL,
    Character,
    Terrain,
    Unit,
    comet,
    deployment,
    effect,
    foe,
    front_rank,
    line,
    missile,
    strikes,
    wood_spell,
)
from wfb_gym.geometry import Strike
from wfb_gym.scenario.effects import Damage, SpellEffect

HANS = Character("Hans", unit="Foe")
RANKS = Unit("Foe", 7, 5, (36.0, 20.0), 180.0)
GUARD = Unit("Guard", 5, 5, (36.0, 10.0))
STORM = effect("enemy_area", 12, sight=True)
GUST = effect("enemy_area", 12)
PLAGUE = effect(damage=Damage(hits="every_model", strength=3))

Pieces = tuple[Unit | Character, ...]


@pytest.mark.parametrize(("ours", "theirs", "spell", "target", "expected"), [
    ((KARL,), (foe(), HANS), missile(), 16, [Strike(16, None, None, False)]),
    ((KARL,), (foe(), HANS), missile("enemy_model"), 26, [Strike(26, None, None, False)]),
    # A wall of fire strikes as many as the front rank still holds, and the characters in it.
    ((KARL,), (RANKS,), front_rank(), 16, [Strike(16, (0, 1, 2, 3, 4, 5, 5, 5), None, False)]),
    ((KARL,), (RANKS, HANS), front_rank(), 16,
     [Strike(16, (0, 1, 2, 3, 4, 4, 4, 4), None, False), Strike(26, (0, 1), None, False)]),
    # A plague strikes every model of the unit and every character in it.
    ((KARL,), (RANKS, HANS), PLAGUE, 16,
     [Strike(16, (0, 1, 2, 3, 4, 5, 6, 7), None, False), Strike(26, (0, 1), None, False)]),
    ((KARL,), (Character("Lone", (36.0, 20.0), 180.0),), PLAGUE, 26,
     [Strike(26, (0, 1), None, False)]),
    ((KARL,), (), effect("caster", None), None, [Strike(10, None, None, False)]),
    ((KARL,), (), effect("player", None), None, []),
    ((Character(status="off_table"),), (foe(),), GUST, None, []),
])  # fmt: skip
def test_the_models_that_a_spell_strikes(
    ours: Pieces, theirs: Pieces, spell: SpellEffect, target: int | None, expected: list[Strike]
) -> None:
    assert strikes(deployment(ours, theirs), 0, 0, spell, target) == expected


STORMED = (
    foe("Seen", 15.0, x=33.0), foe("Fights", 15.0, x=39.0, in_combat=True), foe("Behind", 5.0),
    foe("Far", 40.0), Character("Lone", (36.0, 14.0), 180.0), Character("Hidden", unit="Seen"),
)  # fmt: skip
FRIENDS = (foe("Near", 15.0), foe("Far", 40.0), foe("Fights", 15.0, x=42.0, in_combat=True))


@pytest.mark.parametrize(("ours", "theirs", "spell", "victims"), [
    ((GUARD, Character(unit="Guard")), STORMED, STORM, [16, 26]),
    ((GUARD, Character(unit="Guard")), STORMED, GUST, [16, 18, 26]),
    ((KARL,), (foe(traits=("undead",)), foe("More", 15.0)),
     effect("enemy_area", 12, not_on=["undead"]), [17]),
    # The lone caster and the units near him.
    ((KARL, *FRIENDS), (foe(x=30.0),), effect("friendly_area", 12), [0, 10]),
])  # fmt: skip
def test_an_area_spell_strikes_those_in_reach(
    ours: Pieces, theirs: Pieces, spell: SpellEffect, victims: list[int]
) -> None:
    found = strikes(deployment(ours, theirs), 0, 0, spell, None)
    assert [strike.victim for strike in found] == victims


def test_without_a_battlefield_an_area_spell_reaches_every_unengaged_enemy() -> None:
    theirs = (Unit("A"), Unit("B", in_combat=True), Character("Hans"))
    where = deployment((Character(),), theirs, battlefield=False)
    assert [strike.victim for strike in strikes(where, 0, 0, STORM, None)] == [16, 26]


def test_a_comet_may_strike_all_units_and_lone_characters_of_both_sides() -> None:
    theirs = (
        foe(), foe("Fights", 25.5, in_combat=True), Character("Lone", (40.0, 19.0), 0.0),
        Character("Hidden", unit="Foe"),
    )  # fmt: skip
    where = deployment((KARL, Unit("Friend", 5, 5, (36.0, 30.5))), theirs)
    found = strikes(where, 0, 0, comet(), None)
    assert found == [Strike(code) for code in (0, 10, 16, 17, 26)]


def test_without_a_battlefield_a_comet_reaches_only_its_target() -> None:
    where = deployment((Character(), Unit("Own")), (Unit("A"), Unit("B")), battlefield=False)
    assert strikes(where, 0, 0, comet(), 17) == [Strike(17)]


@pytest.mark.parametrize(("x", "spell", "touches"), [
    (29.5, wood_spell(), True),  # to x 33.5, where the unit begins
    (29.4, wood_spell(), False), (29.5, missile(), False),
])  # fmt: skip
def test_a_unit_that_touches_the_terrain_of_a_spell_is_marked(
    x: float, spell: SpellEffect, touches: bool
) -> None:
    wood = Terrain("Old Wood", "wood", (x, 20.5), (8.0, 6.0))
    (strike,) = strikes(deployment((KARL,), (foe(),), (wood,)), 0, 0, spell, 16)
    assert strike.touches == touches


def test_a_spell_at_a_target_needs_one() -> None:
    for spell in (missile(), line(), comet()):
        here = deployment((KARL,), (foe(),), battlefield=spell != comet())
        with pytest.raises(ValueError, match="expected a target"):
            strikes(here, 0, 0, spell, None)
