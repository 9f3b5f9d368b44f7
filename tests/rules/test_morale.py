"""Arithmetic of panic: conditions for tests and for rallying, and the chance to pass."""

from fractions import Fraction as F
from itertools import product

import pytest

from wfb_gym.rules import morale


@pytest.mark.parametrize(
    ("models", "least"),
    [(1, 1), (2, 1), (4, 1), (5, 2), (8, 2), (9, 3), (16, 4), (17, 5), (20, 5), (25, 7), (200, 50)],
)
def test_a_quarter_or_more_lost_takes_a_test_and_no_fewer_may_rally(
    models: int, least: int
) -> None:
    tested = [lost for lost in range(models + 1) if morale.needs_panic_test(models, lost)]
    rallying = [left for left in range(1, models + 1) if morale.may_rally(left, models)]
    assert tested == rallying == list(range(least, models + 1))
    until_test = [morale.models_until_test(models, lost) for lost in range(least + 2)]
    assert until_test == [*range(least, 0, -1), 0, 0]


@pytest.mark.parametrize(
    ("leadership", "rolls"),
    [(1, 0), (2, 1), (3, 3), (4, 6), (5, 10), (6, 15), (7, 21), (8, 26), (9, 30), (10, 33)],
)
def test_chance_to_pass(leadership: int, rolls: int) -> None:
    assert morale.chance_to_pass(leadership) == F(rolls, 36)
    thrown = [morale.passes(a + b, leadership) for a, b in product(range(1, 7), repeat=2)]
    assert sum(thrown) == rolls
