"""The review of a battle, like the analysis of a game of chess: what each decision gave away.

`review` plays a transcript again and asks `wfb_gym.players.analysis` at every decision; while an
army's hidden items are a secret, `mixtures`. Data and words alone; `wfb_gym.render` shows them.
"""

import time
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import NamedTuple

from wfb_gym.engine.battle import Battle
from wfb_gym.players.analysis import Analyst
from wfb_gym.solver import TooLarge
from wfb_gym.transcripts.mixtures import Mixer, Worths
from wfb_gym.transcripts.narrated_battle import NarratedBattle
from wfb_gym.transcripts.transcript import Transcript, follow
from wfb_gym.view.decisions import describe_choices
from wfb_gym.view.events import Event
from wfb_gym.view.hidden_sets import EVERYBODY, sets_that_may_be
from wfb_gym.view.names import ScenarioNames, plural, plural_points

MOST_SECONDS = 120.0
"""Time after which the decisions that are left are not analysed, unless a caller says otherwise."""
WORST = 3
"""Decisions that a review singles out."""
NOTICED = 0.05
"""Points below which a decision is not called a mistake."""
PUBLIC_REFUSED = (
    "expected a transcript that tells what was dealt, as what is best depends on it, found a "
    "public one"
)
"""Why there is no review of a public transcript of hidden items."""
GAP = 0.005
"""Points between the bounds at which solving ends where items are hidden: well below `NOTICED`."""
_SELDOM = 0.005
"""Chance of a choice below which it is not told in per cent."""
_NO_TIME = "for want of time"
_TOO_LARGE = "as the battle may go on in too many ways"
"""Why decisions are not analysed."""
Progress = Callable[[int, int], None]
"""Is called with the number of events that are done, and of all."""


class ReviewedAction(NamedTuple):
    """An action that was open.

    Attributes:
        text: its words.
        value: points to come for who decides; of hidden items see `Worths.values`.
        chance: of its dice, None where it throws none.
        is_played: whether it was chosen.
        is_best: whether no other is better, as far as can be told.
        share: how often the equilibrium chooses it, with what the mover was dealt; None where no
            hidden items are a secret.
    """

    text: str
    value: float
    chance: Fraction | None
    is_played: bool
    is_best: bool
    share: float | None = None


