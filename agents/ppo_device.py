"""Train one seat with PPO on a GPU: environments, rollouts, network and updates stay there.

    python -m agents.ppo_device
    python -m agents.ppo_device --device cpu
    python -m agents.ppo_device --seat dispeller --opponent veteran --num-envs 65536
    python -m agents.ppo_device --scenario generated-phase --shape entities --steps 500000000
    python -m agents.ppo_device --until 99 --report seconds.json

Proximal policy optimisation (Schulman et al. 2017) on `wfb_gym.device.batch.DeviceBatch`: settings,
environments, rollout, advantages, updates and the training loop are in this file, in this order.
Network, loss, files and grading are the same as in `agents.train_fast`, so scores are comparable.
Here, only one seat learns, against scripted opponents.

- A step of all environments is one kernel. Rollouts are written to tensors that are allocated once,
  and a CUDA graph plays a whole rollout with one call.
- During a rollout, no number is copied to the CPU. An update copies a few, for the progress line.
- ``--environment cpu`` is the baseline: the vector environment on the CPU, with observations and
  actions copied from and to the network's device.
- ``--device cpu`` runs everything on the CPU, including the kernel. It is for tests.

The run's folder gets caster.npz or dispeller.npz, results.json, figures, and a checkpoint for
--resume, as described in `agents.train_fast`. --report writes the speed to a file as JSON. On a
CPU, a resumed run gives the same network as an uninterrupted one, to the byte.
"""

from wfb_gym._commands import run_main

if __name__ == "__main__":
    run_main("agents.ppo_device")

import statistics
import sys
import time
from collections.abc import Collection, Sequence
from contextlib import AbstractContextManager, nullcontext
from copy import deepcopy
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar, NamedTuple, Protocol

import gymnasium as gym
import torch
from torch import Tensor

from agents.checkpoints import NAME as CHECKPOINT
from agents.checkpoints import (
    CheckpointError,
    check_alike,
    check_number,
    check_optimiser,
    check_torch_generator,
    optimiser_state,
    restore_optimiser,
    save_checkpoint,
)
from agents.common import (
    MIXED,
    DeferredInterrupt,
    DivergenceError,
    is_generated,
    opponent_pool,
    report,
)
from agents.run_folder import OVERWRITE, run_command, write_or_warn
from agents.self_play import runs
from agents.self_play.grading import grade
from agents.self_play.trainer_state import check_curve, digest_scenarios
from agents.train_fast import (
    SEED_SPACING,
    TRAINING_SEED,
    TrainingBatch,
    learning_rate_at,
    new_optimiser,
    ppo_loss,
    sample_actions,
)
from experiments import common
from experiments.progress import progress
from wfb_gym.cli.parser import option
from wfb_gym.device.batch import DeviceBatch, DeviceStep
from wfb_gym.device.lowering import KernelError
from wfb_gym.envs.batch import Batch
from wfb_gym.files import wrap_read_errors
from wfb_gym.opponents.policy_spec import PolicySpec
from wfb_gym.players.learned import NetworkAgent
from wfb_gym.players.network import PolicyNetwork
from wfb_gym.seats import SEATS, seat_number
from wfb_gym.solver import Solution

ENVIRONMENTS = ("device", "cpu")


