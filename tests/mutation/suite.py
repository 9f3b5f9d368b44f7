"""The tests that run for a changed file, in a copy of the repository."""

import ast
import json
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from functools import cache
from hashlib import sha256
from itertools import count
from pathlib import Path
from xml.etree import ElementTree as ET

import numpy as np
import pytest

from tests.mutation.mutants import Mutant
from tests.mutation.recording import LONGEST_FILE
from wfb_gym.files import lock_folder

ROOT = Path(__file__).parents[2]
FOLDERS = {
    "rules": ("rules", "engine", "packing", "encoding"),
    "engine": ("engine", "encoding", "packing", "solver", "envs", "opponents", "players"),
    "encoding": ("encoding", "envs", "players", "interop"),
    "solver": ("solver", "players"),
    "players": ("players", "opponents", "interop", "solver", "encoding"),
    "envs": ("envs", "interop"),
    "packing": ("packing", "engine", "encoding", "view"),
}
"""Folders of the tests that run for a package's changes."""
BATCHES = (5.0, 30.0, 120.0)
"""CPU seconds of all tests up to the end of each batch; the first failure ends the run."""
_PATIENCE, _START = 3.0, 30.0
"""A batch may take this many times its CPU time without a change, and this many seconds more."""
_WAITING = 20.0
"""A batch may take this many times its limit of CPU time on the clock."""
_NO_FAILURE = (pytest.ExitCode.OK, pytest.ExitCode.USAGE_ERROR, pytest.ExitCode.NO_TESTS_COLLECTED)
"""Exit statuses without a failure; an id of a test may have disappeared with the change."""
_PYTEST = """
import resource, sys, pytest
resource.setrlimit(resource.RLIMIT_CPU, (int(sys.argv[1]), int(sys.argv[1]) + 1))
sys.exit(pytest.main(["-q", "-p", "no:cacheprovider", "--tb=no", *sys.argv[2:]]))
"""


@contextmanager
def repository_copy(folder: Path) -> Iterator[Path]:
    """Yield a copy of the repository's files that no other process uses."""
    for number in count():
        path = folder / str(number)
        path.mkdir(parents=True, exist_ok=True)
        with ExitStack() as stack:
            try:
                stack.enter_context(lock_folder(path))
            except BlockingIOError:
                continue
            _update(path)
            yield path
            return


def _update(path: Path) -> None:
    """Make a folder equal to the repository's files; keep equal files."""
    listed = subprocess.run(
        ["git", "ls-files", "-coz", "--exclude-standard"], cwd=ROOT, capture_output=True, check=True
    )
    names = [name for name in listed.stdout.decode().split("\0") if (ROOT / name).is_file()]
    for name in names:
        target = path / name
        if not target.exists() or target.read_bytes() != (ROOT / name).read_bytes():
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / name, target)
    for stale in set(path.rglob("*.py")) - {path / name for name in names}:
        stale.unlink()


def files_for(path: str) -> list[str]:
    """Return the test files for a changed file, by folder."""
    return [file for folder in FOLDERS[path.split("/")[1]] for file in _files_in(folder)]


def imports(file: str, path: str) -> bool:
    """Return whether a test file imports a changed file, or names in it."""
    return path.removesuffix(".py").replace("/", ".") in _imports_of(file)


@cache
def _files_in(folder: str) -> list[str]:
    found = (ROOT / "tests" / folder).rglob("test_*.py")
    return sorted(path.relative_to(ROOT).as_posix() for path in found)


@cache
def _imports_of(file: str) -> frozenset[str]:
    found = set()
    for node in ast.walk(ast.parse((ROOT / file).read_bytes())):
        if isinstance(node, ast.ImportFrom) and node.module:
            found |= {node.module, *(f"{node.module}.{each.name}" for each in node.names)}
    return frozenset(found)


def _digest(copy: Path) -> str:
    found = sha256()
    for path in sorted([*copy.glob("wfb_gym/**/*"), *copy.glob("tests/**/*")]):
        if path.is_file():
            found.update(path.relative_to(copy).as_posix().encode() + path.read_bytes())
    return found.hexdigest()[:16]


