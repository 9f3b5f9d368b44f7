"""Draw an army as a column in the picture: dice, characters with spells and items, and units.

Spells, items and units share one column if they fit; otherwise they take two or three.
"""

from collections.abc import Iterator, Sequence
from math import ceil

from wfb_gym.render import colours
from wfb_gym.render.colours import Colour
from wfb_gym.render.labels import text_width
from wfb_gym.render.shapes import Extent
from wfb_gym.render.sketch import Sketch
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

LEGEND: dict[SpellStatus, Colour] = {
    SpellStatus.CASTABLE: colours.CASTABLE,
    SpellStatus.PENDING: colours.PENDING,
    SpellStatus.IN_PLAY: colours.IN_PLAY,
    SpellStatus.TRIED: colours.TRIED,
    SpellStatus.FORGOTTEN: colours.FORGOTTEN,
}
"""Background colours for spells by status, where they differ from the panel's colour."""

_FONT = 0.64  # font size, as a fraction of the line height
_MOST_DISCS = 6
"""Maximum number of wounds drawn as discs for one character; more are written as a number."""
_TALLEST, _LEAST = 28, 18
"""Maximum and minimum line heights; if lines would have to be smaller, a column is added."""

_HEAD, _MARGIN = 76, 8
"""Height of the area for an army's name and dice, and the margin around its column."""

_Cell = CharacterView | SpellView | ItemView | UnitView | str
_Line = tuple[float, Sequence[_Cell]]
"""A line in the column: its height as a multiple of the normal height, and its cells."""


def column_height(army: ArmyView, line: int) -> int:
    """Return the height of a box that fits an army in one column, with lines of this height."""
    lines = sum(multiple for multiple, _ in _lines(army, 1)) or 1.0
    return ceil(_HEAD + _MARGIN + line * lines)


