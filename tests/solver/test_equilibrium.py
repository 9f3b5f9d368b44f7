"""Equilibria of scenarios with hidden items: against a linear program, and known laws."""

import time
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from typing import Any

import numpy as np
import pytest

from tests.support.batches import states_of
from tests.support.builders import army, miscast, spell, wizard
from tests.support.hidden import LUCK, SCROLL, STONE, hidden_scenario, kinds, scenarios
from wfb_gym import solver
from wfb_gym.engine.state import Node
from wfb_gym.packing import pack
from wfb_gym.players.registry import make_agent
from wfb_gym.scenario import Scenario, load_scenario
from wfb_gym.solver import HiddenGame, TooLarge, public_tree, regret_matching, solve, solve_hidden
from wfb_gym.solver.public_tree import PublicExpansion

from .small import scenario, start, uniform

SCENARIOS = {
    name: each for name, each in scenarios().items() if name not in ("two phases", "in play")
}
MUCH_LUCK = SCENARIOS["luck"]
SCENARIOS["luck"] = hidden_scenario(
    kinds([], [LUCK]), kinds([LUCK], [SCROLL]), casts={"power_dice": 2}, answers={"dispel_dice": 1}
)
SLOW = [pytest.mark.slow]
LARGE = (6, 8, 20, 22, 26)
"""Drawn scenarios that take seconds to minutes."""


@cache
def hidden_stone() -> HiddenGame:
    return HiddenGame("hidden-stone")


def drawn(number: int) -> Scenario:
    """Draw a small scenario with one to three hidden sets on either side."""
    rng = np.random.default_rng(number)
    sets = [[], [SCROLL], [SCROLL, SCROLL]]
    holds = [[], [STONE], [STONE, STONE]]
    spells = [
        spell(f"Spell {k}", int(rng.integers(5, 11)), float(rng.integers(5, 60)))
        for k in range(int(rng.integers(1, 4)))
    ]

    def some(of: list[list[str]]) -> list[dict[str, Any]]:
        chosen = rng.permutation(3)[: rng.integers(1, 4)]
        weights = [float(w) for w in rng.integers(1, 5, len(chosen))]
        return kinds(*[of[k] for k in chosen], weights=weights)

    lost = {"kind": "stored_dice_lost"} if number % 2 else {"kind": "points_lost", "points": 7.0}
    return scenario(
        army(wizard(2, *spells), power_dice=int(rng.integers(1, 4)), hidden=some(holds)),
        army(wizard(1, name="Rival"), dispel_dice=int(rng.integers(0, 3)), hidden=some(sets)),
        **miscast(lost),
    )


@pytest.mark.needs("scipy")
@pytest.mark.parametrize(
    ("secret", "gap"),
    [
        *(pytest.param(each, 1e-3, id=name) for name, each in SCENARIOS.items()),
        pytest.param(MUCH_LUCK, 1e-5, id="much luck", marks=pytest.mark.slow),
        *(pytest.param(k, 1e-6, id=f"drawn {k}", marks=SLOW * (k in LARGE)) for k in range(30)),
    ],
)
def test_the_value_is_that_of_a_linear_programme(secret: Scenario | int, gap: float) -> None:
    from .sequence_form import value_of

    game = HiddenGame(drawn(secret) if isinstance(secret, int) else secret)
    found = game.solve(gap=gap)
    assert found.lower - 1e-9 <= value_of(game.tree) <= found.upper + 1e-9


def test_without_secrets_it_has_the_value_of_open_items() -> None:
    known = hidden_scenario(answers={"items": [SCROLL]}, casts={"items": [STONE]})
    value = pytest.approx(solve(known).value, abs=1e-9)
    found = solve_hidden(hidden_scenario(dispeller=kinds([SCROLL]), caster=kinds([STONE])))
    assert found.game.tree.counts[0] == 1
    assert found.lower == found.upper == value
    assert solve_hidden(known).value == value


def test_the_bounds_converge_to_the_value() -> None:
    reports: list[Any] = []
    found = solve_hidden(SCENARIOS["scrolls"], gap=1e-4, report=reports.append)
    assert found.upper - found.lower <= 1e-4
    assert tuple(reports) == found.reports
    for report in reports:
        assert report.lower <= found.upper
        assert report.upper >= found.lower
    assert reports[0].gap > reports[-1].gap


