"""What trains: MaskablePPO on our environments and on one that costs nothing, and train_fast."""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sb3_contrib import MaskablePPO
from stable_baselines3.common.vec_env import VecEnv

from agents.train_fast import Args, Trainer, helped
from agents.training.peers import joined
from experiments.benchmarks.stepping import Round
from wfb_gym.interop.sb3 import PhaseVecEnv

ENVS = 512
STEPS = 32
"""Of each environment between two updates."""


class FreeVecEnv(VecEnv):
    """Costs nothing: the spaces of a `PhaseVecEnv`, and always the same arrays."""

    def __init__(self, like: PhaseVecEnv) -> None:
        self.render_mode = None
        super().__init__(like.num_envs, like.observation_space, like.action_space)
        rng = np.random.default_rng(0)
        self._observations = like.reset()
        self._masks = like.action_masks()
        self._rewards = rng.normal(size=self.num_envs).astype(np.float32)
        self._dones = rng.random(self.num_envs) < 0.2  # an episode has some five decisions
        self._infos: list[dict[str, Any]] = [{} for _ in range(self.num_envs)]

    def reset(self) -> Any:
        return self._observations

    def step_async(self, actions: NDArray[Any]) -> None:
        pass

    def step_wait(self) -> Any:
        return self._observations, self._rewards, self._dones, self._infos

    def env_method(self, method_name: str, *_: Any, **__: Any) -> Any:
        return self._masks

    def has_attr(self, attr_name: str) -> bool:
        return True

    def get_attr(self, attr_name: str, indices: Any = None) -> list[Any]:
        return [None] * self.num_envs

    def set_attr(self, attr_name: str, value: Any, indices: Any = None) -> None:
        pass

    def env_is_wrapped(self, wrapper_class: Any, indices: Any = None) -> list[bool]:
        return [False] * self.num_envs

    def close(self) -> None:
        pass


def training_round(envs: VecEnv, frames: int) -> Round:
    """MaskablePPO, learning included, with the settings of `agents.train`."""
    model = MaskablePPO(
        "MlpPolicy",
        envs,
        n_steps=STEPS,
        batch_size=2048,
        n_epochs=4,
        gamma=1.0,
        device="cpu",
        seed=0,
    )

    def measured(seconds: float) -> dict[str, float]:
        began = time.perf_counter()
        model.learn(frames)
        return {"frames": frames / (time.perf_counter() - began)}

    return measured


@contextmanager
def fast_round(frames: int) -> Iterator[Round]:
    """`agents.train_fast` with its own settings, learning included.

    Counted are the decisions that it learns from, which leaves out those with one legal action.
    """
    args = Args(seconds=1e9)
    with joined(args.workers, helped, args, False) as peers:
        trainer = Trainer(args, peers)

        def measured(seconds: float) -> dict[str, float]:
            began, learned = time.perf_counter(), trainer.learned
            while trainer.learned - learned < frames:
                peers.told(0.0, 0.0)  # another update
                trainer.update()
            return {"frames": (trainer.learned - learned) / (time.perf_counter() - began)}

        yield measured
        peers.told(0.0, 1.0)  # that was the last
