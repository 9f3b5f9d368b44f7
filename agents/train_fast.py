"""Trains both seats at once by self-play: PPO in PyTorch on the native batch, in one file.

    python -m agents.train_fast
    python -m agents.train_fast --runs 5
    python -m agents.train_fast --scenario storm-council --seconds 600 --width 256
    python -m agents.train_fast --scenario generated-phase --seconds 3600 --shape entities

Proximal policy optimisation (Schulman et al. 2017) with what this game asks for:

- Both seats learn from the same battles, each with a network of its own, so that nobody has to be
  there to play against, and no decision is wasted.
- A policy that learned against one way to play is weak where that way never leads, and the exact
  score punishes that. So in part of the battles a seat strays: it plays at random now and then,
  with a chance drawn for each battle. What follows a random decision counts for the decisions
  before it by the critic's opinion alone, so that nobody learns to count on mistakes.
- A random decision that came out well is taken up, whatever its chance was: a policy that is sure
  of the wrong thing would hardly find out from its own decisions.
- Some battles begin in the middle, at a position out of an archive that has met each position once,
  however rare: so that the positions which only an enemy leads to who knows one's weakness are
  learned too (exploring starts, Sutton and Barto 2018, section 5.3).
- Entropy is rewarded, much at first and little in the end (a geometric schedule): at first the
  enemy is no enemy yet, and who believes the first results finds nothing later.
- Battles end by themselves and points are not discounted: gamma is 1.

Writes into the run's folder: caster.npz and dispeller.npz (`wfb_gym.players.learned.NetworkAgent`
plays
them), results.json, curve.png, and a checkpoint from which --resume goes on. Where the scenario
can be solved the exact score of either seat is told, and policy.png shows what the caster opens
with beside the optimum. Several runs have a folder each, of consecutive seeds; those that are
finished are not made again.
"""

import argparse
import json
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from agents.training import checkpoints
from agents.training.pause import Pause
from agents.training.peers import Peers, joined
from agents.training.settings import GENERATED
from experiments import common
from experiments.common import INTERRUPTED, command_of, progress, versions
from experiments.figures.dice import policy_beside_optimal
from experiments.figures.learning import draw_scores
from wfb_gym import solver
from wfb_gym.cli.parser import Parser
from wfb_gym.engine.state import STATE
from wfb_gym.envs.self_play import Decisions, SelfPlayBatch
from wfb_gym.players.learned import NetworkAgent
from wfb_gym.players.network import PolicyNetwork, save_network
from wfb_gym.seats import SEATS

TRAINING_SEED = 3_000_000_000
"""Of the first run; other runs' seeds are so far off that no two battles share dice."""
SPACING = 1_000_000
UNLIKELY = -5.0
"""Logarithm of a chance that is small enough: what strayed for the worse need be no unlikelier."""


@dataclass(frozen=True)
class Args:
    """Settings of a run.

    Attributes:
        scenario: bundled names or files, played in turn; or one name of generated ones.
        seconds: of learning, evaluations aside.
        steps: decisions of both seats in all; 0: as many as there is time for.
        seed: of networks, sampling and dice.
        runs: how many, of consecutive seeds.
        out: the run's folder.
        shape: of the networks, see `wfb_gym.players.network`.
        width: of their hidden layers.
        num_envs: battles side by side.
        rollout: decisions of each battle between two updates.
        batch_size: decisions of a gradient step.
        epochs: passes over the decisions of an update.
        learning_rate: at the beginning; it falls linearly to nothing.
        gae_lambda: of generalised advantage estimation (Schulman et al. 2016).
        clip: how far the chance of an action may move in an update.
        entropy: weight of the entropy bonus at the beginning,
        last_entropy: and at the end.
        straying: share of battles in which a seat strays, for each seat.
        stray_weight: of what is learned from decisions that strayed.
        restarts: share of battles that begin at a position of the archive.
        archive: most positions that it holds.
        max_norm: of a gradient.
        evaluations: points of the curve.
        exact_bytes: memory that the exact solution may take.
        workers: processes that learn together, each with its part of the battles.
        checkpoint_seconds: between two checkpoints.
    """

    scenario: tuple[str, ...] = ("archmage-duel",)
    seconds: float = 30.0
    steps: int = 0
    seed: int = 0
    runs: int = 1
    out: Path = Path("runs")
    shape: str = "flat"
    width: int = 96
    num_envs: int = 2048
    rollout: int = 16
    batch_size: int = 2048
    epochs: int = 2
    learning_rate: float = 3e-3
    gae_lambda: float = 0.95
    clip: float = 0.2
    entropy: float = 0.3
    last_entropy: float = 0.02
    straying: float = 0.7
    stray_weight: float = 0.5
    restarts: float = 0.5
    archive: int = 50_000
    max_norm: float = 0.5
    evaluations: int = 6
    exact_bytes: int = 1 << 28
    workers: int = 2
    checkpoint_seconds: float = 60.0


