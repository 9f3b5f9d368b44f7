"""Grades policies by the benchmark protocol, and makes the leaderboard's page of the results.

    python -m experiments.leaderboard
    python -m experiments.leaderboard --evaluate greedy veteran random
    python -m experiments.leaderboard --evaluate runs/*/policy.npz --name my-ppo --steps 2000000
    python -m experiments.leaderboard --evaluate runs/duel-*/policy.npz --name duellist \\
        --steps 1000000 --task archmage-duel/caster
    python -m experiments.leaderboard --compare my-ppo veteran
    python -m experiments.leaderboard --again greedy

Without --evaluate it checks the submissions, JSON files in experiments/leaderboards/entries/, and
writes docs/leaderboard.md. With it each name gets a submission of its own; saved models are the
runs of one submission, one for each seed. --again grades submissions again, all of them unless some
are named, and fails where a result differs. docs/benchmark.md describes protocol and files. Ctrl-C
keeps the tasks that were done; the same command goes on with the others where it was interrupted.
"""

import hashlib
import io
import json
import shutil
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from zipfile import ZIP_DEFLATED, ZipFile

import numpy as np

from experiments import common
from experiments.leaderboards import page, protocol
from experiments.leaderboards.protocol import BUDGET, DUELS, PRESETS, RUNS, TASKS, TRACKS, Task
from experiments.leaderboards.submissions import (
    ALL,
    FOLDER,
    MODELS,
    Submission,
    SubmissionError,
    read_submission,
    read_submissions,
)
from experiments.records import Record, RecordError
from experiments.statistics import Interval, bootstrap, probability_of_improvement
from experiments.tournaments.matches import model_names
from experiments.workers import RAY, WorkerError, Workers, open_workers
from wfb_gym.cli.output import print_json
from wfb_gym.cli.parser import option, parse_options
from wfb_gym.files import write_text_whole
from wfb_gym.opponents.policy_spec import PolicySpec
from wfb_gym.players.registry import make_agent
from wfb_gym.scenario.fields import FILE_NAME, FILE_NAME_EXPECTED
from wfb_gym.suggestions import did_you_mean

DESCRIPTIONS = {
    "random": "every legal action is as likely",
    "greedy": "the best expected points of the moment, dispels what it can",
    "veteran": "rules of thumb of an experienced player",
    "phase-search": "solves each phase as a duel of its best spells, and looks ahead",
    "optimal": "optimal play, where the scenario can be solved",
    "expectimax": "looks ahead by the rules, as far as 50,000 ways let it",
    "mcts": "Monte Carlo tree search, 400 simulations a decision",
    "search": "one decision by the rules, and what follows as phase-search values it",
}
_ROUNDING = 1e-3
"""By which results may differ that are the same, in scores or points."""
Entries = dict[str, list[str]]
"""What is graded: by the name of a submission a policy for each run."""


@dataclass(frozen=True)
class Settings:
    """The command line.

    Attributes:
        evaluate: grade names, or saved models.
        check: only say whether the page is current.
        compare: compare two submissions.
        again: grade submissions again, and compare.
        find: find the generated scenarios from scratch (minutes).
        name: name of the submission (default: the agent's own).
        preset: grade only in the tasks of that difficulty.
        steps: decisions learned from (default: none).
        description: what it is, in a line.
        authors: who made it.
        code: where the code is (default: this command).
        add: add to the submission of that name; its other tasks stay.
        keep: copy the models into the folder models beside the submissions, for --again.
        folder: folder of the submissions (default: experiments/leaderboards/entries).
        ray: address of a Ray cluster.
        workers: processes of this machine that grade.
        quick: grade in only the smallest duel, into runs/.
        json: print only JSON on stdout.
    """

    evaluate: tuple[str, ...] | None = option(None, exclusive="what", nargs="+", metavar="POLICY")
    check: bool = option(False, exclusive="what")
    compare: tuple[str, ...] | None = option(None, exclusive="what", nargs=2, metavar="NAME")
    again: tuple[str, ...] | None = option(None, exclusive="what", nargs="*", metavar="NAME")
    find: bool = option(False, exclusive="what")
    name: str | None = None
    task: tuple[str, ...] = option(
        (),
        choices=sorted(TASKS),
        metavar="TASK",
        help=f"grade only in these: {', '.join(TASKS)}; repeat for several",
    )
    preset: str | None = option(None, choices=tuple(PRESETS))
    steps: int = option(0, type=common.natural_number)
    description: str = ""
    authors: str = "wfb_gym contributors"
    code: str = ""
    add: bool = False
    keep: bool = False
    folder: Path | None = None
    ray: str = option("", **RAY)
    workers: int = option(1, type=common.positive_integer)
    quick: bool = False
    json: bool = False

    @property
    def tasks(self) -> list[Task]:
        """In which policies are graded."""
        return [TASKS[key] for key in self.keys or TASKS]

    @property
    def keys(self) -> list[str]:
        """The tasks that are named; none for all."""
        named = self.task or ([f"{DUELS[0]}/caster"] if self.quick else [])
        if self.preset:
            named = [*named, *map(str, PRESETS[self.preset])]
        return list(dict.fromkeys(named))

    @property
    def unfinished(self) -> Path:
        """The folder of what interrupted gradings found."""
        usual = Path("runs/leaderboard-quick" if self.quick else "runs/leaderboard")
        return (self.folder or usual) / "unfinished"

    @property
    def submissions(self) -> Path:
        """The folder of the submissions."""
        return self.folder or (Path("runs/leaderboard-quick") if self.quick else FOLDER)


