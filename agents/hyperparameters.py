"""Settings for `agents.train`, with hyperparameters by scenario size from a TOML file."""

import tomllib
from collections.abc import Callable
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any

from agents.common import MIXED
from experiments.command_lines import non_negative_number, positive_integer
from wfb_gym.cli.parser import option
from wfb_gym.encoding.layout import FEATURES
from wfb_gym.interop.sb3 import PhaseVecEnv
from wfb_gym.seats import SEATS

FILE = Path(__file__).with_suffix(".toml")
SMALL = 100
"""Maximum observation size in a small duel."""
ALGORITHMS = ("MaskablePPO", "PPO", "DQN")
DQN_OPTIONS: dict[str, Any] = {
    "buffer_size": 200_000, "learning_starts": 20_000, "train_freq": 4, "gradient_steps": 8,
    "target_update_interval": 20_000, "exploration_fraction": 0.4, "exploration_final_eps": 0.02,
}  # fmt: skip
"""DQN arguments other than the learning rate, batch size and network width."""
QUICK = {
    "steps": 2048, "num_envs": 32, "n_steps": 16, "batch_size": 256, "evaluations": 2,
    "battles": 64, "final_battles": 128,
}  # fmt: skip


@dataclass(frozen=True)
class Hyperparameters:
    """An algorithm's hyperparameters. `Overrides` describes each one. DQN has some of its own.

    The learning rate falls linearly to 0, and the entropy coefficient to `ent_final`.
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
        if not 0.0 <= self.gae_lambda <= 1.0:
            raise ValueError(f"gae_lambda: expected 0 to 1, found {self.gae_lambda}")


def _flag(kind: Callable[[str], Any], meaning: str) -> Any:
    return option(None, type=kind, help=meaning)


@dataclass(frozen=True)
class Overrides:
    """Hyperparameters from the command line. None means the scenario class's default."""

    steps: int | None = _flag(positive_integer, "decisions of the learner in all")
    num_envs: int | None = _flag(positive_integer, "battles in parallel")
    n_steps: int | None = _flag(positive_integer, "decisions of each between two updates")
    batch_size: int | None = _flag(positive_integer, "decisions of a gradient step")
    n_epochs: int | None = _flag(positive_integer, "passes over an update's decisions")
    learning_rate: float | None = _flag(
        non_negative_number, "learning rate at the beginning; falls to 0"
    )
    gae_lambda: float | None = _flag(
        non_negative_number, "lambda of the advantages; 1: no bias; less than 1: less variance"
    )
    ent_coef: float | None = _flag(non_negative_number, "entropy coefficient at the beginning")
    ent_final: float | None = _flag(non_negative_number, "entropy coefficient at the end")
    net: int | None = _flag(positive_integer, "width of the two hidden layers")


@dataclass(frozen=True)
class Settings(Overrides):
    """Settings for a run, in addition to its hyperparameters.

    Attributes:
        algorithm: algorithm of Stable-Baselines3; PPO and DQN have no action masks, and pass when
            they choose an illegal action.
        scenario: bundled names or files, played in turn, or the name of a kind of generated
            scenarios.
        seat: seat of the learner.
        opponent: names or saved models; each episode draws one; mixed: optimal:0.1 if all
            scenarios are solved, otherwise veteran, greedy and random.
        features: all observed numbers, or only raw ones, without expected values.
        seed: seed of network, sampling and dice.
        out: folder of the results.
        evaluations: points of the learning curve after the first.
        battles: battles of each evaluation during training.
        final_battles: battles of each cell of the final table.
        exact_bytes: memory limit of an exact solution; larger scenarios get no exact score.
        threads: threads of torch.
    """

    algorithm: str = option(ALGORITHMS[0], choices=ALGORITHMS)
    scenario: tuple[str, ...] = ("archmage-duel",)
    seat: str = option("caster", choices=SEATS)
    opponent: tuple[str, ...] = (MIXED,)
    load: Path | None = option(None, help="model to continue training")
    features: str = option(FEATURES[0], choices=FEATURES)
    seed: int = 0
    out: Path = option(Path("runs"), help="(default: runs/SCENARIO-SEAT)")
    evaluations: int = 12
    battles: int = 2048
    final_battles: int = 16_384
    exact_bytes: int = 1 << 26
    threads: int = 1


def scenario_class(envs: PhaseVecEnv) -> str:
    """Return the table in `hyperparameters.toml` for the scenarios of some environments."""
    if any(scenario.phases > 1 for scenario in envs.batch.scenarios):
        return "battle"
    return "small-duel" if envs.batch.layout.size <= SMALL else "large-duel"


def load_hyperparameters(
    scenarios: str, seat: str, overrides: Overrides | None = None
) -> Hyperparameters:
    """Return a `scenario_class`'s hyperparameters for a seat. Overrides take precedence.

    Raises:
        ValueError: if a value is out of range.
    """
    table = tomllib.loads(FILE.read_text(encoding="utf-8"))[scenarios]
    given = asdict(overrides or Overrides())
    merged = table | table.get(seat, {}) | {k: v for k, v in given.items() if v is not None}
    return Hyperparameters(**{each.name: merged[each.name] for each in fields(Hyperparameters)})
