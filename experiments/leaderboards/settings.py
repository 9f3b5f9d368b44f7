"""Command-line options of the leaderboard."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from pathlib import Path

from experiments import command_lines
from experiments.leaderboards.protocol import DUELS, PRESETS, TASKS, TRACKS, Task
from experiments.leaderboards.submissions import (
    FOLDER,
    MODELS,
    SubmissionError,
    least_runs,
    read_about,
    read_submission,
)
from experiments.tournaments.matches import model_names
from experiments.workers import RAY
from wfb_gym.cli.parser import option
from wfb_gym.opponents.policy_spec import NAMES, PolicySpec
from wfb_gym.players.registry import make_agent
from wfb_gym.scenario.fields import FILE_NAME, FILE_NAME_EXPECTED
from wfb_gym.seats import SEATS


@dataclass(frozen=True)
class Settings:
    """Command-line options.

    Attributes:
        evaluate: grade agents or saved models.
        check: only report whether the page is current.
        compare: compare submissions in pairs, of the folder or published.
        again: grade submissions again, and compare the results.
        find: find the generated scenarios from scratch (minutes).
        name: name of the submission (default: the agent's own).
        preset: grade only in the tasks of a difficulty.
        track: grade only in these tracks.
        seat: grade only in the tasks of a seat, for models that play one seat.
        about: TOML file that describes a trained policy, for example
            experiments/leaderboards/about.toml.
        add: add to the submission with the same name; its other tasks stay.
        keep: copy the models, for --again, to experiments/leaderboards/models or to the folder
            models in --folder.
        folder: folder of the submissions (default: experiments/leaderboards/entries).
        ray: address of a Ray cluster.
        workers: processes on this machine that grade.
    """

    evaluate: tuple[str, ...] | None = option(None, exclusive="what", nargs="+", metavar="POLICY")
    check: bool = option(False, exclusive="what")
    compare: tuple[str, ...] | None = option(None, exclusive="what", nargs="+", metavar="NAME")
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
    track: tuple[str, ...] = option((), choices=tuple(TRACKS), metavar="TRACK")
    seat: str | None = option(None, choices=SEATS)
    about: Path | None = None
    add: bool = False
    keep: bool = False
    folder: Path | None = None
    ray: str = option("", **RAY)
    workers: int = option(1, type=command_lines.positive_integer)

    @property
    def tasks(self) -> list[Task]:
        """The tasks to grade on."""
        return [TASKS[key] for key in self.keys or TASKS]

    @property
    def keys(self) -> list[str]:
        """The keys of the selected tasks; empty for all."""
        preset = map(str, PRESETS[self.preset]) if self.preset else ()
        tracks = (str(task) for track in self.track for task in TRACKS[track])
        keys = list(dict.fromkeys([*self.task, *preset, *tracks]))
        if self.seat is None:
            return keys
        return [key for key in keys or TASKS if TASKS[key].seat == self.seat]

    @property
    def unfinished(self) -> Path:
        """The folder with interrupted gradings."""
        return (self.folder or Path("runs/leaderboard")) / "unfinished"

    @property
    def submissions(self) -> Path:
        """The folder with the submissions."""
        return self.folder or FOLDER

    @property
    def models(self) -> Path:
        """The folder with the models that are kept, by submission."""
        return (self.folder or FOLDER.parent) / MODELS

    @property
    def entries(self) -> dict[str, list[str]]:
        """The policies to grade by submission, one per run."""
        policies = list(dict.fromkeys(self.evaluate or ()))
        if models := model_names(policies):
            return {self.name or "": models}
        return {self.name or each.replace(":", "-"): [each] for each in policies}


EXAMPLE = "experiments/leaderboards/about.toml"
QUICK = {"task": (f"{DUELS[0]}/caster",), "folder": Path("runs/leaderboard-quick")}


def check_command(settings: Settings, switches: Collection[str]) -> Settings:
    """Raise a ValueError or an OSError if the settings are invalid."""
    for name in ("add", "keep"):
        if getattr(settings, name) and not settings.evaluate:
            raise ValueError(f"--{name}: expected --evaluate with it")
    if settings.seat is not None and not settings.keys:
        expected = f"--seat: expected tasks of the {settings.seat}"
        raise ValueError(f"{expected}, found {', '.join(settings.task)}")
    if settings.evaluate:
        _check_policies(settings, list(dict.fromkeys(settings.evaluate)))
    is_quick = "quick" in switches and settings.task == QUICK["task"]
    for name in settings.entries:
        if not FILE_NAME.fullmatch(name):
            raise ValueError(f"--name: expected {FILE_NAME_EXPECTED}, found {name!r}")
        if settings.keys and not is_quick:
            _check_keeps_tasks(settings, settings.submissions / f"{name}.json")
    return settings


def _check_policies(settings: Settings, policies: Sequence[str]) -> None:
    models = model_names(policies)
    if models and len(models) < len(policies):
        raise ValueError("--evaluate: expected names or saved models, found both")
    for policy in policies:
        if PolicySpec.parse(policy).deterministic is not None:
            raise ValueError(f"--evaluate: expected models, graded both ways, found {policy}")
        make_agent(policy, scenario=DUELS[0])
    trained = [each for each in policies if PolicySpec.parse(each).name not in NAMES]
    if trained and settings.about is None:
        raise ValueError(f"--about: expected a file that describes {trained[0]}, like {EXAMPLE}")
    if models and settings.name is None:
        raise ValueError("--name: expected a name for the submission of saved models")
    if not models and settings.name is not None and len(policies) > 1:
        raise ValueError(f"--name: expected one agent, found {len(policies)}")
    if settings.about is not None:
        _check_about(settings, settings.about, models)


def _check_about(settings: Settings, path: Path, models: Sequence[str]) -> None:
    """Raise if a description is invalid, or states training that needs more runs."""
    try:
        about = read_about(path)
    except SubmissionError as error:
        raise ValueError(f"--about: {error}") from None
    if about.kind == "model-free" and not about.steps:
        raise ValueError(f"--about: {path}: steps: expected 1 or more, found 0")
    least = max(least_runs(about, task.track) for task in settings.tasks)
    if models and len(models) < least:
        raise ValueError(
            f"--evaluate: expected {least} saved models or more, found {len(models)}; a repeated "
            "model counts once, and solver.normalised_score grades a single one"
        )


def _check_keeps_tasks(settings: Settings, path: Path) -> None:
    """Raise if writing a submission would remove tasks that are not being graded."""
    if settings.add or not path.is_file():
        return
    former = read_submission(path).model_dump(exclude_none=True)
    others = {task for track in TRACKS for task in former.get(track, {})} - set(settings.keys)
    if others:
        raise ValueError(f"--task: {path} holds other tasks; expected --add, which keeps them")
