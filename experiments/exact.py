"""Exact scores of registered agents and saved models in one scenario."""

from typing import Any

from experiments.own_sizes import limits_of
from experiments.shared_files import local_path
from experiments.statistics import Floats
from experiments.workers import one_torch_thread
from wfb_gym.opponents.policy_spec import PolicySpec, is_scripted
from wfb_gym.players.registry import make_agent
from wfb_gym.solver import ExactGame, HiddenGame, Score


def score_of(game: ExactGame, name: str, seat: int | str) -> Score:
    """Return the exact score of a registered agent or a saved model; see `strategy_of`."""
    return game.score(strategy_of(game, name, seat), seat)


def strategy_of(game: ExactGame, name: str, seat: int | str) -> Floats:
    """Return a registered agent's or a saved model's action probabilities in a solved game.

    Raises:
        ValueError: if a model has different sizes than `limits_of` returns, or its actions depend
            on more than its observations.
    """
    if is_scripted(name):
        return game.probabilities(name, seat)
    scenario = game.solution.scenario
    agent: Any = make_agent(local_path(name), scenario=scenario, seat=seat, seed=0)
    limits = limits_of(agent, scenario, seat)
    # A policy that samples its actions reaches every decision, so finding them is wasted time.
    reached = PolicySpec.parse(name).deterministic is not False
    with one_torch_thread():
        return game.probabilities(agent, seat, limits, reached=reached)


def hidden_strategy_of(game: HiddenGame, name: str, seat: int | str) -> Floats:
    """Return an agent's or a model's action probabilities in a game with hidden items."""
    agent: Any = make_agent(local_path(name), scenario=game.scenario, seat=seat, seed=0)
    limits = limits_of(agent, game.scenario, seat)
    with one_torch_thread():
        return game.strategy_of(agent, seat, limits)
