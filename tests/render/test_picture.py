"""Pictures of positions: their contents, and that all of it fits."""

from dataclasses import replace
from functools import cache
from itertools import combinations
from typing import Any, NamedTuple

import numpy as np
import pytest
from numpy.typing import NDArray

from tests.support.playing import EVERY_SCENARIO, narrate, narrate_randomly, table_of
from tests.support.scripts import run_python
from wfb_gym.engine.actions import FIRST_CAST, FIRST_DICE
from wfb_gym.engine.battle import Battle
from wfb_gym.engine.state import BARS_ITEMS, Node
from wfb_gym.packing.records import Duration, Lock
from wfb_gym.render import colours
from wfb_gym.render.drawing import image_text_width, to_ascii
from wfb_gym.render.labels import LINE_HEIGHT, text_width
from wfb_gym.render.picture import LEAST_SIZE, SIZE, draw_position, picture
from wfb_gym.render.shapes import Extent, extent_of
from wfb_gym.render.sketch import Sketch, fit_lines
from wfb_gym.scenario import Scenario, load_scenario
from wfb_gym.scenario.sizes import TARGETS, UNITS
from wfb_gym.transcripts import NarratedBattle
from wfb_gym.view.events import Event
from wfb_gym.view.names import ScenarioNames
from wfb_gym.view.position import view_position

DUEL, SKIRMISH = "archmage-duel", "border-skirmish"


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
    """The texts of a picture, their extent in an image, and their boxes."""

    shown: str
    ink: Extent
    box: Extent


def words_on(
    battle: Battle, *events: Event, name: str = DUEL, seat: int = 0, size: tuple[int, int] = SIZE
) -> list[WrittenText]:
    view = view_position(ScenarioNames(scenario(name)), battle, seat)
    drawing = draw_position(view, events, size)
    written = []
    for shape in drawing.shapes:
        if shape.kind != "label":
            continue
        box, (words,) = extent_of(shape.parts), shape.text
        wide = image_text_width(to_ascii(words), box.height / LINE_HEIGHT)
        assert wide <= 1.1 * box.width, words  # otherwise it would be small in an image
        wide = min(wide, box.width)
        share = {"start": 0.0, "middle": 0.5, "end": 1.0}[shape.style.align]
        left = box.left + share * (box.width - wide)
        written.append(WrittenText(words, box._replace(left=left, right=left + wide), box))
    return written


def lines_on(battle: Battle, *events: Event, name: str = DUEL, seat: int = 0) -> list[str]:
    return [each.shown for each in words_on(battle, *events, name=name, seat=seat)]


