"""The review of a battle, like the analysis of a game of chess: what each decision gave away.

`review` plays a transcript again and asks `wfb_gym.players.analysis` at every decision. Data and
words alone; `wfb_gym.render` shows them.
"""

import time
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import NamedTuple

from wfb_gym.engine.battle import Battle
from wfb_gym.players.analysis import Analyst
from wfb_gym.transcripts.decisions import describe_choices
from wfb_gym.transcripts.names import ScenarioNames, format_points, plural
from wfb_gym.transcripts.narrator import Event, NarratedBattle
from wfb_gym.transcripts.transcript import Transcript, follow

MOST_SECONDS = 120.0
"""Time after which the decisions that are left are not analysed, unless a caller says otherwise."""
WORST = 3
"""Decisions that a review singles out."""
NOTICED = 0.05
"""Points below which a decision is not called a mistake."""
HIDDEN_REFUSED = "expected a battle in which nothing is hidden, as every choice has its value there"
"""Why there is no review of hidden items: what a choice is worth depends on what is believed."""
Progress = Callable[[int, int], None]
"""Is called with the number of events that are done, and of all."""


class Choice(NamedTuple):
    """An action that was open: its words, points to come for who decides, chance of its dice."""

    text: str
    value: float
    chance: Fraction | None
    is_played: bool
    is_best: bool


class ReviewedDecision(NamedTuple):
    """A decision against the best that there was.

    Attributes:
        event: number of the event, from 0.
        army: that decided, 0 or 1.
        choices: all that were open, in the order of their codes; () where there was one alone, or
            no time was left to analyse them.
        lost: points given away, 0 or more.
        total: points that this army has given away so far, this decision included.
        is_exact: whether the values are exact; else a search estimates them.
        method: how they were found, in plain words.
    """

    event: int
    army: int
    choices: tuple[Choice, ...]
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
            return "Not analysed." if self.method else "There was no choice."
        about = "" if self.is_exact else "about "
        if self.lost < NOTICED:
            return "The best choice." if self.is_exact else "The best choice, as far as is seen."
        lost = plural_points(self.lost)
        played, best = (
            f"aim {words}" if words.startswith("at ") else words
            for words in (self.played, self.best)
        )
        return f"Gave away {about}{lost}: {played}; the best was to {best}."


class Outlook(NamedTuple):
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
    outlooks: tuple[Outlook, ...]

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
        missing = sum(
            each.army == army and bool(each.method) and not each.choices for each in self.decisions
        )
        rest = f" {plural(missing, 'decision')} not analysed for want of time." if missing else ""
        if not own:
            return f"Nothing to decide.{rest}"
        about = "" if all(each.is_exact for each in own) else "about "
        mistakes = sum(each.lost >= NOTICED for each in own)
        count = plural(len(own), "decision")
        if not mistakes:
            return f"{count}, every one the best{', as far as is seen' if about else ''}.{rest}"
        lost = plural_points(self.lost_by(army))
        return f"{count}, {mistakes} not the best: {about}{lost} given away.{rest}"


def plural_points(points: float) -> str:
    """Return a number of points with their noun."""
    number = format_points(points)
    return f"{number} {'point' if number == '1' else 'points'}"


def review(
    transcript: Transcript,
    *,
    analyst: Analyst | None = None,
    progress: Progress | None = None,
    most_seconds: float = MOST_SECONDS,
) -> Review:
    """Review a battle, both seats.

    Args:
        transcript: of a battle, which may have been broken off.
        analyst: of its scenario, which may have solved some of it before; a new one unless given.
        progress: called after every event.
        most_seconds: after which the decisions that are left are not analysed.

    Raises:
        TranscriptError: something does not follow from the rules.
        ValueError: items are hidden, of which no values are known.
    """
    if transcript.scenario.has_secrets:
        raise ValueError(
            f"review: {HIDDEN_REFUSED}, found hidden items in {transcript.scenario.name}"
        )
    analyst = Analyst(transcript.scenario) if analyst is None else analyst
    narrated = NarratedBattle(transcript.scenario)
    events: list[Event] = []
    positions, decisions, outlooks = [narrated.visible], list[ReviewedDecision](), list[Outlook]()
    totals = [0.0, 0.0]
    end = time.monotonic() + most_seconds
    before = narrated.battle.copy()
    for number, event in enumerate(follow(transcript, narrated)):
        if event.kind == "decision":
            in_time = time.monotonic() < end
            decision, outlook = _review(narrated.names, analyst, before, number, event, in_time)
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


def _review(
    names: ScenarioNames, analyst: Analyst, before: Battle, number: int, event: Event, in_time: bool
) -> tuple[ReviewedDecision, Outlook | None]:
    """Review one decision; its running total is left at 0."""
    blank = ReviewedDecision(number, event.army, (), 0.0, 0.0, False, "")
    if len(before.legal_actions()) == 1:
        return blank, None
    if not in_time:
        return blank._replace(method="not analysed"), None
    analysis = analyst.analyse(before)
    choices = tuple(
        Choice(each.text, analysis.values[code], each.chance, code == event.code,
               analysis.recommends(code))
        for code, each in describe_choices(names, before).items()
    )  # fmt: skip
    to_come = analysis.value if before.mover == 0 else -analysis.value
    outlook = Outlook(number, before.points, before.points + to_come)
    lost = analysis.loss(event.code)
    decision = blank._replace(
        choices=choices, lost=lost, is_exact=analysis.is_exact, method=analysis.method
    )
    return decision, outlook
