"""The middle of the picture: what must be done now, the last dice, what happened before, a key."""

from collections.abc import Sequence

from wfb_gym.render import colours
from wfb_gym.render.canvas import Box, Canvas, length, line_height, set_in
from wfb_gym.render.colours import Colour
from wfb_gym.render.columns import LEGEND, dice_row, standing_colour
from wfb_gym.render.moment import Now, Roll
from wfb_gym.transcripts.events import Event

MOST_TOLD = 30
"""Events before the last that are looked at."""


def draw_now(canvas: Canvas, box: Box, now: Now, unit: float) -> None:
    """Draw who must do what.

    Args:
        canvas: to draw on.
        box: that it takes.
        now: the facts.
        unit: pixels for one of a picture 720 high.
    """
    colour = colours.INK if now.army is None else colours.ARMIES[now.army]
    canvas.fill(box, colours.PANEL, colours.TURN, max(1, round(2 * unit)))
    inner = box.inset(round(12 * unit), round(8 * unit))
    size = 19 * unit
    taken = canvas.paragraph(inner, now.words, size, colour, 2)
    top = taken + round(4 * unit)
    if now.spell:
        top += canvas.paragraph(_below(inner, top), now.spell, 17 * unit, colours.INK, 2)
    if now.about:
        place = _below(inner, top)
        top += canvas.paragraph(place, now.about, 15 * unit, colours.FADED, 2)
    row = Box(inner.left, inner.bottom - round(24 * unit), inner.right, inner.bottom)
    if row.top < inner.top + top:
        return
    if now.faces:
        step = min(round(26 * unit), row.width // len(now.faces))
        die = step - max(1, step // 8)
        for number, face in enumerate(now.faces):
            corner = row.left + number * step, row.top + (row.height - die) // 2
            canvas.die(*corner, die, face, colours.BONE, colours.INK)
    elif now.dice:
        dice_row(canvas, row, now.dice, colour, round(22 * unit))


def draw_roll(canvas: Canvas, box: Box, roll: Roll | None, unit: float) -> None:
    """Draw the last dice as they fell, and what they meant; arguments as for `draw_now`."""
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
    canvas.text(label, f"Last dice, {roll.what}", size, colours.FADED)
    sizes = [each * unit for each in ((16, 15, 14, 13, 12, 11) if roll.faces else (20, 16, 14, 12))]
    high = round(inner.height * (0.46 if roll.faces else 0.8))
    size, words = set_in(roll.words, sizes, inner.width, high)
    step = line_height(size)
    bottom = inner.bottom - len(words) * step
    if not roll.faces:
        bottom -= (bottom - title.bottom) // 2
    for number, line in enumerate(words):
        place = Box(inner.left, bottom + number * step, inner.right, bottom + (number + 1) * step)
        canvas.text(place, line, size, colours.INK)
    dice = Box(inner.left, title.bottom + round(6 * unit), inner.right, bottom - round(6 * unit))
    _faces(canvas, dice, roll, unit)


def _faces(canvas: Canvas, box: Box, roll: Roll, unit: float) -> None:
    """The dice in as many rows as make them largest, and their total beside them."""
    if not roll.faces:
        return
    total = "" if roll.total is None or len(roll.faces) < 2 else f"= {roll.total}"
    wide = length(total, 30 * unit) + round(14 * unit) if total else 0
    room = box._replace(right=box.right - wide)
    count = len(roll.faces)
    most = round(64 * unit)
    step, rows = max(
        (min(room.width // -(-count // rows), room.height // rows, most), -rows)
        for rows in range(1, count + 1)
    )
    across = -(-count // -rows)
    size = max(4, step - max(2, step // 8))
    high = -rows * step
    top = room.top + (room.height - high) // 2
    for index, face in enumerate(roll.faces):
        row, column = divmod(index, across)
        place = room.left + column * step, top + row * step
        body, ink = _look(roll, face)
        canvas.die(*place, size, face, body, ink)
    if total:
        left = room.left + across * step + round(6 * unit)
        canvas.text(Box(left, top, left + wide, top + high), total, 30 * unit, colours.INK)


def _look(roll: Roll, face: int) -> tuple[Colour, Colour]:
    """Body and pips of a die: 6s stand out, and doubles of 6s and 1s more so."""
    double = roll.faces.count(face) > 1
    if roll.natural and face == 6:
        return colours.SIX, colours.WOUND if double else colours.INK
    if roll.casting and face == 1 and double:
        return colours.ONE, colours.INK
    return colours.BONE, colours.INK


def draw_events(canvas: Canvas, box: Box, events: Sequence[Event], seat: int, unit: float) -> None:
    """Draw what happened, the latest first, points as `seat` sees them.

    A roll that has just been made is told with its dice, and not once more.
    """
    if events and events[-1].kind == "roll":
        events = events[:-1]
    canvas.fill(box, colours.PANEL, colours.LINE)
    inner = box.inset(round(12 * unit), round(8 * unit))
    mark, indent = round(8 * unit), round(16 * unit)
    top = 0
    for age, event in enumerate(reversed(events[-MOST_TOLD:])):
        if not event.words:
            continue
        won = event.points if seat == 0 else -event.points
        points = "" if abs(won) < 0.05 else f"{won:+.1f}"
        beside = length(points, 14 * unit) + round(8 * unit) if points else 0
        room = inner._replace(left=inner.left + indent, right=inner.right - beside)
        sizes = [each * unit for each in ((14, 12, 11) if top == 0 else (14,))]
        size, lines = set_in(event.words, sizes, room.width, inner.height)
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


def draw_legend(canvas: Canvas, box: Box, unit: float) -> None:
    """Draw what the colours of spells mean; arguments as for `draw_now`."""
    size = 12 * unit
    left = box.left
    swatch = round(12 * unit)
    for standing in LEGEND:
        top = (box.top + box.bottom - swatch) // 2
        ground = standing_colour(standing)
        canvas.fill(Box(left, top, left + swatch, top + swatch), ground, colours.FADED)
        left += swatch + round(5 * unit)
        wide = length(standing.value, size)
        canvas.text(box._replace(left=left, right=left + wide), standing.value, size, colours.FADED)
        left += wide + round(11 * unit)


def _below(box: Box, top: int) -> Box:
    return box._replace(top=box.top + top)
