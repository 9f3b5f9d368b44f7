"""Several scenarios solved side by side."""

import threading
from typing import Any

import pytest

from wfb_gym import solver
from wfb_gym.scenario import ScenarioError
from wfb_gym.solver import solving

from .small import SMALL, small
from .test_game_graph import same

NAMES = tuple(SMALL)


@pytest.fixture(params=[1, 3])
def cores(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> int:
    """So many cores are said to be there."""
    monkeypatch.setattr(solving, "available_cores", lambda: request.param)
    return int(request.param)


@pytest.mark.usefixtures("cores")
def test_solutions_come_in_order_and_are_those_of_solve() -> None:
    found = list(solver.solve_all([small(name) for name in NAMES]))
    assert [each.scenario for each in found] == [small(name) for name in NAMES]
    for name, each in zip(NAMES, found, strict=True):
        assert same(each.graph, solver.solve(small(name)).graph)


@pytest.mark.usefixtures("cores")
def test_none_are_none() -> None:
    assert list(solver.solve_all([])) == []


@pytest.mark.usefixtures("cores")
def test_what_does_not_fit_is_refused_in_its_turn() -> None:
    found = solver.solve_all(["apprentice", "archmage-duel", "apprentice"], max_bytes=180_000)
    assert next(found).states > 0
    with pytest.raises(solver.TooLarge, match="archmage-duel"):
        next(found)


@pytest.mark.usefixtures("cores")
def test_an_unknown_scenario_is_refused() -> None:
    with pytest.raises(ScenarioError, match="nowhere"):
        list(solver.solve_all(["apprentice", "nowhere"]))


def test_whoever_stops_listening_ends_the_others(
    cores: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    begun: list[str] = []
    original = solving.solve

    def solve(scenario: Any, **keys: Any) -> solver.Solution:
        begun.append(scenario)
        return original(scenario, **keys)

    monkeypatch.setattr(solving, "solve", solve)
    found: Any = solver.solve_all(["apprentice"] * 50)
    next(found)
    found.close()
    assert len(begun) <= 1 + 2 * cores
    assert not any(each.name.startswith("wfb_gym solve") for each in threading.enumerate())
