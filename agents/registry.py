"""Agents by name, or from a saved model."""

from difflib import get_close_matches
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from agents.interface import Agent
from wfb_gym.opponents.policies import kind_and_epsilon
from wfb_gym.opponents.registry import SCRIPTED, scripted_policy
from wfb_gym.solver import solved

NAMES = ("random", "optimal")
"""Agents that have a name. Greedy and veteran read the battle itself, not observations: they play
inside the batch, as ``opponent="greedy"``."""


class RandomAgent:
    """Chooses uniformly among the legal actions.

    Args:
        seed: of its choices; None chooses differently each time.
    """

    def __init__(self, seed: int | None = None) -> None:
        self._rng = np.random.default_rng(seed)

    def act(
        self, observations: NDArray[np.float32], action_masks: NDArray[np.bool_]
    ) -> NDArray[np.int64]:
        keys = self._rng.random(action_masks.shape)
        actions: NDArray[np.int64] = np.where(action_masks, keys, -1.0).argmax(axis=1)
        return actions


class SavedAgent:
    """A saved Stable-Baselines3 model.

    Args:
        path: the .zip file; loading runs code that it holds, so load only files you trust.
        deterministic: take the likeliest legal action instead of drawing one.
        seed: of the draws; None draws differently each time.

    Raises:
        FileNotFoundError: there is no such file.
        ValueError: the file is no such model.
    """

    def __init__(
        self, path: str | Path, *, deterministic: bool = False, seed: int | None = None
    ) -> None:
        from wfb_gym.interop.sb3 import load_policy  # pulls torch in

        self._policy = load_policy(path, deterministic=deterministic, seed=seed)

    def act(
        self, observations: NDArray[np.float32], action_masks: NDArray[np.bool_]
    ) -> NDArray[np.int64]:
        return self._policy(observations, action_masks)


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
        self._agent = agent
        self._epsilon = epsilon
        self._rng = np.random.default_rng(seed)
        self._random = RandomAgent(int(self._rng.integers(2**31)))

    def act(
        self, observations: NDArray[np.float32], action_masks: NDArray[np.bool_]
    ) -> NDArray[np.int64]:
        chosen = self._agent.act(observations, action_masks)
        strays = self._rng.random(len(chosen)) < self._epsilon
        return np.where(strays, self._random.act(observations, action_masks), chosen)

    def probabilities(
        self, observations: NDArray[np.float32], action_masks: NDArray[np.bool_]
    ) -> NDArray[np.float64]:
        """Chances of the actions, for exact values: float64 (k, actions)."""
        chosen = self._agent.act(observations, action_masks)
        uniform = action_masks / action_masks.sum(axis=1, keepdims=True)
        chances: NDArray[np.float64] = self._epsilon * uniform
        chances[np.arange(len(chosen)), chosen] += 1.0 - self._epsilon
        return chances


def make_agent(
    name_or_path: str | Path,
    *,
    deterministic: bool = False,
    seed: int | None = None,
    scenario: Any = "archmage-duel",
    seat: int | str = 0,
) -> Agent:
    """An agent by its name, or by the path of a saved model ending in .zip.

    Args:
        name_or_path: a member of `NAMES`, a path, or "optimal:EPSILON" for optimal play with a
            chance of EPSILON to play at random.
        deterministic: whether a saved model takes its likeliest action instead of drawing one.
        seed: of the agent's draws; None draws differently each time.
        scenario: that "optimal" plays; it is solved if it was not before.
        seat: that "optimal" plays: 0 or "caster", 1 or "dispeller".

    Raises:
        FileNotFoundError: there is no such file.
        ValueError: no such agent, or the file is not a model that can play.
        TooLarge: the scenario has more positions than fit.
    """
    name, colon, _ = str(name_or_path).partition(":")
    if name_or_path == "random":
        return RandomAgent(seed)
    if Path(name_or_path).suffix == ".zip":
        return SavedAgent(name_or_path, deterministic=deterministic, seed=seed)
    if name == "optimal":
        number = scripted_policy(str(name_or_path))  # refuses what is no chance
        assert number is not None
        best = solved(scenario).policy(seat)
        return EpsilonAgent(best, kind_and_epsilon(number)[1], seed) if colon else best
    if name in SCRIPTED:
        raise ValueError(
            f"agent: {name_or_path} plays inside the batch; "
            f'name it as the opponent: opponent="{name_or_path}"'
        )
    close = get_close_matches(str(name_or_path), NAMES, n=1)
    hint = f" (did you mean {close[0]}?)" if close else ""
    raise ValueError(
        f"agent: expected {', '.join(NAMES)} or a saved model's path ending in .zip, "
        f"found {str(name_or_path)!r}{hint}"
    )
