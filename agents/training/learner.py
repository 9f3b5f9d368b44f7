"""A learner: MaskablePPO whose run can be put down after any update and taken up again."""

from copy import deepcopy
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sb3_contrib import MaskablePPO
from stable_baselines3.common.logger import Logger
from stable_baselines3.common.utils import LinearSchedule

from agents.training.settings import Hyperparameters
from wfb_gym.interop.sb3 import PhaseVecEnv

GAMMA = 1.0
"""Battles are undiscounted."""


class TrainingEnv(PhaseVecEnv):
    """A `PhaseVecEnv` that sums up its episodes' rewards, and can go back to where it was."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._sums = np.zeros(self.num_envs)
        self._ended: list[float] = []

    def step_wait(self) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any], list[dict[str, Any]]]:
        out = super().step_wait()
        self._sums += out[1]
        self._ended.extend(self._sums[out[2]].tolist())
        self._sums[out[2]] = 0.0
        return out

    def mean_return(self) -> float | None:
        """Mean of the sums of rewards of episodes that ended since this was last asked."""
        ended, self._ended = self._ended, []
        return float(np.mean(ended)) if ended else None

    def get_state(self) -> dict[str, Any]:
        """Everything that the environments' futures depend on, but for their opponents' draws."""
        return {"batch": self.batch.get_state(), "sums": self._sums.tolist()}

    def set_state(self, state: dict[str, Any]) -> NDArray[np.float32]:
        """Go back to what `get_state` gave; returns the observations there."""
        self.batch.set_state(state["batch"])
        self._sums = np.array(state["sums"])
        self._actions = None
        out = self.batch.look()
        self._masks = out.masks
        return out.observations


class Learner(MaskablePPO):
    """MaskablePPO, an update at a time, with rates that fall over a horizon known beforehand.

    The horizon is kept by the learner, not by a call of `learn`, so that a run in pieces is the
    run in one.
    """

    horizon: int = 1
    ent_first: float = 0.0
    ent_final: float = 0.0

    def begin(self, logger: Logger) -> None:
        """Reset environments and counters; before the first update, once."""
        self.set_logger(logger)
        self._watcher = self._setup_learn(self.horizon)[1]

    def update(self) -> None:
        """Collect decisions and learn from them."""
        assert isinstance(self.env, TrainingEnv)
        self.collect_rollouts(self.env, self._watcher, self.rollout_buffer, self.n_steps)
        self._update_current_progress_remaining(self.num_timesteps, self.horizon)
        left = max(0.0, self._current_progress_remaining)
        self.ent_coef = self.ent_final + (self.ent_first - self.ent_final) * left
        self.train()
        mean = self.env.mean_return()
        if mean is not None:
            self.logger.record("rollout/points", mean / self.env.batch.scale)
        self.logger.record("train/ent_coef", self.ent_coef)
        self.logger.dump(self.num_timesteps)

    @property
    def done(self) -> bool:
        """Whether nothing is left to learn from."""
        return self.num_timesteps >= self.horizon

    def get_state(self) -> dict[str, Any]:
        """Everything that the next update depends on, but for the generators all share."""
        assert isinstance(self.env, TrainingEnv)
        assert self._last_episode_starts is not None
        return {
            "policy": deepcopy(self.policy.state_dict()),  # of itself it changes with them
            "optimizer": deepcopy(self.policy.optimizer.state_dict()),
            "steps": self.num_timesteps,
            "updates": self._n_updates,
            "envs": self.env.get_state(),
            "starts": self._last_episode_starts.tolist(),
        }

    def set_state(self, state: dict[str, Any]) -> None:
        """Go back to what `get_state` gave; after `begin`."""
        assert isinstance(self.env, TrainingEnv)
        self.policy.load_state_dict(state["policy"])
        self.policy.optimizer.load_state_dict(state["optimizer"])
        self.num_timesteps = int(state["steps"])
        self._n_updates = int(state["updates"])
        self._last_obs = self.env.set_state(state["envs"])
        self._last_episode_starts = np.array(state["starts"], np.bool_)

    def _excluded_save_params(self) -> list[str]:
        return [*super()._excluded_save_params(), "_watcher"]


def new_learner(envs: TrainingEnv, hyper: Hyperparameters, seed: int) -> Learner:
    """An untrained learner.

    Args:
        envs: whose seeds are still to be set: a model gives them its own.
        hyper: see `Hyperparameters`.
        seed: of the network's first weights, and of the generators that all share.
    """
    learner = Learner(
        "MlpPolicy",
        envs,
        n_steps=hyper.n_steps,
        batch_size=hyper.even_batch,
        n_epochs=hyper.n_epochs,
        learning_rate=LinearSchedule(hyper.learning_rate, 0.0, 1.0),
        gamma=GAMMA,
        gae_lambda=hyper.gae_lambda,
        ent_coef=hyper.ent_coef,
        policy_kwargs={"net_arch": [hyper.net, hyper.net]},
        seed=seed,
        device="cpu",
    )
    learner.horizon = hyper.steps
    learner.ent_first, learner.ent_final = hyper.ent_coef, hyper.ent_final
    return learner
