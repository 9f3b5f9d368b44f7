"""The benchmark's settings, and how many rounds it measures."""

from collections.abc import Collection
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch

from experiments.benchmarks import starting, training
from wfb_gym.cli.parser import option

LARGE = (1024, 16_384)
"""Batch sizes for the largest battle and for several threads."""
OPPONENTS = ("random", "veteran")


@dataclass(frozen=True)
class Settings:
    """Settings for the benchmark.

    Attributes:
        long: also solve storm-council, which takes more than a minute in every round.
        profile: measure only the parts of an update of train_fast.
        wheel: wheel to install and measure.
        keep: folder for finished parts; the same command continues an interrupted run.
    """

    long: bool = False
    profile: bool = False
    wheel: Path | None = option(None, metavar="FILE", help="(default: the newest in dist/)")
    keep: Path | None = None


@dataclass(frozen=True)
class Plan(Settings):
    """All measurements, and how long each one takes."""

    sizes: tuple[int, ...] = (1, 64, *LARGE)  # environments in a batch
    large: tuple[int, ...] = LARGE
    rounds: int = 7  # of each case, after a warm-up; an odd number has a measured median
    slow_rounds: int = 5  # of cases that take seconds
    seconds: float = 0.15  # of each round
    envs: int = 512  # battles in parallel in training
    updates: int = 8  # per round of training
    small: int = 100  # scenarios solved in parallel
    quick: bool = False
    """Leave out cases that take a minute: large solutions, and starting with an empty compile
    cache."""

    @property
    def frames(self) -> int:
        """Number of decisions in a round of training."""
        return self.updates * self.envs * training.STEPS


QUICK: dict[str, Any] = {
    "sizes": (1, 64), "large": (64,), "rounds": 1, "slow_rounds": 1, "seconds": 0.01, "envs": 16,
    "updates": 1, "small": 3, "quick": True,
}  # fmt: skip


def newest_wheel() -> Path | None:
    """Return the most recently built wheel in dist/."""
    found = (starting.ROOT / "dist").glob("wfb_gym-*.whl")
    return max(found, key=lambda path: path.stat().st_mtime, default=None)


def plan_of(settings: Settings, switches: Collection[str]) -> Plan:
    """Return the benchmark's plan, or raise a ValueError if the wheel is missing."""
    if not settings.profile:
        torch.set_num_threads(1)
    quick = "quick" in switches
    if settings.wheel is not None and not settings.wheel.is_file():
        raise ValueError(f"--wheel: expected a wheel, found no file {settings.wheel}")
    wheel = settings.wheel or (None if quick else newest_wheel())
    return Plan(settings.long, settings.profile, wheel, settings.keep, **QUICK if quick else {})
