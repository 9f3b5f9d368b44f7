"""Several scenarios solved in parallel."""

import threading
from types import SimpleNamespace
from typing import Any

import pytest

from wfb_gym import solver
from wfb_gym.scenario import ScenarioError
from wfb_gym.solver import solving

from .small import SMALL, small
from .test_game_graph import same


@pytest.fixture(params=[1, 3])
def cores(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> int:
    """Set the number of cores."""
    monkeypatch.setattr(solving, "available_cores", lambda: request.param)
    return int(request.param)


@pytest.mark.usefixtures("cores")
def test_solutions_come_in_order_and_are_those_of_solve() -> None:
    assert list(solver.solve_all([])) == []
    found = list(solver.solve_all([small(name) for name in SMALL]))
    assert [each.scenario for each in found] == [small(name) for name in SMALL]
    for name, each in zip(SMALL, found, strict=True):
        assert same(each.graph, solver.solve(small(name)).graph)


@pytest.mark.usefixtures("cores")
def test_errors_come_in_order() -> None:
    found = solver.solve_all(["apprentice", "archmage-duel", "apprentice"], max_bytes=180_000)
    assert next(found).states > 0
    with pytest.raises(solver.TooLarge, match="archmage-duel"):
        next(found)
    with pytest.raises(ScenarioError, match="nowhere"):
        list(solver.solve_all(["apprentice", "nowhere"]))
    with pytest.raises(ValueError, match="solve_all: expected several scenarios, found 'appren"):
        list(solver.solve_all("apprentice"))


def test_closing_the_iterator_stops_the_others(cores: int, monkeypatch: pytest.MonkeyPatch) -> None:
    begun: list[str] = []
    original = solving.solve

    def solve(scenario: Any, **keys: Any) -> solver.Solution:
        begun.append(scenario)
        return original(scenario, **keys)

    monkeypatch.setattr(solving, "solve", solve)
    found: Any = solver.solve_all(["apprentice"] * 50)
    next(found)
    found.close()
    assert len(begun) < 50
    assert not any(each.name.startswith("wfb_gym solve") for each in threading.enumerate())


class Waiting:
    """Replaces `solve`: scenarios are numbers, and 0 takes until this many others have begun."""

    def __init__(self, others: int) -> None:
        self.begun: list[int] = []
        self._enough = threading.Event()
        self._others = others

    def __call__(self, scenario: int, **_: Any) -> Any:
        self.begun.append(scenario)
        if len(self.begun) > self._others:
            self._enough.set()
        came = scenario > 0 or self._enough.wait(timeout=2.0)
        return SimpleNamespace(scenario=scenario, bytes=1, came=came)


@pytest.mark.parametrize("room", [1 << 20, 0])
def test_a_long_solution_delays_the_others_only_for_lack_of_memory(
    room: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(solving, "available_cores", lambda: 2)
    monkeypatch.setattr(solving, "_BYTES_WAITING", room)
    waiting = Waiting(others=20)
    monkeypatch.setattr(solving, "solve", waiting)
    found: Any = list(solver.solve_all(range(30)))
    assert [each.scenario for each in found] == list(range(30))
    assert found[0].came == (room > 0)
    assert sorted(waiting.begun) == list(range(30))
