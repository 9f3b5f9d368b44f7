from fractions import Fraction as F
from functools import cache

import pytest

from wfb_gym.rules.comets import landing_chances, reach_chances


@cache
def landed_and_reached(distance: float, markers: int, starts: int) -> tuple[F, F]:
    """Return the probabilities that a Comet lands, and lands and reaches a distance, die by die."""
    if starts == 0:
        return F(0), F(0)
    landed = reached = F(0)
    for die in range(1, 7):
        if die >= 4:
            landed += F(1, 6)
            reached += F(1, 6) * F(sum(inches * markers >= distance for inches in range(1, 7)), 6)
        else:
            later = landed_and_reached(distance, markers + 1, starts - 1)
            landed, reached = landed + later[0] / 6, reached + later[1] / 6
    return landed, reached


@pytest.mark.parametrize("starts", range(12))
@pytest.mark.parametrize("distance", [0.0, 1.0, 2.4, 6.0, 6.1, 17.0])
def test_chances_of_a_comet_match_its_dice(starts: int, distance: float) -> None:
    landed, reached = landed_and_reached(distance, 1, starts)
    chances = landing_chances(starts)
    assert sum(chances) == pytest.approx(float(landed))
    reaches = sum(chance * reach_chances(distance, k) for k, chance in enumerate(chances, 1))
    assert reaches == pytest.approx(float(reached))
