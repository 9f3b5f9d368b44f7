"""The decision card in a real browser: the last events, and where they are."""

from tests.web.browser import BROWSER_TESTS, OpenPage
from tests.web.playing import choose, start

pytestmark = BROWSER_TESTS


def test_the_last_rolls_are_above_the_decision_and_announced(open_page: OpenPage) -> None:
    page = open_page("phone")
    start(page)
    recent = page.get_by_role("status", name="Last events")
    assert recent.get_attribute("aria-live") == "polite"
    choose(page, 1)
    choose(page, 1)  # two dice: a roll and an answer
    events = recent.locator(".event")
    newest = page.locator(".log .event").first.inner_text()
    assert events.last.inner_text() == newest
    assert recent.locator(".thrown .die").count() > 0
    assert "throws 2 dice" in events.first.inner_text()
    tops = [
        page.locator(part).first.bounding_box()["y"]  # type: ignore[index]
        for part in (".recent", ".question", ".log", ".armies")
    ]
    assert tops == sorted(tops)
