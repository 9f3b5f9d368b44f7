"""The one place where what a user calls a player becomes one: by name, from a file, as it is."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

from wfb_gym.opponents.scripted import SCRIPTED, Scripted, find_scripted, kind_and_epsilon
from wfb_gym.players.interface import Agent, Model, Opponent, Policy
from wfb_gym.players.policy_table import ENDING, TableAgent
from wfb_gym.suggestions import did_you_mean

SEARCHING = {
    "expectimax": "decisions to look ahead",
    "mcts": "simulations",
    "phase-search": "spells to look at",
    "search": "decisions to look ahead",
}
"""Agents that search, and what the number behind their name counts."""
NAMES = (*SCRIPTED, *SEARCHING)
"""Agents that have a name."""
_SHIPPED_FOLDER = Path(__file__).parent / "policies"
SHIPPED = tuple(
    path.relative_to(_SHIPPED_FOLDER).with_suffix("").as_posix()
    for path in sorted(_SHIPPED_FOLDER.rglob("*.npz"))
)
"""Trained networks that come with the package: as scenario/seat, or one for all."""
GENERALIST = "generalist"
"""The network for all scenarios; with a number behind it, of decisions, it looks ahead."""
_COUNTED = SEARCHING | {GENERALIST: SEARCHING["search"]}
_MAX_DIGITS = 6
_LONGEST_ENDING = 5
"""Of a file, with its dot."""


def is_name(player: str) -> bool:
    """Whether a player has a name here, with an option or without: then it is read from no path.

    Raises:
        ValueError: the name of a scripted player with an impossible option.
    """
    is_counted = player.partition(":")[0] in _COUNTED
    return player in (*NAMES, *SHIPPED) or is_counted or find_scripted(player) is not None


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
        number = find_scripted(member) if isinstance(member, str) else None
        if number is None:
            pool.policies[place] = resolve_policy(member, "opponent")
        pool.numbers.append(int(Scripted.EXTERNAL) if number is None else number)
    return pool


def resolve_policy(
    player: Opponent, who: str = "policy", methods: Sequence[str] = ("act",)
) -> Policy:
    """Return a player as a function over a batch; of an agent, the first of `methods` that it has.

    Raises:
        ValueError: it is not a player.
        FileNotFoundError: there is no such saved model.
    """
    found: Any = player
    if isinstance(player, str | Path):
        found = _find_agent(str(player), who=who)
    elif isinstance(player, Model):
        from wfb_gym.players.sb3_model import policy_of_model

        found = policy_of_model(player)
    if isinstance(found, type):
        name = found.__name__
        raise ValueError(f"{who}: expected a player, found the class {name}; {name}() makes one")
    for policy in (*(getattr(found, name, None) for name in methods), found):
        if callable(policy):
            return policy  # type: ignore[no-any-return]
    raise _unknown(who, player, ", a callable, an agent, a model or a list of these")


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
    agent = _find_agent(str(name_or_path), deterministic, seed, scenario, seat, who)
    if agent is None:
        raise _unknown(who, str(name_or_path), "")
    return agent


def _find_agent(
    name: str,
    deterministic: bool = False,
    seed: int | None = None,
    scenario: Any = "archmage-duel",
    seat: int | str = 0,
    who: str = "agent",
) -> Agent | None:
    """`make_agent`; None for an unknown name. Most environments need none of these imports."""
    number = find_scripted(name)
    if number is not None:
        return _make_scripted(number, ":" in name, seed, scenario, seat)
    kind, colon, option = name.partition(":")
    if kind in SEARCHING:
        from wfb_gym.players.search.expectimax import ExpectimaxAgent
        from wfb_gym.players.search.mcts import DEFAULT_SIMULATIONS, MctsAgent
        from wfb_gym.players.search.phase_search import DEFAULT_SPELLS, PhaseSearchAgent
        from wfb_gym.players.search.ply_search import DEFAULT_PLIES, PlySearchAgent

        count = _parse_count(kind, option, who) if colon else None
        if kind == "expectimax":
            return ExpectimaxAgent(count)
        if kind == "phase-search":
            return PhaseSearchAgent(count or DEFAULT_SPELLS)
        if kind == "search":
            return PlySearchAgent(count or DEFAULT_PLIES)
        return MctsAgent(count or DEFAULT_SIMULATIONS, seed=seed)
    if kind == GENERALIST and colon:
        from wfb_gym.players.learned import NetworkAgent
        from wfb_gym.players.search.ply_search import PlySearchAgent

        count = _parse_count(kind, option, who)
        network = NetworkAgent(_SHIPPED_FOLDER / f"{kind}.npz")
        return PlySearchAgent(count, policy=network)
    path = _SHIPPED_FOLDER / f"{name}.npz" if name in SHIPPED else Path(name)
    if path.name.endswith(ENDING):
        return TableAgent(path, seed)
    if path.suffix == ".npz":
        from wfb_gym.players.learned import NetworkAgent

        return NetworkAgent(path)
    if path.suffix == ".zip":
        from wfb_gym.players.sb3_model import load_policy

        return load_policy(path, deterministic=deterministic, seed=seed)
    return None


def _make_scripted(
    number: int, explores: bool, seed: int | None, scenario: Any, seat: int | str
) -> Agent:
    from wfb_gym.players.baselines import EpsilonAgent, RandomAgent, ScriptedAgent

    kind, epsilon = kind_and_epsilon(number)
    agent: Agent
    if kind == Scripted.RANDOM:
        agent = RandomAgent(seed)
    elif kind == Scripted.OPTIMAL:
        from wfb_gym.solver import solve

        agent = solve(scenario, cache=True).policy(seat)
    else:
        agent = ScriptedAgent(kind.name.lower())
    return EpsilonAgent(agent, epsilon, seed) if explores else agent


def _parse_count(name: str, option: str, who: str) -> int:
    """Read the number behind a searching agent's name."""
    number = int(option) if option.isdecimal() and len(option) <= _MAX_DIGITS else 0
    if number < 1:
        raise ValueError(
            f"{who}: expected a whole number of {_COUNTED[name]} behind {name}:, at least 1 and "
            f"at most {_MAX_DIGITS} digits, found {option!r}"
        )
    return number


def _unknown(who: str, player: Any, others: str) -> ValueError:
    is_path = 1 < len(Path(str(player)).suffix) <= _LONGEST_ENDING  # a mistyped .zip, likely
    hint = did_you_mean(NAMES if is_path else (*NAMES, *SHIPPED), str(player))
    return ValueError(
        f"{who}: expected one of {', '.join(NAMES)}, veteran:0.2 to act at random with that "
        f"probability, a shipped policy ({', '.join(SHIPPED)}){others}, or a saved model's path "
        f"ending in .zip or .npz, found {player!r}{hint}"
    )
