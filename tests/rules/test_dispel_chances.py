"""Dispel rolls, dice of levels, and readings of dice, against counted fractions."""

from collections import Counter
from fractions import Fraction as F
from itertools import product

import pytest

from wfb_gym.rules import dice as dice_rules
from wfb_gym.rules.dispelling import dispel_chance, is_dispelled

ROWS = [
    (2, 14, "1/36", "0"), (3, 14, "19/108", "35/216"), (3, 18, "2/27", "1/216"),
    (4, 16, "149/432", "145/432"), (2, 8, "5/12", "5/12"), (3, 8, "89/108", "89/108"),
]  # fmt: skip


@pytest.mark.parametrize(("dice", "number", "on", "off"), ROWS)
def test_chance_to_dispel(dice: int, number: int, on: str, off: str) -> None:
    assert dispel_chance(dice, number, double_six=True) == F(on)
    assert dispel_chance(dice, number) == F(off)


@pytest.mark.parametrize(("dice", "least"), [(2, 13), (3, 14), (4, 16), (5, 18)])
def test_two_sixes_matter_from_these_numbers(dice: int, least: int) -> None:
    for number in range(3, 20):
        matters = dispel_chance(dice, number, double_six=True) != dispel_chance(dice, number)
        assert matters == (number >= least), number


@pytest.mark.parametrize(
    ("faces", "number", "bonus", "double_six", "expected"),
    [
        ([4, 4], 8, 0, False, True),  # equal is enough
        ([4, 3], 8, 0, False, False),
        ([4, 3], 8, 1, False, True),
        ([1, 1], 3, 4, False, False),  # two 1s fail with any total
        ([1, 1, 6], 8, 0, False, False),
        ([1, 1, 6, 6], 12, 0, False, False),
        ([1, 1, 6, 6], 12, 0, True, False),
        ([1, 6, 6, 6], 12, 0, False, True),
        ([6, 6], 14, 0, True, True),
        ([6, 6], 14, 0, False, False),
    ],
)
def test_dispel_of_dice(
    faces: list[int], number: int, bonus: int, double_six: bool, expected: bool
) -> None:
    ones, sixes = faces.count(1), faces.count(6)
    assert is_dispelled(ones, sixes, sum(faces), bonus, number, double_six) == expected


@pytest.mark.parametrize("dice", [0, 1, 4])
def test_readings_are_counted_over_all_rolls(dice: int) -> None:
    rolls = product(range(1, 7), repeat=dice)
    counted = Counter((min(2, r.count(1)), min(2, r.count(6)), sum(r)) for r in rolls)
    assert dice_rules.roll_counts(dice) == counted
