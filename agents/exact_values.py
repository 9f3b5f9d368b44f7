"""Exact values, in points, of every action of a decision in a solved scenario."""

import numpy as np
from numpy.typing import NDArray

from wfb_gym.encoding.positions import Positions
from wfb_gym.players.interface import Masks
from wfb_gym.seats import seat_number
from wfb_gym.solver import Solution


class ExactValues:
    """Exact values of the actions of a seat, looked up by position.

    The value of an action is the expected points of the seat (enemy points lost minus own) from the
    decision to the end of the battle, if it takes the action and both sides play optimally
    afterwards. The value of a decision is the maximum value of its actions.

    Args:
        solution: solution of the scenario.
        seat: 0 or "caster", 1 or "dispeller".

    Raises:
        TooLarge: the scenario's positions exceed the memory limit.
    """

    def __init__(self, solution: Solution, seat: int | str) -> None:
        self._graph = solution.full
        self._offsets = self._graph.offsets()
        own = self._graph.action_values()  # from the first army's point of view
        self._values = own if seat_number(seat) == 0 else -own

    def at(self, positions: Positions, masks: Masks) -> NDArray[np.float64]:
        """Return the values of all actions at positions (k,) of the scenario.

        Args:
            positions: as the seat sees them, the observations fitted to the scenario.
            masks: bool (k, n), the legal actions there.

        Returns:
            Points, float64 (k, n); NaN for illegal actions. After the end of the battle, pass has
            the value 0.
        """
        values = np.where(masks, 0.0, np.nan)
        for row in np.flatnonzero(positions.arrays.decides()):
            first = self._offsets[self._graph.find(positions.states[row])]
            count = np.count_nonzero(masks[row])
            values[row, masks[row]] = self._values[first : first + count]  # both ascend by code
        return values + 0.0  # turns -0.0 into 0.0
