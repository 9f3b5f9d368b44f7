"""Draws an army as a column of the picture: its dice, characters with spells and items, units.

Spells, items and units stand in one column where there is room, else in two or three.
"""

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import NamedTuple, TypeVar

from wfb_gym.render import colours
from wfb_gym.render.canvas import Box, Canvas, text_width
from wfb_gym.render.colours import Colour
from wfb_gym.render.facts import (
    ArmyFacts,
    CharacterFacts,
    ItemFacts,
    SpellFacts,
    SpellStatus,
    UnitFacts,
)
from wfb_gym.transcripts.names import dice_phrase

STATUS_COLOURS: dict[SpellStatus, Colour] = {
    SpellStatus.IDLE: colours.PANEL,
    SpellStatus.OPEN: colours.OPEN,
    SpellStatus.PENDING: colours.PENDING,
    SpellStatus.IN_PLAY: colours.IN_PLAY,
    SpellStatus.TRIED: colours.TRIED,
    SpellStatus.CLOSED: colours.PANEL,
    SpellStatus.NO_DICE: colours.PANEL,
    SpellStatus.FORGOTTEN: colours.FORGOTTEN,
    SpellStatus.UNKNOWN: colours.PANEL,
}
"""Backgrounds of spells."""
LEGEND = (
    SpellStatus.OPEN,
    SpellStatus.PENDING,
    SpellStatus.IN_PLAY,
    SpellStatus.TRIED,
    SpellStatus.FORGOTTEN,
)
"""Statuses whose colour the picture explains."""

_FONT = 0.64
"""Size of writing in a line of the column, of the line's height."""
_MOST_DISCS = 6
"""Wounds of one character that are drawn one by one."""
_TALLEST = 28
_LEAST = 18
"""Height of a line; where it would be less, there are more of them side by army."""

_Fact = TypeVar("_Fact", SpellFacts, ItemFacts, UnitFacts)


class _Line(NamedTuple):
    """A line of the column: its share of a line's height, and how it is drawn."""

    share: float
    draw: Callable[[Canvas, Box, int], None]


def draw_armies(
    canvas: Canvas, boxes: tuple[Box, Box], armies: tuple[ArmyFacts, ArmyFacts], unit: float
) -> None:
    """Draw both armies, in lines of one height.

    Args:
        canvas: to draw on.
        boxes: that they take.
        armies: their facts.
        unit: pixels for one of a picture 720 high.
    """
    bodies = [_body(box, unit) for box in boxes]
    fits = [_fit_lines(army, body.height, unit) for army, body in zip(armies, bodies, strict=True)]
    height = min(high for _, high in fits)
    for box, body, army, (lines, _) in zip(boxes, bodies, armies, fits, strict=True):
        _head(canvas, box, army, unit)
        top = 0
        for line in lines:
            high = int(line.share * height)
            line.draw(canvas, body.rows(top, high), height)
            top += high


def _fit_lines(army: ArmyFacts, height: int, unit: float) -> tuple[list["_Line"], int]:
    """Find an army's lines, and the height that they may have."""
    lines: list[_Line] = []
    for across in (1, 2, 3):
        lines = list(_lines(army, across))
        if height >= _LEAST * unit * sum(line.share for line in lines):
            break
    shares = sum(line.share for line in lines)
    return lines, int(min(_TALLEST * unit, height / shares if shares else height))


def _body(box: Box, unit: float) -> Box:
    """Return what is left of an army's column below its name and its dice."""
    return (
        box._replace(top=box.top + round(76 * unit))
        .inset(round(8 * unit), 0)
        ._replace(bottom=box.bottom - round(8 * unit))
    )


def _head(canvas: Canvas, box: Box, army: ArmyFacts, unit: float) -> None:
    """Draw its name, what it does, and its dice."""
    colour = colours.ARMIES[army.army]
    edge = max(1, round((4 if army.activity else 1) * unit))
    canvas.fill(box, colours.PANEL, colours.TURN if army.activity else colours.LINE, edge)
    inner = box.inset(round(8 * unit))
    high = round(30 * unit)
    _banner(canvas, inner.rows(0, high), army, colour, unit)
    if army.pool_kind:
        pool = inner.rows(high + round(6 * unit), round(26 * unit))
        _pool(canvas, pool, army, colour, unit)


