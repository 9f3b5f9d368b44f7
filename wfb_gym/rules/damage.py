"""Damage of spells (6th edition): how many hits, how many wounds, how many models.

Probabilities are exact but for the rounding of 64-bit floats. Dice are read in the order in
which players throw them. What one hit does is `rules.wounds`; which models are hit is not here.
"""

from collections.abc import Sequence
from fractions import Fraction
from functools import cache
from itertools import product
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from wfb_gym.rules.dice import FACES
from wfb_gym.rules.wounds import DICE_PER_HIT, NEVER, hit_wounds

Pmf = NDArray[np.float64]
"""Probabilities of 0, 1, 2 and so on."""

_CHAIN = "D6 chain"
_DICE = {"1": 0, "D6": 1, "2D6": 2, _CHAIN: 1}
_NEGLIGIBLE = 1e-18


class HitsRead(NamedTuple):
    """What dice say about a number of hits."""

    hits: int  # so far
    used: int  # dice read
    # dice without which the number is not known, 0 where it is; the chain may ask for more then
    needed: int


def _dice_of(hits: str) -> int:
    """Dice thrown together for that number of hits.

    Raises:
        ValueError: no dice give the number of hits.
    """
    if hits not in _DICE:
        raise ValueError(f"hits: expected one of {', '.join(_DICE)}, found {hits}")
    return _DICE[hits]


def _chain_pmf() -> Pmf:
    """Hits that the chain of the Conflagration of Doom adds.

    Of the 36 ways in which both dice fall, k - 1 have the caster's show k and beat the other's.
    """
    ways = np.arange(FACES) / FACES**2
    pmf, tail = [1.0 - float(ways.sum())], [1.0]
    # The tail obeys the same recursion as the probabilities, whose rest would drown in rounding.
    while True:
        n = len(tail)
        steps = range(1, FACES + 1)
        rest = sum(float(ways[k - 1]) * (tail[n - k] if n > k else 1.0) for k in steps)
        if rest < _NEGLIGIBLE:
            return np.array(pmf)
        tail.append(rest)
        pmf.append(sum(float(ways[k - 1]) * pmf[n - k] for k in steps if n >= k))


def hits_pmf(hits: str, extra: str | None = None) -> Pmf:
    """How likely each number of hits is.

    Args:
        hits: "1", "D6", "2D6" or "D6 chain".
        extra: the same, for hits on top of those.

    Returns:
        Probabilities of 0, 1, 2 and so on; for the chain without a rest of less than 1e-18.

    Raises:
        ValueError: no dice give the number of hits.
    """
    die = np.array([0.0] + [1.0 / FACES] * FACES)
    pmf = np.array([1.0])
    for _ in range(_dice_of(hits)):
        pmf = np.convolve(pmf, die)
    if hits == "1":
        pmf = np.array([0.0, 1.0])
    elif hits == _CHAIN:
        pmf = np.convolve(pmf, _chain_pmf())
    return pmf if extra is None else np.convolve(pmf, hits_pmf(extra))


def struck_pmf(struck: int, touched: int = 0, needed: int = NEVER) -> Pmf:
    """How likely each number of hits is where models are struck, not numbers thrown.

    Args:
        struck: models on the line, in the front rank or wholly under the template.
        touched: models that the template only touches.
        needed: D6 that strikes each of those.
    """
    chance = (FACES + 1 - min(max(needed, 1), NEVER)) / FACES
    pmf = np.array([1.0])
    for _ in range(touched):
        pmf = np.convolve(pmf, [1.0 - chance, chance])
    return np.concatenate([np.zeros(struck), pmf])


def strength_against(strength_by_armour: Sequence[int], armour_save: int) -> int:
    """Strength of a hit that is stronger the better its target's armour (Rule of Burning Iron).

    Args:
        strength_by_armour: against no save or 6+, against 5+, and against 4+ or better.
        armour_save: D6 needed unmodified; 7 for none.
    """
    weak, middle, strong = strength_by_armour
    if armour_save >= 6:
        return weak
    return middle if armour_save == 5 else strong


