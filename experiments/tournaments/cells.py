"""One cell of a tournament: two agents play a number of battles, and none may spoil the rest.

An agent that crashes, answers with something else than legal actions or takes too long forfeits
the cell. Python cannot interrupt compiled code, so the time is looked at between two questions,
each about all battles that are played side by side: an agent that never answers still holds up
the tournament. The first battles are few, so that a slow one is found out early.
"""

import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from experiments.common import play
from wfb_gym.encoding.policy_answers import validated_actions
from wfb_gym.encoding.positions import Positions, sees_positions
from wfb_gym.opponents.policies import scripted_policy
from wfb_gym.players.interface import Agent
from wfb_gym.players.opponents import Opponent
from wfb_gym.players.registry import make_agent
from wfb_gym.scenario import Scenario
from wfb_gym.seats import SEATS

MODELS = (".zip", ".npz")
"""Endings of saved models."""
FIRST_BATTLES = 16
"""Are played before the rest: how long an agent thinks is known then."""
AT_ONCE = 1024
"""Most battles side by side."""
_DIGITS = 6
"""Of points as they are kept."""


@dataclass(frozen=True)
class Pairing:
    """Who plays whom, what, how often.

    Attributes:
        scenario: that is played.
        caster: agent of the first army, see `player`.
        dispeller: agent of the other.
        battles: how many.
        seed: of the dice: battle i has those of seed + i, whoever plays.
        draws: seeds of the two agents' own draws.
        move_seconds: that an agent may think about one decision, on average.
    """

    scenario: Scenario
    caster: str
    dispeller: str
    battles: int
    seed: int
    draws: tuple[int, int]
    move_seconds: float


@dataclass(frozen=True)
class Failure:
    """Why a cell has no result.

    Attributes:
        agent: whose fault it is.
        seat: "caster" or "dispeller".
        reason: in one line.
    """

    agent: str
    seat: str
    reason: str


@dataclass(frozen=True)
class Cell:
    """What two agents came to.

    Attributes:
        scenario: its name.
        caster: agent of the first army.
        dispeller: agent of the other.
        points: of the first army in each battle; empty if the cell failed.
        thinking: mean seconds a decision of caster and dispeller; 0 for one who plays inside the
            batch.
        failure: why there are no points, if so.
    """

    scenario: str
    caster: str
    dispeller: str
    points: tuple[float, ...]
    thinking: tuple[float, float]
    failure: Failure | None = None

    @property
    def array(self) -> NDArray[np.float64]:
        """The points, float64 (battles,)."""
        return np.array(self.points)

    def plain(self) -> dict[str, Any]:
        """As JSON holds it."""
        return asdict(self)

    @classmethod
    def of(cls, found: dict[str, Any]) -> "Cell":
        """From what `plain` gave."""
        failure = found["failure"]
        return cls(
            found["scenario"],
            found["caster"],
            found["dispeller"],
            tuple(found["points"]),
            (found["thinking"][0], found["thinking"][1]),
            None if failure is None else Failure(**failure),
        )


class ForfeitError(Exception):
    """An agent lost its cell by its own doing."""

    def __init__(self, agent: str, seat: int, reason: str) -> None:
        super().__init__(f"{agent} as {SEATS[seat]}: {reason}")
        self.failure = Failure(agent, SEATS[seat], reason)


