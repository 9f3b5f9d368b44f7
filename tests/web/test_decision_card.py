"""The decision card in a real browser: last events, texts, points, keys and focus."""

import pytest
from playwright.sync_api import expect

from tests.web.browser import BROWSER_TESTS, OpenPage
from tests.web.playing import choose, press, start

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
    parts = (page.locator(part).first for part in (".recent", ".question", ".log", ".armies"))
    tops = [each.bounding_box()["y"] for each in parts]  # type: ignore[index]
    assert tops == sorted(tops)


def test_choices_and_the_spell_at_stake_have_text_and_points(open_page: OpenPage) -> None:
    page = open_page("phone")
    start(page, scenario="border-skirmish")
    spells = page.locator("button.choice:has(small)")
    assert spells.locator(".points").all_inner_texts() == ["19.2 pts", "38.5 pts"]
    text = 'Enemy unit; magic missile; 24": D6 hits S4, flaming.'
    expect(spells.first.locator("small")).to_have_text(text)
    choose(page, 1)
    targets = page.locator("button.choice .points").all_inner_texts()
    assert len(targets) == page.locator("button.choice").count() == 3
    expect(page.locator(".pending-spell")).to_have_text(text)  # its points depend on the target
    choose(page, 0)
    stake = f"{targets[0].removesuffix(' pts')} points at stake."
    expect(page.locator(".pending-spell")).to_contain_text(stake)
    assert page.locator("button.choice .points").count() == page.locator("button.choice").count()
    other = open_page()
    start(other, seat="dispeller", scenario="border-skirmish")
    expect(other.locator(".pending-spell")).to_contain_text("points at stake. Enemy unit; magic")


def test_keys_choose_and_the_focus_is_on_the_first_choice(open_page: OpenPage) -> None:
    page = open_page()
    assert page.locator("html").get_attribute("lang") == "en"
    expect(page).to_have_title("New game - wfb_gym")
    seed = page.get_by_label("Seed of the dice")
    seed.press("a")  # a letter in a field is text
    expect(seed).to_have_value("a")
    start(page)
    focused = "document.activeElement.closest('button')?.dataset.choice ?? ''"
    # Not passing, which would end the phase.
    first = page.locator("button.choice").nth(1).get_attribute("data-choice")
    page.wait_for_function(f"{focused} === '{first}'")
    expect(page).to_have_title("What will you cast? (phase 1 of 1) archmage-duel")
    texts = page.locator("button.choice .text").all_inner_texts()
    toggle = page.get_by_role("button", name="Advice")
    page.keyboard.press("Tab")
    second = page.evaluate(focused)
    page.keyboard.press("a")
    page.locator("button.choice.best").wait_for()
    assert toggle.get_attribute("aria-pressed") == "true"
    page.wait_for_function(f"{focused} === '{second}'")  # not lost
    page.keyboard.press("o")
    page.locator(".odds").first.wait_for()
    page.keyboard.press("2")
    expect(page.locator(".question")).to_have_text("On how many dice?")
    page.wait_for_function(f"{focused} === document.querySelector('.choice').dataset.choice")
    page.keyboard.press("u")
    expect(page.locator(".question")).to_have_text("What will you cast?")
    assert page.locator("button.choice .text").all_inner_texts() == texts
    page.wait_for_function(f"{focused} === '{first}'")
    press(page, "Keys: on")
    page.keyboard.press("2")
    page.wait_for_timeout(500)
    expect(page.locator(".question")).to_have_text("What will you cast?")
    press(page, "Keys: off")


@pytest.mark.slow
def test_the_evaluation_bar_follows_the_game_and_can_be_switched_off(open_page: OpenPage) -> None:
    page = open_page("phone")
    start(page)
    bar = page.locator(".evaluation")
    expect(bar).to_have_text("+9.7 points to come for you: exact")
    choose(page, 1)
    expect(bar).to_have_text("+9.4 points to come for you: exact")
    page.keyboard.press("e")
    expect(bar).to_have_count(0)
    page.reload()
    expect(page.get_by_role("button", name="Evaluation: off")).to_be_visible()
    assert bar.count() == 0
    page.keyboard.press("e")
    expect(bar).to_have_text("+9.4 points to come for you: exact")
    other = open_page()
    start(other, seat="dispeller")
    own = other.locator(".evaluation .balance i")
    expect(other.locator(".evaluation")).to_contain_text("to come for you: exact")
    width = "each => each.offsetWidth / each.parentElement.offsetWidth"
    assert 0 < own.evaluate(width) < 0.5 < page.locator(".balance i").evaluate(width) < 1
