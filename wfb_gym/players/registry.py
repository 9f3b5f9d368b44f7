"""Agents by name, and a batch's opponents."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

from wfb_gym.encoding.space_sizes import refuse_module
from wfb_gym.opponents.dispatch import Scripted, scripted_number
from wfb_gym.opponents.policy_spec import PolicySpec, resolve_policy
from wfb_gym.players.interface import Agent, Opponent, Policy


class OpponentPool(NamedTuple):
    """A batch's opponents, one of which is sampled for each episode.

    Copying a pool copies the policies and their random number generators, and does not reload saved
    models.
    """

    numbers: list[int]  # for each opponent: the scripted player's number, or EXTERNAL
    policies: dict[int, Policy]  # policies of external opponents, by index


def resolve_opponents(opponent: Opponent | Sequence[Opponent] | OpponentPool) -> OpponentPool:
    """Return a pool with one opponent or a sequence of opponents; a pool is returned unchanged.

    Raises:
        ValueError: if a name is unknown or the sequence is empty.
        FileNotFoundError: if a saved model does not exist.
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
            policy = resolve_policy(member, "opponent")
            refuse_module(policy, "opponent")
            pool.policies[place] = policy
            pool.numbers.append(int(Scripted.EXTERNAL))
    return pool


def make_agent(
    name_or_path: str | Path,
    *,
    seed: int | None = None,
    scenario: Any = "archmage-duel",
    seat: int | str = 0,
    who: str = "agent",
) -> Agent:
    """Make an agent by name, or load a saved model from a path ending in .zip or .npz.

    Args:
        name_or_path: a path, a member of `NAMES` or `SHIPPED` in `wfb_gym.opponents.policy_spec`,
            or a name with an option: "NAME:EPSILON" is a scripted player that acts at random with
            probability EPSILON, "expectimax:DEPTH" searches DEPTH decisions, "mcts:SIMULATIONS"
            runs SIMULATIONS per decision, "phase-search:SPELLS" solves phases with SPELLS spells,
            "belief-search:SPELLS" also weighs all sets of the enemy's hidden items,
            "search:PLIES" searches PLIES decisions and then uses phase search, and
            "generalist:PLIES" does the same, but considers only actions that the network finds
            likely enough. "argmax:PATH" takes a model's most likely action, and "sample:PATH"
            samples its actions. Without a prefix, networks (.npz) take the most likely action, and
            Stable-Baselines3 models (.zip) and tables (.table.npz) sample.
        seed: seed for the agent's sampling. If None, the seed is random.
        scenario: scenario for "optimal"; solved unless a solution is cached.
        seat: seat for "optimal": 0 or "caster", 1 or "dispeller".
        who: name of the argument or option, for error messages.

    Raises:
        FileNotFoundError: if the file does not exist.
        ValueError: if the agent does not exist, or the file is not a playable model.
        TooLarge: if the scenario has too many positions to solve.
    """
    spec = PolicySpec.parse(name_or_path, who)
    agent: Agent = spec.make(seed=seed, scenario=scenario, seat=seat)
    return agent


def check_agent(name_or_path: str | Path, who: str = "agent") -> None:
    """Validate a name or a file like `make_agent`, without solving a scenario.

    Raises:
        FileNotFoundError: if the file does not exist.
        ValueError: if the agent does not exist, or the file is not a playable model.
    """
    spec = PolicySpec.parse(name_or_path, who)
    if not spec.is_scripted:
        spec.make()
