"""Run independent tasks in this process, in processes on this machine, or on a Ray cluster.

Results come in the order of the tasks, regardless of where the tasks run and the order in which
they finish. So results are the same everywhere, and only times differ. Commands define the tasks.
`local_path` handles files of policies and scenarios that a task names.
"""

import os
import signal
import sys
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from multiprocessing import get_context, parent_process, resource_tracker
from threading import Thread
from typing import Any, Protocol

from experiments.attempts import TASKS_PER_WORKER, ResultT, TaskT, WorkerError, attempt, in_order
from experiments.ray_cluster import RayWorkers, check_cluster, joined

RAY: dict[str, Any] = {
    "metavar": "ADDRESS",
    "help": "distribute the work with Ray: a cluster's HOST:PORT, or local for this machine",
}
"""Arguments to pass to `add_argument` for a command's --ray."""


class Workers(Protocol):
    """Runs tasks, in this process or in others."""

    shares: bool
    """Whether tasks run in other processes, several at a time."""

    def map(
        self,
        function: Callable[[TaskT], ResultT],
        tasks: Iterable[TaskT],
        describe: Callable[[TaskT], str] = str,
    ) -> Iterator[ResultT]:
        """Run tasks, yielding their results in the order of the tasks.

        Tasks are taken from the iterable when they are started. Other processes start tasks before
        the results of earlier tasks are yielded. Closing the iterator cancels the running tasks.

        Args:
            function: module-level function, or a `functools.partial` of one. In other processes,
                its exceptions become a `WorkerError`, so it should raise only because of bugs.
            tasks: tasks that do not depend on each other.
            describe: returns a task's name for error messages.

        Raises:
            WorkerError: if a task in another process fails, or the process ends.
        """
        ...


class _Here:
    """Runs tasks in this process."""

    shares = False

    def map(
        self,
        function: Callable[[TaskT], ResultT],
        tasks: Iterable[TaskT],
        describe: Callable[[TaskT], str] = str,
    ) -> Iterator[ResultT]:
        return map(function, tasks)


HERE: Workers = _Here()
"""Runs each task in this process when its result is requested."""


class _Processes:
    """Runs tasks in processes on this machine."""

    shares = True

    def __init__(self, pool: ProcessPoolExecutor, count: int) -> None:
        self._pool, self._count = pool, count

    def map(
        self,
        function: Callable[[TaskT], ResultT],
        tasks: Iterable[TaskT],
        describe: Callable[[TaskT], str] = str,
    ) -> Iterator[ResultT]:
        def submit(task: TaskT) -> Any:
            with ignoring_interrupts_in_children():
                return self._pool.submit(attempt, function, task)

        def wait_for(future: Any) -> Any:
            try:
                return future.result()
            except BrokenProcessPool:
                raise WorkerError("a worker process has failed") from None

        return in_order(submit, wait_for, tasks, TASKS_PER_WORKER * self._count, describe)


def end_with_parent() -> None:
    """Make this process end with its parent process, even if the parent is killed."""
    parent = parent_process()
    assert parent is not None

    def wait_for_it() -> None:
        parent.join()
        os._exit(1)

    Thread(target=wait_for_it, daemon=True).start()


@contextmanager
def open_workers(
    ray: str = "", *, processes: int = 1, files: Iterable[str] = ()
) -> Iterator[Workers]:
    """Provide workers for tasks while the block runs.

    Args:
        ray: address of a Ray cluster, or "local" for Ray on this machine. If empty, Ray is not
            used.
        processes: number of processes on this machine, without Ray. If 1, only this process is
            used.
        files: files that tasks name, for machines that lack them; see `local_path`.

    Raises:
        WorkerError: if Ray is not installed, cannot be reached, or has different releases.
    """
    if ray:
        with joined(ray):
            check_cluster()
            yield RayWorkers(list(dict.fromkeys(files)))
    elif processes > 1:
        spawn = get_context("spawn")
        pool = ProcessPoolExecutor(processes, mp_context=spawn, initializer=end_with_parent)
        try:
            yield _Processes(pool, processes)
        finally:
            pool.shutdown(cancel_futures=True)
    else:
        yield HERE


@contextmanager
def one_torch_thread() -> Iterator[None]:
    """Limit PyTorch, if it is loaded, to one thread while the block runs.

    The last digits of a network's output depend on the number of threads, and so on the machine.
    """
    torch = sys.modules.get("torch")
    if torch is None:
        yield
        return
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(before)


@contextmanager
def ignoring_interrupts_in_children() -> Iterator[None]:
    """Block Ctrl-C, which a terminal sends to all processes, in children started by the block.

    Otherwise, a child would print a traceback partway through its imports, and this process would
    see a failed child before its own Ctrl-C. Children inherit the blocked signals.
    """
    if not hasattr(signal, "pthread_sigmask"):  # not on Windows, where Ctrl-C reaches the children
        yield
        return
    resource_tracker.ensure_running()  # starting it would unblock the signal again
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
