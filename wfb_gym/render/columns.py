"""An army as a column of the picture: its dice, characters with spells and items, units.

Spells, items and units stand in one column where there is room, else in two or three.
"""

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import NamedTuple, TypeVar

from wfb_gym.render import colours
from wfb_gym.render.canvas import Box, Canvas, length
from wfb_gym.render.colours import Colour
from wfb_gym.render.sides import (
    CharacterFact,
    ItemFact,
    SideFact,
    SpellFact,
    Standing,
    UnitFact,
)

_BACKGROUND: dict[Standing, Colour] = {
    Standing.IDLE: colours.PANEL,
    Standing.OPEN: colours.OPEN,
    Standing.PENDING: colours.PENDING,
    Standing.IN_PLAY: colours.IN_PLAY,
    Standing.TRIED: colours.TRIED,
    Standing.CLOSED: colours.PANEL,
    Standing.NO_DICE: colours.PANEL,
    Standing.FORGOTTEN: colours.FORGOTTEN,
    Standing.UNKNOWN: colours.PANEL,
}
LEGEND = (
    Standing.OPEN,
    Standing.PENDING,
    Standing.IN_PLAY,
    Standing.TRIED,
    Standing.FORGOTTEN,
)
"""Standings whose colour the picture explains."""

_FONT = 0.64
"""Size of writing in a line of the column, of the line's height."""
_MOST_DISCS = 6
"""Wounds of one character that are drawn one by one."""
_TALLEST = 28
_LEAST = 18
"""Height of a line; where it would be less, there are more of them side by side."""

_Fact = TypeVar("_Fact", SpellFact, ItemFact, UnitFact)


class _Line(NamedTuple):
    """A line of the column: its share of a line's height, and how it is drawn."""

    share: float
    draw: Callable[[Canvas, Box, int], None]


def standing_colour(standing: Standing) -> Colour:
    """Background of a spell that stands so."""
    return _BACKGROUND[standing]


def draw_sides(
    canvas: Canvas, boxes: tuple[Box, Box], sides: tuple[SideFact, SideFact], unit: float
) -> None:
    """Draw both armies, in lines of one height.

    Args:
        canvas: to draw on.
        boxes: that they take.
        sides: the armies.
        unit: pixels for one of a picture 720 high.
    """
    lines, heights = [], []
    for box, side in zip(boxes, sides, strict=True):
        told, high = _fitting(side, _body(box, unit).height, unit)
        lines.append(told)
        heights.append(high)
    for box, side, told in zip(boxes, sides, lines, strict=True):
        _head(canvas, box, side, unit)
        body, top = _body(box, unit), 0
        for line in told:
            high = int(line.share * min(heights))
            line.draw(canvas, body.rows(top, high), min(heights))
            top += high


def _fitting(side: SideFact, height: int, unit: float) -> tuple[list["_Line"], int]:
    """An army's lines, and the height that they may have."""
    lines: list[_Line] = []
    for across in (1, 2, 3):
        lines = list(_lines(side, across))
        if height >= _LEAST * unit * sum(line.share for line in lines):
            break
    shares = sum(line.share for line in lines)
    return lines, int(min(_TALLEST * unit, height / shares if shares else height))


def _body(box: Box, unit: float) -> Box:
    """What is left of an army's column below its name and its dice."""
    return (
        box._replace(top=box.top + round(76 * unit))
        .inset(round(8 * unit), 0)
        ._replace(bottom=box.bottom - round(8 * unit))
    )


def _head(canvas: Canvas, box: Box, side: SideFact, unit: float) -> None:
    """Its name, whose turn it is, and its dice."""
    colour = colours.ARMIES[side.army]
    canvas.fill(box, colours.PANEL, colours.TURN if side.acts else colours.LINE, _edge(side, unit))
    inner = box.inset(round(8 * unit))
    high = round(30 * unit)
    _banner(canvas, inner.rows(0, high), side, colour, unit)
    pool = inner.rows(high + round(6 * unit), round(26 * unit))
    if side.kind:
        _pool(canvas, pool, side, colour, unit)


def _edge(side: SideFact, unit: float) -> int:
    return max(1, round((4 if side.acts else 1) * unit))


def _banner(canvas: Canvas, box: Box, side: SideFact, colour: Colour, unit: float) -> None:
    canvas.fill(box, colour)
    inner = box.inset(round(8 * unit), 0)
    size = 14 * unit
    right = inner.right
    for words, ground in (
        (side.acts, colours.TURN),
        ("casting" if side.casts else "", None),
    ):
        if not words:
            continue
        wide = length(words, size) + round(12 * unit)
        place = Box(right - wide, box.top + round(5 * unit), right, box.bottom - round(5 * unit))
        if ground is None:
            canvas.frame(place, colours.WHITE, 1)
        else:
            canvas.fill(place, ground)
        canvas.text(place, words, size, colours.WHITE, "centre")
        right -= wide + round(6 * unit)
    canvas.text(inner._replace(right=right), side.name, 18 * unit, colours.WHITE)


