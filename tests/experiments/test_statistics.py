"""Interquartile means and bootstrap intervals: against SciPy, known laws, and edge cases."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from numpy.typing import NDArray
from scipy import stats

from experiments import coverage, statistics
from experiments.statistics import bootstrap, interquartile_mean, mean, run_interval

SIZES = st.tuples(st.integers(1, 6), st.integers(1, 6))
SCORES = arrays(np.float64, SIZES, elements=st.floats(-200.0, 100.0))


@given(SCORES)
def test_the_interquartile_mean_is_scipys_trimmed_mean(scores: NDArray[np.float64]) -> None:
    wanted = stats.trim_mean(scores, 0.25, axis=None)
    assert interquartile_mean(scores) == pytest.approx(wanted, abs=1e-9)


def test_leading_axes_are_matrices_of_their_own() -> None:
    scores = np.random.default_rng(0).normal(size=(5, 4, 3))
    for statistic in (mean, interquartile_mean):
        assert statistic(scores).shape == (5,)
        assert statistic(scores)[2] == pytest.approx(statistic(scores[2]))
    chances = statistics.probability_of_improvement(scores, scores[::-1])
    assert chances.shape == (5,)
    assert chances[1] == pytest.approx(statistics.probability_of_improvement(scores[1], scores[3]))


@given(SCORES)
def test_runs_are_drawn_within_their_task(scores: NDArray[np.float64]) -> None:
    drawn = statistics.resample(scores, 20, np.random.default_rng(1))
    assert drawn.shape == (20, *scores.shape)
    for task in range(scores.shape[1]):
        assert set(drawn[:, :, task].ravel()) <= set(scores[:, task])
    drawn = statistics.resample(np.arange(8.0)[:, None] * np.ones(2), 50, np.random.default_rng(2))
    assert (drawn[:, :, 0] != drawn[:, :, 1]).any()  # each task has its own draws


@pytest.mark.parametrize("statistic", [mean, interquartile_mean])
def test_the_interval_covers_the_truth_as_often_as_it_says(statistic: Any) -> None:
    """Skewed scores; a large sample gives their mean and interquartile mean."""
    rng = np.random.default_rng(3)

    def draw(runs: int) -> NDArray[np.float64]:
        return rng.exponential(size=(runs, 2)) * [10.0, 20.0] + [0.0, 40.0]

    truth = statistic(draw(400_000))
    intervals = [bootstrap(statistic, draw(80), seed=k, resamples=400) for k in range(300)]
    held = np.mean([each.low <= truth <= each.high for each in intervals])
    assert 0.90 <= held <= 0.985  # 0.95, with three standard errors and a little bias
    narrow = bootstrap(statistic, draw(80), resamples=400, level=0.5)
    wide = bootstrap(statistic, draw(80), resamples=400, level=0.99)
    assert narrow.high - narrow.low < wide.high - wide.low


def test_the_interval_is_that_of_normal_theory_where_there_are_many() -> None:
    scores = np.random.default_rng(4).normal(50.0, 10.0, size=(3000, 1))
    found = bootstrap(mean, scores, seed=7)
    half = 1.96 * scores.std() / np.sqrt(len(scores))
    assert found.low == pytest.approx(found.value - half, abs=0.1 * half)
    assert found.high == pytest.approx(found.value + half, abs=0.1 * half)
    assert bootstrap(mean, scores, seed=7) == found
    assert bootstrap(mean, scores, seed=8) != found


def test_without_randomness_the_interval_has_no_width() -> None:
    """Tasks far apart: no bootstrap sample may mix them. One run: nothing can be drawn."""
    assert bootstrap(mean, np.array([[0.0, 100.0]] * 5)) == statistics.Interval(50.0, 50.0, 50.0)
    found = bootstrap(interquartile_mean, np.array([[10.0, 20.0, 60.0, 90.0]]))
    assert found == statistics.Interval(40.0, 40.0, 40.0)
    assert str(found) == "40.00 [40.00, 40.00]"


def test_the_interval_of_few_runs_is_students() -> None:
    scores = np.random.default_rng(5).normal(90.0, 3.0, size=(5, 1))
    found = run_interval(mean, scores, resamples=20_000)
    low, high = stats.t.interval(0.95, 4, scores.mean(), stats.sem(scores[:, 0]))
    assert found.low == pytest.approx(low, rel=1e-3)
    assert found.high == pytest.approx(high, rel=1e-3)
    bounded = run_interval(mean, scores, bounds=(0.0, found.value))
    assert (bounded.low, bounded.high) == (run_interval(mean, scores).low, found.value)
    for same in ([[3.0]], [[3.0, 5.0]], [[3.0], [3.0], [3.0]]):
        assert run_interval(mean, np.array(same)).half_width == 0.0


def test_equal_tasks_add_up_to_more_degrees_of_freedom() -> None:
    column = np.random.default_rng(6).normal(90.0, 3.0, size=(5, 1))
    error = 3.0 * stats.sem(column[:, 0]) / 3.0**1.5
    found = run_interval(mean, np.repeat(column, 3, axis=1), resamples=20_000)
    assert found.half_width == pytest.approx(stats.t.ppf(0.975, 12) * error, rel=0.02)


def test_p_values_are_students_and_adjusted_for_many() -> None:
    scores = np.random.default_rng(7).normal(1.0, 1.0, size=(8, 1))
    expected = stats.ttest_1samp(scores[:, 0], 0.0).pvalue
    assert statistics.p_value(mean, scores) == pytest.approx(expected, rel=0.1)
    assert statistics.p_value(mean, np.ones((5, 2))) is None
    assert statistics.adjust_for_many([0.04, 0.01, 0.03]) == pytest.approx([0.06, 0.03, 0.06])
    assert statistics.adjust_for_many([0.5, 0.6]) == [1.0, 1.0]
    assert statistics.adjust_for_many([]) == []


def test_intervals_of_few_runs_cover_the_truth() -> None:
    settings = coverage.Settings(trials=400)
    for scores in coverage.SCORES:
        line = coverage.simulate(settings, coverage.Simulation(scores, runs=5, tasks=1))
        assert line["percentile"] < 0.92 < line["student"]


def test_the_chance_of_improvement() -> None:
    ours = np.array([[2.0, 5.0], [4.0, 5.0]])
    theirs = np.array([[1.0, 5.0], [3.0, 6.0], [9.0, 5.0]])
    # Task 1: 2 > 1 and 4 > 1, 3, of six; task 2: ties with two of three.
    assert statistics.probability_of_improvement(ours, theirs) == pytest.approx((3 / 6 + 1 / 3) / 2)
    found = statistics.probability_of_improvement(theirs, ours)
    assert found == pytest.approx(1 - (3 / 6 + 1 / 3) / 2)
    found = bootstrap(statistics.probability_of_improvement, ours, theirs)
    assert 0.0 <= found.low <= found.value <= found.high <= 1.0


@pytest.mark.parametrize(
    ("scores", "settings", "message"),
    [
        ((), {}, "expected scores, found none"),
        ((np.zeros(3),), {}, r"\(runs, tasks\), found \(3,\)"),
        ((np.zeros((0, 2)),), {}, r"found \(0, 2\)"),
        ((np.array([[np.nan]]),), {}, "expected finite numbers"),
        ((np.zeros((1, 1)),), {"resamples": 0}, "resamples: expected 1 or more, found 0"),
        ((np.zeros((1, 1)),), {"level": 1.0}, "level: expected a probability between 0 and 1"),
    ],
)
def test_bad_input_is_rejected(scores: Any, settings: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        bootstrap(mean, *scores, **settings)
