"""Runs cases in separate processes, with limits of CPU time and memory for each case."""

import contextlib
import itertools
import json
import queue
import resource
import signal
import subprocess
import sys
import tempfile
import threading
import time
import traceback
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

import numpy as np

Rng = np.random.Generator

CASE_SECONDS = 60.0
"""CPU seconds of a case; then its process is killed."""
SILENT_SECONDS = 20 * CASE_SECONDS
"""Seconds without output after which a process is killed: it waits, or the machine is busy."""
_LAST_SECONDS = 10.0
"""Seconds that a process has to end its last case, and processes of its own."""
_EXTRA_BYTES = 6 << 30
"""Memory that a process may take in addition to its memory before the first case."""
ABNORMAL = "the process ended: "


class Kind(NamedTuple):
    """A kind of input.

    Attributes:
        run: makes one case with a generator, in an empty folder; reads it, checks the laws, and
            returns the ending in a word: "rejected", "accepted".
        prepare: loads and compiles before the first case, which has limits; it raises if an input
            without any fault is rejected.
    """

    run: Callable[[Rng, Path], str]
    prepare: Callable[[], object] = lambda: None


@dataclass
class Finding:
    """A law that a case broke: its number and the traceback, or how its process ended."""

    case: int
    text: str

    @property
    def title(self) -> str:
        """The last line, which names the law."""
        return self.text.strip().splitlines()[-1]


@dataclass
class Outcome:
    """Results of the cases of one kind: their number, numbers by ending, and broken laws."""

    endings: Counter[str] = field(default_factory=Counter)
    findings: list[Finding] = field(default_factory=list)
    cases: int = 0


def generator_of(name: str, seed: int, case: int) -> Rng:
    """Return the random numbers of a case of a kind."""
    return np.random.default_rng([seed, case, *name.encode()])


def run_case(kind: Kind, name: str, seed: int, case: int) -> tuple[str, str]:
    """Run a case in this process; return its ending, and the traceback if it broke a law."""
    try:
        with tempfile.TemporaryDirectory() as folder:
            return kind.run(generator_of(name, seed, case), Path(folder)), ""
    except (Exception, SystemExit):  # noqa: BLE001 - any exception of a case is a finding
        return "finding", traceback.format_exc()


# --- in the process that runs the cases ----------------------------------------------------


def work(kind: Kind, name: str, seed: int, first: int) -> None:
    """Run cases from a number on until stdin is closed; report each on stdout, a JSON line."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the process that reports
    reports = sys.stdout
    sys.stdout = sys.stderr  # output of a case is not a report
    kind.prepare()
    _limit_memory()
    stopped = threading.Event()

    def listen() -> None:
        sys.stdin.read()
        stopped.set()

    threading.Thread(target=listen, daemon=True).start()
    for case in itertools.count(first):
        if stopped.is_set():
            return
        _report(reports, [case])
        # The default action of SIGPROF ends the process, compiled code or not.
        signal.setitimer(signal.ITIMER_PROF, CASE_SECONDS)
        ended = run_case(kind, name, seed, case)
        signal.setitimer(signal.ITIMER_PROF, 0.0)
        _report(reports, [case, *ended])


def _report(reports: object, line: list[object]) -> None:
    print(json.dumps(line), file=reports, flush=True)  # type: ignore[call-overload]


def _limit_memory() -> None:
    """Make allocations fail before they exhaust the machine's memory."""
    status = Path("/proc/self/status").read_text(encoding="ascii")
    data = next(line for line in status.splitlines() if line.startswith("VmData:"))
    most = 1024 * int(data.split()[1]) + _EXTRA_BYTES
    _, hard = resource.getrlimit(resource.RLIMIT_DATA)
    resource.setrlimit(resource.RLIMIT_DATA, (most, hard))


# --- in the process that reports ------------------------------------------------------------


def run_cases(
    command: Sequence[str], *, seconds: float, most: int | None = None, first: int = 0
) -> Iterator[tuple[int, str, str]]:
    """Yield number, ending and traceback of cases that other processes run, one after another.

    A process that crashes or exceeds its limits is a finding; another one continues after it.

    Args:
        command: starts a process that calls `work`; the number of its first case is added.
        seconds: time limit, including preparation; the first case is always run.
        most: number of cases, if limited.
        first: number of the first case.
    """
    end = time.monotonic() + seconds
    begun = first - 1
    while begun < first or (time.monotonic() < end and (most is None or begun - first + 1 < most)):
        started = begun + 1
        with _Worker([*command, str(started)]) as worker:
            open_case = None
            for line in worker.lines():
                if len(line) == 1:
                    begun = open_case = int(str(line[0]))
                    continue
                open_case = None
                yield begun, str(line[1]), str(line[2])
                late = time.monotonic() >= end
                if late or (most is not None and begun - first + 1 >= most):
                    return
        if open_case is not None:
            yield open_case, "finding", ABNORMAL + worker.ending
        elif begun < started:
            raise RuntimeError(f"{' '.join(command)}: {worker.ending} before the first case")


class _Worker:
    """A process that reports lines; it ends with the `with` block."""

    def __init__(self, command: Sequence[str]) -> None:
        self._process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self._lines: queue.Queue[bytes] = queue.Queue()
        self._listener = threading.Thread(target=self._listen, daemon=True)
        self._listener.start()
        self._is_silent = False

    def __enter__(self) -> "_Worker":
        return self

    def __exit__(self, *_: object) -> None:
        if self._process.stdin is not None:
            with contextlib.suppress(OSError):
                self._process.stdin.close()
        try:
            self._process.wait(_LAST_SECONDS)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        self._listener.join(_LAST_SECONDS)
        if self._process.stdout is not None and not self._listener.is_alive():
            self._process.stdout.close()

    def _listen(self) -> None:
        if self._process.stdout is not None:
            for line in self._process.stdout:
                self._lines.put(line)
        self._lines.put(b"")

    def lines(self) -> Iterator[list[object]]:
        """Yield the process's reports until it ends or is silent for too long."""
        try:
            while line := self._lines.get(timeout=SILENT_SECONDS):
                yield json.loads(line)
        except queue.Empty:
            self._is_silent = True

    @property
    def ending(self) -> str:
        """How the process ended, in words."""
        if self._is_silent:
            return f"no answer within {SILENT_SECONDS:g} s"
        status = self._process.returncode
        if status is None or status >= 0:
            return f"exit status {status}"
        name = signal.Signals(-status).name
        limit = f": more than {CASE_SECONDS:g} s of CPU time" if name == "SIGPROF" else ""
        return f"{name}{limit}"
