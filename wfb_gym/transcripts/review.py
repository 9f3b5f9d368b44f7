"""Review a battle like a chess game: compute how many points each decision lost.

`review` replays a transcript and evaluates every decision with `wfb_gym.players.analysis`, or with
`mixtures` while a player does not know all hidden items. The results are data and text;
`wfb_gym.render` displays them.
"""

import time
from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import NamedTuple

from wfb_gym.engine.battle import Battle
from wfb_gym.players.analysis import Analyst
from wfb_gym.solver import TooLarge
from wfb_gym.transcripts.mixtures import ActionValues, Mixer
from wfb_gym.transcripts.narrated_battle import NarratedBattle
from wfb_gym.transcripts.transcript import Transcript, follow
from wfb_gym.view.decisions import describe_choices
from wfb_gym.view.events import Event
from wfb_gym.view.hidden_sets import ALL_ARMIES, sets_that_may_be
from wfb_gym.view.names import ScenarioNames, plural, plural_points

MOST_SECONDS = 120.0
"""Default time limit in seconds. Decisions after the limit are not analysed."""
WORST = 3  # number of mistakes that a review highlights
NOTICED = 0.05  # minimum loss, in points, for a decision to count as a mistake
PUBLIC_REFUSED = "expected a transcript that includes the deals of hidden items, found a public one"
"""Error message for public transcripts with hidden items: the best play depends on the deals."""
GAP = 0.005
"""Gap between the bounds on the value at which solving stops, in points; well below `NOTICED`."""
_RARE = 0.005  # probability below which the review does not print an action's percentage
# Reasons why decisions are not analysed.
_NO_TIME = "because the time limit was reached"
_TOO_LARGE = "because the battle has too many continuations"
_OTHER_ARMY = "because only the other army was reviewed"
Progress = Callable[[int, int], None]
"""Called with the number of events finished so far and the total number of events."""


class DecisionValues(NamedTuple):
    """The part of a review of a decision that takes time to compute."""

    # `ReviewedAction.value` of each legal action, in order of their codes; () if the decision was
    # not analysed
    values: tuple[float, ...]
    best: tuple[bool, ...]  # `ReviewedAction.is_best` of each
    shares: tuple[float, ...] | None  # `ReviewedAction.share` of each, or None if nothing is hidden
    is_exact: bool  # see `ReviewedDecision`
    method: str  # see `ReviewedDecision`
    expected: float  # `ScoreForecast.expected`


class ReviewedAction(NamedTuple):
    """A legal action at a reviewed decision."""

    text: str  # the action in words
    # The mover's expected points still to come. With hidden items, see `ActionValues`.
    value: float
    chance: Fraction | None  # chance that its dice succeed, or None if it throws no dice
    is_played: bool  # whether it was chosen
    is_best: bool  # whether no other action is better, within the precision of the values
    # its probability in equilibrium, given the mover's set, or None if nothing is hidden
    share: float | None = None


