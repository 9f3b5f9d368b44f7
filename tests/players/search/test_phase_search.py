"""Phase search: optimal in duels, legal and stronger than greedy in battles."""

from typing import Any

import numpy as np
import pytest

from experiments.common import play_battles
from experiments.leaderboards.protocol import TASKS, grade_hidden
from tests.support.builders import army, game, spell, wizard
from tests.support.hidden import random_play, scenarios
from wfb_gym import solver
from wfb_gym.encoding.positions import position_of
from wfb_gym.engine.hidden_items import deal_instead
from wfb_gym.engine.state import Node
from wfb_gym.players.registry import make_agent
from wfb_gym.players.search import phase_search
from wfb_gym.players.search.phase_search import BeliefSearchAgent, PhaseSearchAgent
from wfb_gym.scenario import Scenario, load_scenario
from wfb_gym.seats import SEATS
from wfb_gym.view.hidden_sets import sets_that_may_be
from wfb_gym.view.names import ScenarioNames

from ...solver.small import start
from .positions import positions

FIRST_PHASE = load_scenario("border-skirmish").first_phases(1)
RAISE = spell("Raise", 4, 10.0, alternatives=[{"casting_value": 9, "worth": 40.0}])
CASTS_AND_VALUES = game(
    army(wizard(2, RAISE, spell("Bolt", 6, 15.0, casts=2)), power_dice=4),
    army(dispel_dice=2, items=["Dispel Scroll"]),
).scenario


@pytest.mark.parametrize("seat", SEATS)
@pytest.mark.parametrize(
    "scenario", ["apprentice", CASTS_AND_VALUES, pytest.param(FIRST_PHASE, marks=pytest.mark.slow)]
)
def test_a_phase_is_played_as_well_as_it_can_be(scenario: str | Scenario, seat: str) -> None:
    score = solver.normalised_score(scenario, make_agent("phase-search"), seat).score
    assert score is not None
    assert score > 99.0


@pytest.mark.parametrize("name", ["scrolls", "both", "two phases"])
def test_belief_search_weighs_all_possible_sets(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The oracle is phase search at each possible set, weighted by the deal's chances."""
    scenario = scenarios()[name]
    names, battle = ScenarioNames(scenario), start(scenario)
    plain, weighing = PhaseSearchAgent(), BeliefSearchAgent()
    differing = 0
    for _ in random_play(battle, np.random.default_rng(1)):
        enemy = 1 - battle.mover
        if not battle.is_decision() or not battle.state.hidden_set[enemy]:
            continue
        wanted: dict[int, float] = {}
        for each in sets_that_may_be(names, battle, enemy):
            asked = position_of(battle)
            deal_instead(battle.packed, asked.states[0], enemy, each.kind)
            with monkeypatch.context() as patch:
                patch.setattr(phase_search, "position_of", lambda _, asked=asked: asked)
                values = plain.action_values(battle)
            wanted |= {c: wanted.get(c, 0.0) + v * each.chance for c, v in values.items()}
        assert weighing.action_values(battle) == pytest.approx(wanted)
        differing += plain.action_values(battle) != pytest.approx(wanted)
    assert differing


@pytest.mark.parametrize("seat", SEATS)
def test_belief_search_is_optimal_against_a_hidden_scroll(seat: str) -> None:
    found = grade_hidden(["belief-search"], TASKS[f"hidden-scroll/{seat}"])
    assert found == [pytest.approx(100.0, abs=0.1)]


@pytest.mark.parametrize(("name", "draws"), [("the-crooked-mile", True), ("archmage-duel", False)])
def test_a_lesser_spell_goes_first_at_nearly_no_cost(name: str, draws: bool) -> None:
    """In battles with units; duels are solved, and the best action is played."""
    agent, rng = PhaseSearchAgent(), np.random.default_rng(4)
    costs = []
    for _ in range(4):
        for battle in positions(load_scenario(name), rng):
            if battle.node != Node.NOMINATE:
                continue
            values = agent.action_values(battle)
            sign = 1.0 if battle.mover == 0 else -1.0
            best = max(sign * value for value in values.values())
            chosen = np.zeros(1, np.int64)
            agent._choose(position_of(battle), chosen)
            greatest = float(agent._scratch.duel[0].greatest)
            costs.append((best - sign * values[int(chosen[0])]) / max(greatest, 1.0))
    assert max(costs) <= 0.005 + 1e-9
    assert (max(costs) > 1e-6) == draws


@pytest.mark.slow
@pytest.mark.parametrize("seat", SEATS)
def test_it_wins_more_in_a_large_battle_than_greedy_does(seat: str) -> None:
    """Paired battles with the same dice; the 95 % interval is above 0."""
    some: dict[str, Any] = {"scenario": "the-iron-tide", "battles": 96, "seed": 90_000}
    ours, theirs = (
        play_battles(each, seat=seat, opponent="greedy", **some)
        for each in (PhaseSearchAgent(), make_agent("greedy"))
    )
    gain = ours - theirs
    assert gain.mean() > 1.96 * gain.std(ddof=1) / np.sqrt(len(gain))
