"""``practise``: puzzles from a player's own mistakes, and the error rating, in the terminal."""

import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from wfb_gym._commands import INTERRUPTED
from wfb_gym._progress import printed_lines, show_line
from wfb_gym.cli.output import align_columns, format_exact_points, format_table, read_answer
from wfb_gym.cli.parser import Command, UsageError, option
from wfb_gym.seats import SEATS, seat_number

if TYPE_CHECKING:
    from wfb_gym.practice.game_history import GameHistory, SavedGame
    from wfb_gym.practice.puzzles import Hint, Practice, Puzzle
    from wfb_gym.transcripts import Transcript

_DESCRIPTION = """\
Learn from your mistakes: the decisions that lost the most points in your games become puzzles,
one at a time, with hints. Without transcripts, the games come from the history that "play" keeps
on this machine. Games that were not reviewed yet are reviewed first; Ctrl-C ends the review, and
the puzzles follow. The table at the end shows the points that you lost per decision."""
_EPILOG = """\
examples:
  python -m wfb_gym practise
      the worst mistakes in your games, up to 10
  python -m wfb_gym practise duel.jsonl --seat caster --puzzles 3
  python -m wfb_gym practise --rating
      only the table of points lost per decision

history: the folder WFB_GYM_HISTORY_DIR, or else wfb_gym/games in XDG_DATA_HOME, by default
~/.local/share. WFB_GYM_HISTORY_DIR=off switches it off. To delete it, delete the folder.
"""
_HINT = ("h", "hint", "?")
_SKIP = ("s", "skip", "solution")
_HELP = ("help",)
_KEYS = "h for a hint, s for the solution, q to quit"


@dataclass(frozen=True)
class PractiseOptions:
    """Options of ``practise``.

    Attributes:
        transcripts: transcript files (default: the history).
        seat: only this seat's decisions (default: your own, or both if no player is "you").
        puzzles: maximum number of puzzles.
        seconds: time limit for reviewing games, in seconds; the next run continues.
        rating: show only the rating.
        again: include puzzles that you have solved at once.
    """

    transcripts: tuple[str, ...] = option((), positional=True, metavar="TRANSCRIPT")
    seat: str = option("", choices=SEATS)
    puzzles: int = option(10, metavar="N")
    seconds: float = option(60.0, metavar="S")
    rating: bool = False
    again: bool = False


