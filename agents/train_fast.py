"""Train both seats at once by self-play: PPO in PyTorch on the native batch.

    python -m agents.train_fast
    python -m agents.train_fast --runs 5
    python -m agents.train_fast --scenario storm-council --steps 30000000 --width 256
    python -m agents.train_fast --scenario generated-phase --steps 100000000 --shape entities

Proximal policy optimisation (Schulman et al. 2017). The learner of a seat, rollouts, advantages,
updates and the training loop are in this file, in this order. Additions for this game:

- Both seats learn from the same battles, each with its own network. No opponent has to be chosen.
- To learn positions where its usual opponent never leads, each seat acts at random in part of the
  battles, with a probability (epsilon) drawn for each battle. Only the critic's value credits
  earlier decisions for a random action, so no policy relies on mistakes.
- A random action with a good result is reinforced even if the policy gives it a low probability.
  Samples of the policy would hardly ever correct a policy that is sure of a wrong action.
- Some battles begin at a position of an archive that stores each position once. So both seats learn
  positions that only an exploiter reaches (exploring starts, Sutton and Barto 2018, section 5.3).
- The entropy bonus falls geometrically: an early greedy policy stops exploring.
- Battles end by themselves, and gamma is 1 by default.

A run ends after --steps decisions. Time, load and the number of cores change nothing: the same
seed and --workers give the same networks on a machine, to the byte.

The run's folder gets caster.npz and dispeller.npz for `wfb_gym.players.learned.NetworkAgent`,
results.json and, until the run is finished, a checkpoint for --resume, which needs the same
settings. The networks are the last ones. If the scenario can be solved, curve.png shows their exact
scores, and policy.png the caster's choices and the points that they give away. Otherwise the run
reports points against the scripted players.
Several runs have consecutive seeds and a folder each; --resume does not repeat finished ones.
"""

from wfb_gym._commands import run_main

if __name__ == "__main__":
    run_main("agents.train_fast")

import time
from collections.abc import Collection, Sequence
from typing import Any, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from agents.checkpoints import NAME as CHECKPOINT
from agents.checkpoints import load_checkpoint
from agents.common import DeferredInterrupt, check_outputs
from agents.run_folder import write_or_warn
from agents.self_play.archive import PositionArchive
from agents.self_play.grading import grade
from agents.self_play.processes import ProcessGroup, process_group
from agents.self_play.runs import run_from_command_line
from agents.self_play.settings import Settings
from agents.self_play.trainer_state import restore_trainer, save_trainer
from experiments.progress import progress
from wfb_gym.encoding.layout import layout
from wfb_gym.envs.self_play import Decisions, SelfPlayBatch
from wfb_gym.players.learned import NetworkAgent
from wfb_gym.players.network import PolicyNetwork
from wfb_gym.solver import Solution

MIN_LOG_PROB = -5.0
"""A bad exploratory action at or below this log-probability is not pushed down any further."""
TRAINING_SEED, SEED_SPACING = 3_000_000_000, 1_000_000
"""Seed for the first run's dice, and the distance to the next run's, so that no two share dice."""


class SampledActions(NamedTuple):
    """A seat's actions in one rollout step, at its k decisions."""

    members: NDArray[np.int64]  # (k,): indices of the battles
    inputs: Tensor  # encoded observations, float32 (k, size)
    masks: Tensor  # legal actions, bool (k, actions)
    actions: Tensor  # int64 (k,)
    log_probs: Tensor  # of the actions under the policy, float32 (k,)
    values: Tensor  # critic's values, as shares of the best spell's value, float32 (k,)
    exploratory: Tensor  # bool (k,): drawn uniformly instead of from the policy


class TrainingBatch(NamedTuple):
    """Decisions to learn from: columns of `SampledActions`, with advantages and returns."""

    inputs: Tensor
    masks: Tensor
    actions: Tensor
    log_probs: Tensor
    exploratory: Tensor
    advantages: Tensor  # float32 (k,)
    returns: Tensor  # the critic's targets, float32 (k,)


