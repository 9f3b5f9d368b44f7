"""Random choices and rotated rectangles that give the same results on every machine.

`RandomChoices` uses only integers and `random.Random.random`, whose sequence Python guarantees.
`Rectangle` uses only sums and products of literals and half inches. `wfb_gym.geometry` checks the
positions in a scenario again.
"""

import random
from collections.abc import Sequence
from typing import NamedTuple, Self, TypeVar

_T = TypeVar("_T")

WIDTH, DEPTH = 72.0, 48.0  # size of a generated battlefield, in inches
_TURNS: dict[int, tuple[float, float]] = {
    0: (1.0, 0.0),
    10: (0.984807753, 0.173648178),
    15: (0.965925826, 0.258819045),
    20: (0.939692621, 0.342020143),
    30: (0.866025404, 0.5),
    45: (0.707106781, 0.707106781),
    60: (0.5, 0.866025404),
    90: (0.0, 1.0),
}
"""Cosine and sine of each supported angle, by the angle in degrees."""


class RandomChoices:
    """The stream of random choices used to generate a scenario."""

    def __init__(self, seed: int) -> None:
        self._random = random.Random(seed)

    def below(self, count: int) -> int:
        """Draw an integer from 0 to `count - 1`."""
        return int(self._random.random() * count)

    def between(self, low: int, high: int) -> int:
        """Draw an integer from `low` to `high`, both included."""
        return low + self.below(high - low + 1)

    def inches(self, low: float, high: float) -> float:
        """Draw a multiple of 0.5 between `low` and `high`, both rounded to multiples of 0.5."""
        return self.between(round(2 * low), round(2 * high)) / 2

    def chance(self, percent: int) -> bool:
        """Return True with a probability of `percent` / 100."""
        return self.below(100) < percent

    def pick(self, values: Sequence[_T]) -> _T:
        """Draw one of the values with equal probability."""
        return values[self.below(len(values))]

    def pick_weighted(self, values: Sequence[tuple[_T, int]]) -> _T:
        """Draw a value from (value, integer weight) pairs; at least one weight must be positive."""
        at = self.below(sum(weight for _, weight in values))
        for value, weight in values:
            at -= weight
            if at < 0:
                return value
        raise AssertionError("the draw is below the sum of the weights")

    def shuffle(self, values: Sequence[_T]) -> list[_T]:
        """Return the values in random order."""
        rest = list(values)
        return [rest.pop(self.below(len(rest))) for _ in values]


class Rectangle(NamedTuple):
    """A rotated rectangle on the battlefield, in inches."""

    x: float  # of its centre
    y: float
    half_width: float
    half_depth: float
    cosine: float  # of its clockwise rotation
    sine: float

    @classmethod
    def around(cls, centre: tuple[float, float], extent: tuple[float, float], facing: int) -> Self:
        """Place a rectangle around a centre.

        Args:
            centre: x and y in inches.
            extent: width and depth in inches.
            facing: degrees clockwise from the y axis. Must be a key of `_TURNS`, its negative, or
                either of these plus 180.
        """
        turn, sign = (facing - 180, -1.0) if facing > 90 else (facing, 1.0)
        cosine, sine = _TURNS[abs(turn)]
        sine = sine if turn >= 0 else -sine
        return cls(*centre, extent[0] / 2, extent[1] / 2, sign * cosine, sign * sine)

    @classmethod
    def behind(cls, front: tuple[float, float], extent: tuple[float, float], facing: int) -> Self:
        """Place a rectangle behind the middle of its front edge; otherwise like `around`."""
        turned = cls.around(front, extent, facing)
        back = turned.half_depth
        return turned._replace(x=turned.x - turned.sine * back, y=turned.y - turned.cosine * back)

    def is_apart_from(self, other: "Rectangle", margin: float) -> bool:
        """Whether an edge of one rectangle separates the two by at least `margin` inches."""
        return _is_beyond_an_edge(self, other, margin) or _is_beyond_an_edge(other, self, margin)

    def is_on_battlefield(self, margin: float) -> bool:
        """Whether it is at least `margin` inches inside the battlefield's edges."""
        cosine, sine = abs(self.cosine), abs(self.sine)
        wide = self.half_width * cosine + self.half_depth * sine + margin
        deep = self.half_width * sine + self.half_depth * cosine + margin
        return wide <= self.x <= WIDTH - wide and deep <= self.y <= DEPTH - deep


def _is_beyond_an_edge(one: Rectangle, other: Rectangle, margin: float) -> bool:
    """Whether `other` lies at least `margin` inches beyond one of the edges of `one`."""
    dx, dy = other.x - one.x, other.y - one.y
    right = abs(dx * one.cosine - dy * one.sine)
    forward = abs(dx * one.sine + dy * one.cosine)
    cosine = abs(one.cosine * other.cosine + one.sine * other.sine)
    sine = abs(one.cosine * other.sine - one.sine * other.cosine)
    wide = one.half_width + other.half_width * cosine + other.half_depth * sine
    deep = one.half_depth + other.half_width * sine + other.half_depth * cosine
    return right >= wide + margin or forward >= deep + margin
