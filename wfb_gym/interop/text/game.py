"""Battles played by text: one or both seats answer with replies."""

import secrets
from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from os import PathLike
from typing import Any, TypedDict

from wfb_gym.encoding.actions import action_meanings, army_names
from wfb_gym.encoding.view import View
from wfb_gym.interop.text.grading import MAX_BYTES, RegretGrader
from wfb_gym.interop.text.replies import LegalAction, ReplyError, parse_reply
from wfb_gym.interop.text.seat_view import SeatView, rules_summary, view_seat
from wfb_gym.packing import pack
from wfb_gym.players.interface import Opponent
from wfb_gym.players.registry import make_agent
from wfb_gym.scenario import Scenario, load_scenario
from wfb_gym.scenario.sizes import ARMIES
from wfb_gym.seats import SEATS, seat_number
from wfb_gym.transcripts.narrated_battle import NarratedBattle
from wfb_gym.transcripts.recording import (
    ChooseAction,
    make_chooser,
    make_seeded_chooser,
    play_on,
    rng_of_seed,
)
from wfb_gym.view.events import Event
from wfb_gym.view.names import plural

TextPlayer = Callable[[str], str]  # a function from an observation to a reply


class StepInfo(TypedDict):
    """Information about a step.

    Attributes:
        seat: the seat that replied, 0 or 1.
        action: index of the action that was played, or None if none was.
        label: its label, or "".
        error: "", or the kind of error in the reply: "parse failure" or "illegal action".
        reason: the reason of the error, or "".
        retries_left: number of times that the seat may still repeat its reply in this decision.
        forfeited: whether the lowest legal action was played after the last retry.
        regret: exact regret of the action that was played, in points, or None if it is unknown.
    """

    seat: int
    action: int | None
    label: str
    error: str
    reason: str
    retries_left: int
    forfeited: bool
    regret: float | None


@dataclass
class SeatResult:
    """The result of one seat in a battle so far.

    Attributes:
        points: points won.
        decisions: number of decisions played.
        regrets: exact regret of each decision, in points; None if it is unknown.
        stake: the points at stake (`RegretGrader.stake`), or None if they are unknown or 0.
        parse_failures: number of replies that could not be parsed.
        illegal_actions: number of replies that named an illegal action.
        forfeits: number of decisions in which the lowest legal action was played instead.
    """

    points: float = 0.0
    decisions: int = 0
    regrets: list[float | None] = field(default_factory=list)
    stake: float | None = None
    parse_failures: int = 0
    illegal_actions: int = 0
    forfeits: int = 0

    @property
    def regret(self) -> float | None:
        """Total regret, or None if the regret of a decision is unknown."""
        known = [each for each in self.regrets if each is not None]
        return sum(known) if len(known) == len(self.regrets) else None

    @property
    def share(self) -> float | None:
        """The share of the stake that was kept: 1 - regret / stake. None if it is unknown.

        Optimal play keeps 1. In one battle the share may be below 0.
        """
        regret = self.regret
        return None if regret is None or self.stake is None else 1.0 - regret / self.stake

    def to_dict(self) -> dict[str, Any]:
        """Return the attributes, the total regret and the share, for JSON."""
        return {**asdict(self), "regret": self.regret, "share": self.share}


