"""Runs areas in processes of their own, and tells what they found."""

import json
import queue
import resource
import subprocess
import sys
import tempfile
import threading
import traceback
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

Area = Callable[[np.random.Generator, Path], str]

MOST_SECONDS = 120.0
"""A case that takes longer hangs."""
MOST_GROWTH = 1 << 30
"""Bytes by which a case may raise the memory of its process."""


@dataclass
class Finding:
    """A promise that was broken.

    Attributes:
        area: the kind of attack.
        case: its number.
        text: what happened.
    """

    area: str
    case: int
    text: str


@dataclass
class Outcome:
    """What cases of one area came to.

    Attributes:
        endings: how many ended in which way.
        findings: those that broke a promise.
        cases: how many were begun.
    """

    endings: Counter[str] = field(default_factory=Counter)
    findings: list[Finding] = field(default_factory=list)
    cases: int = 0


def generator_of(area: str, seed: int, case: int) -> np.random.Generator:
    """The random numbers of a case."""
    return np.random.default_rng([seed, case, *area.encode()])


def run_case(areas: dict[str, Area], area: str, seed: int, case: int) -> tuple[str, str]:
    """Run a case here; returns how it ended and, if it broke a promise, what happened."""
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    try:
        with tempfile.TemporaryDirectory() as folder:
            ending = areas[area](generator_of(area, seed, case), Path(folder))
    except KeyboardInterrupt:
        raise
    except (Exception, SystemExit):  # noqa: BLE001 - whatever a case raises is a finding
        return "finding", traceback.format_exc()
    grown = 1024 * (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before)
    if case and grown > MOST_GROWTH:  # the first one loads and compiles
        return "finding", f"took {grown >> 20} MiB"
    return ending, ""


def work(areas: dict[str, Area], area: str, seed: int, cases: Sequence[int]) -> None:
    """Run cases, telling on stdout what begins and how it ends, a JSON line each."""
    for case in cases:
        _tell([case])
        _tell([case, *run_case(areas, area, seed, case)])


def _tell(line: list[object]) -> None:
    sys.stdout.write(json.dumps(line) + "\n")
    sys.stdout.flush()


def run_apart(
    command: Sequence[str], area: str, cases: Sequence[int], limit: float = MOST_SECONDS
) -> Outcome:
    """Run cases in another process, and go on behind one that ends it or hangs.

    Args:
        command: starts a process that calls `work`; the numbers of the cases are added.
        area: for the findings.
        cases: their numbers.
        limit: seconds that a case may take.
    """
    outcome = Outcome()
    left = list(cases)
    while left:
        begun, text = -1, ""
        for line in _lines_of([*command, *map(str, left)], limit):
            case, *ended = line
            if not ended:
                begun = int(str(case))
                outcome.cases += 1
                left = left[left.index(begun) + 1 :]
                continue
            ending, text = map(str, ended)
            if text:
                outcome.findings.append(Finding(area, begun, text))
            else:
                outcome.endings[ending] += 1
            begun = -1
        if begun >= 0:
            outcome.findings.append(Finding(area, begun, "its process crashed or hung"))
        elif left and not outcome.cases:
            raise RuntimeError(f"{area}: its process ended before the first case")
    return outcome


def _lines_of(command: Sequence[str], limit: float) -> Iterator[list[object]]:
    """Yield what a process tells until it ends; it is killed if it is silent for too long."""
    lines: queue.Queue[bytes] = queue.Queue()
    with subprocess.Popen(command, stdout=subprocess.PIPE) as process:
        pipe = process.stdout
        if pipe is None:
            raise RuntimeError("its output was asked for")

        def listen() -> None:
            for line in pipe:
                lines.put(line)
            lines.put(b"")

        threading.Thread(target=listen, daemon=True).start()
        try:
            while line := lines.get(timeout=limit):
                yield json.loads(line)
        except queue.Empty:
            return
        finally:
            process.kill()
