"""What each decision of a battle gave away."""

import itertools
from dataclasses import replace

import pytest

from wfb_gym import solver
from wfb_gym.players.analysis import Analyst
from wfb_gym.scenario import load_scenario
from wfb_gym.transcripts import TranscriptError, record
from wfb_gym.transcripts.review import NOTICED, Choice, ReviewedDecision, review

DUEL = load_scenario("archmage-duel")


def test_points_lost_are_the_best_value_less_the_one_that_was_played() -> None:
    transcript = record(DUEL, "random", "random", seed=7)
    reviewed = review(transcript)
    solution = solver.solve(DUEL)
    totals = [0.0, 0.0]
    assert {each.army for each in reviewed.decisions} == {0, 1}
    for each in reviewed.decisions:
        event = reviewed.events[each.event]
        before = reviewed.positions[each.event]
        assert (event.kind, event.army, before.node) == ("decision", each.army, event.node)
        if not each.choices:
            continue
        values = [choice.value for choice in each.choices]
        (played,) = [choice.value for choice in each.choices if choice.is_played]
        assert each.lost == pytest.approx(max(values) - played)
        assert each.lost >= 0
        totals[each.army] += each.lost
        assert each.total == pytest.approx(totals[each.army])
        assert each.is_exact
    first, outlook = reviewed.decisions[0], reviewed.outlooks[0]
    assert outlook.expected == pytest.approx(solution.value)
    assert len(first.choices) == 5
    assert [reviewed.lost_by(army) for army in (0, 1)] == pytest.approx(totals)
    worst = [each.lost for each in reviewed.worst]
    assert worst == sorted((each.lost for each in reviewed.decisions), reverse=True)[: len(worst)]
    assert len(worst) == 3
    assert "Gave away" in reviewed.worst[0].words
    assert "about" not in reviewed.worst[0].words


def test_verdicts_on_targets_are_sentences() -> None:
    choices = (
        Choice("at Swordsmen", 1.0, None, is_played=True, is_best=False),
        Choice("at Knights", 3.0, None, is_played=False, is_best=True),
    )
    told = ReviewedDecision(0, 0, choices, 2.0, 2.0, True, "exact").words
    assert told == "Gave away 2 points: aim at Swordsmen; the best was to aim at Knights."


def test_optimal_play_gives_nothing_away() -> None:
    reviewed = review(record(DUEL, "optimal", "optimal", seed=9))
    assert reviewed.worst == ()
    assert max(each.lost for each in reviewed.decisions) < NOTICED
    assert "every one the best" in reviewed.summary(0)


def test_the_position_before_and_after_every_event_is_kept() -> None:
    reviewed = review(record(DUEL, "greedy", "greedy", seed=1))
    assert len(reviewed.positions) == len(reviewed.events) + 1
    for event, (before, after) in zip(
        reviewed.events, itertools.pairwise(reviewed.positions), strict=True
    ):
        assert after.points - before.points == pytest.approx(event.points)
    assert reviewed.positions[-1].is_over


def test_estimates_are_called_so_and_time_is_bounded() -> None:
    transcript = record("border-skirmish", "greedy", "veteran", seed=3)
    part = replace(transcript, events=transcript.events[:6], over=False)
    part = replace(part, points=sum(event.points for event in part.events))
    told: list[tuple[int, int]] = []
    analyst = Analyst(transcript.scenario, most_positions=1_000)
    reviewed = review(part, analyst=analyst, progress=lambda *done: told.append(done))
    assert told == [(number, 6) for number in range(1, 7)]
    assert not any(each.is_exact for each in reviewed.decisions)
    assert reviewed.summary(0) == "3 decisions, every one the best, as far as is seen."
    assert reviewed.decisions[0].words == "The best choice, as far as is seen."
    hasty = review(part, analyst=analyst, most_seconds=0.0)
    assert not any(each.choices for each in hasty.decisions)
    assert {each.words for each in hasty.decisions} <= {"Not analysed.", "There was no choice."}
    assert "not analysed for want of time" in hasty.summary(0)


def test_a_transcript_that_does_not_follow_from_the_rules_is_refused() -> None:
    transcript = record(DUEL, "greedy", "greedy", seed=1)
    with pytest.raises(TranscriptError, match="result"):
        review(replace(transcript, points=1000.0))
