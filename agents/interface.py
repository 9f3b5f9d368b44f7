"""What every agent is: someone who answers a batch of observations with actions."""

from typing import Protocol

import numpy as np
from numpy.typing import NDArray


class Agent(Protocol):
    """A player for either seat. Its `act` may also be passed as an environment's opponent."""

    def act(
        self, observations: NDArray[np.float32], action_masks: NDArray[np.bool_]
    ) -> NDArray[np.int64]:
        """Choose an action for each row.

        Args:
            observations: float32, (k, size).
            action_masks: bool, (k, actions), at least one True in each row.

        Returns:
            Legal actions, int64 (k,).
        """
        ...
