"""The bar of long solves."""

import io
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from wfb_gym import _progress, solver
from wfb_gym._progress import ProgressBar, shown_by
from wfb_gym.solver import estimation


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.fixture
def hasty(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_progress, "_QUIET", 0.0)
    monkeypatch.setattr(_progress, "_REDRAWN_EVERY", 0.0)


def shown(out: io.StringIO) -> list[str]:
    """What stood on the line, one after the other."""
    return [line.rstrip() for line in out.getvalue().split("\r")]


@pytest.mark.usefixtures("hasty")
def test_a_bar_tells_how_far_it_is() -> None:
    out = Terminal()
    bar = ProgressBar("solving a duel", out)
    bar(1000)
    bar.expect(4000)
    bar(2000)
    bar(9000)
    bar.close()
    assert shown(out) == [
        "",
        "solving a duel: 1,000 positions, 0 s, total not known yet",
        f"solving a duel [{'#' * 15}{'.' * 15}] 2,000 of about 4,000 positions, about 0 s left",
        f"solving a duel [{'#' * 30}] 9,000 of about 4,000 positions",
        "",
        "",
    ]


def test_nothing_is_drawn_for_a_moment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_progress, "_QUIET", 1000.0)
    out = Terminal()
    bar = ProgressBar("solving", out)
    bar(5)
    bar.close()
    assert out.getvalue() == ""


@pytest.mark.usefixtures("hasty")
def test_nothing_is_drawn_where_nobody_looks() -> None:
    out = io.StringIO()
    bar = ProgressBar("solving", out)
    bar(5)
    bar.close()
    assert out.getvalue() == ""


@pytest.mark.usefixtures("hasty")
def test_solving_shows_it_with_the_estimate(monkeypatch: pytest.MonkeyPatch) -> None:
    out = Terminal()
    monkeypatch.setattr("sys.stderr", out)
    monkeypatch.setattr(estimation, "ESTIMATE_AFTER", 1000)
    monkeypatch.setattr(estimation, "available_cores", lambda: 1)  # it waits for the estimate
    solver.solve("archmage-duel")
    assert any("] 4,112 of about 4,112 positions" in line for line in shown(out))
    assert shown(out)[-1] == ""


@pytest.mark.usefixtures("hasty")
def test_whoever_asks_to_be_told_gets_no_bar(monkeypatch: pytest.MonkeyPatch) -> None:
    out = Terminal()
    monkeypatch.setattr("sys.stderr", out)
    told: list[Any] = []
    solver.solve("archmage-duel", progress=told.append)
    assert told[-1] == 4112
    assert "solving" not in out.getvalue()


def first_legal(observations: NDArray[np.float32], masks: NDArray[np.bool_]) -> NDArray[np.int64]:
    chosen: NDArray[np.int64] = masks.argmax(axis=1)
    return chosen


@pytest.mark.usefixtures("hasty")
def test_grading_shows_every_stage() -> None:
    lines: list[str] = []
    with shown_by(lines.append):
        found = solver.normalised_score("apprentice", first_legal, "caster")
    for stage in ("solving every position of apprentice: ", "asking the caster: ", "evaluating "):
        assert any(line.startswith(stage) for line in lines), stage
    told: list[int] = []
    with shown_by(lines.append):
        del lines[:]
        assert solver.normalised_score("apprentice", first_legal, 0, told.append) == found
    assert not any(lines)
    stages = 1 + sum(after <= before for before, after in pairwise(told))
    assert stages == 3


@pytest.mark.usefixtures("hasty")
def test_equilibria_and_their_grades_show_every_stage() -> None:
    lines: list[str] = []
    with shown_by(lines.append):
        game = solver.HiddenGame("hidden-scroll", whole=True)
        game.strategy_of(first_legal, "caster")
        game.solve(gap=5.0)
    for stage in (
        "opening hidden-scroll: ",
        "asking the caster: ",
        "equilibrium of hidden-scroll: ",
    ):
        assert any(line.startswith(stage) for line in lines), stage
