"""Plain shapes that pictures are made of, with y growing upwards.

`battlefield` and `captions` make them in inches, `picture` and `armies` in the pixels of a page;
`drawing` writes them as SVG or as an image.
"""

from collections.abc import Iterable
from typing import Literal, NamedTuple, TypeAlias

from wfb_gym.render.colours import Colour

Point: TypeAlias = tuple[float, float]
Points: TypeAlias = tuple[Point, ...]
Align: TypeAlias = Literal["start", "middle", "end"]
Kind: TypeAlias = Literal["polygon", "line", "ellipse", "label"]


class Extent(NamedTuple):
    """An upright rectangle."""

    left: float
    bottom: float
    right: float
    top: float

    @property
    def corners(self) -> Points:
        """Its four corners, one after the other."""
        left, bottom, right, top = self
        return (left, bottom), (left, top), (right, top), (right, bottom)

    @property
    def middle(self) -> Point:
        """Its centre."""
        return (self.left + self.right) / 2, (self.bottom + self.top) / 2

    @property
    def width(self) -> float:
        """Its length across."""
        return self.right - self.left

    @property
    def height(self) -> float:
        """Its length down."""
        return self.top - self.bottom

    def row(self, down: float, height: float) -> "Extent":
        """Return a part of it, as wide, that begins `down` below its top."""
        return self._replace(bottom=self.top - down - height, top=self.top - down)

    def grown(self, across: float, down: float | None = None) -> "Extent":
        """Return it with a margin on every side, of another height if `down` is given."""
        down = across if down is None else down
        left, bottom, right, top = self
        return Extent(left - across, bottom - down, right + across, top + down)

    def cut(self, other: "Extent") -> "Extent":
        """Return what two that overlap have in common."""
        low, high = map(max, self[:2], other[:2]), map(min, self[2:], other[2:])
        return Extent(*low, *high)

    def way_to(self, other: "Extent") -> tuple[Point, Point]:
        """Return the ends of the shortest way to another; one place where they touch."""
        ways = []
        for low, high, start, end in zip(self[:2], self[2:], other[:2], other[2:], strict=True):
            if high < start or end < low:
                ways.append((high, start) if high < start else (low, end))
            else:
                ways.append(((max(low, start) + min(high, end)) / 2,) * 2)
        (x0, x1), (y0, y1) = ways
        return (x0, y0), (x1, y1)

    def overlaps(self, other: "Extent") -> bool:
        """Whether two have an area in common."""
        return (
            self.left < other.right
            and other.left < self.right
            and self.bottom < other.top
            and other.bottom < self.top
        )


def extent_of(parts: Iterable[Points]) -> Extent:
    """Return the extent of all corners of polygons, of which there is at least one."""
    xs, ys = zip(*(corner for part in parts for corner in part), strict=True)
    return Extent(min(xs), min(ys), max(xs), max(ys))


class Style(NamedTuple):
    """How a shape is drawn; widths and dashes in strokes of its drawing."""

    fill: Colour | None = None  # of a label the ink
    edge: Colour | None = None
    width: float = 0.0
    opacity: float = 1.0  # of the fill
    dashes: float = 0.0  # length of a dash, and of a gap; 0 for a line without
    align: Align = "start"  # of a label's lines in its box
    halo: Colour | None = None  # behind a label


class Shape(NamedTuple):
    """Polygons, lines, ellipses or words in one style.

    Attributes:
        role: what it shows. In a picture of a battlefield: "ground" and "terrain" (the kind is a
            state); "unit", "wizard" or another "character"; of each of these "lost" models,
            "front" (a triangle that points where it looks), "combat" (a cross on who is in close
            combat), "outline" (around legal targets and the caster), "touch" (invisible, around
            it); "range" and "arc" of a spell and "reach", what is in both; "point", that a Comet
            may be aimed at; "name", "leader" (from a name to whose it is), "key", "words" and
            "scale". In a picture of a position: "box", "bar", "die", "pip", "disc", "words".
        kind: "polygon"; "line"; "ellipse", each part the corners of the box around it; or "label",
            whose one part is the box that its lines of text fill.
        parts: corners of each polygon, or places along each line.
        army: 0 for the first army, 1 for the second; None for what is nobody's.
        code: of the unit or character, as `wfb_gym.scenario.battlefield.target_number` has it; None
            for what is neither. For a "point" its number, from 0, among its army's.
        name: of the unit, character or piece of terrain.
        states: "fleeing", "gone", and where a spell is shown "caster", "legal" or "illegal".
        text: lines of a label.
        note: what there is to say of it, for who points at it.
        style: how it is drawn.
    """

    role: str
    kind: Kind
    parts: tuple[Points, ...]
    army: int | None = None
    code: int | None = None
    name: str = ""
    states: tuple[str, ...] = ()
    text: tuple[str, ...] = ()
    note: str = ""
    style: Style = Style()


class Drawing(NamedTuple):
    """A picture: its extent, its shapes from the back to the front, and how wide a stroke is."""

    extent: Extent
    shapes: tuple[Shape, ...]
    title: str
    stroke: float = 1.0
