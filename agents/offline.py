"""Learn from the rewards in a data set of battles: conservative Q-learning.

    python -m agents.suite && python -m agents.offline
    python -m agents.offline --dataset wfb_gym/offline/long-siege/caster-mixed-v0

Learns the points still to come after each action from a recording of agents/record.py, without an
environment, so the result can play better than the recorded agents. The loss is discrete CQL(H)
(Kumar, Zhou, Tucker, Levine, "Conservative Q-Learning for Offline Reinforcement Learning", 2020),
with the targets of double Q-learning. Its conservative part is the cross-entropy of behaviour
cloning with the softmax of the values, so that actions missing from the data are not overrated.
Exact values in the data are not used for learning. Returns are not discounted.

Writes SEAT.npz (`wfb_gym.players.learned.NetworkAgent` plays its best action) and results.json into
the run's folder, as agents/imitate.py does. Ctrl-C keeps the network trained so far. Needs the
extra `minari`.
"""

from wfb_gym._commands import run_main

if __name__ == "__main__":
    run_main("agents.offline")

from collections.abc import Sequence
from copy import deepcopy
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch.nn.functional import mse_loss, nll_loss

from agents import imitate
from agents.datasets import RecordedDecisions
from agents.suite import name_of
from wfb_gym.players.network import ILLEGAL_LOGIT, PolicyNetwork

MODULE = "agents.offline"
QUICK = {"dataset": name_of("apprentice", "medium"), "epochs": 3, "width": 32}
"""The data set that `agents.suite --quick` records."""


@dataclass(frozen=True)
class Settings(imitate.Settings):
    """Settings for a run.

    Attributes:
        conservatism: weight of the cross-entropy; the squared error of the values has weight 1.
        temperature: temperature of the softmax over values; 1: the maximum worth of a spell.
        target_rate: share by which the target network moves to the network at each step.
    """

    dataset: str = name_of("archmage-duel", "medium")
    conservatism: float = 0.01
    temperature: float = 0.1
    target_rate: float = 0.01


class ConservativeLoss:
    """Conservative Q-learning loss; see `imitate.Loss`.

    Values are the network's logits, in units of the temperature.
    """

    def __init__(
        self,
        settings: Settings,
        network: PolicyNetwork,
        decisions: RecordedDecisions,
        rows: NDArray[np.bool_],
    ) -> None:
        self.count = int(rows.sum())  # decisions from complete battles
        self._settings, self._network, self._followed = settings, network, deepcopy(network)
        observations = torch.from_numpy(decisions.observations[rows])
        unit = settings.temperature * float(network.greatest_spell_value(observations).max())
        self._inputs = network.encode(observations)
        self._masks = torch.from_numpy(decisions.masks[rows])
        self._actions = torch.from_numpy(decisions.played[rows])
        self._rewards = torch.from_numpy((decisions.rewards[rows] / unit).astype(np.float32))
        battles = decisions.battles[rows]
        self._continues = torch.from_numpy(np.append(battles[1:] == battles[:-1], False))

    def __call__(self, rows: Tensor) -> Tensor:
        settings, actions = self._settings, self._actions[rows, None]
        targets = self._targets(rows)
        values = self._values(self._network, rows)
        error = mse_loss(values.gather(1, actions)[:, 0], targets)
        cross_entropy = nll_loss(torch.log_softmax(values, 1), actions[:, 0])
        return settings.temperature**2 * error + settings.conservatism * cross_entropy

    @torch.no_grad()
    def _targets(self, rows: Tensor) -> Tensor:
        """Return rewards plus the next decisions' values, and update the target network."""
        rate = self._settings.target_rate
        for slow, fast in zip(self._followed.parameters(), self._network.parameters(), strict=True):
            slow.lerp_(fast, rate)
        continues = self._continues[rows]
        after = rows + continues
        best = self._values(self._network, after).argmax(1, keepdim=True)
        values = self._values(self._followed, after).gather(1, best)[:, 0]
        return self._rewards[rows] + values * continues

    def _values(self, network: PolicyNetwork, rows: Tensor) -> Tensor:
        """Return the action values, (b, actions), which are very low for illegal actions."""
        logits, level = network.body(self._inputs[rows])
        return (logits + level[:, None]).masked_fill(~self._masks[rows], ILLEGAL_LOGIT)


def main(arguments: Sequence[str] | None = None) -> int:
    """Parse the command line, train, evaluate, write the results and return the exit status."""
    return imitate.run_learner(arguments, Settings, MODULE, __doc__, QUICK, ConservativeLoss)