@cache
def some(name: str, most: int) -> list[tuple[Battle, tuple[Event, ...]]]:
    """Return positions of a random battle: the last, and others at even distances; read-only."""
    narrated, events = NarratedBattle(scenario(name)), list[Event]()
    positions = [(narrated.visible.copy(), tuple(events))]
    for event in narrate_randomly(narrated, np.random.default_rng(4)):
        events.append(event)
        positions.append((narrated.visible.copy(), tuple(events)))
    return positions[:: max(1, len(positions) // most)] + positions[-1:]


def test_arrays_do_not_depend_on_earlier_pictures() -> None:
    image = shown(start_of(DUEL))
    assert image.shape == (SIZE[1], SIZE[0], 3)
    assert image.dtype == np.uint8
    image[:] = 0
    positions = some(SKIRMISH, 3)
    once = [shown(battle, *events, name=SKIRMISH) for battle, events in positions]
    for (battle, events), image in reversed(list(zip(positions, once, strict=True))):
        copies = tuple(replace(event) for event in events)
        assert np.array_equal(image, shown(battle, *copies, name=SKIRMISH))
        assert shown(start_of(DUEL)).any()
    assert picture(scenario(DUEL), start_of(DUEL), (), size=(800, 450)).shape == (450, 800, 3)


def test_wrong_arguments() -> None:
    with pytest.raises(ValueError, match="seat: expected 0 or 1"):
        picture(scenario(DUEL), start_of(DUEL), (), seat=-1)
    with pytest.raises(ValueError, match="size: expected 640x360 or more, found 639x360"):
        picture(scenario(DUEL), start_of(DUEL), (), size=(639, 360))


def test_without_pillow_the_error_names_the_extra() -> None:
    code = (
        "import sys; sys.modules['PIL'] = None\n"
        "from wfb_gym.render.drawing import to_image\n"
        "from wfb_gym.render.shapes import Drawing, Extent\n"
        "to_image(Drawing(Extent(0, 0, 9, 9), (), ''))"
    )
    done = run_python("-c", code)
    assert done.status == 1
    error = 'ImportError: pictures need Pillow: pip install "wfb-gym[render]"'
    assert done.err.splitlines()[-1] == error


@pytest.mark.parametrize(
    ("name", "field", "index", "value", "words"),
    [
        (DUEL, "power", None, 5, "5 power dice"),
        (DUEL, "dispel", None, 3, "3 dispel dice"),
        (DUEL, "lock", (0, 0), Lock.SIX, "no casting till a 6"),
        (DUEL, "lock", (0, 0), Lock.OWN_NEXT_PHASE + BARS_ITEMS, "no magic till next phase"),
        ("seventh-edition-duel", "own_dice", 0, 1, ""),
        (SKIRMISH, "unit_wounds", (0, 0), 11, "11/28"),
        (SKIRMISH, "wounds", (1, 0), 1, ""),
        (SKIRMISH, "wounds", (1, 0), 0, "dead"),
        (SKIRMISH, "fleeing", 0, 1 << UNITS, "flees"),
    ],
)
def test_the_state_is_drawn(name: str, field: str, index: Any, value: int, words: str) -> None:
    battle, changed = start_of(name), start_of(name)
    if index is None:
        changed.state[field] = value
    else:
        changed.state[field][index] = value
    assert not np.array_equal(shown(battle, name=name), shown(changed, name=name))
    if words:
        assert words not in lines_on(battle, name=name)
        assert words in lines_on(changed, name=name)
    if field == "lock":
        castable = [lines_on(each).count("can be cast") for each in (battle, changed)]
        assert castable == [5, 1]  # the last one explains its colour


def test_full_pools_fit() -> None:
    battle = start_of("seventh-edition-duel")
    battle.state.power = battle.state.dispel = 24
    battle.state.own_dice[:2] = 24
    check_words(words_on(battle, name="seventh-edition-duel"), SIZE)


def test_points_are_from_the_seats_side() -> None:
    battle = start_of(DUEL)
    battle.points = -20.0
    assert "-20.0 points: Dispeller ahead" in lines_on(battle)
    assert "+20.0 points: Dispeller ahead" in lines_on(battle, seat=1)
    events = replace(roll(4, 5), points=12.5), roll(1)
    assert "+12.5" in lines_on(battle, *events)
    assert "-12.5" in lines_on(battle, *events, seat=1)


def test_the_seats_army_is_on_the_left() -> None:
    for seat, names in enumerate((("Caster", "Dispeller"), ("Dispeller", "Caster"))):
        places = {word.shown: word.box.left for word in words_on(start_of(DUEL), seat=seat)}
        assert places[names[0]] < places[names[1]]


def test_the_last_dice_and_their_result() -> None:
    battle = start_of(DUEL)
    assert "no dice have been thrown" in lines_on(battle)
    low, high = roll(1, 2), roll(6, 6, words="irresistible force")
    lines = lines_on(battle, low, high)
    assert {"= 12", "irresistible force"} <= set(lines)
    assert "= 3" not in lines
    assert not np.array_equal(shown(battle, roll(6, 5)), shown(battle, roll(5, 6)))
    strike = Event("roll", 0, Node.ROLL_STRIKE, 3, (), 15.0, "Orc Boyz lose 3 models")
    lines = lines_on(battle, roll(3, 3), strike)  # without faces
    assert lines.count("Orc Boyz lose 3 models") == 1
    assert "= 6" not in lines
    battle.play([FIRST_CAST, FIRST_DICE + 2, (4, 5)])
    lines = lines_on(battle, roll(4, 5))
    assert "Dispeller may dispel" in lines
    assert "cast with 9: match it to dispel" in lines


def spell_background(battle: Battle, *events: Event) -> tuple[int, ...]:
    """Return the colour behind the first spell of the duel."""
    written = {each.shown: each.box for each in words_on(battle, *events) if each.box.left < 99}
    box = written["Fire Ball"]
    return tuple(map(int, shown(battle, *events)[round(1 - box.bottom), round(box.left)]))


def test_a_spell_is_drawn_by_its_status() -> None:
    narrated = NarratedBattle(scenario(DUEL))
    colours_seen = {spell_background(narrated.visible)}
    events = narrate(narrated, FIRST_CAST, FIRST_DICE + 2)
    assert "being cast" in lines_on(narrated.visible, *events)
    colours_seen.add(spell_background(narrated.visible, *events))
    events += narrate(narrated, (2, 1))
    assert "tried" in lines_on(narrated.visible, *events)
    colours_seen.add(spell_background(narrated.visible, *events))
    assert len(colours_seen) == 3


def test_spells_in_play_have_their_targets_and_a_comet_its_point_and_markers() -> None:
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
    battle = start_of("the-crooked-mile")
    battle.state.in_play[0] = 1 << 1 | 1 << 2
    battle.state.aims[0, 1] = 1
    assert {"on Swordmasters", "in play"} <= set(lines_on(battle, name="the-crooked-mile"))


def test_losses_at_the_end_of_a_battle() -> None:
    battle, events = some(SKIRMISH, 1)[-1]
    assert battle.is_over
    lines, lost = lines_on(battle, *events, name=SKIRMISH), 0
    for side, army in enumerate(scenario(SKIRMISH).armies):
        for unit, left in zip(army.units, battle.state.unit_wounds[side], strict=False):
            if left:
                assert f"{left}/{unit.models}" in lines
            if left < unit.models:
                assert f"-{(unit.models - left) * unit.points:g}" in lines
                lost += 1
    assert lost
    assert "L2" in lines


def test_fleeing_units_are_marked() -> None:
    battle = start_of(SKIRMISH)
    assert not (shown(battle, name=SKIRMISH) == colours.FLIGHT).all(-1).any()
    battle.state.fleeing[0] = 1 << 1
    assert (shown(battle, name=SKIRMISH) == colours.FLIGHT).all(-1).sum() > 2000


def test_a_panic_test_names_its_unit_and_leadership() -> None:
    battle = start_of(SKIRMISH)
    battle.state.node, battle.state.mover, battle.state.cursor = Node.ROLL_PANIC, 1, TARGETS
    foes = scenario(SKIRMISH).dispeller
    best = max(foes.units[0].leadership, *(who.leadership for who in foes.heroes))
    assert f"{foes.units[0].name}, Leadership {best}" in lines_on(battle, name=SKIRMISH)


def test_the_latest_events_are_first() -> None:
    events = [replace(roll(3), words=f"event number {number}") for number in range(40)]
    lines = [line for line in lines_on(start_of(DUEL), *events) if line.startswith("event")]
    assert lines[:3] == ["event number 39", "event number 38", "event number 37"]
    assert "event number 1" not in lines


def check_words(written: list[WrittenText], size: tuple[int, int]) -> None:
    unit = min(size[0] / SIZE[0], size[1] / SIZE[1])
    page = Extent(0, -size[1] / unit, size[0] / unit, 0)
    for each in written:
        assert not each.shown.endswith("..."), f"cut: {each}"
        assert each.ink.cut(page) == each.ink, each
    for one, two in combinations(written, 2):
        letters = [each.ink.grown(-1, -0.1 * each.ink.height) for each in (one, two)]
        assert not letters[0].overlaps(letters[1]), (one, two)


@pytest.mark.parametrize(
    ("name", "most", "size"),
    [
        *(pytest.param(*each.values, 2, SIZE, marks=each.marks) for each in EVERY_SCENARIO),
        *((SKIRMISH, 3, size) for size in ((960, 540), (1000, 1000), (1600, 600))),
    ],
)
def test_words_stay_in_their_boxes(name: str, most: int, size: tuple[int, int]) -> None:
    for number, (battle, events) in enumerate(some(name, most)):
        check_words(words_on(battle, *events, name=name, seat=number % 2, size=size), size)


def test_the_least_size_is_drawn() -> None:
    for battle, events in some(SKIRMISH, 1):
        assert picture(scenario(SKIRMISH), battle, events, size=LEAST_SIZE).any()


@pytest.mark.parametrize("dice", [1, 6, 24])
def test_any_number_of_dice_lies_within_its_panel(dice: int) -> None:
    event = roll(*(1 + die % 6 for die in range(dice)), words="word " * 40)
    written = words_on(start_of(DUEL), event)
    check_words([each for each in written if not each.shown.startswith("word")], SIZE)
    bare = shown(start_of(DUEL), replace(event, faces=()))
    rows, columns = np.nonzero((shown(start_of(DUEL), event) != bare).any(axis=2))
    assert 232 <= rows.min() <= rows.max() < 428
    assert 428 <= columns.min() <= columns.max() < 852


def written_in(width: float, words: str, size: float = 20.0) -> tuple[str, float]:
    sketch = Sketch()
    covered = sketch.write(Extent(0, 0, width, 30), words, size, colours.INK)
    assert covered.right <= width
    if not sketch.shapes:
        return "", 0.0
    (shape,) = sketch.shapes
    return shape.text[0], extent_of(shape.parts).height / LINE_HEIGHT


def test_words_shrink_before_they_are_cut() -> None:
    words = "Distillation of Molten Silver"
    whole = text_width(words, 20)
    assert written_in(whole, words) == (words, pytest.approx(20))
    shown_words, size = written_in(whole * 0.85, words)
    assert (shown_words, size) == (words, pytest.approx(17))
    cut, size = written_in(whole / 3, words)
    assert cut.endswith("...")
    assert size == pytest.approx(20 * 0.72)
    assert written_in(0, words) == ("", 0.0)


def test_letters_that_the_font_lacks_and_spaces_between_numbers() -> None:
    assert to_ascii("Grünwald's Reïksgard – 3×") == "Grunwald's Reiksgard - 3x"  # noqa: RUF001
    assert to_ascii("\N{SKULL}") == "?"
    for size in (9.0, 10.0, 13.0, 26.0):
        space = (image_text_width("3 5 6", size) - image_text_width("356", size)) / 2
        assert space >= size / 4


def test_lines_take_the_largest_size_in_which_they_fit() -> None:
    words = "one two three four five six seven eight nine ten"
    size, lines = fit_lines(words, [14, 10], 90, 300)
    assert size == 14
    assert " ".join(lines) == words
    assert len(lines) > 2
    size, fewer = fit_lines(words, [14, 10], 90, 14 * 1.3 * (len(lines) - 1))
    assert size == 10
    assert " ".join(fewer) == words
    size, (first, rest) = fit_lines(words, [14], 90, 40)
    assert words.startswith(first)
    assert rest.endswith("...")
    assert text_width(rest, 14) <= 90
