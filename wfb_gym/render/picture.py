"""A position as a picture: both armies in columns, and between them what goes on.

Drawn without a display. `facts` has what is said and `armies` draws the columns; the header, the
current step, the last dice, the events and the legend are drawn here. Needs
``pip install "wfb-gym[render]"``.
"""

from collections.abc import Collection, Sequence

import numpy as np
from numpy.typing import NDArray

from wfb_gym.engine.battle import Battle
from wfb_gym.engine.state import Node
from wfb_gym.render import colours
from wfb_gym.render.armies import LEGEND, STATUS_COLOURS, draw_armies, draw_unthrown
from wfb_gym.render.canvas import Box, Canvas, line_height, text_width, wrap_text, wrap_to_fit
from wfb_gym.scenario import Scenario
from wfb_gym.view.events import Event, all_as_told
from wfb_gym.view.hidden_sets import armies_known
from wfb_gym.view.names import ScenarioNames
from wfb_gym.view.nodes import CASTING_ROLLS, DISPEL_ROLLS, ROLLS
from wfb_gym.view.position import PositionView, StepView, view_position

SIZE = (1280, 720)
"""Width and height of a picture that is not asked for in another size."""
LEAST_SIZE = (640, 360)
_MOST_EVENTS = 30
"""Events before the last that are looked at."""


