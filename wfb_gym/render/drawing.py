"""Writes a battlefield's shapes: as SVG, which needs nothing, or as an image, which needs Pillow.

One table of styles serves both. What the shapes are and where is `battlefield`'s to say.
"""

import itertools
from collections.abc import Iterator, Sequence
from html import escape
from math import hypot
from typing import TYPE_CHECKING, NamedTuple

from wfb_gym.render import colours
from wfb_gym.render.captions import LETTERS
from wfb_gym.render.colours import Colour
from wfb_gym.render.labels import LINE_HEIGHT
from wfb_gym.render.shapes import Drawing, Points, Shape
from wfb_gym.seats import SEATS

if TYPE_CHECKING:
    from PIL.Image import Image

    from wfb_gym.render.canvas import Align, Canvas

SVG_WIDTH = 780
"""Units across in an SVG; it fills whatever width it is shown in."""
IMAGE_WIDTH = 1200
"""Pixels across in an image that is not asked for in another width."""
_SMOOTH = 2
"""Pixels drawn for one, either way, so that edges are smooth."""
_HALO = 0.8
"""How much of what is behind a name is covered."""


class Style(NamedTuple):
    """How a shape is drawn; widths and dashes in tenths of the height of the letters."""

    fill: Colour | None = None
    edge: Colour | None = None
    width: float = 0.0
    opacity: float = 1.0  # of the fill
    dashes: float = 0.0  # length of a dash, and of a gap; 0 for a line without


def style_of(shape: Shape) -> Style:
    """Return how a shape is drawn."""
    army = shape.army or 0
    match shape.role:
        case "ground":
            return Style(colours.FIELD, colours.LINE, 1.0)
        case "terrain":
            return Style(colours.TERRAIN[shape.states[0]], colours.FADED, 0.5)
        case "reach":
            return Style(colours.SIX, opacity=0.22)
        case "range":
            return Style(edge=colours.TURN, width=2.0)
        case "arc":
            return Style(edge=colours.TURN, width=2.0, dashes=6.0)
        case "touch":
            return Style()
        case "lost":
            return Style(edge=colours.ARMIES[army], width=0.5, dashes=2.0)
        case "outline":
            edge = colours.TURN if "caster" in shape.states else colours.LEGAL
            return Style(edge=edge, width=3.0)
        case "front":
            return Style(colours.ARMIES[army])
        case "combat":
            return Style(edge=colours.INK, width=2.5)
        case "leader":
            return Style(edge=colours.ARMIES[army], width=0.8)
        case "point":
            return Style(edge=colours.INK, width=1.5)
        case "scale":
            return Style(edge=colours.INK, width=2.5)
        case "unit" | "character" | "wizard":
            return _style_of_models(shape, army)
        case role:
            raise ValueError(f"role: expected that of a polygon or line, found {role!r}")


def _style_of_models(shape: Shape, army: int) -> Style:
    fill = colours.UNITS[army]
    if shape.role == "wizard":
        fill = colours.MAGIC
    elif shape.role == "character":
        fill = colours.WHITE
    style = Style(fill, colours.ARMIES[army], 0.7)
    if "fleeing" in shape.states:
        style = style._replace(opacity=0.35, dashes=3.0, width=1.2)
    if "illegal" in shape.states:
        style = style._replace(opacity=style.opacity * 0.4)
    return style


def _ink_of(shape: Shape) -> Colour:
    if "terrain" in shape.states or "illegal" in shape.states or "gone" in shape.states:
        return colours.FADED
    if "legal" in shape.states:
        return colours.LEGAL
    return (
        colours.INK if shape.army is None or shape.role == "point" else colours.ARMIES[shape.army]
    )


def _has_halo(shape: Shape) -> bool:
    """Whether a label covers a part of what is behind it; names of terrain stand on it."""
    return shape.role in ("name", "point") and shape.army is not None


def _size_of(shape: Shape, drawing: Drawing) -> float:
    """Return the height of a label's letters, in inches."""
    (corners,) = shape.parts
    high = max(y for _, y in corners) - min(y for _, y in corners)
    return high / len(shape.text) / LINE_HEIGHT


class _Scale(NamedTuple):
    """From inches on the battlefield to units of the picture."""

    drawing: Drawing
    each: float  # units for one inch

    @property
    def size(self) -> tuple[int, int]:
        left, bottom, right, top = self.drawing.extent
        return round((right - left) * self.each), round((top - bottom) * self.each)

    def places(self, points: Points) -> list[tuple[float, float]]:
        left, _, _, top = self.drawing.extent
        return [((x - left) * self.each, (top - y) * self.each) for x, y in points]

    @property
    def tenth(self) -> float:
        return self.size[0] / LETTERS / 10


def _scaled(drawing: Drawing, width: int) -> _Scale:
    return _Scale(drawing, width / (drawing.extent.right - drawing.extent.left))


# --- SVG -----------------------------------------------------------------------------------


