"""Hits and wounds of spells against enumerated dice, and fractions computed by hand."""

from fractions import Fraction as F
from itertools import product

import numpy as np
import pytest
from numpy.typing import NDArray

from tests.engine.enumeration import binomial, chain, conflagration
from wfb_gym.rules.damage import (
    ModelHit,
    hit_chance,
    hits_of_dice,
    hits_pmf,
    models_lost,
    strength_against,
    struck_pmf,
    wounds_of_dice,
    wounds_pmf,
)

D6 = range(1, 7)
NONE = 7
Floats = NDArray[np.float64]


def pmf_of(results: list[int]) -> list[F]:
    """Return probabilities of 0, 1, 2 ... among equally likely results."""
    return [F(results.count(n), len(results)) for n in range(max(results) + 1)]


def assert_is(pmf: Floats, exact: list[F]) -> None:
    assert len(pmf) == len(exact)
    assert pmf == pytest.approx([float(chance) for chance in exact], rel=1e-12, abs=0)
    assert pmf.sum() == pytest.approx(1, abs=1e-12)


def test_chain_adds_the_casters_die_while_it_is_higher_and_is_cut_where_it_is_negligible() -> None:
    assert chain(0) == F(7, 12)
    pmf = hits_pmf("D6 chain")
    exact = [conflagration(n) for n in range(len(pmf))]
    assert pmf[:200] == pytest.approx([float(chance) for chance in exact[:200]], rel=1e-12)
    assert pmf.sum() == pytest.approx(1, abs=1e-12)
    added = len(pmf) - len(hits_pmf("D6")) + 1
    rest = 1 - sum((chain(n) for n in range(added)), F(0))
    assert 0 < rest < F(1, 10**18) <= rest + chain(added - 1)


@pytest.mark.parametrize("hits", ["D4", "line"])
def test_no_dice_for_such_hits(hits: str) -> None:
    with pytest.raises(ValueError, match=r"hits: expected one of 1, 2, 3, D3, .* found"):
        hits_pmf(hits)
    with pytest.raises(ValueError, match="hits: expected one of"):
        hits_of_dice(hits, [1, 2, 3])


@pytest.mark.parametrize(
    ("struck", "touched", "needed"), [(0, 3, 4), (5, 2, 4), (2, 3, 6), (4, 0, 4)]
)
def test_models_only_touched_are_struck_on_a_die(struck: int, touched: int, needed: int) -> None:
    rolls = product(D6, repeat=touched)
    exact = pmf_of([struck + sum(die >= needed for die in roll) for roll in rolls])
    assert_is(struck_pmf(struck, touched, needed), exact)


@pytest.mark.parametrize(("chance", "per", "most"), [
    (F(2, 3), 1, 20), (F(5, 216), 1, 4), (F(2, 3), 2, 5), (F(1), 2, 24), (F(0), 1, 3), (F(1), 1, 0),
])  # fmt: skip
def test_every_hit_wounds_by_itself_and_the_rest_is_lumped(chance: F, per: int, most: int) -> None:
    exact = [F(0)] * (most + 1)
    for a, b in product(D6, D6):
        for works, probability in binomial(a + b, chance).items():
            exact[min(per * works, most)] += probability / 36
    assert_is(wounds_pmf(hits_pmf("2D6"), float(chance), per, most), exact)


def wounded(dice: tuple[int, ...], strength: int, toughness: int, armour: int, ward: int) -> bool:
    wound, save, last = dice
    if toughness - strength > 3 or wound < max(2, min(6, 4 + toughness - strength)):
        return False
    worse = armour + max(0, strength - 3)
    if save != 1 and save >= worse:
        return False
    return last == 1 or last < ward


@pytest.mark.parametrize(
    ("strength", "toughness", "armour", "ward"),
    [(4, 3, 5, NONE), (5, 4, 2, 4), (3, 3, 1, 6), (3, 7, NONE, NONE), (10, 1, NONE, 2)],
)
def test_three_dice_a_hit(strength: int, toughness: int, armour: int, ward: int) -> None:
    hit = ModelHit(strength, toughness, armour, ward)
    works = 0
    for roll in product(D6, repeat=3):
        expected = wounded(roll, strength, toughness, armour, ward)
        assert wounds_of_dice(roll, hit) == expected
        assert wounds_of_dice(roll, hit, per=2) == 2 * expected
        works += expected
    assert hit_chance(hit) == F(works, 216)


