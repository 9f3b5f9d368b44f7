"""Plain shapes for pictures; y grows upwards.

`battlefield` and `captions` work in inches, `picture` and `armies` in pixels. `drawing` writes
shapes as SVG or as an image.
"""

from collections.abc import Iterable
from typing import Literal, NamedTuple, TypeAlias

from wfb_gym.render.colours import Colour

Point: TypeAlias = tuple[float, float]
Points: TypeAlias = tuple[Point, ...]
Align: TypeAlias = Literal["start", "middle", "end"]
Kind: TypeAlias = Literal["polygon", "line", "ellipse", "label"]


class Extent(NamedTuple):
    """An axis-aligned rectangle."""

    left: float
    bottom: float
    right: float
    top: float

    @property
    def corners(self) -> Points:
        """The four corners, clockwise from the bottom left."""
        left, bottom, right, top = self
        return (left, bottom), (left, top), (right, top), (right, bottom)

    @property
    def middle(self) -> Point:
        """The centre."""
        return (self.left + self.right) / 2, (self.bottom + self.top) / 2

    @property
    def width(self) -> float:
        """The width."""
        return self.right - self.left

    @property
    def height(self) -> float:
        """The height."""
        return self.top - self.bottom

    def row(self, down: float, height: float) -> "Extent":
        """Return a full-width row of the given height that starts `down` below the top."""
        return self._replace(bottom=self.top - down - height, top=self.top - down)

    def grown(self, across: float, down: float | None = None) -> "Extent":
        """Return the rectangle with a margin: `across` on either side, `down` above and below."""
        down = across if down is None else down
        left, bottom, right, top = self
        return Extent(left - across, bottom - down, right + across, top + down)

    def cut(self, other: "Extent") -> "Extent":
        """Return the intersection with another rectangle, which must overlap this one."""
        low, high = map(max, self[:2], other[:2]), map(min, self[2:], other[2:])
        return Extent(*low, *high)

    def way_to(self, other: "Extent") -> tuple[Point, Point]:
        """Return the ends of the shortest segment to another rectangle; equal if the two touch."""
        intervals = []  # (from, to) for x, then for y
        for low, high, start, end in zip(self[:2], self[2:], other[:2], other[2:], strict=True):
            if high < start or end < low:
                intervals.append((high, start) if high < start else (low, end))
            else:  # they overlap on this axis, so take the middle of the overlap
                intervals.append(((max(low, start) + min(high, end)) / 2,) * 2)
        (x0, x1), (y0, y1) = intervals
        return (x0, y0), (x1, y1)

    def overlaps(self, other: "Extent") -> bool:
        """Return whether the intersection with another rectangle has a non-zero area."""
        return (
            self.left < other.right
            and other.left < self.right
            and self.bottom < other.top
            and other.bottom < self.top
        )


def extent_of(parts: Iterable[Points]) -> Extent:
    """Return the bounding box of one or more polygons."""
    xs, ys = zip(*(corner for part in parts for corner in part), strict=True)
    return Extent(min(xs), min(ys), max(xs), max(ys))


class Style(NamedTuple):
    """How a shape is drawn; widths and dashes are multiples of `Drawing.stroke`."""

    fill: Colour | None = None  # for a label, the text colour
    edge: Colour | None = None
    width: float = 0.0
    opacity: float = 1.0  # of the fill
    dashes: float = 0.0  # length of dashes and gaps, or 0 for a solid line
    align: Align = "start"  # how a label's lines are aligned in its box
    halo: Colour | None = None  # background of a label


class Shape(NamedTuple):
    """Polygons, lines, ellipses or words drawn in one style."""

    # Its meaning. On a battlefield: "ground", "terrain" (its kind is a state), "unit", "wizard",
    # "character" (not a wizard), "lost" (lost models), "front" (a triangle that points forward),
    # "combat" (a cross that marks close combat), "outline" (around legal targets and the caster),
    # "touch" (invisible, reacts to the pointer), "range" and "arc" (of a spell), "reach" (inside
    # both), "point" (a target for a Comet), "name", "leader" (line from a name to its owner),
    # "key", "words", "scale". In a picture of a position: "box", "bar", "die", "pip", "disc",
    # "words".
    role: str
    # "polygon", "line", "ellipse" (each part is the corners of its bounding box) or "label" (the
    # only part is the box of its text)
    kind: Kind
    parts: tuple[Points, ...]  # corners of each polygon, or points of each line
    # 0 for the first army, 1 for the second, or None if it belongs to neither
    army: int | None = None
    # Number of the unit or character (see `wfb_gym.scenario.battlefield.target_number`), or index
    # of a "point" into its army's points. None for other shapes.
    code: int | None = None
    name: str = ""  # name of the unit, character or piece of terrain
    # "fleeing", "gone", and with a spell "caster", "legal" or "illegal"
    states: tuple[str, ...] = ()
    text: tuple[str, ...] = ()  # a label's lines
    note: str = ""  # description, shown as a tooltip
    style: Style = Style()


class Drawing(NamedTuple):
    """A picture: its extent, shapes from back to front, title, and unit for line widths."""

    extent: Extent
    shapes: tuple[Shape, ...]
    title: str
    stroke: float = 1.0
