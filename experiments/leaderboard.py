"""The leaderboard: grades policies by the benchmark protocol, and makes the page of results.

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

from experiments.common import INTERRUPTED, progress
from experiments.leaderboards import page
from experiments.leaderboards.grading import Entry, entries, grade
from experiments.leaderboards.protocol import (
    DUELS,
    GENERATED,
    SCENARIOS,
    TASKS,
    TRACKS,
    Task,
    found_scenarios,
)
from experiments.leaderboards.submissions import (
    FOLDER,
    Submission,
    SubmissionError,
    read,
    read_all,
)
from experiments.statistics import bootstrap, probability_of_improvement
from wfb_gym.cli.parser import Parser, whole_number

FAILED = 1
"""Exit status where a submission is refused, the page is out of date, or a task failed."""
QUICK_OUT = Path("runs/leaderboard-quick")


@dataclass(frozen=True)
class Args:
    """What to do.

    Attributes:
        entries: to be graded; none to make the page.
        tasks: in which they are.
        folder: of the submissions.
        page: that is made of them.
        check: only say whether the page is up to date.
        find: the generated scenarios anew.
        compare: two submissions to compare, or none.
        form: "json" or "plain".
        add: to the submissions that are there, instead of writing them anew.
    """

    entries: tuple[Entry, ...]
    tasks: tuple[Task, ...]
    folder: Path = FOLDER
    page: Path = page.PAGE
    check: bool = False
    find: bool = False
    compare: tuple[str, ...] = ()
    form: str = "plain"
    add: bool = False


def parsed(arguments: Sequence[str] | None) -> Args:
    """Settings from the command line, checked.

    Raises:
        SystemExit: help was asked for, or the input is bad.
    """
    description = (__doc__ or "").strip()
    parser = Parser(prog="python -m experiments.leaderboard", description=description)
    add = parser.add_argument
    what = parser.add_mutually_exclusive_group()
    what.add_argument("--evaluate", nargs="+", metavar="POLICY", help="names, or saved models")
    what.add_argument("--check", action="store_true", help="only tell whether the page is current")
    what.add_argument("--compare", nargs=2, metavar="NAME", help="of two submissions")
    what.add_argument("--find", action="store_true", help="the generated scenarios anew (minutes)")
    add("--name", help="of the submission (default: the agent's own)")
    add("--task", action="append", choices=sorted(TASKS), metavar="TASK", help=", ".join(TASKS))
    add("--steps", type=whole_number, default=0, help="decisions learned from (default: none)")
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
    made = page.PAGE if folder == FOLDER else folder / "leaderboard.md"
    form = "json" if given.json else "plain"
    if given.add and not given.evaluate:
        parser.error("--add: expected --evaluate with it")
    try:
        asked = entries(given)
    except (ValueError, OSError) as error:
        parser.error(str(error))
    tasks = tuple(TASKS[key] for key in dict.fromkeys(keys))
    compare = tuple(given.compare or ())
    return Args(asked, tasks, folder, made, given.check, given.find, compare, form, given.add)


def grade_all(args: Args) -> int:
    """Grade all entries and write their submissions; returns the exit status."""
    status = 0
    with progress() as bar:
        task = bar.add_task("grading", total=len(args.entries) * len(args.tasks), note="")

        def tell(what: str, done: int) -> None:
            bar.update(task, advance=done)
            if what:
                bar.update(task, note=what)

        for entry in args.entries:
            found: dict[str, Any] = {}
            failed: list[str] = []
            try:
                failed = grade(entry, args.tasks, found, tell)
            except KeyboardInterrupt:
                status = INTERRUPTED
            for line in failed:
                print(line, file=sys.stderr)
                status = status or FAILED
            status = _write(args, {**entry.about, **found}) or status
            if status == INTERRUPTED:
                print("interrupted; what was done is kept", file=sys.stderr)
                break
    return status


def _write(args: Args, found: dict[str, Any]) -> int:
    """Write a submission, if there is anything in it."""
    if not any(found.get(track) for track in TRACKS):
        print(f"{found['name']}: no task was graded, nothing is written", file=sys.stderr)
        return FAILED
    args.folder.mkdir(parents=True, exist_ok=True)
    path = args.folder / f"{found['name']}.json"
    if args.add and path.is_file():
        former = read(path).model_dump(exclude_none=True)
        for key in ("protocol", "steps"):
            if former[key] != found[key]:
                print(f"{path}: expected {key} {former[key]}, found {found[key]}", file=sys.stderr)
                return FAILED
        for track in TRACKS:
            found[track] = {**former.get(track, {}), **found.get(track, {})}
        found = {**found, **{key: former[key] for key in ("description", "authors", "code")}}
    path.write_text(json.dumps(found, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    read(path)
    print(f"written: {path}", file=sys.stderr)
    return 0


def find_scenarios() -> None:
    """Look for the generated scenarios and write them down."""
    found = []
    with progress() as bar:
        task = bar.add_task("scenarios", total=GENERATED, note="")
        for each in found_scenarios():
            found.append(each)
            bar.update(task, advance=1, note=f"seed {each['seed']}")
    lines = ",\n".join(f"  {json.dumps(each)}" for each in found)
    SCENARIOS.write_text(f'{{"scenarios": [\n{lines}\n]}}\n', encoding="utf-8")
    print(f"written: {SCENARIOS}", file=sys.stderr)


def make_page(args: Args, submissions: Sequence[Submission]) -> int:
    """Write the page, or tell whether it is current; returns the exit status."""
    text = page.page(submissions)
    if args.check:
        current = args.page.is_file() and args.page.read_text(encoding="utf-8") == text
        if not current:
            told = "is out of date: run python -m experiments.leaderboard"
            print(f"{args.page} {told}", file=sys.stderr)
        return 0 if current else FAILED
    args.page.write_text(text, encoding="utf-8")
    print(f"written: {args.page}", file=sys.stderr)
    return 0


def comparison(submissions: Sequence[Submission], names: Sequence[str]) -> dict[str, Any]:
    """By track that both played whole: the chance that a run of the first does better.

    Raises:
        SubmissionError: there is no such submission.
    """
    chosen = []
    for name in names:
        own = [each for each in submissions if each.name == name]
        if not own:
            known = ", ".join(each.name for each in submissions)
            raise SubmissionError(f"--compare: expected one of {known}, found {name!r}")
        chosen += own
    found: dict[str, Any] = {}
    for track in TRACKS:
        first, second = (page.matrix(each, track) for each in chosen)
        if first is not None and second is not None:
            found[track] = vars(bootstrap(probability_of_improvement, first, second))
    return found


def summaries(submissions: Sequence[Submission]) -> dict[str, Any]:
    """The overall table as JSON holds it."""
    told: dict[str, Any] = {}
    for each in page.ordered(submissions):
        tracks = {track: page.summary(each, track) for track in TRACKS}
        told[each.name] = {t: None if f is None else vars(f) for t, f in tracks.items()}
    return told


def main(arguments: Sequence[str] | None = None) -> int:
    """Grade, compare, or make the page; returns the exit status."""
    args = parsed(arguments)
    try:
        if args.find:
            find_scenarios()
            return 0
        status = grade_all(args) if args.entries else 0
        submissions = read_all(args.folder)
        if args.compare:
            found = comparison(submissions, args.compare)
            if args.form == "plain":
                for track, each in found.items():
                    interval = f"[{each['low']:.2f}, {each['high']:.2f}]"
                    chance = f"{each['value']:.2f} {interval}"
                    print(f"{track}: {args.compare[0]} beats {args.compare[1]}: {chance}")
                return 0
        else:
            status = status or make_page(args, submissions)
            found = summaries(submissions)
    except KeyboardInterrupt:
        print("interrupted", file=sys.stderr)
        return INTERRUPTED
    except SubmissionError as error:
        print(f"python -m experiments.leaderboard: {error}", file=sys.stderr)
        return FAILED
    if args.form == "json":
        print(json.dumps(found, indent=2))
    return status


if __name__ == "__main__":
    sys.exit(main())
