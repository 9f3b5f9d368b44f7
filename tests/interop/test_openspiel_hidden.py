"""The OpenSpiel game with hidden items: each player's information, and exact values."""

import pickle
from collections import defaultdict
from collections.abc import Iterator
from functools import cache
from itertools import combinations, product
from pathlib import Path
from typing import Any

import numpy as np
import pyspiel
import pytest
from open_spiel.python.algorithms import expected_game_score, exploitability, get_all_states
from open_spiel.python.algorithms.generate_playthrough import playthrough
from open_spiel.python.observation import INFO_STATE_OBS_TYPE, make_observation
from open_spiel.python.policy import UniformRandomPolicy

from tests.support import hidden
from tests.support.builders import Data, army, miscast, spell, wizard
from tests.support.hidden import LUCK, SCROLL, STONE, hidden_scenario, kinds
from tests.support.packed import scenario
from wfb_gym.interop import openspiel
from wfb_gym.interop.openspiel import POINTS_PER_UTILITY, PhaseGame, PhaseState, load_battle
from wfb_gym.scenario import Scenario
from wfb_gym.solver import HiddenGame, solve_hidden

Information = pyspiel.GameType.Information
Private = pyspiel.PrivateInfoType


def one_spell(
    caster: list[Data], dispeller: list[Data], dice: int = 2, dispel_dice: int = 0
) -> Scenario:
    """Return one spell against few dice, with hidden items on either side."""
    mage = wizard(2, spell("Bolt", 7, 40.0))
    rival = army(wizard(1, name="Rival"), dispel_dice=dispel_dice, hidden=dispeller)
    return scenario(army(mage, power_dice=dice, hidden=caster), rival, **miscast())


SMALL = {
    "a scroll": one_spell([], kinds([], [SCROLL])),
    "a likely scroll and a die": one_spell(
        [], kinds([], [SCROLL], weights=[1.0, 2.0]), dispel_dice=1
    ),
    "a stone, a scroll": one_spell(kinds([], [STONE]), kinds([], [SCROLL]), dice=1),
    "a stone": one_spell(kinds([STONE], []), [], dice=1, dispel_dice=1),
    "a Luckstone": one_spell(kinds([], [LUCK]), kinds([LUCK], [SCROLL], [])),
    "two spells": hidden_scenario(
        dispeller=kinds([], [SCROLL]), casts={"power_dice": 2}, answers={"dispel_dice": 0}
    ),
}
SCENARIOS = {**hidden.scenarios(), **SMALL}
LONG = ("stones", "scrolls", "both", "ruin", "death")
EACH = pytest.mark.parametrize("name", SMALL)
QUICK = ("a likely scroll and a die", "a stone, a scroll", "two spells")
SOLVED = pytest.mark.parametrize(
    "name", [pytest.param(name, marks=[pytest.mark.slow] * (name not in QUICK)) for name in SMALL]
)


@cache
def game_of(name: str) -> PhaseGame:
    return load_battle(SCENARIOS[name])


def utility(points: float) -> Any:
    return pytest.approx(points / POINTS_PER_UTILITY, abs=1e-8)


@pytest.mark.parametrize("name", ["a Luckstone", "ruin", "in play"])
def test_openspiels_own_simulation(name: str) -> None:
    pyspiel.random_sim_test(game_of(name), num_sims=2, serialize=True, verbose=False)


def assert_replayed(name: str) -> list[str]:
    """Assert that a playthrough of a game's name is replayed exactly; returns its lines."""
    first = playthrough(name, action_sequence=None, seed=1)
    lines: list[str] = first.splitlines()
    actions = [int(line.removeprefix("action: ")) for line in lines if line.startswith("action: ")]
    assert playthrough(name, action_sequence=actions, seed=2) == first
    return lines


def test_a_file_is_simulated_and_replayed_exactly(tmp_path: Path) -> None:
    (tmp_path / "secret.toml").write_text(hidden.SECRET_SCROLL)
    name = f"wfb_gym_phase(scenario={tmp_path / 'secret.toml'})"
    pyspiel.random_sim_test(pyspiel.load_game(name), num_sims=5, serialize=True, verbose=False)
    lines = assert_replayed(name)
    assert "GameType.information = Information.IMPERFECT_INFORMATION" in lines
    assert "ChanceOutcomes() = [(0,0.333333), (1,0.666667)]" in lines


def test_information_is_imperfect_with_hidden_items() -> None:
    for name in SMALL:
        kind = game_of(name).get_type()
        assert kind.information == Information.IMPERFECT_INFORMATION
        assert kind.short_name == "wfb_gym_phase"
    plain = load_battle("apprentice").get_type()
    registered = next(
        kind for kind in pyspiel.registered_games() if kind.short_name == "wfb_gym_phase"
    )
    for kind in (plain, registered):
        assert kind.information == Information.PERFECT_INFORMATION
        assert not kind.provides_factored_observation_string


