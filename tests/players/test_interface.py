"""The interface of all agents, from both seats."""

from typing import Any

import numpy as np
import pytest

from wfb_gym.encoding.positions import sees_positions
from wfb_gym.opponents.policy_spec import NAMES
from wfb_gym.players.baselines import EpsilonAgent, RandomAgent
from wfb_gym.players.interface import Agent
from wfb_gym.players.registry import make_agent

from .asking import SCENARIOS, met

DRAWING = ("random", "veteran:0.2", "optimal:0.3")


def made(name: str, scenario: str, seat: int) -> Any:
    """Return the agent; mcts has fewer simulations, because others test the full number."""
    chosen = "mcts:50" if name == "mcts" else name
    return make_agent(chosen, scenario=scenario, seat=seat, seed=3)


@pytest.mark.parametrize(("scenario", "seat"), [*zip(SCENARIOS, (1, 0), strict=True)])
@pytest.mark.parametrize("name", [*NAMES, *DRAWING[1:]])
def test_answers_follow_from_seed_and_position(name: str, scenario: str, seat: int) -> None:
    asked = met(scenario, seat)
    over = asked.masks.sum(axis=1) == 1
    assert over.any()
    assert len(np.unique(asked.observations[~over], axis=0)) > 12
    agent = made(name, scenario, seat)
    actions = asked.actions_of(agent)
    assert actions.dtype == np.int64
    assert actions.shape == asked.masks.shape[:1]
    assert asked.masks[np.arange(len(actions)), actions].all()
    assert len(set(actions.tolist())) > 2
    assert np.array_equal(asked.actions_of(made(name, scenario, seat)), actions)

    chances = asked.chances_of(agent)
    assert chances.shape == asked.masks.shape
    assert chances.dtype == np.float64
    assert (chances >= 0.0).all()
    assert (chances[~asked.masks] == 0.0).all()
    assert chances.sum(axis=1) == pytest.approx(1.0)
    assert ((chances > 0.0).sum(axis=1) > 1).any() == (name in DRAWING)

    order = np.random.default_rng(1).permutation(len(actions))
    turned = asked.rows(order)
    if name in DRAWING:
        assert np.array_equal(turned.chances_of(agent), chances[order])
    else:
        assert np.array_equal(turned.actions_of(agent), actions[order])
        alone = [int(asked.rows(order[k : k + 1]).actions_of(agent)[0]) for k in range(10)]
        assert alone == actions[order[:10]].tolist()


@pytest.mark.parametrize("name", [*NAMES, *DRAWING[1:]])
def test_only_some_players_need_positions(name: str) -> None:
    asked = met(SCENARIOS[0], 0)
    one, other = (made(name, SCENARIOS[0], 0) for _ in range(2))
    assert sees_positions(one) == (name not in ("random", "optimal", "optimal:0.3"))
    if sees_positions(one):
        with pytest.raises(ValueError, match="expected positions, found none"):
            one.act(asked.observations, asked.masks)
    else:
        assert np.array_equal(asked.actions_of(one), other.act(asked.observations, asked.masks))


def test_an_epsilon_agent_mixes_the_chances_of_another() -> None:
    asked = met(SCENARIOS[0], 1)
    inner: Agent = RandomAgent(1)
    outer = EpsilonAgent(EpsilonAgent(inner, 0.5, 1), 0.5, 1)
    assert asked.chances_of(outer) == pytest.approx(asked.chances_of(inner))
