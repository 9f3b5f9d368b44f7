"""Trains one policy for many scenarios, by the exact optimum of generated ones.

    python -m agents.distil --seat caster
    python -m agents.distil --seat dispeller --seconds 2400

Solves generated scenarios of the train split (one phase between two random armies), keeps what
every action is worth at some thousand decisions of each, and teaches a network of entities
(`wfb_gym.players.network`) to prefer what is best. No dice are thrown: each decision is learned
from as if
it had been played out endlessly often. Then the policy is graded, exactly, in scenarios of the test
split that it never saw.

Writes into the run's folder: policy.npz (`wfb_gym.players.learned.NetworkAgent` plays it),
results.json,
scores.png; lessons stay in their own folder, for the other seat and for the next run. An
interruption loses little: running again goes on with the lessons and the grades that are there,
and with --resume from the last checkpoint of the network.
"""

import argparse
import json
import math
import sys
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass, fields, replace
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import nn

from agents.distilling.grading import Grade, grades, scenario_of
from agents.distilling.lessons import Course, Lesson, make_many, read
from agents.training import checkpoints
from experiments import common
from experiments.common import INTERRUPTED, command_of, progress, versions
from experiments.figures.learning import draw_grades
from wfb_gym._records import as_records
from wfb_gym.cli.parser import Parser
from wfb_gym.encoding.view import View
from wfb_gym.engine.state import State
from wfb_gym.envs.scenario_set import generated_limits, packed_together
from wfb_gym.generating import Generation
from wfb_gym.players.learned import NetworkAgent
from wfb_gym.players.network import PolicyNetwork, save_network
from wfb_gym.seats import SEATS

_TOGETHER = 16
"""Decisions of one scenario in a batch."""


@dataclass(frozen=True)
class Args:
    """Settings of a run.

    Attributes:
        seat: "caster" or "dispeller".
        scenarios: seeds of the train split to learn from; half of them are of use.
        seconds: of learning, lessons and grading aside.
        points: what an army of the scenarios may cost.
        out: the run's folder.
        lessons: folder of the lessons.
        seed: of the network and of the order of the decisions.
        width: of the hidden layers.
        batch_size: decisions of a gradient step.
        learning_rate: at the beginning; it falls to 0 as a cosine.
        temperature: points, in parts of the greatest worth of a spell, by which an action must be
            better to be preferred e to one.
        regret: weight of the points given away, beside the likeness to the optimum.
        max_norm: of a gradient.
        train_bytes: memory that a scenario to learn from may take.
        test_bytes: memory that a scenario of the grading may take.
        graded: scenarios of the test split, with a score.
        workers: scenarios solved side by side.
        threads: of torch.
    """

    seat: str = "caster"
    scenarios: int = 1900
    seconds: float = 1150.0
    points: int = 1000
    out: Path = Path("runs")
    lessons: Path = Path("runs/lessons")
    seed: int = 0
    width: int = 64
    batch_size: int = 1024
    learning_rate: float = 2e-3
    temperature: float = 0.01
    regret: float = 0.1
    max_norm: float = 1.0
    train_bytes: int = 6 << 20
    test_bytes: int = 16 << 20
    graded: int = 200
    workers: int = 2
    threads: int = 1


