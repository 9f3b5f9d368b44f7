"""Victory points of units and characters by their remaining models and wounds."""

import pytest

from wfb_gym.rules.victory_points import half_points, points_conceded


@pytest.mark.parametrize(
    ("points", "half"),
    [(120.0, 60.0), (105.0, 53.0), (137.5, 69.0), (50 * 0.28, 7.0), (0.0, 0.0), (0.5, 0.5)],
)
def test_half_is_rounded_up(points: float, half: float) -> None:
    assert half_points(points) == half


@pytest.mark.parametrize(
    ("left", "flees", "counted"),
    [(20, False, 0.0), (10, False, 0.0), (9, False, 53.0), (1, False, 53.0), (0, False, 105.0)]
    + [(left, True, 105.0) for left in (20, 9, 0)],
)
def test_points_by_what_is_left(left: int, flees: bool, counted: float) -> None:
    assert points_conceded(105.0, left, 20, flees) == counted
