"""Trains both seats at once by self-play: PPO in PyTorch on the native batch.

    python -m agents.train_fast
    python -m agents.train_fast --runs 5
    python -m agents.train_fast --scenario storm-council --steps 30000000 --width 256
    python -m agents.train_fast --scenario generated-phase --steps 100000000 --shape entities

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
- Battles end by themselves and points are not discounted: gamma is 1 unless one says otherwise.

It ends after a number of decisions, and nothing in it depends on time, load or cores: with the same
seed and as many --workers a machine gives the same networks again, to the byte.

Writes into the run's folder: caster.npz and dispeller.npz (`wfb_gym.players.learned.NetworkAgent`
plays them), results.json, curve.png, and until it is finished a checkpoint, from which --resume
goes on with the settings that it was begun with. Where the scenario can be solved, the network of
either seat is kept that had the best exact score, and policy.png shows what the caster casts and
the points that it gives away; elsewhere the last network is kept, and its points per battle against
the scripted players are reported. Several runs have a folder each, of consecutive seeds; with
--resume, those that are finished are not repeated.
"""

import math
import sys
import time
from collections.abc import Collection, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import torch

from agents.checkpoints import NAME as CHECKPOINT
from agents.checkpoints import delete_checkpoint, has_checkpoint, load_checkpoint
from agents.common import (
    DeferredInterrupt,
    check_trainable,
    graded_scenario,
    is_generated,
    load_solutions,
    report,
)
from agents.figures import draw_policy, draw_scores
from agents.run_folder import (
    OVERWRITE,
    check_same_settings,
    is_finished,
    occupy,
    read_results,
    refuse_other_settings,
    refuse_unfinished,
    resume_hint,
    run_command,
    write_or_warn,
)
from agents.self_play.processes import ProcessGroup, process_group
from agents.self_play.settings import Settings
from agents.self_play.trainer import Trainer, check_checkpoint
from experiments import common
from wfb_gym import solver
from wfb_gym.cli.parser import flag_of
from wfb_gym.envs.self_play import SelfPlayBatch
from wfb_gym.opponents.scripted import RULE_BASED
from wfb_gym.players.network import save_network
from wfb_gym.seats import SEATS

MODULE = "agents.train_fast"
QUICK = {
    "steps": 4096, "num_envs": 64, "rollout": 8, "batch_size": 128, "evaluations": 2, "width": 32,
    "workers": 1,
}  # fmt: skip
POSITIVE = (
    "steps", "runs", "num_envs", "rollout", "batch_size", "epochs", "width", "evaluations",
    "workers", "exact_bytes", "archive_capacity",
)  # fmt: skip
BOUNDS = (
    ("seed", 0, math.inf),
    ("learning_rate", 0.0, math.inf),
    ("gamma", 0.0, 1.0),
    ("gae_lambda", 0.0, 1.0),
    ("clip_range", 0.0, math.inf),
    ("entropy_coefficient", 0.0, math.inf),
    ("final_entropy_coefficient", 0.0, math.inf),
    ("exploration", 0.0, 1.0),
    ("exploration_weight", 0.0, math.inf),
    ("exploring_starts", 0.0, 1.0),
    ("max_grad_norm", 0.0, math.inf),
    ("checkpoint_seconds", 0.0, math.inf),
)
"""The least and the most of settings."""
CURVE, POLICY = "curve.png", "policy.png"
"""Pictures of a run's folder."""
LARGE = (
    "--scenario grand-conclave --steps 42000000 --width 192 --evaluations 2 "
    "--exact-bytes 4294967296"
)
"""Arguments that train in a larger duel."""
BATTLES = 1024
"""Battles against each scripted player, where there is no exact score."""


def exact_scores(trainer: Trainer, solutions: Collection[solver.Solution]) -> dict[str, float]:
    """Normalised score of either seat: the median over the solved scenarios.

    A seat has none where no scenario is solved, or where its decisions change nothing.
    """
    scores: dict[str, float] = {}
    for seat, learner in zip(SEATS, trainer.learners, strict=True):
        found = [solver.normalised_score(one, learner.agent, seat).score for one in solutions]
        known = [score for score in found if score is not None]
        if known:
            scores[seat] = float(np.median(known))
    return scores


