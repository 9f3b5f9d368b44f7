"""Write graded policies to submissions, and compare submissions with new gradings."""

import hashlib
import io
import json
import shutil
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any
from zipfile import ZIP_DEFLATED, ZipFile

import numpy as np

from experiments import common
from experiments.leaderboards.jobs import Entry, Job, join_jobs
from experiments.leaderboards.protocol import PROTOCOL, TASKS, TRACKS, Task
from experiments.leaderboards.settings import Settings
from experiments.leaderboards.submissions import (
    ALL,
    About,
    Submission,
    SubmissionError,
    check_known,
    read_about,
    read_submission,
    read_submissions,
)
from experiments.outcomes import Outcome, Run
from experiments.records import ResultFile
from experiments.tournaments.matches import model_names
from wfb_gym.files import atomic_write_text
from wfb_gym.opponents.policy_spec import SEARCHING, PolicySpec

DESCRIPTIONS = {
    "random": "plays uniformly random legal actions",
    "greedy": "maximises the expected points of the next roll and dispels every spell that it can",
    "veteran": "follows rules of thumb of an experienced player",
    "phase-search": "solves each phase as a duel of its best spells, with lookahead to later ones",
    "belief-search": "phase-search that weighs every set of hidden items that the enemy may have",
    "optimal": "optimal play, if the scenario can be solved",
    "expectimax": "expectimax search by the exact rules, limited to 50,000 transitions",
    "mcts": "Monte Carlo tree search, 400 simulations per decision",
    "search": "one-decision search by the exact rules, with values from phase-search",
}
CONTRIBUTORS = "wfb_gym contributors"
_ROUNDING = 1e-3
"""Tolerance within which results count as equal, in scores or points."""


def open_records(settings: Settings) -> Iterator[tuple[str, ResultFile]]:
    """Open the grading records by submission, so that gradings can continue from them."""
    for name, policies in settings.entries.items():
        about = {"protocol": PROTOCOL, "policies": _digests(policies)}
        yield name, ResultFile(settings.unfinished / name, "parts.jsonl", "grading", about)


def write_submissions(run: Run[Settings, Job]) -> tuple[list[str], bool]:
    """Write the graded submissions, and delete the records of complete ones.

    Returns:
        Messages about written and failed submissions, and whether anything failed.
    """
    grades = join_jobs(run.parts, run.finished, run.lines)
    notes = list(grades.rejected)
    failed = bool(notes)
    for name, policies in run.settings.entries.items():
        results = grades.ranked.get(name, {})
        if run.interrupted and not any(results.values()):
            continue
        others = grades.others.get(name, {})
        submission = _describe(run.settings, name, policies) | results | {"other_way": others}
        try:
            notes.append(f"written: {_write_submission(run.settings, submission)}")
        except SubmissionError as error:
            notes.append(str(error))
            failed = True
        else:
            if not run.interrupted:
                run.records[name].delete()
    return notes, failed


def _describe(settings: Settings, name: str, policies: list[str]) -> dict[str, Any]:
    """Return a submission's metadata, copying the models to keep."""
    return {
        "protocol": PROTOCOL,
        "name": name,
        **_about(settings, policies[0]).model_dump(exclude_none=True),
        "versions": common.versions(),
        "policies": _policies_to_keep(settings, name, policies),
    }


def _about(settings: Settings, policy: str) -> About:
    """Return the author's statements on a policy, or our own on an agent."""
    if settings.about is not None:
        return read_about(settings.about)
    name = PolicySpec.parse(policy).name
    return About(
        kind="planner" if name in (*SEARCHING, "optimal") else "scripted",
        description=DESCRIPTIONS.get(policy, policy),
        authors=CONTRIBUTORS,
        code=f"python -m experiments.leaderboard --evaluate {policy}",
        uses_exact=name == "optimal",
    )


def _digests(policies: list[str]) -> dict[str, str]:
    """Return a digest of each policy's file ("" without a file), to detect changed models."""
    files = {each for each in policies if Path(each).is_file()}
    return {
        each: hashlib.sha256(Path(each).read_bytes()).hexdigest() if each in files else ""
        for each in policies
    }


