"""Odds of the dice: spells by dice, dispels by dice."""

from fractions import Fraction

import pytest

from tests.support.builders import army, spell, wizard
from tests.support.packed import scenario
from wfb_gym.engine.actions import FIRST_CAST, FIRST_DICE, PASS
from wfb_gym.engine.battle import Battle
from wfb_gym.packing import pack
from wfb_gym.scenario import load_scenario
from wfb_gym.view.choices import find_choices, short_choice_names
from wfb_gym.view.decisions import describe_choices
from wfb_gym.view.names import ScenarioNames
from wfb_gym.view.odds import cast_odds, dispel_odds
from wfb_gym.view.odds_sheet import odds_sheet

DUEL = load_scenario("archmage-duel")
NAMES = ScenarioNames(DUEL)


def test_every_open_spell_by_its_dice() -> None:
    battle = Battle(pack(DUEL))
    spells = cast_odds(NAMES, battle)
    assert [(name, each.points) for name, each in spells.items()] == [
        ("Fire Ball (5+)", 20.0),
        ("Fiery Blast (8+)", 40.0),
        ("Burning Head (9+)", 50.0),
        ("Conflagration of Doom (11+)", 60.0),
    ]
    fire_ball = spells["Fire Ball (5+)"]
    assert [each.dice for each in fire_ball.casts] == [1, 2, 3, 4, 5]  # level 4: five at most
    one, two = fire_ball.casts[:2]
    assert (one.cast, one.irresistible, one.miscast) == (pytest.approx(1 / 3), 0.0, 0.0)
    assert (two.cast, two.irresistible, two.miscast) == (30 / 36, 1 / 36, 1 / 36)
    assert two.points == pytest.approx(20 * 30 / 36)
    assert dispel_odds(NAMES, battle) == []


def test_only_the_pending_spell() -> None:
    battle = Battle(pack(DUEL))
    battle.act(FIRST_CAST + 2)
    before = battle.key()
    ((name, odds),) = cast_odds(NAMES, battle).items()
    assert (name, odds.points, len(odds.casts)) == ("Burning Head (9+)", 50.0, 5)
    assert battle.key() == before


def test_dispels_save_the_points_of_the_spell() -> None:
    battle = Battle(pack(DUEL))
    battle.play([FIRST_CAST, FIRST_DICE + 2, (3, 4)])
    assert cast_odds(NAMES, battle) == {}
    odds = dispel_odds(NAMES, battle)
    assert [each.dice for each in odds] == [1, 2, 3, 4]
    assert odds[1].chance == Fraction(21, 36)
    assert odds[1].saved == pytest.approx(20 * 21 / 36)
    battle.act(PASS)
    assert dispel_odds(NAMES, battle) == []


def test_the_best_target_counts_until_one_is_chosen() -> None:
    skirmish = load_scenario("border-skirmish")
    spells = cast_odds(ScenarioNames(skirmish), Battle(pack(skirmish)))
    assert spells
    for odds in spells.values():
        assert odds.at_target == " at Chaos Knights"
        for each in odds.casts:
            assert each.points == pytest.approx(each.cast * odds.points)


def test_a_spell_with_several_casts_and_casting_values() -> None:
    """The sheet has each casting value once; a typed title is one choice, a name is several."""
    raising = spell("Raise", 7, 20.0, casts=2, alternatives=[{"casting_value": 10, "worth": 30.0}])
    crypt = scenario(army(wizard(4, raising)))
    (who,) = odds_sheet(crypt, 0).wizards
    found = [(each.title, each.points) for each in who.spells]
    assert found == [("Raise (7+)", 20.0), ("Raise (10+)", 30.0)]
    names, battle = ScenarioNames(crypt), Battle(pack(crypt))
    texts = {code: view.text for code, view in describe_choices(names, battle).items()}
    short = short_choice_names(names, battle, texts)
    assert find_choices(texts, short, "raise") == [FIRST_CAST, FIRST_CAST + 2]
    assert find_choices(texts, short, "Raise 10") == [FIRST_CAST + 2]