def points_per_battle(trainer: Trainer) -> dict[str, dict[str, Any]]:
    """Mean points of either seat against every scripted player."""
    from agents.evaluation import EVALUATION_SEED, Grader  # brings Stable-Baselines3

    played = graded_scenario(trainer.settings.scenario)
    return {
        seat: Grader(seat, played, RULE_BASED, {}).points(learner.agent, BATTLES, EVALUATION_SEED)
        for seat, learner in zip(SEATS, trainer.learners, strict=True)
    }


def evaluate(trainer: Trainer, solutions: Collection[solver.Solution]) -> None:
    """Add a point to the learning curve, and keep the networks that are the best so far."""
    point = {"seconds": round(trainer.seconds, 2), "frames": trainer.frames}
    scores = exact_scores(trainer, solutions)
    trainer.keep_best(scores)
    points = {} if scores else {"points": points_per_battle(trainer)}
    trainer.curve.append({**point, "scores": scores, **points})


def worker_loop(group: ProcessGroup, settings: Settings, resume: bool) -> None:
    """Do in a process of rank 1 or more what rank 0 does in `train`, as it commands."""
    trainer = Trainer(settings, group)
    if resume:
        group.broadcast(0.0)  # rank 0 has checked all parts
        trainer.set_state(load_checkpoint(settings.out))
    while True:
        save, stop = group.broadcast(0.0, 0.0)
        if save:
            trainer.save()
        if stop:
            return
        trainer.update()


def train(
    trainer: Trainer, solutions: Collection[solver.Solution], interrupt: DeferredInterrupt
) -> None:
    """Train until all steps are taken, or Ctrl-C; leaves a checkpoint of where it ended."""
    settings, curve = trainer.settings, trainer.curve
    saved = time.monotonic()
    with common.progress(in_percent=True) as bar:
        task = bar.add_task("training", total=settings.steps, note="")
        while True:
            stop = trainer.progress >= 1.0 or interrupt.requested
            save = stop or time.monotonic() - saved > settings.checkpoint_seconds
            trainer.group.broadcast(save, stop)
            if save:
                write_or_warn(settings.out / CHECKPOINT, trainer.save)
                saved = time.monotonic()
            if stop:
                break
            if trainer.progress >= len(curve) / settings.evaluations:
                evaluate(trainer, solutions)
            trainer.update()
            scores = "".join(f" {k} {v:.1f}" for k, v in curve[-1]["scores"].items())
            note = f"{trainer.frames / max(trainer.seconds, 1e-9):,.0f}/s{scores}"
            bar.update(task, completed=min(trainer.frames, settings.steps), note=note)


def run(settings: Settings, resume: bool) -> dict[str, Any]:
    """Train with one seed, evaluate and write; returns the results.

    What is finished is not trained again if it is to be resumed.
    """
    with occupy(settings.out):
        if resume and is_finished(settings.out):
            results = read_results(settings.out)
            before, now = results.get("args", {}), common.settings_as_json(settings)
            check_same_settings(before, now, settings.free)
            return results
        return _run(settings, resume and has_checkpoint(settings.out))


