"""The OpenSpiel game: OpenSpiel's requirements, and the numbers of `tests/solver`."""

import sys
from types import ModuleType
from typing import Any

import numpy as np
import pyspiel
import pytest
from open_spiel.python import rl_environment
from open_spiel.python.algorithms import get_all_states, mcts
from open_spiel.python.observation import make_observation
from open_spiel.python.policy import UniformRandomPolicy

from experiments.common import play_battles
from tests.support.builders import aimed, army, miscast, spell, wizard
from tests.support.builders import game as new_game
from tests.support.packed import scenario
from wfb_gym import solver
from wfb_gym._records import as_records
from wfb_gym.engine.battle import Battle
from wfb_gym.engine.state import State
from wfb_gym.interop import openspiel
from wfb_gym.interop.openspiel import POINTS_PER_UTILITY, PhaseGame, PolicyPlayer, load_battle
from wfb_gym.packing import pack
from wfb_gym.scenario import load_scenario

from ..solver.spiel import Atlas, ByPosition, mixed, seen_policy
from .test_openspiel_hidden import assert_replayed


@pytest.fixture(scope="module")
def game() -> PhaseGame:
    mage = wizard(1, spell("Flash", 5, 20.0), spell("Bolt", 8, 35.0))
    answers = army(items=["Dispel Scroll"], dispel_dice=1)
    return load_battle(scenario(army(mage, power_dice=2), answers))


@pytest.mark.parametrize("scenario", ["archmage-duel", "border-skirmish"])
def test_openspiels_own_simulation(scenario: str) -> None:
    game = pyspiel.load_game(f"wfb_gym_phase(scenario={scenario})")
    pyspiel.random_sim_test(game, num_sims=1, serialize=True, verbose=False)


def test_a_playthrough_is_replayed_exactly() -> None:
    name = "wfb_gym_phase(scenario=apprentice)"
    lines = assert_replayed(name)
    assert any(line.startswith('StringLegalActions() = ["pass", ') for line in lines)
    assert "IsTerminal() = True" in lines


def test_values_of_value_iteration_and_of_the_solver(
    game: PhaseGame, monkeypatch: pytest.MonkeyPatch
) -> None:
    # It needs a linear programming solver with its own dependencies, for other games.
    unused = "open_spiel.python.algorithms.lp_solver"
    monkeypatch.setitem(sys.modules, unused, ModuleType(unused))
    from open_spiel.python.algorithms import value_iteration

    values = value_iteration.value_iteration(game, -1, 1e-12)
    expected = solver.solve(game.scenario).value / POINTS_PER_UTILITY
    # It omits chance nodes, and the first position of these games is one.
    assert values[str(game.new_initial_state())] == pytest.approx(expected, abs=1e-9)


def test_strings_and_tensors_differ_for_different_positions(game: PhaseGame) -> None:
    states = get_all_states.get_all_states(game, include_chance_states=True)
    assert len({str(state) for state in states.values()}) == len(states)
    texts: dict[str, set[Any]] = {}
    shown: dict[bytes, set[Any]] = {}
    for state in states.values():
        if state.current_player() < 0:
            continue
        player, key = state.current_player(), state.position.key
        texts.setdefault(state.information_state_string(player), set()).add((player, key))
        tensor = np.array(state.information_state_tensor(player), np.float32)
        shown.setdefault(tensor.tobytes() + bytes([player]), set()).add((player, key))
        assert state.observation_string(player) == state.information_state_string(player)
        words = [state.action_to_string(action) for action in state.legal_actions()]
        assert len(set(words)) == len(words)
    assert all(len(members) == 1 for members in (*texts.values(), *shown.values()))
    assert len(texts) == len(shown) == len(Atlas(game).decisions())


