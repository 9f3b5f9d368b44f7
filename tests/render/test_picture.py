"""Pictures of positions: what is on them, and that it all fits."""

import subprocess
import sys
from dataclasses import replace
from functools import cache
from typing import ClassVar, NamedTuple
from unittest.mock import patch

import numpy as np
import pytest
from numpy.typing import NDArray

from tests.envs.playing import table_of
from wfb_gym.engine.actions import FIRST_CAST, FIRST_DICE
from wfb_gym.engine.battle import Battle
from wfb_gym.engine.state import BARS_ITEMS, Node
from wfb_gym.packing.records import Duration, Lock
from wfb_gym.render import colours
from wfb_gym.render import picture as drawing
from wfb_gym.render.canvas import Align, Box, Canvas, fit_text, text_width, to_ascii, wrap_text
from wfb_gym.render.colours import Colour
from wfb_gym.render.picture import LEAST_SIZE, SIZE, picture
from wfb_gym.scenario import Scenario, bundled_scenarios, load_scenario
from wfb_gym.scenario.sizes import TARGETS, UNITS
from wfb_gym.view.events import Event
from wfb_gym.view.names import ScenarioNames

from .battles import random_positions

DUEL = "archmage-duel"


@cache
def scenario(name: str) -> Scenario:
    return load_scenario(name)


def start_of(name: str) -> Battle:
    return Battle(table_of(name))


def roll(*faces: int, words: str = "it is cast") -> Event:
    return Event("roll", 0, Node.ROLL_CASTING, 0, faces, 0.0, words)


def shown(battle: Battle, *events: Event, name: str = DUEL, seat: int = 0) -> NDArray[np.uint8]:
    return picture(scenario(name), battle, events, seat=seat)


class WrittenText(NamedTuple):
    """Words that were to be written, those shown, what these cover, and the box that they got."""

    words: str
    shown: str
    ink: Box
    box: Box


class WatchedCanvas(Canvas):
    """A canvas that notes what is written on it."""

    written: ClassVar[list[WrittenText]] = []

    def text(self, box: Box, words: str, size: float, colour: Colour, align: Align = "left") -> Box:
        ink = super().text(box, words, size, colour, align)
        if words:
            self.written.append(WrittenText(words, fit_text(words, size, box.width)[1], ink, box))
        return ink


def words_on(
    battle: Battle,
    *events: Event,
    name: str = DUEL,
    seat: int = 0,
    size: tuple[int, int] = SIZE,
) -> list[WrittenText]:
    WatchedCanvas.written.clear()
    with patch.object(drawing, "Canvas", WatchedCanvas):
        picture(scenario(name), battle, events, seat=seat, size=size)
    return WatchedCanvas.written.copy()


def lines_on(battle: Battle, *events: Event, name: str = DUEL, seat: int = 0) -> list[str]:
    return [each.shown for each in words_on(battle, *events, name=name, seat=seat)]


