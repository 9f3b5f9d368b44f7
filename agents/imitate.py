"""Learns to play as a data set of battles does: behaviour cloning, without an environment.

    python -m agents.record && python -m agents.imitate
    python -m agents.imitate --dataset wfb_gym/archmage-duel/dispeller-veteran-v0
    python -m agents.imitate --dataset wfb_gym/strayed-v0 --width 192 --epochs 200

Reads what agents/record.py wrote and teaches a network to give what the agent chose the
greatest chance (cross-entropy, over the legal actions). A part of the battles is held out, and
tells how often the network agrees with the agent where it did not learn. Where the scenario can be
solved, the exact score of the clone is told: 100 is optimal play, 0 as good as random, each against
the best response to it.

Writes SEAT.npz (`wfb_gym.players.learned.NetworkAgent` plays it) and results.json into the run's
folder.
Ctrl-C keeps what was learned so far. Needs the extra `minari`.
"""

import argparse
import json
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch.nn.functional import nll_loss

from agents.datasets import Dataset, read, usual_name
from agents.training.settings import GENERATED
from experiments import common
from experiments.common import INTERRUPTED, command_of, progress
from wfb_gym import solver
from wfb_gym.cli.parser import Parser
from wfb_gym.players.learned import NetworkAgent
from wfb_gym.players.network import PolicyNetwork, save_network
from wfb_gym.seats import seat_number


@dataclass(frozen=True)
class Args:
    """Settings of a run.

    Attributes:
        dataset: its id.
        epochs: passes over the decisions.
        batch_size: decisions of a gradient step.
        learning_rate: at the beginning; it falls linearly to nothing.
        shape: of the network, see `wfb_gym.players.network`.
        width: of its hidden layers.
        held_out: share of the battles that it does not learn from.
        seed: of the network, and of the order of the decisions.
        exact_bytes: memory that the exact solution may take.
        out: the run's folder.
    """

    dataset: str = usual_name("archmage-duel", "caster", "optimal")
    epochs: int = 60
    batch_size: int = 256
    learning_rate: float = 2e-3
    shape: str = "flat"
    width: int = 96
    held_out: float = 0.1
    seed: int = 0
    exact_bytes: int = 1 << 28
    out: Path = Path("runs")


@dataclass
class Curve:
    """What is known after each epoch.

    Attributes:
        loss: mean cross-entropy of what was learned from.
        agreement: share of held-out decisions in which the clone's choice is the agent's; of those
            with something to choose; None where none were held out.
    """

    loss: list[float]
    agreement: list[float | None]


