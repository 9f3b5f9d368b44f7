"""What a run of training is made of: its settings, and the hyperparameters that suit a scenario.

Hyperparameters stand in `agents/hyperparameters.toml`, one table for each class of scenarios
and under it what one seat has of its own.
"""

import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from functools import lru_cache
from pathlib import Path
from typing import Any

from wfb_gym.encoding.limits import fit
from wfb_gym.encoding.view import View
from wfb_gym.envs.scenario_set import resolve_scenarios
from wfb_gym.scenario import Scenario
from wfb_gym.seats import SEATS, seat_number

FILE = Path(__file__).parents[1] / "hyperparameters.toml"
CLASSES = ("small-duel", "large-duel", "battle")
SMALL = 100
"""Most numbers in the observation of a small duel."""
SOURCES = ("command", "result")
"""What every table says of its search besides the hyperparameters."""

GENERATED = ("generated", "generated-phase")
"""Battles, and single phases, that are drawn anew each episode."""
HELD_OUT = "test"
"""The split that no training sees; whoever learns from generated scenarios is graded on it."""


@dataclass(frozen=True)
class Hyperparameters:
    """What is searched for.

    Attributes:
        steps: decisions of the learner in all.
        num_envs: battles played side by side.
        n_steps: decisions of each environment between two updates.
        batch_size: decisions of a gradient step; the largest divisor of an update's that is no
            larger is taken.
        n_epochs: passes over the decisions of an update.
        learning_rate: at the beginning; it falls linearly to 0.
        gae_lambda: 1 has no bias, and costs little variance where episodes are short.
        ent_coef: weight of the entropy bonus at the beginning; it falls linearly to `ent_final`.
        ent_final: weight of the entropy bonus at the end.
        net: width of the two hidden layers, of actor and critic each.
    """

    steps: int
    num_envs: int
    n_steps: int
    batch_size: int
    n_epochs: int
    learning_rate: float
    gae_lambda: float
    ent_coef: float
    ent_final: float
    net: int

    def __post_init__(self) -> None:
        """Refuses what cannot train.

        Raises:
            ValueError: names the first value at fault.
        """
        for field in fields(self):
            value = getattr(self, field.name)
            if field.type is int and (type(value) is not int or value < 1):
                raise ValueError(f"{field.name}: expected a whole number from 1, found {value!r}")
            if field.type is float and not (isinstance(value, float | int) and value >= 0):
                raise ValueError(f"{field.name}: expected a number from 0, found {value!r}")
        if self.gae_lambda > 1:
            raise ValueError(f"gae_lambda: expected 0 to 1, found {self.gae_lambda}")

    @property
    def even_batch(self) -> int:
        """The largest batch, at most the one asked for, that divides an update's decisions."""
        decisions = self.num_envs * self.n_steps
        most = min(self.batch_size, decisions)
        return next(size for size in range(most, 0, -1) if decisions % size == 0)


@dataclass(frozen=True)
class Args:
    """Settings of a run.

    Attributes:
        scenarios: bundled names or files, which the environments take in turn, or "generated".
        seat: "caster" or "dispeller".
        opponents: who plays the other seat in training, one drawn for each episode; "self" stands
            for former selves of a learner of the other seat, trained alongside.
        hyper: see `Hyperparameters`.
        seed: of network, sampling and dice.
        out: the run's folder.
        snapshot_updates: updates between two snapshots of a learner that plays against itself.
        snapshots: how many former selves are in the pool at a time.
        evaluations: points of the learning curve after the first.
        battles: of each evaluation along the way.
        final_battles: of each cell of the final table.
        exact_bytes: memory that an exact solution may take; larger scenarios go without a score.
        threads: of torch; more than one pays only on an idle machine.
    """

    scenarios: tuple[str, ...]
    seat: str
    opponents: tuple[str, ...]
    hyper: Hyperparameters
    seed: int
    out: Path
    snapshot_updates: int = 4
    snapshots: int = 4
    evaluations: int = 12
    battles: int = 2048
    final_battles: int = 16_384
    exact_bytes: int = 1 << 26
    threads: int = 1

    def plain(self) -> dict[str, Any]:
        """As JSON and checkpoints hold them."""
        settings = {**asdict(self), "out": str(self.out)}
        for key in ("scenarios", "opponents"):
            settings[key] = list(settings[key])
        return settings

    @classmethod
    def of(cls, plain: Mapping[str, Any], out: Path) -> "Args":
        """What `plain` gave, in a folder that may have moved."""
        settings = dict(plain) | {"out": out, "hyper": Hyperparameters(**plain["hyper"])}
        for key in ("scenarios", "opponents"):
            settings[key] = tuple(settings[key])
        return cls(**settings)

    @property
    def generated(self) -> bool:
        """Whether the scenarios are generated."""
        return self.scenarios[0].partition(":")[0] in GENERATED

    @property
    def scenario(self) -> Any:
        """What to learn from, as the environments take it."""
        return self.scenarios[0] if len(self.scenarios) == 1 else list(self.scenarios)

    @property
    def graded_on(self) -> Any:
        """What is played where the learner is graded: what it learned from, or held-out ones."""
        kind = self.scenarios[0].partition(":")[0]
        return f"{kind}:{HELD_OUT}" if self.generated else self.scenario

    @property
    def title(self) -> str:
        """The scenarios in a few words."""
        names = [Path(name).stem for name in self.scenarios]
        return names[0] if len(names) == 1 else f"{len(names)} scenarios"


def other_seat(seat: str) -> str:
    """The seat on the other side."""
    return SEATS[1 - seat_number(seat)]


def size_class(scenarios: Sequence[Scenario], observations: int) -> str:
    """The class of the hyperparameters that scenarios call for.

    Args:
        scenarios: to learn from.
        observations: numbers in an observation.
    """
    if any(scenario.phases > 1 for scenario in scenarios):
        return "battle"
    return "small-duel" if observations <= SMALL else "large-duel"


def class_of(scenario: Any, seat: str) -> str:
    """The class of a scenario, several or generated ones; see `size_class`.

    Raises:
        ScenarioError: there is no such scenario, or it is refused.
    """
    programme = resolve_scenarios(scenario)
    own = seat_number(seat)
    sizes = []
    for k in range(len(programme.packed_scenarios)):
        table = programme.packed_scenarios[k : k + 1]
        limits = programme.limits or fit(table, own)
        sizes.append(View(table, own, limits).layout.size)
        if programme.limits is not None:
            break  # all have the same
    return size_class(programme.scenarios, max(sizes))


def suited(kind: str, seat: str, path: Path = FILE) -> Hyperparameters:
    """The hyperparameters of a class of scenarios for a seat.

    Raises:
        ValueError: the file does not say them all, or says more.
    """
    tables = _tables(path)
    if kind not in tables:
        raise ValueError(f"{path}: expected a table for each of {', '.join(CLASSES)}, not {kind}")
    merged = {key: value for key, value in tables[kind].items() if key not in SEATS}
    merged |= tables[kind].get(seat, {})
    given = {key: value for key, value in merged.items() if key not in SOURCES}
    wanted = {field.name for field in fields(Hyperparameters)}
    odd = sorted(wanted ^ set(given))
    if odd:
        raise ValueError(f"{path}: {kind}: expected exactly {', '.join(sorted(wanted))}, see {odd}")
    return Hyperparameters(**given)


@lru_cache(maxsize=4)
def _tables(path: Path) -> Mapping[str, Any]:
    return tomllib.loads(path.read_text(encoding="utf-8"))
