"""Units, characters and their relations."""

import pytest

from tests.scenario.documents import scenario, unit, wizard


@pytest.mark.parametrize(("troop", "base", "frontage"), [
    ("infantry", (20.0, 20.0), 5), ("cavalry", (25.0, 50.0), 5), ("chariot", (50.0, 100.0), 1),
    ("monster", (50.0, 50.0), 1), ("war_machine", (50.0, 50.0), 1), ("swarm", (40.0, 40.0), 5),
])  # fmt: skip
def test_base_and_frontage_follow_the_troop_type(
    troop: str, base: tuple[float, float], frontage: int
) -> None:
    boyz = scenario(units=[unit(troop=troop)]).caster.units[0]
    assert (boyz.base, boyz.frontage) == (base, frontage)


def test_a_given_base_and_frontage_are_kept_and_a_small_unit_is_one_rank() -> None:
    boyz = scenario(units=[unit(troop="monster", base=[40, 60], frontage=3)]).caster.units[0]
    assert (boyz.base, boyz.frontage) == ((40.0, 60.0), 3)
    assert scenario(units=[unit(models=3)]).caster.units[0].frontage == 3


def test_leadership_is_given_or_from_the_profile_or_seven() -> None:
    goblins = {"profile": "Goblins", "models": 20}
    army = scenario(
        units=[goblins, {**goblins, "name": "Brave", "leadership": 8}, unit()],
        wizards=[wizard(), wizard(name="Berta", profile="Wizard Lord", level=3)],
        heroes=[{"profile": "Captain", "leadership": 9}],
    ).caster
    assert [each.leadership for each in army.units] == [6, 8, 7]
    assert [each.leadership for each in army.characters] == [7, 8, 9]


def test_characters_are_wizards_then_runesmiths_then_heroes() -> None:
    army = scenario(
        heroes=[{"name": "Hero"}], runesmiths=[{"name": "Smith"}], wizards=[wizard(general=True)]
    ).caster
    assert [who.name for who in army.characters] == ["Anna", "Smith", "Hero"]
    assert [who.general for who in army.characters] == [True, False, False]
    assert [key for key, _ in army.keyed_characters()] == [
        "wizards[0]",
        "runesmiths[0]",
        "heroes[0]",
    ]


def test_a_mounted_character_has_the_base_of_his_mount() -> None:
    hero = scenario(heroes=[{"name": "Hero", "troop": "monster"}]).caster.heroes[0]
    assert hero.base == (50.0, 50.0)


@pytest.mark.parametrize(("status", "is_fleeing"), [("fleeing", True), ("dead", False)])
def test_all_but_the_dead_flee_with_their_unit(status: str, is_fleeing: bool) -> None:
    fleeing = unit(fleeing=True)
    army = scenario(units=[fleeing], wizards=[wizard(unit="Boyz", status=status)]).caster
    assert army.wizards[0].is_fleeing == is_fleeing
    assert army.companions(army.units[0]) == (army.wizards[:1] if is_fleeing else ())


@pytest.mark.parametrize(
    ("of_unit", "of_wizard", "of_other"),
    [(True, False, False), (False, True, False), (False, False, True)],
)
def test_a_unit_and_those_in_it_fight_together(
    of_unit: bool, of_wizard: bool, of_other: bool
) -> None:
    army = scenario(
        units=[unit(in_combat=of_unit), unit(name="Others")],
        wizards=[
            wizard(unit="Boyz", in_combat=of_wizard),
            wizard(name="Berta", unit="Boyz", in_combat=of_other),
            wizard(name="Carla"),
            wizard(name="Dora", in_combat=True),
        ],
    ).caster
    assert [army.is_engaged(each) for each in army.units] == [True, False]
    assert [army.is_engaged(who) for who in army.characters] == [True, True, False, True]
