"""Independent tasks, done here, in processes of this machine, or on the machines of a Ray cluster.

Wherever tasks are done and in whatever order they end, their results come in the order of the
tasks. So what is written of them is the same everywhere; only times differ. What the tasks are is
the commands' business; the policies and scenarios that a task names as files, see `local_path`.
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

from experiments.attempts import AHEAD, ResultT, TaskT, WorkerError, attempt, in_order
from experiments.ray_cluster import RayWorkers, check_cluster, joined

RAY: dict[str, Any] = {
    "metavar": "ADDRESS",
    "help": "share the work on Ray: a cluster's HOST:PORT, or local for this machine's cores",
}
"""Of a command's --ray: arguments of `add_argument`."""


class Workers(Protocol):
    """What does tasks, in this process or elsewhere."""

    shares: bool
    """Whether tasks are done elsewhere, several at a time."""

    def map(
        self,
        function: Callable[[TaskT], ResultT],
        tasks: Iterable[TaskT],
        describe: Callable[[TaskT], str] = str,
    ) -> Iterator[ResultT]:
        """Do tasks; yields their results in the order of the tasks.

        Tasks are taken from the iterable as they are begun, which elsewhere is before the results
        of those ahead of them were yielded. Closing the iterator gives up what is under way.

        Args:
            function: of a module, or a `functools.partial` of one; what it raises should be a
                defect, as elsewhere it becomes a `WorkerError`.
            tasks: independent of one another.
            describe: what an error calls a task.

        Raises:
            WorkerError: a task failed elsewhere, or what did it has ended.
        """
        ...


class _Here:
    """This process alone."""

    shares = False

    def map(
        self,
        function: Callable[[TaskT], ResultT],
        tasks: Iterable[TaskT],
        describe: Callable[[TaskT], str] = str,
    ) -> Iterator[ResultT]:
        return map(function, tasks)


HERE: Workers = _Here()
"""Does each task when its result is asked for, in this process."""


class _Processes:
    """Does tasks in processes of this machine."""

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

        return in_order(submit, wait_for, tasks, AHEAD * self._count, describe)


def _end_with_parent() -> None:
    """Have this worker end with the process that started it, even where that is killed."""
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
    """Have somebody to do tasks while the block runs.

    Args:
        ray: address of a Ray cluster, or "local" for Ray on this machine; empty for no Ray.
        processes: on this machine, without Ray; 1 does the tasks here.
        files: that tasks name, for machines that do not have them; see `local_path`.

    Raises:
        WorkerError: Ray is not installed, cannot be reached, or has other releases.
    """
    if ray:
        with joined(ray):
            check_cluster()
            yield RayWorkers(list(dict.fromkeys(files)))
    elif processes > 1:
        spawn = get_context("spawn")
        pool = ProcessPoolExecutor(processes, mp_context=spawn, initializer=_end_with_parent)
        try:
            yield _Processes(pool, processes)
        finally:
            pool.shutdown(cancel_futures=True)
    else:
        yield HERE


@contextmanager
def one_torch_thread() -> Iterator[None]:
    """Let PyTorch, where it is loaded, use one thread while the block runs.

    A network's answers differ in the last digits with the number of threads, and so from machine to
    machine.
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
    """Keep Ctrl-C, which a terminal sends to all processes, from those that the block starts.

    A child would print where it was, in the midst of its imports, and this process would learn of a
    failed child before its own Ctrl-C. It inherits which signals are blocked.
    """
    if not hasattr(signal, "pthread_sigmask"):  # no POSIX: Ctrl-C reaches them
        yield
        return
    resource_tracker.ensure_running()  # starting it would unblock the signal again
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
