"""The graph's arrays: growth, pausing and resuming, lookups, sweeps."""

import threading
from contextlib import nullcontext
from typing import Any

import numpy as np
import pytest
from numba.core import config

from tests.support.batches import states_of
from wfb_gym._records import new_records
from wfb_gym.engine.battle import Battle
from wfb_gym.engine.keys import hash_of
from wfb_gym.packing import pack
from wfb_gym.scenario import load_scenario
from wfb_gym.solver import backward_induction, game_graph, graph_arrays, node_index
from wfb_gym.solver.game_graph import GameGraph, TooLarge
from wfb_gym.solver.graph_arrays import GraphStatus, SweepMode
from wfb_gym.solver.solution import Solution

from .small import ROOM, duel, everywhere, explored, small, start

SOME = ("a duel", "several wizards", "two phases", "a re-roll of one die", "dice of one's own")


THREADED = pytest.mark.skipif(
    bool(config.DISABLE_JIT),  # type: ignore[attr-defined]
    reason="there are no threads without a compiler",
)


def tiny(monkeypatch: pytest.MonkeyPatch) -> None:
    """Begin with very small arrays, pause every few nodes, and use all threads after a growth."""
    monkeypatch.setattr(game_graph, "_FIRST_NODES", 4)
    monkeypatch.setattr(game_graph, "_FIRST_STEPS", 4)
    monkeypatch.setattr(game_graph, "_FIRST_FRAMES", 1)
    monkeypatch.setattr(game_graph, "_SLICE", 3)
    monkeypatch.setattr(game_graph, "_ALONE", 0)


def by_key(graph: GameGraph) -> list[bytes]:
    """Return the arrays of a graph with its nodes in order of their keys, and its key plan."""
    order = np.lexsort(graph.keys.T)
    arrays = (graph.keys, graph.kinds, graph.counts, graph.values, graph.chosen)
    return [graph.plan.tobytes(), *(array[order].tobytes() for array in arrays)]


def named_threads() -> list[str]:
    return [each.name for each in threading.enumerate() if each.name.startswith("wfb_gym explore")]


def same(one: Any, other: Any) -> bool:
    """Return whether two graphs have the same nodes with the same values, in the same order."""
    return all(
        left.dtype == right.dtype and np.array_equal(left, right)
        for left, right in zip(one.to_saved(), other.to_saved(), strict=True)
    )


