"""Policies by name: the one place that knows ``NAME``, ``NAME:OPTION`` and the endings of files.

A `PolicySpec` is to a policy what Gymnasium's `EnvSpec` is to an environment: it says which module
makes the policy, and that module is imported when `PolicySpec.make` is called. Reading names is
therefore fast, and the solver, which players use, can make a player.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any, NamedTuple, Protocol, runtime_checkable

from wfb_gym.suggestions import did_you_mean

_PLAYERS = Path(__file__).with_name("players")
_OLDEST = ("random", "greedy", "veteran", "optimal")
"""They come first: a batch saves the number of its opponent, its place in `SCRIPTED`."""
MODULES = {
    path.stem.replace("_", "-"): f"wfb_gym.opponents.players.{path.stem}"
    for path in sorted(_PLAYERS.glob("[!_]*.py"))
}
"""Modules of the scripted players by their name; random and optimal have none."""
SCRIPTED = tuple(dict.fromkeys((*_OLDEST, *MODULES)))
"""Players that run inside the batch, compiled."""
SEARCHING = {
    "expectimax": "decisions to look ahead",
    "mcts": "simulations",
    "phase-search": "spells to look at",
    "search": "decisions to look ahead",
}
"""Agents that search, and what the number behind their name counts."""
NAMES = (*SCRIPTED, *SEARCHING)
"""Agents that have a name."""
_SHIPPED_FOLDER = Path(__file__).parents[1] / "players" / "policies"
SHIPPED = tuple(
    path.relative_to(_SHIPPED_FOLDER).with_suffix("").as_posix()
    for path in sorted(_SHIPPED_FOLDER.rglob("*.npz"))
)
"""Trained networks that come with the package: as scenario/seat, or one for all."""
GENERALIST = "generalist"
"""The network for all scenarios; with a number behind it, of decisions, it looks ahead."""
TABLE_ENDING = ".table.npz"
"""Of the file of a `wfb_gym.players.policy_table`."""

_MAX_DIGITS = 6
_LONGEST_ENDING = 5
"""Of a file, with its dot."""


class _Maker(NamedTuple):
    """The function or class that makes a policy, and which arguments of `make` it takes."""

    entry_point: str
    takes: tuple[str, ...] = ()


_SCRIPTED_MAKER = _Maker("wfb_gym.players.baselines:make_scripted", ("seed", "scenario", "seat"))
_MAKERS = {
    "expectimax": _Maker("wfb_gym.players.search.expectimax:ExpectimaxAgent"),
    "mcts": _Maker("wfb_gym.players.search.mcts:MctsAgent", ("seed",)),
    "phase-search": _Maker("wfb_gym.players.search.phase_search:PhaseSearchAgent"),
    "search": _Maker("wfb_gym.players.search.ply_search:PlySearchAgent"),
    TABLE_ENDING: _Maker("wfb_gym.players.policy_table:TableAgent", ("seed",)),
    ".npz": _Maker("wfb_gym.players.learned:NetworkAgent"),
    ".zip": _Maker("wfb_gym.players.sb3_model:load_policy", ("deterministic", "seed")),
}
"""Makers of the other policies by their name, or by the ending of their file."""


@runtime_checkable
class Model(Protocol):
    """A model of Stable-Baselines3 in memory."""

    policy: Any
    policy_class: Any


@dataclass(frozen=True)
class PolicySpec:
    """A policy as it is named: a scripted or searching player, a shipped network, or a file.

    Attributes:
        text: the name as it was given, with its option.
        name: without the option; of a file its path.
        option: behind the colon: the probability of a random action, or a count; None if there is
            none.
        path: of the file that holds the policy; None for players without one.
    """

    text: str
    name: str
    option: float | None = None
    path: Path | None = None

    @classmethod
    def parse(cls, text: str | Path, who: str = "policy") -> "PolicySpec":
        """Read a name or a path. No file is opened.

        Args:
            text: a member of `NAMES` or of `SHIPPED`, "NAME:OPTION", or the path of a file that
                ends in .zip or .npz.
            who: the argument or option that an error message begins with.

        Raises:
            ValueError: there is no such policy, or its option is impossible.
        """
        found = cls.find(text, who)
        if found is None:
            raise unknown_policy(who, str(text))
        return found

    @classmethod
    def find(cls, text: str | Path, who: str = "policy") -> "PolicySpec | None":
        """Return what `parse` does; None for an unknown name.

        Raises:
            ValueError: the option is impossible.
        """
        text = str(text)
        name, colon, option = text.partition(":")
        if name in SCRIPTED:
            return cls(text, name, _parse_probability(name, option, who) if colon else None)
        if name in SEARCHING or (name == GENERALIST and colon):
            path = _SHIPPED_FOLDER / f"{name}.npz" if name == GENERALIST else None
            return cls(text, name, _parse_count(name, option, who) if colon else None, path)
        if text in SHIPPED:
            return cls(text, text, None, _SHIPPED_FOLDER / f"{text}.npz")
        if Path(text).suffix in (".zip", ".npz"):
            return cls(text, text, None, Path(text))
        return None

    @property
    def is_scripted(self) -> bool:
        """Whether `wfb_gym.opponents.scripted` plays it."""
        return self.name in SCRIPTED

    @property
    def is_file(self) -> bool:
        """Whether it is a file of the user's: neither a name nor a shipped network."""
        return self.path is not None and self.name not in SHIPPED

    @property
    def epsilon(self) -> float:
        """Probability of a random action of a scripted player."""
        return self.option if isinstance(self.option, float) else 0.0

    @property
    def ending(self) -> str:
        """Ending of the file that holds the policy; "" without one."""
        if self.path is None:
            return ""
        return TABLE_ENDING if self.path.name.endswith(TABLE_ENDING) else self.path.suffix

    def make(
        self,
        *,
        deterministic: bool = False,
        seed: int | None = None,
        scenario: Any = "archmage-duel",
        seat: int | str = 0,
    ) -> Any:
        """Make the agent; see `wfb_gym.players.registry.make_agent`.

        Raises:
            FileNotFoundError: there is no such file.
            ValueError: the file is not a model that can play.
            TooLarge: the scenario has more positions than fit.
        """
        context = {
            "deterministic": deterministic, "seed": seed, "scenario": scenario, "seat": seat,
        }  # fmt: skip
        if self.is_scripted:
            return _call(_SCRIPTED_MAKER, context, self.name, self.option)
        if self.path is not None:
            agent = _call(_MAKERS[self.ending], context, self.path)
            if self.option is None:
                return agent
            return _call(_MAKERS["search"], context, self.option, policy=agent)
        options = () if self.option is None else (self.option,)
        return _call(_MAKERS[self.name], context, *options)


