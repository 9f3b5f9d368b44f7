"""Play on the page by clicks, for its tests and its pictures."""

import contextlib

from playwright.sync_api import Error, Page

from tests.web.browser import SIZES


def start(
    page: Page, *, seat: str = "caster", scenario: str = "", opponent: str = "", wait: bool = True
) -> None:
    if scenario:
        choose_scenario(page, scenario)
    choose_options(page, {"Your seat": seat, "Opponent": opponent})
    page.get_by_label("Seed of the dice").fill("3")
    page.get_by_role("button", name="Play").click()
    if wait:
        page.locator("button.choice").first.wait_for()


def choose_options(page: Page, options: dict[str, str]) -> None:
    """Choose options by the labels of their fields; an empty one is left as it is."""
    for label, name in options.items():
        if name:
            page.get_by_role("combobox", name=label, exact=True).click()
            page.get_by_role("option", name=name, exact=True).click()


def choose_scenario(page: Page, name: str) -> None:
    radio = page.get_by_role("radio", name=name, exact=True)
    radio.wait_for()  # `force` does not wait for a slow layout
    radio.check(force=True)


def choose(page: Page, number: int) -> None:
    """Click a choice, and wait for the next display."""
    before = page.locator(".log").inner_text()
    changed = "before => document.querySelector('.log')?.innerText !== before"
    for _ in range(5):  # a click on an element that is being drawn again is lost
        page.locator("button.choice").nth(number).click()
        with contextlib.suppress(Error):
            page.wait_for_function(changed, arg=before, timeout=30_000)
            break
    page.wait_for_function("!document.querySelector('.choices.waiting')")


def play_to_the_end(page: Page) -> None:
    for _ in range(40):
        page.locator("button.choice, .wfb-review[data-ready]").first.wait_for()
        if page.locator(".wfb-review").count():
            return
        choose(page, page.locator("button.choice").count() - 1)
    raise AssertionError("the battle does not end")


def press(page: Page, name: str) -> None:
    page.get_by_role("button", name=name).click()


def resize(page: Page, size: str) -> None:
    width, height = SIZES[size]
    page.set_viewport_size({"width": width, "height": height})