class ConsolePractice:
    """A round of puzzles in the terminal.

    Args:
        practice: the puzzles.
        titles: a line about each puzzle's game.
        ask: function that prompts for an answer. If it raises `EOFError`, the round ends.
        show: function that prints a line.
        on_solved: called with the index of each puzzle that was solved at once.
    """

    def __init__(
        self,
        practice: "Practice",
        titles: Sequence[str],
        *,
        ask: Callable[[str], str] = input,
        show: Callable[[str], Any] = print,
        on_solved: Callable[[int], None] = lambda _: None,
    ) -> None:
        from wfb_gym.render.ansi import AnsiStyle

        self._practice, self._titles = practice, titles
        self._ask, self._show, self._on_solved = ask, show, on_solved
        self._style = AnsiStyle(None if sys.stdout.isatty() else False)

    def play(self) -> None:
        """Put all puzzles, until the end or until the person quits.

        Raises:
            KeyboardInterrupt: after the score, if the person pressed Ctrl-C.
        """
        practice = self._practice
        try:
            while (puzzle := practice.puzzle) is not None:
                self._put(puzzle)
                practice.advance()
                if practice.puzzle is not None:
                    read_answer(
                        "Press Enter for the next puzzle, or q to quit: ", self._ask, self._show
                    )
        except EOFError:
            pass
        finally:
            self._show(f"\n{practice.score.words}")

    def _put(self, puzzle: "Puzzle") -> None:
        """Put one puzzle until it is solved or skipped."""
        from wfb_gym.cli.choices import ChoiceList

        practice, choices = self._practice, ChoiceList(puzzle.names.scenario)
        self._show_puzzle(puzzle)
        while not practice.is_done:
            answer = read_answer("Your answer: ", self._ask, self._show)
            if answer in _HINT:
                self._show_hint(practice.hint())
            elif answer in _SKIP:
                practice.skip()
            elif answer in _HELP:
                self._show(f"Enter a number, or the beginning of a choice; {_KEYS}.")
            elif (code := self._read(choices, puzzle, answer)) is not None:
                judgement = practice.answer(code)
                again = "" if judgement.is_right else f" Try again; {_KEYS}."
                self._show(judgement.words + again)
        self._show_solution(puzzle)
        if practice.is_clean:
            self._on_solved(practice.number)

    def _read(self, choices: Any, puzzle: "Puzzle", answer: str) -> int | None:
        """Return the action that an answer refers to; if none, show the expected answers."""
        count = len(puzzle.choices)
        if answer.isdecimal() and 1 <= int(answer) <= count:
            return puzzle.choices[int(answer) - 1].code
        found = f"a number from 1 to {count}, or the beginning of a choice"
        if any(map(str.isalpha, answer)):
            found = choices.find(puzzle.battle, answer)
            if isinstance(found, int):
                return found
        self._show(f"Expected {found}; {_KEYS}.")
        return None

    def _show_puzzle(self, puzzle: "Puzzle") -> None:
        from wfb_gym.render.ansi import event_lines, position_lines

        number = self._practice.number
        self._show(
            f"\nPuzzle {number + 1} of {len(self._practice.puzzles)}: {self._titles[number]}"
        )
        for line in event_lines(puzzle.events, self._style):
            self._show(line)
        self._show("\n" + "\n".join(position_lines(puzzle.position, self._style)))
        self._show(f"\n{puzzle.question}")
        if puzzle.stake:
            self._show(puzzle.stake)
        rows = [(f"{k:>3}", each.text, each.note) for k, each in enumerate(puzzle.choices, 1)]
        for line in align_columns(rows, "><<"):
            self._show(line)
        self._show(f"{puzzle.task} ({_KEYS})")

    def _show_hint(self, hint: "Hint | None") -> None:
        if hint is None:
            self._show("There are no more hints; s shows the solution.")
            return
        self._show(f"Hint {len(self._practice.given)}: {hint.text}")
        if hint.rows:
            for line in align_columns(hint.rows, "<" + ">" * (len(hint.rows[0]) - 1)):
                self._show(line)

    def _show_solution(self, puzzle: "Puzzle") -> None:
        self._show(puzzle.solution)
        has_shares = any(each.share is not None for each in puzzle.choices)
        rows = [("", "POINTS", "LOST", *(("EQUILIBRIUM",) if has_shares else ()), "")]
        for each in sorted(puzzle.choices, key=lambda each: each.lost):
            notes = ["right"] * each.is_right + ["your choice in the game"] * each.is_played
            share = (f"{each.share or 0.0:.0%}",) if has_shares else ()
            value, lost = format_exact_points(each.value), format_exact_points(each.lost)
            rows.append((f"  {each.text}", value, lost, *share, ", ".join(notes)))
        for line in align_columns(rows, "<" + ">" * (len(rows[0]) - 2) + "<"):
            self._show(line)


# --- ratings -------------------------------------------------------------------------------


def rating_lines(games: "Sequence[SavedGame]") -> list[str]:
    """Return the tables of a player's error ratings: by seat, and by game with the newest first."""
    from wfb_gym.practice.rating_tables import CAPTION, game_table, seat_table

    rows = seat_table(games)
    if not rows:
        return ["No decisions were reviewed yet."]
    lines = [*format_table(rows, "<" + ">" * (len(rows[0]) - 1)).split("\n"), ""]
    rows = game_table(games)
    lines += [*align_columns(rows, "<<<<" + ">" * (len(rows[0]) - 4))]
    return [*lines, *_trend([game for game in games if game.losses]), "", *CAPTION.split("\n")]


