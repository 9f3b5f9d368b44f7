"""Probabilities counted without the package, and frequencies compared with probabilities."""

from collections import Counter
from collections.abc import Mapping
from fractions import Fraction as F
from functools import cache
from itertools import product
from math import comb

D6 = {hits: F(1, 6) for hits in range(1, 7)}
TWO_D6 = {hits: F(6 - abs(hits - 7), 36) for hits in range(2, 13)}


def binomial(n: int, chance: F) -> dict[int, F]:
    """Return the probability of each number of successes."""
    return {k: comb(n, k) * chance**k * (1 - chance) ** (n - k) for k in range(n + 1)}


@cache
def chain(hits: int) -> F:
    """Return the probability of this many further hits of the Conflagration of Doom.

    While the caster's die is higher than the opponent's, it is added and both roll again.
    """
    if hits < 0:
        return F(0)
    ways = F(0)
    for caster, opponent in product(D6, D6):
        ways += chain(hits - caster) if caster > opponent else F(hits == 0)
    return ways / 36


def conflagration(hits: int) -> F:
    """Return the probability of this many hits of the Conflagration of Doom: a D6 and `chain`."""
    return sum((chain(hits - die) for die in D6), F(0)) / 6


@cache
def wounds_of_d6_hits(chance: F, most: int) -> Mapping[int, F]:
    """Return the probability of each number of wounds; all beyond `most` are one."""
    law = dict.fromkeys(range(most + 1), F(0))
    for hits, weight in D6.items():
        for wounds, probability in binomial(hits, chance).items():
            law[min(most, wounds)] += weight * probability
    return law


def passing(leadership: int) -> F:
    """Return the probability of 2D6 at or below a number, roll by roll."""
    return F(sum(a + b <= leadership for a, b in product(range(1, 7), repeat=2)), 36)


def check_frequencies(found: Counter[int], expected: Mapping[int, float]) -> None:
    """Compare chi-square, with rare outcomes pooled, with the quantile of 1 in 100,000."""
    draws = found.total()
    assert set(found) <= set(expected)
    rare = [code for code, chance in expected.items() if chance * draws < 10]
    cells = [(found[code], p * draws) for code, p in expected.items() if code not in rare]
    if rare:
        total = draws * sum(expected[code] for code in rare)
        cells.append((sum(found[code] for code in rare), max(total, 1.0)))
    statistic = sum((seen - mean) ** 2 / mean for seen, mean in cells)
    freedom = max(1, len(cells) - 1)
    z = 4.265  # Wilson and Hilferty's approximation of the quantile
    limit = freedom * (1 - 2 / (9 * freedom) + z * (2 / (9 * freedom)) ** 0.5) ** 3
    assert statistic < limit, cells
