"""Learns to play as a data set of battles does: behaviour cloning, without an environment.

    python -m agents.record && python -m agents.imitate
    python -m agents.imitate --dataset wfb_gym/archmage-duel/dispeller-veteran-v0
    python -m agents.imitate --dataset wfb_gym/exploring-v0 --width 192 --epochs 200

Trains a network on what agents/record.py wrote, to give the agent's actions the greatest
probability (cross-entropy over the legal actions). Part of the battles is held out and shows how
often the network agrees with the agent where it did not learn. Where the scenario can be solved,
the exact score of the clone is reported: 100 is optimal play, 0 as good as random, each against
its best response.

Writes SEAT.npz (`wfb_gym.players.learned.NetworkAgent` plays it) and results.json into the run's
folder. Ctrl-C keeps what was learned so far. Needs the extra `minari`.
"""

import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from importlib.metadata import version
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch.nn.functional import nll_loss

from agents.common import DeferredInterrupt, is_generated, load_solutions, report
from agents.datasets import Dataset, RecordedDecisions, read_dataset, usual_name
from agents.run_folder import OVERWRITE, occupy, refuse_other_settings, run_command
from experiments import common
from wfb_gym import solver
from wfb_gym.players.learned import NetworkAgent
from wfb_gym.players.network import PolicyNetwork, save_network
from wfb_gym.seats import seat_number

MODULE = "agents.imitate"
QUICK = {"dataset": usual_name("apprentice", "caster", "optimal"), "epochs": 3, "width": 32}
"""What `agents.record --quick` records."""
FREE = ("out",)
"""Settings that do not decide what is learned."""


@dataclass(frozen=True)
class Settings:
    """Settings of a run.

    Attributes:
        dataset: name of the Minari dataset to learn from.
        epochs: passes over the decisions.
        batch_size: decisions of a gradient step.
        learning_rate: learning rate at the beginning; it falls linearly to 0.
        shape: kind of network: see `wfb_gym.players.network`.
        width: width of the hidden layers.
        held_out: share of the battles that it does not learn from.
        seed: seed of the network, and of the order of the decisions.
        exact_bytes: memory that the exact solution may take, in bytes.
        out: folder of the results.
    """

    dataset: str = usual_name("archmage-duel", "caster", "optimal")
    epochs: int = 60
    batch_size: int = 256
    learning_rate: float = 2e-3
    shape: str = field(default="flat", metadata={"choices": ("flat", "entities")})
    width: int = 96
    held_out: float = 0.1
    seed: int = 0
    exact_bytes: int = 1 << 28
    out: Path = field(default=Path("runs"), metadata={"help": "(default: runs/imitate-DATASET)"})


class Examples(NamedTuple):
    """Observations, masks, and the actions to imitate."""

    observations: Tensor
    masks: Tensor
    actions: Tensor


def split_examples(
    decisions: RecordedDecisions, share: float, seed: int
) -> tuple[Examples, Examples]:
    """Training and held-out examples; a single legal action teaches nothing and is left out."""
    choice = decisions.masks.sum(1) > 1
    out = sample_battles(decisions.battles, share, seed)

    def select(rows: NDArray[np.bool_]) -> Examples:
        arrays = (decisions.observations[rows], decisions.masks[rows], decisions.actions[rows])
        return Examples(*map(torch.from_numpy, arrays))

    return select(choice & ~out), select(choice & out)


def sample_battles(battles: NDArray[np.int64], share: float, seed: int) -> NDArray[np.bool_]:
    """Decisions of a random share of the battles: bool (k,)."""
    known = np.unique(battles)
    drawn = np.random.default_rng([seed, 2]).permutation(known)[: round(share * len(known))]
    return np.isin(battles, drawn)


