"""Hits, wounds and saves against the printed chart and thrown dice."""

import pytest

from wfb_gym.rules.wounds import NEVER, armour_needed, hit_wounds, to_wound

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


@pytest.mark.parametrize("strength", range(1, 11))
def test_to_wound_chart(strength: int) -> None:
    row = CHART.split("\n")[strength].split()
    found = [int(to_wound(strength, toughness)) for toughness in range(1, 11)]
    assert found == [NEVER if need == "N" else int(need) for need in row]


@pytest.mark.parametrize(
    ("save", "strength", "needed"),
    [(6, 3, 6), (6, 4, 7), (4, 5, 6), (2, 1, 2), (1, 4, 2), (1, 3, 2)],
)
def test_armour_is_worsened_by_strength_and_never_better_than_two(
    save: int, strength: int, needed: int
) -> None:
    assert armour_needed(save, strength) == needed


@pytest.mark.parametrize(("dice", "strength", "armour", "ward", "allowed", "wounds"), [
    ((6, 1, 1), 3, 1, 1, True, True),  # a 1 never saves
    ((6, 2, 1), 3, 1, NONE, True, False), ((6, 1, 2), 3, NONE, 1, True, False),
    ((6, 6, 4), 10, NONE, 4, True, False),  # Strength does not modify a ward save
    ((6, 6, 4), 10, 2, 4, False, False), ((6, 6, 3), 10, 2, 4, False, True),
])  # fmt: skip
def test_saves_of_a_hit_on_toughness_3(
    dice: tuple[int, int, int], strength: int, armour: int, ward: int, allowed: bool, wounds: bool
) -> None:
    assert hit_wounds(*dice, strength, 3, armour, ward, allowed) == wounds


def test_a_hit_that_cannot_wound_does_nothing() -> None:
    assert not hit_wounds(6, 1, 1, 3, 7, NONE, NONE, True)
