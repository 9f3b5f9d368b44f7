"""The page in a real browser: played by clicks in either seat, on a phone and on a desktop."""

import itertools
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.support.pages import ROOT
from tests.web import playing
from tests.web.browser import BROWSER_TESTS, OpenPage
from tests.web.layout import assert_fits, assert_phone
from tests.web.playing import choose, play_to_the_end, press, resize, start
from wfb_gym.cli import main
from wfb_gym.transcripts import read, record, replay, write

pytestmark = BROWSER_TESTS
EVIL = """
name = "evil"
[caster]
name = "<script>document.title = 'broken in'</script>"
[[caster.wizards]]
name = "<b id='mage'>Mage</b>"
level = 2
spells = [{ name = "<img src=x onerror=alert(1)>", casting_value = 5, worth = 10.0 }]
[dispeller]
dispel_dice = 1
"""
FIELD = """
name = "field"
battlefield = { width = 72.0, depth = 48.0 }
[caster]
power_dice = 3
wizards = [
  { name = "Mage", level = 2, position = [36.0, 20.0], facing = 0.0, spells = ["Fire Ball"] },
]
[dispeller]
dispel_dice = 2
units = [
  { name = "Boyz", models = 20, toughness = 4, frontage = 5, position = [30.0, 38.0], points = 5 },
  { name = "Wolves", models = 5, toughness = 3, frontage = 5, position = [42.0, 35.0], points = 9 },
]
"""


def own_file(page: Page, text: str) -> None:
    page.get_by_text("Own file").click()
    page.get_by_label("A scenario file").fill(text)


def download(page: Page, button: str, file: Path) -> str:
    """Save a file; returns its suggested name."""
    with page.expect_download() as found:
        press(page, button)
    found.value.save_as(file)
    return found.value.suggested_filename


@pytest.mark.slow
def test_a_reload_waits_for_the_game_that_is_set_up(open_page: OpenPage) -> None:
    page = open_page()
    start(page, scenario="grand-conclave", opponent="optimal", wait=False)  # it is solved first
    page.get_by_text("Setting up the table").wait_for()
    page.reload()
    page.get_by_text("Setting up the table").wait_for()
    page.locator("button.choice").first.wait_for()
    expect(page.get_by_role("heading", name="grand-conclave")).to_be_visible()


@pytest.mark.parametrize("seat", ["caster", "dispeller"])
def test_a_phase_is_played_by_clicks(open_page: OpenPage, tmp_path: Path, seat: str) -> None:
    page = open_page("phone")
    start(page, seat=seat)
    expect(page.locator(".army .pool .die").first).to_be_visible()
    expect(page.locator(".spells li").first).to_contain_text("20 pts")
    toggle = page.get_by_role("button", name="Advice")
    assert (toggle.inner_text(), toggle.get_attribute("aria-pressed")) == ("Advice: off", "false")
    toggle.click()
    expect(page.locator(".advice")).to_contain_text("Points still to come for you: exact.")
    expect(page.locator("button.choice.best .worth")).to_have_count(1)
    assert (toggle.inner_text(), toggle.get_attribute("aria-pressed")) == ("Advice: on", "true")
    if seat == "caster":
        expect(page.locator("button.choice.best .tag")).to_have_text("best: 3 dice")
    worths = page.locator("button.choice .worth").all_inner_texts()
    assert len(worths) == page.locator("button.choice").count()
    press(page, "Odds")
    heading = "Irresistible" if seat == "caster" else "Points saved"
    expect(page.locator(".odds th", has_text=heading).first).to_be_visible()
    assert_phone(page)
    resize(page, "desk")
    assert_fits(page)
    position = page.locator(".armies").inner_text()
    choose(page, 1)
    assert page.locator(".armies").inner_text() != position
    press(page, "Undo")
    page.wait_for_function(
        "before => document.querySelector('.armies').innerText === before", arg=position
    )
    play_to_the_end(page)
    expect(page.locator(".wfb-review .worst")).to_be_visible()
    assert_fits(page)
    assert_phone(page)
    download(page, "Download the transcript", tmp_path / "battle.jsonl")
    battle = read(tmp_path / "battle.jsonl")
    assert battle.over
    assert battle.players[("caster", "dispeller").index(seat)] == "you"
    assert replay(battle)[1] == list(battle.events)
    assert download(page, "Download this review", tmp_path / "review") == "archmage-duel.html"
    press(page, "Take back the last decision")
    page.locator("button.choice").first.wait_for()


