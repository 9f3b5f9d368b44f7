"""The start page in a real browser: cards, remembered choices, own armies."""

import re

from playwright.sync_api import Locator, Page, expect

from tests.web.browser import BROWSER_TESTS, OpenPage
from tests.web.layout import assert_phone
from tests.web.playing import choose_scenario, press, start
from wfb_gym.scenario import bundled_scenarios, hidden_scenarios

pytestmark = BROWSER_TESTS


def test_every_bundled_scenario_has_a_card_and_can_be_found(open_page: OpenPage) -> None:
    page = open_page("phone")
    cards = page.locator("label.scenario")
    cards.first.wait_for()
    names = page.locator("label.scenario b").all_inner_texts()
    assert sorted(names) == sorted([*bundled_scenarios(), *hidden_scenarios()])
    card = cards.filter(has_text="border-skirmish")
    facts = ["6 phases", "1 against 1 wizard", "4 against 4 units"]
    expect(card.locator(".facts .tag")).to_have_text(facts)
    expect(card.locator("svg.battlefield")).to_be_visible()
    titles = page.locator("h3:visible").all_inner_texts()
    assert titles[:2] == ["Duels of wizards 8", "Battles on a battlefield 12"]
    assert_phone(page)
    find = page.get_by_label("Find a scenario")
    find.fill("chaos 6 phases")
    expect(card).to_be_visible()
    expect(cards.filter(has_text="archmage-duel")).to_be_hidden()
    find.fill("no such words")
    expect(page.get_by_text("No scenario has these words.")).to_be_visible()
    find.fill("")
    page.get_by_role("radio", name="archmage-duel").focus()
    page.keyboard.press("ArrowDown")
    expect(page.locator(".chosen")).to_contain_text("dwarf-hold, you are the caster")


def test_the_last_choices_are_remembered(open_page: OpenPage) -> None:
    page = open_page()
    start(page, scenario="apprentice", seat="dispeller", opponent="greedy")
    press(page, "New game")
    chosen = "apprentice, you are the dispeller, against greedy"
    expect(page.locator(".chosen")).to_have_text(chosen)
    expect(page.get_by_role("radio", name="apprentice")).to_be_checked()
    other = open_page()  # another tab of the same browser, later
    expect(other.locator(".chosen")).to_have_text(chosen)
    choose_scenario(other, "grand-conclave")
    expect(other.locator(".chosen")).to_contain_text("grand-conclave")
    other.evaluate("""localStorage.setItem("wfb-setup", '{"kind": 3, "seat": ["x"]}')""")
    other.reload()
    expect(other.locator(".chosen")).to_contain_text("archmage-duel")


def pick(page: Page, field: Locator, *names: str) -> None:
    field.click()
    for name in names:
        page.get_by_role("option", name=name, exact=True).click()
    page.keyboard.press("Escape")


def test_two_armies_are_built_and_played(open_page: OpenPage) -> None:
    page = open_page("phone")
    page.get_by_text("Army builder").click()
    expect(page.locator(".built")).to_have_count(2)
    own, enemy = page.locator(".built").all()
    assert_phone(page)
    pick(page, enemy.get_by_role("combobox", name="Army list"), "Dwarfs")
    expect(enemy.get_by_role("combobox", name="Wizard")).to_have_value("Runesmith")
    pick(page, own.get_by_role("combobox", name="Lore"), "Death")
    spells = own.get_by_role("combobox", name="Spells")
    pick(page, spells, "Steal Soul", "Wind of Death")
    pick(page, own.get_by_role("combobox", name="Items"), "Power Stone")
    own.get_by_label("Models").first.fill("17")
    press(page, "Add a wizard")
    page.get_by_role("button", name="remove Battle Wizard").last.click()
    own.get_by_role("button", name="Add a unit").click()
    page.get_by_text("Scenario file of these armies").locator("visible=true").click()
    text = page.get_by_label("Scenario file, edited or pasted")
    for each in ("Steal Soul", "Wind of Death", "Power Stone", "models = 17", "[[caster.units]]"):
        expect(text).to_have_value(re.compile(re.escape(each)))
    assert_phone(page)
    text.fill(text.input_value().replace('name = "your-armies"', 'name = "edited"'))
    start(page)
    expect(page.locator("h1").first).to_have_text("edited")
    expect(page.locator(".armies")).to_contain_text("Wind of Death")
    expect(page.locator(".armies")).to_contain_text("17/17")
    expect(page.locator(".map .battlefield")).to_be_visible()
