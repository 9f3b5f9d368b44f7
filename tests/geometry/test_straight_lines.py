import numpy as np
import pytest
from numpy.typing import NDArray

from tests.geometry.stand_ins import KARL, Character, Unit, deployment, foe, line, strikes, verdicts
from wfb_gym.geometry.formation import Bases, bases_of
from wfb_gym.geometry.straight_lines import Lines

Pieces = tuple[Unit | Character, ...]
COLUMN = foe(models=4, frontage=1)
ROW = foe(models=9, frontage=9)
NO_LINE = "has no line of 18 inches that avoids close combat"


def hits(ours: Pieces, theirs: Pieces, target: int = 16) -> dict[int, tuple[int, ...] | None]:
    found = strikes(deployment(ours, theirs), 0, 0, line(), target)
    return {strike.victim: strike.hits for strike in found}


FRIEND = Unit("Friend", 9, 9, (36.0, 26.5), 180.0, points=1.0)
INSIDE, LONE = Character("In", unit="Foe"), Character("Lone", (36.0, 26.0), 180.0)


@pytest.mark.parametrize(("ours", "theirs", "expected"), [
    # Each model that it crosses.
    ((KARL,), (COLUMN,), {16: (0, 1, 2, 3, 4)}),
    # The base is to y 10, so that a line straight ahead reaches y 28.
    ((KARL,), (foe(y=25.0, models=6, frontage=1),), {16: (0, 1, 2, 3, 3, 3, 3)}),
    # Along a rank it crosses all of it; its front looks to the right.
    ((KARL,), (Unit("Foe", 8, 8, (36.5, 16.0), 90.0),), {16: tuple(range(9))}),
    # Units of either side; the model in the middle of the friends.
    ((KARL, FRIEND), (foe(models=2, frontage=1), foe("Far", 24.0, models=2, frontage=1)),
     {16: (0, 1, 2), 17: (0, 1, 2), 0: (0, *[1] * 9)}),
    # Backwards it spares the caster's own base.
    ((KARL,), (foe(y=5.0, models=1),), {16: (0, 1)}),
    # Characters in or out of a unit, and the focal model of Daemons as one of its unit.
    ((KARL,), (COLUMN, INSIDE, LONE), {16: (0, 1, 2, 3, 4), 26: (0, 1), 27: (0, 1)}),
    ((KARL,), (COLUMN, Character("Fiend", daemon_unit="Foe")), {16: (0, 1, 2, 3, 4)}),
])  # fmt: skip
def test_a_line_strikes_the_models_that_it_crosses(
    ours: Pieces, theirs: Pieces, expected: dict[int, tuple[int, ...]]
) -> None:
    assert hits(ours, theirs) == expected


@pytest.mark.parametrize(("frontage", "least", "most"), [
    (8, 2, 2),  # a rank, aslant, where two bases meet
    # Four ranks of two, met head on: along the middle it would touch all, which is no line.
    (2, 4, 7),
])  # fmt: skip
def test_a_line_between_two_files_crosses_one_of_them_at_a_time(
    frontage: int, least: int, most: int
) -> None:
    struck = hits((KARL,), (foe(models=8, frontage=frontage),))[16]
    assert struck is not None
    assert least <= struck[8] <= most


def test_the_direction_is_the_one_that_costs_the_enemy_most_and_friends_least() -> None:
    ogre = Unit("Ogre", 1, 1, (32.0, 24.0), 180.0, points=100.0)
    assert 17 in hits((KARL,), (ROW, ogre))
    assert 0 not in hits((KARL, ogre), (ROW,))


def test_a_line_may_not_touch_an_engaged_unit() -> None:
    fight = foe("Fight", 24.0, models=1, in_combat=True)
    assert list(hits((KARL,), (ROW, fight))) == [16]
    before = foe("Fight", 15.0, models=9, frontage=9, in_combat=True)
    verdict = verdicts(deployment((KARL,), (COLUMN, before)), 0, 0, line())[0]
    assert verdict == (16, False, NO_LINE, False)
    assert hits((KARL,), (COLUMN, before)) == {}