def _trend(games: "Sequence[SavedGame]") -> list[str]:
    """Return a line of bars per kind of value, oldest game first, for terminals with Unicode."""
    from wfb_gym.practice.rating import rate_decisions, sparkline

    if not (sys.stdout.encoding or "utf-8").lower().startswith("utf"):
        return []
    ratings = [rate_decisions(game.losses) for game in reversed(games)]
    means = {
        "exact": [each.exact.mean for each in ratings if each.exact.decisions],
        "estimated": [each.estimated.mean for each in ratings if each.estimated.decisions],
    }
    lines = [
        f"Points lost per decision ({kind}), oldest game first: {sparkline(values)}"
        for kind, values in means.items()
        if len(values) > 1
    ]
    return ["", *lines] if lines else []


# --- reviewing -----------------------------------------------------------------------------


def _review_games(
    games: "Sequence[SavedGame]",
    review: "Callable[..., SavedGame]",
    seconds: float,
    show: Callable[[str], Any] = print,
) -> "list[SavedGame]":
    """Review games that were not reviewed yet, in order, until a time limit or Ctrl-C.

    Games that cannot be reviewed are left out, with a message on stderr.
    """
    from wfb_gym.files import describe_error

    waiting = [game for game in games if not game.is_reviewed]
    found = {id(game): game for game in games}
    end, done = time.monotonic() + seconds, 0
    try:
        with printed_lines("practise"):
            for number, game in enumerate(waiting, 1):
                left = end - time.monotonic()
                if left <= 0.0:
                    break

                def show_progress(step: int, steps: int, number: int = number) -> None:
                    place = f"game {number} of {len(waiting)}"
                    show_line(f"reviewing {place}, step {step} of {steps} (Ctrl-C to stop)")

                try:
                    reviewed = review(game, progress=show_progress, most_seconds=left)
                except (OSError, ValueError) as error:
                    del found[id(game)]
                    _warn(f"{game.path}: {describe_error(error)}")
                    continue
                found[id(game)] = reviewed
                done += reviewed.is_reviewed
    except KeyboardInterrupt:
        show("The review was stopped.")
    finally:
        show_line("")
    missing = sum(not game.is_reviewed for game in found.values())
    if missing:
        show(
            f"Not reviewed completely yet: {missing} of {len(games)} games. "
            "The next run of practise continues; its option --seconds allows more time."
        )
    return list(found.values())


def _warn(message: str) -> None:
    from wfb_gym.scenario.errors import printable

    print(f"practise: {printable(message)}", file=sys.stderr)


def put_puzzles(
    games: "Sequence[SavedGame]",
    history: "GameHistory | None",
    most: int,
    *,
    with_solved: bool = False,
    ask: Callable[[str], str] = input,
    show: Callable[[str], Any] = print,
) -> None:
    """Put the puzzles from reviewed games."""
    from wfb_gym.files import describe_error
    from wfb_gym.practice.game_history import puzzle_title, puzzles_of, worst_mistakes
    from wfb_gym.practice.puzzles import Practice

    found = puzzles_of(worst_mistakes(games, most, with_solved=with_solved))
    if not found:
        show("There are no puzzles: no decision that you have not solved yet lost points.")
        return

    def mark_solved(number: int) -> None:
        game, puzzle = found[number]
        if history is not None:
            try:
                history.mark_solved(game, puzzle.event)
            except OSError as error:
                _warn(describe_error(error))

    practice = Practice([puzzle for _, puzzle in found])
    titles = [puzzle_title(*each) for each in found]
    ConsolePractice(practice, titles, ask=ask, show=show, on_solved=mark_solved).play()


# --- commands ------------------------------------------------------------------------------