def _banner(canvas: Canvas, box: Box, army: ArmyFacts, colour: Colour, unit: float) -> None:
    canvas.fill(box, colour)
    inner = box.inset(round(8 * unit), 0)
    size = 14 * unit
    right = inner.right
    badges = (army.activity, colours.TURN), ("casting" if army.casts else "", None)
    for words, ground in badges:
        if not words:
            continue
        wide = text_width(words, size) + round(12 * unit)
        place = Box(right - wide, box.top + round(5 * unit), right, box.bottom - round(5 * unit))
        if ground is None:
            canvas.frame(place, colours.WHITE, 1)
        else:
            canvas.fill(place, ground)
        canvas.text(place, words, size, colours.WHITE, "centre")
        right -= wide + round(6 * unit)
    canvas.text(inner._replace(right=right), army.name, 18 * unit, colours.WHITE)


def _pool(canvas: Canvas, box: Box, army: ArmyFacts, colour: Colour, unit: float) -> None:
    words = dice_phrase(army.pool, army.pool_kind)
    wide = round(112 * unit)
    ink = colours.INK if army.pool else colours.FADED
    canvas.text(box._replace(right=box.left + wide), words, 15 * unit, ink)
    dice_row(canvas, box._replace(left=box.left + wide), army.pool, colour, round(22 * unit))


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


def _lines(army: ArmyFacts, across: int) -> Iterator[_Line]:
    colour = colours.ARMIES[army.army]
    for character in army.characters:
        yield _Line(1.15, partial(_character, character=character, colour=colour))
        yield from _grid(character.spells, across, _spell)
        yield from _grid(character.items, across, _item)
        yield _Line(0.3, _gap)
    if army.items:
        yield _Line(1.0, partial(_title, words="Items of the army"))
        yield from _grid(army.items, across, _item)
        yield _Line(0.3, _gap)
    if army.units:
        yield _Line(1.0, partial(_title, words="Units"))
        yield from _grid(army.units, across, partial(_unit, index=army.army))


def _grid(
    facts: Sequence[_Fact], across: int, draw: Callable[[Canvas, Box, _Fact], None]
) -> Iterator[_Line]:
    for first in range(0, len(facts), across):
        yield _Line(
            1.0, partial(_cells, facts=facts[first : first + across], count=across, draw=draw)
        )


def _cells(
    canvas: Canvas,
    box: Box,
    each: int,
    *,
    facts: Sequence[_Fact],
    count: int,
    draw: Callable[[Canvas, Box, _Fact], None],
) -> None:
    gap = max(2, round(each / 6))
    for index, fact in enumerate(facts):
        place = box.part(index, count, gap)
        draw(canvas, place._replace(bottom=place.bottom - max(1, round(each / 12))), fact)


def _gap(canvas: Canvas, box: Box, each: int) -> None:
    """Draw nothing."""


def _title(canvas: Canvas, box: Box, each: int, *, words: str) -> None:
    canvas.text(box, words, each * _FONT, colours.FADED)


