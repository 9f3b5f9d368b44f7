"""Statistics of scores over runs and tasks: interquartile means and bootstrap intervals.

The methods follow Agarwal et al., "Deep Reinforcement Learning at the Edge of the Statistical
Precipice" (2021), for a few runs on several tasks. Score matrices have one row per run and one
column per task. The bootstrap is stratified: it resamples runs within each task. Runs are a sample.
Tasks are fixed, because there are no others.

`bootstrap` returns percentile intervals, for large samples. They are too narrow for few runs, for
which `run_interval` returns Student intervals. `experiments.coverage` measures both.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Statistic = Callable[..., Any]
"""Maps one or more arrays of scores, (..., runs, tasks), to values, (...)."""

LEVEL = 0.95
RESAMPLES = 2000
_MAX_SCORES = 1 << 22
"""Maximum number of scores to resample at once."""


@dataclass(frozen=True)
class Interval:
    """An estimate from the original scores, and the ends of its bootstrap interval."""

    value: float
    low: float
    high: float

    @property
    def half_width(self) -> float:
        """Half the interval's width."""
        return (self.high - self.low) / 2

    def __str__(self) -> str:
        return f"{self.value:.2f} [{self.low:.2f}, {self.high:.2f}]"


def mean(scores: Floats) -> Any:
    """Return the mean over runs and tasks (the last two axes)."""
    return scores.mean(axis=(-2, -1))


def interquartile_mean(scores: Floats) -> Any:
    """Return the mean of the middle half of all scores over runs and tasks (the last two axes).

    A quarter of the scores, rounded down, is cut off at each end.
    """
    flat = scores.reshape(*scores.shape[:-2], -1)
    cut = flat.shape[-1] // 4
    middle = np.sort(flat, axis=-1)[..., cut : flat.shape[-1] - cut]
    return middle.mean(axis=-1)


def fifth_percentile(scores: Floats) -> Any:
    """Return the 5th percentile over tasks of the mean over runs (the last two axes)."""
    return np.quantile(scores.mean(axis=-2), 0.05, axis=-1)


def share_of_stakes(scores: Floats, stakes: Floats) -> Any:
    """Return the mean over runs and tasks (the last two axes), weighted by points at stake.

    With normalised scores, it is the share, in %, of all points that optimal play wins.

    Args:
        scores: (..., runs, tasks).
        stakes: points between random and optimal play, (..., tasks).
    """
    return (scores.mean(axis=-2) * stakes).sum(axis=-1) / stakes.sum(axis=-1)


def probability_of_improvement(scores: Floats, others: Floats) -> Any:
    """Return the probability that a run of the first beats a run of the others, mean over tasks.

    Ties count half.

    Args:
        scores: (..., runs, tasks).
        others: scores on the same tasks. The number of runs may differ.
    """
    better = scores[..., :, None, :] > others[..., None, :, :]
    equal = scores[..., :, None, :] == others[..., None, :, :]
    return (better + 0.5 * equal).mean(axis=(-3, -2, -1))


def bootstrap(
    statistic: Statistic,
    *scores: Floats,
    seed: int = 0,
    resamples: int = RESAMPLES,
    level: float = LEVEL,
) -> Interval:
    """Compute a statistic and its percentile interval with the stratified bootstrap.

    Args:
        statistic: see `Statistic`.
        scores: one matrix (runs, tasks) per argument of the statistic.
        seed: seed for resampling.
        resamples: number of resamples.
        level: probability that the interval covers the true value.

    Raises:
        ValueError: if scores are not a matrix, are empty or are not finite, or if a setting is out
            of range.
    """
    _check(scores, resamples, level)
    return percentiles(float(statistic(*scores)), _drawn(statistic, scores, seed, resamples), level)


def run_interval(
    statistic: Statistic,
    *scores: Floats,
    seed: int = 0,
    resamples: int = RESAMPLES,
    level: float = LEVEL,
    bounds: tuple[float, float] = (-np.inf, np.inf),
) -> Interval:
    """Compute a statistic of a few runs and its Student interval with the bootstrap's error.

    The bootstrap's standard error is multiplied by sqrt(n / (n - 1)), because resampling n runs
    underestimates their variance, and by Student's quantile. Tasks add up to more degrees of
    freedom (Welch and Satterthwaite's formula). A single run has an interval of width 0.

    Args:
        statistic: see `Statistic`.
        scores: one matrix (runs, tasks) per argument of the statistic.
        seed: seed for resampling.
        resamples: number of resamples.
        level: probability that the interval covers the true value.
        bounds: the statistic's least and greatest values, at which the interval ends.

    Raises:
        ValueError: as for `bootstrap`.
    """
    _check(scores, resamples, level)
    value, error = float(statistic(*scores)), _error(statistic, scores, seed, resamples)
    if error == 0.0:
        return Interval(value, value, value)
    from scipy import stats  # an extra

    half = error * stats.t.ppf((1.0 + level) / 2.0, _degrees_of_freedom(scores))
    low, high = np.clip([value - half, value + half], *bounds)
    return Interval(value, float(low), float(high))


