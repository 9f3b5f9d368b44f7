"""Search agents: exact if they see everything, better with more depth, usable in any id."""

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from tests.support.builders import PASS, aimed, army, game, unit, wizard
from wfb_gym import solver
from wfb_gym._records import new_records
from wfb_gym.encoding.positions import PositionArrays, position_of
from wfb_gym.engine.actions import ACTIONS
from wfb_gym.engine.battle import Battle
from wfb_gym.engine.state import Node, new_states
from wfb_gym.players.registry import make_agent
from wfb_gym.players.search import expectimax, mcts
from wfb_gym.players.search.expectimax import ExpectimaxAgent
from wfb_gym.players.search.mcts import MctsAgent
from wfb_gym.players.search.phase_search import PhaseSearchAgent
from wfb_gym.players.search.ply_search import LIKELY, PlySearchAgent
from wfb_gym.scenario import load_scenario, scenario_from_dict
from wfb_gym.solver.graph_arrays import new_expansion

from ...solver.small import small, start
from ..asking import met

DUEL = "archmage-duel"
ONE_PHASE = (
    "a duel", "several wizards", "a bound spell", "dice of one's own", "many hits",
    "a re-roll of all dice", "spells that remain in play", "wounds of all wizards",
)  # fmt: skip
UNBOUNDED = 10_000_000


def scored(agent: Any, seat: int, scenario: Any = DUEL) -> float:
    score = solver.normalised_score(solver.solve(scenario, cache=True), agent, seat).score
    assert score is not None
    return score


@pytest.mark.parametrize("seat", [0, 1])
@pytest.mark.parametrize(
    ("scenario", "name"),
    [
        *((scenario, "expectimax") for scenario in ("apprentice", DUEL, *ONE_PHASE)),
        *((scenario, "search:40") for scenario in ("apprentice", *ONE_PHASE[1:6:4])),
    ],
)
def test_searching_to_the_end_is_optimal_play(scenario: str, name: str, seat: int) -> None:
    made = small(scenario) if scenario in ONE_PHASE else scenario
    agent = ExpectimaxAgent(max_transitions=UNBOUNDED)
    score = solver.normalised_score(made, agent if name == "expectimax" else make_agent(name), seat)
    assert score.guaranteed == pytest.approx(score.optimum, abs=1e-6)


def test_search_does_not_pass_because_a_unit_will_rally() -> None:
    """The unit rallies with the same probability whether or not the wizard casts."""
    bolt = aimed("Bolt", damage={"hits": "1", "strength": 4})
    own = army(wizard(2, bolt), units=[unit("Guard", 20, fleeing=True)])
    rules = {"scoring": "victory_points"}
    battle = game(own, army(units=[unit("Spears", 10)]), phases=3, rules=rules)
    found = PlySearchAgent().action_values(battle)
    assert 0.0 < found.pop(PASS) < min(found.values())


def test_expectimax_plays_better_with_more_depth() -> None:
    one, three, all_ = (scored(make_agent(f"expectimax{n}"), 0) for n in (":1", ":3", ""))
    assert one + 2.0 < three <= all_ + 1e-9
    assert all_ > 99.0


