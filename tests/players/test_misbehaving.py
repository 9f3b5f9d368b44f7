"""Agents that misbehave as opponents: a clear error, and the batch stays usable."""

from typing import Any

import gymnasium as gym
import numpy as np
import pytest

from experiments.common import play_battles
from wfb_gym import solver
from wfb_gym.envs.batch import Batch
from wfb_gym.envs.kernel import Autoreset
from wfb_gym.players.baselines import RandomAgent

from .misbehaving import SPOILERS, Misbehaving, misbehaving, slow


@pytest.mark.parametrize("sees_positions", [False, True])
@pytest.mark.parametrize("name", SPOILERS)
def test_a_bad_opponent_is_rejected_and_the_batch_stays_unchanged(
    name: str, sees_positions: bool
) -> None:
    agent = Misbehaving(SPOILERS[name][0], after=3, sees_positions=sees_positions)
    batch = Batch(16, "archmage-duel", 0, agent, None, Autoreset.SAME_STEP, 1.0)
    batch.seed(range(16))
    out = batch.reset(np.ones(16, np.bool_))
    learner = RandomAgent(3)
    with pytest.raises(SPOILERS[name][1], match=SPOILERS[name][2]):  # noqa: PT012 (any step)
        for _ in range(50):
            before, masks = batch.get_state(), batch.action_mask.copy()
            actions = learner.act(out.observations, out.masks)
            out = batch.step(actions)
    assert batch.get_state() == before
    assert np.array_equal(batch.action_mask, masks)
    assert np.array_equal(batch.observe().masks, masks)
    assert np.array_equal(batch.observe().observations, out.observations)
    agent.left = 10_000  # from here on it behaves
    again = batch.step(actions)
    assert np.isfinite(again.rewards).all()
    assert batch.get_state() != before


@pytest.mark.parametrize("kind", ["Caster", "Dispeller", "Battle"])
def test_environments_name_the_fault(kind: str) -> None:
    scenario = "border-skirmish" if kind == "Battle" else "archmage-duel"
    agent, learner = misbehaving("outside", after=0), RandomAgent(1)
    env: Any = gym.make(f"wfb_gym/{kind}-v0", scenario=scenario, opponent=agent)
    with pytest.raises(ValueError, match=r"opponent: action \d+ is illegal, expected one of"):  # noqa: PT012
        for seed in range(20):
            env.reset(seed=seed)
            done = False
            while not done:
                masks = env.unwrapped.action_masks()[None]
                _, _, done, _, _ = env.step(int(learner.act(masks, masks)[0]))


@pytest.mark.parametrize("name", SPOILERS)
def test_exact_values_reject_them(name: str) -> None:
    with pytest.raises((ValueError, RuntimeError)):
        solver.evaluate("apprentice", misbehaving(name, after=0), "random")


@pytest.mark.parametrize("name", ["illegal", "outside", "too few", "floats"])
def test_in_the_learners_seat_they_are_rejected(name: str) -> None:
    with pytest.raises(ValueError, match="action"):
        play_battles(
            misbehaving(name), seat="caster", scenario="archmage-duel", opponent="veteran",
            battles=8, seed=0,
        )  # fmt: skip


def test_a_slow_agent_is_waited_for() -> None:
    asked: dict[str, Any] = {"scenario": "archmage-duel", "seat": "caster", "battles": 8, "seed": 4}
    found = play_battles(RandomAgent(2), opponent=Misbehaving(slow), **asked)
    assert np.array_equal(found, play_battles(RandomAgent(2), opponent=RandomAgent(1), **asked))