def picture(
    scenario: Scenario,
    battle: Battle,
    events: Sequence[Event],
    *,
    seat: int = 0,
    size: tuple[int, int] = SIZE,
    known: Collection[int] | None = None,
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
        known: armies whose hidden items are shown; unless given the seat's, and all when the
            battle is over.

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
    names = ScenarioNames(scenario)
    known = armies_known(battle, seat) if known is None else known
    view = view_position(names, battle, seat, known)
    events = list(all_as_told(names, events, known))
    unit = min(size[0] / SIZE[0], size[1] / SIZE[1])
    canvas = Canvas(*size, colours.PAPER, unit)
    px = canvas.px
    page = Box(0, 0, *size).inset(px(10))
    wide = page.width * 408 // 1260
    left, right = page._replace(right=page.left + wide), page._replace(left=page.right - wide)
    middle = page._replace(left=left.right + px(10), right=right.left - px(10))
    canvas.text(left.rows(0, px(54)), scenario.name, 26 * unit, colours.INK)
    _draw_score(canvas, middle.rows(0, px(54)), view, seat)
    _draw_phases(canvas, right.rows(0, px(54)), view)
    left, middle, right = (
        each._replace(top=each.top + px(54) + px(10)) for each in (left, middle, right)
    )
    draw_armies(canvas, (left, right), [view.armies[army] for army in (seat, 1 - seat)])
    step, roll = middle.rows(0, px(148)), middle.rows(px(148) + px(10), px(196))
    legend = middle._replace(top=middle.bottom - px(18))
    history = middle._replace(top=roll.bottom + px(10), bottom=legend.top - px(10) // 2)
    _draw_step(canvas, step, view.step)
    _draw_roll(canvas, roll, next((e for e in reversed(events) if _is_throw(e)), None))
    _draw_events(canvas, history, events, seat)
    _draw_legend(canvas, legend)
    return canvas.pixels()


def _is_throw(event: Event) -> bool:
    """Whether dice were thrown."""
    return event.kind == "roll" and event.node != Node.DEAL


# --- the header ----------------------------------------------------------------------------

_SCALES = (50, 100, 200, 500, 1000, 2000, 5000, 10_000, 20_000, 50_000)


def _draw_score(canvas: Canvas, box: Box, view: PositionView, seat: int) -> None:
    """Draw a bar from the middle towards the army that is ahead."""
    px, unit, points = canvas.px, canvas.unit, view.points
    scale = next((each for each in _SCALES if abs(points) <= each), _SCALES[-1])
    leader = 0 if points > 0 else 1
    own = points if seat == 0 else -points
    bar = box.rows(px(27), px(14))
    canvas.fill(bar, colours.PANEL, colours.LINE)
    middle = (bar.left + bar.right) // 2
    long = round(min(1.0, abs(points) / scale) * (bar.width / 2 - 1))
    left = middle - long if own > 0 else middle
    filled = Box(left, bar.top + 1, left + long, bar.bottom - 1)
    canvas.fill(filled, colours.ARMIES[leader])
    canvas.fill(Box(middle, bar.top - 3, middle + 1, bar.bottom + 3), colours.INK)
    words, ink = f"level on {view.point}s", colours.INK
    if view.leader is not None:
        words = f"{own:+.1f} {view.point}s: {view.armies[leader].name} ahead"
        ink = colours.ARMIES[leader]
    canvas.text(box.rows(0, px(25)), words, 17 * unit, ink, "centre")
    ticks = box.rows(px(41), px(13))
    canvas.text(ticks, f"+{scale}", 12 * unit, colours.FADED)
    canvas.text(ticks, f"-{scale}", 12 * unit, colours.FADED, "right")


def _draw_phases(canvas: Canvas, box: Box, view: PositionView) -> None:
    """Draw a square for each magic phase in the colour of its army: past, present, to come."""
    px, unit = canvas.px, canvas.unit
    total, phase = view.phases, view.phase
    words = f"{total} magic phase{'' if total == 1 else 's'}"
    if view.is_over:
        words += ", all over"
    elif total > 1:
        words = f"magic phase {phase + 1} of {total}, {total - phase - 1} to come"
    canvas.text(box.rows(0, px(25)), words, 15 * unit, colours.INK, "right")
    step, side = px(24), px(18)
    left = box.right - total * step + (step - side)
    for number in range(total):
        fill = edge = colours.ARMIES[number % 2]
        ink = colours.WHITE
        if view.is_over or number < phase:
            fill, edge, ink = colours.GONE, colours.LINE, colours.FADED
        elif number > phase:
            fill, ink = colours.PANEL, edge
        square = box.rows(px(29), side)._replace(left=left, right=left + side)
        canvas.fill(square, fill, edge, max(1, px(2)))
        canvas.text(square, str(number + 1), 12 * unit, ink, "centre")
        left += step


# --- the middle ----------------------------------------------------------------------------


def _draw_step(canvas: Canvas, box: Box, step: StepView) -> None:
    px, unit = canvas.px, canvas.unit
    colour = colours.INK if step.army is None else colours.ARMIES[step.army]
    canvas.fill(box, colours.PANEL, colours.TURN, max(1, px(2)))
    inner = box.inset(px(12), px(8))
    row = inner._replace(top=inner.bottom - px(24))
    paragraphs = (
        (step.text, 19 * unit, colour, px(4)),
        (step.spell, 17 * unit, colours.INK, 0),
        (step.details, 15 * unit, colours.FADED, 0),
    )
    for words, size, ink, gap in paragraphs:
        lines = wrap_text(words, size, inner.width, 2)
        inner = inner._replace(top=inner.top + canvas.lines(inner, lines, size, ink) + gap)
    if row.top < inner.top:
        return
    if step.faces:
        side = min(px(26), row.width // len(step.faces))
        die = side - max(1, side // 8)
        for number, face in enumerate(step.faces):
            canvas.die(row, row.left + number * side, die, face, colours.BONE, colours.INK)
    else:
        draw_unthrown(canvas, row, step.dice, colour, px(22))


def _draw_roll(canvas: Canvas, box: Box, roll: Event | None) -> None:
    """Draw the last dice as they fell, and what they meant."""
    px, unit = canvas.px, canvas.unit
    canvas.fill(box, colours.PANEL, colours.LINE)
    inner = box.inset(px(12), px(8))
    size = 14 * unit
    if roll is None:
        canvas.text(inner, "no dice have been thrown", size, colours.FADED, "centre")
        return
    title = inner.rows(0, line_height(size))
    mark = Box(title.left, title.top + px(11) // 3, title.left + px(11), title.bottom - 2)
    canvas.fill(mark, colours.ARMIES[roll.army])
    label = title._replace(left=mark.right + px(7))
    canvas.text(label, f"Last dice, {ROLLS[roll.node]}", size, colours.FADED)
    sizes = [each * unit for each in ((16, 15, 14, 13, 12, 11) if roll.faces else (20, 16, 14, 12))]
    high = round(inner.height * (0.46 if roll.faces else 0.8))
    size, words = wrap_to_fit(roll.words, sizes, inner.width, high)
    top = inner.bottom - len(words) * line_height(size)
    if roll.faces:
        _draw_faces(canvas, inner._replace(top=title.bottom + px(6), bottom=top - px(6)), roll)
    else:
        top -= (top - title.bottom) // 2
    canvas.lines(inner._replace(top=top), words, size, colours.INK)


def _draw_faces(canvas: Canvas, box: Box, roll: Event) -> None:
    """Draw the dice in as many rows as make them largest, and their total beside them.

    6s, and doubles of 6s and 1s, stand out where they mean something of their own.
    """
    px, size, count = canvas.px, 30 * canvas.unit, len(roll.faces)
    casting = roll.node in CASTING_ROLLS
    natural = casting or roll.node in DISPEL_ROLLS
    total = ""
    if count > 1 and (natural or roll.node == Node.ROLL_MISCAST):
        total = f"= {sum(roll.faces)}"
    wide = text_width(total, size) + px(14) if total else 0
    side, rows = max(
        (min((box.width - wide) // -(-count // rows), box.height // rows, px(64)), -rows)
        for rows in range(1, count + 1)
    )
    across = -(-count // -rows)
    high = -rows * side
    block = box.rows((box.height - high) // 2, high)
    die = max(4, side - max(2, side // 8))
    for index, face in enumerate(roll.faces):
        row, column = divmod(index, across)
        double = roll.faces.count(face) > 1
        body, ink = colours.BONE, colours.INK
        if natural and face == 6:
            body, ink = colours.SIX, colours.WOUND if double else colours.INK
        elif casting and face == 1 and double:
            body = colours.ONE
        place = block.rows(row * side, die)
        canvas.die(place, block.left + column * side, die, face, body, ink)
    if total:
        left = block.left + across * side + px(6)
        canvas.text(block._replace(left=left, right=left + wide), total, size, colours.INK)


def _draw_events(canvas: Canvas, box: Box, events: Sequence[Event], seat: int) -> None:
    """Draw what happened, the latest first, points as `seat` sees them.

    A roll that has just been made stands with its dice, and is left out here.
    """
    px, unit = canvas.px, canvas.unit
    if events and _is_throw(events[-1]):
        events = events[:-1]
    canvas.fill(box, colours.PANEL, colours.LINE)
    inner = box.inset(px(12), px(8))
    high, sizes = inner.height, [14 * unit, 12 * unit, 11 * unit]
    for age, event in enumerate(reversed(events[-_MOST_EVENTS:])):
        if not event.words:
            continue
        won = event.points if seat == 0 else -event.points
        points = "" if abs(won) < 0.05 else f"{won:+.1f}"
        beside = text_width(points, 14 * unit) + px(8) if points else 0
        room = inner._replace(left=inner.left + px(16), right=inner.right - beside)
        size, lines = wrap_to_fit(event.words, sizes, room.width, high)
        step = line_height(size)
        if len(lines) * step > inner.height:
            break
        first = inner.rows(0, step)
        canvas.dot(first, first.left, px(8), colours.ARMIES[event.army], True)
        canvas.lines(room, lines, size, colours.INK if age == 0 else colours.FADED)
        if points:
            winner = colours.ARMIES[0 if event.points > 0 else 1]
            canvas.text(first._replace(left=inner.right - beside), points, size, winner, "right")
        inner = inner._replace(top=inner.top + len(lines) * step + px(4))
        sizes = sizes[:1]


def _draw_legend(canvas: Canvas, box: Box) -> None:
    """Draw what the colours of spells mean."""
    px, size = canvas.px, 12 * canvas.unit
    swatch = box.rows((box.height - px(12)) // 2, px(12))._replace(right=box.left + px(12))
    for status in LEGEND:
        canvas.fill(swatch, STATUS_COLOURS[status], colours.FADED)
        left = swatch.right + px(5)
        right = left + text_width(status.value, size)
        canvas.text(box._replace(left=left, right=right), status.value, size, colours.FADED)
        left = right + px(11)
        swatch = swatch._replace(left=left, right=left + px(12))