def test_a_tensor_equals_the_environments_observation() -> None:
    game = load_battle("archmage-duel")
    state, observation = game.new_initial_state(), make_observation(game)
    state.apply_action(state.legal_actions()[-1])
    view = game.store.views[0]
    states = as_records(State, np.array([state.battle().state]))
    seen, mask = view.show(np.zeros(1, np.int64), states)
    observation.set_from(state, 0)
    np.testing.assert_array_equal(observation.tensor, seen[0])
    assert state.legal_actions() == np.flatnonzero(mask[0]).tolist()
    assert [float(x) for x in state.observation_tensor(0)] == seen[0].tolist()


def test_points_are_the_engines() -> None:
    game = load_battle("border-skirmish")
    rng = np.random.default_rng(0)
    state, battle = game.new_initial_state(), Battle(pack(load_scenario("border-skirmish")))
    while not state.is_terminal():
        assert state.battle().key() == battle.key()
        position = state.position
        step = int(rng.choice(position.steps))
        code = position.codes[position.steps.index(step)]
        (battle.resolve if state.is_chance_node() else battle.act)(code)
        state.apply_action(step)
    assert battle.is_over
    assert state.returns() == [battle.points / 100, -battle.points / 100]
    assert state.returns()[0] != 0
    assert abs(state.returns()[0]) < game.max_utility()


def test_utilities_stay_in_bounds_with_the_points_for_a_general() -> None:
    strike = aimed(target="enemy_model", damage={"hits": "1", "strength": 10})
    general = wizard(1, name="General", points=1.0, wounds=1, general=True)
    tallied = miscast()
    tallied["rules"]["scoring"] = "victory_points"
    battle = new_game(army(wizard(4, strike, points=1.0)), army(general), **tallied)
    game = load_battle(battle.scenario)
    battle.works("Strike")
    while not battle.is_over:
        battle.resolve(max(battle.outcomes()))
    assert battle.points == 101
    assert game.max_utility() >= battle.points / 100


def test_the_cache_may_forget(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(openspiel, "_MAX_CACHED", 10)
    pyspiel.random_sim_test(load_battle("apprentice"), num_sims=2, serialize=True, verbose=False)


def test_openspiels_planner_and_learners_environment() -> None:
    game = load_battle("archmage-duel")
    bot = mcts.MCTSBot(
        game, 1.5, 20, mcts.RandomRolloutEvaluator(1, np.random.RandomState(0)),
        random_state=np.random.RandomState(1),
    )  # fmt: skip
    state = game.new_initial_state()
    assert bot.step(state) in state.legal_actions()
    env = rl_environment.Environment(game, seed=0)
    step, steps = env.reset(), 0
    while not step.last():
        player = step.observations["current_player"]
        assert len(step.observations["info_state"][player]) == game.store.views[player].layout.size
        step = env.step([step.observations["legal_actions"][player][0]])
        steps += 1
    assert steps > 0
    assert sum(step.rewards) == 0


def test_a_policy_of_openspiel_is_graded_exactly(game: PhaseGame) -> None:
    atlas = Atlas(game)
    choices = mixed(atlas, 5)
    player = PolicyPlayer(game, ByPosition(game, choices))
    for seat in (0, 1):
        wanted = solver.best_response(game.scenario, seen_policy(atlas, seat, choices), seat).value
        found = solver.best_response(game.scenario, player.action_probabilities, seat).value
        assert found == pytest.approx(wanted)


def test_a_policy_of_openspiel_plays_with_its_probabilities() -> None:
    game = load_battle("apprentice")
    player = PolicyPlayer(game, UniformRandomPolicy(game), seed=1)
    played: dict[str, Any] = {"seat": "caster", "scenario": "apprentice"}
    points = [
        play_battles(each, opponent=rival, battles=2000, seed=7, **played)
        for each, rival in ((player, "greedy"), ("random", "greedy"), ("random", player))
    ]
    spread = np.std(points[0]) / np.sqrt(2000)
    assert abs(points[0].mean() - points[1].mean()) < 5 * spread
    assert not np.array_equal(points[1], points[2])
    with pytest.raises(ValueError, match="expected battles of the policy's scenario"):
        solver.normalised_score("archmage-duel", player, 0)
