"""Record a data set of battles in Minari's format, for learning without an environment.

    python -m agents.record
    python -m agents.record --agent veteran --seat dispeller --opponent greedy
    python -m agents.record --agent runs/archmage-duel-fast/caster.npz --battles 10000
    python -m agents.record --epsilon 0.3 --opponent optimal:0.3 --name wfb_gym/exploring-v0
    python -m agents.record --agent random --agent greedy --agent optimal --values

An agent, named or loaded from a saved model, plays a seat against an opponent or a pool of them.
Each decision of the seat is stored: the observation, the legal actions (infos, action_mask), the
action played, and the reward. Battle i uses seed + i, and the seed is stored with it.
With --epsilon the seat acts at random with that probability, so that the data cover more play;
infos, agent_action then holds the agent's own choices. With --values, infos, action_values holds
the exact value of every action in points, which needs a scenario that can be solved.

The data set is written to Minari's folder: MINARI_DATASETS_PATH, or ~/.minari/datasets if it is not
set. agents/imitate.py reads data sets. Needs the extra `minari`.
"""

from wfb_gym._commands import run_main

if __name__ == "__main__":
    run_main("agents.record")

import sys
import time
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import gymnasium as gym
import numpy as np
from numpy.typing import NDArray

from agents.common import DeferredInterrupt, report
from agents.datasets import Episode, check_name, path_of, usual_name, write_dataset
from agents.exact_values import ExactValues
from experiments import command_lines, common
from experiments.progress import progress
from wfb_gym import solver
from wfb_gym.cli.parser import option
from wfb_gym.players.interface import Agent, Masks
from wfb_gym.players.registry import check_agent, make_agent
from wfb_gym.scenario import load_scenario
from wfb_gym.seats import SEATS

MODULE = "agents.record"
QUICK = {"scenario": "apprentice", "battles": 50}
BATCH_SIZE = 1024
"""Number of battles played in parallel."""
POINTS_PER_REWARD = 100.0
"""Points per unit of reward, which is the environments' default."""


@dataclass(frozen=True)
class Settings:
    """Settings for a recording.

    Attributes:
        agent: registered name or saved model; several share the battles equally.
        scenario: bundled name or file.
        seat: seat of the agent.
        opponent: registered name or saved model; each battle draws one of several.
        battles: battles to record.
        epsilon: share of the seat's decisions that are random.
        values: also store the exact value of every action.
        seed: seed of the first battle's dice, and of the agents' sampling.
        name: name of the dataset.
    """

    agent: tuple[str, ...] = ("optimal",)
    scenario: str = "archmage-duel"
    seat: str = option("caster", choices=SEATS)
    opponent: tuple[str, ...] = ("veteran",)
    battles: int = 2000
    epsilon: float = 0.0
    values: bool = False
    seed: int = 0
    name: str = option("", help="(default: wfb_gym/SCENARIO/SEAT-AGENT-v0)")
    out: Path | None = option(None, metavar="FILE", help="also write the results to FILE")