def _policies_to_keep(settings: Settings, name: str, policies: list[str]) -> dict[str, list[str]]:
    """Return the names to grade a submission again with, by task, copying the models to keep."""
    if not model_names(policies):
        return {ALL: policies}
    if not settings.keep:
        return {}
    keys = settings.keys or [ALL]
    folder = settings.models
    first = keys[0].replace("/", "-")
    endings = [PolicySpec.parse(path).ending for path in policies]
    kept = [f"{name}/{first}-{k}{ending}" for k, ending in enumerate(endings)]
    (folder / name).mkdir(parents=True, exist_ok=True)
    for path, copy in zip(policies, kept, strict=True):
        keep_model(path, folder / copy)
    return dict.fromkeys(keys, kept)


def keep_model(path: str, copy: Path) -> None:
    """Copy a saved model, leaving out the optimiser state of Stable-Baselines3 models."""
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


def entries_again(settings: Settings) -> tuple[list[Submission], list[Entry], list[str]]:
    """Return the submissions to grade again, their entries, and a note on tasks without models."""
    by_name = {each.name: each for each in read_submissions(settings.submissions)}
    for name in settings.again or ():
        check_known(by_name, name, "--again")
    chosen = [by_name[name] for name in settings.again or by_name]
    folder = settings.models
    entries, notes = [], []
    for each in chosen:
        parts: dict[tuple[str, ...], list[Task]] = {}
        for key in (task for track in TRACKS for task in getattr(each, track)):
            if key in (settings.keys or TASKS):
                names = each.policies.get(key, each.policies.get(ALL, []))
                parts.setdefault(tuple(names), []).append(TASKS[key])
        for graded, tasks in parts.items():
            paths = [str(folder / name) if model_names([name]) else name for name in graded]
            if paths:
                entries.append(Entry(each.name, paths, tasks))
            else:
                notes.append(f"{each.name}: no models are kept to grade {len(tasks)} tasks again")
    return chosen, entries, notes


def model_files(settings: Settings) -> Iterable[str]:
    """Return the files that a grading reads."""
    if settings.again is None:
        return model_names(settings.evaluate or ())
    return map(str, settings.models.rglob("*.*"))


def compare_again(run: Run[Settings, Job]) -> Outcome:
    """Return the differences between submissions and their new grades."""
    chosen, entries, notes = entries_again(run.settings)
    grades = join_jobs(run.parts, run.finished, run.lines)
    problems = list(grades.rejected)
    for each in chosen:
        for former, graded, way in (
            (each, grades.ranked, ""),
            (each.other_way, grades.others, "the other way, "),
        ):
            for track, results in graded.get(each.name, {}).items():
                for key, now in results.items():
                    before = getattr(former, track)[key]
                    if not _are_same(before, now):
                        expected = f"{way}{key}: expected {before}, found {now}"
                        problems.append(f"{each.name}: {expected}")
    count = sum(len(entry.tasks) for entry in entries)
    same = f"{len(chosen)} submissions, {count} tasks: the same results"
    found = {"submissions": len(chosen), "tasks": count, "problems": problems}
    shown = problems or ([] if run.interrupted else [same])
    return Outcome(found, (), [*notes, *shown], failed=bool(problems))


def _are_same(before: Any, now: Any) -> bool:
    if isinstance(before, dict):
        return before.keys() == now.keys() and all(_are_same(before[k], now[k]) for k in before)
    former, later = np.array(before), np.array(now)
    return former.shape == later.shape and bool(np.allclose(former, later, rtol=0, atol=_ROUNDING))


def _write_submission(settings: Settings, submission: dict[str, Any]) -> Path:
    """Write a submission and return its file, or raise a `SubmissionError` if it is invalid."""
    if not any(submission.get(track) for track in TRACKS):
        raise SubmissionError(f"{submission['name']}: no task was graded, nothing is written")
    settings.submissions.mkdir(parents=True, exist_ok=True)
    path = settings.submissions / f"{submission['name']}.json"
    if settings.add and path.is_file():
        former = read_submission(path).model_dump(exclude_none=True)
        for key in ("protocol", "kind", "steps"):
            if former[key] != submission[key]:
                expected = f"expected {key} {former[key]}, found {submission[key]}"
                raise SubmissionError(f"{path}: {expected}")
        others = former["other_way"]
        for track in TRACKS:
            submission[track] = {**former[track], **submission.get(track, {})}
            others[track] = {**others[track], **submission["other_way"].get(track, {})}
        submission |= {"other_way": others} | {
            key: former[key] for key in About.model_fields if key in former
        }
        submission["policies"] = {**former["policies"], **submission["policies"]}
    atomic_write_text(path, json.dumps(submission, indent=1, ensure_ascii=False) + "\n")
    read_submission(path)
    return path
