"""The student network and its training: gradient steps and checkpoints."""

import math
import os
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from agents.checkpoints import NAME as CHECKPOINT
from agents.checkpoints import (
    CheckpointError,
    check_alike,
    check_generator,
    check_number,
    check_optimiser,
    optimiser_state,
    restore_optimiser,
    save_checkpoint,
)
from agents.distillation.targets import TargetSet
from experiments import common
from experiments.workers import RAY
from wfb_gym.cli.parser import option
from wfb_gym.encoding.limits import SWITCHES, ArmyLimits, Limits
from wfb_gym.files import wrap_read_errors
from wfb_gym.generating import ALL_KINDS, KINDS
from wfb_gym.players.network import ILLEGAL_LOGIT, PolicyNetwork, load_network
from wfb_gym.scenario.errors import printable, shortened
from wfb_gym.scenario.sizes import DICE

_ARMY = ArmyLimits(wizards=5, spells=9, items=4, units=10, comet_points=0)
LIMITS = Limits(_ARMY, _ARMY, dice=DICE, contacts=10, **dict.fromkeys(SWITCHES, True))
"""Sizes of the network's inputs. They fit all kinds of generated scenarios and most bundled
ones."""
_SMALL_ERROR = 0.05
"""Value error, in the unit of points, below which the loss is quadratic rather than linear."""
_CENTRED = 1e-4
"""Weight of a penalty that keeps logits near 0, where bfloat16 is precise. Softmax is
unaffected."""
_PRECISIONS = ("float32", "tf32", "bfloat16")
_BEFORE_RECORDING = 20
"""Warm-up gradient steps on a GPU before a step is captured as a CUDA graph."""
_SHOWN_AT_ONCE = 1 << 14
"""Number of decisions to encode at once."""
REPORTED = 200
"""Gradient steps between two points on the curve."""


@dataclass(frozen=True)
class Settings:
    """Settings for a run.

    Attributes:
        scenarios: scenarios of the train split to learn from; about two thirds have targets.
        steps: gradient steps.
        first: number of the first scenario to learn from.
        start_from: file of a network to continue training, which ignores `width`; none: a new one.
        out: folder of the results.
        targets: folder of the targets, which runs of the same kinds share.
        kind: kinds of scenarios to learn from and to grade in.
        seed: seed of the network and of the batches.
        width: width of the hidden layers.
        batch_size: decisions of a gradient step.
        learning_rate: learning rate at the beginning; it falls to 0 as a cosine.
        temperature: temperature of the softmax over exact values, in stakes of the decision.
        least_stake: lower bound of a decision's stake, as a share of its scenario's greatest stake.
        regret: weight of the expected regret, in temperatures; the cross-entropy has weight 1.
        value_weight: weight of the value loss; the policy loss has weight 1.
        max_grad_norm: maximum norm of a gradient.
        decisions: maximum number of decisions of a seat in a scenario, spread over all its
            positions.
        visited: maximum number of additional decisions, drawn as often as nearly optimal play
            visits them.
        train_bytes: memory limit of a scenario to learn from.
        test_bytes: memory limit of a scenario of the grading.
        graded: scenarios of the test split to grade in.
        workers: scenarios solved in parallel on this machine.
        threads: threads of torch.
        precision: precision of matrix products: bfloat16 is nearly twice as fast on a processor
            with instructions for it; tf32 is faster on a GPU.
        device: device of the network; cuda holds all decisions, 5 kB each, in GPU memory.
        checkpoint_seconds: seconds between two checkpoints.
    """

    scenarios: int = 9000
    steps: int = 18000
    first: int = 0
    start_from: str = ""
    out: Path = Path("runs/distil")
    targets: Path = Path("runs/targets")
    kind: tuple[str, ...] = option(tuple(KINDS), choices=tuple(ALL_KINDS), metavar="KIND")
    seed: int = 0
    width: int = 96
    batch_size: int = 512
    learning_rate: float = 1e-3
    temperature: float = 0.05
    least_stake: float = 0.1
    regret: float = 0.3
    value_weight: float = 1.5
    max_grad_norm: float = option(1.0, aliases=("--max-norm",))
    decisions: int = 512
    visited: int = 0
    train_bytes: int = 6 << 20
    test_bytes: int = 16 << 20
    graded: int = 200
    workers: int = 2
    ray: str = option("", **RAY)
    threads: int = 1
    precision: str = option("float32", choices=_PRECISIONS)
    device: str = option("cpu", choices=("cpu", "cuda"))
    checkpoint_seconds: float = 60.0


