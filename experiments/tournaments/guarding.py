"""An agent that forfeits when it crashes, breaks the rules or takes too long."""

import time
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from experiments.shared_files import given_names
from wfb_gym.encoding.policy_answers import validated_actions
from wfb_gym.encoding.positions import Positions, sees_positions
from wfb_gym.players.interface import Agent
from wfb_gym.seats import SEATS


@dataclass(frozen=True)
class Failure:
    """Why a match has no result: the agent at fault, and a one-line reason."""

    agent: str
    seat: str
    reason: str

    def __str__(self) -> str:
        return f"{self.agent} as {self.seat}: {self.reason}"


def one_line(error: BaseException) -> str:
    """Return an exception in one line: its message, with its class unless it is a ValueError."""
    message = given_names(" ".join(str(error).split()))
    if isinstance(error, ValueError) and message:
        return message
    return f"{type(error).__name__}: {message}" if message else type(error).__name__


class ForfeitError(Exception):
    """An agent forfeits its match."""

    def __init__(self, agent: str, seat: int, reason: str) -> None:
        self.failure = Failure(agent, SEATS[seat], reason)
        super().__init__(str(self.failure))


class GuardedAgent:
    """An agent that forfeits if it crashes, gives an invalid answer or is too slow.

    `move_seconds` limits its mean time per decision.
    """

    def __init__(self, agent: Agent, name: str, seat: int, move_seconds: float) -> None:
        self.sees_positions = sees_positions(agent)
        self.limits = getattr(agent, "limits", None)
        self._agent = agent
        self._name = name
        self._seat = seat
        self._move_seconds = move_seconds
        self._has_answered = False
        self._seconds = 0.0
        self._decisions = 0

    @property
    def thinking(self) -> float:
        """Mean seconds per decision so far."""
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
            raise ForfeitError(self._name, self._seat, one_line(error)) from error
        if self._has_answered:  # the first answer may include compilation
            self._seconds += time.perf_counter() - began
            self._decisions += max(1, int((action_masks.sum(axis=1) > 1).sum()))
        self._has_answered = True
        if self.thinking > self._move_seconds:
            reason = f"too slow: {self.thinking:.2g} s a decision, {self._move_seconds:g} s allowed"
            raise ForfeitError(self._name, self._seat, reason)
        return actions