@pytest.mark.parametrize(("x", "y", "why"), [
    (36.0, 27.99, ""),
    (36.0, 28.1, "is 18.1 inches away: out of range (18 inches)"),
    # From corner to corner 10.9 and 14.28: 17.96 inches. From the middle of its base to that
    # corner 11.4 and 14.78: 18.67, of which 0.63 lie on its base and 18.04 do not.
    (47.9, 24.28, NO_LINE),
])  # fmt: skip
def test_a_line_of_18_inches_has_to_reach_the_target(x: float, y: float, why: str) -> None:
    (verdict,) = verdicts(deployment((KARL,), (foe(x=x, y=y, models=1),)), 0, 0, line())
    assert (verdict.legal, verdict.reason) == (not why, why)


def test_a_line_backwards_strikes_the_casters_own_unit() -> None:
    guard = Unit("Guard", 5, 1, (36.0, 10.0), points=1.0)
    wizard = Character(unit="Guard")
    struck = hits((guard, wizard), (foe(y=3.0, models=1, points=50.0),))
    assert struck[16] == (0, 1)
    # Five files of one behind the wizard: the line leaves them as soon as it can.
    assert 0 in struck


def test_without_a_battlefield_a_line_strikes_one_model_of_each_rank() -> None:
    here = deployment((Character(),), (Unit("Foe", 12, 5), Unit("More")), battlefield=False)
    (strike,) = strikes(here, 0, 0, line(), 16)
    assert strike == (16, (0, 1, 1, 1, 1, 1, 2, 2, 2, 2, 2, 3, 3), None, False)
    with pytest.raises(ValueError, match="no direction"):
        here.lines(10, 18)


def crossed(
    bases: Bases, start: NDArray[np.float64], end: NDArray[np.float64]
) -> NDArray[np.bool_]:
    """Return which stretches, from point to point (k, 2), cross the inside of each base: (k, n)."""
    low, high = np.zeros((len(end), len(bases.centres))), np.ones((len(end), len(bases.centres)))
    one, other = bases.frame.local(start), bases.frame.local(end)
    for axis in (0, 1):
        step = (other - one)[:, axis, None]
        for side in (-1, 1):
            edge = bases.centres[:, axis] + side * (bases.half[axis] - 2e-6)
            at = (edge - one[:, axis, None]) / step
            enters = side * step < 0
            low = np.where(enters, np.maximum(low, at), low)
            high = np.where(enters, high, np.minimum(high, at))
    return low < high


@pytest.mark.parametrize("seed", range(5))
def test_no_other_line_of_thousands_strikes_more(seed: int) -> None:
    choices = np.random.default_rng(seed)
    wizard = Character(position=(36.0, 10.0), base=(20.0, 40.0), facing=choices.uniform(0, 360))
    friends: list[Unit | Character] = [wizard]
    foes: list[Unit | Character] = []
    for k in range(choices.integers(2, 6)):
        angle, away = choices.uniform(0, 2 * np.pi), choices.uniform(14, 20)
        place = (36 + away * np.cos(angle), 10 + away * np.sin(angle))
        unit = Unit(
            f"unit {k}", int(choices.integers(1, 15)), int(choices.integers(1, 6)), place,
            choices.uniform(0, 360), points=float(choices.integers(3, 12)),
            in_combat=choices.random() < 0.2,
        )  # fmt: skip
        (foes if k == 0 or choices.random() < 0.7 else friends).append(unit)
    pieces = deployment(tuple(friends), tuple(foes)).pieces
    bases = {code: bases_of(piece, pieces) for code, piece in pieces.items()}
    angles = choices.uniform(-np.pi, np.pi, 30_000)
    directions = np.stack([np.cos(angles), np.sin(angles)], axis=1)
    own = bases[10]
    middle = own.frame.world(own.centres[0])
    leaves = (own.half / np.abs(directions @ own.frame.axes.T)).min(axis=1)[:, None]
    start, end = middle + leaves * directions, middle + (leaves + 18.0) * directions
    able = np.ones(len(directions), np.bool_)
    score = np.zeros(len(directions))
    through = {}
    for code, some in bases.items():
        if code != 10:
            through[code] = crossed(some, start, end)
            able &= ~(pieces[code].engaged & through[code].any(axis=1))
            sign = 1 if code >= 16 else -1
            score += sign * pieces[code].points * through[code].sum(axis=1)
    for code in set(through) & set(range(16, 32)):
        hit = able & through[code].any(axis=1)
        found = Lines(pieces, bases, 10, 18.0).through(code)
        points = sum(
            (1 if victim >= 16 else -1) * pieces[victim].points * mask.sum()
            for victim, mask in found.items()
        )
        assert bool(found) >= bool(hit.any())
        assert not hit.any() or points >= score[hit].max() - 1e-9
