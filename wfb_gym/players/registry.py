"""Agents by name, or from a saved model."""

from difflib import get_close_matches
from pathlib import Path
from typing import Any

from wfb_gym.opponents.policies import SCRIPTED, Scripted, kind_and_epsilon, scripted_policy
from wfb_gym.players.interface import Agent
from wfb_gym.players.saved import SavedAgent
from wfb_gym.players.scripted import ScriptedAgent
from wfb_gym.players.search.expectimax import ExpectimaxAgent
from wfb_gym.players.search.mcts import DEFAULT_SIMULATIONS, MctsAgent
from wfb_gym.players.simple import EpsilonAgent, RandomAgent
from wfb_gym.solver import solved

SEARCHING = ("expectimax", "mcts")
NAMES = (*SCRIPTED, *SEARCHING)
"""Agents that have a name."""


def make_agent(
    name_or_path: str | Path,
    *,
    deterministic: bool = False,
    seed: int | None = None,
    scenario: Any = "archmage-duel",
    seat: int | str = 0,
) -> Agent:
    """An agent by its name, or by the path of a saved model ending in .zip or .npz.

    Args:
        name_or_path: a member of `NAMES`, a path, "NAME:EPSILON" for a scripted player with a
            chance of EPSILON to play at random, "expectimax:DEPTH" for one that looks so many
            decisions ahead, or "mcts:SIMULATIONS" for one with so many of each decision.
        deterministic: whether a saved model takes its likeliest action instead of drawing one.
        seed: of the agent's draws; None draws differently each time.
        scenario: that "optimal" plays; it is solved if it was not before.
        seat: that "optimal" plays: 0 or "caster", 1 or "dispeller".

    Raises:
        FileNotFoundError: there is no such file.
        ValueError: no such agent, or the file is not a model that can play.
        TooLarge: the scenario has more positions than fit.
    """
    asked = str(name_or_path)
    name, colon, _ = asked.partition(":")
    suffix = Path(asked).suffix
    if suffix == ".zip":
        return SavedAgent(asked, deterministic=deterministic, seed=seed)
    if suffix == ".npz":
        from wfb_gym.players.learned import NetworkAgent

        return NetworkAgent(asked)
    if name in SCRIPTED:
        scripted = scripted_policy(asked)  # refuses what is no chance
        assert scripted is not None
        kind, epsilon = kind_and_epsilon(scripted)
        plain = _scripted(kind, seed, scenario, seat)
        return EpsilonAgent(plain, epsilon, seed) if colon else plain
    if name in SEARCHING:
        number = _whole(asked) if colon else None
        if name == "expectimax":
            return ExpectimaxAgent(number)
        return MctsAgent(number or DEFAULT_SIMULATIONS, seed=seed)
    close = get_close_matches(asked, NAMES, n=1)
    hint = f" (did you mean {close[0]}?)" if close else ""
    raise ValueError(
        f"agent: expected {', '.join(NAMES)} or a saved model's path ending in .zip or .npz, "
        f"found {asked!r}{hint}"
    )


def _scripted(kind: Scripted, seed: int | None, scenario: Any, seat: int | str) -> Agent:
    if kind == Scripted.RANDOM:
        return RandomAgent(seed)
    if kind == Scripted.OPTIMAL:
        return solved(scenario).policy(seat)
    return ScriptedAgent(kind.name.lower())


_OPTIONS = {"expectimax": "decisions to look ahead", "mcts": "simulations"}
_MOST_DIGITS = 6


def _whole(asked: str) -> int:
    """The number behind a searching agent's name.

    Raises:
        ValueError: it is none.
    """
    name, _, option = asked.partition(":")
    number = int(option) if option.isdecimal() and len(option) <= _MOST_DIGITS else 0
    if number < 1:
        raise ValueError(
            f"agent: expected a whole number of {_OPTIONS[name]} behind {name}:, from 1 and of "
            f"{_MOST_DIGITS} digits at most, found {option!r}"
        )
    return number