@dataclass(frozen=True)
class Settings:
    """Settings for a run.

    Attributes:
        scenario: bundled names or files, played in turn, or the name of a kind of generated
            scenarios.
        seat: seat of the learner.
        opponent: scripted players; each episode draws one; mixed: optimal:0.1 if all scenarios are
            solved, otherwise veteran, greedy and random.
        device: device of the network and the environments: cuda, cuda:1 and so on, or cpu.
        environment: where the environments run: on the device, or on the CPU's cores.
        no_graph: start each kernel of a rollout separately instead of with a CUDA graph.
        bfloat16: compute the network's layers in bfloat16; only with CUDA.
        steps: decisions of the learner in total.
        until: end when the exact score reaches this value at a point of the learning curve.
        seed: seed of network, sampling and dice.
        out: folder of the results.
        report: file for the speed, as JSON.
        shape: kind of network (see `wfb_gym.players.network`).
        width: width of the hidden layers.
        num_envs: environments in parallel.
        rollout: decisions in each environment between two updates.
        batch_size: decisions of a gradient step.
        epochs: passes over the decisions of an update.
        learning_rate: learning rate at the beginning; it falls linearly to 1 % of that.
        gamma: discount of points, for each decision.
        gae_lambda: lambda of generalised advantage estimation (Schulman et al. 2016).
        clip_range: maximum deviation of the probability ratio from 1 in an update.
        entropy_coefficient: weight of the entropy bonus at the beginning; 0: no bonus.
        final_entropy_coefficient: weight of the entropy bonus at the end.
        max_grad_norm: maximum norm of a gradient.
        evaluations: points of the learning curve after the first.
        exact_bytes: memory limit of the exact solution, in bytes.
        checkpoint_seconds: seconds between two checkpoints.
    """

    module: ClassVar[str] = "agents.ppo_device"
    method: ClassVar[str] = "PPO"
    exploration_weight: ClassVar[float] = 0.0  # every action is the policy's own
    scenario: tuple[str, ...] = ("archmage-duel",)
    seat: str = option(SEATS[0], choices=SEATS)
    opponent: tuple[str, ...] = (MIXED,)
    device: str = "cuda"
    environment: str = option(ENVIRONMENTS[0], choices=ENVIRONMENTS)
    no_graph: bool = False
    bfloat16: bool = False
    steps: int = 4_000_000
    until: float | None = None
    seed: int = 0
    out: Path = option(Path("runs"), help="(default: runs/SCENARIO-SEAT-device)")
    report: Path | None = None
    shape: str = option("flat", choices=("flat", "entities"))
    width: int = 96
    num_envs: int = 2048
    rollout: int = 16
    batch_size: int = 2048
    epochs: int = 2
    learning_rate: float = 3e-3
    gamma: float = 1.0
    gae_lambda: float = 0.95
    clip_range: float = 0.2
    entropy_coefficient: float = 0.3
    final_entropy_coefficient: float = 0.02
    max_grad_norm: float = 0.5
    evaluations: int = 20
    exact_bytes: int = 1 << 28
    checkpoint_seconds: float = 60.0

    @property
    def free(self) -> frozenset[str]:
        """Names of the settings that affect neither the training nor the points on the curve."""
        return frozenset({"out", "report", "exact_bytes", "checkpoint_seconds", "no_graph"})


QUICK = {
    "steps": 4096, "num_envs": 64, "rollout": 8, "batch_size": 128, "evaluations": 2, "width": 32,
}  # fmt: skip
POSITIVE = (
    "steps", "num_envs", "rollout", "batch_size", "epochs", "width", "evaluations", "exact_bytes",
)  # fmt: skip


class Environments(Protocol):
    """Environments that take and return tensors: a `DeviceBatch` or `CpuEnvironments`."""

    host: Batch

    def reset(self, seeds: Sequence[int | None] = ()) -> DeviceStep:
        """Start new episodes."""

    def step(self, actions: Tensor) -> DeviceStep:
        """Play an action in each environment. The next step may overwrite the results."""

    def check(self) -> None:
        """Wait for the device, and raise an error if a step failed."""

    def get_state(self) -> dict[str, Any]:
        """Return the state of all environments."""

    def set_state(self, state: dict[str, Any]) -> DeviceStep:
        """Restore a state."""


