"""The progress bar of long solutions."""

import io
from itertools import pairwise
from typing import Any

import pytest

from tests.support.playing import lowest
from wfb_gym import _progress, solver
from wfb_gym._progress import ProgressBar, shown_by
from wfb_gym.solver import estimation


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.fixture(autouse=True)
def hasty(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_progress, "_QUIET", 0.0)
    monkeypatch.setattr(_progress, "_REDRAWN_EVERY", 0.0)


def texts(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Return the lines drawn on the terminal from now on, in order; "" when a line is cleared."""
    found: list[str] = []
    monkeypatch.setattr(_progress._TerminalLine, "show", lambda _, text, *__: found.append(text))
    monkeypatch.setattr(_progress._TerminalLine, "clear", lambda _: found.append(""))
    return found


def test_a_bar_shows_its_progress(monkeypatch: pytest.MonkeyPatch) -> None:
    shown = texts(monkeypatch)
    bar = ProgressBar("solving a duel", Terminal())
    bar(1000)
    bar.expect(4000)
    bar(2000)
    bar(9000)
    bar.close()
    first, second, third = (each.removeprefix("solving a duel: ") for each in shown[:-1])
    assert first == "1,000 positions, 0 s, total not known yet"
    assert second == "2,000 of about 4,000 positions, about 0 s left"
    assert (third, shown[-1]) == ("9,000 of about 4,000 positions", "")


def test_a_bar_is_drawn_on_a_terminal_until_it_is_closed(monkeypatch: pytest.MonkeyPatch) -> None:
    at_exit: list[Any] = []
    monkeypatch.setattr("atexit.register", at_exit.append)
    out, unclosed, plain = Terminal(), Terminal(), Terminal()
    bar = ProgressBar("solving [a] duel", out)
    bar.expect(4000)
    bar(2000)
    bar.close()
    assert "solving [a] duel: 2,000 of about 4,000 positions" in out.getvalue()
    show_cursor, clear = "\x1b[?25h", "\r\x1b[K"
    assert out.getvalue().endswith(show_cursor + "\r\x1b[1A\x1b[2K")  # and an empty line
    ProgressBar("solving", unclosed)(5)
    for function in at_exit:
        function()
    assert show_cursor in unclosed.getvalue()
    monkeypatch.setattr(_progress, "_has_rich", lambda: False)
    bar = ProgressBar("solving", plain)
    bar(5)
    bar.close()
    assert plain.getvalue() == f"{clear}solving: 5 positions, 0 s, total not known yet{clear}"


@pytest.mark.parametrize(("quiet", "out"), [(1000.0, Terminal()), (0.0, io.StringIO())])
def test_short_work_and_work_without_a_terminal_draw_nothing(
    quiet: float, out: io.StringIO, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(_progress, "_QUIET", quiet)
    bar = ProgressBar("solving", out)
    bar(5)
    bar.close()
    assert out.getvalue() == ""


def test_solving_shows_it_with_the_estimate(monkeypatch: pytest.MonkeyPatch) -> None:
    shown = texts(monkeypatch)
    monkeypatch.setattr(estimation, "ESTIMATE_AFTER", 1000)
    monkeypatch.setattr(estimation, "available_cores", lambda: 1)  # it waits for the estimate
    solver.solve("archmage-duel")
    assert any(": 4,112 of about 4,112 positions" in line for line in shown)
    assert shown[-1] == ""


def test_a_progress_callback_replaces_the_bar(monkeypatch: pytest.MonkeyPatch) -> None:
    out = Terminal()
    monkeypatch.setattr("sys.stderr", out)
    reported: list[Any] = []
    solver.solve("archmage-duel", progress=reported.append)
    assert reported[-1] == 4112
    assert "solving" not in out.getvalue()


def has_stages(lines: list[str], *stages: str) -> bool:
    """Return whether each stage was shown in some line."""
    return all(any(line.startswith(stage) for line in lines) for stage in stages)


def test_grading_shows_every_stage() -> None:
    lines: list[str] = []
    with shown_by(lines.append):
        found = solver.normalised_score("apprentice", lowest, "caster")
    stages = "solving every position of apprentice: ", "asking the caster: ", "evaluating "
    assert has_stages(lines, *stages), lines
    reported: list[int] = []
    with shown_by(lines.append):
        del lines[:]
        assert solver.normalised_score("apprentice", lowest, 0, reported.append) == found
    assert not any(lines)
    begun = 1 + sum(after <= before for before, after in pairwise(reported))
    assert begun == len(stages)


def test_equilibria_and_their_grades_show_every_stage() -> None:
    lines: list[str] = []
    with shown_by(lines.append):
        game = solver.HiddenGame("hidden-scroll", whole=True)
        game.strategy_of(lowest, "caster")
        game.solve(gap=5.0)
    stages = "opening hidden-scroll: ", "asking the caster: ", "equilibrium of hidden-scroll: "
    assert has_stages(lines, *stages), lines
