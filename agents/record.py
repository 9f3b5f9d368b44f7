"""Records a data set of battles in Minari's format, for learning without an environment.

    python -m agents.record
    python -m agents.record --agent veteran --seat dispeller --opponent greedy
    python -m agents.record --agent runs/archmage-duel-fast/caster.npz --battles 10000
    python -m agents.record --straying 0.3 --opponent optimal:0.3 --name wfb_gym/strayed-v0

An agent, by its name or from a saved model, plays a seat against an opponent or a pool of them, and
every decision of the seat is kept: what it saw, which actions were legal (infos, action_mask), what
it played, and the reward. Battle i has the dice of seed + i and the seed is kept with it. With
--straying the seat plays at random now and then, so that the data meet more than one way to play;
infos, agent_action then hold what the agent itself would have played.

The data lie where Minari looks for them: in MINARI_DATASETS_PATH, or else in ~/.minari/datasets.
agents/imitate.py reads them back. Needs the extra `minari`.
"""

import argparse
import json
import shutil
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from importlib.metadata import version
from pathlib import Path
from typing import Any

import gymnasium as gym
import numpy as np
from numpy.typing import NDArray

from agents.datasets import Episode, check_name, path_of, usual_name, write
from experiments import common
from experiments.common import IDS, INTERRUPTED, agent_chooser, command_of, progress
from wfb_gym.cli.parser import Parser
from wfb_gym.opponents.scripted import find_scripted
from wfb_gym.players.interface import Agent
from wfb_gym.players.registry import make_agent
from wfb_gym.scenario import load_scenario
from wfb_gym.seats import SEATS

AT_ONCE = 1024
"""Battles side by side."""


@dataclass(frozen=True)
class Args:
    """What is recorded.

    Attributes:
        agent: registered name or saved model.
        scenario: bundled name or file.
        seat: whose decisions are kept.
        opponent: who plays the other seat; battle i meets one after the other.
        battles: how many.
        straying: chance that the seat plays at random, at each decision.
        seed: of the first battle's dice, and of the draws of agents.
        name: of the data set; by default one that tells scenario, seat and agent.
        out: file that gets the JSON too, if any.
    """

    agent: str = "optimal"
    scenario: str = "archmage-duel"
    seat: str = "caster"
    opponent: tuple[str, ...] = ("veteran",)
    battles: int = 2000
    straying: float = 0.0
    seed: int = 0
    name: str = ""
    out: Path | None = None


def record(args: Args, agent: Agent, episodes: list[Episode], tell: Callable[[int], None]) -> None:
    """Play the battles and add them to `episodes`.

    Args:
        args: what is recorded.
        agent: who plays the seat.
        episodes: where they are added.
        tell: told how many battles are over by now.

    Raises:
        KeyboardInterrupt: Ctrl-C; what was played stands in `episodes`.
    """
    rng = np.random.default_rng([args.seed, 1])
    for first in range(0, args.battles, AT_ONCE):
        count = min(AT_ONCE, args.battles - first)
        episodes += _played(args, agent, args.seed + first, count, rng)
        tell(len(episodes))


def _played(
    args: Args, agent: Agent, seed: int, count: int, rng: np.random.Generator
) -> list[Episode]:
    """Some battles side by side, in the order of their seeds."""
    envs: Any = gym.make_vec(
        IDS[args.seat],
        num_envs=count,
        scenario=args.scenario,
        opponent=_opponent(args),
        autoreset_mode="Disabled",
        strict=True,
    )
    chooser = agent_chooser(agent)
    observations, _ = envs.reset(seed=seed)
    masks = envs.action_masks()
    episodes = [Episode(seed + i, [observations[i]], [masks[i]]) for i in range(count)]
    going = np.ones(count, np.bool_)
    while going.any():
        own = chooser(envs, observations, masks)
        actions = _strayed(own, masks, args.straying, rng)
        observations, rewards, ended, _, _ = envs.step(actions)
        masks = envs.action_masks()
        for i in np.flatnonzero(going):
            episodes[i].add(
                int(actions[i]), int(own[i]), float(rewards[i]), observations[i], masks[i]
            )
        going &= ~ended
    return episodes


def _strayed(
    own: NDArray[np.int64], masks: NDArray[np.bool_], chance: float, rng: np.random.Generator
) -> NDArray[np.int64]:
    """The agent's actions, some of them replaced by random legal ones."""
    if chance == 0.0:
        return own
    drawn = np.where(masks, rng.random(masks.shape), -1.0).argmax(1)
    return np.where(rng.random(len(own)) < chance, drawn, own)


def _opponent(args: Args) -> Any:
    """As environments take it, and as JSON can hold it."""
    return args.opponent[0] if len(args.opponent) == 1 else list(args.opponent)