def to_svg(drawing: Drawing) -> str:
    """Write a drawing as SVG: one element that stands by itself, or in a page.

    Units, characters, what surrounds them and their names have the attributes ``data-army`` (0 or
    1), ``data-code`` (see `Shape.code`) and ``data-name``; points of a Comet have ``data-army`` and
    ``data-point``, their number from 0. The classes are the role, the army's seat and the states.

    Returns:
        The text, which ends with a newline.
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
    style, end = style_of(shape), "Z" if shape.kind == "polygon" else ""
    path = "".join(
        "M" + "L".join(f"{_number(x)} {_number(y)}" for x, y in scale.places(part)) + end
        for part in shape.parts
    )
    look = f'fill="{_css(style.fill)}"'
    if style.fill is not None and style.opacity < 1:
        look += f' fill-opacity="{_number(style.opacity)}"'
    if style.edge is not None:
        look += f' stroke="{_css(style.edge)}" stroke-width="{_number(style.width * scale.tenth)}"'
        if style.dashes:
            look += f' stroke-dasharray="{_number(style.dashes * scale.tenth)}"'
    if shape.role == "touch":
        look += ' pointer-events="all"'
    elif shape.code is None:
        look += ' pointer-events="none"' if shape.role != "terrain" else ""
    return f'<path {_svg_attributes(shape)} {look} d="{path}">{_svg_note(shape)}</path>'


def _svg_label(shape: Shape, scale: _Scale) -> str:
    (corners,) = shape.parts
    places = scale.places(corners)
    left, top = min(x for x, _ in places), min(y for _, y in places)
    right, bottom = max(x for x, _ in places), max(y for _, y in places)
    size = _size_of(shape, scale.drawing) * scale.each
    is_name = _has_halo(shape)
    x, anchor = (
        ((left + right) / 2, "middle") if shape.role in ("name", "point") else (left, "start")
    )
    halo = ""
    if is_name:
        halo = (
            f'<rect x="{_number(left)}" y="{_number(top)}" width="{_number(right - left)}"'
            f' height="{_number(bottom - top)}" fill="{_css(colours.FIELD)}"'
            f' fill-opacity="{_HALO}"/>'
        )
    spans = "".join(
        f'<tspan x="{_number(x)}" y="{_number(top + (k + 0.82) * size * LINE_HEIGHT)}">'
        f"{escape(line)}</tspan>"
        for k, line in enumerate(shape.text)
    )
    return (
        f'<g {_svg_attributes(shape)}>{_svg_note(shape)}{halo}<text font-size="{_number(size)}"'
        f' text-anchor="{anchor}" fill="{_css(_ink_of(shape))}">{spans}</text></g>'
    )


# --- an image ------------------------------------------------------------------------------


def to_image(drawing: Drawing, width: int = IMAGE_WIDTH) -> "Image":
    """Draw a drawing with Pillow.

    Args:
        drawing: any.
        width: pixels across.

    Raises:
        ImportError: there is no Pillow.
    """
    from wfb_gym.render.canvas import Box, Canvas

    scale, fine = _scaled(drawing, width), _scaled(drawing, width * _SMOOTH)
    large = Canvas(*fine.size, colours.PAPER)
    for shape in drawing.shapes:
        if shape.kind != "label":
            _draw_path(large, shape, fine)
    canvas = large.shrunk(*scale.size)
    for shape in drawing.shapes:
        if shape.kind == "label":
            (corners,) = shape.parts
            places = scale.places(corners)
            xs, ys = sorted(x for x, _ in places), sorted(y for _, y in places)
            box = Box(round(xs[0]), round(ys[0]), round(xs[-1]), round(ys[-1]))
            if _has_halo(shape):
                canvas.tint(box, colours.FIELD, _HALO)
            step = (ys[-1] - ys[0]) / len(shape.text)
            for k, line in enumerate(shape.text):
                row = box._replace(
                    top=round(ys[0] + k * step), bottom=round(ys[0] + (k + 1) * step)
                )
                align: Align = "centre" if shape.role in ("name", "point") else "left"
                canvas.text(row, line, round(step / LINE_HEIGHT * 2) / 2, _ink_of(shape), align)
    return canvas.image


def _draw_path(canvas: "Canvas", shape: Shape, scale: _Scale) -> None:
    style = style_of(shape)
    parts = [scale.places(part) for part in shape.parts]
    if style.fill is not None:
        for part in parts:
            canvas.polygon(part, style.fill, style.opacity)
    if style.edge is None:
        return
    width = max(1, round(style.width * scale.tenth))
    for part in parts:
        line = [*part, *part[:2]] if shape.kind == "polygon" else part
        dash = style.dashes * scale.tenth
        for piece in _dashed(line, dash) if dash else [line]:
            canvas.line(piece, style.edge, width)


def _dashed(
    line: Sequence[tuple[float, float]], dash: float
) -> Iterator[list[tuple[float, float]]]:
    """Yield the dashes of a line, with gaps as long between them."""
    done, dashes = 0.0, [[line[0]]]
    for (x0, y0), (x1, y1) in itertools.pairwise(line):
        length, at = hypot(x1 - x0, y1 - y0), 0.0
        while at < length:
            step = min(length - at, dash - done)
            at, done = at + step, done + step
            share = at / length
            dashes[-1].append((x0 + share * (x1 - x0), y0 + share * (y1 - y0)))
            if done >= dash - 1e-9:
                done = 0.0
                dashes.append([dashes[-1][-1]])
    yield from dashes[::2]
