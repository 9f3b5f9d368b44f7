"""Tasks of `test_workers.py`, in a module that a separate process can import quickly."""

import os
import signal
import time
from pathlib import Path

from experiments.shared_files import given_names, local_path


def slow_first(number: int) -> int:
    time.sleep(0.3 if number == 0 else 0.0)
    return number * number


def fail_at_three(number: int) -> int:
    if number == 3:
        raise ZeroDivisionError("three\nis rejected")
    return number


def die_at_three(number: int) -> int:
    if number == 3:
        os.kill(os.getpid(), signal.SIGKILL)
    return number


def read_file(name: str) -> tuple[str, str, str]:
    there = local_path(name)
    return there, Path(there).read_text(encoding="utf-8"), given_names(f"bad {there}")
