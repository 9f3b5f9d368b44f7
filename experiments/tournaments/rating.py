"""Ratings of agents from the mean points of a tournament's cells.

Neither seat is fair and results are points, not wins, so that Elo's logistic curve of two equal
sides does not apply; points themselves do. Of scenario s, caster i and dispeller j

    points(s, i, j) / unit(s) = level(s) + casting(i) - dispelling(j) + rest

is fitted by least squares, every cell counting the same. `unit` is the standard deviation of the
points of one battle between two given agents, all cells of the scenario together: a unit of skill
is a unit of luck, which makes scenarios of any stakes comparable. `level` takes up what a seat is
worth. Strengths of either kind sum to zero over the agents, so 0 is the average agent of this
tournament. An agent's rating is the mean of its two strengths, and the difference of two ratings
is what the better one wins from the other in a battle, on average over both seats, in units.

Where every cell was played this is the mean of rows and columns; where cells are missing (a
forfeit, a scenario that is too large for the optimal player) least squares fills the gap from
what the agents did elsewhere. `misfit` is the root mean square of `rest`: how much of the result
is who met whom, which no single number for an agent can tell.

Ratings depend on who takes part, as any do that average over opponents: one who beats weak players
by much may stand above one whom nobody beats. So `worst` stands beside it: what an agent wins from
the opponent that it does worst against, in units, on average over both seats and the scenarios
that both of them played. Nobody beats an optimal player: but for luck its worst is at least 0. As
the least of several sampled means, `worst` tends to come out a little low.

The intervals are those of a bootstrap over battles. Battle i has the same dice in every cell of a
scenario, so that battles are drawn for all of its cells at once.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from experiments.statistics import RESAMPLES, Floats, Interval, percentiles
from experiments.tournaments.cells import Cell

_FLAT = 1e-9
"""Points below which a scenario has no luck in it."""
_AT_ONCE = 100
"""Resamples that are drawn in one go."""


@dataclass(frozen=True)
class Rating:
    """How strong an agent is.

    Attributes:
        agent: whose.
        rating: with its interval; None if it played no cell in one of the seats.
        casting: strength as caster; None if it never played one.
        dispelling: strength as dispeller; None if it never played one.
        worst: margin over the opponent that it does worst against; None if it met nobody.
        against: that opponent.
        forfeits: cells that it lost by its own doing.
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
    """Of all agents, those without forfeits first, the best first.

    Attributes:
        agents: each agent's.
        units: of the scenarios, in points.
        misfit: root mean square of what the strengths leave unexplained, in units.
    """

    agents: tuple[Rating, ...]
    units: dict[str, float]
    misfit: float


def rate(agents: Sequence[str], cells: Sequence[Cell], seed: int = 0) -> Ratings:
    """Ratings of agents from the cells that were played.

    Args:
        agents: in any order.
        cells: of one or more scenarios, failed ones among them.
        seed: of the bootstrap.
    """
    done = [cell for cell in cells if cell.failure is None]
    if not done:
        lost = [sum(c.failure is not None and c.failure.agent == a for c in cells) for a in agents]
        none = (
            Rating(a, None, None, None, None, None, n) for a, n in zip(agents, lost, strict=True)
        )
        return Ratings(tuple(none), {}, 0.0)
    units = {name: unit([c for c in done if c.scenario == name]) for name in _scenarios(done)}
    scale = np.array([units[cell.scenario] for cell in done])
    means = np.array([cell.array.mean() for cell in done]) / scale
    drawn = _drawn_means(done, seed) / scale
    fit = _Fit(agents, done, list(units), means, drawn)
    margins = _margins(agents, done)
    found = []
    for agent in agents:
        rating, casting, dispelling = fit.of(agent)
        worst, against = _worst(margins.get(agent, {}), means, drawn)
        forfeits = sum(c.failure is not None and c.failure.agent == agent for c in cells)
        found.append(Rating(agent, rating, casting, dispelling, worst, against, forfeits))
    return Ratings(tuple(sorted(found, key=_order)), units, fit.misfit)


