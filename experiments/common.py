"""What the experiments share: playing batches of battles, and how results are told."""

import math
import sys
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from importlib.metadata import version
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

from agents.interface import Agent
from agents.registry import RandomAgent
from wfb_gym._jit import jit
from wfb_gym.engine.legal import legal_actions
from wfb_gym.engine.queries import is_decision
from wfb_gym.engine.state import Record
from wfb_gym.engine.work import new_scratch
from wfb_gym.envs.kernel import RUNNING
from wfb_gym.envs.vector import MagicPhaseVectorEnv
from wfb_gym.opponents.book import no_books
from wfb_gym.opponents.policies import Scripted, choose
from wfb_gym.opponents.registry import SCRIPTED, Opponent
from wfb_gym.solver.books import books

IDS = {"caster": "wfb_gym/Caster-v0", "dispeller": "wfb_gym/Dispeller-v0"}
"""Ids by the learner's seat."""

Z95 = 1.959964
"""Half-width of a 95 % confidence interval, in standard errors."""

Chooser = Callable[[MagicPhaseVectorEnv, NDArray[np.float32], NDArray[np.bool_]], NDArray[np.int64]]
"""Whoever plays the learner's seat: environments, observations and masks to actions."""


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
    """An agent in the learner's seat."""
    return lambda envs, observations, masks: agent.act(observations, masks)


def scripted_chooser(name: str, seed: int | None = None) -> Chooser:
    """A scripted player in the learner's seat; `seed` is of random's choices."""
    if SCRIPTED[name] == Scripted.RANDOM:
        return agent_chooser(RandomAgent(seed))
    kind = int(SCRIPTED[name])
    scratch = new_scratch()
    library: list[Any] = []

    def chosen(
        envs: MagicPhaseVectorEnv, observations: NDArray[np.float32], masks: NDArray[np.bool_]
    ) -> NDArray[np.int64]:
        batch = envs.batch
        if not library:
            optimal = kind == Scripted.OPTIMAL
            library.extend(books(batch.scenarios, batch.seat) if optimal else no_books())
        found, shelf = library
        actions = np.zeros(envs.num_envs, np.int64)
        _choose_all(
            kind, batch.seat, batch.envs, batch.tables, batch.codec.index_of, found, shelf, scratch,
            actions,
        )  # fmt: skip
        return actions

    return chosen


@jit(nogil=True)
def _choose_all(
    policy: int,
    seat: int,
    envs: Record,
    tables: Record,
    indices: NDArray[np.int64],
    books: Record,
    shelf: NDArray[np.uint64],
    scratch: Record,
    actions: NDArray[np.int64],
) -> None:
    """A scripted player's actions where the learner must decide; the others are left alone."""
    work = scratch[0]
    for i in range(envs.shape[0]):
        env = envs[i]
        state = env.state
        if env.status == RUNNING and is_decision(state.node) and state.mover == seat:
            table = tables[env.scenario]
            count = legal_actions(table, state, work)
            book = books[env.scenario % books.shape[0]]
            code = choose(policy, table, state, work, count, env.rng, book, shelf)
            actions[i] = indices[code]


def play(
    chooser: Chooser,
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
        chooser: plays the seat.
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
    return {"python": sys.version.split()[0], **found}


def plain(scores: dict[str, Score]) -> dict[str, dict[str, float | int]]:
    """Scores as JSON holds them."""
    return {name: asdict(each) for name, each in scores.items()}