class School:
    """Lessons of one seat, as batches."""

    def __init__(self, course: Course, seeds: Sequence[int], seat: int, seed: int) -> None:
        self.lessons: list[Lesson] = []
        scenarios = []
        for number in seeds:
            lesson = read(course, number, seat)
            if lesson is not None:
                self.lessons.append(lesson)
                scenarios.append(scenario_of(course, number))
        if not self.lessons:
            raise ValueError(f"lessons: expected some in {course.folder}, found none of use")
        limits = generated_limits(course.options.sizes)
        limits = limits if seat == 0 else limits.swapped(limits.dice)
        self.view = View(packed_together(scenarios), seat, limits)
        self.offsets = [np.concatenate([[0], np.cumsum(one.counts)]) for one in self.lessons]
        weights = np.sqrt([float(len(one.states)) for one in self.lessons])
        self.weights = weights / weights.sum()
        self.rng = np.random.default_rng([seed, seat])

    @property
    def decisions(self) -> int:
        """How many there are."""
        return sum(len(one.states) for one in self.lessons)

    def batch(
        self, count: int
    ) -> tuple[NDArray[np.float32], NDArray[np.bool_], NDArray[np.float32]]:
        """Decisions drawn at random: observations, masks, and what actions are worth.

        Returns:
            float32 (count, size), bool (count, actions), and points, float32 (count, actions),
            which are -inf where an action is illegal.
        """
        chosen = self.rng.choice(len(self.lessons), max(1, count // _TOGETHER), p=self.weights)
        states, values = [], []
        for which in chosen:
            lesson, offsets = self.lessons[which], self.offsets[which]
            rows = self.rng.integers(len(lesson.states), size=_TOGETHER)
            states.append(lesson.states[rows])
            values += [lesson.values[offsets[row] : offsets[row + 1]] for row in rows]
        together = as_records(State, np.concatenate(states))
        observations, masks = self.view.show(np.repeat(chosen, _TOGETHER), together)
        worth = np.full(masks.shape, -np.inf, np.float32)
        worth[masks] = np.concatenate(values)
        return observations, masks, worth


class Learner:
    """The network and how it learns."""

    def __init__(self, args: Args, school: School) -> None:
        torch.manual_seed(args.seed)
        self.args, self.school = args, school
        self.network = PolicyNetwork(school.view.limits, "entities", args.width)
        self.optimiser = torch.optim.Adam(self.network.parameters(), args.learning_rate, eps=1e-5)
        self.seconds, self.steps = 0.0, 0
        self.losses: list[tuple[float, float]] = []

    def step(self) -> float:
        """One gradient step; returns the points that the likeliest actions give away.

        They are in parts of the greatest worth of a spell.
        """
        began = time.perf_counter()
        args = self.args
        done = min(1.0, self.seconds / args.seconds)
        rate = 0.5 * args.learning_rate * (1.0 + math.cos(math.pi * done))
        self.optimiser.param_groups[0]["lr"] = max(rate, 1e-5)
        arrays = self.school.batch(args.batch_size)
        observations, masks, points = (torch.from_numpy(array) for array in arrays)
        worth = points / (100.0 * self.network.greatest_worth(observations)[:, None])
        best = worth.amax(1, keepdim=True)
        wanted = torch.softmax((worth - best) / args.temperature, 1)
        log_chances, values = self.network(observations, masks)
        likeness = -(wanted * log_chances).sum(1).mean()
        lost = torch.where(masks, best - worth, torch.zeros(()))
        regret = (log_chances.exp() * lost).sum(1).mean() / args.temperature
        value_loss = (values - best[:, 0]).square().mean()
        loss = likeness + args.regret * regret + 0.5 * value_loss
        self.optimiser.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(self.network.parameters(), args.max_norm)
        self.optimiser.step()
        self.steps += 1
        self.seconds += time.perf_counter() - began
        surest = log_chances.argmax(1, keepdim=True)
        return float(lost.gather(1, surest).mean())

    def save(self, path: Path) -> None:
        """Write a checkpoint, as a whole or not at all."""
        held = {
            "network": self.network.state_dict(),
            "optimiser": self.optimiser.state_dict(),
            "rng": self.school.rng.bit_generator.state,
            "counts": (self.seconds, self.steps),
            "losses": self.losses,
        }
        checkpoints.write(path, held)

    def restore(self, path: Path) -> None:
        """Go on from a checkpoint."""
        held = checkpoints.read(path)
        self.network.load_state_dict(held["network"])
        self.optimiser.load_state_dict(held["optimiser"])
        self.school.rng.bit_generator.state = held["rng"]
        self.seconds, self.steps = held["counts"]
        self.losses = held["losses"]


def lessons(args: Args, course: Course) -> list[int]:
    """Make what lessons are missing; the seeds that are of use."""
    useful = []
    seeds = range(course.first, course.first + args.scenarios)
    with progress() as bar:
        task = bar.add_task("solving", total=len(seeds), note="")
        for seed, of_use in make_many(course, seeds, args.workers):
            useful += [seed] if of_use else []
            bar.update(task, advance=1, note=f"{len(useful)} of use")
    return useful


def learn(learner: Learner, checkpoint: Path) -> None:
    """Train until the time is spent; a checkpoint every minute, and where Ctrl-C ends it."""
    args = learner.args
    saved, recent = time.monotonic(), []
    with progress() as bar:
        task = bar.add_task("learning", total=int(args.seconds), note="")
        try:
            while learner.seconds < args.seconds:
                recent.append(learner.step())
                if len(recent) == 200:
                    learner.losses.append((learner.seconds, float(np.mean(recent))))
                    recent = []
                    rate = learner.steps * args.batch_size / learner.seconds
                    note = f"{rate:,.0f}/s, gives away {learner.losses[-1][1]:.4f}"
                    bar.update(task, completed=int(learner.seconds), note=note)
                if time.monotonic() - saved > 60.0:
                    learner.save(checkpoint)
                    saved = time.monotonic()
        finally:
            learner.save(checkpoint)


def graded(args: Args, course: Course, agent: NetworkAgent, path: Path) -> list[Grade]:
    """Grades in scenarios of the test split."""
    found: list[Grade] = []
    test = replace(course, split="test", max_bytes=args.test_bytes)
    with progress() as bar:
        task = bar.add_task("grading", total=args.graded, note="")
        for found, seen in grades(test, agent.seat, agent, args.graded, path):
            scores = [one.score for one in found if one.score is not None]
            note = f"median {np.median(scores):.1f} " if scores else ""
            bar.update(task, completed=len(found), note=f"{note}of {seen} seeds")
    return found


def parsed(arguments: Sequence[str] | None) -> tuple[Args, bool, bool]:
    """Settings from the command line, whether to resume, and whether JSON is wanted.

    Raises:
        SystemExit: help was asked for, or the input is bad.
    """
    parser = Parser(
        prog="python -m agents.distil",
        description=(__doc__ or "").strip(),
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    common.add_flags(
        parser,
        Args,
        seat={"choices": SEATS, "default": Args.seat, "help": "(default: %(default)s)"},
        out={"type": Path, "help": "(default: runs/distil-SEAT)"},
    )
    parser.add_argument("--resume", action="store_true", help="go on from the folder's checkpoint")
    parser.add_argument("--quick", action="store_true", help="a tiny run that shows that all works")
    parser.add_argument("--json", action="store_true", help="print JSON alone on stdout")
    given = vars(parser.parse_args(arguments))
    resume, quick, as_json = (given.pop(key) for key in ("resume", "quick", "json"))
    given["out"] = given["out"] or Path("runs") / f"distil-{given['seat']}"
    args = Args(**given)
    if quick:
        args = replace(
            args, scenarios=8, seconds=2.0, batch_size=64, width=16, graded=3, workers=1,
            train_bytes=1 << 20, test_bytes=1 << 20,
        )  # fmt: skip
    for each in fields(Args):
        value = getattr(args, each.name)
        if isinstance(value, int | float) and each.name != "seed" and value <= 0:
            parser.error(f"--{each.name.replace('_', '-')}: expected more than 0, found {value}")
    if resume and not (args.out / "checkpoint.pt").is_file():
        parser.error(f"--resume: there is no checkpoint in {args.out}")
    return args, resume, as_json


def main(arguments: Sequence[str] | None = None) -> int:
    """Solve, train, grade and write; returns the exit status."""
    args, resume, as_json = parsed(arguments)
    torch.set_num_threads(args.threads)
    args.out.mkdir(parents=True, exist_ok=True)
    seat = SEATS.index(args.seat)
    options = Generation(points=args.points, phases=1)
    course = Course(options, args.lessons, max_bytes=args.train_bytes)
    began = time.perf_counter()
    try:
        useful = lessons(args, course)
        solved_in = time.perf_counter() - began
        school = School(course, useful, seat, args.seed)
        learner = Learner(args, school)
        if resume:
            learner.restore(args.out / "checkpoint.pt")
        learn(learner, args.out / "checkpoint.pt")
        about: dict[str, Any] = {
            "seat": seat,
            "general": True,
            "scenario": f"generated, {args.points} points, one phase",
            "seed": args.seed,
            "decisions": learner.steps * args.batch_size,
            "command": command_of("distil", args, ("out", "lessons", "workers", "threads")),
            "versions": versions(),
        }
        policy = args.out / "policy.npz"
        save_network(learner.network, policy, about)
        agent = NetworkAgent(policy)
        found = graded(args, course, agent, args.out / f"grades-{learner.steps}.jsonl")
        about["score"] = float(np.median([one.score for one in found if one.score is not None]))
        save_network(learner.network, policy, about)
    except KeyboardInterrupt:
        print(f"interrupted; --resume goes on from {args.out}", file=sys.stderr)
        return INTERRUPTED
    scores = np.array([one.score for one in found])
    results = {
        "args": common.told(args),
        "scenarios": len(school.lessons),
        "decisions": school.decisions,
        "solving_seconds": round(solved_in, 1),
        "learning_seconds": round(learner.seconds, 1),
        "learned_from": learner.steps * args.batch_size,
        "median_score": float(np.median(scores)),
        "mean_score": float(scores.mean()),
        "quantiles": {str(q): float(np.quantile(scores, q)) for q in (0.05, 0.25, 0.75, 0.95)},
        "grades": [asdict(one) for one in found],
        "versions": versions(),
    }
    (args.out / "results.json").write_text(json.dumps(results, indent=2) + "\n", encoding="utf-8")
    draw_grades(found, args.seat, args.out / "scores.png")
    if as_json:
        print(json.dumps(results, indent=2))
    else:
        told = f"median {results['median_score']:.1f}, mean {results['mean_score']:.1f}"
        print(f"{args.seat}: {told} over {len(found)} scenarios that it never saw")
    return 0


if __name__ == "__main__":
    sys.exit(main())