@dataclass
class Rows:
    """What one seat decided in a rollout, step by step."""

    members: list[NDArray[np.int64]] = field(default_factory=list)
    steps: list[int] = field(default_factory=list)
    read: list[Tensor] = field(default_factory=list)
    masks: list[Tensor] = field(default_factory=list)
    actions: list[Tensor] = field(default_factory=list)
    log_chances: list[Tensor] = field(default_factory=list)
    strayed: list[NDArray[np.bool_]] = field(default_factory=list)


class Archive:
    """Positions that were met, each once; when it is full, new ones take the places of others.

    What was met is remembered by its mark's place in a table, which is emptied when half of it
    is taken; the rare two positions that share a place count as one.
    """

    def __init__(self, most: int, seed: int | Sequence[int], places: int = 1 << 22) -> None:
        self.most = most
        self.rng = np.random.default_rng([*np.atleast_1d(seed), 3])
        self.states = np.zeros(most, STATE)
        self.scenarios = np.zeros(most, np.int64)
        self.met = np.zeros(places, np.bool_)
        self.latest = np.zeros(places, np.int32)  # row of a batch that was written there last
        self.taken = self.size = 0

    def meet(self, shown: Decisions, turns: SelfPlayBatch) -> None:
        """Keep those of the decisions that were never met before."""
        places = _marks(shown.observations, turns.playing[shown.members]) % len(self.met)
        rows = np.flatnonzero(~self.met[places])
        if not len(rows):
            return
        self.latest[places[rows]] = rows
        rows = rows[self.latest[places[rows]] == rows]  # one of those that are the same
        if 2 * (self.taken + len(rows)) > len(self.met):
            self.met[:] = False
            self.taken = 0
        self.met[places[rows]] = True
        self.taken += len(rows)
        members = shown.members[rows]
        count = min(len(members), self.most)
        room = np.arange(self.size, min(self.most, self.size + count))
        self.size += len(room)
        others = self.rng.choice(self.most, count - len(room), replace=False)
        kept = np.concatenate([room, others])
        self.states[kept] = turns.states(members[:count])
        self.scenarios[kept] = turns.playing[members[:count]]

    def drawn(self, count: int) -> tuple[NDArray[np.int64], NDArray[Any]]:
        """Scenarios and states of so many of them, each as likely."""
        places = self.rng.integers(self.size, size=count)
        return self.scenarios[places], self.states[places]

    def state(self) -> dict[str, Any]:
        """Everything that the archive's future depends on."""
        return {
            "states": self.states[: self.size].tobytes(),
            "scenarios": torch.from_numpy(self.scenarios[: self.size]),
            "met": torch.from_numpy(np.packbits(self.met)),
            "taken": self.taken,
            "rng": self.rng.bit_generator.state,
        }

    def restore(self, held: dict[str, Any]) -> None:
        """Go back to what `state` gave."""
        self.size = len(held["scenarios"])
        self.states[: self.size] = np.frombuffer(held["states"], STATE)
        self.scenarios[: self.size] = held["scenarios"].numpy()
        self.met = np.unpackbits(held["met"].numpy(), count=len(self.met)).view(np.bool_)
        self.taken = held["taken"]
        self.rng.bit_generator.state = held["rng"]


def _marks(observations: NDArray[np.float32], scenarios: NDArray[np.int64]) -> NDArray[np.int64]:
    """Numbers that tell decisions apart, all but for chance: int64 (k,)."""
    weights = np.random.default_rng(0).normal(size=observations.shape[1])
    told: NDArray[np.float64] = observations @ weights + scenarios * np.pi
    return np.round(1e8 * told).astype(np.int64)


