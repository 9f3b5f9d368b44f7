"""Points lost per decision."""

import math

import pytest

from wfb_gym.practice.rating import FEWEST, DecisionLoss, decision_losses, rate_decisions, sparkline
from wfb_gym.transcripts import record
from wfb_gym.transcripts.review import review


def losses(*values: float, is_exact: bool = True) -> list[DecisionLoss]:
    return [DecisionLoss(0, value, is_exact) for value in values]


def test_exact_values_and_estimates_are_averaged_separately() -> None:
    rating = rate_decisions([*losses(1.0, 2.0, 3.0), *losses(10.0, is_exact=False)])
    assert tuple(rating.exact) == (3, 2.0, None)
    assert tuple(rating.estimated) == (1, 10.0, None)
    assert rating.decisions == 4
    assert rating.exact_share == 0.75
    assert rating.exact.words == "2.00"


def test_the_interval_is_that_of_the_mean_from_ten_decisions_on() -> None:
    values = [0.0] * 5 + [2.0] * 5
    assert rate_decisions(losses(*values[:-1])).exact.margin is None
    rate = rate_decisions(losses(*values)).exact
    assert rate.decisions == FEWEST
    # variance 10/9, standard error sqrt(10/9 / 10) = 1/3
    assert rate.margin == pytest.approx(1.96 / 3)
    assert rate.words == "1.00 ± 0.65"


def test_no_decisions_have_no_rating() -> None:
    rating = rate_decisions([])
    assert rating.decisions == 0
    assert math.isnan(rating.exact_share)
    assert rating.exact.words == rating.estimated.words == "-"


def test_decisions_without_values_do_not_count() -> None:
    reviewed = review(record("orc-shaman-hunt", "random", "random", seed=3))
    found = list(decision_losses(reviewed))
    assert len(found) == sum(bool(each.choices) for each in reviewed.decisions) > 0
    assert sum(each.lost for each in found if each.army == 0) == pytest.approx(reviewed.lost_by(0))
    late = review(reviewed.transcript, most_seconds=0.0)
    assert list(decision_losses(late)) == []


def test_bars_are_drawn_in_proportion_to_the_highest() -> None:
    assert sparkline([0.0, 3.5, 7.0]) == "▁▅█"
    assert sparkline([0.0, 0.0]) == "▁▁"
    assert sparkline([]) == ""
