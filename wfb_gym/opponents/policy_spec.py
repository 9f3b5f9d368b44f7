"""Policies by name: parses ``NAME``, ``NAME:OPTION``, file paths and ``argmax:PATH``.

A `PolicySpec` corresponds to Gymnasium's `EnvSpec`: it names the module that makes the policy.
`PolicySpec.make` imports that module. Parsing a name is therefore fast, and the solver can make
players even though players import the solver.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from importlib import import_module
from pathlib import Path
from typing import Any, NamedTuple, Protocol, runtime_checkable

from wfb_gym.suggestions import did_you_mean

_PLAYERS = Path(__file__).with_name("scripted")
_OLDEST = ("random", "greedy", "veteran", "optimal")
"""These come first, because saved batches contain the opponent's index in `SCRIPTED`."""
MODULES = {
    path.stem.replace("_", "-"): f"wfb_gym.opponents.scripted.{path.stem}"
    for path in sorted(_PLAYERS.glob("[!_]*.py"))
}
"""Modules of the scripted players, by name; random and optimal have none."""
SCRIPTED = tuple(dict.fromkeys((*_OLDEST, *MODULES)))
"""Names of the compiled players that run inside the batch."""
SEARCHING = {
    "belief-search": "spells to consider",
    "expectimax": "decisions to look ahead",
    "mcts": "simulations",
    "phase-search": "spells to consider",
    "search": "decisions to look ahead",
}
"""Search agents, with the meaning of the number after their name."""
NAMES = (*SCRIPTED, *SEARCHING)
"""Names of agents."""
_SHIPPED_FOLDER = Path(__file__).parents[1] / "players" / "policies"
SHIPPED = tuple(
    path.relative_to(_SHIPPED_FOLDER).with_suffix("").as_posix()
    for path in sorted(_SHIPPED_FOLDER.rglob("*.npz"))
)
"""Trained networks in the package: "scenario/seat", or a single name if it plays all scenarios."""
GENERALIST = "generalist"
"""The network for all scenarios; "generalist:PLIES" searches PLIES decisions with it."""
TABLE_ENDING = ".table.npz"
"""File name ending for tables (`wfb_gym.players.policy_table`)."""

WAYS = {"argmax": True, "sample": False}
"""Prefixes of a model's path: whether it takes its most likely action, or samples its actions."""
_MAX_DIGITS = 6
_LONGEST_ENDING = 5
"""Maximum length of a suffix that marks a file name, including the dot."""


class _Maker(NamedTuple):
    """A function or class that makes a policy, and the arguments of `make` to pass to it."""

    entry_point: str
    takes: tuple[str, ...] = ()


_SCRIPTED_MAKER = _Maker("wfb_gym.players.baselines:make_scripted", ("seed", "scenario", "seat"))
_MAKERS = {
    "belief-search": _Maker("wfb_gym.players.search.phase_search:BeliefSearchAgent"),
    "expectimax": _Maker("wfb_gym.players.search.expectimax:ExpectimaxAgent"),
    "mcts": _Maker("wfb_gym.players.search.mcts:MctsAgent", ("seed",)),
    "phase-search": _Maker("wfb_gym.players.search.phase_search:PhaseSearchAgent"),
    "search": _Maker("wfb_gym.players.search.ply_search:PlySearchAgent"),
    TABLE_ENDING: _Maker("wfb_gym.players.policy_table:TableAgent", ("deterministic", "seed")),
    ".npz": _Maker("wfb_gym.players.learned:NetworkAgent", ("deterministic", "seed")),
    ".zip": _Maker("wfb_gym.players.sb3_model:load_policy", ("deterministic", "seed")),
}
"""Makers of the other policies, by name or file name ending."""


@runtime_checkable
class Model(Protocol):
    """A Stable-Baselines3 model object."""

    policy: Any
    policy_class: Any


