"""Round templates: where they are placed, and which bases they cover.

A circle is a circle here, without polygons; so it works in a unit's own frame too.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from wfb_gym.geometry.formation import Bases, Floats

_ROUNDING = 1e-9
_TOUCH = 1e-6
"""A base that reaches less far under a template is not touched, in inches."""
_GRID = 0.1
"""Inches between places that are tried beside those where a circle meets corners."""
_CHUNK = 4_000_000
"""Pairs of a place and a base that are computed at once."""


class Placing(NamedTuple):
    """The best places for a template on one target."""

    centre: Floats | None  # for the target at full strength; None where every place is barred
    hits: tuple[int, ...]  # at index n the bases wholly covered while n models are left
    partial: tuple[int, ...]  # likewise the bases partly covered


def cover_masks(
    centres: Floats, radius: float, bases: Bases
) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    """Which bases a template at each of k places covers wholly, and which only partly: (k, n)."""
    away = np.abs(bases.frame.local(centres)[:, None, :] - bases.centres)
    farthest = ((away + bases.half) ** 2).sum(axis=2)
    nearest = (np.maximum(away - bases.half, 0.0) ** 2).sum(axis=2)
    wholly = farthest <= (radius + _ROUNDING) ** 2
    return wholly, (nearest < (radius - _TOUCH) ** 2) & ~wholly


def count_each(mask: NDArray[np.bool_]) -> tuple[int, ...]:
    """Count at index n how many of the first n entries are true."""
    return (0, *(int(count) for count in np.cumsum(mask)))


def place_template(target: Bases, diameter: float, barred: Sequence[Bases]) -> Placing:
    """Find where a template wholly covers most bases of a target, and among those partly most.

    The player places it anew for a unit that has lost models: so each number of models left has
    its own best place. It may not touch the `barred` bases.
    """
    radius = diameter / 2
    tried = _places(target, radius)
    barred = _near(tried, 2.5 * radius, barred)  # the grid below reaches beyond these places
    free = _free(tried, radius, barred)
    if not free.all():
        tried = np.concatenate([tried, target.frame.world(_grid(target, radius))])
        free = _free(tried, radius, barred)
    tried = tried[free]
    models = len(target.centres)
    best = np.full(models, -1)
    hits, partial = np.zeros(models, np.int64), np.zeros(models, np.int64)
    spots = np.full((models, 2), np.nan)
    for some in np.array_split(tried, 1 + len(tried) * models // _CHUNK):
        if not len(some):
            continue
        wholly, partly = (np.cumsum(mask, axis=1) for mask in cover_masks(some, radius, target))
        score = wholly * (models + 1) + partly
        chosen = score.argmax(axis=0)
        index = np.arange(models)
        better = score[chosen, index] > best
        best = np.where(better, score[chosen, index], best)
        hits = np.where(better, wholly[chosen, index], hits)
        partial = np.where(better, partly[chosen, index], partial)
        spots = np.where(better[:, None], some[chosen], spots)
    centre = spots[-1] if best[-1] > 0 else None
    return Placing(centre, (0, *hits.tolist()), (0, *partial.tolist()))


def _near(centres: Floats, reach: float, barred: Sequence[Bases]) -> list[Bases]:
    """Those of the barred bases that a circle of radius `reach` around a place could touch."""
    low, high = centres.min(axis=0), centres.max(axis=0)
    near = []
    for bases in barred:
        at = bases.frame.world(bases.centres)
        away = np.maximum(np.maximum(low - at, at - high), 0.0)
        close = np.hypot(away[:, 0], away[:, 1]) <= reach + np.hypot(*bases.half) + _ROUNDING
        if close.any():
            near.append(bases._replace(centres=bases.centres[close]))
    return near


def _free(centres: Floats, radius: float, barred: Sequence[Bases]) -> NDArray[np.bool_]:
    """(k,) whether a template there touches none of the barred bases."""
    free = np.ones(len(centres), np.bool_)
    for bases in barred:
        away = np.abs(bases.frame.local(centres)[:, None, :] - bases.centres)
        nearest = (np.maximum(away - bases.half, 0.0) ** 2).sum(axis=2)
        free &= (nearest > (radius + _ROUNDING) ** 2).all(axis=1)
    return free


def _places(target: Bases, radius: float) -> Floats:
    """(k, 2) places worth a try, on the battlefield.

    A set of bases can be covered wholly if the discs around all their corners have a point in
    common; then two of these circles meet at such a point, unless the set has one place only.
    Centres of bases, the middles between them and a grid help with bases partly covered, and
    where the best places are barred.
    """
    centres = target.centres
    signs = np.array([[-1, -1], [-1, 1], [1, -1], [1, 1]])
    corners = (centres[:, None, :] + signs * target.half).reshape(-1, 2)
    corners = np.unique(corners.round(9), axis=0)
    middles = [np.empty((0, 2))]
    for step in range(1, min(len(centres), 12)):
        middles.append((centres[step:] + centres[:-step]) / 2)
    local = np.concatenate([centres, *middles, _meetings(corners, radius), _grid(target, 0.0)])
    return target.frame.world(np.unique(local.round(9), axis=0))


def _meetings(corners: Floats, radius: float) -> Floats:
    """Where circles around the corners meet, two by two."""
    first, second = np.triu_indices(len(corners), 1)
    between = corners[second] - corners[first]
    distance = np.hypot(between[:, 0], between[:, 1])
    near = distance <= 2 * radius
    between, distance = between[near], distance[near]
    middle = (corners[first] + corners[second])[near] / 2
    height = np.sqrt(np.maximum(radius**2 - (distance / 2) ** 2, 0.0)) / distance
    across = np.stack([-between[:, 1], between[:, 0]], axis=1) * height[:, None]
    return np.concatenate([middle + across, middle - across])


def _grid(target: Bases, margin: float) -> Floats:
    """Return a grid in the target's frame, over its bases and `margin` inches beyond them."""
    low = (target.centres - target.half).min(axis=0) - margin
    high = (target.centres + target.half).max(axis=0) + margin
    us, vs = (np.arange(low[i], high[i] + _GRID, _GRID) for i in (0, 1))
    return np.stack(np.meshgrid(us, vs), axis=-1).reshape(-1, 2)