def test_deals_are_chance_nodes() -> None:
    state = game_of("both").new_initial_state()
    for dealt in ([None, None], [0, None]):
        assert state.is_chance_node()
        assert state.chance_outcomes() == [(0, 0.5), (1, 0.5)]
        assert [state.dealt(army) for army in (0, 1)] == dealt
        assert state.public_history() == []
        state.apply_action(0)
    assert [state.dealt(army) for army in (0, 1)] == [0, 0]
    assert state.battle().state.hidden_set.tolist() == [1, 1]


def test_sets_of_weight_0_are_left_out() -> None:
    sets = kinds([], [SCROLL], [SCROLL] * 2, weights=[0.0, 1.0, 1.0])
    state = load_battle(one_spell([], sets)).new_initial_state()
    assert state.chance_outcomes() == [(0, 0.5), (1, 0.5)]
    state.apply_action(1)
    assert state.dealt(1) == 2
    assert state.information_state_string(1).startswith("player 1 dealt 2")


def dealt_states(game: PhaseGame) -> list[PhaseState]:
    """Return the initial states of a battle, one for each deal."""
    found = [game.new_initial_state()]
    for _ in game.store.deals:
        found = [state.child(k) for state in found for k in state.legal_actions()]
    return found


def twins(game: PhaseGame, player: int) -> Iterator[tuple[PhaseState, PhaseState]]:
    """Return pairs of initial states that differ only in the other army's deal."""
    for one, two in combinations(dealt_states(game), 2):
        if one.dealt(player) == two.dealt(player):
            yield one, two


def information_of(state: PhaseState, player: int) -> list[Any]:
    """Return all information of a player in a state."""
    return [
        state.information_state_string(player),
        state.observation_string(player),
        state.information_state_tensor(player),
        state.observation_tensor(player),
        state.current_player(),
        state.returns(),
        state.chance_outcomes() if state.is_chance_node() else None,
        state.legal_actions(player) if state.current_player() == player else None,
    ]


@pytest.mark.parametrize(
    "name", ["a stone, a scroll", "a Luckstone", "both", "in play", "three spells"]
)
@pytest.mark.parametrize("player", [0, 1])
def test_the_enemys_deal_is_not_in_the_information_state(name: str, player: int) -> None:
    rng = np.random.default_rng(7)
    compared = 0
    for beginnings in twins(game_of(name), player):
        for _ in range(3):
            one, two = (state.clone() for state in beginnings)
            while True:
                assert information_of(one, player) == information_of(two, player)
                for said in ("information_state_string", "information_state_tensor"):
                    assert getattr(one, said)(1 - player) != getattr(two, said)(1 - player)
                compared += 1
                common = sorted({*one.legal_actions()} & {*two.legal_actions()})
                if not common:
                    break
                move = int(rng.choice(common))
                one.apply_action(move)
                two.apply_action(move)
    hides = [len(sets) for owner, sets in game_of(name).store.deals if owner != player]
    assert compared > 0 if hides else compared == 0


@EACH
def test_own_deals_and_moves_are_recalled(name: str) -> None:
    """One information state has one own deal, one action set and one own history."""
    game = game_of(name)
    recalled: dict[str, set[Any]] = defaultdict(set)
    tensors: dict[bytes, set[str]] = defaultdict(set)
    strings: dict[str, set[bytes]] = defaultdict(set)

    def walk(state: PhaseState, own: tuple[tuple[Any, ...], ...]) -> None:
        player = state.current_player()
        if player >= 0:
            string = state.information_state_string(player)
            tensor = np.array(state.information_state_tensor(player), np.float32).tobytes()
            recalled[string].add((state.dealt(player), *state.legal_actions(), own[player]))
            strings[string].add(tensor)
            tensors[tensor].add(string)
        for move in state.legal_actions():
            after = list(own)
            if player >= 0:
                after[player] = (*own[player], string, move)
            walk(state.child(move), tuple(after))

    walk(game.new_initial_state(), ((), ()))
    for found in (recalled, tensors, strings):
        assert found
        assert all(len(each) == 1 for each in found.values())


@EACH
def test_strings_of_states_differ(name: str) -> None:
    states = get_all_states.get_all_states(game_of(name), include_chance_states=True)
    assert len({str(state) for state in states.values()}) == len(states)
    for state in states.values():
        words = [state.action_to_string(action) for action in state.legal_actions()]
        assert len(set(words)) == len(words)


def seen(state: PhaseState, player: int, **kind: Any) -> tuple[str, dict[str, Any]]:
    """Return the output of an observer of a type."""
    kind = {"perfect_recall": False, **kind}
    observer = make_observation(state.get_game(), pyspiel.IIGObservationType(**kind))
    observer.set_from(state, player)
    return observer.string_from(state, player), {k: v.tolist() for k, v in observer.dict.items()}


