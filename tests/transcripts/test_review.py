"""Points lost by each decision of a battle."""

import itertools
import math
import re
from dataclasses import replace
from functools import partial

import numpy as np
import pytest

from tests.support.hidden import SCROLL, STONE, hidden_scenario, kinds, scenarios
from tests.support.playing import drawn_outcome
from wfb_gym import solver
from wfb_gym.engine.actions import FIRST_CAST, FIRST_DICE, PASS
from wfb_gym.players.analysis import Analyst
from wfb_gym.render.review_page import review_page
from wfb_gym.scenario import Scenario, load_scenario
from wfb_gym.transcripts import Event, NarratedBattle, Transcript, TranscriptError, record
from wfb_gym.transcripts.mixtures import Mixer
from wfb_gym.transcripts.review import GAP, NOTICED, ReviewedAction, ReviewedDecision, review
from wfb_gym.view.hidden_sets import ALL_ARMIES, sets_that_may_be

DUEL = load_scenario("archmage-duel")


def test_points_lost_are_the_best_value_less_the_played_one() -> None:
    reviewed = review(record(DUEL, "random", "random", seed=7))
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
    assert reviewed.forecasts[0].expected == pytest.approx(solver.solve(DUEL).value)
    assert len(reviewed.decisions[0].choices) == 5
    assert [reviewed.lost_by(army) for army in (0, 1)] == pytest.approx(totals)
    worst = [each.lost for each in reviewed.worst]
    assert worst == sorted((each.lost for each in reviewed.decisions), reverse=True)[: len(worst)]
    assert len(worst) == 3
    assert "Gave away" in reviewed.worst[0].words
    assert "about" not in reviewed.worst[0].words


def test_verdicts_on_targets_are_sentences() -> None:
    choices = (
        ReviewedAction("at Swordsmen", 1.0, None, is_played=True, is_best=False),
        ReviewedAction("at Knights", 3.0, None, is_played=False, is_best=True),
    )
    reported = ReviewedDecision(0, 0, choices, 2.0, 2.0, True, "exact").words
    assert reported == "Gave away 2 points: aim at Swordsmen; the best was to aim at Knights."


def test_a_small_loss_is_not_called_the_best_choice() -> None:
    choices = (
        ReviewedAction("cast Fire Ball", 3.73, None, is_played=True, is_best=False),
        ReviewedAction("cast Fiery Blast", 3.76, None, is_played=False, is_best=True),
    )
    decision = ReviewedDecision(0, 0, choices, 0.03, 0.03, False, "estimate")
    assert decision.words == "Within 0.05 points of the best by this estimate."
    reviewed = replace(review(record(DUEL, "optimal", "optimal", seed=9)), decisions=(decision,))
    expected = "1 decision, every one within 0.05 points of the best by this estimate."
    assert reviewed.summary(0) == expected
    assert "No decision gave away 0.05 points or more." in review_page(reviewed)


def test_optimal_play_loses_nothing() -> None:
    reviewed = review(record(DUEL, "optimal", "optimal", seed=9))
    assert reviewed.worst == ()
    assert max(each.lost for each in reviewed.decisions) < NOTICED
    assert "every one the best" in reviewed.summary(0)
    moved = 0
    for one, other in itertools.pairwise(reviewed.forecasts):  # only rolls change the forecast
        if all(event.kind == "decision" for event in reviewed.events[one.event : other.event]):
            assert other.expected == pytest.approx(one.expected)
            moved += reviewed.positions[one.event].mover != reviewed.positions[other.event].mover
    assert moved


def test_the_position_before_and_after_every_event_is_kept() -> None:
    reviewed = review(record(DUEL, "greedy", "greedy", seed=1))
    assert len(reviewed.positions) == len(reviewed.events) + 1
    points = np.diff([each.points for each in reviewed.positions])
    assert points == pytest.approx([event.points for event in reviewed.events])
    assert reviewed.positions[-1].is_over


