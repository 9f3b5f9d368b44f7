"""Draws an army as a column of the picture: its dice, characters with spells and items, units.

Spells, items and units stand in one column where there is room, else in two or three.
"""

from collections.abc import Iterator, Sequence

from wfb_gym.render import colours
from wfb_gym.render.canvas import Box, Canvas, text_width
from wfb_gym.render.colours import Colour
from wfb_gym.view.armies import (
    FLEES,
    ArmyView,
    CharacterView,
    ItemView,
    SpellStatus,
    SpellView,
    UnitView,
)
from wfb_gym.view.names import dice_phrase

STATUS_COLOURS: dict[SpellStatus, Colour] = {
    SpellStatus.IDLE: colours.PANEL,
    SpellStatus.OPEN: colours.OPEN,
    SpellStatus.PENDING: colours.PENDING,
    SpellStatus.IN_PLAY: colours.IN_PLAY,
    SpellStatus.TRIED: colours.TRIED,
    SpellStatus.NO_TARGET: colours.PANEL,
    SpellStatus.CLOSED: colours.PANEL,
    SpellStatus.NO_DICE: colours.PANEL,
    SpellStatus.FORGOTTEN: colours.FORGOTTEN,
    SpellStatus.UNKNOWN: colours.PANEL,
}
"""Backgrounds of spells."""
LEGEND = [status for status, colour in STATUS_COLOURS.items() if colour != colours.PANEL]
"""Statuses whose colour the picture explains."""

_FONT = 0.64
"""Size of writing in a line of the column, of the line's height."""
_MOST_DISCS = 6
"""Wounds of one character that are drawn one by one."""
_TALLEST = 28
_LEAST = 18
"""Height of a line; where it would be less, spells, items and units stand side by side."""

_Fact = CharacterView | SpellView | ItemView | UnitView | str
_Line = tuple[float, Sequence[_Fact]]
"""A line of the column: its share of a line's height, and what stands in it side by side."""


def draw_armies(canvas: Canvas, boxes: Sequence[Box], armies: Sequence[ArmyView]) -> None:
    """Draw the armies in their boxes, in lines of one height."""
    px = canvas.px
    edge = px(8)
    bodies = [
        Box(box.left + edge, box.top + px(76), box.right - edge, box.bottom - edge) for box in boxes
    ]
    fits = [
        _fit_lines(army, body.height, canvas.unit)
        for army, body in zip(armies, bodies, strict=True)
    ]
    each = min(height for _, _, height in fits)
    gap = max(2, round(each / 6))
    for box, body, army, (across, lines, _) in zip(boxes, bodies, armies, fits, strict=True):
        _draw_head(canvas, box, army)
        wide = (body.width - gap * (across - 1)) // across
        top = 0
        for share, cells in lines:
            row = body.rows(top, int(share * each))
            top += row.height
            for index, fact in enumerate(cells):
                left = row.left + index * (wide + gap)
                cell = Box(left, row.top, left + wide, row.bottom - max(1, round(each / 12)))
                match fact:
                    case CharacterView():
                        _draw_character(canvas, row, each, fact, colours.ARMIES[army.army])
                    case SpellView():
                        _draw_spell(canvas, cell, fact)
                    case ItemView():
                        _draw_item(canvas, cell, fact)
                    case UnitView():
                        _draw_unit(canvas, cell, fact, colours.PALE[army.army])
                    case str():
                        canvas.text(row, fact, each * _FONT, colours.FADED)


def _fit_lines(army: ArmyView, height: int, unit: float) -> tuple[int, list[_Line], int]:
    """Find how many stand side by side, the lines, and the height that these may have."""
    for across in (1, 2, 3):
        lines = list(_lines(army, across))
        shares = sum(share for share, _ in lines)
        if height >= _LEAST * unit * shares:
            break
    return across, lines, int(min(_TALLEST * unit, height / shares if shares else height))


