"""Agents that break the rules for agents, to test their callers."""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from wfb_gym.players.baselines import RandomAgent


class Misbehaving:
    """Plays at random; `spoil` changes its answers, given the masks, after some correct calls."""

    def __init__(
        self, spoil: Callable[..., Any], after: int = 2, sees_positions: bool = False
    ) -> None:
        self.sees_positions = sees_positions
        self.spoil = spoil
        self.left = after
        self._honest = RandomAgent(1)

    def act(self, observations: Any, action_masks: Any, positions: Any = None) -> Any:
        assert (positions is not None) == self.sees_positions
        answer = self._honest.act(observations, action_masks)
        self.left -= 1
        return answer if self.left >= 0 else self.spoil(answer, action_masks)


def raising(answer: NDArray[np.int64], masks: NDArray[np.bool_]) -> Any:
    raise RuntimeError("the agent has lost its wits")


SPOILERS: dict[str, tuple[Callable[..., Any], type[Exception], str]] = {
    "raises": (raising, RuntimeError, "lost its wits"),
    "illegal": (lambda a, m: (~m).argmax(axis=1), ValueError, "is illegal, expected one of"),
    "outside": (lambda a, m: a * 0 + m.shape[1], ValueError, "is illegal, expected one of"),
    "negative": (lambda a, m: a * 0 - 1, ValueError, "action -1 is illegal"),
    "too few": (lambda a, m: a[:-1], ValueError, "expected integer actions of shape"),
    "too many": (lambda a, m: np.append(a, 0), ValueError, "expected integer actions of shape"),
    "bools": (lambda a, m: m[:, 0], ValueError, "found bool of shape"),
    "one for all": (lambda a, m: 0, ValueError, "expected integer actions of shape"),
    "columns": (lambda a, m: a[:, None], ValueError, "expected integer actions of shape"),
    "floats": (lambda a, m: a.astype(np.float32), ValueError, "found float32 of shape"),
    "for each action": (lambda a, m: m * 1.0, ValueError, "; sample an action from each row"),
    "words": (lambda a, m: a.astype(str), ValueError, "expected integer actions of shape"),
    "nothing": (lambda a, m: None, ValueError, "expected integer actions of shape"),
}
"""Corruptions of an answer, and the error for each."""
