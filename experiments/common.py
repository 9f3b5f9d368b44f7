"""What the experiments share: playing batches of battles, and how results are told."""

import math
import sys
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, fields
from importlib.metadata import version
from pathlib import Path
from typing import Any

import gymnasium as gym
import numpy as np
from numpy.typing import NDArray
from rich.console import Console
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    TextColumn,
    TimeRemainingColumn,
)

import wfb_gym
from wfb_gym.cli.parser import Parser
from wfb_gym.encoding.positions import ask
from wfb_gym.envs.vector import MagicPhaseVectorEnv
from wfb_gym.players.interface import Agent
from wfb_gym.players.opponents import Opponent

INTERRUPTED = 130
"""Exit status after Ctrl-C."""

IDS = {"caster": "wfb_gym/Caster-v0", "dispeller": "wfb_gym/Dispeller-v0"}
"""Ids by the learner's seat."""

Z95 = 1.959964
"""Half-width of a 95 % confidence interval, in standard errors."""

Chooser = Callable[[MagicPhaseVectorEnv, NDArray[np.float32], NDArray[np.bool_]], NDArray[np.int64]]
"""Whoever plays the learner's seat by the environments themselves: these, observations and masks
to actions. What needs no environments is an `Agent`."""


@dataclass(frozen=True)
class Score:
    """Mean points of a seat over battles: enemy points lost less own.

    Attributes:
        mean: points.
        half_width: of the 95 % confidence interval.
        battles: how many were played.
    """

    mean: float
    half_width: float
    battles: int

    def __str__(self) -> str:
        return f"{self.mean:+.2f} ± {self.half_width:.2f}"


def score(points: NDArray[np.float64]) -> Score:
    """Mean and 95 % confidence interval of the points of battles, shape (n,)."""
    deviation = float(points.std(ddof=1)) if len(points) > 1 else 0.0
    return Score(float(points.mean()), Z95 * deviation / math.sqrt(len(points)), len(points))


def agent_chooser(agent: Agent) -> Chooser:
    """An agent in the learner's seat; it gets positions if it sees them."""
    return lambda envs, observations, masks: ask(
        agent.act, observations, masks, envs.batch.positions
    )


def play(
    player: Agent | Chooser,
    *,
    seat: str,
    scenario: Any,
    opponent: Opponent | Sequence[Opponent],
    battles: int,
    seed: int,
) -> NDArray[np.float64]:
    """Points of the seat in each of a number of battles, played side by side.

    Battle i has the dice of seed + i, so space seeds by more than `battles`.

    Args:
        player: plays the seat.
        seat: "caster" or "dispeller".
        scenario: what is played.
        opponent: plays the other seat.
        battles: how many.
        seed: of the first battle.
    """
    envs: Any = gym.make_vec(
        IDS[seat],
        num_envs=battles,
        scenario=scenario,
        opponent=opponent,
        autoreset_mode="Disabled",
        points_per_reward=1.0,
        strict=True,
    )
    chooser: Any = agent_chooser(player) if hasattr(player, "act") else player
    observations, _ = envs.reset(seed=seed)
    points = np.zeros(battles)
    ended = np.zeros(battles, np.bool_)
    while not ended.all():
        actions = chooser(envs, observations, envs.action_masks())
        observations, rewards, ended, _, _ = envs.step(actions)
        points += rewards
    return points


def progress() -> Progress:
    """A bar on stderr; its tasks take a `note`."""
    return Progress(
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeRemainingColumn(),
        TextColumn("{task.fields[note]}"),
        console=Console(stderr=True),
    )


def versions() -> dict[str, str]:
    """Versions of what results depend on."""
    names = ("gymnasium", "numba", "numpy", "sb3-contrib", "stable-baselines3", "torch")
    found = {name: version(name) for name in names}
    return {"wfb-gym": wfb_gym.__version__, "python": sys.version.split()[0], **found}


def command_of(script: str, args: Any, leave: Sequence[str] = ("out",)) -> str:
    """The command line that gives a script these settings.

    Args:
        script: module below ``experiments``.
        args: its settings, a dataclass whose fields are its flags; defaults are left out.
        leave: fields that do not change what comes of it.
    """
    usual = type(args)()
    words = [f"python -m experiments.{script}"]
    for each in fields(args):
        value = getattr(args, each.name)
        if each.name in leave or value == getattr(usual, each.name):
            continue
        flag = "--" + each.name.replace("_", "-")
        many = value if isinstance(value, tuple) else (value,)
        words += [f"{flag} {one}" for one in many]
    return " ".join(words)


def add_flags(parser: Parser, settings: type, **known: Any) -> None:
    """A flag with its default for each field of a dataclass of settings.

    Args:
        parser: that gets them.
        settings: all of its fields have defaults.
        **known: what `add_argument` is given for a field instead.
    """
    usual = settings()
    for each in fields(settings):
        value = getattr(usual, each.name)
        kind = Path if isinstance(value, Path) else type(value)
        given = {"type": kind, "default": value, "help": "(default: %(default)s)"}
        flag = "--" + each.name.replace("_", "-")
        parser.add_argument(flag, **known.get(each.name, given))


def told(settings: Any) -> dict[str, Any]:
    """Settings as JSON holds them."""
    return {key: str(v) if isinstance(v, Path) else v for key, v in asdict(settings).items()}


def plain(scores: dict[str, Score]) -> dict[str, dict[str, float | int]]:
    """Scores as JSON holds them."""
    return {name: asdict(each) for name, each in scores.items()}
