"""Settings for a self-play run. Their fields are the flags of `agents.train_fast`."""

import math
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar, Protocol

from wfb_gym.cli.parser import option
from wfb_gym.encoding.layout import FEATURES


class RunSettings(Protocol):
    """Settings of a run that every learner has; see `Settings` for their meaning."""

    module: ClassVar[str]
    method: ClassVar[str]

    @property
    def scenario(self) -> tuple[str, ...]: ...

    @property
    def seed(self) -> int: ...

    @property
    def out(self) -> Path: ...

    @property
    def exact_bytes(self) -> int: ...

    @property
    def free(self) -> frozenset[str]: ...


@dataclass(frozen=True)
class Settings:
    """Settings for a run.

    Attributes:
        scenario: bundled names or files, played in turn, or the name of a kind of generated
            scenarios.
        steps: decisions of both seats in total.
        seed: seed of networks, sampling and dice.
        runs: runs of consecutive seeds, each in a folder of its own.
        out: folder of the results.
        shape: kind of network (see `wfb_gym.players.network`).
        width: width of the hidden layers.
        features: inputs of a flat network: all observed numbers, or only raw ones, without
            expected values.
        history: include the last cast of each spell and the last response to it; needs
            `exploring_starts` of 0, because stored positions have no history.
        num_envs: battles in parallel.
        rollout: decisions of each battle between two updates.
        batch_size: decisions of a gradient step.
        epochs: passes over the decisions of an update.
        learning_rate: learning rate at the beginning; it falls linearly to 1 % of that.
        gamma: discount of points, for each decision of either seat.
        gae_lambda: lambda of generalised advantage estimation (Schulman et al. 2016).
        clip_range: maximum deviation of the probability ratio from 1 in an update.
        entropy_coefficient: weight of the entropy bonus at the beginning; 0: no bonus.
        final_entropy_coefficient: weight of the entropy bonus at the end.
        exploration: share of battles in which a seat explores, for each seat.
        exploration_weight: weight of the policy loss of exploratory decisions.
        exploring_starts: share of battles that begin at a position of the archive.
        archive_capacity: maximum number of positions that the archive stores.
        max_grad_norm: maximum norm of a gradient.
        evaluations: points of the learning curve after the first.
        exact_bytes: memory limit of the exact solution, in bytes.
        workers: processes that train together, each with its part of the battles; the default is
            2 on every machine, because the number changes the results.
        checkpoint_seconds: seconds between two checkpoints.
    """

    module: ClassVar[str] = "agents.train_fast"
    method: ClassVar[str] = "self-play"
    scenario: tuple[str, ...] = ("archmage-duel",)
    steps: int = 4_000_000
    seed: int = 0
    runs: int = 1
    out: Path = option(
        Path("runs"), help="(default: runs/SCENARIO-fast, for several runs runs/SCENARIO-fast-runs)"
    )
    shape: str = option("flat", choices=("flat", "entities"))
    width: int = 96
    features: str = option(FEATURES[0], choices=FEATURES)
    history: bool = False
    num_envs: int = 2048
    rollout: int = 16
    batch_size: int = 2048
    epochs: int = 2
    learning_rate: float = 3e-3
    gamma: float = 1.0
    gae_lambda: float = 0.95
    clip_range: float = option(0.2, aliases=("--clip",))
    entropy_coefficient: float = option(0.3, aliases=("--entropy",))
    final_entropy_coefficient: float = option(0.02, aliases=("--last-entropy",))
    exploration: float = 0.7
    exploration_weight: float = 0.5
    exploring_starts: float = 0.5
    archive_capacity: int = option(50_000, aliases=("--archive",))
    max_grad_norm: float = option(0.5, aliases=("--max-norm",))
    evaluations: int = 20
    exact_bytes: int = 1 << 28
    workers: int = 2
    checkpoint_seconds: float = 60.0

    @property
    def free(self) -> frozenset[str]:
        """Names of the settings that affect neither the training nor the points on the curve."""
        return frozenset({"out", "exact_bytes", "checkpoint_seconds"})


QUICK = {
    "steps": 4096, "num_envs": 64, "rollout": 8, "batch_size": 128, "evaluations": 2, "width": 32,
    "workers": 1,
}  # fmt: skip
POSITIVE = (
    "steps", "runs", "num_envs", "rollout", "batch_size", "epochs", "width", "evaluations",
    "workers", "exact_bytes", "archive_capacity",
)  # fmt: skip
BOUNDS = (
    ("seed", 0, math.inf),
    ("learning_rate", 0.0, math.inf),
    ("gamma", 0.0, 1.0),
    ("gae_lambda", 0.0, 1.0),
    ("clip_range", 0.0, math.inf),
    ("entropy_coefficient", 0.0, math.inf),
    ("final_entropy_coefficient", 0.0, math.inf),
    ("exploration", 0.0, 1.0),
    ("exploration_weight", 0.0, math.inf),
    ("exploring_starts", 0.0, 1.0),
    ("max_grad_norm", 0.0, math.inf),
    ("checkpoint_seconds", 0.0, math.inf),
)
"""Inclusive bounds for settings."""
