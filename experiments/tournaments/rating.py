"""Ratings of agents from the mean points of a tournament's matches.

Neither seat is fair and results are points, not wins, so that Elo's logistic curve of two equal
sides does not apply; points themselves do. For scenario s, caster i and dispeller j

    points(s, i, j) / unit(s) = level(s) + casting(i) - dispelling(j) + rest

is fitted by least squares, with equal weights of all matches. `unit` is the standard deviation of
the points of one battle between two given agents, over all matches of the scenario: a unit of skill
is a unit of luck, which makes scenarios of any stakes comparable. `level` is what a seat is worth.
Strengths of either kind sum to zero over the agents, so 0 is the average agent of this tournament.
An agent's rating is the mean of its two strengths, and the difference of two ratings is what the
better agent wins from the other in a battle, on average over both seats, in units.

Where every match was played this is the mean of rows and columns; where matches are missing (a
forfeit, a scenario that is too large for the optimal player) least squares fills the gap from
the agents' other results. `misfit` is the root mean square of `rest`: how much of the results
depends on the pairing, which no single number for an agent can express.

Ratings depend on the field, as any do that average over opponents: an agent that beats weak players
by much may stand above one that nobody beats. So `worst` stands beside it: what an agent wins from
the opponent that it does worst against, in units, on average over both seats and the scenarios
that both of them played. Nobody beats an optimal player: but for luck its worst is at least 0. As
the least of several sampled means, `worst` tends to come out a little low.

The intervals are those of a bootstrap over battles. Battle i has the same dice in every match of a
scenario, so that the battles are resampled for all of its matches together.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from experiments.statistics import RESAMPLES, Floats, Interval, percentiles
from experiments.tournaments.matches import MatchResult

_NO_LUCK = 1e-9
"""Standard deviation in points below which a scenario has no luck in it."""
_CHUNK = 100
"""Resamples that are resampled at a time."""


@dataclass(frozen=True)
class Rating:
    """How strong an agent is.

    Attributes:
        agent: its name.
        rating: with its interval; None if it finished no match in one of the seats.
        casting: strength as caster; None if it finished no match as caster.
        dispelling: strength as dispeller; None if it finished no match as dispeller.
        worst: margin over the opponent that it does worst against; None without an opponent.
        against: that opponent.
        forfeits: matches that it lost by its own fault.
    """

    agent: str
    rating: Interval | None
    casting: float | None
    dispelling: float | None
    worst: Interval | None
    against: str | None
    forfeits: int


@dataclass(frozen=True)
class Ratings:
    """Ratings of all agents.

    Attributes:
        agents: a rating each: those without forfeits first, then the best first.
        units: of the scenarios, in points.
        misfit: root mean square of what the strengths leave unexplained, in units.
    """

    agents: tuple[Rating, ...]
    units: dict[str, float]
    misfit: float


def rate(agents: Sequence[str], results: Sequence[MatchResult], seed: int = 0) -> Ratings:
    """Rate agents by the matches that were played.

    Args:
        agents: in any order.
        results: of one or more scenarios, failed matches among them.
        seed: of the bootstrap.
    """
    finished = [result for result in results if result.failure is None]
    faults = [result.failure.agent for result in results if result.failure is not None]
    if not finished:
        none = (Rating(a, None, None, None, None, None, faults.count(a)) for a in agents)
        return Ratings(tuple(none), {}, 0.0)
    units = {
        name: unit([c for c in finished if c.scenario == name]) for name in _scenarios(finished)
    }
    scale = np.array([units[result.scenario] for result in finished])
    means = np.array([result.array.mean() for result in finished]) / scale
    resampled = _resampled_means(finished, seed) / scale
    fit = _Fit(agents, finished, list(units), means, resampled)
    margins = _margins(agents, finished)
    ratings = []
    for agent in agents:
        rating, casting, dispelling = fit.rating_of(agent)
        worst, against = _worst(margins.get(agent, {}), means, resampled)
        forfeits = faults.count(agent)
        ratings.append(Rating(agent, rating, casting, dispelling, worst, against, forfeits))
    return Ratings(tuple(sorted(ratings, key=_order)), units, fit.misfit)


class _Fit:
    """The best-fitting strengths, and those of every resample."""

    def __init__(
        self,
        agents: Sequence[str],
        results: Sequence[MatchResult],
        scenarios: list[str],
        means: Floats,
        resampled: Floats,
    ) -> None:
        self._casting = [a for a in agents if any(c.caster == a for c in results)]
        self._dispelling = [a for a in agents if any(c.dispeller == a for c in results)]
        self._first = len(scenarios), len(scenarios) + len(self._casting)
        design = _design(results, scenarios, self._casting, self._dispelling)
        solve = np.linalg.pinv(design)
        self._fitted, self._resampled = solve @ means, resampled @ solve.T
        rest = design @ self._fitted - means
        self.misfit = float(np.sqrt(np.mean(rest**2)))

    def rating_of(self, agent: str) -> tuple[Interval | None, float | None, float | None]:
        """Return an agent's rating and strengths; None for a seat that it did not play."""
        places = []
        if agent in self._casting:
            places.append(self._first[0] + self._casting.index(agent))
        if agent in self._dispelling:
            places.append(self._first[1] + self._dispelling.index(agent))
        strengths = self._fitted[places].tolist()
        if len(strengths) == 2:
            both = percentiles(sum(strengths) / 2, self._resampled[:, places].mean(axis=1))
            return both, strengths[0], strengths[1]
        casting = strengths[0] if agent in self._casting else None
        return None, casting, strengths[0] if agent in self._dispelling else None


