"""Command line of the leaderboard."""

import argparse
import os
from collections.abc import Sequence
from pathlib import Path

from experiments import common
from experiments.leaderboards.protocol import BUDGET, DUELS, PRESETS, RUNS, TASKS, TRACKS, Task
from experiments.leaderboards.submissions import (
    FOLDER,
    read_submission,
)
from experiments.tournaments.matches import model_names
from experiments.workers import RAY
from wfb_gym.cli.parser import Parser
from wfb_gym.players.registry import make_agent
from wfb_gym.scenario.fields import FILE_NAME, FILE_NAME_EXPECTED

Entries = dict[str, list[str]]
"""What is graded: by the name of a submission a policy for each run."""


class Settings(argparse.Namespace):
    """The command line."""

    evaluate: list[str] | None
    check: bool
    compare: list[str] | None
    again: list[str] | None
    find: bool
    name: str | None
    task: list[str] | None
    preset: str | None
    steps: int
    description: str
    authors: str
    code: str
    add: bool
    keep: bool
    folder: Path | None
    ray: str
    workers: int
    quick: bool
    json: bool

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


def parse_arguments(
    arguments: Sequence[str] | None, description: str | None
) -> tuple[Settings, Entries]:
    """Parse the command line: settings, and what is graded."""
    description = (description or "").strip()
    parser = Parser(prog="python -m experiments.leaderboard", description=description)
    add = parser.add_argument
    what = parser.add_mutually_exclusive_group()
    what.add_argument(
        "--evaluate", nargs="+", metavar="POLICY", help="grade names, or saved models"
    )
    what.add_argument("--check", action="store_true", help="only say whether the page is current")
    what.add_argument("--compare", nargs=2, metavar="NAME", help="compare two submissions")
    what.add_argument(
        "--again", nargs="*", metavar="NAME", help="grade submissions again, and compare"
    )
    what.add_argument(
        "--find", action="store_true", help="find the generated scenarios anew (minutes)"
    )
    add("--name", help="name of the submission (default: the agent's own)")
    add(
        "--task",
        action="append",
        choices=sorted(TASKS),
        metavar="TASK",
        help=f"grade only in these: {', '.join(TASKS)}",
    )
    add("--preset", choices=tuple(PRESETS), help="grade only in the tasks of that difficulty")
    steps = common.natural_number
    add("--steps", type=steps, default=0, help="decisions learned from (default: none)")
    add("--description", default="", help="what it is, in a line")
    add("--authors", default="wfb_gym contributors", help="who made it (default: %(default)s)")
    add("--code", default="", help="where the code is (default: this command)")
    add(
        "--add",
        action="store_true",
        help="add to the submission of that name; its other tasks stay",
    )
    add(
        "--keep",
        action="store_true",
        help="copy the models into the folder models beside the submissions, for --again",
    )
    usual = os.path.relpath(FOLDER).replace("%", "%%")
    add("--folder", type=Path, help=f"folder of the submissions (default: {usual})")
    add("--ray", default="", **RAY)
    workers = "processes of this machine that grade (default: %(default)s)"
    add("--workers", type=common.positive_integer, default=1, help=workers)
    add("--quick", action="store_true", help="grade in the smallest duel alone, into runs/")
    add("--json", action="store_true", help="print JSON alone on stdout")
    settings = parser.parse_args(arguments, Settings())
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
