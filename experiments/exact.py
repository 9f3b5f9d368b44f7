"""Exact scores of registered agents and saved models in one scenario."""

from collections.abc import Callable
from contextlib import suppress
from typing import Any, TypeVar

from experiments.statistics import Floats
from experiments.workers import local_path, one_torch_thread
from wfb_gym.encoding.limits import Limits
from wfb_gym.encoding.positions import reads_histories
from wfb_gym.envs.scenario_set import generated_limits
from wfb_gym.generating import Generation
from wfb_gym.opponents.scripted import find_scripted
from wfb_gym.players.registry import make_agent
from wfb_gym.solver import ExactGame, HiddenGame, Score

AnswersT = TypeVar("AnswersT")


def score_of(game: ExactGame, name: str, seat: int | str) -> Score:
    """Return the exact score of a registered agent or a saved model.

    A model's sizes may be those that fit the scenario, or those that all generated scenarios have;
    one that reads histories is asked in its own. A `ValueError` says that they are neither, or that
    it is no function of what it observes.
    """
    if find_scripted(name) is not None:
        return game.score(game.probabilities(name, seat), seat)
    agent = make_agent(local_path(name), scenario=game.solution.scenario, seat=seat, seed=0)
    probabilities = _ask(agent, lambda sizes: game.probabilities(agent, seat, sizes, reached=True))
    return game.score(probabilities, seat)


def hidden_strategy_of(game: HiddenGame, name: str, seat: int | str) -> Floats:
    """Return how such a player plays where items are hidden; of one that draws, probabilities."""
    agent = make_agent(local_path(name), scenario=game.scenario, seat=seat, seed=0)
    return _ask(agent, lambda sizes: game.strategy_of(agent, seat, sizes))


def _ask(agent: Any, ask: Callable[[Limits | None], AnswersT]) -> AnswersT:
    """Ask a model in the sizes that fit the scenario, or of generated ones, or with histories."""
    others: list[Any] = [generated_limits(Generation().sizes)]
    if reads_histories(agent):
        others.append(getattr(agent, "limits", None))
    with one_torch_thread():
        try:
            return ask(None)
        except ValueError as error:
            for sizes in others:
                with suppress(ValueError):
                    return ask(sizes)
            raise error from None
