"""A battle between a person and another player in the terminal: questions and output.

`choices` describes the choices and parses the answers.
"""

import sys
from collections.abc import Callable, Iterable
from dataclasses import replace
from difflib import get_close_matches
from typing import Any

from wfb_gym.cli.choices import ChoiceList
from wfb_gym.cli.output import QUIT, read_answer
from wfb_gym.engine import actions
from wfb_gym.engine.battle import Battle
from wfb_gym.engine.nodes import NODES
from wfb_gym.engine.state import Node
from wfb_gym.render.ansi import AnsiStyle, battlefield_lines, event_lines, position_lines
from wfb_gym.scenario import Scenario
from wfb_gym.transcripts import NarratedBattle, SharedPosition, Transcript
from wfb_gym.transcripts.game import Game
from wfb_gym.view.choices import nomination_words, view_decision
from wfb_gym.view.events import Event, redact_event
from wfb_gym.view.hidden_sets import ALL_ARMIES, dealt_words, set_words
from wfb_gym.view.names import capital, points_phrase

_ODDS = ("?", "odds")
_HELP = ("help", "h")
_MAP = ("battlefield", "map")
_POSITION = ("position", "table")
_UNDO = ("undo", "back")
_SHARE = ("share", "id")
_COMMANDS = (*QUIT, *_ODDS, *_HELP, *_MAP, *_POSITION, *_UNDO, *_SHARE)
_LIKE_A_COMMAND = 0.7
"""Minimum similarity (`difflib` ratio) for an answer to count as a mistyped command."""
_YES, _NO = ("y", "yes"), ("n", "no")
HELP = """\
Answer with a number, or with the beginning of a choice: fireball, 3 dice, scroll, pass.
?            show the odds of the dice and the value of every choice
battlefield  show the battlefield (or: map)
position     show both sides: dice, wizards, spells, units
share        print the position as a text for play --position and advise --position (or: id)
undo         go back to your previous decision; repeated rolls give the same dice
quit         leave the table"""

_NAMING_HELP = """\
y     name the spell; then choose its target and its dice, if it needs them
n     go back to the choices, where ? shows the chances and values
quit  leave the table"""