class Learner:
    """One seat: its network, its optimiser, and how it learns from a rollout."""

    def __init__(self, seat: int, turns: SelfPlayBatch, args: Args, peers: Peers) -> None:
        self.seat, self.args, self.peers = seat, args, peers
        view = turns.views[seat]
        self.network = PolicyNetwork(view.limits, args.shape, args.width)
        parameters = list(self.network.parameters())
        self.gradient = torch.zeros(sum(each.numel() for each in parameters))
        parts = self.gradient.split([each.numel() for each in parameters])
        for parameter, part in zip(parameters, parts, strict=True):
            parameter.grad = part.view_as(parameter)  # so that all of it is one row of numbers
        self.optimiser = torch.optim.Adam(
            parameters, args.learning_rate, betas=(0.9, 0.99), eps=1e-5, fused=True
        )
        self.rng = np.random.default_rng([args.seed, seat, peers.rank])
        self.torch_rng = torch.Generator().manual_seed(
            (args.seed * peers.count + peers.rank) * 2 + seat
        )
        static = torch.from_numpy(view.static)
        self.worth = 100.0 * self.network.greatest_worth(static).numpy()  # points, by scenario
        general = turns.redraw or len(turns.scenarios) > 1
        self.agent = NetworkAgent(self.network, seat, general=general)

    def decide(
        self,
        shown: Decisions,
        straying: NDArray[np.float64],
        first: NDArray[np.bool_],
        rows: Rows | None,
        step: int,
    ) -> tuple[NDArray[np.int64], NDArray[np.float32], NDArray[np.bool_]]:
        """Actions, values in points and who strays; kept in `rows`, if there are any."""
        if not len(shown.members):
            return np.zeros(0, np.int64), np.zeros(0, np.float32), np.zeros(0, np.bool_)
        masks = torch.from_numpy(shown.masks)
        with torch.no_grad():
            read = self.network.encode(torch.from_numpy(shown.observations))
            log_chances, values = self.network.evaluate(read, masks)
            uniform = torch.rand(log_chances.shape, generator=self.torch_rng)
            strays = self.rng.random(len(shown.members)) < straying[shown.members]
            strays |= first[shown.members] & (self.rng.random(len(shown.members)) < 0.5)
            told = torch.where(torch.from_numpy(strays)[:, None], masks.float().log(), log_chances)
            # the greatest after Gumbel noise is a draw
            actions = (told - (-uniform.clamp_min(1e-20).log()).log()).argmax(1)
            if rows is not None:
                rows.members.append(shown.members)
                rows.steps.append(step)
                rows.read.append(read)
                rows.masks.append(masks)
                rows.actions.append(actions)
                rows.log_chances.append(log_chances.gather(1, actions[:, None])[:, 0])
                rows.strayed.append(strays)
        return actions.numpy(), values.numpy(), strays

    def learn(
        self,
        rows: Rows,
        advantages: NDArray[np.float32],
        targets: NDArray[np.float32],
        done: float,
    ) -> int:
        """Improve the network by a rollout; returns from how many decisions, of all processes.

        Args:
            rows: what the seat decided.
            advantages: float32 (steps, n), its own, in parts of the worth.
            targets: what the values should have been, float32 (steps, n).
            done: how much of the training is over, 0 to 1.
        """
        args = self.args
        choice = [torch.from_numpy(masks.numpy().sum(1) > 1) for masks in rows.masks]
        at = [
            (step, m[k.numpy()])
            for step, m, k in zip(rows.steps, rows.members, choice, strict=True)
        ]

        def together(parts: list[Tensor]) -> Tensor:
            return torch.cat([part[k] for part, k in zip(parts, choice, strict=True)])

        lesson = [
            together(rows.read),
            together(rows.masks),
            together(rows.actions),
            together(rows.log_chances),
            together([torch.from_numpy(each) for each in rows.strayed]),
            torch.from_numpy(np.concatenate([advantages[step, m] for step, m in at])),
            torch.from_numpy(np.concatenate([targets[step, m] for step, m in at])),
        ]
        gains = lesson[5].double()
        count, total, squares = self.peers.summed(
            torch.stack(
                [torch.tensor(float(len(gains))).double(), gains.sum(), gains.square().sum()]
            )
        ).tolist()
        if count < 2:
            return 0
        lesson[5] /= np.sqrt(max(0.0, squares / count - (total / count) ** 2)) + 1e-8
        self.optimiser.param_groups[0]["lr"] = args.learning_rate * max(0.01, 1.0 - done)
        steps = max(1, round(count / args.batch_size))
        for _ in range(args.epochs):
            order = torch.randperm(len(gains), generator=self.torch_rng)
            shuffled = [each.index_select(0, order).tensor_split(steps) for each in lesson]
            for batch in zip(*shuffled, strict=True):
                self.gradient.zero_()
                (self._loss(done, *batch) * (steps / count)).backward()
                self.peers.summed(self.gradient)
                self.gradient.mul_((args.max_norm / self.gradient.norm()).clamp_max(1.0))
                self.optimiser.step()
        return int(count)

    def _loss(
        self,
        done: float,
        read: Tensor,
        masks: Tensor,
        actions: Tensor,
        before: Tensor,
        strayed: Tensor,
        gain: Tensor,
        returns: Tensor,
    ) -> Tensor:
        """What is to become less, summed over decisions."""
        args = self.args
        log_chances, values = self.network.evaluate(read, masks)
        now = log_chances.gather(1, actions[:, None])[:, 0]
        ratio = (now - before).exp()
        clipped = ratio.clamp(1.0 - args.clip, 1.0 + args.clip)
        own = ~strayed
        policy_loss = -(torch.min(ratio * gain, clipped * gain) * own).sum()
        # The ratio says nothing of a decision that strayed: it is taken up, or left.
        moved = strayed & ((gain > 0.0) | (now.detach() > UNLIKELY))
        policy_loss = policy_loss - args.stray_weight * (gain * now * moved).sum()
        value_loss = ((values - returns).square() * own).sum()
        entropy = -(log_chances.exp() * log_chances.masked_fill(~masks, 0.0)).sum()
        entropy_weight = args.entropy * (args.last_entropy / args.entropy) ** done
        return policy_loss + 0.5 * value_loss - entropy_weight * entropy

    def state(self) -> dict[str, Any]:
        """Everything that the learner's future depends on."""
        return {
            "network": self.network.state_dict(),
            "optimiser": self.optimiser.state_dict(),
            "rng": self.rng.bit_generator.state,
            "torch_rng": self.torch_rng.get_state(),
        }

    def restore(self, state: dict[str, Any]) -> None:
        """Go back to what `state` gave."""
        self.network.load_state_dict(state["network"])
        self.optimiser.load_state_dict(state["optimiser"])
        self.rng.bit_generator.state = state["rng"]
        self.torch_rng.set_state(state["torch_rng"])


