"""Learn to play as a data set of battles does: behaviour cloning, without an environment.

    python -m agents.record && python -m agents.imitate
    python -m agents.imitate --dataset wfb_gym/archmage-duel/dispeller-veteran-v0
    python -m agents.imitate --dataset wfb_gym/exploring-v0 --width 192 --epochs 200

Trains a network on a recording of agents/record.py by maximum likelihood of the agent's actions
(cross-entropy over the legal actions). A share of the battles is held out. On these the command
reports how often the network agrees with the agent and, if the data hold exact values, how many
points the network's choices lose. If the scenario can be solved, it reports the exact score of the
clone: 100 is optimal play, 0 random play, each against its best response.

Writes SEAT.npz (`wfb_gym.players.learned.NetworkAgent` plays it) and results.json into the run's
folder. Ctrl-C keeps the network trained so far. Needs the extra `minari`.
"""

from wfb_gym._commands import run_main

if __name__ == "__main__":
    run_main("agents.imitate")

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol, TypeVar

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch.nn.functional import nll_loss

from agents.common import DeferredInterrupt, is_generated, load_solutions, report
from agents.datasets import Dataset, RecordedDecisions, read_dataset, usual_name
from agents.run_folder import OVERWRITE, occupy, refuse_other_settings, run_command
from experiments import command_lines, common
from experiments.progress import progress
from wfb_gym import solver
from wfb_gym.cli.parser import option
from wfb_gym.encoding.limits import Limits
from wfb_gym.players.learned import NetworkAgent
from wfb_gym.players.network import PolicyNetwork, save_network
from wfb_gym.seats import seat_number

MODULE = "agents.imitate"
QUICK = {"dataset": usual_name("apprentice", "caster", "optimal"), "epochs": 3, "width": 32}
"""The data set that `agents.record --quick` records."""
FREE = ("out",)
"""Settings that do not affect learning."""


@dataclass(frozen=True)
class Settings:
    """Settings for a run.

    Attributes:
        dataset: name of the Minari dataset to learn from.
        epochs: passes over the decisions.
        batch_size: decisions of a gradient step.
        learning_rate: learning rate at the beginning; it falls linearly to 0.
        shape: kind of network (see `wfb_gym.players.network`).
        width: width of the hidden layers.
        held_out: share of the battles to hold out.
        seed: seed of the network, and of the order of the decisions.
        exact_bytes: memory limit of the exact solution, in bytes.
        out: folder of the results.
    """

    dataset: str = usual_name("archmage-duel", "caster", "optimal")
    epochs: int = 60
    batch_size: int = 256
    learning_rate: float = 2e-3
    shape: str = option("flat", choices=("flat", "entities"))
    width: int = 96
    held_out: float = 0.1
    seed: int = 0
    exact_bytes: int = 1 << 28
    out: Path = option(Path("runs"), help="(default: runs/imitate-DATASET)")


SettingsT = TypeVar("SettingsT", bound=Settings)


class Loss(Protocol):
    """The loss that a learner minimises over its decisions in a data set."""

    count: int
    """Number of decisions."""

    def __call__(self, rows: Tensor) -> Tensor:
        """Return the mean loss over the decisions with the given numbers, int64 (b,)."""


LossOf = Callable[[SettingsT, PolicyNetwork, RecordedDecisions, NDArray[np.bool_]], Loss]
"""Returns a network's loss over the decisions selected by a mask, bool (k,)."""


class CloningLoss:
    """Cross-entropy with the agent's actions over the legal actions; see `Loss`."""

    def __init__(
        self,
        settings: Settings,
        network: PolicyNetwork,
        decisions: RecordedDecisions,
        rows: NDArray[np.bool_],
    ) -> None:
        rows = rows & has_choice(decisions)
        self.count = int(rows.sum())
        self._network = network
        self._inputs = network.encode(torch.from_numpy(decisions.observations[rows]))
        self._masks = torch.from_numpy(decisions.masks[rows])
        self._actions = torch.from_numpy(decisions.actions[rows])

    def __call__(self, rows: Tensor) -> Tensor:
        log_probs, _ = self._network.evaluate(self._inputs[rows], self._masks[rows])
        return nll_loss(log_probs, self._actions[rows])


