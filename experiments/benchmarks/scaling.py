"""Batched-step speed by number of threads, set by limiting the processors a process may use."""

import json
import os
import subprocess
import sys
from collections.abc import Sequence
from functools import partial
from pathlib import Path

from experiments.benchmarks import stepping
from experiments.benchmarks.rounds import alternate

ROOT = Path(__file__).parents[2]
_CODE = """
import json, os, sys
count, *given = json.loads(sys.argv[1])
# Before the import of the package, which reads the number of processors.
os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[:count])
from experiments.benchmarks import scaling
print(json.dumps(scaling.measure_rates(*given)))
"""


def thread_counts() -> list[int]:
    """Return the thread counts to measure: powers of two, and the number of processors."""
    if not hasattr(os, "sched_setaffinity"):  # not available on every system
        return []
    most = len(os.sched_getaffinity(0))
    return [*(1 << k for k in range((most - 1).bit_length())), most]


def measure_scaling(
    scenario: str, sizes: Sequence[int], rounds: int, seconds: float
) -> dict[str, dict[str, list[float]]]:
    """Measure env-steps/s under random legal actions, by number of threads and of environments.

    In every round, each number of threads runs in its own process.
    """
    cases = {
        str(count): partial(_run_process, count, scenario, sizes, seconds)
        for count in thread_counts()
    }
    return alternate(cases, rounds, "threads", warm_up=False)


def _run_process(
    count: int, scenario: str, sizes: Sequence[int], seconds: float
) -> dict[str, float]:
    command = [sys.executable, "-c", _CODE, json.dumps([count, scenario, sizes, seconds])]
    done = subprocess.run(command, cwd=ROOT, check=True, stdout=subprocess.PIPE, text=True)
    found: dict[str, float] = json.loads(done.stdout)
    return found


def measure_rates(scenario: str, sizes: Sequence[int], seconds: float) -> dict[str, float]:
    """Measure env-steps/s in this process, by number of environments, after a warm-up."""
    found: dict[str, float] = {}
    for size in sizes:
        measure = stepping.batch_round(size, "random", scenario)
        measure(seconds)
        found[str(size)] = round(measure(seconds)["step"])
    return found
