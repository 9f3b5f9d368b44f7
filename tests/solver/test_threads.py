"""Threads that share a search find the same graph as one thread."""

import threading
from typing import Any

import numpy as np
import pytest

from wfb_gym import solver
from wfb_gym.packing import pack
from wfb_gym.scenario import load_scenario
from wfb_gym.solver import backward_induction, game_graph
from wfb_gym.solver.game_graph import GameGraph
from wfb_gym.solver.graph_arrays import GraphStatus, SweepMode

from .small import ROOM, explored, small, start
from .test_game_graph import SOME, THREADED, _check_order, by_key, named_threads, same, tiny

pytestmark = THREADED
DUEL = "archmage-duel"


@pytest.mark.parametrize("merging", [False, True])
@pytest.mark.parametrize(("name", "threads"), [*zip(SOME, (2, 3, 5, 2, 3), strict=True)])
def test_growth_while_threads_search_changes_nothing(
    name: str, threads: int, merging: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    expected, _ = explored(small(name), merging=merging)
    tiny(monkeypatch)
    found, root = explored(small(name), merging=merging, threads=threads)
    assert len(found._searches) == threads
    assert root == found.size - 1
    assert found.find(start(small(name)).state) == root
    assert by_key(found) == by_key(expected)
    assert named_threads() == []
    _check_order(found, start(small(name)))


def test_all_arrays_grow_while_threads_search(monkeypatch: pytest.MonkeyPatch) -> None:
    expected, _ = explored(load_scenario(DUEL))
    answers: set[tuple[GraphStatus, bool]] = set()
    grown = GameGraph._grow

    def grow(self: GameGraph, answer: GraphStatus) -> None:
        answers.add((answer, self._control[0].threads > 1))
        grown(self, answer)

    tiny(monkeypatch)
    monkeypatch.setattr(GameGraph, "_grow", grow)
    found, _ = explored(load_scenario(DUEL), threads=2)
    assert {answer for answer, together in answers if together} >= {
        GraphStatus.NODES_FULL, GraphStatus.INDEX_FULL, GraphStatus.STEPS_FULL,
        GraphStatus.NEW_KEY_BITS, GraphStatus.HALTED,
    }  # fmt: skip
    assert by_key(found) == by_key(expected)
    assert len(found._nodes.kinds) < 2 * found.size


@pytest.mark.parametrize("threads", [pytest.param(2, marks=pytest.mark.slow), 3])
@pytest.mark.parametrize(
    ("name", "begin"),
    [
        (DUEL, 500),
        pytest.param("seventh-edition-duel", game_graph._ALONE, marks=pytest.mark.slow),
        pytest.param("grand-conclave", game_graph._ALONE, marks=pytest.mark.slow),
    ],
)
def test_large_games_have_the_same_values(
    name: str, begin: int, threads: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(game_graph, "_SLICE", begin)
    monkeypatch.setattr(game_graph, "_ALONE", begin)
    alone = solver.solve(name, threads=1)
    shared = solver.solve(name, threads=threads)
    assert len(shared.graph._searches) == threads
    assert shared.value == alone.value
    assert by_key(shared.graph) == by_key(alone.graph)
    assert shared.bytes == alone.bytes
    # A sweep processes the nodes in order, so all successors are finished.
    values, chosen = shared.graph.sweep([(SweepMode.OPTIMAL, SweepMode.OPTIMAL)])
    assert np.array_equal(values[:, 0], shared.graph.values)
    assert np.array_equal(chosen[:, 0], shared.graph.chosen)


def test_small_games_have_the_same_nodes_in_the_same_order() -> None:
    one, other = (explored(load_scenario(DUEL), threads=threads)[0] for threads in (1, 4))
    assert len(other._searches) == 1
    assert same(one, other)


class StoppedError(Exception):
    """Raised by a progress callback to stop."""


@pytest.mark.parametrize("is_saved", [False, True])
def test_stopping_one_thread_stops_all_and_the_search_may_resume(
    is_saved: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = load_scenario(DUEL)
    expected, _ = explored(made)
    monkeypatch.setattr(game_graph, "_SLICE", 200)
    monkeypatch.setattr(game_graph, "_ALONE", 200)
    found = GameGraph(pack(made), ROOM, merging=True, threads=3)

    def stop(nodes: int) -> None:
        if nodes >= expected.size // 2:
            raise StoppedError

    with pytest.raises(StoppedError):
        found.explore(start(made).state, stop)
    assert named_threads() == []
    assert expected.size // 2 <= found.size < expected.size
    assert found.find(start(made).state) < 0
    if is_saved:  # it checks every node
        found = GameGraph.from_saved(found.packed, ROOM, found.to_saved())
        found.threads = 3
    found.explore(start(made).state)
    assert by_key(found) == by_key(expected)


def test_errors_of_a_thread_are_raised(monkeypatch: pytest.MonkeyPatch) -> None:
    run = backward_induction.run

    def break_down(*arguments: Any) -> int:
        if threading.current_thread() is not threading.main_thread():
            raise StoppedError
        return run(*arguments)

    monkeypatch.setattr(game_graph, "run", break_down)
    monkeypatch.setattr(game_graph, "_ALONE", 0)
    with pytest.raises(StoppedError):
        explored(load_scenario(DUEL), threads=2)
    assert named_threads() == []


@pytest.mark.slow
def test_positions_requested_later_are_explored_together(monkeypatch: pytest.MonkeyPatch) -> None:
    made = load_scenario(DUEL)
    tiny(monkeypatch)
    values = []
    for threads in (1, 3):
        graph = GameGraph(pack(made), ROOM, merging=True, threads=threads)
        for power in (1, 4, 7):
            battle = start(made)
            battle.state.power = power
            node = graph.explore(battle.state)
            assert node == graph.size - 1
            assert graph.find(battle.state) == node
            values.append(graph.values[node])
        _check_order(graph, start(made))
    assert values[:3] == values[3:]
