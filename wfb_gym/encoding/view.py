"""One seat's view of scenarios: its layout and codec, and what it observes at positions."""

from dataclasses import replace
from typing import NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from wfb_gym._jit import jit
from wfb_gym._records import Records
from wfb_gym.encoding.actions import ActionCodec, action_codec
from wfb_gym.encoding.fields import LayoutOffsets
from wfb_gym.encoding.history import History, new_histories
from wfb_gym.encoding.layout import Layout, layout
from wfb_gym.encoding.limits import Limits, check_covers, fit
from wfb_gym.encoding.observe import observe, write_static
from wfb_gym.engine.legal import legal_actions
from wfb_gym.engine.queries import is_decision
from wfb_gym.engine.state import State, WorkSpace, new_work_spaces
from wfb_gym.packing.records import PackedScenario


class ViewArrays(NamedTuple):
    """A view for compiled code."""

    seat: int
    codes: NDArray[np.int64]  # (actions,): engine code of each action
    indices: NDArray[np.int64]  # (ACTIONS,): action of each engine code
    offsets: Records[LayoutOffsets]  # (1,)
    static: NDArray[np.float32]  # (n, size): fixed part of each scenario's observations


class View:
    """How one seat sees scenarios: layout, action codec and the scenarios' fixed rows.

    Args:
        packed_scenarios: packed scenarios, shape (n,).
        seat: 0 or 1.
        limits: that cover all of them from the seat; `fitted` checks it.
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

    @classmethod
    def fitted(
        cls,
        packed_scenarios: Records[PackedScenario],
        seat: int,
        limits: Limits | None = None,
        *,
        history: bool = False,
    ) -> Self:
        """Make a seat's view of scenarios, with the smallest limits unless some are given.

        With `history` it shows how spells were cast and answered, whatever the limits say.

        Raises:
            ValueError: a scenario exceeds the limits that are given.
        """
        if limits is None:
            limits = fit(packed_scenarios, seat)
        else:
            check_covers(limits, packed_scenarios, seat)
        return cls(packed_scenarios, seat, replace(limits, history=limits.history or bool(history)))

    @property
    def arrays(self) -> ViewArrays:
        """The view for compiled code."""
        codec = self.codec
        return ViewArrays(
            self.seat, codec.code_of, codec.index_of, self.layout.offsets, self.static
        )

    def show(
        self,
        scenario: NDArray[np.int64],
        states: Records[State],
        histories: Records[History] | None = None,
    ) -> tuple[NDArray[np.float32], NDArray[np.bool_]]:
        """Return what the seat sees at positions (k,) of scenarios, int64 (k,).

        Observations are float32 (k, size) and legal actions bool (k, actions): pass alone where the
        seat has nothing to decide. `histories`, (k,), tell what went before.

        Raises:
            ValueError: the limits show histories, and there are none.
        """
        if self.limits.history and histories is None:
            raise ValueError(
                "limits: history: expected what went before each position, which a position alone "
                "does not tell, found none"
            )
        observations = np.empty((len(states), self.layout.size), np.float32)
        masks = np.empty((len(states), self.codec.n), np.bool_)
        _show(
            self.arrays, self.packed_scenarios, scenario, states,
            new_histories(1) if histories is None else histories, new_work_spaces(),
            observations, masks,
        )  # fmt: skip
        return observations, masks


@jit
def write_mask(
    row: int, count: int, work: WorkSpace, indices: NDArray[np.int64], masks: NDArray[np.bool_]
) -> None:
    """Write one row of masks; where there is no decision, pass is legal."""
    for k in range(masks.shape[1]):
        masks[row, k] = False
    for k in range(count):
        masks[row, indices[work.legal[k]]] = True
    if count == 0:
        masks[row, 0] = True


@jit(nogil=True, forceinline=False)
def _show(
    view: ViewArrays,
    packed_scenarios: Records[PackedScenario],
    scenario: NDArray[np.int64],
    states: Records[State],
    histories: Records[History],
    scratch: Records[WorkSpace],
    observations: NDArray[np.float32],
    masks: NDArray[np.bool_],
) -> None:
    work = scratch[0]
    for k in range(states.shape[0]):
        which = scenario[k]
        state = states[k]
        packed = packed_scenarios[which]
        history = histories[min(k, histories.shape[0] - 1)]  # one empty one where none are shown
        observe(
            packed, state, history, view.seat, view.offsets[0], view.static[which], observations[k]
        )
        count = 0
        if is_decision(state.node) and state.mover == view.seat:
            count = legal_actions(packed, state, work)
        write_mask(k, count, work, view.indices, masks)
