"""A drawing surface of boxes, words and dice.

Words stay within the box that they are given: they shrink, and only what is still too long is cut
with three dots. Nothing here knows the game. Needs ``pip install "wfb-gym[render]"``.
"""

import unicodedata
from collections.abc import Sequence
from functools import lru_cache
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

try:
    from PIL import Image, ImageDraw, ImageFont
except ImportError as error:
    raise ImportError('pictures need Pillow: pip install "wfb-gym[render]"') from error

from wfb_gym.render.colours import Colour

Align = Literal["left", "centre", "right"]

_SMOOTH = 4
"""Pixels drawn for one, either way, where edges are to be smooth."""
_LEAST_SHRINK = 0.72
"""Words shrink to this share of their size before they are cut."""
_SPACE = 0.3
"""Width of a space, of the size of the words."""
_REPLACEMENTS = {"–": "-", "—": "-", "…": "...", "×": "x", "−": "-", "ß": "ss", "æ": "ae", "ø": "o"}  # noqa: RUF001
"""For characters that Pillow's own font lacks."""


class Box(NamedTuple):
    """A rectangle in pixels; right and bottom lie outside."""

    left: int
    top: int
    right: int
    bottom: int

    @property
    def width(self) -> int:
        """Pixels across."""
        return self.right - self.left

    @property
    def height(self) -> int:
        """Pixels down."""
        return self.bottom - self.top

    @property
    def middle(self) -> int:
        """Half way down."""
        return (self.top + self.bottom) // 2

    def inset(self, across: int, down: int | None = None) -> "Box":
        """Return the box without a margin on every side."""
        down = across if down is None else down
        return Box(self.left + across, self.top + down, self.right - across, self.bottom - down)

    def rows(self, top: int, height: int) -> "Box":
        """Return its full width, `height` pixels high from `top` pixels below its top on."""
        return Box(self.left, self.top + top, self.right, self.top + top + height)


