"""Grading policies into submissions, and submissions again."""

import hashlib
import io
import json
import shutil
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any
from zipfile import ZIP_DEFLATED, ZipFile

import numpy as np

from experiments import common
from experiments.leaderboards import protocol
from experiments.leaderboards.protocol import TASKS, TRACKS, Task
from experiments.leaderboards.settings import Entries, Settings
from experiments.leaderboards.submissions import ALL, MODELS, Submission, read_submission
from experiments.progress import Report, report_progress
from experiments.records import Record
from experiments.tournaments.matches import model_names
from experiments.workers import Workers
from wfb_gym.files import atomic_write_text
from wfb_gym.opponents.policy_spec import PolicySpec

DESCRIPTIONS = {
    "random": "plays uniformly random legal actions",
    "greedy": "maximises the expected points of the next roll and dispels every spell that it can",
    "veteran": "follows rules of thumb of an experienced player",
    "phase-search": "solves each phase as a duel of its best spells, with lookahead to later ones",
    "optimal": "optimal play, if the scenario can be solved",
    "expectimax": "expectimax search by the exact rules, limited to 50,000 transitions",
    "mcts": "Monte Carlo tree search, 400 simulations per decision",
    "search": "one-decision search by the exact rules, with values from phase-search",
}
_ROUNDING = 1e-3
"""By which results may differ that are the same, in scores or points."""


def grade_entries(settings: Settings, entries: Entries, workers: Workers) -> int:
    """Grade all entries and write their submissions; returns the exit status."""
    status = 0
    with report_progress("grading", len(entries) * len(settings.tasks)) as report:
        for name, policies in entries.items():
            results: dict[str, Any] = {}
            unfinished = settings.unfinished / name
            about = {"protocol": protocol.PROTOCOL, "policies": _digests(policies)}
            with Record(unfinished, "parts.jsonl", "grading", about) as record:
                with common.Interruptible() as session:
                    for line in protocol.grade(
                        name, policies, settings.tasks, results, report, workers, record
                    ):
                        print(line, file=sys.stderr)
                        status = common.FAILED
                submission = _describe(settings, name, policies) | results
                not_written = _write_submission(settings, submission)
                status = not_written or status
                if session.interrupted:
                    print("interrupted; what was done is kept", file=sys.stderr)
                    return common.INTERRUPTED
                if not not_written:
                    record.delete()
    return status


def _describe(settings: Settings, name: str, policies: list[str]) -> dict[str, Any]:
    """Return what a submission says of itself; copies models that are to be kept."""
    return {
        "protocol": protocol.PROTOCOL,
        "name": name,
        "description": settings.description or DESCRIPTIONS.get(policies[0], policies[0]),
        "authors": settings.authors,
        "code": settings.code or f"python -m experiments.leaderboard --evaluate {policies[0]}",
        "steps": settings.steps,
        "versions": common.versions(),
        "policies": _policies_to_keep(settings, name, policies),
    }


def _digests(policies: list[str]) -> dict[str, str]:
    """Return policies with what tells a saved model from another one of that name."""
    files = {each for each in policies if Path(each).is_file()}
    return {
        each: hashlib.sha256(Path(each).read_bytes()).hexdigest() if each in files else ""
        for each in policies
    }


def _policies_to_keep(settings: Settings, name: str, policies: list[str]) -> dict[str, list[str]]:
    """Return by which names a submission can be graded again; copies models that are to be kept."""
    if not model_names(policies):
        return {ALL: policies}
    if not settings.keep:
        return {}
    keys = settings.keys or [ALL]
    folder = settings.submissions.parent / MODELS
    first = keys[0].replace("/", "-")
    endings = [PolicySpec.parse(path).ending for path in policies]
    kept = [f"{name}/{first}-{k}{ending}" for k, ending in enumerate(endings)]
    (folder / name).mkdir(parents=True, exist_ok=True)
    for path, copy in zip(policies, kept, strict=True):
        keep_model(path, folder / copy)
    return dict.fromkeys(keys, kept)


def keep_model(path: str, copy: Path) -> None:
    """Copy a saved model; of Stable-Baselines3's without what only more training would need."""
    if copy.suffix != ".zip":
        shutil.copyfile(path, copy)
        return
    import torch

    with ZipFile(path) as model, ZipFile(copy, "w", ZIP_DEFLATED) as kept:
        for name in model.namelist():
            content = model.read(name)
            if name == "policy.optimizer.pth":
                optimiser = torch.load(io.BytesIO(content), weights_only=True)
                memory = io.BytesIO()
                torch.save({**optimiser, "state": {}}, memory)
                content = memory.getvalue()
            kept.writestr(name, content)


def grade_again(
    settings: Settings, submissions: Sequence[Submission], report: Report, workers: Workers
) -> tuple[int, list[str]]:
    """Grade submissions again, those tasks alone that are named if any are.

    What no models are kept for is told and left out.

    Returns:
        How many tasks were graded, and what differs or cannot be graded, a line each.
    """
    folder = settings.submissions.parent / MODELS
    count, problems = 0, []
    for each in submissions:
        parts: dict[tuple[str, ...], list[Task]] = {}
        for key in (task for track in TRACKS for task in getattr(each, track)):
            if key in (settings.keys or TASKS):
                names = each.policies.get(key, each.policies.get(ALL, []))
                parts.setdefault(tuple(names), []).append(TASKS[key])
        for graded, tasks in parts.items():
            if not graded:
                line = f"{each.name}: no models are kept to grade {len(tasks)} tasks again"
                print(line, file=sys.stderr)
                report("", len(tasks))
                continue
            count += len(tasks)
            paths = [str(folder / name) if model_names([name]) else name for name in graded]
            results: dict[str, Any] = {}
            problems += protocol.grade(each.name, paths, tasks, results, report, workers)
            for task in tasks:
                before = getattr(each, task.track)[str(task)]
                now = results[task.track].get(str(task))
                if now is not None and not _are_same(before, now):
                    problems.append(f"{each.name}: {task}: expected {before}, found {now}")
    return count, problems


def _are_same(before: Any, now: Any) -> bool:
    """Whether results of a task are the same but for rounding."""
    if isinstance(before, dict):
        return before.keys() == now.keys() and all(_are_same(before[k], now[k]) for k in before)
    former, later = np.array(before), np.array(now)
    return former.shape == later.shape and bool(np.allclose(former, later, rtol=0, atol=_ROUNDING))


def _write_submission(settings: Settings, submission: dict[str, Any]) -> int:
    """Write a submission, if it has any results; returns the exit status."""
    if not any(submission.get(track) for track in TRACKS):
        print(f"{submission['name']}: no task was graded, nothing is written", file=sys.stderr)
        return common.FAILED
    settings.submissions.mkdir(parents=True, exist_ok=True)
    path = settings.submissions / f"{submission['name']}.json"
    if settings.add and path.is_file():
        former = read_submission(path).model_dump(exclude_none=True)
        for key in ("protocol", "steps"):
            if former[key] != submission[key]:
                expected = f"expected {key} {former[key]}, found {submission[key]}"
                print(f"{path}: {expected}", file=sys.stderr)
                return common.FAILED
        for track in TRACKS:
            submission[track] = {**former.get(track, {}), **submission.get(track, {})}
        submission |= {key: former[key] for key in ("description", "authors", "code")}
        submission["policies"] = {**former["policies"], **submission["policies"]}
    atomic_write_text(path, json.dumps(submission, indent=1, ensure_ascii=False) + "\n")
    read_submission(path)
    print(f"written: {path}", file=sys.stderr)
    return 0
