"""Positions and reviews in HTML, without a browser; `tests/web` opens them in one."""

import json
import re
from dataclasses import replace
from html import unescape
from typing import Any

import pytest

from tests.support.builders import army, spell, wizard
from tests.support.packed import scenario as new_scenario
from tests.support.pages import page, run_blocks
from wfb_gym.engine.state import Node
from wfb_gym.render.html import army_blocks, event_html, render_macro, step_html
from wfb_gym.render.review_page import review_page
from wfb_gym.scenario import load_scenario
from wfb_gym.transcripts import NarratedBattle, record
from wfb_gym.transcripts.game import Game
from wfb_gym.transcripts.review import review
from wfb_gym.view.armies import ItemView


def data_of(written: str) -> Any:
    """Return the data of a review's page."""
    return json.loads(unescape(re.findall(r'<div class="data" hidden>(.*?)</div>\n', written)[0]))


def test_an_army_shows_dice_spells_and_items() -> None:
    narrated = NarratedBattle(load_scenario("archmage-duel"))
    card = "".join(army_blocks(narrated.view(0), 0))
    assert card.count('href="#die-pool"') == 6
    assert "6 power dice" in card
    for value, worth in (("5+", "20 pts"), ("8+", "40 pts"), ("9+", "50 pts"), ("11+", "60 pts")):
        assert re.search(rf"{re.escape(value)}</span>.*?{worth}", card)
    assert card.count("can be cast") == 4
    assert ">you</span>" in card
    assert "Dispel Scroll" in "".join(army_blocks(narrated.view(), 1))
    assert "picks a spell" in step_html(narrated.view())
    for uses in (0, 1):
        shown = render_macro("item", ItemView("Dispel Scroll", 0, uses, copies=2))
        assert "Dispel Scroll &times;2" in shown


def test_significant_doubles_are_marked() -> None:
    events = record("archmage-duel", "greedy", "greedy", seed=1).events
    cast = next(event for event in events if event.node == Node.ROLL_CASTING)
    assert f"{' '.join(map(str, cast.faces))}: " not in event_html(cast)  # only as dice
    for node, faces, kinds in (
        (Node.ROLL_CASTING, (6, 6, 1), ["six", "six"]),
        (Node.ROLL_CASTING, (1, 1, 6), ["one", "one"]),
        (Node.ROLL_CASTING, (6, 5), []),
        (Node.ROLL_DISPEL, (6, 6), ["six", "six"]),
        (Node.ROLL_DISPEL, (1, 1), []),
        (Node.ROLL_MISCAST, (6, 6), []),
    ):
        shown = event_html(replace(cast, node=node, faces=faces))
        assert re.findall(r'class="die (six|one)"', shown) == kinds


def test_names_are_escaped_everywhere() -> None:
    mage = wizard(2, spell("<b>&amp;"), name="</div><i>Mage", items=["Dispel Scroll"])
    caster = army(mage, name="<script>alert(1)</script>", power_dice=3)
    scenario = new_scenario(caster, army(dispel_dice=2))
    transcript = record(scenario, "greedy", "greedy", seed=1, names=("<u>a</u>", "<s>b</s>"))
    narrated = NarratedBattle(scenario)
    reviewed = review(transcript)
    written = review_page(reviewed)
    shown = "".join(army_blocks(narrated.view(), 0)) + "".join(data_of(written)["parts"])
    shown += "".join(event_html(event) for event in reviewed.events) + written
    for name in ("<script>alert", "<i>Mage", "<b>&amp;", "<u>", "<s>"):
        assert name not in shown
    assert "&lt;script&gt;alert(1)" in shown


def test_the_page_has_every_position_and_nothing_from_elsewhere() -> None:
    reviewed = review(record("archmage-duel", "random", "random", seed=7))
    written = review_page(reviewed)
    document = data_of(written)
    assert len(document["frames"]) == len(reviewed.events) + 1
    assert len(document["log"]) == len(reviewed.events)
    assert written.count("data-go=") >= 2 * len(reviewed.worst)
    assert not re.search(r"https?://(?!www\.w3\.org/)|<link|src=", written)
    under_way = Game(load_scenario("archmage-duel"), 0, "veteran", 3).transcript()
    assert "seed 3, not over</p>" in review_page(review(under_way))


def test_the_python_of_the_page_runs(capsys: pytest.CaptureFixture[str]) -> None:
    run_blocks(page("web.md"))
    assert capsys.readouterr().out.count("Gave away") == 3
