"""Values of scrolls, stones and spells in play in later phases, against exact values.

If casualties have no later effect, a battle of several phases is played optimally.
"""

from typing import Any

import pytest

from tests.support.builders import Data, army, lasting, miscast, spell, unit, wizard
from wfb_gym.engine.battle import Battle
from wfb_gym.packing import pack
from wfb_gym.players.registry import make_agent
from wfb_gym.players.search.phase_search import PhaseSearchAgent
from wfb_gym.scenario import Scenario, load_scenario, scenario_from_dict
from wfb_gym.seats import SEATS
from wfb_gym.solver import ExactGame

HARMLESS = miscast({"kind": "points_lost", "points": 20.0})
BOLT, BEAM = spell("Bolt", 5, 20.0), spell("Beam", 8, 45.0)
READER = wizard(1, name="Reader", items=["Dispel Scroll"])
WARD = lasting("Ward", 7, 0.0, worth_per_phase=12.0)
CURSE = lasting("Curse", 6, 0.0, worth_per_phase=9.0)

VALUES = {
    "border-skirmish": 410.7492555964176,
    "the-iron-tide": 954.2369683871888,
    "the-crooked-mile": -624.412371949842,
}
"""Sums of the action values along one course of each battle."""


def _battle(caster: Data, dispeller: Data, phases: int, **keys: Any) -> Scenario:
    document = {"name": "battle", "phases": phases, "caster": caster, "dispeller": dispeller}
    return scenario_from_dict({**document, **HARMLESS, **keys})


BATTLES = {
    "a scroll": _battle(army(wizard(2, BOLT, BEAM), power_dice=4), army(READER, dispel_dice=2), 5),
    "two stones": _battle(
        army(wizard(2, BOLT, BEAM, items=["Power Stone", "Power Stone"]), power_dice=2),
        army(dispel_dice=3),
        5,
    ),
    "spells in play": _battle(
        army(wizard(2, WARD, BOLT), power_dice=4, dispel_dice=2),
        army(wizard(2, CURSE, BEAM), power_dice=3, dispel_dice=3),
        4,
    ),
    "all of it": _battle(
        army(wizard(2, WARD, BOLT, items=["Power Stone"]), power_dice=3, dispel_dice=2),
        army(wizard(2, CURSE), READER, power_dice=3, dispel_dice=2),
        4,
    ),
    "miscasts that cost phases to come": _battle(
        army(wizard(2, BOLT, spell("Gift", 3, 1.0)), power_dice=6),
        army(dispel_dice=2),
        5,
        **miscast({"kind": "locked", "until": "six"}),
    ),
}


@pytest.mark.parametrize("seat", SEATS)
@pytest.mark.parametrize(
    ("battle", "least"), [*zip(BATTLES, (99.9, 99.9, 99.9, 94.0, 99.9), strict=True)]
)
def test_saved_items_have_their_value_in_later_phases(battle: str, least: float, seat: str) -> None:
    game = ExactGame(BATTLES[battle])
    found = game.score(game.probabilities(make_agent("phase-search"), seat), seat)
    assert found.score is not None
    assert found.score > least


def _decisions(name: str, count: int = 30) -> list[Battle]:
    """Return decisions of a battle that takes its actions and outcomes in turn."""
    battle, step = Battle(pack(load_scenario(name))), 0
    found: list[Battle] = []
    while not battle.is_over and len(found) < count:
        step += 1
        if battle.is_chance():
            codes = [code for code, _ in battle.chance_outcomes()]
            battle.resolve(codes[step % len(codes)])
        else:
            found.append(battle.copy())
            legal = battle.legal_actions()
            battle.act(int(legal[step % len(legal)]))
    return found


@pytest.mark.parametrize("name", VALUES)
def test_action_values_of_battles_do_not_change(name: str) -> None:
    agent = PhaseSearchAgent()
    values = [agent.action_values(battle) for battle in _decisions(name)]
    assert sum(sum(each.values()) for each in values) == pytest.approx(VALUES[name])


@pytest.mark.parametrize("with_units", [True, False])
def test_later_phases_count_in_part_in_battles_with_units(with_units: bool) -> None:
    units = {"units": [unit()]} if with_units else {}
    caster = army(wizard(2, BOLT, BEAM, items=["Power Stone"]), power_dice=3, **units)
    packed = pack(_battle(caster, army(READER, dispel_dice=2, **units), 3))
    later = {}
    for fade in (1.0, 0.4):
        agent, battle = PhaseSearchAgent(fade=fade), Battle(packed)
        while battle.is_chance():
            battle.resolve(battle.chance_outcomes()[0][0])
        assert agent.action_values(battle)
        later[fade] = agent._scratch.duel[0].later[:2, :2].copy()
    assert later[1.0].max() - later[1.0].min() > 5.0
    assert later[0.4] == pytest.approx((0.4 if with_units else 1.0) * later[1.0])


@pytest.mark.slow
@pytest.mark.parametrize("seat", SEATS)
@pytest.mark.parametrize(
    ("scenario", "phases"), [("long-siege", 4), ("border-skirmish", 2), ("redhorn-pass", 2)]
)
def test_bundled_battles_of_few_phases_are_played_well(
    scenario: str, phases: int, seat: str
) -> None:
    game = ExactGame(load_scenario(scenario).first_phases(phases))
    found = game.score(game.probabilities(make_agent("phase-search"), seat), seat)
    assert found.score is not None
    assert found.score > 99.8