def parsed(arguments: Sequence[str] | None) -> tuple[Args, bool, bool]:
    """Settings from the command line, checked; whether to replace, and whether JSON is wanted.

    Raises:
        SystemExit: help was asked for, or the input is bad.
    """
    parser = Parser(
        prog="python -m agents.record",
        description=(__doc__ or "").strip(),
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    usual = " ".join(Args.opponent)
    common.add_flags(
        parser,
        Args,
        seat={"choices": SEATS, "default": Args.seat, "help": "(default: %(default)s)"},
        opponent={"action": "append", "help": f"repeat for a pool (default: {usual})"},
        name={"default": "", "help": "(default: wfb_gym/SCENARIO/SEAT-AGENT-v0)"},
        out={"type": Path, "metavar": "FILE", "help": "write the JSON there too"},
    )
    add = parser.add_argument
    add("--replace", action="store_true", help="a data set of that name")
    add("--quick", action="store_true", help="few battles in a small scenario")
    add("--json", action="store_true", help="print JSON alone on stdout")
    given = vars(parser.parse_args(arguments))
    instead, quick, as_json = (given.pop(key) for key in ("replace", "quick", "json"))
    given["opponent"] = tuple(given["opponent"] or Args.opponent)
    args = Args(**given)
    if quick:
        args = replace(args, scenario="apprentice", battles=50)
    args = replace(args, name=args.name or usual_name(args.scenario, args.seat, args.agent))
    try:
        check(args, instead)
    except (ValueError, OSError, ImportError) as error:
        parser.error(str(error))
    return args, instead, as_json


def check(args: Args, instead: bool) -> None:
    """Refuse what cannot be recorded.

    Args:
        args: what is recorded.
        instead: whether it may take another data set's place.

    Raises:
        ValueError: an unknown agent, opponent or scenario, or a number out of range.
        OSError: a file that cannot be read.
        ImportError: Minari is not installed.
    """
    if args.battles < 1:
        raise ValueError(f"--battles: expected 1 or more, found {args.battles}")
    if args.seed < 0:
        raise ValueError(f"--seed: expected 0 or more, found {args.seed}")
    if not 0.0 <= args.straying <= 1.0:
        raise ValueError(f"--straying: expected a chance, 0 to 1, found {args.straying}")
    check_name(args.name)
    if path_of(args.name).exists() and not instead:
        raise ValueError(f"--name: {args.name} is there already; --replace records it anew")
    if args.out is not None and not args.out.parent.is_dir():
        raise ValueError(f"--out: expected a folder that is there, found {args.out.parent}")
    load_scenario(args.scenario)
    for player in (args.agent, *args.opponent):
        if find_scripted(player) is None:
            make_agent(player)  # refuses unknown names and files that are no models


def results(args: Args, episodes: Sequence[Episode], seconds: float, stopped: bool) -> Any:
    """What is told of a recording."""
    scale = 100.0  # the environments' points_per_reward
    points = scale * np.array([sum(each.rewards) for each in episodes])
    return {
        "args": common.told(args),
        "interrupted": stopped,
        "dataset": args.name,
        "folder": str(path_of(args.name)),
        "battles": len(episodes),
        "decisions": sum(len(each.actions) for each in episodes),
        "points": common.plain({args.seat: common.score(points)}) if episodes else {},
        "seconds": round(seconds, 2),
        "versions": {**common.versions(), "minari": version("minari")},
    }


def main(arguments: Sequence[str] | None = None) -> int:
    """Play, write and tell; returns the exit status."""
    args, instead, as_json = parsed(arguments)
    episodes: list[Episode] = []
    stopped = False
    began = time.monotonic()
    try:
        agent = make_agent(args.agent, seed=args.seed, scenario=args.scenario, seat=args.seat)
    except (ValueError, OSError) as error:
        print(f"python -m agents.record: {error}", file=sys.stderr)
        return 2
    with progress() as bar:
        task = bar.add_task("recording", total=args.battles, note="")
        try:
            record(args, agent, episodes, lambda done: bar.update(task, completed=done))
        except KeyboardInterrupt:
            stopped = True
    if episodes:
        if instead:
            shutil.rmtree(path_of(args.name), ignore_errors=True)
        env = gym.make(IDS[args.seat], scenario=args.scenario, opponent=_opponent(args))
        write(args.name, env, episodes, args.straying > 0.0, command_of("record", args), args.agent)
    found = results(args, episodes, time.monotonic() - began, stopped)
    text = json.dumps(found, indent=2)
    if args.out is not None:
        args.out.write_text(text + "\n", encoding="utf-8")
    if as_json:
        print(text)
    elif episodes:
        of = found["points"][args.seat]
        print(
            f"{found['battles']:,} battles, {found['decisions']:,} decisions of the {args.seat} "
            f"({of['mean']:+.2f} ± {of['half_width']:.2f} points) in {args.name}"
        )
    return INTERRUPTED if stopped else 0


if __name__ == "__main__":
    sys.exit(main())
