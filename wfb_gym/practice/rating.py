"""Error ratings: points lost per decision, with exact values and estimates kept apart."""

import math
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from wfb_gym.transcripts.review import Review

FEWEST = 10  # minimum number of decisions for an interval
_QUANTILE = 1.96  # quantile of the normal distribution for a 95 % interval
_BARS = "▁▂▃▄▅▆▇█"


class DecisionLoss(NamedTuple):
    """The loss of an analysed decision with several choices.

    Attributes:
        army: the army that decided, 0 or 1.
        lost: points lost, 0 or more.
        is_exact: whether the loss is exact. If not, it is an estimate.
    """

    army: int
    lost: float
    is_exact: bool


class LossRate(NamedTuple):
    """The mean loss of some decisions.

    Attributes:
        decisions: number of decisions.
        mean: points lost per decision; NaN if there are no decisions.
        margin: half the width of the 95 % interval for the mean, which assumes independent
            decisions; None if there are fewer than `FEWEST` decisions.
    """

    decisions: int
    mean: float
    margin: float | None

    @property
    def words(self) -> str:
        """The mean with its interval, such as "0.42 ± 0.10", or "-" if there are no decisions."""
        if not self.decisions:
            return "-"
        return f"{self.mean:.2f}" + ("" if self.margin is None else f" ± {self.margin:.2f}")


class ErrorRating(NamedTuple):
    """Points lost per decision, separately for decisions with exact values and with estimates."""

    exact: LossRate
    estimated: LossRate

    @property
    def decisions(self) -> int:
        """Number of decisions."""
        return self.exact.decisions + self.estimated.decisions

    @property
    def exact_share(self) -> float:
        """Part of the decisions with exact values, from 0 to 1; NaN if there are no decisions."""
        return self.exact.decisions / self.decisions if self.decisions else math.nan


def decision_losses(review: Review) -> Iterator[DecisionLoss]:
    """Yield the losses of both armies' analysed decisions that had several choices."""
    for each in review.decisions:
        if each.choices:
            yield DecisionLoss(each.army, each.lost, each.is_exact)


def rate_decisions(losses: Iterable[DecisionLoss]) -> ErrorRating:
    """Return the error rating of some decisions."""
    every = list(losses)
    return ErrorRating(
        _loss_rate([each.lost for each in every if each.is_exact]),
        _loss_rate([each.lost for each in every if not each.is_exact]),
    )


def _loss_rate(losses: Sequence[float]) -> LossRate:
    count = len(losses)
    if not count:
        return LossRate(0, math.nan, None)
    mean = sum(losses) / count
    if count < FEWEST:
        return LossRate(count, mean, None)
    variance = sum((loss - mean) ** 2 for loss in losses) / (count - 1)
    return LossRate(count, mean, _QUANTILE * math.sqrt(variance / count))


def sparkline(values: Sequence[float]) -> str:
    """Draw values, 0 or more, as a line of bars; the highest value has a full bar."""
    most = max(values, default=0.0)
    steps = len(_BARS) - 1
    return "".join(_BARS[round(steps * value / most) if most else 0] for value in values)
