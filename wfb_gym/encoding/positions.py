"""What a planner may see of battles in progress, and how policies are asked that see it.

A planner goes on from a position with the engine's own operations. It gets copies of the states,
and never the generators: the dice to come are nobody's to see.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from wfb_gym._records import Records, as_records
from wfb_gym.encoding.actions import ActionCodec
from wfb_gym.engine.state import State
from wfb_gym.packing.records import PackedScenario


@dataclass(frozen=True, eq=False)
class Positions:
    """The positions of k battles, as one seat's player is asked about them.

    Where the battle is over, or the other seat decides, only pass is legal: answer 0.

    Attributes:
        packed_scenarios: all scenarios that are played, packed; to be read only.
        scenario: which of them each battle plays, int64 (k,).
        states: `engine.state.STATE` records, shape (k,): copies, to do with as one likes.
        seat: that is asked: 0 or 1.
        codec: of the action space that the answers belong to.
    """

    packed_scenarios: Records[PackedScenario]
    scenario: NDArray[np.int64]
    states: Records[State]
    seat: int
    codec: ActionCodec

    def __len__(self) -> int:
        return len(self.states)

    def rows(self, chosen: NDArray[Any]) -> Self:
        """Some of them: copies, by rows or by a mask."""
        return replace(self, scenario=self.scenario[chosen], states=copied(self.states, chosen))


def copied(states: Records[State] | NDArray[Any], chosen: NDArray[Any]) -> Records[State]:
    """Copies of some states, in a row as compiled code takes them."""
    return as_records(State, np.ascontiguousarray(states[chosen]))


def sees_positions(policy: Any) -> bool:
    """Whether a policy, or the object whose method it is, wants positions."""
    owner = getattr(policy, "__self__", None)
    return bool(getattr(policy, "sees_positions", getattr(owner, "sees_positions", False)))


def ask(
    policy: Callable[..., Any],
    observations: NDArray[np.float32],
    masks: NDArray[np.bool_],
    positions: Callable[[], Positions],
) -> Any:
    """A policy's answer; positions are made only for one that sees them.

    Args:
        policy: a function of observations, masks and, if it sees them, positions.
        observations: float32 (k, size).
        masks: bool (k, actions).
        positions: makes the positions of the same battles.
    """
    if sees_positions(policy):
        return policy(observations, masks, positions())
    return policy(observations, masks)