def _pool(canvas: Canvas, box: Box, side: SideFact, colour: Colour, unit: float) -> None:
    words = f"{side.pool} {side.kind} {'die' if side.pool == 1 else 'dice'}"
    wide = round(112 * unit)
    ink = colours.INK if side.pool else colours.FADED
    canvas.text(box._replace(right=box.left + wide), words, 15 * unit, ink)
    dice_row(canvas, box._replace(left=box.left + wide), side.pool, colour, round(22 * unit))


def dice_row(canvas: Canvas, box: Box, dice: int, colour: Colour, most: int) -> None:
    """Draw dice that have not been thrown, from the left, as large as there is room."""
    if dice == 0:
        return
    step = min(most + max(2, most // 6), box.width // dice)
    size = min(most, box.height, step - max(1, step // 8))
    top = (box.top + box.bottom - size) // 2
    for number in range(dice):
        canvas.die(box.left + number * step, top, size, 0, colour, colours.WHITE)


# --- lines ---------------------------------------------------------------------------------


def _lines(side: SideFact, across: int) -> Iterator[_Line]:
    colour = colours.ARMIES[side.army]
    for who in side.characters:
        yield _Line(1.15, partial(_character, who=who, colour=colour))
        yield from _grid(who.spells, across, _spell)
        yield from _grid(who.items, across, _item)
        yield _Line(0.3, _nothing)
    if side.items:
        yield _Line(1.0, partial(_title, words="Items of the army"))
        yield from _grid(side.items, across, _item)
        yield _Line(0.3, _nothing)
    if side.units:
        yield _Line(1.0, partial(_title, words="Units"))
        yield from _grid(side.units, across, partial(_unit, army=side.army))


def _grid(
    facts: Sequence[_Fact], across: int, draw: Callable[[Canvas, Box, _Fact], None]
) -> Iterator[_Line]:
    for first in range(0, len(facts), across):
        yield _Line(1.0, partial(_cells, facts=facts[first : first + across], of=across, how=draw))


def _cells(
    canvas: Canvas,
    box: Box,
    each: int,
    *,
    facts: Sequence[_Fact],
    of: int,
    how: Callable[[Canvas, Box, _Fact], None],
) -> None:
    gap = max(2, round(each / 6))
    for index, fact in enumerate(facts):
        place = box.part(index, of, gap)
        how(canvas, place._replace(bottom=place.bottom - max(1, round(each / 12))), fact)


def _nothing(canvas: Canvas, box: Box, each: int) -> None:
    """A gap."""


def _title(canvas: Canvas, box: Box, each: int, *, words: str) -> None:
    canvas.text(box, words, each * _FONT, colours.FADED)


def _character(canvas: Canvas, box: Box, each: int, *, who: CharacterFact, colour: Colour) -> None:
    ink = colours.FADED if who.gone else colour
    canvas.fill(box._replace(top=box.bottom - 1), colours.LINE)
    size, small, gap = each * 0.7, each * 0.52, round(each * 0.3)
    badge = f"L{who.level}" if who.level and not who.gone else ""
    badge_wide = length(badge, each * 0.6) + gap if badge else 0
    dice = round(each * 0.8)
    dice_wide = dice * who.dice + gap if who.dice else 0
    # Where all of it is too long, words give way first, and the name last.
    needed = badge_wide + _wounds_width(each, who) + dice_wide + gap
    needed += round(length(who.state, small) * 0.8)
    name = box._replace(right=max(box.left + box.width // 3, box.right - needed))
    left = canvas.text(name, who.name, size, ink).right
    if who.gone:
        canvas.strike(box._replace(right=left), ink)
    left += gap
    if badge:
        place = box._replace(left=left, right=left + badge_wide - gap)
        canvas.text(place, badge, each * 0.6, colours.INK)
        left += badge_wide
    if not who.gone:
        left = _wounds(canvas, box, left, each, who) + gap
    if who.dice:
        place = box._replace(left=left, right=min(box.right, left + dice_wide))
        dice_row(canvas, place, who.dice, colour, round(each * 0.7))
        left = place.right
    rest = box._replace(left=left)
    if who.state:
        canvas.text(rest, who.state, small, colours.FADED, "right")
    elif length(who.place, small) * 0.8 <= rest.width:
        canvas.text(rest, who.place, small, colours.FADED, "right")


def _wounds_width(each: int, who: CharacterFact) -> int:
    most = max(who.wounds, who.most_wounds)
    if who.gone:
        return 0
    if most > _MOST_DISCS:
        return length(_wounds_in_words(who), each * 0.6) + round(each * 0.3)
    size = max(5, round(each * 0.4))
    return most * (size + max(1, size // 5)) + round(each * 0.3)


def _wounds_in_words(who: CharacterFact) -> str:
    return f"W {who.wounds}/{who.most_wounds}"


def _wounds(canvas: Canvas, box: Box, left: int, each: int, who: CharacterFact) -> int:
    """Wounds as discs, those lost as circles; as a number where there are many."""
    most = max(who.wounds, who.most_wounds)
    size = max(5, round(each * 0.4))
    if most > _MOST_DISCS:
        words = _wounds_in_words(who)
        place = box._replace(left=left, right=left + length(words, each * 0.6))
        canvas.text(place, words, each * 0.6, colours.WOUND)
        return place.right
    top = (box.top + box.bottom - size) // 2
    for wound in range(most):
        canvas.dot(left, top, size, colours.WOUND, wound < who.wounds)
        left += size + max(1, size // 5)
    return left


def _spell(canvas: Canvas, box: Box, spell: SpellFact) -> None:
    size = box.height * _FONT
    standing = spell.standing
    lively = standing in (Standing.OPEN, Standing.PENDING, Standing.IN_PLAY)
    ink = colours.INK if lively or standing == Standing.IDLE else colours.FADED
    edge = colours.TURN if standing == Standing.PENDING else colours.LINE
    canvas.fill(box, _BACKGROUND[standing], edge)
    inner = box.inset(max(3, box.height // 5), 0)
    wide = length("PL 10" if spell.takes.startswith("PL") else "12+", size)
    canvas.text(inner._replace(right=inner.left + wide), spell.takes, size, ink)
    inner = inner._replace(left=inner.left + wide + round(size / 2))
    told = f"on {spell.on}" if spell.on else standing.value
    if standing == Standing.UNKNOWN:
        told = ""
    room = length(spell.name, size) + length(told, size * 0.85) + round(size * 0.6)
    if told and (room <= inner.width or spell.on):
        most = inner.width * 9 // 20
        state = inner._replace(left=max(inner.left, inner.right - most))
        covered = canvas.text(state, told, size * 0.85, ink, "right")
        inner = inner._replace(right=covered.left - round(size * 0.4))
    covered = canvas.text(inner, spell.name, size, ink)
    if standing == Standing.FORGOTTEN:
        canvas.strike(covered._replace(top=box.top, bottom=box.bottom), ink)


def _item(canvas: Canvas, box: Box, item: ItemFact) -> None:
    size = box.height * _FONT
    ink = colours.FADED if item.spent else colours.INK
    inner = box.inset(max(3, box.height // 5), 0)
    dot = max(5, round(size * 0.62))
    top = (box.top + box.bottom - dot) // 2
    marks = max(1, item.uses)
    for use in range(marks):
        left = inner.left + use * (dot + max(1, dot // 4))
        canvas.dot(left, top, dot, colours.TURN, item.uses == 0 or use < item.left)
    left = inner.left + marks * (dot + max(1, dot // 4)) + round(size / 3)
    covered = canvas.text(inner._replace(left=left), item.name, size, ink)
    if item.spent:
        canvas.strike(covered._replace(top=box.top, bottom=box.bottom), ink)


def _unit(canvas: Canvas, box: Box, unit: UnitFact, *, army: int) -> None:
    """A unit on a bar that is as long as it has models left."""
    size = box.height * _FONT
    canvas.fill(box, colours.GONE, colours.LINE)
    kept = box.inset(1)
    kept = kept._replace(right=kept.left + kept.width * unit.models // max(1, unit.most_models))
    canvas.fill(kept, colours.PALE[army])
    inner = box.inset(max(3, box.height // 5), 0)
    ink = colours.FADED if not unit.models else colours.INK
    count = f"{unit.models}/{unit.most_models}"
    if unit.hurt:
        count += f" (-{unit.hurt}W)"
    room = inner.width * 11 // 20
    right = inner._replace(left=inner.right - room)
    covered = canvas.text(right, count, size, ink, "right")
    if unit.lost:
        points = f"-{unit.lost:g}"
        right = right._replace(right=covered.left - round(size / 2))
        covered = canvas.text(right, points, size * 0.9, colours.WOUND, "right")
    inner = inner._replace(right=covered.left - round(size / 2))
    name = canvas.text(inner, unit.name, size, ink)
    left = name.right + round(size / 2)
    if unit.state and length(unit.state, size * 0.8) <= inner.right - left:
        canvas.text(inner._replace(left=left), unit.state, size * 0.8, colours.FADED)
