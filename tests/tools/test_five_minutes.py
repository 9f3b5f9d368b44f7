"""The page for beginners: its tables match the engine, its pictures show the dice."""

import re

import pytest

pytest.importorskip("PIL", reason="needs the extra render")

from tests.support.pages import page
from tools import five_minutes
from tools.documents import IMAGES

TEXT = page("five-minutes.md")


def test_the_page_matches_the_engine() -> None:
    assert five_minutes.make_tutorial(TEXT) == TEXT
    assert five_minutes.make_tutorial(TEXT.replace("11 against 9", "12 against 9")) == TEXT


def test_pictures_show_the_dice_that_were_thrown() -> None:
    shown = five_minutes.pictures()
    assert set(re.findall(r"five-minutes-\w+\.png", TEXT)) == set(shown)
    for name, rows in shown.items():
        assert (IMAGES / name).is_file()
        assert five_minutes.draw_lines(rows).width > 500
    for name, steps in five_minutes.moments().items():
        dice = [row.faces for row in shown[f"five-minutes-{name}.png"] if any(row.faces)]
        assert dice == [step.event.faces for step in steps if step.event.faces]
