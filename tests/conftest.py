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