class Trainer:
    """Battles, both learners, and the loop over rollouts and updates."""

    def __init__(self, args: Args, peers: Peers | None = None) -> None:
        self.args = args
        self.peers = peers = peers or Peers()
        scenario: Any = args.scenario if len(args.scenario) > 1 else args.scenario[0]
        count = self.num_envs = args.num_envs // peers.count
        self.turns = SelfPlayBatch(count, scenario)
        torch.manual_seed(args.seed)  # the same networks in all processes
        self.learners = tuple(Learner(seat, self.turns, args, peers) for seat in range(2))
        self.worth = self.learners[0].worth
        self.rng = np.random.default_rng([args.seed, 2, peers.rank])
        self.straying = np.zeros((2, count))
        self.first = np.zeros(count, np.bool_)
        self.archive = Archive(args.archive // peers.count, (args.seed, peers.rank))
        self.frames = self.learned = 0
        self.seconds = 0.0
        self.shown = self.turns.reset(TRAINING_SEED + SPACING * args.seed + count * peers.rank)
        self._draw_straying(np.ones(count, np.bool_))

    def _draw_straying(self, begun: NDArray[np.bool_]) -> None:
        """How often each seat strays in the battles that have just begun."""
        count = int(begun.sum())
        strays = self.rng.random((2, count)) < self.args.straying
        self.straying[:, begun] = np.where(strays, self.rng.random((2, count)) ** 2, 0.0)

    def _restart(self) -> None:
        """Begin some of the battles that have just begun at positions of the archive."""
        for shown in self.shown:
            self.archive.meet(shown, self.turns)
        begun = np.flatnonzero(self.turns.ended)
        chosen = begun[self.rng.random(len(begun)) < self.args.restarts]
        self.first[:] = False
        self.first[chosen] = True
        if len(chosen):
            self.shown = self.turns.put(chosen, *self.archive.drawn(len(chosen)))

    @property
    def done(self) -> float:
        """How much of the training is over, 0 to 1."""
        if self.args.steps:
            return min(1.0, self.frames / self.args.steps)
        return min(1.0, self.seconds / self.args.seconds)

    def update(self) -> None:
        """One rollout and what both seats learn from it."""
        began = time.perf_counter()
        args, count = self.args, self.num_envs
        (done,) = self.peers.told(self.done)
        values = np.zeros((args.rollout + 1, count), np.float32)
        gained = np.zeros((args.rollout, count), np.float32)
        ended = np.zeros((args.rollout, count), np.bool_)
        sound = np.ones((args.rollout + 1, count), np.bool_)
        rows = (Rows(), Rows())
        for step in range(args.rollout + 1):
            last = step == args.rollout
            actions = []
            for seat, (learner, shown) in enumerate(zip(self.learners, self.shown, strict=True)):
                kept = None if last else rows[seat]
                chosen, value, strays = learner.decide(
                    shown, self.straying[seat], self.first, kept, step
                )
                values[step, shown.members] = value if seat == 0 else -value
                sound[step, shown.members] = ~strays
                actions.append(chosen)
            if last:
                break
            worth = self.worth[self.turns.playing]
            self.shown = self.turns.play(actions[0], actions[1])
            gained[step] = self.turns.points / worth
            ended[step] = self.turns.ended
            self._draw_straying(self.turns.ended)
            self._restart()
        sound[-1] = True  # nothing was played there
        advantages = estimated(values, gained, ended, sound, args.gae_lambda)
        targets = advantages + values[:-1]
        for learner, kept, sign in zip(self.learners, rows, (1.0, -1.0), strict=True):
            self.learned += learner.learn(kept, sign * advantages, sign * targets, done)
        self.frames += args.rollout * count * self.peers.count
        self.seconds += time.perf_counter() - began

    def save(self, path: Path) -> None:
        """Write a checkpoint of all processes, as a whole or not at all."""
        parts = self.peers.gathered(self._state())
        if not parts:
            return
        checkpoints.write(path, {"args": common.told(self.args), "parts": parts})

    def _state(self) -> dict[str, Any]:
        """Everything that this process's future depends on."""
        return {
            "learners": [learner.state() for learner in self.learners],
            "rng": self.rng.bit_generator.state,
            "straying": torch.from_numpy(self.straying),
            "first": torch.from_numpy(self.first),
            "turns": self.turns.get_state(),
            "archive": self.archive.state(),
            "counts": (self.frames, self.learned, self.seconds),
        }

    def restore(self, parts: Sequence[dict[str, Any]]) -> None:
        """Go on from the parts of a checkpoint, one of each process."""
        held = parts[self.peers.rank]
        for learner, state in zip(self.learners, held["learners"], strict=True):
            learner.restore(state)
        self.rng.bit_generator.state = held["rng"]
        self.straying = held["straying"].numpy()
        self.first = held["first"].numpy()
        self.archive.restore(held["archive"])
        self.shown = self.turns.set_state(held["turns"])
        self.frames, self.learned, self.seconds = held["counts"]


def estimated(
    values: NDArray[np.float32],
    gained: NDArray[np.float32],
    ended: NDArray[np.bool_],
    sound: NDArray[np.bool_],
    gae_lambda: float,
) -> NDArray[np.float32]:
    """Advantages, as the first army sees them: float32 (steps, n).

    Args:
        values: of the positions, float32 (steps + 1, n).
        gained: points on the way to the next, float32 (steps, n).
        ended: whether the battle ended on that way, bool (steps, n).
        sound: whether a decision was the policy's own, bool (steps + 1, n): what comes of others
            says nothing about the decisions before.
        gae_lambda: trust in what happened over the critic.
    """
    advantages = np.zeros_like(gained)
    later = np.zeros(gained.shape[1], np.float32)
    for step in range(len(gained) - 1, -1, -1):
        goes_on = ~ended[step]
        error = gained[step] + np.where(goes_on, values[step + 1], 0.0) - values[step]
        later = error + gae_lambda * np.where(goes_on & sound[step + 1], later, 0.0)
        advantages[step] = later
    return advantages


def exact_scores(trainer: Trainer, solutions: Sequence[solver.Solution]) -> list[float]:
    """Normalised score of either seat: the median over the scenarios that are solved."""
    scores = []
    for seat, learner in enumerate(trainer.learners):
        each = [solver.normalised_score(one, learner.agent, seat).score for one in solutions]
        scores.append(float(np.median([one for one in each if one is not None])))
    return scores


def solved_ones(args: Args) -> list[solver.Solution]:
    """The scenarios whose optimum is at hand; none of generated ones, which are too many."""
    if args.scenario[0].partition(":")[0] in GENERATED:
        return []
    found = []
    for scenario in args.scenario:
        try:
            found.append(solver.solved(scenario, max_bytes=args.exact_bytes, notice=sys.stderr))
        except solver.TooLarge as error:
            print(f"no exact score: {error}", file=sys.stderr)
    return found


def helped(peers: Peers, args: Args, resume: bool) -> None:
    """What the other processes do: the same as `trained`, as the first says."""
    trainer = Trainer(args, peers)
    if resume:
        trainer.restore(checkpoints.read(args.out / "checkpoint.pt")["parts"])
    while True:
        save, stop = peers.told(0.0, 0.0)
        if save:
            trainer.save(args.out / "checkpoint.pt")
        if stop:
            return
        trainer.update()


def trained(trainer: Trainer, solutions: Sequence[solver.Solution]) -> tuple[list[Any], bool]:
    """Train until time or steps are spent; points of the curve, and whether Ctrl-C ended it."""
    args = trainer.args
    curve: list[dict[str, Any]] = []
    saved = time.monotonic()

    def point() -> None:
        at = {"seconds": round(trainer.seconds, 2), "frames": trainer.frames}
        scores = exact_scores(trainer, solutions) if solutions else []
        curve.append({**at, "scores": dict(zip(SEATS, scores, strict=False))})

    with progress() as bar, Pause() as pause:
        task = bar.add_task("training", total=1000, note="")
        while True:
            ended = trainer.done >= 1.0
            interrupted = pause.asked and not ended
            save = interrupted or time.monotonic() - saved > args.checkpoint_seconds
            trainer.peers.told(save, ended or interrupted)
            if save:
                trainer.save(args.out / "checkpoint.pt")
                saved = time.monotonic()
            if interrupted:
                return curve, True
            if ended:
                break
            if trainer.done >= len(curve) / args.evaluations:
                point()
            trainer.update()
            rate = trainer.frames / trainer.seconds
            told = "".join(f" {k} {v:.1f}" for k, v in curve[-1]["scores"].items())
            bar.update(task, completed=int(1000 * trainer.done), note=f"{rate:,.0f}/s{told}")
    point()
    return curve, False


def parsed(arguments: Sequence[str] | None) -> tuple[Args, bool, bool]:
    """Settings from the command line, whether to resume, and whether JSON is wanted.

    Raises:
        SystemExit: help was asked for, or the input is bad.
    """
    parser = Parser(
        prog="python -m agents.train_fast",
        description=(__doc__ or "").strip(),
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    common.add_flags(
        parser,
        Args,
        scenario={"action": "append", "help": "repeat for several"},
        out={"type": Path, "help": "(default: runs/SCENARIO-fast)"},
    )
    parser.add_argument("--resume", action="store_true", help="go on from the folder's checkpoint")
    parser.add_argument("--quick", action="store_true", help="a tiny run that shows that all works")
    parser.add_argument("--json", action="store_true", help="print JSON alone on stdout")
    given = vars(parser.parse_args(arguments))
    resume, quick, as_json = (given.pop(key) for key in ("resume", "quick", "json"))
    given["scenario"] = tuple(given["scenario"] or Args.scenario)
    name = Path(given["scenario"][0]).stem.replace(":", "-")
    given["out"] = given["out"] or Path("runs") / f"{name}-fast"
    args = Args(**given)
    if quick:
        args = replace(
            args,
            steps=4096,
            num_envs=64,
            rollout=8,
            batch_size=128,
            evaluations=2,
            width=32,
            workers=1,
        )
    for key in (
        "seconds",
        "runs",
        "num_envs",
        "rollout",
        "batch_size",
        "epochs",
        "width",
        "evaluations",
        "workers",
    ):
        if getattr(args, key) <= 0:
            parser.error(f"--{key.replace('_', '-')}: expected more than 0")
    if args.num_envs % args.workers:
        parser.error(f"--num-envs: expected a multiple of {args.workers} workers")
    if resume and args.runs == 1 and not (args.out / "checkpoint.pt").is_file():
        parser.error(f"--resume: there is no checkpoint in {args.out}")
    return args, resume, as_json


def run(args: Args, resume: bool) -> dict[str, Any]:
    """Train with one seed, grade and write; returns the results."""
    args.out.mkdir(parents=True, exist_ok=True)
    held = checkpoints.read(args.out / "checkpoint.pt")["parts"] if resume else None
    if held is not None and len(held) != args.workers:
        raise checkpoints.CheckpointError(
            f"--workers: expected {len(held)} as before, found {args.workers}"
        )
    solutions = solved_ones(args)  # before the others come, who would wait
    with joined(args.workers, helped, args, resume) as peers:
        trainer = Trainer(args, peers)
        if held is not None:
            trainer.restore(held)
        curve, interrupted = trained(trainer, solutions)
    scores = curve[-1]["scores"] if curve else {}
    results = {
        "args": common.told(args),
        "interrupted": interrupted,
        "frames": trainer.frames,
        "learned": trainer.learned,
        "seconds": round(trainer.seconds, 2),
        "frames_per_second": round(trainer.frames / max(trainer.seconds, 1e-9)),
        "scores": scores,
        "curve": curve,
        "versions": versions(),
    }
    for seat, learner in zip(SEATS, trainer.learners, strict=True):
        about = {
            "seat": learner.seat,
            "general": learner.agent.sees_positions,
            "scenario": ", ".join(args.scenario),
            "seed": args.seed,
            "frames": trainer.frames,
            "score": scores.get(seat),
            "command": command_of("train_fast", args),
            "versions": versions(),
        }
        save_network(learner.network, args.out / f"{seat}.npz", about)
    (args.out / "results.json").write_text(json.dumps(results, indent=2) + "\n", encoding="utf-8")
    if scores:
        draw_scores([curve], f"self-play in {', '.join(args.scenario)}", args.out / "curve.png")
    if len(solutions) == 1 == len(args.scenario) and not interrupted:
        picture = args.out / "policy.png"
        try:
            caster = trainer.learners[0].agent.act
            policy_beside_optimal(solutions[0], caster, picture, "the trained caster")
        except ValueError as error:
            print(f"no {picture.name}: {error}", file=sys.stderr)
    if interrupted:
        print(f"interrupted; --resume goes on from {args.out}", file=sys.stderr)
    return results


def runs_of(args: Args, resume: bool) -> dict[str, Any]:
    """Train with several seeds, each in a folder of its own; the results of all."""
    results = []
    for seed in range(args.seed, args.seed + args.runs):
        one = replace(args, seed=seed, runs=1, out=args.out / f"seed-{seed}")
        path = one.out / "results.json"
        if resume and path.is_file():
            held = json.loads(path.read_text(encoding="utf-8"))
            if not held["interrupted"]:
                results.append(held)
                continue
        there = resume and (one.out / "checkpoint.pt").is_file()
        results.append(run(one, there))
        if results[-1]["interrupted"]:
            break
    seats = results[0]["scores"]
    told = {
        "args": common.told(args),
        "interrupted": results[-1]["interrupted"],
        "frames": sum(one["frames"] for one in results),
        "seconds": sum(one["seconds"] for one in results),
        "scores": {s: float(np.median([one["scores"][s] for one in results])) for s in seats},
        "runs": results,
    }
    (args.out / "results.json").write_text(json.dumps(told, indent=2) + "\n", encoding="utf-8")
    if seats:
        title = f"self-play in {', '.join(args.scenario)}, {len(results)} seeds"
        draw_scores([one["curve"] for one in results], title, args.out / "curve.png")
    return told


def main(arguments: Sequence[str] | None = None) -> int:
    """Train, grade and write; returns the exit status."""
    args, resume, as_json = parsed(arguments)
    torch.set_num_threads(1)  # there are several processes instead
    try:
        results = runs_of(args, resume) if args.runs > 1 else run(args, resume)
    except checkpoints.CheckpointError as error:
        print(f"python -m agents.train_fast: {error}", file=sys.stderr)
        return 2
    if as_json:
        print(json.dumps(results, indent=2))
    else:
        told = ", ".join(f"{seat} {score:.2f}" for seat, score in results["scores"].items())
        of = f"median of {args.runs} runs: " if args.runs > 1 else ""
        counts = f"{results['frames']:,} decisions in {results['seconds']:.1f} s"
        print(f"{counts}; exact scores: {of}{told or 'none'}")
    return INTERRUPTED if results["interrupted"] else 0


if __name__ == "__main__":
    sys.exit(main())
