"""Runs of `agents.train_fast`: folders, several seeds, results, figures, and the command line.

`agents.ppo_device` uses the functions for a single run, too.
"""

import math
import sys
from collections.abc import Callable, Collection, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import torch

from agents.checkpoints import delete_checkpoint, has_checkpoint, load_checkpoint
from agents.common import DeferredInterrupt, check_trainable, is_generated, load_solutions, report
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
from agents.self_play.grading import GradedTrainer, grade
from agents.self_play.settings import BOUNDS, POSITIVE, QUICK, RunSettings, Settings
from agents.self_play.trainer_state import check_checkpoint
from experiments import command_lines, common
from wfb_gym import solver
from wfb_gym.cli.parser import flag_of
from wfb_gym.envs.self_play import SelfPlayBatch
from wfb_gym.players.network import save_network
from wfb_gym.seats import SEATS

Train = Callable[
    [Any, Collection[solver.Solution], dict[str, Any] | None, DeferredInterrupt], GradedTrainer
]
"""Type of `agents.train_fast.train`. The first argument is the settings."""
CURVE, POLICY = "curve.png", "policy.png"
"""Figures in a run's folder."""
LARGE = (
    "--scenario grand-conclave --steps 42000000 --width 192 --evaluations 2 "
    "--exact-bytes 4294967296"
)
"""Arguments for training in a larger duel."""


def run(settings: RunSettings, resume: bool, train: Train) -> dict[str, Any]:
    """Train with one seed and evaluate, then write and return the results.

    If `resume`, a finished run is not trained again.
    """
    with occupy(settings.out):
        if resume and is_finished(settings.out):
            results = read_results(settings.out)
            before, now = results.get("args", {}), common.settings_as_json(settings)
            check_same_settings(before, now, settings.free)
            return results
        return _run(settings, resume and has_checkpoint(settings.out), train)


def _run(settings: RunSettings, resume: bool, train: Train) -> dict[str, Any]:
    checkpoint = load_checkpoint(settings.out) if resume else None
    if checkpoint is not None:
        check_checkpoint(checkpoint, settings)
    # before the worker processes start, because they would have to wait
    solutions = load_solutions(settings.scenario, settings.exact_bytes).values()
    with DeferredInterrupt() as interrupt:
        trainer = train(settings, solutions, checkpoint, interrupt)
    curve = trainer.curve
    if not interrupt.requested:
        grade(trainer, solutions)
    last = curve[-1] if curve and curve[-1]["frames"] == trainer.frames else {}
    results = {
        "args": common.settings_as_json(settings),
        "interrupted": interrupt.requested,
        "frames": trainer.frames,
        "learned": trainer.learned,
        "seconds": round(trainer.seconds, 2),
        "frames_per_second": round(trainer.frames / max(trainer.seconds, 1e-9)),
        "scores": last.get("scores", {}),
        "points": last.get("points", {}),
        "curve": curve,
        **trainer.measurements,
        "versions": common.versions(),
    }
    for learner in trainer.learners:
        seat = SEATS[learner.seat]
        about = {
            "seat": learner.seat,
            "general": learner.agent.sees_positions,
            "scenario": ", ".join(settings.scenario),
            "seed": settings.seed,
            "frames": trainer.frames,
            "score": results["scores"].get(seat),
            "command": command_lines.command_line(settings.module, settings, ("out", "report")),
            "versions": results["versions"],
        }
        save_network(learner.network, settings.out / f"{seat}.npz", about)
    _write_results(settings, results, [curve])
    if interrupt.requested:
        print(resume_hint(settings.out), file=sys.stderr)
        return results
    first = trainer.learners[0]
    if len(solutions) == 1 == len(settings.scenario) and first.seat == 0:
        (solution,) = solutions
        path = settings.out / POLICY
        write_or_warn(path, lambda: draw_policy(solution, first.agent, path))
    delete_checkpoint(settings.out)  # the run is finished
    return results


def settings_of_seeds(settings: Settings) -> list[Settings]:
    """Return the settings for each of several runs, each with its own folder."""
    return [
        replace(settings, seed=seed, runs=1, out=settings.out / f"seed-{seed}")
        for seed in range(settings.seed, settings.seed + settings.runs)
    ]


def run_seeds(settings: Settings, resume: bool, train: Train) -> dict[str, Any]:
    """Train with several seeds, each in its own folder, and return all results."""
    runs: list[dict[str, Any]] = []
    with occupy(settings.out):
        for one in settings_of_seeds(settings):
            runs.append(run(one, resume, train))
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
    settings: RunSettings, results: dict[str, Any], curves: Sequence[Any], seeds: str = ""
) -> None:
    common.write_results(settings.out, results)
    if results["scores"]:
        title = f"{', '.join(settings.scenario)}: {settings.method}{seeds}"
        path = settings.out / CURVE
        write_or_warn(path, lambda: draw_scores(curves, title, path))


