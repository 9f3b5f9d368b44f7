"""Exact values, in points, of every action at a decision in a solved scenario."""

import numpy as np
from numpy.typing import NDArray

from wfb_gym.encoding.positions import Positions
from wfb_gym.players.interface import Masks
from wfb_gym.seats import seat_number
from wfb_gym.solver import Solution


class ExactValues:
    """Looks up the exact values of a seat's actions by position.

    An action's value is the seat's expected points (enemy points lost minus own) from the decision
    to the end of the battle, if the seat takes the action and both sides play optimally afterwards.
    A decision's value is the maximum value of its actions.

    Args:
        solution: the scenario's solution.
        seat: 0 or "caster", 1 or "dispeller".

    Raises:
        TooLarge: if the scenario's positions exceed the memory limit.
    """

    def __init__(self, solution: Solution, seat: int | str) -> None:
        self._graph = solution.full
        self._offsets = self._graph.offsets()
        own = self._graph.action_values()  # from the first army's perspective
        self._values = own if seat_number(seat) == 0 else -own

    def at(self, positions: Positions, masks: Masks) -> NDArray[np.float64]:
        """Return the values of all actions at k of the scenario's positions.

        Args:
            positions: as the seat sees them, with observations fitted to the scenario.
            masks: bool (k, n), the legal actions at the positions.

        Returns:
            Points, float64 (k, n), with NaN for illegal actions. After the end of the battle,
            passing has the value 0.
        """
        values = np.where(masks, 0.0, np.nan)
        for row in np.flatnonzero(positions.arrays.decides()):
            first = self._offsets[self._graph.find(positions.states[row])]
            count = np.count_nonzero(masks[row])
            values[row, masks[row]] = self._values[first : first + count]  # both in order of code
        return values + 0.0  # turns -0.0 into 0.0