def parse_arguments(arguments: Sequence[str] | None) -> tuple[Settings, Entries]:
    """Parse the command line: settings, and what is graded."""
    settings, parser = parse_options(
        Settings, arguments, module="experiments.leaderboard", description=__doc__
    )
    for name in ("add", "keep"):
        if getattr(settings, name) and not settings.evaluate:
            parser.error(f"--{name}: expected --evaluate with it")
    try:
        return settings, make_entries(settings)
    except (ValueError, OSError) as error:
        parser.error(str(error))


def make_entries(settings: Settings) -> Entries:
    """Return what is graded; an unknown agent, or policies that make no submission, are refused."""
    policies = list(dict.fromkeys(settings.evaluate or ()))
    models = model_names(policies)
    if not policies:
        return {}
    if models and len(models) < len(policies):
        raise ValueError("--evaluate: expected names or saved models, found both")
    for policy in policies:
        make_agent(policy, scenario=DUELS[0])
    if models:
        if settings.name is None:
            raise ValueError("--name: expected a name for the submission of saved models")
        if not settings.steps or (len(models) < RUNS and settings.steps <= BUDGET):
            raise ValueError(
                f"--evaluate: expected {RUNS} saved models or more and --steps over 0, "
                f"found {len(models)} and {settings.steps}"
            )
        entries = {settings.name: models}
    else:
        if settings.name is not None and len(policies) > 1:
            raise ValueError(f"--name: expected one agent, found {len(policies)}")
        entries = {settings.name or each.replace(":", "-"): [each] for each in policies}
    for name in entries:
        if not FILE_NAME.fullmatch(name):
            raise ValueError(f"--name: expected {FILE_NAME_EXPECTED}, found {name!r}")
        _check_keeps_tasks(settings, settings.submissions / f"{name}.json")
    return entries


def _check_keeps_tasks(settings: Settings, path: Path) -> None:
    """Raise if a submission holds tasks that would be gone, as only some are graded."""
    named = settings.task or settings.preset
    if not named or settings.add or not path.is_file():
        return
    former = read_submission(path).model_dump(exclude_none=True)
    others = {task for track in TRACKS for task in former.get(track, {})} - set(settings.keys)
    if others:
        raise ValueError(f"--task: {path} holds other tasks; expected --add, which keeps them")


def grade_entries(settings: Settings, entries: Entries, workers: Workers) -> int:
    """Grade all entries and write their submissions; returns the exit status."""
    status = 0
    with common.report_progress("grading", len(entries) * len(settings.tasks)) as report:
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
    settings: Settings, submissions: Sequence[Submission], report: common.Report, workers: Workers
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
    write_text_whole(path, json.dumps(submission, indent=1, ensure_ascii=False) + "\n")
    read_submission(path)
    print(f"written: {path}", file=sys.stderr)
    return 0


def write_generated_scenarios() -> None:
    """Search the generated scenarios again and write their file."""
    kinds = []
    counts = protocol.GENERATED | protocol.AXES
    with common.report_progress("scenarios", sum(counts.values())) as report:
        for kind, count in counts.items():
            lines = []
            for each in protocol.find_generated_scenarios(kind, count):
                lines.append(f"  {json.dumps(each)}")
                report(f"{kind}, seed {each['seed']}", 1)
            kinds.append(f' "{kind}": [\n' + ",\n".join(lines) + "\n ]")
    path = protocol.SCENARIOS
    write_text_whole(path, "{\n" + ",\n".join(kinds) + "\n}\n")
    print(f"written: {path}", file=sys.stderr)


