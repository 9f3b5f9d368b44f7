"""Round templates: where they are placed, and which bases they cover.

A circle is a circle here, without polygons; so it works in a unit's own frame too.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from wfb_gym.geometry.curves import Curves, meetings
from wfb_gym.geometry.formation import ROUNDING, Bases, Floats

_TOUCH = 1e-6
"""A base that reaches less far under a template is not touched, in inches."""
_CHUNK = 1_000_000
"""Pairs of a place and a base that are computed at once."""
_SIDES = np.array([[-1.0, 0.0], [1.0, 0.0], [0.0, -1.0], [0.0, 1.0]])


class Placing(NamedTuple):
    """The best places for a template on one target."""

    centre: Floats | None  # for the target at full strength; None where every place is barred
    hits: tuple[int, ...]  # at index n the bases wholly covered while n models are left
    partial: tuple[int, ...]  # likewise the bases partly covered


def cover_masks(
    centres: Floats, radius: float, bases: Bases
) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    """Which bases a template at each of k places covers wholly, and which only partly: (k, n).

    A base with corners on the template's edge is covered wholly. One that meets the edge alone, or
    reaches less than a millionth of an inch under it, is not touched.
    """
    nearest, farthest = _square_distances(centres, bases)
    wholly = farthest <= (radius + ROUNDING) ** 2
    return wholly, (nearest <= (radius - _TOUCH + ROUNDING) ** 2) & ~wholly


def count_each(mask: NDArray[np.bool_]) -> tuple[int, ...]:
    """Count at index n how many of the first n entries are true."""
    return (0, *(int(count) for count in np.cumsum(mask)))


def place_template(target: Bases, diameter: float, barred: Sequence[Bases]) -> Placing:
    """Find where a template wholly covers most bases of a target, and among those partly most.

    The player places it anew for a unit that has lost models: so each number of models left has
    its own best place. It may not touch the `barred` bases. Of equal places it lies amid those
    that cover the first bases, which are those in the middle of the front (ours).

    The result is exact but for the millionth of an inch by which a base must reach under it. The
    places that cover some bases wholly and touch others make up an intersection of discs and of
    rectangles with rounded corners. These are convex, so its leftmost point is where two of their
    boundaries meet, or the leftmost point of one of them; no barred base has such a point of its
    own. These points are tried.
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
    """Return a place amid those of the places that cover the first bases.

    All that lies between places that cover the same bases covers them too, but may be barred.
    """
    masks = np.concatenate(cover_masks(places, radius, target), axis=1)
    kinds, kind = np.unique(masks, axis=0, return_inverse=True)
    alike = places[kind.reshape(-1) == len(kinds) - 1]
    middle: Floats = alike.mean(axis=0)
    return middle if _free(middle[None], radius, barred).all() else alike[0]


def _square_distances(centres: Floats, bases: Bases) -> tuple[Floats, Floats]:
    """(k, n) squares of the distances from k places to what is nearest and farthest of n bases."""
    local = bases.frame.local(centres)
    across, along = (np.abs(local[:, i, None] - bases.centres[:, i]) for i in (0, 1))
    wide, deep = bases.half
    farthest = (across + wide) ** 2 + (along + deep) ** 2
    nearest = np.maximum(across - wide, 0.0) ** 2 + np.maximum(along - deep, 0.0) ** 2
    return nearest, farthest


def _near(target: Bases, reach: float, barred: Sequence[Bases]) -> list[Bases]:
    """Those of the barred bases that are so near that they could matter."""
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
    """(k,) whether a template there touches none of the barred bases."""
    free = np.ones(len(centres), np.bool_)
    for bases in barred:
        nearest, _ = _square_distances(centres, bases)
        free &= (nearest >= (radius - ROUNDING) ** 2).all(axis=1)
    return free


def _places(target: Bases, radius: float, barred: Sequence[Bases]) -> Floats:
    """(k, 2) places worth a try, in the target's frame; `place_template` says which these are."""
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
        ways=target.frame.local_directions(merged.ways),
    )
    leftmost = target.centres - target.half - [touching, 0.0]
    places = np.concatenate([leftmost, meetings(local).places])
    low, high = target.centres.min(axis=0), target.centres.max(axis=0)
    reach = target.half + radius
    within: Floats = places[((low - reach <= places) & (places <= high + reach)).all(axis=1)]
    return within


def _distinct(points: Floats, *, alone: bool = False) -> NDArray[np.intp]:
    """Return indices of the distinct ones of points (k, 2), or of those that are there once."""
    _, first, times = np.unique(points.round(7), axis=0, return_index=True, return_counts=True)
    return first[times == 1] if alone else first


def _rounded(bases: Bases, radius: float, *, outline: bool) -> Curves:
    """Circles and lines, on the battlefield, that bound what is nearer than `radius` to each base.

    The lines go on beyond the sides of the bases. Of an outline only what bounds all bases
    together is returned: what two of them share lies inside.
    """
    corners = bases.corners().reshape(-1, 2)
    corners = corners[_distinct(corners, alone=outline)]
    middles = (bases.centres[:, None, :] + _SIDES * bases.half).reshape(-1, 2)
    sides = np.repeat(np.arange(4)[None], len(bases.centres), axis=0).reshape(-1)
    if outline:
        alone = _distinct(middles, alone=True)
        middles, sides = middles[alone], sides[alone]
    outwards = _SIDES[sides]
    offset = (middles * outwards).sum(axis=1) + radius
    lines = np.unique(np.column_stack([sides, offset.round(12)]), axis=0)
    outwards = _SIDES[lines[:, 0].astype(np.int64)]
    return Curves(
        corners,
        np.full(len(corners), radius),
        bases.frame.world(outwards * lines[:, 1:]),
        outwards[:, ::-1] @ bases.frame.axes,
    )