class ReviewedDecision(NamedTuple):
    """A decision compared with the best action.

    Attributes:
        event: index of the event, from 0.
        army: the army that decided, 0 or 1.
        choices: the legal actions in order of their codes, or () if there was only one or the
            decision was not analysed.
        lost: points lost, 0 or more: the best action's value minus the played action's value.
        total: points lost by this army so far, including by this decision.
        is_exact: whether the values are exact. If not, they are estimates from a search.
        method: how the values were computed, in plain words. If `choices` is empty, why the
            decision was not analysed, or "" if there was only one action.
    """

    event: int
    army: int
    choices: tuple[ReviewedAction, ...]
    lost: float
    total: float
    is_exact: bool
    method: str

    @property
    def played(self) -> str:
        """The action played, in words, or "" if there are no choices."""
        return next((each.text for each in self.choices if each.is_played), "")

    @property
    def best(self) -> str:
        """The best action, in words, or "" if there are no choices."""
        return next((each.text for each in self.choices if each.is_best), "")

    @property
    def is_best(self) -> bool:
        """Whether the action played is marked as a best one."""
        return any(each.is_played and each.is_best for each in self.choices)

    @property
    def is_late(self) -> bool:
        """Whether it was not analysed because the time limit was reached."""
        return self.method == _NO_TIME

    @property
    def is_left_out(self) -> bool:
        """Whether it was not analysed, but could be: it is late or of the other army."""
        return self.method in (_NO_TIME, _OTHER_ARMY)

    @property
    def words(self) -> str:
        """The verdict as a sentence."""
        if not self.choices:
            return f"Not analysed {self.method}." if self.method else "There was no choice."
        about = "" if self.is_exact else "about "
        if self.lost < NOTICED:
            close = f"Within {NOTICED:g} points of the best"
            verdict = "The best choice" if self.is_best else close
            return f"{verdict}{_by_estimate(self.is_exact)}.{self._probability_words}"
        lost = plural_points(self.lost)
        played, best = (
            f"aim {words}" if words.startswith("at ") else words
            for words in (self.played, self.best)
        )
        return (
            f"Gave away {about}{lost}: {played}; the best was to {best}.{self._probability_words}"
        )

    @property
    def _probability_words(self) -> str:
        """Sentence about the equilibrium probability, after a space, or "" if none."""
        probability = next((each.share for each in self.choices if each.is_played), None)
        if probability is None:
            return ""
        if probability < _RARE:
            return " Equilibrium play hardly ever makes this choice."
        return f" Equilibrium play makes this choice in {probability:.0%} of cases."


class ScoreForecast(NamedTuple):
    """The first army's points before a decision: won so far, and expected in total."""

    event: int
    points: float
    expected: float


@dataclass(frozen=True)
class Review:
    """A battle in which every decision has been reviewed.

    Attributes:
        transcript: the reviewed transcript.
        names: display names used in the scenario.
        events: the events, as described by this version of the package.
        positions: the visible position before each event, followed by the final one.
        decisions: the reviewed decisions, in order.
        forecasts: the expected score before each analysed decision, and at the open decision of an
            unfinished battle.
    """

    transcript: Transcript
    names: ScenarioNames
    events: tuple[Event, ...]
    positions: tuple[Battle, ...]
    decisions: tuple[ReviewedDecision, ...]
    forecasts: tuple[ScoreForecast, ...]

    @property
    def worst(self) -> tuple[ReviewedDecision, ...]:
        """The decisions with the largest losses, largest first, up to `WORST` of them."""
        mistakes = [each for each in self.decisions if each.lost >= NOTICED]
        return tuple(sorted(mistakes, key=lambda each: -each.lost)[:WORST])

    @property
    def is_complete(self) -> bool:
        """Whether the time limit was not reached."""
        return not any(each.is_late for each in self.decisions)

    @property
    def decision_values(self) -> dict[int, DecisionValues]:
        """The values of the decisions by event, from which `review` makes this review again.

        Decisions with one choice, and decisions that are left out, have none.
        """
        expected = {each.event: each.expected for each in self.forecasts}
        return {
            each.event: _values_of(each, expected.get(each.event, 0.0))
            for each in self.decisions
            if each.method and not each.is_left_out
        }

    def lost_by(self, army: int) -> float:
        """Return an army's total loss in points."""
        return sum(each.lost for each in self.decisions if each.army == army)

    def summary(self, army: int) -> str:
        """Summarise an army's decisions in a sentence."""
        own = [each for each in self.decisions if each.army == army and each.choices]
        missing = Counter(
            each.method
            for each in self.decisions
            if each.army == army and each.method and not each.choices
        )
        rest = "".join(
            f" {plural(number, 'decision')} not analysed {why}." for why, number in missing.items()
        )
        if not own:
            return f"nothing to decide.{rest}"
        about = "" if all(each.is_exact for each in own) else "about "
        mistakes = sum(each.lost >= NOTICED for each in own)
        count = plural(len(own), "decision")
        if not mistakes:
            all_best = all(each.is_best for each in own)
            verdict = "the best" if all_best else f"within {NOTICED:g} points of the best"
            return f"{count}, every one {verdict}{_by_estimate(not about)}.{rest}"
        lost = plural_points(self.lost_by(army))
        return f"{count}, {mistakes} not the best: {about}{lost} lost.{rest}"


