"""Dispel rolls, dice of levels, and readings of dice, against counted fractions."""

from collections import Counter
from fractions import Fraction as F
from itertools import product

import pytest

from wfb_gym.rules import dice as dice_rules
from wfb_gym.rules.dispelling import dispel_chance

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


def test_a_bonus_adds_to_the_total_and_two_1s_still_fail() -> None:
    assert dispel_chance(2, 8, bonus=1) == F("7/12")
    assert dispel_chance(2, 3, bonus=4) == F("35/36")


@pytest.mark.parametrize("dice", [0, 1, 4])
def test_readings_are_counted_over_all_rolls(dice: int) -> None:
    rolls = product(range(1, 7), repeat=dice)
    counted = Counter((min(2, r.count(1)), min(2, r.count(6)), sum(r)) for r in rolls)
    assert dice_rules.roll_counts(dice) == counted
