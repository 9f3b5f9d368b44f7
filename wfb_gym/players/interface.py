"""What every agent is: someone who answers a batch of observations with actions."""

from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from wfb_gym.encoding.positions import Positions


class Agent(Protocol):
    """A player for either seat. The object may also be passed as an environment's opponent.

    One that needs the position itself, to search from it, has an attribute `sees_positions` that
    is True; everybody who asks it then passes `positions`. Where nothing is to decide (the battle
    is over) only pass is legal, and the answer is 0.

    One that draws its actions says with what chances in a method of the same arguments,
    `action_probabilities`, which gives float64 (k, actions); exact values need that.
    """

    def act(
        self,
        observations: NDArray[np.float32],
        action_masks: NDArray[np.bool_],
        positions: Positions | None = None,
    ) -> NDArray[np.int64]:
        """Choose an action for each row.

        Args:
            observations: float32, (k, size).
            action_masks: bool, (k, actions), at least one True in each row.
            positions: of the same k battles, for agents that see them.

        Returns:
            Legal actions, int64 (k,).
        """
        ...


def needed(positions: Positions | None, who: str) -> Positions:
    """The positions, for an agent that cannot do without.

    Raises:
        ValueError: there are none.
    """
    if positions is None:
        raise ValueError(
            f"{who}: it plays from positions, and observations alone do not do. Environments, "
            "experiments.common.play and the solver pass them by themselves to an agent that sees "
            "positions; whoever asks it directly passes the environments' batch.positions()"
        )
    return positions


def chances_of(
    agent: Agent,
    observations: NDArray[np.float32],
    action_masks: NDArray[np.bool_],
    positions: Positions | None = None,
) -> NDArray[np.float64]:
    """An agent's chances of the actions, float64 (k, actions); one that draws none is sure."""
    draws: Any = getattr(agent, "action_probabilities", None)
    if draws is not None:
        return draws(observations, action_masks, positions)
    chances = np.zeros(action_masks.shape)
    chosen = agent.act(observations, action_masks, positions)
    chances[np.arange(len(chosen)), chosen] = 1.0
    return chances
