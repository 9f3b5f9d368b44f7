"""Agents by name, and the opponents of a batch."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

from wfb_gym.opponents.policy_spec import NAMES, SHIPPED, PolicySpec, resolve_policy
from wfb_gym.opponents.scripted import Scripted, scripted_number
from wfb_gym.players.interface import Agent, Opponent, Policy

__all__ = [
    "NAMES",
    "SHIPPED",
    "OpponentPool",
    "check_agent",
    "make_agent",
    "resolve_opponents",
    "resolve_policy",
]


class OpponentPool(NamedTuple):
    """The opponents of a batch, one of which is drawn for each episode.

    Copies keep the policies with their generators and read no saved model again.
    """

    numbers: list[int]  # of the scripted player in each place, or EXTERNAL
    policies: dict[int, Policy]  # of the external ones, by place


def resolve_opponents(opponent: Opponent | Sequence[Opponent] | OpponentPool) -> OpponentPool:
    """Find the opponents that a user names: one, or a list; or return a pool as it is.

    Raises:
        ValueError: an unknown name, or an empty pool.
        FileNotFoundError: there is no such saved model.
    """
    if isinstance(opponent, OpponentPool):
        return opponent
    several = isinstance(opponent, Sequence) and not isinstance(opponent, str)
    members: list[Any] = list(opponent) if several else [opponent]  # type: ignore[arg-type]
    if not members:
        raise ValueError("opponent: expected at least one, found an empty pool")
    pool = OpponentPool([], {})
    for place, member in enumerate(members):
        spec = PolicySpec.find(member, "opponent") if isinstance(member, str) else None
        if spec is not None and spec.is_scripted:
            pool.numbers.append(scripted_number(spec))
        else:
            pool.policies[place] = resolve_policy(member, "opponent")
            pool.numbers.append(int(Scripted.EXTERNAL))
    return pool


def make_agent(
    name_or_path: str | Path,
    *,
    deterministic: bool = False,
    seed: int | None = None,
    scenario: Any = "archmage-duel",
    seat: int | str = 0,
    who: str = "agent",
) -> Agent:
    """Make an agent by its name, or load it from a saved model ending in .zip or .npz.

    Args:
        name_or_path: a member of `NAMES`, of `SHIPPED`, a path, "NAME:EPSILON" for a scripted
            player that acts at random with probability EPSILON,
            "expectimax:DEPTH" for one that looks DEPTH decisions ahead, "mcts:SIMULATIONS" for one
            with that many per decision, "phase-search:SPELLS" for one that solves phases of so many
            spells, or "search:PLIES" for one that looks PLIES decisions ahead and at phases behind;
            "generalist:PLIES" chooses so from what that network takes for likely.
        deterministic: whether a saved .zip model takes its likeliest action instead of drawing one.
        seed: of the agent's draws; None draws differently each time.
        scenario: that "optimal" plays; it is solved unless it was before.
        seat: that "optimal" plays: 0 or "caster", 1 or "dispeller".
        who: the argument or option that a message about an unknown name begins with.

    Raises:
        FileNotFoundError: there is no such file.
        ValueError: there is no such agent, or the file is not a model that can play.
        TooLarge: the scenario has more positions than fit.
    """
    spec = PolicySpec.parse(name_or_path, who)
    agent: Agent = spec.make(deterministic=deterministic, seed=seed, scenario=scenario, seat=seat)
    return agent


def check_agent(name_or_path: str | Path, who: str = "agent") -> None:
    """Raise the error of `make_agent` for an unknown name or a damaged file; nothing is solved.

    Raises:
        FileNotFoundError: there is no such file.
        ValueError: there is no such agent, or the file is not a model that can play.
    """
    spec = PolicySpec.parse(name_or_path, who)
    if not spec.is_scripted:
        spec.make()
