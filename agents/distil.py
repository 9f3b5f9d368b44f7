"""Train one policy for many scenarios by distilling the exact optimum of generated scenarios.

    python -m agents.distil
    python -m agents.distil --scenarios 1000 --steps 5000
    python -m agents.distil --kind phase --kind duel --out runs/sixth --targets runs/sixth-targets
    python -m agents.distil --start-from runs/distil/policy.npz --first 9000 --out runs/further

Solves generated scenarios of the train split, keeps the exact value of every action at a few
hundred decisions of each, and trains an entity network (`wfb_gym.players.network`) to prefer the
best action, in both seats. --kind selects the kinds of scenarios (`wfb_gym.generating.KINDS`, the
seen kinds of a benchmark axis, or `HARD_KINDS`). No dice are rolled: each target is an exact
expected value.
The policy is then graded exactly in scenarios of the test split, which are never trained on.

Writes into the run's folder: policy.npz (`wfb_gym.players.learned.NetworkAgent` plays it),
results.json, scores.png. Targets have their own folder, so that later runs can reuse them. After an
interruption, running the command again reuses the targets and grades; --resume also continues from
the network's last checkpoint, and learns the same as without the interruption.
--ray distributes the solving and the grading over the machines of a Ray cluster.
"""

from wfb_gym._commands import run_main

if __name__ == "__main__":
    run_main("agents.distil")

import hashlib
import json
import time
from collections.abc import Sequence
from dataclasses import asdict, fields, replace
from pathlib import Path
from typing import Any

import numpy as np
import torch

from agents.checkpoints import NAME as CHECKPOINT
from agents.checkpoints import CheckpointError, delete_checkpoint, has_checkpoint, load_checkpoint
from agents.common import DeferredInterrupt, report
from agents.distillation.grading import Grade, grade_scenarios
from agents.distillation.student import LIMITS, Settings, Student, load_start
from agents.distillation.targets import TargetError, TargetSet, TargetSource, make_targets
from agents.figures import draw_grades
from agents.run_folder import (
    OVERWRITE,
    RunFolderError,
    check_same_settings,
    occupy,
    refuse_other_settings,
    refuse_unfinished,
    run_command,
    write_or_warn,
)
from experiments import command_lines, common
from experiments.progress import progress
from experiments.workers import Workers, open_workers
from wfb_gym.files import atomic_write_text, wrap_read_errors
from wfb_gym.generating import ALL_KINDS
from wfb_gym.players.learned import EITHER, NetworkAgent
from wfb_gym.players.network import PolicyNetwork, save_network
from wfb_gym.seats import SEATS

MODULE = "agents.distil"
QUICK = {
    "scenarios": 8, "steps": 200, "batch_size": 64, "width": 16, "graded": 3, "workers": 1,
    "train_bytes": 1 << 20, "test_bytes": 1 << 20,
}  # fmt: skip
FREE = ("out", "targets", "workers", "ray", "threads", "checkpoint_seconds")
"""Settings that do not affect the results."""
NOT_LEARNED = (*FREE, "device", "test_bytes", "graded")
"""Settings that do not affect learning, apart from rounding."""
_STORED = "float16"
"""Data type of the stored weights. The rounding does not affect play."""
_NATURAL = ("seed", "first", "visited")
"""Settings with a minimum of 0. All others must be positive."""


def check_targets(settings: Settings) -> None:
    """Raise if a folder's targets were made with different settings. An empty folder records them.

    Raises:
        CheckpointError: if the targets were made with different settings.
        TargetError: if the folder's settings file is corrupt.
    """
    path = settings.targets / "settings.json"
    now = {
        "train_bytes": settings.train_bytes,
        "kinds": list(settings.kind),
        "seeds": "of their own",
        "decisions": settings.decisions,
        "visited": settings.visited,
    }
    if path.is_file():
        with wrap_read_errors(path, "settings of targets", TargetError):
            before = dict(json.loads(path.read_text(encoding="utf-8")))
        check_same_settings(before, now, ())
    else:
        settings.targets.mkdir(parents=True, exist_ok=True)
        atomic_write_text(path, json.dumps(now))


def make_train_targets(settings: Settings, source: TargetSource, workers: Workers) -> list[int]:
    """Make the missing targets, and return the numbers of the scenarios that have targets."""
    useful = []
    count, first = settings.scenarios, settings.first
    with progress() as bar:
        task = bar.add_task("solving", total=count, note="")
        numbers = range(first, first + count)
        made = make_targets(source, numbers, workers)
        for number, has_targets in zip(numbers, made, strict=True):
            useful += [number] if has_targets else []
            bar.update(task, advance=1, note=f"{len(useful)} of use")
    return useful


def _train(student: Student) -> None:
    """Train to the last step, saving checkpoints. Ctrl-C raises KeyboardInterrupt at the end."""
    settings = student.settings
    saved = time.monotonic()
    with progress() as bar, DeferredInterrupt() as interrupt:
        task = bar.add_task("learning", total=settings.steps, note="")
        while student.steps < settings.steps and not interrupt.requested:
            student.update()
            rate = student.learned_from / student.seconds
            regret = f", regret {student.curve[-1]['regret']:.4f}" if student.curve else ""
            bar.update(task, completed=student.steps, note=f"{rate:,.0f}/s{regret}")
            if time.monotonic() - saved > settings.checkpoint_seconds:
                write_or_warn(settings.out / CHECKPOINT, student.save)
                saved = time.monotonic()
        write_or_warn(settings.out / CHECKPOINT, student.save)
    if interrupt.requested:
        raise KeyboardInterrupt


