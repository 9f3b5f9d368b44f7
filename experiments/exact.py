"""Exact scores of registered agents and saved models in one scenario."""

from functools import cache

from wfb_gym.encoding.limits import Limits
from wfb_gym.envs.scenario_set import resolve_scenarios
from wfb_gym.generating import Generated
from wfb_gym.opponents.scripted import find_scripted
from wfb_gym.players.registry import make_agent
from wfb_gym.solver import ExactGame, Score


def score_of(game: ExactGame, name: str, seat: int | str) -> Score:
    """Return the exact score of an agent.

    Args:
        game: the scenario.
        name: a registered agent or a saved model's path. A model's sizes may be those that fit
            the scenario, or those that all generated scenarios have.
        seat: that it plays.

    Raises:
        ValueError: It does not fit the scenario, or is no function of what it observes.
    """
    if find_scripted(name) is not None:
        return game.score(game.probabilities(name, seat), seat)
    agent = make_agent(name, scenario=game.solution.scenario, seat=seat, seed=0)
    try:
        probabilities = game.probabilities(agent, seat)
    except ValueError as error:
        try:
            probabilities = game.probabilities(agent, seat, generated_limits())
        except ValueError:
            raise error from None
    return game.score(probabilities, seat)


@cache
def generated_limits() -> Limits:
    """Return the sizes of the observations and actions of all generated scenarios."""
    limits = resolve_scenarios(Generated("test", count=1)).limits
    assert limits is not None
    return limits
