"""Keyboard, screen reader and narrow windows, in a real browser."""

import pytest
from playwright.sync_api import expect

from tests.web.accessibility import assert_accessible, barriers
from tests.web.browser import BROWSER_TESTS, OpenPage
from tests.web.layout import assert_phone
from tests.web.playing import choose, press, start

pytestmark = BROWSER_TESTS


def test_barriers_are_found(open_page: OpenPage) -> None:
    page = open_page("desk", "about:blank")
    page.set_content("<h1>One</h1><h3>Three</h3><input><button></button><p id=a></p><p id=a>.</p>")
    page.set_content(page.content())
    words = " ".join(barriers(page))
    for each in ("language", "0 main", "skips a level", "<input>", "<button>"):
        assert each in words


def test_every_page_has_names_headings_and_landmarks(open_page: OpenPage) -> None:
    page = open_page("phone")
    page.get_by_role("button", name="Play", exact=True).wait_for()
    for kind in ("Bundled", "Army list", "Army builder", "Own file", "Wizards", "Position"):
        page.get_by_text(kind, exact=True).click()
        assert_accessible(page)
    page.get_by_text("Bundled", exact=True).click()
    start(page, scenario="border-skirmish")
    press(page, "Odds")
    press(page, "Advice")
    page.locator(".advice").wait_for()
    assert_accessible(page)
    choose(page, 1)
    page.locator(".map .legal").first.wait_for()
    assert_accessible(page)
    press(page, "Review")
    page.locator(".wfb-review[data-ready]").wait_for()
    assert_accessible(page)


def test_a_duel_is_played_with_the_keyboard_only(open_page: OpenPage) -> None:
    page = open_page()
    page.get_by_role("button", name="Play", exact=True).wait_for()
    page.keyboard.press("Tab")
    reached = []
    for _ in range(40):
        reached.append(page.evaluate("document.activeElement.textContent.trim()"))
        if reached[-1] == "Play":
            break
        page.keyboard.press("Tab")
    assert reached[-1] == "Play"
    page.keyboard.press("Enter")
    page.locator("button.choice").first.wait_for()
    for _ in range(30):
        page.wait_for_function(
            "document.querySelector('.wfb-review') || (document.activeElement.dataset.choice && "
            "!document.querySelector('.choices.waiting'))"
        )
        if page.locator(".wfb-review").count():
            break
        log = page.locator(".log").inner_text()
        page.keyboard.press("Enter")  # the first choice
        page.wait_for_function(
            "log => document.querySelector('.wfb-review') "
            "|| document.querySelector('.log').innerText !== log",
            arg=log,
        )
    expect(page.locator(".wfb-review[data-ready]")).to_be_visible()


@pytest.mark.parametrize(
    "scenario",
    ["the-winds-unbound", pytest.param("dawn-at-grimmwald", marks=pytest.mark.slow)],
)
def test_a_large_map_fits_on_a_phone(open_page: OpenPage, scenario: str) -> None:
    page = open_page("phone")
    start(page, scenario=scenario)
    press(page, "Evaluation: on")
    page.locator(".map .battlefield").wait_for()
    assert_phone(page)