def has_choice(decisions: RecordedDecisions) -> NDArray[np.bool_]:
    """Return which decisions have several legal actions, bool (k,). The others teach nothing."""
    several: NDArray[np.bool_] = decisions.masks.sum(1) > 1
    return several


def sample_battles(battles: NDArray[np.int64], share: float, seed: int) -> NDArray[np.bool_]:
    """Return which decisions belong to a random share of the battles, bool (k,)."""
    known = np.unique(battles)
    drawn = np.random.default_rng([seed, 2]).permutation(known)[: round(share * len(known))]
    return np.isin(battles, drawn)


class HeldOut:
    """Held-out decisions, used to evaluate a network's choices."""

    def __init__(self, decisions: RecordedDecisions, rows: NDArray[np.bool_]) -> None:
        rows = rows & has_choice(decisions)
        self.count = int(rows.sum())
        self.played = decisions.played[rows]
        self._observations = torch.from_numpy(decisions.observations[rows])
        self._masks = torch.from_numpy(decisions.masks[rows])
        self._actions = decisions.actions[rows]
        self._values = None if decisions.values is None else decisions.values[rows]

    def choices(self, network: PolicyNetwork) -> NDArray[np.int64]:
        """Return the network's likeliest actions, int64 (k,)."""
        with torch.no_grad():
            log_probs, _ = network(self._observations, self._masks)
        chosen: NDArray[np.int64] = log_probs.argmax(1).numpy()
        return chosen

    def agreement(self, network: PolicyNetwork) -> float | None:
        """Return the share of the agent's choices that it matches, or None without decisions."""
        return float((self.choices(network) == self._actions).mean()) if self.count else None

    def regret(self, actions: NDArray[np.int64]) -> float | None:
        """Return the mean points that actions (k,) lose to the best ones, or None if unknown."""
        if self._values is None or not self.count:
            return None
        own = self._values[np.arange(self.count), actions]
        return float((np.nanmax(self._values, 1) - own).mean())