def some(name: str, seed: int, most: int) -> list[tuple[Battle, tuple[Event, ...]]]:
    """Positions of a random battle: the last, and others evenly spread."""
    positions = list(random_positions(scenario(name), seed))
    return positions[:: max(1, len(positions) // most)] + positions[-1:]


# --- the array -----------------------------------------------------------------------------


def test_size_and_type() -> None:
    image = shown(start_of(DUEL))
    assert image.shape == (SIZE[1], SIZE[0], 3)
    assert image.dtype == np.uint8
    small = picture(scenario(DUEL), start_of(DUEL), (), size=(800, 450))
    assert small.shape == (450, 800, 3)


def test_a_picture_is_the_callers_own() -> None:
    first, second = shown(start_of(DUEL)), shown(start_of(DUEL))
    assert np.array_equal(first, second)
    first[:] = 0
    assert np.array_equal(second, shown(start_of(DUEL)))


def test_equal_positions_give_equal_pixels_whatever_was_drawn_before() -> None:
    positions = some("border-skirmish", 5, 6)
    once = [shown(battle, *events, name="border-skirmish") for battle, events in positions]
    for (battle, events), image in reversed(list(zip(positions, once, strict=True))):
        anew = tuple(replace(event) for event in events)
        assert np.array_equal(image, shown(battle, *anew, name="border-skirmish"))
        shown(start_of(DUEL))


@pytest.mark.parametrize("seat", [-1, 2])
def test_an_unknown_seat(seat: int) -> None:
    with pytest.raises(ValueError, match=r"seat: expected 0 or 1"):
        shown(start_of(DUEL), seat=seat)


def test_a_size_too_small() -> None:
    with pytest.raises(ValueError, match=r"size: expected 640x360 or more, found 639x360"):
        picture(scenario(DUEL), start_of(DUEL), (), size=(639, 360))


def test_without_pillow_the_error_names_the_extra() -> None:
    code = "import sys; sys.modules['PIL'] = None; import wfb_gym.render.picture"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 1
    lines = 'ImportError: pictures need Pillow: pip install "wfb-gym[render]"'
    assert done.stderr.splitlines()[-1] == lines


# --- what is shown -------------------------------------------------------------------------


def differs(battle: Battle, other: Battle, *events: Event, name: str = DUEL) -> bool:
    one, two = (shown(each, *events, name=name) for each in (battle, other))
    return not np.array_equal(one, two)


@pytest.mark.parametrize("field", ["power", "dispel"])
def test_dice_in_the_pools(field: str) -> None:
    battle, fewer = start_of(DUEL), start_of(DUEL)
    fewer.state[field] -= 1
    assert differs(battle, fewer)
    left = int(battle.state[field])
    assert f"{left} {field} dice" in lines_on(battle)
    assert f"{left - 1} {field} dice" in lines_on(fewer)


def test_own_dice_of_wizards() -> None:
    battle, fewer = start_of("seventh-edition-duel"), start_of("seventh-edition-duel")
    fewer.state.own_dice[0] -= 1
    assert differs(battle, fewer, name="seventh-edition-duel")


def test_points_as_the_seat_sees_them() -> None:
    battle = start_of(DUEL)
    battle.points = -20.0
    assert "-20.0 points: Dispeller ahead" in lines_on(battle)
    assert "+20.0 points: Dispeller ahead" in lines_on(battle, seat=1)
    events = replace(roll(4, 5), points=12.5), roll(1)
    assert "+12.5" in lines_on(battle, *events)
    assert "-12.5" in lines_on(battle, *events, seat=1)


def test_the_seats_army_stands_on_the_left() -> None:
    def left_of(name: str, seat: int) -> int:
        (place,) = (w.box.left for w in words_on(start_of(DUEL), seat=seat) if w.shown == name)
        return place

    assert left_of("Caster", 0) < left_of("Dispeller", 0)
    assert left_of("Dispeller", 1) < left_of("Caster", 1)


def test_the_last_dice_and_what_they_meant() -> None:
    battle = start_of(DUEL)
    assert "no dice have been thrown" in lines_on(battle)
    low, high = roll(1, 2), roll(6, 6, words="irresistible force")
    lines = lines_on(battle, low, high)
    assert {"= 12", "irresistible force"} <= set(lines)
    assert "= 3" not in lines
    assert not np.array_equal(shown(battle, roll(6, 5)), shown(battle, roll(5, 6)))


def test_dice_without_faces_stand_in_words_alone() -> None:
    strike = Event("roll", 0, Node.ROLL_STRIKE, 3, (), 15.0, "Orc Boyz lose 3 models")
    lines = lines_on(start_of(DUEL), roll(3, 3), strike)
    assert lines.count("Orc Boyz lose 3 models") == 1
    assert "= 6" not in lines


def spell_background(battle: Battle, *events: Event) -> tuple[int, ...]:
    """Colour behind the first spell of the duel."""
    (words,) = (
        each
        for each in words_on(battle, *events)
        if each.shown == "Fire Ball" and each.box.left < 99
    )
    image = shown(battle, *events)
    return tuple(int(part) for part in image[words.ink.bottom + 1, words.box.left + 2])


def test_a_spell_looks_as_it_stands() -> None:
    battle, looks = start_of(DUEL), []
    events: list[Event] = []

    def decide(code: int) -> None:
        events.append(Event("decision", battle.mover, battle.node, code, (), 0.0, "so"))
        battle.act(code)

    looks.append(spell_background(battle, *events))
    decide(FIRST_CAST)
    decide(FIRST_DICE + 2)
    looks.append(spell_background(battle, *events))
    assert "being cast" in lines_on(battle, *events)
    events.append(Event("roll", 0, battle.node, 0, (2, 1), 0.0, "it fails"))
    battle.roll(2, 1)
    looks.append(spell_background(battle, *events))
    assert "tried" in lines_on(battle, *events)
    assert len(set(looks)) == 3


def test_a_spell_that_was_cast_has_its_total() -> None:
    battle = start_of(DUEL)
    battle.play([FIRST_CAST, FIRST_DICE + 2, (4, 5)])
    lines = lines_on(battle, roll(4, 5))
    assert "Dispeller may dispel" in lines
    assert "cast with 9: match it to dispel" in lines


def test_spells_in_play_and_whom_they_lie_on() -> None:
    for battle, events in random_positions(scenario("the-winds-unbound"), 3):
        lying = battle.state.in_play.any()
        if lying:
            lines = lines_on(battle, *events, name="the-winds-unbound")
            assert any(line.startswith("on ") or line == "in play" for line in lines[20:])
            break
    else:
        pytest.fail("no spell was in play")


def test_a_comet_in_play_says_where_it_is_and_how_many_markers_it_has() -> None:
    name = "tower-of-the-nine-panes"
    battle = start_of(name)
    army = battle.packed.armies[0]
    (spell,) = np.flatnonzero(army.spells["duration"] == Duration.DELAYED)
    entry = army.spells[spell]
    battle.state.in_play[0] = 1 << spell
    battle.state.aims[0, spell] = 1
    battle.state.markers[0, entry.wizard] = 2
    code = int(army.aims[entry.first_aim].target)
    nearest = ScenarioNames(scenario(name)).nearest_to_point(battle.packed, 0, code)
    assert f"2 markers near {nearest}" in lines_on(battle, name=name)


def test_losses_at_the_end_of_a_battle() -> None:
    name = "border-skirmish"
    *_, (battle, events) = random_positions(scenario(name), 3)
    assert battle.is_over
    lines = lines_on(battle, *events, name=name)
    assert {"24/28", "-28", "14/18", "-48", "25/25"} <= set(lines)
    assert "L2" in lines
    assert "dead" not in lines


def test_units_lose_models_and_characters_wounds() -> None:
    name = "border-skirmish"
    battle = start_of(name)
    whole = shown(battle, name=name)
    battle.state.unit_wounds[0, 0] = 11
    fewer = shown(battle, name=name)
    assert not np.array_equal(whole, fewer)
    assert "11/28" in lines_on(battle, name=name)
    battle.state.wounds[1, 0] = 1
    assert not np.array_equal(fewer, shown(battle, name=name))
    battle.state.wounds[1, 0] = 0
    assert "dead" in lines_on(battle, name=name)


def test_who_flees_is_told_apart() -> None:
    name = "border-skirmish"
    battle = start_of(name)
    standing = shown(battle, name=name)
    assert "flees" not in lines_on(battle, name=name)
    battle.state.fleeing[0] = 1 << 1 | 1 << UNITS  # the wizard's unit, and the wizard
    assert lines_on(battle, name=name).count("flees") == 2
    assert not np.array_equal(standing, shown(battle, name=name))
    battle.state.fleeing[0] = 1 << 1
    bars = (shown(battle, name=name) == colours.FLIGHT).all(-1).sum()
    assert bars > 2000
    assert not (standing == colours.FLIGHT).all(-1).any()


def test_a_panic_test_says_whose_it_is_and_against_what() -> None:
    name = "border-skirmish"
    battle = start_of(name)
    battle.state.node, battle.state.mover, battle.state.cursor = Node.ROLL_PANIC, 1, TARGETS
    unit = scenario(name).dispeller.units[0]
    best = max(unit.leadership, *(who.leadership for who in scenario(name).dispeller.heroes))
    assert f"{unit.name}, Leadership {best}" in lines_on(battle, name=name)


@pytest.mark.parametrize(
    ("lock", "words"),
    [
        (Lock.SIX, "no casting till a 6"),
        (Lock.OWN_NEXT_PHASE + BARS_ITEMS, "no magic till next phase"),
    ],
)
def test_what_a_miscast_has_done_to_a_wizard(lock: int, words: str) -> None:
    battle = start_of(DUEL)
    battle.state.lock[0, 0] = lock
    assert words in lines_on(battle)
    assert lines_on(start_of(DUEL)).count("can be cast") == 5
    assert lines_on(battle).count("can be cast") == 1  # what its colour means


def test_the_latest_events_stand_first() -> None:
    events = [replace(roll(3), words=f"event number {number}") for number in range(40)]
    lines = [line for line in lines_on(start_of(DUEL), *events) if line.startswith("event")]
    assert lines[:3] == ["event number 39", "event number 38", "event number 37"]
    assert "event number 1" not in lines


# --- everything fits -----------------------------------------------------------------------


def overlaps(one: Box, two: Box) -> bool:
    across = min(one.right, two.right) - max(one.left, two.left)
    down = min(one.bottom, two.bottom) - max(one.top, two.top)
    return across > 0 and down > 0


def check_words(written: list[WrittenText], size: tuple[int, int]) -> None:
    page = Box(0, 0, *size)
    for each in written:
        assert each.shown == to_ascii(each.words), f"cut: {each}"
        assert each.ink.left >= each.box.left - 1, each
        assert each.ink.right <= each.box.right + 1, each
        assert each.ink.top >= max(page.top, each.box.top - 3), each
        assert each.ink.bottom <= min(page.bottom, each.box.bottom + 3), each
    for at, one in enumerate(written):
        for two in written[:at]:
            assert not overlaps(one.ink, two.ink), (one, two)


@pytest.mark.parametrize("name", bundled_scenarios())
def test_words_of_every_bundled_scenario_stay_in_their_boxes(name: str) -> None:
    for number, (battle, events) in enumerate(some(name, 1, 6)):
        check_words(words_on(battle, *events, name=name, seat=number % 2), SIZE)


def test_words_fit_in_other_sizes() -> None:
    for size in ((960, 540), (1920, 1080), (1000, 1000), (1600, 600)):
        for battle, events in some("border-skirmish", 4, 3):
            check_words(words_on(battle, *events, name="border-skirmish", size=size), size)


def test_the_least_size_is_drawn() -> None:
    for battle, events in some("the-winds-unbound", 4, 3):
        written = words_on(battle, *events, name="the-winds-unbound", size=LEAST_SIZE)
        for each in written:
            assert each.ink.right <= each.box.right + 1, each


@pytest.mark.parametrize("dice", [1, 2, 5, 6, 12, 18, 24])
def test_any_number_of_dice_lies_within_its_panel(dice: int) -> None:
    faces = tuple(1 + die % 6 for die in range(dice))
    event = roll(*faces, words="word " * 40)
    check_words(
        [w for w in words_on(start_of(DUEL), event) if not w.words.startswith("word")], SIZE
    )
    bare = shown(start_of(DUEL), replace(event, faces=()))
    image = shown(start_of(DUEL), event)
    rows, columns = np.nonzero((image != bare).any(axis=2))
    assert rows.min() >= 232
    assert rows.max() < 428
    assert columns.min() >= 428
    assert columns.max() < 852


def test_full_pools_fit() -> None:
    battle = start_of("seventh-edition-duel")
    battle.state.power = battle.state.dispel = 24
    battle.state.own_dice[:2] = 24
    check_words(words_on(battle, name="seventh-edition-duel"), SIZE)


# --- words ---------------------------------------------------------------------------------


def test_words_shrink_before_they_are_cut() -> None:
    words = "Distillation of Molten Silver"
    whole = text_width(words, 20)
    assert fit_text(words, 20, whole) == (20, words)
    size, shown_words = fit_text(words, 20, int(whole * 0.85))
    assert size < 20
    assert shown_words == words
    size, cut = fit_text(words, 20, whole // 3)
    assert cut.endswith("...")
    assert text_width(cut, size) <= whole // 3
    assert fit_text(words, 20, 0)[1] == ""


def test_characters_that_the_font_lacks() -> None:
    assert to_ascii("Grünwald's Reïksgard – 3×") == "Grunwald's Reiksgard - 3x"  # noqa: RUF001
    assert to_ascii("\N{SKULL}") == "?"


@pytest.mark.parametrize("size", [9.0, 10.0, 13.0, 26.0])
def test_numbers_stand_apart(size: float) -> None:
    space = (text_width("3 5 6", size) - text_width("356", size)) / 2
    assert space >= size / 4


def test_wrapped_words_are_all_there() -> None:
    words = "one two three four five six seven eight nine ten"
    lines = wrap_text(words, 14, 90, 9)
    assert " ".join(lines) == words
    assert len(lines) > 2
    assert all(text_width(line, 14) <= 90 for line in lines)
    assert len(wrap_text(words, 14, 90, 2)) == 2


def test_looking_at_words_changes_nothing() -> None:
    WatchedCanvas.written.clear()
    watched, alone = (made(90, 30, (9, 9, 9)) for made in (WatchedCanvas, Canvas))
    for canvas in (watched, alone):
        canvas.text(Box(5, 5, 80, 25), "words", 14, (200, 200, 200), "right")
    assert np.array_equal(watched.pixels(), alone.pixels())
    assert [each.shown for each in WatchedCanvas.written] == ["words"]
