import math
from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from tests.geometry.stand_ins import KARL, Character, Unit, deployment, strikes, template, verdicts
from wfb_gym.geometry.formation import Bases, Floats, cells, frame_at
from wfb_gym.geometry.templates import cover_masks, place_template

JUST_FITS = 3.0 / math.sqrt(2)
THEIRS = Unit("Theirs", 10, 5, (36.0, 30.0), 180.0)


def block(models: int, frontage: int, width: float = 1.0, depth: float = 1.0) -> Bases:
    centres = np.add(cells(frontage, models), [0.0, 0.5]) * [width, -depth]
    return Bases(frame_at((5.0, 5.0), 30.0), centres, np.array([width / 2, depth / 2]))


def beyond(places: Floats, bases: Bases) -> tuple[Floats, Floats]:
    """Return distances (k, n) from places to the nearest and the farthest point of each base."""
    away = np.abs((places - bases.frame.origin)[:, None] @ bases.frame.axes.T - bases.centres)
    near = np.maximum(away - bases.half, 0.0)
    return np.hypot(near[..., 0], near[..., 1]), np.hypot(*np.moveaxis(away + bases.half, 2, 0))


def searched_best(bases: Bases, radius: float, barred: Sequence[Bases] = ()) -> tuple[int, int]:
    """Return the most bases covered, and the most touched there, by a grid and a local search.

    A base counts as touched if it reaches two millionths of an inch under the template.
    """

    def scores(places: Floats) -> NDArray[np.int64]:
        near, far = beyond(places, bases)
        wholly = far <= radius + 1e-12
        found: NDArray[np.int64] = wholly.sum(axis=1) * 1000
        found += ((near < radius - 2e-6) & ~wholly).sum(axis=1)
        for other in barred:
            found[(beyond(places, other)[0] < radius).any(axis=1)] = 0
        return found

    choices = np.random.default_rng(0)
    corners = bases.corners().reshape(-1, 2)
    low, high = corners.min(axis=0) - radius, corners.max(axis=0) + radius
    us, vs = (np.arange(low[i], high[i], 0.07) for i in (0, 1))
    places = np.stack(np.meshgrid(us, vs), axis=-1).reshape(-1, 2)
    for spread in (0.06, 0.02, 0.006, 0.002, 0.0006):
        top = places[np.argsort(-scores(places))[:20]]
        more = top[:, None] + choices.normal(size=(20, 50, 2))[: len(top)] * spread
        places = np.concatenate([top, more.reshape(-1, 2)])
    return divmod(int(scores(places).max()), 1000)


@pytest.mark.parametrize(("bases", "hits", "partial"), [
    # 3 inches across on inch bases: the four around a corner reach 1.41 from it.
    (block(4, 2), 4, 0), (block(25, 5), 4, 12),
    # A Pit of Shades on infantry: such places are about a hundredth of an inch wide.
    (block(25, 5, 20 / 25.4, 20 / 25.4), 7, 16),
    (block(1, 1, 3.0, 3.0), 0, 1),  # larger than the template
    (block(1, 1, JUST_FITS, JUST_FITS), 1, 0), (block(1, 1, JUST_FITS + 0.001, JUST_FITS), 0, 1),
])  # fmt: skip
def test_bases_that_a_template_of_three_inches_covers_and_touches(
    bases: Bases, hits: int, partial: int
) -> None:
    found = place_template(bases, 3.0, [])
    assert (found.hits[-1], found.partial[-1]) == (hits, partial)


def test_each_number_of_models_left_has_its_own_best_place() -> None:
    found = place_template(block(20, 5), 3.0, [])
    for n in (1, 5, 6, 8, 13, 20):
        fewer = block(20, 5)._replace(centres=block(20, 5).centres[:n])
        assert found.hits[n] == place_template(fewer, 3.0, []).hits[n]


def test_a_base_that_only_meets_the_edge_is_not_touched_and_does_not_bar_the_place() -> None:
    inch = block(1, 1)
    away = np.array([[0.0, 1.0], [0.0, 1.0 - 2e-6], [0.0, 2.0]])
    wholly, partly = cover_masks(inch.frame.world(inch.centres + away), 0.5, inch)
    assert not wholly.any()
    assert partly[:, 0].tolist() == [False, True, False]
    # Between two walls three inches apart there is just room for the template.
    wall = inch._replace(half=np.array([0.5, 9.0]))
    for apart, covered in ((2.0, 1), (1.999, 0)):
        walls = [wall._replace(centres=inch.centres + np.array([x, 0])) for x in (-2.0, apart)]
        assert place_template(inch, 3.0, walls).hits[1] == covered


def test_the_place_is_central_among_equal_ones() -> None:
    found = place_template(block(1, 1), 3.0, [])
    assert found.centre is not None
    assert block(1, 1).frame.local(found.centre) == pytest.approx([0.0, -0.5])
    # Among equal places it covers the first bases: the middle one of the front and its left one.
    row = place_template(block(5, 5, 3.0, 3.0), 1.0, [])
    assert (row.hits[5], row.partial[5]) == (0, 2)
    assert row.centre is not None
    assert block(5, 5).frame.local(row.centre) == pytest.approx([-1.5, -1.5], abs=0.3)


