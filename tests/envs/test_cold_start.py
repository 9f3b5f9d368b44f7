"""The first run with a cold cache: one line explains the delay, and only once."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif("NUMBA_DISABLE_JIT" in os.environ, reason="compiles nothing"),
]


def test_the_first_make_reports_that_it_compiles(tmp_path: Path) -> None:
    code = 'import gymnasium as gym, wfb_gym; gym.make("wfb_gym/Caster-v0").reset(seed=0)'
    environment = {**os.environ, "WFB_GYM_CACHE_DIR": str(tmp_path)}

    def said() -> str:
        run = subprocess.run(
            [sys.executable, "-c", code], env=environment, check=True, capture_output=True
        )
        assert run.stdout == b""
        return run.stderr.decode()

    first = said()
    assert first.startswith("wfb_gym: compiling the environments")
    assert str(tmp_path) in first
    assert said() == ""