class Learner:
    """One seat's learner. Its copies in all processes stay equal because they share gradients."""

    def __init__(
        self, seat: int, battles: SelfPlayBatch, settings: Settings, group: ProcessGroup
    ) -> None:
        self.seat, self.settings, self.group = seat, settings, group
        view = battles.views[seat]
        self.network = PolicyNetwork(view.limits, settings.shape, settings.width)
        self.ignored = torch.from_numpy(layout(view.limits, settings.features).zeroed)
        if len(self.ignored):
            self._input_weights().data[:, self.ignored] = 0.0
        parameters = list(self.network.parameters())
        sizes = [parameter.numel() for parameter in parameters]
        self.gradient = torch.zeros(sum(sizes))
        for parameter, part in zip(parameters, self.gradient.split(sizes), strict=True):
            parameter.grad = part.view_as(parameter)  # so that one all_reduce covers all gradients
        self.optimiser = new_optimiser(parameters, settings)
        self.rng = np.random.default_rng([settings.seed, seat, group.rank])
        self.torch_rng = torch.Generator().manual_seed(
            (settings.seed * group.count + group.rank) * 2 + seat
        )
        static = torch.from_numpy(view.static)
        # points, by scenario
        self.worth = 100.0 * self.network.greatest_spell_value(static).numpy()
        general = battles.redraw or len(battles.scenarios) > 1
        self.agent = NetworkAgent(self.network, seat, general=general)

    def _input_weights(self) -> Any:
        """Return a flat network's first weights, (width, inputs)."""
        return self.network.body.trunk[0].weight  # type: ignore[union-attr, index]

    def choose(
        self, decisions: Decisions, epsilon: NDArray[np.float64], from_archive: NDArray[np.bool_]
    ) -> SampledActions:
        """Choose actions, each at random with its battle's probability `epsilon`.

        The first action after a start at an archived position is random half of the time.
        """
        members = decisions.members
        masks = torch.from_numpy(decisions.masks)
        with torch.no_grad():
            inputs = self.network.encode(torch.from_numpy(decisions.observations))
            log_probs, values = self.network.evaluate(inputs, masks)
            uniform = torch.rand(log_probs.shape, generator=self.torch_rng)
            explores = self.rng.random(len(members)) < epsilon[members]
            explores |= from_archive[members] & (self.rng.random(len(members)) < 0.5)
            exploratory = torch.from_numpy(explores)
            sampled = torch.where(exploratory[:, None], masks.float().log(), log_probs)
            actions = sample_actions(sampled, uniform)
            chosen = log_probs.gather(1, actions[:, None])[:, 0]
        check_outputs(self.seat, masks, actions, chosen, values)
        return SampledActions(members, inputs, masks, actions, chosen, values, exploratory)

    def learn(self, batch: TrainingBatch, progress: float) -> int:
        """Take an update's gradient steps, and return the number of decisions in all processes."""
        settings = self.settings
        size = len(batch.advantages)
        advantages = batch.advantages.double()
        moments = [advantages.new_tensor(size), advantages.sum(), advantages.square().sum()]
        count, total, squares = self.group.all_reduce(torch.stack(moments)).tolist()
        if count < 2:
            return 0
        deviation = np.sqrt(max(0.0, squares / count - (total / count) ** 2)) + 1e-8
        batch = batch._replace(advantages=batch.advantages / deviation)
        self.optimiser.param_groups[0]["lr"] = learning_rate_at(settings, progress)
        steps = max(1, round(count / settings.batch_size))
        for _ in range(settings.epochs):
            order = torch.randperm(size, generator=self.torch_rng)
            columns = [column.index_select(0, order).tensor_split(steps) for column in batch]
            for minibatch in map(TrainingBatch._make, zip(*columns, strict=True)):
                self.gradient.zero_()
                (self._loss(minibatch, progress) * (steps / count)).backward()
                if len(self.ignored):
                    self._input_weights().grad[:, self.ignored] = 0.0  # so they stay 0
                self.group.all_reduce(self.gradient)
                norm = self.gradient.norm()
                self.gradient.mul_((settings.max_grad_norm / norm).clamp_max(1.0))
                self.optimiser.step()
        return int(count)

    def _loss(self, batch: TrainingBatch, progress: float) -> Tensor:
        outputs = self.network.evaluate(batch.inputs, batch.masks)
        return ppo_loss(*outputs, batch, self.settings, progress)