class TextGame:
    """A battle in which one seat or both answer decisions with texts.

    Args:
        scenario: a bundled name, a path, or a `Scenario`.
        seat: the seat that replies: 0 or "caster", 1 or "dispeller". None for both seats.
        opponent: the player of the other seat, any name, agent or policy that environments accept.
            None for both seats. If only one of `seat` and `opponent` is given, the other defaults
            to "caster" or "veteran".
        retries: number of times that a reply may be repeated in a decision. After that, the lowest
            legal action is played, which is pass if pass is legal.
        odds: whether observations contain the chances of casting and dispelling.
        max_bytes: memory limit for solving the scenario, in bytes, for regrets. With 0, regrets are
            None.
        grader: a grader of the same scenario to share its solution with other games, instead of
            `max_bytes`.

    Attributes:
        scenario: the scenario.
        seats: the seats that reply.
        seed: the seed of the battle.
        narrated: the battle; its hidden items are not hidden here.
        events: all events so far, also not redacted.
        grader: grades decisions.

    Raises:
        ScenarioError: if the scenario does not exist or is invalid.
        ValueError: if the seat or the opponent is unknown, or cannot play the scenario.
        TooLarge: if the scenario has too many positions for the optimal player.
    """

    def __init__(
        self,
        scenario: str | PathLike[str] | Scenario,
        seat: int | str | None = None,
        opponent: Opponent | None = None,
        *,
        retries: int = 2,
        odds: bool = False,
        max_bytes: int = MAX_BYTES,
        grader: RegretGrader | None = None,
    ) -> None:
        if retries < 0:
            raise ValueError(f"retries: expected 0 or more, found {retries}")
        if seat is None and opponent is not None:
            seat = 0
        if seat is not None and opponent is None:
            opponent = "veteran"
        self.scenario = load_scenario(scenario)
        self.seats = tuple(range(ARMIES)) if seat is None else (seat_number(seat),)
        self.retries, self.odds = retries, odds
        self.grader = grader or RegretGrader(self.scenario, max_bytes)
        self._opponent = opponent
        self._packed = pack(self.scenario)
        views = [View.fitted(self._packed, army) for army in range(ARMIES)]
        self._codecs = [view.codec for view in views]
        names = [army_names(self.scenario, army) for army in range(ARMIES)]
        self._meanings = [
            action_meanings(view.limits, names[view.seat], names[1 - view.seat]) for view in views
        ]
        self._start(0)
        self._is_reset = False

    def _start(self, seed: int) -> None:
        self.seed = seed
        self.narrated = NarratedBattle(self.scenario, self._packed)
        self.events: list[Event] = []
        self._rng = rng_of_seed(seed)
        self._players: list[ChooseAction | None] = [None, None]
        if self._opponent is not None:
            other = 1 - self.seats[0]
            self._players[other] = make_seeded_chooser(self._opponent, self.narrated, other, seed)
        self._results = [SeatResult() for _ in range(ARMIES)]
        self._retries_left = self.retries
        self._shown = [0] * ARMIES
        self._rewarded = [0.0] * ARMIES
        self._rules: dict[int, str] = {}

    def reset(self, seed: int | None = None) -> str:
        """Start a new battle and play to the first decision.

        Args:
            seed: seed of the dice and of the opponent, 0 or more. If None, the seed is random.

        Returns:
            The observation of the seat to move, with the rules. If the battle is already over, the
            last position.

        Raises:
            ValueError: if the seed is negative.
        """
        if seed is not None and seed < 0:
            raise ValueError(f"seed: expected 0 or more, found {seed}")
        self._start(secrets.randbelow(2**31) if seed is None else seed)
        self._is_reset = True
        self._play_on()
        return self._observe()

    @property
    def done(self) -> bool:
        """Whether the battle is over."""
        return self.narrated.battle.is_over

    @property
    def to_move(self) -> int | None:
        """The seat to move, or None if the battle is over or has not been reset."""
        battle = self.narrated.battle
        return battle.mover if self._is_reset and battle.is_decision() else None

    @property
    def legal_actions(self) -> tuple[LegalAction, ...]:
        """The legal actions of the seat to move; () if the battle is over."""
        return () if self.to_move is None else self.view(self.to_move).actions

    def view(self, seat: int | str | None = None) -> SeatView:
        """Return a seat's view of the battle, for observations of another form.

        Args:
            seat: 0 or "caster", 1 or "dispeller". Defaults to the seat to move, or to the first
                seat that replies if the battle is over.
        """
        own = self._default_seat() if seat is None else seat_number(seat)
        return view_seat(
            self.narrated,
            own,
            self._codecs[own],
            self.events,
            rules=self.rules(own),
            new=self._shown[own],
            odds=self.odds,
        )

    def rules(self, seat: int) -> str:
        """Return the summary of the rules for a seat, 0 or 1."""
        if seat not in self._rules:
            start = NarratedBattle(self.scenario, self._packed)
            self._rules[seat] = rules_summary(start.names, start.view(seat), seat)
        return self._rules[seat]

    def meanings(self, seat: int) -> list[str]:
        """Return the meaning of each action in a seat's action space, legal or not."""
        return self._meanings[seat]

    def index_of(self, seat: int, code: int) -> int:
        """Return the index of an engine code in a seat's action space."""
        return int(self._codecs[seat].index_of[code])

    def points(self, seat: int) -> float:
        """Return the points that a seat, 0 or 1, has won so far."""
        points = self.narrated.battle.points
        return points if seat == 0 else 0.0 - points

    def result(self, seat: int | str | None = None) -> SeatResult:
        """Return a seat's result so far; by default, of the first seat that replies."""
        own = self.seats[0] if seat is None else seat_number(seat)
        found = self._results[own]
        found.points, found.stake = self.points(own), self.grader.stake(own)
        return found

    def step(self, reply: str) -> tuple[str, float, bool, StepInfo]:
        """Play the action that a reply names, and play on to the next decision.

        If the reply is not accepted, the observation is the reason and the same decision again. If
        no retry is left, the lowest legal action is played instead.

        Args:
            reply: the reply of the seat to move.

        Returns:
            The observation of the seat to move, the points that the seat that replied won since its
            last action or the start, whether the battle is over, and information about the step.

        Raises:
            ValueError: if there is no decision, because the battle is over or was not reset.
        """
        seat = self.to_move
        if seat is None:
            raise ValueError("step: expected a decision, found none; call reset")
        view, result = self.view(seat), self._results[seat]
        actions = view.actions
        info = StepInfo(
            seat=seat, action=None, label="", error="", reason="", retries_left=0, forfeited=False,
            regret=None,
        )  # fmt: skip
        try:
            index = parse_reply(reply, actions, self._meanings[seat])
        except ReplyError as error:
            info["error"], info["reason"] = error.kind, str(error)
            result.parse_failures += error.kind == "parse failure"
            result.illegal_actions += error.kind == "illegal action"
            if self._retries_left:
                self._retries_left -= 1
                info["retries_left"] = self._retries_left
                return self._reject(error, view), 0.0, False, info
            info["forfeited"], index = True, actions[0].index
            result.forfeits += 1
        battle = self.narrated.battle
        code = int(self._codecs[seat].code_of[index])
        info["action"] = index
        info["label"] = next(each.label for each in actions if each.index == index)
        info["regret"] = self.grader.regret(battle, code)
        info["retries_left"] = self._retries_left = self.retries
        result.regrets.append(info["regret"])
        result.decisions += 1
        self._shown[seat] = len(self.events)
        self.events.append(self.narrated.act(code))
        self._play_on()
        points = self.points(seat)
        reward, self._rewarded[seat] = points - self._rewarded[seat], points
        return self._observe(), reward, self.done, info

    def _play_on(self) -> None:
        self.events += play_on(self.narrated, self._rng, self._players)

    def _default_seat(self) -> int:
        return self.seats[0] if self.to_move is None else self.to_move

    def _observe(self) -> str:
        """Return the observation of the seat to move; the rules come with its first one."""
        seat = self._default_seat()
        return self.view(seat).text(rules=not self._results[seat].decisions)

    def _reject(self, error: ReplyError, view: SeatView) -> str:
        """Return the reason of an error, the consequence of the next one, and the decision."""
        last, left = view.actions[0], plural(self._retries_left + 1, "try", "tries")
        return (
            f"Your reply was not accepted: {error}. You have {left} left; then [{last.index}] "
            f"{last.label} is played.\n\n{view.decision_text}"
        )