class _Fit:
    """The strengths that fit best, and those of every resample."""

    def __init__(
        self,
        agents: Sequence[str],
        cells: Sequence[Cell],
        scenarios: list[str],
        means: Floats,
        drawn: Floats,
    ) -> None:
        self._casting = [a for a in agents if any(c.caster == a for c in cells)]
        self._dispelling = [a for a in agents if any(c.dispeller == a for c in cells)]
        self._first = len(scenarios), len(scenarios) + len(self._casting)
        design = _design(cells, scenarios, self._casting, self._dispelling)
        solve = np.linalg.pinv(design)
        self._fitted, self._drawn = solve @ means, drawn @ solve.T
        rest = design @ self._fitted - means
        self.misfit = float(np.sqrt(np.mean(rest**2)))

    def of(self, agent: str) -> tuple[Interval | None, float | None, float | None]:
        """An agent's rating and strengths; None of a seat that it did not play."""
        places = []
        if agent in self._casting:
            places.append(self._first[0] + self._casting.index(agent))
        if agent in self._dispelling:
            places.append(self._first[1] + self._dispelling.index(agent))
        strengths = self._fitted[places].tolist()
        if len(strengths) == 2:
            both = percentiles(sum(strengths) / 2, self._drawn[:, places].mean(axis=1))
            return both, strengths[0], strengths[1]
        casting = strengths[0] if agent in self._casting else None
        return None, casting, strengths[0] if agent in self._dispelling else None


def _margins(
    agents: Sequence[str], cells: Sequence[Cell]
) -> dict[str, dict[str, NDArray[np.float64]]]:
    """By agent and opponent: weights of the cells whose sum is the agent's mean margin."""
    place = {(c.scenario, c.caster, c.dispeller): k for k, c in enumerate(cells)}
    found: dict[str, dict[str, NDArray[np.float64]]] = {}
    for agent in agents:
        for other in agents:
            pairs = [
                (place[s, agent, other], place[s, other, agent])
                for s in _scenarios(cells)
                if agent != other and (s, agent, other) in place and (s, other, agent) in place
            ]
            if pairs:
                weights = np.zeros(len(cells))
                for own, theirs in pairs:
                    weights[own], weights[theirs] = 0.5 / len(pairs), -0.5 / len(pairs)
                found.setdefault(agent, {})[other] = weights
    return found


def _worst(
    margins: dict[str, NDArray[np.float64]], means: Floats, drawn: Floats
) -> tuple[Interval | None, str | None]:
    if not margins:
        return None, None
    others, weights = list(margins), np.stack(list(margins.values()), axis=1)
    sampled = means @ weights
    return percentiles(float(sampled.min()), (drawn @ weights).min(axis=1)), others[
        int(sampled.argmin())
    ]


def _order(rating: Rating) -> tuple[bool, int, float]:
    value = rating.rating
    return value is None, rating.forfeits, -(value.value if value is not None else 0.0)


def unit(cells: Sequence[Cell]) -> float:
    """The standard deviation of a battle's points within the cells of a scenario; 1 if none."""
    variance = float(np.mean([cell.array.var() for cell in cells]))
    return float(np.sqrt(variance)) if variance > _FLAT**2 else 1.0


def _scenarios(cells: Sequence[Cell]) -> list[str]:
    return list(dict.fromkeys(cell.scenario for cell in cells))


def _design(
    cells: Sequence[Cell], scenarios: list[str], casting: list[str], dispelling: list[str]
) -> NDArray[np.float64]:
    """Rows of the cells, columns of levels and strengths.

    The strengths' columns are centred, which makes those of either kind sum to zero.
    """
    level = np.array([[cell.scenario == name for name in scenarios] for cell in cells], float)
    cast = np.array([[cell.caster == name for name in casting] for cell in cells], float)
    dispel = np.array([[cell.dispeller == name for name in dispelling] for cell in cells], float)
    return np.hstack([level, cast - 1.0 / len(casting), 1.0 / len(dispelling) - dispel])


def _drawn_means(cells: Sequence[Cell], seed: int) -> NDArray[np.float64]:
    """Mean points of each cell, its battles drawn anew, float64 (resamples, cells).

    Cells of a scenario with as many battles draw the same ones.
    """
    rng = np.random.default_rng(seed)
    means = np.empty((RESAMPLES, len(cells)))
    for name in _scenarios(cells):
        own = [k for k, cell in enumerate(cells) if cell.scenario == name]
        for battles in sorted({len(cells[k].points) for k in own}):
            columns = [k for k in own if len(cells[k].points) == battles]
            points = np.stack([cells[k].array for k in columns], axis=1)
            for start in range(0, RESAMPLES, _AT_ONCE):
                rows = slice(start, min(start + _AT_ONCE, RESAMPLES))
                counts = rng.multinomial(
                    battles, np.full(battles, 1.0 / battles), size=rows.stop - start
                )
                means[rows, columns] = counts @ points / battles
    return means
