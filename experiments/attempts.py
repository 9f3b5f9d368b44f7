"""Return the results of tasks in order, and failures as values."""

import socket
import traceback
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from typing import Any, NamedTuple, TypeVar

from experiments.shared_files import given_names

TaskT = TypeVar("TaskT")
ResultT = TypeVar("ResultT")
TASKS_PER_WORKER = 4
"""Tasks in progress per core, so that no core idles while waiting for the first result."""


class WorkerError(RuntimeError):
    """A worker failed or cannot be reached. The message is one line."""


class FailedAttempt(NamedTuple):
    """A task's exception, and the host on which it was raised."""

    reason: str
    host: str
    traceback: str


def attempt(function: Callable[[Any], Any], task: Any) -> Any:
    """Run a task. Failures are returned as values, because not every exception can be pickled."""
    try:
        return function(task)
    except Exception as error:  # noqa: BLE001 - reported with the type of the exception
        reason = " ".join(f"{type(error).__name__}: {error}".split())
        return FailedAttempt(given_names(reason), socket.gethostname(), traceback.format_exc())


def in_order(
    submit: Callable[[Any], Any],
    wait_for: Callable[[Any], Any],
    tasks: Iterable[TaskT],
    most: int,
    describe: Callable[[TaskT], str],
) -> Iterator[Any]:
    """Keep at most `most` tasks in progress, and yield their results in order."""
    pending: deque[tuple[TaskT, Any]] = deque()

    def first_result() -> Any:
        task, submitted = pending.popleft()
        try:
            result = wait_for(submitted)
        except WorkerError as error:
            raise WorkerError(f"{describe(task)}: {error}") from None
        if isinstance(result, FailedAttempt):
            failure = WorkerError(f"{describe(task)}: {result.reason} (on {result.host})")
            raise failure from RuntimeError(result.traceback)
        return result

    for task in tasks:
        pending.append((task, submit(task)))
        if len(pending) >= most:
            yield first_result()
    while pending:
        yield first_result()