def ppo_loss(
    all_log_probs: Tensor, values: Tensor, batch: TrainingBatch, settings: Any, progress: float
) -> Tensor:
    """Return the PPO loss, summed over decisions, from the network's outputs for a batch."""
    log_probs = all_log_probs.gather(1, batch.actions[:, None])[:, 0]
    own = ~batch.exploratory
    # an exploratory action may have become far more likely, and infinity times 0 is NaN
    ratio = ((log_probs - batch.log_probs) * own).exp()
    clipped = ratio.clamp(1.0 - settings.clip_range, 1.0 + settings.clip_range)
    advantages = batch.advantages
    policy_loss = -(torch.min(ratio * advantages, clipped * advantages) * own).sum()
    # The ratio is meaningless for an action drawn from another distribution. A good one is
    # reinforced; a bad one becomes less likely unless it is already unlikely.
    counts = (advantages > 0.0) | (log_probs.detach() > MIN_LOG_PROB)
    explored = (advantages * log_probs * (batch.exploratory & counts)).sum()
    policy_loss = policy_loss - settings.exploration_weight * explored
    value_loss = ((values - batch.returns).square() * own).sum()
    entropy = -(all_log_probs.exp() * all_log_probs.masked_fill(~batch.masks, 0.0)).sum()
    coefficient = settings.entropy_coefficient
    if coefficient > 0.0:
        coefficient *= (settings.final_entropy_coefficient / coefficient) ** progress
    return policy_loss + 0.5 * value_loss - coefficient * entropy


def new_optimiser(parameters: list[Any], settings: Any) -> torch.optim.Adam:
    """Return the optimiser of a network's parameters."""
    return torch.optim.Adam(
        parameters, settings.learning_rate, betas=(0.9, 0.99), eps=1e-5, fused=True
    )


def learning_rate_at(settings: Any, progress: float) -> float:
    """Return the learning rate after a share of the training, which falls linearly to 1 %."""
    rate: float = settings.learning_rate * max(0.01, 1.0 - progress)
    return rate


def sample_actions(log_probs: Tensor, uniform: Tensor) -> Tensor:
    """Return an action for each row of log-probabilities, from uniform numbers of the same shape.

    The argmax after adding Gumbel noise is a sample.
    """
    return (log_probs - (-uniform.clamp_min(1e-20).log()).log()).argmax(1)


class Rollout(NamedTuple):
    """Several steps of n battles, from the first army's perspective."""

    values: NDArray[np.float32]  # (steps + 1, n): at the positions
    rewards: NDArray[np.float32]  # (steps, n): up to the next position
    ended: NDArray[np.bool_]  # (steps, n): whether the battle ended before the next position
    on_policy: NDArray[np.bool_]  # (steps + 1, n): whether the action was the policy's own
    choices: tuple[list[tuple[int, SampledActions]], ...]  # by seat, each with its step


def compute_advantages(
    rollout: Rollout, gae_lambda: float, gamma: float = 1.0
) -> NDArray[np.float32]:
    """Return the first army's generalised advantage estimates (GAE), (steps, n).

    Before an exploratory action, the critic's value replaces the rest of the estimate, as it would
    at every step with lambda 0. The result of such an action says nothing about earlier decisions.
    """
    values, rewards = rollout.values, rollout.rewards
    advantages = np.zeros_like(rewards)
    later = np.zeros(rewards.shape[1], np.float32)
    for step in range(len(rewards) - 1, -1, -1):
        continues = ~rollout.ended[step]
        error = rewards[step] + gamma * np.where(continues, values[step + 1], 0.0) - values[step]
        counts = continues & rollout.on_policy[step + 1]
        later = error + gamma * gae_lambda * np.where(counts, later, 0.0)
        advantages[step] = later
    return advantages


