"""Threads that share the chunks of one batched step.

Compiled kernels release the interpreter's lock, so plain threads run them side by side. The
calling thread works too and never waits for a helper that has not started: a machine whose
other cores are busy loses no more than the hand-over. (`numba.prange` waits for all its threads,
and on a busy machine that made a step a hundred times slower.) Threads do not survive a fork;
a child process starts its own.
"""

import os
from collections.abc import Callable, Iterator
from queue import SimpleQueue
from threading import Event, Lock, Thread

Task = Callable[[int, int, int], int]
"""Called with low, high and the number of the thread; returns a count."""


class _ChunkedTask:
    """One step's chunks, handed out one at a time."""

    def __init__(self, task: Task, chunks: list[tuple[int, int]]) -> None:
        self.task = task
        self.chunks: Iterator[tuple[int, int]] = iter(chunks)
        self.left = len(chunks)
        self.total = 0
        self.error: BaseException | None = None
        self.lock = Lock()
        self.done = Event()

    def work(self, thread: int) -> None:
        """Take chunks until none is left."""
        for low, high in self.chunks:
            result = 0
            try:
                result = self.task(low, high, thread)
            except BaseException as error:  # noqa: BLE001 (the caller raises it again)
                self.error = error
            with self.lock:
                self.total += result
                self.left -= 1
                if self.left == 0:
                    self.done.set()


class ThreadPool:
    """Helper threads, started when first needed.

    Attributes:
        size: threads that may work on a job, the caller's included.
    """

    def __init__(self, size: int) -> None:
        self.size = size
        self._process = 0
        self._queue: SimpleQueue[_ChunkedTask] = SimpleQueue()

    def run(self, task: Task, count: int, chunk: int) -> int:
        """Call `task` for chunks of `range(count)`; returns the sum of its results."""
        chunks = [(low, min(count, low + chunk)) for low in range(0, count, chunk)]
        job = _ChunkedTask(task, chunks)
        if self._process != os.getpid():
            self._process, self._queue = os.getpid(), SimpleQueue()
            for number in range(1, self.size):
                helper = Thread(target=_serve, args=(number, self._queue), name="wfb_gym step")
                helper.daemon = True
                helper.start()
        for _ in range(min(self.size, len(chunks)) - 1):
            self._queue.put(job)
        job.work(0)
        job.done.wait()
        if job.error is not None:
            raise job.error
        return job.total


def _serve(number: int, queue: SimpleQueue[_ChunkedTask]) -> None:
    while True:
        queue.get().work(number)


_HAS_AFFINITY = hasattr(os, "sched_getaffinity")  # not on every system
THREAD_POOL = ThreadPool(len(os.sched_getaffinity(0)) if _HAS_AFFINITY else os.cpu_count() or 1)
"""The process's threads for batched steps."""
