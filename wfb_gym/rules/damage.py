"""Spell damage (6th edition): the number of hits, wounds and models lost.

Probabilities are exact up to 64-bit rounding. Dice are read in the order in which players roll
them. `rules.wounds` resolves a single hit; this module does not choose the models that are hit.
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
"""Probabilities of 0, 1, 2 and so on, float64."""

_CHAIN = "D6 chain"


class _Dice(NamedTuple):
    """Dice that are rolled together, and a number that is added to their sum."""

    dice: int
    faces: int = FACES
    added: int = 0


_DICE = {
    "1": _Dice(0, added=1),
    "2": _Dice(0, added=2),
    "3": _Dice(0, added=3),
    "D3": _Dice(1, 3),
    "2D3": _Dice(2, 3),
    "D3+1": _Dice(1, 3, 1),
    "D6": _Dice(1),
    "2D6": _Dice(2),
    "3D6": _Dice(3),
    "4D6": _Dice(4),
    "D6+1": _Dice(1, added=1),
    _CHAIN: _Dice(1),
}
_NEGLIGIBLE = 1e-18


class HitsRead(NamedTuple):
    """Number of hits read from dice."""

    hits: int  # number of hits so far
    used: int  # number of dice read
    # number of dice to roll next, 0 if the hits are known; a chain may need more after these
    needed: int


def _dice_of(hits: str) -> _Dice:
    """Return the dice rolled together for these hits."""
    if hits not in _DICE:
        raise ValueError(f"hits: expected one of {', '.join(_DICE)}, found {hits}")
    return _DICE[hits]


def _chain_pmf() -> Pmf:
    """Return the distribution of the hits added by the Conflagration of Doom's chain.

    In k - 1 of the 36 rolls of two dice, the caster's die shows k and beats the opponent's.
    """
    chances = np.arange(FACES) / FACES**2
    pmf, tail = [1.0 - float(chances.sum())], [1.0]
    # `tail[n]` is the probability of n or more hits. It follows the same recursion as `pmf`. One
    # minus the sum of `pmf` would lose such small numbers to rounding.
    while True:
        n = len(tail)
        steps = range(1, FACES + 1)
        rest = sum(float(chances[k - 1]) * (tail[n - k] if n > k else 1.0) for k in steps)
        if rest < _NEGLIGIBLE:
            return np.array(pmf)
        tail.append(rest)
        pmf.append(sum(float(chances[k - 1]) * pmf[n - k] for k in steps if n >= k))


def hits_pmf(hits: str, extra: str | None = None) -> Pmf:
    """Return the probability of each number of hits.

    Args:
        hits: a number or dice, such as "1", "D3" or "2D6", or "D6 chain".
        extra: additional hits, in the same format.

    Returns:
        Probabilities of 0, 1, 2 and so on. A chain is truncated once the remaining probability is
        below 1e-18.

    Raises:
        ValueError: if `hits` is not a known format.
    """
    dice = _dice_of(hits)
    die = np.array([0.0] + [1.0 / dice.faces] * dice.faces)
    pmf = np.array([0.0] * dice.added + [1.0])
    for _ in range(dice.dice):
        pmf = np.convolve(pmf, die)
    if hits == _CHAIN:
        pmf = np.convolve(pmf, _chain_pmf())
    return pmf if extra is None else np.convolve(pmf, hits_pmf(extra))


def struck_pmf(struck: int, touched: int = 0, needed: int = NEVER) -> Pmf:
    """Return the probability of each number of hits when models are hit by position.

    Args:
        struck: models on the line, in the front rank or completely under the template.
        touched: models that the template only touches.
        needed: D6 result needed to hit each touched model.
    """
    chance = (FACES + 1 - min(max(needed, 1), NEVER)) / FACES
    pmf = np.array([1.0])
    for _ in range(touched):
        pmf = np.convolve(pmf, [1.0 - chance, chance])
    return np.concatenate([np.zeros(struck), pmf])


def strength_against(strength_by_armour: Sequence[int], armour_save: int) -> int:
    """Return the Strength of a hit that depends on the target's armour (Rule of Burning Iron).

    Args:
        strength_by_armour: against no save or 6+, against 5+, and against 4+ or better.
        armour_save: D6 needed without modifiers, or 7 if there is no save.
    """
    weak, middle, strong = strength_by_armour
    if armour_save >= 6:
        return weak
    return middle if armour_save == 5 else strong


def die_result(die: int, faces: int) -> int:
    """Return the result of a D6 as a die with `faces` faces: a D3 is half a D6, rounded up."""
    return -(-die * faces // FACES)


class ModelHit(NamedTuple):
    """One hit on one model."""

    strength: int | None  # 1 to 10; None if no roll needs it
    toughness: int  # of the model, 1 to 10
    armour_save: int  # D6 needed without modifiers, or 7 if there is no save
    ward_save: int  # D6 needed, or 7 if there is no save
    armour_allowed: bool = True  # False for hits that ignore armour
    ward_allowed: bool = True  # False for hits that ignore ward saves
    automatic: bool = False  # it wounds without a roll; its Strength still counts against armour

    def wounds(self, wound_die: int, armour_die: int, ward_die: int) -> bool:
        """Return whether the hit causes a wound. Dice for rolls that are not made are ignored.

        Raises:
            ValueError: if a roll needs a Strength and the hit has none.
        """
        if self.strength is None and (self.armour_allowed or not self.automatic):
            raise ValueError("strength: expected a Strength to wound with or to save against")
        return bool(
            hit_wounds(
                # A 6 wounds Toughness 1 at any Strength, so an automatic hit always wounds.
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
    """Return the exact probability that a hit causes a wound, a multiple of 1/216."""
    rolls = list(product(range(1, FACES + 1), repeat=DICE_PER_HIT))
    return Fraction(sum(hit.wounds(*roll) for roll in rolls), len(rolls))


def wounds_pmf(hits: Pmf, chance: float, per: int, most: int) -> Pmf:
    """Return the probability of each number of wounds.

    Args:
        hits: probabilities of 0, 1, 2 and so on hits.
        chance: probability that a hit causes a wound, from `hit_chance`.
        per: wounds per successful hit; 2 if the hit is flaming and its target is flammable.
        most: wounds that the target has left; any excess is ignored.

    Returns:
        Probabilities of 0 to `most` wounds.
    """
    enough = -(-most // per)  # successful hits that cause `most` wounds, rounded up
    successes = np.zeros(enough + 1)
    # Add one hit at a time, starting with the largest number of hits (Horner's scheme).
    for weight in hits[::-1]:
        lost = successes * chance
        successes = successes - lost
        successes[1:] += lost[:-1]
        successes[-1] += lost[-1]
        successes[0] += weight
    pmf = np.zeros(most + 1)
    for number, weight in enumerate(successes):
        pmf[min(number * per, most)] += weight
    return pmf


def models_lost(wounds_left: int, wounds: int, wounds_per_model: int) -> int:
    """Return the number of models that a unit loses; leftover wounds stay with the unit.

    Args:
        wounds_left: total wounds of all its models, beforehand.
        wounds: wounds suffered.
        wounds_per_model: wounds of an unwounded model.
    """
    after = max(0, wounds_left - wounds)
    # models before minus models after, both rounded up
    return -(-wounds_left // wounds_per_model) + (-after // wounds_per_model)


def hits_of_dice(hits: str, dice: Sequence[int], extra: str | None = None) -> HitsRead:
    """Return the number of hits from these dice, and the number of dice still to roll.

    A chain is one die, followed by pairs of one die for the caster and one for the opponent. As
    long as the caster's die is higher, it is added to the hits and another pair is rolled. Dice
    for `extra` come last.

    Args:
        hits: a number or dice, such as "1", "D3" or "2D6", or "D6 chain".
        dice: D6 results in the order rolled; leftover dice are not read.
        extra: additional hits, in the same format as `hits`.

    Raises:
        ValueError: if `hits` is not a known format, or a face is outside 1..6.
    """
    thrown, faces, added = _dice_of(hits)
    _check(dice)
    if len(dice) < thrown:
        return HitsRead(0, 0, thrown - len(dice) + (_dice_of(extra).dice if extra else 0))
    total, used = added + sum(die_result(die, faces) for die in dice[:thrown]), thrown
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
    """Return the number of wounds that these dice cause.

    Args:
        dice: for each hit, one D6 to wound, one for the armour save, one for the ward save.
        hit: the properties of each hit.
        per: wounds per successful hit; 2 if the hit is flaming and its target is flammable.

    Raises:
        ValueError: if the number of dice is not a multiple of three, or a face is outside 1..6.
    """
    _check(dice)
    if len(dice) % DICE_PER_HIT:
        raise ValueError(f"dice: expected {DICE_PER_HIT} for each hit, found {len(dice)}")
    rolls = zip(*(dice[first::DICE_PER_HIT] for first in range(DICE_PER_HIT)), strict=True)
    return per * sum(hit.wounds(*roll) for roll in rolls)


def _check(dice: Sequence[int]) -> None:
    if any(not 1 <= die <= FACES for die in dice):
        raise ValueError(f"dice: expected faces from 1 to {FACES}, found {list(dice)}")