def test_array_sizes_change_only_the_depth(monkeypatch: pytest.MonkeyPatch) -> None:
    """Arrays that start too small change nothing, and a budget gives a depth reached in full."""
    asked = met(DUEL, 0)
    one = asked.actions_of(ExpectimaxAgent(1))
    assert np.array_equal(asked.actions_of(ExpectimaxAgent(max_transitions=1)), one)
    wide = asked.actions_of(ExpectimaxAgent(2))
    assert not np.array_equal(wide, one)
    monkeypatch.setattr(expectimax, "new_records", lambda kind, n: new_records(kind, n // 256))
    tight = ExpectimaxAgent(2)
    monkeypatch.undo()
    assert len(tight._graph.nodes) == 4
    assert np.array_equal(asked.actions_of(tight), wide)
    assert len(tight._graph.nodes) > 4


def laid_out(name: str, depth: int, most: int) -> tuple[int, int, expectimax.SearchGraph]:
    """Return the status, the complete levels and the graph of a search from the start."""
    graph, values = expectimax.new_graph(), np.zeros(1, np.int64)
    asked = position_of(start(small(name)))
    return *expectimax.search(
        expectimax.LAY_OUT, 0, depth, most, asked, graph, new_expansion(1 << 12), values
    ), graph


@pytest.mark.parametrize("depth", [1, 2])
def test_a_search_expands_each_position_once_within_its_limit(depth: int) -> None:
    status, level, graph = laid_out("a duel", depth, UNBOUNDED)
    assert (status, level) == (expectimax.DONE, depth)
    nodes = np.asarray(graph.nodes[: graph.size[0]])
    assert len({state.tobytes() for state in nodes["state"]}) == len(nodes)
    is_expanded = nodes["first"] >= 0
    count = int((nodes["end"] - nodes["first"])[is_expanded].sum())
    found = np.count_nonzero(graph.transitions["node"][:count] >= 0)
    assert (found >= len(nodes)) == (depth > 1)  # some lead to the same position
    assert laid_out("a duel", depth, count)[:2] == (expectimax.DONE, depth)
    too_few = laid_out("a duel", depth, count - 1)
    assert too_few[:2] == ((expectimax.DONE, depth - 1) if depth > 1 else (expectimax.TOO_MANY, 0))


def test_each_row_is_searched_alone() -> None:
    """In nominations of a battle with units, in which a lesser spell may go first."""
    battle = start(small("units that panic and rally"))
    states = new_states(2)
    states[:] = battle.state
    states[0].power = 1
    both = position_of(battle)._replace(states=states, scenario=np.zeros(2, np.int64))
    agent, chosen, alone = PlySearchAgent(1), *np.zeros((2, 2), np.int64)
    agent._choose(both, chosen)
    for row in range(2):
        one = both._replace(states=states[row : row + 1], scenario=both.scenario[:1])
        agent._choose(one, alone[row : row + 1])
    assert np.array_equal(chosen, alone)


@pytest.mark.parametrize("seat", [0, pytest.param(1, marks=pytest.mark.slow)])
def test_mcts_beats_the_scripted_players_and_itself_with_fewer_simulations(seat: int) -> None:
    few, found = (
        np.mean([scored(MctsAgent(number, seed=k), seat) for k in range(2)]) for number in (4, 400)
    )
    assert found > 70.0
    assert found > few + 2.0
    assert found > max(scored("greedy", seat), scored("veteran", seat)) + 10.0


def test_mcts_values_every_decision_by_its_best_action() -> None:
    agent, battle = MctsAgent(30, seed=0), start(small("a duel"))
    agent._choose(position_of(battle), np.zeros(1, np.int64))
    nodes = np.asarray(agent._tree.nodes[: agent._tree.used[0]])
    points = nodes["gain"] + nodes["value"]
    decisions = nodes[nodes["count"] > 0]
    for first, count, state, value in decisions[["first", "count", "state", "value"]]:
        of_actions = points[first : first + count]
        best = of_actions.max() if state["mover"] == 0 else of_actions.min()
        assert value == pytest.approx(best)
    assert {0, 1} <= set(decisions["state"]["mover"])


@pytest.mark.parametrize(("weight", "selected"), [(1.0, 1), (2.0, 2)])
@pytest.mark.parametrize("mover", [0, 1])
def test_mcts_explores_alike_for_both_armies(mover: int, weight: float, selected: int) -> None:
    """One action is a point better and was tried four times, the other once."""
    nodes = new_records(mcts.TreeNode, 3)
    nodes[0].state.mover, nodes[0].first, nodes[0].count, nodes[0].visits = mover, 1, 2, 5
    nodes[1].value, nodes[1].tries, nodes[2].tries = 1.0 - 2.0 * mover, 4, 1
    assert mcts._select(nodes[0], nodes, weight) == selected


def test_mcts_differs_with_its_seed() -> None:
    asked = met(DUEL, 0)
    answers = [asked.actions_of(MctsAgent(30, seed=seed)).tolist() for seed in range(4)]
    assert any(answer != answers[0] for answer in answers)


@pytest.mark.parametrize(
    ("phases", "seat"), [(1, 1), (3, 0), pytest.param(3, 1, marks=pytest.mark.slow)]
)
def test_one_ply_is_nearly_optimal_with_saved_scrolls(phases: int, seat: int) -> None:
    table = load_scenario(DUEL).model_dump(mode="json") | {"phases": phases}
    assert scored(make_agent("search"), seat, scenario_from_dict(table)) > 99.5


def test_the_values_of_ply_search_are_those_of_the_rules_near_the_end() -> None:
    battle = start(load_scenario(DUEL))
    while battle.node != Node.DISPEL:
        if battle.is_decision():
            battle.act(battle.legal_actions()[-1])
        else:
            battle.roll(*[4] * (battle.dice_to_roll or 0))
    exact = solver.solve(DUEL, cache=True).action_values(battle)
    found = PlySearchAgent(1).action_values(battle)
    assert list(found) == list(exact)
    assert [found[code] for code in exact] == pytest.approx(list(exact.values()), abs=1.0)


@pytest.mark.parametrize("seat", [0, 1])
def test_phase_search_decides_if_there_are_too_many_outcomes(seat: int) -> None:
    shown, small_search = met("border-skirmish", seat), PlySearchAgent(1, max_transitions=1)
    assert np.array_equal(small_search.act(*shown), PhaseSearchAgent().act(*shown))
    battle = start(load_scenario("border-skirmish"))
    while not battle.is_decision():
        battle.resolve(battle.chance_outcomes()[0][0])
    assert small_search.action_values(battle) == ExpectimaxAgent(1).action_values(battle)


class ExactValues:
    """Values positions like the solver."""

    def __init__(self, solution: solver.Solution) -> None:
        self.solution = solution

    def values_behind(self, positions: PositionArrays) -> NDArray[np.float64]:
        values = np.zeros(len(positions.states))
        graph = self.solution.graph
        for row in range(1, len(values)):
            values[row] = graph.values[graph.find(positions.states[row])]
        return values


class RecordedValues:
    """Values all positions with 0, and keeps them."""

    def values_behind(self, positions: PositionArrays) -> NDArray[np.float64]:
        self.states = [state.tobytes() for state in np.asarray(positions.states)]
        return np.zeros(len(self.states))


def test_a_search_of_too_many_outcomes_is_left_to_phase_search() -> None:
    battle, values = start(small("a duel")), RecordedValues()
    searched, left, phases = np.zeros((3, 1), np.int64)
    PlySearchAgent(1, values=values)._choose(position_of(battle), searched)
    PlySearchAgent(1, values=values, max_transitions=1)._choose(position_of(battle), left)
    PhaseSearchAgent()._choose(position_of(battle), phases)
    assert left == phases != searched


def test_the_searched_position_is_not_valued_among_its_successors() -> None:
    values, battle = RecordedValues(), start(small("a duel"))
    PlySearchAgent(1, values=values).action_values(battle)
    assert len(values.states) > 2
    assert values.states.count(battle.key()) == 1


@pytest.mark.parametrize("seat", [0, 1])
@pytest.mark.parametrize("name", ["a duel", "several wizards", "spells that remain in play"])
def test_one_ply_with_exact_values_plays_the_optimum(name: str, seat: int) -> None:
    scenario = small(name)
    agent = PlySearchAgent(1, values=ExactValues(solver.solve(scenario)))
    assert scored(agent, seat, scenario) == pytest.approx(100.0, abs=1e-6)


class Sure:
    """Gives nearly all probability to one legal action, by its index."""

    def __init__(self, place: int, rest: float) -> None:
        self.place, self.rest = place, rest

    def chances_at(self, positions: PositionArrays, rows: NDArray[np.int64]) -> tuple[Any, Any]:
        codes = np.arange(ACTIONS)
        chances = np.full((len(rows), ACTIONS), -1.0, np.float32)
        battle = Battle(positions.packed_scenarios)
        for row, of_row in zip(rows, chances, strict=True):
            battle._states[0] = positions.states[row]
            legal = battle.legal_actions()
            of_row[legal] = self.rest
            of_row[legal[min(self.place, len(legal) - 1)]] = 1.0
        return codes, chances


def test_a_policy_selects_the_searched_actions() -> None:
    scenario = small("a duel")
    exact = ExactValues(solver.solve(scenario))
    searched = PlySearchAgent(1, values=exact, policy=Sure(0, 1.05 * LIKELY))
    assert scored(searched, 0, scenario) == pytest.approx(100.0, abs=1e-6)
    sure = PlySearchAgent(1, values=exact, policy=Sure(0, 0.95 * LIKELY))
    first = scored(lambda _, masks: masks.argmax(axis=1), 0, scenario)
    assert scored(sure, 0, scenario) == first < 99.0