class CpuEnvironments:
    """The vector environment on the CPU's cores. Tensors are copied from and to the device.

    Args:
        device: the network's device.
        seat: the learner's seat.
        arguments: arguments to `gymnasium.make_vec`.
    """

    def __init__(self, device: torch.device, seat: str, **arguments: Any) -> None:
        self.device = device
        options: Any = {"copy": False, "final_infos": False, **arguments}
        envs: Any = gym.make_vec(common.IDS[seat], **options)
        self.envs, self.host = envs, envs.batch

    def _as_tensors(self, observations: Any, rewards: Any, ended: Any) -> DeviceStep:
        arrays = (observations, self.host.action_mask, rewards, ended)
        placed = [torch.from_numpy(each).to(self.device) for each in arrays]
        unused = torch.zeros(0)
        return DeviceStep._make([*placed, unused, unused])

    def _as_results(self, observations: Any) -> DeviceStep:
        zeros = torch.zeros(len(observations))
        return self._as_tensors(observations, zeros.numpy(), zeros.bool().numpy())

    def reset(self, seeds: Sequence[int | None] = ()) -> DeviceStep:
        """Start new episodes."""
        return self._as_results(self.envs.reset(seed=list(seeds) or None)[0])

    def step(self, actions: Tensor) -> DeviceStep:
        """Play an action in each environment."""
        observations, rewards, ended, _, _ = self.envs.step(actions.cpu().numpy())
        return self._as_tensors(observations, rewards, ended)

    def check(self) -> None:
        """Wait for the device."""
        if self.device.type == "cuda":
            torch.cuda.synchronize(self.device)

    def get_state(self) -> dict[str, Any]:
        """Return the state of all environments."""
        state: dict[str, Any] = self.envs.get_state()
        return state

    def set_state(self, state: dict[str, Any]) -> DeviceStep:
        """Restore a state."""
        return self._as_results(self.envs.set_state(state)[0])


def make_environments(settings: Settings, opponents: Sequence[str]) -> Environments:
    """Return the environments of a run."""
    names = settings.scenario
    scenario: Any = names if len(names) > 1 else names[0]
    if settings.environment == "cpu":
        return CpuEnvironments(
            torch.device(settings.device), settings.seat, num_envs=settings.num_envs,
            scenario=scenario, opponent=list(opponents),
        )  # fmt: skip
    return DeviceBatch(
        settings.num_envs, scenario, list(opponents), seat=seat_number(settings.seat),
        device=settings.device,
    )  # fmt: skip


class DeviceRollout(NamedTuple):
    """Several steps of n environments, on the device. Each rollout overwrites the last one."""

    observations: Tensor  # float32 (steps, n, size)
    masks: Tensor  # legal actions, bool (steps, n, actions)
    actions: Tensor  # int64 (steps, n)
    log_probs: Tensor  # of the actions, float32 (steps, n)
    values: Tensor  # the critic's, float32 (steps + 1, n)
    rewards: Tensor  # in the unit of values, float32 (steps, n)
    ended: Tensor  # whether the action ended the episode, bool (steps, n)


def new_rollout(steps: int, now: DeviceStep) -> DeviceRollout:
    """Return tensors for a rollout of environments with these results of a step."""

    def empty(length: int, like: Tensor, dtype: torch.dtype = torch.float32) -> Tensor:
        return torch.zeros((length, *like.shape), dtype=dtype, device=like.device)

    return DeviceRollout(
        observations=empty(steps, now.observations),
        masks=empty(steps, now.action_mask, torch.bool),
        actions=empty(steps, now.rewards, torch.int64),
        log_probs=empty(steps, now.rewards),
        values=empty(steps + 1, now.rewards),
        rewards=empty(steps, now.rewards),
        ended=empty(steps, now.rewards, torch.bool),
    )


def generalised_advantages(rollout: DeviceRollout, gae_lambda: float, gamma: float) -> Tensor:
    """Return generalised advantage estimates (GAE), float32 (steps, n).

    `agents.train_fast.compute_advantages` computes the same on the CPU.
    """
    values, rewards = rollout.values, rollout.rewards
    advantages = torch.empty_like(rewards)
    later = torch.zeros_like(rewards[0])
    continues = (~rollout.ended).float()
    for step in range(len(rewards) - 1, -1, -1):
        error = rewards[step] + gamma * continues[step] * values[step + 1] - values[step]
        later = error + gamma * gae_lambda * continues[step] * later
        advantages[step] = later
    return advantages


