"""Baseline agents: random, one that explores, and the scripted players as agents."""

from typing import Any

import numpy as np

from wfb_gym.encoding.positions import PositionArrays, Positions, sees_positions
from wfb_gym.opponents.move_tables import no_move_tables
from wfb_gym.opponents.scripted import (
    EPSILON_STEPS,
    SCRIPTED,
    Scripted,
    choose_actions,
    new_chooser,
)
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
"""Scripted players that draw nothing: their action follows from the position."""


class RandomAgent:
    """Chooses uniformly among the legal actions.

    Args:
        seed: of its choices; None chooses differently each time.
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
        """Return the distribution that `act` draws from."""
        uniform: Probabilities = action_masks / action_masks.sum(axis=1, keepdims=True)
        return uniform


class EpsilonAgent:
    """An agent that acts at random with probability epsilon.

    Args:
        agent: that acts otherwise.
        epsilon: probability of a uniformly random legal action, 0 to 1.
        seed: of the draws; None draws differently each time.

    Raises:
        ValueError: epsilon is not in 0..1.
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
        """Return the distribution that `act` draws from."""
        own = action_probabilities_of(self._agent, observations, action_masks, positions)
        uniform = self._random.action_probabilities(observations, action_masks)
        return (1.0 - self._epsilon) * own + self._epsilon * uniform


class ScriptedAgent(PositionAgent):
    """A scripted player as an agent: the same moves as inside the batch.

    Args:
        name: of `DETERMINISTIC`.
        scenario: that optimal plays; several in the order in which the batch holds them. They are
            solved unless they were before. The other players play any scenario.
        seat: that optimal plays: 0 or 1.

    Raises:
        ValueError: there is no such player.
        TooLarge: optimal's scenario has more positions than fit.
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
    """Return a scripted player as an agent, which acts at random with a probability if it is given.

    Raises:
        TooLarge: the scenario of "optimal" has more positions than fit.
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
    played = round(epsilon * EPSILON_STEPS) / EPSILON_STEPS  # as inside the batch
    return EpsilonAgent(agent, played, seed)
