"""Stable-Baselines3's algorithms: a few hundred training steps each, saved and loaded.

The interface of `PhaseVecEnv` is tested in `test_sb3.py`, the checker in
`tests/envs/test_checkers.py`.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from sb3_contrib import MaskablePPO, RecurrentPPO
from sb3_contrib.common.maskable.callbacks import MaskableEvalCallback
from sb3_contrib.common.maskable.evaluation import evaluate_policy as evaluate_masked
from stable_baselines3 import A2C, DQN, PPO
from stable_baselines3.common.base_class import BaseAlgorithm
from stable_baselines3.common.callbacks import CheckpointCallback, EvalCallback
from stable_baselines3.common.env_util import make_vec_env
from stable_baselines3.common.vec_env import VecMonitor

from tests.support.playing import registered
from wfb_gym.interop.sb3 import PhaseVecEnv

SMALL: dict[str, Any] = {"policy_kwargs": {"net_arch": [16]}, "seed": 0, "device": "cpu"}
OPTIONS: dict[type[BaseAlgorithm], dict[str, Any]] = {
    PPO: {"n_steps": 16, "batch_size": 64, "n_epochs": 2},
    A2C: {"n_steps": 8},
    DQN: {"buffer_size": 2000, "learning_starts": 64, "batch_size": 32},
    MaskablePPO: {"n_steps": 16, "batch_size": 64, "n_epochs": 2},
}
STEPS = 384


@pytest.fixture(autouse=True)
def _one_thread() -> Iterator[None]:
    """Use one thread: networks of this size are slower on several."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


def learner(kind: Any, envs: Any, **options: Any) -> Any:
    return kind("MlpPolicy", envs, gamma=1.0, **SMALL, **options)


def parameters(model: Any) -> np.ndarray[Any, Any]:
    return np.concatenate([each.detach().numpy().ravel() for each in model.policy.parameters()])


@pytest.mark.parametrize(
    ("kind", "seat"),
    [(PPO, "caster"), (A2C, "dispeller"), (DQN, "caster"), (MaskablePPO, "dispeller")],
)
def test_an_algorithm_learns_is_saved_and_continues(
    kind: type[BaseAlgorithm], seat: str, tmp_path: Path
) -> None:
    envs: Any = VecMonitor(PhaseVecEnv(8, seat))
    model = learner(kind, envs, **OPTIONS[kind])
    before = parameters(model)
    model.learn(STEPS)
    assert model.num_timesteps >= STEPS
    assert not np.array_equal(parameters(model), before)
    assert np.isfinite(parameters(model)).all()
    assert len(model.ep_info_buffer) > 20
    model.save(tmp_path / "model")
    again: Any = kind.load(tmp_path / "model", env=envs, device="cpu")
    np.testing.assert_array_equal(parameters(again), parameters(model))
    observations = envs.reset()
    chosen = [each.predict(observations, deterministic=True)[0] for each in (model, again)]
    np.testing.assert_array_equal(*chosen)
    again.learn(STEPS, reset_num_timesteps=False)
    assert again.num_timesteps >= 2 * STEPS


def test_a_recurrent_policy_learns() -> None:
    policy: dict[str, Any] = {**SMALL, "policy_kwargs": {"net_arch": [16], "lstm_hidden_size": 8}}
    model = RecurrentPPO(
        "MlpLstmPolicy", PhaseVecEnv(8), n_steps=16, batch_size=64, n_epochs=1, **policy
    )
    assert model.learn(256).num_timesteps == 256


def test_callbacks_evaluate_and_save(tmp_path: Path) -> None:
    folder = str(tmp_path / "best")
    masked = MaskableEvalCallback(
        VecMonitor(PhaseVecEnv(4)), best_model_save_path=folder, eval_freq=24, n_eval_episodes=8,
        verbose=0,
    )  # fmt: skip
    kept = CheckpointCallback(16, str(tmp_path / "kept"))
    envs = VecMonitor(PhaseVecEnv(8))
    learner(MaskablePPO, envs, **OPTIONS[MaskablePPO]).learn(STEPS, callback=[masked, kept])
    best = MaskablePPO.load(Path(folder) / "best_model.zip")
    mean, _ = evaluate_masked(best, VecMonitor(PhaseVecEnv(4)), n_eval_episodes=8)
    assert np.isfinite(float(np.mean(mean)))
    assert len(list((tmp_path / "kept").glob("*.zip"))) == STEPS // (8 * 16)
    plain = EvalCallback(VecMonitor(PhaseVecEnv(4)), eval_freq=24, n_eval_episodes=8, verbose=0)
    learner(DQN, envs, **OPTIONS[DQN]).learn(256, callback=plain)
    assert np.isfinite(plain.last_mean_reward)


@pytest.mark.parametrize("name", registered())
def test_every_id_trains_in_stable_baselines_own_vector_environment(name: str) -> None:
    keys = {"opponent": "random", "render_mode": None}  # it asks for pictures by default
    envs = make_vec_env(name, 3, seed=0, env_kwargs=keys)
    model = learner(MaskablePPO, envs, n_steps=8, batch_size=8, n_epochs=1)
    assert model.learn(24).num_timesteps == 24
    by_name = PPO("MlpPolicy", name, n_steps=16, batch_size=16, n_epochs=1, **SMALL)
    assert by_name.learn(16).num_timesteps == 16
