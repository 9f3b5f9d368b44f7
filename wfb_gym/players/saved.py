"""Saved Stable-Baselines3 models as agents."""

from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from wfb_gym.encoding.positions import Positions


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
        self,
        observations: NDArray[np.float32],
        action_masks: NDArray[np.bool_],
        positions: Positions | None = None,
    ) -> NDArray[np.int64]:
        """Choose an action for each row; see `Agent`."""
        return self._policy(observations, action_masks)

    def action_probabilities(
        self,
        observations: NDArray[np.float32],
        action_masks: NDArray[np.bool_],
        positions: Positions | None = None,
    ) -> NDArray[np.float64]:
        """Return the probabilities of the actions; see `Agent`."""
        return self._policy.action_probabilities(observations, action_masks)
