"""Army lists in a real browser: pasted or uploaded, corrected, and played."""

from pathlib import Path

from playwright.sync_api import Page, expect

from tests.support.pages import ROOT
from tests.web.accessibility import assert_accessible
from tests.web.browser import BROWSER_TESTS, OpenPage
from tests.web.contrast import low_contrast
from tests.web.playing import press, start

pytestmark = BROWSER_TESTS
DATA = ROOT / "tests" / "rosters" / "data"
LIST = """Empire 2000 pts
1 Battle Wizard Lord, level 4, Lore of Fire, Dispel Scroll, Orb of Thunnder, 260 pts
1 Captain, lance, warhorse, 72 pts
25 Swordsmen, full command, 200 pts
"""
HOSTILE = b'<!DOCTYPE roster [<!ENTITY a "aaaa">]><roster name="&a;"/>'


def open_lists(open_page: OpenPage, size: str) -> Page:
    page = open_page(size)
    page.get_by_text("Army list", exact=True).click()
    return page


def upload(page: Page, side: int, file: Path | tuple[str, bytes]) -> None:
    if isinstance(file, tuple):
        file_name, content = file
        value = {"name": file_name, "mimeType": "text/plain", "buffer": content}
    field = page.locator(".list input[type=file]").nth(side)
    field.set_input_files(file if isinstance(file, Path) else value)  # type: ignore[arg-type]


def test_a_pasted_list_is_read_corrected_and_played_on_a_phone(open_page: OpenPage) -> None:
    page = open_lists(open_page, "phone")
    press(page, "Play")
    expect(page.locator(".error")).to_have_text("Your army list: expected a list, found none")
    page.get_by_label("Your army list").fill(LIST)
    expect(page.locator(".error")).to_have_count(0)
    press(page, "Read the list")
    report = page.get_by_role("status").filter(has_text="is the caster, against a typical army")
    expect(report).to_contain_text("Orb of Thunnder")  # not understood, and not dropped
    page.get_by_text("Ignored, as it does not matter to magic").click()
    expect(report).to_contain_text("Captain")
    page.get_by_text("Mapped:").click()
    page.get_by_text("Scenario file of these armies (TOML)").locator("visible=true").click()
    assert_accessible(page)
    assert low_contrast(page) == []
    text = page.get_by_label("Scenario file, edited", exact=True)
    text.fill(text.input_value().replace('name = "empire-2000-pts"', 'name = "edited"'))
    start(page, seat="", opponent="random")
    expect(page.locator("h1").first).to_have_text("edited")
    expect(page.locator(".armies")).to_contain_text("Battle Wizard Lord")


def test_files_of_list_builders_are_uploaded(open_page: OpenPage) -> None:
    page = open_lists(open_page, "desk")
    error, own = page.locator(".error"), page.get_by_label("Your army list")
    for name, content, message in (
        ("evil.ros", HOSTILE, "document type"),
        ("broken.rosz", b"PK\x03\x04", "broken.rosz: "),
        ("large.txt", b"x" * (3 << 20), "expected at most 2,097,152 bytes"),
    ):
        upload(page, 0, (name, content))
        expect(error).to_contain_text(message)
    upload(page, 0, DATA / "empire-averland.rosz")
    expect(error).to_have_count(0)
    expect(own).to_have_value("(file empire-averland.rosz)")
    expect(page.locator(".chosen")).to_contain_text("you are the caster")
    upload(page, 0, DATA / "dwarfs-slayers.json")  # an army without wizards
    expect(page.locator(".chosen")).to_contain_text("you are the dispeller")
    upload(page, 1, DATA / "vampire-counts-sylvania.ros")
    expect(page.get_by_role("heading", name="The enemy's list")).to_be_visible()
    start(page, seat="", opponent="random")
    expect(page.locator(".armies .army").first).to_contain_text("Slayer keep")
