"""Random choices of the generator, the same for a seed on every machine.

Everything comes from `random.Random.random`, whose numbers Python promises never to change, and
is whole from there on: no choice hangs on how a library rounds.
"""

import random
from collections.abc import Sequence
from typing import TypeVar

_T = TypeVar("_T")


class Draws:
    """The choices of one scenario."""

    def __init__(self, seed: int) -> None:
        """Begins the stream of a seed."""
        self._random = random.Random(seed)

    def below(self, count: int) -> int:
        """A whole number from 0 to below `count`."""
        return int(self._random.random() * count)

    def between(self, low: int, high: int) -> int:
        """A whole number from `low` to `high`, both included."""
        return low + self.below(high - low + 1)

    def inches(self, low: float, high: float) -> float:
        """A length from `low` to `high` in halves of an inch; both are rounded to them."""
        return self.between(round(2 * low), round(2 * high)) / 2

    def chance(self, percent: int) -> bool:
        """True in so many of a hundred cases."""
        return self.below(100) < percent

    def pick(self, values: Sequence[_T]) -> _T:
        """One of the values, each as likely."""
        return values[self.below(len(values))]

    def weighted(self, values: Sequence[tuple[_T, int]]) -> _T:
        """One of the values, which stand with their weights; some weight is above 0."""
        at = self.below(sum(weight for _, weight in values))
        for value, weight in values:
            at -= weight
            if at < 0:
                return value
        raise AssertionError("the weights are those that were added up")

    def shuffled(self, values: Sequence[_T]) -> list[_T]:
        """The values in any order."""
        rest = list(values)
        return [rest.pop(self.below(len(rest))) for _ in values]