def _margins(
    agents: Sequence[str], results: Sequence[MatchResult]
) -> dict[str, dict[str, NDArray[np.float64]]]:
    """By agent and opponent: weights of the matches whose sum is the agent's mean margin."""
    place = {(c.scenario, c.caster, c.dispeller): k for k, c in enumerate(results)}
    found: dict[str, dict[str, NDArray[np.float64]]] = {}
    for agent in agents:
        for other in agents:
            pairs = [
                (place[s, agent, other], place[s, other, agent])
                for s in _scenarios(results)
                if agent != other and (s, agent, other) in place and (s, other, agent) in place
            ]
            if pairs:
                weights = np.zeros(len(results))
                for own, theirs in pairs:
                    weights[own], weights[theirs] = 0.5 / len(pairs), -0.5 / len(pairs)
                found.setdefault(agent, {})[other] = weights
    return found


def _worst(
    margins: dict[str, NDArray[np.float64]], means: Floats, resampled: Floats
) -> tuple[Interval | None, str | None]:
    if not margins:
        return None, None
    others, weights = list(margins), np.stack(list(margins.values()), axis=1)
    sampled = means @ weights
    interval = percentiles(float(sampled.min()), (resampled @ weights).min(axis=1))
    return interval, others[int(sampled.argmin())]


def _order(rating: Rating) -> tuple[bool, int, float]:
    value = rating.rating
    return value is None, rating.forfeits, -(value.value if value is not None else 0.0)


def unit(results: Sequence[MatchResult]) -> float:
    """Return the deviation of a battle's points within a scenario's matches; 1 if it is 0."""
    variance = float(np.mean([result.array.var() for result in results]))
    return float(np.sqrt(variance)) if variance > _NO_LUCK**2 else 1.0


def _scenarios(results: Sequence[MatchResult]) -> list[str]:
    return list(dict.fromkeys(result.scenario for result in results))


def _design(
    results: Sequence[MatchResult], scenarios: list[str], casting: list[str], dispelling: list[str]
) -> NDArray[np.float64]:
    """Return the design matrix: a row for each match; columns of levels and strengths.

    The strengths' columns are centred, which makes those of either kind sum to zero.
    """
    level = np.array([[result.scenario == name for name in scenarios] for result in results], float)
    cast = np.array([[result.caster == name for name in casting] for result in results], float)
    dispel = np.array(
        [[result.dispeller == name for name in dispelling] for result in results], float
    )
    return np.hstack([level, cast - 1.0 / len(casting), 1.0 / len(dispelling) - dispel])


def _resampled_means(results: Sequence[MatchResult], seed: int) -> NDArray[np.float64]:
    """Resampled mean points of each match, float64 (resamples, results).

    Matches of a scenario with the same number of battles draw the same ones.
    """
    rng = np.random.default_rng(seed)
    means = np.empty((RESAMPLES, len(results)))
    for name in _scenarios(results):
        own = [k for k, result in enumerate(results) if result.scenario == name]
        for battles in sorted({len(results[k].points) for k in own}):
            columns = [k for k in own if len(results[k].points) == battles]
            points = np.stack([results[k].array for k in columns], axis=1)
            for start in range(0, RESAMPLES, _CHUNK):
                rows = slice(start, min(start + _CHUNK, RESAMPLES))
                counts = rng.multinomial(
                    battles, np.full(battles, 1.0 / battles), size=rows.stop - start
                )
                means[rows, columns] = counts @ points / battles
    return means