def text_player(name: str, game: TextGame, seat: int | str, seed: int | None = None) -> TextPlayer:
    """Return a registered player as a function from observations to replies.

    The player sees the position of the game, as in the environments, and ignores the observation.

    Args:
        name: any name accepted by `wfb_gym.players.registry.make_agent`.
        game: the game that it plays.
        seat: its seat: 0 or "caster", 1 or "dispeller".
        seed: seed for its own sampling. If None, the seed is random.

    Raises:
        FileNotFoundError: if the file does not exist.
        ValueError: if the player does not exist, or if it is asked when its seat is not to move.
        TooLarge: if the scenario has too many positions for the optimal player.
    """
    own = seat_number(seat)
    agent: Any = make_agent(name, seed=seed, scenario=game.scenario, seat=own, who="player")
    asked: list[tuple[NarratedBattle, ChooseAction]] = []
    rng = rng_of_seed(0)  # not used, because an agent has its own generator

    def reply(observation: str) -> str:
        if game.to_move != own:
            raise ValueError(f"{name}: expected a decision of the {SEATS[own]}, found none")
        narrated = game.narrated
        if not asked or asked[0][0] is not narrated:  # a new battle
            asked[:] = [(narrated, make_chooser(agent, narrated, own))]
        code = asked[0][1](narrated.battle, rng)
        index = game.index_of(own, code)
        return next(
            f"I choose [{each.label}]." for each in game.legal_actions if each.index == index
        )

    return reply