class ModelHit(NamedTuple):
    """One hit on one model."""

    strength: int | None  # 1 to 10; None where nothing asks for it
    toughness: int  # of the model, 1 to 10
    armour_save: int  # D6 needed unmodified; 7 for none
    ward_save: int  # D6 needed; 7 for none
    armour_allowed: bool = True  # False for hits that ignore armour
    ward_allowed: bool = True  # False for hits that ignore ward saves
    automatic: bool = False  # it wounds without a roll; its Strength still counts against armour

    def wounds(self, wound_die: int, armour_die: int, ward_die: int) -> bool:
        """Whether it takes a wound; dice of rolls that are not made are ignored.

        Raises:
            ValueError: no Strength, though something asks for it.
        """
        if self.strength is None and (self.armour_allowed or not self.automatic):
            raise ValueError("strength: expected a Strength to wound with or to save against")
        return bool(
            hit_wounds(
                # The best die wounds the softest of models at any Strength.
                FACES if self.automatic else wound_die,
                armour_die,
                ward_die,
                self.strength or 1,
                1 if self.automatic else self.toughness,
                self.armour_save,
                self.ward_save if self.ward_allowed else NEVER,
                self.armour_allowed,
            )
        )


@cache
def hit_chance(hit: ModelHit) -> Fraction:
    """Exact chance that a hit takes a wound, in 216ths."""
    rolls = list(product(range(1, FACES + 1), repeat=DICE_PER_HIT))
    return Fraction(sum(hit.wounds(*roll) for roll in rolls), len(rolls))


def wounds_pmf(hits: Pmf, chance: float, per: int, most: int) -> Pmf:
    """How likely each number of wounds is.

    Args:
        hits: probabilities of 0, 1, 2 and so on hits.
        chance: that a hit takes a wound, as `hit_chance` has it.
        per: wounds that such a hit takes: 2 where it is flaming and its target flammable.
        most: wounds that there are to lose; what goes beyond is lost with them.

    Returns:
        Probabilities of 0 to `most` wounds.
    """
    enough = -(-most // per)
    works = np.zeros(enough + 1)
    # One hit after the other, from the greatest number of hits down.
    for weight in hits[::-1]:
        lost = works * chance
        works = works - lost
        works[1:] += lost[:-1]
        works[-1] += lost[-1]
        works[0] += weight
    pmf = np.zeros(most + 1)
    for number, weight in enumerate(works):
        pmf[min(number * per, most)] += weight
    return pmf


def models_lost(wounds_left: int, wounds: int, wounds_per_model: int) -> int:
    """Models that a unit loses; wounds too few for a whole one stay with the unit.

    Args:
        wounds_left: of all its models together, before.
        wounds: that it suffers.
        wounds_per_model: of an unhurt model.
    """
    after = max(0, wounds_left - wounds)
    return -(-wounds_left // wounds_per_model) + (-after // wounds_per_model)


def hits_of_dice(hits: str, dice: Sequence[int], extra: str | None = None) -> HitsRead:
    """Return the number of hits that dice give, as far as they go.

    The chain is read as one die, then pairs of the caster's die and its opponent's: while the
    caster's is higher it is added and both roll again. Dice for `extra` come last.

    Args:
        hits: "1", "D6", "2D6" or "D6 chain".
        dice: D6 in the order thrown; those left over are not read.
        extra: as `hits`, for hits on top.

    Raises:
        ValueError: no dice give the number of hits, or a die has no such face.
    """
    thrown = _dice_of(hits)
    _check(dice)
    if len(dice) < thrown:
        return HitsRead(0, 0, thrown - len(dice) + (_dice_of(extra) if extra else 0))
    total, used = (1 if hits == "1" else sum(dice[:thrown])), thrown
    chained = hits == _CHAIN
    while chained:
        if len(dice) < used + 2:
            return HitsRead(total, used, used + 2 - len(dice))
        caster, opponent = dice[used : used + 2]
        used += 2
        chained = caster > opponent
        total += caster if chained else 0
    if extra is None:
        return HitsRead(total, used, 0)
    more = hits_of_dice(extra, dice[used:])
    return HitsRead(total + more.hits, used + more.used, more.needed)


def wounds_of_dice(dice: Sequence[int], hit: ModelHit, per: int = 1) -> int:
    """Wounds that thrown dice take.

    Args:
        dice: for each hit one D6 to wound, one for armour, one for the ward save.
        hit: each of the hits.
        per: wounds for each hit that works; 2 where it is flaming and its target flammable.

    Raises:
        ValueError: the dice do not come in threes, or a die has no such face.
    """
    _check(dice)
    if len(dice) % DICE_PER_HIT:
        raise ValueError(f"dice: expected {DICE_PER_HIT} for each hit, found {len(dice)}")
    rolls = zip(*(dice[first::DICE_PER_HIT] for first in range(DICE_PER_HIT)), strict=True)
    return per * sum(hit.wounds(*roll) for roll in rolls)


def _check(dice: Sequence[int]) -> None:
    if any(not 1 <= die <= FACES for die in dice):
        raise ValueError(f"dice: expected faces from 1 to {FACES}, found {list(dice)}")