class Student:
    """The network in training, with a curve of the mean regret of its likeliest actions."""

    def __init__(self, settings: Settings, targets: TargetSet) -> None:
        torch.manual_seed(settings.seed)
        self.settings, self.targets = settings, targets
        self.before: dict[str, Any] = {}  # metadata from the network in `start_from`
        if settings.start_from:
            network, self.before = load_start(settings)
        else:
            network = PolicyNetwork(targets.views[0].limits, "entities", settings.width)
        self.network = network.to(settings.device)
        on_gpu = settings.device != "cpu"
        if settings.precision == "tf32":
            torch.set_float32_matmul_precision("high")
        self.rate: float | Tensor = settings.learning_rate
        if on_gpu:  # a tensor, because a replayed CUDA graph reads the rate from memory
            self.rate = torch.tensor(self.rate, device=settings.device)
        self.optimiser = torch.optim.Adam(
            self.network.parameters(), self.rate, eps=1e-5, capturable=on_gpu
        )
        self.stored = StoredDecisions(targets, settings.device) if on_gpu else None
        self.seconds, self.steps = 0.0, 0
        self.curve: list[dict[str, float]] = []
        self.recent: list[Tensor] = []  # regrets since the last point on the curve

    @property
    def learned_from(self) -> int:
        """Number of decisions in all gradient steps so far."""
        return self.steps * self.settings.batch_size

    def update(self) -> None:
        """Take a gradient step and record its regret in units of the decisions' stakes."""
        began = time.perf_counter()
        settings = self.settings
        done = self.steps / settings.steps
        rate = 0.5 * settings.learning_rate * (1.0 + math.cos(math.pi * done))
        self._set_rate(max(rate, 1e-5))
        decisions = self.targets.draw(settings.batch_size)
        if self.stored is None:
            regret = self.learn_from(*map(torch.from_numpy, self.targets.show(decisions)))
        else:
            regret = self.stored.learn_from(decisions, self)
        self.recent.append(regret)
        self.steps += 1
        if len(self.recent) == REPORTED or self.steps == settings.steps:
            mean = float(torch.stack(self.recent).double().mean())
            self.curve.append({"steps": self.steps, "regret": mean})
            self.recent = []
        self.seconds += time.perf_counter() - began

    def _set_rate(self, rate: float) -> None:
        if isinstance(self.rate, Tensor):
            self.rate.fill_(rate)
        else:
            self.rate = rate
        self.optimiser.param_groups[0]["lr"] = self.rate

    def learn_from(
        self, observations: Tensor, masks: Tensor, points: Tensor, stakes: Tensor, most: Tensor
    ) -> Tensor:
        """Take a gradient step on a `Batch` and return the mean regret, a scalar."""
        settings = self.settings
        fast = settings.precision == "bfloat16"
        with torch.autocast(settings.device, torch.bfloat16, enabled=fast):
            logits, values = self.network.body(self.network.encode(observations))
        logits = logits.float().masked_fill(~masks, ILLEGAL_LOGIT)
        total = logits.logsumexp(1, keepdim=True)
        log_probs = logits - total
        best = points.amax(1, keepdim=True)
        about = torch.maximum(stakes, settings.least_stake * most)[:, None]
        # regrets and softmax are in units of the decision's stake, bounded from below
        regrets = ((best - points) / about).masked_fill(~masks, 0.0)
        wanted = torch.softmax((points - best) / about / settings.temperature, 1)
        cross_entropy = -(wanted * log_probs).sum(1)
        regret = (log_probs.exp() * regrets).sum(1) / settings.temperature
        matters = (stakes > 0).float()
        policy_loss = ((cross_entropy + settings.regret * regret) * matters).mean()
        unit = self.network.value_unit(observations)
        values = values * self.network.greatest_spell_value(observations) / unit
        wanted_value = best[:, 0] / (100.0 * unit)
        value_loss = nn.functional.smooth_l1_loss(values, wanted_value, beta=_SMALL_ERROR)
        loss = policy_loss + settings.value_weight * value_loss + _CENTRED * total.square().mean()
        self.optimiser.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(self.network.parameters(), settings.max_grad_norm)
        self.optimiser.step()
        likeliest = log_probs.detach().argmax(1, keepdim=True)
        return regrets.gather(1, likeliest).mean()

    def save(self) -> None:
        """Write a checkpoint into the run's folder."""
        state = {
            "settings": common.settings_as_json(self.settings),
            "network": self.network.state_dict(),
            "optimiser": {"state": optimiser_state(self.optimiser)},
            "rng": self.targets.rng.bit_generator.state,
            "counts": (self.seconds, self.steps),
            "curve": self.curve,
            "recent": [float(regret) for regret in self.recent],
        }
        save_checkpoint(self.settings.out, state)

    def set_state(self, state: dict[str, Any]) -> None:
        """Restore a state written by `save`.

        Raises:
            CheckpointError: if the state does not belong to this run. Nothing is changed.
        """
        with wrap_read_errors(
            self.settings.out / CHECKPOINT, "the state of this run", CheckpointError
        ):
            self._check_state(state)
        self.network.load_state_dict(state["network"])
        restore_optimiser(self.optimiser, state["optimiser"]["state"])
        self.targets.rng.bit_generator.state = state["rng"]
        self.seconds, self.steps = state["counts"]
        self.curve = state["curve"]
        self.recent = list(torch.tensor(state["recent"], device=self.settings.device))

    def _check_state(self, state: dict[str, Any]) -> None:
        """Raise an error, usually a ValueError, unless the run can continue from a state."""
        check_alike("network", state["network"], self.network.state_dict())
        moments, parameters = state["optimiser"]["state"], list(self.network.parameters())
        check_optimiser("optimiser.state", moments, parameters)
        check_generator("rng", state["rng"], self.targets.rng)
        check_alike("counts", state["counts"], (0.0, 0))
        check_alike("curve", state["curve"], [{"steps": 0, "regret": 0.0}] * len(state["curve"]))
        check_alike("recent", state["recent"], [0.0] * len(state["recent"]))
        for k, number in enumerate((*state["counts"], *state["recent"])):
            check_number(f"counts and recent [{k}]", number)


