"""A position as a picture: both armies in columns, and between them what goes on.

Drawn without a display. `facts` has what is said and `armies` draws the columns; the header, the
current step, the last dice, the events and the legend are drawn here. Needs
``pip install "wfb-gym[render]"``.
"""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from wfb_gym.engine.battle import Battle
from wfb_gym.render import colours
from wfb_gym.render.armies import LEGEND, STATUS_COLOURS, dice_row, draw_armies
from wfb_gym.render.canvas import Box, Canvas, OnText, line_height, text_width, wrap_to_fit
from wfb_gym.render.colours import Colour
from wfb_gym.render.facts import (
    RollFacts,
    StepFacts,
    army_facts,
    army_name,
    last_roll,
    step_facts,
)
from wfb_gym.scenario import Scenario
from wfb_gym.transcripts.names import ScenarioNames
from wfb_gym.transcripts.narrator import Event

SIZE = (1280, 720)
"""Width and height of a picture that is not asked for in another size."""
LEAST_SIZE = (640, 360)
_MOST_EVENTS = 30
"""Events before the last that are looked at."""
_MOST_CACHED = 8
_cached_names: list[tuple[Scenario, ScenarioNames]] = []
"""Names of the latest scenarios, so that a film does not look them up for each frame."""


def picture(
    scenario: Scenario,
    battle: Battle,
    events: Sequence[Event],
    *,
    seat: int = 0,
    size: tuple[int, int] = SIZE,
) -> NDArray[np.uint8]:
    """Draw a position.

    Args:
        scenario: that is played.
        battle: the visible position, `wfb_gym.transcripts.NarratedBattle.visible`, with the points
            that have changed hands. The position that is played will do, but in a battle's last
            phase it has cleared what can no longer matter.
        events: what happened last, oldest first; as many of them as there is room for.
        seat: the army, 0 or 1, that is drawn on the left and whose points count.
        size: width and height in pixels.

    Returns:
        The picture, uint8 (height, width, 3), red, green and blue.

    Raises:
        ValueError: an unknown seat, or a size below `LEAST_SIZE`.
    """
    if seat not in (0, 1):
        raise ValueError(f"seat: expected 0 or 1, found {seat!r}")
    if size[0] < LEAST_SIZE[0] or size[1] < LEAST_SIZE[1]:
        least = "x".join(map(str, LEAST_SIZE))
        raise ValueError(f"size: expected {least} or more, found {size[0]}x{size[1]}")
    return draw(scenario, battle, events, seat, size).pixels()