@pytest.mark.parametrize("merging", [False, True])
@pytest.mark.parametrize("name", SOME)
def test_growth_changes_nothing(name: str, merging: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    expected, _ = explored(small(name), merging=merging)
    answers = []
    grown = GameGraph._grow

    def grow(self: GameGraph, answer: GraphStatus) -> None:
        answers.append(answer)
        grown(self, answer)

    tiny(monkeypatch)
    monkeypatch.setattr(GameGraph, "_grow", grow)
    found, root = explored(small(name), merging=merging)
    assert set(answers) == set(GraphStatus) - {GraphStatus.DONE, GraphStatus.HALTED}
    assert found.size == expected.size == root + 1
    assert same(found, expected)
    assert found.size <= len(found._nodes.kinds) < 2 * found.size
    assert 2 * found.size <= len(found._nodes.slots) <= 8 * found.size


@pytest.mark.parametrize("after", [1, 12])
def test_an_interrupted_search_resumes(after: int, monkeypatch: pytest.MonkeyPatch) -> None:
    expected, _ = explored(duel(), merging=True)
    tiny(monkeypatch)
    positions = GameGraph(pack(duel()), ROOM, merging=True)
    reported: list[int] = []

    def stop(nodes: int) -> None:
        reported.append(nodes)
        if len(reported) == after:
            raise KeyboardInterrupt

    battle = start(duel())
    with pytest.raises(KeyboardInterrupt):
        positions.explore(battle.state, stop)
    done = positions.size
    assert done < expected.size
    again: list[int] = []
    positions.explore(battle.state, again.append)
    assert again[0] >= done
    assert by_key(positions) == by_key(expected)


@pytest.mark.parametrize(
    ("threads", "room"),
    [(1, 3_000), (1, 50_000), pytest.param(3, 20_000, marks=THREADED),
     pytest.param(3, 50_000, marks=[THREADED, pytest.mark.slow])],
)  # fmt: skip
def test_a_search_over_the_limit_continues_with_a_higher_one(
    threads: int, room: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = load_scenario("archmage-duel")
    expected, _ = explored(made, merging=True)
    tiny(monkeypatch)
    positions = GameGraph(pack(made), room, merging=True, threads=threads)
    battle = start(made)
    for _ in range(2):
        with pytest.raises(TooLarge, match="MiB"):
            positions.explore(battle.state)
        assert 0 < positions.bytes <= room
        assert named_threads() == []
    positions.max_bytes = ROOM
    positions.explore(battle.state)
    assert by_key(positions) == by_key(expected)
    if threads > 1:
        _check_order(positions, battle)


def test_a_search_needs_exactly_the_memory_of_its_arrays(monkeypatch: pytest.MonkeyPatch) -> None:
    tiny(monkeypatch)
    made = small("a duel")
    graph, _ = explored(made, merging=True)
    needed = graph.bytes
    assert needed == game_graph.bytes_of(graph.size, graph.keys.shape[1])
    for limit in (needed // 9, needed // 5, needed // 3, needed // 2, needed - 1, needed):
        positions = GameGraph(pack(made), limit, merging=True)
        with nullcontext() if limit == needed else pytest.raises(TooLarge):
            positions.explore(start(made).state)
        assert positions.bytes <= limit


def test_unreachable_positions_are_solved_on_request(monkeypatch: pytest.MonkeyPatch) -> None:
    tiny(monkeypatch)
    positions, _ = explored(duel(2, 1), merging=True)
    solution = Solution(duel(2, 1), positions, 0.0)
    before = positions.size
    for power, dispel in ((5, 1), (2, 9), (4, 4)):
        asked, battle = Battle(positions.packed), start(duel(power, dispel))
        asked.state.power, asked.state.dispel = power, dispel
        expected, root = explored(duel(power, dispel), merging=True)
        assert solution.value_of(asked) == pytest.approx(expected.values[root], abs=1e-12)
        assert solution.best_action(asked) == expected.chosen[expected.find(battle.state)]
    assert positions.size > before
    first, root = explored(duel(2, 1), merging=False)
    assert solution.value == pytest.approx(first.values[root], abs=1e-12)
    _check_order(positions, Battle(positions.packed))


def test_nodes_are_found_with_any_collisions() -> None:
    rng = np.random.default_rng(3)
    numbers, shifts = (rng.integers(0, most, (200, 2)).astype(np.uint64) for most in (4, 60))
    keys = np.unique(numbers << shifts, axis=0)
    absent, nodes = keys[::3].copy(), np.delete(keys, np.s_[::3], axis=0)
    slots = 1 << (len(nodes)).bit_length()
    assert slots < 2 * len(nodes)  # more entries than the search allows
    index = np.full(slots, -1, np.int32)
    node_index.enter_all(2, len(nodes), nodes, index)
    assert sorted(index[index >= 0].tolist()) == list(range(len(nodes)))
    homes = 0
    for number, key in enumerate([*nodes, *absent]):
        hashed = int(np.uint64(hash_of(key, 2)).astype(np.int64))
        homes += index[hashed & (slots - 1)] == number
        expected = number if number < len(nodes) else graph_arrays.UNKNOWN
        assert node_index.look_up(2, hashed, key, nodes, index) == expected
    assert homes < len(nodes)


@pytest.mark.parametrize("threads", [1, 2, 5])
def test_every_thread_visits_every_step_once_from_a_start_of_its_own(threads: int) -> None:
    frame, starts = new_records(graph_arrays.ExploredNode, 1)[0], set()
    for thread in range(threads):
        backward_induction._begin(frame, 10, 22, thread, threads)
        visited = []
        while frame.left > 0:
            visited.append(int(frame.cursor))
            backward_induction._advance(frame, thread)
        assert sorted(visited) == [*range(10, 22)]
        starts.add(visited[0])
    assert len(starts) == threads


def test_a_position_with_a_constant_bit_changed_is_distinguished() -> None:
    positions, _ = explored(duel(), merging=True)
    battle = start(duel())
    battle.state.power = 64
    assert positions.find(battle.state) == graph_arrays.NEW_BITS
    battle.state.power = 1
    battle.state.dispel = 1
    known = positions.find(battle.state)
    assert known == graph_arrays.UNKNOWN or known >= 0


def _check_order(positions: GameGraph, battle: Battle) -> None:
    """Every node comes after all its successors, and its value is their mean or best value."""
    for node in everywhere(positions, battle):
        assert positions.find(battle.state) == node
        steps: Any = positions.successors(states_of(battle))[0]
        assert len(steps)
        assert (steps.node < node).all()
        assert ((steps.node >= 0) | (steps.node == graph_arrays.END)).all()
        assert ((steps.node == graph_arrays.END) == (steps.state.node == 0)).all()
        if positions.kinds[node] == graph_arrays.CHANCE:
            assert (steps.action == -1).all()
            assert positions.counts[node] == 0
            assert positions.chosen[node] == -1
            assert abs(steps.probability.sum() - 1.0) < 1e-12
            continue
        assert positions.kinds[node] == battle.mover
        legal = battle.legal_actions()
        assert positions.counts[node] == len(legal)
        sums = np.bincount(steps.action, steps.probability)
        assert np.abs(sums - 1.0).max() < 1e-12
        assert len(sums) == len(legal)
        assert positions.chosen[node] in legal


@pytest.mark.parametrize("merging", [False, True])
@pytest.mark.parametrize("name", SOME)
def test_every_node_comes_after_its_successors(name: str, merging: bool) -> None:
    positions, root = explored(small(name), merging=merging)
    assert root == positions.size - 1
    _check_order(positions, start(small(name)))


@pytest.mark.parametrize("name", SOME)
def test_a_sweep_of_optimal_play_equals_the_search(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    positions, _ = explored(small(name), merging=False)
    monkeypatch.setattr(game_graph, "_SLICE", 7)
    reported: list[int] = []
    plays = [(SweepMode.OPTIMAL, SweepMode.OPTIMAL)] * 2
    values, chosen = positions.sweep(plays, progress=reported.append)
    for lane in range(2):
        assert np.array_equal(values[:, lane], positions.values[: positions.size])
        assert np.array_equal(chosen[:, lane], positions.chosen[: positions.size])
    assert reported == sorted(set(reported))
    assert reported[-1] == positions.size
    assert max(np.diff([0, *reported])) == 7


def test_lanes_do_not_touch_one_another() -> None:
    positions, root = explored(duel(), merging=False)
    length = int(positions.offsets()[-1])
    lowest, uniform = np.zeros(length), np.repeat(1.0 / positions.counts, positions.counts)
    lowest[positions.offsets()[:-1][positions.counts > 0]] = 1.0
    plays = [
        (SweepMode.GIVEN, SweepMode.GIVEN), (SweepMode.GIVEN, SweepMode.OPTIMAL),
        (SweepMode.UNIFORM, SweepMode.GIVEN), (SweepMode.OPTIMAL, SweepMode.UNIFORM),
    ]  # fmt: skip
    weights = np.stack([lowest, uniform, lowest])
    together, picked = positions.sweep(plays, weights)
    for lane, play in enumerate(plays):
        alone, codes = positions.sweep([play], weights[lane : lane + 1])
        assert np.array_equal(together[:, lane], alone[:, 0])
        assert np.array_equal(picked[:, lane], codes[:, 0])
        for seat in range(2):
            answers = codes[positions.kinds == seat, 0] >= 0
            assert answers.all() if play[seat] == SweepMode.OPTIMAL else not answers.any()
    # the lowest action is to pass, so no spell is cast
    assert together[root, 0] == 0.0
    against, _ = positions.sweep([(SweepMode.UNIFORM, SweepMode.OPTIMAL)])
    assert together[:, 1] == pytest.approx(against[:, 0], abs=1e-9)
