"""A seat's view of scenarios: layout, action codec, observations and action masks."""

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
    """A `View` as arrays for compiled code."""

    seat: int
    codes: NDArray[np.int64]  # (actions,): engine code for each action
    indices: NDArray[np.int64]  # (ACTIONS,): action for each engine code
    offsets: Records[LayoutOffsets]  # (1,)
    static: NDArray[np.float32]  # (n, size): static part of each scenario's observations


class View:
    """A seat's view of scenarios: layout, action codec and static observation rows.

    Args:
        packed_scenarios: packed scenarios, shape (n,).
        seat: 0 or 1.
        limits: limits that cover all scenarios from this seat. They are not checked here; use
            `fitted` to check them.
        features: "all", or "raw" for observations in which expected values are 0.
    """

    def __init__(
        self,
        packed_scenarios: Records[PackedScenario],
        seat: int,
        limits: Limits,
        features: str = "all",
    ) -> None:
        self.seat = seat
        self.limits = limits
        self.packed_scenarios = packed_scenarios
        self.layout: Layout = layout(limits, features)
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
        features: str = "all",
    ) -> Self:
        """Return a seat's view of scenarios.

        Args:
            packed_scenarios: packed scenarios, shape (n,).
            seat: 0 or 1.
            limits: limits of the spaces. Defaults to the smallest that cover all scenarios.
            history: whether to add histories to observations, even if `limits` does not.
            features: "all", or "raw" for observations in which expected values are 0.

        Raises:
            ValueError: if a scenario exceeds the given limits or `features` is invalid.
        """
        if limits is None:
            limits = fit(packed_scenarios, seat)
        else:
            check_covers(limits, packed_scenarios, seat)
        limits = replace(limits, history=limits.history or bool(history))
        return cls(packed_scenarios, seat, limits, features)

    @property
    def arrays(self) -> ViewArrays:
        """The view as arrays for compiled code."""
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
        """Return the seat's observations and action masks for some positions.

        Args:
            scenario: index of each position's scenario, int64 (k,).
            states: positions, (k,).
            histories: each position's history, (k,). Required if the limits have histories.

        Returns:
            Observations, float32 (k, size), and legal actions, bool (k, actions). Only pass is
            legal if the seat is not to move.

        Raises:
            ValueError: if the limits have histories but `histories` is None.
        """
        if self.limits.history and histories is None:
            raise ValueError(
                "limits: history: expected the history of each position, found none; a position "
                "does not contain its history"
            )
        observations = np.empty((len(states), self.layout.size), np.float32)
        masks = np.empty((len(states), self.codec.n), np.bool_)
        _show(
            self.arrays, self.packed_scenarios, scenario, states,
            new_histories(1) if histories is None else histories, new_work_spaces(),
            observations, masks,
        )  # fmt: skip
        self.layout.set_zeros(observations)
        return observations, masks


@jit
def write_mask(
    row: int, count: int, work: WorkSpace, indices: NDArray[np.int64], masks: NDArray[np.bool_]
) -> None:
    """Write one row of the masks; only pass is legal if there is no decision."""
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
        history = histories[min(k, histories.shape[0] - 1)]  # one empty record without histories
        observe(
            packed, state, history, view.seat, view.offsets[0], view.static[which], observations[k]
        )
        count = 0
        if is_decision(state.node) and state.mover == view.seat:
            count = legal_actions(packed, state, work)
        write_mask(k, count, work, view.indices, masks)