def _run(settings: Settings, resume: bool) -> dict[str, Any]:
    state = load_checkpoint(settings.out) if resume else None
    if state is not None:
        check_checkpoint(state, settings)
    # before the workers start, which would wait
    solutions = load_solutions(settings.scenario, settings.exact_bytes).values()
    with (
        DeferredInterrupt() as interrupt,
        process_group(settings.workers, worker_loop, settings, resume) as group,
    ):
        trainer = Trainer(settings, group)
        if state is not None:
            trainer.set_state(state)
            group.broadcast(0.0)
        train(trainer, solutions, interrupt)
    curve = trainer.curve
    if not interrupt.requested:
        evaluate(trainer, solutions)
    trainer.go_back_to_best()
    results = {
        "args": common.settings_as_json(settings),
        "interrupted": interrupt.requested,
        "frames": trainer.frames,
        "learned": trainer.learned,
        "seconds": round(trainer.seconds, 2),
        "frames_per_second": round(trainer.frames / max(trainer.seconds, 1e-9)),
        "scores": {seat: best.score for seat, best in trainer.best.items()},
        "best_after": {seat: best.frames for seat, best in trainer.best.items()},
        "points": curve[-1].get("points", {}) if curve else {},
        "curve": curve,
        "versions": common.versions(),
    }
    for seat, learner in zip(SEATS, trainer.learners, strict=True):
        about = {
            "seat": learner.seat,
            "general": learner.agent.sees_positions,
            "scenario": ", ".join(settings.scenario),
            "seed": settings.seed,
            "frames": results["best_after"].get(seat, trainer.frames),
            "score": results["scores"].get(seat),
            "command": common.command_line(MODULE, settings),
            "versions": results["versions"],
        }
        save_network(learner.network, settings.out / f"{seat}.npz", about)
    _write_results(settings, results, [curve])
    if interrupt.requested:
        print(resume_hint(settings.out), file=sys.stderr)
        return results
    if len(solutions) == 1 == len(settings.scenario):
        (solution,) = solutions
        path = settings.out / POLICY
        write_or_warn(path, lambda: draw_policy(solution, trainer.learners[0].agent, path))
    delete_checkpoint(settings.out)  # there is nothing left to go on with
    return results


def settings_of_seeds(settings: Settings) -> list[Settings]:
    """Settings of each of several runs, in folders of their own."""
    return [
        replace(settings, seed=seed, runs=1, out=settings.out / f"seed-{seed}")
        for seed in range(settings.seed, settings.seed + settings.runs)
    ]


def run_seeds(settings: Settings, resume: bool) -> dict[str, Any]:
    """Train with several seeds, each in a folder of its own; returns the results of all."""
    runs: list[dict[str, Any]] = []
    with occupy(settings.out):
        for one in settings_of_seeds(settings):
            runs.append(run(one, resume))
            if runs[-1]["interrupted"]:
                break
        found = {seat: [one["scores"].get(seat) for one in runs] for seat in SEATS}
        results = {
            "args": common.settings_as_json(settings),
            "interrupted": runs[-1]["interrupted"],
            "frames": sum(one["frames"] for one in runs),
            "seconds": sum(one["seconds"] for one in runs),
            "scores": {seat: float(np.median(m)) for seat, m in found.items() if None not in m},
            "runs": runs,
        }
        curves = [one["curve"] for one in runs]
        _write_results(settings, results, curves, f", {len(runs)} seeds")
    return results


def _write_results(
    settings: Settings, results: dict[str, Any], curves: Sequence[Any], seeds: str = ""
) -> None:
    common.write_results(settings.out, results)
    if results["scores"]:
        title = f"{', '.join(settings.scenario)}: self-play{seeds}"
        path = settings.out / CURVE
        write_or_warn(path, lambda: draw_scores(curves, title, path))


def describe(settings: Settings, results: dict[str, Any]) -> str:
    """What a run came to, in a few lines."""
    scores = ", ".join(f"{seat} {score:.2f}" for seat, score in results["scores"].items())
    median = f"median of {settings.runs} runs: " if settings.runs > 1 else ""
    counts = f"{results['frames']:,} decisions in {results['seconds']:.1f} s"
    lines = [f"{counts}; exact scores: {median}{scores or 'none'}"]
    for one in results.get("runs", [results]):
        which = f" (seed {one['args']['seed']})" if settings.runs > 1 else ""
        for seat, points in one.get("points", {}).items():
            means = ", ".join(f"{name} {each['mean']:+.1f}" for name, each in points.items())
            lines.append(f"points per battle as {seat}{which}, against {means}")
    return "\n".join(lines)


