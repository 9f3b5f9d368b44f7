"""Round templates: their best places and the bases that they cover.

Circles are exact rather than polygons, so the functions also work in a unit's frame.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from wfb_gym.geometry.curves import Curves, meetings
from wfb_gym.geometry.formation import ROUNDING, SIDES, Bases, Floats

_TOUCH = 1e-6  # minimum width of an overlap for a template to touch a base, in inches
_CHUNK = 1_000_000  # number of (place, base) pairs per batch, to limit memory use


class Placing(NamedTuple):
    """The best places for a template on a target."""

    centre: Floats | None  # for the target at full strength; None if no place is allowed
    hits: tuple[int, ...]  # at index n: bases completely covered if n models are left
    partial: tuple[int, ...]  # at index n: bases partly covered


def cover_masks(
    centres: Floats, radius: float, bases: Bases
) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    """Return the bases that a template in each place covers completely, and only partly.

    A base whose corners are on the template's edge is completely covered. A base that only meets
    the edge, or overlaps by less than a millionth of an inch, is not touched.

    Args:
        centres: places for the template, shape (k, 2), in inches.
        radius: the template's radius, in inches.
        bases: n bases.

    Returns:
        Two masks of shape (k, n).
    """
    nearest, farthest = _square_distances(centres, bases)
    wholly = farthest <= (radius + ROUNDING) ** 2
    return wholly, (nearest <= (radius - _TOUCH + ROUNDING) ** 2) & ~wholly


def count_each(mask: NDArray[np.bool_]) -> tuple[int, ...]:
    """Return a tuple whose entry n is the number of true values among the first n entries."""
    return (0, *(int(count) for count in np.cumsum(mask)))


def place_template(target: Bases, diameter: float, barred: Sequence[Bases]) -> Placing:
    """Find the place where a template covers the most of a target's bases.

    Completely covered bases are compared first, then partly covered ones.

    The template may not touch the `barred` bases. Each number of remaining models has its own best
    place (house rule C.57). Ties are broken in favour of places that cover the first bases, in the
    middle of the front, and the template is placed in the middle of these places (house rule).

    The result is exact, except for the millionth of an inch by which a base must overlap. The
    places that completely cover some bases and touch others form an intersection of discs and
    rectangles with rounded corners. These shapes are convex. The leftmost point of the intersection
    is therefore a point where two boundaries meet, or the leftmost point of one shape. Barred bases
    add no leftmost points. The function tries all of these points.
    """
    radius = diameter / 2
    barred = _near(target, 2 * radius, barred)
    tried = target.frame.world(_places(target, radius, barred))
    tried = tried[_free(tried, radius, barred)]
    models = len(target.centres)
    index = np.arange(models)
    best = np.zeros(models, np.int64)
    equal: list[Floats] = []
    for some in np.array_split(tried, 1 + len(tried) * models // _CHUNK):
        if not len(some):
            continue
        wholly, partly = cover_masks(some, radius, target)
        # At most `models` bases are touched, so one more completely covered base always wins.
        score = np.cumsum(wholly * (models + 1) + partly, axis=1)
        chosen = score.argmax(axis=0)
        better = score[chosen, index] > best
        best = np.where(better, score[chosen, index], best)
        ends = score[:, -1] == best[-1]
        equal = [*([] if better[-1] else equal), some[ends]]
    hits, partial = np.divmod(best, models + 1)
    centre = None
    if best[-1]:
        centre = _middle(np.concatenate(equal), radius, target, barred)
    return Placing(centre, (0, *hits.tolist()), (0, *partial.tolist()))


def _middle(places: Floats, radius: float, target: Bases, barred: Sequence[Bases]) -> Floats:
    """Return the middle of the places that cover the first bases, or one of them if it is barred.

    Any point between places that cover the same bases also covers them, but may be barred.
    """
    masks = np.concatenate(cover_masks(places, radius, target), axis=1)
    kinds, kind = np.unique(masks, axis=0, return_inverse=True)
    alike = places[kind.reshape(-1) == len(kinds) - 1]
    middle: Floats = alike.mean(axis=0)
    return middle if _free(middle[None], radius, barred).all() else alike[0]


def _square_distances(centres: Floats, bases: Bases) -> tuple[Floats, Floats]:
    """Return the squared distances to each base's nearest and farthest points, (k, n)."""
    local = bases.frame.local(centres)
    across, along = (np.abs(local[:, i, None] - bases.centres[:, i]) for i in (0, 1))
    wide, deep = bases.half
    farthest = (across + wide) ** 2 + (along + deep) ** 2
    nearest = np.maximum(across - wide, 0.0) ** 2 + np.maximum(along - deep, 0.0) ** 2
    return nearest, farthest


