from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.geometry.stand_ins import Character, Unit, deployment
from wfb_gym.geometry import Deployment
from wfb_gym.geometry.formation import bases_of, blocks_of, cells, frame_at


def centres(where: Deployment, code: int) -> list[list[float]]:
    bases = where.bases(code)
    found: list[list[float]] = bases.frame.world(bases.centres).round(6).tolist()
    return found


def boyz(models: int, frontage: int = 5, **keys: Any) -> Unit:
    return Unit(models=models, frontage=frontage, position=(10.0, 20.0), **keys)


IN_BOYZ, HANS = Character(unit="Boyz"), Character("Hans", unit="Boyz")
HORRORS = Unit("Horrors", 10, 5, (10.0, 20.0), base=(50.8, 50.8))


@pytest.mark.parametrize(("pieces", "code", "first"), [
    # Ranks are behind the front edge.
    ((boyz(4, 2),), 0, [[9.5, 19.5], [10.5, 19.5], [9.5, 18.5], [10.5, 18.5]]),
    ((boyz(2, 1, facing=90.0),), 0, [[9.5, 20.0], [8.5, 20.0]]),
    # Characters are in the middle of the front rank, flush with it. They displace models.
    ((boyz(5, 3), IN_BOYZ), 10, [[10.0, 19.5]]),
    ((boyz(5, 3), IN_BOYZ, HANS), 11, [[9.0, 19.5]]),
    ((boyz(5, 3), IN_BOYZ, HANS), 0,
     [[11.0, 19.5], [10.0, 18.5], [9.0, 18.5], [11.0, 18.5], [10.0, 17.5]]),
    ((boyz(5), Character(unit="Boyz", base=(25.4, 50.8))), 10, [[10.0, 19.0]]),
    ((boyz(5), Character(unit="Boyz", status="dead")), 0, [[10.0, 19.5]]),
    # The focal model of Daemons is the middle model of their front rank.
    ((HORRORS, Character(daemon_unit="Horrors")), 10, [[10.0, 19.0]]),
    ((HORRORS, Character(daemon_unit="Horrors")), 0, [[10.0, 19.0]]),
])  # fmt: skip
def test_places_of_models(
    pieces: tuple[Unit | Character, ...], code: int, first: list[list[float]]
) -> None:
    assert centres(deployment(pieces), code)[: len(first)] == first


def test_a_focal_model_is_one_of_its_unit() -> None:
    assert len(centres(deployment((HORRORS, Character(daemon_unit="Horrors"))), 0)) == 10


def test_facing_turns_clockwise_from_growing_y_and_bases_are_in_millimetres() -> None:
    for facing, forward in ((0, (0, 1)), (90, (1, 0)), (180, (0, -1)), (270, (-1, 0))):
        assert frame_at((3.0, 4.0), facing).axes[1] == pytest.approx(forward)
    assert frame_at((3.0, 4.0), 90).world(np.array([1.0, 2.0])) == pytest.approx([5.0, 3.0])
    bases = deployment((boyz(2, 2, base=(20.0, 40.0)),)).bases(0)
    assert bases.half == pytest.approx([10 / 25.4, 20 / 25.4])
    assert bases.centres[0] == pytest.approx([-10 / 25.4, -20 / 25.4])


@given(st.integers(1, 12), st.integers(1, 60))
def test_every_place_of_a_formation_is_taken_once_and_ranks_stay_closed(
    frontage: int, count: int
) -> None:
    places = cells(frontage, count)
    assert len(np.unique(places, axis=0)) == count
    assert places[:, 1].max() == (count - 1) // frontage
    last = np.sort(places[places[:, 1] == places[:, 1].max(), 0])
    assert np.diff(last) == pytest.approx(np.ones(len(last) - 1))
    assert np.abs(places[:, 0]).max() <= (frontage - 1) / 2


@given(st.integers(1, 12), st.integers(1, 60), st.integers(0, 3))
def test_the_blocks_of_a_unit_are_its_bases_and_places_of_its_characters(
    frontage: int, models: int, joined: int
) -> None:
    characters = [Character(name=str(i), unit="Boyz") for i in range(joined)]
    unit = Unit(models=models, frontage=frontage, position=(30.0, 30.0))
    pieces = deployment((unit, *characters)).pieces
    low, high = blocks_of(pieces[0]).transpose(1, 0, 2)
    assert (high - low).prod(axis=1).sum() == pytest.approx(models + joined)
    for code in pieces:
        bases = bases_of(pieces[code], pieces)
        for centre in bases.centres:
            assert ((centre > low) & (centre < high)).all(axis=1).any()
