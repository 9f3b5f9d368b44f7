"""Positions for planners, and calls to policies; `policy_answers` validates the results.

A planner searches from a position using the engine's own operations. It receives copies of the
states, but no random generators, because these would reveal future dice. Hidden enemy items are
replaced by the most likely set that the enemy may have, so the position does not reveal the real
one.
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
    indices: NDArray[np.int64]  # (ACTIONS,): action index for each engine code

    def decides(self) -> NDArray[np.bool_]:
        """Return whether the seat is to move in each position, bool (k,)."""
        nodes, movers = self.states["node"], self.states["mover"]
        own: NDArray[np.bool_] = movers == self.seat
        return own & (nodes >= FIRST_DECISION) & (nodes <= LAST_DECISION)


def position_of(battle: Battle) -> PositionArrays:
    """Return a battle's position as its mover sees it; actions are engine codes."""
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
    """Replace hidden items of a seat's enemy by the most likely possible set, in place.

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
    """The positions of k battles, as seen by the player in one seat.

    If the battle is over or the other seat is to move, only pass is legal, so the answer is 0.

    Attributes:
        packed_scenarios: packed scenarios, (n,), which must not be modified.
        scenario: index of each battle's scenario, int64 (k,).
        states: `engine.state.STATE` records, shape (k,). They are copies that the planner may
            modify.
        seat: the player's seat, 0 or 1.
        codec: codec for the action space of the answers.
        histories: the battles' histories, (k,), or None if observations do not contain them.
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
        """Return a copy of some positions, selected by row numbers or by a mask."""
        states, histories = copy_states(self.states, chosen), self.histories
        if histories is not None:
            histories = as_records(History, np.ascontiguousarray(histories[chosen]))
        return replace(self, scenario=self.scenario[chosen], states=states, histories=histories)


def copy_states(states: Records[State] | NDArray[Any], chosen: NDArray[Any]) -> Records[State]:
    """Return a contiguous copy of some states, as compiled code requires."""
    return as_records(State, np.ascontiguousarray(states[chosen]))


def reads_histories(policy: Any) -> bool:
    """Whether a policy, or the object it is a method of, has limits with histories."""
    both = policy, getattr(policy, "__self__", None)
    return any(bool(getattr(getattr(each, "limits", None), "history", False)) for each in both)


def sees_positions(policy: Any) -> bool:
    """Whether a policy, or the object it is a method of, asks for positions."""
    owner = getattr(policy, "__self__", None)
    return bool(getattr(policy, "sees_positions", getattr(owner, "sees_positions", False)))


def ask_policy(
    policy: Callable[..., Any],
    observations: NDArray[np.float32],
    masks: NDArray[np.bool_],
    positions: Callable[[], Positions],
) -> Any:
    """Call a policy and return its answer, which `policy_answers` validates.

    If the policy raises an exception, a note with the shapes of the arguments is added to it.

    Args:
        policy: a function of observations and masks, and of positions if it asks for them.
        observations: float32 (k, size).
        masks: legal actions, bool (k, actions).
        positions: returns the same battles' positions. Called only if needed.
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
