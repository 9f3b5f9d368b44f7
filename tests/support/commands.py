"""Commands that run in this process, as in a terminal."""

from collections.abc import Callable
from typing import NamedTuple

import pytest


class Said(NamedTuple):
    """What a command printed, and its exit status."""

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
