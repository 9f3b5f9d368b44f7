"""Exact scores of registered agents and saved models in one scenario."""

from experiments.workers import local_path, one_torch_thread
from wfb_gym.envs.scenario_set import generated_limits
from wfb_gym.generating import Generation
from wfb_gym.opponents.scripted import find_scripted
from wfb_gym.players.registry import make_agent
from wfb_gym.solver import ExactGame, Score


def score_of(game: ExactGame, name: str, seat: int | str) -> Score:
    """Return the exact score of a registered agent or a saved model.

    A model's sizes may be those that fit the scenario, or those that all generated scenarios have.
    A `ValueError` says that they are neither, or that it is no function of what it observes.
    """
    if find_scripted(name) is not None:
        return game.score(game.probabilities(name, seat), seat)
    agent = make_agent(local_path(name), scenario=game.solution.scenario, seat=seat, seed=0)
    with one_torch_thread():
        try:
            probabilities = game.probabilities(agent, seat, reached=True)
        except ValueError as error:
            limits = generated_limits(Generation().sizes)
            try:
                probabilities = game.probabilities(agent, seat, limits, reached=True)
            except ValueError:
                raise error from None
    return game.score(probabilities, seat)