class Suite:
    """Runs the tests that cover a changed line in a copy of the repository, as plain Python.

    Args:
        copy: copy of the repository.
        recordings: folder of the lines that each test file covers without a change.
    """

    def __init__(self, copy: Path, recordings: Path) -> None:
        self._copy, self._recordings = copy, recordings / _digest(copy)

    def record(self, files: Sequence[str]) -> None:
        """Run the test files that are not recorded yet, and record which lines they cover.

        Other processes may record at the same time.

        Raises:
            RuntimeError: pytest cannot start in the copy.
        """
        missing = list(files)
        while missing:
            for file in missing:
                folder = self._recordings / file.replace("/", ".")
                folder.mkdir(parents=True, exist_ok=True)
                with suppress(BlockingIOError), lock_folder(folder):
                    if not self._recording(file).exists():
                        self._record(file)
            missing = [file for file in missing if not self._recording(file).exists()]
            time.sleep(1.0 if missing else 0.0)

    def _recording(self, file: str) -> Path:
        return self._recordings / file.replace("/", ".") / "lines.json"

    def _record(self, file: str) -> None:
        out = self._recording(file)
        draft = out.with_suffix(".draft")
        draft.write_text('{"tests": {}, "lines": {}}', encoding="utf-8")
        options = ["-p", "tests.mutation.recording", file]
        ended = self._run(options, _PATIENCE * LONGEST_FILE, {"RECORDING": str(draft)})
        if ended in (pytest.ExitCode.USAGE_ERROR, pytest.ExitCode.INTERNAL_ERROR):
            raise RuntimeError(f"{file} in {self._copy}: pytest cannot start (status {ended:d})")
        draft.rename(out)

    def covering(self, mutant: Mutant) -> list[tuple[str, float]]:
        """Return the tests that run a changed line, and their seconds: nearest and fastest first.

        The tests that run any line of the file follow if the line runs at import, or in no test.
        """
        changed = {str(line) for line in range(mutant.line, mutant.last_line + 1)}
        of_line, of_file, at_import = [], [], False
        for place, file in enumerate(files_for(mutant.path)):
            recording = json.loads(self._recording(file).read_text(encoding="utf-8"))
            lines = recording["lines"].get(mutant.path, {})
            at_import |= any(not lines[line] for line in changed & set(lines))
            on_line = {name for line in changed & set(lines) for name in lines[line]}
            in_file = {name for names in lines.values() for name in names}
            near = imports(file, mutant.path)
            for name in in_file:
                ending = recording["tests"][name]
                if ending["passed"]:
                    entry = not near, ending["seconds"], place, name
                    of_file.append(entry)
                    if name in on_line:
                        of_line.append(entry)
        found = sorted(of_line)
        if at_import or not found:
            found += sorted(set(of_file) - set(of_line))
        return [(name, seconds) for _, seconds, _, name in found]

    def failure(self, tests: Sequence[tuple[str, float]]) -> str | None:
        """Return the first of some tests that fails, "timeout", or None if all pass."""
        places = np.searchsorted(np.cumsum([seconds for _, seconds in tests]), BATCHES)
        start = 0
        for end in places:
            found = self._failure_in(tests[start:end])
            if found is not None:
                return found
            start = end
        return None

    def _failure_in(self, tests: Sequence[tuple[str, float]]) -> str | None:
        if not tests:
            return None
        listed, report = self._copy / "tests.txt", self._copy / "report.xml"
        listed.write_text("\n".join(name for name, _ in tests), encoding="utf-8")
        report.unlink(missing_ok=True)
        limit = _PATIENCE * sum(seconds for _, seconds in tests) + _START
        ended = self._run(["-x", f"--junitxml={report}", f"@{listed}"], limit)
        if ended is None:
            return "timeout"
        otherwise = None if ended in _NO_FAILURE else "crash"
        return next(_failed_tests(report), otherwise)

    def _run(
        self, options: Sequence[str], limit: float, more: Mapping[str, str] = {}
    ) -> int | None:
        """Run pytest, and return its exit status, or None if it exceeds a limit of CPU time."""
        command = [sys.executable, "-c", _PYTEST, str(int(limit))]
        environment = {
            **os.environ, "PYTHONPATH": str(self._copy), "PYTHONDONTWRITEBYTECODE": "1",
            "NUMBA_DISABLE_JIT": "1", **more,
        }  # fmt: skip
        with subprocess.Popen(
            [*command, *options],
            cwd=self._copy,
            env=environment,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        ) as process:
            try:
                status = process.wait(_WAITING * limit)
                return None if status == -signal.SIGXCPU else status
            except subprocess.TimeoutExpired:
                return None
            finally:
                with suppress(ProcessLookupError):
                    os.killpg(process.pid, signal.SIGKILL)


def _failed_tests(report: Path) -> Iterator[str]:
    """Yield the tests that failed in a report of pytest, if there is one."""
    if report.exists():
        for case in ET.parse(report).iter("testcase"):
            if case.find("failure") is not None or case.find("error") is not None:
                yield f"{case.get('classname')}.{case.get('name')}"
