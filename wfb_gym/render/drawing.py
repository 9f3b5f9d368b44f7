"""Write drawings as SVG (no dependencies) or as an image (requires Pillow)."""

import itertools
import unicodedata
from collections.abc import Iterator, Sequence
from functools import lru_cache
from html import escape
from math import hypot
from typing import TYPE_CHECKING, Any, NamedTuple

from wfb_gym.render import colours
from wfb_gym.render.colours import Colour
from wfb_gym.render.labels import LINE_HEIGHT
from wfb_gym.render.shapes import Drawing, Point, Points, Shape
from wfb_gym.seats import SEATS

if TYPE_CHECKING:
    from PIL.Image import Image

SVG_WIDTH = 780  # width of an SVG's view box; the SVG scales to the page's width
IMAGE_WIDTH = 1200  # default image width, in pixels
_SUPERSAMPLING = 2
_HALO_OPACITY = 0.8


class _Scale(NamedTuple):
    """Scales a drawing's coordinates to output coordinates."""

    drawing: Drawing
    each: float  # output units per unit in the drawing

    @property
    def size(self) -> tuple[int, int]:
        extent = self.drawing.extent
        return round(extent.width * self.each), round(extent.height * self.each)

    @property
    def stroke(self) -> float:
        return self.drawing.stroke * self.each

    def places(self, points: Points) -> list[Point]:
        left, _, _, top = self.drawing.extent
        return [((x - left) * self.each, (top - y) * self.each) for x, y in points]

    def box(self, points: Points) -> tuple[float, float, float, float]:
        """Return the bounding box of some points: left, top, right, bottom."""
        xs, ys = zip(*self.places(points), strict=True)
        return min(xs), min(ys), max(xs), max(ys)


def _scaled(drawing: Drawing, width: float) -> _Scale:
    return _Scale(drawing, width / drawing.extent.width)


# --- SVG -----------------------------------------------------------------------------------


def to_svg(drawing: Drawing) -> str:
    """Write a drawing as a single SVG element, for a file or to embed in a page.

    Units, characters, their outlines and names have the attributes ``data-army`` (0 or 1),
    ``data-code`` (see `Shape.code`) and ``data-name``. A Comet's points have ``data-army`` and
    ``data-point`` (from 0). Each shape's classes are its role, its army's seat and its states.

    Returns:
        The SVG text, with a trailing newline.
    """
    scale = _scaled(drawing, SVG_WIDTH)
    width, height = scale.size
    lines = [
        (
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" role="img"'
            f' class="battlefield" style="width:100%;max-width:{IMAGE_WIDTH}px;height:auto"'
            f' font-family="system-ui, Helvetica, Arial, sans-serif">'
        ),
        f"<title>{escape(drawing.title)}</title>",
        f'<rect width="{width}" height="{height}" fill="{_css(colours.PAPER)}"/>',
    ]
    for shape in drawing.shapes:
        lines.append(_svg_label(shape, scale) if shape.kind == "label" else _svg_path(shape, scale))
    return "\n".join([*lines, "</svg>", ""])


def _css(colour: Colour | None) -> str:
    return "none" if colour is None else "#" + "".join(f"{part:02x}" for part in colour)


def _number(value: float) -> str:
    return f"{value:.2f}".rstrip("0").rstrip(".")


def _svg_attributes(shape: Shape) -> str:
    classes = [shape.role, *shape.states]
    words = []
    if shape.army is not None:
        classes.insert(0, SEATS[shape.army])
        words.append(f'data-army="{shape.army}"')
    if shape.code is not None:
        key = "data-point" if shape.role == "point" else "data-code"
        words.append(f'{key}="{shape.code}"')
    if shape.name:
        words.append(f'data-name="{escape(shape.name)}"')
    return " ".join([f'class="{" ".join(classes)}"', *words])


def _svg_note(shape: Shape) -> str:
    return f"<title>{escape(shape.note)}</title>" if shape.note else ""


