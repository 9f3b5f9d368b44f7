"""One seat's view of scenarios: its layout and codec, and what it observes at positions."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from wfb_gym._jit import jit
from wfb_gym._records import Records
from wfb_gym.encoding.actions import ActionCodec, action_codec
from wfb_gym.encoding.layout import Layout, LayoutOffsets, layout
from wfb_gym.encoding.limits import Limits
from wfb_gym.encoding.observe import observe, write_static
from wfb_gym.engine.legal import legal_actions
from wfb_gym.engine.queries import is_decision
from wfb_gym.engine.state import State, WorkSpace, new_work_spaces
from wfb_gym.packing.records import PackedScenario


class ViewArrays(NamedTuple):
    """A view for compiled code.

    Attributes:
        packed_scenarios: packed scenarios, shape (n,).
        offsets: of the layout, shape (1,).
        static: fixed part of each scenario's observations, float32 (n, size).
        index_of: index of each engine code in the action space, int64 (ACTIONS,).
    """

    packed_scenarios: Records[PackedScenario]
    offsets: Records[LayoutOffsets]
    static: NDArray[np.float32]
    index_of: NDArray[np.int64]


class View:
    """How one seat sees scenarios: layout, action codec and the scenarios' fixed rows.

    Args:
        packed_scenarios: packed scenarios, shape (n,).
        seat: 0 or 1.
        limits: that cover all of them from the seat.

    Attributes:
        layout: of the observations.
        codec: of the actions.
        static: fixed part of each scenario's observations, float32 (n, size).
    """

    def __init__(
        self, packed_scenarios: Records[PackedScenario], seat: int, limits: Limits
    ) -> None:
        self.seat = seat
        self.limits = limits
        self.packed_scenarios = packed_scenarios
        self.layout: Layout = layout(limits)
        self.codec: ActionCodec = action_codec(limits)
        self.static = np.empty((len(packed_scenarios), self.layout.size), np.float32)
        for packed, row in zip(packed_scenarios, self.static, strict=True):
            write_static(packed, seat, self.layout.offsets[0], row)

    @property
    def arrays(self) -> ViewArrays:
        """The view for compiled code."""
        return ViewArrays(
            self.packed_scenarios, self.layout.offsets, self.static, self.codec.index_of
        )

    def show(
        self, scenario: NDArray[np.int64], states: Records[State]
    ) -> tuple[NDArray[np.float32], NDArray[np.bool_]]:
        """Return what the seat sees at positions.

        Args:
            scenario: which of the scenarios each is of, int64 (k,).
            states: `engine.state.STATE`, shape (k,).

        Returns:
            Observations, float32 (k, size), and legal actions, bool (k, actions): pass alone where
            the seat has nothing to decide.
        """
        observations = np.empty((len(states), self.layout.size), np.float32)
        masks = np.zeros((len(states), self.codec.n), np.bool_)
        _show(self.arrays, scenario, states, self.seat, new_work_spaces(), observations, masks)
        return observations, masks


@jit(nogil=True, forceinline=False)
def _show(
    view: ViewArrays,
    scenario: NDArray[np.int64],
    states: Records[State],
    seat: int,
    scratch: Records[WorkSpace],
    observations: NDArray[np.float32],
    masks: NDArray[np.bool_],
) -> None:
    work = scratch[0]
    at = view.offsets[0]
    for k in range(states.shape[0]):
        which = scenario[k]
        state = states[k]
        packed = view.packed_scenarios[which]
        observe(packed, state, seat, at, view.static[which], observations[k])
        if not is_decision(state.node) or state.mover != seat:
            masks[k, 0] = True
            continue
        for j in range(legal_actions(packed, state, work)):
            masks[k, view.index_of[work.legal[j]]] = True