def _character(
    canvas: Canvas, box: Box, each: int, *, character: CharacterFacts, colour: Colour
) -> None:
    ink = colours.FADED if character.dead else colour
    canvas.fill(box._replace(top=box.bottom - 1), colours.LINE)
    size, small, gap = each * 0.7, each * 0.52, round(each * 0.3)
    badge = f"L{character.level}" if character.level and not character.dead else ""
    badge_wide = text_width(badge, each * 0.6) + gap if badge else 0
    dice = round(each * 0.8)
    dice_wide = dice * character.dice + gap if character.dice else 0
    # Where all of it is too long, words give way first, and the name last.
    needed = badge_wide + _wounds_width(each, character) + dice_wide + gap
    needed += round(text_width(character.condition, small) * 0.8)
    name = box._replace(right=max(box.left + box.width // 3, box.right - needed))
    left = canvas.text(name, character.name, size, ink).right
    if character.dead:
        canvas.strike(box._replace(right=left), ink)
    left += gap
    if badge:
        place = box._replace(left=left, right=left + badge_wide - gap)
        canvas.text(place, badge, each * 0.6, colours.INK)
        left += badge_wide
    if not character.dead:
        left = _wounds(canvas, box, left, each, character) + gap
    if character.dice:
        place = box._replace(left=left, right=min(box.right, left + dice_wide))
        dice_row(canvas, place, character.dice, colour, round(each * 0.7))
        left = place.right
    rest = box._replace(left=left)
    if character.condition:
        canvas.text(rest, character.condition, small, colours.FADED, "right")
    elif text_width(character.place, small) * 0.8 <= rest.width:
        canvas.text(rest, character.place, small, colours.FADED, "right")


def _wounds_width(each: int, character: CharacterFacts) -> int:
    most = max(character.wounds, character.full_wounds)
    if character.dead:
        return 0
    if most > _MOST_DISCS:
        return text_width(_wounds_in_words(character), each * 0.6) + round(each * 0.3)
    size = max(5, round(each * 0.4))
    return most * (size + max(1, size // 5)) + round(each * 0.3)


def _wounds_in_words(character: CharacterFacts) -> str:
    return f"W {character.wounds}/{character.full_wounds}"


def _wounds(canvas: Canvas, box: Box, left: int, each: int, character: CharacterFacts) -> int:
    """Draw wounds as discs, those lost as circles; as a number where there are many."""
    most = max(character.wounds, character.full_wounds)
    size = max(5, round(each * 0.4))
    if most > _MOST_DISCS:
        words = _wounds_in_words(character)
        place = box._replace(left=left, right=left + text_width(words, each * 0.6))
        canvas.text(place, words, each * 0.6, colours.WOUND)
        return place.right
    top = (box.top + box.bottom - size) // 2
    for wound in range(most):
        canvas.dot(left, top, size, colours.WOUND, wound < character.wounds)
        left += size + max(1, size // 5)
    return left


def _spell(canvas: Canvas, box: Box, spell: SpellFacts) -> None:
    size = box.height * _FONT
    status = spell.status
    lively = status in (SpellStatus.OPEN, SpellStatus.PENDING, SpellStatus.IN_PLAY)
    ink = colours.INK if lively or status == SpellStatus.IDLE else colours.FADED
    edge = colours.TURN if status == SpellStatus.PENDING else colours.LINE
    canvas.fill(box, STATUS_COLOURS[status], edge)
    inner = box.inset(max(3, box.height // 5), 0)
    wide = text_width("PL 10" if spell.value.startswith("PL") else "12+", size)
    canvas.text(inner._replace(right=inner.left + wide), spell.value, size, ink)
    inner = inner._replace(left=inner.left + wide + round(size / 2))
    note = f"on {spell.target}" if spell.target else status.value
    if status == SpellStatus.UNKNOWN:
        note = ""
    room = text_width(spell.name, size) + text_width(note, size * 0.85) + round(size * 0.6)
    if note and (room <= inner.width or spell.target):
        most = inner.width * 9 // 20
        state = inner._replace(left=max(inner.left, inner.right - most))
        covered = canvas.text(state, note, size * 0.85, ink, "right")
        inner = inner._replace(right=covered.left - round(size * 0.4))
    covered = canvas.text(inner, spell.name, size, ink)
    if status == SpellStatus.FORGOTTEN:
        canvas.strike(covered._replace(top=box.top, bottom=box.bottom), ink)


def _item(canvas: Canvas, box: Box, item: ItemFacts) -> None:
    size = box.height * _FONT
    ink = colours.FADED if item.is_spent else colours.INK
    inner = box.inset(max(3, box.height // 5), 0)
    dot = max(5, round(size * 0.62))
    top = (box.top + box.bottom - dot) // 2
    marks = max(1, item.uses)
    for use in range(marks):
        left = inner.left + use * (dot + max(1, dot // 4))
        canvas.dot(left, top, dot, colours.TURN, item.uses == 0 or use < item.left)
    left = inner.left + marks * (dot + max(1, dot // 4)) + round(size / 3)
    covered = canvas.text(inner._replace(left=left), item.name, size, ink)
    if item.is_spent:
        canvas.strike(covered._replace(top=box.top, bottom=box.bottom), ink)


def _unit(canvas: Canvas, box: Box, unit: UnitFacts, *, index: int) -> None:
    """Draw a unit on a bar that is as long as it has models left."""
    size = box.height * _FONT
    canvas.fill(box, colours.GONE, colours.LINE)
    kept = box.inset(1)
    kept = kept._replace(right=kept.left + kept.width * unit.models // max(1, unit.full_models))
    canvas.fill(kept, colours.PALE[index])
    inner = box.inset(max(3, box.height // 5), 0)
    ink = colours.FADED if not unit.models else colours.INK
    count = f"{unit.models}/{unit.full_models}"
    if unit.wounds_lost:
        count += f" (-{unit.wounds_lost}W)"
    room = inner.width * 11 // 20
    right = inner._replace(left=inner.right - room)
    covered = canvas.text(right, count, size, ink, "right")
    if unit.points_lost:
        points = f"-{unit.points_lost:g}"
        right = right._replace(right=covered.left - round(size / 2))
        covered = canvas.text(right, points, size * 0.9, colours.WOUND, "right")
    inner = inner._replace(right=covered.left - round(size / 2))
    name = canvas.text(inner, unit.name, size, ink)
    left = name.right + round(size / 2)
    if unit.condition and text_width(unit.condition, size * 0.8) <= inner.right - left:
        canvas.text(inner._replace(left=left), unit.condition, size * 0.8, colours.FADED)