def _svg_path(shape: Shape, scale: _Scale) -> str:
    style = shape.style
    attributes = f'fill="{_css(style.fill)}"'
    if style.fill is not None and style.opacity < 1:
        attributes += f' fill-opacity="{_number(style.opacity)}"'
    if style.edge is not None:
        attributes += (
            f' stroke="{_css(style.edge)}" stroke-width="{_number(style.width * scale.stroke)}"'
        )
        if style.dashes:
            attributes += f' stroke-dasharray="{_number(style.dashes * scale.stroke)}"'
    if shape.role == "touch":
        attributes += ' pointer-events="all"'
    elif shape.code is None:
        attributes += ' pointer-events="none"' if shape.role != "terrain" else ""
    path = "".join(_svg_commands(shape, part, scale) for part in shape.parts)
    return f'<path {_svg_attributes(shape)} {attributes} d="{path}">{_svg_note(shape)}</path>'


def _svg_commands(shape: Shape, part: Points, scale: _Scale) -> str:
    """Return the path commands that draw one part of a shape."""
    if shape.kind == "ellipse":
        left, top, right, bottom = scale.box(part)
        x, y = (right - left) / 2, (bottom - top) / 2
        start = f"M{_number(left)} {_number(top + y)}"
        halves = (f"a{_number(x)} {_number(y)} 0 1 0 {_number(dx)} 0" for dx in (2 * x, -2 * x))
        return f"{start}{''.join(halves)}Z"
    corners = "L".join(f"{_number(x)} {_number(y)}" for x, y in scale.places(part))
    return f"M{corners}Z" if shape.kind == "polygon" else f"M{corners}"


def _svg_label(shape: Shape, scale: _Scale) -> str:
    (corners,) = shape.parts
    left, top, right, bottom = scale.box(corners)
    size = (bottom - top) / len(shape.text) / LINE_HEIGHT
    style, halo = shape.style, ""
    if style.halo is not None:
        halo = (
            f'<rect x="{_number(left)}" y="{_number(top)}" width="{_number(right - left)}"'
            f' height="{_number(bottom - top)}" fill="{_css(style.halo)}"'
            f' fill-opacity="{_HALO_OPACITY}"/>'
        )
    x = {"start": left, "middle": (left + right) / 2, "end": right}[style.align]
    spans = "".join(
        f'<tspan x="{_number(x)}" y="{_number(top + (k + 0.82) * size * LINE_HEIGHT)}">'
        f"{escape(line)}</tspan>"
        for k, line in enumerate(shape.text)
    )
    return (
        f'<g {_svg_attributes(shape)}>{_svg_note(shape)}{halo}<text font-size="{_number(size)}"'
        f' text-anchor="{style.align}" fill="{_css(style.fill)}">{spans}</text></g>'
    )


# --- an image ------------------------------------------------------------------------------


def to_image(drawing: Drawing, width: int = IMAGE_WIDTH) -> "Image":
    """Render a drawing with Pillow.

    Args:
        drawing: the drawing.
        width: width in pixels.

    Raises:
        ImportError: if Pillow is not installed.
    """
    try:
        from PIL import Image, ImageDraw
    except ImportError as error:
        raise ImportError('pictures need Pillow: pip install "wfb-gym[render]"') from error

    scale, fine = _scaled(drawing, width), _scaled(drawing, width * _SUPERSAMPLING)
    large = Image.new(
        "RGB", (_SUPERSAMPLING * scale.size[0], _SUPERSAMPLING * scale.size[1]), colours.PAPER
    )
    solid, mixing = ImageDraw.Draw(large), ImageDraw.Draw(large, "RGBA")
    for shape in drawing.shapes:
        if shape.kind != "label":
            _draw_shape(solid if shape.style.opacity >= 1 else mixing, shape, fine)
    image = large.reduce(_SUPERSAMPLING)
    mixing = ImageDraw.Draw(image, "RGBA")
    for shape in drawing.shapes:
        if shape.kind == "label":
            box = scale.box(shape.parts[0])
            if shape.style.halo is not None:
                left, top, right, bottom = map(round, box)
                halo = (*shape.style.halo, round(255 * _HALO_OPACITY))
                mixing.rectangle((left, top, right - 1, bottom - 1), halo)
            _draw_label(image, shape, box)
    return image