def review(
    transcript: Transcript,
    *,
    analyst: Analyst | None = None,
    progress: Progress | None = None,
    most_seconds: float = MOST_SECONDS,
    known_values: Mapping[int, DecisionValues] | None = None,
    armies: Collection[int] = ALL_ARMIES,
) -> Review:
    """Review all decisions of both seats, or of one.

    While items are hidden, optimal play is a mixed strategy. Each action then has an equilibrium
    probability given the mover's set, and a value given the mover's information
    (`wfb_gym.transcripts.mixtures.ActionValues`). A decision's loss is the best value minus the
    value of the action played. It is zero, within the precision, for every action that the
    equilibrium plays. After an action that the equilibrium almost never plays, the battle is solved
    again without drawing conclusions from this action, and later decisions note this in `method`.
    If such actions were not played, they may be worth less than reported.

    Args:
        transcript: a battle, complete or not.
        analyst: analyst for the scenario, whose cached solutions are reused. If None, a new one is
            created.
        progress: called after every event.
        most_seconds: time limit in seconds. Decisions after the limit are not analysed.
        known_values: `Review.decision_values` of an earlier review of this transcript. These
            decisions are not analysed again.
        armies: the armies whose decisions are analysed.

    Raises:
        TranscriptError: if an event is not possible under the rules.
        ValueError: if the transcript is public and leaves out the deals of hidden items, or if
            known values do not fit their decision.
    """
    if transcript.is_public:
        raise ValueError(f"review: {PUBLIC_REFUSED}")
    analyst = Analyst(transcript.scenario) if analyst is None else analyst
    narrated = NarratedBattle(transcript.scenario)
    end = time.monotonic() + most_seconds
    reviewer = _Reviewer(narrated.names, analyst, end, known_values or {}, armies)
    events: list[Event] = []
    positions = [narrated.visible]
    decisions: list[ReviewedDecision] = []
    forecasts: list[ScoreForecast] = []
    totals = [0.0, 0.0]
    before = narrated.battle.copy()
    for number, event in enumerate(follow(transcript, narrated)):
        if event.kind == "decision":
            decision, forecast = reviewer.review(before, events, event)
            totals[event.army] += decision.lost
            decisions.append(decision._replace(total=totals[event.army]))
            forecasts += [forecast] if forecast is not None else []
        events.append(event)
        positions.append(narrated.visible)
        before = narrated.battle.copy()
        if progress is not None:
            progress(number + 1, len(transcript.events))
    if before.is_decision() and (last := reviewer.forecast(before, len(events))) is not None:
        forecasts.append(last)
    return Review(
        transcript, narrated.names, tuple(events), tuple(positions), tuple(decisions),
        tuple(forecasts),
    )  # fmt: skip