@dataclass(frozen=True)
class PolicySpec:
    """A parsed policy name: a scripted player, a search agent, a shipped network, or a file.

    Attributes:
        text: the given name, including its option.
        name: the name without the option, or a file's path.
        option: the number after the colon: the probability of a random action, or a count. None if
            no option is given.
        path: path of the policy's file. None for players without a file.
        deterministic: whether a model takes its most likely action (True) or samples its actions
            (False). None for the default of its file format, and for players without a file.
    """

    text: str
    name: str
    option: float | None = None
    path: Path | None = None
    deterministic: bool | None = None

    @classmethod
    def parse(cls, text: str | Path, who: str = "policy") -> "PolicySpec":
        """Parse a name or a path, without opening any file.

        Args:
            text: a member of `NAMES` or `SHIPPED`, "NAME:OPTION", the path of a .zip or .npz file,
                or a path or a member of `SHIPPED` after a member of `WAYS` and a colon.
            who: name of the argument or option, for error messages.

        Raises:
            ValueError: if the policy is unknown or the option is invalid.
        """
        found = cls.find(text, who)
        if found is None:
            raise unknown_policy(who, str(text))
        return found

    @classmethod
    def find(cls, text: str | Path, who: str = "policy") -> "PolicySpec | None":
        """Parse a name or a path like `parse`, but return None if the name is unknown.

        Raises:
            ValueError: if the option is invalid.
        """
        text = str(text)
        name, colon, option = text.partition(":")
        if colon and name in WAYS:
            model = None if option.partition(":")[0] in WAYS else cls.find(option, who)
            if model is None or model.path is None or model.option is not None:
                expected = f"{who}: expected a saved model's path after {name}:"
                raise ValueError(f"{expected}, found {option!r}")
            return replace(model, text=text, deterministic=WAYS[name])
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
        """Whether the policy is a scripted player."""
        return self.name in SCRIPTED

    @property
    def is_file(self) -> bool:
        """Whether the policy is a user's file rather than a shipped network."""
        return self.path is not None and self.name not in SHIPPED

    @property
    def epsilon(self) -> float:
        """A scripted player's probability of a random action."""
        return self.option if isinstance(self.option, float) else 0.0

    @property
    def ending(self) -> str:
        """The file name ending of the policy's file, or "" if it has no file."""
        if self.path is None:
            return ""
        return TABLE_ENDING if self.path.name.endswith(TABLE_ENDING) else self.path.suffix

    def make(
        self,
        *,
        seed: int | None = None,
        scenario: Any = "archmage-duel",
        seat: int | str = 0,
    ) -> Any:
        """Make the agent; see `wfb_gym.players.registry.make_agent`.

        Raises:
            FileNotFoundError: if the file does not exist.
            ValueError: if the file is not a playable model.
            TooLarge: if the scenario has too many positions to solve.
        """
        context = {"seed": seed, "scenario": scenario, "seat": seat}
        if self.deterministic is not None:
            context["deterministic"] = self.deterministic
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
    """Return whether a name, with or without an option, refers to a scripted player."""
    spec = PolicySpec.find(text)
    return spec is not None and spec.is_scripted


def is_file(text: str) -> bool:
    """Return whether a name is the path of a policy file."""
    spec = PolicySpec.find(text)
    return spec is not None and spec.is_file


def resolve_policy(
    player: Any, who: str = "policy", methods: Sequence[str] = ("act",)
) -> Callable[..., Any]:
    """Return a player as a function over a batch.

    Args:
        player: a name, a path, a callable, an agent, or a model object.
        who: name of the argument or option, for error messages.
        methods: method names; an agent's first method in this list is returned.

    Raises:
        ValueError: if `player` is not a player.
        FileNotFoundError: if the saved model does not exist.
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
    """Return the error for an unknown policy; `others` lists other accepted kinds."""
    is_path = 1 < len(Path(str(player)).suffix) <= _LONGEST_ENDING  # probably a mistyped .zip
    hint = did_you_mean(NAMES if is_path else (*NAMES, *SHIPPED), str(player))
    return ValueError(
        f"{who}: expected one of {', '.join(NAMES)}, veteran:0.2 to act at random with that "
        f"probability, a shipped policy ({', '.join(SHIPPED)}){others}, or a saved model's path "
        f"ending in .zip or .npz, also after argmax: or sample:, found {player!r}{hint}"
    )


def _load(entry_point: str) -> Callable[..., Any]:
    module, _, name = entry_point.partition(":")
    return getattr(import_module(module), name)  # type: ignore[no-any-return]


def _call(maker: _Maker, context: dict[str, Any], *options: Any, **more: Any) -> Any:
    taken = {key: context[key] for key in maker.takes if key in context}
    return _load(maker.entry_point)(*options, **taken, **more)


def _parse_probability(name: str, option: str, who: str) -> float:
    try:
        epsilon = float(option)
    except ValueError:
        epsilon = -1.0
    if not 0.0 <= epsilon <= 1.0:
        raise ValueError(
            f"{who}: expected the chance of a random action, 0 to 1, after {name}:, "
            f"found {option!r}"
        )
    return epsilon


def _parse_count(name: str, option: str, who: str) -> int:
    number = int(option) if option.isdecimal() and len(option) <= _MAX_DIGITS else 0
    if number < 1:
        counted = SEARCHING["search" if name == GENERALIST else name]
        raise ValueError(
            f"{who}: expected a whole number of {counted} after {name}:, at least 1 and "
            f"at most {_MAX_DIGITS} digits, found {option!r}"
        )
    return number
