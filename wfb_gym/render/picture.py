"""A position as a picture: both armies in columns, with the current step between them.

`armies` draws the columns. This module draws the header, the current step, the latest dice, the
events and the legend. Requires ``pip install "wfb-gym[render]"``, but no display.
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from wfb_gym.engine.battle import Battle
from wfb_gym.engine.nodes import CASTING_ROLLS, DISPEL_ROLLS, NODES
from wfb_gym.engine.state import Node
from wfb_gym.render import colours
from wfb_gym.render.armies import LEGEND, draw_armies
from wfb_gym.render.dice import doubled
from wfb_gym.render.drawing import to_image
from wfb_gym.render.labels import text_width
from wfb_gym.render.shapes import Drawing, Extent
from wfb_gym.render.sketch import LEADING, Sketch, fit_lines
from wfb_gym.scenario import Scenario
from wfb_gym.view.events import Event, redact_events
from wfb_gym.view.hidden_sets import armies_known
from wfb_gym.view.names import ScenarioNames
from wfb_gym.view.position import PositionView, StepView, view_position

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

SIZE = (1280, 720)  # default width and height of a picture, in pixels
LEAST_SIZE = (640, 360)  # minimum width and height of a picture, in pixels
_MOST_EVENTS = 30


def picture(
    scenario: Scenario,
    battle: Battle,
    events: Sequence[Event],
    *,
    seat: int = 0,
    size: tuple[int, int] = SIZE,
) -> "NDArray[np.uint8]":
    """Draw a position.

    Args:
        scenario: the scenario.
        battle: the visible position, `wfb_gym.transcripts.NarratedBattle.visible`, with its points.
            The engine's own position works too, but in the last phase the engine clears fields that
            no longer matter to it.
        events: the latest events, oldest first. The oldest are left out if space runs out.
        seat: the army to show on the left, 0 or 1. Points are from its perspective, and until the
            end only its own hidden items are shown.
        size: width and height in pixels.

    Returns:
        The RGB picture, uint8 (height, width, 3).

    Raises:
        ValueError: if the seat is unknown or the size is below `LEAST_SIZE`.
        ImportError: if Pillow is not installed.
    """
    import numpy as np

    if seat not in (0, 1):
        raise ValueError(f"seat: expected 0 or 1, found {seat!r}")
    if size[0] < LEAST_SIZE[0] or size[1] < LEAST_SIZE[1]:
        least = "x".join(map(str, LEAST_SIZE))
        raise ValueError(f"size: expected {least} or more, found {size[0]}x{size[1]}")
    names = ScenarioNames(scenario)
    view = view_position(names, battle, seat, with_points=False)
    visible = list(redact_events(names, events, armies_known(battle, seat)))
    return np.array(to_image(draw_position(view, visible, size), size[0]))


def draw_position(
    view: PositionView, events: Sequence[Event], size: tuple[int, int] = SIZE
) -> Drawing:
    """Return a position as shapes, for an image of the given size.

    Args:
        view: the view of the position. The viewer's army is drawn on the left.
        events: the latest events, redacted for the viewer, oldest first.
        size: width and height in pixels; only their ratio matters.
    """
    seat = view.viewer or 0
    unit = min(size[0] / SIZE[0], size[1] / SIZE[1])
    extent = Extent(0.0, -size[1] / unit, size[0] / unit, 0.0)
    page, sketch = extent.grown(-10), Sketch()
    wide = page.width * 408 // 1260
    left, right = page._replace(right=page.left + wide), page._replace(left=page.right - wide)
    middle = page._replace(left=left.right + 10, right=right.left - 10)
    sketch.write(left.row(0, 54), view.scenario, 26, colours.INK)
    _draw_score(sketch, middle.row(0, 54), view, seat)
    _draw_phases(sketch, right.row(0, 54), view)
    left, middle, right = (each._replace(top=each.top - 64) for each in (left, middle, right))
    draw_armies(sketch, (left, right), [view.armies[army] for army in (seat, 1 - seat)])
    _draw_step(sketch, middle.row(0, 148), view.step)
    throws = [event for event in events if _is_throw(event)]
    _draw_roll(sketch, middle.row(158, 196), throws[-1] if throws else None)
    legend = middle.row(middle.height - 18, 18)
    history = middle._replace(top=middle.top - 364, bottom=legend.top + 5)
    _draw_events(sketch, history, events, seat)
    _draw_legend(sketch, legend)
    return Drawing(extent, tuple(sketch.shapes), view.scenario)


def _is_throw(event: Event) -> bool:
    """Return whether the event is a roll of dice rather than a deal."""
    return event.kind == "roll" and event.node != Node.DEAL


# --- the header ----------------------------------------------------------------------------

_SCALES = (50, 100, 200, 500, 1000, 2000, 5000, 10_000, 20_000, 50_000)


def _draw_score(sketch: Sketch, box: Extent, view: PositionView, seat: int) -> None:
    """Draw the score as a bar that extends from the middle towards the leading army."""
    points = view.points
    scale = next((each for each in _SCALES if abs(points) <= each), _SCALES[-1])
    leader = 0 if points > 0 else 1
    own = points if seat == 0 else -points
    bar, middle = box.row(27, 14), box.middle[0] // 1
    sketch.fill(bar, colours.PANEL, colours.LINE)
    long = min(1.0, abs(points) / scale) * (bar.width / 2 - 1)
    filled = bar.grown(0, -1)._replace(left=middle, right=middle + long)
    if own > 0:
        filled = filled._replace(left=middle - long, right=middle)
    sketch.fill(filled, colours.ARMIES[leader])
    sketch.fill(bar.grown(0, 3)._replace(left=middle, right=middle + 1), colours.INK)
    words, ink = f"level on {view.point}s", colours.INK
    if view.leader is not None:
        words = f"{own:+.1f} {view.point}s: {view.armies[leader].name} ahead"
        ink = colours.ARMIES[leader]
    sketch.write(box.row(0, 25), words, 17, ink, "middle")
    sketch.write(box.row(41, 13), f"+{scale}", 12, colours.FADED)
    sketch.write(box.row(41, 13), f"-{scale}", 12, colours.FADED, "end")


def _draw_phases(sketch: Sketch, box: Extent, view: PositionView) -> None:
    """Draw a square for each magic phase (past, current or future) in its army's colour."""
    total, phase = view.phases, view.phase
    words = f"{total} magic phase{'' if total == 1 else 's'}"
    if view.is_over:
        words += ", all over"
    elif total > 1:
        words = f"magic phase {phase + 1} of {total}, {total - phase - 1} to come"
    sketch.write(box.row(0, 25), words, 15, colours.INK, "end")
    for number in range(total):
        fill = edge = colours.ARMIES[number % 2]
        ink = colours.WHITE
        if view.is_over or number < phase:
            fill, edge, ink = colours.GONE, colours.LINE, colours.FADED
        elif number > phase:
            fill, ink = colours.PANEL, edge
        left = box.right - 24 * (total - number) + 6
        square = box.row(29, 18)._replace(left=left, right=left + 18)
        sketch.fill(square, fill, edge, 2)
        sketch.write(square, str(number + 1), 12, ink, "middle")


