"""The interface of all agents, from both seats."""

from typing import Any

import numpy as np
import pytest

from wfb_gym.encoding.positions import sees_positions
from wfb_gym.opponents.policy_spec import NAMES
from wfb_gym.players.baselines import EpsilonAgent, RandomAgent
from wfb_gym.players.interface import Agent, action_probabilities_of, require_positions
from wfb_gym.players.registry import make_agent

from .asking import ALL, SCENARIOS, met

NAMED = (*NAMES, "random:0.5", "veteran:0.2", "optimal:0.3", "expectimax:2", "mcts:20")
DRAWING = ("random", "random:0.5", "veteran:0.2", "optimal:0.3")


def made(name: str, scenario: str, seat: int, seed: int | None = 3) -> Any:
    """Return the agent; plain mcts has fewer simulations, because others test the full number."""
    chosen = "mcts:50" if name == "mcts" else name
    return make_agent(chosen, scenario=scenario, seat=seat, seed=seed)


@pytest.fixture(params=[0, 1], ids=["caster", "dispeller"])
def seat(request: pytest.FixtureRequest) -> int:
    return int(request.param)


@pytest.fixture(params=SCENARIOS)
def scenario(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture(params=NAMED)
def name(request: pytest.FixtureRequest) -> str:
    return str(request.param)


def test_the_tested_battles_are_of_every_kind(scenario: str, seat: int) -> None:
    asked = met(scenario, seat)
    over = asked.masks.sum(axis=1) == 1
    assert over.any()
    assert len(np.unique(asked.observations[~over], axis=0)) > 12


def test_actions_are_legal(name: str, scenario: str, seat: int) -> None:
    asked = met(scenario, seat)
    actions = asked.actions_of(made(name, scenario, seat))
    assert actions.dtype == np.int64
    assert actions.shape == asked.masks.shape[:1]
    assert asked.masks[np.arange(len(actions)), actions].all()


def test_the_same_seed_gives_the_same_answers(name: str, scenario: str, seat: int) -> None:
    asked = met(scenario, seat)
    one, other = (asked.actions_of(made(name, scenario, seat)) for _ in range(2))
    assert np.array_equal(one, other)


def test_chances_are_chances_of_legal_actions(name: str, scenario: str, seat: int) -> None:
    asked = met(scenario, seat)
    agent = made(name, scenario, seat)
    chances = action_probabilities_of(agent, asked.observations, asked.masks, asked.positions)
    assert chances.shape == asked.masks.shape
    assert chances.dtype == np.float64
    assert (chances >= 0.0).all()
    assert (chances[~asked.masks] == 0.0).all()
    assert chances.sum(axis=1) == pytest.approx(1.0)
    mixed = ((chances > 0.0).sum(axis=1) > 1).any()
    assert mixed == (name in DRAWING)


@pytest.mark.parametrize("name", [name for name in NAMED if name not in DRAWING])
def test_answers_do_not_depend_on_the_batch(name: str, scenario: str, seat: int) -> None:
    asked = met(scenario, seat)
    agent = made(name, scenario, seat)
    actions = asked.actions_of(agent)
    order = np.random.default_rng(1).permutation(len(actions))
    assert np.array_equal(asked.rows(order).actions_of(agent), actions[order])
    alone = [int(asked.rows(np.array([row])).actions_of(agent)[0]) for row in order[:20]]
    assert alone == actions[order[:20]].tolist()
    assert len(set(actions.tolist())) > 2


@pytest.mark.parametrize("name", [name for name in NAMED if name in DRAWING])
def test_chances_do_not_depend_on_the_batch(name: str, scenario: str, seat: int) -> None:
    asked = met(scenario, seat)
    agent = made(name, scenario, seat)
    chances = asked.chances_of(agent)
    order = np.random.default_rng(1).permutation(len(chances))
    assert np.array_equal(asked.rows(order).chances_of(agent), chances[order])


@pytest.mark.parametrize("name", ["greedy", "veteran:0.2", "expectimax", "mcts"])
def test_players_that_need_positions_raise_without_them(name: str) -> None:
    asked = met(SCENARIOS[0], 0)
    agent = made(name, SCENARIOS[0], 0)
    assert sees_positions(agent)
    with pytest.raises(ValueError, match="expected positions, found none"):
        agent.act(asked.observations, asked.masks)


@pytest.mark.parametrize("name", ["random", "optimal", "optimal:0.3"])
def test_other_players_play_without_positions(name: str) -> None:
    asked = met(SCENARIOS[0], 0)
    one, other = (made(name, SCENARIOS[0], 0) for _ in range(2))
    assert not sees_positions(one)
    assert np.array_equal(asked.actions_of(one), other.act(asked.observations, asked.masks))


def test_positions_stay_as_they_were() -> None:
    asked = met(SCENARIOS[1], 0)
    for name in ("veteran", "expectimax:2", "mcts:20"):
        before = asked.positions.rows(ALL)
        given = asked.positions.rows(ALL)
        made(name, SCENARIOS[1], 0).act(asked.observations, asked.masks, given)
        assert given.states.tobytes() == before.states.tobytes()
        assert given.packed_scenarios.tobytes() == before.packed_scenarios.tobytes()


def test_needed_positions_are_those_that_were_given() -> None:
    asked = met(SCENARIOS[0], 0)
    assert require_positions(asked.positions, "who") is asked.positions
    with pytest.raises(ValueError, match=r"^who: expected positions"):
        require_positions(None, "who")


def test_an_epsilon_agent_mixes_the_chances_of_another() -> None:
    asked = met(SCENARIOS[0], 1)
    inner: Agent = RandomAgent(1)
    outer = EpsilonAgent(EpsilonAgent(inner, 0.5, 1), 0.5, 1)
    assert asked.chances_of(outer) == pytest.approx(asked.chances_of(inner))
