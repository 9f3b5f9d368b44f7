"""Turned rectangles on the table: whether two are apart, and whether one is on it.

Only sums and products of literals and halves of inches, so that every machine finds the same.
What stands in a scenario is checked once more by `wfb_gym.geometry`.
"""

from typing import NamedTuple

WIDTH = 72.0
DEPTH = 48.0
TURNS: dict[int, tuple[float, float]] = {
    0: (1.0, 0.0),
    10: (0.984807753, 0.173648178),
    15: (0.965925826, 0.258819045),
    20: (0.939692621, 0.342020143),
    30: (0.866025404, 0.5),
    45: (0.707106781, 0.707106781),
    60: (0.5, 0.866025404),
    90: (0.0, 1.0),
    180: (-1.0, 0.0),
}
"""Cosine and sine of the angles there are, in degrees."""


def turn_of(facing: int) -> tuple[float, float]:
    """Cosine and sine of an angle of `TURNS`, its negative, or either turned by half a circle."""
    if facing > 90:
        cosine, sine = turn_of(facing - 180)
        return -cosine, -sine
    cosine, sine = TURNS[abs(facing)]
    return cosine, sine if facing >= 0 else -sine


class Place(NamedTuple):
    """A turned rectangle.

    Attributes:
        x: of its centre, in inches.
        y: likewise.
        half_width: in inches.
        half_depth: likewise.
        cosine: of the angle that it is turned by, clockwise.
        sine: likewise.
    """

    x: float
    y: float
    half_width: float
    half_depth: float
    cosine: float
    sine: float

    def apart(self, other: "Place", margin: float) -> bool:
        """Whether an edge of one of the two keeps so many inches from all of the other."""
        return _clear(self, other, margin) or _clear(other, self, margin)

    def on_table(self, margin: float) -> bool:
        """Whether all of it keeps so many inches from the edges of the table."""
        cosine, sine = abs(self.cosine), abs(self.sine)
        wide = self.half_width * cosine + self.half_depth * sine + margin
        deep = self.half_width * sine + self.half_depth * cosine + margin
        return wide <= self.x <= WIDTH - wide and deep <= self.y <= DEPTH - deep


def _clear(one: Place, other: Place, margin: float) -> bool:
    """Whether the other lies beyond one of the edges of the one."""
    dx, dy = other.x - one.x, other.y - one.y
    right = abs(dx * one.cosine - dy * one.sine)
    ahead = abs(dx * one.sine + dy * one.cosine)
    cosine = abs(one.cosine * other.cosine + one.sine * other.sine)
    sine = abs(one.cosine * other.sine - one.sine * other.cosine)
    wide = one.half_width + other.half_width * cosine + other.half_depth * sine
    deep = one.half_depth + other.half_width * sine + other.half_depth * cosine
    return right >= wide + margin or ahead >= deep + margin


def place_at(front: tuple[float, float], extent: tuple[float, float], facing: int) -> Place:
    """The ground behind the middle of a front edge.

    Args:
        front: that middle, in inches.
        extent: width and depth, in inches.
        facing: degrees clockwise from growing y; as `turn_of` knows it.
    """
    cosine, sine = turn_of(facing)
    back = extent[1] / 2
    centre = front[0] - sine * back, front[1] - cosine * back
    return Place(*centre, extent[0] / 2, back, cosine, sine)


def place_around(centre: tuple[float, float], extent: tuple[float, float], facing: int) -> Place:
    """The ground around a centre, as of terrain."""
    return Place(*centre, extent[0] / 2, extent[1] / 2, *turn_of(facing))
