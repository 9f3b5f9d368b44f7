"""Shared positions, puzzles from mistakes and the practice page, in a real browser."""

import re
from collections.abc import Iterator

import pytest
from playwright.sync_api import BrowserContext, Page, expect

from tests.web.accessibility import assert_accessible
from tests.web.browser import BROWSER_TESTS, OpenPage, served
from tests.web.contrast import low_contrast
from tests.web.playing import choose, play_to_the_end, press, resize, start

pytestmark = BROWSER_TESTS


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    """Serve the page without the history of other tests."""
    with served() as found:
        yield found


def check(page: Page) -> None:
    assert_accessible(page)
    assert low_contrast(page) == []


def puzzle_count(page: Page) -> int:
    words = page.locator(".puzzles h2", has_text="Puzzle").inner_text()
    found = re.fullmatch(r"Puzzle \d+ of (\d+)", words)
    assert found is not None, words
    return int(found[1])


def choose_in_puzzle(page: Page, words: str) -> None:
    page.locator(".puzzles button.choice").filter(has_text=re.compile(words, re.I)).first.click()


def test_mistakes_become_puzzles_here_and_on_the_practice_page(
    open_page: OpenPage, address: str
) -> None:
    page = open_page("phone")
    start(page, scenario="archmage-duel")
    play_to_the_end(page)
    expect(page.get_by_text("Your error rating:")).to_contain_text("points per decision (exact, ")
    page.get_by_text("This game as one line of text").click()
    expect(page.locator(".shared-text")).to_contain_text("archmage-duel.")
    check(page)
    page.reload()  # the review again, but it is the same game
    press(page, "Learn from your mistakes")
    first = page.locator('.puzzles button.choice:not([data-choice="0"])').first
    result = page.locator("[aria-live]:visible")
    expect(first).to_be_focused()
    count = puzzle_count(page)
    assert count > 1
    task = page.get_by_text("In the game you chose").inner_text()
    choose_in_puzzle(page, re.findall('"(.*?)"', task)[0])
    expect(result).to_have_text("This is the choice in the game.")
    press(page, "Hint")
    expect(result).to_contain_text("Hint 1: ")
    check(page)
    press(page, "Show the solution")
    expect(page.get_by_role("button", name="Next puzzle")).to_be_focused()
    expect(result.locator("tr.best .tag.best")).to_have_text("right")
    best = re.findall('"(.*?)"', result.inner_text())[0]
    check(page)
    page.keyboard.press("Enter")
    expect(page.locator(".puzzles h2", has_text="Puzzle 2")).to_be_visible()
    expect(first).to_be_focused()
    page.get_by_role("button", name="Stop", exact=True).click()
    page.locator(".wfb-review[data-ready]").wait_for()
    page.goto(address)
    page.get_by_role("link", name="Practice: puzzles from your mistakes").click()
    assert puzzle_count(page) == count
    expect(page.get_by_text("against veteran. You are the caster.")).to_be_visible()
    ratings = page.locator(".ratings")
    expect(ratings.last.locator("tbody tr")).to_have_count(1)  # a game that was reviewed twice
    check(page)
    resize(page, "desk")
    choose_in_puzzle(page, best)
    expect(result).to_contain_text("Right: no choice is better.")
    page.reload()
    title = page.locator(".puzzles h2", has_text="Puzzle 1")
    expect(title).to_have_text(f"Puzzle 1 of {count - 1}")
    for _ in range(count - 1):
        press(page, "Show the solution")
        page.get_by_role("button", name=re.compile("Next puzzle|Finish")).click()
    expect(page.get_by_role("status")).to_contain_text(f"{count - 1} skipped.")
    expect(page.get_by_role("button", name="Back")).to_be_focused()
    check(page)
    press(page, "Back")
    expect(page).to_have_url(address)


def kept_games(page: Page, address: str) -> int:
    page.goto(f"{address}practice")
    page.get_by_role("heading", name="Error rating").wait_for()
    return page.locator(".ratings").last.locator("tbody tr").count()


def test_puzzles_in_a_paused_game_lead_back_to_it(open_page: OpenPage, address: str) -> None:
    page = open_page()
    start(page, scenario="archmage-duel")
    choose(page, page.locator("button.choice").count() - 1)
    choose(page, page.locator("button.choice").count() - 1)
    log = page.locator(".log").inner_text()
    press(page, "Review")
    press(page, "Learn from your mistakes")
    expect(page.locator("h1").first).to_have_text("Practice: archmage-duel")
    page.get_by_role("button", name="Stop", exact=True).click()
    expect(page.locator(".log")).to_have_text(log, use_inner_text=True)
    expect(page.locator(".puzzles")).to_have_count(0)
    play_to_the_end(page)
    game = page.url
    kept = kept_games(page, address)
    page.goto(game)
    press(page, "Take back the last decision")
    page.locator("button.choice").first.wait_for()
    choose(page, 0)  # another end of the same game
    play_to_the_end(page)
    assert kept_games(page, address) == kept


@pytest.mark.slow
def test_a_shared_position_is_played_without_its_hidden_items(
    open_page: OpenPage, context: BrowserContext
) -> None:
    page = open_page("phone")
    start(page, scenario="hidden-scroll")
    choose(page, 1)
    press(page, "Share")
    dialog = page.get_by_role("dialog", name="Share this position")
    text = dialog.locator(".shared-text").inner_text()
    page.wait_for_timeout(500)  # transitions
    check(page)
    armies = page.locator(".armies").inner_text()
    with context.expect_page() as opened:
        page.get_by_role("link", name="Open it in a new game").click()
    page.keyboard.press("Escape")
    copy = opened.value
    resize(copy, "phone")
    expect(copy.get_by_label("Position id")).to_have_value(text)
    expect(copy.get_by_text("hidden-scroll, phase 1, the caster is to move.")).to_be_visible()
    check(copy)
    start(copy, seat="")
    expect(copy.locator(".armies")).to_have_text(armies, use_inner_text=True)
    expect(copy.locator(".armies .army").last).to_contain_text("May have")
    expect(copy.get_by_role("button", name="Transcript")).to_be_disabled()
    while copy.locator("button.choice").count():
        choose(copy, 0)
    copy.reload()
    expect(copy.get_by_role("button", name="Share")).to_be_disabled()
    expect(copy.get_by_role("button", name="Review")).to_be_disabled()
    assert copy.locator(".wfb-review").count() == 0
    check(copy)
    copy.close()


def test_a_mistyped_position_has_one_message(open_page: OpenPage, address: str) -> None:
    page = open_page("phone", f"{address}?position=p1.archmage-duel.A2DtDoqYNkG")
    error = page.get_by_role("alert")
    expect(error).to_contain_text("position id")
    press(page, "Play")
    expect(page.get_by_role("button", name="Play")).to_be_enabled()
    expect(error).to_have_count(1)
    check(page)
    page.get_by_label("Position id").fill("p1.archmage-duel.A2DtDoqYNkF")
    expect(error).to_have_count(0)
    expect(page.get_by_text("archmage-duel, phase 1, the caster is to move.")).to_be_visible()
