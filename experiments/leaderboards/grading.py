"""Grading policies by the protocol: what is submitted, and its results task by task."""

import argparse
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from experiments.common import Report, versions
from experiments.leaderboards import protocol
from experiments.leaderboards.protocol import BUDGET, DUELS, PROTOCOL, RUNS, TRACKS, Task
from experiments.leaderboards.submissions import NAME
from experiments.tournaments.matches import MODELS, one_line
from wfb_gym.players.registry import make_agent

DESCRIPTIONS = {
    "random": "every legal action is as likely",
    "greedy": "the best expected points of the moment, dispels what it can",
    "veteran": "rules of thumb of an experienced player",
}


@dataclass(frozen=True)
class Entry:
    """A submission before it is graded.

    Attributes:
        name: of the submission.
        policies: one for each run.
        metadata: the other keys of the file.
    """

    name: str
    policies: tuple[str, ...]
    metadata: dict[str, Any]


def make_entries(given: argparse.Namespace) -> tuple[Entry, ...]:
    """Read from the command line what is graded.

    Raises:
        ValueError: an unknown agent, or policies that make no submission.
        OSError: a file that cannot be read.
    """
    policies: list[str] = list(dict.fromkeys(given.evaluate or ()))
    models = [each for each in policies if Path(each).suffix in MODELS]
    if not policies:
        return ()
    if models and len(models) < len(policies):
        raise ValueError("--evaluate: expected names or saved models, found both")
    if not 0 <= given.steps <= BUDGET:
        raise ValueError(f"--steps: expected 0 to {BUDGET:,}, found {given.steps}")
    for policy in policies:
        make_agent(policy, scenario=DUELS[0])
    groups: list[tuple[str, tuple[str, ...]]]
    if not models:
        if given.name is not None and len(policies) > 1:
            raise ValueError(f"--name: expected one agent, found {len(policies)}")
        groups = [(given.name or each.replace(":", "-"), (each,)) for each in policies]
    else:
        if given.name is None:
            raise ValueError("--name: expected a name for the submission of saved models")
        if not given.steps or len(models) < RUNS:
            raise ValueError(
                f"--evaluate: expected {RUNS} saved models or more and --steps over 0, "
                f"found {len(models)} and {given.steps}"
            )
        groups = [(given.name, tuple(models))]
    return tuple(Entry(name, group, _metadata(given, name, group)) for name, group in groups)


def _metadata(given: argparse.Namespace, name: str, policies: tuple[str, ...]) -> dict[str, Any]:
    if not NAME.fullmatch(name):
        expected = "letters, digits, dots, dashes and underscores"
        raise ValueError(f"--name: expected {expected}, found {name!r}")
    command = f"python -m experiments.leaderboard --evaluate {policies[0]}"
    return {
        "protocol": PROTOCOL,
        "name": name,
        "description": given.description or DESCRIPTIONS.get(policies[0], policies[0]),
        "authors": given.authors,
        "code": given.code or command,
        "steps": given.steps,
        "versions": versions(),
    }


def grade_entry(
    entry: Entry, tasks: Sequence[Task], results: dict[str, Any], report: Report
) -> list[str]:
    """Grade an entry in tasks.

    Args:
        entry: what is graded.
        tasks: in which.
        results: gets the results, task by task.
        report: takes what is done, and how many tasks were finished since the last call.

    Returns:
        The tasks that could not be graded, and why, a line each.

    Raises:
        KeyboardInterrupt: Ctrl-C; `results` holds what was done.
    """
    policies = list(entry.policies)
    failed = []
    for track in TRACKS:
        own = [task for task in tasks if task.track == track]
        results[track] = {}
        together = track == "generated"  # each scenario is solved once for both seats
        groups = [own] if together and own else [] if together else [[task] for task in own]
        for group in groups:
            report(f"{entry.name}: {group[0]}", 0)
            try:
                results[track].update(_grade_tasks(track, policies, group, report))
            except ValueError as error:  # it does not fit, or TooLarge
                failed += [f"{entry.name}: {task}: {one_line(error)}" for task in group]
            report("", len(group))
    return failed


def _grade_tasks(
    track: str, policies: list[str], tasks: Sequence[Task], report: Report
) -> dict[str, Any]:
    """Grade tasks of one track; several at a time only where they are generated."""
    if track == "duels":
        return {str(task): protocol.grade_duel(policies, task) for task in tasks}
    if track == "battles":
        return {str(task): protocol.grade_battle(policies, task) for task in tasks}
    seats = [task.seat for task in tasks]
    scores = protocol.grade_generated(policies, seats, lambda note: report(note, 0))
    return {str(task): scores[task.seat] for task in tasks}
