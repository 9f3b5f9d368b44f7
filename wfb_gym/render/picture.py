"""A position as a picture: both sides in columns, and between them what goes on.

Drawn without a display. What is said is found in `sides` and `moment`, how it is drawn in
`columns` and `middle`. Needs ``pip install "wfb-gym[render]"``.
"""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from wfb_gym.engine.battle import Battle
from wfb_gym.render import colours
from wfb_gym.render.canvas import Box, Canvas, Watch, length
from wfb_gym.render.columns import draw_sides
from wfb_gym.render.middle import draw_events, draw_legend, draw_now, draw_roll
from wfb_gym.render.moment import last_roll, now
from wfb_gym.render.sides import name_of, side_of
from wfb_gym.scenario import Scenario
from wfb_gym.transcripts.events import Event
from wfb_gym.transcripts.wording import Names

SIZE = (1280, 720)
"""Width and height of a picture that is not asked for in another size."""
LEAST_SIZE = (640, 360)
_KEPT = 8
"""Scenarios whose names are remembered, so that a film does not look them up for each frame."""
_named: list[tuple[Scenario, Names]] = []


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
        battle: the position as it stands on the table, with the points that have changed hands:
            `wfb_gym.transcripts.Telling.shown`. The position that is played will do, but in a
            battle's last phase it has cleared what can no longer matter.
        events: what happened last, oldest first; as many of them as there is room for.
        seat: the army, 0 or 1, that is drawn on the left and whose points count.
        size: width and height in pixels.

    Returns:
        The picture, uint8 (height, width, 3), red, green and blue.

    Raises:
        ValueError: a seat that there is none of, or a size below `LEAST_SIZE`.
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
    watch: Watch | None = None,
) -> Canvas:
    """Draw a position on a canvas; arguments as for `picture`, and who is told of all words."""
    names = _names(scenario)
    unit = min(size[0] / SIZE[0], size[1] / SIZE[1])
    canvas = Canvas(*size, colours.PAPER, watch)
    page = Box(0, 0, *size).inset(round(10 * unit))
    gap = round(10 * unit)
    _header(canvas, page.rows(0, round(54 * unit)), scenario, battle, seat, unit)
    page = page._replace(top=page.top + round(54 * unit) + gap)
    wide = page.width * 408 // 1260
    sides = page._replace(right=page.left + wide), page._replace(left=page.right - wide)
    own, enemy = (side_of(scenario, names, battle, army) for army in (seat, 1 - seat))
    draw_sides(canvas, sides, (own, enemy), unit)
    middle = page._replace(left=sides[0].right + gap, right=sides[1].left - gap)
    high = round(148 * unit)
    draw_now(canvas, middle.rows(0, high), now(scenario, names, battle), unit)
    draw_roll(canvas, middle.rows(high + gap, round(196 * unit)), last_roll(events), unit)
    high += gap + round(196 * unit) + gap
    key = round(18 * unit)
    told = middle.rows(high, middle.height - high - key - gap // 2)
    draw_events(canvas, told, events, seat, unit)
    draw_legend(canvas, middle.rows(middle.height - key, key), unit)
    return canvas


def _names(scenario: Scenario) -> Names:
    """What the engine's indices stand for in the scenario."""
    for known, names in _named:
        if known is scenario:
            return names
    names = Names(scenario)
    _named.insert(0, (scenario, names))
    del _named[_KEPT:]
    return names


# --- the header ----------------------------------------------------------------------------


def _header(
    canvas: Canvas, box: Box, scenario: Scenario, battle: Battle, seat: int, unit: float
) -> None:
    """The scenario, the score and the phases."""
    wide = box.width * 408 // 1260
    gap = round(10 * unit)
    canvas.text(box._replace(right=box.left + wide), scenario.name, 26 * unit, colours.INK)
    middle = box._replace(left=box.left + wide + gap, right=box.right - wide - gap)
    _score(canvas, middle, scenario, battle.points, seat, unit)
    _phases(canvas, box._replace(left=box.right - wide), battle, unit)


_SCALES = (50, 100, 200, 500, 1000, 2000, 5000, 10_000, 20_000, 50_000)


def _score(
    canvas: Canvas, box: Box, scenario: Scenario, points: float, seat: int, unit: float
) -> None:
    """A bar from the middle towards the side that is ahead."""
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
    told = "level on points"
    if abs(points) >= 0.05:
        told = f"{own:+.1f} points: {name_of(scenario, leader)} ahead"
    ink = colours.INK if abs(points) < 0.05 else colours.ARMIES[leader]
    canvas.text(box.rows(0, round(25 * unit)), told, 17 * unit, ink, "centre")
    ticks = box.rows(round(41 * unit), round(13 * unit))
    canvas.text(ticks, f"+{scale}", size, colours.FADED)
    canvas.text(ticks, f"-{scale}", size, colours.FADED, "right")


def _phases(canvas: Canvas, box: Box, battle: Battle, unit: float) -> None:
    """A square for each magic phase in the colour of its army: past, present and to come."""
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
    assert length("12", 12 * unit) <= side
