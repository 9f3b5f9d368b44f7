"""Text on a battlefield picture: names (or tags with a key, if crowded), title and legend."""

from collections.abc import Iterable, Iterator, Sequence
from itertools import combinations, count
from math import dist
from typing import NamedTuple

from wfb_gym.render.labels import LINE_HEIGHT, Label, fill_lines, place_labels, shorten, text_width
from wfb_gym.render.shapes import Extent, Points, Shape

LETTERS = 38
"""Picture width divided by font size; text is about 10 pixels high on a 390-pixel screen."""
_MOST_LEADERS = 3
"""Maximum number of names with a leader line; if more are needed, names are replaced by tags."""
_SCALE = 6.0  # length of the scale bar, in inches


class Named(NamedTuple):
    """A unit, character or piece of terrain whose name appears on the picture."""

    words: tuple[str, ...]  # the paragraphs on its label
    anchor: Extent  # its position
    who: Shape  # template for its label: army, code, states and note


def write_names(
    named: Sequence[Named],
    marks: Sequence[Extent],
    ground: Sequence[Extent],
    extent: Extent,
    font: float,
) -> tuple[list[Shape], list[tuple[str, Named]]]:
    """Place all names next to their anchors, or return tags and their meanings if they do not fit.

    Names do not fit if one of them covers something, leaves the picture or is nearer to another
    name's anchor, or if more than `_MOST_LEADERS` need a leader line.

    Args:
        named: everything with a name.
        marks: other areas that labels should not cover.
        ground: areas that labels should avoid if possible, with lower priority.
        extent: extent of the picture.
        font: font size.
    """
    anchors = [each.anchor for each in named]
    obstacles = [*(anchor for anchor in anchors if anchor.left < anchor.right), *marks]

    def write(texts: Iterable[tuple[str, ...]]) -> tuple[list[Extent], list[Shape]]:
        labels = [Label(text, anchor) for text, anchor in zip(texts, anchors, strict=True)]
        placed = place_labels(labels, obstacles, extent, font, ground)
        shapes = [_label(each.who, *place) for each, place in zip(named, placed, strict=True)]
        return [place.box for place in placed], shapes

    boxes, names = write(each.words for each in named)
    leaders = []
    for each, box in zip(named, boxes, strict=True):
        segment = box.way_to(each.anchor)
        if each.who.army is not None and dist(*segment) > font:
            leaders.append(Shape("leader", "line", (segment,), each.who.army))
    covering = any(one.overlaps(other) for one, other in combinations(boxes, 2))
    covering |= any(box.overlaps(other) for box in boxes for other in obstacles)
    covering |= any(box.cut(extent) != box for box in boxes)
    covering |= any(_misleads(each, box, named) for each, box in zip(named, boxes, strict=True))
    if not covering and len(leaders) <= _MOST_LEADERS:
        return [*leaders, *names], []
    tags = _tags(named)
    return write((tag,) for tag in tags)[1], list(zip(tags, named, strict=True))


def _misleads(one: Named, box: Extent, named: Iterable[Named]) -> bool:
    """Return whether the name of a unit or character in this box is nearer to another anchor."""
    if one.who.army is None:
        return False
    own = dist(*box.way_to(one.anchor))
    return any(
        dist(*box.way_to(other.anchor)) < own
        for other in named
        if other is not one and other.who.army is not None
    )


def _tags(named: Sequence[Named]) -> list[str]:
    """Return the tags: numbers (first army), capitals (second army), lower case (terrain)."""
    counts: dict[int | None, Iterator[str]] = {
        0: map(str, count(1)),
        1: _letters("A"),
        None: _letters("a"),
    }
    return [next(counts[each.who.army]) for each in named]


def _letters(first: str) -> Iterator[str]:
    """Yield the 26 letters beginning with `first`, then each with the suffix 2, 3, and so on."""
    for number in count(1):
        for letter in range(ord(first), ord(first) + 26):
            yield chr(letter) + (str(number) if number > 1 else "")


def _label(who: Shape, lines: tuple[str, ...], box: Extent) -> Shape:
    return who._replace(kind="label", parts=(box.corners,), text=lines)