def test_estimates_are_marked_and_time_is_bounded() -> None:
    transcript = record("border-skirmish", "greedy", "veteran", seed=3)
    part = replace(transcript, events=transcript.events[:6], over=False)
    part = replace(part, points=sum(event.points for event in part.events))
    reported: list[tuple[int, int]] = []
    analyst = Analyst(transcript.scenario, most_positions=1_000)
    reviewed = review(part, analyst=analyst, progress=lambda *done: reported.append(done))
    assert reported == [(number, 6) for number in range(1, 7)]
    assert not any(each.is_exact for each in reviewed.decisions)
    assert reviewed.summary(0) == "3 decisions, every one the best by this estimate."
    assert [each.event for each in reviewed.forecasts][-1] == 6  # the open decision
    assert reviewed.decisions[0].words == "The best choice by this estimate."
    hasty = review(part, analyst=analyst, most_seconds=0.0)
    assert not any(each.choices for each in hasty.decisions)
    words = {"Not analysed because the time limit was reached.", "There was no choice."}
    assert {each.words for each in hasty.decisions} <= words
    assert "not analysed because the time limit was reached" in hasty.summary(0)


def test_a_review_is_made_again_from_its_values(monkeypatch: pytest.MonkeyPatch) -> None:
    transcripts = [record(game, "random", "random", seed=k) for game, k in ((DUEL, 7), (BOTH, 1))]
    reviews = [review(each) for each in transcripts]
    monkeypatch.delattr(Analyst, "analyse")
    monkeypatch.delattr(Mixer, "action_values")
    for transcript, found in zip(transcripts, reviews, strict=True):
        again = review(transcript, known_values=found.decision_values)
        assert again.decisions == found.decisions
        assert again.forecasts == found.forecasts
        assert again.is_complete
    values = reviews[0].decision_values.items()
    short = {event: each._replace(values=each.values[1:]) for event, each in values}
    with pytest.raises(ValueError, match="known_values: expected 5 actions, found 4"):
        review(transcripts[0], known_values=short)


def test_only_one_army_is_reviewed() -> None:
    transcript = record(DUEL, "random", "random", seed=7)
    full, half = review(transcript), review(transcript, armies=(0,))
    assert half.is_complete
    for found, whole in zip(half.decisions, full.decisions, strict=True):
        if whole.army == 0:
            assert found == whole
        elif whole.choices:
            assert found.words == "Not analysed because only the other army was reviewed."
    own = [each for each in full.decisions if each.army == 0 and each.choices]
    assert set(half.decision_values) == {each.event for each in own}
    assert review(transcript, known_values=half.decision_values).decisions == full.decisions


def test_a_transcript_that_does_not_follow_from_the_rules_is_rejected() -> None:
    transcript = record(DUEL, "greedy", "greedy", seed=1)
    with pytest.raises(TranscriptError, match="result"):
        review(replace(transcript, points=1000.0))


# --- hidden items --------------------------------------------------------------------------

SCENARIOS, LONG = scenarios(), ("luck", "three spells")
BOTH = hidden_scenario(caster=kinds([STONE], []), dispeller=kinds([SCROLL], []))


def by_the_equilibrium(scenario: Scenario, seed: int) -> Transcript:
    """Play a battle in which both armies draw their choices from its mixtures."""
    rng, mixer = np.random.default_rng(seed), Mixer(scenario, gap=GAP)
    narrated, events = NarratedBattle(scenario), list[Event]()
    battle = narrated.battle
    while not battle.is_over:
        if battle.is_chance():
            events.append(narrated.resolve(drawn_outcome(battle, rng)))
            continue
        codes = battle.legal_actions()
        weights = dict.fromkeys(codes, 1.0)
        if any(len(sets_that_may_be(narrated.names, battle, army)) > 1 for army in ALL_ARMIES):
            weights = mixer.mixture([each.code for each in events]).chances
        shares = np.array([weights[code] if weights[code] > 0.02 else 0.0 for code in codes])
        events.append(narrated.act(int(rng.choice(codes, p=shares / shares.sum()))))
    return Transcript(scenario, ("a", "b"), None, tuple(events), battle.points, True)


