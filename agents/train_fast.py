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
from collections.abc import Collection, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import torch

from agents.checkpoints import CheckpointError, has_checkpoint, load_checkpoint
from agents.common import DeferredInterrupt, load_solutions, report
from agents.figures import draw_openings, draw_scores
from agents.self_play.processes import ProcessGroup, process_group
from agents.self_play.settings import Settings
from agents.self_play.trainer import Trainer
from experiments import common
from wfb_gym import solver
from wfb_gym.players.network import save_network
from wfb_gym.seats import SEATS

MODULE = "agents.train_fast"
QUICK = {
    "steps": 4096, "num_envs": 64, "rollout": 8, "batch_size": 128, "evaluations": 2, "width": 32,
    "workers": 1,
}  # fmt: skip
POSITIVE = (
    "seconds", "runs", "num_envs", "rollout", "batch_size", "epochs", "width", "evaluations",
    "workers",
)  # fmt: skip


def exact_scores(trainer: Trainer, solutions: Collection[solver.Solution]) -> dict[str, float]:
    """Normalised score of either seat: the median over the solved scenarios; none if none are."""
    scores: dict[str, float] = {}
    if not solutions:
        return scores
    for seat, learner in zip(SEATS, trainer.learners, strict=True):
        found = [solver.normalised_score(one, learner.agent, seat).score for one in solutions]
        scores[seat] = float(np.median([score for score in found if score is not None]))
    return scores


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
    trainer: Trainer, solutions: Collection[solver.Solution]
) -> tuple[list[dict[str, Any]], bool]:
    """Train until time or steps are spent.

    Returns:
        Points of the learning curve, and whether Ctrl-C ended the training.
    """
    settings = trainer.settings
    curve: list[dict[str, Any]] = []
    saved = time.monotonic()

    def evaluate() -> None:
        point = {"seconds": round(trainer.seconds, 2), "frames": trainer.frames}
        curve.append({**point, "scores": exact_scores(trainer, solutions)})

    with common.progress() as bar, DeferredInterrupt() as interrupt:
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
            scores = "".join(f" {k} {v:.1f}" for k, v in curve[-1]["scores"].items())
            note = f"{trainer.frames / trainer.seconds:,.0f}/s{scores}"
            bar.update(task, completed=int(1000 * trainer.progress), note=note)
    evaluate()
    return curve, False


def run(settings: Settings, resume: bool) -> dict[str, Any]:
    """Train with one seed, evaluate and write; returns the results."""
    settings.out.mkdir(parents=True, exist_ok=True)
    parts = load_checkpoint(settings.out)["parts"] if resume else None
    if parts is not None and len(parts) != settings.workers:
        raise CheckpointError(
            f"--workers: expected {len(parts)} as before, found {settings.workers}"
        )
    # before the workers start, which would wait
    solutions = load_solutions(settings.scenario, settings.exact_bytes).values()
    with process_group(settings.workers, worker_loop, settings, resume) as group:
        trainer = Trainer(settings, group)
        if parts is not None:
            trainer.set_state(parts)
        curve, interrupted = train(trainer, solutions)
    results = {
        "args": common.settings_as_json(settings),
        "interrupted": interrupted,
        "frames": trainer.frames,
        "learned": trainer.learned,
        "seconds": round(trainer.seconds, 2),
        "frames_per_second": round(trainer.frames / max(trainer.seconds, 1e-9)),
        "scores": curve[-1]["scores"] if curve else {},
        "curve": curve,
        "versions": common.versions(),
    }
    for seat, learner in zip(SEATS, trainer.learners, strict=True):
        about = {
            "seat": learner.seat,
            "general": learner.agent.sees_positions,
            "scenario": ", ".join(settings.scenario),
            "seed": settings.seed,
            "frames": trainer.frames,
            "score": results["scores"].get(seat),
            "command": common.command_line(MODULE, settings),
            "versions": results["versions"],
        }
        save_network(learner.network, settings.out / f"{seat}.npz", about)
    _write_results(settings, results, [curve])
    if len(solutions) == 1 == len(settings.scenario) and not interrupted:
        (solution,) = solutions
        draw_openings(solution, trainer.learners[0].agent, settings.out / "policy.png")
    if interrupted:
        print(f"interrupted; --resume goes on from {settings.out}", file=sys.stderr)
    return results


def run_seeds(settings: Settings, resume: bool) -> dict[str, Any]:
    """Train with several seeds, each in a folder of its own; returns the results of all."""
    runs = []
    for seed in range(settings.seed, settings.seed + settings.runs):
        one = replace(settings, seed=seed, runs=1, out=settings.out / f"seed-{seed}")
        path = one.out / common.RESULTS
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
        "args": common.settings_as_json(settings),
        "interrupted": runs[-1]["interrupted"],
        "frames": sum(one["frames"] for one in runs),
        "seconds": sum(one["seconds"] for one in runs),
        "scores": {seat: float(np.median([one["scores"][seat] for one in runs])) for seat in seats},
        "runs": runs,
    }
    _write_results(settings, results, [one["curve"] for one in runs], f", {len(runs)} seeds")
    return results


def _write_results(
    settings: Settings, results: dict[str, Any], curves: Sequence[Any], seeds: str = ""
) -> None:
    common.write_results(settings.out, results)
    if results["scores"]:
        title = f"self-play in {', '.join(settings.scenario)}{seeds}"
        draw_scores(curves, title, settings.out / "curve.png")


def main(arguments: Sequence[str] | None = None) -> int:
    """Train, evaluate and write; returns the exit status."""
    settings, switches, parser = common.parse_settings(
        Settings,
        arguments,
        module=MODULE,
        description=__doc__,
        quick=QUICK,
        switches={"resume": "go on from the folder's checkpoint"},
        usual_out=lambda s: Path("runs") / f"{Path(s.scenario[0]).stem.replace(':', '-')}-fast",
    )
    common.check_positive(parser, settings, POSITIVE)
    if settings.num_envs % settings.workers:
        parser.error(f"--num-envs: expected a multiple of {settings.workers} workers")
    resume = "resume" in switches
    if resume and settings.runs == 1 and not has_checkpoint(settings.out):
        parser.error(f"--resume: there is no checkpoint in {settings.out}")
    torch.set_num_threads(1)  # there are several processes instead
    try:
        results = (run_seeds if settings.runs > 1 else run)(settings, resume)
    except CheckpointError as error:
        print(f"python -m {MODULE}: {error}", file=sys.stderr)
        return 2
    scores = ", ".join(f"{seat} {score:.2f}" for seat, score in results["scores"].items())
    median = f"median of {settings.runs} runs: " if settings.runs > 1 else ""
    counts = f"{results['frames']:,} decisions in {results['seconds']:.1f} s"
    text = f"{counts}; exact scores: {median}{scores or 'none'}"
    return report(results, "json" in switches, text)


if __name__ == "__main__":
    sys.exit(main())