def test_a_large_battle_fits_on_a_phone_and_is_reviewed_once(open_page: OpenPage) -> None:
    page = open_page("phone")
    start(page, scenario="border-skirmish")
    page.locator(".ranges button").first.click()
    page.locator(".map path.range").first.wait_for()
    assert_phone(page)
    choose(page, 1)
    assert_phone(page)
    choose(page, 0)
    press(page, "Advice: off")
    expect(page.locator("button.choice.best .worth")).to_have_count(1)
    edges = page.locator("button.choice .worth").evaluate_all(
        "all => all.map(each => Math.round(each.getBoundingClientRect().right))"
    )
    assert len(edges) == 3
    assert len(set(edges)) == 1
    page.get_by_role("button", name="Review", exact=True).dblclick()
    page.locator(".wfb-review[data-ready]").first.wait_for()
    page.wait_for_timeout(2000)  # time enough for a second one
    expect(page.locator(".wfb-review")).to_have_count(1)


def test_bad_input_is_answered_and_names_are_text(open_page: OpenPage) -> None:
    page = open_page()
    error, box = page.locator(".error"), page.get_by_label("A scenario file")
    for text, message in (
        ("name = 3 3", "expected"),
        ('name = "duel"\nphases = 99', "phases"),
        ("", "expected"),
    ):
        own_file(page, text)
        press(page, "Play")
        expect(error).to_contain_text(message)
    page.get_by_text("Bundled").click()
    expect(error).to_have_count(0)
    page.get_by_text("Own file").click()
    expect(page.get_by_text("or a file (.toml)")).to_be_visible()
    expect(page.get_by_text("0.0B / 0.00%").locator("visible=true")).to_have_count(0)
    upload = page.locator(".q-uploader", has_text=".toml").locator("input[type=file]")
    latin = {"name": "a.toml", "mimeType": "text/plain", "buffer": "name = 'é'".encode("latin-1")}
    for _ in range(2):  # the same file, chosen again
        upload.set_input_files(latin)  # type: ignore[arg-type]
        expect(error).to_contain_text("another encoding: save it as UTF-8")
        box.fill(" ")
        expect(error).to_have_count(0)
        box.fill("")
    file = {"name": "evil.toml", "mimeType": "text/plain", "buffer": EVIL.encode()}
    upload.set_input_files(file)  # type: ignore[arg-type]
    expect(box).to_have_value(EVIL)
    opponent = page.get_by_role("combobox", name="Opponent", exact=True)
    opponent.click()
    opponent.fill("../../secret.zip")
    opponent.press("Enter")
    press(page, "Play")
    expect(error).to_contain_text("opponent: expected one of random")
    start(page, opponent="veteran")
    expect(page.locator(".armies")).to_contain_text("<b id='mage'>Mage</b>")
    expect(page.locator(".armies")).to_contain_text("<script>")
    assert page.locator("#mage").count() == 0
    play_to_the_end(page)
    expect(page.locator(".wfb-review .armies")).to_contain_text("<img src=x onerror=alert(1)>")
    assert page.locator("#mage, img[src=x]").count() == 0
    assert page.title() != "broken in"


def test_the_form_describes_its_choices(open_page: OpenPage) -> None:
    page = open_page()
    about = page.locator(".about:visible")
    playing.choose_scenario(page, "border-skirmish")
    playing.choose_options(page, {"Your seat": "dispeller", "Opponent": "optimal"})
    for text in (
        "Empire against Chaos, a wizard and four units a side, six phases. A battle of 6 phases",
        "You lead Marauding Band. The enemy casts spells",
        "Strength: 6 of 6",
    ):
        expect(about.filter(has_text=text)).to_have_count(1)
    page.get_by_text("Own file").click()
    expect(about.filter(has_text="You lead")).to_have_count(0)
    page.get_by_text("Bundled").click()
    expect(about.filter(has_text="You lead Marauding Band.")).to_have_count(1)


