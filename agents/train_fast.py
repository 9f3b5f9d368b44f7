"""Trains both seats at once by self-play: PPO in PyTorch on the native batch.

    python -m agents.train_fast
    python -m agents.train_fast --runs 5
    python -m agents.train_fast --scenario storm-council --seconds 600 --width 256
    python -m agents.train_fast --scenario generated-phase --seconds 3600 --shape entities

Proximal policy optimisation (Schulman et al. 2017), with what this game asks for:

- Both seats learn from the same battles, each with a network of its own, so that no opponent has
  to be chosen and no decision is wasted.
- A policy that learns against one way to play is weak where that way never leads, and the exact
  score punishes that. So in part of the battles a seat explores: it acts at random with a
  probability (epsilon) that is drawn for each battle. What follows a random action counts for the
  decisions before it by the critic's value alone, so that no policy counts on mistakes.
- A random action that came out well is reinforced, however unlikely the policy made it: a policy
  that is sure of the wrong action would hardly find out from its own samples.
- Some battles begin at a position of an archive that stores each position once, however rare, so
  that positions reached only by an exploiting opponent are learned too (exploring starts, Sutton
  and Barto 2018, section 5.3).
- The entropy bonus is large at first and small in the end (a geometric schedule): an early greedy
  policy stops exploring.
- Battles end by themselves and points are not discounted: gamma is 1.

Writes into the run's folder: caster.npz and dispeller.npz (`wfb_gym.players.learned.NetworkAgent`
plays them), results.json, curve.png, and a checkpoint from which --resume goes on. Where the
scenario can be solved, the exact score of either seat is reported, and policy.png shows what the
caster opens with beside the optimum. Several runs have a folder each, of consecutive seeds; with
--resume, those that are finished are not repeated.
"""

import json
import sys
import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import torch

from agents.checkpoints import CheckpointError, has_checkpoint, load_checkpoint
from agents.common import DeferredInterrupt, is_generated, load_solution
from agents.figures import draw_openings, draw_scores
from agents.self_play.processes import ProcessGroup, process_group
from agents.self_play.settings import Settings
from agents.self_play.trainer import Trainer
from experiments.common import (
    INTERRUPTED,
    RESULTS,
    check_positive,
    command_line,
    parse_settings,
    print_json,
    progress,
    settings_as_json,
    versions,
    write_results,
)
from wfb_gym import solver
from wfb_gym.players.network import save_network
from wfb_gym.seats import SEATS

MODULE = "agents.train_fast"
QUICK = {
    "steps": 4096, "num_envs": 64, "rollout": 8, "batch_size": 128, "evaluations": 2, "width": 32,
    "workers": 1,
}  # fmt: skip


def exact_scores(trainer: Trainer, solutions: Sequence[solver.Solution]) -> list[float]:
    """Normalised score of either seat: the median over the solved scenarios."""
    scores = []
    for seat, learner in enumerate(trainer.learners):
        found = [solver.normalised_score(one, learner.agent, seat).score for one in solutions]
        scores.append(float(np.median([score for score in found if score is not None])))
    return scores


def load_solutions(settings: Settings) -> list[solver.Solution]:
    """Solutions of the scenarios that are small enough; none of generated ones."""
    if is_generated(settings.scenario[0]):
        return []
    found = [load_solution(name, settings.exact_bytes) for name in settings.scenario]
    return [solution for solution in found if solution is not None]


def worker_loop(group: ProcessGroup, settings: Settings, resume: bool) -> None:
    """Do in a process of rank 1 or more what rank 0 does in `train`, as it commands."""
    trainer = Trainer(settings, group)
    if resume:
        trainer.set_state(load_checkpoint(settings.out)["parts"])
    while True:
        save, stop = group.broadcast(0.0, 0.0)
        if save:
            trainer.save()
        if stop:
            return
        trainer.update()


def train(
    trainer: Trainer, solutions: Sequence[solver.Solution]
) -> tuple[list[dict[str, Any]], bool]:
    """Train until time or steps are spent.

    Returns:
        Points of the learning curve, and whether Ctrl-C ended the training.
    """
    settings = trainer.settings
    curve: list[dict[str, Any]] = []
    saved = time.monotonic()

    def evaluate() -> None:
        scores = exact_scores(trainer, solutions) if solutions else []
        point = {"seconds": round(trainer.seconds, 2), "frames": trainer.frames}
        curve.append({**point, "scores": dict(zip(SEATS, scores, strict=False))})

    with progress() as bar, DeferredInterrupt() as interrupt:
        task = bar.add_task("training", total=1000, note="")
        while True:
            ended = trainer.progress >= 1.0
            interrupted = interrupt.requested and not ended
            save = interrupted or time.monotonic() - saved > settings.checkpoint_seconds
            trainer.group.broadcast(save, ended or interrupted)
            if save:
                trainer.save()
                saved = time.monotonic()
            if interrupted:
                return curve, True
            if ended:
                break
            if trainer.progress >= len(curve) / settings.evaluations:
                evaluate()
            trainer.update()
            rate = trainer.frames / trainer.seconds
            scores = "".join(f" {k} {v:.1f}" for k, v in curve[-1]["scores"].items())
            note = f"{rate:,.0f}/s{scores}"
            bar.update(task, completed=int(1000 * trainer.progress), note=note)
    evaluate()
    return curve, False


