"""The gallery: current, complete, and with code that runs."""

import re
from xml.etree import ElementTree as ET

from tests.support.pages import blocks
from tools.documents import find_stale_files
from tools.gallery import FOLDER, PAGE, draw_card, make_gallery
from wfb_gym.scenario import load_scenario


def test_the_page_and_its_pictures_are_current() -> None:
    assert find_stale_files(make_gallery(), FOLDER, "*") == [], "python -m tools.gallery"


def test_its_code_runs() -> None:
    text = PAGE.read_text(encoding="utf-8")
    first, *rest = blocks(text, "python")
    names: dict[str, object] = {}
    exec(first, names)
    for code in (rest[0], rest[-1]):
        exec(code, names)
    assert [re.findall(r'scenario="(.+)"', code) for code in rest] == [
        [name] for name in re.findall(r"^### (.+)$", text, re.MULTILINE)
    ]


def test_a_card_shows_both_armies_inside_its_borders() -> None:
    for name in ("storm-council", "hidden-scrolls"):
        scenario = load_scenario(name)
        drawing = draw_card(scenario)
        words = {line for shape in drawing.shapes for line in shape.text}
        for army in scenario.armies:
            assert {who.name for who in army.characters} <= words
            assert {spell.name for who in army.wizards for spell in who.spells} <= words
        left, bottom, right, top = drawing.extent
        for shape in drawing.shapes:
            for x, y in (point for part in shape.parts for point in part):
                assert left <= x <= right, shape
                assert bottom <= y <= top, shape
        root = ET.parse(FOLDER / f"{name}.svg").getroot()
        assert root.findtext("{http://www.w3.org/2000/svg}title", "").startswith(name)
    assert "Dispel Scroll x2 (25%)" in words