def _run(options: PractiseOptions) -> None:
    from wfb_gym.practice.game_history import (
        FOLDER_VARIABLE,
        GameHistory,
        history_folder,
        review_game,
    )

    if options.puzzles < 1:
        raise UsageError(f"--puzzles: expected 1 or more, found {options.puzzles}")
    if not options.seconds >= 0.0:
        raise UsageError(f"--seconds: expected 0 or more, found {options.seconds:g}")
    history, review = None, review_game
    if options.transcripts:
        games = [_read(path) for path in options.transcripts]
        games.sort(key=lambda game: game.played_at, reverse=True)
    else:
        folder = history_folder()
        if folder is None:
            raise UsageError(
                f"expected transcripts or a history, found {FOLDER_VARIABLE}=off; "
                "name the files of transcripts"
            )
        history = GameHistory(folder)
        review = history.review_game
        games, problems = history.load()
        for problem in problems:
            _warn(problem)
        if not games:
            print(f"There are no games in {folder}; play some with: python -m wfb_gym play")
            return
    if options.seat:
        army = seat_number(options.seat)
        games = [replace(game, army=army) for game in games if history is None or game.army == army]
    games = _review_games(games, review, options.seconds)
    try:
        if not options.rating:
            put_puzzles(games, history, options.puzzles, with_solved=options.again)
            print()
    except KeyboardInterrupt:
        raise SystemExit(INTERRUPTED) from None
    print("\n".join(rating_lines(games)))
    if history is not None:
        print(f"The games are in {history.folder}.")


def _read(path: str) -> "SavedGame":
    """Return the game in a transcript file given by name."""
    from wfb_gym.practice.game_history import SavedGame, own_army
    from wfb_gym.transcripts import TranscriptError, read
    from wfb_gym.transcripts.review import PUBLIC_REFUSED

    try:
        transcript = read(path)
        played_at = datetime.fromtimestamp(Path(path).stat().st_mtime, UTC)
    except (OSError, TranscriptError) as error:
        raise UsageError(str(error)) from error
    if transcript.is_public:
        raise UsageError(f"{path}: {PUBLIC_REFUSED}")
    return SavedGame(Path(path), played_at, transcript, own_army(transcript))


def offer_practice(
    transcript: "Transcript",
    *,
    ask: Callable[[str], str] = input,
    show: Callable[[str], Any] = print,
) -> None:
    """Save a finished game in the history, and offer to learn from its mistakes.

    A problem with the history is reported on stderr and stops nothing.

    Raises:
        KeyboardInterrupt: if the person pressed Ctrl-C at a puzzle.
    """
    from wfb_gym.files import describe_error
    from wfb_gym.practice.game_history import GameHistory, SavedGame, history_folder, own_army

    army, folder = own_army(transcript), history_folder()
    if folder is None or not any(
        each.kind == "decision" and each.army == army for each in transcript.events
    ):
        return
    history = GameHistory(folder)
    try:
        path = history.save(transcript)
    except (OSError, ValueError) as error:
        _warn(f"the game was not kept: {describe_error(error)}")
        return
    show(f"The game is in your history, {path} (--no-history: keep no game).")
    if not transcript.over:
        show("To learn from your mistakes: python -m wfb_gym practise")
        return
    question = "Learn from your mistakes? The review takes up to a minute. (y/n) "
    try:
        if ask(question).strip().lower() not in ("y", "yes"):
            return
    except EOFError:
        show("")
        return
    game = SavedGame(path, datetime.now(UTC), transcript, army)
    games = _review_games([game], history.review_game, 60.0, show)
    put_puzzles(games, history, 10, ask=ask, show=show)
    for line in ("", *rating_lines(games)):
        show(line)
    show("All your games: python -m wfb_gym practise --rating")


COMMAND = Command(
    name="practise",
    help="learn from the mistakes in your games",
    options=PractiseOptions,
    run=_run,
    description=_DESCRIPTION,
    epilog=_EPILOG,
    is_interactive=True,
)