def _train(
    settings: Settings,
    network: PolicyNetwork,
    loss_of: Loss,
    held_out: HeldOut,
    title: str = "learning",
) -> tuple[list[float], list[float | None], bool]:
    """Train in place, and return losses and agreements by epoch and whether Ctrl-C was pressed."""
    losses: list[float] = []
    agreements: list[float | None] = []
    optimiser = torch.optim.Adam(network.parameters(), settings.learning_rate)
    order = torch.Generator().manual_seed(settings.seed)
    count = loss_of.count
    steps = max(1, settings.epochs * -(-count // settings.batch_size))
    schedule = torch.optim.lr_scheduler.LinearLR(optimiser, 1.0, 0.0, steps)
    with progress() as bar, DeferredInterrupt() as interrupt:
        task = bar.add_task(title, total=settings.epochs, note="")
        for epoch in range(settings.epochs):
            total = 0.0
            for rows in torch.randperm(count, generator=order).split(settings.batch_size):
                loss = loss_of(rows)
                optimiser.zero_grad()
                loss.backward()
                optimiser.step()
                schedule.step()
                total += float(loss.detach()) * len(rows)
            losses.append(total / max(1, count))
            agreements.append(held_out.agreement(network))
            note = f"loss {losses[-1]:.3f}, agrees {agreements[-1] or 0:.1%}"
            bar.update(task, completed=epoch + 1, note=note)
            if interrupt.requested:
                break
    return losses, agreements, interrupt.requested


def learn(
    settings: SettingsT, data: Dataset, make_loss: LossOf[SettingsT], title: str = "learning"
) -> tuple[PolicyNetwork, dict[str, Any]]:
    """Train a network on a data set.

    Args:
        settings: the run's settings.
        data: data set to learn from.
        make_loss: returns the loss to minimise.
        title: title for the progress bar.

    Returns:
        The network, and the results as JSON.
    """
    torch.manual_seed(settings.seed)
    network = PolicyNetwork(data.env.unwrapped.limits, settings.shape, settings.width)
    out = sample_battles(data.decisions.battles, settings.held_out, settings.seed)
    loss_of = make_loss(settings, network, data.decisions, ~out)
    held_out = HeldOut(data.decisions, out)
    began = time.monotonic()
    losses, agreements, interrupted = _train(settings, network, loss_of, held_out, title)
    return network, {
        "interrupted": interrupted,
        "scenario": data.scenario,
        "seat": data.seat,
        "decisions": len(data.decisions.actions),
        "learned_from": loss_of.count,
        "held_out": held_out.count,
        "agreement": agreements[-1] if agreements else None,
        "regret": held_out.regret(held_out.choices(network)),
        "behaviour_regret": held_out.regret(held_out.played),
        "curve": {"loss": losses, "agreement": agreements},
        "seconds": round(time.monotonic() - began, 2),
    }


def player_of(network: PolicyNetwork, data: Dataset) -> NetworkAgent:
    """Return the network as a player for the data set's seat."""
    return NetworkAgent(network, seat_number(data.seat), general=is_generated(data.scenario))


def own_limits(agent: NetworkAgent) -> Limits | None:
    """Return the sizes of a player's observations. None means that it accepts any sizes."""
    return None if agent.sees_positions else agent.limits


def run(
    settings: SettingsT, data: Dataset, module: str, make_loss: LossOf[SettingsT]
) -> dict[str, Any]:
    """Train and evaluate, then write and return the results."""
    network, learned = learn(settings, data, make_loss)
    agent = player_of(network, data)
    score, limits = None, own_limits(agent)
    for solution in load_solutions([data.scenario], settings.exact_bytes).values():
        score = solver.normalised_score(solution, agent, data.seat, limits=limits)
    results = {
        "args": common.settings_as_json(settings),
        **learned,
        **{name: getattr(score, name, None) for name in ("score", "guaranteed", "optimum")},
        "behaviour_score": data.behaviour_score,
        "versions": common.versions(("minari",)),
    }
    about = {
        "seat": agent.seat,
        "general": agent.sees_positions,
        "scenario": data.scenario,
        "seed": settings.seed,
        "score": results["score"],
        "command": command_lines.command_line(module, settings),
        "versions": results["versions"],
    }
    save_network(network, settings.out / f"{data.seat}.npz", about)
    common.write_results(settings.out, results)
    return results


def main(arguments: Sequence[str] | None = None) -> int:
    """Parse the command line, train, evaluate, write the results and return the exit status."""
    return run_learner(arguments, Settings, MODULE, __doc__, QUICK, CloningLoss)


def run_learner(
    arguments: Sequence[str] | None,
    kind: type[SettingsT],
    module: str,
    description: str | None,
    quick: Mapping[str, Any],
    make_loss: LossOf[SettingsT],
) -> int:
    """Run a command that learns from a data set, and return the exit status."""
    settings, switches, parser = common.parse_settings(
        kind,
        arguments,
        module=module,
        description=description,
        quick=quick,
        switches=OVERWRITE,
        usual_out=lambda s: (
            Path("runs") / f"{module.rpartition('.')[2]}-{s.dataset.replace('/', '-')}"
        ),
    )
    positive = ("epochs", "batch_size", "width", "learning_rate", "exact_bytes")
    common.check_signs(parser, settings, positive)
    if not 0.0 <= settings.held_out < 1.0:
        parser.error(f"--held-out: expected a share from 0 to below 1, found {settings.held_out}")

    def work() -> int:
        try:
            if "overwrite" not in switches:
                refuse_other_settings(settings.out, common.settings_as_json(settings), FREE)
            data = read_dataset(settings.dataset)
        except (ValueError, ImportError) as error:
            parser.error(str(error))
        with occupy(settings.out):
            results = run(settings, data, module, make_loss)
        score = "none" if results["score"] is None else f"{results['score']:.2f}"
        text = (
            f"{results['seat']} in {results['scenario']}: exact score {score}; learned from "
            f"{results['learned_from']:,} decisions, agrees with {results['agreement'] or 0:.1%} "
            f"of {results['held_out']:,} others"
        )
        if results["regret"] is not None:
            text += f", at each of which it gives away {results['regret']:.2f} points"
        return report(results, "json" in switches, text)

    return run_command(module, settings.out, work)
