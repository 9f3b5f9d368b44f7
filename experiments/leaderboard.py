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

import json
import sys
from collections.abc import Mapping, Sequence
from typing import Any

from experiments import common
from experiments.leaderboards import page, protocol
from experiments.leaderboards.grading import grade_again, grade_entries
from experiments.leaderboards.protocol import TASKS, TRACKS
from experiments.leaderboards.settings import Settings, parse_arguments
from experiments.leaderboards.submissions import (
    FOLDER,
    MODELS,
    Submission,
    SubmissionError,
    read_submissions,
)
from experiments.progress import report_progress
from experiments.records import RecordError
from experiments.statistics import Interval, bootstrap, probability_of_improvement
from experiments.tournaments.matches import model_names
from experiments.workers import WorkerError, open_workers
from wfb_gym.cli.output import print_json
from wfb_gym.files import atomic_write_text
from wfb_gym.suggestions import did_you_mean


def write_generated_scenarios() -> None:
    """Search the generated scenarios again and write their file."""
    kinds = []
    counts = protocol.GENERATED | protocol.AXES
    with report_progress("scenarios", sum(counts.values())) as report:
        for kind, count in counts.items():
            lines = []
            for each in protocol.find_generated_scenarios(kind, count):
                lines.append(f"  {json.dumps(each)}")
                report(f"{kind}, seed {each['seed']}", 1)
            kinds.append(f' "{kind}": [\n' + ",\n".join(lines) + "\n ]")
    path = protocol.SCENARIOS
    atomic_write_text(path, "{\n" + ",\n".join(kinds) + "\n}\n")
    print(f"written: {path}", file=sys.stderr)


def update_page(settings: Settings, submissions: Sequence[Submission]) -> int:
    """Write the page, or say whether it is current; returns the exit status."""
    text = page.make_page(submissions)
    folder = settings.submissions
    path = page.PAGE if folder == FOLDER else folder / "leaderboard.md"
    if not settings.check:
        atomic_write_text(path, text)
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
        report_progress("grading again", tasks) as report,
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
    settings, entries = parse_arguments(arguments, __doc__)
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
