"""The order in which several processes run the tests."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest


@dataclass(eq=False)
class Item:
    path: Path


def test_each_test_runs_once_and_those_in_browsers_begin_in_the_last_worker(
    pytestconfig: pytest.Config, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = pytestconfig.rootpath / "tests"
    conftest: Any = pytestconfig.pluginmanager.get_plugin(str(folder / "conftest.py"))
    names = ("agents", "engine", "generating", "geometry", "players", "solver", "web")
    items = [Item(folder / name / "test_any.py") for name in names for _ in range(3)]
    monkeypatch.setenv("PYTEST_XDIST_WORKER", "gw0")
    for count in range(len(items) + 1):
        for workers in range(1, 10):
            monkeypatch.setenv("PYTEST_XDIST_WORKER_COUNT", str(workers))
            ordered = items[:count]
            conftest.pytest_collection_modifyitems(pytestconfig, ordered)
            assert sorted(map(id, ordered)) == sorted(map(id, items[:count]))
    monkeypatch.setenv("PYTEST_XDIST_WORKER_COUNT", "3")
    conftest.pytest_collection_modifyitems(pytestconfig, items)
    assert [item.path.parent.name for item in items[7:10]] == ["generating"] * 3
    assert [item.path.parent.name for item in items[14:17]] == ["web"] * 3