def load_start(settings: Settings) -> tuple[PolicyNetwork, dict[str, Any]]:
    """Load the network in `start_from` and its metadata.

    Raises:
        FileNotFoundError: if the file is missing.
        ValueError: if the file is corrupt, or its input sizes differ from these targets' sizes.
    """
    network, about = load_network(settings.start_from)
    if network.shape != "entities" or network.limits != LIMITS:
        raise ValueError(
            f"{settings.start_from}: expected a network of agents.distil, found a network "
            f"of {shortened(printable(str(about.get('scenario'))), 60)}"
        )
    return network, about


class StoredDecisions:
    """All decisions, encoded for their seats, in GPU memory.

    A gradient step on a GPU consists of about a thousand small kernels, which take longer to launch
    than to run. So one step is captured as a CUDA graph and replayed with different decisions.
    """

    def __init__(self, targets: TargetSet, device: str) -> None:
        count = targets.decisions
        like = map(torch.from_numpy, targets.show(np.zeros(1, np.int64)))
        self.batch = [
            torch.empty((count, *one.shape[1:]), dtype=one.dtype, device=device) for one in like
        ]

        def store(first: int) -> None:
            numbers = np.arange(first, min(first + _SHOWN_AT_ONCE, count))
            for stored, shown in zip(self.batch, targets.show(numbers), strict=True):
                stored[first : first + len(numbers)] = torch.from_numpy(shown)

        with ThreadPoolExecutor(os.cpu_count()) as threads:
            list(threads.map(store, range(0, count, _SHOWN_AT_ONCE)))
        self.decisions = torch.zeros(0, dtype=torch.long, device=device)
        self.regret = torch.zeros((), device=device)
        self.taken = 0

    def learn_from(self, decisions: NDArray[np.int64], student: Student) -> Tensor:
        """Take a gradient step and return the mean regret, a scalar."""
        if not self.taken:
            self.decisions = torch.from_numpy(decisions).to(self.decisions.device)
            self.stream, self.step = torch.cuda.Stream(), torch.cuda.CUDAGraph()
        self.decisions.copy_(torch.from_numpy(decisions))
        if self.taken < _BEFORE_RECORDING:
            self.stream.wait_stream(torch.cuda.current_stream())
            with torch.cuda.stream(self.stream):
                self._step(student)
            torch.cuda.current_stream().wait_stream(self.stream)
        else:
            if self.taken == _BEFORE_RECORDING:
                student.optimiser.zero_grad()
                with torch.cuda.graph(self.step, stream=self.stream):  # records without running
                    self._step(student)
            self.step.replay()
        self.taken += 1
        return self.regret.clone()

    def _step(self, student: Student) -> None:
        self.regret = student.learn_from(*(each[self.decisions] for each in self.batch))
