"""Baseline agents: random, epsilon-random, and the scripted players as agents."""

from typing import Any

import numpy as np

from wfb_gym.encoding.positions import PositionArrays, Positions, sees_positions
from wfb_gym.opponents.dispatch import (
    EPSILON_STEPS,
    SCRIPTED,
    Scripted,
    choose_actions,
    new_chooser,
)
from wfb_gym.opponents.move_tables import no_move_tables
from wfb_gym.players.interface import (
    Actions,
    Agent,
    Masks,
    Observations,
    PositionAgent,
    Probabilities,
    action_probabilities_of,
)
from wfb_gym.scenario import load_scenario
from wfb_gym.solver import solve
from wfb_gym.solver.move_tables import load_move_tables

DETERMINISTIC = tuple(name for name, kind in SCRIPTED.items() if kind != Scripted.RANDOM)
"""Scripted players with deterministic actions."""


class RandomAgent:
    """Chooses uniformly at random among the legal actions.

    Args:
        seed: seed for its choices. If None, the seed is random.
    """

    def __init__(self, seed: int | None = None) -> None:
        self._rng = np.random.default_rng(seed)

    def act(
        self, observations: Observations, action_masks: Masks, positions: Positions | None = None
    ) -> Actions:
        """Choose an action for each row."""
        keys = self._rng.random(action_masks.shape)
        actions: Actions = np.where(action_masks, keys, -1.0).argmax(axis=1)
        return actions

    def action_probabilities(
        self, observations: Observations, action_masks: Masks, positions: Positions | None = None
    ) -> Probabilities:
        """Return the distribution from which `act` samples."""
        uniform: Probabilities = action_masks / action_masks.sum(axis=1, keepdims=True)
        return uniform


class EpsilonAgent:
    """An agent that acts at random with probability epsilon.

    Args:
        agent: the agent that acts otherwise.
        epsilon: probability of a uniformly random legal action, 0 to 1.
        seed: seed for the random choices. If None, the seed is random.

    Raises:
        ValueError: if `epsilon` is not between 0 and 1.
    """

    def __init__(self, agent: Agent, epsilon: float, seed: int | None = None) -> None:
        if not 0.0 <= epsilon <= 1.0:
            raise ValueError(f"epsilon: expected a probability, 0 to 1, found {epsilon}")
        self.sees_positions = sees_positions(agent)
        self._agent = agent
        self._epsilon = epsilon
        self._rng = np.random.default_rng(seed)
        self._random = RandomAgent(int(self._rng.integers(2**31)))

    def act(
        self, observations: Observations, action_masks: Masks, positions: Positions | None = None
    ) -> Actions:
        """Choose an action for each row."""
        chosen = self._agent.act(observations, action_masks, positions)
        explores = self._rng.random(len(chosen)) < self._epsilon
        return np.where(explores, self._random.act(observations, action_masks), chosen)

    def action_probabilities(
        self, observations: Observations, action_masks: Masks, positions: Positions | None = None
    ) -> Probabilities:
        """Return the distribution from which `act` samples."""
        own = action_probabilities_of(self._agent, observations, action_masks, positions)
        uniform = self._random.action_probabilities(observations, action_masks)
        return (1.0 - self._epsilon) * own + self._epsilon * uniform


class ScriptedAgent(PositionAgent):
    """A scripted player as an agent, with the same moves as inside the batch.

    Args:
        name: a member of `DETERMINISTIC`.
        scenario: scenario for the optimal player, or a list in the batch's order. Scenarios are
            solved unless a solution is cached. The other players can play any scenario.
        seat: seat for the optimal player: 0 or 1.

    Raises:
        ValueError: if the player does not exist.
        TooLarge: if the optimal player's scenario has too many positions to solve.
    """

    def __init__(self, name: str, scenario: Any = "archmage-duel", seat: int = 0) -> None:
        if name not in DETERMINISTIC:
            raise ValueError(
                f"scripted: expected one of {', '.join(DETERMINISTIC)}, found {name!r}"
            )
        self.name = self._called = name
        move_tables = no_move_tables()
        if SCRIPTED[name] == Scripted.OPTIMAL:
            played = scenario if isinstance(scenario, list | tuple) else [scenario]
            move_tables = load_move_tables([load_scenario(each) for each in played], seat)
        self._chooser = new_chooser(SCRIPTED[name], move_tables)

    def _choose(self, asked: PositionArrays, actions: Actions) -> None:
        choose_actions(self._chooser, asked, actions)


def make_scripted(
    name: str, epsilon: float | None, *, seed: int | None, scenario: Any, seat: int | str
) -> Agent:
    """Return a scripted player as an agent that acts at random with probability `epsilon`.

    Raises:
        TooLarge: if the scenario for "optimal" has too many positions to solve.
    """
    agent: Agent
    if name == "random":
        agent = RandomAgent(seed)
    elif name == "optimal":
        agent = solve(scenario, cache=True).policy(seat)
    else:
        agent = ScriptedAgent(name)
    if epsilon is None:
        return agent
    played = round(epsilon * EPSILON_STEPS) / EPSILON_STEPS  # rounded as inside the batch
    return EpsilonAgent(agent, played, seed)