def learn(
    args: Args, network: PolicyNetwork, data: Dataset, curve: Curve, tell: Callable[[int], None]
) -> tuple[int, int]:
    """Teach the network.

    Args:
        args: settings.
        network: that is changed.
        data: what it learns from.
        curve: where a point is added after each epoch.
        tell: told how many epochs are over by now.

    Returns:
        Decisions that were learned from, and decisions held out.

    Raises:
        KeyboardInterrupt: Ctrl-C; the network is as it was after the last gradient step.
    """
    held = data.decisions
    choice = held.masks.sum(1) > 1  # a single legal action teaches nothing
    out = choice & chosen_battles(held.battles, args.held_out, args.seed)
    lesson, exam = (_tensors(data, rows) for rows in (choice & ~out, out))
    read_lesson = network.encode(lesson[0])
    optimiser = torch.optim.Adam(network.parameters(), args.learning_rate)
    order = torch.Generator().manual_seed(args.seed)
    count = len(read_lesson)
    steps = max(1, args.epochs * -(-count // args.batch_size))
    schedule = torch.optim.lr_scheduler.LinearLR(optimiser, 1.0, 0.0, steps)
    for epoch in range(args.epochs):
        losses = 0.0
        for rows in torch.randperm(count, generator=order).split(args.batch_size):
            log_chances, _ = network.evaluate(read_lesson[rows], lesson[1][rows])
            loss = nll_loss(log_chances, lesson[2][rows])
            optimiser.zero_grad()
            loss.backward()
            optimiser.step()
            schedule.step()
            losses += float(loss.detach()) * len(rows)
        curve.loss.append(losses / max(1, count))
        curve.agreement.append(_agreement(network, exam))
        tell(epoch + 1)
    return count, len(exam[2])


def chosen_battles(battles: NDArray[np.int64], share: float, seed: int) -> NDArray[np.bool_]:
    """Decisions of a share of the battles, drawn by the seed: bool (k,)."""
    known = np.unique(battles)
    drawn = np.random.default_rng([seed, 2]).permutation(known)[: round(share * len(known))]
    return np.isin(battles, drawn)


def _tensors(data: Dataset, rows: NDArray[np.bool_]) -> tuple[Tensor, Tensor, Tensor]:
    held = data.decisions
    parts = (held.observations[rows], held.masks[rows], held.actions[rows])
    first, second, third = (torch.from_numpy(np.ascontiguousarray(each)) for each in parts)
    return first, second, third


def _agreement(network: PolicyNetwork, exam: tuple[Tensor, Tensor, Tensor]) -> float | None:
    if not len(exam[2]):
        return None
    with torch.no_grad():
        log_chances, _ = network(exam[0], exam[1])
    return float((log_chances.argmax(1) == exam[2]).float().mean())


def exact(args: Args, data: Dataset, agent: NetworkAgent) -> solver.Score | None:
    """The clone's exact score; None where the scenario cannot be solved."""
    if agent.sees_positions:
        return None  # generated scenarios are too many
    try:
        solution = solver.solved(data.scenario, max_bytes=args.exact_bytes, notice=sys.stderr)
    except solver.TooLarge as error:
        print(f"no exact score: {error}", file=sys.stderr)
        return None
    return solver.normalised_score(solution, agent, data.seat)


def parsed(arguments: Sequence[str] | None) -> tuple[Args, bool]:
    """Settings from the command line, checked, and whether JSON is wanted.

    Raises:
        SystemExit: help was asked for, or the input is bad.
    """
    parser = Parser(
        prog="python -m agents.imitate",
        description=(__doc__ or "").strip(),
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    common.add_flags(
        parser,
        Args,
        shape={"choices": ("flat", "entities"), "default": "flat", "help": "(default: flat)"},
        out={"type": Path, "help": "(default: runs/imitate-NAME, of the data set)"},
    )
    parser.add_argument("--quick", action="store_true", help="a tiny run that shows that all works")
    parser.add_argument("--json", action="store_true", help="print JSON alone on stdout")
    given = vars(parser.parse_args(arguments))
    quick, as_json = (given.pop(key) for key in ("quick", "json"))
    name = given["dataset"].replace("/", "-")
    given["out"] = given["out"] or Path("runs") / f"imitate-{name}"
    args = Args(**given)
    if quick:
        args = replace(args, epochs=3, width=32)
    for key in ("epochs", "batch_size", "width", "learning_rate", "exact_bytes"):
        if not getattr(args, key) > 0:
            parser.error(f"--{key.replace('_', '-')}: expected more than 0")
    if not 0.0 <= args.held_out < 1.0:
        parser.error(f"--held-out: expected a share from 0 to below 1, found {args.held_out}")
    return args, as_json


def run(args: Args, data: Dataset) -> dict[str, Any]:
    """Learn, grade and write; returns the results."""
    torch.manual_seed(args.seed)
    network = PolicyNetwork(data.env.unwrapped.limits, args.shape, args.width)
    curve = Curve([], [])
    counts = (0, 0)
    interrupted = False
    began = time.monotonic()
    with progress() as bar:
        task = bar.add_task("learning", total=args.epochs, note="")

        def tell(done: int) -> None:
            note = f"loss {curve.loss[-1]:.3f}, agrees {curve.agreement[-1] or 0:.1%}"
            bar.update(task, completed=done, note=note)

        try:
            counts = learn(args, network, data, curve, tell)
        except KeyboardInterrupt:
            interrupted = True
    seconds = time.monotonic() - began
    general = data.scenario.partition(":")[0] in GENERATED
    agent = NetworkAgent(network, seat_number(data.seat), general=general)
    score = exact(args, data, agent)
    found = {
        "args": common.told(args),
        "interrupted": interrupted,
        "scenario": data.scenario,
        "seat": data.seat,
        "decisions": len(data.decisions.actions),
        "learned_from": counts[0],
        "held_out": counts[1],
        "agreement": curve.agreement[-1] if curve.agreement else None,
        "curve": {"loss": curve.loss, "agreement": curve.agreement},
        "score": None if score is None else score.score,
        "guaranteed": None if score is None else score.guaranteed,
        "optimum": None if score is None else score.optimum,
        "seconds": round(seconds, 2),
        "versions": {**common.versions(), "minari": version("minari")},
    }
    about = {
        "seat": agent.seat,
        "general": general,
        "scenario": data.scenario,
        "seed": args.seed,
        "score": found["score"],
        "command": command_of("imitate", args),
        "versions": found["versions"],
    }
    save_network(network, args.out / f"{data.seat}.npz", about)
    text = json.dumps(found, indent=2)
    (args.out / "results.json").write_text(text + "\n", encoding="utf-8")
    return found


def main(arguments: Sequence[str] | None = None) -> int:
    """Learn, grade, write and tell; returns the exit status."""
    args, as_json = parsed(arguments)
    try:
        data = read(args.dataset)
    except (ValueError, ImportError) as error:
        print(f"python -m agents.imitate: {error}", file=sys.stderr)
        return 2
    found = run(args, data)
    if as_json:
        print(json.dumps(found, indent=2))
    else:
        score = "none" if found["score"] is None else f"{found['score']:.2f}"
        print(
            f"{found['seat']} in {found['scenario']}: exact score {score}; learned from "
            f"{found['learned_from']:,} decisions, agrees with {found['agreement'] or 0:.1%} of "
            f"{found['held_out']:,} others"
        )
    return INTERRUPTED if found["interrupted"] else 0


if __name__ == "__main__":
    sys.exit(main())