def p_value(statistic: Statistic, *scores: Floats, seed: int = 0) -> float | None:
    """Return the two-sided p-value of a statistic that would be 0 without a difference.

    It is the Student test that belongs to `run_interval`. None if the scores do not vary.
    """
    _check(scores, RESAMPLES, LEVEL)
    error = _error(statistic, scores, seed, RESAMPLES)
    if error == 0.0:
        return None
    from scipy import stats  # an extra

    distance = abs(float(statistic(*scores))) / error
    return float(2.0 * stats.t.sf(distance, _degrees_of_freedom(scores)))


def adjust_for_many(values: Sequence[float]) -> list[float]:
    """Return the p-values of several comparisons, adjusted by the method of Holm (1979)."""
    adjusted, largest = [0.0] * len(values), 0.0
    for rank, place in enumerate(np.argsort(values)):
        largest = max(largest, min(1.0, (len(values) - rank) * values[place]))
        adjusted[place] = largest
    return adjusted


def _error(statistic: Statistic, scores: tuple[Floats, ...], seed: int, resamples: int) -> float:
    """Return a statistic's standard error over runs; 0 for a single run."""
    drawn = _drawn(statistic, scores, seed, resamples)
    if np.ptp(drawn) == 0.0:
        return 0.0
    runs = min(len(each) for each in scores if len(each) > 1)
    return float(drawn.std() * np.sqrt(runs / (runs - 1)))


def _degrees_of_freedom(scores: tuple[Floats, ...]) -> float:
    several = [each for each in scores if len(each) > 1]  # a single run does not vary
    variances = [each.var(axis=0, ddof=1) / len(each) for each in several]
    squares = [(v**2).sum() / (len(each) - 1) for v, each in zip(variances, several, strict=True)]
    return float(np.sum(np.concatenate(variances)) ** 2 / np.sum(squares))


def _drawn(statistic: Statistic, scores: tuple[Floats, ...], seed: int, resamples: int) -> Floats:
    """Return the statistic of each resample, (resamples,)."""
    rng = np.random.default_rng(seed)
    drawn: list[Floats] = []
    size = max(1, _MAX_SCORES // sum(each.size for each in scores))
    for first in range(0, resamples, size):
        count = min(size, resamples - first)
        drawn.append(np.asarray(statistic(*(resample(each, count, rng) for each in scores))))
    return np.concatenate(drawn)


def percentiles(value: float, drawn: Floats, level: float = LEVEL) -> Interval:
    """Return an estimate's percentile interval from its resampled values, (n,)."""
    low, high = np.quantile(drawn, [(1.0 - level) / 2.0, (1.0 + level) / 2.0])
    return Interval(value, float(low), float(high))


def ratio_interval(numerators: Floats, denominators: Floats) -> Interval:
    """Return the ratio of two sums over cases, with a percentile interval over the cases.

    Args:
        numerators: one number of each case, (n,).
        denominators: another number of each case, (n,), at least 0, and one of them more.
    """
    rows = np.random.default_rng(0).integers(len(numerators), size=(RESAMPLES, len(numerators)))
    above, below = numerators[rows].sum(axis=1), denominators[rows].sum(axis=1)
    drawn = above[below > 0.0] / below[below > 0.0]
    return percentiles(float(numerators.sum() / denominators.sum()), drawn)


def resample(scores: Floats, count: int, rng: np.random.Generator) -> Floats:
    """Resample each task's runs; returns (count, runs, tasks)."""
    runs, tasks = scores.shape
    chosen = rng.integers(runs, size=(count, runs, tasks))
    return scores[chosen, np.arange(tasks)]


def _check(scores: tuple[Floats, ...], resamples: int, level: float) -> None:
    if not scores:
        raise ValueError("bootstrap: expected scores, found none")
    for each in scores:
        if each.ndim != 2 or not each.size:
            raise ValueError(
                f"scores: expected at least one run of one task, (runs, tasks), found {each.shape}"
            )
        if not np.isfinite(each).all():
            raise ValueError("scores: expected finite numbers, found NaN or infinity")
    if resamples < 1:
        raise ValueError(f"resamples: expected 1 or more, found {resamples}")
    if not 0.0 < level < 1.0:
        raise ValueError(f"level: expected a probability between 0 and 1, found {level}")
