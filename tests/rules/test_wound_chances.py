"""Hits, wounds and saves against the printed chart and counted fractions."""

from fractions import Fraction as F

import pytest

from wfb_gym.rules.dice import FACES
from wfb_gym.rules.wounds import NEVER, armour_needed, hit_wounds, to_wound, wounding_rolls

CHART = """
4 5 6 6 N N N N N N
3 4 5 6 6 N N N N N
2 3 4 5 6 6 N N N N
2 2 3 4 5 6 6 N N N
2 2 2 3 4 5 6 6 N N
2 2 2 2 3 4 5 6 6 N
2 2 2 2 2 3 4 5 6 6
2 2 2 2 2 2 3 4 5 6
2 2 2 2 2 2 2 3 4 5
2 2 2 2 2 2 2 2 3 4
"""
NONE = 7
FIRE_BALL = 4
HITS_PER_FIRE_BALL = F(7, 2)
DAMAGE = [
    (3, 6, NONE, "2/3", "7/3"),
    (3, 5, NONE, "5/9", "35/18"),
    (3, 4, NONE, "4/9", "14/9"),
    (3, 1, NONE, "1/9", "7/18"),
    (4, 4, NONE, "1/3", "7/6"),
    (4, 6, NONE, "1/2", "7/4"),
    (3, NONE, 5, "4/9", "14/9"),
]


def chance_of(strength: int, toughness: int, armour: int, ward: int, allowed: bool) -> F:
    """Return the exact probability that one hit takes a wound."""
    return F(int(wounding_rolls(strength, toughness, armour, ward, allowed)), FACES**3)


@pytest.mark.parametrize("strength", range(1, 11))
def test_to_wound_chart(strength: int) -> None:
    row = CHART.split("\n")[strength].split()
    found = [int(to_wound(strength, toughness)) for toughness in range(1, 11)]
    assert found == [NEVER if need == "N" else int(need) for need in row]


@pytest.mark.parametrize(("toughness", "armour", "ward", "wounds", "fire_ball"), DAMAGE)
def test_damage_per_hit(
    toughness: int, armour: int, ward: int, wounds: str, fire_ball: str
) -> None:
    chance = chance_of(FIRE_BALL, toughness, armour, ward, True)
    assert chance == F(wounds)
    assert chance * HITS_PER_FIRE_BALL == F(fire_ball)


def test_damage_without_armour_saves() -> None:
    chance = chance_of(3, 4, 4, NONE, False)
    assert chance == F(1, 3)
    assert chance * HITS_PER_FIRE_BALL == F(7, 6)


@pytest.mark.parametrize(
    ("save", "strength", "needed"),
    [(6, 3, 6), (6, 4, 7), (4, 5, 6), (2, 1, 2), (1, 4, 2), (1, 3, 2)],
)
def test_armour_is_worsened_by_strength_and_never_better_than_two(
    save: int, strength: int, needed: int
) -> None:
    assert armour_needed(save, strength) == needed


def test_a_one_never_saves() -> None:
    assert hit_wounds(6, 1, 1, 3, 3, 1, 1, True)
    assert not hit_wounds(6, 2, 1, 3, 3, 1, NONE, True)
    assert not hit_wounds(6, 1, 2, 3, 3, NONE, 1, True)


def test_a_ward_save_is_not_modified_and_applies_without_armour() -> None:
    assert not hit_wounds(6, 6, 4, 10, 3, NONE, 4, True)
    assert not hit_wounds(6, 6, 4, 10, 3, 2, 4, False)
    assert hit_wounds(6, 6, 3, 10, 3, 2, 4, False)


def test_a_hit_that_cannot_wound_does_nothing() -> None:
    assert chance_of(3, 7, NONE, NONE, True) == 0
    assert not hit_wounds(6, 1, 1, 3, 7, NONE, NONE, True)
