"""A battle between a person and another player, one decision at a time, without a user interface.

The terminal game and the web UI are built on this module. The rules are in the engine.
"""

import secrets
from collections.abc import Iterator, Sequence
from random import Random
from typing import Any, NamedTuple

import numpy as np

from wfb_gym.engine.battle import Battle
from wfb_gym.engine.random_numbers import new_rngs
from wfb_gym.scenario import Scenario
from wfb_gym.seats import seat_number
from wfb_gym.transcripts.narrated_battle import NarratedBattle
from wfb_gym.transcripts.position_ids import SharedPosition, position_id
from wfb_gym.transcripts.recording import make_seeded_chooser, play_on, rng_of_seed
from wfb_gym.transcripts.transcript import Transcript, player_label
from wfb_gym.view.decisions import ActionView, describe_choices
from wfb_gym.view.events import Event
from wfb_gym.view.hidden_sets import sets_that_may_be

YOU = "you"  # the person's name in a transcript


class _Checkpoint(NamedTuple):
    """Snapshot of a game at one of the person's decisions."""

    battle: Battle
    rng: Any  # record array of shape (1,), like the histories
    visible: Battle
    histories: Any
    events: int


class Steps(NamedTuple):
    """The steps of a game, from which it can be continued later, after any undo."""

    codes: Sequence[int]  # the codes of all events, including the deals of hidden items
    # number of random words drawn for the opponent's choices, before each of the person's decisions
    # and after the last event
    draws: Sequence[int]


class Game:
    """A battle between a person and another player.

    Call `play_on` first. Then, at each of the person's decisions, call `act` followed by `play_on`.

    Args:
        scenario: the scenario to play.
        seat: the person's seat, 0 or 1.
        opponent: any name accepted by `wfb_gym.players.registry.make_agent`.
        seed: seed for the dice, 0 or more. If None, the seed is random.
        start: a position of the scenario to start from. Hidden items that it leaves out are dealt.

    Attributes:
        narrated: the battle.
        start: the position that the game started from, or None for the start of the battle.
        seat: the person's seat.
        opponent: the opponent's name.
        seed: seed for the dice.
        events: all events, in order.

    Raises:
        ValueError: if the seat or the opponent is unknown, or if the opponent is "optimal" and the
            scenario has hidden items.
        FileNotFoundError: if the saved model does not exist.
        ImportError: if the model needs an extra that is not installed.
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
    ) -> None:
        self.seed = secrets.randbelow(2**31) if seed is None else seed
        self.seat, self.opponent = seat_number(seat), opponent
        self.narrated, self.start = NarratedBattle(scenario), start
        if start is not None:
            self._begin_at(start)
        other = make_seeded_chooser(opponent, self.narrated, 1 - self.seat, self.seed)
        self._players = (None, other) if self.seat == 0 else (other, None)
        self._rng = rng_of_seed(self.seed)
        self.events: list[Event] = []
        self._checkpoints: list[_Checkpoint] = []

    def _begin_at(self, start: SharedPosition) -> None:
        """Go to a position, and deal the hidden items that it leaves out."""
        narrated, random = self.narrated, Random(self.seed)
        narrated.set_state(start.battle.state, start.battle.points, start.visible.copy())
        for army in start.unknown:
            sets = sets_that_may_be(narrated.names, narrated.battle, army)
            (dealt,) = random.choices(sets, [each.chance for each in sets])
            narrated.deal_instead(army, dealt.kind)

    @property
    def battle(self) -> Battle:
        """The current position."""
        return self.narrated.battle

    @property
    def decisions(self) -> list[int]:
        """The number of events before each of the person's past decisions, in order."""
        return [checkpoint.events for checkpoint in self._checkpoints]

    def play_on(self) -> Iterator[Event]:
        """Play up to the person's next decision, or to the end."""
        for event in play_on(self.narrated, self._rng, self._players):
            self.events.append(event)
            yield event

    def choices(self) -> dict[int, ActionView]:
        """Return the person's choices in words, by engine code, or {} if it is not their turn."""
        battle = self.battle
        if not battle.is_decision() or battle.mover != self.seat:
            return {}
        return describe_choices(self.narrated.names, battle)

    def act(self, code: int) -> Event:
        """Play the person's chosen action; the opponent replies once `play_on` is called.

        Raises:
            ValueError: if it is not the person's turn or the action is illegal.
        """
        battle = self.battle
        if not battle.is_decision() or battle.mover != self.seat:
            raise ValueError(f"action: expected the person's decision, found {battle.node.name}")
        rngs, narrated = new_rngs(1), self.narrated
        rngs[0] = self._rng
        histories, events = narrated.histories.copy(), len(self.events)
        checkpoint = _Checkpoint(battle.copy(), rngs, narrated.visible, histories, events)
        event = narrated.act(code)
        self._checkpoints.append(checkpoint)
        self.events.append(event)
        return event

    def undo(self, decision: int = -1) -> None:
        """Go back to one of the person's decisions, by its index in `decisions`.

        The same rolls come up again, because the dice depend only on the seed.

        Raises:
            IndexError: if there is no such decision.
        """
        checkpoint = self._checkpoints[decision]
        battle, visible = checkpoint.battle, checkpoint.visible
        self.narrated.set_state(battle.state, battle.points, visible, checkpoint.histories)
        self._rng = checkpoint.rng[0]
        del self.events[checkpoint.events :]
        del self._checkpoints[decision:]

    def position_id(self) -> str:
        """Return the id of the current position, without the enemy's hidden items.

        Raises:
            ValueError: if the position is not at a decision.
        """
        narrated = self.narrated
        return position_id(
            narrated.scenario, self.battle, visible=narrated.visible, known=(self.seat,)
        )

    def steps(self) -> Steps:
        """Return the steps so far, for `resume`."""
        rngs = [*(checkpoint.rng[0] for checkpoint in self._checkpoints), self._rng]
        return Steps([event.code for event in self.events], [int(rng.choices) for rng in rngs])

    def resume(self, steps: Steps) -> None:
        """Repeat the steps of an earlier game with the same arguments, before anything is played.

        The opponent's choices are repeated too, so this takes no time to think. The dice are rolled
        again from the seed.

        Raises:
            ValueError: if the steps do not follow from the scenario, the seed and the rules.
        """
        narrated, draws = self.narrated, map(np.uint64, steps.draws)
        try:
            for code in steps.codes:
                if self.battle.is_decision() and self.battle.mover == self.seat:
                    self._rng.choices = next(draws)
                    self.act(code)
                    continue
                if self.battle.is_decision():
                    event = narrated.act(code)
                else:
                    event = next(play_on(narrated, self._rng, (None, None)))
                if event.code != code:
                    raise ValueError(f"steps: expected the roll {event.code}, found {code}")
                self.events.append(event)
            self._rng.choices = next(draws)
        except StopIteration as error:
            raise ValueError("steps: expected fewer events, or more draws") from error

    def transcript(self) -> Transcript:
        """Return the transcript of the battle so far.

        Raises:
            ValueError: if the game did not start at the start of the battle.
        """
        if self.start is not None:
            raise ValueError("transcript: expected a game from the start of the battle")
        other = player_label(self.opponent)
        players = (YOU, other) if self.seat == 0 else (other, YOU)
        battle, events = self.battle, tuple(self.events)
        scenario = self.narrated.scenario
        return Transcript(scenario, players, self.seed, events, battle.points, battle.is_over)
