"""Training speed: MaskablePPO on wfb_gym and on an environment without cost, and train_fast."""

import json
import subprocess
import sys
import tempfile
import time
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sb3_contrib import MaskablePPO
from stable_baselines3.common.vec_env import VecEnv

from experiments.benchmarks.stepping import Round
from wfb_gym.interop.sb3 import PhaseVecEnv

STEPS = 32
"""Steps per environment between two updates."""


class FreeVecEnv(PhaseVecEnv):
    """An environment without cost, whose steps return constant arrays."""

    def __init__(self, num_envs: int) -> None:
        super().__init__(num_envs)
        rng = np.random.default_rng(0)
        rewards = rng.normal(size=num_envs).astype(np.float32)
        dones = rng.random(num_envs) < 0.2  # an episode has about five decisions
        self._result: Any = super().reset(), rewards, dones, [{} for _ in range(num_envs)]
        self._masks = super().action_masks()

    def reset(self) -> Any:
        return self._result[0]

    def step_async(self, actions: NDArray[Any]) -> None:
        pass

    def step_wait(self) -> Any:
        return self._result

    def action_masks(self) -> Any:
        return self._masks


def sb3_round(envs: VecEnv, frames: int) -> Round:
    """Measure MaskablePPO, including learning, with the settings of `agents.train`."""
    model = MaskablePPO(
        "MlpPolicy", envs, n_steps=STEPS, batch_size=min(2048, frames), n_epochs=4,
        gamma=1.0, device="cpu", seed=0,
    )  # fmt: skip

    def measure(seconds: float) -> dict[str, float]:
        began = time.perf_counter()
        model.learn(frames)
        return {"frames": frames / (time.perf_counter() - began)}

    return measure


def train_fast_round(frames: int, *, quick: bool) -> Round:
    """Measure `agents.train_fast` with its default settings, in a subprocess.

    The rate is measured over the second half of the run, because the first half is a warm-up.
    Decisions with only one legal action are excluded. Exact scores are not computed.
    """
    command = (f"-m agents.train_fast --steps {2 * frames} --evaluations 2 --exact-bytes 1") + (
        " --quick" if quick else ""
    )

    def measure(seconds: float) -> dict[str, float]:
        with tempfile.TemporaryDirectory() as folder:
            done = subprocess.run(
                [sys.executable, *command.split(), "--out", folder, "--json"],
                check=True, text=True, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
            )  # fmt: skip
        results: dict[str, Any] = json.loads(done.stdout)
        *_, half, end = results["curve"]
        learned = (end["frames"] - half["frames"]) * results["learned"] / results["frames"]
        return {"frames": learned / max(end["seconds"] - half["seconds"], 1e-9)}

    return measure


_PROFILE = """
import json, sys
from agents.profiling import profile
print(json.dumps(profile({updates}, quick={quick})))
"""


def profile_train_fast(updates: int, *, quick: bool) -> dict[str, float]:
    """Measure the mean seconds of an `agents.train_fast` update by part, in a subprocess."""
    code = _PROFILE.format(updates=updates, quick=quick)
    done = subprocess.run(
        [sys.executable, "-c", code], check=True, text=True, stdout=subprocess.PIPE
    )
    found: dict[str, float] = json.loads(done.stdout)
    return found