def test_public_observations_do_not_depend_on_the_deal() -> None:
    battles = [[*played(state)] for state in dealt_states(game_of("both"))]
    assert len({len(battle) for battle in battles}) == 1
    for recall, parts in ((False, {"observation"}), (True, {"observation", "history"})):
        for first, *others in zip(*battles, strict=True):
            wanted = seen(first, 0, private_info=Private.NONE, perfect_recall=recall)
            assert set(wanted[1]) == parts
            for other, player in product(others, (0, 1)):
                found = seen(other, player, private_info=Private.NONE, perfect_recall=recall)
                assert found == wanted


def played(state: PhaseState) -> Iterator[PhaseState]:
    """Return the states of a battle in which both players always pass."""
    yield state
    while not state.is_terminal():
        state = state.child(state.legal_actions()[0])
        yield state


def test_private_observations_contain_only_the_deal_and_full_ones_everything() -> None:
    for state in dealt_states(game_of("both")):
        own = np.zeros((2, 4))
        own[1, state.dealt(1)] = 1.0
        string, parts = seen(state, 1, public_info=False)
        assert string == f"player 1 dealt {state.dealt(1)}"
        assert parts == {"dealt": own.tolist()}
    states = dealt_states(game_of("both"))
    full = [seen(state, 0, private_info=Private.ALL_PLAYERS) for state in states]
    assert len({string for string, _ in full}) == 4
    assert len({str(parts["dealt"]) for _, parts in full}) == 4


def test_an_observation_equals_the_environments() -> None:
    game = game_of("both")
    observer = make_observation(game, INFO_STATE_OBS_TYPE)
    for state in dealt_states(game):
        for player in (0, 1):
            states = game.store.redact(state.position, [0, 1])
            shown, _ = game.store.views[player].show(np.zeros(1, np.int64), states)
            observer.set_from(state, player)
            size = shown.shape[1]
            assert observer.dict["observation"][:size].tolist() == shown[0].tolist()
            assert not observer.dict["observation"][size:].any()
            assert not observer.dict["history"].any()


def test_copies_are_independent_and_keep_their_deals() -> None:
    state = dealt_states(game_of("both"))[3]
    state.apply_action(state.legal_actions()[-1])
    twin, saved = state.clone(), pickle.dumps(state)
    twin.apply_action(twin.legal_actions()[-1])
    both = pyspiel.serialize_game_and_state(state.get_game(), state)
    game, read = pyspiel.deserialize_game_and_state(both)
    assert game.scenario == SCENARIOS["both"]
    assert len(twin.public_history()) == 2
    for copy in (pickle.loads(saved), read, state):
        assert [copy.dealt(army) for army in (0, 1)] == [1, 1]
        assert information_of(copy, 1) == information_of(state, 1)
        assert str(copy) == str(state) != str(twin)
        assert len(copy.public_history()) == 1


def test_policies_of_histories_are_no_players_and_observers_take_no_parameters() -> None:
    game = game_of("a scroll")
    with pytest.raises(ValueError, match="expected a scenario without hidden items"):
        openspiel.PolicyPlayer(game, UniformRandomPolicy(game))
    with pytest.raises(ValueError, match="expected no parameters"):
        make_observation(game, params={"depth": 3})


@pytest.mark.parametrize(
    "name",
    [*SMALL, "a scroll or none", *(pytest.param(name, marks=pytest.mark.slow) for name in LONG)],
)
def test_exploitability_of_random_play_matches_the_solver(name: str) -> None:
    """OpenSpiel's algorithms in Python would take minutes in the larger scenarios."""
    game, tree = game_of(name), HiddenGame(SCENARIOS[name], whole=True)
    both = sum(tree.best_answer(tree.uniform, seat) for seat in (0, 1))
    assert both > 0.1
    assert pyspiel.nash_conv(game, pyspiel.UniformRandomPolicy(game)) == utility(both)
    if name in SMALL:
        policy, root = UniformRandomPolicy(game), game.new_initial_state()
        score = expected_game_score.policy_value(root, [policy, policy])
        assert score[0] == utility(tree.points(tree.uniform))
        assert exploitability.nash_conv(game, policy) == utility(both)


@SOLVED
def test_openspiels_compiled_solver_finds_the_equilibrium(name: str) -> None:
    game = game_of(name)
    solver = pyspiel.CFRPlusSolver(game)
    for _ in range(150):
        solver.evaluate_and_update_policy()
    policy, history = solver.average_policy(), game.new_initial_state().history_str()
    first, second = (pyspiel.TabularBestResponse(game, seat, policy) for seat in (0, 1))
    upper, lower = first.value(history), -second.value(history)
    assert upper - lower < 1e-3
    solved = solve_hidden(SMALL[name], gap=1e-5)
    assert lower - 1e-9 <= solved.upper / POINTS_PER_UTILITY
    assert upper + 1e-9 >= solved.lower / POINTS_PER_UTILITY
