import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.geometry.stand_ins import (
    Character,
    Unit,
    deployment,
    strikes,
    template,
    verdicts,
)
from wfb_gym.geometry.formation import Bases, Floats, cells, frame_at
from wfb_gym.geometry.templates import Placing, cover_masks, place_template

KARL = Character(position=(36.0, 6.0))


def block(models: int, frontage: int, width: float = 1.0, depth: float = 1.0) -> Bases:
    centres = np.add(cells(frontage, models), [0.0, 0.5]) * [width, -depth]
    return Bases(frame_at((5.0, 5.0), 30.0), centres, np.array([width / 2, depth / 2]))


def grid_best(bases: Bases, radius: float, barred: Bases | None = None) -> tuple[int, int]:
    """The most bases covered wholly, and of those places most partly, on a fine grid."""
    low = (bases.centres - bases.half).min(axis=0) - radius
    high = (bases.centres + bases.half).max(axis=0) + radius
    us, vs = (np.arange(low[i], high[i], 0.03) for i in (0, 1))
    tried = bases.frame.world(np.stack(np.meshgrid(us, vs), axis=-1).reshape(-1, 2))
    if barred is not None:
        wholly, partly = cover_masks(tried, radius, barred)
        tried = tried[~(wholly | partly).any(axis=1)]
    wholly, partly = cover_masks(tried, radius, bases)
    return max(zip(wholly.sum(axis=1).tolist(), partly.sum(axis=1).tolist(), strict=True))


def test_only_bases_wholly_covered_count_as_hit() -> None:
    # 3 inches across on inch bases: the four around a corner reach 1.41 from it.
    found = place_template(block(4, 2), 3.0, [])
    assert found.hits == (0, 1, 2, 3, 4)
    assert found.partial == (0, 0, 0, 0, 0)


def test_a_template_of_three_inches_covers_four_bases_of_an_inch_and_touches_twelve() -> None:
    found = place_template(block(25, 5), 3.0, [])
    assert (found.hits[25], found.partial[25]) == (4, 12) == grid_best(block(25, 5), 1.5)


def test_each_number_of_models_left_has_its_own_best_place() -> None:
    found = place_template(block(20, 5), 3.0, [])
    for n in (1, 5, 6, 8, 13, 20):
        fewer = place_template(
            Bases(*block(20, 5)[:1], block(20, 5).centres[:n], block(20, 5).half), 3.0, []
        )
        assert found.hits[n] == fewer.hits[n]


def test_a_base_larger_than_the_template_is_only_touched() -> None:
    found = place_template(block(1, 1, 3.0, 3.0), 3.0, [])
    assert (found.hits, found.partial) == ((0, 0), (0, 1))


def test_a_base_that_just_fits_is_covered() -> None:
    side = 3.0 / math.sqrt(2)
    assert place_template(block(1, 1, side, side), 3.0, []).hits == (0, 1)
    assert place_template(block(1, 1, side + 0.001, side), 3.0, []).hits == (0, 0)


@settings(max_examples=25, deadline=None)
@given(
    st.integers(1, 18),
    st.integers(1, 6),
    st.floats(0.7, 2.0),
    st.floats(0.7, 2.0),
    st.sampled_from([3.0, 5.0]),
)
def test_no_place_on_a_fine_grid_covers_more_bases(
    models: int, frontage: int, width: float, depth: float, inches: float
) -> None:
    bases = block(models, frontage, width, depth)
    found = place_template(bases, inches, [])
    assert found.hits[-1] >= grid_best(bases, inches / 2)[0]


@settings(max_examples=40, deadline=None)
@given(st.integers(1, 40), st.integers(1, 10), st.floats(0.5, 3.0), st.floats(1.0, 6.0))
def test_a_template_never_hits_more_models_than_are_left(
    models: int, frontage: int, width: float, inches: float
) -> None:
    found = place_template(block(models, frontage, width), inches, [])
    assert len(found.hits) == len(found.partial) == models + 1
    both = list(zip(found.hits, found.partial, strict=True))
    assert all(hits + partial <= n for n, (hits, partial) in enumerate(both))
    assert list(found.hits) == sorted(found.hits)


