"""Grades policies by the benchmark protocol, and makes the leaderboard's page of the results.

    python -m experiments.leaderboard
    python -m experiments.leaderboard --evaluate greedy veteran random
    python -m experiments.leaderboard --evaluate runs/*/policy.npz --name my-ppo --steps 2000000
    python -m experiments.leaderboard --evaluate runs/duel-*/policy.npz --name duellist \\
        --steps 1000000 --task archmage-duel/caster
    python -m experiments.leaderboard --compare my-ppo veteran

Without --evaluate it checks the submissions, JSON files in experiments/leaderboards/entries/, and
writes docs/leaderboard.md. With it each name gets a submission of its own; saved models are the
runs of one submission, one for each seed. docs/benchmark.md describes protocol and files. Ctrl-C
keeps the tasks that were done.
"""

import json
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from experiments.common import (
    FAILED,
    INTERRUPTED,
    Interruptible,
    natural_number,
    print_json,
    report_progress,
)
from experiments.leaderboards import page
from experiments.leaderboards.grading import Entry, grade_entry, make_entries
from experiments.leaderboards.protocol import (
    DUELS,
    GENERATED,
    SCENARIOS,
    TASKS,
    TRACKS,
    Task,
    find_generated_scenarios,
)
from experiments.leaderboards.submissions import (
    FOLDER,
    Submission,
    SubmissionError,
    read_submission,
    read_submissions,
)
from experiments.statistics import bootstrap, probability_of_improvement
from wfb_gym.cli.parser import Parser

QUICK_OUT = Path("runs/leaderboard-quick")


@dataclass(frozen=True)
class Settings:
    """What to do.

    Attributes:
        entries: policies to grade; none to make the page.
        tasks: in which they are graded.
        folder: of the submissions.
        page: that is made of them.
        check: only say whether the page is up to date.
        find: search the generated scenarios again.
        compare: two submissions to compare, or none.
        json: print JSON alone on stdout.
        add: to existing submissions, instead of replacing them.
    """

    entries: tuple[Entry, ...]
    tasks: tuple[Task, ...]
    folder: Path = FOLDER
    page: Path = page.PAGE
    check: bool = False
    find: bool = False
    compare: tuple[str, ...] = ()
    json: bool = False
    add: bool = False


def parse_arguments(arguments: Sequence[str] | None) -> Settings:
    """Parse the command line.

    Raises:
        SystemExit: help was asked for, or the input is bad.
    """
    description = (__doc__ or "").strip()
    parser = Parser(prog="python -m experiments.leaderboard", description=description)
    add = parser.add_argument
    what = parser.add_mutually_exclusive_group()
    what.add_argument("--evaluate", nargs="+", metavar="POLICY", help="names, or saved models")
    what.add_argument("--check", action="store_true", help="only say whether the page is current")
    what.add_argument("--compare", nargs=2, metavar="NAME", help="of two submissions")
    what.add_argument("--find", action="store_true", help="the generated scenarios anew (minutes)")
    add("--name", help="of the submission (default: the agent's own)")
    add("--task", action="append", choices=sorted(TASKS), metavar="TASK", help=", ".join(TASKS))
    add("--steps", type=natural_number, default=0, help="decisions learned from (default: none)")
    add("--description", default="", help="one line")
    add("--authors", default="wfb_gym contributors", help="(default: %(default)s)")
    add("--code", default="", help="where the code is (default: this command)")
    add("--add", action="store_true", help="to the submission of that name: other tasks of it stay")
    add("--folder", type=Path, help=f"of the submissions (default: {FOLDER})")
    add("--quick", action="store_true", help="grade in the smallest duel alone, into runs/")
    add("--json", action="store_true", help="print JSON alone on stdout")
    given = parser.parse_args(arguments)
    keys = given.task or ([f"{DUELS[0]}/caster"] if given.quick else TASKS)
    folder = given.folder or (QUICK_OUT if given.quick else FOLDER)
    if given.add and not given.evaluate:
        parser.error("--add: expected --evaluate with it")
    try:
        entries = make_entries(given)
    except (ValueError, OSError) as error:
        parser.error(str(error))
    return Settings(
        entries,
        tuple(TASKS[key] for key in dict.fromkeys(keys)),
        folder,
        page.PAGE if folder == FOLDER else folder / "leaderboard.md",
        given.check,
        given.find,
        tuple(given.compare or ()),
        given.json,
        given.add,
    )


