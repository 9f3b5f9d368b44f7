"""Intersections of circles and straight lines, which bound regions of places.

Plain NumPy; all coordinates are in the same frame.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from wfb_gym.geometry.formation import ROUNDING, Floats

_SAME = 1e-6  # circles whose centres are closer than this are treated as the same circle, in inches


class Curves(NamedTuple):
    """Circles followed by straight lines; line i has index c + i."""

    centres: Floats  # (c, 2)
    radii: Floats  # (c,)
    points: Floats  # (l, 2), a point on each line
    directions: Floats  # (l, 2), unit vectors


class Meetings(NamedTuple):
    """Places where two curves meet."""

    places: Floats  # (k, 2)
    first: NDArray[np.intp]  # (k,) index of one of the two curves
    second: NDArray[np.intp]  # (k,) index of the other curve


def meetings(curves: Curves) -> Meetings:
    """Return the intersections of all pairs of curves; a tangent point may be listed twice."""
    found = [*_circles(curves), *_circles_and_lines(curves), _lines(curves)]
    return Meetings(*(np.concatenate(parts) for parts in zip(*found, strict=True)))


def _circles(curves: Curves) -> tuple[Meetings, Meetings]:
    """Intersect pairs of circles, on both sides of the line through their centres."""
    centres, radii = curves.centres, curves.radii
    first, second = np.triu_indices(len(centres), 1)
    between = centres[second] - centres[first]
    distance = np.hypot(between[:, 0], between[:, 1])
    near = (distance > _SAME) & (distance <= radii[first] + radii[second] + ROUNDING)
    first, second, between, distance = first[near], second[near], between[near], distance[near]
    between /= distance[:, None]
    along = (distance + (radii[first] ** 2 - radii[second] ** 2) / distance) / 2
    return _either_side(curves, first, second, between, along)


def _circles_and_lines(curves: Curves) -> tuple[Meetings, Meetings]:
    """Intersect circles with lines, on both sides of the line's point nearest to the centre."""
    count = len(curves.centres)
    first, line = (grid.reshape(-1) for grid in np.indices((count, len(curves.points))))
    across = np.column_stack([-curves.directions[:, 1], curves.directions[:, 0]])
    offset = (curves.points * across).sum(axis=1)
    along = (offset - curves.centres @ across.T).reshape(-1)
    near = np.abs(along) <= curves.radii[first] + ROUNDING
    first, line, along = first[near], line[near], along[near]
    return _either_side(curves, first, count + line, across[line], along)


def _lines(curves: Curves) -> Meetings:
    count = len(curves.centres)
    points, directions = curves.points, curves.directions
    first, second = np.triu_indices(len(points), 1)
    sine = _cross(directions[first], directions[second])
    crossing = np.abs(sine) > ROUNDING
    first, second, sine = first[crossing], second[crossing], sine[crossing]
    steps = _cross(points[second] - points[first], directions[second]) / sine
    places = points[first] + steps[:, None] * directions[first]
    return Meetings(places, count + first, count + second)


def _either_side(
    curves: Curves,
    first: NDArray[np.intp],
    second: NDArray[np.intp],
    towards: Floats,
    along: Floats,
) -> tuple[Meetings, Meetings]:
    """Return the two points at distance `along` in a direction, for each of the first circles."""
    square = curves.radii[first] ** 2 - along**2
    real = square >= -ROUNDING * curves.radii[first]
    first, second, towards, along = first[real], second[real], towards[real], along[real]
    aside = np.sqrt(np.maximum(square[real], 0.0))[:, None]
    left = np.column_stack([-towards[:, 1], towards[:, 0]])
    foot = curves.centres[first] + along[:, None] * towards
    return (
        Meetings(foot + aside * left, first, second),
        Meetings(foot - aside * left, first, second),
    )


def _cross(one: Floats, other: Floats) -> Floats:
    """Return the cross products of directions (k, 2), shape (k,)."""
    product: Floats = one[:, 0] * other[:, 1] - one[:, 1] * other[:, 0]
    return product