def train(
    settings: Settings, network: PolicyNetwork, examples: Examples, held_out: Examples
) -> tuple[list[float], list[float | None], bool]:
    """Train the network in place.

    Returns:
        Mean cross-entropy of the training examples in each epoch, agreement with the held-out
        ones, and whether Ctrl-C ended the training.
    """
    losses: list[float] = []
    agreements: list[float | None] = []
    inputs = network.encode(examples.observations)
    optimiser = torch.optim.Adam(network.parameters(), settings.learning_rate)
    order = torch.Generator().manual_seed(settings.seed)
    count = len(inputs)
    steps = max(1, settings.epochs * -(-count // settings.batch_size))
    schedule = torch.optim.lr_scheduler.LinearLR(optimiser, 1.0, 0.0, steps)
    with common.progress() as bar, DeferredInterrupt() as interrupt:
        task = bar.add_task("learning", total=settings.epochs, note="")
        for epoch in range(settings.epochs):
            total = 0.0
            for rows in torch.randperm(count, generator=order).split(settings.batch_size):
                log_probs, _ = network.evaluate(inputs[rows], examples.masks[rows])
                loss = nll_loss(log_probs, examples.actions[rows])
                optimiser.zero_grad()
                loss.backward()
                optimiser.step()
                schedule.step()
                total += float(loss.detach()) * len(rows)
            losses.append(total / max(1, count))
            agreements.append(_agreement(network, held_out))
            note = f"loss {losses[-1]:.3f}, agrees {agreements[-1] or 0:.1%}"
            bar.update(task, completed=epoch + 1, note=note)
            if interrupt.requested:
                break
    return losses, agreements, interrupt.requested


def _agreement(network: PolicyNetwork, examples: Examples) -> float | None:
    """Share of the decisions in which the clone's choice is the agent's; None if there are none."""
    if not len(examples.actions):
        return None
    with torch.no_grad():
        log_probs, _ = network(examples.observations, examples.masks)
    return float((log_probs.argmax(1) == examples.actions).float().mean())


def run(settings: Settings, data: Dataset) -> dict[str, Any]:
    """Train, evaluate and write; returns the results."""
    with occupy(settings.out):
        return _run(settings, data)


def _run(settings: Settings, data: Dataset) -> dict[str, Any]:
    torch.manual_seed(settings.seed)
    network = PolicyNetwork(data.env.unwrapped.limits, settings.shape, settings.width)
    examples, held_out = split_examples(data.decisions, settings.held_out, settings.seed)
    began = time.monotonic()
    losses, agreements, interrupted = train(settings, network, examples, held_out)
    seconds = time.monotonic() - began
    general = is_generated(data.scenario)
    agent = NetworkAgent(network, seat_number(data.seat), general=general)
    score = None
    for solution in load_solutions([data.scenario], settings.exact_bytes).values():
        score = solver.normalised_score(solution, agent, data.seat)
    results = {
        "args": common.settings_as_json(settings),
        "interrupted": interrupted,
        "scenario": data.scenario,
        "seat": data.seat,
        "decisions": len(data.decisions.actions),
        "learned_from": len(examples.actions),
        "held_out": len(held_out.actions),
        "agreement": agreements[-1] if agreements else None,
        "curve": {"loss": losses, "agreement": agreements},
        **{name: getattr(score, name, None) for name in ("score", "guaranteed", "optimum")},
        "seconds": round(seconds, 2),
        "versions": {**common.versions(), "minari": version("minari")},
    }
    about = {
        "seat": agent.seat,
        "general": general,
        "scenario": data.scenario,
        "seed": settings.seed,
        "score": results["score"],
        "command": common.command_line(MODULE, settings),
        "versions": results["versions"],
    }
    save_network(network, settings.out / f"{data.seat}.npz", about)
    common.write_results(settings.out, results)
    return results


def main(arguments: Sequence[str] | None = None) -> int:
    """Parse the command line, train, evaluate and write; returns the exit status."""
    settings, switches, parser = common.parse_settings(
        Settings,
        arguments,
        module=MODULE,
        description=__doc__,
        quick=QUICK,
        switches=OVERWRITE,
        usual_out=lambda s: Path("runs") / f"imitate-{s.dataset.replace('/', '-')}",
    )
    positive = ("epochs", "batch_size", "width", "learning_rate", "exact_bytes")
    common.check_positive(parser, settings, positive)
    if not 0.0 <= settings.held_out < 1.0:
        parser.error(f"--held-out: expected a share from 0 to below 1, found {settings.held_out}")

    def work() -> int:
        try:
            if "overwrite" not in switches:
                refuse_other_settings(settings.out, common.settings_as_json(settings), FREE)
            data = read_dataset(settings.dataset)
        except (ValueError, ImportError) as error:
            parser.error(str(error))
        results = run(settings, data)
        score = "none" if results["score"] is None else f"{results['score']:.2f}"
        text = (
            f"{results['seat']} in {results['scenario']}: exact score {score}; learned from "
            f"{results['learned_from']:,} decisions, agrees with {results['agreement'] or 0:.1%} "
            f"of {results['held_out']:,} others"
        )
        return report(results, "json" in switches, text)

    return run_command(MODULE, settings.out, work)


if __name__ == "__main__":
    sys.exit(main())
