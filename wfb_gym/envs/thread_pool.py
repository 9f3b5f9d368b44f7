"""A pool of helper threads that share the chunks of a batched step.

Compiled code releases the interpreter lock, so Python threads can run it in parallel. An idle
helper first busy-waits in compiled code for about 0.1 ms, because the next step usually follows
immediately and waking a thread through Python is slow. Then it sleeps. The calling thread works as
well and never waits for a helper that has not started, so busy cores cost little. In contrast,
`numba.prange` waits for all its threads, which made steps much slower on a busy machine. Threads do
not survive a fork, so a child process starts its own.

The compiled functions in this module run inside the kernel. The calling thread uses `open_task`,
`next_chunk` and `close_task`; helpers use `join_task`, `next_chunk` and `leave_task`. Helpers
receive a copy of a task's arguments through the team's shared memory.
"""

import _thread
import os
import time
from collections.abc import Callable
from threading import Thread
from typing import Any

import numpy as np
from numba.core import config

from wfb_gym._cpu_count import available_cores
from wfb_gym._intrinsics import (
    ROOM,
    add_to_word,
    load_value,
    load_word,
    pause,
    store_value,
    store_word,
)
from wfb_gym._jit import int64, jit

ALONE = 0
"""Passed in place of a team's address to run without helpers."""

# Offsets in a team's memory, in bytes; each word has its own cache line (64 bytes).
_OPEN, _NEXT, _WORKING, _TOTAL, _COUNT, _CHUNK, _ARGUMENTS = 0, 64, 128, 192, 256, 320, 384
_PAUSES = 4000
"""Number of times that a thread polls the team's memory, pausing after each poll, before it stops
busy-waiting: about 0.1 ms."""
_MAX_UNSHARED = 1023
"""Maximum number of consecutive tasks without helpers while other programs keep the cores busy."""


@jit
def open_task(team: int, count: int, chunk: int, arguments: Any) -> None:
    """Publish a task: its arguments and the chunks of `range(count)`."""
    store_value(team + _ARGUMENTS, arguments)
    store_word(team + _NEXT, 0)
    store_word(team + _COUNT, count)
    store_word(team + _CHUNK, chunk)
    store_word(team + _OPEN, 1)


@jit
def next_chunk(team: int) -> tuple[int, int]:
    """Take the next chunk and return its start and stop, which are equal if none is left."""
    count = load_word(team + _COUNT)
    chunk = load_word(team + _CHUNK)
    low = min(count, add_to_word(team + _NEXT, chunk))
    return low, min(count, low + chunk)


@jit
def close_task(team: int) -> None:
    """Close the task and busy-wait, for at most about 0.1 ms, until all helpers have left."""
    store_word(team + _OPEN, 0)
    for _ in range(_PAUSES):
        if load_word(team + _WORKING) == 0:
            return
        pause()


@jit
def join_task(team: int) -> bool:
    """Busy-wait about 0.1 ms for a task with chunks left; return whether one was joined."""
    for _ in range(_PAUSES):
        if load_word(team + _OPEN) and load_word(team + _NEXT) < load_word(team + _COUNT):
            add_to_word(team + _WORKING, 1)
            if load_word(team + _OPEN):  # it has not been closed in the meantime
                return True
            add_to_word(team + _WORKING, -1)
        pause()
    return False


@jit
def task_arguments(team: int, like: Any) -> Any:
    """Return the arguments of the joined task; `like` provides their types."""
    return load_value(team + _ARGUMENTS, like)


@jit
def leave_task(team: int, result: int) -> None:
    """Add a result to the task's total and leave the task."""
    add_to_word(team + _TOTAL, int64(result))
    add_to_word(team + _WORKING, int64(-1))


class ThreadPool:
    """A pool of helper threads, which are started with the first task.

    Args:
        size: number of threads to work on a task, including the caller's. Always 1 if the compiler
            is disabled.
    """

    def __init__(self, size: int) -> None:
        self.size = 1 if config.DISABLE_JIT else size  # type: ignore[attr-defined]
        self._in_use = _thread.allocate_lock()
        self._process = 0  # id of the process that started the helpers
        self._unshared = 0  # number of upcoming tasks to run without helpers
        self._back_off = 0  # last start value of `_unshared`, doubled while helpers are late
        self._task: Callable[[int], int] | None = None

    def run(
        self, task: Callable[[int], int], make_helper: Callable[[], Callable[[int], None]]
    ) -> int:
        """Run a task, with helpers if they are available.

        Args:
            task: called with a team's address or with `ALONE`. The pool keeps a reference to it
                until all helpers have finished, so its arrays stay valid.
            make_helper: called when helpers are started. It returns the function that each helper
                calls with the team's address. That function joins tasks until `join_task` returns
                False. All tasks must have arguments of the same types.

        Returns:
            The sum of the results from the task and its helpers.
        """
        if self._unshared > 0:
            self._unshared -= 1
            return task(ALONE)
        if self.size == 1 or not self._in_use.acquire(blocking=False):
            return task(ALONE)
        try:
            if self._process != os.getpid():
                self._start(make_helper())
            while self._asleep:
                self._asleep.pop().release()
            self._wait()  # helpers may still be working on an interrupted task
            self._task, self._memory[self._total] = task, 0
            began = time.perf_counter()
            try:
                total = task(self._team)
            finally:
                done = time.perf_counter()
                self._wait()
            self._task = None
            is_late = time.perf_counter() - done > done - began
            self._back_off = min(2 * self._back_off + 1, _MAX_UNSHARED) if is_late else 0
            self._unshared = self._back_off
            return total + int(self._memory[self._total])
        finally:
            self._in_use.release()

    def _start(self, help_team: Callable[[int], None]) -> None:
        memory = np.zeros(_ARGUMENTS + ROOM + 64, np.uint8)
        memory = memory[-memory.ctypes.data % 64 :]  # align to cache lines
        self._team = memory.ctypes.data
        self._memory = memory[:_ARGUMENTS].view(np.int64)
        self._open, self._working, self._total = _OPEN // 8, _WORKING // 8, _TOTAL // 8
        self._asleep: list[Any] = []
        self._errors: list[BaseException] = []
        self._process = os.getpid()
        arguments = help_team, self._team, self._memory, self._asleep, self._errors
        for _ in range(1, self.size):
            Thread(target=_serve, args=arguments, name="wfb_gym step", daemon=True).start()

    def _wait(self) -> None:
        """Wait until no helper is working on the task, then raise a helper's exception, if any."""
        memory, errors = self._memory, self._errors
        memory[self._open] = 0  # still open if the caller's part raised an exception
        while memory[self._working] > len(errors):
            time.sleep(0)
        if errors:
            self._process = 0  # start new helpers for the next task
            raise errors[0]


def _serve(
    help_team: Callable[[int], None],
    team: int,
    _memory: Any,  # keeps the memory at the team's address alive
    asleep: list[Any],
    errors: list[BaseException],
) -> None:
    wakeup = _thread.allocate_lock()
    wakeup.acquire()
    while not errors:
        try:
            help_team(team)
        except BaseException as error:  # noqa: BLE001 (the caller re-raises it)
            errors.append(error)
            return
        asleep.append(wakeup)
        wakeup.acquire()


THREAD_POOL = ThreadPool(available_cores())
"""This process's pool."""
