"""Casting rolls against counted fractions."""

from fractions import Fraction as F

import pytest

from wfb_gym.rules.casting import Casting, casting_outcome, casting_probabilities, most_casting_dice

CAST_TABLE = {
    3: "2/3 35/36 25/27 125/144 3125/3888",
    5: "1/3 5/6 25/27 125/144 3125/3888",
    6: "1/6 13/18 197/216 125/144 3125/3888",
    8: "0 5/12 89/108 1121/1296 3125/3888",
    10: "0 1/6 5/8 5/6 6245/7776",
    12: "0 1/36 3/8 475/648 6169/7776",
    15: "0 1/36 13/108 575/1296 919/1296",
}
MISCAST = ["0", "1/36", "2/27", "19/144", "763/3888", "12281/46656", "7703/23328"]
IRRESISTIBLE = ["0", "1/36", "2/27", "55/432", "77/432", "3437/15552", "5897/23328"]


@pytest.mark.parametrize("value", CAST_TABLE)
def test_chance_to_cast(value: int) -> None:
    for dice, expected in enumerate(CAST_TABLE[value].split(), start=1):
        chances = casting_probabilities(dice, value)
        assert chances[Casting.CAST] + chances[Casting.IRRESISTIBLE] == F(expected), dice
        assert sum(chances.values()) == 1


@pytest.mark.parametrize("dice", range(1, 8))
def test_chance_of_miscast_and_of_irresistible_force(dice: int) -> None:
    chances = casting_probabilities(dice, 8)
    assert chances[Casting.MISCAST] == F(MISCAST[dice - 1])
    assert chances[Casting.IRRESISTIBLE] == F(IRRESISTIBLE[dice - 1])
    # without irresistible force such rolls count by their total
    chances = casting_probabilities(dice, 8, may_be_irresistible=False)
    assert chances[Casting.IRRESISTIBLE] == 0
    assert chances[Casting.MISCAST] == F(MISCAST[dice - 1])
    assert casting_outcome(0, 2, 12, 0, 15, False) == Casting.FAIL


@pytest.mark.parametrize(("faces", "value", "bonus", "expected"), [
    # two 1s before two 6s
    ([1, 1, 6, 6], 8, 0, Casting.MISCAST), ([1, 6, 6, 1, 6], 8, 0, Casting.MISCAST),
    ([1, 1, 6], 8, 0, Casting.MISCAST), ([1, 1], 3, 5, Casting.MISCAST),  # with any total
    ([1, 6], 8, 0, Casting.FAIL),
    ([6, 6], 15, 0, Casting.IRRESISTIBLE),  # below the casting value
    # a natural 1 or 2 fails
    ([2], 3, 1, Casting.FAIL), ([2], 3, 12, Casting.FAIL), ([1], 3, 12, Casting.FAIL),
    ([3], 3, 0, Casting.CAST), ([4, 4], 8, 0, Casting.CAST),  # equal is enough
    ([4, 3], 8, 0, Casting.FAIL), ([4, 3], 8, 1, Casting.CAST),
    ([6, 5], 15, 1, Casting.FAIL),  # a bonus makes no natural 6
])  # fmt: skip
def test_outcome_of_dice(faces: list[int], value: int, bonus: int, expected: Casting) -> None:
    ones, sixes = faces.count(1), faces.count(6)
    assert casting_outcome(ones, sixes, sum(faces), bonus, value, True) == expected


def test_most_dice_by_level() -> None:
    assert [most_casting_dice(level) for level in range(1, 5)] == [2, 3, 4, 5]


@pytest.mark.parametrize(("dice", "value"), [(0, 8), (-1, 8), (2, 2), (2, 16)])
def test_impossible_casts_are_rejected(dice: int, value: int) -> None:
    with pytest.raises(ValueError, match="expected"):
        casting_probabilities(dice, value)
