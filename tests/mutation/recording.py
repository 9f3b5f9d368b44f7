"""Plugin of pytest: records the lines of `wfb_gym` that each test runs.

    python -m pytest -p tests.mutation.recording FILE

The environment variable `RECORDING` names the JSON file of the result. A test that takes longer
than `LONGEST_TEST` fails, the other cases of its function are skipped, and no test begins after
`LONGEST_FILE`, so that a file of slow tests ends. All times are CPU times, so that a busy machine
gives the same result.
"""

import json
import os
import signal
import time
from collections.abc import Iterator
from pathlib import Path
from types import FrameType
from typing import Any

import coverage
import pytest
from coverage import Coverage

LONGEST_TEST = 6
"""CPU seconds for a test."""
LONGEST_FILE = 120.0
"""CPU seconds after which no further test of a file begins."""

_COVERAGE = str(Path(coverage.__file__).parent)
_SOURCES = Path(__file__).parents[2] / "wfb_gym"


class _Recorder:
    def __init__(self, out: Path) -> None:
        self._out = out
        self._tests: dict[str, dict[str, Any]] = {}
        self._slow: set[str] = set()  # ids without the case
        self._began = time.process_time()
        self._coverage = Coverage(data_file=None, source=[str(_SOURCES)], config_file=False)
        self._coverage.start()

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Iterator[None]:
        began = time.process_time()
        self._tests[item.nodeid] = {"seconds": 0.0, "passed": True}
        self._coverage.switch_context(item.nodeid)
        # Again each second, in case the test catches the exception.
        signal.setitimer(signal.ITIMER_PROF, LONGEST_TEST, 1.0)
        try:
            return (yield)
        finally:
            signal.setitimer(signal.ITIMER_PROF, 0.0)
            self._coverage.switch_context("")
            now = time.process_time()
            self._tests[item.nodeid]["seconds"] = round(now - began, 3)
            if now - began > LONGEST_TEST:
                self._slow.add(_function_of(item))
            if now - self._began > LONGEST_FILE:
                item.session.shouldstop = "the file takes too long"

    def pytest_runtest_setup(self, item: pytest.Item) -> None:
        if _function_of(item) in self._slow:
            pytest.skip("another case takes too long")

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if not report.passed:
            self._tests[report.nodeid]["passed"] = False

    def pytest_sessionfinish(self) -> None:
        self._coverage.stop()
        data = self._coverage.get_data()
        lines = {
            Path(file).relative_to(_SOURCES.parent).as_posix(): {
                line: [name for name in names if name]
                for line, names in data.contexts_by_lineno(file).items()
            }
            for file in data.measured_files()
        }
        self._out.write_text(json.dumps({"tests": self._tests, "lines": lines}), encoding="utf-8")


def _function_of(item: pytest.Item) -> str:
    return item.nodeid.partition("[")[0]


def _stop_test(number: int, frame: FrameType | None) -> None:
    while frame is not None:
        if frame.f_code.co_filename.startswith(_COVERAGE):
            return  # it may hold its lock, and would keep it for ever; the signal comes again
        frame = frame.f_back
    raise TimeoutError(f"a test takes longer than {LONGEST_TEST} s")


def pytest_configure(config: pytest.Config) -> None:
    signal.signal(signal.SIGPROF, _stop_test)
    config.pluginmanager.register(_Recorder(Path(os.environ["RECORDING"])))