def is_scripted(text: str) -> bool:
    """Whether a name is that of a scripted player, with an option or without."""
    spec = PolicySpec.find(text)
    return spec is not None and spec.is_scripted


def is_file(text: str) -> bool:
    """Whether a name is the path of a file that holds a policy."""
    spec = PolicySpec.find(text)
    return spec is not None and spec.is_file


def resolve_policy(
    player: Any, who: str = "policy", methods: Sequence[str] = ("act",)
) -> Callable[..., Any]:
    """Return a player as a function over a batch; of an agent, the first of `methods` that it has.

    Raises:
        ValueError: it is not a player.
        FileNotFoundError: there is no such saved model.
    """
    found = player
    if isinstance(player, str | Path):
        spec = PolicySpec.find(player, who)
        found = None if spec is None else spec.make()
    elif isinstance(player, Model):
        found = _load("wfb_gym.players.sb3_model:policy_of_model")(player)
    if isinstance(found, type):
        name = found.__name__
        raise ValueError(f"{who}: expected a player, found the class {name}; {name}() makes one")
    for policy in (*(getattr(found, name, None) for name in methods), found):
        if callable(policy):
            return policy  # type: ignore[no-any-return]
    raise unknown_policy(who, player, ", a callable, an agent, a model or a list of these")


def unknown_policy(who: str, player: Any, others: str = "") -> ValueError:
    """Return the error for something that is no policy; `others` names what else would do."""
    is_path = 1 < len(Path(str(player)).suffix) <= _LONGEST_ENDING  # a mistyped .zip, likely
    hint = did_you_mean(NAMES if is_path else (*NAMES, *SHIPPED), str(player))
    return ValueError(
        f"{who}: expected one of {', '.join(NAMES)}, veteran:0.2 to act at random with that "
        f"probability, a shipped policy ({', '.join(SHIPPED)}){others}, or a saved model's path "
        f"ending in .zip or .npz, found {player!r}{hint}"
    )


def _load(entry_point: str) -> Callable[..., Any]:
    module, _, name = entry_point.partition(":")
    return getattr(import_module(module), name)  # type: ignore[no-any-return]


def _call(maker: _Maker, context: dict[str, Any], *options: Any, **more: Any) -> Any:
    return _load(maker.entry_point)(*options, **{key: context[key] for key in maker.takes}, **more)


def _parse_probability(name: str, option: str, who: str) -> float:
    try:
        epsilon = float(option)
    except ValueError:
        epsilon = -1.0
    if not 0.0 <= epsilon <= 1.0:
        raise ValueError(
            f"{who}: expected the chance of a random action, 0 to 1, behind {name}:, "
            f"found {option!r}"
        )
    return epsilon


def _parse_count(name: str, option: str, who: str) -> int:
    number = int(option) if option.isdecimal() and len(option) <= _MAX_DIGITS else 0
    if number < 1:
        counted = SEARCHING["search" if name == GENERALIST else name]
        raise ValueError(
            f"{who}: expected a whole number of {counted} behind {name}:, at least 1 and "
            f"at most {_MAX_DIGITS} digits, found {option!r}"
        )
    return number