def test_solving_stops_at_its_time_limit() -> None:
    began = time.perf_counter()
    reports: list[Any] = []
    found = solve_hidden(SCENARIOS["scrolls"], gap=1e-30, seconds=0.0, report=reports.append)
    assert len(found.reports) == 1
    assert tuple(reports) == found.reports
    assert 0.0 < found.reports[0].seconds < time.perf_counter() - began
    assert found.lower < found.upper


def test_its_own_strategy_is_optimal_and_random_play_is_not() -> None:
    game = HiddenGame(SCENARIOS["both"], whole=True)
    found = game.solve(gap=1e-4)
    for seat in (0, 1):
        assert found.score(found.strategy, seat).score == pytest.approx(100.0, abs=0.1)
        assert found.score(game.uniform, seat).score == 0.0
    assert game.points(found.strategy) == pytest.approx(found.value, abs=1e-3)
    by_observations: Any = sum(game.strategy_of(uniform, seat) for seat in (0, 1))
    assert by_observations == pytest.approx(game.uniform)


def test_a_set_reaches_nodes_by_chance_and_its_own_actions() -> None:
    game = HiddenGame(SCENARIOS["a scroll or none"], whole=True)
    tree, strategy = game.tree.arrays, game.uniform
    action = np.repeat(np.arange(len(strategy)), np.diff(tree.first_transition))
    node = game.tree.node_of_action[action]
    for seat in (0, 1):
        reach = game.reaches(strategy, seat)
        assert reach[0] == pytest.approx(1.0)
        own = tree.mover[node] == seat
        expected = reach[node] * strategy[action] * tree.probability[:, None]
        assert reach[1:][own] == pytest.approx(expected[own])


def test_a_policy_is_graded_by_a_best_response() -> None:
    game = HiddenGame(SCENARIOS["three spells"], whole=True)
    found = game.solve(gap=0.1)
    for seat in (0, 1):
        score = found.score(game.strategy_of(make_agent("greedy"), seat), seat)
        assert score.score is not None
        assert score.score < 99.0
        assert score.random < score.guaranteed


def test_a_whole_tree_has_the_value_of_one_cut_at_full_information() -> None:
    for name in ("both", "ruin"):
        ends, whole = (HiddenGame(SCENARIOS[name], whole=each) for each in (False, True))
        assert whole.tree.counts[1] > ends.tree.counts[1]
        assert whole.solve(1e-3).value == pytest.approx(ends.solve(1e-3).value, abs=1e-3)


def test_a_grade_needs_a_whole_tree_and_a_strategy() -> None:
    game, greedy = HiddenGame(SCENARIOS["both"]), make_agent("greedy")
    found: Any = game.solve(0.1)
    with pytest.raises(ValueError, match="whole=True"):
        game.strategy_of(greedy, 0)
    with pytest.raises(ValueError, match="whole=True"):
        found.score(game.uniform, 0)
    found.game.check_whole = lambda: None
    for policy in (greedy, "greedy"):
        with pytest.raises(ValueError, match=r"expected an array .* from HiddenGame.strategy_of"):
            found.score(policy, 0)


def test_a_game_may_start_later() -> None:
    secret = SCENARIOS["a scroll or none"]
    battle, sizes = start(secret), [len(HiddenGame(secret).tree.arrays.mover)]
    while battle.node == Node.DEAL:
        battle.resolve(0)
    for moves in ([], [battle.legal_actions()[-1]]):
        battle.play(moves)
        sizes.append(len(HiddenGame(secret, start=states_of(battle)).tree.arrays.mover))
    assert sizes[0] == sizes[1] > sizes[2] > 1


def test_histories_do_not_depend_on_the_size_of_batches(monkeypatch: pytest.MonkeyPatch) -> None:
    found = []
    for size in (public_tree._AT_ONCE, 7):
        monkeypatch.setattr(public_tree, "_AT_ONCE", size)
        game = HiddenGame(SCENARIOS["a scroll or none"])
        found.append(game.histories.at(np.arange(len(game.tree.arrays.mover))).tobytes())
    assert len(game.tree.parts) > 5
    assert found[0] == found[1]


