"""Agents by name: optimal play, and optimal play with random actions."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from tests.support.scripts import run_python
from wfb_gym import solver
from wfb_gym.opponents.dispatch import Scripted
from wfb_gym.opponents.policy_spec import SHIPPED
from wfb_gym.players.baselines import EpsilonAgent, RandomAgent
from wfb_gym.players.registry import make_agent, resolve_opponents
from wfb_gym.players.search.expectimax import ExpectimaxAgent
from wfb_gym.players.search.mcts import MctsAgent
from wfb_gym.players.search.phase_search import PhaseSearchAgent
from wfb_gym.players.search.ply_search import PlySearchAgent
from wfb_gym.solver.seat_decisions import SeatDecisions


def test_an_agent_acts_at_random_with_probability_epsilon() -> None:
    duel = solver.solve("archmage-duel", cache=True)
    decisions = SeatDecisions(duel.full, 0)
    observations, masks = decisions.observe(decisions.nodes)
    best, rows = duel.policy(0), np.arange(len(masks))
    agent = EpsilonAgent(best, 0.5, seed=1)
    chosen, own = agent.act(observations, masks), best.act(observations, masks)
    assert masks[rows, chosen].all()
    expected = agent.action_probabilities(observations, masks)[rows, own].mean()
    assert abs((chosen == own).mean() - expected) < 5.0 / len(own) ** 0.5


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: EpsilonAgent(RandomAgent(0), 1.5), "epsilon: expected a probability"),
        (lambda: MctsAgent(0), "mcts: expected simulations of 1 or more, found 0"),
        (lambda: MctsAgent(exploration=-1.0), "mcts: expected exploration of more than 0, found"),
        (lambda: ExpectimaxAgent(0), "expectimax: expected depth of 1 or more, found 0"),
        (lambda: ExpectimaxAgent(max_transitions=0), "max_transitions of 1 or more, found 0"),
        (lambda: PlySearchAgent(0), "expected plies of 1 or more, found 0"),
        (lambda: PhaseSearchAgent(0), "spells of 1 to 7, found 0"),
        (lambda: PhaseSearchAgent(8), "spells of 1 to 7, found 8"),
    ],
)
def test_arguments_out_of_range_are_rejected(make: Callable[[], Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        make()


def test_without_torch_the_error_names_the_extra() -> None:
    code = (
        "import sys; sys.modules['torch'] = None\n"
        "from wfb_gym.players.registry import make_agent; make_agent('archmage-duel/caster')"
    )
    line = 'ImportError: a network needs PyTorch: pip install "wfb-gym[train]"'
    assert run_python("-c", code).err.splitlines()[-1] == line


@pytest.mark.parametrize("name", SHIPPED)
def test_shipped_policies_are_found_by_name(name: str) -> None:
    pytest.importorskip("torch")
    assert type(make_agent(name)).__name__ == "NetworkAgent"
    pool = resolve_opponents(["greedy", name])
    assert pool.numbers == [int(Scripted.GREEDY), int(Scripted.EXTERNAL)]
    assert list(pool.policies) == [1]
