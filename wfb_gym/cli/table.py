"""A battle at the table: what a person is shown and asked, and who sits opposite.

The rules are the engine's, the words `wfb_gym.transcripts`', the values `wfb_gym.solver`'s.
"""

import secrets
import sys
from collections.abc import Callable
from typing import Any

from wfb_gym.cli.odds import Odds
from wfb_gym.engine.state import Node
from wfb_gym.render.ansi import Paint, standing, tale
from wfb_gym.scenario import Scenario
from wfb_gym.transcripts import Event, Telling, Transcript
from wfb_gym.transcripts.playing import Player, rng_of_seed
from wfb_gym.transcripts.recorder import roll
from wfb_gym.transcripts.wording import points_in_words

_QUIT = ("quit", "exit", "q")
_ODDS = ("?", "odds")
_FULL = (Node.NOMINATE, Node.SWAP_SPELL, Node.IN_PLAY, Node.STORE_DICE)
"""Decisions before which the whole table is shown."""
_QUESTIONS = {
    Node.NOMINATE: "What will you cast?",
    Node.ITEM: "Use an item with it?",
    Node.RESERVE_DICE: "How many dice of his own?",
    Node.POOL_DICE: "On how many dice?",
    Node.KEEP_CASTING: "Keep the roll?",
    Node.DISPEL: "Will you dispel it?",
    Node.DISPEL_RESERVE: "How many dice of his own?",
    Node.DISPEL_POOL: "How many dice of the pool?",
    Node.KEEP_DISPEL: "Keep the roll?",
    Node.FREE_SPELL: "The miscast gives you a spell without a roll. Which?",
    Node.IN_PLAY: "Will you dispel a spell in play?",
    Node.TARGET: "At whom?",
    Node.SWAP_SPELL: "Swap a spell for the first of its lore?",
    Node.STORE_DICE: "How many dice will you keep?",
}


def opponent_called(name: str, scenario: Scenario, seat: int, seed: int) -> Any:
    """A player by name: the package's own, or an agent where the checkout has agents.

    Raises:
        ValueError: there is none of that name.
        FileNotFoundError: a saved model that is not there.
        TooLarge: an optimal player's scenario has more positions than fit.
    """
    from wfb_gym.opponents.scripted import find_scripted

    if find_scripted(name) is not None:
        return name
    try:
        from wfb_gym.players.registry import make_agent
    except ImportError:  # the wheel has no agents, or what they need is missing
        return name
    return make_agent(name, seed=seed, scenario=scenario, seat=seat)


class Table:
    """A person and another player.

    Args:
        scenario: that they play.
        seat: the person's: 0 or 1.
        opponent: the other player's name, or a saved model's path.
        seed: of the dice; None for another each time.
        ask: how to ask the person, by default `input`; one that raises `EOFError` leaves.
        say: how to tell him something, by default `print`.

    Raises:
        ValueError: an unknown opponent.
        FileNotFoundError: a saved model that is not there.
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
        say: Callable[[str], Any] = print,
    ) -> None:
        self.seed = secrets.randbelow(2**31) if seed is None else seed
        self._seat = seat
        self._called = opponent
        self._telling = Telling(scenario)
        player = opponent_called(opponent, scenario, 1 - seat, self.seed)
        self._opponent = Player(player, self._telling, 1 - seat)
        self._rng = rng_of_seed(self.seed)
        self._odds = Odds(scenario)
        self._ask, self._say = ask, say
        self._paint = Paint(None if sys.stdout.isatty() else False)
        self._events: list[Event] = []

    def play(self, *, always_odds: bool = False) -> None:
        """Play to the end, or until the person leaves.

        Args:
            always_odds: show the odds at every decision.
        """
        telling, battle = self._telling, self._telling.battle
        self._say(f"{telling.scenario.name}, seed {self.seed}. {_sentence(telling.opening)}")
        while not battle.is_over:
            if battle.is_chance():
                self._happened(roll(telling, self._rng))
            elif battle.mover != self._seat:
                self._happened(telling.act(self._opponent.choose(battle, self._rng)))
            else:
                code = self._decision(always_odds)
                if code is None:
                    score = points_in_words(telling.names, battle.points)
                    self._say(f"You leave the table: {score}.")
                    return
                self._happened(telling.act(code))

    def transcript(self) -> Transcript:
        """The battle so far."""
        names = ["you", "you"]
        names[1 - self._seat] = self._called
        battle = self._telling.battle
        return Transcript(
            self._telling.scenario,
            (names[0], names[1]),
            self.seed,
            tuple(self._events),
            battle.points,
            battle.is_over,
        )

    def _happened(self, event: Event) -> None:
        self._events.append(event)
        for line in tale([event], self._paint):
            self._say(line)

    def _decision(self, always_odds: bool) -> int | None:
        """What the person chooses, as an engine code; None to leave."""
        battle = self._telling.battle
        if battle.node in _FULL:
            shown = standing(
                self._telling.scenario, self._telling.shown, seat=self._seat, paint=self._paint
            )
            self._say("\n" + "\n".join(shown))
        choices = self._odds.choices(battle)
        self._say("\n" + _QUESTIONS[battle.node])
        for line in self._odds.table(battle) if always_odds else choices:
            self._say(line)
        legal = battle.legal_actions()
        while True:
            try:
                answer = self._ask("Your choice: ").strip().lower()
            except EOFError:
                self._say("")
                return None
            if answer in _QUIT:
                return None
            if answer in _ODDS:
                for line in self._odds.table(battle):
                    self._say(line)
            elif answer.isdecimal() and 1 <= int(answer) <= len(legal):
                return legal[int(answer) - 1]
            else:
                self._say(f'Expected a number from 1 to {len(legal)}, "?" or "quit".')


def _sentence(words: str) -> str:
    return f"{words[:1].upper()}{words[1:]}."
