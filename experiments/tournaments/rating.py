"""Agent ratings from the mean points of a tournament's matches.

The seats are not equal and results are points, not wins, so Elo's logistic curve for two equal
sides does not apply. The points themselves can be modelled. For scenario s, caster i and dispeller
j

    points(s, i, j) / unit(s) = level(s) + casting(i) - dispelling(j) + rest

is fitted by least squares, with equal weight for all matches. `unit` is the standard deviation of
the points in one battle between two given agents, over all of the scenario's matches. A unit of
skill is therefore a unit of luck, which makes scenarios with different stakes comparable. `level`
is the advantage of the caster's seat. Each seat's strengths sum to zero, so 0 is the tournament's
average agent. An agent's rating is the mean of its two strengths. The difference between two
ratings is the points per battle that the better agent wins from the other, averaged over both
seats, in units. If matches are missing (a forfeit, or a scenario that is too large for the optimal
player), the agents' other results fill the gap. `misfit` is the root mean square of `rest`: the
part of the results that depends on the pairing and that one number per agent cannot express.

Ratings depend on the field: an agent that wins a lot from weak players may rank above an unbeaten
one. So each rating comes with `worst`: an agent's points against its toughest opponent, in units,
averaged over both seats and the scenarios that both played. An optimal player is never beaten:
without luck, its `worst` is at least 0. As the minimum of several sampled means, `worst` is
slightly biased downwards.

Intervals come from a bootstrap over battles. Battle i has the same dice in all of a scenario's
matches, so battles are resampled jointly for all of them.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import count

import numpy as np
from numpy.typing import NDArray

from experiments.statistics import RESAMPLES, Floats, Interval, percentiles
from experiments.tournaments.matches import MatchResult

_NO_LUCK = 1e-9
"""Standard deviation, in points, below which a scenario counts as having no luck."""
_CHUNK = 100
"""Number of resamples to draw at once. It divides `RESAMPLES`."""


@dataclass(frozen=True)
class Rating:
    """An agent's strength. Figures are None if none of their matches finished."""

    agent: str
    rating: Interval | None  # requires matches in both seats
    casting: float | None
    dispelling: float | None
    worst: Interval | None  # margin over its toughest opponent
    against: str | None  # that opponent
    forfeits: int  # matches that the agent forfeited


@dataclass(frozen=True)
class Ratings:
    """All agents' ratings, with the fewest forfeits first, then the best first.

    `units` holds the scenarios' units in points. `misfit` is the root mean square of the residuals,
    in units.
    """

    agents: tuple[Rating, ...]
    units: dict[str, float]
    misfit: float


def rate(agents: Sequence[str], results: Sequence[MatchResult], seed: int = 0) -> Ratings:
    """Rate agents from the matches in one or more scenarios. Failed matches count as forfeits.

    `seed` is the seed for the bootstrap.
    """
    finished = [result for result in results if result.failure is None]
    faults = Counter(result.failure.agent for result in results if result.failure is not None)
    if not finished:
        none = (Rating(a, None, None, None, None, None, faults[a]) for a in agents)
        return Ratings(tuple(none), {}, 0.0)
    units = {}
    for name in _scenarios(finished):
        variance = np.mean([result.array.var() for result in finished if result.scenario == name])
        units[name] = float(np.sqrt(variance)) if variance > _NO_LUCK**2 else 1.0
    scale = np.array([units[result.scenario] for result in finished])
    means = np.array([result.array.mean() for result in finished]) / scale
    resampled = _resampled_means(finished, seed) / scale
    design, columns = _design(agents, finished)
    solve = np.linalg.pinv(design)
    fitted, refitted = solve @ means, resampled @ solve.T
    misfit = float(np.sqrt(np.mean((design @ fitted - means) ** 2)))
    ratings = []
    for agent in agents:
        own = [seat[agent] for seat in columns if agent in seat]
        casting, dispelling = (
            float(fitted[seat[agent]]) if agent in seat else None for seat in columns
        )
        rating = None
        if len(own) == len(columns):
            rating = percentiles(float(fitted[own].mean()), refitted[:, own].mean(axis=1))
        worst, against = _worst(agent, agents, finished, means, resampled)
        ratings.append(Rating(agent, rating, casting, dispelling, worst, against, faults[agent]))
    return Ratings(tuple(sorted(ratings, key=_order)), units, misfit)


def _order(rating: Rating) -> tuple[bool, int, float]:
    value = rating.rating
    return value is None, rating.forfeits, -(value.value if value is not None else 0.0)


def _design(
    agents: Sequence[str], results: Sequence[MatchResult]
) -> tuple[Floats, list[dict[str, int]]]:
    """Return the centred design matrix (matches, columns), and each seat's columns."""
    played, casters, dispellers = (
        np.array(names)
        for names in zip(*((c.scenario, c.caster, c.dispeller) for c in results), strict=True)
    )
    casting = [agent for agent in agents if agent in casters]
    dispelling = [agent for agent in agents if agent in dispellers]
    level = played[:, None] == _scenarios(results)
    cast, dispel = casters[:, None] == casting, dispellers[:, None] == dispelling
    design = np.hstack([level, cast - 1.0 / len(casting), 1.0 / len(dispelling) - dispel])
    first, second = level.shape[1], level.shape[1] + len(casting)
    columns = [dict(zip(casting, count(first))), dict(zip(dispelling, count(second)))]
    return design, columns


def _worst(
    agent: str,
    agents: Sequence[str],
    results: Sequence[MatchResult],
    means: Floats,
    resampled: Floats,
) -> tuple[Interval | None, str | None]:
    place = {(c.scenario, c.caster, c.dispeller): k for k, c in enumerate(results)}
    weights: dict[str, Floats] = {}
    for other in agents:
        pairs = [
            (place[s, agent, other], place[s, other, agent])
            for s in _scenarios(results)
            if agent != other and (s, agent, other) in place and (s, other, agent) in place
        ]
        if pairs:
            weights[other] = np.zeros(len(results))
            for own, theirs in pairs:
                weights[other][[own, theirs]] = 0.5 / len(pairs), -0.5 / len(pairs)
    if not weights:
        return None, None
    columns = np.stack(list(weights.values()), axis=1)
    margins = means @ columns
    interval = percentiles(float(margins.min()), (resampled @ columns).min(axis=1))
    return interval, list(weights)[margins.argmin()]


def _scenarios(results: Sequence[MatchResult]) -> list[str]:
    return list(dict.fromkeys(result.scenario for result in results))


def _resampled_means(results: Sequence[MatchResult], seed: int) -> NDArray[np.float64]:
    """Return resampled mean points (resamples, results); battles are resampled jointly."""
    rng = np.random.default_rng(seed)
    means = np.empty((RESAMPLES, len(results)))
    for name in _scenarios(results):
        own = [k for k, result in enumerate(results) if result.scenario == name]
        for battles in sorted({len(results[k].points) for k in own}):
            columns = [k for k in own if len(results[k].points) == battles]
            points = np.stack([results[k].array for k in columns], axis=1)
            for first in range(0, RESAMPLES, _CHUNK):
                counts = rng.multinomial(battles, np.full(battles, 1.0 / battles), size=_CHUNK)
                means[first : first + _CHUNK, columns] = counts @ points / battles
    return means
