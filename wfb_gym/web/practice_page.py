"""The practice page: puzzles and error ratings from the games that this machine keeps."""

import time
from typing import NamedTuple

from nicegui import run, ui

from wfb_gym.files import describe_error
from wfb_gym.practice.game_history import (
    GameHistory,
    SavedGame,
    puzzle_title,
    puzzles_of,
    worst_mistakes,
)
from wfb_gym.practice.puzzles import Puzzle
from wfb_gym.practice.rating_tables import CAPTION, game_table, seat_table
from wfb_gym.render.html import render_macro
from wfb_gym.web.elements import add_text, set_title, waiting
from wfb_gym.web.puzzles import PuzzleBoard

_MOST_PUZZLES = 10
_MOST_SECONDS = 60.0  # time limit for reviewing games; the next visit continues


class _Loaded(NamedTuple):
    """The games, the puzzles with their games, and problems in words."""

    games: list[SavedGame]
    puzzles: list[tuple[SavedGame, Puzzle]]
    problems: list[str]


class PracticePage:
    """Puzzles from the worst mistakes in the history, and the error ratings."""

    def __init__(self, history: GameHistory) -> None:
        self._history = history
        self._step = "Reading your games"

    async def show(self) -> None:
        """Review games that were not reviewed yet, then show puzzles and ratings."""
        with ui.element("div").classes("top") as top:
            set_title(top, "Practice - wfb_gym")
            add_text("Practice", "h1")
            ui.link("New game", "/")
        message = ui.html(waiting(self._step), sanitize=False)
        timer = ui.timer(0.5, lambda: message.set_content(waiting(self._step)))
        root = ui.element("div").classes("stack")
        loaded = await run.io_bound(self._load)
        timer.cancel()
        message.delete()
        if loaded is None:  # the server is shutting down
            return
        with root:
            for problem in loaded.problems:
                ui.html(render_macro("error", problem, template="web.html"), sanitize=False)
            if loaded.puzzles:
                titles = [puzzle_title(*each) for each in loaded.puzzles]
                puzzles = [puzzle for _, puzzle in loaded.puzzles]
                board = PuzzleBoard(
                    puzzles,
                    titles,
                    leave=lambda: ui.navigate.to("/"),
                    on_solved=lambda number: self._mark_solved(*loaded.puzzles[number]),
                )
                await board.show()
            else:
                found = "only games that you finish are kept"
                if loaded.games:
                    found = "no decision that you have not solved yet lost points"
                add_text(f"There are no puzzles: {found}.", "p")
            self._show_ratings(loaded.games)

    def _show_ratings(self, games: list[SavedGame]) -> None:
        seats = seat_table(games)
        with ui.element("section").classes("card"):
            add_text("Error rating", "h2")
            if not seats:
                add_text("No decisions were reviewed yet.", "p")
            for rows in (seats, game_table(games)) if seats else ():
                shown = render_macro("rows_table", rows, template="web.html")
                ui.html(shown, sanitize=False).classes("ratings")
            for line in CAPTION.split("\n") if seats else ():
                add_text(line, "p", "how")
            add_text(f"The games are in {self._history.folder} on this machine.", "p", "how")

    def _load(self) -> _Loaded:
        games, problems = self._history.load()
        end, reviewed = time.monotonic() + _MOST_SECONDS, []
        for number, game in enumerate(games, 1):
            left = end - time.monotonic()
            if game.is_reviewed or left <= 0.0:
                reviewed.append(game)
                continue

            def note(step: int, steps: int, number: int = number) -> None:
                place = f"game {number} of {len(games)}"
                self._step = f"Reviewing {place}, step {step} of {steps}"

            try:
                reviewed.append(self._history.review_game(game, progress=note, most_seconds=left))
            except (OSError, ValueError) as error:
                problems.append(f"{game.path.name}: {describe_error(error)}")
        missing = sum(not game.is_reviewed for game in reviewed)
        if missing:
            problems.append(
                f"Not reviewed yet: {missing} of {len(games)} games. The next visit continues."
            )
        return _Loaded(reviewed, puzzles_of(worst_mistakes(reviewed, _MOST_PUZZLES)), problems)

    def _mark_solved(self, game: SavedGame, puzzle: Puzzle) -> None:
        try:
            self._history.mark_solved(game, puzzle.event)
        except OSError as error:
            ui.notify(describe_error(error))