@settings(max_examples=6)
@given(st.integers(0, 2**32 - 1))
def test_no_search_finds_a_better_place(seed: int) -> None:
    choices = np.random.default_rng(seed)
    width, depth = choices.choice([20, 25, 40, 50], 2) / 25.4
    radius = float(choices.choice([0.5, 1.5, 2.5, 4.0]))
    target = block(int(choices.integers(1, 31)), int(choices.integers(1, 9)), width, depth)
    barred = []
    for _ in range(choices.choice([0, 0, 1, 2])):
        some = block(int(choices.integers(1, 15)), int(choices.integers(1, 6)), width, width)
        angle, away = choices.uniform(0, 2 * np.pi), choices.uniform(1, 6)
        place = (5 + away * np.cos(angle), 5 + away * np.sin(angle))
        barred.append(some._replace(frame=frame_at(place, choices.uniform(0, 360))))
    found = place_template(target, 2 * radius, barred)
    assert (found.hits[-1], found.partial[-1]) >= searched_best(target, radius, barred)
    if found.centre is not None:
        near, far = beyond(found.centre[None], target)
        assert (far <= radius + 2e-9).sum() == found.hits[-1]
        assert ((near <= radius - 0.9e-6) & (far > radius + 2e-9)).sum() == found.partial[-1]
        for other in barred:
            assert (beyond(found.centre[None], other)[0] >= radius - 2e-9).all()


@settings(max_examples=20)
@given(st.integers(1, 40), st.integers(1, 10), st.floats(0.5, 3.0), st.floats(1.0, 6.0))
def test_a_template_never_hits_more_models_than_are_left(
    models: int, frontage: int, width: float, inches: float
) -> None:
    found = place_template(block(models, frontage, width), inches, [])
    assert len(found.hits) == len(found.partial) == models + 1
    both = list(zip(found.hits, found.partial, strict=True))
    assert all(hits + partial <= n for n, (hits, partial) in enumerate(both))
    assert list(found.hits) == sorted(found.hits)


def test_a_spell_with_a_template_spares_engaged_units_and_friends_beside_its_target() -> None:
    (free,) = strikes(deployment((KARL,), (THEIRS,)), 0, 0, template(), 16)
    fight = Unit("Fight", 10, 5, (36.0, 32.0), 180.0, in_combat=True)
    friend = Unit("Friend", 5, 5, (41.0, 30.0), 180.0)
    near = deployment((KARL, friend), (THEIRS, fight))
    assert [verdict.legal for verdict in verdicts(near, 0, 0, template())] == [True, False]
    (cramped,) = strikes(near, 0, 0, template(), 16)
    assert cramped.victim == 16
    assert cramped.hits is not None
    assert free.hits is not None
    # Its rear edge may lie at y 32 at most: only bases of the front rank fit wholly under it.
    assert (free.hits[10], cramped.hits[10]) == (4, 2)


def test_a_target_wedged_in_among_engaged_units_leaves_no_place_for_the_template() -> None:
    around = [
        Unit(name, 5, 5, place, in_combat=True)
        for name, place in (
            ("a", (33.0, 31.0)), ("b", (39.0, 31.0)), ("c", (36.0, 32.0)), ("d", (36.0, 30.0))
        )
    ]  # fmt: skip
    crowd = deployment((KARL,), (Unit("Theirs", 1, 1, (36.0, 30.0), 180.0), *around))
    reason = "has no place for a template that avoids friends and close combat"
    assert verdicts(crowd, 0, 0, template())[0][1:] == (False, reason, False)


def test_a_template_strikes_all_enemies_under_it() -> None:
    pair = Unit("Pair", 2, 2, (36.0, 30.0), 180.0)
    hero = Character("Foe", (36.0, 31.0), 180.0)
    (unit, lone) = strikes(deployment((KARL,), (pair, hero)), 0, 0, template(), 16)
    assert (unit.victim, unit.hits, unit.partial) == (16, (0, 1, 2), (0, 0, 0))
    assert lone.victim == 26
    assert lone.hits is not None
    assert lone.partial is not None
    assert (len(lone.hits), lone.hits[1] + lone.partial[1]) == (2, 1)


def test_without_a_rule_for_models_touched_these_are_safe() -> None:
    (strike,) = strikes(deployment((KARL,), (THEIRS,)), 0, 0, template(partial=None), 16)
    assert strike.partial is None


def test_without_a_battlefield_a_template_hits_only_its_target_as_its_formation_lies() -> None:
    here = deployment((Character(),), (THEIRS, Unit("More", 10, 5)), battlefield=False)
    (strike,) = strikes(here, 0, 0, template(), 16)
    assert strike.hits == place_template(block(10, 5), 3.0, []).hits