class _Reviewer:
    """Reviews decisions one by one until a time limit; the caller fills in the running totals."""

    def __init__(
        self,
        names: ScenarioNames,
        analyst: Analyst,
        end: float,
        known_values: Mapping[int, DecisionValues],
        armies: Collection[int],
    ) -> None:
        self._names, self._analyst, self._end = names, analyst, end
        self._known_values, self._armies = known_values, armies
        self._mixer = Mixer(names.scenario, gap=GAP)

    def review(
        self, before: Battle, events: Sequence[Event], event: Event
    ) -> tuple[ReviewedDecision, ScoreForecast | None]:
        """Review the decision that follows the given events."""
        number = len(events)
        blank = ReviewedDecision(number, event.army, (), 0.0, 0.0, False, "")
        if len(before.legal_actions()) == 1:
            return blank, None
        evaluated = self._known_values.get(number) or self._evaluate(before, events, event.code)
        if not evaluated.values:
            return blank._replace(method=evaluated.method), None
        choices = self._choices(before, event.code, evaluated)
        (played,) = (each.value for each in choices if each.is_played)
        decision = blank._replace(
            choices=choices,
            lost=max(evaluated.values) - played,
            is_exact=evaluated.is_exact,
            method=evaluated.method,
        )
        return decision, ScoreForecast(number, before.points, evaluated.expected)

    def forecast(self, battle: Battle, event: int) -> ScoreForecast | None:
        """Forecast the score at a decision, as `review` does; None if items may be hidden."""
        if battle.mover not in self._armies or time.monotonic() >= self._end:
            return None
        if not self._is_known(battle):
            return None
        return ScoreForecast(event, battle.points, self._evaluate_known(battle).expected)

    def _choices(
        self, before: Battle, played: int, evaluated: DecisionValues
    ) -> tuple[ReviewedAction, ...]:
        choices = describe_choices(self._names, before)
        if not len(choices) == len(evaluated.values) == len(evaluated.best):
            raise ValueError(
                f"known_values: expected {len(choices)} actions, found {len(evaluated.values)}"
            )
        shares = evaluated.shares or (None,) * len(choices)
        return tuple(
            ReviewedAction(each.text, value, each.chance, code == played, is_best, share)
            for (code, each), value, is_best, share in zip(
                choices.items(), evaluated.values, evaluated.best, shares, strict=True
            )
        )

    def _is_known(self, battle: Battle) -> bool:
        """Whether both armies know all items."""
        return all(len(sets_that_may_be(self._names, battle, army)) < 2 for army in ALL_ARMIES)

    def _evaluate(self, before: Battle, events: Sequence[Event], played: int) -> DecisionValues:
        if before.mover not in self._armies:
            return _not_analysed(_OTHER_ARMY)
        if time.monotonic() >= self._end:
            return _not_analysed(_NO_TIME)
        if self._is_known(before):
            return self._evaluate_known(before)
        try:
            found = self._mixer.action_values([each.code for each in events], played)
        except TooLarge:
            return _not_analysed(_TOO_LARGE)
        values = tuple(found.values.values())
        best = max(values)
        can_tell = best - min(values) >= NOTICED
        return DecisionValues(
            values,
            tuple(can_tell and best - value < NOTICED for value in values),
            tuple(found.mixture.chances[code] for code in found.values),
            False,
            _method_of(found),
            before.points + found.expected,
        )

    def _evaluate_known(self, before: Battle) -> DecisionValues:
        analysis = self._analyst.analyse(before)
        to_come = analysis.value if before.mover == 0 else -analysis.value
        return DecisionValues(
            tuple(analysis.values.values()),
            tuple(map(analysis.recommends, analysis.values)),
            None,
            analysis.is_exact,
            analysis.method,
            before.points + to_come,
        )


def _not_analysed(reason: str) -> DecisionValues:
    return DecisionValues((), (), None, False, reason, 0.0)


def _values_of(decision: ReviewedDecision, expected: float) -> DecisionValues:
    """Return a reviewed decision's values."""
    shares = tuple(each.share for each in decision.choices if each.share is not None)
    return DecisionValues(
        tuple(each.value for each in decision.choices),
        tuple(each.is_best for each in decision.choices),
        shares or None,
        decision.is_exact,
        decision.method,
        expected,
    )


def _by_estimate(is_exact: bool) -> str:
    """Return the restriction of a verdict that is not exact, after a space."""
    return "" if is_exact else " by this estimate"


def _method_of(action_values: ActionValues) -> str:
    """Describe how values were computed with hidden items, and under which assumptions."""
    words = "best responses to the enemy's equilibrium play, given beliefs about its hidden items"
    if not action_values.mixture.follows_play:
        words += "; actions from when the battle was too large to solve do not affect the beliefs"
    if action_values.is_assumed:
        words += "; choices that equilibrium play hardly ever makes do not affect the beliefs"
    return words
