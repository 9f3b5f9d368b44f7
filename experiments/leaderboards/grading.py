"""Grading policies by the protocol, into submissions."""

import argparse
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from experiments.common import versions
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
    """A submission to be made.

    Attributes:
        name: of the submission.
        policies: what plays, one for each run.
        about: the other keys of the file.
    """

    name: str
    policies: tuple[str, ...]
    about: dict[str, Any]


def entries(given: argparse.Namespace) -> tuple[Entry, ...]:
    """What the command line asks to be graded.

    Raises:
        ValueError: an unknown agent, or what makes no submission.
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
    return tuple(Entry(name, group, _about(given, name, group)) for name, group in groups)


def _about(given: argparse.Namespace, name: str, policies: tuple[str, ...]) -> dict[str, Any]:
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


def grade(
    entry: Entry, tasks: Sequence[Task], found: dict[str, Any], tell: Callable[[str, int], None]
) -> list[str]:
    """Grade a policy in tasks.

    Args:
        entry: what is graded.
        tasks: in which.
        found: the submission's results, filled task by task.
        tell: told what is being done, and how many tasks are done by now.

    Returns:
        Which tasks could not be graded, and why, a line each.

    Raises:
        KeyboardInterrupt: Ctrl-C; `found` holds what was done.
    """
    policies = list(entry.policies)
    failed = []
    for track in TRACKS:
        own = [task for task in tasks if task.track == track]
        found[track] = {}
        together = track == "generated"  # each scenario is worked out once for both seats
        groups = [own] if together and own else [] if together else [[task] for task in own]
        for group in groups:
            tell(f"{entry.name}: {group[0]}", 0)
            try:
                found[track].update(_graded(track, policies, group, tell))
            except ValueError as error:  # it does not fit, or TooLarge
                failed += [f"{entry.name}: {task}: {one_line(error)}" for task in group]
            tell("", len(group))
    return failed


def _graded(
    track: str, policies: list[str], tasks: Sequence[Task], tell: Callable[[str, int], None]
) -> dict[str, Any]:
    """Results in tasks of a track, of which only generated ones come several at a time."""
    if track == "duels":
        return {str(task): protocol.duel(policies, task) for task in tasks}
    if track == "battles":
        return {str(task): protocol.battle(policies, task) for task in tasks}
    seats = [task.seat for task in tasks]
    scores = protocol.generated(policies, seats, lambda told: tell(told, 0))
    return {str(task): scores[task.seat] for task in tasks}