class DeviceTrainer:
    """The environments and the learner of one seat.

    Attributes:
        frames: decisions played.
        learned: decisions learned from: those with several legal actions.
        seconds: duration of the training so far, without grading.
        curve: points on the learning curve so far.
        times: seconds of playing and of learning in each update of this process.
    """

    def __init__(self, settings: Settings, opponents: Sequence[str]) -> None:
        self.settings, self.opponents = settings, list(opponents)
        self.device = torch.device(settings.device)
        if self.device.type == "cuda" and self.device.index is not None:
            torch.cuda.set_device(self.device)  # for streams and graphs
        self.environments = make_environments(settings, opponents)
        host = self.environments.host
        self.seat = host.seat
        torch.manual_seed(settings.seed)  # for the network, and for sampling on the device
        self._cpu_network = PolicyNetwork(host.limits, settings.shape, settings.width)
        general = host.redraw or len(host.scenarios) > 1
        self._agent = NetworkAgent(self._cpu_network, self.seat, general=general)
        self.network = deepcopy(self._cpu_network).to(self.device)
        self.optimiser = new_optimiser(list(self.network.parameters()), settings)
        self.frames = self.learned = 0
        self.seconds = 0.0
        self.curve: list[dict[str, Any]] = []
        self.times: list[tuple[float, float]] = []
        self.note = ""
        first = TRAINING_SEED + SEED_SPACING * settings.seed
        self.now = self.environments.reset(list(range(first, first + settings.num_envs)))
        self.rollout = new_rollout(settings.rollout, self.now)
        is_on_gpu = self.device.type == "cuda" and settings.environment == "device"
        self._uses_graph = is_on_gpu and not settings.no_graph
        self._graph: torch.cuda.CUDAGraph | None = None

    @property
    def learners(self) -> tuple["DeviceTrainer"]:
        """The only learner, for `agents.self_play.grading`."""
        return (self,)

    @property
    def agent(self) -> NetworkAgent:
        """An agent that plays with a copy of the network on the CPU."""
        self._cpu_network.load_state_dict(self.network.state_dict())
        return self._agent

    @property
    def progress(self) -> float:
        """Completed share of the training, 0 to 1."""
        return min(1.0, self.frames / self.settings.steps)

    @property
    def score(self) -> float | None:
        """The exact score at the last point on the curve."""
        found: float | None = self.curve[-1]["scores"].get(SEATS[self.seat])
        return found

    @property
    def has_reached(self) -> bool:
        """Whether the last point on the curve has the score at which to end."""
        if self.settings.until is None or not self.curve:
            return False
        return self.score is not None and self.score >= self.settings.until

    @property
    def measurements(self) -> dict[str, Any]:
        """Speed, in steps of all environments per second; see `median_speed`."""
        return {
            "device": self.device_name,
            "opponents": self.opponents,
            "steps_per_second": self.median_speed(),
            "reached": self.has_reached,
        }

    @property
    def device_name(self) -> str:
        """The name of the GPU, or "cpu"."""
        return torch.cuda.get_device_name(self.device) if self.device.type == "cuda" else "cpu"

    def median_speed(self) -> dict[str, int]:
        """Return steps per second of a median update: playing, learning, and both in total.

        The first two updates are slower, because CUDA loads kernels and records the graph. They do
        not count if there are more.
        """
        steps = self.settings.rollout * self.settings.num_envs
        times = self.times[2:] or self.times
        columns = (*zip(*times, strict=True), [sum(each) for each in times]) if times else ()
        names = ("playing", "learning", "total")
        return {
            name: round(steps / max(statistics.median(column), 1e-9))
            for name, column in zip(names, columns, strict=False)
        }

    def update(self) -> None:
        """Play a rollout, and update the network with it."""
        began = time.perf_counter()
        self._play()
        self.environments.check()  # waits for the device
        played = time.perf_counter()
        self._learn()
        self.frames += self.settings.rollout * self.settings.num_envs
        ended = time.perf_counter()
        self.times.append((played - began, ended - played))
        self.seconds += ended - began

    def _play(self) -> None:
        """Collect a rollout. With a GPU, the first one is a warm-up, and the second is recorded."""
        if not self._uses_graph:
            self._collect()
            return
        if self._graph is None and not self.times:
            # libraries allocate memory at the first use, which a graph cannot record
            side, main = torch.cuda.Stream(), torch.cuda.current_stream()
            side.wait_stream(main)
            with torch.cuda.stream(side):
                self._collect()
            main.wait_stream(side)
            return
        if self._graph is None:
            graph = torch.cuda.CUDAGraph()
            with torch.cuda.graph(graph):  # records without playing
                self._collect()
            self._graph = graph
        self._graph.replay()

    def _autocast(self) -> AbstractContextManager[Any]:
        if not self.settings.bfloat16:
            return nullcontext()
        # a graph must not keep copies of the weights
        return torch.autocast("cuda", torch.bfloat16, cache_enabled=False)

    def _evaluate(self, observations: Tensor, masks: Tensor) -> tuple[Tensor, Tensor]:
        """Return log-probabilities and values, both float32."""
        with self._autocast():
            log_probs, values = self.network(observations, masks)
        return log_probs.float(), values.float()

    @torch.no_grad()
    def _collect(self) -> None:
        """Play a rollout. Everything stays on the device, and nothing waits for it."""
        rollout = self.rollout
        for step in range(self.settings.rollout):
            observations, masks = self.now.observations, self.now.action_mask
            rollout.observations[step] = observations
            rollout.masks[step] = masks
            log_probs, values = self._evaluate(observations, masks)
            actions = sample_actions(log_probs, torch.rand_like(log_probs))
            rollout.actions[step] = actions
            rollout.log_probs[step] = log_probs.gather(1, actions[:, None])[:, 0]
            rollout.values[step] = values
            unit = self.network.greatest_spell_value(observations)
            self.now = self.environments.step(actions)
            rollout.rewards[step] = self.now.rewards / unit
            rollout.ended[step] = self.now.terminations
        rollout.values[-1] = self._evaluate(self.now.observations, self.now.action_mask)[1]

    def _learn(self) -> None:
        """Take the gradient steps of an update.

        Raises:
            DivergenceError: if the network has returned NaN or infinity.
        """
        settings, rollout = self.settings, self.rollout
        advantages = generalised_advantages(rollout, settings.gae_lambda, settings.gamma)
        returns = advantages + rollout.values[:-1]
        rows = (rollout.masks.sum(-1) > 1).flatten().nonzero()[:, 0]
        if len(rows) > 1:
            deviation = advantages.flatten()[rows].std(correction=0) + 1e-8
            batch = TrainingBatch(
                rollout.observations, rollout.masks, rollout.actions, rollout.log_probs,
                torch.zeros_like(rollout.ended), advantages / deviation, returns,
            )  # fmt: skip
            self._take_steps(TrainingBatch(*(each.flatten(0, 1) for each in batch)), rows)
            self.learned += len(rows)
        points = 100.0 * self._points_per_episode()
        is_finite = rollout.values.isfinite().all() & rollout.log_probs.isfinite().all()
        mean_points, finite = torch.stack([points, is_finite.float()]).tolist()
        if not finite:
            raise DivergenceError(
                f"network of the {SEATS[self.seat]}: expected finite outputs, found others; the "
                "training has diverged (try a lower learning rate)"
            )
        self.note = f"{mean_points:+.1f} points"

    def _points_per_episode(self) -> Tensor:
        """Return the rollout's rewards per ended episode."""
        units = self.network.greatest_spell_value(self.rollout.observations.flatten(0, 1))
        rewards = self.rollout.rewards * units.view_as(self.rollout.rewards)
        return rewards.sum() / self.rollout.ended.sum().clamp_min(1)

    def _take_steps(self, batch: TrainingBatch, rows: Tensor) -> None:
        """Learn from some rows of a batch, several times, in random order."""
        settings, count = self.settings, len(rows)
        for group in self.optimiser.param_groups:
            group["lr"] = learning_rate_at(settings, self.progress)
        steps = max(1, round(count / settings.batch_size))
        for _ in range(settings.epochs):
            order = rows[torch.randperm(count, device=self.device)]
            for part in order.tensor_split(steps):
                minibatch = TrainingBatch(*(column[part] for column in batch))
                outputs = self._evaluate(minibatch.inputs, minibatch.masks)
                loss = ppo_loss(*outputs, minibatch, settings, self.progress)
                self.optimiser.zero_grad(set_to_none=False)
                (loss * (steps / count)).backward()
                torch.nn.utils.clip_grad_norm_(self.network.parameters(), settings.max_grad_norm)
                self.optimiser.step()

    # --- checkpoints ---------------------------------------------------------------------------

    def get_state(self) -> dict[str, Any]:
        """Return everything that the next updates depend on."""
        on_gpu = self.device.type == "cuda"
        rng = torch.cuda.get_rng_state(self.device) if on_gpu else torch.get_rng_state()
        return {
            "network": self.network.state_dict(),
            "optimiser": optimiser_state(self.optimiser),
            "rng": rng,
            "environments": self.environments.get_state(),
            "counts": (self.frames, self.learned, self.seconds),
        }

    def save(self) -> None:
        """Write a checkpoint into the run's folder."""
        state = {
            "settings": common.settings_as_json(self.settings),
            "scenarios": digest_scenarios(self.environments.host.packed_scenarios),
            "curve": self.curve,
            "trainer": self.get_state(),
        }
        save_checkpoint(self.settings.out, state)

    def restore(self, checkpoint: dict[str, Any]) -> None:
        """Continue from a checkpoint with the same settings and scenarios.

        Raises:
            CheckpointError: if the checkpoint does not fit this run.
        """
        path = self.settings.out / CHECKPOINT
        with wrap_read_errors(path, "the state of this run", CheckpointError):
            state = checkpoint["trainer"]
            own = self.get_state()
            unlike = {name: state[name] for name in ("optimiser", "environments")}
            check_alike("trainer", state, own | unlike)
            parameters = list(self.network.parameters())
            check_optimiser("trainer.optimiser", state["optimiser"], parameters)
            if self.device.type == "cpu":
                check_torch_generator("trainer.rng", state["rng"], torch.default_generator)
            for number in state["counts"]:
                check_number("trainer.counts", number)
            check_curve(checkpoint["curve"])
            self.now = self.environments.set_state(state["environments"])
        self.network.load_state_dict(state["network"])
        restore_optimiser(self.optimiser, state["optimiser"])
        if self.device.type == "cuda":
            torch.cuda.set_rng_state(state["rng"], self.device)
        else:
            torch.set_rng_state(state["rng"])
        self.frames, self.learned, self.seconds = state["counts"]
        self.curve[:] = checkpoint["curve"]