# --- the middle ----------------------------------------------------------------------------


def _draw_step(sketch: Sketch, box: Extent, step: StepView) -> None:
    colour = colours.INK if step.army is None else colours.ARMIES[step.army]
    sketch.fill(box, colours.PANEL, colours.TURN, 2)
    inner = box.grown(-12, -8)
    row = inner.row(inner.height - 24, 24)
    paragraphs = (
        (step.text, 19, colour, 4),
        (step.spell, 17, colours.INK, 0),
        (step.details, 15, colours.FADED, 0),
    )
    for words, size, ink, gap in paragraphs:
        _, lines = fit_lines(words, [size], inner.width, 2 * size * LEADING)
        down = sketch.write_lines(inner, lines, size, ink) + gap
        inner = inner._replace(top=inner.top - down)
    if row.top > inner.top:
        return
    if step.faces:
        side = min(26, row.width / len(step.faces))
        for number, face in enumerate(step.faces):
            left = row.left + number * side
            sketch.die(row, left, side * 0.88, face, colours.BONE, colours.INK)
    else:
        sketch.unthrown(row, step.dice, colour, 22)


def _draw_roll(sketch: Sketch, box: Extent, roll: Event | None) -> None:
    """Draw the last roll, including its dice and its description."""
    sketch.fill(box, colours.PANEL, colours.LINE)
    inner = box.grown(-12, -8)
    if roll is None:
        sketch.write(inner, "no dice have been thrown", 14, colours.FADED, "middle")
        return
    title = inner.row(0, 18)
    mark = title.grown(0, -3)._replace(right=title.left + 12)
    sketch.fill(mark, colours.ARMIES[roll.army])
    label = title._replace(left=mark.right + 7)
    sketch.write(label, f"Last dice, {NODES[roll.node].words}", 14, colours.FADED)
    sizes = (16, 15, 14, 13, 12, 11) if roll.faces else (20, 16, 14, 12)
    high = inner.height * (0.46 if roll.faces else 0.8)
    size, words = fit_lines(roll.words, sizes, inner.width, high)
    top = inner.bottom + len(words) * size * LEADING
    if roll.faces:
        _draw_faces(sketch, inner._replace(top=title.bottom - 6, bottom=top + 6), roll)
    else:
        top += (title.bottom - top) / 2
    sketch.write_lines(inner._replace(top=top), words, size, colours.INK)


