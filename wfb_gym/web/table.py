"""The web UI's game view: position, choices, odds, advice, log and review.

This module contains only layout and event handlers; `session` and `wfb_gym.render` produce the
content. Long tasks run in a thread while the page shows a waiting message.
"""

import asyncio
import contextlib
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from math import tanh
from pathlib import Path
from typing import Any

from nicegui import app, background_tasks, events, run, ui

from wfb_gym.practice.game_history import GameHistory
from wfb_gym.practice.puzzles import Puzzle, make_puzzles
from wfb_gym.practice.rating import decision_losses, rate_decisions
from wfb_gym.render.html import army_blocks, render_macro, score_html, static_text, step_html
from wfb_gym.render.review_page import review_html, review_page
from wfb_gym.transcripts import Transcript, game_line
from wfb_gym.transcripts.review import Review
from wfb_gym.transcripts.transcript import text_of
from wfb_gym.view.decisions import ActionView
from wfb_gym.view.names import plural, plural_points
from wfb_gym.web.elements import (
    FILLED,
    FLAT,
    OUTLINED,
    add_text,
    set_key,
    set_text,
    set_title,
    show_toggle,
    waiting,
)
from wfb_gym.web.games import OpenGame
from wfb_gym.web.puzzles import PuzzleBoard
from wfb_gym.web.session import Evaluation, Session, ShownAdvice

_CHANCES = (
    "Percentages: the chance that these dice succeed. Points beside them: this chance times the "
    "points of the spell."
)
_MOST_KEYS = 9
_HAS_BAR = "evaluation"  # key for a tab's choice to show the evaluation bar
_BAR_POINTS = 60.0  # points at which the bar is about seven eighths full
_EVALUATION_DELAY = 0.5
"""Seconds from a new position to its evaluation, so that quick clicks start none."""
_EVALUATING = "Evaluating"
_NO_EVALUATION = "No evaluation: too many continuations with hidden items"
_EVALUATIONS = ThreadPoolExecutor(1, "evaluation")
"""Evaluates positions of all games, one at a time, so that no other work waits for a thread."""
_PAUSED = "The game is paused. The slider shows every position so far."
_OVER = "The game is over. The slider shows every position."
_ABOUT_ID = (
    "Enter this id at Position on the start page, or in the commands advise and play with "
    "--position. It does not reveal the enemy's hidden items."
)
_MOST_LINE = 2000  # maximum length of a game line, in characters, that is shown
_NO_REVIEW = "A battle with hidden items can be reviewed after its end, when all items are known."