def placed_beside(gap: float) -> tuple[Placing, Floats, Bases]:
    bases = block(9, 3)
    barred = Bases(bases.frame, np.add(bases.centres, [3.0 + gap, 0.0]), bases.half)
    found = place_template(bases, 3.0, [barred])
    assert found.centre is not None
    return found, found.centre, barred


@pytest.mark.parametrize("gap", [0.0, 0.3, 1.0])
def test_a_template_never_touches_a_barred_base(gap: float) -> None:
    found, centre, barred = placed_beside(gap)
    wholly, partly = cover_masks(centre[None], 1.5, barred)
    assert not (wholly | partly).any()
    assert found.hits[-1] >= grid_best(block(9, 3), 1.5, barred)[0]


def test_a_spell_with_a_template_spares_engaged_units_and_friends_beside_its_target() -> None:
    theirs = Unit("Theirs", 10, 5, (36.0, 30.0), 180.0)
    free = strikes(deployment((KARL,), (theirs,)), 0, 0, template(), 16)
    fight = Unit("Fight", 10, 5, (36.0, 32.0), 180.0, in_combat=True)
    friend = Unit("Friend", 5, 5, (41.0, 30.0), 180.0)
    near = deployment((KARL, friend), (theirs, fight))
    assert [verdict.legal for verdict in verdicts(near, 0, 0, template())] == [True, False]
    cramped = strikes(near, 0, 0, template(), 16)
    assert [strike.victim for strike in cramped] == [16]
    assert cramped[0].hits is not None
    assert free[0].hits is not None
    # Its rear edge may lie at y 32 at most: only bases of the front rank fit wholly under it.
    assert (free[0].hits[10], cramped[0].hits[10]) == (4, 2)


def test_a_target_wedged_in_among_engaged_units_leaves_no_place_for_the_template() -> None:
    theirs = Unit("Theirs", 1, 1, (36.0, 30.0), 180.0)
    around = [
        Unit(name, 5, 5, place, in_combat=True)
        for name, place in (("a", (33.0, 31.0)), ("b", (39.0, 31.0)), ("c", (36.0, 32.0)))
    ]
    front = Unit("d", 5, 5, (36.0, 30.0), in_combat=True)
    crowd = deployment((KARL,), (theirs, *around, front))
    reason = "leaves no place for the template that spares friends and close combat"
    assert verdicts(crowd, 0, 0, template())[0][1:] == (False, reason, False)


def test_a_template_strikes_whatever_else_of_the_enemy_lies_under_it() -> None:
    pair = Unit("Pair", 2, 2, (36.0, 30.0), 180.0)
    hero = Character("Foe", (36.0, 31.0), 180.0)
    (unit, lone) = strikes(deployment((KARL,), (pair, hero)), 0, 0, template(), 16)
    assert (unit.victim, unit.hits, unit.partial) == (16, (0, 1, 2), (0, 0, 0))
    assert lone.victim == 26
    assert lone.hits is not None
    assert lone.partial is not None
    assert (len(lone.hits), lone.hits[1] + lone.partial[1]) == (2, 1)


def test_without_a_rule_for_models_touched_these_are_safe() -> None:
    theirs = Unit("Theirs", 10, 5, (36.0, 30.0), 180.0)
    (strike,) = strikes(deployment((KARL,), (theirs,)), 0, 0, template(partial=None), 16)
    assert strike.partial is None


def test_without_a_battlefield_a_template_hits_only_its_target_as_its_formation_lies() -> None:
    theirs, more = Unit("Theirs", 10, 5), Unit("More", 10, 5)
    here = deployment((Character(),), (theirs, more), battlefield=False)
    (strike,) = strikes(here, 0, 0, template(), 16)
    assert strike.hits == place_template(block(10, 5), 3.0, []).hits
    assert strike.hits[10] == 4