class ConsoleGame:
    """A battle between a person and another player in the terminal.

    Args:
        scenario: the scenario to play.
        seat: the person's seat, 0 or 1.
        opponent: the opponent's name.
        seed: seed for the dice, 0 or more. If None, the seed is random.
        start: a position of the scenario to start from.
        confirm: whether to ask for confirmation before a spell is nominated.
        ask: function that prompts for an answer. If it raises `EOFError`, the game ends.
        show: function that prints a line.

    Raises:
        ValueError: if the opponent is unknown.
        FileNotFoundError: if the saved model does not exist.
        TooLarge: if the scenario has too many positions for the optimal player.
    """

    def __init__(
        self,
        scenario: Scenario,
        seat: int,
        opponent: str,
        seed: int | None = None,
        *,
        start: SharedPosition | None = None,
        confirm: bool = False,
        ask: Callable[[str], str] = input,
        show: Callable[[str], Any] = print,
    ) -> None:
        self._game = Game(scenario, seat, opponent, seed, start=start)
        self._choices = ChoiceList(scenario)
        self._confirm, self._ask, self._show = confirm, ask, show
        self._style = AnsiStyle(None if sys.stdout.isatty() else False)
        self._phase_shown = -1  # no phase has been shown yet
        self.interrupted = False
        """Whether the game was ended with Ctrl-C."""

    def play(self, *, always_odds: bool = False) -> None:
        """Play until the battle ends or the person leaves."""
        game, narrated = self._game, self._game.narrated
        opening = capital(narrated.opening)
        self._show(f"{narrated.scenario.name}, seed {game.seed}. {opening}.")
        self._show("Enter the number of a choice, ? for the chances, or help for all commands.")
        try:
            self._show_events(game.play_on())
            while not game.battle.is_over:
                action = self._ask_action(always_odds)
                if action is None:
                    game.undo()
                    self._show("You are back at your decision before.")
                else:
                    self._show_events([game.act(action)])
                    self._show_events(game.play_on())
        except (EOFError, KeyboardInterrupt) as left:
            self.interrupted = isinstance(left, KeyboardInterrupt)
            score = points_phrase(narrated.names, narrated.battle.points)
            self._show(f"You leave the table: {score}.")
        if narrated.scenario.has_hidden_items:
            self._show(f"Hidden items: {_deals(narrated)}.")

    def transcript(self) -> Transcript:
        """Return the transcript of the battle so far."""
        return self._game.transcript()

    def _show_events(self, events: Iterable[Event]) -> None:
        names, seat = self._game.narrated.names, self._game.seat
        for event in events:
            shown = redact_event(names, event, (seat,))
            if event.node == Node.DEAL and event.army == seat:
                side = names.scenario.armies[seat]
                dealt = set_words(side, side.hidden[event.code])
                words = f"Your hidden items: {dealt}.{event.words.partition(f': {dealt}.')[2]}"
                shown = replace(event, words=words)
            self._show_lines(event_lines([shown], self._style))

    def _show_lines(self, lines: Iterable[str]) -> None:
        for line in lines:
            self._show(line)

    def _ask_action(self, always_odds: bool) -> int | None:
        """Return the chosen action, or None to undo. Raise EOFError if the person leaves."""
        game, battle, choices = self._game, self._game.battle, self._choices
        phase = int(battle.state.phase)
        if NODES[battle.node].is_between_casts or phase != self._phase_shown:
            self._show_position()
        self._phase_shown = phase
        self._show_choices(always_odds)
        while True:
            answer = read_answer("Your choice: ", self._ask, self._show)
            if answer in _HELP:
                self._show(HELP)
            elif answer in _ODDS:
                self._show_lines(choices.odds(battle))
            elif answer in _MAP:
                narrated = game.narrated
                self._show_lines(battlefield_lines(narrated.scenario, narrated.visible))
                self._show_choices(always_odds)
            elif answer in _POSITION:
                self._show_position()
                self._show_choices(always_odds)
            elif answer in _SHARE:
                self._show(game.position_id())
            elif answer in _UNDO:
                if game.decisions:
                    return None
                self._show("This is your first decision.")
            else:
                action = self._read(battle, answer)
                if action is not None and self._is_meant(battle, action):
                    return action

    def _read(self, battle: Battle, answer: str) -> int | None:
        """Return the action that an answer refers to; if none, show the expected answers."""
        legal = battle.legal_actions()
        if answer.isdecimal() and 1 <= int(answer) <= len(legal):
            return legal[int(answer) - 1]
        expected = f'a number from 1 to {len(legal)}, the beginning of a choice, or "help"'
        if any(map(str.isalpha, answer)):
            found = self._choices.find(battle, answer)
            if isinstance(found, int):
                return found
            command = get_close_matches(answer, _COMMANDS, 1, _LIKE_A_COMMAND)
            expected = f"a choice (did you mean {command[0]}?)" if command else found
        self._show(f"Expected {expected}.")
        return None

    def _is_meant(self, battle: Battle, action: int) -> bool:
        """Ask for confirmation before nominating a spell, since the rules allow no take-backs."""
        is_spell = actions.FIRST_CAST <= action < actions.FIRST_IN_PLAY
        if not self._confirm or battle.node != Node.NOMINATE or not is_spell:
            return True
        self._show(nomination_words(self._game.narrated.names, battle, action))
        while True:
            answer = read_answer(
                "Once it is named it must be cast. Name it? (y/n) ", self._ask, self._show
            )
            if answer in _YES + _NO:
                return answer in _YES
            if answer in _HELP + _ODDS:
                self._show(_NAMING_HELP)
            else:
                self._show('Expected "y" to name it, "n" for another choice, or "help".')

    def _show_choices(self, always_odds: bool) -> None:
        """Show the question, its stake and the choices."""
        battle, choices = self._game.battle, self._choices
        decision = view_decision(self._game.narrated.names, battle)
        self._show("\n" + decision.question)
        if decision.stake:
            self._show(decision.stake)
        self._show_lines(choices.odds(battle) if always_odds else choices.lines(battle))

    def _show_position(self) -> None:
        lines = position_lines(self._game.narrated.view(self._game.seat), self._style)
        self._show("\n" + "\n".join(lines))


def _deals(narrated: NarratedBattle) -> str:
    """Describe the armies' hidden items, once the battle has ended or the person has left."""
    dealt = {army: dealt_words(narrated.names, narrated.visible, army) for army in ALL_ARMIES}
    return ", ".join(
        f"{narrated.names.armies[army]} had {words}" for army, words in dealt.items() if words
    )