def concatenate_choices(
    choices: Sequence[tuple[int, SampledActions]],
    advantages: NDArray[np.float32],
    returns: NDArray[np.float32],
) -> TrainingBatch:
    """Return a seat's decisions with several legal actions. `advantages` is (steps, n)."""
    parts = []
    for step, chosen in choices:
        rows = chosen.masks.sum(1) > 1
        members = chosen.members[rows.numpy()]
        known = (chosen.inputs, chosen.masks, chosen.actions, chosen.log_probs, chosen.exploratory)
        targets = (torch.from_numpy(each[step, members]) for each in (advantages, returns))
        parts.append(TrainingBatch(*(column[rows] for column in known), *targets))
    return TrainingBatch(*(torch.cat(column) for column in zip(*parts, strict=True)))


class Trainer:
    """One process's battles and its copies of both learners. By default, it is the only process."""

    def __init__(self, settings: Settings, group: ProcessGroup | None = None) -> None:
        self.settings = settings
        self.group = group = group or ProcessGroup()
        names = settings.scenario
        count = self.num_envs = settings.num_envs // group.count
        played = names if len(names) > 1 else names[0]
        self.battles = SelfPlayBatch(count, played, history=settings.history)
        torch.manual_seed(settings.seed)  # equal networks in all processes
        self.learners = tuple(Learner(seat, self.battles, settings, group) for seat in range(2))
        self.rng = np.random.default_rng([settings.seed, 2, group.rank])
        self.epsilon = np.zeros((2, count))
        self.from_archive = np.zeros(count, np.bool_)
        capacity = settings.archive_capacity // group.count
        self.archive = PositionArchive(capacity, (settings.seed, group.rank))
        self.frames = 0  # decisions played by all processes
        self.learned = 0  # decisions learned from: those with several legal actions
        self.seconds = 0.0  # spent learning so far
        self.curve: list[dict[str, Any]] = []  # points on the learning curve so far
        self.measurements: dict[str, Any] = {}
        seed = TRAINING_SEED + SEED_SPACING * settings.seed + count * group.rank
        self.decisions = self.battles.reset(seed)
        self._draw_epsilon(np.ones(count, np.bool_))

    @property
    def progress(self) -> float:
        """Completed share of the training, 0 to 1."""
        return min(1.0, self.frames / self.settings.steps)

    def update(self) -> None:
        """Play a rollout and update both learners with it."""
        began = time.perf_counter()
        settings = self.settings
        (progress,) = self.group.broadcast(self.progress)
        rollout = self._collect_rollout()
        advantages = compute_advantages(rollout, settings.gae_lambda, settings.gamma)
        returns = advantages + rollout.values[:-1]
        for learner, choices, sign in zip(self.learners, rollout.choices, (1.0, -1.0), strict=True):
            batch = concatenate_choices(choices, sign * advantages, sign * returns)
            self.learned += learner.learn(batch, progress)
        self.frames += settings.rollout * self.num_envs * self.group.count
        self.seconds += time.perf_counter() - began

    def _collect_rollout(self) -> Rollout:
        steps, count = self.settings.rollout, self.num_envs
        rollout = Rollout(
            np.zeros((steps + 1, count), np.float32),
            np.zeros((steps, count), np.float32),
            np.zeros((steps, count), np.bool_),
            np.ones((steps + 1, count), np.bool_),
            ([], []),
        )
        for step in range(steps + 1):
            actions = [np.zeros(0, np.int64)] * 2
            for seat, learner in enumerate(self.learners):
                decisions = self.decisions[seat]
                members = decisions.members  # the battles in which this seat is to move
                chosen = learner.choose(decisions, self.epsilon[seat], self.from_archive)
                values = chosen.values.numpy()
                rollout.values[step, members] = values if seat == 0 else -values
                if step < steps:  # the last actions are not played
                    rollout.on_policy[step, members] = ~chosen.exploratory.numpy()
                    rollout.choices[seat].append((step, chosen))
                actions[seat] = chosen.actions.numpy()
            if step < steps:
                worth = self.learners[0].worth[self.battles.playing]
                self.decisions = self.battles.play(*actions)
                rollout.rewards[step] = self.battles.points / worth
                rollout.ended[step] = self.battles.ended
                self._draw_epsilon(self.battles.ended)
                self._begin_at_archive()
        return rollout

    def _draw_epsilon(self, begun: NDArray[np.bool_]) -> None:
        """Draw each seat's exploration probability for battles that have just begun."""
        count = int(begun.sum())
        explores = self.rng.random((2, count)) < self.settings.exploration
        self.epsilon[:, begun] = np.where(explores, self.rng.random((2, count)) ** 2, 0.0)

    def _begin_at_archive(self) -> None:
        """Move some of the battles that have just begun to archived positions."""
        for decisions in self.decisions:
            self.archive.add(decisions, self.battles)
        begun = np.flatnonzero(self.battles.ended)
        moved = begun[self.rng.random(len(begun)) < self.settings.exploring_starts]
        self.from_archive[:] = False
        self.from_archive[moved] = True
        if len(moved):
            self.decisions = self.battles.put(moved, *self.archive.sample(len(moved)))


