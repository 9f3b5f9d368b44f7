"""Take the screenshots of docs/web.md and docs/advise.md again: ``python -m tests.web``."""

from pathlib import Path
from tempfile import TemporaryDirectory

from playwright.sync_api import Page, sync_playwright

from tests.support.pages import ROOT
from tests.web.browser import CHROMIUM, SIZES, served
from tests.web.playing import choose, play_to_the_end, start
from wfb_gym.cli import main

IMAGES = ROOT / "docs" / "images"


def _shoot(page: Page, size: str) -> None:
    """Take pictures: the start page, a choice with advice, then a decision of the review."""
    page.locator("label.scenario").first.wait_for()
    if size == "desk":
        _save(page, "web-start.png")
    start(page, scenario="border-skirmish")
    choose(page, 1)
    if size == "phone":
        choose(page, 0)  # the next decision of the same battle
    page.get_by_role("button", name="Advice").click()
    page.locator("button.choice.best").wait_for()
    page.locator(".evaluation", has_text="to come").wait_for()
    page.evaluate("window.scrollTo(0, 0)")
    _save(page, f"web-{size}.png")
    if size == "desk":
        choose(page, 0)
    play_to_the_end(page)
    page.locator(".wfb-review .worst a").first.click()
    if size == "desk":
        page.evaluate("window.scrollTo(0, 0)")
    _save(page, f"web-review{'-phone' if size == 'phone' else ''}.png")


def _save(page: Page, name: str) -> None:
    page.mouse.move(0, 0)  # otherwise a button looks selected
    page.wait_for_timeout(300)  # transitions
    page.screenshot(path=IMAGES / name)
    print(Path("docs") / "images" / name)


def _shoot_sheet(page: Page, folder: Path) -> None:
    sheet = folder / "odds.html"
    main(["odds", "border-skirmish", "--html", str(sheet)])
    page.goto(sheet.as_uri())
    _save(page, "odds-sheet.png")


if __name__ == "__main__":
    with served() as address, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        for size, (width, height) in SIZES.items():
            page = browser.new_page(viewport={"width": width, "height": height})
            page.set_default_timeout(180_000)
            page.goto(address)
            _shoot(page, size)
        page = browser.new_page(viewport={"width": 1000, "height": 1250})
        with TemporaryDirectory() as folder:
            _shoot_sheet(page, Path(folder))
        browser.close()
