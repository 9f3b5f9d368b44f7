"""Settings of a self-play run; their fields are the flags of `agents.train_fast`."""

from dataclasses import dataclass, field
from pathlib import Path


@dataclass(frozen=True)
class Settings:
    """Settings of a run."""

    scenario: tuple[str, ...] = ("archmage-duel",)  # played in turn; or one name of generated ones
    steps: int = 4_000_000  # decisions of both seats in all
    seed: int = 0  # of networks, sampling and dice
    runs: int = 1  # of consecutive seeds
    out: Path = field(default=Path("runs"), metadata={"help": "(default: runs/SCENARIO-fast)"})
    # of the networks, see `wfb_gym.players.network`
    shape: str = field(default="flat", metadata={"choices": ("flat", "entities")})
    width: int = 96  # of their hidden layers
    num_envs: int = 2048  # battles side by side
    rollout: int = 16  # decisions of each battle between two updates
    batch_size: int = 2048  # decisions of a gradient step
    epochs: int = 2  # passes over the decisions of an update
    learning_rate: float = 3e-3  # at the beginning; it falls linearly to 1 % of that
    gae_lambda: float = 0.95  # of generalised advantage estimation (Schulman et al. 2016)
    # how far the probability ratio of an action may move in an update
    clip_range: float = field(default=0.2, metadata={"aliases": ("--clip",)})
    # weight of the entropy bonus at the beginning, and at the end; 0 at the beginning: no bonus
    entropy_coefficient: float = field(default=0.3, metadata={"aliases": ("--entropy",)})
    final_entropy_coefficient: float = field(
        default=0.02, metadata={"aliases": ("--last-entropy",)}
    )
    # share of battles in which a seat explores, for each seat
    exploration: float = 0.7
    # of the policy loss of exploratory decisions
    exploration_weight: float = 0.5
    # share of battles that begin at a position of the archive, and the most that it stores
    exploring_starts: float = 0.5
    archive_capacity: int = field(default=50_000, metadata={"aliases": ("--archive",)})
    max_grad_norm: float = field(default=0.5, metadata={"aliases": ("--max-norm",)})
    evaluations: int = 20  # points of the learning curve after the first; the best is kept
    exact_bytes: int = 1 << 28  # memory that the exact solution may take
    # processes that learn together, each with its part of the battles; two on every machine, as
    # another number learns otherwise
    workers: int = 2
    checkpoint_seconds: float = 60.0  # between two checkpoints

    @property
    def free(self) -> frozenset[str]:
        """Names of the settings that do not decide what is learned, nor where the curve is."""
        return frozenset({"out", "exact_bytes", "checkpoint_seconds"})
