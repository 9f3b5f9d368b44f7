"""One seat's view of scenarios: how it is called, and what it needs to be shown positions."""

from typing import Any

import numpy as np

from wfb_gym.encoding.actions import ActionCodec, action_codec
from wfb_gym.encoding.layout import Layout, layout
from wfb_gym.encoding.limits import Limits
from wfb_gym.encoding.observe import write_static

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
        self.layout: Layout = layout(limits)
        self.codec: ActionCodec = action_codec(limits)
        self.static = np.empty((len(tables), self.layout.size), np.float32)
        for table, row in zip(tables, self.static, strict=True):
            write_static(table, seat, self.layout.offsets[0], row)


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