def train_on_device(
    settings: Settings,
    solutions: Collection[Solution],
    checkpoint: dict[str, Any] | None,
    interrupt: DeferredInterrupt,
) -> DeviceTrainer:
    """Train to the last step, to the score of --until or until Ctrl-C, and leave a checkpoint.

    Args:
        settings: the run's settings.
        solutions: its scenarios' solutions, for exact scores. May be empty.
        checkpoint: checkpoint to continue from, or None to start from scratch.
        interrupt: records whether Ctrl-C was pressed.
    """
    is_solved = len(solutions) == len(settings.scenario)
    trainer = DeviceTrainer(settings, opponent_pool(settings.opponent, is_solved))
    if checkpoint is not None:
        trainer.restore(checkpoint)
    saved = time.monotonic()
    with progress(in_percent=True) as bar:
        task = bar.add_task("training", total=settings.steps, note="")
        while True:
            if trainer.progress >= len(trainer.curve) / settings.evaluations:
                grade(trainer, solutions)
            stop = trainer.progress >= 1.0 or trainer.has_reached or interrupt.requested
            if stop or time.monotonic() - saved > settings.checkpoint_seconds:
                write_or_warn(settings.out / CHECKPOINT, trainer.save)
                saved = time.monotonic()
            if stop:
                return trainer
            trainer.update()
            score = "" if trainer.score is None else f" score {trainer.score:.1f}"
            speed = trainer.frames / max(trainer.seconds, 1e-9)
            bar.update(
                task,
                completed=min(trainer.frames, settings.steps),
                note=f"{speed:,.0f}/s {trainer.note}{score}",
            )


