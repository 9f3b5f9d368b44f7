"""Whom a learner plays against: names, saved models, and former selves of the other learner.

Whoever draws chances of its own here keeps the state of its generator, so that a resumed run
goes on with the same draws.
"""

import copy
from collections.abc import Callable, Sequence
from typing import Any, Protocol

import numpy as np
import torch
from numpy.typing import NDArray

from wfb_gym.opponents.scripted import find_scripted
from wfb_gym.players.interface import Opponent
from wfb_gym.players.sb3_model import SavedPolicy, load_policy

SELF = "self"
MIXED = "mixed"
"""The default pool, by whether the scenarios could be solved; see `expanded`."""

RULES_OF_THUMB = ("veteran", "greedy", "random")
SOLVED_MIX = ("optimal:0.1",)
"""Optimal play alone never leads the learner where it does not go itself, and there it stays
weak. An opponent that strays takes it everywhere; one that strays often makes it count on that."""
UNSOLVED_MIX = (*RULES_OF_THUMB, SELF)

Weights = dict[str, torch.Tensor]
"""Parameters of a network by name."""


class GivesChances(Protocol):
    """A policy that tells its chances."""

    def action_probabilities(
        self, observations: NDArray[np.float32], masks: NDArray[np.bool_]
    ) -> NDArray[np.float64]:
        """Chances of the actions, float64 (k, actions)."""
        ...


class Drawing:
    """A policy whose actions are drawn with a generator that can be kept.

    Args:
        policy: tells the chances.
        seed: of the draws, in one number or more.
    """

    def __init__(self, policy: GivesChances, seed: Sequence[int]) -> None:
        self.policy = policy
        self.rng = np.random.default_rng(seed)

    def __call__(
        self, observations: NDArray[np.float32], masks: NDArray[np.bool_]
    ) -> NDArray[np.int64]:
        chances = self.policy.action_probabilities(observations, masks).cumsum(axis=1)
        points = self.rng.random(len(chances)) * chances[:, -1]
        actions: NDArray[np.int64] = (chances > points[:, None]).argmax(axis=1)
        return actions


class Selves:
    """Former selves of one learner: opponents for the other's pool.

    Each of `opponents` keeps its place in the pool and changes its weights when a snapshot is
    taken; episodes under way then go on against the new ones. The latest snapshot and the first
    are always among them; of those between, the one goes whose neighbours are closest in time.

    Args:
        count: how many.
        seed: of their draws.
    """

    def __init__(self, count: int, seed: Sequence[int]) -> None:
        self._kept: list[tuple[int, Weights]] = []
        self._frozen = [_Frozen() for _ in range(count)]
        self.opponents = [Drawing(each, (*seed, k)) for k, each in enumerate(self._frozen)]

    @property
    def taken(self) -> list[int]:
        """When the snapshots at hand were taken, the oldest first."""
        return [when for when, _ in self._kept]

    def take(self, when: int, policy: Any) -> None:
        """Add a snapshot of a policy's network, taken after so many updates."""
        weights = {name: value.clone() for name, value in policy.state_dict().items()}
        self._kept.append((when, weights))
        if len(self._kept) > len(self._frozen):
            del self._kept[_least_missed(self.taken)]
        self._dress(policy)

    def _dress(self, policy: Any) -> None:
        """Give the opponents the weights at hand, the latest first and again if some are left."""
        for k, frozen in enumerate(self._frozen):
            _, weights = self._kept[-1 - k % len(self._kept)]
            frozen.wear(policy, weights)

    def get_state(self) -> dict[str, Any]:
        """The snapshots; the opponents' generators are for whoever keeps their pool."""
        return {"kept": list(self._kept)}

    def set_state(self, state: dict[str, Any], policy: Any) -> None:
        """Go back to what `get_state` gave; `policy` has the shape of the network."""
        self._kept = [(int(when), weights) for when, weights in state["kept"]]
        self._dress(policy)


class _Frozen:
    """A copy of a network that no training touches; nobody until it wears its first weights."""

    def __init__(self) -> None:
        self._network: Any = None
        self._player: SavedPolicy | None = None

    def wear(self, policy: Any, weights: Weights) -> None:
        if self._network is None:
            self._network = copy.deepcopy(policy)
            self._network.set_training_mode(False)
            self._player = SavedPolicy(self._network, SELF, deterministic=False, seed=None)
        self._network.load_state_dict(weights)

    def action_probabilities(
        self, observations: NDArray[np.float32], masks: NDArray[np.bool_]
    ) -> NDArray[np.float64]:
        assert self._player is not None, "no snapshot was taken"
        return self._player.action_probabilities(observations, masks)


def _least_missed(times: Sequence[int]) -> int:
    """Which of ascending times to drop so that the others stay spread; never first or last."""
    if len(times) < 3:
        return 0
    return min(range(1, len(times) - 1), key=lambda k: times[k + 1] - times[k - 1])


def expanded(opponents: Sequence[str], solvable: bool) -> tuple[str, ...]:
    """Opponents with the default pool in the place of "mixed", or of none at all."""
    mix = SOLVED_MIX if solvable else UNSOLVED_MIX
    return tuple(
        name for each in opponents or (MIXED,) for name in (mix if each == MIXED else (each,))
    )


def fit_for_partner(opponents: Sequence[str]) -> tuple[str, ...]:
    """Those of a pool who can sit opposite either seat: a saved model plays one alone."""
    return tuple(name for name in opponents if name == SELF or find_scripted(name) is not None)


def seated(
    opponents: Sequence[str],
    selves: Selves | None,
    seed: int,
    agent: Callable[[str], Opponent],
) -> list[Opponent]:
    """A pool as the environments take it, and everyone's generator its own seed.

    Args:
        opponents: names, paths of saved models and "self".
        selves: former selves of the other learner, if "self" is among them.
        seed: of the first one's draws.
        agent: makes an agent that is none of the scripted ones.

    Raises:
        ValueError: there is no such player.
        FileNotFoundError: a saved model that is not there.
    """
    pool: list[Opponent] = []
    for k, name in enumerate(opponents):
        if name == SELF:
            assert selves is not None
            pool.extend(selves.opponents)
        elif find_scripted(name) is not None:
            pool.append(name)
        elif name.endswith(".zip"):
            pool.append(Drawing(load_policy(name), (seed, k)))
        else:
            pool.append(agent(name))
    return pool