class GameTable:
    """The view of one game."""

    def __init__(
        self, game: OpenGame, leave: Callable[[], Any], history: GameHistory | None
    ) -> None:
        self._game, self._go, self._history = game, leave, history
        session: Session = game.session
        self._session = session
        self._shown_spell: int | None = None
        self._shown_events = 0
        self._advises = self._has_odds = False
        self._has_bar = bool(app.storage.tab.get(_HAS_BAR, True))
        self._kept: Path | None = None  # the game's file in the history
        self._pending_review: object | None = None  # token for the review in progress
        seat = session.game.seat
        with ui.element("div").classes("top"):
            self._heading = add_text(session.scenario.name, "h1")
            self._review_button = ui.button("Review", on_click=self._review).props(FLAT)
            ui.button("New game", on_click=self._leave).props(FLAT)
        self._report = ui.element("div")
        self._table = ui.element("div").classes("columns")
        with self._table:
            with ui.element("div").classes("stack"):
                with ui.element("section").classes("card map") as self._map_card:
                    self._ranges = ui.element("div").classes("ranges")
                    self._map = ui.html("", sanitize=False)
                    self._map.on(
                        "click", self._pick, js_handler="(event) => emitTarget(event, emit)"
                    )
                self._map_card.visible = session.scenario.battlefield is not None
                with ui.element("div").classes("armies"):
                    self._armies = [
                        ui.html("", sanitize=False, tag="section").classes(f"army a{army}")
                        for army in (seat, 1 - seat)
                    ]
            with ui.element("div").classes("stack side"):
                with ui.element("section").classes(f"card now-card a{seat}"):
                    self._score = ui.html("", sanitize=False)
                    self._bar = ui.html("", sanitize=False)
                    self._recent = ui.html("", sanitize=False).classes("recent")
                    self._recent.props('role=status aria-live=polite aria-label="Last events"')
                    self._step = ui.html("", sanitize=False).style("margin-top: 8px")
                    self._pending = ui.html("", sanitize=False, tag="p").classes("pending-spell")
                    self._question = add_text("", "h2", "question").props("id=question")
                    self._choices = ui.element("div").classes("choices")
                    self._choices.props("role=group aria-labelledby=question")
                    self._wait = ui.html("", sanitize=False)
                    with ui.element("div").classes("tools"):
                        self._advice_button = ui.button(on_click=self._toggle_advice)
                        self._odds_button = ui.button(on_click=self._toggle_odds)
                        self._undo_button = ui.button("Undo", on_click=partial(self._undo, -1))
                        self._undo_button.props(OUTLINED)
                        self._bar_button = ui.button(on_click=self._toggle_bar)
                        self._share_button = ui.button("Share", on_click=self._share)
                        self._share_button.props(OUTLINED)
                        set_key(self._bar_button, "e")
                        set_key(self._advice_button, "a")
                        set_key(self._odds_button, "o")
                        set_key(self._undo_button, "u")
                    ui.html(render_macro("keys", template="web.html"), sanitize=False)
                with ui.element("section").classes("card odds-card") as self._odds_card:
                    add_text("Odds", "h2")
                    self._odds = ui.html("", sanitize=False)
                    self._no_odds = add_text("This choice throws no dice.", "p", "how")
                with ui.element("section").classes("card log-card"):
                    add_text("Log", "h2")
                    self._log = ui.html("", sanitize=False).classes("log")
                    self._log.on(
                        "click",
                        lambda event: self._undo(event.args),
                        js_handler="(event) => emitDecision(event, emit)",
                    )
        self._seat_words = add_text("", "p", "how")

    async def _leave(self) -> None:
        """Go back to the form, asking first if the battle has started and is not over."""
        if not self._session.is_over and self._session.game.decisions:
            with ui.dialog() as question, ui.card():
                ui.label("This battle is not over. Leave it for a new game?")
                with ui.row():
                    ui.button("Leave it", on_click=lambda: question.submit(True)).props(OUTLINED)
                    ui.button("Play on", on_click=lambda: question.submit(False)).props(OUTLINED)
            if not await question:
                return
        self._go()

    async def show(self) -> None:
        """Show the position, first waiting for the opponent if it is still thinking."""
        await self._run_in_thread(f"{self._session.game.opponent} thinks", lambda: None)
        await self._refresh()

    async def _refresh(self) -> None:
        session = self._session
        async with self._game.lock:  # another tab may play at the same time
            self._show_position()
            self._start_evaluation()
        self._map.set_content(await self._run_in_thread("", session.map_html, self._spell()))
        self._show_board(not (session.is_over and session.is_from_start))
        if session.is_over and session.is_from_start:
            await self._review()
        elif self._advises:
            await self._show_advice()

    def _show_position(self) -> None:
        session = self._session
        self._shown_events = len(session.game.events)
        seat = session.game.seat
        view = session.game.narrated.view(seat)
        self._score.set_content(score_html(view))
        self._recent.set_content(session.recent_html())
        self._step.set_content(step_html(view))
        set_title(self._table, session.title(view))
        self._pending.set_content(session.pending_html())
        set_text(self._question, session.question)
        for army, card in zip((seat, 1 - seat), self._armies, strict=True):
            card.set_content("".join(army_blocks(view, army)))
        self._show_choices(session.game.choices(), None)
        self._log.set_content(session.log_html())
        self._undo_button.set_enabled(session.can_undo)
        self._share_button.set_enabled(not session.is_over)
        self._review_button.set_text("Transcript" if self._hides_items else "Review")
        self._review_button.set_enabled(session.is_from_start)
        set_text(self._seat_words, session.seat_words)
        show_toggle(self._advice_button, "Advice", is_on=self._advises)
        self._show_odds()
        self._show_ranges()

    # --- choices ---------------------------------------------------------------------------

    def _show_choices(self, choices: Mapping[int, ActionView], advice: ShownAdvice | None) -> None:
        self._choices.clear()
        self._choices.classes(remove="waiting").props(f"data-turn={self._shown_events}")
        seat = self._session.game.seat
        details = self._session.details(choices)
        marks = {} if advice is None else advice.marks
        with self._choices:
            for number, (code, choice) in enumerate(choices.items(), 1):
                best = advice is not None and advice.best == code
                button = ui.element("button").classes("choice best" if best else "choice")
                button.props(f'data-choice={code} type="button"')
                button.on("click", partial(self._act, code))
                if number <= _MOST_KEYS:
                    set_key(button, str(number))
                with button:
                    mark, dice = marks.get(code), advice and advice.dice
                    values = choice, seat, details[code], mark, best, dice
                    shown = render_macro("choice", *values, template="web.html")
                    ui.html(shown, sanitize=False).style("display: contents")
            if any(choice.chance is not None for choice in choices.values()):
                add_text(_CHANCES, "p", "how legend")
            if advice is not None:
                add_text(advice.words, "p", "how advice")

    async def _act(self, code: int) -> None:
        session = self._session
        turn = self._shown_events

        def act() -> None:
            if len(session.game.events) == turn:  # otherwise clicked twice, or in another tab
                session.act(code)

        self._choices.classes(add="waiting")
        await self._run_in_thread(f"{session.game.opponent} thinks", act)
        if len(session.game.events) != self._shown_events:
            self._shown_spell = None
            self._close_review()  # it is out of date
            await self._refresh()

    async def _pick(self, event: events.GenericEventArguments) -> None:
        """Choose the target that was clicked, if the decision is about a target."""
        code, point = (None if each is None else int(each) for each in event.args)
        target = self._session.target_at(code, point)
        if target is not None:
            await self._act(target)

    async def _undo(self, decision: int) -> None:
        await self._run_in_thread("", self._session.undo, int(decision))
        self._shown_spell = None
        self._close_review()
        await self._refresh()

    # --- advice ----------------------------------------------------------------------------

    async def _toggle_advice(self) -> None:
        self._advises = not self._advises
        show_toggle(self._advice_button, "Advice", is_on=self._advises)
        if self._session.is_over:
            return
        if self._advises:
            await self._show_advice()
        else:
            self._show_choices(self._session.game.choices(), None)

    async def _show_advice(self) -> None:
        session = self._session

        def advise() -> ShownAdvice | None:
            return None if session.is_over else session.advice()

        advice = await self._run_in_thread("Computing the value of each choice", advise)
        if advice is not None and self._advises:
            self._show_choices(self._session.game.choices(), advice)

    # --- the evaluation bar ----------------------------------------------------------------

    def _toggle_bar(self) -> None:
        self._has_bar = app.storage.tab[_HAS_BAR] = not self._has_bar
        self._start_evaluation()

    def _start_evaluation(self) -> None:
        """Evaluate the position in the background, without the game's lock."""
        show_toggle(self._bar_button, "Evaluation", is_on=self._has_bar)
        if not self._has_bar or self._session.is_over:
            self._bar.set_content("")
            return
        self._bar.classes(add="old-value")
        if not self._bar.content:
            self._show_evaluation(_EVALUATING)
        background_tasks.create(self._evaluate(self._session.evaluation(), self._shown_events))

    async def _evaluate(self, evaluate: Callable[..., Evaluation | None], turn: int) -> None:
        def is_wanted() -> bool:
            is_shown = self._has_bar and not self._bar.is_deleted
            return is_shown and turn == self._shown_events

        await asyncio.sleep(_EVALUATION_DELAY)  # the display comes first
        loop = asyncio.get_running_loop()
        found = await loop.run_in_executor(_EVALUATIONS, evaluate, is_wanted)
        if is_wanted():
            self._bar.classes(remove="old-value")
            if found is None:
                self._show_evaluation(_NO_EVALUATION)
            else:
                points = plural_points(abs(found.points), self._session.names.point)
                sign = "+" if found.points > 0 else "\N{MINUS SIGN}" if found.points < 0 else ""
                how = "exact" if found.is_exact else "estimate"
                self._show_evaluation(f"{sign}{points} to come for you: {how}", found.points)

    def _show_evaluation(self, words: str, points: float = 0.0) -> None:
        share = 50 + 50 * tanh(points / _BAR_POINTS)
        values = self._session.game.seat, share, words
        self._bar.set_content(render_macro("evaluation", *values, template="web.html"))

    # --- odds ------------------------------------------------------------------------------

    def _toggle_odds(self) -> None:
        self._has_odds = not self._has_odds
        self._show_odds()

    def _show_odds(self) -> None:
        show_toggle(self._odds_button, "Odds", is_on=self._has_odds)
        table = self._session.odds_html() if self._has_odds else ""
        self._odds.set_content(table)
        self._no_odds.visible = not table
        self._odds_card.visible = self._has_odds

    # --- the battlefield -------------------------------------------------------------------

    def _spell(self) -> tuple[int, int] | None:
        """Return the spell whose reach is shown: the spell being cast, or else the one selected."""
        at_stake = self._session.spell_at_stake()
        if at_stake is not None or self._shown_spell is None:
            return at_stake
        return self._session.game.seat, self._shown_spell

    def _show_ranges(self) -> None:
        self._ranges.clear()
        spells = self._session.aimed_spells()
        if not spells or self._session.spell_at_stake() is not None:
            return
        with self._ranges:
            add_text("Reach of")
            for number, name in spells.items():
                button = ui.element("button")
                button.props(
                    f'type="button" aria-pressed={str(number == self._shown_spell).lower()}'
                )
                button.on("click", partial(self._show_reach, number))
                with button:
                    add_text(name, "span")

    async def _show_reach(self, number: int) -> None:
        self._shown_spell = None if number == self._shown_spell else number
        self._show_ranges()
        self._map.set_content(await self._run_in_thread("", self._session.map_html, self._spell()))

    # --- review and transcript -------------------------------------------------------------

    def _close_review(self) -> None:
        """Remove the review; a review in progress will not be shown."""
        self._pending_review = None
        self._report.clear()
        self._show_board(True)

    def _show_board(self, is_shown: bool) -> None:
        """Show or hide the game, so that the page never has two boards."""
        for each in (self._table, self._seat_words, self._review_button):
            each.visible = is_shown
        name = self._session.scenario.name
        set_text(self._heading, name if is_shown else f"Review of {name}")

    def _back_to_the_game(self) -> None:
        self._close_review()  # deletes the button that was clicked
        self._table.client.run_javascript("window.scrollTo(0, 0)")

    async def _review(self) -> None:
        """Show the review instead of the game, unless one is already in progress."""
        if not self._session.game.events or self._pending_review is not None:
            return
        if self._hides_items:
            self._show_transcript()
            return
        pending = self._pending_review = object()
        done: list[int] = [0, 1]

        def note(number: int, of: int) -> None:
            done[:] = number, of

        self._report.clear()
        with self._report:
            message = ui.html(waiting("Reviewing the battle"), sanitize=False)
            timer = ui.timer(
                0.5,
                lambda: message.set_content(
                    waiting(f"Reviewing the battle, {done[0]} of {done[1]} steps")
                ),
            )
        try:
            review = await self._run_in_thread("", self._session.review, note)
            page = shown = ""
            if review is not None:
                page = await self._run_in_thread("", review_page, review)
                shown = await self._run_in_thread("", review_html, review)
        finally:
            timer.cancel()
            is_wanted = self._pending_review is pending  # otherwise the battle has continued
            if is_wanted:
                self._close_review()
        if not is_wanted or review is None:
            return
        is_over, can_undo = self._session.is_over, self._session.can_undo
        self._show_board(False)
        with self._report:
            add_text(_OVER if is_over else _PAUSED, "p", "how")
            with ui.element("div").classes("tools"):
                if not is_over:
                    back = ui.button("Back to the game", on_click=self._back_to_the_game)
                    back.props(FILLED)
                elif can_undo:
                    back = ui.button("Take back the last decision")
                    back.on_click(partial(self._undo, -1)).props(OUTLINED)
                puzzles = make_puzzles(review, self._session.game.seat)
                if puzzles:
                    learn = ui.button("Learn from your mistakes")
                    learn.on_click(partial(self._practise, puzzles)).props(FILLED)
                self._offer("Download the transcript", text_of(review.transcript), "jsonl")
                self._offer("Download this review", page, "html")
            add_text(_rating_words(review, self._session.game.seat), "p", "how")
            if is_over:
                await self._run_in_thread("", self._keep, review.transcript)
                await self._show_line(review.transcript)
            ui.html(shown, sanitize=False)
        # The button that was clicked may be deleted, so there is no current client.
        self._table.client.run_javascript(f"{static_text('review.js')}\nwindow.scrollTo(0, 0)")

    def _keep(self, transcript: Transcript) -> None:
        """Keep a finished game for practice, instead of an end that was taken back."""
        if self._history is not None and self._session.game.decisions:
            with contextlib.suppress(OSError, ValueError):  # the game is not kept
                self._kept = self._history.save(transcript, replaces=self._kept)

    async def _show_line(self, transcript: Transcript) -> None:
        """Show the game as one line of text, if it is short enough to share."""
        line = await self._run_in_thread("", game_line, transcript)
        if line is not None and len(line) <= _MOST_LINE:
            with ui.element("details"):
                add_text("This game as one line of text", "summary")
                ui.html(f"<code>{line}</code>", sanitize=False).classes("shared-text")

    async def _practise(self, puzzles: Sequence[Puzzle]) -> None:
        """Show the mistakes in the review as puzzles instead of the game."""
        self._report.clear()
        names = self._session.names
        title = f"You are {names.armies[self._session.game.seat]}."
        set_text(self._heading, f"Practice: {self._session.scenario.name}")
        with self._report:
            board = PuzzleBoard(puzzles, [title] * len(puzzles), self._leave_puzzles)
        await board.show()

    async def _leave_puzzles(self) -> None:
        self._close_review()
        await self._refresh()

    async def _share(self) -> None:
        """Show the id of the position, and its address on this page."""
        try:
            text = await self._run_in_thread("", self._session.game.position_id)
        except ValueError:  # the battle is over
            return
        if text is None:  # the server is shutting down
            return
        with ui.dialog().props("aria-labelledby=share") as dialog, ui.card().classes("share"):
            add_text("Share this position", "h2").props("id=share")
            add_text(_ABOUT_ID, "p")
            ui.html(f"<code>{text}</code>", sanitize=False).classes("shared-text")
            ui.link("Open it in a new game", f"/?position={text}", new_tab=True)
            ui.button("Close", on_click=dialog.close).props(OUTLINED)
        dialog.on("hide", dialog.delete)
        dialog.open()

    @property
    def _hides_items(self) -> bool:
        """Whether a review would reveal items that are still hidden."""
        return self._session.scenario.has_hidden_items and not self._session.is_over

    def _show_transcript(self) -> None:
        """Offer the public transcript for download until a review is available."""
        self._report.clear()
        with self._report:
            add_text(_NO_REVIEW, "p", "how")
            with ui.element("div").classes("tools").style("margin-bottom: 14px"):
                transcript = text_of(self._session.transcript())
                self._offer("Download the public transcript", transcript, "jsonl")
                ui.button("Close", on_click=self._close_review).props(OUTLINED)

    def _offer(self, words: str, content: str, ending: str) -> None:
        """Add a button for downloading a text file."""
        file = f"{self._session.scenario.name}.{ending}"
        ui.button(words, on_click=partial(ui.download.content, content, file)).props(OUTLINED)

    async def _run_in_thread(self, words: str, work: Callable[..., Any], *arguments: Any) -> Any:
        """Run work in a thread, one task at a time, while showing a waiting message."""
        async with self._game.lock:
            self._wait.set_content(waiting(words))
            try:
                return await run.io_bound(work, *arguments)
            finally:
                self._wait.set_content("")


def _rating_words(review: Review, army: int) -> str:
    """Return a player's error rating in a game as a sentence, or "" without decisions."""
    rating = rate_decisions(each for each in decision_losses(review) if each.army == army)
    kinds = {"exact": rating.exact, "estimated": rating.estimated}
    found = [
        f"{rate.words} {review.names.point}s per decision ({kind}, "
        f"{plural(rate.decisions, 'decision')})"
        for kind, rate in kinds.items()
        if rate.decisions
    ]
    return f"Your error rating: {'; '.join(found)}." if found else ""