def check_device_settings(settings: Settings, resume: bool, overwrite: bool) -> None:
    """Raise a ValueError if the settings cannot be used for training."""
    runs.check_bounds(settings)
    try:
        kind = torch.device(settings.device).type
    except RuntimeError:
        kind = ""
    if kind not in ("cuda", "cpu"):
        raise ValueError(
            f"--device: expected cuda, cuda:1 and so on or cpu, found {settings.device}"
        )
    if kind == "cuda" and not torch.cuda.is_available():
        raise ValueError(
            "--device: expected a GPU that PyTorch can use, found none; --device cpu runs the same "
            "on the CPU, slowly"
        )
    if settings.bfloat16 and kind != "cuda":
        raise ValueError(f"--bfloat16: expected --device cuda, found {settings.device}")
    for name in settings.opponent:
        if name != MIXED and not PolicySpec.parse(name, "opponent").is_scripted:
            raise ValueError(f"--opponent: expected names of scripted players, found {name}")
    names = settings.scenario
    runs.check_trainable_scenarios(names)
    if settings.until is not None and any(map(is_generated, names)):
        raise ValueError("--until: expected scenarios with exact scores, found generated ones")
    if len(names) > settings.num_envs:
        raise ValueError(f"--num-envs: expected at least {len(names)}, one for each scenario")
    if resume:
        runs.check_can_resume(settings)
    elif not overwrite:
        runs.refuse_other_runs(settings)


