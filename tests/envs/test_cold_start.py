"""The first run with a cold cache: one line explains the delay, and only once."""

import os
from pathlib import Path

import pytest

from tests.support.scripts import run_python

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif("NUMBA_DISABLE_JIT" in os.environ, reason="compiles nothing"),
]


def test_the_first_make_reports_that_it_compiles(tmp_path: Path) -> None:
    code = 'import gymnasium as gym, wfb_gym; gym.make("wfb_gym/Caster-v0").reset(seed=0)'
    env = {"WFB_GYM_CACHE_DIR": str(tmp_path)}
    first, second = (run_python("-c", code, env=env) for _ in range(2))
    assert (first.status, first.out) == (0, "")
    assert first.err.startswith("wfb_gym: compiling the environments")
    assert str(tmp_path) in first.err
    assert second == (0, "", "")