def test_saves_that_are_not_allowed() -> None:
    assert wounds_of_dice([6, 6, 6], ModelHit(4, 3, 2, NONE, armour_allowed=False)) == 1
    assert wounds_of_dice([6, 6, 6], ModelHit(4, 3, NONE, 4, ward_allowed=False)) == 1
    assert hit_chance(ModelHit(4, 3, 2, 4, armour_allowed=False, ward_allowed=False)) == F(2, 3)


def test_automatic_wounds_need_no_roll_and_may_be_saved() -> None:
    soul = ModelHit(None, 10, 2, NONE, armour_allowed=False, automatic=True)
    assert wounds_of_dice([1, 6, 6], soul) == 1
    assert hit_chance(soul) == 1
    assert hit_chance(soul._replace(ward_save=5)) == F(2, 3)
    armour = ModelHit(4, 10, 4, NONE, automatic=True)
    assert hit_chance(armour) == F(2, 3)  # Strength 4 leaves a save of 5+


@pytest.mark.parametrize("keys", [{"automatic": True}, {"armour_allowed": False}])
def test_strength_is_required_if_it_counts(keys: dict[str, bool]) -> None:
    hit = ModelHit(None, 3, 4, NONE, **keys)
    for use in (hit_chance, lambda each: wounds_of_dice([4, 4, 4], each)):
        with pytest.raises(ValueError, match="strength: expected a Strength"):
            use(hit)


@pytest.mark.parametrize(("armour", "strength"), [(1, 5), (4, 5), (5, 4), (6, 3), (NONE, 3)])
def test_rule_of_burning_iron(armour: int, strength: int) -> None:
    assert strength_against((3, 4, 5), armour) == strength


@pytest.mark.parametrize(("hits", "extra", "dice", "read"), [
    ("1", None, [], (1, 0, 0)), ("D6", None, [], (0, 0, 1)),
    ("D6", None, [4], (4, 1, 0)), ("2D6", None, [4], (0, 0, 1)),
    ("2D6", None, [4, 6, 1], (10, 2, 0)), ("D6", "D6", [4], (4, 1, 1)),
    ("D6", "D6", [4, 6], (10, 2, 0)), ("D6 chain", None, [], (0, 0, 1)),
    ("D6 chain", None, [3], (3, 1, 2)), ("D6 chain", None, [3, 6], (3, 1, 1)),
    ("D6 chain", None, [3, 4, 4], (3, 3, 0)), ("D6 chain", None, [3, 5, 4], (8, 3, 2)),
    ("D6 chain", None, [3, 5, 4, 6, 1, 2, 2, 6], (14, 7, 0)),
])  # fmt: skip
def test_hits_from_thrown_dice(
    hits: str, extra: str | None, dice: list[int], read: tuple[int, int, int]
) -> None:
    assert hits_of_dice(hits, dice, extra) == read


def test_dice_have_six_faces_and_come_in_threes_for_wounds() -> None:
    hit = ModelHit(4, 3, NONE, NONE)
    for face in (0, 7):
        with pytest.raises(ValueError, match="dice: expected faces from 1 to 6"):
            hits_of_dice("D6", [face])
        with pytest.raises(ValueError, match="dice: expected faces from 1 to 6"):
            wounds_of_dice([face, 1, 1], hit)
    with pytest.raises(ValueError, match="dice: expected 3 for each hit, found 4"):
        wounds_of_dice([1, 2, 3, 4], hit)
    # wound, no wound, wound
    assert [wounds_of_dice([3, 1, 1, 2, 1, 1, 6, 6, 1], hit, per=per) for per in (1, 2)] == [2, 4]


def test_wounds_take_whole_models_first() -> None:
    """Against models that lose one wound after the other, the hurt one first."""
    for per_model, models in product((1, 2, 3), (0, 1, 4)):
        for hurt in range(per_model if models else 1):
            left = [per_model - hurt] + [per_model] * (models - 1) if models else []
            for wounds in range(15):
                standing = list(left)
                for _ in range(wounds):
                    if standing:
                        standing[0] -= 1
                        standing = standing if standing[0] else standing[1:]
                lost = len(left) - len(standing)
                assert models_lost(sum(left), wounds, per_model) == lost