def _draw_faces(sketch: Sketch, box: Extent, roll: Event) -> None:
    """Draw the dice as large as possible, in one or more rows, with their total next to them."""
    size, count, marked = 30, len(roll.faces), doubled(roll)
    totalled = (*CASTING_ROLLS, *DISPEL_ROLLS, Node.ROLL_MISCAST)
    total = f"= {sum(roll.faces)}" if count > 1 and roll.node in totalled else ""
    wide = text_width(total, size) + 14 if total else 0.0
    side, rows = max(
        (min((box.width - wide) // -(-count // rows), box.height // rows, 64), -rows)
        for rows in range(1, count + 1)
    )
    across = -(-count // -rows)
    block = box.row((box.height + rows * side) / 2, -rows * side)
    die = max(4, side - max(2, side // 8))
    for index, face in enumerate(roll.faces):
        row, column = divmod(index, across)
        body = {6: colours.SIX, 1: colours.ONE}[face] if face in marked else colours.BONE
        place = block.row(row * side, die)
        sketch.die(place, block.left + column * side, die, face, body, colours.INK)
    left = block.left + across * side + 6
    sketch.write(block._replace(left=left, right=left + wide), total, size, colours.INK)


def _draw_events(sketch: Sketch, box: Extent, events: Sequence[Event], seat: int) -> None:
    """Draw the events, latest first, with points from `seat`'s perspective."""
    if events and _is_throw(events[-1]):  # already shown by `_draw_roll`
        events = events[:-1]
    sketch.fill(box, colours.PANEL, colours.LINE)
    inner = box.grown(-12, -8)
    high, sizes = inner.height, [14, 12, 11]
    for age, event in enumerate(reversed(events[-_MOST_EVENTS:])):
        if not event.words:
            continue
        won = event.points if seat == 0 else -event.points
        points = "" if abs(won) < 0.05 else f"{won:+.1f}"
        beside = text_width(points, 14) + 8 if points else 0
        text = inner._replace(left=inner.left + 16, right=inner.right - beside)
        size, lines = fit_lines(event.words, sizes, text.width, high if age == 0 else 1e6)
        if len(lines) * size * LEADING > inner.height:
            break
        first = inner.row(0, size * LEADING)
        sketch.dot(first, first.left, 8, colours.ARMIES[event.army], True)
        down = sketch.write_lines(text, lines, size, colours.INK if age == 0 else colours.FADED)
        if points:
            winner = colours.ARMIES[0 if event.points > 0 else 1]
            sketch.write(first._replace(left=text.right), points, size, winner, "end")
        inner = inner._replace(top=inner.top - down - 4)
        sizes = sizes[:1]


def _draw_legend(sketch: Sketch, box: Extent) -> None:
    """Draw the legend for the spell colours."""
    left = box.left
    for status, colour in LEGEND.items():
        swatch = box.grown(0, -3)._replace(left=left, right=left + 12)
        sketch.fill(swatch, colour, colours.FADED)
        place = box._replace(left=left + 17, right=left + 17 + text_width(status.value, 12))
        sketch.write(place, status.value, 12, colours.FADED)
        left = place.right + 11
