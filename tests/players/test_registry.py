"""Agents by name: optimal play, and optimal play with random actions."""

import subprocess
import sys

import numpy as np
import pytest

from experiments.common import play_battles
from wfb_gym import solver
from wfb_gym.opponents.dispatch import Scripted
from wfb_gym.opponents.policy_spec import SHIPPED
from wfb_gym.players.baselines import EpsilonAgent, RandomAgent
from wfb_gym.players.registry import make_agent, resolve_opponents
from wfb_gym.solver.seat_decisions import SeatDecisions

DUEL = "archmage-duel"


@pytest.fixture(scope="module")
def duel() -> solver.Solution:
    return solver.solve(DUEL, cache=True)


@pytest.mark.parametrize("seat", ["caster", "dispeller"])
def test_the_optimal_agent_loses_nothing(duel: solver.Solution, seat: str) -> None:
    found = solver.normalised_score(duel, make_agent("optimal", scenario=DUEL, seat=seat), seat)
    assert found.score == pytest.approx(100.0)


def test_an_agent_with_an_epsilon_equals_the_opponent_with_it(duel: solver.Solution) -> None:
    agent = make_agent("optimal:0.25", scenario=DUEL, seed=0)
    assert isinstance(agent, EpsilonAgent)
    lost = solver.exploitability(duel, caster=agent)
    assert lost == pytest.approx(solver.exploitability(duel, caster="optimal:0.25"), abs=1e-9)
    assert lost > 0.1


def test_an_agent_acts_at_random_with_probability_epsilon(duel: solver.Solution) -> None:
    decisions = SeatDecisions(duel.full, 0)
    observations, masks = decisions.observe(decisions.nodes)
    best = duel.policy(0)
    agent = EpsilonAgent(best, 0.5, seed=1)
    chosen = agent.act(observations, masks)
    assert masks[np.arange(len(chosen)), chosen].all()
    chances = agent.action_probabilities(observations, masks)
    own = best.act(observations, masks)
    expected = chances[np.arange(len(own)), own].mean()
    error = 5.0 / len(own) ** 0.5
    assert abs((chosen == own).mean() - expected) < error


def test_an_optimal_agent_plays_in_an_environment() -> None:
    agent = make_agent("optimal", scenario=DUEL)
    points = play_battles(
        agent, seat="caster", scenario=DUEL, opponent="random", battles=256, seed=5
    )
    assert points.mean() > 20


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("optimal:2", "expected the chance of a random action, 0 to 1"),
        ("optimal:", "expected the chance of a random action, 0 to 1"),
        ("optimall", "did you mean optimal"),
        ("veteran:-0.1", "expected the chance of a random action, 0 to 1"),
        ("greddy", "did you mean greedy"),
        ("model.pt", r"ending in .zip or .npz, found 'model.pt'"),
        ("genralist", "did you mean generalist"),
        ("caster.zpi", r"ending in .zip or .npz, found 'caster.zpi'$"),
    ],
)
def test_other_names_are_rejected(name: str, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        make_agent(name)


def test_a_chance_out_of_range_is_rejected() -> None:
    with pytest.raises(ValueError, match="epsilon: expected a probability"):
        EpsilonAgent(RandomAgent(0), 1.5)


def test_without_torch_the_error_names_the_extra() -> None:
    code = (
        "import sys; sys.modules['torch'] = None\n"
        "from wfb_gym.players.registry import make_agent; make_agent('archmage-duel/caster')"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    lines = 'ImportError: a network needs PyTorch: pip install "wfb-gym[train]"'
    assert done.stderr.splitlines()[-1] == lines


@pytest.mark.parametrize("name", SHIPPED)
def test_shipped_policies_are_found_by_name(name: str) -> None:
    pytest.importorskip("torch")
    assert type(make_agent(name)).__name__ == "NetworkAgent"
    pool = resolve_opponents(["greedy", name])
    assert pool.numbers == [int(Scripted.GREEDY), int(Scripted.EXTERNAL)]
    assert list(pool.policies) == [1]