def draw_armies(sketch: Sketch, boxes: Sequence[Extent], armies: Sequence[ArmyView]) -> None:
    """Draw the armies in their boxes, using the same height for all lines."""
    bodies = [box.grown(-_MARGIN)._replace(top=box.top - _HEAD) for box in boxes]
    fits = [_fit_lines(army, body.height) for army, body in zip(armies, bodies, strict=True)]
    each = min(height for _, _, height in fits)
    gap = max(2, each // 6)
    for box, body, army, (across, lines, _) in zip(boxes, bodies, armies, fits, strict=True):
        _draw_head(sketch, box, army)
        wide = (body.width - gap * (across - 1)) // across
        down = 0
        for multiple, cells in lines:
            row = body.row(down, int(multiple * each))
            down += int(multiple * each)
            for index, cell in enumerate(cells):
                left = row.left + index * (wide + gap)
                place = row._replace(left=left, right=left + wide, bottom=row.bottom + each // 12)
                match cell:
                    case CharacterView():
                        _draw_character(sketch, row, each, cell, colours.ARMIES[army.army])
                    case SpellView():
                        _draw_spell(sketch, place, cell)
                    case ItemView():
                        _draw_item(sketch, place, cell)
                    case UnitView():
                        _draw_unit(sketch, place, cell, colours.PALE[army.army])
                    case str():
                        sketch.write(row, cell, each * _FONT, colours.FADED)


def _fit_lines(army: ArmyView, height: float) -> tuple[int, list[_Line], int]:
    """Return the number of columns, the lines, and the line height."""
    for across in (1, 2, 3):
        lines = list(_lines(army, across))
        total = sum(multiple for multiple, _ in lines) or 1.0
        if height >= _LEAST * total:
            break
    return across, lines, int(min(_TALLEST, height / total))


def _lines(army: ArmyView, across: int) -> Iterator[_Line]:
    def rows(cells: Sequence[SpellView | ItemView | UnitView]) -> Iterator[_Line]:
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


def _draw_head(sketch: Sketch, box: Extent, army: ArmyView) -> None:
    """Draw an army's name, activity and dice."""
    colour = colours.ARMIES[army.army]
    edge, width = (colours.TURN, 4) if army.activity else (colours.LINE, 1)
    sketch.fill(box, colours.PANEL, edge, width)
    inner = box.grown(-8)
    banner = inner.row(0, 30)
    sketch.fill(banner, colour)
    name = banner.grown(-8, -5)
    badges = (army.activity, colours.TURN), ("casting" if army.casts else "", None)
    for words, ground in badges:
        if words:
            place = name._replace(left=name.right - text_width(words, 14) - 12)
            sketch.fill(place, ground, None if ground else colours.WHITE)
            sketch.write(place.grown(-4, 0), words, 14, colours.WHITE, "middle")
            name = name._replace(right=place.left - 6)
    sketch.write(name, army.name, 18, colours.WHITE)
    if army.pool_kind:
        pool, words = inner.row(36, 26), dice_phrase(army.pool, army.pool_kind)
        ink = colours.INK if army.pool else colours.FADED
        sketch.write(pool._replace(right=pool.left + 112), words, 15, ink)
        sketch.unthrown(pool._replace(left=pool.left + 116), army.pool, colour, 22)


def _draw_character(
    sketch: Sketch, box: Extent, each: int, character: CharacterView, colour: Colour
) -> None:
    """Draw a character in a box; `each` is the line height."""
    is_dead = character.wounds == 0
    sketch.fill(box.row(box.height - 1, 1), colours.LINE)
    small, tiny, gap = each * 0.6, each * 0.52, each * 0.3
    most = max(character.wounds, character.full_wounds)
    words = [f"L{character.level}"] if character.level and not is_dead else []
    words += [f"W {character.wounds}/{character.full_wounds}"] if most > _MOST_DISCS else []
    disc = max(5.0, each * 0.4)
    discs = 0 if is_dead or most > _MOST_DISCS else most
    dice_wide = (each * 0.8 * character.dice + gap) if character.dice else 0.0
    # If the parts are too wide, shrink the condition first and the name last.
    needed = sum(text_width(each, small) + gap for each in words) + dice_wide + gap
    needed += discs * disc * 1.2 + gap + text_width(character.condition, tiny) * 0.8
    name = box._replace(right=max(box.left + box.width / 3, box.right - needed))
    written = sketch.write(name, character.name, each * 0.7, colours.FADED if is_dead else colour)
    if is_dead:
        sketch.strike(written, colours.FADED)
    left = written.right + gap
    for word in words:
        place = box._replace(left=left, right=left + text_width(word, small))
        ink = colours.WOUND if word.startswith("W") else colours.INK
        left = sketch.write(place, word, small, ink).right + gap
    for wound in range(discs):  # lost wounds are drawn as empty circles
        sketch.dot(box, left, disc, colours.WOUND, wound < character.wounds)
        left += disc * 1.2
    left += gap if discs else 0.0
    if character.dice:
        place = box._replace(left=left, right=min(box.right, left + dice_wide))
        sketch.unthrown(place, character.dice, colour, each * 0.7)
        left = place.right
    rest = box._replace(left=left)
    if character.condition or text_width(character.place, tiny) * 0.8 <= rest.width:
        note = character.condition or character.place
        sketch.write(rest, note, tiny, colours.FADED, "end")


def _draw_spell(sketch: Sketch, box: Extent, spell: SpellView) -> None:
    size, status = box.height * _FONT, spell.status
    is_active = status in (SpellStatus.CASTABLE, SpellStatus.PENDING, SpellStatus.IN_PLAY)
    ink = colours.INK if is_active or status == SpellStatus.IDLE else colours.FADED
    edge = colours.TURN if status == SpellStatus.PENDING else colours.LINE
    sketch.fill(box, LEGEND.get(status, colours.PANEL), edge)
    inner = _inside(box)
    wide = text_width("PL 10" if spell.value.startswith("PL") else "12+", size)
    sketch.write(inner._replace(right=inner.left + wide), spell.value, size, ink)
    inner = inner._replace(left=inner.left + wide + size / 2)
    note = "" if status == SpellStatus.UNKNOWN else spell.place or status.value
    needed = text_width(spell.name, size) + text_width(note, size * 0.85) + size * 0.6
    if note and (needed <= inner.width or spell.place):
        place = inner._replace(left=max(inner.left, inner.right - inner.width * 0.5))
        covered = sketch.write(place, note, size * 0.85, ink, "end")
        inner = inner._replace(right=covered.left - size * 0.4)
    covered = sketch.write(inner, spell.name, size, ink)
    if status == SpellStatus.FORGOTTEN:
        sketch.strike(covered, ink)


def _draw_item(sketch: Sketch, box: Extent, item: ItemView) -> None:
    size, left = box.height * _FONT, _inside(box).left
    ink = colours.FADED if item.spent else colours.INK
    dot = max(5.0, size * 0.62)
    for use in range(max(1, item.uses)):
        is_left = not item.spent and (not item.uses or use < item.left)
        sketch.dot(box, left, dot, colours.TURN, is_left)
        left += dot * 1.25
    name = f"{item.name} x{item.number}" if item.number > 1 else item.name
    covered = sketch.write(_inside(box)._replace(left=left + size / 3), name, size, ink)
    if item.spent:
        sketch.strike(covered, ink)


def _draw_unit(sketch: Sketch, box: Extent, unit: UnitView, colour: Colour) -> None:
    """Draw a unit on a bar whose length shows how many models are left."""
    size, is_fleeing = box.height * _FONT, unit.condition == FLEES
    sketch.fill(box, colours.GONE, colours.LINE)
    bar = box.grown(-1)
    bar = bar._replace(right=bar.left + bar.width * unit.models / max(1, unit.full_models))
    sketch.fill(bar, colours.FLIGHT if is_fleeing else colour)
    inner = _inside(box)
    ink = colours.INK if unit.models else colours.FADED
    count = f"{unit.models}/{unit.full_models}"
    if unit.wounds_lost:
        count += f" (-{unit.wounds_lost}W)"
    right = inner._replace(left=inner.right - inner.width * 0.55)
    covered = sketch.write(right, count, size, ink, "end")
    if unit.points_lost:
        right = right._replace(right=covered.left - size / 2)
        points = f"-{unit.points_lost:g}"
        covered = sketch.write(right, points, size * 0.9, colours.WOUND, "end")
    inner = inner._replace(right=covered.left - size / 2)
    left = sketch.write(inner, unit.name, size, ink).right + size / 2
    if unit.condition and text_width(unit.condition, size * 0.8) <= inner.right - left:
        ink = colours.WOUND if is_fleeing else colours.FADED
        sketch.write(inner._replace(left=left), unit.condition, size * 0.8, ink)


def _inside(box: Extent) -> Extent:
    """Return a cell's text area."""
    return box.grown(-max(3, box.height // 5), 0)