class Watched:
    """An agent whose mistakes and time are looked after.

    Args:
        agent: who plays.
        name: for messages.
        seat: 0 or 1.
        move_seconds: that it may think about one decision, on average.

    Raises:
        ForfeitError: from `act`, whatever the agent did wrong.
    """

    def __init__(self, agent: Agent, name: str, seat: int, move_seconds: float) -> None:
        self.sees_positions = sees_positions(agent)
        self._agent = agent
        self._name = name
        self.seat = seat
        self._move_seconds = move_seconds
        self._asked = False
        self._seconds = 0.0
        self._decisions = 0

    @property
    def thinking(self) -> float:
        """Mean seconds a decision so far."""
        return self._seconds / max(1, self._decisions)

    def act(
        self,
        observations: NDArray[np.float32],
        action_masks: NDArray[np.bool_],
        positions: Positions | None = None,
    ) -> NDArray[np.int64]:
        began = time.perf_counter()
        try:
            seen = () if positions is None else (positions,)
            answer = self._agent.act(observations, action_masks.copy(), *seen)
            actions = validated_actions(answer, action_masks, "agent")
        except Exception as error:
            raise ForfeitError(self._name, self.seat, in_one_line(error)) from error
        if self._asked:  # the first time it may compile
            self._seconds += time.perf_counter() - began
            self._decisions += max(1, int((action_masks.sum(axis=1) > 1).sum()))
            self._check_time()
        self._asked = True
        return actions

    def _check_time(self) -> None:
        if self.thinking > self._move_seconds:
            reason = f"too slow: {self.thinking:.2g} s a decision, {self._move_seconds:g} s allowed"
            raise ForfeitError(self._name, self.seat, reason)


def in_one_line(error: BaseException) -> str:
    """An exception as a line: its kind, unless the message tells it, and what it says."""
    told = " ".join(str(error).split())
    if isinstance(error, ValueError) and told:
        return told
    return f"{type(error).__name__}: {told}" if told else type(error).__name__


def played(pairing: Pairing) -> Cell:
    """Play a cell to its end, or until somebody forfeits it."""
    names = (pairing.caster, pairing.dispeller)
    watched: list[Watched] = []
    try:
        caster, dispeller = (_seated(pairing, seat, watched) for seat in range(2))
        points = [
            play(
                caster,
                seat="caster",
                scenario=pairing.scenario,
                opponent=dispeller,
                battles=len(part),
                seed=pairing.seed + part.start,
            )
            for part in parts(pairing.battles)
        ]
    except ForfeitError as error:
        return Cell(pairing.scenario.name, *names, (), _thinking(watched), error.failure)
    rounded = np.round(np.concatenate(points), _DIGITS)
    return Cell(pairing.scenario.name, *names, tuple(rounded.tolist()), _thinking(watched))


def parts(battles: int) -> list[range]:
    """Battles as they are played: a few first, then many side by side."""
    ends = [0, min(FIRST_BATTLES, battles)]
    while ends[-1] < battles:
        ends.append(min(ends[-1] + AT_ONCE, battles))
    return [range(first, last) for first, last in pairwise(ends)]


def _thinking(watched: Sequence[Watched]) -> tuple[float, float]:
    found = dict.fromkeys(range(2), 0.0) | {each.seat: each.thinking for each in watched}
    return found[0], found[1]


def _seated(pairing: Pairing, seat: int, watched: list[Watched]) -> Any:
    """An agent ready to play: the caster as an agent, a scripted dispeller by its name."""
    name = (pairing.caster, pairing.dispeller)[seat]
    playing = player(name, seat)
    if seat and scripted_policy(playing) is not None:
        opponent: Opponent = playing
        return opponent
    try:
        agent = make_agent(playing, scenario=pairing.scenario, seat=seat, seed=pairing.draws[seat])
    except Exception as error:
        raise ForfeitError(name, seat, in_one_line(error)) from error
    watched.append(Watched(agent, name, seat, pairing.move_seconds))
    return watched[-1]


def player(agent: str, seat: int) -> str:
    """Who plays a seat for an agent, as `wfb_gym.players.registry.make_agent` takes it.

    Models are mostly trained for one seat, so that an agent may be two: "CASTER+DISPELLER".
    """
    both = agent.split("+")
    return both[seat] if len(both) == len(SEATS) else agent


def shown_name(agent: str) -> str:
    """An agent's name as tables have it: of a path the last folder and the file."""
    return "+".join(
        "/".join(Path(each).with_suffix("").parts[-2:]) if Path(each).suffix in MODELS else each
        for each in agent.split("+")
    )
