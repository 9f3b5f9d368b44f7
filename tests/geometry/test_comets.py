"""Points that a Comet may be aimed at, and the points that are offered."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.geometry.stand_ins import Character, Unit, aim, comet, deployment
from wfb_gym.geometry.comets import RADII, Comets, Worth
from wfb_gym.geometry.formation import Floats

KARL = Character(position=(70.0, 2.0))
LEFT = Unit("Left", 5, 5, (30.0, 30.0), 180.0)
RIGHT = Unit("Right", 5, 5, (40.0, 30.0), 180.0)  # five inches of ground between them
LEFT_CODE, RIGHT_CODE = 16, 17


def somewhere(choices: np.random.Generator, name: str) -> Unit:
    place = (float(choices.uniform(15, 45)), float(choices.uniform(15, 33)))
    ranks = int(choices.integers(1, 20)), int(choices.integers(1, 8))
    return Unit(name, *ranks, place, float(choices.uniform(0, 360)))


@settings(max_examples=5)
@given(st.integers(0, 2**32 - 1))
def test_no_point_reaches_a_set_of_enemies_that_none_of_the_points_reaches(seed: int) -> None:
    choices = np.random.default_rng(seed)
    foes = [somewhere(choices, f"foe {k}") for k in range(choices.integers(1, 7))]
    own = tuple(somewhere(choices, f"own {k}") for k in range(choices.integers(0, 3)))
    where = deployment((KARL, *own), tuple(foes))
    found = where.comets(0)
    tried = choices.uniform(0, 1, (3000, 2)) * [72.0, 48.0]
    assert where.polygons is not None
    away = np.stack(
        [where.polygons.distances_from(tried, code) for code in found.codes if code >= 16], axis=1
    )
    enemies = found.distances[:, [code >= 16 for code in found.codes]]
    for radius in RADII:
        reached = enemies <= radius
        for wanted in np.unique(away <= radius - 1e-5, axis=0):
            assert reached[:, wanted].all(axis=1).any()
    assert (found.places >= 0.0).all()
    assert (found.places <= [72.0, 48.0]).all()
    for code, column in zip(found.codes, found.distances.T, strict=True):
        assert column == pytest.approx(where.polygons.distances_from(found.places, code), abs=1e-9)


def worth(found: Comets, **values: float) -> Worth:
    """Return the points of places: the weights of all pieces within three inches."""
    codes = {"left": LEFT_CODE, "right": RIGHT_CODE, "own": 0}
    columns = [found.codes.index(codes[name]) for name in values]
    won = np.array([*values.values()])
    return lambda distances: (distances[:, columns] <= 3.0) @ won


def everywhere(places: Floats) -> Floats:
    return np.full(len(places), -np.inf)


def test_the_best_point_comes_first_and_each_target_has_a_point_on_it() -> None:
    found = deployment((KARL,), (LEFT, RIGHT)).comets(0)
    codes = [LEFT_CODE, RIGHT_CODE]
    both = worth(found, left=9.0, right=4.0)
    chosen = found.choose(both, everywhere, codes)
    values = both(found.distances)
    assert values[chosen[0]] == values.max() == 13.0
    assert (np.diff(values[chosen]) <= 0.0).all()
    for code in codes:
        assert found.distances[chosen, found.codes.index(code)].min() <= 1.0
    # Without an allowed point none is offered; nor if no piece is in reach.
    assert not len(found.choose(both, lambda places: np.full(len(places), np.inf), codes))
    assert not len(found.choose(both, everywhere, []))
    # A friend between them is spared if it costs more.
    guard = Unit("Guard", 1, 1, (35.0, 30.5), 180.0)
    found = deployment((KARL, guard), (LEFT, RIGHT)).comets(0)
    spared = worth(found, left=3.0, right=2.0, own=-9.0)
    best = found.choose(spared, everywhere, codes)[0]
    assert spared(found.distances)[best] == 3.0
    assert found.distances[best, found.codes.index(0)] > 3.0


def largest_sets(reached: np.ndarray[tuple[int, int], np.dtype[np.bool_]]) -> set[frozenset[int]]:
    """Return the sets of columns that some row has and that are in no larger such set."""
    sets = {frozenset(np.flatnonzero(row).tolist()) for row in reached}
    return {one for one in sets if one and not any(one < other for other in sets)}


@settings(max_examples=10)
@given(st.integers(0, 2**32 - 1))
def test_every_largest_set_that_one_point_reaches_is_offered_with_its_best_point(seed: int) -> None:
    choices = np.random.default_rng(seed)
    foes = [somewhere(choices, f"foe {k}") for k in range(choices.integers(1, 8))]
    found = deployment((KARL,), tuple(foes)).comets(0)
    codes = [16 + k for k in range(len(foes))]
    columns = [found.codes.index(code) for code in codes]
    weights = choices.uniform(0.0, 5.0, len(foes))

    def mean(distances: Floats) -> Floats:
        return np.asarray((12.0 - np.ceil(distances[:, columns])).clip(0.0) @ weights)

    chosen = found.choose(mean, everywhere, codes)
    assert len(set(chosen.tolist())) == len(chosen)
    values = mean(found.distances).round(9)
    enemies = found.distances[:, columns]
    needed = {int(values.argmax())}
    for radius in RADII:
        reached = enemies <= radius
        wanted = largest_sets(reached)
        assert wanted
        for one in wanted:
            serving = (reached == [k in one for k in range(len(codes))]).all(axis=1)
            needed.add(int(np.where(serving, values, -np.inf).argmax()))
    assert set(chosen.tolist()) == needed


def test_points_are_within_range_of_the_caster() -> None:
    near, far = Unit("Near", 5, 5, (36.0, 20.0), 180.0), Unit("Far", 5, 5, (36.0, 29.0), 180.0)
    where = deployment((Character(position=(36.0, 10.0)),), (near, far))
    spell = comet().model_copy(update={"range_inches": 12})

    def both(distances: Floats) -> Floats:
        return np.asarray((distances[:, 1:] <= 5.0).sum(axis=1), np.float64)

    for effect, reach, most in ((comet(), 99.0, 2), (spell, 12.0, 1)):
        chosen = aim(where, 0, 0, effect).points(both)
        found = where.comets(0)
        assert len(chosen)
        away = np.hypot(*(found.places[chosen] - [36.0, 10.0]).T)
        assert (away <= reach + 0.5).all()
        assert (found.distances[chosen, 1:] <= 1.0).any(axis=0).sum() == most


def test_without_a_battlefield_there_are_no_points() -> None:
    here = deployment((Character(),), (Unit("Foe"),), battlefield=False)
    with pytest.raises(ValueError, match="expected a battlefield"):
        here.comets(0)
