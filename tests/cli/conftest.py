import io
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.support.commands import CommandLine

TypeAnswers = Callable[..., None]


@pytest.fixture(autouse=True)
def _empty_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Run every test of this package in an empty folder of its own, without typed answers."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("sys.stdin", io.StringIO())


@pytest.fixture
def commands(capsys: pytest.CaptureFixture[str]) -> CommandLine:
    """Return the commands of wfb_gym, which print into `capsys`."""
    return CommandLine(capsys)


@pytest.fixture
def type_answers(monkeypatch: pytest.MonkeyPatch) -> TypeAnswers:
    """Return a function that replaces the input by answers, one a line."""

    def type_answers(*answers: str) -> None:
        monkeypatch.setattr("sys.stdin", io.StringIO("".join(f"{each}\n" for each in answers)))

    return type_answers
