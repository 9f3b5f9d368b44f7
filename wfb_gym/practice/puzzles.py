"""Puzzles: the mistakes in a review as questions, with hints, answers and a score.

A puzzle contains only information that the army's player had at the decision. It reads and prints
nothing; the terminal and the web UI show it.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import NamedTuple

from wfb_gym.engine.battle import Battle
from wfb_gym.engine.nodes import ActionKind
from wfb_gym.transcripts.narrated_battle import NarratedBattle
from wfb_gym.transcripts.review import NOTICED, Review, ReviewedDecision
from wfb_gym.transcripts.transcript import follow
from wfb_gym.view.choices import view_decision
from wfb_gym.view.events import Event, redact_events
from wfb_gym.view.hidden_sets import redact
from wfb_gym.view.names import ScenarioNames
from wfb_gym.view.odds import cast_odds_rows, dispel_odds
from wfb_gym.view.position import PositionView, view_position

TOLERANCE = 0.1  # part of the points lost in the game that a right answer may lose
MOST_EVENTS = 8  # maximum number of earlier events in a puzzle
_KIND_WORDS = {
    ActionKind.PASS: "doing nothing",
    ActionKind.DICE: "throwing dice",
    ActionKind.ITEM: "using an item",
    ActionKind.REROLL: "re-rolling a die",
    ActionKind.REROLL_ALL: "re-rolling all dice",
    ActionKind.WIZARD: "dice of a wizard's own",
    ActionKind.CAST: "casting a spell",
    ActionKind.IN_PLAY: "a spell in play",
    ActionKind.TARGET: "aiming at a target",
}


class PuzzleChoice(NamedTuple):
    """A legal action in a puzzle.

    Attributes:
        code: its engine code.
        text: the action in words.
        note: its points and effect, or "". Players see this before they answer.
        chance: chance that its dice succeed, or None if it throws no dice.
        value: the mover's expected points still to come.
        lost: the best value minus this one, 0 or more.
        share: its probability in equilibrium, or None if nothing is hidden.
        is_right: whether it counts as a right answer.
        is_played: whether it was chosen in the game.
    """

    code: int
    text: str
    note: str
    chance: Fraction | None
    value: float
    lost: float
    share: float | None
    is_right: bool
    is_played: bool


class Hint(NamedTuple):
    """A hint: a sentence, and a table whose first row is the heading, or () if it has none."""

    text: str
    rows: tuple[tuple[str, ...], ...] = ()


class Judgement(NamedTuple):
    """The judgement of an answer: whether it is right, the points that it loses, and a sentence."""

    is_right: bool
    lost: float
    words: str


@dataclass(frozen=True)
class Puzzle:
    """A decision that lost points in a game, as its player saw it.

    Attributes:
        names: display names used in the scenario.
        army: the player's army, 0 or 1.
        event: index of the decision among the game's events, from 0.
        battle: the position, with likely items in place of the hidden ones of the enemy.
        visible: the same position with fields that the engine has cleared, for display only.
        events: the preceding events as the player saw them, from the player's last decision on,
            but at most `MOST_EVENTS`.
        question: the question that the decision asks.
        stake: the spell that may be dispelled and its points, or "".
        choices: the legal actions in order of their codes.
        is_exact: whether the values are exact. If not, they are estimates.
        method: how the values were computed, in plain words.
    """

    names: ScenarioNames
    army: int
    event: int
    battle: Battle
    visible: Battle
    events: tuple[Event, ...]
    question: str
    stake: str
    choices: tuple[PuzzleChoice, ...]
    is_exact: bool
    method: str

    @property
    def position(self) -> PositionView:
        """The position as the player saw it."""
        return view_position(self.names, self.visible, self.army)

    @property
    def played(self) -> PuzzleChoice:
        """The choice in the game."""
        return next(each for each in self.choices if each.is_played)

    @property
    def best(self) -> PuzzleChoice:
        """The choice with the highest value; ties go to the lowest code."""
        return min(self.choices, key=lambda each: each.lost)

    @property
    def lost(self) -> float:
        """Points lost by the choice in the game."""
        return self.played.lost

    @property
    def task(self) -> str:
        """The task in words, with the choice in the game."""
        return (
            f'In the game you chose "{self.played.text}", which lost {self._points(self.lost)}. '
            "Find a better choice."
        )

    @property
    def solution(self) -> str:
        """The right answers in words, and whether the values are exact."""
        right = sorted((each for each in self.choices if each.is_right), key=lambda each: each.lost)
        words = f'The best choice is "{right[0].text}".'
        if right[1:]:
            also = ", ".join(f'"{each.text}"' for each in right[1:])
            words += f" Also right: {also}."
        how = "exact" if self.is_exact else f"estimates; method: {self.method}"
        return f"{words} The values are {how}."

    def judge(self, code: int) -> Judgement:
        """Judge an answer.

        An answer is right if it loses less than `NOTICED` points, or at most `TOLERANCE` of the
        points lost in the game.

        Args:
            code: engine code of the chosen action.

        Raises:
            ValueError: if the action is not legal.
        """
        chosen = next((each for each in self.choices if each.code == code), None)
        if chosen is None:
            codes = [each.code for each in self.choices]
            raise ValueError(f"answer: expected one of {codes}, found {code}")
        by = "" if self.is_exact else " by this estimate"
        if chosen.is_right and chosen.lost < NOTICED:
            words = f"Right: no choice is better{by}."
        elif chosen.is_right:
            words = f"Right: it loses only {self._points(chosen.lost)}{by}."
        elif chosen.is_played:
            words = "This is the choice in the game."
        else:
            words = f"Not right: it loses {self._points(chosen.lost)}{by}."
        return Judgement(chosen.is_right, chosen.lost, words)

    def hints(self) -> list[Hint]:
        """Return the hints, from the least to the most helpful; may be empty."""
        found = [self._hint_at_chances(), self._hint_at_kind(), self._hint_at_two()]
        return [hint for hint in found if hint is not None]

    def _points(self, points: float) -> str:
        return ("" if self.is_exact else "about ") + self.names.points(points)

    def _hint_at_chances(self) -> Hint | None:
        """Return the chances of each number of dice, or None if no dice are thrown."""
        if rows := cast_odds_rows(self.names, self.battle):
            return Hint("These are the chances of each number of dice.", tuple(rows))
        if odds := dispel_odds(self.names, self.battle):
            heading = ("", "CHANCE", "POINTS SAVED")
            rows = [(each.text, f"{float(each.chance):.1%}", f"{each.saved:.1f}") for each in odds]
            return Hint("These are the chances of each number of dice.", (heading, *rows))
        return None

    def _hint_at_kind(self) -> Hint | None:
        """Return the kind of the best choice, or whether it uses more or fewer dice."""
        best, played = self.best.code, self.played.code
        kinds = {each.code: ActionKind.of(each.code) for each in self.choices}
        if kinds[best] is not kinds[played]:
            return Hint(f"The best choice is {_KIND_WORDS[kinds[best]]}.")
        if kinds[best] is ActionKind.DICE:
            return Hint(f"The best choice has {'more' if best > played else 'fewer'} dice.")
        if len(set(kinds.values())) > 1:
            return Hint(f"The best choice is also {_KIND_WORDS[kinds[best]]}.")
        return None

    def _hint_at_two(self) -> Hint | None:
        """Return the best choice and the best wrong one, or None if little else is left."""
        wrong = [each for each in self.choices if not each.is_right and not each.is_played]
        if not wrong:
            return None
        pair = {self.best.code, min(wrong, key=lambda each: each.lost).code}
        one, other = (f'"{each.text}"' for each in self.choices if each.code in pair)
        return Hint(f"One of these is right: {one} or {other}.")


def make_puzzles(review: Review, army: int, events: Iterable[int] | None = None) -> list[Puzzle]:
    """Return the puzzles from one army's mistakes, the largest loss first.

    Args:
        review: the review.
        army: the player's army, 0 or 1.
        events: indices of the decisions to use. If None, all mistakes are used: decisions that lost
            at least `wfb_gym.transcripts.review.NOTICED` points.
    """
    allowed = None if events is None else set(events)
    mistakes = {
        each.event: each
        for each in review.decisions
        if each.army == army and each.lost >= NOTICED and (allowed is None or each.event in allowed)
    }
    found = [
        _make_puzzle(review, mistakes[number], battle, visible)
        for number, battle, visible in _decisions(review)
        if number in mistakes
    ]
    return sorted(found, key=lambda each: -each.lost)


def _decisions(review: Review) -> Iterator[tuple[int, Battle, Battle]]:
    """Yield the number of each event, and the position and visible position before it."""
    narrated = NarratedBattle(review.transcript.scenario)
    battle, visible = narrated.battle.copy(), narrated.visible
    for number, _ in enumerate(follow(review.transcript, narrated)):
        yield number, battle, visible
        battle, visible = narrated.battle.copy(), narrated.visible


def _make_puzzle(
    review: Review, decision: ReviewedDecision, battle: Battle, visible: Battle
) -> Puzzle:
    names, army, number = review.names, decision.army, decision.event
    seen = redact(battle, (army,))
    view = view_decision(names, seen)
    best = max(each.value for each in decision.choices)
    allowed = max(NOTICED, TOLERANCE * decision.lost)
    choices = tuple(
        PuzzleChoice(
            code,
            action.text,
            view.notes[code],
            action.chance,
            each.value,
            best - each.value,
            each.share,
            best - each.value < allowed,
            each.is_played,
        )
        for (code, action), each in zip(view.actions.items(), decision.choices, strict=True)
    )
    earlier = list(redact_events(names, review.events[:number], (army,)))
    own = [k for k, each in enumerate(earlier) if each.kind == "decision" and each.army == army]
    since = earlier[own[-1] if own else 0 :][-MOST_EVENTS:]
    return Puzzle(
        names,
        army,
        number,
        seen,
        redact(visible, (army,)),
        tuple(since),
        view.question,
        view.stake,
        choices,
        decision.is_exact,
        decision.method,
    )


class PracticeScore(NamedTuple):
    """The score of a round of puzzles.

    Attributes:
        puzzles: number of puzzles in the round.
        first: puzzles solved with the first answer and without hints.
        later: puzzles solved with hints or with a later answer.
        skipped: puzzles whose solution was shown first.
    """

    puzzles: int
    first: int
    later: int
    skipped: int

    @property
    def words(self) -> str:
        """The score as a sentence."""
        done = self.first + self.later + self.skipped
        return (
            f"{done} of {self.puzzles} puzzles: {self.first} solved at once, {self.later} with "
            f"hints or a second try, {self.skipped} skipped."
        )


class Practice:
    """A round of puzzles, one at a time, with a score.

    At each puzzle, call `hint` and `answer` any number of times. A right answer or `skip` ends the
    puzzle, and `advance` shows the next one.

    Args:
        puzzles: the puzzles, in the order in which they are shown.

    Attributes:
        puzzles: the puzzles.
        number: index of the current puzzle, from 0; `len(puzzles)` at the end.
        given: the hints that were given for the current puzzle.
        is_done: whether the current puzzle was solved or skipped.
        is_clean: whether it was solved with the first answer and without hints.
    """

    def __init__(self, puzzles: Sequence[Puzzle]) -> None:
        self.puzzles = tuple(puzzles)
        self.number = self._first = self._later = self._skipped = 0
        self._open_puzzle()

    @property
    def puzzle(self) -> Puzzle | None:
        """The current puzzle, or None at the end."""
        return self.puzzles[self.number] if self.number < len(self.puzzles) else None

    @property
    def score(self) -> PracticeScore:
        """The score so far."""
        return PracticeScore(len(self.puzzles), self._first, self._later, self._skipped)

    def hint(self) -> Hint | None:
        """Give the next hint for the current puzzle, or None if there are no more."""
        puzzle = self._require_open()
        hints = puzzle.hints()
        if len(self.given) == len(hints):
            return None
        self.given.append(hints[len(self.given)])
        return self.given[-1]

    def answer(self, code: int) -> Judgement:
        """Judge an answer to the current puzzle, and end the puzzle if it is right.

        Args:
            code: engine code of the chosen action.

        Raises:
            ValueError: if the action is not legal, or if the puzzle has ended.
        """
        judgement = self._require_open().judge(code)
        if judgement.is_right:
            self.is_done, self.is_clean = True, not (self._is_wrong or self.given)
            self._first += self.is_clean
            self._later += not self.is_clean
        self._is_wrong |= not judgement.is_right
        return judgement

    def skip(self) -> None:
        """End the current puzzle without an answer.

        Raises:
            ValueError: if the puzzle has ended.
        """
        self._require_open()
        self.is_done = True
        self._skipped += 1

    def advance(self) -> None:
        """Show the next puzzle.

        Raises:
            ValueError: if the current puzzle has not ended.
        """
        if not self.is_done:
            raise ValueError("advance: expected a puzzle that has ended, found an open one")
        self.number += 1
        self._open_puzzle()

    def _open_puzzle(self) -> None:
        self.given: list[Hint] = []
        self.is_done = self.is_clean = self._is_wrong = False

    def _require_open(self) -> Puzzle:
        if self.puzzle is None or self.is_done:
            raise ValueError("practice: expected an open puzzle, found none")
        return self.puzzle
