"""The served page and a browser, for tests of the page."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest

from tests.web.browser import CHROMIUM, WAIT, OpenPage, served

if TYPE_CHECKING:
    from playwright.sync_api import Browser, BrowserContext, Page


@pytest.fixture(scope="session")
def address() -> Iterator[str]:
    with served() as found:
        yield found


@pytest.fixture(scope="module")
def browser() -> Iterator["Browser"]:
    from playwright.sync_api import expect, sync_playwright

    expect.set_options(timeout=WAIT)
    with sync_playwright() as playwright:
        started = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield started
        started.close()


@pytest.fixture(scope="module")
def context(browser: "Browser") -> Iterator["BrowserContext"]:
    with browser.new_context() as shared:  # one context per page would cost much more time
        shared.set_default_timeout(WAIT)
        yield shared


@pytest.fixture(scope="module")
def tabs(context: "BrowserContext") -> list["Page"]:
    """Empty tabs; a new tab would compile the scripts of the page again."""
    return []


@pytest.fixture
def open_page(context: "BrowserContext", tabs: list["Page"], address: str) -> Iterator[OpenPage]:
    """Open pages in one browser, each in its own tab; no script may have failed in the end."""
    from tests.web.playing import resize

    errors: list[str] = []
    pages = []

    def opened(size: str = "desk", url: str = address) -> "Page":
        page = tabs.pop() if tabs else context.new_page()
        pages.append(page)
        resize(page, size)
        page.on("pageerror", lambda error: errors.append(str(error)))
        page.goto(url)
        return page

    yield opened
    for page in pages:  # without the choices of this test
        page.evaluate("() => { try { localStorage.clear(); sessionStorage.clear(); } catch {} }")
        page.emulate_media(color_scheme="light")
        page.goto("about:blank")
    tabs.extend(pages)
    assert errors == []
