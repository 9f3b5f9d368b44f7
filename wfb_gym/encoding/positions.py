"""Positions for planners, and the call of a policy; `policy_answers` validates the result.

A planner searches from a position with the engine's own operations. It gets copies of the states,
but no random generators, which would reveal future dice. Hidden enemy items are replaced by the
most likely set that the enemy may have, so the position does not reveal the real one.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from wfb_gym._jit import jit
from wfb_gym._records import Records, as_records
from wfb_gym.encoding.actions import ActionCodec
from wfb_gym.encoding.history import History
from wfb_gym.engine.actions import ACTIONS
from wfb_gym.engine.battle import Battle
from wfb_gym.engine.hidden_items import deal_likeliest
from wfb_gym.engine.state import FIRST_DECISION, LAST_DECISION, State, new_states
from wfb_gym.packing.records import PackedScenario


class PositionArrays(NamedTuple):
    """`Positions` as arrays for compiled code."""

    packed_scenarios: Records[PackedScenario]
    scenario: NDArray[np.int64]  # (k,)
    states: Records[State]  # (k,)
    seat: int
    indices: NDArray[np.int64]  # (ACTIONS,): action index by engine code

    def decides(self) -> NDArray[np.bool_]:
        """Return which positions are decisions of the seat, bool (k,)."""
        nodes, movers = self.states["node"], self.states["mover"]
        own: NDArray[np.bool_] = movers == self.seat
        return own & (nodes >= FIRST_DECISION) & (nodes <= LAST_DECISION)


def position_of(battle: Battle) -> PositionArrays:
    """Return the position of one battle as its mover sees it; actions are engine codes."""
    states, scenario = new_states(1), np.zeros(1, np.int64)
    states[0] = battle.state
    hide_enemy_items(battle.packed_scenarios, scenario, states, battle.mover)
    codes = np.arange(ACTIONS)
    return PositionArrays(battle.packed_scenarios, scenario, states, battle.mover, codes)


def hide_enemy_items(
    packed_scenarios: Records[PackedScenario],
    scenario: NDArray[np.int64],
    states: Records[State],
    seat: int,
) -> None:
    """Replace the hidden items of a seat's enemy by the most likely possible set, in place.

    Args:
        packed_scenarios: packed scenarios, (n,).
        scenario: index of each position's scenario, int64 (k,).
        states: positions, (k,).
        seat: 0 or 1.
    """
    if packed_scenarios["deals"].any():
        _hide(packed_scenarios, scenario, states, 1 - seat)


@jit(nogil=True, forceinline=False)
def _hide(
    packed_scenarios: Records[PackedScenario],
    scenario: NDArray[np.int64],
    states: Records[State],
    army: int,
) -> None:
    for row in range(states.shape[0]):
        deal_likeliest(packed_scenarios[scenario[row]], states[row], army)


@dataclass(frozen=True, eq=False)
class Positions:
    """The positions of k battles, as the player of one seat sees them.

    If the battle is over, or the other seat decides, only pass is legal: answer 0.

    Attributes:
        packed_scenarios: packed scenarios, (n,); read only.
        scenario: index of each battle's scenario, int64 (k,).
        states: `engine.state.STATE` records, shape (k,): copies that the planner may change.
        seat: the player's seat, 0 or 1.
        codec: codec of the action space of the answers.
        histories: histories of the battles, (k,); None if the observations contain none.
    """

    packed_scenarios: Records[PackedScenario]
    scenario: NDArray[np.int64]
    states: Records[State]
    seat: int
    codec: ActionCodec
    histories: Records[History] | None = None

    def __post_init__(self) -> None:
        hide_enemy_items(self.packed_scenarios, self.scenario, self.states, self.seat)

    @property
    def arrays(self) -> PositionArrays:
        """The positions as arrays for compiled code."""
        indices = self.codec.index_of
        return PositionArrays(self.packed_scenarios, self.scenario, self.states, self.seat, indices)

    def __len__(self) -> int:
        return len(self.states)

    def rows(self, chosen: NDArray[Any]) -> Self:
        """Return a copy of some positions, chosen by row numbers or by a mask."""
        states, histories = copy_states(self.states, chosen), self.histories
        if histories is not None:
            histories = as_records(History, np.ascontiguousarray(histories[chosen]))
        return replace(self, scenario=self.scenario[chosen], states=states, histories=histories)


def copy_states(states: Records[State] | NDArray[Any], chosen: NDArray[Any]) -> Records[State]:
    """Return a contiguous copy of some states, as compiled code requires."""
    return as_records(State, np.ascontiguousarray(states[chosen]))


def reads_histories(policy: Any) -> bool:
    """Whether the limits of a policy, or of the object it is a method of, have histories."""
    both = policy, getattr(policy, "__self__", None)
    return any(bool(getattr(getattr(each, "limits", None), "history", False)) for each in both)


def sees_positions(policy: Any) -> bool:
    """Whether a policy, or the object that it is a method of, asks for positions."""
    owner = getattr(policy, "__self__", None)
    return bool(getattr(policy, "sees_positions", getattr(owner, "sees_positions", False)))


def ask_policy(
    policy: Callable[..., Any],
    observations: NDArray[np.float32],
    masks: NDArray[np.bool_],
    positions: Callable[[], Positions],
) -> Any:
    """Call a policy and return its answer, which `policy_answers` validates.

    An exception that the policy raises gets a note with the shapes of the arguments.

    Args:
        policy: function of observations and masks, and of positions if it asks for them.
        observations: float32 (k, size).
        masks: legal actions, bool (k, actions).
        positions: returns the positions of the same battles; called only if needed.
    """
    try:
        if sees_positions(policy):
            return policy(observations, masks.copy(), positions())
        return policy(observations, masks.copy())
    except Exception as error:
        error.add_note(
            f"raised by a policy that was called with observations of shape {observations.shape} "
            f"and masks of shape {masks.shape}; the limits determine these shapes"
        )
        raise
