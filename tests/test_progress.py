"""Progress of long work: lines of commands without a terminal, and custom displays."""

import io
import sys
import time
from collections.abc import Callable

import pytest

from tests.solver.test_progress import Terminal
from wfb_gym import _progress
from wfb_gym._compiler.core import Core
from wfb_gym._progress import ProgressBar, printed_lines, shown_by, tell


def replace_stderr(monkeypatch: pytest.MonkeyPatch, out: io.StringIO) -> io.StringIO:
    """Replace stderr by a file, with early progress lines. (Pytest would undo a fixture.)"""
    monkeypatch.setattr(sys, "stderr", out)
    for name in ("FIRST_LINE", "NEXT_LINES"):
        monkeypatch.setattr(_progress, name, 0.01)
    for name in ("_QUIET", "_REDRAWN_EVERY"):
        monkeypatch.setattr(_progress, name, 0.0)
    return out


def wait_for(condition: Callable[[], bool]) -> None:
    end = time.monotonic() + 60.0
    while not condition():
        assert time.monotonic() < end, "nothing was printed"
        time.sleep(0.01)


def test_a_long_command_prints_lines_into_a_file(monkeypatch: pytest.MonkeyPatch) -> None:
    stderr = replace_stderr(monkeypatch, io.StringIO())
    with printed_lines("advise"):
        wait_for(lambda: "wfb_gym: advise (0 s so far)\n" in stderr.getvalue())
        bar = ProgressBar("solving a duel")
        bar.expect(4000)
        bar(1000)
        wait_for(lambda: "1,000 of about 4,000 positions" in stderr.getvalue())
        monkeypatch.setattr(Core, "depth", 1)
        line = "wfb_gym: advise: compiling; later runs skip this (0 s so far)\n"
        wait_for(lambda: line in stderr.getvalue())
        monkeypatch.setattr(Core, "depth", 0)
        bar.close()
        length = len(stderr.getvalue())
        wait_for(lambda: "wfb_gym: advise (" in stderr.getvalue()[length + 200 :])
    lines = stderr.getvalue().splitlines()
    expected = "wfb_gym: advise: solving a duel: 1,000 of about 4,000 positions, about "
    assert any(line.startswith(expected) for line in lines)
    assert "\r" not in stderr.getvalue()
    length = len(stderr.getvalue())
    ProgressBar("solving")(5)
    assert len(stderr.getvalue()) == length  # the command has ended


def test_the_progress_of_a_command_may_be_computed(monkeypatch: pytest.MonkeyPatch) -> None:
    stderr = replace_stderr(monkeypatch, io.StringIO())
    done = iter(["", "", *("7 of 9 steps",) * 1000])  # an empty one prints no line
    with printed_lines(lambda: next(done)):
        wait_for(lambda: "7 of 9 steps" in stderr.getvalue())
    assert all("7 of 9 steps" in line for line in stderr.getvalue().splitlines())


def test_a_quick_command_prints_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    stderr = replace_stderr(monkeypatch, io.StringIO())
    monkeypatch.setattr(_progress, "FIRST_LINE", 1000.0)
    with printed_lines("roll"):
        ProgressBar("solving")(5)
    assert stderr.getvalue() == ""


def test_on_a_terminal_lines_are_printed_without_a_bar(monkeypatch: pytest.MonkeyPatch) -> None:
    out = replace_stderr(monkeypatch, Terminal())
    with printed_lines("advise"):
        bar = ProgressBar("solving")
        bar(5)
        assert "\u2501" in out.getvalue()  # the bar
        wait_for(lambda: "wfb_gym: advise: solving: 5 positions" in out.getvalue())
        bar.close()


def test_a_display_of_a_command_replaces_the_bar(monkeypatch: pytest.MonkeyPatch) -> None:
    out, lines = replace_stderr(monkeypatch, Terminal()), list[str]()
    with shown_by(lines.append):
        bar = ProgressBar("asking", unit="decisions")
        bar.expect(9, "at most ")
        bar(9)
        bar.close()
    with shown_by(lines.append):
        ProgressBar("solving").close()  # it has shown nothing, and clears nothing
    tell("no bar")
    assert lines == ["asking: 9 of at most 9 decisions, at most 0 s left", ""]
    assert out.getvalue() == ""


@pytest.mark.parametrize("stream", [None, "closed"])
def test_without_a_stream_nothing_is_printed(
    monkeypatch: pytest.MonkeyPatch, stream: str | None
) -> None:
    replace_stderr(monkeypatch, closed := io.StringIO())
    closed.close()
    monkeypatch.setattr(sys, "stderr", closed if stream else None)
    shows: list[str] = []

    def what() -> str:
        shows.append("advise")
        return shows[0]

    with printed_lines(what):
        bar = ProgressBar("solving")
        bar(5)
        bar.close()
        wait_for(lambda: len(shows) > 1)
