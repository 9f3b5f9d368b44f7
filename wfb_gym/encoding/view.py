"""One seat's view of scenarios: how it is called, and how it is shown positions."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from wfb_gym._jit import jit
from wfb_gym.encoding.actions import ActionCodec, action_codec
from wfb_gym.encoding.layout import Layout, layout
from wfb_gym.encoding.limits import Limits
from wfb_gym.encoding.observe import observe, write_static
from wfb_gym.engine.legal import legal_actions
from wfb_gym.engine.queries import is_decision
from wfb_gym.engine.state import Record
from wfb_gym.engine.work import new_scratch

SEATS = {"caster": 0, "dispeller": 1}
"""Armies by the part they play in the first phase."""


class View:
    """How one seat sees scenarios: layout, action codec and the scenarios' fixed rows.

    Args:
        tables: packed scenarios, shape (n,).
        seat: 0 or 1.
        limits: that cover all of them from the seat.

    Attributes:
        layout: of the observations.
        codec: of the actions.
        static: fixed part of each scenario's observations, float32 (n, size).
    """

    def __init__(self, tables: np.recarray[Any, Any], seat: int, limits: Limits) -> None:
        self.seat = seat
        self.limits = limits
        self.tables = tables
        self.layout: Layout = layout(limits)
        self.codec: ActionCodec = action_codec(limits)
        self.static = np.empty((len(tables), self.layout.size), np.float32)
        for table, row in zip(tables, self.static, strict=True):
            write_static(table, seat, self.layout.offsets[0], row)

    def show(
        self, scenario: NDArray[np.int64], states: np.recarray[Any, Any]
    ) -> tuple[NDArray[np.float32], NDArray[np.bool_]]:
        """What the seat sees at positions.

        Args:
            scenario: which of the scenarios each is of, int64 (k,).
            states: `engine.state.STATE`, shape (k,).

        Returns:
            Observations, float32 (k, size), and legal actions, bool (k, actions): pass alone where
            the seat has nothing to decide.
        """
        observations = np.empty((len(states), self.layout.size), np.float32)
        masks = np.zeros((len(states), self.codec.n), np.bool_)
        _show(
            self.tables, scenario, states, self.seat, self.layout.offsets, self.static,
            self.codec.index_of, new_scratch(), observations, masks,
        )  # fmt: skip
        return observations, masks


@jit(nogil=True, forceinline=False)
def _show(
    tables: Record,
    scenario: NDArray[np.int64],
    states: Record,
    seat: int,
    offsets: Record,
    static: NDArray[np.float32],
    indices: NDArray[np.int64],
    scratch: Record,
    observations: NDArray[np.float32],
    masks: NDArray[np.bool_],
) -> None:
    work = scratch[0]
    for k in range(states.shape[0]):
        which = scenario[k]
        state = states[k]
        observe(tables[which], state, seat, offsets[0], static[which], observations[k])
        if not is_decision(state.node) or state.mover != seat:
            masks[k, 0] = True
            continue
        for j in range(legal_actions(tables[which], state, work)):
            masks[k, indices[work.legal[j]]] = True


def seat_number(seat: int | str) -> int:
    """0 for the caster and 1 for the dispeller, given as a name or a number.

    Raises:
        ValueError: it is neither.
    """
    if seat in SEATS:
        return SEATS[str(seat)]
    if seat in SEATS.values():
        return int(seat)
    raise ValueError(f'seat: expected 0, 1, "caster" or "dispeller", found {seat!r}')