def grade_entries(settings: Settings) -> int:
    """Grade all entries and write their submissions; returns the exit status."""
    status = 0
    with report_progress("grading", len(settings.entries) * len(settings.tasks)) as report:
        for entry in settings.entries:
            results: dict[str, Any] = {}
            with Interruptible() as session:
                for line in grade_entry(entry, settings.tasks, results, report):
                    print(line, file=sys.stderr)
                    status = FAILED
            status = _write_submission(settings, {**entry.metadata, **results}) or status
            if session.interrupted:
                print("interrupted; what was done is kept", file=sys.stderr)
                return INTERRUPTED
    return status


def _write_submission(settings: Settings, submission: dict[str, Any]) -> int:
    """Write a submission, if it has any results; returns the exit status."""
    if not any(submission.get(track) for track in TRACKS):
        print(f"{submission['name']}: no task was graded, nothing is written", file=sys.stderr)
        return FAILED
    settings.folder.mkdir(parents=True, exist_ok=True)
    path = settings.folder / f"{submission['name']}.json"
    if settings.add and path.is_file():
        former = read_submission(path).model_dump(exclude_none=True)
        for key in ("protocol", "steps"):
            if former[key] != submission[key]:
                expected = f"expected {key} {former[key]}, found {submission[key]}"
                print(f"{path}: {expected}", file=sys.stderr)
                return FAILED
        for track in TRACKS:
            submission[track] = {**former.get(track, {}), **submission.get(track, {})}
        submission |= {key: former[key] for key in ("description", "authors", "code")}
    path.write_text(json.dumps(submission, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    read_submission(path)
    print(f"written: {path}", file=sys.stderr)
    return 0


def write_generated_scenarios() -> None:
    """Search the generated scenarios again and write their file."""
    lines = []
    with report_progress("scenarios", GENERATED) as report:
        for each in find_generated_scenarios():
            lines.append(f"  {json.dumps(each)}")
            report(f"seed {each['seed']}", 1)
    SCENARIOS.write_text('{"scenarios": [\n' + ",\n".join(lines) + "\n]}\n", encoding="utf-8")
    print(f"written: {SCENARIOS}", file=sys.stderr)


def update_page(settings: Settings, submissions: Sequence[Submission]) -> int:
    """Write the page, or say whether it is current; returns the exit status."""
    text = page.make_page(submissions)
    path = settings.page
    if settings.check:
        current = path.is_file() and path.read_text(encoding="utf-8") == text
        if not current:
            advice = "is out of date: run python -m experiments.leaderboard"
            print(f"{path} {advice}", file=sys.stderr)
        return 0 if current else FAILED
    path.write_text(text, encoding="utf-8")
    print(f"written: {path}", file=sys.stderr)
    return 0


def compare(submissions: Sequence[Submission], names: Sequence[str]) -> dict[str, Any]:
    """Compute by track the probability that a run of the first submission beats one of the second.

    Tracks that one of them did not finish are left out.

    Raises:
        SubmissionError: there is no such submission.
    """
    by_name = {each.name: each for each in submissions}
    for name in names:
        if name not in by_name:
            known = ", ".join(by_name)
            raise SubmissionError(f"--compare: expected one of {known}, found {name!r}")
    results: dict[str, Any] = {}
    for track in TRACKS:
        first, second = (page.score_matrix(by_name[name], track) for name in names)
        if first is not None and second is not None:
            results[track] = vars(bootstrap(probability_of_improvement, first, second))
    return results


def overall_results(submissions: Sequence[Submission]) -> dict[str, Any]:
    """Return the page's overall table as JSON holds it."""
    results: dict[str, Any] = {}
    for each in page.rank(submissions):
        intervals = {track: page.track_interval(each, track) for track in TRACKS}
        results[each.name] = {t: None if i is None else vars(i) for t, i in intervals.items()}
    return results


def main(arguments: Sequence[str] | None = None) -> int:
    """Grade, compare, or make the page; returns the exit status."""
    settings = parse_arguments(arguments)
    status = 0
    with Interruptible() as session:
        try:
            if settings.find:
                write_generated_scenarios()
                return 0
            status = grade_entries(settings) if settings.entries else 0
            submissions = read_submissions(settings.folder)
            if settings.compare:
                results = compare(submissions, settings.compare)
                if not settings.json:
                    first, second = settings.compare
                    for track, each in results.items():
                        value = f"{each['value']:.2f} [{each['low']:.2f}, {each['high']:.2f}]"
                        print(f"{track}: {first} beats {second}: {value}")
            else:
                status = status or update_page(settings, submissions)
                results = overall_results(submissions)
        except SubmissionError as error:
            print(f"python -m experiments.leaderboard: {error}", file=sys.stderr)
            return FAILED
        if settings.json:
            print_json(results)
    if session.interrupted:
        print("interrupted", file=sys.stderr)
        return INTERRUPTED
    return status


if __name__ == "__main__":
    sys.exit(main())
