"""The page for beginners: its tables match the engine, its pictures show the dice."""

import re

import pytest

pytest.importorskip("PIL", reason="needs the extra render")

from tests.support.pages import page, rows_of
from tools import five_minutes
from tools.documents import IMAGES
from wfb_gym import solver

TEXT = page("five-minutes.md")


def test_the_page_matches_the_engine() -> None:
    assert five_minutes.make_tutorial(TEXT) == TEXT
    assert five_minutes.make_tutorial(TEXT.replace("11 against 9", "12 against 9")) == TEXT


def test_the_phase_shows_every_part_of_the_game() -> None:
    words = [step.event.words for steps in five_minutes.moments().values() for step in steps]
    text = " ".join((*words, *five_minutes.other_ends()))
    for part in (
        "is cast",
        "Dispel Scroll",
        "is dispelled",
        "irresistible force",
        "a miscast",
        "fails",
    ):
        assert part in text
    assert words[-1] in TEXT
    assert "The battle ends" in words[-1]


def test_a_lost_wound_costs_the_documented_points() -> None:
    text = " ".join(TEXT.split())
    found = re.search(r"(\d+)-point wizard with three wounds loses one, its side loses (\d+)", text)
    assert found is not None
    assert int(found[1]) == 3 * int(found[2])
    assert any(f"{found[2]} points to the dispeller" in end for end in five_minutes.other_ends())


def test_points_lost_match_the_solver() -> None:
    decisions = rows_of(TEXT, "Was that well played?")[1:]  # after the ruler
    assert float(decisions[0][4]) == pytest.approx(solver.solve("archmage-duel").value, abs=0.05)
    mistakes = [row for row in decisions if row[1] != row[3]]
    assert [row[1] for row in mistakes] == ["cast Fire Ball (5+)"]  # "The only mistake"


def test_pictures_show_the_dice_that_were_thrown() -> None:
    shown = five_minutes.pictures()
    assert set(re.findall(r"five-minutes-\w+\.png", TEXT)) == set(shown)
    for name, rows in shown.items():
        assert (IMAGES / name).is_file()
        assert five_minutes.draw_lines(rows).width > 500
    for name, steps in five_minutes.moments().items():
        dice = [row.faces for row in shown[f"five-minutes-{name}.png"] if any(row.faces)]
        assert dice == [step.event.faces for step in steps if step.event.faces]