def run(settings: Settings, resume: bool) -> dict[str, Any]:
    """Train with one seed, evaluate and write; returns the results.

    Raises:
        CheckpointError: the checkpoint is unreadable or of another number of workers.
    """
    settings.out.mkdir(parents=True, exist_ok=True)
    parts = load_checkpoint(settings.out)["parts"] if resume else None
    if parts is not None and len(parts) != settings.workers:
        raise CheckpointError(
            f"--workers: expected {len(parts)} as before, found {settings.workers}"
        )
    solutions = load_solutions(settings)  # before the workers start, which would wait
    with process_group(settings.workers, worker_loop, settings, resume) as group:
        trainer = Trainer(settings, group)
        if parts is not None:
            trainer.set_state(parts)
        curve, interrupted = train(trainer, solutions)
    results = {
        "args": settings_as_json(settings),
        "interrupted": interrupted,
        "frames": trainer.frames,
        "learned": trainer.learned,
        "seconds": round(trainer.seconds, 2),
        "frames_per_second": round(trainer.frames / max(trainer.seconds, 1e-9)),
        "scores": curve[-1]["scores"] if curve else {},
        "curve": curve,
        "versions": versions(),
    }
    _save_players(trainer, results)
    write_results(settings.out, results)
    if results["scores"]:
        title = f"self-play in {', '.join(settings.scenario)}"
        draw_scores([curve], title, settings.out / "curve.png")
    if len(solutions) == 1 == len(settings.scenario) and not interrupted:
        draw_openings(solutions[0], trainer.learners[0].agent, settings.out / "policy.png")
    if interrupted:
        print(f"interrupted; --resume goes on from {settings.out}", file=sys.stderr)
    return results


def _save_players(trainer: Trainer, results: dict[str, Any]) -> None:
    settings = trainer.settings
    for seat, learner in zip(SEATS, trainer.learners, strict=True):
        about = {
            "seat": learner.seat,
            "general": learner.agent.sees_positions,
            "scenario": ", ".join(settings.scenario),
            "seed": settings.seed,
            "frames": trainer.frames,
            "score": results["scores"].get(seat),
            "command": command_line(MODULE, settings),
            "versions": results["versions"],
        }
        save_network(learner.network, settings.out / f"{seat}.npz", about)


def run_seeds(settings: Settings, resume: bool) -> dict[str, Any]:
    """Train with several seeds, each in a folder of its own; returns the results of all."""
    runs = []
    for seed in range(settings.seed, settings.seed + settings.runs):
        one = replace(settings, seed=seed, runs=1, out=settings.out / f"seed-{seed}")
        path = one.out / RESULTS
        if resume and path.is_file():
            finished = json.loads(path.read_text(encoding="utf-8"))
            if not finished["interrupted"]:
                runs.append(finished)
                continue
        runs.append(run(one, resume and has_checkpoint(one.out)))
        if runs[-1]["interrupted"]:
            break
    seats = runs[0]["scores"]
    results = {
        "args": settings_as_json(settings),
        "interrupted": runs[-1]["interrupted"],
        "frames": sum(one["frames"] for one in runs),
        "seconds": sum(one["seconds"] for one in runs),
        "scores": {seat: float(np.median([one["scores"][seat] for one in runs])) for seat in seats},
        "runs": runs,
    }
    write_results(settings.out, results)
    if seats:
        title = f"self-play in {', '.join(settings.scenario)}, {len(runs)} seeds"
        draw_scores([one["curve"] for one in runs], title, settings.out / "curve.png")
    return results


def parse_arguments(arguments: Sequence[str] | None) -> tuple[Settings, bool, bool]:
    """Parse the command line: the settings, whether to resume, and whether JSON is wanted.

    Raises:
        SystemExit: help was asked for, or the input is bad.
    """
    settings, switches, parser = parse_settings(
        Settings,
        arguments,
        module=MODULE,
        description=__doc__,
        quick=QUICK,
        switches={"resume": "go on from the folder's checkpoint"},
        usual_out=lambda s: Path("runs") / f"{Path(s.scenario[0]).stem.replace(':', '-')}-fast",
    )
    positive = (
        "seconds", "runs", "num_envs", "rollout", "batch_size", "epochs", "width", "evaluations",
        "workers",
    )  # fmt: skip
    check_positive(parser, settings, positive)
    if settings.num_envs % settings.workers:
        parser.error(f"--num-envs: expected a multiple of {settings.workers} workers")
    resume = "resume" in switches
    if resume and settings.runs == 1 and not has_checkpoint(settings.out):
        parser.error(f"--resume: there is no checkpoint in {settings.out}")
    return settings, resume, "json" in switches


def main(arguments: Sequence[str] | None = None) -> int:
    """Train, evaluate and write; returns the exit status."""
    settings, resume, as_json = parse_arguments(arguments)
    torch.set_num_threads(1)  # there are several processes instead
    try:
        results = (run_seeds if settings.runs > 1 else run)(settings, resume)
    except CheckpointError as error:
        print(f"python -m {MODULE}: {error}", file=sys.stderr)
        return 2
    if as_json:
        print_json(results)
    else:
        scores = ", ".join(f"{seat} {score:.2f}" for seat, score in results["scores"].items())
        median = f"median of {settings.runs} runs: " if settings.runs > 1 else ""
        counts = f"{results['frames']:,} decisions in {results['seconds']:.1f} s"
        print(f"{counts}; exact scores: {median}{scores or 'none'}")
    return INTERRUPTED if results["interrupted"] else 0


if __name__ == "__main__":
    sys.exit(main())
