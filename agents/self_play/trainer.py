"""The loop of self-play training: rollouts of battles, advantages, updates of both learners."""

import hashlib
import time
from collections.abc import Mapping
from typing import Annotated, Any, Literal, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from pydantic import BaseModel, ConfigDict, Field, TypeAdapter

from agents.checkpoints import NAME as CHECKPOINT
from agents.checkpoints import (
    CheckpointError,
    check_alike,
    check_entries,
    check_generator,
    check_number,
    save_checkpoint,
)
from agents.run_folder import check_same_settings
from agents.self_play.archive import PositionArchive
from agents.self_play.learner import Choices, Learner, concatenate_choices
from agents.self_play.processes import ProcessGroup
from agents.self_play.settings import Settings
from experiments.common import settings_as_json
from wfb_gym._records import Records
from wfb_gym.envs.scenario_set import resolve_scenarios
from wfb_gym.envs.self_play import SelfPlayBatch
from wfb_gym.files import refuse_damage
from wfb_gym.packing.records import PackedScenario
from wfb_gym.seats import SEATS

TRAINING_SEED = 3_000_000_000
"""Of the first run's dice."""
SEED_SPACING = 1_000_000
"""Between the dice of two runs, so that no two battles share any."""


class _CurvePoint(BaseModel):
    """A point of a learning curve, from a checkpoint."""

    model_config = ConfigDict(extra="forbid", strict=True, allow_inf_nan=False)

    seconds: float
    frames: int
    scores: dict[Literal["caster", "dispeller"], float]
    points: dict[Literal["caster", "dispeller"], dict[str, dict[str, float]]] = {}


_MAX_POINTS = 10_000
"""Points of a curve, far more than runs have: a file may hold a million wrong ones."""
_CURVE = TypeAdapter(Annotated[list[_CurvePoint], Field(max_length=_MAX_POINTS)])


class Best(NamedTuple):
    """A seat's network where its exact score was highest, at the earliest such point."""

    score: float
    frames: int  # decisions played until then
    network: dict[str, Any]  # its weights


class Rollout(NamedTuple):
    """What happened in the battles of a rollout, as the first army sees it."""

    values: NDArray[np.float32]  # (steps + 1, n): of the positions
    rewards: NDArray[np.float32]  # (steps, n): on the way to the next position
    ended: NDArray[np.bool_]  # (steps, n): whether the battle ended on that way
    on_policy: NDArray[np.bool_]  # (steps + 1, n): whether the action was the policy's own
    choices: tuple[list[tuple[int, Choices]], list[tuple[int, Choices]]]  # by seat, with steps


def compute_advantages(
    rollout: Rollout, gae_lambda: float, gamma: float = 1.0
) -> NDArray[np.float32]:
    """Generalised advantage estimates as the first army sees them: (steps, n).

    What follows an exploratory action says nothing about the decisions before it; there the
    critic's value of the position stands in. With lambda 0 it does so everywhere.
    """
    values, rewards = rollout.values, rollout.rewards
    advantages = np.zeros_like(rewards)
    later = np.zeros(rewards.shape[1], np.float32)
    for step in range(len(rewards) - 1, -1, -1):
        goes_on = ~rollout.ended[step]
        error = rewards[step] + gamma * np.where(goes_on, values[step + 1], 0.0) - values[step]
        counts = goes_on & rollout.on_policy[step + 1]
        later = error + gamma * gae_lambda * np.where(counts, later, 0.0)
        advantages[step] = later
    return advantages


