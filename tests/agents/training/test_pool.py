"""Pools of opponents, and former selves."""

from typing import Any

import numpy as np
import pytest
import torch
from numpy.typing import NDArray

from agents.training.pool import (
    MIXED,
    SELF,
    SOLVED_MIX,
    UNSOLVED_MIX,
    Drawing,
    Selves,
    expanded,
    fit_for_partner,
)


class Fixed:
    """Always the same chances."""

    def action_probabilities(
        self, observations: NDArray[np.float32], masks: NDArray[np.bool_]
    ) -> NDArray[np.float64]:
        return np.tile([0.0, 0.25, 0.75, 0.0], (len(observations), 1))


class Network(torch.nn.Module):
    """As much of a policy as snapshots need: one number that tells it apart."""

    def __init__(self) -> None:
        super().__init__()
        self.mark = torch.nn.Parameter(torch.zeros(1))
        self.observation_space = type("Space", (), {"shape": (1,)})
        self.action_space = type("Space", (), {"n": 2})

    def set_training_mode(self, mode: bool) -> None:
        self.train(mode)


def test_draws_have_the_chances_and_can_be_repeated() -> None:
    player = Drawing(Fixed(), (3,))
    empty = np.zeros((20_000, 1), np.float32), np.ones((20_000, 4), np.bool_)
    state = player.rng.bit_generator.state
    actions = player(*empty)
    shares = np.bincount(actions, minlength=4) / len(actions)
    assert shares == pytest.approx([0, 0.25, 0.75, 0], abs=0.02)
    player.rng.bit_generator.state = state
    assert (player(*empty) == actions).all()


def marks(selves: Selves) -> list[float]:
    """Whom the opponents are copies of, place by place."""
    worn: list[Any] = [each.policy for each in selves.opponents]
    return [each._network.mark.item() for each in worn]


def test_snapshots_keep_the_latest_the_first_and_a_spread_between() -> None:
    selves, network = Selves(4, (0,)), Network()
    for when in range(0, 41, 4):
        network.mark.data.fill_(when)
        selves.take(when, network)
        assert marks(selves)[0] == when
        assert selves.taken[0] == 0
    assert len(selves.taken) == 4
    gaps = np.diff(selves.taken)
    assert gaps.min() >= 4
    assert gaps.max() <= 24
    assert sorted(marks(selves)) == selves.taken


def test_snapshots_do_not_change_with_the_learner_and_can_be_restored() -> None:
    selves, network = Selves(2, (0,)), Network()
    network.mark.data.fill_(1)
    selves.take(0, network)
    network.mark.data.fill_(2)
    assert marks(selves) == [1, 1]
    selves.take(4, network)
    again = Selves(2, (0,))
    again.set_state(selves.get_state(), network)
    assert marks(again) == marks(selves) == [2, 1]
    assert again.taken == [0, 4]


def test_the_default_pool() -> None:
    assert expanded((), solvable=True) == expanded((MIXED,), solvable=True) == SOLVED_MIX
    assert expanded((), solvable=False) == UNSOLVED_MIX
    assert expanded(("greedy", MIXED), solvable=True) == ("greedy", *SOLVED_MIX)


def test_saved_models_play_one_seat_alone() -> None:
    assert fit_for_partner((SELF, "m.zip", "optimal:0.2", "mcts")) == (SELF, "optimal:0.2")