def test_a_battle_under_way_is_left_after_a_question(open_page: OpenPage) -> None:
    page = open_page()
    page.emulate_media(color_scheme="dark")
    start(page)
    press(page, "New game")  # nothing can be lost yet
    start(page)
    choose(page, 1)
    color = "element => getComputedStyle(element).color"
    expected = page.get_by_role("button", name="Advice").evaluate(color)
    press(page, "New game")
    play_on = page.get_by_role("button", name="Play on")
    assert play_on.evaluate(color) == expected
    play_on.click()
    play_on.wait_for(state="hidden")
    assert page.locator("button.choice").count() > 0
    press(page, "New game")
    press(page, "Leave it")
    page.get_by_role("button", name="Play", exact=True).wait_for()
    start(page, scenario="apprentice")
    play_to_the_end(page)
    headings = page.locator("h1", has_text="apprentice")
    assert [each.is_visible() for each in headings.all()] == [True, False]
    press(page, "New game")  # it is over
    page.get_by_role("button", name="Play", exact=True).wait_for()


def test_lists_are_put_together_and_checked_on_a_phone(open_page: OpenPage) -> None:
    page = open_page("phone")
    page.get_by_role("button", name="Play").wait_for()
    assert_phone(page)
    own_file(page, "")
    press(page, "Play")
    page.locator(".error").wait_for()
    assert_phone(page)
    page.get_by_text("Wizards", exact=True).click()
    page.get_by_label("Spells").fill("Fireball Bolt=20")
    press(page, "Play")
    expect(page.locator(".error")).to_contain_text("wizard: expected")
    page.get_by_label("Spells").fill("Fire Ball=20, 8=40")
    for label, number in (("Power dice", 3), ("Dispel dice", 2), ("Scrolls", 0)):
        page.get_by_role("textbox", name=label).fill(str(number))
    press(page, "Another wizard")
    assert_phone(page)
    page.get_by_label("Spells").last.fill("11=60")
    start(page)
    expect(page.locator(".pool").first).to_contain_text("3 power dice")
    expect(page.locator(".pool").last).to_contain_text("2 dispel dice")
    assert page.locator(".spells .value").all_inner_texts() == ["5+", "8+", "11+"]
    assert_fits(page)


def test_targets_are_chosen_on_the_battlefield_and_a_reloaded_tab_has_its_battle(
    open_page: OpenPage, browser: Browser, address: str
) -> None:
    page = open_page("phone")
    own_file(page, FIELD)
    start(page)
    reach = page.locator(".ranges button").first
    expect(reach).to_have_attribute("aria-pressed", "false")
    reach.click()
    expect(reach).to_have_attribute("aria-pressed", "true")
    expect(page.locator(".map path.range").first).to_be_visible()
    choose(page, 1)
    expect(page.locator(".step").first).to_contain_text("picks a target")
    page.locator(".map .unit.legal[data-name='Boyz']").click()
    expect(page.locator(".step").first).to_contain_text("Fire Ball (5+) at Boyz")
    assert_fits(page)
    parts = (".choices", ".armies", ".log", ".map")
    shown = [page.locator(part).inner_text() for part in parts]

    def check() -> None:
        """Check the display; the map is loaded after the choices."""
        for part, text in zip(parts, shown, strict=True):
            expect(page.locator(part)).to_have_text(text, use_inner_text=True)

    page.reload()
    check()
    elsewhere = browser.new_page()  # another browser does not see the battle
    elsewhere.goto(address)
    start(elsewhere, scenario="apprentice", opponent="greedy")
    page.get_by_role("button", name="Review", exact=True).click()
    page.locator(".wfb-review[data-ready]").wait_for()
    expect(page.locator("h1").first).to_have_text("Review of field")
    expect(page.locator("svg.battlefield:visible")).to_have_count(1)
    expect(page.locator("button.choice").first).not_to_be_visible()
    press(page, "Back to the game")
    expect(page.locator(".wfb-review")).to_have_count(0)
    expect(page.locator("h1").first).to_have_text("field")
    check()
    play_to_the_end(page)
    page.reload()
    page.locator(".wfb-review[data-ready]").wait_for()
    expect(page.locator(".wfb-review .battlefield")).to_have_count(1)
    assert_fits(page)
    press(page, "New game")
    page.get_by_role("button", name="Play", exact=True).wait_for()
    page.reload()
    page.get_by_role("button", name="Play", exact=True).wait_for()
    assert page.locator("button.choice").count() == 0
    expect(elsewhere.locator("h1").first).to_have_text("apprentice")
    expect(elsewhere.locator(".log")).to_contain_text("begins")
    elsewhere.close()


