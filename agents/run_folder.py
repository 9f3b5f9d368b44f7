"""Training run folders: locking, unfinished runs, and protection against overwriting.

A run is unfinished as long as its folder has a checkpoint, or results marked as interrupted. The
learners define the contents of checkpoints and results.
"""

import json
import reprlib
import sys
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

from agents.checkpoints import NAME as CHECKPOINT
from agents.checkpoints import CheckpointError, has_checkpoint
from agents.common import DivergenceError
from experiments import common
from experiments.attempts import WorkerError
from wfb_gym.cli.parser import COULD_NOT_RUN, flag_of
from wfb_gym.files import describe_error, lock_folder, wrap_read_errors
from wfb_gym.scenario.errors import printable, shortened

OVERWRITE = {
    "overwrite": "start again even if the folder has an unfinished run or one with other settings, "
    "which is an error otherwise"
}
"""Switch of every command that trains in a folder."""


_MAX_DIFFERENCES = 40
"""Maximum number of settings listed in a message, because a corrupt file may hold any number."""


class RunFolderError(ValueError):
    """A folder that a run must not use."""


@contextmanager
def occupy(folder: Path) -> Iterator[None]:
    """Create a run's folder if needed, and lock it against other processes.

    Raises:
        RunFolderError: if another process is training in the folder.
        OSError: if the folder cannot be created or written to.
    """
    folder.mkdir(parents=True, exist_ok=True)
    with ExitStack() as held:
        try:
            held.enter_context(lock_folder(folder))
        except BlockingIOError:
            raise RunFolderError(f"{folder}: another process is training in it") from None
        yield


def is_finished(folder: Path) -> bool:
    """Return whether a folder holds a finished run."""
    results = read_results(folder)
    return bool(results) and not has_checkpoint(folder) and not results.get("interrupted")


def refuse_unfinished(folder: Path, goes_on: str) -> None:
    """Raise `RunFolderError` if a folder holds an unfinished run.

    Args:
        folder: the run's folder.
        goes_on: the flag that continues the run.
    """
    if has_checkpoint(folder) or read_results(folder).get("interrupted"):
        raise RunFolderError(
            f"{folder}: holds an unfinished run; {goes_on} continues it, --overwrite starts again, "
            "--out names another folder"
        )


def refuse_other_settings(folder: Path, settings: Mapping[str, Any], free: Collection[str]) -> None:
    """Raise `RunFolderError` if a folder's results have different settings.

    Args:
        folder: the run's folder.
        settings: current settings as JSON.
        free: names of settings that may differ.
    """
    results = read_results(folder)
    if results:
        before = results.get("args", {})
        others = _differences(before, settings, free)
        if others:
            held = ", ".join(f"{flag_of(name)} {_shown(before.get(name))}" for name in others)
            raise RunFolderError(
                f"{folder}: holds a run of other settings ({held}); --out names another folder, "
                "--overwrite replaces that run"
            )


def read_results(folder: Path) -> dict[str, Any]:
    """Return the results in a run's folder, or {} if there are none.

    Raises:
        RunFolderError: if the results file is corrupt.
    """
    path = folder / common.RESULTS
    if not path.is_file():
        return {}
    with wrap_read_errors(path, "results of a run", RunFolderError):
        return dict(json.loads(path.read_text(encoding="utf-8")))


def check_same_settings(
    before: Mapping[str, Any], now: Mapping[str, Any], free: Collection[str]
) -> None:
    """Raise if a run's settings differ from the current ones.

    Args:
        before: the run's settings as JSON.
        now: current settings as JSON.
        free: names of settings that may differ because they do not affect learning.

    Raises:
        CheckpointError: if some settings differ. The message has a line for each, up to a limit.
    """
    names = _differences(before, now, free)
    lines = [
        f"{flag_of(_shown(name))}: expected {_shown(before.get(name))} as before, found "
        f"{_shown(now.get(name))}"
        for name in names[:_MAX_DIFFERENCES]
    ]
    if len(names) > len(lines):
        lines.append(f"and {len(names) - len(lines):,} more")
    if lines:
        raise CheckpointError("\n".join(lines))


def _differences(
    before: Mapping[str, Any], now: Mapping[str, Any], free: Collection[str]
) -> list[str]:
    # through JSON, which turns tuples into lists
    before, now = json.loads(json.dumps(before)), json.loads(json.dumps(now))
    return [
        name for name in {**now, **before} if name not in free and before.get(name) != now.get(name)
    ]


def _shown(value: Any) -> str:
    parts = value[:_MAX_DIFFERENCES] if isinstance(value, list | tuple) else [value]
    texts = (str(x) if isinstance(x, str) else reprlib.repr(x) for x in parts)
    return shortened(printable(" ".join(texts)), 100)


def resume_hint(folder: Path) -> str:
    """Return the message to print for an interrupted run."""
    kept = any(folder.rglob(CHECKPOINT))
    return f"interrupted; --resume continues from {folder}" if kept else "interrupted"


def run_command(module: str, folder: Path, work: Callable[[], int]) -> int:
    """Run a command. Interruptions and user errors end it with a message on stderr.

    Args:
        module: the command's module.
        folder: the run's folder.
        work: does the work and returns the exit status.

    Returns:
        The exit status.
    """
    try:
        return work()
    except KeyboardInterrupt:
        print(resume_hint(folder), file=sys.stderr)
        return common.INTERRUPTED
    except (CheckpointError, RunFolderError) as error:
        status, lines = COULD_NOT_RUN, str(error).splitlines()
    except (WorkerError, DivergenceError) as error:
        status, lines = common.FAILED, [str(error)]
    for line in lines:
        print(f"python -m {module}: {line}", file=sys.stderr)
    return status


def write_or_warn(path: Path, write: Callable[[], object]) -> None:
    """Write an optional file. On failure, print a line on stderr instead of raising."""
    try:
        write()
    except OSError as error:
        print(f"{path}: could not be written: {describe_error(error)}", file=sys.stderr)
