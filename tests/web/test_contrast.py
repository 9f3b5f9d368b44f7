"""Contrast and the meaning of green, in a real browser, in light and dark mode."""

from typing import Literal

import pytest
from playwright.sync_api import expect

from tests.web.browser import BROWSER_TESTS, OpenPage
from tests.web.contrast import low_contrast
from tests.web.playing import choose, press, start

pytestmark = BROWSER_TESTS


def test_low_contrast_is_found(open_page: OpenPage) -> None:
    page = open_page("desk", "about:blank")
    page.set_content(
        "<p style='color: #777'>fine</p><p style='color: #767676'>fine</p>"
        "<div style='background: #000'><p style='color: #555'>low</p></div>"
        "<p style='opacity: .5'>faint</p>"
        "<svg width=90 height=90><rect width=90 height=90 fill='#123'/>"
        "<text y=45 fill='#234'>hidden</text></svg>"
    )
    found = [each.split('"')[1] for each in low_contrast(page, 4.4)]
    assert sorted(found) == ["faint", "hidden", "low"]


@pytest.mark.parametrize(
    ("size", "scheme"),
    [
        ("desk", "light"),
        ("phone", "dark"),
        pytest.param("desk", "dark", marks=pytest.mark.slow),
        pytest.param("phone", "light", marks=pytest.mark.slow),
    ],
)
def test_all_text_has_enough_contrast(
    open_page: OpenPage, size: str, scheme: Literal["light", "dark"]
) -> None:
    page = open_page(size)
    page.emulate_media(color_scheme=scheme)
    page.get_by_role("button", name="Play", exact=True).wait_for()
    assert low_contrast(page) == []
    start(page, scenario="border-skirmish")
    press(page, "Odds")
    page.locator(".ranges button").first.click()
    page.locator(".map path.range").first.wait_for()
    assert low_contrast(page) == []
    choose(page, 1)
    page.locator(".map .legal").first.wait_for()
    choose(page, 0)
    choose(page, 2)
    press(page, "Advice")
    page.locator(".advice").wait_for()
    page.locator(".spells .spent").first.wait_for()
    page.mouse.move(0, 0)
    page.wait_for_timeout(300)  # transitions
    assert low_contrast(page) == []
    press(page, "Review")
    page.locator(".wfb-review[data-ready]").wait_for()
    for _ in range(3):
        page.get_by_label("one on").click()
        assert low_contrast(page) == []


def test_green_marks_only_the_best_choice(open_page: OpenPage) -> None:
    page = open_page()
    start(page, scenario="apprentice")
    green = """() => [...document.querySelectorAll('main *')].filter((each) => {
      const style = getComputedStyle(each);
      const good = [[23, 105, 74], [220, 239, 226]].map((rgb) => `rgb(${rgb.join(', ')})`);
      return [style.color, style.backgroundColor, style.borderLeftColor, style.fill, style.stroke]
        .some((colour) => good.includes(colour));
    }).map((each) => each.className)"""
    assert page.evaluate(green) == []
    press(page, "Advice")
    best = page.locator("button.choice.best")
    best.wait_for()
    assert set(page.evaluate(green)) <= {"choice best", "tag best"}
    expect(best.locator(".tag")).to_contain_text("best")  # not by colour only