def next_steps(settings: Settings, results: dict[str, Any]) -> str:
    """Where a finished run's files lie, and what to do with them."""
    out, python, (scenario, *others) = settings.out, common.interpreter(), settings.scenario
    each = "in a folder for each seed, " if settings.runs > 1 else ""
    first = settings_of_seeds(settings)[0].out if settings.runs > 1 else out
    pictures = [path.name for path in (out / CURVE, first / POLICY) if path.is_file()]
    lines = [
        f"in {out}:",
        f"  {each}caster.npz and dispeller.npz, the networks"
        + (" with the best exact scores" if results["scores"] else ""),
        f"  {common.RESULTS}, with the learning curve"
        + (f"; pictures: {', '.join(pictures)}" if pictures else ""),
        "next:",
    ]
    if not (others or is_generated(scenario)):
        lines += [
            f"  {python} -m wfb_gym play {scenario} --opponent {first / 'dispeller.npz'}",
            f"  {python} -m wfb_gym advise {scenario}",
            f"  {python} -m wfb_gym web    # the same in the browser",
        ]
    lines += [
        f"  {python} -m {MODULE} --scenario orc-shaman-hunt    # another scenario",
        f"  {python} -m {MODULE} {LARGE}    # a larger duel, in ten minutes",
    ]
    return "\n".join(lines)


def usual_out(settings: Settings) -> Path:
    """The folder of a run, or of several, for which no other is given."""
    name = Path(settings.scenario[0]).stem.replace(":", "-")
    return Path("runs") / f"{name}-fast{'-runs' if settings.runs > 1 else ''}"


def check_settings(settings: Settings, resume: bool, overwrite: bool) -> None:
    """Refuse, with a ValueError, settings that nobody can train with."""
    for name, least, most in BOUNDS:
        value = getattr(settings, name)
        if not least <= value <= most:
            bounds = f"from {least}" if most == math.inf else f"{least} to {most}"
            raise ValueError(f"{flag_of(name)}: expected {bounds}, found {value}")
    if settings.features == "raw" and settings.shape != "flat":
        raise ValueError(
            f"--features: expected raw for flat networks alone, found {settings.shape}"
        )
    if settings.history and settings.exploring_starts:
        raise ValueError(
            "--history: expected --exploring-starts 0 with it, as a stored position does not tell "
            f"what went before, found {settings.exploring_starts}"
        )
    if settings.num_envs % settings.workers:
        raise ValueError(f"--num-envs: expected a multiple of {settings.workers} workers")
    check_trainable(settings.scenario)
    names = settings.scenario
    # Refuses what is unplayable.
    SelfPlayBatch(len(names), names if len(names) > 1 else names[0]).reset(0)
    if (
        settings.runs == 1
        and resume
        and not (has_checkpoint(settings.out) or is_finished(settings.out))
    ):
        raise ValueError(f"--resume: there is no checkpoint in {settings.out}")
    if not (resume or overwrite):
        for one in (settings, *(settings_of_seeds(settings) if settings.runs > 1 else ())):
            refuse_unfinished(one.out, "--resume")
            refuse_other_settings(one.out, common.settings_as_json(one), one.free)


def main(arguments: Sequence[str] | None = None) -> int:
    """Train, evaluate and write; returns the exit status."""
    settings, switches, parser = common.parse_settings(
        Settings,
        arguments,
        module=MODULE,
        description=__doc__,
        quick=QUICK,
        switches={"resume": "go on from the folder's checkpoint", **OVERWRITE},
        usual_out=usual_out,
    )
    common.check_positive(parser, settings, POSITIVE)
    torch.set_num_threads(1)  # there are several processes instead
    resume = "resume" in switches

    def work() -> int:
        try:
            check_settings(settings, resume, "overwrite" in switches)
        except (ValueError, OSError) as error:
            parser.error(str(error))
        results = (run_seeds if settings.runs > 1 else run)(settings, resume)
        text = describe(settings, results)
        if not results["interrupted"]:
            text += f"\n{next_steps(settings, results)}"
        return report(results, "json" in switches, text)

    return run_command(MODULE, settings.out, work)


if __name__ == "__main__":
    sys.exit(main())
