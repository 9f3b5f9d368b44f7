"""Agents by name, or from a saved model."""

from difflib import get_close_matches
from pathlib import Path
from typing import Any

from agents.interface import Agent
from agents.saved import SavedAgent
from agents.scripted import ScriptedAgent
from agents.simple import EpsilonAgent, RandomAgent
from wfb_gym.opponents.policies import Scripted, kind_and_epsilon
from wfb_gym.opponents.registry import SCRIPTED, scripted_policy
from wfb_gym.solver import solved

NAMES = (*SCRIPTED,)
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
        name_or_path: a member of `NAMES`, a path, or "NAME:EPSILON" for a scripted player with a
            chance of EPSILON to play at random.
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
        from agents.learned import NetworkAgent

        return NetworkAgent(asked)
    if name in SCRIPTED:
        number = scripted_policy(asked)  # refuses what is no chance
        assert number is not None
        kind, epsilon = kind_and_epsilon(number)
        plain = _scripted(kind, seed, scenario, seat)
        return EpsilonAgent(plain, epsilon, seed) if colon else plain
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
