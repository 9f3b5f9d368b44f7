"""A learner that is put down and taken up again, update by update."""

from typing import Any

import numpy as np
import torch
from stable_baselines3.common.logger import Logger

from agents.training import checkpoints
from agents.training.learner import GAMMA, Learner, TrainingEnv, new_learner
from agents.training.settings import Hyperparameters

HYPER = Hyperparameters(
    steps=512, num_envs=16, n_steps=8, batch_size=64, n_epochs=2, learning_rate=1e-3,
    gae_lambda=0.95, ent_coef=0.1, ent_final=0.02, net=16,
)  # fmt: skip


def begun() -> Learner:
    envs = TrainingEnv(HYPER.num_envs, "caster", opponent="random")
    learner = new_learner(envs, HYPER, seed=3)
    envs.seed(4)
    learner.begin(Logger(None, []))
    return learner


def test_rates_fall_over_the_whole_run() -> None:
    learner = begun()
    rates = []
    while not learner.done:
        learner.update()
        rates.append((learner.policy.optimizer.param_groups[0]["lr"], learner.ent_coef))
    assert GAMMA == learner.gamma == 1.0
    assert learner.num_timesteps == 512
    assert [round(rate / 1e-3, 6) for rate, _ in rates] == [0.75, 0.5, 0.25, 0.0]
    assert [round(weight, 6) for _, weight in rates] == [0.08, 0.06, 0.04, 0.02]


def test_taken_up_again_it_goes_on_as_if_nothing_had_been() -> None:
    one = begun()
    one.update()
    state = {"learner": one.get_state(), "generators": checkpoints.get_generators()}
    two = begun()
    two.set_state(state["learner"])
    assert isinstance(one.env, TrainingEnv)
    assert isinstance(two.env, TrainingEnv)
    assert np.array_equal(two._last_obs, one._last_obs)  # type: ignore[arg-type]
    assert (two.env.action_masks() == one.env.action_masks()).all()
    ends = []
    for learner in (one, two):
        checkpoints.set_generators(state["generators"])
        learner.update()
        ends.append((learner.policy.state_dict(), learner.env.get_state()))  # type: ignore[union-attr]
    (first, envs), (second, others) = ends
    assert envs == others
    assert all(torch.equal(first[name], second[name]) for name in first)


def test_the_mean_return_is_of_whole_episodes_that_ended() -> None:
    envs = TrainingEnv(8, "caster", opponent="random")
    envs.seed(4)
    envs.reset()
    sums: Any = np.zeros(8)
    ended: list[Any] = []
    for _ in range(40):
        _, rewards, dones, _ = envs.step(envs.action_masks().argmax(axis=1))
        sums += rewards
        ended.extend(sums[dones])
        sums[dones] = 0.0
    assert len(ended) > 16  # second episodes too
    assert envs.mean_return() == np.mean(ended)
    assert envs.mean_return() is None  # told once
