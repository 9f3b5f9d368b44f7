"""Where circles and straight lines meet: what regions of places are bounded by.

Plain NumPy, in any one frame.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from wfb_gym.geometry.formation import ROUNDING, Floats

_SAME = 1e-6
"""Circles are one and the same whose centres are nearer, in inches."""


class Curves(NamedTuple):
    """Circles, and then straight lines; their numbers go on from the former to the latter."""

    centres: Floats  # (c, 2)
    radii: Floats  # (c,)
    points: Floats  # (l, 2), one on each line
    ways: Floats  # (l, 2), of length 1


class Meetings(NamedTuple):
    """Places where two curves meet."""

    places: Floats  # (k, 2)
    first: NDArray[np.intp]  # (k,) number of one of the two curves
    second: NDArray[np.intp]  # (k,) that of the other


def meetings(curves: Curves) -> Meetings:
    """Return where the curves meet, two by two; where they touch, perhaps twice."""
    found = [*_circles(curves), *_circles_and_lines(curves), _lines(curves)]
    return Meetings(*(np.concatenate(parts) for parts in zip(*found, strict=True)))


def _circles(curves: Curves) -> tuple[Meetings, Meetings]:
    """Two circles meet on either side of the line between their centres."""
    centres, radii = curves.centres, curves.radii
    first, second = np.triu_indices(len(centres), 1)
    between = centres[second] - centres[first]
    distance = np.hypot(between[:, 0], between[:, 1])
    near = (distance > _SAME) & (distance <= radii[first] + radii[second] + ROUNDING)
    first, second, between, distance = first[near], second[near], between[near], distance[near]
    between /= distance[:, None]
    ahead = (distance + (radii[first] ** 2 - radii[second] ** 2) / distance) / 2
    return _either_side(curves, first, second, between, ahead)


def _circles_and_lines(curves: Curves) -> tuple[Meetings, Meetings]:
    """Circles meet a line on either side of its point that is nearest to their centres."""
    count = len(curves.centres)
    first, line = (grid.reshape(-1) for grid in np.indices((count, len(curves.points))))
    across = np.column_stack([-curves.ways[:, 1], curves.ways[:, 0]])
    offset = (curves.points * across).sum(axis=1)
    ahead = (offset - curves.centres @ across.T).reshape(-1)
    near = np.abs(ahead) <= curves.radii[first] + ROUNDING
    first, line, ahead = first[near], line[near], ahead[near]
    return _either_side(curves, first, count + line, across[line], ahead)


def _lines(curves: Curves) -> Meetings:
    count = len(curves.centres)
    points, ways = curves.points, curves.ways
    first, second = np.triu_indices(len(points), 1)
    sine = _cross(ways[first], ways[second])
    crossing = np.abs(sine) > ROUNDING
    first, second, sine = first[crossing], second[crossing], sine[crossing]
    steps = _cross(points[second] - points[first], ways[second]) / sine
    return Meetings(points[first] + steps[:, None] * ways[first], count + first, count + second)


def _either_side(
    curves: Curves,
    first: NDArray[np.intp],
    second: NDArray[np.intp],
    towards: Floats,
    ahead: Floats,
) -> tuple[Meetings, Meetings]:
    """Points of the first curves, circles, that lie `ahead` of the centres in a direction."""
    square = curves.radii[first] ** 2 - ahead**2
    real = square >= -ROUNDING * curves.radii[first]
    first, second, towards, ahead = first[real], second[real], towards[real], ahead[real]
    aside = np.sqrt(np.maximum(square[real], 0.0))[:, None]
    left = np.column_stack([-towards[:, 1], towards[:, 0]])
    foot = curves.centres[first] + ahead[:, None] * towards
    return (
        Meetings(foot + aside * left, first, second),
        Meetings(foot - aside * left, first, second),
    )


def _cross(one: Floats, other: Floats) -> Floats:
    """(k,) cross products of directions (k, 2)."""
    product: Floats = one[:, 0] * other[:, 1] - one[:, 1] * other[:, 0]
    return product