def describe_run(settings: Settings, results: dict[str, Any]) -> str:
    """Return a text about a run: its score, its speed and its network."""
    speed = ", ".join(f"{name} {each:,}" for name, each in results["steps_per_second"].items())
    lines = [runs.describe_results(results), f"steps per second on {results['device']}: {speed}"]
    if settings.until is not None:
        reached = "reached" if results["reached"] else "not reached"
        lines.append(f"score {settings.until:g}: {reached} after {results['seconds']:.1f} s")
    return "\n".join([*lines, f"in {settings.out}: {settings.seat}.npz, {common.RESULTS}"])


def main(arguments: Sequence[str] | None = None) -> int:
    """Train, evaluate, write the results and return the exit status."""
    settings, switches, parser = common.parse_settings(
        Settings,
        arguments,
        module=Settings.module,
        description=__doc__,
        quick=QUICK,
        switches={"resume": "continue from the folder's checkpoint", **OVERWRITE},
        usual_out=lambda s: Path("runs") / f"{Path(s.scenario[0]).stem}-{s.seat}-device",
    )
    common.check_signs(parser, settings, POSITIVE)
    if settings.device == "cpu":
        torch.set_num_threads(1)  # the same results on any number of cores
    resume = "resume" in switches

    def work() -> int:
        try:
            check_device_settings(settings, resume, "overwrite" in switches)
        except (ValueError, OSError) as error:
            parser.error(str(error))
        try:
            results = runs.run(settings, resume, train_on_device)
        except KernelError as error:
            print(f"python -m {Settings.module}: {error}", file=sys.stderr)
            return common.FAILED
        if settings.report is not None:
            common.write_json(settings.report, {k: v for k, v in results.items() if k != "curve"})
        return report(results, "json" in switches, describe_run(settings, results))

    return run_command(Settings.module, settings.out, work)
