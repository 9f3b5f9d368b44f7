"""Agents that misbehave as opponents: a clear error, and the batch stays usable."""

from typing import Any

import numpy as np
import pytest

from experiments.common import play_battles
from wfb_gym.envs.batch import Batch
from wfb_gym.envs.kernel import Autoreset
from wfb_gym.players.baselines import RandomAgent

from .misbehaving import SPOILERS, Misbehaving


@pytest.mark.parametrize("name", SPOILERS)
def test_a_bad_opponent_is_rejected_and_the_batch_stays_unchanged(name: str) -> None:
    agent = Misbehaving(SPOILERS[name][0], after=3, sees_positions=name in ("raises", "outside"))
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
    assert np.isfinite(batch.step(actions).rewards).all()
    assert batch.get_state() != before


def test_in_the_learners_seat_they_are_rejected() -> None:
    agent = Misbehaving(SPOILERS["too few"][0])
    some: dict[str, Any] = {"scenario": "archmage-duel", "opponent": "veteran", "battles": 8}
    with pytest.raises(ValueError, match="action"):
        play_battles(agent, seat="caster", seed=0, **some)