class Recorder:
    """Plays the battles for a recording.

    Args:
        settings: the recording's settings.
        exact: the actions' exact values, if already known.

    Raises:
        ValueError: if an agent cannot play, or the scenario is too large to solve.
        ImportError: if a saved model needs a library that is not installed.
        OSError: if a saved model cannot be read.
    """

    def __init__(self, settings: Settings, exact: ExactValues | None = None) -> None:
        self._settings, self._exact = settings, exact
        game: dict[str, Any] = {"scenario": settings.scenario, "seat": settings.seat}
        self._agents = [make_agent(each, seed=settings.seed, **game) for each in settings.agent]
        if settings.values and exact is None:
            try:
                solution = solver.solve(settings.scenario, cache=True, notice=sys.stderr)
                self._exact = ExactValues(solution, settings.seat)
            except solver.TooLarge as error:
                raise ValueError(f"--values: the scenario is too large to solve: {error}") from None
        self._rng = np.random.default_rng([settings.seed, 1])

    def play(self) -> Iterator[list[Episode]]:
        """Yield the battles in the order of their seeds, playing them in parallel batches."""
        agents, battles = self._agents, self._settings.battles
        shares = [battles * place // len(agents) for place in range(len(agents) + 1)]
        for agent, begin, end in zip(agents, shares, shares[1:], strict=False):
            for first in range(begin, end, BATCH_SIZE):
                yield self._play_batch(agent, first, min(BATCH_SIZE, end - first))

    def _play_batch(self, agent: Agent, first: int, count: int) -> list[Episode]:
        """Play battles in parallel, and return them in the order of their seeds."""
        settings, rng = self._settings, self._rng
        envs: Any = gym.make_vec(
            common.IDS[settings.seat],
            num_envs=count,
            scenario=settings.scenario,
            opponent=recorded_opponent(settings),
            autoreset_mode="Disabled",
            strict=True,
        )
        chooser = common.batch_player(agent)
        seed = settings.seed + first
        observations, _ = envs.reset(seed=seed)
        masks = envs.action_masks()
        episodes = [Episode(seed + i, [observations[i]], [masks[i]]) for i in range(count)]
        running = np.ones(count, np.bool_)
        self._add_values(envs, masks, episodes, running)
        while running.any():
            own = chooser(envs, observations, masks)
            actions = own
            if settings.epsilon > 0.0:
                drawn = np.where(masks, rng.random(masks.shape), -1.0).argmax(1)
                actions = np.where(rng.random(count) < settings.epsilon, drawn, own)
            observations, rewards, ended, _, _ = envs.step(actions)
            masks = envs.action_masks()
            for i in np.flatnonzero(running):
                episodes[i].actions.append(int(actions[i]))
                episodes[i].own_actions.append(int(own[i]))
                episodes[i].rewards.append(float(rewards[i]))
                episodes[i].observations.append(observations[i])
                episodes[i].masks.append(masks[i])
            self._add_values(envs, masks, episodes, running)
            running &= ~ended
        return episodes

    def _add_values(
        self, envs: Any, masks: Masks, episodes: list[Episode], running: NDArray[np.bool_]
    ) -> None:
        """Append the values of the current actions to the running battles."""
        if self._exact is not None:
            values = self._exact.at(envs.batch.positions(), masks)
            for i in np.flatnonzero(running):
                episodes[i].values.append(values[i])


def recorded_opponent(settings: Settings) -> Any:
    """Return the opponent in a form that environments accept and JSON can store."""
    names = settings.opponent
    return names[0] if len(names) == 1 else list(names)


def check_recording(settings: Settings, may_replace: bool) -> None:
    """Raise if settings cannot be recorded: bad names, files or ranges, or Minari is missing."""
    if settings.battles < 1:
        raise ValueError(f"--battles: expected 1 or more, found {settings.battles}")
    if settings.seed < 0:
        raise ValueError(f"--seed: expected 0 or more, found {settings.seed}")
    if not 0.0 <= settings.epsilon <= 1.0:
        raise ValueError(f"--epsilon: expected a probability, 0 to 1, found {settings.epsilon}")
    check_name(settings.name)
    if path_of(settings.name).exists() and not may_replace:
        raise ValueError(f"--name: {settings.name} is there already; --replace records it again")
    if settings.out is not None and not settings.out.parent.is_dir():
        raise ValueError(f"--out: expected an existing folder, found {settings.out.parent}")
    load_scenario(settings.scenario)
    for player in (*settings.agent, *settings.opponent):
        check_agent(player)


def write_episodes(
    settings: Settings, episodes: Sequence[Episode], *, replace: bool, score: float | None = None
) -> None:
    """Write battles as a data set. `score` is the agents' exact score, if known.

    Raises:
        DatasetError: see `agents.datasets.write_dataset`.
    """
    kwargs = {"scenario": settings.scenario, "opponent": recorded_opponent(settings)}
    write_dataset(
        settings.name,
        gym.make(common.IDS[settings.seat], **kwargs),
        episodes,
        agent=" ".join(settings.agent),
        command=command_lines.command_line(MODULE, settings),
        explores=settings.epsilon > 0.0,
        score=score,
        replace=replace,
    )


def _summarise(
    settings: Settings, episodes: Sequence[Episode], seconds: float, interrupted: bool
) -> dict[str, Any]:
    points = POINTS_PER_REWARD * np.array([sum(each.rewards) for each in episodes])
    return {
        "args": common.settings_as_json(settings),
        "interrupted": interrupted,
        "dataset": settings.name,
        "folder": str(path_of(settings.name)),
        "battles": len(episodes),
        "decisions": sum(len(each.actions) for each in episodes),
        "points": {settings.seat: asdict(common.mean_points(points))} if episodes else {},
        "seconds": round(seconds, 2),
        "versions": common.versions(("minari",)),
    }


def main(arguments: Sequence[str] | None = None) -> int:
    """Parse the command line, play, write the data set and return the exit status."""
    settings, switches, parser = common.parse_settings(
        Settings,
        arguments,
        module=MODULE,
        description=__doc__,
        quick=QUICK,
        switches={"replace": "replace a data set of that name, which is an error otherwise"},
    )
    usual = usual_name(settings.scenario, settings.seat, *settings.agent)
    settings = replace(settings, name=settings.name or usual)
    seat, may_replace = settings.seat, "replace" in switches
    episodes: list[Episode] = []
    try:
        check_recording(settings, may_replace)
        began = time.monotonic()
        recorder = Recorder(settings)
    except (ValueError, OSError, ImportError) as error:
        parser.error(str(error))
    with progress() as bar, common.Interruptible() as run:
        task = bar.add_task("recording", total=settings.battles, note="")
        for played in recorder.play():
            episodes += played
            bar.update(task, completed=len(episodes))
    if episodes:
        with DeferredInterrupt("once the battles are written") as late:
            write_episodes(settings, episodes, replace=may_replace)
        run.interrupted |= late.requested
    results = _summarise(settings, episodes, time.monotonic() - began, run.interrupted)
    if settings.out is not None:
        common.write_json(settings.out, results)
    text = ""
    if episodes:
        points = results["points"][seat]
        text = (
            f"{results['battles']:,} battles, {results['decisions']:,} decisions of the {seat} "
            f"({points['mean']:+.2f} ± {points['half_width']:.2f} points) in {settings.name}"
        )
    return report(results, "json" in switches, text)