def test_too_large_a_tree_is_rejected() -> None:
    with pytest.raises(TooLarge, match="public histories"):
        HiddenGame(SCENARIOS["three spells"], max_bytes=100_000)


def test_positions_without_hidden_items_have_the_same_limit_or_their_own() -> None:
    for known_bytes, limit in ((None, 100_000), (7, 7)):
        expansion = PublicExpansion(SCENARIOS["scrolls"], 100_000, known_bytes=known_bytes)
        assert expansion.graph.max_bytes == limit


@pytest.mark.parametrize(
    "ask", [solve, solver.estimate, lambda s: solver.normalised_score(s, "greedy", 0)]
)
def test_the_perfect_information_solver_rejects_secrets(ask: Any) -> None:
    with pytest.raises(ValueError, match="HiddenGame to grade a policy"):
        ask(SCENARIOS["scrolls"])


def test_threads_change_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    game = hidden_stone()
    alone = game.solve(gap=0.5, threads=1)
    monkeypatch.setattr(regret_matching, "_SHARED", 1)
    shared = game.solve(gap=0.5, threads=3)
    assert np.array_equal(shared.strategy, alone.strategy)
    bounds, expected = ([(r.lower, r.upper) for r in found.reports] for found in (shared, alone))
    assert bounds == expected


@pytest.mark.parametrize(("threads", "pools"), [(None, [3]), (2, [2]), (1, [])])
def test_there_is_a_thread_per_core_unless_their_number_is_given(
    threads: int | None, pools: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    started = []

    def pool(threads: int, name: str) -> ThreadPoolExecutor:
        started.append(threads)
        return ThreadPoolExecutor(threads, name)

    monkeypatch.setattr(regret_matching, "_SHARED", 1)
    monkeypatch.setattr(regret_matching, "available_cores", lambda: 3)
    monkeypatch.setattr(regret_matching, "ThreadPoolExecutor", pool)
    HiddenGame(SCENARIOS["a scroll or none"]).solve(gap=100.0, threads=threads)
    assert started == pools


@pytest.mark.parametrize("parts", [1, 2, 7])
def test_a_tree_is_cut_into_parts_of_about_the_same_size(parts: int) -> None:
    tree = hidden_stone().tree.arrays
    spans = regret_matching.cut(tree, parts)
    covered = [np.concatenate([np.arange(*span) for span in some]) for some in spans]
    assert np.array_equal(np.sort(np.concatenate(covered)), np.arange(len(tree.mover)))
    sizes = [len(each) for each in covered[1:]]
    assert len(sizes) == parts
    assert max(sizes) < 1.5 * min(sizes)
    nodes = np.zeros(len(tree.mover), np.int64)  # for each node, its part
    for part, some in enumerate(covered):
        nodes[some] = part
    parent = np.repeat(np.arange(len(nodes)), np.diff(tree.first_action))
    parent = np.repeat(parent, np.diff(tree.first_transition))
    below = np.flatnonzero(nodes[parent] > 0)
    assert np.array_equal(nodes[parent][below], nodes[1:][below])


@pytest.mark.parametrize(
    ("keys", "message"),
    [
        *(({"threads": k}, "threads: expected 1 or more, found") for k in (0, -1)),
        ({"gap": 0.0}, "gap: expected points above 0"),
    ],
)
def test_invalid_options_are_rejected(keys: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        solve_hidden("hidden-scroll", **keys)


@pytest.mark.slow
def test_archmage_duel_with_a_secret_scroll() -> None:
    duel = load_scenario("archmage-duel")
    rival = duel.dispeller.wizards[0].model_copy(update={"items": ()})
    secret = hidden_scenario(dispeller=kinds([], [SCROLL])).dispeller.hidden
    army_of_rival = duel.dispeller.model_copy(update={"wizards": (rival,), "hidden": secret})
    found = solve_hidden(duel.model_copy(update={"dispeller": army_of_rival}), gap=0.002)
    assert found.value == pytest.approx(23.9575, abs=0.002)
    assert pack(found.game.scenario)[0].deals
