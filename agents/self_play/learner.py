"""One seat's learner: its network, its optimiser, and the PPO loss (Schulman et al. 2017)."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from agents.checkpoints import (
    check_alike,
    check_generator,
    check_optimiser,
    check_torch_generator,
    optimiser_state,
    restore_optimiser,
)
from agents.self_play.processes import ProcessGroup
from agents.self_play.settings import Settings
from wfb_gym.encoding.layout import layout
from wfb_gym.envs.self_play import Decisions, SelfPlayBatch
from wfb_gym.players.learned import NetworkAgent
from wfb_gym.players.network import PolicyNetwork

MIN_LOG_PROB = -5.0
"""A bad exploratory action at or below this log-probability is not pushed down any further."""


class Choices(NamedTuple):
    """What a seat chose at its decisions of one step of a rollout."""

    members: NDArray[np.int64]  # (k,): the battles
    inputs: Tensor  # encoded observations, float32 (k, size)
    masks: Tensor  # legal actions, bool (k, actions)
    actions: Tensor  # int64 (k,)
    log_probs: Tensor  # of the actions under the policy, float32 (k,)
    values: Tensor  # of the positions, in parts of the scenario's worth, float32 (k,)
    exploratory: Tensor  # bool (k,): drawn uniformly instead of from the policy


class Batch(NamedTuple):
    """Decisions to learn from; as in `Choices`, and what became of them."""

    inputs: Tensor
    masks: Tensor
    actions: Tensor
    log_probs: Tensor
    exploratory: Tensor
    advantages: Tensor  # float32 (k,)
    returns: Tensor  # targets of the values, float32 (k,)


def concatenate_choices(
    choices: Sequence[tuple[int, Choices]],
    advantages: NDArray[np.float32],
    returns: NDArray[np.float32],
) -> Batch:
    """Batch of a seat's decisions in the steps of a rollout; none with a single legal action.

    Advantages and returns are of all steps, (steps, n).
    """
    parts = []
    for step, chosen in choices:
        rows = chosen.masks.sum(1) > 1
        members = chosen.members[rows.numpy()]
        known = (chosen.inputs, chosen.masks, chosen.actions, chosen.log_probs, chosen.exploratory)
        became = (torch.from_numpy(each[step, members]) for each in (advantages, returns))
        parts.append(Batch(*(column[rows] for column in known), *became))
    return Batch(*(torch.cat(column) for column in zip(*parts, strict=True)))


class Learner:
    """The learner of one seat; processes of a group share gradients."""

    def __init__(
        self, seat: int, battles: SelfPlayBatch, settings: Settings, group: ProcessGroup
    ) -> None:
        self.seat, self.settings, self.group = seat, settings, group
        view = battles.views[seat]
        self.network = PolicyNetwork(view.limits, settings.shape, settings.width)
        self.ignored = torch.zeros(0, dtype=torch.long)
        if settings.features == "raw":
            promised = [k for k, each in enumerate(layout(view.limits).fields) if each.promise]
            self.ignored = torch.tensor(promised, dtype=torch.long)
            self._seen_by().data[:, self.ignored] = 0.0
        parameters = list(self.network.parameters())
        sizes = [parameter.numel() for parameter in parameters]
        self.gradient = torch.zeros(sum(sizes))
        for parameter, part in zip(parameters, self.gradient.split(sizes), strict=True):
            parameter.grad = part.view_as(parameter)  # so that one all_reduce takes all of them
        self.optimiser = torch.optim.Adam(
            parameters, settings.learning_rate, betas=(0.9, 0.99), eps=1e-5, fused=True
        )
        self.rng = np.random.default_rng([settings.seed, seat, group.rank])
        self.torch_rng = torch.Generator().manual_seed(
            (settings.seed * group.count + group.rank) * 2 + seat
        )
        static = torch.from_numpy(view.static)
        self.worth = 100.0 * self.network.greatest_worth(static).numpy()  # points, by scenario
        general = battles.redraw or len(battles.scenarios) > 1
        self.agent = NetworkAgent(self.network, seat, general=general)

    def _seen_by(self) -> Any:
        """The first weights of a flat network, (width, inputs): a column for each number."""
        return self.network.body.trunk[0].weight  # type: ignore[union-attr, index]

    def choose(
        self, decisions: Decisions, epsilon: NDArray[np.float64], from_archive: NDArray[np.bool_]
    ) -> Choices:
        """Choose actions, at random with the probability `epsilon` of each battle.

        In battles that have just begun at a position of the archive every second one is random.
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
            # the argmax after adding Gumbel noise is a sample
            actions = (sampled - (-uniform.clamp_min(1e-20).log()).log()).argmax(1)
            chosen = log_probs.gather(1, actions[:, None])[:, 0]
        return Choices(members, inputs, masks, actions, chosen, values, exploratory)

    def learn(self, batch: Batch, progress: float) -> int:
        """Improve the network by this process's decisions; how many all processes learned from."""
        settings = self.settings
        size = len(batch.advantages)
        advantages = batch.advantages.double()
        moments = [advantages.new_tensor(size), advantages.sum(), advantages.square().sum()]
        count, total, squares = self.group.all_reduce(torch.stack(moments)).tolist()
        if count < 2:
            return 0
        deviation = np.sqrt(max(0.0, squares / count - (total / count) ** 2)) + 1e-8
        batch = batch._replace(advantages=batch.advantages / deviation)
        self.optimiser.param_groups[0]["lr"] = settings.learning_rate * max(0.01, 1.0 - progress)
        steps = max(1, round(count / settings.batch_size))
        for _ in range(settings.epochs):
            order = torch.randperm(size, generator=self.torch_rng)
            columns = [column.index_select(0, order).tensor_split(steps) for column in batch]
            for minibatch in map(Batch._make, zip(*columns, strict=True)):
                self.gradient.zero_()
                (self._loss(minibatch, progress) * (steps / count)).backward()
                if len(self.ignored):
                    self._seen_by().grad[:, self.ignored] = 0.0  # so it never sees them
                self.group.all_reduce(self.gradient)
                norm = self.gradient.norm()
                self.gradient.mul_((settings.max_grad_norm / norm).clamp_max(1.0))
                self.optimiser.step()
        return int(count)

    def _loss(self, batch: Batch, progress: float) -> Tensor:
        """PPO loss, summed over decisions."""
        settings = self.settings
        all_log_probs, values = self.network.evaluate(batch.inputs, batch.masks)
        log_probs = all_log_probs.gather(1, batch.actions[:, None])[:, 0]
        ratio = (log_probs - batch.log_probs).exp()
        clipped = ratio.clamp(1.0 - settings.clip_range, 1.0 + settings.clip_range)
        own = ~batch.exploratory
        advantages = batch.advantages
        policy_loss = -(torch.min(ratio * advantages, clipped * advantages) * own).sum()
        # The ratio means nothing for an action that another distribution drew: it is reinforced
        # if it came out well, else made less likely while it is not unlikely already.
        counts = (advantages > 0.0) | (log_probs.detach() > MIN_LOG_PROB)
        explored = (advantages * log_probs * (batch.exploratory & counts)).sum()
        policy_loss = policy_loss - settings.exploration_weight * explored
        value_loss = ((values - batch.returns).square() * own).sum()
        entropy = -(all_log_probs.exp() * all_log_probs.masked_fill(~batch.masks, 0.0)).sum()
        coefficient = settings.entropy_coefficient
        if coefficient > 0.0:
            coefficient *= (settings.final_entropy_coefficient / coefficient) ** progress
        return policy_loss + 0.5 * value_loss - coefficient * entropy

    def get_state(self) -> dict[str, Any]:
        """Everything that the learner's future depends on; `set_state` goes back to it."""
        return {
            "network": self.network.state_dict(),
            "optimiser": {"state": optimiser_state(self.optimiser)},
            "rng": self.rng.bit_generator.state,
            "torch_rng": self.torch_rng.get_state(),
        }

    def check_state(self, where: str, state: Any) -> None:
        """Raise an error, most often a ValueError, if `set_state` could not go on from a state."""
        own = self.get_state()
        check_alike(where, state, {**own, "optimiser": {"state": state["optimiser"]["state"]}})
        parameters = list(self.network.parameters())
        check_optimiser(f"{where}.optimiser.state", state["optimiser"]["state"], parameters)
        check_generator(f"{where}.rng", state["rng"], self.rng)
        check_torch_generator(f"{where}.torch_rng", state["torch_rng"], self.torch_rng)

    def set_state(self, state: dict[str, Any]) -> None:
        """Go back to what `get_state` returned, which `check_state` has checked."""
        self.network.load_state_dict(state["network"])
        restore_optimiser(self.optimiser, state["optimiser"]["state"])
        self.rng.bit_generator.state = state["rng"]
        self.torch_rng.set_state(state["torch_rng"])
