"""A battle of a person against another player in the terminal: what is shown and asked.

The rules are the engine's, the descriptions those of `wfb_gym.transcripts`, the values those of
`wfb_gym.players.analysis`.
"""

import secrets
import sys
from collections.abc import Callable, Iterable
from typing import Any

from wfb_gym.cli.parser import align_columns, format_value
from wfb_gym.engine.battle import Battle
from wfb_gym.engine.generator import Rng
from wfb_gym.engine.state import Node
from wfb_gym.opponents.scripted import find_scripted
from wfb_gym.players.analysis import Analyst
from wfb_gym.players.interface import Opponent
from wfb_gym.players.registry import make_agent
from wfb_gym.render.ansi import AnsiStyle, event_lines, position_lines
from wfb_gym.scenario import Scenario
from wfb_gym.transcripts import Event, NarratedBattle, Transcript
from wfb_gym.transcripts.decisions import ActionDescription, describe_action
from wfb_gym.transcripts.names import ScenarioNames, points_phrase
from wfb_gym.transcripts.recording import make_chooser, play_on, rng_of_seed

_QUIT = ("quit", "exit", "q")
_ODDS = ("?", "odds")
_SHOWS_POSITION = (Node.NOMINATE, Node.SWAP_SPELL, Node.IN_PLAY, Node.STORE_DICE)
"""Decisions before which the whole position is shown."""
QUESTIONS = {
    Node.NOMINATE: "What will you cast?",
    Node.ITEM: "Use an item with it?",
    Node.RESERVE_DICE: "How many of the wizard's own dice?",
    Node.POOL_DICE: "On how many dice?",
    Node.KEEP_CASTING: "Keep the roll?",
    Node.DISPEL: "Will you dispel it?",
    Node.DISPEL_RESERVE: "How many of the wizard's own dice?",
    Node.DISPEL_POOL: "How many dice of the pool?",
    Node.KEEP_DISPEL: "Keep the roll?",
    Node.FREE_SPELL: "The miscast gives you a spell without a roll. Which?",
    Node.IN_PLAY: "Will you dispel a spell in play?",
    Node.TARGET: "At whom?",
    Node.SWAP_SPELL: "Swap a spell for the first of its lore?",
    Node.STORE_DICE: "How many dice will you keep?",
}


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
        self.seed = secrets.randbelow(2**31) if seed is None else seed
        self._seat = seat
        self._opponent = opponent
        self._narrated = NarratedBattle(scenario)
        player: Opponent = opponent
        if find_scripted(opponent) is None:
            player = make_agent(opponent, seed=self.seed, scenario=scenario, seat=1 - seat)
        self._other = make_chooser(player, self._narrated, 1 - seat)
        self._rng = rng_of_seed(self.seed)
        self._choices = Choices(scenario)
        self._ask, self._show = ask, show
        self._style = AnsiStyle(None if sys.stdout.isatty() else False)
        self._events: list[Event] = []
        self.interrupted = False
        """Ctrl-C has ended it."""

    def play(self, *, always_odds: bool = False) -> None:
        """Play to the end, or until the person leaves."""
        narrated = self._narrated
        opening = f"{narrated.opening[:1].upper()}{narrated.opening[1:]}."
        self._show(f"{narrated.scenario.name}, seed {self.seed}. {opening}")

        def person(battle: Battle, rng: Rng) -> int:
            return self._ask_action(always_odds)

        players = (person, self._other) if self._seat == 0 else (self._other, person)
        try:
            for event in play_on(narrated, self._rng, players):
                self._events.append(event)
                self._show_lines(event_lines([event], self._style))
        except (EOFError, KeyboardInterrupt) as left:
            self.interrupted = isinstance(left, KeyboardInterrupt)
            score = points_phrase(narrated.names, narrated.battle.points)
            self._show(f"You leave the table: {score}.")

    def transcript(self) -> Transcript:
        """Return the battle so far."""
        players = ("you", self._opponent) if self._seat == 0 else (self._opponent, "you")
        battle, scenario = self._narrated.battle, self._narrated.scenario
        events = tuple(self._events)
        return Transcript(scenario, players, self.seed, events, battle.points, battle.is_over)

    def _show_lines(self, lines: Iterable[str]) -> None:
        for line in lines:
            self._show(line)

    def _ask_action(self, always_odds: bool) -> int:
        """Ask for a decision, an engine code; `EOFError` to leave."""
        narrated, battle = self._narrated, self._narrated.battle
        if battle.node in _SHOWS_POSITION:
            lines = position_lines(
                narrated.scenario, narrated.visible, seat=self._seat, style=self._style
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
        descriptions = self._descriptions(battle).values()
        return [f"{number:>3}  {each.text}" for number, each in enumerate(descriptions, 1)]

    def odds(self, battle: Battle) -> list[str]:
        """Return the same with the chance of the dice and, if it can be solved, the value.

        Values are points still to come for the mover if both play on optimally.
        """
        analysis = self._analyst.analyse(battle)
        values = analysis.values if analysis.is_exact else {}
        rows = [("", "", "CHANCE", "POINTS TO COME" if values else "")]
        best = max(values.values(), default=0.0)
        for number, (action, each) in enumerate(self._descriptions(battle).items(), 1):
            chance = "" if each.chance is None else f"{float(each.chance):.1%}"
            value = ""
            if action in values:
                is_best = values[action] > best - 1e-9
                value = format_value(values[action]) + (" best" if is_best else "")
            rows.append((f"{number:>3}", each.text, chance, value))
        return align_columns(rows, "><><")

    def _descriptions(self, battle: Battle) -> dict[int, ActionDescription]:
        descriptions = {}
        for action in battle.legal_actions():
            after = battle.copy()
            after.act(action)
            descriptions[action] = describe_action(self._names, battle, action, after)
        return descriptions