def _lines(army: ArmyView, across: int) -> Iterator[_Line]:
    def rows(
        cells: Sequence[SpellView | ItemView | UnitView],
    ) -> Iterator[_Line]:
        return ((1.0, cells[k : k + across]) for k in range(0, len(cells), across))

    gap: _Line = 0.3, ()
    for character in army.characters:
        yield 1.15, (character,)
        yield from rows(character.spells)
        yield from rows(character.items)
        yield gap
    if army.items:
        yield 1.0, ("Items of the army",)
        yield from rows(army.items)
        yield gap
    if army.hidden:
        yield 1.0, (f"Hidden items: {army.hidden}",)
        yield gap
    if army.may_have:
        yield 1.0, ("May have",)
        for each in army.may_have:
            yield 1.0, (f"{each.words} ({each.chance:.0%})",)
        yield gap
    if army.units:
        yield 1.0, ("Units",)
        yield from rows(army.units)


def _draw_head(canvas: Canvas, box: Box, army: ArmyView) -> None:
    """Draw its name, what it does, and its dice."""
    px, unit, colour = canvas.px, canvas.unit, colours.ARMIES[army.army]
    edge = max(1, px(4 if army.activity else 1))
    canvas.fill(box, colours.PANEL, colours.TURN if army.activity else colours.LINE, edge)
    inner = box.inset(px(8))
    banner = inner.rows(0, px(30))
    canvas.fill(banner, colour)
    left, right = banner.left + px(8), banner.right - px(8)
    badges = (army.activity, colours.TURN), ("casting" if army.casts else "", None)
    for words, ground in badges:
        if words:
            wide = text_width(words, 14 * unit) + px(12)
            place = Box(right - wide, banner.top + px(5), right, banner.bottom - px(5))
            canvas.fill(place, ground, None if ground else colours.WHITE)
            canvas.text(place, words, 14 * unit, colours.WHITE, "centre")
            right -= wide + px(6)
    canvas.text(banner._replace(left=left, right=right), army.name, 18 * unit, colours.WHITE)
    if army.pool_kind:
        pool = inner.rows(banner.height + px(6), px(26))
        words, wide = dice_phrase(army.pool, army.pool_kind), pool.left + px(112)
        ink = colours.INK if army.pool else colours.FADED
        canvas.text(pool._replace(right=wide), words, 15 * unit, ink)
        draw_unthrown(canvas, pool._replace(left=wide), army.pool, colour, px(22))


