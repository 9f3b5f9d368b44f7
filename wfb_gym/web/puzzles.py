"""Puzzles from a player's own mistakes, one at a time, with hints and the solution."""

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

from nicegui import run, ui

from wfb_gym.practice.puzzles import Practice, Puzzle
from wfb_gym.render.battlefield import draw_battlefield
from wfb_gym.render.drawing import to_svg
from wfb_gym.render.html import army_blocks, event_html, render_macro, score_html, step_html
from wfb_gym.view.names import capital
from wfb_gym.web.elements import FILLED, OUTLINED, add_text, set_key

_MOST_KEYS = 9


class PuzzleBoard:
    """A round of puzzles.

    Args:
        puzzles: the puzzles, at least one.
        titles: a line about each puzzle's game.
        leave: called by the button that ends the round.
        on_solved: called with the index of each puzzle that was solved at once.
    """

    def __init__(
        self,
        puzzles: Sequence[Puzzle],
        titles: Sequence[str],
        leave: Callable[[], Any],
        on_solved: Callable[[int], Any] = lambda _: None,
    ) -> None:
        self._practice, self._titles = Practice(puzzles), titles
        self._leave, self._on_solved = leave, on_solved
        self._root = ui.element("div").classes("puzzles")

    async def show(self) -> None:
        """Show the current puzzle, or the score after the last one."""
        self._root.clear()
        puzzle = self._practice.puzzle
        with self._root:
            if puzzle is None:
                self._show_score()
                return
            svg = await run.io_bound(_battlefield_svg, puzzle)
            with ui.element("div").classes("columns"):
                with ui.element("div").classes("stack"):
                    if svg:
                        with ui.element("section").classes("card map"):
                            ui.html(svg, sanitize=False)
                    self._show_armies(puzzle)
                with ui.element("div").classes("stack side"):
                    self._show_question(puzzle)

    def _show_score(self) -> None:
        with ui.element("section").classes("card"):
            add_text("Practice", "h2")
            add_text(self._practice.score.words, "p").props("role=status")
            back = ui.button("Back", on_click=self._leave).props(FILLED)
        _focus(back)

    def _show_armies(self, puzzle: Puzzle) -> None:
        view = puzzle.position
        with ui.element("div").classes("armies"):
            for army in (puzzle.army, 1 - puzzle.army):
                blocks = "".join(army_blocks(view, army))
                ui.html(blocks, sanitize=False, tag="section").classes(f"army a{army}")

    def _show_question(self, puzzle: Puzzle) -> None:
        practice, view = self._practice, puzzle.position
        with ui.element("section").classes("card now-card"):
            add_text(f"Puzzle {practice.number + 1} of {len(practice.puzzles)}", "h2")
            add_text(self._titles[practice.number], "p", "how")
            events = "".join(event_html(each) for each in puzzle.events)
            ui.html(score_html(view), sanitize=False)
            ui.html(events, sanitize=False)
            ui.html(step_html(view), sanitize=False)
            add_text(puzzle.task, "p")
            add_text(puzzle.question, "h3")
            if puzzle.stake:
                add_text(puzzle.stake, "p", "how")
            self._choices = ui.element("div").classes("choices")
            self._choices.props(f"data-turn=puzzle-{practice.number}")
            self._show_choices(puzzle)
            self._result = ui.html("", sanitize=False).props("aria-live=polite")
            with ui.element("div").classes("tools"):
                self._hint = ui.button("Hint", on_click=self._give_hint).props(OUTLINED)
                self._skip = ui.button("Show the solution", on_click=self._give_up).props(OUTLINED)
                is_last = practice.number == len(practice.puzzles) - 1
                self._next = ui.button("Finish" if is_last else "Next puzzle")
                self._next.on_click(self._advance).props(FILLED)
                self._next.visible = False
                ui.button("Stop", on_click=self._leave).props(OUTLINED)

    def _show_choices(self, puzzle: Puzzle) -> None:
        with self._choices:
            for number, choice in enumerate(puzzle.choices, 1):
                button = ui.element("button").classes("choice")
                button.props(f'data-choice={choice.code} type="button"')
                button.on("click", partial(self._answer, choice.code))
                if number <= _MOST_KEYS:
                    set_key(button, str(number))
                with button:
                    add_text(capital(choice.text), "span", "text")
                    if choice.note:
                        add_text(choice.note, "small")

    def _answer(self, code: int) -> None:
        if self._practice.is_done:  # clicked twice
            return
        judgement = self._practice.answer(code)
        if judgement.is_right:
            self._end(judgement.words)
        else:
            self._show_result(judgement.words)

    def _give_hint(self) -> None:
        if self._practice.is_done:
            return
        hint = self._practice.hint()
        self._hint.set_enabled(hint is not None)
        if hint is None:
            self._show_result("There are no more hints.")
        else:
            self._show_result(f"Hint {len(self._practice.given)}: {hint.text}", hint.rows)

    def _give_up(self) -> None:
        if not self._practice.is_done:
            self._practice.skip()
            self._end("")

    def _end(self, words: str) -> None:
        """Show the solution, and the button for the next puzzle."""
        practice, puzzle = self._practice, self._practice.puzzle
        assert puzzle is not None
        if practice.is_clean:
            self._on_solved(practice.number)
        choices = sorted(puzzle.choices, key=lambda each: each.lost)
        values = words, puzzle.solution, choices
        self._result.set_content(render_macro("solution", *values, template="web.html"))
        for button in (self._hint, self._skip, self._choices):
            button.visible = False
        self._next.visible = True
        _focus(self._next)

    def _show_result(self, words: str, rows: Sequence[Sequence[str]] = ()) -> None:
        self._result.set_content(render_macro("puzzle_result", words, rows, template="web.html"))

    async def _advance(self) -> None:
        self._practice.advance()
        await self.show()


def _focus(button: ui.button) -> None:
    button.client.run_javascript(f"getHtmlElement({button.id})?.focus()")


def _battlefield_svg(puzzle: Puzzle) -> str:
    """Return the drawing of a puzzle's battlefield, or "" if there is none."""
    scenario = puzzle.names.scenario
    if scenario.battlefield is None:
        return ""
    return to_svg(draw_battlefield(scenario, puzzle.visible, legend=False))
