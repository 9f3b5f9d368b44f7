"""The tests that run for a changed file, in a copy of the repository."""

import ast
import json
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from functools import cache
from itertools import count
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

from wfb_gym._jit import compiled_sources
from wfb_gym.files import lock_folder

ROOT = Path(__file__).parents[2]
FOLDERS = {
    "rules": ("rules", "engine", "packing", "encoding"),
    "engine": (
        "engine",
        "encoding",
        "packing",
        "solver",
        "envs",
        "opponents",
        "players",
        "advising",
    ),
    "encoding": ("encoding", "envs", "players", "interop"),
    "solver": ("solver", "players", "advising"),
    "players": ("players", "opponents", "advising", "cli"),
    "envs": ("envs", "interop", "agents"),
    "packing": ("packing", "engine", "encoding", "view"),
}
"""Folders of tests that use a package, by package; its own tests come first."""
SLOWEST = 90.0
"""Seconds that a test file may take without a change; slower ones are left out."""
_PATIENCE, _START = 3.0, 60.0
"""A run may take this many times as long as without a change, and this many seconds in addition."""


@contextmanager
def repository_copy(folder: Path) -> Iterator[Path]:
    """Yield a copy of the repository's tracked files that no other process uses."""
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
    """Make a folder equal to the repository's tracked files; keep equal files."""
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, check=True)
    names = [name for name in listed.stdout.decode().split("\0") if (ROOT / name).is_file()]
    for name in names:
        target = path / name
        if not target.exists() or target.read_bytes() != (ROOT / name).read_bytes():
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / name, target)
    for stale in set(path.rglob("*.py")) - {path / name for name in names}:
        stale.unlink()


def is_compiled(path: str) -> bool:
    """Return whether a change of a file, relative to the repository, needs compiling."""
    return path.removeprefix("wfb_gym/") in compiled_sources()


def stages_of(path: str) -> list[list[str]]:
    """Return the test files for a changed file: nearest first, in groups that run together."""
    _, package, *_, name = path.removesuffix(".py").split("/")
    module = path.removesuffix(".py").replace("/", ".")
    own = _files_in(package)
    near = [file for file in own if Path(file).stem.startswith(f"test_{name}")]
    near += [file for file in _all_files() if module in _imports_of(file)]
    wider = [file for folder in FOLDERS[package] for file in _files_in(folder)]
    stages, seen = [], set[str]()
    for files in (near, own, wider):
        stages.append([file for file in dict.fromkeys(files) if file not in seen])
        seen |= set(files)
    return [stage for stage in stages if stage]


@cache
def _files_in(folder: str) -> list[str]:
    found = (ROOT / "tests" / folder).rglob("test_*.py")
    return sorted(path.relative_to(ROOT).as_posix() for path in found)


@cache
def _all_files() -> list[str]:
    folders = dict.fromkeys(folder for folders in FOLDERS.values() for folder in folders)
    return [file for folder in folders for file in _files_in(folder)]


@cache
def _imports_of(file: str) -> frozenset[str]:
    """Return the modules that a test file imports, and the names in them."""
    found = set()
    for node in ast.walk(ast.parse((ROOT / file).read_bytes())):
        if isinstance(node, ast.ImportFrom) and node.module:
            found |= {node.module, *(f"{node.module}.{each.name}" for each in node.names)}
    return frozenset(found)


class Suite:
    """Runs test files in a copy of the repository, and knows how they end without a change.

    Args:
        copy: copy of the repository.
        baseline: folder that keeps how each file ends without a change.
        compiled: whether to compile. Otherwise all code runs as Python.
    """

    def __init__(self, copy: Path, baseline: Path, *, compiled: bool) -> None:
        self._copy, self._baseline, self._compiled = copy, baseline, compiled

    def prepare(self, files: Sequence[str]) -> tuple[list[str], list[str], float]:
        """Run files without a change, unless their endings are known.

        Returns:
            files that are fast enough, tests in them that fail, and seconds that they take.
        """
        endings = {file: self._ending_of(file) for file in files}
        fast = {file: each for file, each in endings.items() if each["seconds"] <= SLOWEST}
        failing = [name for each in fast.values() for name in each["failed"]]
        return list(fast), failing, sum(each["seconds"] for each in fast.values())

    def _ending_of(self, file: str) -> dict[str, Any]:
        """Return the seconds that a file takes without a change, and its failing tests."""
        mode = "compiled" if self._compiled else "python"
        known = self._baseline / f"{file.replace('/', '.')}.{mode}.json"
        if not known.exists():
            known.parent.mkdir(parents=True, exist_ok=True)
            report = self._copy / "report.xml"
            report.unlink(missing_ok=True)
            began = time.monotonic()
            self.run([file], [f"--junitxml={report}"], SLOWEST + _START)
            seconds = round(time.monotonic() - began, 1)
            ending = {"seconds": seconds, "failed": _failed_tests(report)}
            known.write_text(json.dumps(ending), encoding="utf-8")
        found: dict[str, Any] = json.loads(known.read_text(encoding="utf-8"))
        return found

    def notices(self, files: Sequence[str]) -> str | None:
        """Return the test that fails first, "timeout", or None if all tests pass."""
        fast, failing, seconds = self.prepare(files)
        if not fast:
            return None
        options = ["-x", *(f"--deselect={name}" for name in failing)]
        report = self._copy / "report.xml"
        report.unlink(missing_ok=True)
        ended = self.run(fast, [*options, f"--junitxml={report}"], _PATIENCE * seconds + _START)
        if ended is None:
            return "timeout"
        if ended == 0 or ended == 5:  # no tests were collected
            return None
        return next(iter(_failed_tests(report)), "collection")

    def run(self, files: Sequence[str], options: Sequence[str], limit: float) -> int | None:
        """Run pytest, and return its exit status, or None if it takes longer than a limit."""
        command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "--tb=no"]
        environment = {**os.environ, "PYTHONPATH": str(self._copy), "PYTHONDONTWRITEBYTECODE": "1"}
        if not self._compiled:
            environment["NUMBA_DISABLE_JIT"] = "1"
        with subprocess.Popen(
            [*command, *options, *files],
            cwd=self._copy,
            env=environment,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        ) as process:
            try:
                return process.wait(limit)
            except subprocess.TimeoutExpired:
                return None
            finally:
                with suppress(ProcessLookupError):
                    os.killpg(process.pid, 9)


def _failed_tests(report: Path) -> list[str]:
    """Return the ids of the tests that failed in a report of pytest, if there is one."""
    found: list[str] = []
    if report.exists():
        for case in ET.parse(report).iter("testcase"):
            if case.find("failure") is not None or case.find("error") is not None:
                file = case.get("classname", "").replace(".", "/")
                found.append(f"{file}.py::{case.get('name')}")
    return found