def update_page(settings: Settings, submissions: Sequence[Submission]) -> int:
    """Write the page, or say whether it is current; returns the exit status."""
    text = page.make_page(submissions)
    folder = settings.submissions
    path = page.PAGE if folder == FOLDER else folder / "leaderboard.md"
    if not settings.check:
        write_text_whole(path, text)
        print(f"written: {path}", file=sys.stderr)
    elif not path.is_file() or path.read_text(encoding="utf-8") != text:
        print(f"{path} is out of date: run python -m experiments.leaderboard", file=sys.stderr)
        return common.FAILED
    else:
        print(f"{path} is current", file=sys.stderr)
    return 0


def check_again(settings: Settings, submissions: Sequence[Submission]) -> int:
    """Grade submissions again, and tell what differs; returns the exit status."""
    by_name = {each.name: each for each in submissions}
    for name in settings.again or ():
        _check_known(by_name, name, "--again")
    chosen = [by_name[name] for name in settings.again or by_name]
    keys = settings.keys or TASKS
    tasks = sum(key in keys for each in chosen for track in TRACKS for key in getattr(each, track))
    files = [str(path) for path in (settings.submissions.parent / MODELS).rglob("*.*")]
    with (
        common.report_progress("grading again", tasks) as report,
        open_workers(settings.ray, processes=settings.workers, files=files) as workers,
    ):
        graded, problems = grade_again(settings, chosen, report, workers)
    for line in problems:
        print(line, file=sys.stderr)
    if not problems:
        print(f"{len(chosen)} submissions, {graded} tasks: the same results", file=sys.stderr)
    return common.FAILED if problems else 0


def _check_known(by_name: Mapping[str, Submission], name: str, option: str) -> None:
    if name not in by_name:
        known = ", ".join(by_name) + did_you_mean(by_name, name)
        raise SubmissionError(f"{option}: expected one of {known}, found {name!r}")


def compare(submissions: Sequence[Submission], names: Sequence[str]) -> dict[str, Any]:
    """Compute by track the probability that a run of the first submission beats one of the second.

    A track counts with the tasks that both submissions have; `tasks` is their number. Tracks of
    which they share no task are left out.
    """
    by_name = {each.name: each for each in submissions}
    for name in names:
        _check_known(by_name, name, "--compare")
    results: dict[str, Any] = {}
    for track in TRACKS:
        both = [getattr(by_name[name], track).keys() for name in names]
        tasks = [task for task in TRACKS[track] if all(str(task) in each for each in both)]
        if not tasks:
            continue
        first, second = (page.score_matrix(by_name[name], tasks) for name in names)
        assert first is not None
        assert second is not None
        found = bootstrap(probability_of_improvement, first, second)
        results[track] = {**vars(found), "tasks": len(tasks)}
    return results


def _comparison_line(names: Sequence[str], track: str, found: Mapping[str, Any]) -> str:
    """Return a track's comparison in words, with the number of tasks if they are not all."""
    count, of = found["tasks"], len(TRACKS[track])
    part = "" if count == of else f", {count} of {of} tasks"
    value = Interval(*(found[key] for key in ("value", "low", "high")))
    return f"{track}{part}: {' beats '.join(names)}: {value}"


def overall_results(submissions: Sequence[Submission]) -> dict[str, Any]:
    """Return the page's overall table as JSON holds it."""
    results: dict[str, Any] = {}
    for each in page.rank(submissions):
        intervals = {track: page.track_interval(each, track) for track in TRACKS}
        results[each.name] = {t: None if i is None else vars(i) for t, i in intervals.items()}
    return results


def main(arguments: Sequence[str] | None = None) -> int:
    """Grade, compare, or make the page; returns the exit status."""
    settings, entries = parse_arguments(arguments)
    status = 0
    with common.Interruptible() as session:
        try:
            if settings.find:
                write_generated_scenarios()
                return 0
            if entries:
                models = model_names(settings.evaluate or ())
                with open_workers(
                    settings.ray, processes=settings.workers, files=models
                ) as workers:
                    status = grade_entries(settings, entries, workers)
            submissions = read_submissions(settings.submissions)
            if settings.again is not None:
                return check_again(settings, submissions)
            if settings.compare:
                results = compare(submissions, settings.compare)
                if not results:
                    expected = f"expected tasks that {' and '.join(settings.compare)} share"
                    print(f"--compare: {expected}, found none", file=sys.stderr)
                    status = common.FAILED
                for track, each in results.items():
                    if not settings.json:
                        print(_comparison_line(settings.compare, track, each))
            else:
                status = status or update_page(settings, submissions)
                results = overall_results(submissions)
        except (SubmissionError, RecordError, WorkerError) as error:
            print(f"python -m experiments.leaderboard: {error}", file=sys.stderr)
            return common.FAILED
        if settings.json:
            print_json(results)
    if session.interrupted:
        print("interrupted", file=sys.stderr)
        return common.INTERRUPTED
    return status


if __name__ == "__main__":
    sys.exit(main())