def train(
    settings: Settings,
    solutions: Collection[Solution],
    checkpoint: dict[str, Any] | None,
    interrupt: DeferredInterrupt,
) -> Trainer:
    """Train to the last step or until Ctrl-C, and leave a checkpoint.

    Args:
        settings: the run's settings.
        solutions: its scenarios' solutions, for exact scores. May be empty.
        checkpoint: checkpoint to continue from, or None to start from scratch.
        interrupt: records whether Ctrl-C was pressed.
    """
    with process_group(settings.workers, worker_loop, settings, checkpoint is not None) as group:
        trainer = Trainer(settings, group)
        if checkpoint is not None:
            restore_trainer(trainer, checkpoint)
            group.broadcast(0.0)
        saved = time.monotonic()
        with progress(in_percent=True) as bar:
            task = bar.add_task("training", total=settings.steps, note="")
            while True:
                stop = trainer.progress >= 1.0 or interrupt.requested
                save = stop or time.monotonic() - saved > settings.checkpoint_seconds
                group.broadcast(save, stop)
                if save:
                    write_or_warn(settings.out / CHECKPOINT, lambda: save_trainer(trainer))
                    saved = time.monotonic()
                if stop:
                    return trainer
                if trainer.progress >= len(trainer.curve) / settings.evaluations:
                    grade(trainer, solutions)
                trainer.update()
                scores = "".join(f" {k} {v:.1f}" for k, v in trainer.curve[-1]["scores"].items())
                note = f"{trainer.frames / max(trainer.seconds, 1e-9):,.0f}/s{scores}"
                bar.update(task, completed=min(trainer.frames, settings.steps), note=note)


def worker_loop(group: ProcessGroup, settings: Settings, resume: bool) -> None:
    """Follow `train` in a process with rank 1 or higher: save, stop or update on command."""
    trainer = Trainer(settings, group)
    if resume:
        group.broadcast(0.0)  # rank 0 has checked all parts
        restore_trainer(trainer, load_checkpoint(settings.out))
    while True:
        save, stop = group.broadcast(0.0, 0.0)
        if save:
            save_trainer(trainer)
        if stop:
            return
        trainer.update()


def main(arguments: Sequence[str] | None = None) -> int:
    """Train, evaluate, write the results and return the exit status."""
    return run_from_command_line(train, arguments, __doc__)