def draw_unthrown(canvas: Canvas, box: Box, dice: int, colour: Colour, most: int) -> None:
    """Draw dice that have not been thrown, from the left, as large as there is room."""
    if dice == 0:
        return
    step = min(most + max(2, most // 6), box.width // dice)
    size = min(most, box.height, step - max(1, step // 8))
    for number in range(dice):
        canvas.die(box, box.left + number * step, size, 0, colour, colours.WHITE)


def _draw_character(
    canvas: Canvas, box: Box, each: int, character: CharacterView, colour: Colour
) -> None:
    """Draw a character in a box, among lines that are `each` high."""
    dead = character.wounds == 0
    ink = colours.FADED if dead else colour
    canvas.fill(box._replace(top=box.bottom - 1), colours.LINE)
    size, small, tiny, gap = each * 0.7, each * 0.6, each * 0.52, round(each * 0.3)
    badge = f"L{character.level}" if character.level and not dead else ""
    badge_wide = text_width(badge, small) + gap if badge else 0
    most = max(character.wounds, character.full_wounds)
    wounds = f"W {character.wounds}/{character.full_wounds}" if most > _MOST_DISCS else ""
    disc = max(5, round(each * 0.4))
    step = disc + max(1, disc // 5)
    wounds_wide = (text_width(wounds, small) if wounds else most * step) + gap
    dice_wide = round(each * 0.8) * character.dice + gap if character.dice else 0
    # Where all of it is too long, words give way first, and the name last.
    needed = badge_wide + (0 if dead else wounds_wide) + dice_wide + gap
    needed += round(text_width(character.condition, tiny) * 0.8)
    name = box._replace(right=max(box.left + box.width // 3, box.right - needed))
    left = canvas.text(name, character.name, size, ink).right
    if dead:
        canvas.strike(box._replace(right=left), ink)
    left += gap
    if badge:
        place = box._replace(left=left, right=left + badge_wide - gap)
        canvas.text(place, badge, small, colours.INK)
        left += badge_wide
    if not dead:
        if wounds:
            place = box._replace(left=left, right=left + wounds_wide - gap)
            canvas.text(place, wounds, small, colours.WOUND)
        else:  # those that are lost are circles
            for wound in range(most):
                kept = wound < character.wounds
                canvas.dot(box, left + wound * step, disc, colours.WOUND, kept)
        left += wounds_wide
    if character.dice:
        place = box._replace(left=left, right=min(box.right, left + dice_wide))
        draw_unthrown(canvas, place, character.dice, colour, round(each * 0.7))
        left = place.right
    rest = box._replace(left=left)
    if character.condition:
        canvas.text(rest, character.condition, tiny, colours.FADED, "right")
    elif text_width(character.place, tiny) * 0.8 <= rest.width:
        canvas.text(rest, character.place, tiny, colours.FADED, "right")


def _draw_spell(canvas: Canvas, box: Box, spell: SpellView) -> None:
    size, status = box.height * _FONT, spell.status
    lively = status in (SpellStatus.OPEN, SpellStatus.PENDING, SpellStatus.IN_PLAY)
    ink = colours.INK if lively or status == SpellStatus.IDLE else colours.FADED
    edge = colours.TURN if status == SpellStatus.PENDING else colours.LINE
    canvas.fill(box, STATUS_COLOURS[status], edge)
    inner = _inside(box)
    wide = text_width("PL 10" if spell.value.startswith("PL") else "12+", size)
    canvas.text(inner._replace(right=inner.left + wide), spell.value, size, ink)
    inner = inner._replace(left=inner.left + wide + round(size / 2))
    note = spell.place or status.value
    if status == SpellStatus.UNKNOWN:
        note = ""
    room = text_width(spell.name, size) + text_width(note, size * 0.85) + round(size * 0.6)
    if note and (room <= inner.width or spell.place):
        place = inner._replace(left=max(inner.left, inner.right - inner.width * 9 // 20))
        covered = canvas.text(place, note, size * 0.85, ink, "right")
        inner = inner._replace(right=covered.left - round(size * 0.4))
    covered = canvas.text(inner, spell.name, size, ink)
    if status == SpellStatus.FORGOTTEN:
        canvas.strike(covered._replace(top=box.top, bottom=box.bottom), ink)


def _draw_item(canvas: Canvas, box: Box, item: ItemView) -> None:
    size, left = box.height * _FONT, _inside(box).left
    spent = bool(item.spent)
    ink = colours.FADED if spent else colours.INK
    dot = max(5, round(size * 0.62))
    for use in range(max(1, item.uses)):
        canvas.dot(box, left, dot, colours.TURN, not spent and (not item.uses or use < item.left))
        left += dot + max(1, dot // 4)
    place = _inside(box)._replace(left=left + round(size / 3))
    name = f"{item.name} x{item.number}" if item.number > 1 else item.name
    covered = canvas.text(place, name, size, ink)
    if spent:
        canvas.strike(covered._replace(top=box.top, bottom=box.bottom), ink)


def _draw_unit(canvas: Canvas, box: Box, unit: UnitView, colour: Colour) -> None:
    """Draw a unit on a bar that is as long as it has models left."""
    size = box.height * _FONT
    canvas.fill(box, colours.GONE, colours.LINE)
    bar = box.inset(1)
    bar = bar._replace(right=bar.left + bar.width * unit.models // max(1, unit.full_models))
    fled = unit.condition == FLEES
    canvas.fill(bar, colours.FLIGHT if fled else colour)
    inner = _inside(box)
    ink = colours.INK if unit.models else colours.FADED
    count = f"{unit.models}/{unit.full_models}"
    if unit.wounds_lost:
        count += f" (-{unit.wounds_lost}W)"
    right = inner._replace(left=inner.right - inner.width * 11 // 20)
    covered = canvas.text(right, count, size, ink, "right")
    if unit.points_lost:
        right = right._replace(right=covered.left - round(size / 2))
        points = f"-{unit.points_lost:g}"
        covered = canvas.text(right, points, size * 0.9, colours.WOUND, "right")
    inner = inner._replace(right=covered.left - round(size / 2))
    left = canvas.text(inner, unit.name, size, ink).right + round(size / 2)
    if unit.condition and text_width(unit.condition, size * 0.8) <= inner.right - left:
        ink = colours.WOUND if fled else colours.FADED
        canvas.text(inner._replace(left=left), unit.condition, size * 0.8, ink)


def _inside(box: Box) -> Box:
    """Where the words of a cell stand."""
    return box.inset(max(3, box.height // 5), 0)
