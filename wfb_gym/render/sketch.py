"""Drawing primitives for pictures: boxes, text and dice.

Lengths are in the page's unit. Text that is too wide for its box is set in a smaller font. If it is
still too wide, it is truncated with three dots. This module does not depend on the game.
"""

from collections.abc import Sequence
from math import cos, pi, sin

from wfb_gym.render import colours
from wfb_gym.render.colours import Colour
from wfb_gym.render.dice import PIPS
from wfb_gym.render.labels import LINE_HEIGHT, fill_lines, shorten, text_width
from wfb_gym.render.shapes import Align, Extent, Kind, Points, Shape, Style

LEADING = 1.3  # line spacing within a paragraph, as a multiple of the font size
_LEAST_SHRINK = 0.72
"""Minimum font size for text that is too wide, as a fraction of the requested size."""
_ALIGNS: dict[Align, float] = {"start": 0.0, "middle": 0.5, "end": 1.0}


class Sketch:
    """A page to draw on.

    Attributes:
        shapes: the shapes from back to front. Labels are drawn in front of everything else.
    """

    def __init__(self) -> None:
        self.shapes: list[Shape] = []

    def fill(
        self, box: Extent, colour: Colour | None, edge: Colour | None = None, width: float = 1.0
    ) -> None:
        """Draw a rectangle with an edge inside it; a fill or edge of None is not drawn."""
        if box.width > 0 and box.height > 0:
            if edge is not None:
                box = box.grown(-width / 2)
            self._add("box", "polygon", box.corners, Style(colour, edge, width))

    def strike(self, box: Extent, colour: Colour) -> None:
        """Draw a line through the middle of a box."""
        y = box.middle[1]
        self._add("box", "line", ((box.left, y), (box.right, y)), Style(edge=colour, width=1))

    def dot(self, box: Extent, left: float, size: float, colour: Colour, filled: bool) -> None:
        """Draw a filled or empty circle at half the height of a box."""
        place = _square(box, left, size).grown(-size / 18)
        style = Style(colour if filled else None, colour, size / 9)
        self._add("disc", "ellipse", place.corners, style)

    def die(
        self, box: Extent, left: float, size: float, face: int, body: Colour, ink: Colour
    ) -> None:
        """Draw a die at half the height of a box; face 0 means no pips."""
        edge = max(1.0, size / 24)
        place = _square(box, left, size)
        outline = _rounded(place.grown(-edge / 2), size / 5)
        self._add("die", "polygon", outline, Style(body, ink, edge))
        for x, y in PIPS.get(face, ()):
            middle = Extent(*(place.left + x * size, place.top - y * size) * 2)
            self._add("pip", "ellipse", middle.grown(size / 11).corners, Style(ink))

    def unthrown(self, box: Extent, dice: int, colour: Colour, most: float) -> None:
        """Draw dice without pips, from the left, sized to fit the box but no larger than `most`."""
        step = min(most + max(2, most / 6), box.width / max(1, dice))
        size = min(most, box.height, step - max(1, step / 8))
        for number in range(dice):
            self.die(box, box.left + number * step, size, 0, colour, colours.WHITE)

    def write(
        self, box: Extent, words: str, size: float, colour: Colour, align: Align = "start"
    ) -> Extent:
        """Write one line of text at half the height of a box, and return the area it covers.

        Args:
            box: the box for the text.
            words: one line of text.
            size: font size, reduced if the text does not fit.
            colour: colour of the text.
            align: "start", "middle" or "end".
        """
        if not words or box.width <= 0:
            return box._replace(right=box.left)
        wide = text_width(words, size)
        if wide > box.width + 1e-6:
            size *= max(_LEAST_SHRINK, box.width / wide * (1 - 1e-9))
            words = shorten(words, size, box.width)
            wide = min(text_width(words, size), box.width)
        y, half = box.middle[1], size * LINE_HEIGHT / 2
        row = box._replace(bottom=y - half, top=y + half)
        style = Style(colour, align=align)
        self._add("words", "label", row.corners, style, (words,))
        left = box.left + (box.width - wide) * _ALIGNS[align]
        return row._replace(left=left, right=left + wide)

    def write_lines(self, box: Extent, lines: Sequence[str], size: float, colour: Colour) -> float:
        """Write lines downwards from the top of a box, and return their total height."""
        for number, line in enumerate(lines):
            self.write(box.row(number * size * LEADING, size * LEADING), line, size, colour)
        return len(lines) * size * LEADING

    def _add(
        self, role: str, kind: Kind, part: Points, style: Style, text: tuple[str, ...] = ()
    ) -> None:
        self.shapes.append(Shape(role, kind, (part,), text=text, style=style))


def fit_lines(
    words: str, sizes: Sequence[float], width: float, height: float
) -> tuple[float, tuple[str, ...]]:
    """Return the first font size in which text fits, and its lines; truncated if none does."""
    for size in sizes:
        most = max(1, int(height / (size * LEADING) + 1e-6))
        lines = fill_lines(words, size, width)
        if len(lines) <= most:
            return size, lines
    rest = " ".join(lines[most - 1 :])
    return size, (*lines[: most - 1], shorten(rest, size, width))


def _square(box: Extent, left: float, size: float) -> Extent:
    y = box.middle[1]
    return Extent(left, y - size / 2, left + size, y + size / 2)


def _rounded(box: Extent, radius: float) -> Points:
    """Return the outline of a rectangle with rounded corners."""
    inner = box.grown(-radius)
    corners = zip(inner.corners, (1.0, 0.5, 0.0, 1.5), strict=True)
    angles = [
        (corner, pi * (start + step / 8)) for corner, start in corners for step in (4, 3, 2, 1, 0)
    ]
    return tuple((x + radius * cos(angle), y + radius * sin(angle)) for (x, y), angle in angles)
