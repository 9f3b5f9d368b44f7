"""Values of scrolls, stones and spells in play in later phases, against exact values.

If casualties have no later effect, a battle of several phases is played optimally.
"""

import pytest

from tests.support.builders import (
    PASS,
    Data,
    Game,
    aimed,
    army,
    lasting,
    miscast,
    spell,
    unit,
    wizard,
)
from wfb_gym.engine.actions import FIRST_DICE
from wfb_gym.players.registry import make_agent
from wfb_gym.players.search.future_phases import price_of_scroll
from wfb_gym.players.search.phase_search import PhaseSearchAgent
from wfb_gym.players.search.reduction import KEEP, price_of_boost
from wfb_gym.scenario import Scenario, load_scenario
from wfb_gym.seats import SEATS
from wfb_gym.solver import ExactGame

from ...solver.small import start
from .positions import BATTLES, BEAM, BOLT, READER, battle_of

SLOW = [
    pytest.param(load_scenario(name).first_phases(phases), 99.8, id=name, marks=pytest.mark.slow)
    for name, phases in (("long-siege", 4), ("border-skirmish", 2), ("redhorn-pass", 2))
]
"""Bundled battles of few phases."""


@pytest.mark.parametrize("seat", SEATS)
@pytest.mark.parametrize(
    ("battle", "least"),
    [
        *(
            pytest.param(each, 94.0 if name == "all of it" else 99.9, id=name)
            for name, each in BATTLES.items()
        ),
        *SLOW,
    ],
)
def test_saved_items_have_their_value_in_later_phases(
    battle: Scenario, least: float, seat: str
) -> None:
    game = ExactGame(battle)
    found = game.score(game.probabilities(make_agent("phase-search"), seat), seat)
    assert found.score is not None
    assert found.score > least


def test_a_spell_that_has_just_come_into_play_has_its_exact_value() -> None:
    battle = Game(BATTLES["spells in play"])
    battle.works("Ward")
    found = PhaseSearchAgent().action_values(battle)
    exact = ExactGame(battle.scenario).solution.action_values(battle)
    end = battle.in_play_action("Ward", 0)
    assert found[PASS] - found[end] == pytest.approx(exact[PASS] - exact[end])


CURSE = lasting("Curse", 5, 0.0, worth_per_phase=1.0)
CURSE_ON = aimed("Curse", duration="remains_in_play", worth={"points_per_phase": 50.0})


@pytest.mark.parametrize(
    ("mages", "few", "phases"),
    [
        pytest.param([wizard(2, CURSE_ON)], 1.0, 2, id="not the best target"),
        pytest.param(  # the last phase's best action is to end it, and cast the other curse on Few
            [wizard(2, CURSE), wizard(2, CURSE_ON, name="Witch")], 100.0, 3, id="no target"
        ),
    ],
)
def test_a_spell_being_cast_will_be_in_play_on_its_own_target(
    mages: list[Data], few: float, phases: int
) -> None:
    """It scores 1 point in two phases: the enemy's dice are worth more as a bolt of 20 points."""
    enemy = army(wizard(2, BOLT), units=[unit("Few"), unit("Many")], power_dice=2, dispel_dice=2)
    worths = [{"spell": "Curse", "target": "Few", "points_per_phase": few}]
    battle = Game(battle_of(army(*mages, power_dice=2), enemy, phases, worths=worths))
    battle.nominate("Curse")
    battle.aim("Few")
    battle.act(FIRST_DICE + 2)
    battle.roll(3, 3)
    found = PhaseSearchAgent().action_values(battle)
    dispelled = 26 / 36  # two dice reach 6
    assert found[PASS] == pytest.approx(2.0)
    assert found[FIRST_DICE + 2] == pytest.approx(2.0 * (1.0 - dispelled))


@pytest.mark.parametrize("with_units", [True, False])
def test_later_phases_count_in_part_in_battles_with_units(with_units: bool) -> None:
    units = {"units": [unit()]} if with_units else {}
    caster = army(wizard(2, BOLT, BEAM, items=["Power Stone"]), power_dice=3, **units)
    scenario = battle_of(caster, army(READER, dispel_dice=2, **units), phases=3)
    later = {}
    for fade in (1.0, 0.4):
        agent, battle = PhaseSearchAgent(fade=fade), start(scenario)
        while battle.is_chance():
            battle.resolve(battle.chance_outcomes()[0][0])
        assert agent.action_values(battle)
        later[fade] = agent._scratch.duel[0].later[:2, :2].copy()
    assert later[1.0].max() - later[1.0].min() > 5.0
    assert later[1.0][-1, -1] == 0.0  # if nothing is used
    assert later[0.4] == pytest.approx((0.4 if with_units else 1.0) * later[1.0])


@pytest.mark.parametrize("with_units", [True, False])
def test_a_scroll_has_the_price_of_the_next_phases_spell(with_units: bool) -> None:
    """Two dice reach 5 in 30 of 36 rolls; a scroll does not stop two 6s."""
    units = {"units": [unit()]} if with_units else {}
    mage = wizard(1, spell("Dart", 3, 1.0), items=["Dispel Scroll"])
    caster = army(mage, power_dice=2, dispel_dice=0, **units)
    enemy = army(wizard(1, BOLT), power_dice=2, **units)
    agent, battle = PhaseSearchAgent(fade=0.4), start(battle_of(caster, enemy, 2, **miscast()))
    assert agent.action_values(battle)
    price = price_of_scroll(battle.packed, 1, agent._scratch.future)
    assert price == pytest.approx((0.4 if with_units else 1.0) * 20.0 * 29 / 36)


@pytest.mark.parametrize(
    ("phases", "uses", "share"), [(1, 1, 0.0), (3, 2, 0.5), (3, 1, 1.0), (7, 1, 1.0), (7, 2, 1.0)]
)
def test_a_boost_costs_less_if_there_are_fewer_phases_to_use_it(
    phases: int, uses: int, share: float
) -> None:
    battle = start(battle_of(army(wizard(2, BOLT)), army(), phases))
    price = price_of_boost(battle.packed, battle.state, 20.0, uses)
    assert price == pytest.approx(share * KEEP * 20.0)