def grade_test_split(
    settings: Settings, source: TargetSource, agent: NetworkAgent, path: Path, workers: Workers
) -> list[Grade]:
    """Return the policy's grades on scenarios from the test split."""
    grades: list[Grade] = []
    test = replace(source, split="test", max_bytes=settings.test_bytes)
    with progress() as bar:
        task = bar.add_task("grading", total=settings.graded, note="")
        found = grade_scenarios(test, agent, settings.graded, path, workers)
        for grades, seen in found:
            scores = [one.score for one in grades]
            note = f"median {np.median(scores):.1f} " if scores else ""
            done = len({one.number for one in grades})
            bar.update(task, completed=done, note=f"{note}of {seen} scenarios")
    return grades


def run(settings: Settings, workers: Workers, resume: bool) -> dict[str, Any]:
    """Solve, train and grade, then write and return the results."""
    state = load_checkpoint(settings.out) if resume else None
    if state is not None:
        with wrap_read_errors(settings.out / CHECKPOINT, "the settings of a run", CheckpointError):
            check_same_settings(state["settings"], common.settings_as_json(settings), NOT_LEARNED)
    check_targets(settings)
    kinds = tuple(ALL_KINDS[kind] for kind in settings.kind)
    source = TargetSource(
        kinds,
        settings.targets,
        max_bytes=settings.train_bytes,
        decisions=settings.decisions,
        visited=settings.visited,
    )
    began = time.perf_counter()
    useful = make_train_targets(settings, source, workers)
    solving_seconds = time.perf_counter() - began
    student = Student(settings, TargetSet(source, useful, LIMITS, settings.seed))
    if state is not None:
        student.set_state(state)
    _train(student)
    network = student.network.cpu()
    commands = [student.before["command"]] if student.before else []
    commands.append(command_lines.command_line(MODULE, settings, FREE))
    about: dict[str, Any] = {
        "seat": EITHER,
        "general": True,
        "scenario": f"generated, {', '.join(settings.kind)}",
        "seed": settings.seed,
        "decisions": student.before.get("decisions", 0) + student.learned_from,
        "command": " && ".join(commands),
        "versions": common.versions(),
    }
    policy = settings.out / "policy.npz"
    save_network(network, policy, about, _STORED)
    path = settings.out / f"grades-{_digest(network)}.jsonl"
    grades = grade_test_split(settings, source, NetworkAgent(policy), path, workers)
    median = float(np.median([one.score for one in grades]))
    save_network(network, policy, {**about, "score": median}, _STORED)
    results = {
        "args": common.settings_as_json(settings),
        "scenarios": student.targets.scenarios,
        "decisions": student.targets.decisions,
        "solving_seconds": round(solving_seconds, 1),
        "learning_seconds": round(student.seconds, 1),
        "learned_from": student.learned_from,
        "curve": student.curve,
        "median_score": median,
        "kinds": list(settings.kind),
        "grades": [asdict(one) for one in grades],
        "versions": common.versions(),
    }
    common.write_results(settings.out, results)
    picture = settings.out / "scores.png"
    write_or_warn(picture, lambda: draw_grades(grades, picture))
    delete_checkpoint(settings.out)  # the run is finished
    return results


def _digest(network: PolicyNetwork) -> str:
    """Return a digest of the weights, used to identify the network's grades."""
    digest = hashlib.sha256()
    for parameter in network.state_dict().values():
        digest.update(parameter.numpy().tobytes())
    return digest.hexdigest()[:16]


def main(arguments: Sequence[str] | None = None) -> int:
    """Solve, train, grade, write the results and return the exit status."""
    settings, switches, parser = common.parse_settings(
        Settings,
        arguments,
        module=MODULE,
        description=__doc__,
        quick=QUICK,
        switches={"resume": "continue from the folder's checkpoint", **OVERWRITE},
    )
    numbers = [each.name for each in fields(Settings) if each.type in (int, float)]
    positive = [name for name in numbers if name not in _NATURAL]
    common.check_signs(parser, settings, positive, _NATURAL)
    if settings.start_from:
        try:
            load_start(settings)
        except (OSError, ValueError) as error:
            parser.error(f"--start-from: {error}")
    if settings.device == "cuda" and not torch.cuda.is_available():
        parser.error("--device: expected cpu, or a GPU that PyTorch can use, found none")
    resume = "resume" in switches
    if resume and not has_checkpoint(settings.out):
        parser.error(f"--resume: there is no checkpoint in {settings.out}")
    if not (resume or "overwrite" in switches):
        try:
            refuse_unfinished(settings.out, "--resume")
            refuse_other_settings(settings.out, common.settings_as_json(settings), FREE)
        except RunFolderError as error:
            parser.error(str(error))
    torch.set_num_threads(settings.threads)

    def work() -> int:
        workers = open_workers(settings.ray, processes=settings.workers)
        with workers as opened, occupy(settings.out):
            results = run(settings, opened, resume)
        lines = []
        for seat in SEATS:
            scores = [one["score"] for one in results["grades"] if one["seat"] == seat]
            if scores:
                low, median = np.quantile(scores, (0.05, 0.5))
                lines.append(f"{seat}: median {median:.1f}, 5th percentile {low:.1f}")
        text = f"over {settings.graded} scenarios that it never saw: {'; '.join(lines)}"
        return report(results, "json" in switches, text)

    return run_command(MODULE, settings.out, work)
