"""Exact scores of registered agents and saved models in one scenario."""

from functools import cache
from typing import Any

from experiments.statistics import Floats
from experiments.workers import local_path, one_torch_thread
from wfb_gym.encoding.limits import Limits, fit, union
from wfb_gym.encoding.positions import reads_histories
from wfb_gym.encoding.space_sizes import declared_sizes, space_sizes
from wfb_gym.envs.scenario_set import generated_limits
from wfb_gym.generating import KINDS, KINDS_OF_AXES, Generation
from wfb_gym.opponents.policy_spec import is_scripted
from wfb_gym.packing import pack
from wfb_gym.players.registry import make_agent
from wfb_gym.scenario import Scenario
from wfb_gym.seats import seat_number
from wfb_gym.solver import ExactGame, HiddenGame, Score


def score_of(game: ExactGame, name: str, seat: int | str) -> Score:
    """Return the exact score of a registered agent or a saved model.

    Raises:
        ValueError: a model for other sizes than `limits_of` finds, or one that is no function of
            its observations.
    """
    if is_scripted(name):
        return game.score(game.probabilities(name, seat), seat)
    scenario = game.solution.scenario
    agent: Any = make_agent(local_path(name), scenario=scenario, seat=seat, seed=0)
    limits = limits_of(agent, scenario, seat)
    with one_torch_thread():
        probabilities = game.probabilities(agent, seat, limits, reached=True)
    return game.score(probabilities, seat)


def hidden_strategy_of(game: HiddenGame, name: str, seat: int | str) -> Floats:
    """Return how such a player plays where items are hidden; of one that draws, probabilities."""
    agent: Any = make_agent(local_path(name), scenario=game.scenario, seat=seat, seed=0)
    limits = limits_of(agent, game.scenario, seat)
    with one_torch_thread():
        return game.strategy_of(agent, seat, limits)


def limits_of(agent: Any, scenario: Scenario, seat: int | str) -> Limits | None:
    """Return the limits in which an agent is asked in a scenario; None if any will do.

    They are those of the sizes that it declares: fitted to the scenario, shared by both seats (as
    PettingZoo's environments have them), or of a kind of generated scenario. One that reads
    histories has limits of its own.

    Raises:
        ValueError: no such limits have its sizes; names both.
    """
    if reads_histories(agent):
        own: Limits = agent.limits
        return own
    found = declared_sizes(agent)
    if found is None:
        return None
    packed, number = pack(scenario), seat_number(seat)
    known = {
        "fitted": fit(packed, number),
        "both seats": union([fit(packed, each) for each in range(2)]),
        **_limits_of_kinds(),
    }
    sizes = {name: space_sizes(limits) for name, limits in known.items()}
    for name, limits in known.items():
        if sizes[name] == found:
            return limits
    expected = ", ".join(f"{size} and {n} ({name})" for name, (size, n) in sizes.items())
    raise ValueError(
        f"{agent.name}: expected a model for {scenario.name} of one of these sizes of observations "
        f"and numbers of actions: {expected}; found {found.size} and {found.actions}"
    )


@cache
def _limits_of_kinds() -> dict[str, Limits]:
    """Return the different limits of generated scenarios, by a kind that has them."""
    kinds = {**KINDS, **KINDS_OF_AXES, "": Generation()}
    found: dict[Limits, str] = {}
    for kind, options in kinds.items():
        found.setdefault(generated_limits(options.sizes), f"generated-{kind}".removesuffix("-"))
    return {name: limits for limits, name in found.items()}
