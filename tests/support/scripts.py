"""Scripts of agents/, experiments/ and tools/ in this process, and Python in other processes."""

import json
import os
import re
import shlex
import subprocess
import sys
from collections.abc import Callable, Mapping
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

from tests.support.commands import Said, run_command
from tests.support.pages import ROOT


class Scripts:
    """Runs scripts in this process: "agents.train --steps 9", split as a shell splits it."""

    def __init__(self, capsys: pytest.CaptureFixture[str]) -> None:
        self._capsys = capsys

    def run(self, command: str, status: int = 0) -> Said:
        """Run a command that ends with this status; returns its output, without progress."""
        module, *words = shlex.split(command)
        said = run_command(self._capsys, import_module(module).main, *words)
        assert said.status == status, said
        lines = said.err.splitlines(keepends=True)
        errors = "".join(line for line in lines if not line.startswith("wfb_gym: "))
        return said._replace(err=errors)

    def document(self, command: str, status: int = 0) -> Any:
        """Return the JSON document that a command prints."""
        return json.loads(self.run(f"{command} --json", status).out)

    def error(self, command: str) -> str:
        """Return the one-line error of a command with wrong arguments."""
        said = self.run(command, 2)
        assert (said.out, said.err.count("\n")) == ("", 1), said
        return said.err


def results_in(folder: Path) -> Any:
    """Return the results that a command has written into a folder."""
    return json.loads((folder / "results.json").read_text(encoding="utf-8"))


MEASURED = frozenset(
    (
        "seconds", "solving_seconds", "learning_seconds",  # a duration
        "milliseconds", "thinking",  # time of an agent for a decision
        "frames_per_second", "steps_per_second",
        "start_time",  # start time of Stable-Baselines3
    )
)  # fmt: skip
"""JSON fields with measured times."""


def without_times(value: Any) -> Any:
    """Return a JSON document without measured times and memory addresses.

    Stable-Baselines3 writes the memory addresses of its functions.
    """
    if isinstance(value, str):
        return re.sub(r" at 0x[0-9a-f]+>", ">", value)
    if isinstance(value, dict):
        return {key: without_times(each) for key, each in value.items() if key not in MEASURED}
    return [without_times(each) for each in value] if isinstance(value, list) else value


def run_python(*words: str | Path, cwd: Path = ROOT, env: Mapping[str, str] | None = None) -> Said:
    """Run Python with these words in its own process, with further environment variables."""
    done = subprocess.run(
        [sys.executable, *words],
        cwd=cwd,
        env={**os.environ, **(env or {})},
        capture_output=True,
        text=True,
        check=False,
    )
    return Said(done.returncode, done.stdout, done.stderr)


def interrupt_call(
    monkeypatch: pytest.MonkeyPatch, owner: object, name: str, number: int = 1
) -> list[tuple[Any, ...]]:
    """Let one call of a function, counted from 1, raise KeyboardInterrupt; others call it.

    Returns the arguments of all calls so far; the list grows with later calls.
    """
    original: Callable[..., Any] = getattr(owner, name)
    calls: list[tuple[Any, ...]] = []

    def replacement(*arguments: Any, **options: Any) -> Any:
        calls.append(arguments)
        if len(calls) == number:
            raise KeyboardInterrupt
        return original(*arguments, **options)

    monkeypatch.setattr(owner, name, replacement)
    return calls