class ReviewedDecision(NamedTuple):
    """A decision against the best that there was.

    Attributes:
        event: number of the event, from 0.
        army: that decided, 0 or 1.
        choices: all that were open, in the order of their codes; () where there was one alone, or
            they were not analysed.
        lost: points given away, 0 or more: what was played against the best of the choices.
        total: points that this army has given away so far, this decision included.
        is_exact: whether the values are exact; else a search estimates them.
        method: how they were found, in plain words; without choices why they were not, "" where
            there was one alone.
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
        """What was played, in words; "" without choices."""
        return next((each.text for each in self.choices if each.is_played), "")

    @property
    def best(self) -> str:
        """What was best, in words; "" without choices."""
        return next((each.text for each in self.choices if each.is_best), "")

    @property
    def words(self) -> str:
        """The verdict in a sentence."""
        if not self.choices:
            return f"Not analysed {self.method}." if self.method else "There was no choice."
        about = "" if self.is_exact else "about "
        if self.lost < NOTICED:
            seen = "" if self.is_exact else ", as far as is seen"
            return f"The best choice{seen}.{self._share_words}"
        lost = plural_points(self.lost)
        played, best = (
            f"aim {words}" if words.startswith("at ") else words
            for words in (self.played, self.best)
        )
        return f"Gave away {about}{lost}: {played}; the best was to {best}.{self._share_words}"

    @property
    def _share_words(self) -> str:
        """How often the equilibrium chooses what was played, behind a space; "" if it is none."""
        share = next((each.share for each in self.choices if each.is_played), None)
        if share is None:
            return ""
        if share < _SELDOM:
            return " Equilibrium play hardly ever makes this choice."
        return f" Equilibrium play makes this choice in {share:.0%} of cases."


class _Outlook(NamedTuple):
    """What a position promises the first army: points won so far, and with those to come."""

    event: int
    points: float
    expected: float


@dataclass(frozen=True)
class Review:
    """A battle with every decision reviewed.

    Attributes:
        transcript: that was reviewed.
        names: of the scenario.
        events: of the transcript, as they are described now.
        positions: the visible position before each event, and the last one.
        decisions: reviewed, in order.
        outlooks: of every analysed decision, before it was taken.
    """

    transcript: Transcript
    names: ScenarioNames
    events: tuple[Event, ...]
    positions: tuple[Battle, ...]
    decisions: tuple[ReviewedDecision, ...]
    outlooks: tuple[_Outlook, ...]

    @property
    def worst(self) -> tuple[ReviewedDecision, ...]:
        """The decisions that gave away most, at most `WORST`, the worst first."""
        mistakes = [each for each in self.decisions if each.lost >= NOTICED]
        return tuple(sorted(mistakes, key=lambda each: -each.lost)[:WORST])

    def lost_by(self, army: int) -> float:
        """Return the points that an army gave away in all."""
        return sum(each.lost for each in self.decisions if each.army == army)

    def summary(self, army: int) -> str:
        """Say in a sentence how an army was played."""
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
            return f"Nothing to decide.{rest}"
        about = "" if all(each.is_exact for each in own) else "about "
        mistakes = sum(each.lost >= NOTICED for each in own)
        count = plural(len(own), "decision")
        if not mistakes:
            return f"{count}, every one the best{', as far as is seen' if about else ''}.{rest}"
        lost = plural_points(self.lost_by(army))
        return f"{count}, {mistakes} not the best: {about}{lost} given away.{rest}"


def review(
    transcript: Transcript,
    *,
    analyst: Analyst | None = None,
    progress: Progress | None = None,
    most_seconds: float = MOST_SECONDS,
) -> Review:
    """Review a battle, both seats.

    While hidden items are a secret, the best play is a mixture. Then each choice comes with how
    often equilibrium play makes it with what its army was dealt, and with its worth to that army by
    what it knows: its own set, and how likely each of the enemy's is by the deal and by how often
    the enemy would have played as it did with it. That worth is the points of the best answers,
    from there on, to the enemy's equilibrium play. What a decision has lost is how much less its
    choice is worth than the best: nothing, but for the precision, where equilibrium play makes it
    with some chance. Where it hardly ever does, no belief follows from the choice, nor good answers
    to it. So the battle is solved anew from behind it, as if it told nothing; `method` says so at
    the decisions that follow. Such choices that were not played may be worth less than is said.

    Args:
        transcript: of a battle, which may have been broken off.
        analyst: of its scenario, which may have solved some of it before; a new one unless given.
        progress: called after every event.
        most_seconds: after which the decisions that are left are not analysed.

    Raises:
        TranscriptError: something does not follow from the rules.
        ValueError: the transcript is a public one, without hidden items that were dealt.
    """
    if transcript.is_public:
        raise ValueError(f"review: {PUBLIC_REFUSED}")
    analyst = Analyst(transcript.scenario) if analyst is None else analyst
    narrated = NarratedBattle(transcript.scenario)
    reviewer = _Reviewer(narrated.names, analyst, time.monotonic() + most_seconds)
    events: list[Event] = []
    positions, decisions, outlooks = [narrated.visible], list[ReviewedDecision](), list[_Outlook]()
    totals = [0.0, 0.0]
    before = narrated.battle.copy()
    for number, event in enumerate(follow(transcript, narrated)):
        if event.kind == "decision":
            decision, outlook = reviewer.review(before, events, event)
            totals[event.army] += decision.lost
            decisions.append(decision._replace(total=totals[event.army]))
            outlooks += [outlook] if outlook is not None else []
        events.append(event)
        positions.append(narrated.visible)
        before = narrated.battle.copy()
        if progress is not None:
            progress(number + 1, len(transcript.events))
    return Review(
        transcript, narrated.names, tuple(events), tuple(positions), tuple(decisions),
        tuple(outlooks),
    )  # fmt: skip


class _Reviewer:
    """Reviews the decisions of a battle in turn, until some time; running totals are left at 0."""

    def __init__(self, names: ScenarioNames, analyst: Analyst, end: float) -> None:
        self._names, self._analyst, self._end = names, analyst, end
        self._mixer = Mixer(names.scenario, gap=GAP)

    def review(
        self, before: Battle, events: Sequence[Event], event: Event
    ) -> tuple[ReviewedDecision, _Outlook | None]:
        """Review one decision, which some events led to."""
        blank = ReviewedDecision(len(events), event.army, (), 0.0, 0.0, False, "")
        if len(before.legal_actions()) == 1:
            return blank, None
        if time.monotonic() >= self._end:
            return blank._replace(method=_NO_TIME), None
        if all(len(sets_that_may_be(self._names, before, army)) < 2 for army in EVERYBODY):
            return self._review_known(before, blank, event.code)
        try:
            worths = self._mixer.worths([each.code for each in events], event.code)
        except TooLarge:
            return blank._replace(method=_TOO_LARGE), None
        return self._review_mixed(before, blank, event.code, worths)

    def _review_known(
        self, before: Battle, blank: ReviewedDecision, played: int
    ) -> tuple[ReviewedDecision, _Outlook]:
        analysis = self._analyst.analyse(before)
        choices = tuple(
            ReviewedAction(each.text, analysis.values[code], each.chance, code == played,
                   analysis.recommends(code))
            for code, each in describe_choices(self._names, before).items()
        )  # fmt: skip
        to_come = analysis.value if before.mover == 0 else -analysis.value
        outlook = _Outlook(blank.event, before.points, before.points + to_come)
        lost = analysis.loss(played)
        decision = blank._replace(
            choices=choices, lost=lost, is_exact=analysis.is_exact, method=analysis.method
        )
        return decision, outlook

    def _review_mixed(
        self, before: Battle, blank: ReviewedDecision, played: int, worths: Worths
    ) -> tuple[ReviewedDecision, _Outlook]:
        values, shares = worths.values, worths.mixture.chances
        best = max(values.values())
        can_tell = best - min(values.values()) >= NOTICED
        choices = tuple(
            ReviewedAction(each.text, values[code], each.chance, code == played,
                   can_tell and best - values[code] < NOTICED, shares[code])
            for code, each in describe_choices(self._names, before).items()
        )  # fmt: skip
        outlook = _Outlook(blank.event, before.points, before.points + worths.expected)
        decision = blank._replace(
            choices=choices, lost=best - values[played], method=_method_of(worths)
        )
        return decision, outlook


def _method_of(worths: Worths) -> str:
    """Say how values were found where items are hidden, and what was assumed."""
    words = "best answers to the enemy's equilibrium play, by what is known of its hidden items"
    if not worths.mixture.follows_play:
        words += "; what was played while the battle was too large to solve is not weighed"
    if worths.is_assumed:
        words += "; choices that equilibrium play hardly ever makes tell nothing of them"
    return words