class Captions:
    """Text above and below a picture; each addition enlarges the extent.

    Args:
        extent: extent of the picture without text.
        font: font size.

    Attributes:
        extent: extent of the picture including text.
        shapes: the text.
    """

    def __init__(self, extent: Extent, font: float) -> None:
        self.shapes: list[Shape] = []
        self._font = font
        self._left = extent.left + 0.5 * font
        self._wide = extent.width - font
        self.extent = extent

    def add_title(self, title: str) -> None:
        """Add a title at the top."""
        font, top = self._font, self.extent.top
        lines = self._lines(title, self._wide)
        high = len(lines) * LINE_HEIGHT * font
        box = Extent(self._left, top + 0.3 * font, self._left + self._wide, top + 0.3 * font + high)
        self.shapes.append(_label(_WORDS, lines, box))
        self.extent = self.extent._replace(top=box.top + 0.3 * font)

    def add_key(self, armies: Sequence[str], key: Sequence[tuple[str, Named]]) -> None:
        """Add the tags' meanings: a column for each army, then terrain in two columns."""
        column, top = self._wide / 2, self.extent.bottom
        ends = []
        for army, name in enumerate(armies):
            y = self._add_row(army * column, top, _swatch("unit", army), (name,), _WORDS)
            for tag, each in key:
                if each.who.army == army:
                    y = self._add_row(army * column, y, tag, each.words, each.who)
            ends.append(y)
        terrain = [(tag, each) for tag, each in key if each.who.army is None]
        for number, (tag, each) in enumerate(terrain):
            if number % 2 == 0:
                top, ends = min(ends), []
            ends.append(self._add_row(number % 2 * column, top, tag, each.words, each.who))
        self.extent = self.extent._replace(bottom=min(ends))

    def _add_row(
        self, left: float, top: float, mark: Shape | str, words: Iterable[str], who: Shape
    ) -> float:
        """Add a mark and its meaning, half as wide as the picture; return the bottom edge."""
        font = self._font
        x, wide = self._left + left, self._wide / 2 - 2.4 * font
        lines = self._lines(" ".join(words), wide)
        top -= 0.25 * font
        bottom = top - len(lines) * LINE_HEIGHT * font
        first = top - LINE_HEIGHT * font
        if isinstance(mark, Shape):
            self.shapes.append(self._placed(mark, x, first + 0.2 * font))
        else:
            box = Extent(x, first, x + 1.4 * font, top)
            self.shapes.append(_label(who._replace(role="key"), (mark,), box))
        box = Extent(x + 1.6 * font, bottom, x + 1.6 * font + wide, top)
        self.shapes.append(_label(who._replace(role="key"), lines, box))
        return bottom

    def add_legend(self, armies: Sequence[str], shapes: Iterable[Shape]) -> None:
        """Add a legend for the shapes' marks and, if any are named, for the armies' colours."""
        font = self._font
        shown = {shape.role for shape in shapes} | {s for shape in shapes for s in shape.states}
        entries = [(_swatch("unit", army), name) for army, name in enumerate(armies)]
        entries += [(mark, words) for name, mark, words in _MARKS if name in shown]
        entries.append((Shape("scale", "line", _BAR), f"{_SCALE:g} inches"))
        x, y = 0.0, self.extent.bottom - 1.7 * font
        for mark, meaning in entries:
            long = _SCALE if mark.role == "scale" else font
            words = shorten(meaning, font, self._wide - long - 0.5 * font)
            wide = long + text_width(words, font) + 0.5 * font
            if x and x + wide > self._wide:
                x, y = 0.0, y - 1.5 * font
            left = self._left + x
            self.shapes.append(self._placed(mark, left, y + 0.2 * font))
            box = Extent(left + long + 0.5 * font, y, left + wide, y + LINE_HEIGHT * font)
            self.shapes.append(_label(_WORDS, (words,), box))
            x += wide + 1.2 * font
        self.extent = self.extent._replace(bottom=y - 0.5 * font)

    def _lines(self, words: str, wide: float) -> tuple[str, ...]:
        lines = fill_lines(words, self._font, wide)
        return tuple(shorten(line, self._font, wide) for line in lines)

    def _placed(self, mark: Shape, x: float, y: float) -> Shape:
        """Move a legend mark to its place and scale it to the font size."""
        size = 1.0 if mark.role == "scale" else self._font
        return mark._replace(
            parts=tuple(tuple((x + size * a, y + size * b) for a, b in part) for part in mark.parts)
        )


_WORDS = Shape("words", "label", ())
_SQUARE = (Extent(0.0, 0.0, 1.0, 0.75).corners,)
_DASH = (((0.0, 0.38), (1.0, 0.38)),)
_BAR = (((0.0, 0.3), (_SCALE, 0.3)),)
_TIP: tuple[Points, ...] = (((0.1, 0.0), (0.5, 0.75), (0.9, 0.0)),)
_PLUS: tuple[Points, ...] = (((0.25, 0.38), (0.75, 0.38)), ((0.5, 0.13), (0.5, 0.63)))
_CROSS: tuple[Points, ...] = (((0.15, 0.0), (0.85, 0.75)), ((0.15, 0.75), (0.85, 0.0)))


def _swatch(role: str, army: int, *states: str) -> Shape:
    return Shape(role, "polygon", _SQUARE, army, states=states)


_MARKS = (
    ("wizard", _swatch("wizard", 0), "wizard"),
    ("character", _swatch("character", 0), "other character"),
    ("front", Shape("front", "polygon", _TIP, 0), "its front (none: looks all round)"),
    ("combat", Shape("combat", "line", _CROSS), "in close combat"),
    ("fleeing", _swatch("unit", 0, "fleeing"), "flees"),
    ("lost", _swatch("lost", 0), "lost"),
    ("caster", _swatch("outline", 0, "caster"), "caster"),
    ("legal", _swatch("outline", 1, "legal"), "legal target"),
    ("illegal", _swatch("unit", 1, "illegal"), "no target"),
    ("range", Shape("range", "line", _DASH), "range"),
    ("point", Shape("point", "line", _PLUS), "point to aim at"),
    ("arc", Shape("arc", "line", _DASH), "arc of sight"),
)
"""Roles and states of shapes, each with its mark and meaning for the legend."""
