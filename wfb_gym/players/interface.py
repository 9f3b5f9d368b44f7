"""What a player is: a policy, an agent, an opponent.

A policy is a function over a batch. An agent is an object whose method `act` is one. An opponent
is whatever a user names to sit opposite; `wfb_gym.players.registry` resolves it.
"""

from collections.abc import Callable
from pathlib import Path
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from wfb_gym.encoding.positions import PositionArrays, Positions
from wfb_gym.opponents.policy_spec import Model

Observations = NDArray[np.float32]
"""Shape (k, size)."""
Masks = NDArray[np.bool_]
"""Legal actions, shape (k, actions), at least one in each row."""
Actions = NDArray[np.int64]
"""Action indices, shape (k,)."""
Probabilities = NDArray[np.float64]
"""Of actions, shape (k, actions)."""

Policy = Callable[..., Actions]
"""Observations (k, size) and masks (k, actions) to legal actions (k,).

One with a true attribute `sees_positions`, or a method of an object that has it, gets the
battles' `wfb_gym.encoding.positions.Positions` as its third argument."""


class Agent(Protocol):
    """A player for either seat, also as an environment's opponent.

    An agent that searches from the position itself sets an attribute `sees_positions` to True;
    it is then given `positions` with every call. Where nothing is to decide (the battle is over)
    only pass is legal, and the answer is 0.

    An agent that draws its actions gives their distribution in a method of the same arguments,
    `action_probabilities`, which returns float64 (k, actions); exact values need it.

    An agent that takes observations of one size declares it: in `limits`
    (`wfb_gym.encoding.limits.Limits`), or in `size` and `actions`, the lengths of a row of
    observations and of masks. Then a grade in other sizes is refused before the agent is asked.
    """

    def act(
        self, observations: Observations, action_masks: Masks, positions: Positions | None = None
    ) -> Actions:
        """Choose an action for each row.

        Args:
            observations: float32, (k, size).
            action_masks: bool, (k, actions), at least one True in each row.
            positions: of the same k battles, for agents that see them.

        Returns:
            Legal actions, int64 (k,).
        """
        ...


class HasPolicy(Protocol):
    """An object whose method `act` is a policy, positions or not."""

    @property
    def act(self) -> Policy:
        """The policy."""


Opponent = str | Path | Policy | HasPolicy | Model
"""A player's name, the path of a saved model, a policy, an agent, or a model in memory."""


class PositionAgent:
    """Base of the agents that play from positions: `_choose` writes their actions."""

    sees_positions = True
    _called: str
    """What an error message calls the agent."""

    def act(
        self, observations: Observations, action_masks: Masks, positions: Positions | None = None
    ) -> Actions:
        """Choose an action for each row; see `Agent`.

        Raises:
            ValueError: there are no positions.
        """
        asked = require_positions(positions, self._called).arrays
        actions = np.zeros(len(asked.states), np.int64)
        self._choose(asked, actions)
        return actions

    def _choose(self, asked: PositionArrays, actions: Actions) -> None:
        """Write the actions where the seat decides; the others stay 0."""
        raise NotImplementedError


def require_positions(positions: Positions | None, who: str) -> Positions:
    """Return the positions, for an agent that cannot play without.

    Raises:
        ValueError: there are none.
    """
    if positions is None:
        raise ValueError(
            f"{who}: it plays from positions, and observations alone do not do. Environments, "
            "experiments.common.play_battles and the solver pass positions to every agent whose "
            "sees_positions is True; a direct call must pass envs.batch.positions()"
        )
    return positions


def action_probabilities_of(
    agent: Agent, observations: Observations, masks: Masks, positions: Positions | None = None
) -> Probabilities:
    """Return an agent's distribution over actions, float64 (k, actions).

    An agent without `action_probabilities` takes its action with probability 1.
    """
    stated: Callable[..., Probabilities] | None = getattr(agent, "action_probabilities", None)
    if stated is not None:
        return stated(observations, masks, positions)
    probabilities = np.zeros(masks.shape)
    chosen = agent.act(observations, masks, positions)
    probabilities[np.arange(len(chosen)), chosen] = 1.0
    return probabilities


def draw_actions(probabilities: Probabilities, rng: np.random.Generator) -> Actions:
    """Draw an action for each row of probabilities, (k, actions), that sum to 1 or nearly."""
    summed = probabilities.cumsum(axis=1)
    drawn = rng.random(len(summed))[:, None] * summed[:, -1:]
    actions: Actions = (summed <= drawn).sum(axis=1)
    return actions