def test_hidden_items_every_decision_is_compared_with_the_mixture() -> None:
    seen = set()
    for seed in range(5):
        reviewed = review(record(BOTH, "random", "random", seed=seed))
        mixer = Mixer(BOTH, gap=GAP)
        codes = [each.code for each in reviewed.events]
        totals = [0.0, 0.0]
        for each in reviewed.decisions:
            totals[each.army] += each.lost
            assert each.total == pytest.approx(totals[each.army])
            if not each.choices:
                assert each.words == "There was no choice."
                continue
            values = [choice.value for choice in each.choices]
            (played,) = [choice for choice in each.choices if choice.is_played]
            assert each.lost == pytest.approx(max(values) - played.value)
            shares = [choice.share for choice in each.choices]
            seen.add((each.army, played.share is None))
            assert each.is_exact == (played.share is None)
            if played.share is not None:
                action_values = mixer.action_values(codes[: each.event], codes[each.event])
                assert shares == list(action_values.mixture.chances.values())
                assert values == list(action_values.values.values())
                at_best = [choice.value >= max(values) - NOTICED for choice in each.choices]
                if any(choice.is_best for choice in each.choices):
                    assert [choice.is_best for choice in each.choices] == at_best
                assert "Equilibrium play" in each.words
    assert {(0, False), (1, False)} <= seen


def test_hidden_items_equilibrium_play_loses_nothing() -> None:
    weighed = 0
    for seed in range(2):
        reviewed = review(by_the_equilibrium(BOTH, seed))
        mixed = [each for each in reviewed.decisions if each.choices and not each.is_exact]
        assert max((each.lost for each in mixed), default=0.0) < NOTICED
        assert all("hardly ever" not in each.words for each in mixed)
        assert all(each.words.startswith("The best choice by this estimate.") for each in mixed)
        assert all("do not affect the beliefs" not in each.method for each in mixed)
        weighed += len(mixed)
    assert weighed > 3


@pytest.mark.parametrize(
    "name", [pytest.param(k, marks=[pytest.mark.slow] * (k in LONG)) for k in SCENARIOS]
)
def test_hidden_items_the_mixture_loses_nothing_anywhere(name: str) -> None:
    """For every kind of secret and any earlier play, likely choices have the greatest value."""
    compared = 0
    for seed, players in enumerate((("random",) * 2, ("veteran", "greedy"))):
        reviewed = review(record(SCENARIOS[name], *players, seed=seed))
        assert all(math.isfinite(each.expected) for each in reviewed.forecasts)
        for each in reviewed.decisions:
            assert each.lost >= 0.0
            shares = [choice.share for choice in each.choices if choice.share is not None]
            if shares:
                worth = [choice.value for choice in each.choices]
                assert sum(shares) == pytest.approx(1.0)
                assert max(worth) - np.dot(shares, worth) < NOTICED
                compared += 1
    assert compared > 2


def test_hidden_items_a_mistake_is_reported_with_its_assumption() -> None:
    """Cast Fire Ball on two dice, a mistake in any equilibrium; then the dispeller answers."""
    scenario = load_scenario("hidden-scroll")
    narrated = NarratedBattle(scenario)
    events = [narrated.resolve(0), narrated.act(FIRST_CAST), narrated.act(FIRST_DICE + 2),
              narrated.roll(4, 5), narrated.act(PASS)]  # fmt: skip
    battle = narrated.battle
    part = Transcript(scenario, ("a", "b"), None, tuple(events), battle.points, battle.is_over)
    reviewed = review(part)
    nominated, mistake, answer = reviewed.decisions
    often = r"The best choice by this estimate\. Equilibrium play makes this choice in 9\d% of "
    assert re.match(often, nominated.words)
    gave_away, _, equilibrium = mistake.words.partition(". E")
    assert gave_away == "Gave away about 4.3 points: throw 2 dice; the best was to throw 1 die"
    assert equilibrium == "quilibrium play hardly ever makes this choice."
    assert "do not affect the beliefs" not in mistake.method
    assert answer.method.endswith("hardly ever makes do not affect the beliefs")
    assert answer.lost > 5.0
    assert reviewed.worst[0] == answer
    assert reviewed.forecasts[0].expected == pytest.approx(8.685, abs=0.01)


def test_hidden_items_too_large_battles_are_not_analysed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("wfb_gym.transcripts.review.Mixer", partial(Mixer, max_bytes=1000))
    reviewed = review(record(BOTH, "random", "random", seed=1))
    words = "Not analysed because the battle has too many continuations."
    assert reviewed.decisions[0].words == words
    assert "not analysed because the battle has too many continuations." in reviewed.summary(0)


def test_hidden_items_a_public_transcript_is_rejected() -> None:
    with pytest.raises(ValueError, match="review: expected a transcript that includes the deals"):
        review(record(BOTH, "random", "random", seed=1).published())
