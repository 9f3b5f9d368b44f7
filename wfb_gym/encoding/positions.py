"""What a policy is shown, positions for planners included; its answers are `policy_answers`'.

A planner searches from a position with the engine's own operations. It gets copies of the states,
and never the generators, which would give away the dice to come. Of items that are hidden from its
seat it sees the likeliest that the enemy may have, never those that were dealt.
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
    """`Positions` as compiled code takes them."""

    packed_scenarios: Records[PackedScenario]
    scenario: NDArray[np.int64]  # (k,)
    states: Records[State]  # (k,)
    seat: int
    indices: NDArray[np.int64]  # (ACTIONS,): action index by engine code

    def decides(self) -> NDArray[np.bool_]:
        """Return where the seat has something to decide, bool (k,)."""
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
    """Deal the enemy of a seat the likeliest items that it may have, in place.

    Args:
        packed_scenarios: all scenarios that are played.
        scenario: which of them each battle plays, int64 (k,).
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
    """The positions of k battles, as one seat's player sees them.

    Where the battle is over, or the other seat decides, only pass is legal: answer 0.

    Attributes:
        packed_scenarios: all scenarios that are played, packed; read only.
        scenario: which of them each battle plays, int64 (k,).
        states: `engine.state.STATE` records, shape (k,): copies, free to change.
        seat: that decides: 0 or 1.
        codec: of the action space that the answers belong to.
        histories: what went before, (k,), where observations tell of it.
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
        """The same for compiled code."""
        indices = self.codec.index_of
        return PositionArrays(self.packed_scenarios, self.scenario, self.states, self.seat, indices)

    def __len__(self) -> int:
        return len(self.states)

    def rows(self, chosen: NDArray[Any]) -> Self:
        """Copy some of them, by rows or by a mask."""
        states, histories = copy_states(self.states, chosen), self.histories
        if histories is not None:
            histories = as_records(History, np.ascontiguousarray(histories[chosen]))
        return replace(self, scenario=self.scenario[chosen], states=states, histories=histories)


def copy_states(states: Records[State] | NDArray[Any], chosen: NDArray[Any]) -> Records[State]:
    """Copy some states into one contiguous array, as compiled code takes them."""
    return as_records(State, np.ascontiguousarray(states[chosen]))


def reads_histories(policy: Any) -> bool:
    """Whether a policy, or the object whose method it is, has limits that show histories."""
    both = policy, getattr(policy, "__self__", None)
    return any(bool(getattr(getattr(each, "limits", None), "history", False)) for each in both)


def sees_positions(policy: Any) -> bool:
    """Whether a policy, or the object whose method it is, wants positions."""
    owner = getattr(policy, "__self__", None)
    return bool(getattr(policy, "sees_positions", getattr(owner, "sees_positions", False)))


def ask_policy(
    policy: Callable[..., Any],
    observations: NDArray[np.float32],
    masks: NDArray[np.bool_],
    positions: Callable[[], Positions],
) -> Any:
    """Ask a policy with observations (k, size), masks (k, actions) and, if it sees them, positions.

    `positions` makes them of the same battles. The answer comes unchecked: `policy_answers` does.
    What the policy raises gets a note of the shapes that it was asked with.
    """
    try:
        if sees_positions(policy):
            return policy(observations, masks.copy(), positions())
        return policy(observations, masks.copy())
    except Exception as error:
        error.add_note(
            f"raised by a policy that was asked with observations of shape {observations.shape} "
            f"and masks of shape {masks.shape}; the limits decide these shapes"
        )
        raise