def test_two_tabs_at_one_address_play_the_same_battle(open_page: OpenPage) -> None:
    page = open_page()
    start(page)
    copy = open_page(url=page.url)
    copy.locator("button.choice").first.wait_for()
    choose(page, 1)
    copy.locator("button.choice").nth(0).click()  # a click for a position that is gone
    question = page.locator(".question").inner_text()
    expect(copy.locator(".question")).to_have_text(question)
    assert copy.locator(".log").inner_text() == page.locator(".log").inner_text()


def test_hidden_items_are_shown_at_the_end(open_page: OpenPage, tmp_path: Path) -> None:
    page = open_page("phone")
    start(page, scenario="hidden-scroll")
    enemy = page.locator(".armies .army").last
    expect(enemy).to_contain_text("May have")
    expect(page.locator(".log")).to_contain_text("Chance deals the dispeller its hidden items.")
    page.get_by_role("button", name="Advice").click()
    expect(page.locator(".advice")).to_contain_text("Probability of each choice")
    expect(page.locator("button.choice .worth").first).to_contain_text("%")
    page.get_by_role("button", name="Transcript", exact=True).click()
    page.get_by_role("button", name="Download the public transcript").wait_for()
    assert page.get_by_text("Seed 3").count() == 0
    assert_fits(page)
    play_to_the_end(page)
    page.locator(".wfb-review input[type=range]").press("End")
    expect(page.locator(".wfb-review .armies")).to_contain_text("Hidden items")
    expect(page.locator(".wfb-review .worst")).to_be_visible()
    assert page.get_by_role("button", name="Take back the last decision").count() == 0
    expect(page.locator("h1").first).to_have_text("Review of hidden-scroll")
    assert_fits(page)
    download(page, "Download the transcript", tmp_path / "battle.jsonl")
    assert (read(tmp_path / "battle.jsonl").seed, page.get_by_text("Seed 3;").count()) == (3, 1)


@pytest.mark.slow
def test_files_of_a_review_and_an_odds_sheet(open_page: OpenPage, tmp_path: Path) -> None:
    write(record("archmage-duel", "random", "random", seed=5), tmp_path / "duel.jsonl")
    out = tmp_path / "review.html"
    main(["replay", str(tmp_path / "duel.jsonl"), "--html", str(out)])
    page = open_page("phone", out.as_uri())
    review, slider = page.locator(".wfb-review"), page.locator("input[type=range]")
    events = len(read(tmp_path / "duel.jsonl").events)
    assert slider.get_attribute("max") == str(events)
    seen = []
    for at in range(events + 1):
        slider.fill(str(at))
        expect(review).to_have_attribute("data-at", str(at))
        seen.append(page.locator(".now").inner_text() + page.locator(".armies").inner_text())
        assert_fits(page)
    assert all(one != other for one, other in itertools.pairwise(seen))
    link = page.locator(".worst a").first
    place = link.get_attribute("data-go") or ""
    link.click()
    expect(review).to_have_attribute("data-at", place)
    expect(page.locator(".verdict")).to_contain_text("Gave away")
    page.get_by_label("one back").click()
    expect(review).not_to_have_attribute("data-at", place)
    page.goto((ROOT / "docs" / "examples" / "border-skirmish.html").as_uri())
    for at in (0, 20, 51):
        slider.fill(str(at))
        page.locator(f".wfb-review[data-at='{at}'] .battlefield").wait_for()
        assert_phone(page)
    resize(page, "desk")
    assert_fits(page)
    for side in ("caster", "dispeller"):
        main(["odds", "border-skirmish", "--side", side, "--html", str(out)])
        page.goto(out.as_uri())
        assert_phone(page)
