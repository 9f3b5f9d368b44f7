"""Archive of starting positions for exploring starts (Sutton and Barto 2018, sec. 5.3)."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from agents.checkpoints import check_alike, check_generator
from wfb_gym.engine.state import STATE
from wfb_gym.envs.self_play import Decisions, SelfPlayBatch


class PositionArchive:
    """Stores each position once. When the archive is full, new positions replace random others.

    A hash table of `buckets` flags marks the positions seen before. It is cleared once half of the
    flags are set. Two positions in the same bucket count as one, which is rare.
    """

    def __init__(self, capacity: int, seed: int | Sequence[int], buckets: int = 1 << 22) -> None:
        self.capacity = capacity
        self.rng = np.random.default_rng([*np.atleast_1d(seed), 3])
        self.states = np.zeros(capacity, STATE)
        self.scenarios = np.zeros(capacity, np.int64)
        self.seen = np.zeros(buckets, np.bool_)
        self.latest = np.zeros(buckets, np.int32)  # last row of a batch that hit each bucket
        self.seen_count = self.size = 0

    def add(self, decisions: Decisions, battles: SelfPlayBatch) -> None:
        """Store the positions of a seat's decisions that have not been seen before."""
        scenarios = battles.playing[decisions.members]
        buckets = _hashes(decisions.observations, scenarios) % len(self.seen)
        rows = np.flatnonzero(~self.seen[buckets])
        if not len(rows):
            return
        self.latest[buckets[rows]] = rows
        rows = rows[self.latest[buckets[rows]] == rows]  # drops duplicates within the batch
        if 2 * (self.seen_count + len(rows)) > len(self.seen):
            self.seen[:] = False
            self.seen_count = 0
        self.seen[buckets[rows]] = True
        self.seen_count += len(rows)
        members = decisions.members[rows]
        count = min(len(members), self.capacity)
        free = np.arange(self.size, min(self.capacity, self.size + count))
        self.size += len(free)
        replaced = self.rng.choice(self.capacity, count - len(free), replace=False)
        places = np.concatenate([free, replaced])
        self.states[places] = battles.states(members[:count])
        self.scenarios[places] = scenarios[rows[:count]]

    def sample(self, count: int) -> tuple[NDArray[np.int64], NDArray[Any]]:
        """Draw positions uniformly with replacement: scenarios and states, (count,) each."""
        places = self.rng.integers(self.size, size=count)
        return self.scenarios[places], self.states[places]

    def get_state(self) -> dict[str, Any]:
        """Return everything that the archive's future behaviour depends on."""
        return {
            # a tensor, because a checkpoint cannot store bytes of length 0
            "states": torch.from_numpy(self.states[: self.size].view(np.uint8)),
            "scenarios": torch.from_numpy(self.scenarios[: self.size]),
            "seen": torch.from_numpy(np.packbits(self.seen)),
            "seen_count": self.seen_count,
            "rng": self.rng.bit_generator.state,
        }

    def check_state(self, where: str, state: Any, battles: SelfPlayBatch) -> None:
        """Raise an error, usually a ValueError, if `set_state` cannot restore a state.

        Args:
            where: the state's path in a checkpoint.
            state: state to check.
            battles: batch whose battles start at the positions.
        """
        size = len(state["scenarios"])
        if size > self.capacity:
            raise ValueError(f"{where}: expected at most {self.capacity} positions, found {size}")
        own = {
            "states": torch.zeros(size * STATE.itemsize, dtype=torch.uint8),
            "scenarios": torch.zeros(size, dtype=torch.int64),
            "seen": torch.zeros(-(-len(self.seen) // 8), dtype=torch.uint8),
            "seen_count": 0,
            "rng": self.rng.bit_generator.state,
        }
        check_alike(where, state, own)
        check_generator(f"{where}.rng", state["rng"], self.rng)
        count = int(np.unpackbits(state["seen"].numpy()).sum())
        if state["seen_count"] != count or (count > 0) > (size > 0):
            raise ValueError(
                f"{where}: expected {count} buckets of seen positions, found "
                f"{state['seen_count']} of {size} positions"
            )
        battles.check_positions(state["scenarios"].numpy(), state["states"].numpy().view(STATE))

    def set_state(self, state: dict[str, Any]) -> None:
        """Restore a state from `get_state` that has passed `check_state`."""
        self.size = len(state["scenarios"])
        self.states[: self.size] = state["states"].numpy().view(STATE)
        self.scenarios[: self.size] = state["scenarios"].numpy()
        self.seen = np.unpackbits(state["seen"].numpy(), count=len(self.seen)).view(np.bool_)
        self.seen_count = state["seen_count"]
        self.rng.bit_generator.state = state["rng"]


def _hashes(observations: NDArray[np.float32], scenarios: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return hashes of positions, 0 to 2^32 - 1, equal on every machine: int64 (k,)."""
    weights = np.random.default_rng(0).integers(1 << 63, size=observations.shape[1] + 1) | 1
    bits = (observations + 0.0).view(np.int32).astype(np.int64)  # + 0.0 turns -0.0 into 0.0
    sums: NDArray[np.int64] = bits @ weights[1:] + scenarios * weights[0]
    return (sums >> 32) & 0xFFFFFFFF
