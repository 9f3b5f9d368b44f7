"""Interfaces of players: policies, agents and opponents.

A policy is a function over a batch. An agent is an object whose `act` method is a policy. An
opponent is any description of a player that a user can pass; `wfb_gym.players.registry` resolves
it.
"""

from collections.abc import Callable
from pathlib import Path
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from wfb_gym.encoding.positions import PositionArrays, Positions
from wfb_gym.opponents.policy_spec import Model

Observations = NDArray[np.float32]  # shape (k, size)
Masks = NDArray[np.bool_]  # legal actions, shape (k, actions), at least one in each row
Actions = NDArray[np.int64]  # action indices, shape (k,)
Probabilities = NDArray[np.float64]  # action probabilities, shape (k, actions)

Policy = Callable[..., Actions]
"""A function from observations (k, size) and masks (k, actions) to legal actions (k,).

If the policy, or the object that it is a method of, has a true attribute `sees_positions`, it
receives the battles' `wfb_gym.encoding.positions.Positions` as a third argument."""


class Agent(Protocol):
    """A player for either seat, or for use as an environment's opponent.

    An agent that needs positions sets its `sees_positions` attribute to True. It then receives
    `positions` with every call. If there is nothing to decide because the battle is over, pass is
    the only legal action, and the action is 0.

    An agent that samples its actions has an `action_probabilities` method with the same arguments,
    which returns the distribution, float64 (k, actions). Exact evaluation requires it.

    An agent for observations of a fixed size declares the size, either in `limits`
    (`wfb_gym.encoding.limits.Limits`) or in `size` and `actions`, the row lengths of observations
    and masks. Grading it with other sizes then raises an error before the first call.
    """

    def act(
        self, observations: Observations, action_masks: Masks, positions: Positions | None = None
    ) -> Actions:
        """Choose an action for each row.

        Args:
            observations: float32, (k, size).
            action_masks: bool, (k, actions), at least one True in each row.
            positions: the same k battles' positions, for agents that see them.

        Returns:
            Legal actions, int64 (k,).
        """
        ...


class HasPolicy(Protocol):
    """An object whose `act` method is a policy, with or without positions."""

    @property
    def act(self) -> Policy:
        """The policy."""


Opponent = str | Path | Policy | HasPolicy | Model
"""A player's name, the path of a saved model, a policy, an agent, or a model in memory."""


class PositionAgent:
    """Base class for agents that play from positions. Subclasses implement `_choose`."""

    sees_positions = True
    _called: str
    """The agent's name in error messages."""

    def act(
        self, observations: Observations, action_masks: Masks, positions: Positions | None = None
    ) -> Actions:
        """Choose an action for each row; see `Agent`.

        Raises:
            ValueError: if no positions are given.
        """
        asked = require_positions(positions, self._called).arrays
        actions = np.zeros(len(asked.states), np.int64)
        self._choose(asked, actions)
        return actions

    def _choose(self, asked: PositionArrays, actions: Actions) -> None:
        """Write the actions for rows in which the seat is to move; other rows stay 0."""
        raise NotImplementedError


def require_positions(positions: Positions | None, who: str) -> Positions:
    """Return the positions, for an agent that requires them.

    Raises:
        ValueError: if no positions are given.
    """
    if positions is None:
        raise ValueError(
            f"{who}: expected positions, found none. Environments, "
            "experiments.common.play_battles and the solver pass positions to every agent whose "
            "sees_positions is True; a direct call must pass envs.batch.positions()"
        )
    return positions


def action_probabilities_of(
    agent: Agent, observations: Observations, masks: Masks, positions: Positions | None = None
) -> Probabilities:
    """Return an agent's distribution over actions, float64 (k, actions).

    If the agent has no `action_probabilities` method, its action has probability 1.
    """
    stated: Callable[..., Probabilities] | None = getattr(agent, "action_probabilities", None)
    if stated is not None:
        return stated(observations, masks, positions)
    probabilities = np.zeros(masks.shape)
    chosen = agent.act(observations, masks, positions)
    probabilities[np.arange(len(chosen)), chosen] = 1.0
    return probabilities


def check_row_sizes(
    name: str, sizes: tuple[int, int], observations: Observations, masks: Masks, hint: str = ""
) -> None:
    """Raise a `ValueError` unless the rows have these sizes, of observations and of masks."""
    found = observations.shape[1], masks.shape[1]
    if found != sizes:
        raise ValueError(
            f"{name}: expected observations of size {sizes[0]} and {sizes[1]} actions, found "
            f"{found[0]} and {found[1]}{hint}"
        )


def certain(chosen: Actions, like: NDArray[Any]) -> Probabilities:
    """Return probability 1 for the chosen actions (k,); `like` has the shape (k, actions)."""
    return np.where(np.arange(like.shape[1]) == chosen[:, None], 1.0, 0.0)


def draw_actions(probabilities: Probabilities, rng: np.random.Generator) -> Actions:
    """Sample an action for each row of probabilities, (k, actions), which need not sum to 1."""
    summed = probabilities.cumsum(axis=1)
    drawn = rng.random(len(summed))[:, None] * summed[:, -1:]
    actions: Actions = (summed <= drawn).sum(axis=1)
    return actions