def describe_results(results: dict[str, Any]) -> str:
    """Return a text with the scores of a run or of several runs."""
    scores = ", ".join(f"{seat} {score:.2f}" for seat, score in results["scores"].items())
    runs = results.get("runs", [results])
    median = f"median of {len(runs)} runs: " if len(runs) > 1 else ""
    counts = f"{results['frames']:,} decisions in {results['seconds']:.1f} s"
    lines = [f"{counts}; exact scores: {median}{scores or 'none'}"]
    for one in runs:
        which = f" (seed {one['args']['seed']})" if len(runs) > 1 else ""
        for seat, points in one.get("points", {}).items():
            means = ", ".join(f"{name} {each['mean']:+.1f}" for name, each in points.items())
            lines.append(f"points per battle as {seat}{which}, against {means}")
    return "\n".join(lines)


def next_steps(settings: Settings, results: dict[str, Any]) -> str:
    """Return a text about a finished run's files and possible next commands."""
    out, python, (scenario, *others) = settings.out, command_lines.interpreter(), settings.scenario
    each = "in a folder for each seed, " if settings.runs > 1 else ""
    first = settings_of_seeds(settings)[0].out if settings.runs > 1 else out
    pictures = [path.name for path in (out / CURVE, first / POLICY) if path.is_file()]
    lines = [
        f"in {out}:",
        f"  {each}caster.npz and dispeller.npz, the networks",
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
    elif is_generated(scenario):
        lines.append("  grade the networks in unseen scenarios: docs/howto/train-a-caster.md")
    lines += [
        f"  {python} -m {Settings.module} --scenario orc-shaman-hunt    # another scenario",
        f"  {python} -m {Settings.module} {LARGE}    # a larger duel, in ten minutes",
    ]
    return "\n".join(lines)


def usual_out(settings: Settings) -> Path:
    """Return the default folder for one run, or for several."""
    name = Path(settings.scenario[0]).stem.replace(":", "-")
    return Path("runs") / f"{name}-fast{'-runs' if settings.runs > 1 else ''}"


def check_bounds(settings: Any) -> None:
    """Raise a ValueError if one of the settings in `BOUNDS` is out of its bounds."""
    for name, least, most in BOUNDS:
        value = getattr(settings, name, least)
        if not least <= value <= most:
            bounds = f"from {least}" if most == math.inf else f"{least} to {most}"
            raise ValueError(f"{flag_of(name)}: expected {bounds}, found {value}")


def check_trainable_scenarios(names: Sequence[str]) -> None:
    """Raise a ValueError if a scenario cannot be used for training or is unplayable."""
    check_trainable(names)
    SelfPlayBatch(len(names), names if len(names) > 1 else names[0]).reset(0)


def check_can_resume(settings: RunSettings) -> None:
    """Raise a ValueError if the folder has neither a checkpoint nor a finished run."""
    if not (has_checkpoint(settings.out) or is_finished(settings.out)):
        raise ValueError(f"--resume: there is no checkpoint in {settings.out}")


def refuse_other_runs(settings: RunSettings) -> None:
    """Raise a ValueError if the folder has an unfinished run or one with other settings."""
    refuse_unfinished(settings.out, "--resume")
    refuse_other_settings(settings.out, common.settings_as_json(settings), settings.free)


def check_settings(settings: Settings, resume: bool, overwrite: bool) -> None:
    """Raise a ValueError if the settings cannot be used for training."""
    check_bounds(settings)
    if settings.features == "raw" and settings.shape != "flat":
        raise ValueError(f"--features: expected raw only with --shape flat, found {settings.shape}")
    if settings.history and settings.exploring_starts:
        raise ValueError(
            "--history: expected --exploring-starts 0, as stored positions have no history, "
            f"found {settings.exploring_starts}"
        )
    if settings.num_envs % settings.workers:
        raise ValueError(f"--num-envs: expected a multiple of {settings.workers} workers")
    check_trainable_scenarios(settings.scenario)
    if settings.runs == 1 and resume:
        check_can_resume(settings)
    if not (resume or overwrite):
        for one in (settings, *(settings_of_seeds(settings) if settings.runs > 1 else ())):
            refuse_other_runs(one)


def run_from_command_line(
    train: Train, arguments: Sequence[str] | None, description: str | None
) -> int:
    """Train, evaluate, write the results and return the exit status."""
    settings, switches, parser = common.parse_settings(
        Settings,
        arguments,
        module=Settings.module,
        description=description,
        quick=QUICK,
        switches={"resume": "continue from the folder's checkpoint", **OVERWRITE},
        usual_out=usual_out,
    )
    common.check_signs(parser, settings, POSITIVE)
    torch.set_num_threads(1)  # each process uses one core
    resume = "resume" in switches

    def work() -> int:
        try:
            check_settings(settings, resume, "overwrite" in switches)
        except (ValueError, OSError) as error:
            parser.error(str(error))
        results = (run_seeds if settings.runs > 1 else run)(settings, resume, train)
        text = describe_results(results)
        if not results["interrupted"]:
            text += f"\n{next_steps(settings, results)}"
        return report(results, "json" in switches, text)

    return run_command(Settings.module, settings.out, work)
