import pytest

from tests.geometry.stand_ins import (
    Character,
    Terrain,
    Unit,
    comet,
    deployment,
    effect,
    front_rank,
    line,
    missile,
    strikes,
    wood_spell,
)
from wfb_gym.geometry import Strike

KARL = Character(position=(36.0, 10.0))


def foe(name: str = "Foe", y: float = 20.0, x: float = 36.0, models: int = 5,
        **keys: bool | tuple[str, ...] | str) -> Unit:  # fmt: skip
    return Unit(name, models, min(models, 5), (x, y), 180.0, **keys)  # type: ignore[arg-type]


def test_a_spell_with_dice_of_its_own_strikes_its_target() -> None:
    where = deployment((KARL,), (foe(), Character("Hans", unit="Foe")))
    assert strikes(where, 0, 0, missile(), 16) == [Strike(16, None, None, False)]
    model = missile("enemy_model")
    assert strikes(where, 0, 0, model, 26) == [Strike(26, None, None, False)]


def test_a_wall_of_fire_strikes_as_many_as_the_front_rank_still_holds() -> None:
    where = deployment((KARL,), (Unit("Foe", 7, 5, (36.0, 20.0), 180.0),))
    (strike,) = strikes(where, 0, 0, front_rank(), 16)
    assert strike == Strike(16, (0, 1, 2, 3, 4, 5, 5, 5), None, False)


def test_a_wall_of_fire_strikes_the_characters_in_the_front_rank_too() -> None:
    unit = Unit("Foe", 7, 5, (36.0, 20.0), 180.0)
    where = deployment((KARL,), (unit, Character("Champion", unit="Foe")))
    found = strikes(where, 0, 0, front_rank(), 16)
    assert found == [
        Strike(16, (0, 1, 2, 3, 4, 4, 4, 4), None, False),
        Strike(26, (0, 1), None, False),
    ]


def test_a_spell_on_the_caster_strikes_him_and_one_on_the_player_no_model() -> None:
    assert strikes(deployment((KARL,)), 0, 0, effect("caster", None), None) == [
        Strike(10, None, None, False)
    ]
    assert strikes(deployment((KARL,)), 0, 0, effect("player", None), None) == []


def test_a_storm_strikes_every_visible_unengaged_enemy_in_range() -> None:
    guard = Unit("Guard", 5, 5, (36.0, 10.0))
    theirs = (
        foe("Seen", 15.0, x=33.0),
        foe("Fights", 15.0, x=39.0, in_combat=True),
        foe("Behind", 5.0),
        foe("Far", 40.0),
        Character("Lone", (36.0, 14.0), 180.0),
        Character("Hidden", unit="Seen"),
    )
    where = deployment((guard, Character(unit="Guard")), theirs)
    seen = strikes(where, 0, 0, effect("enemy_area", 12, sight=True), None)
    assert [strike.victim for strike in seen] == [16, 26]
    unseen = strikes(where, 0, 0, effect("enemy_area", 12), None)
    assert [strike.victim for strike in unseen] == [16, 18, 26]


def test_an_area_spell_spares_immune_pieces() -> None:
    where = deployment((KARL,), (foe(traits=("undead",)), foe("More", 15.0)))
    drain = effect("enemy_area", 12, not_on=["undead"])
    assert [strike.victim for strike in strikes(where, 0, 0, drain, None)] == [17]


def test_a_friendly_area_contains_the_lone_caster_and_the_units_near_him() -> None:
    friends = (foe("Near", 15.0), foe("Far", 40.0), foe("Fights", 15.0, x=42.0, in_combat=True))
    where = deployment((KARL, *friends), (foe("Enemy", 20.0, x=30.0),))
    found = strikes(where, 0, 0, effect("friendly_area", 12), None)
    assert [strike.victim for strike in found] == [0, 10]


def test_without_a_battlefield_an_area_spell_reaches_every_unengaged_enemy() -> None:
    theirs = (Unit("A"), Unit("B", in_combat=True), Character("Hans"))
    where = deployment((Character(),), theirs, battlefield=False)
    storm = effect("enemy_area", 12, sight=True)
    assert [strike.victim for strike in strikes(where, 0, 0, storm, None)] == [16, 26]


def test_a_comet_may_strike_all_units_and_lone_characters_of_both_sides() -> None:
    theirs = (
        foe(),
        foe("Fights", 25.5, in_combat=True),
        Character("Lone", (40.0, 19.0), 0.0),
        Character("Hidden", unit="Foe"),
    )
    where = deployment((KARL, Unit("Friend", 5, 5, (36.0, 30.5))), theirs)
    found = strikes(where, 0, 0, comet(), None)
    assert found == [Strike(code) for code in (0, 10, 16, 17, 26)]


def test_without_a_battlefield_a_comet_reaches_only_its_target() -> None:
    where = deployment((Character(), Unit("Own")), (Unit("A"), Unit("B")), battlefield=False)
    assert strikes(where, 0, 0, comet(), 17) == [Strike(17)]


def test_a_unit_that_touches_the_terrain_of_a_spell_is_marked() -> None:
    wood = Terrain("Old Wood", "wood", (29.5, 20.5), (8.0, 6.0))  # to x 33.5, where it begins
    (strike,) = strikes(deployment((KARL,), (foe(),), (wood,)), 0, 0, wood_spell(), 16)
    assert strike.touches
    aside = Terrain("Old Wood", "wood", (29.4, 20.5), (8.0, 6.0))
    (strike,) = strikes(deployment((KARL,), (foe(),), (aside,)), 0, 0, wood_spell(), 16)
    assert not strike.touches
    (strike,) = strikes(deployment((KARL,), (foe(y=15.0),)), 0, 0, wood_spell(), 16)
    assert not strike.touches
    (strike,) = strikes(deployment((KARL,), (foe(),), (wood,)), 0, 0, missile(), 16)
    assert not strike.touches


def test_a_wizard_who_cannot_cast_strikes_no_model() -> None:
    where = deployment((Character(status="off_table"),), (foe(),))
    assert strikes(where, 0, 0, effect("enemy_area", 12), None) == []


@pytest.mark.parametrize("spell", [missile(), line(), comet()])
def test_a_spell_at_a_target_needs_one(spell: object) -> None:
    here = deployment((KARL,), (foe(),), battlefield=spell != comet())
    with pytest.raises(ValueError, match="expected a target"):
        strikes(here, 0, 0, spell, None)  # type: ignore[arg-type]