class Canvas:
    """A picture that is being drawn; `unit` is the pixels for one of the page's, as for `px`."""

    def __init__(self, width: int, height: int, ground: Colour, unit: float = 1.0) -> None:
        self.image = Image.new("RGB", (width, height), ground)
        self.unit = unit
        self._draw = ImageDraw.Draw(self.image)

    def px(self, length: float) -> int:
        """Return the pixels of a length on the page."""
        return round(length * self.unit)

    def pixels(self) -> NDArray[np.uint8]:
        """Return a copy of the picture, uint8 (height, width, 3)."""
        return np.array(self.image)

    def fill(
        self, box: Box, colour: Colour | None, edge: Colour | None = None, width: int = 1
    ) -> None:
        """Fill a rectangle, with an edge inside it; without a colour draw the edge alone."""
        if box.width > 0 and box.height > 0:
            corners = (box.left, box.top, box.right - 1, box.bottom - 1)
            self._draw.rectangle(corners, colour, edge, width)

    def strike(self, box: Box, colour: Colour) -> None:
        """Draw a line through the middle of a box."""
        self._draw.line((box.left, box.middle, box.right - 1, box.middle), colour, 1)

    def polygon(
        self, corners: Sequence[tuple[float, float]], colour: Colour, opacity: float = 1.0
    ) -> None:
        """Fill a polygon, over what is there or mixed with it."""
        if opacity >= 1:
            self._draw.polygon(corners, colour)
        else:
            mixing = ImageDraw.Draw(self.image, "RGBA")
            mixing.polygon(corners, (*colour, round(255 * opacity)))

    def line(self, places: Sequence[tuple[float, float]], colour: Colour, width: int) -> None:
        """Draw a line through places."""
        if len(places) > 1:
            self._draw.line(list(places), colour, width, joint="curve")

    def tint(self, box: Box, colour: Colour, opacity: float) -> None:
        """Cover what is in a box with a colour, but for a share of it."""
        left, top, right, bottom = box
        corners = [(left, top), (right - 1, top), (right - 1, bottom - 1), (left, bottom - 1)]
        self.polygon(corners, colour, opacity)

    def shrunk(self, width: int, height: int) -> "Canvas":
        """Return a smaller canvas with the same picture; its edges are smooth."""
        small = Canvas(width, height, (0, 0, 0), self.unit)
        small.image.paste(self.image.resize((width, height), Image.Resampling.BOX))
        return small

    def die(self, box: Box, left: int, size: int, face: int, body: Colour, ink: Colour) -> None:
        """Draw a die in the middle of a box's height; face 0 is one that has not been thrown."""
        self._stamp(_die(size, face, body, ink), box, left)

    def dot(self, box: Box, left: int, size: int, colour: Colour, filled: bool) -> None:
        """Draw a disc, or a circle, in the middle of a box's height."""
        self._stamp(_dot(size, colour, filled), box, left)

    def _stamp(self, image: Image.Image, box: Box, left: int) -> None:
        self.image.paste(image, (left, (box.top + box.bottom - image.height) // 2), image)

    def text(self, box: Box, words: str, size: float, colour: Colour, align: Align = "left") -> Box:
        """Write words in the middle of a box's height, smaller if need be; return their box."""
        size, shown = fit_text(words, size, box.width)
        if not shown:
            return box._replace(right=box.left)
        mask, left, top = _mask(size, shown)
        width = _exact_width(size, shown)
        share = {"left": 0.0, "centre": 0.5, "right": 1.0}[align]
        across = round(box.left + (box.width - width) * share)
        top += box.middle
        self.image.paste(colour, (across + left, top), mask)
        return Box(across, top, across + int(width + 0.5), top + mask.height)

    def lines(self, box: Box, lines: Sequence[str], size: float, colour: Colour) -> int:
        """Write lines from a box's top on; returns the pixels that they take from there."""
        step = line_height(size)
        for number, line in enumerate(lines):
            self.text(box.rows(number * step, step), line, size, colour)
        return len(lines) * step


def line_height(size: float) -> int:
    """Return the pixels from one line to the next."""
    return round(size * 1.3)


def to_ascii(words: str) -> str:
    """Spell words in Pillow's own font: accents go, what it lacks becomes "?"."""
    if words.isascii():
        return words
    words = "".join(_REPLACEMENTS.get(each, each) for each in words)
    apart = unicodedata.normalize("NFKD", words)
    return "".join(
        each if each.isascii() else "?" for each in apart if not unicodedata.combining(each)
    )


@lru_cache(maxsize=4096)
def fit_text(words: str, size: float, width: int) -> tuple[float, str]:
    """Find the size with which a line fits, and the words, cut where none is small enough."""
    words = to_ascii(words)
    least = max(6.0, round(size * _LEAST_SHRINK * 2) / 2)
    while _exact_width(size, words) > width and size > least:
        size = max(least, size - 0.5)
    if _exact_width(size, words) <= width:
        return size, words
    kept = len(words)
    while kept and _exact_width(size, words[:kept].rstrip() + "...") > width:
        kept -= 1
    return size, words[:kept].rstrip() + "..." if kept else ""


@lru_cache(maxsize=4096)
def wrap_text(words: str, size: float, width: int, most: int) -> tuple[str, ...]:
    """Break words into lines that fit, `most` of them; the last of too many takes the rest."""
    lines: list[str] = []
    for word in to_ascii(words).split():
        longer = f"{lines[-1]} {word}" if lines else word
        if lines and (_exact_width(size, longer) <= width or len(lines) == most):
            lines[-1] = longer
        else:
            lines.append(word)
    return tuple(lines)


def wrap_to_fit(
    words: str, sizes: Sequence[float], width: int, height: int
) -> tuple[float, tuple[str, ...]]:
    """Break words into lines in the first size in which they fit, or the last of the sizes."""
    for size in sizes:
        most = max(1, height // line_height(size))
        lines = wrap_text(words, size, width, most)
        if not lines or _exact_width(size, lines[-1]) <= width:
            break
    return size, lines


def text_width(words: str, size: float) -> int:
    """Return the pixels that a line takes."""
    return int(_exact_width(size, to_ascii(words)) + 0.999)


@lru_cache(maxsize=64)
def _font(size: float) -> Any:
    return ImageFont.load_default(size)


@lru_cache(maxsize=16384)
def _exact_width(size: float, words: str) -> float:
    font, apart = _font(size), words.split(" ")
    return float(sum(map(font.getlength, apart))) + (len(apart) - 1) * _space(size)


def _space(size: float) -> int:
    """Return the pixels between words: the font's own would hardly part small digits."""
    return round(size * _SPACE)


@lru_cache(maxsize=4096)
def _mask(size: float, words: str) -> tuple[Image.Image, int, int]:
    """Return words as a mask, and its place from their left end and the middle of their height."""
    font = _font(size)
    left, top, _, bottom = (int(each) for each in font.getbbox(words, anchor="lm"))
    mask = Image.new("L", (max(1, int(_exact_width(size, words)) - left + 1), max(1, bottom - top)))
    draw, at = ImageDraw.Draw(mask), -float(left)
    for word in words.split(" "):
        draw.text((at, -top), word, 255, font, anchor="lm")
        at += font.getlength(word) + _space(size)
    return mask, left, top


_PIPS = {
    1: ((1, 1),),
    2: ((0, 0), (2, 2)),
    3: ((0, 0), (1, 1), (2, 2)),
    4: ((0, 0), (0, 2), (2, 0), (2, 2)),
    5: ((0, 0), (0, 2), (1, 1), (2, 0), (2, 2)),
    6: ((0, 0), (0, 1), (0, 2), (2, 0), (2, 1), (2, 2)),
}
"""Column and row of a face's pips."""


@lru_cache(maxsize=512)
def _die(size: int, face: int, body: Colour, ink: Colour) -> Image.Image:
    """Draw a die with rounded corners on a transparent ground."""
    full = size * _SMOOTH
    image = Image.new("RGBA", (full, full), (*body, 0))
    draw = ImageDraw.Draw(image)
    edge = max(_SMOOTH, full // 24)
    draw.rounded_rectangle((0, 0, full - 1, full - 1), full // 5, body, ink, edge)
    radius = full / 11
    for column, row in _PIPS.get(face, ()):
        x, y = (full * (0.27 + 0.23 * place) for place in (column, row))
        draw.ellipse((x - radius, y - radius, x + radius, y + radius), ink)
    return image.resize((size, size), Image.Resampling.LANCZOS)


@lru_cache(maxsize=128)
def _dot(size: int, colour: Colour, filled: bool) -> Image.Image:
    full = size * _SMOOTH
    image = Image.new("RGBA", (full, full), (*colour, 0))
    edge = max(_SMOOTH, full // 9)
    corners = (0, 0, full - 1, full - 1)
    ImageDraw.Draw(image).ellipse(corners, colour if filled else None, colour, edge)
    return image.resize((size, size), Image.Resampling.LANCZOS)