class Trainer:
    """One process's part of the training: its battles, and both learners; alone without a group."""

    def __init__(self, settings: Settings, group: ProcessGroup | None = None) -> None:
        self.settings = settings
        self.group = group = group or ProcessGroup()
        names = settings.scenario
        count = self.num_envs = settings.num_envs // group.count
        played = names if len(names) > 1 else names[0]
        self.battles = SelfPlayBatch(count, played, history=settings.history)
        torch.manual_seed(settings.seed)  # the same networks in all processes
        self.learners = tuple(Learner(seat, self.battles, settings, group) for seat in range(2))
        self.rng = np.random.default_rng([settings.seed, 2, group.rank])
        self.epsilon = np.zeros((2, count))
        self.from_archive = np.zeros(count, np.bool_)
        capacity = settings.archive_capacity // group.count
        self.archive = PositionArchive(capacity, (settings.seed, group.rank))
        self.frames = 0  # decisions played by all processes
        self.learned = 0  # those learned from, which had more than one legal action
        self.seconds = 0.0  # of learning so far
        self.curve: list[dict[str, Any]] = []  # points of the learning curve so far
        self.best: dict[str, Best] = {}  # by seat, where there are exact scores
        seed = TRAINING_SEED + SEED_SPACING * settings.seed + count * group.rank
        self.decisions = self.battles.reset(seed)
        self._draw_epsilon(np.ones(count, np.bool_))

    @property
    def progress(self) -> float:
        """Share of the training that is over, 0 to 1."""
        return min(1.0, self.frames / self.settings.steps)

    def keep_best(self, scores: Mapping[str, float]) -> None:
        """Keep the networks as they are of the seats whose scores are better than ever before."""
        for seat, learner in zip(SEATS, self.learners, strict=True):
            if seat in scores and (seat not in self.best or scores[seat] > self.best[seat].score):
                weights = {name: w.clone() for name, w in learner.network.state_dict().items()}
                self.best[seat] = Best(scores[seat], self.frames, weights)

    def go_back_to_best(self) -> None:
        """Give the learners the best networks; those that were never scored stay as they are."""
        for seat, learner in zip(SEATS, self.learners, strict=True):
            if seat in self.best:
                learner.network.load_state_dict(self.best[seat].network)

    def update(self) -> None:
        """Play a rollout and let both seats learn from it."""
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
                members = decisions.members  # none of them where the seat has nothing to decide
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
        """Draw how often each seat explores in the battles that have just begun."""
        count = int(begun.sum())
        explores = self.rng.random((2, count)) < self.settings.exploration
        self.epsilon[:, begun] = np.where(explores, self.rng.random((2, count)) ** 2, 0.0)

    def _begin_at_archive(self) -> None:
        """Move some of the battles that have just begun to positions of the archive."""
        for decisions in self.decisions:
            self.archive.add(decisions, self.battles)
        begun = np.flatnonzero(self.battles.ended)
        moved = begun[self.rng.random(len(begun)) < self.settings.exploring_starts]
        self.from_archive[:] = False
        self.from_archive[moved] = True
        if len(moved):
            self.decisions = self.battles.put(moved, *self.archive.sample(len(moved)))

    def save(self) -> None:
        """Write a checkpoint of all processes into the run's folder; all of them call this."""
        parts = self.group.gather(self._get_state())
        if parts:
            state = {
                "settings": settings_as_json(self.settings),
                "scenarios": _digest(self.battles.packed_scenarios),
                "curve": self.curve,
                "best": {seat: best._asdict() for seat, best in self.best.items()},
                "parts": parts,
            }
            save_checkpoint(self.settings.out, state)

    def _get_state(self) -> dict[str, Any]:
        return {
            "learners": [learner.get_state() for learner in self.learners],
            "rng": self.rng.bit_generator.state,
            "epsilon": torch.from_numpy(self.epsilon),
            "from_archive": torch.from_numpy(self.from_archive),
            "battles": self.battles.get_state(),
            "archive": self.archive.get_state(),
            "counts": (self.frames, self.learned, self.seconds),
        }

    def set_state(self, state: dict[str, Any]) -> None:
        """Go on from what `save` wrote; `check_checkpoint` says whether that can be done.

        Raises:
            CheckpointError: it does not hold what `save` writes; nothing has changed.
        """
        with refuse_damage(
            self.settings.out / CHECKPOINT, "the state of this run", CheckpointError
        ):
            self._check_state(state)
        own = state["parts"][self.group.rank]
        for learner, learned in zip(self.learners, own["learners"], strict=True):
            learner.set_state(learned)
        self.rng.bit_generator.state = own["rng"]
        self.epsilon[:] = own["epsilon"].numpy()
        self.from_archive[:] = own["from_archive"].numpy()
        self.archive.set_state(own["archive"])
        self.decisions = self.battles.set_state(own["battles"])
        self.frames, self.learned, self.seconds = own["counts"]
        self.curve[:] = state["curve"]
        self.best = {seat: Best(**best) for seat, best in state["best"].items()}

    def _check_state(self, state: dict[str, Any]) -> None:
        """Raise an error, most often a ValueError, unless all processes can go on from a state."""
        check_entries("parts", state["parts"], self.group.count)
        for rank, part in enumerate(state["parts"]):
            self._check_part(f"parts[{rank}]", part)
        _CURVE.validate_python(state["curve"])
        for seat, best in state["best"].items():
            network = self.learners[SEATS.index(seat)].network.state_dict()
            check_alike(f"best.{seat}", best, Best(0.0, 0, network)._asdict())

    def _check_part(self, where: str, part: Any) -> None:
        """Check what one process goes on from."""
        own = self._get_state()
        own |= {name: part[name] for name in ("learners", "archive")}
        check_alike(where, part, own)
        check_entries(f"{where}.learners", part["learners"], len(self.learners))
        for seat, (learner, learned) in enumerate(
            zip(self.learners, part["learners"], strict=True)
        ):
            learner.check_state(f"{where}.learners[{seat}]", learned)
        check_generator(f"{where}.rng", part["rng"], self.rng)
        epsilon = part["epsilon"]
        if not ((epsilon >= 0.0) & (epsilon <= 1.0)).all():
            raise ValueError(f"{where}.epsilon: expected 0 to 1, found others")
        for k, count in enumerate(part["counts"]):
            check_number(f"{where}.counts[{k}]", count)
        self.archive.check_state(f"{where}.archive", part["archive"], self.battles)
        self.battles.read_state(part["battles"])


def check_checkpoint(state: dict[str, Any], settings: Settings) -> None:
    """Raise `CheckpointError` for a checkpoint of other settings or other scenarios."""
    names = settings.scenario
    found = resolve_scenarios(names if len(names) > 1 else names[0])
    with refuse_damage(settings.out / CHECKPOINT, "the settings of a run", CheckpointError):
        check_same_settings(state["settings"], settings_as_json(settings), settings.free)
        if state["scenarios"] != _digest(found.packed_scenarios):
            raise CheckpointError(
                f"--scenario: expected {' '.join(names)} as before, found that it has changed since"
            )


def _digest(packed_scenarios: Records[PackedScenario]) -> str:
    """What tells scenarios apart that have the same names."""
    return hashlib.sha256(packed_scenarios.tobytes()).hexdigest()
