"""Commands that run in this process, as in a terminal."""

import json
import shlex
from collections.abc import Callable
from typing import Any, NamedTuple

import pytest

from wfb_gym.cli import main as wfb_gym_main


class Said(NamedTuple):
    """Exit status and output of a command."""

    status: int
    out: str
    err: str


def run_command(
    capsys: pytest.CaptureFixture[str], main: Callable[[list[str]], int | None], *words: str
) -> Said:
    """Run a command's `main` with these words; a SystemExit becomes its status."""
    capsys.readouterr()
    try:
        status = main(list(words)) or 0
    except SystemExit as ended:
        status = ended.code if isinstance(ended.code, int) else 1
    return Said(status, *capsys.readouterr())


class CommandLine:
    """The commands of wfb_gym, run in this process. A line is split as a shell splits it."""

    def __init__(self, capsys: pytest.CaptureFixture[str]) -> None:
        self.capsys = capsys

    def _run(self, line: str, words: tuple[str, ...]) -> tuple[Said, list[str]]:
        """Run a command; returns the lines on stderr except for progress, too."""
        said = run_command(self.capsys, wfb_gym_main, *shlex.split(line), *words)
        lines = said.err.splitlines()
        return said, [each for each in lines if not each.startswith("wfb_gym: ")]

    def output(self, line: str, *words: str) -> str:
        """Return the output of a command that succeeds and prints no errors."""
        said, errors = self._run(line, words)
        assert (said.status, errors) == (0, [])
        return said.out

    def document(self, line: str, *words: str) -> Any:
        """Return the JSON document that a command prints."""
        return json.loads(self.output(line, *words, "--json"))

    def error(self, line: str, *words: str) -> str:
        """Return the one-line error of a command, without the command's name."""
        said, errors = self._run(line, words)
        assert (said.status, said.out, len(errors)) == (2, "", 1), said
        command, _, message = errors[0].partition(": ")
        assert command.startswith("python -m wfb_gym")
        return message
