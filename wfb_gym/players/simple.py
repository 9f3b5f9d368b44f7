"""Agents that need no thought: one that plays at random, and one that does so now and then."""

import numpy as np
from numpy.typing import NDArray

from wfb_gym.encoding.positions import Positions, sees_positions
from wfb_gym.players.interface import Agent, chances_of


class RandomAgent:
    """Chooses uniformly among the legal actions.

    Args:
        seed: of its choices; None chooses differently each time.
    """

    def __init__(self, seed: int | None = None) -> None:
        self._rng = np.random.default_rng(seed)

    def act(
        self,
        observations: NDArray[np.float32],
        action_masks: NDArray[np.bool_],
        positions: Positions | None = None,
    ) -> NDArray[np.int64]:
        """Choose an action for each row; see `Agent`."""
        keys = self._rng.random(action_masks.shape)
        actions: NDArray[np.int64] = np.where(action_masks, keys, -1.0).argmax(axis=1)
        return actions

    def action_probabilities(
        self,
        observations: NDArray[np.float32],
        action_masks: NDArray[np.bool_],
        positions: Positions | None = None,
    ) -> NDArray[np.float64]:
        """Return the probabilities of the actions; see `Agent`."""
        uniform: NDArray[np.float64] = action_masks / action_masks.sum(axis=1, keepdims=True)
        return uniform


class EpsilonAgent:
    """Another agent that plays at random now and then.

    Args:
        agent: who plays the rest of the time.
        epsilon: chance of a uniformly random legal action, 0 to 1.
        seed: of the draws; None draws differently each time.

    Raises:
        ValueError: the chance is none.
    """

    def __init__(self, agent: Agent, epsilon: float, seed: int | None = None) -> None:
        if not 0.0 <= epsilon <= 1.0:
            raise ValueError(f"epsilon: expected a chance, 0 to 1, found {epsilon}")
        self.sees_positions = sees_positions(agent)
        self._agent = agent
        self._epsilon = epsilon
        self._rng = np.random.default_rng(seed)
        self._random = RandomAgent(int(self._rng.integers(2**31)))

    def act(
        self,
        observations: NDArray[np.float32],
        action_masks: NDArray[np.bool_],
        positions: Positions | None = None,
    ) -> NDArray[np.int64]:
        """Choose an action for each row; see `Agent`."""
        chosen = self._agent.act(observations, action_masks, positions)
        strays = self._rng.random(len(chosen)) < self._epsilon
        return np.where(strays, self._random.act(observations, action_masks), chosen)

    def action_probabilities(
        self,
        observations: NDArray[np.float32],
        action_masks: NDArray[np.bool_],
        positions: Positions | None = None,
    ) -> NDArray[np.float64]:
        """Return the probabilities of the actions; see `Agent`."""
        chances = (1.0 - self._epsilon) * chances_of(
            self._agent, observations, action_masks, positions
        )
        chances += self._epsilon * self._random.action_probabilities(observations, action_masks)
        return chances
