"""Agents by name, or from a saved model."""

from difflib import get_close_matches
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from agents.interface import Agent
from wfb_gym.opponents.registry import SCRIPTED

NAMES = ("random",)
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


def make_agent(
    name_or_path: str | Path, *, deterministic: bool = False, seed: int | None = None
) -> Agent:
    """An agent by its name, or by the path of a saved model ending in .zip.

    Args:
        name_or_path: a member of `NAMES`, or a path.
        deterministic: whether a saved model takes its likeliest action instead of drawing one.
        seed: of the agent's draws; None draws differently each time.

    Raises:
        FileNotFoundError: there is no such file.
        ValueError: no such agent, or the file is not a model that can play.
    """
    if name_or_path == "random":
        return RandomAgent(seed)
    if Path(name_or_path).suffix == ".zip":
        return SavedAgent(name_or_path, deterministic=deterministic, seed=seed)
    if name_or_path in SCRIPTED:
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
