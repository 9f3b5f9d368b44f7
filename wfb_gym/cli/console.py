"""A battle of a person against another player in the terminal: what is shown and asked.

The rules are the engine's, the descriptions those of `wfb_gym.transcripts`, the values those of
`wfb_gym.players.analysis`.
"""

import sys
from collections.abc import Callable, Iterable
from typing import Any

from wfb_gym.cli.parser import align_columns, format_value
from wfb_gym.engine.battle import Battle
from wfb_gym.engine.state import Node
from wfb_gym.players.analysis import Analyst
from wfb_gym.render.ansi import AnsiStyle, event_lines, position_lines
from wfb_gym.scenario import Scenario
from wfb_gym.transcripts import Event, Transcript
from wfb_gym.transcripts.decisions import describe_choices
from wfb_gym.transcripts.game import QUESTIONS, Game
from wfb_gym.transcripts.names import ScenarioNames, points_phrase

_QUIT = ("quit", "exit", "q")
_ODDS = ("?", "odds")
_SHOWS_POSITION = (Node.NOMINATE, Node.SWAP_SPELL, Node.IN_PLAY, Node.STORE_DICE)
"""Decisions before which the whole position is shown."""


class ConsoleGame:
    """A battle between a person in a seat, 0 or 1, and another player.

    `ask` and `show` ask the person and show a line; when `ask` raises `EOFError` the person leaves.

    Raises:
        ValueError: an unknown opponent.
        FileNotFoundError: a saved model that does not exist.
        TooLarge: the scenario has too many positions for an optimal player.
    """

    def __init__(
        self,
        scenario: Scenario,
        seat: int,
        opponent: str,
        seed: int | None = None,
        *,
        ask: Callable[[str], str] = input,
        show: Callable[[str], Any] = print,
    ) -> None:
        self._game = Game(scenario, seat, opponent, seed)
        self._choices = Choices(scenario)
        self._ask, self._show = ask, show
        self._style = AnsiStyle(None if sys.stdout.isatty() else False)
        self.interrupted = False
        """Ctrl-C has ended it."""

    def play(self, *, always_odds: bool = False) -> None:
        """Play to the end, or until the person leaves."""
        game, narrated = self._game, self._game.narrated
        opening = f"{narrated.opening[:1].upper()}{narrated.opening[1:]}."
        self._show(f"{narrated.scenario.name}, seed {game.seed}. {opening}")
        try:
            self._show_events(game.play_on())
            while not game.battle.is_over:
                self._show_events([game.act(self._ask_action(always_odds))])
                self._show_events(game.play_on())
        except (EOFError, KeyboardInterrupt) as left:
            self.interrupted = isinstance(left, KeyboardInterrupt)
            score = points_phrase(narrated.names, narrated.battle.points)
            self._show(f"You leave the table: {score}.")

    def transcript(self) -> Transcript:
        """Return the battle so far."""
        return self._game.transcript()

    def _show_events(self, events: Iterable[Event]) -> None:
        for event in events:
            self._show_lines(event_lines([event], self._style))

    def _show_lines(self, lines: Iterable[str]) -> None:
        for line in lines:
            self._show(line)

    def _ask_action(self, always_odds: bool) -> int:
        """Ask for a decision, an engine code; `EOFError` to leave."""
        narrated, battle = self._game.narrated, self._game.battle
        if battle.node in _SHOWS_POSITION:
            lines = position_lines(
                narrated.scenario, narrated.visible, seat=self._game.seat, style=self._style
            )
            self._show("\n" + "\n".join(lines))
        self._show("\n" + QUESTIONS[battle.node])
        choices = self._choices
        self._show_lines(choices.odds(battle) if always_odds else choices.lines(battle))
        legal = battle.legal_actions()
        while True:
            try:
                answer = self._ask("Your choice: ").strip().lower()
            except (EOFError, KeyboardInterrupt):
                self._show("")
                raise
            if answer in _QUIT:
                raise EOFError
            if answer in _ODDS:
                self._show_lines(choices.odds(battle))
            elif answer.isdecimal() and 1 <= int(answer) <= len(legal):
                return legal[int(answer) - 1]
            else:
                self._show(f'Expected a number from 1 to {len(legal)}, "?" or "quit".')


class Choices:
    """The choices of a decision in words, with their odds and values."""

    def __init__(self, scenario: Scenario) -> None:
        self._names = ScenarioNames(scenario)
        self._analyst = Analyst(scenario)

    def lines(self, battle: Battle) -> list[str]:
        """Return a line for each legal action, numbered from 1."""
        descriptions = describe_choices(self._names, battle).values()
        return [f"{number:>3}  {each.text}" for number, each in enumerate(descriptions, 1)]

    def odds(self, battle: Battle) -> list[str]:
        """Return the same with the chance of the dice and, if it can be solved, the value.

        Values are points still to come for the mover if both play on optimally.
        """
        analysis = self._analyst.analyse(battle)
        values = analysis.values if analysis.is_exact else {}
        rows = [("", "", "CHANCE", "POINTS TO COME" if values else "")]
        best = max(values.values(), default=0.0)
        for number, (action, each) in enumerate(describe_choices(self._names, battle).items(), 1):
            chance = "" if each.chance is None else f"{float(each.chance):.1%}"
            value = ""
            if action in values:
                is_best = values[action] > best - 1e-9
                value = format_value(values[action]) + (" best" if is_best else "")
            rows.append((f"{number:>3}", each.text, chance, value))
        return align_columns(rows, "><><")
