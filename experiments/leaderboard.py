"""Grade policies by the benchmark protocol, and write the leaderboard page from the results.

    python -m experiments.leaderboard
    python -m experiments.leaderboard --evaluate greedy veteran random
    python -m experiments.leaderboard --evaluate runs/*/policy.npz --name my-ppo --about about.toml
    python -m experiments.leaderboard --evaluate runs/duel-*/policy.npz --name duellist \\
        --about about.toml --task archmage-duel/caster
    python -m experiments.leaderboard --compare my-ppo veteran greedy
    python -m experiments.leaderboard --again greedy

Without --evaluate the command checks the submissions, JSON files in
experiments/leaderboards/entries/, and writes docs/leaderboard.md. With --evaluate each name gets
its own submission; saved models are the runs of one submission, one for each seed. --again grades
the named submissions again, by default all of them, and fails if a result differs.
docs/benchmark.md describes the protocol and the files. Ctrl-C keeps finished tasks, and the same
command continues with the others.
"""

from wfb_gym._commands import run_main

if __name__ == "__main__":
    run_main("experiments.leaderboard")

from collections.abc import Iterator, Sequence
from typing import Any

from experiments.experiment import Experiment
from experiments.leaderboards import page
from experiments.leaderboards.comparing import COMPARISONS, compare
from experiments.leaderboards.grading import (
    compare_again,
    entries_again,
    model_files,
    open_records,
    write_submissions,
)
from experiments.leaderboards.jobs import Entry, do_jobs, jobs_of
from experiments.leaderboards.protocol import TRACKS
from experiments.leaderboards.searching import find_scenarios, searches, write_scenarios
from experiments.leaderboards.settings import QUICK, Settings, check_command
from experiments.leaderboards.submissions import FOLDER, Submission, check_known, read_submissions
from experiments.outcomes import Line, Outcome, Run
from experiments.workers import Workers
from wfb_gym.files import atomic_write_text


def _parts_of(settings: Settings) -> Sequence[Any]:
    """Return the jobs for a grading or a search, or none if only the page is written."""
    if settings.find:
        return searches()
    if settings.again is not None:
        _, entries, _ = entries_again(settings)
    else:
        entries = [Entry(*each, settings.tasks) for each in settings.entries.items()]
    return [job for entry in entries for job in jobs_of(entry)]


def work(
    settings: Settings, parts: Sequence[Any], _: Sequence[Line], workers: Workers
) -> Iterator[Line]:
    """Run the jobs for a grading or a search."""
    return workers.map(find_scenarios, parts) if settings.find else do_jobs(parts, workers)


def update_page(settings: Settings, submissions: Sequence[Submission]) -> tuple[str, bool]:
    """Write or check the page, and return a message and whether the page is out of date."""
    folder = settings.submissions
    if folder == FOLDER:
        path, text = page.PAGE, page.make_page(submissions)
    else:
        path, text = folder / "leaderboard.md", page.make_page(submissions, folder)
    if not settings.check:
        atomic_write_text(path, text)
        return f"written: {path}", False
    if not path.is_file() or path.read_text(encoding="utf-8") != text:
        return f"{path} is out of date: run python -m experiments.leaderboard", True
    return f"{path} is current", False


def overall_results(submissions: Sequence[Submission]) -> dict[str, Any]:
    """Return the page's overall table as JSON."""
    results: dict[str, Any] = {}
    for each in page.rank(submissions):
        intervals = {track: page.track_interval(each, track) for track in TRACKS}
        results[each.name] = {t: None if i is None else vars(i) for t, i in intervals.items()}
    return results


def _outcome_of(run: Run[Settings, Any]) -> Outcome:
    settings = run.settings
    if settings.find:
        return write_scenarios(run)
    if settings.again is not None:
        return compare_again(run)
    notes, failed = write_submissions(run)
    submissions = read_submissions(settings.submissions)
    if settings.compare:
        # in a folder of one's own, a name means its submission before the published one
        by_name = {each.name: each for each in [*read_submissions(), *submissions]}
        for name in settings.compare:
            check_known(by_name, name, "--compare")
        lines = compare([by_name[name] for name in settings.compare])
        if not lines:
            expected = f"expected tasks that two of {', '.join(settings.compare)} share"
            notes.append(f"--compare: {expected}, found none")
        texts = [COMPARISONS.text(lines)] if lines else ()
        return Outcome({"comparisons": lines}, texts, notes, failed=not lines)
    if not failed and not run.interrupted:
        note, failed = update_page(settings, submissions)
        notes.append(note)
    return Outcome(overall_results(submissions), (), notes, failed)


EXPERIMENT = Experiment(
    module="experiments.leaderboard",
    description=__doc__,
    settings=Settings,
    quick=QUICK,
    check=check_command,
    file=None,
    parts=_parts_of,
    work=work,
    records=open_records,
    group_of=lambda job: job.name,
    name_of=lambda line: str(line["job"]),
    is_kept=lambda line: "rejected" not in line,
    files=model_files,
    outcome=_outcome_of,
)
main = EXPERIMENT.main
