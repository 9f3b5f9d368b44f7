"""Stable-Baselines3 models as agents. Importing this module imports torch."""

from pathlib import Path
from typing import Any

import numpy as np
from gymnasium.spaces import Box
from numpy.typing import NDArray

try:
    import torch
    from sb3_contrib.common.maskable.policies import MaskableActorCriticPolicy
    from sb3_contrib.common.recurrent.policies import RecurrentActorCriticPolicy
    from stable_baselines3.common.policies import ActorCriticPolicy
    from stable_baselines3.common.save_util import load_from_zip_file
    from stable_baselines3.dqn.policies import DQNPolicy
except ImportError as error:
    raise ImportError(
        "a saved Stable-Baselines3 model needs stable-baselines3 and sb3-contrib: "
        'pip install "wfb-gym[train]"'
    ) from error

from wfb_gym.encoding.positions import Positions
from wfb_gym.files import DamagedFileError, wrap_read_errors
from wfb_gym.opponents.policy_spec import Model
from wfb_gym.players.interface import (
    Actions,
    Masks,
    Observations,
    Probabilities,
    certain,
    check_row_sizes,
)


class SavedPolicy:
    """A Stable-Baselines3 model's policy as an agent. It can also be called as a policy.

    It samples its actions, or takes the most likely one if it is deterministic. A DQN always takes
    the legal action with the largest Q-value.

    Observations are clipped to the model's observation space, so that a model trained with
    `features="raw"` plays with raw features in every environment.
    """

    def __init__(self, policy: Any, name: str, deterministic: bool, seed: int | None) -> None:
        self.name = name
        self._bounds = policy.observation_space.low, policy.observation_space.high
        self.size = int(policy.observation_space.shape[0])
        self.actions = int(policy.action_space.n)
        self._policy = policy
        self._deterministic = deterministic or isinstance(policy, DQNPolicy)
        self._rng = np.random.default_rng(seed)

    def act(
        self, observations: Observations, action_masks: Masks, positions: Positions | None = None
    ) -> Actions:
        """Choose a legal action for each row; see `wfb_gym.players.interface.Agent`.

        Raises:
            ValueError: if the arrays do not have the sizes that the model was trained with.
        """
        logits = self._logits(observations, action_masks)
        if not self._deterministic:  # Gumbel-max trick: samples from the softmax of the logits
            logits += self._rng.gumbel(size=logits.shape)
        actions: Actions = logits.argmax(axis=1)
        return actions

    __call__ = act

    def action_probabilities(
        self, observations: Observations, action_masks: Masks, positions: Positions | None = None
    ) -> Probabilities:
        """Return the distribution from which `act` samples, float64 (k, actions)."""
        logits = self._logits(observations, action_masks).astype(np.float64)
        if self._deterministic:
            return certain(logits.argmax(axis=1), logits)
        probabilities: Probabilities = np.exp(logits - logits.max(axis=1, keepdims=True))
        probabilities /= probabilities.sum(axis=1, keepdims=True)
        return probabilities

    def _logits(self, observations: Observations, masks: Masks) -> NDArray[np.float32]:
        """Return the action logits, -inf for illegal actions, float32 (k, actions)."""
        hint = "; train and play the model on the same scenario, seat and limits"
        check_row_sizes(self.name, (self.size, self.actions), observations, masks, hint)
        with torch.no_grad():
            clipped = np.clip(observations, *self._bounds, dtype=np.float32)
            given_to = torch.as_tensor(clipped, device=self._policy.device)
            if isinstance(self._policy, DQNPolicy):
                logits = self._policy.q_net(given_to)
            else:
                logits = self._policy.get_distribution(given_to).distribution.logits
            return np.where(masks, logits.cpu().numpy(), -np.inf)


def load_policy(
    path: str | Path, *, deterministic: bool = False, seed: int | None = None
) -> SavedPolicy:
    """Load a saved model trained with MaskablePPO, PPO, A2C, TRPO or DQN.

    Loading runs code from the file, so load only files that you trust.

    Raises:
        FileNotFoundError: if the file does not exist.
        DamagedFileError: if the file is not such a model; a subclass of ValueError.
    """
    path = Path(path)
    if not path.is_file():
        raise FileNotFoundError(f"{path}: expected a saved model, found no file")
    with wrap_read_errors(path, "a model saved by Stable-Baselines3"):
        data, parameters, _ = load_from_zip_file(path, device="cpu")
        assert data is not None
        policy = _policy_of(str(path), data, parameters["policy"])
    return SavedPolicy(policy, str(path), deterministic, seed)


def policy_of_model(model: Model, *, deterministic: bool = False) -> SavedPolicy:
    """Return a model object as an agent, which reflects further training of the model.

    Raises:
        ValueError: if the model cannot play.
    """
    name = type(model).__name__
    _check_kind(name, type(model.policy), model.policy.observation_space, model.policy.action_space)
    return SavedPolicy(model.policy, name, deterministic, seed=None)


def _policy_of(path: str, data: dict[str, Any], weights: Any) -> Any:
    kind, spaces = data["policy_class"], (data["observation_space"], data["action_space"])
    _check_kind(path, kind, *spaces)
    for name, each in weights.items():
        if not torch.isfinite(each).all():
            raise DamagedFileError(
                f"{path}: {name}: expected finite numbers, found NaN or infinity"
            )
    options = {key: value for key, value in data["policy_kwargs"].items() if key != "device"}
    policy = kind(*spaces, lambda _: 0.0, **options)
    policy.load_state_dict(weights)
    policy.set_training_mode(False)
    return policy


def _check_kind(name: str, kind: Any, observation_space: Any, action_space: Any) -> None:
    plain = ActorCriticPolicy | MaskableActorCriticPolicy | DQNPolicy
    is_plain = isinstance(kind, type) and issubclass(kind, plain)
    if not is_plain or issubclass(kind, RecurrentActorCriticPolicy):
        raise DamagedFileError(
            f"{name}: expected a model of MaskablePPO, PPO, A2C, TRPO or DQN, "
            f"found the policy {kind}"
        )
    is_flat = isinstance(observation_space, Box) and len(observation_space.shape) == 1
    if not is_flat or not hasattr(action_space, "n"):
        raise DamagedFileError(
            f"{name}: expected a flat observation and a discrete action, "
            f"found {observation_space} and {action_space}"
        )