def _near(target: Bases, reach: float, barred: Sequence[Bases]) -> list[Bases]:
    """Return the barred bases that are near enough to matter."""
    low = (target.centres - target.half).min(axis=0)
    high = (target.centres + target.half).max(axis=0)
    near = []
    for bases in barred:
        at = target.frame.local(bases.frame.world(bases.centres))
        away = np.maximum(np.maximum(low - at, at - high), 0.0)
        close = np.hypot(away[:, 0], away[:, 1]) <= reach + np.hypot(*bases.half) + ROUNDING
        if close.any():
            near.append(bases._replace(centres=bases.centres[close]))
    return near


def _free(centres: Floats, radius: float, barred: Sequence[Bases]) -> NDArray[np.bool_]:
    """Return whether a template in each place touches none of the barred bases, shape (k,)."""
    free = np.ones(len(centres), np.bool_)
    for bases in barred:
        nearest, _ = _square_distances(centres, bases)
        free &= (nearest >= (radius - ROUNDING) ** 2).all(axis=1)
    return free


def _places(target: Bases, radius: float, barred: Sequence[Bases]) -> Floats:
    """Return the candidate places for `place_template` in the target's frame, shape (k, 2)."""
    touching = radius - _TOUCH
    corners = target.corners().reshape(-1, 2)
    corners = corners[_distinct(corners)]
    discs = Curves(corners, np.full(len(corners), radius), np.empty((0, 2)), np.empty((0, 2)))
    curves = [discs, _rounded(target, touching, outline=False)]
    curves += [_rounded(bases, radius, outline=True) for bases in barred]
    merged = Curves(*(np.concatenate(parts) for parts in zip(*curves, strict=True)))
    local = merged._replace(
        centres=target.frame.local(merged.centres),
        points=target.frame.local(merged.points),
        directions=target.frame.local_directions(merged.directions),
    )
    leftmost = target.centres - target.half - [touching, 0.0]
    places = np.concatenate([leftmost, meetings(local).places])
    low, high = target.centres.min(axis=0), target.centres.max(axis=0)
    reach = target.half + radius
    within: Floats = places[((low - reach <= places) & (places <= high + reach)).all(axis=1)]
    return within


def _distinct(points: Floats, *, only_single: bool = False) -> NDArray[np.intp]:
    """Return indices of distinct points (k, 2), or only of points that occur once."""
    _, first, times = np.unique(points.round(7), axis=0, return_index=True, return_counts=True)
    return first[times == 1] if only_single else first


def _rounded(bases: Bases, radius: float, *, outline: bool) -> Curves:
    """Return the circles and lines that bound the area within `radius` of the bases.

    The lines extend beyond the sides of the bases. With `outline`, corners and sides shared by two
    bases are omitted, because they lie inside the area.
    """
    corners = bases.corners().reshape(-1, 2)
    corners = corners[_distinct(corners, only_single=outline)]
    middles = (bases.centres[:, None, :] + SIDES * bases.half).reshape(-1, 2)
    sides = np.repeat(np.arange(4)[None], len(bases.centres), axis=0).reshape(-1)
    if outline:
        single = _distinct(middles, only_single=True)
        middles, sides = middles[single], sides[single]
    outwards = SIDES[sides]
    offset = (middles * outwards).sum(axis=1) + radius
    lines = np.unique(np.column_stack([sides, offset.round(12)]), axis=0)
    outwards = SIDES[lines[:, 0].astype(np.int64)]
    return Curves(
        corners,
        np.full(len(corners), radius),
        bases.frame.world(outwards * lines[:, 1:]),
        outwards[:, ::-1] @ bases.frame.axes,
    )
