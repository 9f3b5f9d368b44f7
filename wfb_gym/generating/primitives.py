"""Random choices and turned rectangles that come out equal on every machine.

`RandomChoices` uses nothing but `random.Random.random`, whose numbers Python promises never to
change, and whole numbers. `Rectangle` uses nothing but sums and products of literals and half
inches. What stands in a scenario is checked once more by `wfb_gym.geometry`.
"""

import random
from collections.abc import Sequence
from typing import NamedTuple, Self, TypeVar

_T = TypeVar("_T")

WIDTH, DEPTH = 72.0, 48.0
"""Of a generated battlefield, in inches."""
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
"""Cosine and sine of the supported angles, in degrees."""


class RandomChoices:
    """The stream of random choices that makes one scenario."""

    def __init__(self, seed: int) -> None:
        self._random = random.Random(seed)

    def below(self, count: int) -> int:
        """Draw a whole number from 0 to below `count`."""
        return int(self._random.random() * count)

    def between(self, low: int, high: int) -> int:
        """Draw a whole number from `low` to `high`, both included."""
        return low + self.below(high - low + 1)

    def inches(self, low: float, high: float) -> float:
        """Draw a multiple of half an inch from `low` to `high`, which are rounded to such."""
        return self.between(round(2 * low), round(2 * high)) / 2

    def chance(self, percent: int) -> bool:
        """Draw True with a probability of `percent` / 100."""
        return self.below(100) < percent

    def pick(self, values: Sequence[_T]) -> _T:
        """Draw one of the values, all equally likely."""
        return values[self.below(len(values))]

    def pick_weighted(self, values: Sequence[tuple[_T, int]]) -> _T:
        """Draw one of the values, given as pairs with whole weights of which one is above 0."""
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
    """A rectangle on the battlefield, in inches, turned clockwise."""

    x: float  # of its centre
    y: float
    half_width: float
    half_depth: float
    cosine: float  # of the angle that it is turned by
    sine: float

    @classmethod
    def around(cls, centre: tuple[float, float], extent: tuple[float, float], facing: int) -> Self:
        """Place a rectangle of some width and depth around a centre.

        It faces `_TURNS` degrees from growing y, their negative, or either turned by half a circle.
        """
        turn, sign = (facing - 180, -1.0) if facing > 90 else (facing, 1.0)
        cosine, sine = _TURNS[abs(turn)]
        sine = sine if turn >= 0 else -sine
        return cls(*centre, extent[0] / 2, extent[1] / 2, sign * cosine, sign * sine)

    @classmethod
    def behind(cls, front: tuple[float, float], extent: tuple[float, float], facing: int) -> Self:
        """Place a rectangle behind the middle of a front edge; otherwise like `around`."""
        turned = cls.around(front, extent, facing)
        back = turned.half_depth
        return turned._replace(x=turned.x - turned.sine * back, y=turned.y - turned.cosine * back)

    def is_apart_from(self, other: "Rectangle", margin: float) -> bool:
        """Whether an edge of either keeps `margin` inches from all of the other."""
        return _is_beyond_an_edge(self, other, margin) or _is_beyond_an_edge(other, self, margin)

    def is_on_battlefield(self, margin: float) -> bool:
        """Whether all of it keeps `margin` inches from the edges of the battlefield."""
        cosine, sine = abs(self.cosine), abs(self.sine)
        wide = self.half_width * cosine + self.half_depth * sine + margin
        deep = self.half_width * sine + self.half_depth * cosine + margin
        return wide <= self.x <= WIDTH - wide and deep <= self.y <= DEPTH - deep


def _is_beyond_an_edge(one: Rectangle, other: Rectangle, margin: float) -> bool:
    """Whether `other` lies `margin` inches beyond one of the edges of `one`."""
    dx, dy = other.x - one.x, other.y - one.y
    right = abs(dx * one.cosine - dy * one.sine)
    ahead = abs(dx * one.sine + dy * one.cosine)
    cosine = abs(one.cosine * other.cosine + one.sine * other.sine)
    sine = abs(one.cosine * other.sine - one.sine * other.cosine)
    wide = one.half_width + other.half_width * cosine + other.half_depth * sine
    deep = one.half_depth + other.half_width * sine + other.half_depth * cosine
    return right >= wide + margin or ahead >= deep + margin