def draw(
    scenario: Scenario,
    battle: Battle,
    events: Sequence[Event],
    seat: int,
    size: tuple[int, int],
    on_text: OnText | None = None,
) -> Canvas:
    """Draw a position on a canvas; arguments as for `picture` and `Canvas`."""
    names = _names_of(scenario)
    unit = min(size[0] / SIZE[0], size[1] / SIZE[1])
    canvas = Canvas(*size, colours.PAPER, on_text)
    page = Box(0, 0, *size).inset(round(10 * unit))
    gap = round(10 * unit)
    _draw_header(canvas, page.rows(0, round(54 * unit)), scenario, battle, seat, unit)
    page = page._replace(top=page.top + round(54 * unit) + gap)
    wide = page.width * 408 // 1260
    columns = page._replace(right=page.left + wide), page._replace(left=page.right - wide)
    own, enemy = (army_facts(scenario, names, battle, army) for army in (seat, 1 - seat))
    draw_armies(canvas, columns, (own, enemy), unit)
    middle = page._replace(left=columns[0].right + gap, right=columns[1].left - gap)
    high = round(148 * unit)
    _draw_step(canvas, middle.rows(0, high), step_facts(scenario, names, battle), unit)
    _draw_roll(canvas, middle.rows(high + gap, round(196 * unit)), last_roll(events), unit)
    high += gap + round(196 * unit) + gap
    legend = round(18 * unit)
    panel = middle.rows(high, middle.height - high - legend - gap // 2)
    _draw_events(canvas, panel, events, seat, unit)
    _draw_legend(canvas, middle.rows(middle.height - legend, legend), unit)
    return canvas


def _names_of(scenario: Scenario) -> ScenarioNames:
    for cached, names in _cached_names:
        if cached is scenario:
            return names
    names = ScenarioNames(scenario)
    _cached_names.insert(0, (scenario, names))
    del _cached_names[_MOST_CACHED:]
    return names


# --- the header ----------------------------------------------------------------------------


def _draw_header(
    canvas: Canvas, box: Box, scenario: Scenario, battle: Battle, seat: int, unit: float
) -> None:
    """Draw the scenario, the score and the phases."""
    wide = box.width * 408 // 1260
    gap = round(10 * unit)
    canvas.text(box._replace(right=box.left + wide), scenario.name, 26 * unit, colours.INK)
    middle = box._replace(left=box.left + wide + gap, right=box.right - wide - gap)
    _draw_score(canvas, middle, scenario, battle.points, seat, unit)
    _draw_phases(canvas, box._replace(left=box.right - wide), battle, unit)


_SCALES = (50, 100, 200, 500, 1000, 2000, 5000, 10_000, 20_000, 50_000)


def _draw_score(
    canvas: Canvas, box: Box, scenario: Scenario, points: float, seat: int, unit: float
) -> None:
    """Draw a bar from the middle towards the army that is ahead."""
    scale = next((each for each in _SCALES if abs(points) <= each), _SCALES[-1])
    leader = 0 if points > 0 else 1
    own = points if seat == 0 else -points
    size = 12 * unit
    bar = box.rows(round(27 * unit), round(14 * unit))
    canvas.fill(bar, colours.PANEL, colours.LINE)
    middle = (bar.left + bar.right) // 2
    long = round(min(1.0, abs(points) / scale) * (bar.width / 2 - 1))
    if long and own > 0:
        canvas.fill(Box(middle - long, bar.top + 1, middle, bar.bottom - 1), colours.ARMIES[leader])
    elif long:
        canvas.fill(Box(middle, bar.top + 1, middle + long, bar.bottom - 1), colours.ARMIES[leader])
    canvas.fill(Box(middle, bar.top - 3, middle + 1, bar.bottom + 3), colours.INK)
    words = "level on points"
    if abs(points) >= 0.05:
        words = f"{own:+.1f} points: {army_name(scenario, leader)} ahead"
    ink = colours.INK if abs(points) < 0.05 else colours.ARMIES[leader]
    canvas.text(box.rows(0, round(25 * unit)), words, 17 * unit, ink, "centre")
    ticks = box.rows(round(41 * unit), round(13 * unit))
    canvas.text(ticks, f"+{scale}", size, colours.FADED)
    canvas.text(ticks, f"-{scale}", size, colours.FADED, "right")


def _draw_phases(canvas: Canvas, box: Box, battle: Battle, unit: float) -> None:
    """Draw a square for each magic phase in the colour of its army: past, present, to come."""
    total, phase = int(battle.packed.phases), int(battle.state.phase)
    over = battle.is_over
    words = f"{total} magic phase{'' if total == 1 else 's'}"
    if over:
        words += ", all over"
    elif total > 1:
        words = f"magic phase {phase + 1} of {total}, {total - phase - 1} to come"
    size = 15 * unit
    canvas.text(box.rows(0, round(25 * unit)), words, size, colours.INK, "right")
    step, side = round(24 * unit), round(18 * unit)
    left = box.right - total * step + (step - side)
    for number in range(total):
        colour = colours.ARMIES[number % 2]
        top = box.top + round(29 * unit)
        square = Box(left + number * step, top, left + number * step + side, top + side)
        past = over or number < phase
        canvas.fill(square, colours.GONE if past else colour if number == phase else colours.PANEL)
        canvas.frame(square, colours.LINE if past else colour, max(1, round(2 * unit)))
        ink = colours.FADED if past else colours.WHITE if number == phase else colour
        canvas.text(square, str(number + 1), 12 * unit, ink, "centre")


# --- the middle ----------------------------------------------------------------------------


def _draw_step(canvas: Canvas, box: Box, step: StepFacts, unit: float) -> None:
    """Draw the current step.

    Args:
        canvas: to draw on.
        box: that it takes.
        step: the facts.
        unit: pixels for one of a picture 720 high.
    """
    colour = colours.INK if step.army is None else colours.ARMIES[step.army]
    canvas.fill(box, colours.PANEL, colours.TURN, max(1, round(2 * unit)))
    inner = box.inset(round(12 * unit), round(8 * unit))
    size = 19 * unit
    taken = canvas.paragraph(inner, step.text, size, colour, 2)
    top = taken + round(4 * unit)
    if step.spell:
        top += canvas.paragraph(_below(inner, top), step.spell, 17 * unit, colours.INK, 2)
    if step.details:
        place = _below(inner, top)
        top += canvas.paragraph(place, step.details, 15 * unit, colours.FADED, 2)
    row = Box(inner.left, inner.bottom - round(24 * unit), inner.right, inner.bottom)
    if row.top < inner.top + top:
        return
    if step.faces:
        side = min(round(26 * unit), row.width // len(step.faces))
        die = side - max(1, side // 8)
        for number, face in enumerate(step.faces):
            corner = row.left + number * side, row.top + (row.height - die) // 2
            canvas.die(*corner, die, face, colours.BONE, colours.INK)
    elif step.dice:
        dice_row(canvas, row, step.dice, colour, round(22 * unit))


def _draw_roll(canvas: Canvas, box: Box, roll: RollFacts | None, unit: float) -> None:
    """Draw the last dice as they fell, and what they meant; arguments as for `_draw_step`."""
    canvas.fill(box, colours.PANEL, colours.LINE)
    inner = box.inset(round(12 * unit), round(8 * unit))
    size = 14 * unit
    if roll is None:
        canvas.text(inner, "no dice have been thrown", size, colours.FADED, "centre")
        return
    colour = colours.ARMIES[roll.army]
    title = inner.rows(0, line_height(size))
    mark = round(11 * unit)
    canvas.fill(Box(title.left, title.top + mark // 3, title.left + mark, title.bottom - 2), colour)
    label = title._replace(left=title.left + mark + round(7 * unit))
    canvas.text(label, f"Last dice, {roll.purpose}", size, colours.FADED)
    sizes = [each * unit for each in ((16, 15, 14, 13, 12, 11) if roll.faces else (20, 16, 14, 12))]
    high = round(inner.height * (0.46 if roll.faces else 0.8))
    size, words = wrap_to_fit(roll.words, sizes, inner.width, high)
    step = line_height(size)
    bottom = inner.bottom - len(words) * step
    if not roll.faces:
        bottom -= (bottom - title.bottom) // 2
    for number, line in enumerate(words):
        place = Box(inner.left, bottom + number * step, inner.right, bottom + (number + 1) * step)
        canvas.text(place, line, size, colours.INK)
    dice = Box(inner.left, title.bottom + round(6 * unit), inner.right, bottom - round(6 * unit))
    _draw_faces(canvas, dice, roll, unit)


def _draw_faces(canvas: Canvas, box: Box, roll: RollFacts, unit: float) -> None:
    """Draw the dice in as many rows as make them largest, and their total beside them."""
    if not roll.faces:
        return
    total = "" if roll.total is None or len(roll.faces) < 2 else f"= {roll.total}"
    wide = text_width(total, 30 * unit) + round(14 * unit) if total else 0
    room = box._replace(right=box.right - wide)
    count = len(roll.faces)
    most = round(64 * unit)
    side, rows = max(
        (min(room.width // -(-count // rows), room.height // rows, most), -rows)
        for rows in range(1, count + 1)
    )
    across = -(-count // -rows)
    size = max(4, side - max(2, side // 8))
    high = -rows * side
    top = room.top + (room.height - high) // 2
    for index, face in enumerate(roll.faces):
        row, column = divmod(index, across)
        place = room.left + column * side, top + row * side
        body, ink = _die_colours(roll, face)
        canvas.die(*place, size, face, body, ink)
    if total:
        left = room.left + across * side + round(6 * unit)
        canvas.text(Box(left, top, left + wide, top + high), total, 30 * unit, colours.INK)


def _die_colours(roll: RollFacts, face: int) -> tuple[Colour, Colour]:
    """Return the colours of a die's body and pips; 6s, and doubles of 6s and 1s, stand out."""
    double = roll.faces.count(face) > 1
    if roll.natural and face == 6:
        return colours.SIX, colours.WOUND if double else colours.INK
    if roll.casting and face == 1 and double:
        return colours.ONE, colours.INK
    return colours.BONE, colours.INK


def _draw_events(canvas: Canvas, box: Box, events: Sequence[Event], seat: int, unit: float) -> None:
    """Draw what happened, the latest first, points as `seat` sees them.

    A roll that has just been made stands with its dice, and is left out here.
    """
    if events and events[-1].kind == "roll":
        events = events[:-1]
    canvas.fill(box, colours.PANEL, colours.LINE)
    inner = box.inset(round(12 * unit), round(8 * unit))
    mark, indent = round(8 * unit), round(16 * unit)
    top = 0
    for age, event in enumerate(reversed(events[-_MOST_EVENTS:])):
        if not event.words:
            continue
        won = event.points if seat == 0 else -event.points
        points = "" if abs(won) < 0.05 else f"{won:+.1f}"
        beside = text_width(points, 14 * unit) + round(8 * unit) if points else 0
        room = inner._replace(left=inner.left + indent, right=inner.right - beside)
        sizes = [each * unit for each in ((14, 12, 11) if top == 0 else (14,))]
        size, lines = wrap_to_fit(event.words, sizes, room.width, inner.height)
        step = line_height(size)
        if top + len(lines) * step > inner.height:
            break
        first = inner.rows(top, step)
        dot_top = first.top + (step - mark) // 2
        canvas.dot(first.left, dot_top, mark, colours.ARMIES[event.army], True)
        ink = colours.INK if age == 0 else colours.FADED
        for number, line in enumerate(lines):
            canvas.text(room.rows(top + number * step, step), line, size, ink)
        if points:
            winner = colours.ARMIES[0 if event.points > 0 else 1]
            canvas.text(first._replace(left=inner.right - beside), points, size, winner, "right")
        top += len(lines) * step + round(4 * unit)


def _draw_legend(canvas: Canvas, box: Box, unit: float) -> None:
    """Draw what the colours of spells mean; arguments as for `_draw_step`."""
    size = 12 * unit
    left = box.left
    swatch = round(12 * unit)
    for status in LEGEND:
        top = (box.top + box.bottom - swatch) // 2
        ground = STATUS_COLOURS[status]
        canvas.fill(Box(left, top, left + swatch, top + swatch), ground, colours.FADED)
        left += swatch + round(5 * unit)
        wide = text_width(status.value, size)
        canvas.text(box._replace(left=left, right=left + wide), status.value, size, colours.FADED)
        left += wide + round(11 * unit)


def _below(box: Box, top: int) -> Box:
    return box._replace(top=box.top + top)