def _draw_shape(draw: Any, shape: Shape, scale: _Scale) -> None:
    style, fill = shape.style, shape.style.fill
    if fill is not None and style.opacity < 1:
        fill = (*fill, round(255 * style.opacity))  # type: ignore[assignment]
    width = max(1, round(style.width * scale.stroke))
    for part in shape.parts:
        left, top, right, bottom = scale.box(part)
        within = left, top, max(left, right - 1), max(top, bottom - 1)
        if shape.kind == "ellipse":
            draw.ellipse(within, fill, style.edge, width)
            continue
        places = [(x - 0.5, y - 0.5) for x, y in scale.places(part)]  # Pillow uses pixel centres
        is_upright = len(part) == 4 and all(len(set(each)) == 2 for each in zip(*part, strict=True))
        if fill is not None and is_upright:
            draw.rectangle(tuple(map(round, within)), fill)
        elif fill is not None:
            draw.polygon(places, fill)
        if style.edge is not None:
            line = [*places, *places[:2]] if shape.kind == "polygon" else places
            dash = style.dashes * scale.stroke
            for piece in _dashed(line, dash) if dash else [line]:
                if len(piece) > 1:
                    draw.line(piece, style.edge, width, joint="curve")


def _dashed(line: Sequence[Point], dash: float) -> Iterator[list[Point]]:
    """Yield the dashes of a line, separated by gaps of the same length."""
    done, dashes = 0.0, [[line[0]]]
    for (x0, y0), (x1, y1) in itertools.pairwise(line):
        length, at = hypot(x1 - x0, y1 - y0), 0.0
        while at < length:
            step = min(length - at, dash - done)
            at, done = at + step, done + step
            fraction = at / length
            dashes[-1].append((x0 + fraction * (x1 - x0), y0 + fraction * (y1 - y0)))
            if done >= dash - 1e-9:
                done = 0.0
                dashes.append([dashes[-1][-1]])
    yield from dashes[::2]  # every other part is a gap


# --- words of an image ---------------------------------------------------------------------

_SPACE = 0.3  # width of a space, as a fraction of the font size; the font's own space is too narrow
_REPLACEMENTS = {"–": "-", "—": "-", "…": "...", "×": "x", "−": "-", "ß": "ss", "æ": "ae", "ø": "o"}  # noqa: RUF001
"""Replacements for characters missing from Pillow's default font."""


def to_ascii(words: str) -> str:
    """Convert text to ASCII for Pillow's default font, replacing unknown characters with "?"."""
    if words.isascii():
        return words
    words = "".join(_REPLACEMENTS.get(each, each) for each in words)
    apart = unicodedata.normalize("NFKD", words)
    return "".join(
        each if each.isascii() else "?" for each in apart if not unicodedata.combining(each)
    )


def _draw_label(image: "Image", shape: Shape, box: tuple[float, float, float, float]) -> None:
    """Write a label's lines, using a smaller font for lines that are too wide."""
    left, top, right, bottom = box
    step = (bottom - top) / len(shape.text)
    for number, line in enumerate(shape.text):
        words, size = to_ascii(line), round(step / LINE_HEIGHT * 2) / 2
        width = image_text_width(words, size)
        if width > right - left:
            size = max(1.0, int(size * (right - left) / width * 2) / 2)
            width = image_text_width(words, size)
        mask, beside, above = _mask(words, size)
        fraction = {"start": 0.0, "middle": 0.5, "end": 1.0}[shape.style.align]
        x = round(left + (right - left - width) * fraction) + beside
        y = round(top + (number + 0.5) * step) + above
        image.paste(shape.style.fill or colours.INK, (x, y), mask)


@lru_cache(maxsize=64)
def _font(size: float) -> Any:
    from PIL import ImageFont

    return ImageFont.load_default(size)


@lru_cache(maxsize=16384)
def image_text_width(words: str, size: float) -> float:
    """Return the width of ASCII text in an image, in pixels."""
    font, apart = _font(size), words.split(" ")
    return float(sum(map(font.getlength, apart))) + (len(apart) - 1) * round(size * _SPACE)


@lru_cache(maxsize=4096)
def _mask(words: str, size: float) -> tuple["Image", int, int]:
    """Return a mask for the text, and the mask's offset from the left end at half height."""
    from PIL import Image, ImageDraw

    font = _font(size)
    left, top, _, bottom = (int(each) for each in font.getbbox(words, anchor="lm"))
    wide = max(1, int(image_text_width(words, size)) - left + 1)
    mask = Image.new("L", (wide, max(1, bottom - top)))
    draw, at = ImageDraw.Draw(mask), -float(left)
    for word in words.split(" "):
        draw.text((at, -top), word, 255, font, anchor="lm")
        at += font.getlength(word) + round(size * _SPACE)
    return mask, left, top
