"""What the tests of several folders share."""

import os
from typing import Any

import pytest

if "PYTEST_XDIST_WORKER" in os.environ:
    # Before anything loads torch or BLAS, here or in a process that a test starts: there is a
    # worker for each core, and threads that wait for one another across workers burn all of them.
    os.environ.setdefault("OMP_NUM_THREADS", "1")

_SAMPLES: dict[tuple[bytes, bytes], Any] = {}
"""What sampling found, by packed scenario and position."""


@pytest.fixture
def quick_refusals(monkeypatch: pytest.MonkeyPatch) -> None:
    """Refuse soon what is too large to solve, and sample a scenario once for all tests.

    `tests/solver/test_estimation.py` tests estimates and refusals themselves.
    """
    from wfb_gym.engine.battle import Battle
    from wfb_gym.solver import estimation
    from wfb_gym.solver.sampling import sample_game

    def remembered(battle: Battle) -> Any:
        key = battle.packed_scenarios.tobytes(), battle.key()
        if key not in _SAMPLES:
            _SAMPLES[key] = sample_game(battle)
        return _SAMPLES[key]

    monkeypatch.setattr(estimation, "ESTIMATE_AFTER", 10_000)
    monkeypatch.setattr(estimation, "sample_game", remembered)


_NOT_COMPILED = (
    "test_compiler.py",
    "test_site.py",
    "generating",
    "geometry",
    "scenario",
)
"""Tests that take long or are many, and play no battle; `test_compiler` has caches of its own."""


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Let the first worker compile the rules while the second one has tests that need none of it.

    Both would compile most of them otherwise, or wait. Each worker begins with as many tests as
    `share`, in order.
    """
    if "PYTEST_XDIST_WORKER" not in os.environ:
        return
    share = len(items) // (4 * int(os.environ["PYTEST_XDIST_WORKER_COUNT"]))
    folder = config.rootpath / "tests"
    tops = {item: item.path.relative_to(folder).parts[0] for item in items}
    plain = [item for top in _NOT_COMPILED for item in items if tops[item] == top][:share]
    taken = set(plain)
    rest = [item for item in items if item not in taken]
    items[:] = rest[:share] + plain + rest[share:]
